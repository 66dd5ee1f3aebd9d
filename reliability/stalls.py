"""What stalls leave of the time, under three conventions, and how long a stall is that faults may start over.

All three have one stall a fault and differ in the faults that strike during a stall. None is
counted: :func:`reliability.availability.availability`. Each waits its turn: :func:`serial_share`.
Each starts at once: :func:`running_share`.
"""

import numpy as np

from reliability import checks

MOST_RESTARTS = 10.0  # in MTBFs: beyond it a simulated recovery would take tens of thousands of attempts


def serial_share(stall, mtbf):
    r"""Share of time left when each fault's stall is served in its turn.

    .. math:: 1 - \frac{s}{M}

    The MTBF is counted from fault to fault, the stall included: the load of a queue with one server.

    Parameters
    ----------
    stall : float or array, >= 0
        Mean length of a stall, s.
    mtbf : float or array, > 0
        Mean time from one fault to the next at any time, M, in the same unit.

    Returns
    -------
    float or array in [0, 1]
        0 where stalls come faster than they end.

    Examples
    --------
    >>> round(serial_share(10, 18), 4)
    0.4444
    """
    stall, mtbf = _times(stall, mtbf)
    with np.errstate(over="ignore"):
        return checks.plain(np.maximum(0.0, 1.0 - stall / mtbf))


def running_share(stall, mtbf):
    r"""Share of time left when each fault's stall begins at once, whatever else is going on.

    .. math:: e^{-s/M}

    The job runs where no fault lies within its stall's length before: the chance that no customer is
    in a system with a server for each (M/G/infinity). With stalls of one length it is the renewal
    process of :func:`reliability.recovery.recovery_with_faults`, in which a fault starts the
    recovery over.

    Parameters
    ----------
    stall : float or array, >= 0
        Mean length of a stall, s: the lengths may differ from fault to fault, only their mean counts.
    mtbf : float or array, > 0
        Mean time from one fault to the next at any time, M, in the same unit.

    Returns
    -------
    float or array in [0, 1]

    Notes
    -----
    Assumes that faults come at a constant rate, in a stall as at any time, and that the job runs
    again when the last of the stalls has ended.

    Examples
    --------
    >>> round(running_share(10, 18), 4)
    0.5738
    """
    stall, mtbf = _times(stall, mtbf)
    with np.errstate(over="ignore", under="ignore"):
        return checks.plain(np.exp(-(stall / mtbf)))


def draw_recoveries(rng, duration, mtbf, number):
    """Draw the lengths of recoveries that a fault starts over, attempt by attempt.

    Parameters
    ----------
    rng : numpy.random.Generator
    duration : float, >= 0
        Length of an undisturbed recovery, at most `MOST_RESTARTS` times the MTBF.
    mtbf : float, > 0
        In the unit of `duration`.
    number : int, >= 1

    Returns
    -------
    array [number]
        Their mean is :func:`reliability.recovery.recovery_with_faults` in expectation.
    """
    checks.generator(rng)
    duration = checks.scalar("duration", checks.non_negative("duration", duration))
    mtbf = checks.scalar("mtbf", checks.positive("mtbf", mtbf))
    if duration > MOST_RESTARTS * mtbf:
        raise ValueError(f"duration = {duration:g}: must be at most {MOST_RESTARTS:g} times mtbf = {mtbf:g}")
    lengths = np.zeros(checks.count("number", number))
    going = np.arange(len(lengths))
    while going.size:
        fault = rng.exponential(mtbf, going.size)
        lengths[going] += np.minimum(fault, duration)
        going = going[fault < duration]
    return lengths


def _times(stall, mtbf):
    stall = checks.non_negative("stall", stall)
    mtbf = checks.positive("mtbf", mtbf)
    checks.broadcast(stall=stall, mtbf=mtbf)
    return stall, mtbf
