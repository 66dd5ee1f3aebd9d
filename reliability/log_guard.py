"""The spike guard on a training log: alarms of the loss and of the gradient norm, and what the guard could not see."""

from dataclasses import dataclass

import numpy as np

from reliability import checks, facts, guards

THRESHOLD, WINDOW = 4.0, 50


@dataclass(frozen=True)
class Watched:
    """One number of the run under the guard.

    Attributes
    ----------
    alarms : list of int, or None
        Steps of the run as it stands after its restarts; None where the guard cannot judge.
    abandoned : list of int
        Alarms in steps that a restart made anew.
    points : int
        How many the guard looked at.
    since : int or None
        First step after the warm-up; None where the log is too short, so that only NaN would alarm.
    highest : float or None
        The largest ratio to the rolling median that was no alarm.
    seen : float or None
        Share of the steps after the warm-up at which the published corruption, a value five times as large, would alarm.
    why : str
        Why it cannot judge.
    """

    alarms: list | None
    abandoned: list
    points: int
    since: int | None
    highest: float | None
    seen: float | None
    why: str = ""


@dataclass(frozen=True)
class Guarded:
    """Both guards, and the steps that are odd in themselves."""

    loss: Watched
    gradient: Watched
    nan: list
    abandoned_nan: list
    dead: list
    skipped: list
    threshold: float
    window: int


def guard(log, threshold=THRESHOLD, window=WINDOW):
    """Run :func:`reliability.guards.spike_guard` over a training log.

    Parameters
    ----------
    log : TrainingLog
        Or whatever has such `points`.
    threshold : float, > 1
        Times the rolling median. It is not the factor of the corruption that it is to find: at the factor itself
        about half of the corruptions stay below, since the loss falls and jitters.
    window : int, >= 1
        Finite points that the median is over; so many points are warm-up.

    Returns
    -------
    Guarded

    Notes
    -----
    Skipped steps are left out, and so is a loss of exactly 0: that is a dead run and is listed as such. A loss that
    is not a number is an alarm, also where it shows only by its absence.
    """
    points = log.points
    column = {
        name: np.asarray(points[name])
        for name in ("step", "loss", "grad_norm", "status", "nan_field", "grad_nan", "kept")
    }
    step, kept, usable = column["step"], column["kept"].astype(bool), column["status"] != "skipped"
    loss_nan = np.isin(column["nan_field"], ["loss", "loss missing"])
    loss, grad = column["loss"].astype(float), column["grad_norm"].astype(float)
    odd = column["nan_field"] != ""
    return Guarded(
        loss=watch(step, loss, kept, usable & (np.isfinite(loss) | loss_nan), threshold, window),
        gradient=watch(
            step, grad, kept, usable & (np.isfinite(grad) | column["grad_nan"].astype(bool)), threshold, window
        ),
        nan=_sorted(step[odd & kept]), abandoned_nan=_sorted(step[odd & ~kept]),
        dead=_sorted(step[(column["status"] == "dead") & kept]), skipped=_sorted(step[~usable & kept]),
        threshold=float(threshold), window=int(window),
    )  # fmt: skip


def watch(step, values, kept, usable, threshold=THRESHOLD, window=WINDOW):
    """Run the guard over one number.

    Parameters
    ----------
    step : int array [points]
    values : float array [points]
        NaN and infinities alarm; zeros are left out.
    kept, usable : bool array [points]
        Whether a restart left a point in the run; whether there is a value to judge.
    threshold, window
        As in :func:`guard`.

    Returns
    -------
    Watched

    Examples
    --------
    >>> import numpy as np
    >>> every = np.full(6, True)
    >>> watch(np.arange(6), np.array([2.0, 2, 2, 9, np.nan, 2]), every, every, window=2).alarms
    [3, 4]
    """
    window = checks.count("window", window)
    threshold = checks.scalar("threshold", checks.real("threshold", threshold))
    if threshold <= 1:
        raise ValueError(f"threshold = {threshold:g}: must be above 1")
    usable = usable & (values != 0)
    order = np.flatnonzero(usable & kept)
    order = order[np.argsort(step[order], kind="stable")]
    if not order.size:
        return Watched(None, [], 0, None, None, None, "none was printed")
    series = values[order]
    below = int((series[np.isfinite(series)] < 0).sum())
    if below:
        return Watched(
            None,
            [],
            order.size,
            None,
            None,
            None,
            f"{below} values are below 0, and a ratio to their median means nothing",
        )
    alarms = guards.spike_guard(series, threshold, window)
    medians = guards.rolling_median(series, window)
    judged = np.isfinite(medians)
    quiet = judged & np.isfinite(series)
    quiet[alarms] = False
    lived = np.flatnonzero(usable)  # in the order of the log, with what was abandoned
    gone = []
    if (~kept[lived]).any() and not (values[lived] < 0).any():
        found = lived[guards.spike_guard(values[lived], threshold, window)]
        gone = _sorted(step[found[~kept[found]]])
    normal = judged & np.isfinite(series)
    return Watched(
        alarms=_sorted(step[order[alarms]]), abandoned=gone, points=int(order.size),
        since=int(step[order[window]]) if order.size > window else None,
        highest=float((series[quiet] / medians[quiet]).max()) if quiet.any() else None,
        seen=float((series[normal] > threshold / facts.value("published_spike_factor") * medians[normal]).mean()) if normal.any() else None,
    )  # fmt: skip


def _sorted(steps):
    return sorted({int(step) for step in steps})
