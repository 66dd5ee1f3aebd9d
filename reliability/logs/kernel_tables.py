"""The tables of a kernel log."""

import functools
import itertools
from typing import NamedTuple

import numpy as np

from reliability.logs import calendar, kernel_notes, xid_codes
from reliability.logs.episodes import FABRIC, SXID
from reliability.logs.notes import Note, note
from reliability.text import escaped

US = 1_000_000
NAT = np.iinfo(np.int64).min
TEXT_SHOWN = 200
PART = 20_000


def build(text, found, time, episodes, review, boots, nodes, observed_from, observed_to, storm_window_s):
    """Return the Incidents of a kernel log.

    Parameters
    ----------
    text, found, time, episodes
        The file, its :class:`Scan`, its :class:`Clock` and the judged episodes.
    review : list of (Quote, str)
    boots : int
    nodes, observed_from, observed_to, storm_window_s
        As given to :func:`reliability.logs.xid.read_xid`.
    """
    from reliability.incidents import Incidents

    dated = time.axis == "calendar"
    zone = time.zone
    low, high = calendar.window(observed_from, observed_to, zone, dated)
    failures = [e for e in episodes if e.verdict == "failure"]
    notes = [*time.notes, *kernel_notes.notes(found, episodes, review, storm_window_s), *text.notes()]
    outside = [e for e in failures if _is_outside(e, low, high)]
    if outside:
        notes += note("excluded", "start outside the window of observation", sorted(e.line for e in outside))
        left_out = set(map(id, outside))
        failures = [e for e in failures if id(e) not in left_out]
    zero = low if low is not None and time.axis != "boot" else min(time.us.values(), default=0)
    place = _Place(time, zero, boots)
    if time.axis == "boot" and boots > 1:
        why = "one axis of time: seconds since boot of several boots or hosts cannot be compared"
        notes.append(Note("unknown", why, boots))
    uuids = {(host, pci): uuid for (host, uuid), pci in found.uuids.items()}
    rows = (_row(e, place, uuids) for e in failures)
    others = (_row(e, place, uuids) for e in episodes if e.verdict != "failure")
    others = itertools.chain(others, (_quote_row(quote, why, place) for quote, why in review))
    table = _frame(rows, place, zone).drop(columns=["why", "kind"])
    observed = None if low is None or high is None else ((low - place.zero) / US, (high - place.zero) / US)
    return Incidents(
        table=table,
        events=_frame(others, place, zone),
        origin=calendar.stamp(np.array([zero], dtype=np.int64), zone)[0] if dated else None,
        zone=zone,
        observed_s=observed,
        nodes=nodes,
        rows=sum(r.printed for r in found.records) + found.switches.lines,
        notes=tuple(notes),
        format="xid",
        source=text.name,
    )


class _Place:
    """Puts an episode on the file's axis."""

    def __init__(self, time, zero, boots):
        self.time, self.boots = time, boots
        self.zero = zero if time.axis in ("calendar", "differences") else 0

    def start(self, us, boot_s):
        """(microseconds of the calendar or None, seconds on the axis or NaN)."""
        if self.time.axis == "boot":
            return None, boot_s if boot_s is not None and self.boots <= 1 else np.nan
        seconds = np.nan if us is None or self.time.apart else (us - self.zero) / US
        return us if self.time.axis == "calendar" else None, seconds


def _is_outside(episode, low, high):
    at = episode.start_us
    if at is None and episode.boot_s is not None:
        at = episode.boot_s * US
    return at is not None and ((low is not None and at < low) or (high is not None and at >= high))


class _Row(NamedTuple):
    us: int | None
    start_s: float
    node: str | None
    cls: str
    line: int
    detail: str
    why: str
    kind: str
    xid: int | None = None
    sxid: int | None = None
    gpu: str | None = None
    switch: str | None = None
    link: int | None = None
    fatal: bool | None = None
    lost: bool = False
    messages: int = 1
    pid: int | None = None
    process: str | None = None
    boot: int = 0
    boot_s: float | None = None
    stamp: str | None = None
    confirmed_by: str | None = None
    uuid: str | None = None
    source: str | None = None
    gpus: int = 0


TYPES = {"line": "int64", "lost": "bool", "messages": "int64", "boot": "int64", "gpus": "int64", "fatal": "boolean"}
TYPES |= dict.fromkeys(("xid", "sxid", "link", "pid"), "Int64") | dict.fromkeys(("start_s", "boot_s"), "float64")


def _row(episode, place, uuids):
    us, seconds = place.start(episode.start_us, episode.boot_s)
    first, said, code = episode.first, episode.confirmed_by, episode.code
    programs = uuid = None
    if said:
        programs = ", ".join(dict.fromkeys(escaped(quote.program) for quote in said)) or None
        uuid = next((quote.uuid for quote in said if quote.uuid), None)
    shared = (
        us,
        seconds,
        episode.host,
        _class(code),
        episode.line,
        _detail(episode),
        escaped(episode.why),
        episode.verdict,
    )
    if code == SXID:
        about = (None, first.code, None, first.switch, first.link, first.fatal)
        process = (None, None)
    else:
        about = (code, None, episode.gpu, None, None, episode.fatal if code != 154 else None)
        process = (first.xid.pid, None if first.xid.name is None else escaped(first.xid.name))
    return _Row(
        *shared,
        *about,
        episode.lost,
        episode.messages,
        *process,
        episode.boot,
        episode.boot_s,
        place.time.stamps.get(episode.line),
        programs,
        uuids.get((episode.host, episode.gpu)) or uuid,
        None,
        sum(gpu != FABRIC for gpu in episode.gpus),
    )


@functools.cache
def _class(code):
    if code == SXID:
        return xid_codes.switch_class()
    known = xid_codes.codes().get(code)
    return known.cls if known else "other"


def _detail(episode):
    """A line of text: code, where, what it means, what followed."""
    where = (
        f"{episode.first.switch} {episode.first.pci or ''}".strip()
        if episode.code == SXID
        else f"GPU {episode.gpu or 'unknown'}"
    )
    text = f"{episode.name}, {where}"
    failure = episode.verdict == "failure"
    if failure and episode.why:
        text += "; " + episode.why
    if len(episode.gpus) > 1:
        text += f"; {len(episode.gpus)} GPUs or fabric: " + ", ".join(str(gpu or "unknown") for gpu in episode.gpus)
    if episode.followers:
        text += "; then " + ", ".join(dict.fromkeys(f.name for f in episode.followers))
    if episode.messages > 1:
        text += f"; at least {episode.messages:,} messages"
    if not failure:
        said = episode.first.text if episode.code == SXID else episode.first.xid.text
        text += f"; {said}" if said else ""
    return escaped(text[:TEXT_SHOWN])


def _quote_row(quote, why, place):
    us, seconds = place.start(place.time.us.get(quote.line.number), quote.line.boot_s)
    who = escaped(quote.line.program if quote.verbatim else quote.program)
    code = f"Xid {quote.code}" + (f", GPU {quote.pci}" if quote.pci else f", {quote.uuid}" if quote.uuid else "")
    detail = escaped(f"{code}, said by {who}"[:TEXT_SHOWN])
    return _Row(
        us,
        seconds,
        quote.line.host,
        "other",
        quote.line.number,
        detail,
        escaped(why),
        "review",
        xid=quote.code,
        gpu=quote.pci,
        messages=quote.messages,
        boot=quote.boot,
        boot_s=quote.line.boot_s,
        stamp=place.time.stamps.get(quote.line.number),
        uuid=quote.uuid,
        source=who,
    )


def _frame(rows, place, zone):
    """A table of rows, the earliest first; those without a time last."""
    import pandas as pd

    columns = {name: [] for name in _Row._fields}
    # By parts, so that a million rows are not held as rows and as columns.
    while part := list(itertools.islice(rows, PART)):
        for values, more in zip(columns.values(), zip(*part, strict=True), strict=True):
            values += more
    us = np.array([NAT if at is None else at for at in columns.pop("us")], dtype=np.int64)
    # A kernel log tells no end of a repair: unknown, which is not the same as still open.
    table = pd.DataFrame({"start": calendar.stamp(us, zone), "end": calendar.stamp(np.full(len(us), NAT), zone)})
    table["start_s"] = pd.Series(columns.pop("start_s"), dtype="float64")
    table["end_s"], table["open"] = np.full(len(us), np.nan), np.zeros(len(us), dtype=bool)
    for name in list(columns):
        table[name] = pd.Series(columns.pop(name), dtype=TYPES.get(name, object))
    return table.sort_values(["start_s", "line"], kind="stable", na_position="last", ignore_index=True)
