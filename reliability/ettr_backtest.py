"""The ETTR that job records show, and what their own past would have predicted.

Records of a scheduler say when each attempt of a job ran, not what it had saved. What they show is the
share of a job's time, from its first start to its last end, in which it ran: an upper bound of its
ETTR, which loses the work since the last checkpoint and the restart as well.
"""

from dataclasses import dataclass

import numpy as np

from reliability import checks, forecast, scoring
from reliability.units import DAY_S

LEVEL = 0.9
DRAWS = 2000
HALF_LIFE_DAYS = 28  # of the node-hours that a day is expected to run


@dataclass(frozen=True)
class EttrWindow:
    """Forecasts of the ETTR of windows of one length: arrays [windows], empty where none was scored."""

    days: int
    low: np.ndarray
    high: np.ndarray
    predicted: np.ndarray
    seen: np.ndarray

    @property
    def scored(self):
        """Windows scored."""
        return self.seen.size

    @property
    def coverage(self):
        """Share of the windows whose ETTR lay in its interval; None where none was scored."""
        return scoring.coverage(self.low, self.high, self.seen) if self.scored else None

    @property
    def width(self):
        """Mean width of the intervals."""
        return float((self.high - self.low).mean()) if self.scored else None

    @property
    def score(self):
        """Mean interval score."""
        return scoring.interval_score(self.low, self.high, self.seen, LEVEL) if self.scored else None

    @property
    def mean_predicted(self):
        """Mean of the predicted medians."""
        return float(self.predicted.mean()) if self.scored else None

    @property
    def mean_measured(self):
        """Mean of the measured ETTRs."""
        return float(self.seen.mean()) if self.scored else None


@dataclass(frozen=True)
class EttrBacktest:
    """ETTR of the whole record, and scores of its forecasts."""

    measured: float | None
    interruptions: int
    windows: tuple[EttrWindow, ...]
    notes: tuple[str, ...]


def ettr_backtest(jobs, windows_days=(7, 30), held_out=0.3, seed=7):
    """Measure the ETTR of job records, and score forecasts of it made from the past alone.

    Parameters
    ----------
    jobs : table
        Columns job, start_s, seconds and nodes; a row an attempt. Attempts of one job follow each other,
        and the time between two of them is lost.
    windows_days : list of int, >= 1
    held_out : float, in (0, 1)
        Share of the record at its end whose windows are scored.
    seed : int
        Of the draws.

    Returns
    -------
    EttrBacktest

    Notes
    -----
    Before each window the number of interruptions is forecast as :mod:`reliability.forecast` does, each
    loses node-time as one of the earlier ones did, and the jobs run as many node-hours as of late.

    Examples
    --------
    >>> jobs = {"job": ["a", "a"], "start_s": [0.0, 7200.0], "seconds": [3600.0, 3600.0], "nodes": [8, 8]}
    >>> round(ettr_backtest(jobs).measured, 3)
    0.667
    """
    held_out = checks.scalar("held_out", checks.inner_probability("held_out", held_out))
    windows_days = [checks.count("windows_days", days) for days in windows_days]
    notes = ["the share of a job's time in which it ran; work lost since the last checkpoint is not in the records"]
    start, end, nodes, lost_from, lost_to, lost_nodes = _attempts(jobs, notes)
    if start.size == 0:
        return EttrBacktest(None, 0, (), (*notes, "no attempt with its start and run time"))
    if lost_from.size == 0:
        nothing = "no job has a second attempt: which run went on with another's work is not in the records"
        return EttrBacktest(None, 0, (), (*notes, nothing))
    run, lost = (nodes * (end - start)).sum(), (lost_nodes * (lost_to - lost_from)).sum()
    measured = float(run / (run + lost)) if run + lost > 0 else None
    first, last = start.min(), end.max()
    origin = first + (1 - held_out) * (last - first)
    past, ahead = int((origin - first) // DAY_S), int((last - origin) // DAY_S + 1e-9)
    edges = origin + DAY_S * np.arange(-past, ahead + 1)
    daily_run, daily_lost = _node_time(edges, start, end, nodes), _node_time(edges, lost_from, lost_to, lost_nodes)
    counts = np.diff(np.searchsorted(np.sort(lost_from), edges))
    losses = (lost_to, lost_nodes * (lost_to - lost_from))
    rng, windows = np.random.default_rng(seed), []
    for days in windows_days:
        windows.append(_windows(rng, days, past, counts, daily_run, daily_lost, edges, losses))
    return EttrBacktest(measured, lost_from.size, tuple(windows), tuple(notes))


def _attempts(jobs, notes):
    """Attempts, and the times between two of one job: from, to, and nodes of each."""
    job = np.asarray(jobs["job"], dtype=object).astype(str)
    start, seconds, nodes = (np.asarray(jobs[name], dtype=float) for name in ("start_s", "seconds", "nodes"))
    if np.isnan(nodes).any():
        notes.append("some attempts do not say their nodes: each attempt counts as one node")
        nodes = np.ones(nodes.shape)
    known = ~(np.isnan(start) | np.isnan(seconds)) & (seconds >= 0)
    job, start, seconds, nodes = job[known], start[known], seconds[known], nodes[known]
    order = np.lexsort((start, job))
    job, start, end, nodes = job[order], start[order], (start + seconds)[order], nodes[order]
    again = np.flatnonzero((job[1:] == job[:-1]) & (start[1:] >= end[:-1]))
    return start, end, nodes, end[again], start[again + 1], nodes[again + 1]


def _node_time(edges, start, end, nodes):
    """Node-seconds within each day."""
    until = np.zeros(edges.size)
    for sign, moments in ((1, start), (-1, end)):
        order = np.argsort(moments, kind="stable")
        moments, weight = moments[order], nodes[order]
        before = np.searchsorted(moments, edges)
        weights, sums = (np.concatenate([[0.0], np.cumsum(x)])[before] for x in (weight, weight * (moments - edges[0])))
        until += sign * (weights * (edges - edges[0]) - sums)
    return np.maximum(np.diff(until), 0.0)


def _windows(rng, days, past, counts, daily_run, daily_lost, edges, losses):
    origins = np.arange(past, counts.size - days + 1, days)
    empty = EttrWindow(days, *(np.empty(0) for _ in range(4)))
    if past < 2 * days or origins.size == 0:
        return empty
    rows = []
    for origin, ahead in zip(origins, forecast.count_forecasts(counts, days, origins), strict=True):
        run, lost = daily_run[origin : origin + days].sum(), daily_lost[origin : origin + days].sum()
        earlier = losses[1][losses[0] <= edges[origin]]
        if run + lost <= 0:
            continue  # nothing ran: no share to predict
        if not earlier.size:
            continue  # nothing was lost so far: no loss to draw from
        weight = 0.5 ** (np.arange(origin)[::-1] / HALF_LIFE_DAYS)
        expected = days * (weight @ daily_run[:origin]) / weight.sum()
        drawn = ahead.draw(rng, DRAWS)
        gone = np.add.reduceat(
            np.append(rng.choice(earlier, drawn.sum()), 0.0), np.minimum(np.cumsum(drawn) - drawn, drawn.sum())
        )
        gone[drawn == 0] = 0.0
        shares = expected / np.maximum(expected + gone, 1e-12) if expected > 0 else np.ones(DRAWS)
        tail = (1 - LEVEL) / 2
        rows.append((*np.quantile(shares, [tail, 1 - tail, 0.5]), run / (run + lost)))
    return EttrWindow(days, *np.array(rows).T) if rows else empty
