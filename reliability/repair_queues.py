"""Classical queues of a pool of standbys with single failures: Erlang's loss formula, and machines with few repair crews."""

import numpy as np

from reliability import checks

MOST_STANDBYS = 10**6
LONG = 100  # standbys from which on a closed form is quicker than the recursion


def erlang_b(load, standbys):
    r"""Erlang's loss formula: chance that a failure finds no standby when those that find none take none.

    .. math:: \frac{1}{B_k} = 1 + \frac{k}{a\, B_{k-1}}, \qquad B_0 = 1

    Parameters
    ----------
    load : float or array, > 0
        Failures in one mean repair time, a.
    standbys : int or array, >= 0
        k; at most 1,000,000.

    Examples
    --------
    >>> erlang_b(1.0, 1), round(erlang_b(10.0, 15), 4)
    (0.5, 0.0365)
    """
    load, standbys = checks.positive("load", load), checks.whole("standbys", standbys)
    checks.broadcast(load=load, standbys=standbys)
    if standbys.max() > MOST_STANDBYS:
        raise ValueError(f"standbys = {checks.plain(standbys)}: must be at most {MOST_STANDBYS}")
    load, standbys = np.broadcast_arrays(load, standbys)
    if standbys.max() > LONG:
        return checks.plain(_erlang_b_long(*np.atleast_1d(load, standbys)).reshape(load.shape))
    inverse, chances = np.ones(load.shape), np.ones(load.shape)
    with np.errstate(over="ignore"):
        for k in range(1, int(standbys.max()) + 1):
            inverse = 1 + k / load * inverse
            chances = np.where(standbys == k, 1 / inverse, chances)
    return checks.plain(chances)


def _erlang_b_long(load, standbys):
    """Erlang's formula as a Poisson variable's chance to be k over that to be at most k; as a falling series where both vanish."""
    from scipy.special import gammaincc, gammaln

    k = standbys.astype(float)
    with np.errstate(under="ignore", invalid="ignore", divide="ignore"):
        at_most = gammaincc(k + 1, load)
        chances = np.exp(k * np.log(load) - load - gammaln(k + 1)) / at_most
        far = at_most < 1e-200  # then the load is far above k, and each term of 1/B well below the one before
        term, total, i = np.ones(far.sum()), np.ones(far.sum()), 0
        while term.size and (term > 1e-17 * total).any():
            term = term * np.maximum(k[far] - i, 0.0) / load[far]
            total, i = total + term, i + 1
    chances[far] = 1 / total
    return np.clip(chances, 0.0, 1.0)


def machine_repair(nodes, standbys, node_mtbf, repair, crews=None):
    r"""Long-run chances of 0, 1, 2, ... broken nodes when only working nodes fail and crews are few.

    .. math:: p_{j+1} = p_j \, \frac{\min(N, N + k - j) / M}{\min(j + 1, c) / R}

    Parameters
    ----------
    nodes : int, >= 1
        Nodes at work while there are enough, N; with `standbys` at most 10,000,000.
    standbys : int, >= 0
        k; they do not fail while they wait.
    node_mtbf, repair : float, > 0
        M and R, exponential.
    crews : int, >= 1, optional
        Repairs at one time, c; without it every repair starts at once.

    Returns
    -------
    array [nodes + standbys + 1]

    Notes
    -----
    The machine-repair (finite-source) model. For many nodes and crews it is the Poisson distribution of
    :func:`reliability.standby.away_chances`.

    Examples
    --------
    >>> machine_repair(1, 0, node_mtbf=3.0, repair=1.0).tolist()
    [0.75, 0.25]
    """
    nodes, standbys = checks.count("nodes", nodes), checks.count("standbys", standbys, low=0)
    node_mtbf = checks.scalar("node_mtbf", checks.positive("node_mtbf", node_mtbf))
    repair = checks.scalar("repair", checks.positive("repair", repair))
    if nodes + standbys > 10**7:
        raise ValueError(f"nodes + standbys = {nodes + standbys}: must be at most 10000000")
    broken = np.arange(nodes + standbys)
    at_work = np.minimum(nodes, nodes + standbys - broken)
    in_repair = broken + 1 if crews is None else np.minimum(broken + 1, checks.count("crews", crews))
    steps = np.log(at_work) - np.log(in_repair) + (np.log(repair) - np.log(node_mtbf))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    with np.errstate(under="ignore"):
        weights = np.exp(logs - logs.max())
    return weights / weights.sum()
