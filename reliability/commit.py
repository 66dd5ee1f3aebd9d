"""When a checkpoint counts: uploads in the background, torn writes, what each costs.

A checkpoint counts once it is committed: written in full under a name of its own and then renamed, so
that a torn one is never loaded. All times in one unit (the package uses seconds), as in
:mod:`reliability.checkpoint`: interval T of work, restart R, mean time between failures M of the job.
"""

import numpy as np

from reliability import checks
from reliability.checkpoint import optimal_interval, renewal_efficiency


def _upload(stall, upload, drag):
    stall = checks.positive("stall", stall)
    upload = checks.non_negative("upload", upload)
    drag = checks.probability("drag", drag)
    checks.broadcast(stall=stall, upload=upload, drag=drag)
    return stall, upload, drag


def as_blocking(stall, upload, drag, restart):
    r"""Turn an asynchronous checkpoint into the blocking one that keeps exactly as much.

    .. math:: C' = s + \sigma u, \qquad R' = R + (1 - \sigma) u

    The job stops for s to copy its state, then goes on at a speed of 1 - sigma while the copy is
    uploaded for u. A failure before the upload is committed falls back one checkpoint further. In
    the exact model that costs as much as a restart longer by the work that the upload overlaps.

    Parameters
    ----------
    stall : float or array, > 0
        Time that the job stops, s.
    upload : float or array, >= 0
        Time from the end of the stall to the commit, u.
    drag : float or array, in [0, 1]
        Share of its speed that the job loses meanwhile, sigma: 1 is a blocking write.
    restart : float or array, >= 0

    Returns
    -------
    (write, restart) : floats or arrays
        What :func:`reliability.checkpoint.renewal_efficiency` and `optimal_interval` take.

    Notes
    -----
    Exact for exponential failures, while each upload ends before the next stall begins:
    T >= (1 - sigma) u. After a restart no upload is under way.

    Examples
    --------
    >>> as_blocking(1.0, 500.0, 0.1, 388.2)
    (51.0, 838.2)
    """
    stall, upload, drag = _upload(stall, upload, drag)
    restart = checks.non_negative("restart", restart)
    checks.broadcast(stall=stall, upload=upload, drag=drag, restart=restart)
    return checks.plain(stall + drag * upload), checks.plain(restart + (1.0 - drag) * upload)


def asynchronous_efficiency(interval, stall, upload, drag, restart, mtbf):
    r"""Share of time that asynchronous checkpoints keep, exact for exponential failures.

    .. math:: \eta = \frac{T}{M \, e^{(R + (1-\sigma)u)/M} \left(e^{(T + s + \sigma u)/M} - 1\right)}

    Parameters
    ----------
    interval : float or array, >= (1 - drag) upload
        Work between two checkpoints, T.
    stall, upload, drag, restart
        As in :func:`as_blocking`.
    mtbf : float or array, > 0

    Returns
    -------
    float or array in [0, 1]

    Raises
    ------
    ValueError
        Also where an upload would not end before the next one begins.

    Examples
    --------
    >>> round(asynchronous_efficiency(1800, 1.0, 500.0, 0.1, 388.2, 28440), 4)
    0.9138
    """
    interval = checks.positive("interval", interval)
    write, longer = as_blocking(stall, upload, drag, restart)
    overlapped = (1.0 - np.asarray(drag, dtype=float)) * np.asarray(upload, dtype=float)
    checks.broadcast(interval=interval, upload=overlapped, mtbf=checks.positive("mtbf", mtbf))
    if np.any(interval < overlapped * (1 - 1e-12)):
        short, least = (
            side[interval < overlapped * (1 - 1e-12)].flat[0] for side in np.broadcast_arrays(interval, overlapped)
        )
        raise ValueError(
            f"interval = {short:g}: must be at least (1 - drag) upload = {least:g}, or the next upload begins before one ends"
        )
    return renewal_efficiency(interval, write, longer, mtbf)


def asynchronous_interval(stall, upload, drag, mtbf):
    r"""Best interval of asynchronous checkpoints.

    .. math:: \max\left( M \left[1 + W_0\!\left(-e^{-(1 + (s + \sigma u)/M)}\right)\right], \; (1-\sigma) u \right)

    The exact optimum, or the shortest interval in which an upload ends, whichever is longer.

    Parameters
    ----------
    stall, upload, drag
        As in :func:`as_blocking`.
    mtbf : float or array, > 0

    Examples
    --------
    >>> round(asynchronous_interval(1.0, 500.0, 0.1, 28440)), asynchronous_interval(1.0, 500.0, 0.0, 28440)
    (1669, 500.0)
    """
    stall, upload, drag = _upload(stall, upload, drag)
    checks.broadcast(stall=stall, upload=upload, drag=drag, mtbf=checks.positive("mtbf", mtbf))
    return checks.plain(np.maximum(optimal_interval(stall + drag * upload, mtbf), (1.0 - drag) * upload))


def work_at_risk(interval, upload, drag):
    r"""Most work that one failure can undo: an interval, and what was done while the upload was open.

    .. math:: T + (1 - \sigma) u

    Parameters
    ----------
    interval : float or array, > 0
    upload, drag
        As in :func:`as_blocking`.

    Examples
    --------
    >>> work_at_risk(1800.0, 500.0, 0.1)
    2250.0
    """
    interval = checks.positive("interval", interval)
    _, upload, drag = _upload(1.0, upload, drag)
    checks.broadcast(interval=interval, upload=upload, drag=drag)
    return checks.plain(interval + (1.0 - drag) * upload)


def torn_share(interval, write, mtbf):
    r"""Share of the failures during work and writes that strike a write, and leave a torn checkpoint.

    .. math:: \frac{e^{-T/M} \left(1 - e^{-C/M}\right)}{1 - e^{-(T+C)/M}}

    With an atomic commit each of these costs a whole interval, and no more.

    Parameters
    ----------
    interval : float or array, > 0
    write : float or array, >= 0
    mtbf : float or array, > 0

    Returns
    -------
    float or array in [0, 1]

    Examples
    --------
    >>> round(torn_share(3540, 240, 28440), 4)
    0.0596
    """
    from scipy.special import exprel

    interval = checks.positive("interval", interval)
    write = checks.non_negative("write", write)
    mtbf = checks.positive("mtbf", mtbf)
    checks.broadcast(interval=interval, write=write, mtbf=mtbf)
    with np.errstate(over="ignore", under="ignore"):
        whole = interval + write
        # The chance to fail in a stretch over its length; a float holds neither beyond 1e300 mean times.
        torn, failed = (exprel(-np.minimum(stretch / mtbf, 1e300)) for stretch in (write, whole))
        return checks.plain(write / whole * (torn / failed) * np.exp(-interval / mtbf))


def in_place_share(write, mtbf, intervals):
    r"""Share of the efficiency that is left where a write overwrites the only checkpoint in place.

    .. math:: \frac{n \left(e^{C/M} - 1\right)}{e^{n C/M} - 1}

    A failure during a write leaves nothing to load but a copy set aside every n intervals.

    Parameters
    ----------
    write : float or array, >= 0
    mtbf : float or array, > 0
    intervals : int or array, >= 1
        Intervals between two copies set aside, n; or those of the whole run, where there are none.

    Returns
    -------
    float or array in [0, 1]
        Over the efficiency with atomic commits at the same interval and restart, which drop out.

    Notes
    -----
    Exact for exponential failures. To set a copy aside is taken to cost nothing: a rename.

    Examples
    --------
    >>> round(in_place_share(240, 28440, 100), 3)
    0.639
    """
    from scipy.special import exprel

    write = checks.non_negative("write", write)
    mtbf = checks.positive("mtbf", mtbf)
    intervals = checks.whole("intervals", intervals, low=1)
    checks.broadcast(write=write, mtbf=mtbf, intervals=intervals)
    with np.errstate(over="ignore"):
        once = np.minimum(write / mtbf, 1e300)
        # Divided by e^(nx): exponentials of negative numbers do not overflow. n times 1 / (nx) is 1 / x.
        whole = np.minimum(intervals * once, 1e300)
        return checks.plain(np.exp(-(intervals - 1) * once) * exprel(-once) / exprel(-whole))
