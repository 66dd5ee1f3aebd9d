"""Whether a slowdown grows: a level that bends into a ramp, against one that jumps."""

import numpy as np

from reliability.rank_courses import SHORTEST
from reliability.step_periods import spread

PLACES = 400  # that a change is looked for at; longer courses are averaged to as many first
HINGE = 0.9  # a ramp must leave less than this share of a step's squared error to be called a drift
CLIP = 3.0  # deviations beyond which one step counts no more


def drift(course, first, last):
    """Whether a slowdown grows: the start of the ramp and the ratio at its end, or None where it is a step.

    A level that bends once into a ramp is fitted to the course up to `last`, and so is one that jumps once; the
    better of the two tells.
    """
    values = course[: last + 1]
    place, values = _thinned(np.exp(values))  # a ramp of the time, not of its logarithm
    if values.size < 3 * SHORTEST:
        return None
    clipped = _clipped(values)
    jump = min(
        ((clipped[:k] - clipped[:k].mean()) ** 2).sum() + ((clipped[k:] - clipped[k:].mean()) ** 2).sum()
        for k in range(2, clipped.size - 1)
    )
    x = place.astype(float)
    best = (np.inf, 0, 0.0, 0.0)
    for k in range(values.size - SHORTEST):
        ramp = np.maximum(0.0, x - x[k])
        centred = ramp - ramp.mean()
        slope = (centred @ clipped) / (centred @ centred)
        rest = clipped - clipped.mean() - slope * centred
        error = rest @ rest
        if error < best[0]:
            best = (error, k, slope, clipped.mean() - slope * ramp.mean())
    error, k, slope, level = best
    if slope <= 0 or error >= HINGE * jump:
        return None
    return int(place[k]), float(level + slope * (x[-1] - x[k]))


def _thinned(values):
    """At most 400 places, each the mean of the steps around it, without NaN."""
    places = np.flatnonzero(~np.isnan(values))
    values = values[places]
    size = -(-values.size // PLACES) if values.size else 1
    if size <= 1:
        return places, values
    count = values.size // size
    kept = values[: count * size].reshape(count, size)
    return places[: count * size].reshape(count, size)[:, 0], np.median(kept, axis=1)


def _clipped(values):
    """Values with odd single steps pulled in to three deviations from the median of the five around them."""
    padded = np.pad(values, 2, mode="edge")
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(padded, 5), axis=1)
    reach = CLIP * spread(values - smooth)
    return np.clip(values, smooth - reach, smooth + reach)
