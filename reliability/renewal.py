r"""One job with every cause of failure together: what it keeps of its time, and where the rest goes.

Failures come at a constant rate at any time. Each is of one of several kinds, which differ in how long
detection and restart take; a failure during a recovery starts another one, of its own kind. With one kind
this is :func:`reliability.checkpoint.renewal_efficiency`. Arrays are [draws] or scalars; those by kind have the
kinds along their last axis. All times in seconds.
"""

from dataclasses import dataclass

import numpy as np

from reliability import checks
from reliability.checkpoint import renewal_efficiency


def effective_restart(shares, recovery, mtbf):
    r"""Return the one restart that costs as much as a mixture of them.

    .. math:: R^* = -M \ln \sum_j p_j \, e^{-R_j / M}

    Parameters
    ----------
    shares : array [..., kinds], >= 0
        Of the failures; they sum to 1.
    recovery : array [..., kinds], >= 0
        Detection and restart of each kind.
    mtbf : float or array [...], > 0

    Returns
    -------
    float or array [...]
        At most the mean of the recoveries: what a failure interrupts is not paid in full.

    Notes
    -----
    A recovery gets through with the chance sum p e^(-R/M) and is otherwise started over by the next failure. So
    with it in the place of R the exact model of one restart is that of all kinds together.

    Examples
    --------
    >>> round(effective_restart([0.5, 0.5], [60.0, 600.0], 3600.0), 1)
    319.9
    """
    shares, recovery = checks.probability("shares", shares), checks.non_negative("recovery", recovery)
    mtbf = checks.positive("mtbf", mtbf)
    checks.broadcast(shares=shares, recovery=recovery, mtbf=mtbf[..., None])
    if not np.allclose(shares.sum(axis=-1), 1.0, atol=1e-9):
        raise ValueError("shares: must sum to 1 along the last axis")
    lowest = np.where(shares > 0, recovery, np.inf).min(axis=-1)
    with np.errstate(under="ignore", divide="ignore", over="ignore"):
        longer = np.where(shares > 0, lowest[..., None] - recovery, 0.0) / mtbf[..., None]
        less, through = (shares * np.expm1(longer)).sum(axis=-1), (shares * np.exp(longer)).sum(axis=-1)
        # Near 1 the sum itself has lost what makes the difference, near 0 what it lacks to 1.
        logs = np.where(through > 0.5, np.log1p(less), np.log(through))
        return checks.plain(np.maximum(0.0, lowest - mtbf * logs))


@dataclass(frozen=True)
class Budget:
    """Shares of all time, which sum to 1; each a number or an array [draws], `by_kind` arrays [..., kinds].

    `useful` is work that lasts, at the speed without slow ranks; `stragglers` what they take; `writes` the checkpoints
    that last; `rework` work and writes that a failure undid; `detection` and `restart` the recoveries; `waiting`
    the time in which too few nodes were there. `lost_by_kind` adds up rework, detection and restart of each kind.
    """

    useful: np.ndarray
    stragglers: np.ndarray
    writes: np.ndarray
    rework: np.ndarray
    detection: np.ndarray
    restart: np.ndarray
    waiting: np.ndarray
    lost_by_kind: np.ndarray

    def parts(self):
        """Return the seven shares by name."""
        names = ("useful", "stragglers", "writes", "rework", "detection", "restart", "waiting")
        return {name: getattr(self, name) for name in names}


def budget(interval, write, shares, detection, restart, mtbf, drag=0.0, waiting=0.0):
    r"""Work out where the time goes.

    .. math:: \eta = (1 - w) \, \frac{1}{1 + d} \, \frac{T \varphi}{M (e^{(T + C)/M} - 1)}, \qquad
              \varphi = \sum_j p_j e^{-(D_j + R_j)/M}

    Parameters
    ----------
    interval : float or array, > 0
        Time between two checkpoints, T.
    write : float or array, >= 0
        Time a checkpoint blocks the job, C.
    shares, detection, restart : arrays [..., kinds]
        Share p of the failures, detection D and restart R of each kind.
    mtbf : float or array, > 0
        Of the job, on a clock that stops while it waits for a node, M.
    drag : float or array, >= 0
        By which share slow ranks make every step longer, d.
    waiting : float or array, in [0, 1]
        Share of all time in which the job waits for a node, w.

    Returns
    -------
    Budget
    """
    shares, detection = checks.probability("shares", shares), checks.non_negative("detection", detection)
    restart, mtbf = checks.non_negative("restart", restart), checks.positive("mtbf", mtbf)
    drag, waiting = checks.non_negative("drag", drag), checks.probability("waiting", waiting)
    whole = np.asarray(effective_restart(shares, detection + restart, mtbf))
    kept = np.asarray(renewal_efficiency(interval, write, whole, mtbf))
    computing = np.exp(-whole / mtbf)  # share of the running clock outside recoveries
    running, each = 1.0 - waiting, mtbf[..., None]
    found = shares * -np.expm1(-detection / each)
    back = shares * np.exp(-detection / each) * -np.expm1(-restart / each)
    writes = kept * np.asarray(write, dtype=float) / interval
    rework = np.maximum(0.0, computing - kept - writes)
    useful = kept / (1.0 + drag)
    lost = running[..., None] * (rework[..., None] * shares + found + back)
    return Budget(
        *(running * share for share in (useful, kept - useful, writes, rework, found.sum(-1), back.sum(-1))),
        np.broadcast_to(waiting, np.shape(useful)),
        lost,
    )


def horizon_spread(interval, write, shares, recovery, mtbf, horizon, drag=0.0):
    r"""Standard deviation of the share kept in one period, because failures come at random.

    .. math:: \sigma = \frac{1}{1 + d} \frac{T}{T + C} \sqrt{\frac{E[(W + R)^2]}{M H}}

    Each failure costs a time W that is uniform within an interval and its write, and a recovery R: a compound
    Poisson sum.

    Parameters
    ----------
    interval, write, shares, recovery, mtbf, drag
        As in :func:`budget`.
    horizon : float, > 0
        H.

    Returns
    -------
    float or array

    Notes
    -----
    To first order in T/M and R/M; neither the failure rate's own uncertainty nor waits for a node are in it.
    """
    horizon = checks.positive("horizon", horizon)
    attempt = np.asarray(interval + write, dtype=float)
    first, second = (shares * recovery).sum(-1), (shares * recovery**2).sum(-1)
    loss = attempt**2 / 3 + attempt * first + second
    return checks.plain(interval / attempt / (1.0 + drag) * np.sqrt(loss / (mtbf * horizon)))
