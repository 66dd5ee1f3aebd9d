"""A failure rate fitted to a count, with an interval that is as wide as the failures are clustered."""

from dataclasses import dataclass

import numpy as np

from reliability import checks, dispersion
from reliability.rates import HOURS_PER_1000_NODE_DAYS, poisson_rate_interval

SIGNIFICANT = 0.05
LONG_BLOCKS = 8  # for a rate that wanders slowly
LEAST_BLOCKS = 5  # fewer periods say nothing of how counts spread


@dataclass(frozen=True)
class Rate:
    """Incidents per 1,000 node-days, with a 95 % interval.

    Attributes
    ----------
    events : int
    node_h : float
        Node-hours watched.
    value : float or None
        None where no incident was observed: that gives a bound, not a rate of 0.
    low, high : float
        With no incident 0 and the one-sided 95 % bound.
    exact_low, exact_high : float
        Of a steady rate and independent incidents (Garwood's interval).
    index : float
        Incidents that come as one, on average: the interval is that of events / index independent ones.
    spread_of : int
        Periods or bursts that `index` was found from; 0 where it was not looked for.
    model, why : str
        Which interval `low` and `high` are, and the reason.
    """

    events: int
    node_h: float
    value: float | None
    low: float
    high: float
    exact_low: float
    exact_high: float
    index: float
    spread_of: int
    model: str
    why: str

    @property
    def node_mtbf_h(self):
        """(value, low, high) of the hours between incidents of a node; None for what no record without incidents tells."""
        ends = (self.value, self.high, self.low)
        return tuple(HOURS_PER_1000_NODE_DAYS / end if end else None for end in ends)

    def job_mtbf_h(self, nodes):
        """The same for a job on so many nodes, any of whose incidents ends it."""
        nodes = checks.count("nodes", nodes)
        return tuple(None if end is None else end / nodes for end in self.node_mtbf_h)

    def draw(self, rng, size):
        """Draw the rate, per node-hour, from what the count leaves open about it.

        Gamma with the independent incidents as its shape. Without an incident it has Jeffreys's half an
        event, whose upper ends lie below the bound.
        """
        rng, size = checks.generator(rng), checks.count("size", size)
        if not self.events:
            return rng.gamma(0.5, 1 / self.node_h, size)
        shape = self.events / self.index
        drawn = rng.gamma(shape, 1 / shape, size) * (self.events / self.node_h)
        # A dispersion found from a few periods is itself uncertain: Student's t in place of the normal.
        if self.spread_of > 1 and self.index > 1:
            mean = self.events / self.node_h
            chi = rng.chisquare(self.spread_of - 1, size) / (self.spread_of - 1)
            drawn = mean * (drawn / mean) ** (1 / np.sqrt(chi))
        return drawn


def rate_of(events, node_h, times=None, record=None, burst_sizes=(), level=0.95):
    """Fit a rate to a count of incidents.

    Parameters
    ----------
    events : int, >= 0
    node_h : float, > 0
        Node-hours watched.
    times : array [events], optional
        When they began, in any unit: the interval is widened where they are clustered.
    record : (float, float), optional
        Start and end of the record, in the unit of `times`.
    burst_sizes : list of int
        Incidents of each group that began together; of groups of at least two.
    level : float, in (0, 1)

    Returns
    -------
    Rate

    Examples
    --------
    >>> none = rate_of(0, 60 * 72.0)
    >>> none.value, [None if h is None else round(h, 1) for h in none.node_mtbf_h]
    (None, [None, 1442.1, None])
    >>> one = rate_of(1, 600.0)
    >>> [round(h, 1) for h in one.node_mtbf_h]
    [600.0, 107.7, 23698.7]
    """
    events = checks.count("events", events, low=0)
    node_h = checks.scalar("node_h", checks.positive("node_h", node_h))
    level = checks.scalar("level", checks.inner_probability("level", level))
    thousand = node_h / HOURS_PER_1000_NODE_DAYS
    if not events:
        bound = float(-np.log(1 - level) / thousand)
        why = "no incident was observed: the one-sided bound, and no rate"
        return Rate(0, node_h, None, 0.0, bound, 0.0, bound, 1.0, 0, "bound", why)
    exact = poisson_rate_interval(events, thousand, level)
    index, periods, model, why = _clustering(events, times, record, np.asarray(burst_sizes, dtype=float))
    low, high = exact if index == 1 else dispersion.widened_interval(events, thousand, index, periods, level)
    return Rate(events, node_h, events / thousand, low, high, *exact, index, periods, model, why)


def _clustering(events, times, record, burst_sizes):
    """How many incidents come as one, from how many periods or bursts that is known, and what follows from it."""
    if times is None or record is None or not record[0] < record[1]:
        return 1.0, 0, "Poisson", "counts alone: a steady rate and independent incidents are assumed"
    # Incidents in groups of size b count as sum b^2 / sum b at a time.
    alone = max(events - burst_sizes.sum(), 0)
    together = (alone + (burst_sizes**2).sum()) / max(alone + burst_sizes.sum(), 1)
    groups = int(alone + burst_sizes.size)
    # Two incidents a block at the least, or an index says little.
    blocks = min(dispersion.BLOCKS, events // 2)
    found = dispersion.block_dispersion(times, *record, blocks) if blocks >= LEAST_BLOCKS else None
    # Where a level lasts longer than a block, neighbours are alike and the variance comes out too small: fewer, longer ones.
    if found and blocks > LONG_BLOCKS and found.neighbours > 1.64 / np.sqrt(blocks):
        longer = dispersion.block_dispersion(times, *record, LONG_BLOCKS)
        blocks, found = (LONG_BLOCKS, longer) if longer.index > found.index else (blocks, found)
    if found and found.p_value < SIGNIFICANT and found.index >= together:
        why = f"counts of {blocks} equal periods spread {found.index:.3g} times as much as a Poisson process's (p {_p(found)})"
        return found.index, blocks, "overdispersed", why
    if together > 1 and groups > 1:
        why = f"incidents begin together on several nodes, {together:.3g} at a time as the variance counts them"
        return together, groups, "clustered", why
    if found is None:
        return 1.0, 0, "Poisson", f"too few incidents ({events:,}) to test whether they are independent"
    why = f"counts of {blocks} equal periods spread no more than a Poisson process's (index {found.index:.3g}, p {_p(found)})"
    return 1.0, blocks, "Poisson", why


def _p(test):
    return f"= {test.p_value:.2g}" if test.p_value >= 1e-4 else "< 0.0001"
