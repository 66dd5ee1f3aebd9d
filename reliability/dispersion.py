"""Whether failures are independent: the spread of their counts, and starts that several nodes share."""

from dataclasses import dataclass

import numpy as np

from reliability import checks
from reliability.units import DAY_S

SHORTEST_SPAN = DAY_S  # incidents that all began at one moment say nothing of a rate
BLOCKS = 20  # periods that a record is cut into for its long-run variance


@dataclass(frozen=True)
class Dispersion:
    """Counts of equal periods: `index`, variance over mean, is 1 where incidents are independent and steady."""

    periods: int
    mean: float
    index: float
    p_value: float
    """Chance of as large an index from a Poisson process."""
    neighbours: float
    """Correlation of each count with the next; 0 where they are independent."""


@dataclass(frozen=True)
class SharedStarts:
    """Incidents that began together on several nodes."""

    groups: int
    incidents: int
    largest: int
    expected_by_chance: float
    """Incidents that would share a start in a steady record without a common cause."""
    sizes: tuple[tuple[int, int], ...]
    """(nodes, groups of so many)."""

    @property
    def above_chance(self):
        """Whether more began together than three standard deviations of chance allow."""
        return self.incidents > self.expected_by_chance + 3 * max(self.expected_by_chance, 1.0) ** 0.5


def dispersion(counts):
    r"""Index of dispersion of counts in equal periods, and the chance of as large a one.

    .. math:: D = \frac{s^2}{\bar k}, \qquad (m - 1) D \sim \chi^2_{m - 1}

    Parameters
    ----------
    counts : array [m], whole, >= 0

    Returns
    -------
    Dispersion or None
        None for fewer than two periods, or without any incident.

    Examples
    --------
    >>> found = dispersion([0, 0, 9, 0, 1])
    >>> round(found.index, 1), found.p_value < 1e-4
    (7.8, True)
    """
    from scipy.stats import chi2

    counts = checks.whole("counts", counts)
    if counts.ndim != 1:
        raise ValueError(f"counts has shape {counts.shape}: must be a list of counts")
    if counts.size < 2 or not counts.any():
        return None
    index = counts.var(ddof=1) / counts.mean()
    p_value = chi2.sf((counts.size - 1) * index, counts.size - 1)
    off = counts - counts.mean()
    alike = off[:-1] @ off[1:] / (off @ off) if off.any() else 0.0
    return Dispersion(counts.size, float(counts.mean()), float(index), float(p_value), float(alike))


def counts_in(times, start, end, length):
    """Counts of incidents in the whole periods of one length that the window holds, from its start.

    Examples
    --------
    >>> counts_in([0.0, 0.5, 2.5], 0.0, 3.9, 1.0).tolist()
    [2, 0, 1]
    """
    times = np.asarray(times, dtype=float)
    length = checks.scalar("length", checks.positive("length", length))
    periods = int((end - start) / length * (1 + 1e-12))
    edges = start + length * np.arange(periods + 1)
    return np.diff(np.searchsorted(np.sort(times), edges))


def shared_starts(times, nodes, within=0.0, span=None):
    """Incidents that began within a moment of each other on several nodes: the mark of a common cause.

    Parameters
    ----------
    times : array [incidents]
        In seconds.
    nodes : array [incidents] of int
        Number of each incident's node; below 0 where it is unknown, and then not looked at.
    within : float, >= 0
        Seconds. A group goes on as long as the next incident begins within so many of the one before.
    span : float, > 0, optional
        Seconds watched; without it from the first incident to the last, but a day at least.

    Returns
    -------
    SharedStarts

    Notes
    -----
    The number expected by chance is that of a Poisson process of the same rate: each incident has a
    neighbour within w seconds, or in the same minute of a log that is rounded to minutes, with chance
    1 - exp(-2 r max(w, 30)).

    Examples
    --------
    >>> found = shared_starts([0.0, 0.0, 0.0, 500.0, 900.0], [1, 2, 3, 1, 2])
    >>> found.groups, found.incidents, found.sizes
    (1, 3, ((3, 1),))
    """
    within = checks.scalar("within", checks.non_negative("within", within))
    span = None if span is None else checks.scalar("span", checks.positive("span", span))
    times, nodes = np.asarray(times, dtype=float), np.asarray(nodes)
    if times.shape != nodes.shape or times.ndim != 1:
        raise ValueError(f"times {times.shape}, nodes {nodes.shape}: must be two lists of one length")
    order = np.argsort(times[nodes >= 0], kind="stable")
    times, nodes = times[nodes >= 0][order], nodes[nodes >= 0][order]
    if times.size < 2:
        return SharedStarts(0, 0, 0, 0.0, ())
    group = np.concatenate([[0], np.cumsum(np.diff(times) > within)])
    # One row a node of a group: a node that fails twice in a moment is one node.
    several = np.bincount(group)[group] > 1
    width = int(nodes.max()) + 1
    pairs = np.unique(group[several] * width + nodes[several]) // width
    sizes = np.unique(pairs, return_counts=True)[1]
    large = sizes[sizes > 1]
    listed, often = np.unique(large, return_counts=True)
    rate = times.size / max(times[-1] - times[0] if span is None else span, SHORTEST_SPAN)
    return SharedStarts(
        int(large.size),
        int(large.sum()),
        int(large.max(initial=0)),
        float(times.size * -np.expm1(-2 * rate * max(within, 30.0))),
        tuple(zip(listed.tolist(), often.tolist(), strict=True)),
    )


def block_dispersion(times, start, end, blocks=BLOCKS):
    """Index of dispersion of the record cut into a few long blocks, for the variance of its mean rate.

    Long blocks hold whole bursts and feel the rate move, so that their counts are close to independent:
    the mean rate over the record is as sure as n / index independent incidents make it.

    Parameters
    ----------
    times : array [incidents]
    start, end : float
    blocks : int, >= 2

    Returns
    -------
    Dispersion or None
    """
    blocks = checks.count("blocks", blocks, low=2)
    return dispersion(counts_in(times, start, end, (end - start) / blocks)) if end > start else None


def widened_interval(events, exposure, index, blocks=BLOCKS, level=0.95):
    r"""Interval of a rate whose counts are overdispersed, from the variance of its blocks.

    .. math:: \hat r \, \exp\left(\pm t_{m-1} \sqrt{D / n}\right)

    Parameters
    ----------
    events : int, >= 1
        n.
    exposure : float, > 0
    index : float, >= 1
        D, of :func:`block_dispersion`.
    blocks : int, >= 2
        m; a variance from so few has Student's t.
    level : float, in (0, 1)

    Returns
    -------
    (low, high) : floats
        Per unit of exposure; never inside the exact Poisson interval.

    Examples
    --------
    >>> low, high = widened_interval(400, 100.0, 9.0)
    >>> round(low, 2), round(high, 2)
    (2.92, 5.48)
    """
    from scipy.stats import t

    from reliability.rates import poisson_rate_interval

    events, blocks = checks.count("events", events), checks.count("blocks", blocks, low=2)
    exposure = checks.scalar("exposure", checks.positive("exposure", exposure))
    index = checks.scalar("index", checks.at_least("index", index, 1))
    level = checks.scalar("level", checks.inner_probability("level", level))
    low, high = poisson_rate_interval(events, exposure, level)
    far = np.exp(min(t.ppf((1 + level) / 2, blocks - 1) * np.sqrt(index / events), 700.0))
    return float(min(low, events / exposure / far)), float(max(high, events / exposure * far))
