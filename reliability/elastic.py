"""Go on with fewer data-parallel replicas: what that costs, and when it is worth it.

A replica is a whole copy of the model on some nodes. Without a node it cannot run; the nodes that are
left of it take the places of the next ones that fail.
"""

import numpy as np

from reliability import checks


def legal_sizes(replicas, batch=None):
    """Numbers of replicas that a job may run with, up to `replicas`.

    Parameters
    ----------
    replicas : int, >= 1
        The most that it has nodes for.
    batch : int, >= 1, or None
        Sequences of a global batch, which the replicas share evenly: their number must divide it.
        None where any number is allowed, because the batch shrinks with them or is shared unevenly.

    Returns
    -------
    int array, rising

    Examples
    --------
    >>> legal_sizes(16, batch=2048), legal_sizes(16, batch=2160)
    (array([ 1,  2,  4,  8, 16]), array([ 1,  2,  3,  4,  5,  6,  8,  9, 10, 12, 15, 16]))
    """
    sizes = np.arange(1, checks.count("replicas", replicas) + 1)
    return sizes if batch is None else sizes[checks.count("batch", batch) % sizes == 0]


def throughput(lost, replicas, batch=None):
    r"""Share of its full speed that a job keeps without some of its replicas.

    .. math:: \theta(l) = \frac{\max \{ n \le d - l : n \text{ legal} \}}{\max \{ n \le d : n \text{ legal} \}}

    Parameters
    ----------
    lost : int or array, >= 0
        Replicas that cannot run, l.
    replicas : int, >= 1
        All of them, d.
    batch : int, >= 1, or None
        As in :func:`legal_sizes`.

    Returns
    -------
    float or array in [0, 1]
        0 where none is left.

    Notes
    -----
    Assumes that speed grows with the number of replicas.

    Examples
    --------
    >>> throughput(1, 16), throughput(1, 16, batch=2048)
    (0.9375, 0.5)
    """
    lost = checks.whole("lost", lost)
    legal = np.concatenate([[0], legal_sizes(replicas, batch)])
    left = np.maximum(0, replicas - lost)
    return checks.plain(legal[np.searchsorted(legal, left, side="right") - 1] / legal[-1])


def mean_throughput(away, nodes_per_replica, replicas, batch=None):
    r"""Mean share of its full speed that a job keeps while nodes come and go.

    .. math:: \bar\theta = \sum_i \frac{n_i - n_{i-1}}{n_k} \, P\left(X \le m (d - n_i)\right)

    The legal sizes are n_1 < ... < n_k. The number of nodes away, X, is Poisson: they fail independently
    and the time that each is away has any distribution (M/G/infinity). With x away, the others form
    floor((m d - x) / m) replicas.

    Parameters
    ----------
    away : float or array, >= 0
        Mean number of nodes away: their failures in a time, times the mean time that one is away.
    nodes_per_replica : int or array, >= 1
        m.
    replicas : int, >= 1
        d.
    batch : int, >= 1, or None
        As in :func:`legal_sizes`.

    Returns
    -------
    float or array in [0, 1]

    Notes
    -----
    Assumes that failures do not become fewer while nodes are away, and that what is left of a broken
    replica stands in for the next node that fails, at no cost in speed.

    Examples
    --------
    >>> round(mean_throughput(0.5, nodes_per_replica=128, replicas=16), 4)
    0.9754
    """
    from scipy.special import pdtr

    away = checks.non_negative("away", away)
    nodes_per_replica = checks.whole("nodes_per_replica", nodes_per_replica, low=1)
    checks.broadcast(away=away, nodes_per_replica=nodes_per_replica)
    return checks.plain(np.minimum(_mean_of_steps(pdtr, away, nodes_per_replica, replicas, batch), 1.0))


def _mean_of_steps(tail, away, nodes_per_replica, replicas, batch):
    """Mean over the legal sizes of a tail of the nodes away: pdtr for the speed that is kept, pdtrc for that lost."""
    legal = legal_sizes(replicas, batch)
    spare = nodes_per_replica[..., None] * (replicas - legal).astype(float)
    # Of a mean of 0 both are NaN for some k; the smallest mean gives the limit.
    mean = np.maximum(away, np.finfo(float).tiny)[..., None]
    return tail(spare, mean) @ (np.diff(legal, prepend=0) / legal[-1])


def away_at_throughput(level, nodes_per_replica, replicas, batch=None):
    """Mean number of nodes away at which :func:`mean_throughput` has fallen to `level`.

    Parameters
    ----------
    level : float or array, in (0, 1]
    nodes_per_replica : int, >= 1
    replicas : int, >= 1
    batch : int, >= 1, or None

    Returns
    -------
    float or array
        0 where the level is 1.

    Examples
    --------
    >>> round(away_at_throughput(0.5, nodes_per_replica=1, replicas=1), 4)
    0.6931
    """
    from scipy.optimize.elementwise import find_root
    from scipy.special import pdtr, pdtrc

    level = checks.probability("level", checks.positive("level", level))
    nodes_per_replica = np.asarray(checks.count("nodes_per_replica", nodes_per_replica))
    replicas = checks.count("replicas", replicas)
    # A chance of 1e-17 that any is away: nothing is lost. Ten times all nodes and a thousand more: nothing is left.
    ends = np.log(1e-17), np.log(10.0 * nodes_per_replica * replicas + 1000.0)

    def solve(tail, target):
        def off(log_away, target):
            return _mean_of_steps(tail, np.exp(log_away), nodes_per_replica, replicas, batch) - target

        # Between neighbours of a coarse grid, where there are many: few steps are left to each.
        grid = np.linspace(*ends, int(np.clip(target.size // 8, 2, 1024)))
        known = _mean_of_steps(tail, np.exp(grid), nodes_per_replica, replicas, batch)
        order = slice(None) if tail is pdtrc else slice(None, None, -1)
        place = np.clip(np.searchsorted(known[order], target), 1, grid.size - 1)
        low, high = np.sort([grid[order][place - 1], grid[order][place]], axis=0)
        return np.exp(find_root(off, (low, high), args=(target,), tolerances={"xatol": 1e-14}).x)

    # Of what is lost where that is the lesser, so that a level just below 1 keeps its digits.
    away = np.zeros(level.shape)
    for tail, where, target in ((pdtrc, (level >= 0.5) & (level < 1), 1 - level), (pdtr, level < 0.5, level)):
        if where.any():
            away[where] = solve(tail, target[where])
    return checks.plain(away)


def break_even_away(saved, slowdown):
    r"""How long a node may be away until going on without it costs what it saves, one outage at a time.

    .. math:: \tau^* = \frac{S}{1 - \theta}

    Parameters
    ----------
    saved : float or array
        Time that the other way back costs more than leaving and joining again do, S.
    slowdown : float or array, in [0, 1]
        Share of its speed that the job loses meanwhile.

    Returns
    -------
    float or array, >= 0
        In the unit of `saved`: 0 where the other way is the cheaper one from the start, infinite where
        nothing is lost meanwhile.

    Examples
    --------
    >>> break_even_away(400.0, slowdown=1 / 16)
    6400.0
    """
    saved = checks.real("saved", saved)
    slowdown = checks.probability("slowdown", slowdown)
    checks.broadcast(saved=saved, slowdown=slowdown)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return checks.plain(np.where(saved > 0, np.maximum(saved, 0.0) / slowdown, 0.0))
