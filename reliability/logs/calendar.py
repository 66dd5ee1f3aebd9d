"""Times of a table on one axis: their zone, their origin, and the window that was observed."""

import numpy as np

from reliability.logs.notes import LogError, Note, note
from reliability.logs.table_dates import MISSING

US = 1_000_000


def on_one_clock(source, zone, lines, *columns):
    """Bring the stamps of several columns to one clock.

    Parameters
    ----------
    source : str
    zone : str or None
        Zone of the stamps that say none, where the user tells it.
    lines : int array
    *columns : reliability.logs.table_dates.Stamps
        Changed in place: UTC where the zone is known, else the wall clock.

    Returns
    -------
    (zone, notes)
        "UTC" where stamps say it, the user's zone where they do not, None where nobody does.

    Raises
    ------
    LogError
        Where some stamps have a zone, others none, and none was told.
    """
    zoned = any((~c.missing & c.zoned).any() for c in columns)
    naive = [(c, ~c.missing & ~c.zoned) for c in columns]
    if not any(mask.any() for _, mask in naive):
        return ("UTC" if zoned else zone), []
    if zone is None:
        if zoned:
            line = min(int(lines[np.flatnonzero(mask)[0]]) for _, mask in naive if mask.any())
            raise LogError(
                source, line, "a time without zone", "a zone as in other rows, or to be told: zone='Europe/Berlin'"
            )
        count = len(columns[0].us)
        text = "time zone: taken as one clock without summer time; tell zone='…'"
        return None, [Note("unknown", text, count)]
    twice, skipped = [], []
    for column, mask in naive:
        rows = np.flatnonzero(mask)
        column.us[rows], double, none = localised(column.us[rows], zone)
        column.zoned[rows] = True
        column.bad[rows[none]] = True
        twice += lines[rows[double]].tolist()
        skipped += lines[rows[none]].tolist()
    notes = note("assumed", f"hour that {zone} has twice, taken as its first", sorted(twice))
    return zone, notes + note("warning", f"time that {zone} does not have: summer time begins", sorted(skipped))


def localised(us, zone):
    """UTC of wall-clock times in a zone.

    Returns
    -------
    (us, twice, none)
        Microseconds; which times the zone has twice (the first is taken); which it does not have.
    """
    import pandas as pd

    index = pd.DatetimeIndex(us.astype("datetime64[us]"))
    try:
        first = index.tz_localize(zone, ambiguous=np.ones(len(us), dtype=bool), nonexistent="NaT")
        second = index.tz_localize(zone, ambiguous=np.zeros(len(us), dtype=bool), nonexistent="NaT")
    except (KeyError, ValueError, OSError, TypeError, AttributeError):
        raise ValueError(
            f"zone = {zone!r}: must be the name of a time zone, such as 'Europe/Berlin' or 'UTC'"
        ) from None
    none = np.asarray(first.isna())
    utc = np.where(none, MISSING, np.asarray(first.asi8 if first.unit == "us" else first.as_unit("us").asi8))
    return utc, np.asarray(first != second) & ~none, none


def stamp(us, zone):
    """Timestamps of microseconds since 1970, in a zone (None: of no zone); NaT where there is none."""
    import pandas as pd

    us = np.asarray(us)
    index = pd.DatetimeIndex(us.view("datetime64[us]") if us.dtype == np.int64 else us.astype("datetime64[us]"))
    return index if zone is None else index.tz_localize("UTC").tz_convert(zone)


def moment(name, value, zone):
    """Microseconds of a time that the user tells, on the clock of the table.

    Parameters
    ----------
    name : str
    value : str, pandas.Timestamp, datetime, or a number of seconds where the table has no calendar
    zone : str or None
    """
    import pandas as pd

    try:
        found = pd.Timestamp(value)
    except (ValueError, TypeError, OverflowError):
        found = pd.NaT
    if found is pd.NaT or isinstance(value, int | float):
        raise ValueError(f"{name} = {value!r}: must be a date such as '2025-11-03' or '2025-11-03 08:00'")
    if found.tzinfo is None and zone is not None:
        found = found.tz_localize(zone)
    elif found.tzinfo is not None and zone is None:
        raise ValueError(f"{name} = {value!r}: must have no zone, as the file's times have none; or tell zone")
    return found.value // 1000


def window(observed_from, observed_to, zone, calendar):
    """The window of observation in microseconds, each end None where it is not told."""
    ends = []
    for name, value in (("observed_from", observed_from), ("observed_to", observed_to)):
        if value is None:
            ends.append(None)
        elif calendar:
            ends.append(moment(name, value, zone))
        else:
            if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
                raise ValueError(f"{name} = {value!r}: must be seconds, as the file has no calendar")
            ends.append(int(value * US))
    if None not in ends and ends[1] <= ends[0]:
        raise ValueError(f"observed_to = {observed_to!r}: must be after observed_from = {observed_from!r}")
    return tuple(ends)
