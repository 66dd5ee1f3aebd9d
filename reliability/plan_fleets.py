"""The fleets of a plan: each draw of a state of its cluster as the settings of :mod:`reliability.fleet`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from reliability import fleet_config
from reliability.field_types import SMALLEST
from reliability.fleet_config import Fleet
from reliability.fleet_parts import MOST, SECONDS, Checkpoint, Failures, FaultClass, Part, Recovery, Repair, Straggler
from reliability.job_state import SMALLEST_RATE, State, drawn_anew
from reliability.units import HOUR_S

AT_ONCE = 1e-6  # of the horizon: until the ranks are slow, on average, that a cluster file says are slow all the time
MOST_OFTEN = 1e6  # of a node and day: at once for any job, and within what a fleet may have
NEVER_S = SECONDS[-1]  # until they are found: no horizon is longer
SHORTEST_S = 1e-3  # interval: no job writes more often, and one that could for nothing would gain nothing by it


def _within(seconds):
    """Return the longest time that a fleet may have for a draw that is longer: of either a run sees nothing but its beginning."""
    return min(seconds, NEVER_S)


def at_medians(state: State) -> State:
    """Return a state with one draw, in which each quantity has its median."""
    middle = drawn_anew(state, lambda draws: np.median(draws, axis=0, keepdims=True))
    return replace(middle, shares=middle.shares / middle.shares.sum())


def elsewhere(state: State) -> np.ndarray:
    """Seconds that a job waits for nodes from elsewhere when no standby is left [draws]; 0 where it waits for a repair."""
    return np.zeros_like(state.rate) if state.waits else state.replacement


class Builder:
    """Makes the fleets of the first draws of states of one plan.

    A fleet that is checked takes longer to make than to simulate. So only the first draw of a state is checked, the others are copies of it with
    other numbers, and a part whose numbers are those of another state is the same part.

    Parameters
    ----------
    classes : sequence of str
        Of the failures.
    number : int, >= 1
        Draws of which fleets are made.
    """

    def __init__(self, classes: Sequence[str], number: int):
        self.classes, self.number = classes, number
        self._made: dict = {}

    def fleets(self, state: State, horizon_h: np.ndarray) -> list[Fleet]:
        """Return the fleets of a state, whose interval must be set.

        Parameters
        ----------
        state : State
        horizon_h : array [number], > 0
            Hours that each is to run.

        Returns
        -------
        list of Fleet

        Notes
        -----
        A class for which a node is to blame sends that node to repair; after the others the job restarts on the nodes it has. Without a
        known repair a node is back at once. A job that requeues is placed anew, its standbys too, on nodes that idle in a pool which
        is never empty, and the placement takes as long as a replacement; so does the one with which a run begins. Slow ranks turn
        slow at once and are never found. The interval of a fleet is work, that of a state time, in which slow ranks do less.
        """
        standbys = state.standbys if state.swap is not None else 0
        columns = {
            "failures": self._failures(state),
            "faults": self._faults(state),
            "repair": self._repair(state),
            "recovery": self._recovery(state),
            "checkpoint": self._checkpoint(state),
            "straggler": self._straggler(state, float(np.max(horizon_h)) / 24.0),
            "pool_nodes": self._pool(state, standbys),
            "horizon_h": np.asarray(horizon_h, dtype=float).tolist(),
        }
        first = {name: column[0] for name, column in columns.items() if column[0] is not None}
        checked = fleet_config.build({"job_nodes": state.nodes, "warm_standbys": standbys, **_plain(first)})
        rows = zip(*columns.values(), strict=True)
        return [checked.model_copy(update=dict(zip(columns, row, strict=True))) for row in rows]

    def _each(self, name, sources, make):
        """Make a part for each draw, unless it was made of the same sources, which are told by identity and so are kept."""
        key = (name, *(id(source) if isinstance(source, np.ndarray) else source for source in sources))
        if key not in self._made:
            columns = [
                source[: self.number].tolist() if isinstance(source, np.ndarray) else [source] * self.number
                for source in sources
            ]
            self._made[key] = sources, [make(*row) for row in zip(*columns, strict=True)]
        return self._made[key][1]

    def _failures(self, state):
        first = Failures(rate_per_node_day=1.0, clock="always")
        return self._each(
            "failures",
            (state.rate,),
            lambda rate: first.model_copy(update={"rate_per_node_day": 24.0 * max(rate, SMALLEST_RATE)}),
        )

    def _faults(self, state):
        kinds = [k for k in range(len(self.classes)) if state.shares[:, k].max() > 0]
        first = [FaultClass(name=self.classes[k], right=float(state.on_node[k])) for k in kinds]

        def make(shares, detection):
            return tuple(
                fault.model_copy(update={"share": shares[k], "detection_s": _within(detection[k])})
                for k, fault in zip(kinds, first, strict=True)
            )

        return self._each("faults", (state.shares, state.detection), make)

    def _repair(self, state):
        return self._each("repair", (state.repair_h,), lambda hours: Repair(automatic_s=_within(HOUR_S * (hours or 0.0))))

    def _recovery(self, state):
        fetch = 0.0 if state.waits else state.replacement
        return self._each(
            "recovery",
            (state.cold, state.swap, fetch),
            lambda cold, swap, fetch: Recovery(
                restart_s=_within(cold), swap_s=None if swap is None else _within(swap), host_selection_s=_within(fetch)
            ),
        )

    def _checkpoint(self, state):
        return self._each(
            "checkpoint",
            (float(state.interval), state.write, state.drag),
            lambda interval, write, drag: Checkpoint(
                interval_s=_within(max(interval / (1 + drag), SHORTEST_S)), write_s=_within(write)
            ),
        )

    def _straggler(self, state, days):
        often = min(1.0 / (AT_ONCE * days * state.nodes), MOST_OFTEN)

        def make(drag, often):
            return Straggler(rate_per_node_day=often, slowdown=min(drag, MOST), found_after_s=NEVER_S) if drag >= SMALLEST else None

        return self._each("straggler", (state.drag, often), make)

    def _pool(self, state, standbys):
        """Nodes of the pool: the job's and its standbys, and where the job is placed anew so many more that it is never empty."""
        if state.waits:
            return [None] * self.number
        least = state.nodes + standbys

        def make(rate, repair_h, _):
            # Those in repair are Poisson: ten standard deviations above their mean, no run comes near so many.
            away = rate * state.nodes * (repair_h or 0.0)
            return min(least + int(away + 10 * away**0.5) + 20, fleet_config.MOST_NODES)

        return self._each("pool", (state.rate, state.repair_h, least), make)


def _plain(parts):
    """A fleet's parts as the nested mappings that :func:`reliability.fleet_config.build` checks."""
    return {name: _values(part) for name, part in parts.items()}


def _values(part):
    if isinstance(part, tuple):
        return [_values(one) for one in part]
    return part.model_dump() if isinstance(part, Part) else part
