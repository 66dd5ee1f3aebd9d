"""The last step of every reader of tables: rows with times in microseconds become :class:`Incidents`."""

import numpy as np

from reliability.logs.calendar import MISSING, US, stamp, window
from reliability.logs.notes import note


def incidents(frame, aside=None, **facts):
    """Return Incidents of rows.

    Parameters
    ----------
    frame : pandas.DataFrame
        start_us, end_us (int), ended, open (bool), node, cls, line, detail; system and group where the source has them.
    aside : pandas.DataFrame, optional
        Rows that are not incidents, with ``why``.
    **facts
        zone, calendar (False: seconds of no date), observed_from, observed_to, notes, and the fields of
        :class:`reliability.incidents.Incidents` that the source gives.
    """
    from reliability.incidents import Incidents

    zone, calendar = facts.pop("zone"), facts.pop("calendar", True)
    low, high = window(facts.pop("observed_from", None), facts.pop("observed_to", None), zone, calendar)
    notes = list(facts.pop("notes", ()))
    frame = frame.sort_values(["start_us", "line"], kind="stable", ignore_index=True)
    outside = np.zeros(len(frame), dtype=bool)
    if low is not None:
        outside |= frame["start_us"].to_numpy() < low
    if high is not None:
        outside |= frame["start_us"].to_numpy() >= high
    if outside.any():
        notes += note("excluded", "start outside the window of observation", np.sort(frame["line"][outside]).tolist())
        frame = frame[~outside].reset_index(drop=True)
    first = facts.pop("first_us", None)
    if low is not None:
        first = low
    elif first is None:
        first = int(frame["start_us"].min()) if len(frame) else 0
    zero = first if calendar else 0
    table = _table(frame, zone, calendar, zero)
    events = None
    if aside is not None and len(aside):
        aside = aside.sort_values(["start_us", "line"], kind="stable", ignore_index=True)
        events = _table(aside, zone, calendar, zero)
        events["why"] = aside["why"].to_numpy(dtype=object)
    observed = None if low is None or high is None else ((low - zero) / US, (high - zero) / US)
    origin = (
        stamp(np.array([zero], dtype=np.int64), zone)[0]
        if calendar and (len(frame) or low is not None or zero)
        else None
    )
    return Incidents(
        table=table, events=events, origin=origin, zone=zone, notes=tuple(notes), observed_s=observed, **facts
    )


def _table(frame, zone, calendar, zero):
    """The columns of an incident table; times in seconds since `zero`."""
    import pandas as pd

    from reliability.incidents import EXTRA_COLUMNS

    start_us, end_us = frame["start_us"].to_numpy(dtype=np.int64), frame["end_us"].to_numpy(dtype=np.int64)
    ended = frame["ended"].to_numpy(dtype=bool)
    nothing = np.full(len(frame), MISSING)
    table = pd.DataFrame(
        {
            "start": stamp(start_us if calendar else nothing, zone),
            "end": stamp(np.where(ended, end_us, MISSING) if calendar else nothing, zone),
            "start_s": (start_us - zero) / US,
            "end_s": np.where(ended, (end_us - zero) / US, np.nan),
            "open": frame["open"].to_numpy(dtype=bool),
            "line": frame["line"].to_numpy(dtype=np.int64),
        }
    )
    for place, name in ((5, "node"), (6, "cls"), (8, "detail")):
        values = frame[name].to_numpy(dtype=object)
        # pandas writes a text that is missing as NaN.
        table.insert(place, name, pd.Series(np.where(pd.isna(values), None, values), dtype=object))
    for name in EXTRA_COLUMNS:
        if name in frame:
            values = frame[name].to_numpy()
            table[name] = pd.Series(values, dtype=object if values.dtype == object else None)
    return table
