"""How often to checkpoint, and what a job keeps of its time.

All times in one unit (the package uses seconds): interval T of work between two checkpoints,
write C that blocks the job, restart R, mean time between failures M of the job.
"""

from dataclasses import dataclass

import numpy as np

from reliability import checks


def _times(interval, write, restart, mtbf):
    interval = checks.positive("interval", interval)
    write = checks.non_negative("write", write)
    restart = checks.non_negative("restart", restart)
    mtbf = checks.positive("mtbf", mtbf)
    checks.broadcast(interval=interval, write=write, restart=restart, mtbf=mtbf)
    return interval, write, restart, mtbf


def efficiency(interval, write, restart, mtbf):
    r"""Share of time spent on work that lasts, to first order.

    .. math:: \eta(T) = \frac{T}{T + C + \left(\frac{T}{2} + R\right)\frac{T}{M}}

    In an interval T the job expects T/M failures, each of which costs half an interval and a
    restart.

    Parameters
    ----------
    interval : float or array, > 0
        Work between two checkpoints, T.
    write : float or array, >= 0
        Time a checkpoint blocks the job, C.
    restart : float or array, >= 0
        Time from a failure to the first repeated step, R.
    mtbf : float or array, > 0
        Mean time between failures of the job, M.

    Returns
    -------
    float or array in (0, 1]

    Notes
    -----
    First order in T/M: no failure during a write, a restart or repeated work. Its maximum is at
    ``sqrt(2 C M)`` for every R, by construction. See :func:`renewal_efficiency`.

    Examples
    --------
    >>> round(efficiency(123 * 30, 240, 388.2, 7.9 * 3600), 4)
    0.8745
    """
    interval, write, restart, mtbf = _times(interval, write, restart, mtbf)
    # Divided by T: no product of large times, so no overflow.
    with np.errstate(over="ignore"):
        return checks.plain(1.0 / (1.0 + write / interval + (interval / 2 + restart) / mtbf))


def young_interval(write, mtbf):
    r"""Interval of Young (1974): first-order optimum.

    .. math:: T^* = \sqrt{2 C M}

    Parameters
    ----------
    write : float or array, > 0
    mtbf : float or array, > 0

    Returns
    -------
    float or array, > 0
        In the unit of both.

    Notes
    -----
    Good while C is far below M; the restart does not enter.

    Examples
    --------
    >>> round(young_interval(240, 7.9 * 3600))
    3695
    """
    write = checks.positive("write", write)
    mtbf = checks.positive("mtbf", mtbf)
    checks.broadcast(write=write, mtbf=mtbf)
    return checks.plain(np.sqrt(2.0 * write) * np.sqrt(mtbf))


def daly_interval(write, mtbf):
    r"""Higher-order interval of Daly (2006).

    .. math:: T^* = \sqrt{2 C M}\left[1 + \frac{1}{3}\sqrt{\frac{C}{2M}}
              + \frac{1}{9}\,\frac{C}{2M}\right] - C \quad (C < 2M), \qquad T^* = M \text{ otherwise}

    Parameters
    ----------
    write : float or array, > 0
    mtbf : float or array, > 0

    Returns
    -------
    float or array, > 0
        In the unit of both.

    Notes
    -----
    An expansion of the exact optimum, :func:`optimal_interval`, which costs no more to compute.

    Examples
    --------
    >>> round(daly_interval(5.0, 60.0), 2)
    21.27
    """
    write = checks.positive("write", write)
    mtbf = checks.positive("mtbf", mtbf)
    checks.broadcast(write=write, mtbf=mtbf)
    with np.errstate(over="ignore", invalid="ignore"):
        half = write / mtbf / 2
        series = young_interval(write, mtbf) * (1 + np.sqrt(half) / 3 + half / 9) - write
    return checks.plain(np.where(half < 1, series, mtbf))


def renewal_efficiency(interval, write, restart, mtbf):
    r"""Share of time spent on work that lasts, exact for exponential failures.

    .. math:: \eta(T) = \frac{T}{M \, e^{R/M} \left(e^{(T+C)/M} - 1\right)}

    The denominator is the mean time to get through one interval and its write when failures
    strike at any moment, during writes, restarts and repeated work too (Daly 2006).

    Parameters
    ----------
    interval : float or array, > 0
    write, restart : float or array, >= 0
    mtbf : float or array, > 0

    Returns
    -------
    float or array in [0, 1]
        0 where progress is too rare for a float.

    Notes
    -----
    Assumes exponential failures, independent of what the job does; the failed interval starts
    again from its beginning.

    Examples
    --------
    >>> round(renewal_efficiency(118 * 30, 240, 388.2, 7.9 * 3600), 4)
    0.8638
    """
    interval, write, restart, mtbf = _times(interval, write, restart, mtbf)
    # Written with exponentials of negative numbers: they underflow to 0 and never overflow.
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        attempt = interval / mtbf + write / mtbf
        kept = interval / mtbf * np.exp(-(restart / mtbf) - attempt) / -np.expm1(-attempt)
    # Below the smallest float, attempt is 0 and so is what a failure costs.
    shares = np.where(attempt > 0, kept, interval / (interval + write))
    return checks.plain(np.where(np.isnan(shares), 0.0, shares))


def optimal_interval(write, mtbf):
    r"""Interval that maximises :func:`renewal_efficiency`, in closed form.

    .. math:: T^* = M \left[1 + W_0\!\left(-e^{-(1 + C/M)}\right)\right]

    W0 is the principal branch of Lambert's function. The restart does not enter.

    Parameters
    ----------
    write : float or array, > 0
    mtbf : float or array, > 0

    Returns
    -------
    float or array in (0, mtbf]

    Examples
    --------
    >>> round(optimal_interval(5.0, 60.0), 2)
    21.28
    """
    from scipy.special import lambertw

    write = checks.positive("write", write)
    mtbf = checks.positive("mtbf", mtbf)
    checks.broadcast(write=write, mtbf=mtbf)
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        c = write / mtbf
        u = 1.0 + lambertw(-np.exp(-(1.0 + c))).real
        # 1 + W cancels where C is far below M: a Newton step of u + log(1 - u) = -c mends that,
        # and below c = 1e-7 its series in s = sqrt(2c) is better still.
        s = np.sqrt(2 * np.minimum(c, 1e-7))
        near = np.clip(u, s / 2, 0.5)
        newton = near + (near + np.log1p(-near) + c) * (1 - near) / near
        u = np.where(c < 1e-7, s * (1 - s / 3 + s**2 / 36 + s**3 / 270), np.where(c < 0.1, newton, u))
        return checks.plain(mtbf * u)


def equally_good_range(write, mtbf, tolerance=0.005):
    r"""Shortest and longest interval as good as the best one, to a relative `tolerance`.

    The two solutions of :math:`\eta(T) = (1 - \epsilon)\,\eta(T^*)` in the exact model, one on each
    side of the optimum.

    Parameters
    ----------
    write : float or array, > 0
    mtbf : float or array, > 0
    tolerance : float or array, in (0, 1)
        Relative loss of efficiency that does not matter.

    Returns
    -------
    (low, high) : floats or arrays
        In the unit of `write`. The restart cancels.

    Examples
    --------
    >>> low, high = equally_good_range(240, 7.9 * 3600)
    >>> low < optimal_interval(240, 7.9 * 3600) < high
    True
    """
    from scipy.optimize.elementwise import find_root

    tolerance = checks.inner_probability("tolerance", tolerance)
    write, mtbf = checks.positive("write", write), checks.positive("mtbf", mtbf)
    checks.broadcast(write=write, mtbf=mtbf, tolerance=tolerance)
    best = np.asarray(optimal_interval(write, mtbf))
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        c, u, wanted = np.broadcast_arrays(write / mtbf, best / mtbf, np.log1p(-tolerance))
        # In x = log(T/T*), since T spans many powers of ten: the loss against the best, less the tolerated one.
        lowest = wanted - u + np.log(np.expm1(-c) / np.expm1(-(u + c))) - 1.0  # where even u/(e^c - 1) is too little
        highest = np.log((6.0 - 2.0 * wanted) / u)  # where u e^(-u) is
        args = (c, u, wanted)
        ends = [
            find_root(_loss, bracket, args=args).x
            for bracket in ((lowest, np.zeros_like(u)), (np.zeros_like(u), highest))
        ]
        low, high = (checks.plain(best * np.exp(end)) for end in ends)
    return low, high


def _loss(x, c, u, wanted):
    """Logarithm of the efficiency at u e^x over that at the best u, less `wanted`; times over the MTBF."""
    longer = u * np.expm1(x)
    return x - longer - np.log1p(np.expm1(-longer) * np.exp(-(u + c)) / np.expm1(-(u + c))) - wanted


@dataclass(frozen=True)
class GridOptimum:
    """Best interval on a grid of whole steps: `steps`, `interval` = steps x step, `efficiency`."""

    steps: int
    interval: float
    efficiency: float


def grid_optimum(step, write, restart, mtbf, max_steps=5000, model=efficiency):
    """Best interval among 1, 2, ..., `max_steps` training steps.

    Parameters
    ----------
    step : float, > 0
        Length of a training step.
    write, restart : float, >= 0
    mtbf : float, > 0
    max_steps : int, >= 1
    model : callable
        :func:`efficiency` or :func:`renewal_efficiency`.

    Returns
    -------
    GridOptimum
        The shortest of equally good intervals.

    Examples
    --------
    >>> grid_optimum(30, 240, 388.2, 7.9 * 3600).steps
    123
    """
    step = checks.scalar("step", checks.positive("step", step))
    write = checks.scalar("write", checks.non_negative("write", write))
    restart = checks.scalar("restart", checks.non_negative("restart", restart))
    mtbf = checks.scalar("mtbf", checks.positive("mtbf", mtbf))
    steps = np.arange(1, checks.count("max_steps", max_steps) + 1)
    shares = model(steps * step, write, restart, mtbf)
    best = int(np.argmax(shares))
    return GridOptimum(best + 1, float(steps[best] * step), float(shares[best]))


def incremental_write(write, factor):
    """Blocking time of an incremental checkpoint: `factor` of a full one.

    Parameters
    ----------
    write : float or array, >= 0
    factor : float or array, in (0, 1]
        1 is a full checkpoint.

    Returns
    -------
    float or array, >= 0
        In the unit of `write`.

    Notes
    -----
    Says nothing of the longer restore that a chain of increments costs.
    """
    write = checks.non_negative("write", write)
    factor = checks.probability("factor", checks.positive("factor", factor))
    checks.broadcast(write=write, factor=factor)
    return checks.plain(write * factor)
