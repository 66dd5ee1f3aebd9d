"""When the lines of a kernel log were written: one calendar for all, or seconds since boot, or unknown."""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from reliability.logs import calendar, years
from reliability.logs.notes import Note, note

US = 1_000_000
EARLIEST_US = years.day_us(2006, 1, 1)  # before any Xid


@dataclass
class Clock:
    """The axis on which a file's lines lie.

    Attributes
    ----------
    axis : str
        "calendar"; "differences" (years unknown: only differences hold); "boot" (seconds since boot);
        "none".
    zone : str or None
        None: unknown.
    us : dict
        {line: microseconds}, for lines that have a time on the axis; empty for "boot" and "none".
    stamps : Stamps or dict
        ``get(line)``: the time as the line says it, in ISO 8601, or None.
    notes : list of Note
    apart : bool
        Whether the hosts' times cannot be compared: only differences within a host hold.
    """

    axis: str
    zone: str | None
    us: dict
    stamps: dict
    notes: list
    apart: bool = False


class Stamps:
    """Times as their lines say them, written out when asked for: there may be a million.

    Parameters
    ----------
    numbers : sequence of int
        Of the lines, in order.
    walls : sequence of int
        Microseconds of the clock on the wall.
    offsets : sequence of int or None
    """

    def __init__(self, numbers, walls, offsets):
        self.numbers, self.walls, self.offsets = numbers, walls, offsets

    def get(self, number):
        """The time of a line in ISO 8601, None where it has none."""
        at = bisect_left(self.numbers, number)
        if at == len(self.numbers) or self.numbers[at] != number:
            return None
        return _iso(self.walls[at], self.offsets[at])


def clock(source, lines, zone=None, collected_at=None, booted_at=None, boots=1):
    """Place lines on one axis.

    Parameters
    ----------
    source : str
    lines : list of Line
        In the order of the file.
    zone : str, optional
        Zone of the stamps that state none.
    collected_at : str or timestamp, optional
        When the log was collected: gives stamps without a year theirs.
    booted_at : str or timestamp, optional
        When the machine was started: gives seconds since boot a calendar.
    boots : int
        How many boots (of all hosts) the lines come from.

    Returns
    -------
    Clock
    """
    if zone is not None:
        calendar.localised(np.zeros(1, dtype=np.int64), zone)  # refuses a zone that does not exist
    notes = []
    if booted_at is not None:
        lines = _from_boot(lines, booted_at, zone, boots)
    collected_us, aware = _moment("collected_at", collected_at, zone)
    walls, origin = years.resolve(lines, collected_us, aware and zone is not None)
    # A machine that has just started may not know the date yet.
    unset = (
        [i for i, wall in enumerate(walls) if wall is not None and wall < EARLIEST_US] if origin != "unknown" else []
    )
    notes += note("unknown", "time of a line: its clock was not set yet", [lines[i].number for i in unset])
    walls = [None if wall is not None and origin != "unknown" and wall < EARLIEST_US else wall for wall in walls]
    yearless = [line.number for line in lines if line.yearless is not None]
    if origin == "unknown":
        text = "the stamps have no year, and nothing tells it: only differences of times hold; tell collected_at='…'"
        notes += note("unknown", text, yearless)
        if years.crosses_february(walls):
            notes.append(Note("assumed", "no leap day between the stamps without a year", len(yearless)))
        apart = len(years.chains(lines)) > 1
        if apart:
            text = "one axis of time: hosts follow each other in the file, and without years cannot be compared"
            notes.append(Note("unknown", text, len(yearless)))
        notes += _zone_note(lines, None)
        return Clock("differences", None, _known(lines, walls), _yearless_texts(lines), notes, apart)
    if origin == "collected":
        notes += note(
            "assumed", f"years of stamps without one: the latest not after collected_at = {collected_at}", yearless
        )
    elif origin == "neighbours":
        text = "years of stamps without one: the latest that is not after the later lines with a year"
        notes += note("assumed", text, yearless)
    if all(wall is None for wall in walls):
        axis = "boot" if any(line.boot_s is not None for line in lines) else "none"
        text = (
            "calendar: times are seconds since boot" + ("; tell booted_at='…'" if boots == 1 else "")
            if axis == "boot"
            else "calendar: the lines have no time"
        )
        return Clock(axis, None, {}, {}, [*notes, Note("unknown", text, len(lines))] if lines else notes)
    dated = [(line.number, wall, line.offset_s) for line, wall in zip(lines, walls, strict=True) if wall is not None]
    stamps = Stamps(*zip(*dated, strict=True))
    us, known, more = _on_one_clock(lines, walls, zone)
    notes += more
    late = [n for n, t in us.items() if collected_us is not None and t > collected_us + (0 if known else years.FAR_US)]
    notes += note("warning", "stamp after collected_at", sorted(late))
    return Clock("calendar", known, us, stamps, notes)


def _on_one_clock(lines, walls, zone):
    """Microseconds by line, the zone, and notes."""
    rows = [(line, wall) for line, wall in zip(lines, walls, strict=True) if wall is not None]
    bare = [line.number for line, _ in rows if line.offset_s is None]
    if not bare:
        return {line.number: wall - line.offset_s * US for line, wall in rows}, zone or "UTC", []
    if zone is None:
        # As written: a difference between a stamp with a zone and one without may be off by the offset.
        return {line.number: wall for line, wall in rows}, None, _zone_note(lines, bare)
    naive = np.array([wall for line, wall in rows if line.offset_s is None], dtype=np.int64)
    utc, twice, none = calendar.localised(naive, zone)
    utc = np.where(none, naive, utc)
    numbers = np.array(bare)
    found = dict(zip(bare, utc.tolist(), strict=True))
    for number in numbers[none].tolist():
        del found[number]
    found |= {line.number: wall - line.offset_s * US for line, wall in rows if line.offset_s is not None}
    notes = note("assumed", f"hour that {zone} has twice, taken as its first", numbers[twice].tolist())
    text = f"time that {zone} does not have: summer time begins"
    return found, zone, notes + note("unknown", text, numbers[none].tolist())


def _zone_note(lines, bare):
    bare = [line.number for line in lines if line.yearless is not None] if bare is None else bare
    zoned = sum(line.offset_s is not None for line in lines)
    mixed = f"; {zoned} of the others name one, and differences between the two kinds may be off" if zoned else ""
    return note("unknown", f"time zone of stamps that name none; tell zone='…'{mixed}", bare)


def _from_boot(lines, booted_at, zone, boots):
    if boots > 1:
        raise ValueError(
            f"booted_at = {booted_at!r}: the file has {boots} boots or hosts, one time cannot be that of all"
        )
    start, aware = _moment("booted_at", booted_at, zone)
    return [
        line._replace(wall_us=start + round(line.boot_s * US), offset_s=0 if aware else None)
        if line.boot_s is not None and line.wall_us is None and line.yearless is None
        else line
        for line in lines
    ]


def _moment(name, value, zone):
    """(microseconds, whether they are of UTC) of a time that the user tells."""
    if value is None:
        return None, False
    import pandas as pd

    try:
        found = pd.Timestamp(value) if not isinstance(value, bool | int | float) else pd.NaT
    except (ValueError, TypeError, OverflowError):
        found = pd.NaT
    if found is pd.NaT:
        raise ValueError(f"{name} = {value!r}: must be a date such as '2026-01-03T09:00:00Z'")
    if found.tzinfo is None and zone is not None and name == "collected_at":
        found = found.tz_localize(zone)
    return int(found.as_unit("us").asm8.astype("int64")), found.tzinfo is not None


def _known(lines, walls):
    return {line.number: wall for line, wall in zip(lines, walls, strict=True) if wall is not None}


def _iso(wall, offset_s):
    text = str(np.datetime64(wall, "us"))
    text = text.removesuffix(".000000")
    if offset_s is None:
        return text
    sign, minutes = "-" if offset_s < 0 else "+", abs(offset_s) // 60
    return f"{text}{sign}{minutes // 60:02d}:{minutes % 60:02d}"


def _yearless_texts(lines):
    found = {}
    for line in lines:
        if line.yearless is not None:
            month, day, us = line.yearless
            found[line.number] = f"--{month:02d}-{day:02d}T" + str(np.datetime64(us, "us"))[11:].removesuffix(".000000")
        elif line.wall_us is not None:
            found[line.number] = _iso(line.wall_us, line.offset_s)
    return found
