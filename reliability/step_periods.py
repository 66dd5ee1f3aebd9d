"""Steps that are slow on every rank alike: warm-up, checkpoints, and periods in which the whole job is slower."""

from dataclasses import dataclass

import numpy as np

from reliability import checks

LEAST = 0.05  # a period that is slower by less is an ordinary one
PAUSE = 2.0  # times as much must single steps be slower
JITTERS = 6.0  # and by less than so many deviations of an ordinary step
LONGEST_PAUSE = 4  # slow steps in a row that still count as a pause, such as a checkpoint; more are a period
GAP = 2  # ordinary steps within a slow period that do not end it
NORMAL_SHARE = 0.25  # of the steps are at least at the normal level: up to three quarters may be slow
DECIMALS = 6


@dataclass(frozen=True)
class Period:
    """Steps `first` to `last` (positions), slow on all ranks alike by `ratio`; kind "warm-up", "pause" or "period"."""

    first: int
    last: int
    ratio: float
    kind: str

    @property
    def count(self):
        """Number of steps."""
        return self.last - self.first + 1


def median(values, axis):
    """Median along an axis without its NaN; NaN where nothing is left. Quicker than numpy's, and without a warning.

    Examples
    --------
    >>> import numpy as np
    >>> median(np.array([[1.0, 9.0, 3.0, np.nan], [2.0, 4.0, np.nan, np.nan]]), axis=1).tolist()
    [3.0, 3.0]
    """
    if values.shape[axis] and not np.isnan(values).any():
        return np.median(values, axis=axis)
    ordered = np.sort(values, axis=axis)  # NaN goes to the end
    known = np.sum(~np.isnan(values), axis=axis, keepdims=True)
    if not values.shape[axis]:
        return np.full(known.squeeze(axis).shape, np.nan)
    low, high = (np.take_along_axis(ordered, np.maximum(i, 0), axis=axis) for i in ((known - 1) // 2, known // 2))
    return np.where(known > 0, low / 2 + high / 2, np.nan).squeeze(axis)


def spread(values):
    """Robust standard deviation about 0: 1.4826 times the median of the absolute values; 0 where none is known."""
    known = values[~np.isnan(values)]
    return 1.4826 * float(np.median(np.abs(known))) if known.size else 0.0


def resolution(seconds):
    """Smallest step in which times were printed: 0.1 for 1.2 and 1.3; 0 where no rounding shows.

    Parameters
    ----------
    seconds : array
        NaN are left out; the first 20,000 of the others tell.

    Examples
    --------
    >>> resolution([1.2, 1.3, 9.8]), resolution([0.5, 2**0.5])
    (0.1, 0.0)
    """
    values = np.asarray(seconds, dtype=float).ravel()
    values = values[np.isfinite(values)][:20000]
    if values.size < 2:
        return 0.0
    for digits in range(-3, DECIMALS + 1):
        scaled = values * 10.0**digits
        if np.abs(scaled - np.round(scaled)).max() <= 1e-6 * max(1.0, 1e-3 * np.abs(scaled).max()):
            return 0.0 if np.unique(np.round(scaled)).size < 2 and digits < 0 else 10.0**-digits
    return 0.0


def normal_level(values):
    """Level of the ordinary steps: the median of those within reach of the lower quartile.

    Up to three quarters of the steps may be slow; fewer than a quarter may be quicker.
    """
    known = values[~np.isnan(values)]
    low = float(np.quantile(known, NORMAL_SHARE))
    below = low - known[known <= low]
    reach = max(3 * 1.4826 * float(np.median(below)), 1e-12)
    return float(np.median(known[np.abs(known - low) <= reach]))


def slow_periods(reference, quantum=0.0, least=LEAST):
    """Find the steps that are slow on all ranks alike.

    Parameters
    ----------
    reference : array [steps], > 0
        The ordinary rank's seconds in each step: the median over ranks. NaN where unknown.
    quantum : float, >= 0
        Step in which the times were printed: see :func:`resolution`.
    least : float, > 0
        The share above the normal step below which a period is an ordinary one; for single steps it is twice that.

    Returns
    -------
    (periods, normal) : list of Period, float
        In order; and the normal step in seconds, the mean of the ordinary ones.

    Notes
    -----
    A step is slow above the normal level by `least`, by six deviations of an ordinary step, and by more than two steps of
    the printing: with a deviation of 0, as rounded times have, the second alone would call each rounding a slow step.

    Examples
    --------
    >>> periods, normal = slow_periods([50.0] + [1.0] * 9 + [1.5] * 5 + [1.0] * 9)
    >>> [(p.first, p.last, p.ratio, p.kind) for p in periods], normal
    ([(0, 0, 50.0, 'warm-up'), (10, 14, 1.5, 'period')], 1.0)
    """
    quantum = checks.scalar("quantum", checks.non_negative("quantum", quantum))
    least = checks.scalar("least", checks.positive("least", least))
    reference = np.asarray(reference, dtype=float)
    if reference.ndim != 1 or not np.isfinite(reference).any():
        raise ValueError(f"reference has shape {reference.shape}: must be a list of numbers, one of them known")
    if (reference[np.isfinite(reference)] <= 0).any():
        raise ValueError(f"reference = {np.nanmin(reference):g} at its lowest: must be above 0")
    log = np.log(reference)
    level = normal_level(log)
    below = log[log <= level] - level  # what is slow lies above, so the side below tells the ordinary jitter
    limit = max(np.log1p(least), JITTERS * spread(below), 1.001 * np.log1p(2 * quantum / np.exp(level)))
    slow = np.nan_to_num(log - level, nan=0.0) > limit
    normal = float(np.nanmean(reference[~slow])) if (~slow & ~np.isnan(reference)).any() else float(np.exp(level))
    found = []
    for first, last in runs(slow, GAP if slow.mean() < 0.9 else 0):
        ratio = float(np.nanmedian(reference[first : last + 1][slow[first : last + 1]])) / normal
        dense = slow[first : last + 1].mean() > 0.7
        if last - first + 1 > LONGEST_PAUSE and dense:
            found.append(Period(first, last, ratio, "warm-up" if first == 0 and last < slow.size // 4 else "period"))
            continue
        for one in runs(slow[first : last + 1], 0):
            start, end = first + one[0], first + one[1]
            ratio = float(np.nanmedian(reference[start : end + 1])) / normal
            if ratio < 1 + PAUSE * least:
                continue
            found.append(Period(start, end, ratio, "warm-up" if start == 0 else "pause"))
    return found, normal


def runs(mask, gap=0):
    """First and last position of each run of true values; runs at most `gap` false values apart are one.

    Examples
    --------
    >>> runs([True, False, True, False, False, True], gap=1)
    [(0, 2), (5, 5)]
    """
    places = np.flatnonzero(mask)
    if not places.size:
        return []
    cuts = np.flatnonzero(np.diff(places) > gap + 1)
    starts, ends = np.append(0, cuts + 1), np.append(cuts, places.size - 1)
    return [(int(places[a]), int(places[b])) for a, b in zip(starts, ends, strict=True)]
