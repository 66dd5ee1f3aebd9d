"""Guards that watch a number of the run: its loss, or the norm of its gradient."""

import numpy as np

from reliability import checks
from reliability.sdc import flipped_values


def _losses(losses):
    """A list of numbers, NaN and infinities among them."""
    array = np.asarray(losses)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iuf":
        raise ValueError(f"losses has shape {array.shape} and dtype {array.dtype}: must be a list of numbers")
    return array


def spike_guard(losses, threshold, window=50):
    """Steps at which the loss jumps above `threshold` times its rolling median.

    Parameters
    ----------
    losses : array [steps]
        Positive; NaN and infinities are read as they come out of a run, and are alarms.
    threshold : float, > 1
    window : int, >= 1
        Finite losses before the one in question that the median is over. The first `window` steps
        are warm-up: only a loss that is not finite alarms.

    Returns
    -------
    int array
        Steps, from 0, ascending.

    Notes
    -----
    Sees what the corruption does to the loss, after it has been done.

    Examples
    --------
    >>> spike_guard([2.0, 2.0, 2.0, 11.0, 2.0], threshold=5, window=3).tolist()
    [3]
    """
    window = checks.count("window", window)
    threshold = checks.scalar("threshold", checks.real("threshold", threshold))
    if threshold <= 1:
        raise ValueError(f"threshold = {threshold:g}: must be above 1")
    array = _losses(losses)
    array = array.astype(float)
    finite = np.isfinite(array)
    if (array[finite] <= 0).any():
        raise ValueError(
            f"losses = {array[finite].min():g} at its lowest: must be above 0, or a ratio to the median means nothing"
        )
    with np.errstate(invalid="ignore"):
        return np.flatnonzero(~finite | (array > threshold * rolling_median(array, window)))


def rolling_median(losses, window=50):
    """Median of the losses before each step: what :func:`spike_guard` compares a loss with.

    Parameters
    ----------
    losses : array [steps]
    window : int, >= 1
        How many finite losses before the step the median is over.

    Returns
    -------
    array [steps]
        NaN in the first `window` steps. Where fewer losses were finite, the median of those; NaN
        where none was.

    Examples
    --------
    >>> rolling_median([1.0, 2.0, 9.0, 3.0, 4.0], window=3).tolist()
    [nan, nan, nan, 2.0, 3.0]
    """
    window = checks.count("window", window)
    array = _losses(losses)
    finite = np.isfinite(array)
    known = array[finite].astype(float)
    before = np.cumsum(finite) - finite  # finite losses before each step
    medians = np.full(array.size, np.nan)
    late = np.arange(array.size) >= window
    full = late & (before >= window)
    if full.any():
        medians[full] = _medians_of_runs(known, window)[before[full] - window]
    for step in np.flatnonzero(late & (before > 0) & (before < window)):
        medians[step] = np.median(known[: before[step]])
    return medians


def _medians_of_runs(known, window):
    """Median of each run of `window` values, 8 MiB of copies at a time, however many there are."""
    runs = np.lib.stride_tricks.sliding_window_view(known, window)
    block = max(1, 2**20 // window)
    return np.concatenate([np.median(runs[start : start + block], axis=1) for start in range(0, len(runs), block)])


def norm_ratio_after_flip(values, index, bit):
    """How much one flip changes the Euclidean norm of a vector: after over before.

    Parameters
    ----------
    values : float array [dim]
        Its norm above 0.
    index, bit : int or array
        One flip each, not all at once.

    Returns
    -------
    float or array
        Infinite where the flipped value is not finite.

    Notes
    -----
    What a guard on the gradient norm sees of a flip.
    """
    after = flipped_values(values, index, bit)
    before = checks.real("values", np.ravel(values).astype(float))
    scale = np.abs(before).max()
    if scale == 0:
        raise ValueError("values: all are 0, and a ratio to their norm means nothing")
    # Scaled by the largest value, so that no square of a finite float overflows.
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = (before / scale) ** 2
        # What is left without one element: sums from both ends, since a difference would cancel.
        rest = np.concatenate([[0.0], np.cumsum(squares)[:-1]]) + np.concatenate(
            [np.cumsum(squares[::-1])[-2::-1], [0.0]]
        )
        ratio = np.hypot(np.sqrt(rest[np.asarray(index)]), after / scale) / np.sqrt(squares.sum())
    return checks.plain(np.where(np.isfinite(after), ratio, np.inf))
