"""The fewest levers that reach a target, and how few failures would."""

from dataclasses import dataclass, replace
from itertools import combinations, groupby

import numpy as np

from reliability import job_state
from reliability.levers import settled

SLACK = 0.1  # by which a chance that the formula gives may be too low for a set of levers to be simulated all the same
SIMULATED = 4  # sets of a size, at most, that are simulated


@dataclass(frozen=True)
class Way:
    """A set of levers that reaches the target: their names, and the chance that the expected ETTR then reaches it."""

    names: tuple[str, ...]
    chance: float
    ettr: np.ndarray


def smallest(now, found, target, sure, measure):
    """Return the fewest levers with which the target is reached, for each wanted chance.

    Parameters
    ----------
    now : reliability.plan_runs.Simulated
    found : list of Lever
    target : float, in (0, 1]
    sure : sequence of float
        Shares of the draws in which the expected ETTR is to reach the target.
    measure : function of a list of Lever to reliability.plan_runs.Simulated
        Simulates the state that they make of the present one.

    Returns
    -------
    list of Way or None
        One for each of `sure`; None where not even all of them are enough. As few yardsticks as possible; then as few levers; then the
        greatest expected ETTR. Without a lever where none is needed.

    Notes
    -----
    There are too many sets to simulate them all. The formula, corrected by what the simulation of the present state adds to it, looks
    for the best few of each size; whether a set is enough is simulated.
    """
    few = job_state.thinned(now.state)
    ways: list = [None] * len(sure)
    sets = [chosen for size in range(len(found) + 1) for chosen in combinations(found, size)]
    sets.sort(key=lambda chosen: (_yardsticks(chosen), len(chosen)))
    for _, alike in groupby(sets, key=lambda chosen: (_yardsticks(chosen), len(chosen))):
        tried = [(chosen, now.by_formula(settled(few, chosen))) for chosen in alike]
        tried.sort(key=lambda pair: -float(pair[1].mean()))
        for i, wanted in enumerate(sure):
            if ways[i] is None:
                likely = [chosen for chosen, ettr in tried if np.mean(ettr >= target) >= wanted - SLACK]
                ways[i] = _first(likely[:SIMULATED], target, wanted, measure)
        if None not in ways:
            break
    return ways


def _first(candidates, target, wanted, measure):
    for chosen in candidates:
        ettr = measure(chosen).ettr
        if (reached := float(np.mean(ettr >= target))) >= wanted:
            return Way(tuple(lever.name for lever in chosen), reached, ettr)
    return None


def _yardsticks(chosen):
    return sum(not lever.offered for lever in chosen)


def rate_needed(planned, target):
    """Return the factor on the failure rate with which the median ETTR is the target, the interval the best each time.

    Parameters
    ----------
    planned : reliability.plan_runs.Simulated
        Its formula, corrected, stands for the simulation of every rate that is tried.
    target : float

    Returns
    -------
    float or None
        At most 1; None where not even a thousandth of the failures is few enough.
    """
    from scipy.optimize import brentq

    state = job_state.thinned(planned.state)

    def short(log_factor):
        fewer = replace(state, rate=state.rate * np.exp(log_factor))
        fewer = replace(fewer, interval=job_state.best_interval(fewer))
        return float(np.median(planned.by_formula(fewer))) - target

    if np.median(planned.ettr) >= target or short(0.0) >= 0:
        return 1.0
    low = np.log(1e-3)
    if short(low) < 0:
        return None
    return float(np.exp(brentq(short, low, 0.0, xtol=1e-3)))
