"""How well the record's own past would have predicted its last part: forecasts by a rolling origin, scored.

Before each window of the last 30 % of the record, everything is fitted on what came before it alone, and
the window's incidents and hours down are predicted with 90 % intervals. Beside it the naive forecast:
a Poisson count at the mean rate of all the past.
"""

import functools

import numpy as np

from reliability import checks, forecast, naive_forecasts, scoring
from reliability.backtest_scores import LEVEL, Backtest, Scores, Window
from reliability.exposures import LONGEST_DAYS
from reliability.units import DAY_S, HOUR_S

WEEK = 7  # days
WINDOWS_DAYS = (7, 30)
HELD_OUT = 0.3


def backtest(
    start_s, end_s=None, still_open=None, observed_s=None, nodes=None, windows_days=WINDOWS_DAYS, held_out=HELD_OUT
):
    """Score forecasts of a record's last part, each made from what came before it alone.

    Parameters
    ----------
    start_s : array [incidents]
        When each began, in seconds.
    end_s : array [incidents], optional
        When each ended; NaN where that is unknown. Without it no hours down are predicted.
    still_open : bool array [incidents], optional
        Incidents that had not ended when the record did: down until its end. An unknown end that is
        not open adds no hours.
    observed_s : (float, float), optional
        When watching began and ended. Without it the record is taken to run from the first incident
        to the last, and the notes say so.
    nodes : int, optional
        Nodes watched: no window has more hours down than they have.
    windows_days : list of int, >= 1
    held_out : float, in (0, 1)
        Share of the record whose windows are scored.

    Returns
    -------
    Backtest

    Notes
    -----
    Windows follow each other without overlap from the start of the held-out part; what is left of it
    at the end is too short for one and is not scored. Hours down are node-hours within the window,
    those of earlier incidents that last into it too.

    Examples
    --------
    >>> starts = np.sort(np.random.default_rng(7).uniform(0, 400 * 86400, 1200))
    >>> week, month = backtest(starts, observed_s=(0, 400 * 86400)).windows
    >>> week.scored, round(week.counts.coverage, 2), month.scored
    (17, 0.94, 4)
    """
    start_s, end_s, notes = _times(start_s, end_s, still_open)
    held_out = checks.scalar("held_out", checks.inner_probability("held_out", held_out))
    windows_days = [checks.count("windows_days", days) for days in windows_days]
    record, note = _record(start_s, observed_s)
    if note:
        notes.append(note)
    # Each day of the grid ends or begins where the held-out part begins, so that no day is on both sides of it.
    origin = record[0] + (1 - held_out) * (record[1] - record[0])
    past, ahead = int((origin - record[0]) // DAY_S + 1e-9), int((record[1] - origin) // DAY_S + 1e-9)
    if past + ahead > LONGEST_DAYS:
        raise ValueError(f"the record spans {past + ahead:,} days: must be at most {LONGEST_DAYS:,}; is a date wrong?")
    edges = origin + DAY_S * np.arange(-past, ahead + 1)
    counts = np.diff(np.searchsorted(start_s, edges, side="left"))
    hours, repairs = None, None
    if end_s is not None:
        known = ~np.isnan(end_s)
        hours = np.maximum(np.diff(_hours_until(edges, start_s[known], end_s[known])), 0.0)
        repairs = functools.partial(naive_forecasts.repairs_until, start_s=start_s[known], end_s=end_s[known])
    most_h = np.inf if nodes is None else 24.0 * checks.count("nodes", nodes)
    windows = tuple(_window(days, counts, hours, repairs, past, edges, most_h) for days in windows_days)
    return Backtest(start_s.size, record, windows, tuple(notes))


def _times(start_s, end_s, still_open):
    """The incidents in order, open ends at infinity, and notes on what they lack."""
    start_s = checks.real("start_s", start_s) if np.size(start_s) else np.empty(0)
    if start_s.ndim != 1:
        raise ValueError(f"start_s has shape {start_s.shape}: must be a list of times")
    order, notes = np.argsort(start_s, kind="stable"), []
    if end_s is None:
        return start_s[order], None, ["ends are unknown: no hours down are predicted"]
    end_s = np.asarray(end_s, dtype=float)
    still_open = np.zeros(start_s.shape, bool) if still_open is None else np.asarray(still_open, dtype=bool)
    if end_s.shape != start_s.shape or still_open.shape != start_s.shape:
        raise ValueError(
            f"end_s {end_s.shape}, still_open {still_open.shape}: must be as long as start_s {start_s.shape}"
        )
    if (end_s < start_s).any():
        raise ValueError(f"end_s = {end_s[end_s < start_s][0]:g}: must not be before its start")
    unknown = int((np.isnan(end_s) & ~still_open).sum())
    if unknown:
        notes.append(f"{unknown:,} incidents whose end is unknown add no hours down")
    end_s = np.where(np.isnan(end_s) & still_open, np.inf, end_s)
    if not np.isfinite(end_s).any():
        return start_s[order], None, [*notes, "no end is known: no hours down are predicted"]
    return start_s[order], end_s[order], notes


def _record(start_s, observed_s):
    if observed_s is not None:
        begin, end = checks.real("observed_s", observed_s)
        if not begin < end:
            raise ValueError(f"observed_s = ({begin:g}, {end:g}): must begin before it ends")
        return (float(begin), float(end)), ""
    if start_s.size < 2:
        return (0.0, 0.0), "fewer than two incidents and no window of observation: nothing can be scored"
    assumed = "the record is taken to run from its first incident to its last: when watching began and ended is unknown"
    return (float(start_s[0]), float(start_s[-1])), assumed


def _hours_until(times, start_s, end_s):
    """Node-hours down up to each time: elapsed since the starts before it, less that since the ends before it."""
    zero = start_s[0] if start_s.size else 0.0  # near the numbers, so that their sums keep their digits
    elapsed = []
    for moments in (start_s, np.sort(end_s[np.isfinite(end_s)])):
        before = np.searchsorted(moments, times)
        sums = np.concatenate([[0.0], np.cumsum(moments - zero)])[before]
        elapsed.append(before * (times - zero) - sums)
    return (elapsed[0] - elapsed[1]) / HOUR_S


def _window(days, counts, hours, repairs, past, edges, most_h):
    """Scores for windows of one length."""
    starts = np.arange(past, counts.size - days + 1, days)
    if starts.size == 0 or past < 2 * days:
        why = (
            "the held-out part is shorter than one window"
            if starts.size == 0
            else "the past is shorter than two windows"
        )
        return Window(days, np.empty(0), None, None, why)
    # Earlier windows of the same length are forecast too: the intervals learn from how they were missed.
    first = min(past, past % days + days * -(-max(forecast.FIRST_DAYS - past % days, 1) // days))
    origins = np.arange(first, counts.size - days + 1, days)
    held = origins >= past
    total = np.concatenate([[0], np.cumsum(counts)])
    seen = total[origins + days] - total[origins]
    rate = total[origins] / origins
    naive = naive_forecasts.counts(rate[held] * days)
    scores = _scores(forecast.count_forecasts(counts, days, origins), seen, held, naive)
    down = None
    if hours is not None:
        sums = np.concatenate([[0.0], np.cumsum(hours)])
        naive = naive_forecasts.hours(rate[held] * days, *repairs(edges[origins[held]]))
        seen = sums[origins + days] - sums[origins]
        down = _scores(forecast.hours_forecasts(hours, days, origins), seen, held, naive, days * most_h)
    return Window(days, edges[starts], scores, down)


def _scores(forecasts, seen, held, naive, most=np.inf):
    ends = np.minimum(scoring.adaptive_intervals(forecasts, seen.tolist(), LEVEL)[held], most)
    places = [f.place(y) for f, y, h in zip(forecasts, seen, held, strict=True) if h]
    return Scores(ends[:, 0], ends[:, 1], seen[held], *naive, np.clip(places, 0.0, 1.0))


def of_incidents(incidents, nodes=None):
    """Backtest a log of one system as :func:`reliability.incidents.read` returns it.

    Parameters
    ----------
    incidents : reliability.incidents.Incidents
    nodes : int, optional
        Nodes watched; else as the log says.
    """
    table, window = incidents.table, incidents.observed_s
    start, end = (np.asarray(table[name], dtype=float) for name in ("start_s", "end_s"))
    known = ~np.isnan(start)
    if window is not None:
        known &= (start >= window[0]) & (start <= window[1])
    nodes = incidents.nodes if nodes is None else nodes
    return backtest(start[known], end[known], np.asarray(table["open"], dtype=bool)[known], window, nodes)


def of_weeks(incidents, hours=None, held_out=HELD_OUT, weeks=(1, 4)):
    """Backtest a record that is kept by the week.

    Parameters
    ----------
    incidents : array [record's weeks], whole, >= 0
    hours : array [record's weeks], >= 0, optional
        Node-hours down.
    held_out : float, in (0, 1)
        Share of the weeks that are scored; a part of a week is left out of it.
    weeks : list of int, >= 1
        Lengths of the windows.

    Returns
    -------
    Backtest
        Its times are seconds since the first week began.

    Notes
    -----
    A week's incidents are put in its middle, which moves no window's count; its hours are spread evenly. As the
    single repairs are not known, the naive forecast of hours takes them as exponential with the mean of the past.

    Examples
    --------
    >>> steady = np.random.default_rng(7).poisson(20, 60)
    >>> week, month = of_weeks(steady).windows
    >>> week.scored, round(week.counts.coverage, 2), month.days
    (18, 0.83, 28)
    """
    incidents = checks.whole("incidents", incidents)
    held_out = checks.scalar("held_out", checks.inner_probability("held_out", held_out))
    weeks = [checks.count("weeks", length) for length in weeks]
    if incidents.ndim != 1:
        raise ValueError(f"incidents has shape {incidents.shape}: must be a list, one number a week")
    past = incidents.size - int(held_out * incidents.size + 1e-9)
    daily = np.zeros((incidents.size, WEEK), dtype=np.int64)
    daily[:, WEEK // 2] = incidents
    daily_h = repairs = None
    if hours is not None:
        hours = checks.non_negative("hours", hours)
        if hours.shape != incidents.shape:
            raise ValueError(f"hours has shape {hours.shape}: must be as long as incidents, {incidents.shape}")
        daily_h = np.repeat(hours / WEEK, WEEK)
        repairs = functools.partial(naive_forecasts.exponential_until, incidents=incidents, hours=hours)
    edges = DAY_S * np.arange(incidents.size * WEEK + 1)
    windows = tuple(
        _window(WEEK * length, daily.ravel(), daily_h, repairs, WEEK * past, edges, np.inf) for length in weeks
    )
    return Backtest(int(incidents.sum()), (0.0, float(edges[-1])), windows)
