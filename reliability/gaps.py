"""The times between incidents: whether they are exponential, and the Weibull distribution that fits them."""

from dataclasses import dataclass

import numpy as np

from reliability import checks

FITTED = 50_000  # values that a fit by maximum likelihood looks at, at the most
WEIBULL_VARIANCE = 6 / np.pi**2  # of the logarithm of the shape, times the gaps (both parameters fitted)


@dataclass(frozen=True)
class Gaps:
    """Times between incidents: positive ones, and how many incidents came at the same time as another."""

    positive: int
    zero: int
    mean: float
    statistic: float
    """Of Anderson and Darling, against the exponential with the mean estimated."""
    p_value: float
    """From 0.01 to 0.15, as the table of the test holds no others."""
    shape: float
    """Of the Weibull distribution that fits best; 1 is the exponential."""
    shape_low: float
    shape_high: float
    correlation: float
    """Rank correlation of each gap with the next; 0 where they are independent."""
    correlation_p: float


def thinned(ordered, most=FITTED):
    """Every so many of a sorted sample, from the middle of each run, so that a fit of a million takes no minute.

    Examples
    --------
    >>> thinned(np.arange(10), most=4).tolist()
    [1, 4, 7]
    """
    every = -(-ordered.size // most)
    return ordered[every // 2 :: every] if every > 1 else ordered


def gaps_between(times, level=0.95):
    """Test the gaps between incidents against the exponential, and fit a Weibull distribution to them.

    Parameters
    ----------
    times : array [incidents]
    level : float, in (0, 1)
        Of the interval of the shape.

    Returns
    -------
    Gaps or None
        None for fewer than eight positive gaps.

    Notes
    -----
    Anderson and Darling's test with Stephens's points for an estimated mean; a test for a known mean
    would be far too lenient. Gaps of 0 come from rounded times and from incidents that begin together:
    they have no place in a continuous distribution, are left out and counted. The shape's interval
    takes the gaps as independent. A record whose rate moves has a shape below 1 too, even where its
    failures are independent.

    Examples
    --------
    >>> found = gaps_between(np.cumsum(np.random.default_rng(7).weibull(0.65, 3000)))
    >>> round(found.shape, 2), found.p_value
    (0.65, 0.01)
    """
    from scipy.stats import anderson, norm, spearmanr, weibull_min

    level = checks.scalar("level", checks.inner_probability("level", level))
    gaps = np.diff(np.sort(checks.real("times", times))) if np.size(times) else np.empty(0)
    positive = gaps[gaps > 0]
    if positive.size < 8 or positive.min() == positive.max():
        return None
    mean = positive.mean()
    test = anderson(positive / mean, "expon", method="interpolate")
    shape = weibull_min.fit(thinned(np.sort(positive / mean)), floc=0)[0]
    wide = np.exp(norm.ppf((1 + level) / 2) * np.sqrt(WEIBULL_VARIANCE / positive.size))
    constant = np.ptp(positive[1:]) == 0 or np.ptp(positive[:-1]) == 0
    rank = (0.0, 1.0) if constant else spearmanr(positive[:-1], positive[1:])
    return Gaps(
        positive.size,
        int(gaps.size - positive.size),
        float(mean),
        float(test.statistic),
        float(test.pvalue),
        float(shape),
        float(shape / wide),
        float(shape * wide),
        float(rank[0]),
        float(rank[1]),
    )
