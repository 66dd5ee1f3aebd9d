"""Lives of nodes that are not exponential, and nodes that are not alike.

A node that fails is replaced by a new one (or made as good as new), so that its failures are a renewal
process: in the long run one per mean life, whatever the distribution.
"""

import numpy as np
from scipy.special import gamma, ndtr

from reliability import checks

LONG_RUN = 60  # mean lives after which the failures of any node come at their long-run rate
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
    with np.errstate(over="ignore", under="ignore"):
        return checks.plain(shape / scale * (age / scale) ** (shape - 1))


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
    return checks.plain(np.sqrt(gamma(1 + 2 / shape) / gamma(1 + 1 / shape) ** 2 - 1))


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
    spread = np.sqrt(np.log1p(cv * cv))
    with np.errstate(divide="ignore"):
        return checks.plain(ndtr((np.log(age / mean) + spread**2 / 2) / spread))


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
    spread = np.sqrt(np.log1p(checks.scalar("cv", checks.positive("cv", cv)) ** 2))
    return mean * checks.generator(rng).lognormal(-(spread**2) / 2, spread, checks.count("size", size, low=0))


def draw_renewals(draw, nodes, horizon):
    """Failures of nodes that are new at the start and renewed at each failure, in order.

    Parameters
    ----------
    draw : function of int
        Returns so many lives, such as ``lambda n: draw_weibull(rng, 1000.0, 0.7, n)``.
    nodes : int, >= 1
    horizon : float, > 0

    Returns
    -------
    array
        Times within [0, horizon).
    """
    horizon = checks.scalar("horizon", checks.positive("horizon", horizon))
    ends = checks.non_negative("draw", draw(checks.count("nodes", nodes)))
    failures = []
    while (ends := ends[ends < horizon]).size:
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
        Steps of the grid. The rule takes F at the middle of each, so that a hazard which is infinite at
        age 0 does no harm; its error falls with the square of the step for a smooth F.

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
    whole, middle = checks.probability("cdf", cdf(ages)), checks.probability("cdf", cdf(ages[1:] - horizon / steps / 2))
    failures = np.zeros(steps + 1)
    for i in range(1, steps + 1):
        grown = middle[1:i][::-1] @ np.diff(failures[:i])
        failures[i] = (whole[i] + grown - middle[0] * failures[i - 1]) / (1 - middle[0])
    return ages, failures


def mean_failures(age, cdf, mean):
    """Mean number of failures of one node by an age, however many lives that is: :func:`renewal_function` at its end.

    Parameters
    ----------
    age : float, > 0
    cdf : function of array
        Distribution function of a life.
    mean : float, > 0
        Its mean. Beyond 60 mean lives one failure is added for each.

    Examples
    --------
    >>> round(mean_failures(500.0, lambda t: 1 - np.exp(-t), 1.0), 1)
    500.0
    """
    age, mean = (checks.scalar(n, checks.positive(n, v)) for n, v in (("age", age), ("mean", mean)))
    lives = min(age / mean, LONG_RUN)
    steps = int(np.clip(np.ceil(60 * lives), 300, 3000))
    return float(renewal_function(cdf, lives * mean, steps)[1][-1] + (age / mean - lives))
