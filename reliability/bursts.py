"""Failures that take several nodes at once, at a fixed rate of node failures.

A blast radius is a domain of so many nodes, a node itself, a rack, a power domain, that fails as a
whole. `sizes` lists the radii and `shares` what share of all node failures each brings. Whatever they
are, a node fails as often: bursts change how failures are grouped, not how many there are.
"""

import numpy as np

from reliability import checks

MOST_DRAWN = 1e9  # bursts of one draw


def blast_radii(shares, sizes):
    """Check a split of the node failures over blast radii; return it as two arrays.

    Parameters
    ----------
    shares : list of float, each in [0, 1]
        Share of the node failures that come in bursts of each size; they sum to 1 within 1e-9.
    sizes : list of int, >= 1
        Nodes that fail together.
    """
    shares, sizes = (
        np.atleast_1d(checks.probability("shares", shares)),
        np.atleast_1d(checks.whole("sizes", sizes, low=1)),
    )
    if shares.ndim != 1 or shares.shape != sizes.shape:
        raise ValueError(f"shares = {shares.tolist()}, sizes = {sizes.tolist()}: must be two lists of one length")
    if abs(shares.sum() - 1) > 1e-9:
        raise ValueError(f"shares = {shares.tolist()}: they sum to {shares.sum():.12g}; they must sum to 1")
    return shares, sizes


def domains_touched(nodes, size, fleet=None):
    r"""Mean number of domains of one size in which a job has a node.

    .. math:: \left\lceil \frac{n}{b} \right\rceil \ \text{packed}, \qquad
              \frac{N}{b}\left(1 - \prod_{i=0}^{b-1} \frac{N - n - i}{N - i}\right) \ \text{scattered over N nodes}

    Parameters
    ----------
    nodes : int or array, >= 1
        Nodes of the job, n.
    size : int, >= 1
        Nodes of a domain, b.
    fleet : int or array, optional
        Nodes of the fleet, N, at least `nodes` and a multiple of `size`: the job's nodes are drawn from
        it at random. Without it the job fills whole domains, one after another.

    Examples
    --------
    >>> domains_touched(128, 16), round(domains_touched(128, 16, fleet=2048), 1)
    (8.0, 82.6)
    """
    nodes = checks.whole("nodes", nodes, low=1)
    size = checks.count("size", size)
    if fleet is None:
        return checks.plain(np.ceil(nodes / size))
    fleet = checks.whole("fleet", fleet, low=1)
    checks.broadcast(nodes=nodes, fleet=fleet)
    if (fleet % size).any() or (fleet < nodes).any():
        raise ValueError(
            f"fleet = {checks.plain(fleet)}: must be a multiple of size = {size} and at least nodes = {checks.plain(nodes)}"
        )
    log_missed = np.zeros(np.broadcast_shapes(nodes.shape, fleet.shape))
    with np.errstate(divide="ignore"):  # a job that leaves fewer than b nodes free misses no domain
        for i in range(size):
            log_missed = log_missed + np.log1p(-np.minimum(nodes / (fleet - i), 1.0))
    return checks.plain(fleet / size * -np.expm1(log_missed))


def job_mtbf(node_mtbf, nodes, shares, sizes, fleet=None):
    r"""Mean time between interruptions of a job when failures come in bursts.

    .. math:: M_\text{job} = \frac{M_\text{node}}{\sum_i \varphi_i \, D_i(n)}

    A domain of radius b fails at the rate phi / M_node, whatever b is: each of its nodes then fails at
    that rate. The job is interrupted by every domain it touches, D of them. With single failures only,
    D = n, and this is :func:`reliability.availability.job_mtbf`, to the last bit.

    Parameters
    ----------
    node_mtbf : float or array, > 0
        Mean time between failures of a node, bursts and single failures together.
    nodes : int or array, >= 1
    shares, sizes : lists
        See :func:`blast_radii`.
    fleet : int or array, optional
        See :func:`domains_touched`: scattered over a fleet, or packed.

    Notes
    -----
    Assumes that bursts come independently of each other, and that each takes its domain whole.

    Examples
    --------
    >>> job_mtbf(8192.0, 2048, [0.5, 0.5], [1, 16])
    7.529411764705882
    """
    node_mtbf = checks.positive("node_mtbf", node_mtbf)
    shares, sizes = blast_radii(shares, sizes)
    touched = sum(
        share * np.asarray(domains_touched(nodes, size, fleet)) for share, size in zip(shares, sizes, strict=True)
    )
    checks.broadcast(node_mtbf=node_mtbf, nodes=touched)
    return checks.plain(node_mtbf / touched)


def demands(node_mtbf, nodes, shares, sizes):
    """What a packed job asks of a standby pool: how often so many nodes at once.

    Parameters
    ----------
    node_mtbf : float, > 0
    nodes : int, >= 1
        A domain that is larger than the job takes all of it; one that the job fills in part takes that part.
    shares, sizes : lists

    Returns
    -------
    (rates, lost) : arrays
        Events per unit of time, and nodes that each takes; the sizes ascend, without repetition.

    Examples
    --------
    >>> rates, lost = demands(1000.0, 40, [0.5, 0.5], [1, 16])
    >>> lost.tolist(), rates.tolist(), float(rates @ lost)
    ([1, 8, 16], [0.02, 0.0005, 0.001], 0.04)
    """
    node_mtbf = checks.scalar("node_mtbf", checks.positive("node_mtbf", node_mtbf))
    nodes = checks.count("nodes", nodes)
    by_size = {}
    for share, size in zip(*blast_radii(shares, sizes), strict=True):
        for lost, domains in ((int(size), nodes // int(size)), (nodes % int(size), 1)):
            if lost and domains and share:
                by_size[lost] = by_size.get(lost, 0.0) + share * domains / node_mtbf
    lost = np.array(sorted(by_size))
    return np.array([by_size[n] for n in lost.tolist()]), lost


def dispersion(shares, sizes):
    r"""Variance over mean of the number of node failures in any period.

    .. math:: \frac{\operatorname{Var} K}{\operatorname{E} K} = \sum_i \varphi_i \, b_i

    1 is the Poisson process. Of a compound Poisson process.

    Parameters
    ----------
    shares, sizes : lists

    Examples
    --------
    >>> dispersion([0.5, 0.5], [1, 16])
    8.5
    """
    shares, sizes = blast_radii(shares, sizes)
    return float(shares @ sizes)


def draw_bursts(rng, rates, sizes, horizon):
    """Draw the bursts of a period: when each strikes and how many nodes it takes.

    Parameters
    ----------
    rng : numpy.random.Generator
    rates : list of float, >= 0
        Bursts of each size per unit of time.
    sizes : list of int, >= 1
    horizon : float, > 0

    Returns
    -------
    (times, sizes) : arrays
        In order of time.

    Examples
    --------
    >>> times, sizes = draw_bursts(np.random.default_rng(7), [1.0, 0.1], [1, 16], horizon=100.0)
    >>> len(times), int(sizes.sum())
    (117, 312)
    """
    rng = checks.generator(rng)
    rates, sizes = (
        np.atleast_1d(checks.non_negative("rates", rates)),
        np.atleast_1d(checks.whole("sizes", sizes, low=1)),
    )
    if rates.ndim != 1 or rates.shape != sizes.shape:
        raise ValueError(f"rates {rates.shape}, sizes {sizes.shape}: must be two lists of one length")
    horizon = checks.scalar("horizon", checks.positive("horizon", horizon))
    if not rates.sum() < MOST_DRAWN / horizon:
        raise ValueError(f"rates = {rates.tolist()}: within the horizon = {horizon:g} there are too many to draw")
    counts = rng.poisson(rates * horizon)
    times, sizes = rng.uniform(0.0, horizon, counts.sum()), np.repeat(sizes, counts)
    order = np.argsort(times, kind="stable")
    return times[order], sizes[order]
