"""Nodes that are not alike: which are lemons, and how much a node's history tells of its future."""

from dataclasses import dataclass

import numpy as np

from reliability import checks

FALSE_DISCOVERIES = 0.05


@dataclass(frozen=True)
class Lemon:
    """A node with more incidents than chance allows. `p_value` is adjusted for how many nodes were looked at."""

    node: object
    incidents: int
    expected: float
    p_value: float
    predicted_ratio: float
    """Its rate in future over the mean of all nodes, shrunk by how much a history tells."""


@dataclass(frozen=True)
class NodeRates:
    """How the incidents fall on the nodes.

    Attributes
    ----------
    nodes, nodes_with : int
        Nodes looked at, and those with an incident.
    assumed : bool
        The number of nodes is unknown, and taken to be those that had an incident: lemons are then
        harder to see, since the good nodes without any are missing.
    index, p_value : float
        Variance over mean of the incidents of a node, and the chance of as much where all are alike.
    lemons : tuple of Lemon
        With at most `false_discoveries` of them expected to be good nodes; the worst first.
    lemon_share : float
        Share of all incidents on them.
    cv : float
        Coefficient of variation of the nodes' true rates, of the gamma distribution fitted to them; 0
        where the counts show no difference.
    history_weight : float
        Weight of a node's own history in its predicted rate, the rest being the mean of all nodes.
    """

    nodes: int
    nodes_with: int
    assumed: bool
    index: float
    p_value: float
    lemons: tuple[Lemon, ...]
    lemon_share: float
    cv: float
    history_weight: float


@dataclass(frozen=True)
class HalfToHalf:
    """How much the first half of a record tells of its second, node by node."""

    correlation: float
    """Of the ranks of the nodes' counts in the two halves."""
    p_value: float
    worst: int
    """Nodes in the worst tenth of the first half."""
    worst_ratio: float
    """Their mean count in the second half over that of all nodes."""


def node_rates(counts, names=None, nodes=None, false_discoveries=FALSE_DISCOVERIES):
    r"""Test each node's count against chance, and shrink each node's rate towards the mean.

    Under equal nodes a count is binomial with the total and 1 / nodes. The gamma-Poisson model takes
    the nodes' rates as gamma with shape a and mean m; a node with k incidents then has the rate

    .. math:: \hat r = w \, k + (1 - w) \, m, \qquad w = \frac{m}{m + a}

    per length of the record.

    Parameters
    ----------
    counts : array [nodes with an incident], whole, >= 0
    names : sequence, optional
        Of the nodes; their places otherwise.
    nodes : int, optional
        Nodes watched, those without an incident too.
    false_discoveries : float, in (0, 1)
        Share of the named nodes that may be good ones, on average (Benjamini and Hochberg 1995).

    Returns
    -------
    NodeRates or None
        None for fewer than two nodes, or without an incident.

    Notes
    -----
    Each node is taken to be watched as long as the others. Bursts that hit a node several times in a
    row count each time: what they make of a node may be one cause, not a lasting one.

    Examples
    --------
    >>> found = node_rates([30, 4, 6, 5, 3, 5], nodes=10)
    >>> [(lemon.node, lemon.incidents) for lemon in found.lemons], round(found.history_weight, 2)
    ([(0, 30)], 0.93)
    """
    from scipy.stats import binom, chi2, false_discovery_control

    counts = checks.whole("counts", counts) if np.size(counts) else np.empty(0, dtype=np.int64)
    if counts.ndim != 1:
        raise ValueError(f"counts has shape {counts.shape}: must be a list, one number a node")
    false_discoveries = checks.scalar(
        "false_discoveries", checks.inner_probability("false_discoveries", false_discoveries)
    )
    names = list(range(counts.size)) if names is None else list(names)
    if len(names) != counts.size:
        raise ValueError(f"names has {len(names)} entries: must be as many as counts, {counts.size}")
    seen, assumed = int((counts > 0).sum()), nodes is None
    if not assumed and checks.count("nodes", nodes) < counts.size:
        raise ValueError(f"nodes = {nodes}: must be at least the {counts.size} nodes that are listed")
    size = counts.size if assumed else int(nodes)
    total = int(counts.sum())
    if size < 2 or total == 0:
        return None
    mean = total / size
    variance = (((counts - mean) ** 2).sum() + (size - counts.size) * mean**2) / (size - 1)
    p_values = np.ones(size)
    p_values[: counts.size] = binom.sf(counts - 1, total, 1 / size)
    adjusted = false_discovery_control(p_values, method="bh")[: counts.size]
    cv = _spread(counts, size, mean)
    weight = mean * cv**2 / (1 + mean * cv**2)
    bad = np.flatnonzero(adjusted <= false_discoveries)
    bad = bad[np.lexsort((bad, -counts[bad]))]
    lemons = tuple(
        Lemon(names[i], int(counts[i]), mean, float(adjusted[i]), float(weight * counts[i] / mean + 1 - weight))
        for i in bad.tolist()
    )
    p_value = float(chi2.sf((size - 1) * variance / mean, size - 1))
    share = float(counts[bad].sum() / total)
    return NodeRates(size, seen, assumed, float(variance / mean), p_value, lemons, share, cv, float(weight))


def _spread(counts, size, mean):
    """Coefficient of variation of the gamma distribution of rates, by maximum likelihood with the mean held."""
    from scipy.optimize import minimize_scalar
    from scipy.special import gammaln

    values, often = np.unique(np.concatenate([counts, [0]]), return_counts=True)
    often = often.astype(float)
    often[0] += size - counts.size - 1  # the zero put in, and the nodes that are not listed

    def unlikely(log_shape):
        shape = np.exp(log_shape)
        each = gammaln(shape + values) - gammaln(shape) - shape * np.log1p(mean / shape)
        return -(often @ (each + values * (np.log(mean) - np.log(shape + mean))))

    best = minimize_scalar(unlikely, bounds=(-8.0, 12.0), method="bounded")
    # At the far end the nodes are alike: no spread rather than a tiny one.
    return 0.0 if best.x > 11.5 or unlikely(best.x) > unlikely(12.0) - 1e-6 else float(np.exp(-best.x / 2))


def half_to_half(times, nodes, start, end, size):
    """Compare each node's incidents in the two halves of the record.

    Parameters
    ----------
    times : array [incidents]
    nodes : array [incidents] of int
        Numbers of the nodes, from 0.
    start, end : float
        Of the record.
    size : int, >= 1
        Nodes in all; those without incidents count as 0 in both halves.

    Returns
    -------
    HalfToHalf or None
        None where there are fewer than ten nodes, or a half has no incident, or all counts are equal.

    Examples
    --------
    >>> times, nodes = np.arange(40.0), np.tile(np.repeat(np.arange(10), [6, 6, 1, 1, 1, 1, 1, 1, 1, 1]), 2)
    >>> found = half_to_half(times, nodes, 0.0, 40.0, 10)
    >>> round(found.correlation, 2), found.worst, found.worst_ratio
    (1.0, 1, 3.0)
    """
    from scipy.stats import spearmanr

    times, nodes = np.asarray(times, dtype=float), np.asarray(nodes)
    if times.shape != nodes.shape:
        raise ValueError(f"times {times.shape}, nodes {nodes.shape}: must be of one length")
    size = checks.count("size", size)
    first = times < (start + end) / 2
    before, after = (np.bincount(nodes[half], minlength=size) for half in (first, ~first))
    if size < 10 or not after.any() or np.ptp(before) == 0 or np.ptp(after) == 0:
        return None
    test = spearmanr(before, after)
    worst = np.argsort(-before, kind="stable")[: max(size // 10, 1)]
    ratio = after[worst].mean() / after.mean()
    return HalfToHalf(float(test.statistic), float(test.pvalue), worst.size, float(ratio))
