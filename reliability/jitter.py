"""What the jitter of healthy ranks does to a step.

The times of the ranks are independent, and a slow rank jitters like the others.
"""

import numpy as np

from reliability import checks


def expected_slow_step(ranks, step, jitter, slow_step):
    r"""Expected time of a step when one of the ranks is slow, and jitters like the others.

    .. math:: \mathbb{E}\left[\max\right] = \mu + \sigma \left[ x_0 + \int_{x_0}^\infty
              \left(1 - \Phi(x)^{N-1} \, \Phi(x - d)\right) dx \right], \quad d = (s - \mu) / \sigma

    Parameters
    ----------
    ranks : int or array, >= 2
        N, the slow one among them.
    step : float or array, > 0
        Mean time of a healthy rank, mu.
    jitter : float or array, >= 0
        Standard deviation of any rank's time, sigma.
    slow_step : float or array, > 0
        Mean time of the slow rank, s; at least `step`.

    Returns
    -------
    float or array

    Notes
    -----
    x0 lies so low that no maximum does. A rank 26 standard deviations behind is the slowest for certain.

    Examples
    --------
    >>> round(expected_slow_step(1024, 30.0, 0.5, 36.0), 2)
    36.0
    >>> round(expected_slow_step(1024, 30.0, 0.5, 31.5), 2)
    31.78
    """
    from scipy.special import log_ndtr

    ranks = checks.whole("ranks", ranks, low=2)
    step = checks.positive("step", step)
    jitter = checks.non_negative("jitter", jitter)
    slow_step = checks.positive("slow_step", slow_step)
    checks.broadcast(ranks=ranks, step=step, jitter=jitter, slow_step=slow_step)
    if (slow_step < step).any():
        raise ValueError(f"slow_step = {slow_step}: must be at least step = {step}")
    far = slow_step - step > 26 * jitter
    behind = np.where(far, 0.0, slow_step - step) / np.where(jitter > 0, jitter, 1.0)
    width = 1 / 128
    x = np.arange(-13, 39, width)
    with np.errstate(under="ignore"):
        below = np.exp((ranks[..., None] - 1) * log_ndtr(x) + log_ndtr(x - behind[..., None]))
    # The rectangle rule is the trapezoidal one but for half of the first ordinate, 1.
    standard = x[0] + width * (1 - below).sum(axis=-1) - width / 2
    return checks.plain(np.where(far, slow_step, step + jitter * standard))


def exponential_maximum(ranks, mean, sigma):
    r"""Expected maximum of N times whose jitter has an exponential tail, with this mean and deviation.

    .. math:: \mathbb{E}\left[\max\right] = \mu + \sigma \left( H_N - 1 \right), \quad H_N = \sum_{k=1}^N 1/k

    Parameters
    ----------
    ranks : int or array, >= 1
        N.
    mean : float or array
    sigma : float or array, >= 0

    Returns
    -------
    float or array

    Notes
    -----
    The times are a minimum, mu - sigma, and an exponential delay of mean sigma. The maximum grows
    with log N, that of normal times with its root.

    Examples
    --------
    >>> round(exponential_maximum(1024, 30.0, 0.5), 2)
    33.25
    """
    from scipy.special import digamma

    ranks = checks.whole("ranks", ranks, low=1)
    mean = checks.real("mean", mean)
    sigma = checks.non_negative("sigma", sigma)
    checks.broadcast(ranks=ranks, mean=mean, sigma=sigma)
    return checks.plain(mean + sigma * (digamma(ranks + 1.0) + np.euler_gamma - 1))


def maximum_between(ranks, mean, sigma, low, high):
    r"""Chance that the largest of N normal times lies between two bounds.

    .. math:: \Phi\left(\frac{b - \mu}{\sigma}\right)^N - \Phi\left(\frac{a - \mu}{\sigma}\right)^N

    Parameters
    ----------
    ranks : int or array, >= 1
        N.
    mean : float or array
        Of one rank's time.
    sigma : float or array, >= 0
        Its standard deviation.
    low, high : float or array
        The bounds a and b; b itself is between them, a is not.

    Returns
    -------
    float or array

    Examples
    --------
    >>> round(maximum_between(1024, 30.0, 0.5, 31.695, 31.705), 4)
    0.0179
    """
    from scipy.special import log_ndtr

    ranks = checks.whole("ranks", ranks, low=1)
    mean = checks.real("mean", mean)
    sigma = checks.non_negative("sigma", sigma)
    low, high = checks.real("low", low), checks.real("high", high)
    checks.broadcast(ranks=ranks, mean=mean, sigma=sigma, low=low, high=high)
    if (high < low).any():
        raise ValueError(f"high = {high}: must be at least low = {low}")

    def below(end):
        certain = np.where(end >= mean, np.inf, -np.inf)  # where nothing jitters
        return np.exp(ranks * log_ndtr(np.where(sigma > 0, (end - mean) / np.where(sigma > 0, sigma, 1.0), certain)))

    return checks.plain(below(high) - below(low))
