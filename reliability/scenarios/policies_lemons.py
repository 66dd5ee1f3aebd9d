"""Rules that retire lemons: what each gains in time and in money, and how many good nodes it takes out."""

from dataclasses import dataclass, replace

import numpy as np

from reliability import fleet, fleet_config, fleet_cost, standby
from reliability.fleet_result import Estimate, estimate
from reliability.scenarios.policies_fleets import lemon_settings, page_case, terms

ENOUGH = 0.01  # chance that a failure finds too few standbys


@dataclass(frozen=True)
class Rule:
    """A rule under one kind of diagnosis, beside no rule on the same failures.

    Attributes
    ----------
    failures : int
        Blamed failures at which a node is retired.
    window_days : float or None
        Within so many days; None where all count.
    wrong : float
        Share of the failures for which a healthy node is blamed.
    time, money : Estimate
        Gain in ETTR, and in the useful share of what is paid as a share of that without a rule; NaN where that is 0.
    retired : float
        Nodes retired in a run, in the mean.
    good : float
        Good ones among them, lemons that a repair had cured included.
    break_even_days : float
        Days that a retired node may be paid for until its exchange so that the rule costs what it gains;
        0 where it gains nothing or retires none.
    """

    failures: int
    window_days: float | None
    wrong: float
    time: Estimate
    money: Estimate
    retired: float
    good: float
    break_even_days: float

    @property
    def cost(self):
        """Change of the cost of useful work, a share: (mean, low, high), infinite where a rule leaves no useful work."""
        return tuple(np.inf if x <= -1 else -x / (1 + x) for x in (self.money.mean, self.money.high, self.money.low))


def standbys(p):
    """Return the standbys of the fleet with lemons: a failure seldom finds too few."""
    case = page_case(p)
    return standby.standbys_needed(ENOUGH, [case.job_nodes * case.rate / 24.0], [1], case.repair_h)


def rules(p, rng):
    """Try the page's rules under a right diagnosis and under the page's own, each against no rule.

    Parameters
    ----------
    p : Parameters
    rng : numpy.random.Generator

    Returns
    -------
    list of Rule
    """
    k = standbys(p)
    wanted = [(n, days) for days in (None, float(p.window_days)) for n in sorted(p.rules)]
    kinds = sorted({0.0, p.wrong})
    fleets = {
        (wrong, rule): fleet_config.build(lemon_settings(p, wrong, k, _as_setting(rule)))
        for wrong in kinds
        for rule in (None, *wanted)
    }
    results = fleet.compare(fleets, rng, p.replications)
    return [
        _rule(p, k, wrong, rule, results[wrong, rule], results[wrong, None]) for wrong in kinds for rule in wanted
    ]


def _as_setting(rule):
    if rule is None:
        return None
    failures, days = rule
    return {"failures": failures} | ({} if days is None else {"window_days": days})


def _rule(p, k, wrong, rule, result, without):
    share, before = _useful_share(p, k, result), _useful_share(p, k, without)
    return Rule(
        *rule,
        wrong,
        estimate(result.effective_training_ratio - without.effective_training_ratio),
        estimate((share - before) / before.mean()) if before.any() else Estimate(*4 * [np.nan]),
        float(result.counts["nodes_retired"].mean()),
        float(result.counts["good_nodes_retired"].mean()),
        _break_even_days(p, k, result, without),
    )


def _useful_share(p, k, result):
    case = page_case(p)
    paid = fleet_cost.held_hours(result, case.job_nodes + k, case.repair_h, terms(p))
    return fleet_cost.useful_share(result, case.job_nodes, paid)


def _break_even_days(p, k, result, without):
    """Solve for the exchange at which both pay as much for an hour of useful work."""
    case, free = page_case(p), replace(terms(p), retired_h=0.0)
    paid, before = (
        fleet_cost.held_hours(one, case.job_nodes + k, case.repair_h, free).mean() for one in (result, without)
    )
    retired = result.counts["nodes_retired"].mean()
    if not retired or not without.bins_s["useful"].any():
        return 0.0
    more = result.bins_s["useful"].mean() / without.bins_s["useful"].mean()
    return max(0.0, float(more * before - paid) / float(retired) / 24.0)
