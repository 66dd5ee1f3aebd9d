"""Failures that make others more likely for a while: a self-exciting (Hawkes) process.

Failures come on their own at the rate mu, and each of them, of whatever origin, sets off n others on
average, the branching ratio, after exponential delays of mean `delay`. The rate of all failures is held
fixed, so that mu = rate (1 - n); with n = 0 it is the Poisson process.
"""

import numpy as np

from reliability import checks

MOST_DRAWN = 1e9  # failures of one draw
WARM_UP = 30  # relaxation times before the period: what is missing at its start is e^-30
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)


def _inputs(rate, branching, delay, outage):
    """The four as arrays that broadcast."""
    rate, delay = checks.non_negative("rate", rate), checks.positive("delay", delay)
    branching, outage = _branching(branching), checks.non_negative("outage", outage)
    checks.broadcast(rate=rate, branching=branching, delay=delay, outage=outage)
    return rate, branching, delay, outage


def _branching(branching):
    array = checks.probability("branching", branching)
    if array.max() >= 1:
        raise ValueError(f"branching = {checks.plain(array)}: must be below 1, or the failures never die out")
    return array


def _aftershock(y, branching):
    """(1 - e^-ny) / (y - 1 + e^-ny): how the rate after a failure falls back, n / (1 - n) at y = 0."""
    n = branching
    with np.errstate(invalid="ignore", divide="ignore"):
        value = -np.expm1(-n * y) / (y + np.expm1(-n * y))
    # Both sides over y, as series: near 0 the lower one would cancel
    small = n * (1 - n * y / 2 + (n * y) ** 2 / 6) / (1 - n + n * n * y / 2 * (1 - n * y / 3 + (n * y) ** 2 / 12))
    return np.where(y < 1e-3, small, value)


def _aftershock_integral(y, branching):
    """Integral of :func:`_aftershock` from 0 to y.

    Near n = 1 it has a peak at 0 of the form n / (1 - n + n^2 y / 2), which is integrated by hand; a Gauss rule
    takes what is left.
    """
    n, rest = branching, np.zeros(np.shape(y))
    for node, weight in zip((_NODES + 1) / 2, _WEIGHTS, strict=True):  # one at a time: no array of all nodes at once
        point = y * node
        rest += weight * (_aftershock(point, n) - n / (1 - n + n * n * point / 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        peak = 2 / n * np.log1p(n**2 * y / (2 * (1 - n)))
    return np.where(n > 0, peak, 0.0) + rest * y / 2


def share_up(rate, branching, delay, outage):
    r"""Share of time in which a job runs that each failure stops for a while.

    .. math:: P_\text{up} = \exp\left(-\mu \left[D + \tau \int_0^{Y} g(y)\,dy\right]\right), \quad
              Y = 1 - e^{-D/\tau}, \quad g(y) = \frac{1 - e^{-ny}}{y - 1 + e^{-ny}}

    The chance that no failure came in the last D: the void probability of the stationary process. A
    failure that strikes a job which is down lengthens the outage, and interrupts nothing.
    With n = 0 it is e^(-rate D).

    Parameters
    ----------
    rate : float or array, >= 0
        All failures per unit of time.
    branching : float or array, in [0, 1)
        Failures that one failure sets off on average, n.
    delay : float or array, > 0
        Mean time until they come, tau.
    outage : float or array, >= 0
        Time that a failure stops the job for, D.

    Returns
    -------
    float or array in [0, 1]

    Notes
    -----
    The intensity is an affine Markov process; its Laplace transform follows from one ordinary
    differential equation, whose solution is the integral.

    Examples
    --------
    >>> round(share_up(0.3236, 0.0, 1.0, outage=0.283), 4)
    0.9125
    >>> round(share_up(0.3236, 0.5, 1.0, outage=0.283), 4)
    0.92
    """
    rate, branching, delay, outage = np.broadcast_arrays(*_inputs(rate, branching, delay, outage))
    with np.errstate(over="ignore", under="ignore"):
        y = -np.expm1(-outage / delay)
        return checks.plain(np.exp(-rate * (1 - branching) * (outage + delay * _aftershock_integral(y, branching))))


def interruption_rate(rate, branching, delay, outage):
    r"""Interruptions of a running job per unit of time, when a failure stops it for a while.

    .. math:: \nu = -\frac{dP_\text{up}}{dD} = \mu \, P_\text{up} \left[1 + e^{-D/\tau} g(Y)\right]

    As often as the job is stopped it comes up again; so often has a failure been alone for D. With
    D = 0 every failure interrupts, and the rate is that of all failures.

    Parameters
    ----------
    rate, branching, delay, outage
        See :func:`share_up`.

    Examples
    --------
    >>> interruption_rate(2.0, 0.5, 1.0, outage=0.0), round(interruption_rate(2.0, 0.5, 1.0, outage=0.5), 3)
    (2.0, 0.637)
    """
    rate, branching, delay, outage = np.broadcast_arrays(*_inputs(rate, branching, delay, outage))
    with np.errstate(over="ignore", under="ignore"):
        y, fading = -np.expm1(-outage / delay), np.exp(-outage / delay)
        # mu (1 + e^(-D/tau) g(Y)) as one product, so that D = 0 gives the rate itself
        own = (1 - branching) * (1 + fading * _aftershock(y, branching))
        own = np.where(outage == 0, 1.0, own)  # exactly
        return checks.plain(rate * own * share_up(rate, branching, delay, outage))


def dispersion(branching, delay, window):
    r"""Variance over mean of the number of failures in a window.

    .. math:: 1 + \frac{n (2 - n)}{(1 - n)^2} \left[1 - \frac{1 - e^{-x}}{x}\right], \quad x = (1 - n)\, t / \tau

    It rises from 1 in a short window to 1 / (1 - n)^2 in a long one (Hawkes 1971).

    Parameters
    ----------
    branching : float or array, in [0, 1)
    delay, window : float or array, > 0

    Examples
    --------
    >>> dispersion(0.0, 1.0, 48.0), round(dispersion(0.5, 1.0, 48.0), 3)
    (1.0, 3.875)
    """
    branching = _branching(branching)
    delay, window = checks.positive("delay", delay), checks.positive("window", window)
    checks.broadcast(branching=branching, delay=delay, window=window)
    with np.errstate(over="ignore", under="ignore"):
        x = (1 - branching) * (window / delay)
        lag = np.where(x > 1e-5, 1 + np.expm1(-x) / np.maximum(x, 1e-5), x / 2)
    return checks.plain(1 + branching * (2 - branching) / (1 - branching) ** 2 * lag)


def draw_cascades(rng, rate, branching, delay, horizon):
    """Draw the times of the failures of a period, in order.

    Parameters
    ----------
    rng : numpy.random.Generator
    rate : float, >= 0
    branching : float, in [0, 1)
    delay, horizon : float, > 0

    Returns
    -------
    array
        Failures within [0, horizon). With no branching the same draws as those of
        :func:`reliability.bursts.draw_bursts` for single failures.

    Examples
    --------
    >>> len(draw_cascades(np.random.default_rng(7), 1.0, 0.5, 1.0, horizon=1000.0))
    1056
    """
    rng = checks.generator(rng)
    rate = checks.scalar("rate", checks.non_negative("rate", rate))
    branching = checks.scalar("branching", _branching(branching))
    delay = checks.scalar("delay", checks.positive("delay", delay))
    horizon = checks.scalar("horizon", checks.positive("horizon", horizon))
    before = WARM_UP * delay / (1 - branching) if branching else 0.0
    expected = rate * (1 - branching) * (before + horizon)
    if not expected < MOST_DRAWN:
        raise ValueError(f"rate = {rate:g}: with this horizon and delay it gives {expected:.3g} failures to draw")
    count = rng.poisson(expected)
    generation = rng.uniform(-before, horizon, count)
    families = [generation]
    while branching and generation.size:
        generation = np.repeat(generation, rng.poisson(branching, generation.size))
        generation = generation + rng.exponential(delay, generation.size)
        generation = generation[generation < horizon]
        families.append(generation)
    times = np.concatenate(families)
    return np.sort(times[times >= 0], kind="stable")
