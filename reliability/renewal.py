r"""One job with every cause of failure together, as a formula: what it keeps in the long run, and where the rest goes.

It is the check beside the simulation of a plan, whose bins it has, and what its checkpoint interval is chosen
with. Failures come at a constant rate at any time. Each is of one of several kinds, which differ in how long
detection and restart take; a failure during a recovery starts another one, of its own kind. With one kind
this is :func:`reliability.checkpoint.renewal_efficiency`. Arrays are [draws] or scalars; those by kind have the
kinds along their last axis. All times in seconds.
"""

from dataclasses import dataclass

import numpy as np

from reliability import checks
from reliability.budget import BINS
from reliability.checkpoint import renewal_efficiency

PLAN_BINS = tuple(name for name in BINS if name != "verification")  # of which a cluster file says nothing


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
    """Shares of all time, which sum to 1, by the bins of :mod:`reliability.budget`; each a number or an array [draws].

    `redone` is at full speed, like `useful`; what slow ranks take of both is in `degraded`. `lost_by_kind` [..., kinds] is what
    the failures of each kind cost: work and its slow ranks, detection, restart, and the time to fetch a node.
    """

    useful: np.ndarray
    checkpoint: np.ndarray
    redone: np.ndarray
    detection: np.ndarray
    restart: np.ndarray
    waiting: np.ndarray
    degraded: np.ndarray
    lost_by_kind: np.ndarray

    def parts(self):
        """Return the shares by bin."""
        return {name: getattr(self, name) for name in PLAN_BINS}


def budget(interval, write, shares, detection, restart, mtbf, drag=0.0, waiting=0.0, fetching=None):
    r"""Work out where the time goes in the long run.

    .. math:: \eta = (1 - w) \, \frac{1}{1 + d} \, \frac{T \varphi}{M (e^{(T + C)/M} - 1)}, \qquad
              \varphi = \sum_j p_j e^{-(D_j + R_j + F_j)/M}

    Parameters
    ----------
    interval : float or array, > 0
        Time between two checkpoints, T.
    write : float or array, >= 0
        Time a checkpoint blocks the job, C.
    shares, detection, restart : arrays [..., kinds]
        Share p of the failures, detection D and restart R of each kind.
    mtbf : float or array, > 0
        Of the job, on a clock that stops while it waits for a repair, M.
    drag : float or array, >= 0
        By which share slow ranks make every step longer, d.
    waiting : float or array, in [0, 1]
        Share of all time in which the job waits for a repair, w.
    fetching : array [..., kinds], >= 0, optional
        After the restart, the time until a node from elsewhere is there, F; by default none. It counts as waiting.

    Returns
    -------
    Budget
    """
    shares, detection = checks.probability("shares", shares), checks.non_negative("detection", detection)
    restart, mtbf = checks.non_negative("restart", restart), checks.positive("mtbf", mtbf)
    drag, waiting = checks.non_negative("drag", drag), checks.probability("waiting", waiting)
    fetching = checks.non_negative("fetching", np.zeros(1) if fetching is None else fetching)
    whole = np.asarray(effective_restart(shares, detection + restart + fetching, mtbf))
    kept = np.asarray(renewal_efficiency(interval, write, whole, mtbf))
    computing = np.exp(-whole / mtbf)  # share of the running clock outside recoveries
    running, each = 1.0 - waiting, mtbf[..., None]
    found = shares * -np.expm1(-detection / each)
    back = shares * np.exp(-detection / each) * -np.expm1(-restart / each)
    fetched = shares * np.exp(-(detection + restart) / each) * -np.expm1(-fetching / each)
    writes = computing * _writing(interval, write, mtbf)
    undone = np.maximum(0.0, computing - kept - writes)
    lost = running[..., None] * (undone[..., None] * shares + found + back + fetched)
    speed = 1.0 / (1.0 + drag)
    return Budget(
        running * kept * speed,
        running * writes,
        running * undone * speed,
        running * found.sum(-1),
        running * back.sum(-1),
        waiting + running * fetched.sum(-1),
        running * (kept + undone) * drag * speed,
        lost,
    )


def _writing(interval, write, mtbf):
    """Share of the time of all attempts, those that a failure ends included, in which the job writes.

    A failure finds an attempt x after its beginning with a density that falls as exp(-x/M) over its length T + C.
    """
    interval, write = np.asarray(interval, dtype=float), np.asarray(write, dtype=float)
    with np.errstate(under="ignore", invalid="ignore", divide="ignore"):
        share = np.exp(-interval / mtbf) * np.expm1(-write / mtbf) / np.expm1(-(interval + write) / mtbf)
        return np.where((interval + write) / mtbf > 0, share, write / (interval + write))


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


def share_without_failure(interval, write, horizon, drag=0.0):
    r"""Share kept in one period in which nothing fails: all of it but the writes, and what slow ranks take.

    .. math:: \frac{n T + \min(T, H - n (T + C))}{(1 + d) H}, \qquad n = \left\lfloor \frac{H}{T + C} \right\rfloor

    Parameters
    ----------
    interval, write, drag
        As in :func:`budget`: T, C, d.
    horizon : float, > 0
        H.

    Returns
    -------
    float or array

    Examples
    --------
    >>> share_without_failure(50.0, 10.0, 100.0)
    0.9
    """
    interval, write = checks.positive("interval", interval), checks.non_negative("write", write)
    horizon, drag = checks.positive("horizon", horizon), checks.non_negative("drag", drag)
    whole, rest = np.divmod(horizon, interval + write)
    return checks.plain((whole * interval + np.minimum(interval, rest)) / ((1.0 + drag) * horizon))
