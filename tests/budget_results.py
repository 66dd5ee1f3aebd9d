"""What the tests of the page on the budget of time are run on: its parameters, and results made by hand."""

from dataclasses import replace

import numpy as np

from reliability import budget, scenarios
from reliability.fleet_result import Estimate, FleetResult
from reliability.scenarios import budget_fleets as fleets
from reliability.scenarios import budget_runs as runs

BOOK = scenarios.defaults("budget")
SMALL = {"smallest_gpus": 128, "doublings": 1, "failures_per_1000_node_days": 400.0, "days": 1, "replications": 3}


def inputs(**changes):
    return scenarios.inputs("budget", BOOK | changes)


def fleet_result(ratios):
    elapsed = np.full(len(ratios), 3600.0)
    bins = dict.fromkeys(budget.BINS, np.zeros(len(ratios)))
    useful = 3600 * np.asarray(ratios)
    return FleetResult(elapsed, bins | {"useful": useful, "redone": elapsed - useful}, {})


def made(plain, first, pairs, together):
    """Results whose ratios are given: of each group alone, of each pair by the group that it lacks."""
    names = list(fleets.THREE)
    sets = {fleets.NONE: plain, runs.TOGETHER: together, fleets.ALL: together}
    sets |= {runs.joined([name]): ratio for name, ratio in zip(names, first, strict=True)}
    sets |= {runs.joined(n for n in names if n != name): ratio for name, ratio in zip(names, pairs, strict=True)}
    noise = np.array([-0.01, 0.0, 0.01])
    return {turned: fleet_result(ratio + noise) for turned, ratio in sets.items()}


def gained(mean, half=0.001):
    return Estimate(mean, 1.0, mean - half, mean + half)


def with_verdicts(**verdicts):
    ends = {"more": (0.1, 0.2), "less": (-0.2, -0.1), "open": (-0.1, 0.1), "same": (0.0, 0.0)}
    one = runs.three(made(0.1, [0.2] * 3, [0.3] * 3, 0.5))
    return {
        int(size[1:]): replace(one, beyond=Estimate(0.0, 1.0, *ends[verdict])) for size, verdict in verdicts.items()
    }
