r"""The states of a plan, simulated: the fleet model over the horizon, one run for each of the first draws.

Run i has its own draw of the parameters, theta_i, and its own chance; what it keeps, y_i, is one draw of what a run of the horizon
will show. What is kept on average at theta, g(theta), spreads less than that. The renewal formula f(theta) says most of it, and how far the
fleet model is from the formula is fitted to the runs (:mod:`reliability.control`):

.. math:: y_i - f(\theta_i) = \beta \cdot x(\theta_i) + \varepsilon_i, \qquad \hat g(\theta) = f(\theta) + \hat\beta \cdot x(\theta)

So the formula is a control variate: where it is wrong, beta has it, and chance stays in epsilon. The expected share is g-hat over all
draws, whose spread is that of the parameters alone; a single run's is g-hat with the epsilon of a run on top.

Run i meets the same failures in each state (common random numbers), so that the gain of a lever is a paired difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reliability import control, fleet, plan_fleets
from reliability.job_state import State
from reliability.quantities import Streams
from reliability.renewal import PLAN_BINS
from reliability.units import HOUR_S

RUNS = 1000
# Failures of a run: with more the horizon is simulated in part, and one run's chance scaled to the whole of it.
MOST_FAILURES = 20_000
MOST_WORK = 2_000_000  # failures of all runs of a state, so that a plan of the largest jobs takes seconds
FEWEST = 100  # runs, whatever their failures
USEFUL = PLAN_BINS.index("useful")


def formula_shares(state: State) -> np.ndarray:
    """Shares of all time by the renewal formula [draws, parts]."""
    parts = state.budget().parts()
    return np.stack([np.broadcast_to(parts[name], state.rate.shape) for name in PLAN_BINS], axis=1)


def features(state: State, formula: np.ndarray) -> np.ndarray:
    """Return what the fleet's distance from the formula may hang on [draws, 2]: the share kept, and the nodes that fail in a repair."""
    often = 1 / state.mtbf if state.load is None else state.load
    return np.stack([formula[:, USEFUL], np.log(np.maximum(often, 1e-300))], axis=1)


@dataclass(frozen=True)
class Simulated:
    """A state of a plan, simulated.

    Attributes
    ----------
    state : State
    shares : array [draws, parts]
        Expected shares of all time by bin, in the order of `reliability.renewal.PLAN_BINS`: their spread is what the parameters leave open.
    formula : array [draws, parts]
        The same by the renewal formula.
    one_run : array [draws]
        What single runs of the horizon keep: chance on top.
    none_left : array [draws]
        Chance that a failure of a node finds no standby.
    chance : array [runs]
        What each run keeps more than expected.
    failures : float
        Of a run, on average.
    correction : reliability.control.Correction
    """

    state: State
    shares: np.ndarray
    formula: np.ndarray
    one_run: np.ndarray
    none_left: np.ndarray
    chance: np.ndarray
    failures: float
    correction: control.Correction

    @property
    def ettr(self) -> np.ndarray:
        """Expected share of all time that becomes work [draws]."""
        return self.shares[:, USEFUL]

    def parts(self) -> dict[str, np.ndarray]:
        """Return the expected shares by bin."""
        return dict(zip(PLAN_BINS, self.shares.T, strict=True))

    def lost_by_class(self) -> np.ndarray:
        """Expected share of all time that failures of each class cost [draws, classes]: the runs' loss, split as the formula splits its own."""
        return (
            self.state.lost_by_class()
            * (self._lost(self.shares) / np.maximum(self._lost(self.formula), 1e-300))[:, None]
        )

    def _lost(self, shares):
        part = dict(zip(PLAN_BINS, shares.T, strict=True))
        return part["redone"] * (1 + self.state.drag) + part["detection"] + part["restart"] + part["waiting"]

    def by_formula(self, state: State) -> np.ndarray:
        """Expected ETTR [draws] of a state that is not simulated: the formula, with what this one's simulation adds to it."""
        formula = formula_shares(state)
        return _expected(self.correction, state, formula)[:, USEFUL]

    def error(self, base: Simulated | None = None) -> float:
        """Standard error of the mean expected ETTR, or of its gain over a base, because the runs are not more."""
        chance = self.chance if base is None else self.chance - base.chance
        free = len(chance) - self.correction.terms
        return float(np.sqrt((chance**2).sum() / max(free, 1) / len(chance)))


class Simulator:
    """Simulates states of one plan on common random numbers.

    Parameters
    ----------
    classes : sequence of str
        Of the failures.
    horizon_h : float, > 0
    streams : Streams
    now : State
        By whose failures the number of runs is chosen.
    runs : int, >= 2
        At most so many, and at most one a draw.
    """

    def __init__(self, classes: Sequence[str], horizon_h: float, streams: Streams, now: State, runs: int = RUNS):
        self.horizon_h = horizon_h
        self.key = fleet.draw_key(streams.generator("fleet"))
        often = np.mean(np.minimum(HOUR_S * horizon_h / now.mtbf, MOST_FAILURES))
        self.runs = min(runs, streams.draws, max(FEWEST, int(MOST_WORK / max(often, 1.0))))
        self._builder = plan_fleets.Builder(classes, self.runs)

    def hours(self, state: State) -> np.ndarray:
        """Return how long each run of a state is [runs]."""
        return np.minimum(self.horizon_h, MOST_FAILURES * state.mtbf[: self.runs] / HOUR_S)

    def measure(self, state: State) -> Simulated:
        """Simulate a state, whose interval must be set."""
        hours, placed = self.hours(state), plan_fleets.elsewhere(state)[: self.runs]
        result = fleet.simulate_each(self._builder.fleets(state, hours + placed / HOUR_S), self.key)
        simulated = self._shares(result, placed)
        formula = formula_shares(state)
        correction = control.fit(features(state, formula)[: self.runs], simulated - formula[: self.runs], USEFUL)
        shares = _expected(correction, state, formula)
        chance = simulated[:, USEFUL] - shares[: self.runs, USEFUL]
        return Simulated(
            state,
            shares,
            formula,
            self._one_run(state, shares[:, USEFUL], chance, hours),
            _none_left(state, result, self.runs),
            chance,
            float(np.mean(result.counts["failures"] * self.horizon_h / hours)),
            correction,
        )

    def _shares(self, result, placed):
        """Shares by bin [runs, parts], without the placement with which a run of a fleet begins: the job of a plan is running."""
        seconds = {name: result.bins_s[name] for name in PLAN_BINS}
        seconds["waiting"] = np.maximum(seconds["waiting"] - placed, 0.0)
        shares = np.stack(list(seconds.values()), axis=1)
        return shares / shares.sum(axis=1, keepdims=True)

    def _one_run(self, state, expected, chance, hours):
        """A run's chance, in units of the spread that the formula gives it, put on every draw in turn."""
        spread = state.spread(HOUR_S * self.horizon_h)
        own = spread[: self.runs] * np.sqrt(self.horizon_h / hours)  # of a run that is simulated in part
        units = np.divide(chance, own, out=np.zeros_like(chance), where=own > 0)
        most = state.most(HOUR_S * self.horizon_h)
        return np.clip(expected + spread * np.resize(units, len(expected)), 0.0, most)


def _expected(correction, state, formula):
    """The formula's shares, corrected; none is below 0, and they add up to 1."""
    found = np.maximum(formula + correction.at(features(state, formula)), 0.0)
    return found / found.sum(axis=1, keepdims=True)


def _none_left(state, result, runs):
    """The formula's chance at each draw, times what the runs had more of such shortages than it says."""
    formula = state.chance_none_left()
    if state.standbys == 0:
        return formula
    short = (result.counts["host_selections"] - 1).sum()  # without the placement with which a run begins
    expected = (result.counts["nodes_repaired"] * formula[:runs]).sum()
    return np.minimum(1.0, formula * (short / expected if expected > 0 else 1.0))
