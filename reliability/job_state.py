"""A job with its failures, its recovery and its standbys, drawn many times; by formula what it keeps, and what is best for it."""

from dataclasses import dataclass, replace

import numpy as np

from reliability import checkpoint, renewal
from reliability.availability import expected_ettr
from reliability.placements import chance_placed_anew
from reliability.repair_queues import erlang_b
from reliability.units import HOUR_S

SMALLEST_RATE = 1e-15  # failures of a node in an hour: as good as none, and still a number to divide by
MOST_STANDBYS = 2000  # that are tried; more are not a pool but a second cluster
CHOOSING = 500  # draws with which a choice is made: it moves little with more, and what it keeps less still
AS_GOOD = 0.005  # of the ETTR: intervals that lose no more are as good as the best
FURTHEST = 690.0  # logarithm of seconds: no float is much larger
WIDEST = 1e3  # how far from Young's interval the best one is looked for, as a factor


@dataclass(frozen=True)
class State:
    """A job in one state of its cluster. Arrays are [draws], those by class [draws, classes].

    Attributes
    ----------
    nodes : int
        Of the job.
    rate : array
        Failures of a node in an hour.
    shares : array [draws, classes]
        Of the failures.
    on_node : bool array [classes]
        Whether a node is to blame: a standby then takes its place, and it goes to repair.
    detection : array [draws, classes]
        Seconds.
    cold, swap : arrays, seconds
        Restart without and with a standby; `swap` is None where there is no such way.
    replacement : array, seconds
        What it takes longer than the cold restart to place the job anew when no standby is left.
    repair_h : array or None
        Hours until a failed node stands by again; None: unknown, and standbys count as always there.
    standbys : int
    waits : bool
        Whether a job that finds no standby waits for a repair, instead of being placed anew on nodes from elsewhere.
    write : array, seconds
    drag : array
        By which share slow ranks make every step longer.
    interval : float or None
        Seconds between two checkpoints.
    """

    nodes: int
    rate: np.ndarray
    shares: np.ndarray
    on_node: np.ndarray
    detection: np.ndarray
    cold: np.ndarray
    swap: np.ndarray | None
    replacement: np.ndarray
    repair_h: np.ndarray | None
    standbys: int
    waits: bool
    write: np.ndarray
    drag: np.ndarray
    interval: float | None = None

    @property
    def mtbf(self):
        """Seconds between failures of the job while it does not wait for a node [draws]."""
        return HOUR_S / (np.maximum(self.rate, SMALLEST_RATE) * self.nodes)

    @property
    def load(self):
        """Nodes that fail in one mean repair [draws], or None where the repair is unknown."""
        if self.repair_h is None:
            return None
        return np.maximum(self.rate, SMALLEST_RATE) * self.nodes * (self.shares @ self.on_node) * self.repair_h

    def chance_none_left(self, standbys=None):
        """Chance that a failure of a node finds no standby [draws].

        Erlang's loss formula where the job then waits for a repair; where it is placed anew, its standbys with it,
        :func:`reliability.placements.chance_placed_anew`.
        """
        k = self.standbys if standbys is None else standbys
        if self.swap is None or k == 0:
            return np.ones_like(self.rate)
        if self.load is None:
            return np.zeros_like(self.rate)
        chance = erlang_b if self.waits else chance_placed_anew
        return np.where(self.load > 0, chance(np.maximum(self.load, 1e-300), k), 0.0)

    def waiting(self, standbys=None):
        """Share of all time in which the job waits for a node [draws]."""
        k = (self.standbys if standbys is None else standbys) if self.swap is not None else 0
        if not self.waits or self.load is None:
            return np.zeros_like(self.rate)
        return np.where(self.load > 0, erlang_b(np.maximum(self.load, 1e-300), k + 1), 0.0)

    def kinds(self):
        """Return shares, detection, restart and the time to fetch a node [draws, 2 classes]: each class with a swap, then without."""
        none = self.chance_none_left()[:, None]
        swapped = self.shares * self.on_node * (1 - none)
        cold = np.broadcast_to(self.cold[:, None], self.shares.shape)
        swap = cold if self.swap is None else np.broadcast_to(self.swap[:, None], self.shares.shape)
        fetch = np.zeros_like(cold) if self.waits else self.on_node * self.replacement[:, None]
        return (
            np.concatenate([swapped, self.shares - swapped], axis=1),
            np.concatenate([self.detection, self.detection], axis=1),
            np.concatenate([swap, cold], axis=1),
            np.concatenate([np.zeros_like(cold), fetch], axis=1),
        )

    def recoveries(self):
        """Return shares and the length of the whole recovery [draws, 2 classes]."""
        shares, *times = self.kinds()
        return shares, sum(times)

    def budget(self):
        """Return the `reliability.renewal.Budget` [draws] of this state, whose interval must be set."""
        shares, detection, restart, fetching = self.kinds()
        return renewal.budget(
            self.interval, self.write, shares, detection, restart, self.mtbf, self.drag, self.waiting(), fetching
        )

    def lost_by_class(self):
        """Return what failures of each class cost by the formula [draws, classes]; repairs that the job waits for are their nodes'."""
        lost = self.by_class(self.budget().lost_by_kind)
        to_blame = self.shares * self.on_node
        waited = to_blame / np.maximum(to_blame.sum(axis=1, keepdims=True), SMALLEST_RATE)
        return lost + self.waiting()[:, None] * waited

    def by_class(self, by_kind):
        """Add up an array by kind [draws, 2 classes] to one by class."""
        return by_kind[:, : len(self.on_node)] + by_kind[:, len(self.on_node) :]

    def ettr(self, interval=None):
        """Share of all time that becomes work by the renewal formula [draws], at this state's interval or at another."""
        whole = renewal.effective_restart(*self.recoveries(), self.mtbf)
        kept = checkpoint.renewal_efficiency(interval or self.interval, self.write, whole, self.mtbf)
        return (1 - self.waiting()) * kept / (1 + self.drag)

    def first_order(self):
        """The expected ETTR of Kokolis et al. [draws], slow ranks added: a comparison, to first order."""
        shares, whole = self.recoveries()
        return expected_ettr(self.mtbf, (shares * whole).sum(1), self.interval, self.write) / (1 + self.drag)

    def spread(self, horizon):
        """Standard deviation of the share kept in one period of so many seconds, from chance alone [draws]."""
        shares, whole = self.recoveries()
        if self.waits and self.load is not None:
            # A failure that finds none waits for the first of k + 1 repairs as well.
            wait = HOUR_S * self.repair_h / ((self.standbys if self.swap is not None else 0) + 1)
            half = len(self.on_node)
            whole = whole + np.concatenate([np.zeros(half), self.on_node.astype(float)]) * wait[:, None]
        return renewal.horizon_spread(self.interval, self.write, shares, whole, self.mtbf, horizon, self.drag)

    def most(self, horizon):
        """Share kept in one period of so many seconds if nothing fails in it [draws]: no run keeps more."""
        return renewal.share_without_failure(self.interval, self.write, horizon, self.drag)


def drawn_anew(state, change):
    """Return a state in which a function has changed each of the arrays that have draws."""
    drawn = {name: value for name, value in vars(state).items() if isinstance(value, np.ndarray) and name != "on_node"}
    return replace(state, **{name: change(value) for name, value in drawn.items()})


def thinned(state):
    """Return a state with only the first draws, which are as random as all of them."""
    return drawn_anew(state, lambda draws: draws[:CHOOSING])


def best_interval(state):
    """Return the interval with the greatest mean ETTR over the draws, in seconds."""
    state = thinned(state)
    return _maximum(state, _weights(state))


def good_intervals(state):
    """Return the shortest and the longest interval whose mean ETTR is as good to a relative `AS_GOOD`, in seconds."""
    from scipy.optimize import brentq

    state = thinned(state)
    weights = _weights(state)
    best = np.log(_maximum(state, weights))
    wanted = (1 - AS_GOOD) * _mean(best, state, weights)
    ends = []
    for step in (-1.0, 1.0):
        end = best
        while _mean(end, state, weights) > wanted and abs(end) < FURTHEST:
            end, step = np.clip(end + step, -FURTHEST, FURTHEST), 1.2 * step
        if _mean(end, state, weights) > wanted:  # as far as it was looked: a write or failures that cost nothing
            ends.append(float(np.exp(end)))
            continue
        ends.append(float(np.exp(brentq(lambda x: _mean(x, state, weights) - wanted, min(best, end), max(best, end)))))
    return ends[0], ends[1]


def _weights(state):
    """What the ETTR is multiplied with whatever the interval is [draws]."""
    whole = renewal.effective_restart(*state.recoveries(), state.mtbf)
    return (1 - state.waiting()) * np.exp(-whole / state.mtbf) / (1 + state.drag)


def _mean(log_interval, state, weights):
    kept = checkpoint.renewal_efficiency(float(np.exp(log_interval)), state.write, 0.0, state.mtbf)
    return float(np.mean(weights * kept))


def _maximum(state, weights):
    from scipy.optimize import minimize_scalar

    middle = np.log(np.median(checkpoint.optimal_interval(state.write, state.mtbf)))
    edges = (middle - np.log(WIDEST), middle + np.log(WIDEST))
    coarse = np.linspace(*edges, 29)
    i = int(np.argmax([_mean(x, state, weights) for x in coarse]))
    bracket = (coarse[max(0, i - 1)], coarse[min(28, i + 1)])
    found = minimize_scalar(
        lambda x: -_mean(x, state, weights), bounds=bracket, method="bounded", options={"xatol": 1e-4}
    )
    return float(np.exp(found.x))


@dataclass(frozen=True)
class Pools:
    """Pools of 0, 1, 2, … standbys [pools], by the formula: mean chance that a failure finds none, mean ETTR, mean ETTR for each GPU that is paid.

    They go on until no larger pool can pay better. `enough` is the smallest pool, maybe a larger one, of which a failure finds none with
    at most the mean chance that was asked for; None where it was not, or where no pool is.
    """

    none_left: np.ndarray
    ettr: np.ndarray
    per_paid: np.ndarray
    enough: int | None = None

    @property
    def best(self):
        """The pool that keeps most work for each GPU that is paid."""
        return int(np.argmax(self.per_paid))


def pools(state, shortage=None):
    """Try pools of standbys, from none on; None where there is no swap or the repair is unknown.

    Parameters
    ----------
    state : State
    shortage : float, in (0, 1), optional
        Look for the smallest pool of which a failure finds none with at most this mean chance.
    """
    if state.swap is None or state.load is None:
        return None
    state = thinned(state)
    each = state.mtbf
    through = np.exp(-state.detection / each[:, None]) * state.shares
    node, other = through @ state.on_node, through @ ~state.on_node
    swapped, cold = np.exp(-state.swap / each), np.exp(-state.cold / each)
    alone = cold if state.waits else np.exp(-(state.cold + state.replacement) / each)
    plain = np.asarray(checkpoint.renewal_efficiency(state.interval, state.write, 0.0, each)) / (1 + state.drag)
    at_most = float(np.mean(plain * (other * cold + node * np.maximum(swapped, alone))))
    rows, best = [], 0.0
    for k in range(MOST_STANDBYS + 1):
        none = state.chance_none_left(k)
        kept = (1 - state.waiting(k)) * plain * (other * cold + node * (none * alone + (1 - none) * swapped))
        rows.append((float(np.mean(none)), float(np.mean(kept)), float(np.mean(kept)) / (1 + k / state.nodes)))
        best = max(best, rows[-1][2])
        if at_most / (1 + (k + 1) / state.nodes) <= best:
            break
    return Pools(*map(np.array, zip(*rows, strict=True)), None if shortage is None else _enough(state, shortage))


def _enough(state, shortage):
    """The smallest pool of which a failure finds none with at most this mean chance, which falls with the pool; None beyond `MOST_STANDBYS`."""
    low, high = -1, MOST_STANDBYS
    if np.mean(state.chance_none_left(high)) > shortage:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if np.mean(state.chance_none_left(middle)) <= shortage else (middle, high)
    return high
