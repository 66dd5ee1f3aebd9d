"""Lives of nodes that are not exponential, and nodes that are not alike.

A node that fails is replaced by a new one (or made as good as new), so that its failures are a renewal
process: in the long run one per mean life, whatever the distribution.
"""

import numpy as np
from scipy.special import gamma, ndtr, zeta

from reliability import checks

LONG_RUN = 60  # mean lives after which failures come at their long-run rate, unless they still come faster
MOST_LIVES = 10**5  # of one node, drawn one after the other
SMALLEST_SHAPE = 0.05  # below it the gamma function leaves the range in which a mean life means anything


def weibull_scale(mean, shape):
    r"""Scale of a Weibull life with this mean.

    .. math:: \eta = \frac{m}{\Gamma(1 + 1/k)}

    Parameters
    ----------
    mean : float or array, > 0
    shape : float or array, >= 0.05
        k. Below 1 the hazard falls with age (infant mortality), above 1 it rises (wear); 1 is the
        exponential life.

    Examples
    --------
    >>> weibull_scale(1000.0, 1.0), round(weibull_scale(1000.0, 0.7), 1)
    (1000.0, 790.0)
    """
    mean, shape = checks.positive("mean", mean), checks.at_least("shape", shape, SMALLEST_SHAPE)
    checks.broadcast(mean=mean, shape=shape)
    return checks.plain(mean / gamma(1 + 1 / shape))


def weibull_hazard(age, mean, shape):
    r"""Rate at which a Weibull life ends at an age that it has reached.

    .. math:: h(t) = \frac{k}{\eta} \left(\frac{t}{\eta}\right)^{k - 1}

    Parameters
    ----------
    age : float or array, > 0
        In the unit of `mean`.
    mean, shape
        See :func:`weibull_scale`. With shape 1 the hazard is 1 / mean at every age.

    Examples
    --------
    >>> weibull_hazard(5.0, 1000.0, 1.0), round(weibull_hazard(168.0, 1000.0, 0.7) * 1000, 2)
    (0.001, 1.41)
    """
    age = checks.positive("age", age)
    scale, shape = np.asarray(weibull_scale(mean, shape)), np.asarray(shape, dtype=float)
    checks.broadcast(age=age, scale=scale)
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        hazard = shape / scale * (age / scale) ** (shape - 1)
        # Where a factor leaves the range of floats the product need not.
        logs = np.log(shape) - np.log(scale) + (shape - 1) * (np.log(age) - np.log(scale))
        return checks.plain(np.where((hazard > 0) & (hazard < np.inf), hazard, np.exp(logs)))


def weibull_cv(shape):
    r"""Coefficient of variation of a Weibull life: standard deviation over mean; 1 at shape 1.

    .. math:: c = \sqrt{\Gamma(1 + 2/k) / \Gamma(1 + 1/k)^2 - 1}

    Parameters
    ----------
    shape : float or array, >= 0.05

    Examples
    --------
    >>> weibull_cv(1.0), round(weibull_cv(0.7), 3)
    (1.0, 1.462)
    """
    shape = checks.at_least("shape", shape, SMALLEST_SHAPE)
    steep = shape > 1000
    ratio = gamma(1 + 2 / shape) / gamma(1 + 1 / shape) ** 2 - 1
    # ln G(1 + 2x) - 2 ln G(1 + x) = zeta(2) x^2 - 2 zeta(3) x^3 + 7/2 zeta(4) x^4 - ...: the difference would cancel.
    x = np.where(steep, 1 / shape, 0.0)
    series = x * np.sqrt(np.maximum(0.0, zeta(2) - 2 * zeta(3) * x + 3.5 * zeta(4) * x**2 - 6 * zeta(5) * x**3))
    return checks.plain(np.sqrt(np.where(steep, np.expm1(series**2), np.where(steep, 1.0, ratio))))


def weibull_cdf(age, mean, shape):
    r"""Chance that a Weibull life is over by an age: 1 - exp(-(t / eta)^k).

    Parameters
    ----------
    age : float or array, >= 0
    mean, shape
        See :func:`weibull_scale`.
    """
    age, scale = checks.non_negative("age", age), np.asarray(weibull_scale(mean, shape))
    checks.broadcast(age=age, scale=scale)
    with np.errstate(over="ignore", under="ignore"):
        return checks.plain(-np.expm1(-((age / scale) ** np.asarray(shape, dtype=float))))


def lognormal_cdf(age, mean, cv):
    r"""Chance that a lognormal life is over by an age.

    .. math:: \Phi\left(\frac{\ln(t/m) + s^2/2}{s}\right), \qquad s^2 = \ln(1 + c^2)

    Parameters
    ----------
    age : float or array, >= 0
    mean, cv : float or array, > 0
        Mean and coefficient of variation c of the life.

    Examples
    --------
    >>> round(lognormal_cdf(1000.0, 1000.0, 1.462), 3)
    0.704
    """
    age, mean, cv = checks.non_negative("age", age), checks.positive("mean", mean), checks.positive("cv", cv)
    checks.broadcast(age=age, mean=mean, cv=cv)
    spread = _spread(cv)
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        relative = age / mean
        inside = (relative > 0) & (relative < np.inf)
        logs = np.where(inside, np.log(np.where(inside, relative, 1.0)), np.log(age) - np.log(mean))
        return checks.plain(ndtr(logs / spread + spread / 2))


def draw_weibull(rng, mean, shape, size):
    """Draw Weibull lives; with shape 1 the very numbers that ``rng.exponential(mean, size)`` draws.

    Parameters
    ----------
    rng : numpy.random.Generator
    mean, shape
        See :func:`weibull_scale`.
    size : int, >= 0
    """
    scale = weibull_scale(mean, shape)
    return scale * checks.generator(rng).weibull(shape, checks.count("size", size, low=0))


def draw_lognormal(rng, mean, cv, size):
    """Draw lognormal lives of this mean and coefficient of variation.

    Parameters
    ----------
    rng : numpy.random.Generator
    mean, cv : float, > 0
    size : int, >= 0
    """
    mean = checks.scalar("mean", checks.positive("mean", mean))
    spread = _spread(checks.scalar("cv", checks.positive("cv", cv)))
    return mean * checks.generator(rng).lognormal(-(spread**2) / 2, spread, checks.count("size", size, low=0))


def _spread(cv):
    """Deviation of the logarithm of a lognormal life; a cv whose square leaves the range of floats is no matter."""
    cv = np.asarray(cv, dtype=float)
    with np.errstate(over="ignore", under="ignore"):
        exact = np.sqrt(np.log1p(cv * cv))
    return np.where(cv < 1e-8, cv, np.where(cv > 1e8, np.sqrt(2 * np.log(np.maximum(cv, 1.0))), exact))


def draw_renewals(draw, nodes, horizon):
    """Failures of nodes that are new at the start and renewed at each failure, in order.

    Parameters
    ----------
    draw : function of int
        Returns so many lives, such as ``lambda n: draw_weibull(rng, 1000.0, 0.7, n)``.
    nodes : int, >= 1
    horizon : float, > 0
        At most a hundred thousand lives long.

    Returns
    -------
    array
        Times within [0, horizon).
    """
    horizon = checks.scalar("horizon", checks.positive("horizon", horizon))
    _function("draw", draw)
    ends = checks.non_negative("draw", draw(checks.count("nodes", nodes)))
    failures = []
    while (ends := ends[ends < horizon]).size:
        if len(failures) == MOST_LIVES:
            raise ValueError(f"horizon = {horizon:g}: some node has more than {MOST_LIVES} lives in it")
        failures.append(ends)
        ends = ends + checks.non_negative("draw", draw(ends.size))
    return np.sort(np.concatenate(failures)) if failures else np.empty(0)


def renewal_function(cdf, horizon, steps=400):
    r"""Mean number of failures of one node by an age, when each failure is followed by a new life.

    .. math:: H(t) = F(t) + \int_0^t H(t - s)\, dF(s)

    Parameters
    ----------
    cdf : function of array
        Distribution function F of a life.
    horizon : float, > 0
    steps : int, >= 1
        Steps of the grid. The rule takes the mean of F over each, so that a hazard which is infinite at
        age 0 does no harm, nor a step much longer than a life; its error falls with the square of the step.

    Returns
    -------
    (ages, failures) : arrays [steps + 1]

    Examples
    --------
    >>> ages, failures = renewal_function(lambda t: 1 - np.exp(-t), 2.0)
    >>> round(float(failures[-1]), 4)
    2.0
    """
    horizon = checks.scalar("horizon", checks.positive("horizon", horizon))
    steps = checks.count("steps", steps)
    ages = np.linspace(0.0, horizon, steps + 1)
    whole, means = checks.probability("cdf", _function("cdf", cdf)(ages)), _step_means(cdf, ages)
    if means[0] > 1 - 1e-9:
        raise ValueError(f"horizon = {horizon:g}: its {steps} steps are too long, a life hardly ever outlasts one")
    failures, grown = np.zeros(steps + 1), np.zeros(steps)
    for i in range(1, steps + 1):
        later = means[1:i][::-1] @ grown[: i - 1]
        failures[i] = (whole[i] + later - means[0] * failures[i - 1]) / (1 - means[0])
        grown[i - 1] = failures[i] - failures[i - 1]
    return ages, failures


def _step_means(cdf, ages):
    """Mean of a distribution function over each step of a grid of ages."""
    step = ages[1] - ages[0]
    inner, weights = np.polynomial.legendre.leggauss(6)
    means = checks.probability("cdf", cdf((ages[:-1, None] + step * (inner + 1) / 2).ravel()))
    means = means.reshape(ages.size - 1, inner.size) @ (weights / 2)
    # Over the first one F may rise steeply from 0: its nodes crowd there.
    inner, weights = np.polynomial.legendre.leggauss(24)
    inner = (inner + 1) / 2
    means[0] = checks.probability("cdf", cdf(step * inner**8)) @ (weights / 2 * 8 * inner**7)
    return np.minimum(means, 1.0)


def _function(name, given):
    if not callable(given):
        raise ValueError(f"{name} = {given!r}: must be a function")
    return given


def early_ratio(age, cdf, mean):
    r"""Failures of a node that begins new, as a multiple of what its rate of the long run says.

    .. math:: \frac{M(a)}{a / m}

    with :math:`M` of :func:`mean_failures`. Above 1 where failures come early, below 1 where nodes wear out.

    Parameters
    ----------
    age, cdf, mean
        As in :func:`mean_failures`.

    Examples
    --------
    >>> round(early_ratio(0.1, lambda t: weibull_cdf(t, 1.0, 0.7), 1.0), 1)
    2.4
    """
    return mean_failures(age, cdf, mean) / (age / mean)


def mean_failures(age, cdf, mean):
    """Mean number of failures of one node by an age, however many lives that is: :func:`renewal_function` at its end.

    Parameters
    ----------
    age : float, > 0
    cdf : function of array
        Distribution function of a life.
    mean : float, > 0
        Its mean. Beyond 60 mean lives, or as many as it takes until failures come no faster than in the
        long run, one failure is added for each. A deviation of less than a hundredth of it is not resolved.

    Examples
    --------
    >>> round(mean_failures(500.0, lambda t: 1 - np.exp(-t), 1.0), 1)
    500.0
    """
    age, mean = (checks.scalar(n, checks.positive(n, v)) for n, v in (("age", age), ("mean", mean)))
    total, lives = age / mean, LONG_RUN
    while True:
        lives = min(total, lives)
        steps = int(np.clip(np.ceil(60 * lives), 300, 3000))
        failures = renewal_function(cdf, lives * mean, steps)[1]
        # Of late, failures in a mean life. Lives that vary little ripple about 1, and never fail more than once in each.
        rate = (failures[-1] - failures[3 * steps // 4]) / (lives - lives * (3 * steps // 4) / steps)
        if lives == total or rate < 1.001 or failures[-1] < lives:
            return float(failures[-1] + (total - lives))
        lives *= 8
