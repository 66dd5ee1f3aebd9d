"""The runs of the page on the budget of time: what they keep, what a lever gains, and what several gain together."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from reliability import fleet
from reliability.budget import BINS
from reliability.fleet_result import Estimate, estimate
from reliability.scenarios.budget_fleets import ALL, LEVERS, NONE, THREE
from reliability.scenarios.budget_fleets import fleet as fleet_of
from reliability.units import HOUR_S


def joined(groups):
    """Return the levers of some of the three groups as one set."""
    return frozenset(lever for name in groups for lever in THREE[name])


TOGETHER = joined(THREE)
HARDLY = 0.0005  # of the time: less prints as 0.0 points


def generator(p, gpus):
    """Return the generator of the jobs of a size: whatever draws from it anew meets the failures of the page's own.

    Parameters
    ----------
    p : Parameters
    gpus : int
        One of the page's sizes.

    Returns
    -------
    numpy.random.Generator
    """
    rng = np.random.default_rng(p.seed)
    for _ in range(p.sizes.index(gpus)):  # each smaller size has drawn its key
        fleet.draw_key(rng)
    return rng


def simulate(p, gpus, rng):
    """Simulate the job of a size under the same failures for each set of levers.

    Parameters
    ----------
    p : Parameters
    gpus : int
    rng : numpy.random.Generator

    Returns
    -------
    dict of set of levers to FleetResult
        None, the three groups, their pairs, the three together, all levers, and each lever alone.
    """
    sets = [NONE, *(joined(some) for size in (1, 2, 3) for some in combinations(THREE, size)), ALL]
    sets += [frozenset([lever]) for lever in LEVERS]
    return fleet.compare({turned: fleet_of(p, gpus, turned) for turned in sets}, rng, p.replications)


def ettr(results, turned):
    """Return the effective training ratio of each replication."""
    return results[turned].effective_training_ratio


def gain(results, turned, over=NONE):
    """Estimate what levers add to the effective training ratio, paired replication by replication."""
    return estimate(ettr(results, turned) - ettr(results, over))


def shown(gained):
    """Say whether a gain is shown: its interval lies above zero, and its mean does not print as 0.0 points."""
    return gained.low > 0 and gained.mean >= HARDLY


def most(gains):
    """Return which gain is the largest of those that are shown, if any is, and whether it is the largest of all."""
    best = max((name for name in gains if shown(gains[name])), key=lambda name: gains[name].mean, default=None)
    return best, best == max(gains, key=lambda name: gains[name].mean)


def hours(results, turned):
    """Return the mean hours by bin of a run."""
    return {name: float(results[turned].bins_s[name].mean()) / HOUR_S for name in BINS}


def imbalance_s(results):
    """Return the largest difference between the sum of the bins and the time that a run took, over all runs (s)."""
    return max(float(np.max(np.abs(sum(one.bins_s.values()) - one.elapsed_s))) for one in results.values())


@dataclass(frozen=True)
class Three:
    """The three groups of levers at a size.

    Attributes
    ----------
    plain, all : Estimate
        The effective training ratio with none and with all levers turned.
    first : dict of group to Estimate
        What each adds alone.
    last : dict of group to Estimate
        What each adds where the other two are turned.
    later : dict of group to Estimate
        By how much that is more, paired.
    together : Estimate
        What the three add together.
    summed : Estimate
        The sum of what each adds alone.
    beyond : Estimate
        The difference of the two, paired.
    """

    plain: Estimate
    all: Estimate
    first: dict
    last: dict
    later: dict
    together: Estimate
    summed: Estimate
    beyond: Estimate

    @property
    def verdict(self):
        """Whether together they add "more" than the sum, "less", or the "same"; or whether it stays "open"."""
        if max(abs(self.beyond.low), abs(self.beyond.high)) < HARDLY:
            return "same"
        if self.beyond.low > 0:
            return "more"
        return "less" if self.beyond.high < 0 else "open"


def three(results):
    """Compare the three groups alone, last and together."""
    base = ettr(results, NONE)
    alone = {name: ettr(results, joined([name])) - base for name in THREE}
    both = ettr(results, TOGETHER) - base
    summed = sum(alone.values())
    last = {name: ettr(results, TOGETHER) - ettr(results, joined({*THREE} - {name})) for name in THREE}
    return Three(
        estimate(base),
        estimate(ettr(results, ALL)),
        {name: estimate(sample) for name, sample in alone.items()},
        {name: estimate(sample) for name, sample in last.items()},
        {name: estimate(last[name] - alone[name]) for name in THREE},
        estimate(both),
        estimate(summed),
        estimate(both - summed),
    )


def holds_from(found):
    """Return the smallest size from which on the three gain, and more together than in sum, at that and each larger size.

    Parameters
    ----------
    found : dict of size to Three

    Returns
    -------
    int or None
        None where the largest size is not one of them.
    """
    start = None
    for size in sorted(found, reverse=True):
        if found[size].verdict != "more" or not shown(found[size].together):
            break
        start = size
    return start


def document(values):
    """Return the page's numbers, by the names under which a program finds them; the interval of a share ends at 0 and 1."""
    gains = {size: {lever: _plain(one.within(-1, 1)) for lever, one in some.items()} for size, some in values["gains"].items()}
    ends = {"plain": (0, 1), "all": (0, 1), "together": (-1, 1), "summed": (), "beyond": ()}  # the last two are sums of shares
    three = {
        name: {size: _plain(getattr(one, name).within(*limits)) for size, one in values["three"].items()}
        for name, limits in ends.items()
    }
    return {"hours": values["hours"], "gains": gains, "holds_from": values["holds_from"], **three}


def _plain(estimated):
    return {name: getattr(estimated, name) for name in ("mean", "low", "high")}
