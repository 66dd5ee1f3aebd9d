"""When the rows of a table of incidents start and end."""

from dataclasses import dataclass, field

import numpy as np

from reliability.logs import columns, csv_rows, durations, numbers, table_dates
from reliability.logs.calendar import US
from reliability.logs.notes import LogError, note, quoted

LONGEST_S = 1e11  # 3,000 years: a slip, whatever the unit
AGREE_S, AGREE_SHARE = 90.0, 0.01  # a stated duration may be rounded to minutes, or to a hundredth of an hour


@dataclass
class Source:
    """Columns of a table of incidents, by the part they play, and where they come from."""

    name: str
    format: str
    parts: dict  # part: pyarrow string array, or Stamps where the file has times
    units: dict  # part: unit that its column's name says
    labels: dict  # part: its column's name
    lines: np.ndarray
    table: object  # all fields, for exact duplicates
    read: int
    notes: list = field(default_factory=list)
    separator: str = ","


def joined(dates, clocks):
    """Dates and times of day that stand in two columns; where the time is empty, the date alone."""
    import pyarrow.compute as compute

    both = compute.binary_join_element_wise(dates, clocks, " ")
    # A second column that holds whole dates of its own is no time of day.
    clock = compute.match_substring_regex(clocks, r"^\d{1,2}:\d{2}")
    return compute.if_else(compute.and_(clock, compute.not_equal(dates, "")), both, dates)


def times(source, day_first, decimal):
    """Stamps of start and end, and whether they are dates; seconds since some zero where the names have units."""
    import pyarrow as pa

    start, end = source.parts["start"], source.parts.get("end")
    relative = source.units["start"] is not None and not isinstance(start, table_dates.Stamps)
    found, dates = {}, {}
    for part, values in (("start", start), ("end", end)):
        if values is None:
            values = pa.array([""] * len(source.lines), pa.string())
        if isinstance(values, table_dates.Stamps):
            found[part] = values
        elif relative and source.units.get(part):
            found[part] = _clock(source, part, values, decimal)
        elif relative and part in source.parts:
            raise LogError(
                source.name,
                None,
                f"columns {source.labels['start']} and {source.labels[part]}",
                "both in units, or both as dates",
            )
        else:
            dates[part] = (values, source.lines)
    found |= table_dates.parse(source.name, day_first, **dates)
    bad = found["start"].bad
    if bad.sum() * 2 > (bad | ~found["start"].missing).sum():
        row = int(np.flatnonzero(bad)[0])
        expected = (
            "a number" if relative else f"{table_dates.EXPECTED}, or a unit in the column's name, such as start_h"
        )
        raise LogError(source.name, int(source.lines[row]), source.parts["start"][row].as_py(), expected)
    return found["start"], found["end"], not relative


def _clock(source, part, values, decimal):
    """Stamps of numbers whose unit is in the column's name."""
    amounts, bad = numbers_of(source, part, values, decimal)
    us = amounts * columns.UNITS[source.units[part]] * US
    bad |= np.abs(us) > 1e17
    us = np.where(np.isfinite(us) & ~bad, np.round(us), 0).astype(np.int64)
    false = np.zeros(len(us), dtype=bool)
    return table_dates.Stamps(np.where(np.isfinite(amounts) & ~bad, us, table_dates.MISSING), false.copy(), bad, false)


def numbers_of(source, part, values, decimal):
    try:
        return numbers.parse(values, source.separator, decimal)
    except numbers.AmbiguousDecimal as error:
        raise LogError(
            source.name, None, None, f"column {source.labels[part]} with one decimal sign: {error}"
        ) from None


def ends(source, start, end, decimal, duration_unit):
    """Ends in microseconds, from the end's column, or where that is empty from the duration."""
    notes = note("unknown", "end is no date: the outage's length is not known", source.lines[end.bad].tolist())
    end_us, ended = end.us.copy(), ~end.missing
    seconds, known = np.full(len(end_us), np.nan), None
    if "duration" in source.parts:
        wanted = bool((~ended & ~end.bad & ~end.going_on & ~start.missing).any())
        seconds, known, useless, more = durations_of(
            source, decimal, duration_unit, wanted and not ("end" in source.parts and ended.any())
        )
        notes += more
        end.bad[useless & ~ended] = True  # a length that cannot be read does not make an outage go on
    filled = ~ended & ~end.bad & ~end.going_on & np.isfinite(seconds) & ~start.missing
    end_us[filled] = start.us[filled] + np.round(seconds[filled] * US).astype(np.int64)
    ended |= filled
    if known:
        both = ~end.missing & ~start.missing & np.isfinite(seconds) & (end.us >= start.us)
        length = np.where(both, (end.us - start.us) / US, 0.0)
        stated = np.where(both, seconds, 0.0)
        apart = both & (np.abs(length - stated) > np.maximum(AGREE_S, AGREE_SHARE * np.maximum(length, stated)))
        reason = f"{quoted(source.labels['duration'])} contradicts start and end, which are used"
        notes += note("warning", reason, source.lines[apart].tolist())
    # An end that cannot be read is not an outage that goes on.
    return end_us, ended, ~ended & (seconds < 0) | (filled & (seconds < 0)), notes


def durations_of(source, decimal, told, needed):
    """Seconds of the duration column, NaN where there is none or its unit is not known; whether any is; which cannot be read."""
    if told is not None and told not in columns.UNITS:
        raise ValueError(f"duration_unit = {told!r}: must be one of {', '.join(columns.UNITS)}")
    values, label = source.parts["duration"], source.labels["duration"]
    unit = told or source.units["duration"]
    try:
        found, bad = numbers.parse(values, source.separator, decimal)
    except numbers.AmbiguousDecimal as error:
        if needed:
            raise LogError(source.name, None, None, f"column {label} with one decimal sign: {error}") from None
        unknown = note("unknown", f"{quoted(label)}: {error}", source.lines.tolist())
        return np.full(len(values), np.nan), False, np.zeros(len(values), dtype=bool), unknown
    bare = np.isfinite(found)
    if bad.any():
        spelt, wrong, unclear = _spelt(csv_rows.objects(values)[bad], unit)
        if unclear.any() and needed:
            row = int(np.flatnonzero(bad)[unclear][0])
            expected = f"H:MM:SS, or to be told what {label} has: hours and minutes duration_unit='h', minutes and seconds duration_unit='min'"
            raise LogError(source.name, int(source.lines[row]), values[row].as_py(), expected)
        seconds = np.full(len(found), np.nan)
        seconds[bad] = spelt
        broken = np.zeros(len(found), dtype=bool)
        broken[bad] = wrong
    else:
        seconds, broken = np.full(len(found), np.nan), bad
    notes = note("unknown", f"{quoted(label)} is no duration", source.lines[broken].tolist())
    if bare.any() and unit is None:
        if needed:
            row = int(np.flatnonzero(bare)[0])
            expected = (
                f"a unit in the name of column {label} (such as downtime_min), or to be told: duration_unit='min'"
            )
            raise LogError(source.name, int(source.lines[row]), values[row].as_py(), expected)
        notes += note(
            "unknown", f"unit of {quoted(label)}: not compared with start and end", source.lines[bare].tolist()
        )
    elif bare.any():
        with np.errstate(over="ignore"):  # what overflows is beyond the longest
            seconds = np.where(bare, found * columns.UNITS[unit], seconds)
    beyond = np.abs(seconds) >= LONGEST_S
    notes += note("unknown", f"{quoted(label)} is longer than any outage", source.lines[beyond].tolist())
    return np.where(beyond, np.nan, seconds), True, broken | beyond, notes


def _spelt(texts, unit):
    """Seconds of durations that are no plain numbers; which are none; which of these are two fields of unknown unit."""
    found, wrong = durations.column_seconds(texts, lambda text: durations.seconds(text, unit))
    two = [durations.TWO_FIELDS.fullmatch(str(text).strip()) is not None for text in texts[wrong]]
    unclear = np.zeros(len(texts), dtype=bool)
    unclear[wrong] = two
    return found, wrong, unclear
