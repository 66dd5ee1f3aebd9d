"""Whether failures come at a steady rate: the trend tests of reliability growth."""

from dataclasses import dataclass

import numpy as np

from reliability import checks


@dataclass(frozen=True)
class Laplace:
    """Laplace's test. `statistic` is standard normal where the rate is steady; below 0 the rate falls."""

    statistic: float
    p_value: float


@dataclass(frozen=True)
class PowerLaw:
    """The power-law process of Crow and AMSAA. `shape` below 1: the rate falls; 1: steady; above: it rises."""

    shape: float
    low: float
    high: float
    p_value: float
    rate_at_end: float
    """Rate at the end of the record, in incidents per unit of time."""


def laplace(times, start, end):
    r"""Laplace's test of a steady rate against a rate that rises or falls.

    .. math:: u = \frac{\bar t - (a + b) / 2}{(b - a) / \sqrt{12 n}}

    Parameters
    ----------
    times : array [n]
        Of the incidents, within the window.
    start, end : float
        Window of observation, a and b.

    Returns
    -------
    Laplace

    Notes
    -----
    Under a steady rate the times are uniform over the window. Where the window ends at the last
    incident, leave that one out. Clustered incidents reject a steady rate too: read it beside the
    dispersion of the counts.

    Examples
    --------
    >>> test = laplace([1.0, 2.0, 3.0, 10.0], 0.0, 20.0)
    >>> round(test.statistic, 2), round(test.p_value, 3)
    (-2.08, 0.038)
    """
    from scipy.stats import norm

    times, start, end = _window(times, start, end)
    statistic = (times.mean() - (start + end) / 2) / ((end - start) / np.sqrt(12 * times.size))
    return Laplace(float(statistic), float(2 * norm.sf(abs(statistic))))


def power_law(times, start, end, level=0.95):
    r"""Fit a power-law process, whose rate goes as a power of the time since the start.

    .. math:: \hat\beta = \frac{n}{\sum_i \ln\frac{b - a}{t_i - a}}, \qquad
              \frac{2 n \beta}{\hat\beta} \sim \chi^2_{2n}

    Parameters
    ----------
    times, start, end
        As in :func:`laplace`.
    level : float, in (0, 1)
        Of the exact interval.

    Returns
    -------
    PowerLaw
        `shape` is the maximum-likelihood estimate, `p_value` that of a steady rate (shape 1).

    Notes
    -----
    Crow (1975), for a record that ends at a fixed time. Exact where the process is Poisson.

    Examples
    --------
    >>> fit = power_law([1.0, 2.0, 3.0, 10.0], 0.0, 20.0)
    >>> round(fit.shape, 2), round(fit.low, 2), round(fit.high, 2)
    (0.51, 0.14, 1.11)
    """
    from scipy.stats import chi2

    level = checks.scalar("level", checks.inner_probability("level", level))
    times, start, end = _window(times, start, end)
    n, span = times.size, end - start
    # An incident at the very start would have an infinite logarithm: it counts as half a step after it.
    logs = np.log(span / np.maximum(times - start, span * 1e-9))
    total = max(float(logs.sum()), 1e-12)
    shape = n / total
    low, high = (chi2.ppf(q, 2 * n) / (2 * total) for q in ((1 - level) / 2, (1 + level) / 2))
    at_one = 2 * total
    p_value = 2 * min(chi2.cdf(at_one, 2 * n), chi2.sf(at_one, 2 * n))
    return PowerLaw(float(shape), float(low), float(high), float(min(p_value, 1.0)), float(n * shape / span))


def _window(times, start, end):
    times = checks.real("times", times)
    if times.ndim != 1:
        raise ValueError(f"times has shape {times.shape}: must be a list of times")
    start, end = (checks.scalar(n, checks.real(n, v)) for n, v in (("start", start), ("end", end)))
    if not start < end:
        raise ValueError(f"start = {start:g}, end = {end:g}: the window must begin before it ends")
    if times.min() < start or times.max() > end:
        outside = times[(times < start) | (times > end)][0]
        raise ValueError(f"times = {outside:g}: must lie within the window, {start:g} to {end:g}")
    return times, start, end
