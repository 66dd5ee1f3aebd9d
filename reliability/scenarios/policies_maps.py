"""Which way back wins: on one job, over a map of jobs, and against the number of standbys."""

from dataclasses import dataclass

import numpy as np

from reliability import fleet
from reliability.fleet_result import Estimate, estimate
from reliability.scenarios.policies_fleets import Case, build, generators, has_bursts, kept, page_case, standbys_to_try

CURRENCIES = ("time", "money")
POINTS = 24  # evenly spaced numbers of standbys of a curve
SLACK = 0.0005  # of ETTR: fewer standbys are as good as the most, where they lose no more


@dataclass(frozen=True)
class Verdict:
    """The ways back of one case in one currency.

    Attributes
    ----------
    case : Case
    means : dict of way to float
        ETTR, or useful share of what is paid; the standby's only where its best number is above 0.
    standbys : int
        The number of standbys that is best in this currency.
    ranked : list of str
        The ways, the best one first.
    gain : Estimate
        By how much the best is ahead of the second, replication by replication.
    both : dict of (way, standbys) to dict of currency to float
        All that were compared, in both currencies.
    """

    case: Case
    means: dict
    standbys: int
    ranked: list
    gain: Estimate
    both: dict

    @property
    def best(self):
        """The way that wins."""
        return self.ranked[0]

    @property
    def shown(self):
        """Whether the interval of its lead leaves out zero."""
        return self.gain.low > 0

    @property
    def second(self):
        """The way that comes next."""
        return self.ranked[1]

    @property
    def value(self):
        """ETTR, or useful share of what is paid, of the best way."""
        return self.means[self.best]

    @property
    def cheaper(self):
        """Share of the second's cost of useful work that the best one saves; for a verdict in money."""
        return self.gain.mean / self.value if self.value > 0 else 0.0


def fewest_as_good(numbers, ettr, cheapest=0):
    """Return the least number of standbys whose ETTR is within `SLACK` of the greatest, and not below the cheapest of them.

    Parameters
    ----------
    numbers : list of int, rising
    ettr : array [n]
    cheapest : int
        Where it is as good as any, fewer than it are the best in no currency.
    """
    good = [k for k, share in zip(numbers, ettr, strict=True) if share >= max(ettr) - SLACK]
    return max(good[0], cheapest) if cheapest in good else good[0]


def verdicts(p, case, rng, chosen=None):
    """Compare the ways back of one case in both currencies.

    The numbers of standbys are chosen on one set of failures, and the ways compared on another, so that
    the choice does not flatter the standby.

    Parameters
    ----------
    p : Parameters
    case : Case
    rng : numpy.random.Generator
    chosen : dict of currency to int, optional
        The numbers of standbys, where they have been chosen already.

    Returns
    -------
    dict of currency to Verdict
    """
    if chosen is None:
        chosen = by_standbys(p, case, standbys_to_try(p, case), rng)["standby"].best
    fleets = {(way, 0): build(p, case, way) for way in ("wait", "cold", "elastic")}
    fleets |= {("standby", k): build(p, case, "standby", k) for k in chosen.values() if k}
    found = {key: kept(p, case, *key, result) for key, result in compare(p, fleets, rng).items()}
    return {currency: _verdict(case, currency, found, chosen[currency]) for currency in CURRENCIES}


def own_pool(p):
    """Return the numbers of standbys of the page's own job under single failures, by currency: those of its curve."""
    return by_standbys(p, page_case(p), curve_numbers(p), generators(p)["curves"])["standby"].best


def own(p):
    """Compare the ways back of the page's own job under single failures, those of the page's table."""
    return verdicts(p, page_case(p), generators(p)["own"], own_pool(p))


def compare(p, fleets, rng):
    """Simulate fleets on the same failures."""
    return fleet.compare(fleets, rng, p.replications)


def _verdict(case, currency, found, standbys):
    samples = {way: one[currency] for (way, k), one in found.items() if way != "standby" or k == standbys}
    means = {way: float(sample.mean()) for way, sample in samples.items()}
    ranked = sorted(means, key=lambda way: -means[way])
    both = {key: {c: float(sample.mean()) for c, sample in one.items()} for key, one in found.items()}
    return Verdict(case, means, standbys, ranked, estimate(samples[ranked[0]] - samples[ranked[1]]).within(-1, 1), both)


def grid(p, rng, known, rates=None, repairs_h=None):
    """Compare the ways back over the page's sizes, and over failure rates or repair times.

    Parameters
    ----------
    p : Parameters
    rng : numpy.random.Generator
    known : dict of Case to dict of currency to Verdict
        What has been found, and is not found again; the rest is added.
    rates, repairs_h : list of float
        One of the two.

    Returns
    -------
    list of lists of dict of currency to Verdict
        A row for each rate or repair time, a column for each size.
    """
    nodes = [gpus // p.gpus_per_node for gpus in sorted(p.sizes)]
    rows = [{"rate": rate / 1000} for rate in sorted(rates or [])] or [{"repair_h": h} for h in sorted(repairs_h)]
    cases = [[page_case(p, job_nodes=n, **row) for n in nodes] for row in rows]
    for case in (case for row in cases for case in row):
        if case not in known:
            known[case] = verdicts(p, case, rng)
    return [[known[case] for case in row] for row in cases]


@dataclass(frozen=True)
class Curves:
    """ETTR and useful share of what is paid against the number of standbys.

    Attributes
    ----------
    numbers : list of int
    estimates : dict of currency to list of Estimate
    best : dict of currency to int
        In time the fewest that are as good as any; in money the cheapest.
    flat : (int, int)
        The least and the greatest number for which no difference to the cheapest is shown.
    cheapest : array [n]
        Useful share of what is paid with the cheapest number, of each replication.
    """

    numbers: list
    estimates: dict
    best: dict
    flat: tuple
    cheapest: np.ndarray


def by_standbys(p, case, numbers, rng, ways=("standby",)):
    """Follow ETTR and cost against the number of standbys.

    Parameters
    ----------
    p : Parameters
    case : Case
    numbers : list of int, rising
    rng : numpy.random.Generator
    ways : sequence of "standby" and "elastic"
        What the job does when none is left: wait, or go on with fewer replicas.

    Returns
    -------
    dict of way to Curves
        All on the same failures.
    """
    fleets = {(way, k): build(p, case, way, k) for way in ways for k in numbers}
    found = {key: kept(p, case, *key, result) for key, result in compare(p, fleets, rng).items()}
    return {way: _curves(numbers, {c: [found[way, k][c] for k in numbers] for c in CURRENCIES}) for way in ways}


def _curves(numbers, samples):
    cheapest = int(np.argmax([sample.mean() for sample in samples["money"]]))
    behind = [estimate(samples["money"][cheapest] - sample) for sample in samples["money"]]
    flat = [k for k, gap in zip(numbers, behind, strict=True) if not gap.low > 0]
    return Curves(
        numbers,
        {c: [estimate(sample).within(0, 1) for sample in samples[c]] for c in CURRENCIES},
        {
            "time": fewest_as_good(numbers, [s.mean() for s in samples["time"]], numbers[cheapest]),
            "money": numbers[cheapest],
        },
        (min(flat), max(flat)),
        samples["money"][cheapest],
    )


def curve_numbers(p):
    """Return the numbers of standbys of the page's curves: from 0 to where even bursts seldom find too few.

    Evenly spaced ones, and those among which the best lies.
    """
    kinds = (False, True) if has_bursts(p) else (False,)
    likely = {k for bursts in kinds for k in standbys_to_try(p, page_case(p, bursts=bursts))}
    return sorted({*likely, *(round(k) for k in np.linspace(0, max(likely), POINTS))})
