"""Where the time of a run went, from its training log: steps that count, steps done again, and no steps at all."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Account:
    """Seconds of a run by what they were spent on; together they are `wall_s`.

    Attributes
    ----------
    useful_s : float
        Steps that count, at the pace of an ordinary step.
    lost_s : float
        Steps that a restart made anew.
    tail_s : float
        From the last printed step before an interruption to the last line before it.
    down_s : float
        From there to the start of the first interval afterwards.
    slow_start_s : float
        What the first interval after each start took beyond ordinary steps.
    other_s : float
        The rest: pauses between steps, such as checkpoints and validations, where the stamps show them.
    goodput : float
        useful_s / wall_s.
    """

    wall_s: float
    useful_s: float
    lost_s: float
    tail_s: float
    down_s: float
    slow_start_s: float
    other_s: float
    goodput: float
    useful_steps: int
    executed_steps: int
    repeated_steps: int
    repeated_range: tuple | None
    interruptions: int
    steady_step_s: float
    first_steps: tuple


def account(log):
    """Account for the time of a run.

    Parameters
    ----------
    log : TrainingLog
        With stamps, and with restarts if there were any.

    Returns
    -------
    Account, or None where the log has no stamps to tell

    Notes
    -----
    Where no seconds of a step are printed, the stamps tell them. The first interval of each segment holds compiling,
    loading and caches: what it takes beyond ordinary steps is no progress, and it makes nobody a straggler. Steps that
    were done between the last printed one and an interruption are not known, hence executed steps are at least so many.
    """
    points = log.points
    stamp = np.asarray(points.stamp_s, dtype=float)
    if len(points) < 2 or np.isnan(stamp).any() or log.start_s is None:
        return None
    step, kept = np.asarray(points.step), np.asarray(points.kept, dtype=bool)
    segment, interval = np.asarray(points.segment), np.asarray(points.interval, dtype=float)
    first = np.append(True, segment[1:] != segment[:-1])
    printed = np.asarray(points.seconds, dtype=float)
    gap = np.append(np.nan, np.diff(stamp))
    gap[first] = np.nan
    own = np.where(np.isnan(printed), gap / interval, printed)
    skips = np.asarray(points.skipped, dtype=float) > 0
    ordinary = own[~first & ~skips & np.isfinite(own) & (own > 0)]
    if not ordinary.size:
        return None
    steady = float(np.median(ordinary))
    starts = np.flatnonzero(first)
    took = np.where(np.isfinite(own), own, steady) * interval
    # Without printed seconds the first interval is what lies between the restart's own line and its first step.
    began = np.array([log.segments[i]["restart_s"] or np.nan for i in range(len(starts))])
    opening = np.where(np.isnan(printed[starts]), stamp[starts] - began, printed[starts] * interval[starts])
    opening = np.where(np.isfinite(opening) & (opening >= 0), opening, steady * interval[starts])
    ordinary_opening = np.minimum(opening, steady * interval[starts])
    took[starts] = ordinary_opening
    begins = stamp[starts] - opening
    tail = down = 0.0
    for i in range(1, len(starts)):
        last = stamp[starts[i] - 1]
        crash = log.segments[i]["crash_s"]
        crash = last if crash is None else min(max(crash, last), max(begins[i], last))
        tail += crash - last
        down += max(begins[i] - crash, 0.0)
    wall = float(stamp[-1] - min(begins[0], log.start_s))
    useful, lost = float(took[kept].sum()), float(took[~kept].sum())
    slow = float((opening - ordinary_opening).sum())
    again = sorted({int(s) for s in step[~kept]} & {int(s) for s in step[kept]})
    repeated = int(interval[~kept].sum())
    span = None
    if repeated:
        gone = np.flatnonzero(~kept)
        span = (int((step[gone] - interval[gone]).min()) + 1, int(step[gone].max()))
    return Account(
        wall_s=wall, useful_s=useful, lost_s=lost, tail_s=float(tail), down_s=float(down), slow_start_s=slow,
        other_s=float(wall - useful - lost - tail - down - slow), goodput=useful / wall if wall > 0 else np.nan,
        useful_steps=int(interval[kept].sum()), executed_steps=int(interval.sum()), repeated_steps=repeated if again else 0,
        repeated_range=span if again else None, interruptions=len(starts) - 1, steady_step_s=steady,
        first_steps=tuple(int(s) for s in step[starts]),
    )  # fmt: skip
