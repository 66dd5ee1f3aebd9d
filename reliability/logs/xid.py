"""NVIDIA Xid and SXid lines of kernel logs: failures of GPUs and of the fabric between them."""

import math

from reliability.logs import collector, kernel_tables, xid_codes, xid_lines
from reliability.logs.episodes import FABRIC, SXID, Episode, judge, storms
from reliability.logs.kernel_clock import clock
from reliability.logs.kernel_lines import parse
from reliability.logs.kernel_scan import scan
from reliability.logs.notes import LogError
from reliability.logs.quotes import AHEAD_US

EXPECTED = "lines of a kernel log, as dmesg, syslog or journalctl write them"


@collector.paused()
def read_xid(
    text,
    zone=None,
    collected_at=None,
    booted_at=None,
    storm_window_s=600.0,
    failure_codes=None,
    node=None,
    nodes=None,
    observed_from=None,
    observed_to=None,
):
    """Read the Xid and SXid lines of a kernel log.

    One incident is a failure of a GPU, of several GPUs of one node that begin within a minute, or of the
    NVSwitch fabric of a node. Messages of one code on one GPU, whatever the process, are one storm until
    `storm_window_s` of silence or a restart of the machine. Codes that
    another code entails, codes that are an application's, non-fatal SXid events and lines that other
    programs wrote are not counted: they stand in ``events`` with the reason. Every count of messages
    is a lower bound, since kernels and journals drop lines.

    Parameters
    ----------
    text : reliability.logs.files.Text
    zone : str, optional
        Zone of stamps that state none, such as ``"Europe/Berlin"``. None: unknown, and said so.
    collected_at : str or timestamp, optional
        When the log was collected. Only it gives syslog's stamps without a year theirs.
    booted_at : str or timestamp, optional
        When the machine was started: gives dmesg's seconds a calendar; for a log of one boot.
    storm_window_s : float
        Silence that ends a storm, in seconds.
    failure_codes : iterable of int, optional
        Codes that count as failures, in place of those of the table (:mod:`reliability.logs.xid_codes`).
    node : str, optional
        The host of lines that name none.
    nodes : int, optional
        Nodes that were watched.
    observed_from, observed_to : str or timestamp, or seconds where the log has no calendar
        The window of observation. A log does not say over which time it is complete.

    Returns
    -------
    reliability.incidents.Incidents
        ``table`` and ``events`` have these columns too: ``xid``, ``sxid``, ``gpu`` (PCI address) or
        ``switch``, ``boot`` and ``boot_s`` (which boot, seconds since), ``stamp`` (the time as written),
        ``messages`` (at least), ``pid`` and ``process``, ``lost`` (whether the GPU is out of service
        until a reset), ``confirmed_by`` (programs that repeat it), ``gpus`` (how many failed), ``uuid``.
        In ``events``, ``kind`` is event or review.

    Raises
    ------
    LogError
        Where the file is no kernel log.
    ValueError
        For an option that is out of range.
    """
    storm_window_s = _positive("storm_window_s", storm_window_s)
    counted = _codes(failure_codes)
    if node is not None and (not isinstance(node, str) or not node.strip()):
        raise ValueError(f"node = {node!r}: must be the name of a host")
    if nodes is not None and (isinstance(nodes, bool) or not isinstance(nodes, int) or nodes < 1):
        raise ValueError(f"nodes = {nodes!r}: must be a whole number from 1")
    found = scan(text, node, storm_window_s)
    if not found.stamped and not found.records and not found.switches.events and not found.quotes.found:
        raise LogError(text.name, *found.first, EXPECTED)
    evidence = [record.line for record in found.records] + [event.line for event in found.switches.events]
    lines = sorted({line.number: line for line in [*found.marks, *_lines(found.quotes), *evidence]}.values())
    boots = len({(r.line.host, r.boot) for r in [*found.records, *found.switches.events]})
    time = clock(text.name, lines, zone, collected_at, booted_at, boots)
    episodes = storms(_episodes(found, time), storm_window_s)
    episodes.sort(key=_order)
    judge(episodes, storm_window_s, counted)
    review = _settle(found, episodes, time)
    return kernel_tables.build(
        text,
        found,
        time,
        episodes,
        review,
        boots=boots,
        nodes=nodes,
        observed_from=observed_from,
        observed_to=observed_to,
        storm_window_s=storm_window_s,
    )


def messages(text, node=None):
    """Yield (Line, Xid) for each Xid message that the kernel wrote, one by one.

    Parameters
    ----------
    text : reliability.logs.files.Text
    node : str, optional
        The host of lines that name none.

    Examples
    --------
    >>> from reliability.logs.files import text_of
    >>> log = text_of("[41.5] NVRM: Xid (PCI:0000:3B:00): 79, GPU has fallen off the bus.")
    >>> [(line.boot_s, xid.gpu, xid.code) for line, xid in messages(log)]
    [(41.5, '0000:3b:00', 79)]
    """
    for number, row in text.lines():
        if "Xid" in row:
            line = parse(number, row, node)
            count, message = xid_lines.repeated(line.text)
            xid = xid_lines.xid(message) if line.kernel else None
            if xid is not None and xid.code is not None:
                yield line, xid._replace(count=count)


def _positive(name, value):
    if isinstance(value, bool) or not isinstance(value, int | float) or not (0 < value < math.inf):
        raise ValueError(f"{name} = {value!r}: must be a number of seconds above 0")
    return float(value)


def _codes(failure_codes):
    if failure_codes is None:
        return None
    given = [failure_codes] if isinstance(failure_codes, int) else list(failure_codes)
    known = sorted(xid_codes.codes().keys() | xid_codes.unused())
    for code in given:
        if isinstance(code, bool) or not isinstance(code, int) or not 0 < code < 1_000_000:
            raise ValueError(f"failure_codes: {code!r} is no Xid code; known are {known[0]} to {known[-1]}")
    return frozenset(given)


def _lines(quotes):
    return [quote.line for quote in quotes.found.values()]


def _episodes(found, time):
    """Each record and each event of a switch as an episode, in order of time where there is one."""
    episodes = [
        Episode(r, r.line.host, r.xid.gpu, r.xid.code, r.fatal, time.us.get(r.line.number), r.after_us)
        for r in found.records
    ]
    episodes += [
        Episode(e, e.line.host, FABRIC, SXID, e.fatal, time.us.get(e.line.number)) for e in found.switches.events
    ]
    return sorted(episodes, key=_order)


def _order(episode):
    # A line without a time stays where it stands in the file, after what has one.
    return (episode.start_us is None, episode.start_us or 0, episode.line)


def _settle(found, episodes, time):
    """Let quotes confirm the messages that they repeat; return the others, which are for review, with reasons."""
    by_code, review = {}, []
    for episode in episodes:
        by_code.setdefault(episode.code, []).append(episode)
    claimed = {}
    for quote in found.quotes.found.values():
        if quote.verbatim:
            review.append((quote, "the kernel's words, but not written by the kernel: a test, a person or a relay"))
            continue
        place = quote.pci or found.uuids.get((quote.line.host, quote.uuid)) if quote.uuid or quote.pci else None
        spoken = [e for e in by_code.get(quote.code, ()) if _speaks_of(quote, e, place, time, found)]
        if spoken and _is_claimed_by_another(quote, spoken, place, claimed):
            spoken = []
        for episode in spoken[-1:]:
            episode.confirm(quote)
        if not spoken:
            unknown = xid_codes.unknown(quote.code)
            review.append((quote, "no line of the kernel" + (f"; {unknown}" if unknown else "")))
    return review


def _speaks_of(quote, episode, place, time, found):
    if quote.line.host is not None and episode.host is not None and quote.line.host != episode.host:
        return False
    if place is not None and episode.gpu != place:
        return False
    at = time.us.get(quote.line.number)
    return at is None or episode.start_us is None or episode.start_us <= at + AHEAD_US


def _is_claimed_by_another(quote, spoken, place, claimed):
    """A second UUID cannot mean the only GPU that a first one was taken to mean."""
    if place is not None or quote.uuid is None:
        return False
    key = (quote.line.host, quote.code)
    claimed.setdefault(key, set()).add(quote.uuid)
    return len(claimed[key]) > len({episode.gpu for episode in spoken})
