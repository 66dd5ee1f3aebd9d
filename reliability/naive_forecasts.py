"""The naive forecasts that others are held against: incidents at the mean rate of all the past, as if nothing else were known."""

import numpy as np

from reliability.backtest_scores import LEVEL
from reliability.units import HOUR_S, WEEK_S

TAIL = (1 - LEVEL) / 2


def counts(means):
    """Ends of the 90 % interval of a Poisson count, for each mean; arrays [windows]."""
    from scipy.stats import poisson

    return tuple(np.where(means > 0, poisson.ppf(q, np.maximum(means, 1e-300)), 0.0) for q in (TAIL, 1 - TAIL))


def hours(means, first, second):
    """Ends of the 90 % interval of hours down: a Poisson count of independent repairs, as the gamma with its two moments.

    Parameters
    ----------
    means : array [windows]
        Of the count.
    first, second : arrays [windows]
        Mean of a repair and of its square, in hours.
    """
    from scipy.stats import gamma

    mean, variance = means * first, means * second
    known = (mean > 0) & (variance > 0)
    scale = np.where(known, variance / np.where(known, mean, 1), 1.0)
    shape = np.where(known, mean / scale, 1.0)
    return tuple(np.where(known, gamma.ppf(q, shape, scale=scale), 0.0) for q in (TAIL, 1 - TAIL))


def repairs_until(times, start_s, end_s):
    """Mean of a repair, in hours, and of its square, over those that had ended by each time."""
    order = np.argsort(end_s, kind="stable")
    lengths = np.where(np.isfinite(end_s), end_s - start_s, 0.0)[order] / HOUR_S
    done = np.searchsorted(end_s[order], times)
    return tuple(np.concatenate([[0.0], np.cumsum(lengths**k)])[done] / np.maximum(done, 1) for k in (1, 2))


def exponential_until(times, incidents, hours):
    """The same from weekly sums, with repairs taken as exponential: the mean square is twice the squared mean."""
    week = np.asarray(times / WEEK_S + 1e-9, dtype=int)
    total, down = (np.concatenate([[0.0], np.cumsum(series)])[week] for series in (incidents, hours))
    mean = down / np.maximum(total, 1)
    return mean, 2 * mean**2
