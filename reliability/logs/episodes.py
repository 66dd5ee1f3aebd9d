"""Storms and followers: which messages of a GPU are one failure.

A storm: messages of the same code on the same GPU, whatever the process, until a silence of the window
or a restart of the machine. A follower: a code that another one entails, by the rules of
``xid_codes.toml``. What remains is a failure, an event that is none, or a case for review.
"""

from reliability.logs import xid_codes

FABRIC = "fabric"
SXID = "SXid"
NOTHING = {}  # the GPUs of an episode that is no failure; nothing is ever put into it


class Episode:
    """A storm, and what became of it.

    Attributes
    ----------
    host, gpu : str or None
        ``gpu`` is ``"fabric"`` for events of NVSwitches.
    code : int or str
        A number, or ``"SXid"``.
    fatal : bool or None
        What the line says, for codes whose weight only the line tells.
    boot : int
    start_us, last_us : int or None
        On the file's calendar.
    boot_s, last_boot_s : float or None
    line, messages : int
        The first line; messages at least.
    first : Record or SxidEvent
    verdict : str
        failure, event or review.
    why : str
    parent : Episode or None
        The failure that it follows, by which ``rule``.
    gpus : dict
        Of a failure: {GPU: whether it is out of service}.
    """

    __slots__ = (
        *("first", "host", "gpu", "code", "fatal", "boot", "line", "messages", "start_us", "last_us", "boot_s"),
        *("last_boot_s", "verdict", "why", "parent", "rule", "codes", "gpus", "followers", "confirmed_by"),
    )

    def __init__(self, first, host, gpu, code, fatal, start_us, after_us=0):
        self.first, self.host, self.gpu, self.code, self.fatal = first, host, gpu, code, fatal
        self.boot, self.line, self.messages = first.boot, first.line.number, first.messages
        self.start_us = start_us
        self.last_us = None if start_us is None else start_us + after_us
        self.boot_s = first.line.boot_s
        self.last_boot_s = None if self.boot_s is None else self.boot_s + after_us / 1e6
        self.verdict, self.why, self.parent, self.rule = "event", "", None, None
        # Most episodes stay alone: a log may have a million, so that lists are made when something goes in.
        self.codes, self.gpus, self.followers, self.confirmed_by = (), NOTHING, (), ()

    @property
    def lost(self):
        """Whether a GPU, or the fabric, is out of service."""
        return any(self.gpus.values())

    @property
    def name(self):
        """``Xid 79`` or ``SXid 20034``."""
        return f"SXid {self.first.code}" if self.code == SXID else f"Xid {self.code}"

    def silence(self, other):
        """Seconds from the last message of this to the first of another; 0 where no time tells."""
        return _seconds(self.last_us, self.last_boot_s, other)

    def since_start(self, other):
        """Seconds from the first message of this to the first of another; 0 where no time tells."""
        return _seconds(self.start_us, self.boot_s, other)

    def reach(self, other):
        """Let this one last as long as another that belongs to it."""
        if self.last_us is not None and other.last_us is not None:
            self.last_us = max(self.last_us, other.last_us)
        if self.last_boot_s is not None and other.last_boot_s is not None:
            self.last_boot_s = max(self.last_boot_s, other.last_boot_s)

    def confirm(self, quote):
        """Keep that another program repeats the message."""
        self.confirmed_by = [*self.confirmed_by, quote]

    def join(self, other):
        """Take in another stretch of the same storm."""
        self.messages += other.messages
        self.reach(other)


def _seconds(us, boot_s, other):
    if us is not None and other.start_us is not None:
        return (other.start_us - us) / 1e6
    if boot_s is not None and other.boot_s is not None:
        return other.boot_s - boot_s
    return 0.0


def storms(episodes, window_s):
    """Join what belongs to one storm.

    Parameters
    ----------
    episodes : list of Episode
        In order of time.
    window_s : float
        The silence that ends a storm.

    Returns
    -------
    list of Episode
    """
    latest, found = {}, []
    for episode in episodes:
        key = (episode.host, episode.gpu, episode.code, episode.fatal)
        if episode.code == SXID:
            key += (episode.first.switch, episode.first.code, episode.first.link)
        known = latest.get(key)
        if known is not None and known.boot == episode.boot and known.silence(episode) < window_s:
            known.join(episode)
        else:
            latest[key] = episode
            found.append(episode)
    return found


def judge(episodes, window_s, counted=None):
    """Tell failures from followers, events and cases for review; sets each episode's verdict.

    Parameters
    ----------
    episodes : list of Episode
        Of :func:`storms`.
    window_s : float
    counted : set of int, optional
        The codes that count as failures, in place of the table's.
    """
    running, before, alone = {}, {}, {}
    for episode in episodes:
        here = (episode.host, episode.boot)
        failures = [f for f in running.pop(here, ()) if f.silence(episode) < window_s]
        verdict, why, lost = _known_alone(episode, counted, alone)
        parent, rule = _parent(episode, failures, verdict) if failures else (None, None)
        if parent is not None:
            _follow(episode, parent, rule, verdict, why, lost)
        elif verdict == "failure":
            episode.verdict, episode.gpus, episode.codes = verdict, {episode.gpu: lost}, {episode.code}
            earlier = before.get((*here, episode.gpu))
            if episode.code == 154 and earlier is not None and earlier.silence(episode) < window_s:
                why += f"; after {earlier.name}"
            episode.why = why
            failures.append(episode)
        else:
            episode.verdict, episode.why = verdict, why
        if failures:
            running[here] = failures
        before[(*here, episode.gpu)] = episode


def _known_alone(episode, counted, known):
    """As :func:`_alone`, looked up where a code was judged before."""
    if episode.code == SXID:
        return _alone(episode, counted)
    key = (episode.code, episode.fatal)
    if key not in known:
        known[key] = _alone(episode, counted)
    return known[key]


def _alone(episode, counted):
    """(verdict, why, lost) of an episode by itself."""
    if episode.code == SXID:
        if episode.fatal is None:
            return "review", "the lines of the event do not say whether it is fatal", False
        if not episode.fatal:
            return "event", "the switch calls it non-fatal", False
        return "failure", f"the switch calls it fatal: {episode.first.text}", True
    unknown = xid_codes.unknown(episode.code)
    if counted is not None and episode.code in counted:
        row = xid_codes.codes().get(episode.code)
        return "failure", row.meaning if row else f"counted as asked, though {unknown}", bool(row and row.lost)
    if unknown:
        return "review", unknown, False
    row = xid_codes.codes()[episode.code]
    if episode.code == 154 and counted is None and episode.fatal:
        return "failure", row.meaning, True
    if row.severity and episode.fatal is None:
        return "review", f"{row.meaning}; the line does not say whether it is fatal", False
    failure = row.failure if counted is None else False
    if failure and (not row.severity or episode.fatal):
        return "failure", row.meaning, row.lost
    if row.review:
        return "review", f"{row.meaning}; NVIDIA's catalogue leaves open what it calls for", False
    return "event", row.meaning + ("; the line says non-fatal" if row.severity and not episode.fatal else ""), False


def _parent(episode, failures, verdict):
    """The failure that an episode follows and the rule that says so, or (None, None)."""
    for rule in xid_codes.followers():
        if rule.codes is not None and episode.code not in rule.codes:
            continue
        if rule.other_gpu and verdict != "failure":
            continue
        for failure in reversed(failures):
            if (episode.gpu in failure.gpus) == rule.other_gpu:
                continue
            if rule.after == "lost" and not (failure.lost if rule.other_gpu else failure.gpus[episode.gpu]):
                continue
            if isinstance(rule.after, frozenset) and not rule.after & failure.codes:
                continue
            if rule.window_s is not None and failure.since_start(episode) > rule.window_s:
                continue
            return failure, rule
    return None, None


def _follow(episode, parent, rule, verdict, why, lost):
    # What would be shown for review is shown in any case.
    episode.verdict = "review" if verdict == "review" else "event"
    episode.why = f"{why}; follows {parent.name} of line {parent.line}: {rule.why}"
    episode.parent, episode.rule = parent, rule
    parent.followers = parent.followers or []
    parent.followers.append(episode)
    parent.codes.add(episode.code)
    if not rule.other_gpu or verdict == "failure":
        parent.reach(episode)
    if verdict == "failure":
        parent.gpus[episode.gpu] = parent.gpus.get(episode.gpu, False) or lost
