"""What a simulation of a fleet gives: numbers of each replication, and intervals for their means."""

from dataclasses import dataclass, replace

import numpy as np

from reliability.budget import BINS
from reliability.units import HOUR_S

COUNTS = (
    "failures", "systematic", "bursts", "nodes_repaired", "misdiagnosed", "host_selections", "preemptions",
    "corruptions_found", "stragglers_found", "nodes_retired", "good_nodes_retired",
)  # fmt: skip
COUNT_MEANING = {
    "failures": "faults that stopped the job or struck in a stop, random and systematic; a burst is one",
    "systematic": "those of them that were systematic failures of bad nodes",
    "bursts": "those of them that took more than one node",
    "nodes_repaired": "nodes of the job that were sent away: all of a burst, and those blamed wrongly, too; "
    "the ones that were retired instead of repaired are included",
    "misdiagnosed": "failures for which another node than the one that failed was sent to repair",
    "host_selections": "times that the nodes of the job were selected, the one at the start included",
    "preemptions": "spares that were preempted from other work",
    "corruptions_found": "verifications that found a corruption, each of which sent the job back",
    "stragglers_found": "searches that found slow nodes; one finds all that are slow",
    "nodes_retired": "nodes that were taken out for good; nodes_repaired less these went to repair",
    "good_nodes_retired": "those of them that were no bad nodes, or not any more",
}


@dataclass(frozen=True)
class Estimate:
    """Mean of replications, their standard deviation, and a Student-t interval for the mean."""

    mean: float
    sd: float
    low: float
    high: float

    @property
    def half_width(self):
        """Half the length of the interval."""
        return (self.high - self.low) / 2

    def within(self, least=-np.inf, most=np.inf):
        """Return the estimate with its interval ended at what the mean can be, which leaves its coverage as it is.

        Examples
        --------
        >>> Estimate(mean=0.9, sd=0.1, low=0.7, high=1.1).within(0, 1).high
        1
        """
        return replace(self, low=max(self.low, least), high=min(self.high, most))  # NaN stays


def estimate(sample, level=0.95):
    r"""Estimate a mean.

    .. math:: \bar x \pm t_{n-1} \, s / \sqrt{n}

    Parameters
    ----------
    sample : array [n]
        With a single number no spread is known: sd, low and high are NaN.
    level : float, in (0, 1)

    Examples
    --------
    >>> round(float(estimate(np.array([1.0, 2.0, 3.0])).high), 4)
    4.4841
    """
    from scipy.special import stdtrit

    mean, n = float(np.mean(sample)), len(sample)
    if n < 2:
        return Estimate(mean, np.nan, np.nan, np.nan)
    sd = float(np.std(sample, ddof=1))
    half = float(stdtrit(n - 1, (1 + level) / 2)) * sd / np.sqrt(n)
    return Estimate(mean, sd, float(mean - half), float(mean + half))


@dataclass(frozen=True)
class FleetResult:
    """Replications of a fleet.

    Attributes
    ----------
    elapsed_s : array [n]
        Time that each took: until the work was done, or the horizon.
    bins_s : dict of bin to array [n]
        Where that time went; see ``reliability.budget.BINS``. They sum to `elapsed_s`.
    counts : dict of str to array [n]
        See `COUNT_MEANING`.
    seconds : float
        Of processor time, of all processes together.
    partial : bool
        Whether an interruption left replications undone.
    """

    elapsed_s: np.ndarray
    bins_s: dict
    counts: dict
    seconds: float = 0.0
    partial: bool = False

    def __len__(self):
        """Return the number of replications."""
        return len(self.elapsed_s)

    @property
    def training_time_h(self):
        """Hours from start to end, of each replication."""
        return self.elapsed_s / HOUR_S

    @property
    def effective_training_ratio(self):
        """Share of the time that was useful, of each replication."""
        return self.bins_s["useful"] / self.elapsed_s

    @property
    def hours_lost(self):
        """Hours in each bin but the useful one, of each replication."""
        return {name: self.bins_s[name] / HOUR_S for name in BINS[1:]}

    def summary(self, level=0.95):
        """Return the estimates as nested dicts of `mean`, `sd`, `low` and `high`, with `replications` and `seconds`.

        Nothing here can be below 0, nor a ratio above 1; intervals end there, which leaves their coverage as it is.
        """

        def plain(sample, most=np.inf):
            return vars(estimate(sample, level).within(0.0, most))

        return {
            "training_time_h": plain(self.training_time_h),
            "effective_training_ratio": plain(self.effective_training_ratio, 1.0),
            **{name: plain(count) for name, count in self.counts.items()},
            "hours_lost": {name: plain(hours) for name, hours in self.hours_lost.items()},
            "replications": len(self),
            "level": level,
            "seconds": self.seconds,
            "partial": self.partial,
        }


def join(parts, partial=False):
    """Put replications together, in the order given."""
    return FleetResult(
        np.concatenate([part.elapsed_s for part in parts]),
        {name: np.concatenate([part.bins_s[name] for part in parts]) for name in BINS},
        {name: np.concatenate([part.counts[name] for part in parts]) for name in parts[0].counts},
        sum(part.seconds for part in parts),
        partial,
    )
