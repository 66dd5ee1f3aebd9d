"""What to do about a slow rank: leave it, shift its work, or swap it at the next checkpoint or at once.

Costs are time that the job loses from now on, in any unit of time; `loss` is the share of the time that the
slow rank costs while it stays.
"""

import numpy as np

from reliability import checks


def rebalanced_drag(replicas, slowdown, micro_batches):
    r"""How much longer a step is once the slow replica has given micro-batches to the others.

    .. math:: \min_j \frac{1}{m} \max\left( (1 + \delta) j, \left\lceil \frac{D m - j}{D - 1} \right\rceil \right) - 1

    Parameters
    ----------
    replicas : int or array, >= 2
        D data-parallel replicas, one of them slow.
    slowdown : float or array, >= 0
        The share by which the slow one is slower, delta.
    micro_batches : int or array, >= 1
        m of each replica in a step, if shared out evenly.

    Returns
    -------
    float or array
        At most `slowdown`.

    Notes
    -----
    A micro-batch is not divided. With many of them the drag tends to :math:`\delta / (D (1 + \delta) - \delta)`.
    Fill and drain of a pipeline are left out.

    Examples
    --------
    >>> round(rebalanced_drag(4, 1.0, 32), 3), round(rebalanced_drag(4, 0.05, 8), 3)
    (0.156, 0.05)
    """
    replicas = checks.whole("replicas", replicas, low=2).astype(float)
    slowdown = checks.non_negative("slowdown", slowdown)
    micro_batches = checks.whole("micro_batches", micro_batches, low=1).astype(float)
    checks.broadcast(replicas=replicas, slowdown=slowdown, micro_batches=micro_batches)
    drags = []
    with np.errstate(over="ignore"):
        even = replicas * micro_batches / ((replicas - 1) * (1 + slowdown) + 1)  # where all end together
        for kept in (np.floor(even), np.minimum(np.floor(even) + 1, micro_batches), micro_batches):
            others = np.ceil((replicas * micro_batches - kept) / (replicas - 1))
            drags.append(np.maximum((1 + slowdown) * kept, others) / micro_batches - 1)
    return checks.plain(np.minimum.reduce(drags))


def cost_at_checkpoint(length, loss, swap, wait):
    r"""Cost of a swap at the next checkpoint, if the slow phase still lasts then.

    .. math:: \ell \min(L, w) + c \, [L > w]

    Parameters
    ----------
    length : float or array, >= 0
        How long the phase would stay from now on, L.
    loss : float or array, in [0, 1]
        l.
    swap : float or array, >= 0
        c.
    wait : float or array, >= 0
        Time to the next checkpoint, w.

    Returns
    -------
    float or array

    Examples
    --------
    >>> cost_at_checkpoint(10.0, 0.1, 5.0, 30.0), cost_at_checkpoint(100.0, 0.1, 5.0, 30.0)
    (1.0, 8.0)
    """
    length = checks.non_negative("length", length)
    loss = checks.probability("loss", loss)
    swap, wait = checks.non_negative("swap", swap), checks.non_negative("wait", wait)
    checks.broadcast(length=length, loss=loss, swap=swap, wait=wait)
    return checks.plain(loss * np.minimum(length, wait) + np.where(length > wait, swap, 0.0))


def expected_cost_at_checkpoint(mean_length, loss, swap, wait):
    r"""Expected :func:`cost_at_checkpoint` of a phase whose length is exponential.

    .. math:: \ell \, m \left(1 - e^{-w/m}\right) + c \, e^{-w/m}

    Parameters
    ----------
    mean_length : float or array, > 0
        m; an exponential phase is as long as ever, however long it has been.
    loss, swap, wait
        As in :func:`cost_at_checkpoint`.

    Returns
    -------
    float or array

    Examples
    --------
    >>> round(expected_cost_at_checkpoint(60.0, 0.1, 5.0, 30.0), 2)
    5.39
    """
    mean_length = checks.positive("mean_length", mean_length)
    loss = checks.probability("loss", loss)
    swap, wait = checks.non_negative("swap", swap), checks.non_negative("wait", wait)
    checks.broadcast(mean_length=mean_length, loss=loss, swap=swap, wait=wait)
    with np.errstate(over="ignore", under="ignore"):
        over = wait / mean_length
        return checks.plain(-loss * mean_length * np.expm1(-over) + swap * np.exp(-over))


def cost_of_swap_now(swap, work, write=None):
    """Cost of a swap at once: the swap, and the work since the last checkpoint or a save before, whichever is less.

    Parameters
    ----------
    swap : float or array, >= 0
    work : float or array, >= 0
        What would have to be done again.
    write : float or array, >= 0, optional
        Of a checkpoint that is written first; without it, none can be.

    Returns
    -------
    float or array

    Examples
    --------
    >>> cost_of_swap_now(5.0, 30.0), cost_of_swap_now(5.0, 30.0, write=4.0)
    (35.0, 9.0)
    """
    swap, work = checks.non_negative("swap", swap), checks.non_negative("work", work)
    write = np.asarray(np.inf) if write is None else checks.non_negative("write", write)
    checks.broadcast(swap=swap, work=work, write=write)
    return checks.plain(swap + np.minimum(work, write))


def break_even(cost, loss, other_cost, other_loss):
    r"""Length of a slow phase from which the dearer of two answers pays.

    .. math:: L^* = \frac{c' - c}{\ell - \ell'}

    Parameters
    ----------
    cost, other_cost : float or array, >= 0
        What each answer costs at once, c and c'.
    loss, other_loss : float or array, in [0, 1]
        Share of the time that each goes on losing, l and l'.

    Returns
    -------
    float or array
        0 where the other answer costs no more and loses no more; infinite where it never pays.

    Notes
    -----
    Between ignoring and a swap it is :func:`reliability.detector.pays_after`.

    Examples
    --------
    >>> round(break_even(0.0, 0.1, 5.0, 0.02), 1)
    62.5
    """
    cost, other_cost = checks.non_negative("cost", cost), checks.non_negative("other_cost", other_cost)
    loss, other_loss = checks.probability("loss", loss), checks.probability("other_loss", other_loss)
    checks.broadcast(cost=cost, loss=loss, other_cost=other_cost, other_loss=other_loss)
    dearer, saved = other_cost - cost, loss - other_loss
    with np.errstate(over="ignore"):
        length = np.where(saved > 0, np.maximum(0.0, dearer) / np.where(saved > 0, saved, 1.0), np.inf)
    return checks.plain(np.where((dearer <= 0) & (saved >= 0), 0.0, length))


def swap_now_before(loss, interval):
    r"""Work since the last checkpoint below which a swap at once is better than one at the next.

    .. math:: x < \frac{\ell T}{1 + \ell}

    Parameters
    ----------
    loss : float or array, in [0, 1]
        l.
    interval : float or array, > 0
        T, between two checkpoints.

    Returns
    -------
    float or array

    Notes
    -----
    A swap at once throws x away, one at the next checkpoint loses l (T - x). Both pay for the swap.

    Examples
    --------
    >>> round(swap_now_before(0.1, 60.0), 2)
    5.45
    """
    loss = checks.probability("loss", loss)
    interval = checks.positive("interval", interval)
    checks.broadcast(loss=loss, interval=interval)
    return checks.plain(loss * interval / (1 + loss))
