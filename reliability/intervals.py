"""What a checkpoint interval costs beyond the first-order model: its error, and chains of increments.

Built on :mod:`reliability.checkpoint`; all times in one unit, as there.
"""

import numpy as np

from reliability import checks
from reliability.checkpoint import optimal_interval, renewal_efficiency, young_interval


def _log_share(interval, write, mtbf):
    """Logarithm of the exact efficiency without restarts: it stays finite where the efficiency underflows."""
    attempt = (interval + write) / mtbf
    return np.log(interval / mtbf) - attempt - np.log(-np.expm1(-attempt))


def first_order_excess(write, restart, mtbf):
    r"""By how much the first-order model overrates a job that checkpoints at its interval.

    .. math:: \frac{\eta_1(T)}{\eta(T)} - 1, \qquad T = \sqrt{2 C M}

    The first-order efficiency over the exact one, both at Young's interval.

    Parameters
    ----------
    write : float or array, > 0
    restart : float or array, >= 0
    mtbf : float or array, > 0

    Returns
    -------
    float or array, >= 0
        0.01 is one percent too much. Infinite where the exact efficiency is nothing to a float.

    Notes
    -----
    For C and R far below M it is (4/3) C/M + (R/M) sqrt(2C/M) + (R/M)^2 / 2: first order leaves out
    failures during writes, during repeated work and during restarts.

    Examples
    --------
    >>> round(first_order_excess(240, 388.2, 7.9 * 3600), 4)
    0.0125
    """
    interval = np.asarray(young_interval(write, mtbf))
    restart = checks.non_negative("restart", restart)
    write, mtbf = np.asarray(write, dtype=float), np.asarray(mtbf, dtype=float)
    checks.broadcast(write=write, restart=restart, mtbf=mtbf)
    first = -np.log1p(write / interval + (interval / 2 + restart) / mtbf)
    exact = _log_share(interval, write, mtbf) - restart / mtbf
    with np.errstate(over="ignore"):
        return checks.plain(np.maximum(np.expm1(first - exact), 0.0))  # rounding alone would go below


def young_loss(write, mtbf):
    r"""Share of the attainable efficiency that Young's interval gives away.

    .. math:: 1 - \frac{\eta(\sqrt{2 C M})}{\eta(T^*)}

    Both in the exact model, where T* is the best interval.

    Parameters
    ----------
    write : float or array, > 0
    mtbf : float or array, > 0

    Returns
    -------
    float or array in [0, 1]
        A function of C/M alone: the restart cancels.

    Examples
    --------
    >>> round(young_loss(240, 7.9 * 3600), 5)
    0.00012
    """
    young, best = np.asarray(young_interval(write, mtbf)), np.asarray(optimal_interval(write, mtbf))
    write, mtbf = np.asarray(write, dtype=float), np.asarray(mtbf, dtype=float)
    gap = _log_share(young, write, mtbf) - _log_share(best, write, mtbf)
    return checks.plain(np.maximum(-np.expm1(gap), 0.0))  # rounding alone would go below


def break_even_restart(write, shorter, mtbf):
    r"""By how much longer a restart may take before it uses up what a shorter write gains.

    .. math:: \Delta R = M \ln \frac{\eta(T^*; C')}{\eta(T^*; C)}

    In the exact model, with exponential failures, each write has its own best interval, and a longer
    restart multiplies the efficiency by e^(-dR/M).

    Parameters
    ----------
    write, shorter : float or array, > 0
        Time a checkpoint blocks the job, C, and the shorter one C' instead.
    mtbf : float or array, > 0

    Returns
    -------
    float or array
        In the unit of `mtbf`; negative where `shorter` is the longer one.

    Examples
    --------
    >>> round(break_even_restart(240, 72, 7.9 * 3600) / 60, 1)
    28.8
    """
    write, shorter = checks.positive("write", write), checks.positive("shorter", shorter)
    mtbf = checks.positive("mtbf", mtbf)
    checks.broadcast(write=write, shorter=shorter, mtbf=mtbf)
    ends = [np.asarray(optimal_interval(cost, mtbf)) for cost in (write, shorter)]
    return checks.plain(mtbf * (_log_share(ends[1], shorter, mtbf) - _log_share(ends[0], write, mtbf)))


def chain_efficiency(interval, write, restart, mtbf, increments, factor, load):
    r"""Exact efficiency of a full checkpoint followed by a chain of increments, which a restart reads back.

    .. math:: \eta = \frac{(n + 1)\,T}{\sum_{j=0}^{n} M e^{R_j/M}\left(e^{(T + C_j)/M} - 1\right)},
              \qquad R_j = R + j f L

    Interval j starts with j increments behind the full checkpoint and ends with the next increment,
    C_j = f C, the last one with a full checkpoint, C_n = C.

    Parameters
    ----------
    interval : float or array, > 0
        Work between two checkpoints of either kind, T.
    write : float or array, > 0
        Time a full checkpoint blocks the job, C.
    restart : float or array, >= 0
        Restart from a full checkpoint alone, its loading included, R.
    mtbf : float or array, > 0
    increments : int, >= 0
        Increments between two full checkpoints, n.
    factor : float, in (0, 1]
        Size of an increment over that of a full checkpoint, f: it shortens the write and the reading alike.
    load : float or array, >= 0
        Time to load a full checkpoint, L.

    Returns
    -------
    float or array in [0, 1]

    Notes
    -----
    Exponential failures. A restart that a failure interrupts reads the whole chain again.

    Examples
    --------
    With no increments it is the exact model of full checkpoints:

    >>> round(chain_efficiency(3540, 240, 388.2, 28440, increments=0, factor=0.3, load=93.6), 4)
    0.8638
    >>> round(chain_efficiency(2154, 240, 388.2, 28440, increments=11, factor=0.3, load=93.6), 4)
    0.9067
    """
    interval, write = checks.positive("interval", interval), checks.positive("write", write)
    restart, load = checks.non_negative("restart", restart), checks.non_negative("load", load)
    mtbf = checks.positive("mtbf", mtbf)
    factor = checks.scalar("factor", checks.probability("factor", checks.positive("factor", factor)))
    checks.broadcast(interval=interval, write=write, restart=restart, mtbf=mtbf, load=load)
    interval, write, restart, mtbf, load = (a[..., None] for a in (interval, write, restart, mtbf, load))
    behind = np.arange(checks.count("increments", increments, low=0) + 1)
    writes = np.where(behind < behind[-1], factor * write, write)
    shares = np.asarray(renewal_efficiency(interval, writes, restart + behind * factor * load, mtbf))
    with np.errstate(
        divide="ignore", over="ignore"
    ):  # an interval that is never got through: the mean is infinite, the share 0
        return checks.plain(1.0 / np.mean(1.0 / shares, axis=-1))


def chain_as_blocking(write, restart, mtbf, increments, factor, load):
    r"""Turn a chain of increments into the full checkpoint that keeps exactly as much.

    .. math:: C' = M \ln \frac{\sum_j e^{(R_j + C_j)/M}}{\sum_j e^{R_j/M}}, \qquad
              R' = M \ln \frac{\sum_j e^{R_j/M}}{n + 1}

    With these, :func:`reliability.checkpoint.renewal_efficiency` is :func:`chain_efficiency`, so that
    `optimal_interval` of C' is the best interval of the chain.

    Parameters
    ----------
    write, restart, mtbf, increments, factor, load
        As in :func:`chain_efficiency`.

    Returns
    -------
    (write, restart) : floats or arrays

    Examples
    --------
    >>> write, restart = chain_as_blocking(240, 388.2, 28440, increments=11, factor=0.3, load=93.6)
    >>> round(write, 1), round(restart, 1), round(optimal_interval(write, 28440))
    (86.1, 542.8, 2156)
    """
    from scipy.special import logsumexp

    write = checks.positive("write", write)[..., None]
    restart = checks.non_negative("restart", restart)[..., None]
    mtbf = checks.positive("mtbf", mtbf)[..., None]
    factor = checks.scalar("factor", checks.probability("factor", checks.positive("factor", factor)))
    load = checks.non_negative("load", load)[..., None]
    checks.broadcast(write=write, restart=restart, mtbf=mtbf, load=load)
    behind = np.arange(checks.count("increments", increments, low=0) + 1)
    read = behind * (factor * load / mtbf)
    # The longest apart: what is left are exponentials of negative numbers, and no cancellation near 0.
    mean = read[..., -1] + np.log1p(np.mean(np.expm1(read - read[..., -1:]), axis=-1))
    less = np.where(behind < behind[-1], (factor - 1.0) * write / mtbf, 0.0)
    weights = np.exp(read - logsumexp(read, axis=-1, keepdims=True))
    longest, mtbf = write[..., 0] / mtbf[..., 0], mtbf[..., 0]
    shorter = np.log1p(np.sum(weights * np.expm1(less), axis=-1))
    return checks.plain(mtbf * (longest + shorter)), checks.plain(restart[..., 0] + mtbf * mean)


def availability_interval(write, restart, mtbf):
    r"""Interval of Saxena et al. (2024), at which the availability of their model is greatest.

    .. math:: T^* = \sqrt{2 C (M + R) + C^2}

    Their availability is (1 - C/p) M/(M + R + p/2) at the period p = T + C: each failure, counted on
    a clock that stops for repairs, costs a restart and half a period.

    Parameters
    ----------
    write : float or array, > 0
    restart : float or array, >= 0
    mtbf : float or array, > 0

    Returns
    -------
    float or array
        Work between two checkpoints. The paper's own period is this and the write.

    Notes
    -----
    Longer than Young's, which is already longer than the exact optimum.

    Examples
    --------
    >>> round(availability_interval(5.0, 10.0, 60.0), 2)
    26.93
    """
    write = checks.positive("write", write)
    restart = checks.non_negative("restart", restart)
    mtbf = checks.positive("mtbf", mtbf)
    checks.broadcast(write=write, restart=restart, mtbf=mtbf)
    # Root by root: no product of large times, so no overflow.
    return checks.plain(np.sqrt(write) * np.sqrt(2.0 * (mtbf + restart) + write))
