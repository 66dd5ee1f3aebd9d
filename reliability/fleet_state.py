"""What the compiled fleet model works on: the settings of a fleet as plain numbers, and the state of one replication."""

from typing import NamedTuple

import numpy as np

from reliability import elastic
from reliability.budget import BINS
from reliability.fleet_numbers import GAP, LIFE, PURPOSES, Numbers
from reliability.fleet_result import COUNTS
from reliability.fleet_tree import leaves
from reliability.units import DAY_S, HOUR_S


def _record(numbers, wholes, flags, **arrays):
    fields = [(name, kind) for names, kind in ((numbers, "f8"), (wholes, "i8"), (flags, "?")) for name in names.split()]
    fields += [(name, *kind) for name, kind in arrays.items()]
    return np.dtype((np.record, np.dtype(fields, align=True)))


SETTINGS = _record(
    "random systematic work limit restart swap short selection preemption grow automatic manual to_manual "
    "automatic_fails manual_fails requalify interval write upload kept verification corrupted silent "
    "slow_rate slowed found_after pause window",
    "job standbys spares nodes bad classes sizes every retire",
    "always aged exponential blames bursts checkpoints corruption straggler elastic",
)
STATE = _record(
    "now hazard clock left stage_left worked uploading pending committed verified silent slow_left speed",
    "phase stage place active bad standing idle spare away",
    "begun low lost_for_good slow corrupt corrupt_pending corrupt_committed verified_pending",
    bins=("f8", len(BINS)),  # seconds
    counts=("f8", len(COUNTS)),
    following=("i8", len(PURPOSES)),  # see reliability.fleet_numbers
    mark=("i8", len(PURPOSES)),
)
# Nodes have numbers. The first `active` in `member` are those of the job, the bad ones before the others, and `seat` tells
# where each is among them; `standing`, `idling` and `spare` hold the others that are not away. `life` is what is left to a
# node that is not in the job, in seconds of running, and `systematic` whether a systematic failure ends it.
NODE_FIELDS = _record(
    "life", "blamed", "bad systematic", **dict.fromkeys(["member", "seat", "standing", "idling", "spare"], ("i4",))
)
RETURN = _record("time", "node", "")
# Settings that are lists, a column each: classes of faults; bursts; the speed of an elastic job by the nodes that are left.
TABLE = _record("detection right wrong share burst_share width", "burst_size", "")


class Replication(NamedTuple):
    """One replication: its settings and its state."""

    c: np.record
    s: np.record
    nodes: np.ndarray
    ends: np.ndarray  # tree: when the lives of the nodes in the job end, on the job's clock
    back: np.ndarray  # heap: the nodes in repair
    blames: np.ndarray  # times of the last blamed failures of each node
    table: np.ndarray
    drawn: np.ndarray  # random numbers


class Workspace:
    """The arrays of a fleet, for one replication after the other."""

    def __init__(self, fleet):
        self._fleet, self.state = fleet, np.zeros(1, STATE)
        self._numbers = Numbers(fleet, self.state)
        nodes = fleet.pool + fleet.spare_nodes
        window = fleet.retirement and fleet.retirement.window_days
        # A Replication of arrays: records are what compiled code makes of the first two.
        self.arrays = Replication(
            c=_settings(fleet),
            s=self.state,
            nodes=np.zeros(nodes, NODE_FIELDS),
            ends=np.zeros(leaves(nodes if fleet.aged else 0)),
            back=np.zeros(nodes, RETURN),
            blames=np.zeros((nodes, fleet.retirement.failures) if window else (0, 1)),
            table=_table(fleet),
            drawn=self._numbers.drawn,
        )

    def open(self, key, index):
        """Make ready for a replication of a key."""
        self.state[:] = 0
        self._numbers.open(key, index)
        if self._fleet.aged:
            self._first_lives()
        self._numbers.refill()

    def _first_lives(self):
        failures, nodes = self._fleet.failures, self.arrays.nodes
        nodes["life"], nodes["systematic"] = self._numbers.first(LIFE, len(nodes)), False
        if failures.bad_factor:
            bad = nodes[: self._fleet.bad_nodes]
            with np.errstate(over="ignore", divide="ignore"):  # never, where the factor is next to nothing
                sooner = self._numbers.first(GAP, len(bad)) / (failures.rate * failures.bad_factor)
            bad["systematic"] = sooner < bad["life"]
            bad["life"] = np.minimum(sooner, bad["life"])

    def refill(self):
        """Draw more random numbers, where few are left."""
        self._numbers.refill()
        self.state["low"] = False


def _settings(fleet):
    """Return the settings, a record in an array; what a fleet does not have is infinite, or has no effect."""
    failures, repair, recovery = fleet.failures, fleet.repair, fleet.recovery
    settings = np.zeros(1, SETTINGS)
    c = settings[0]
    c.random, c.systematic = failures.event_rate, failures.rate * failures.bad_factor
    c.work, c.limit = (np.inf if hours is None else hours * HOUR_S for hours in (fleet.work_h, fleet.horizon_h))
    c.job, c.standbys, c.spares = fleet.job_nodes, fleet.warm_standbys, fleet.spare_nodes
    c.nodes, c.bad = fleet.pool + fleet.spare_nodes, fleet.bad_nodes
    c.classes, c.sizes = len(fleet.faults), len(failures.burst_sizes)
    c.always, c.aged, c.blames, c.bursts = failures.clock == "always", fleet.aged, fleet.blames, failures.has_bursts
    c.automatic, c.manual, c.requalify = repair.automatic_s, repair.manual_s, repair.requalify_s
    c.to_manual, c.automatic_fails, c.manual_fails = repair.to_manual, repair.automatic_fails, repair.manual_fails
    c.exponential = repair.times == "exponential"
    c.restart = c.short = recovery.restart_s
    c.swap = recovery.restart_s if recovery.swap_s is None else recovery.swap_s
    c.selection, c.preemption = recovery.host_selection_s, recovery.preemption_s
    _add_parts(c, fleet)
    return settings


def _add_parts(c, fleet):
    checkpoint, corruption, straggler = fleet.checkpoint, fleet.corruption, fleet.straggler
    c.interval, c.kept, c.slowed, c.every = np.inf, 1.0, 1.0, 1
    if fleet.elastic:
        c.elastic, c.short, c.grow = True, fleet.elastic.reshard_s, fleet.elastic.grow_s
    if checkpoint:
        c.checkpoints, c.interval, c.write = True, checkpoint.interval_s, checkpoint.write_s
        c.upload, c.kept = checkpoint.upload_s, 1.0 - checkpoint.drag
    if corruption:
        c.corruption, c.verification, c.every = True, corruption.verification_s, corruption.every
        c.silent = corruption.rate_per_node_day / DAY_S * fleet.job_nodes
        c.corrupted = c.restart if corruption.restart_s is None else corruption.restart_s
    if straggler:
        c.straggler, c.found_after, c.pause = True, straggler.found_after_s, straggler.pause_s
        c.slow_rate = straggler.rate_per_node_day / DAY_S * fleet.job_nodes
        c.slowed = 1.0 / (1.0 + straggler.slowdown)
    if fleet.retirement:
        c.retire, days = fleet.retirement.failures, fleet.retirement.window_days
        c.window = np.inf if days is None else days * DAY_S


def _table(fleet):
    failures, width = fleet.failures, np.ones(1)
    if fleet.elastic:
        lost = -(-(fleet.job_nodes - np.arange(fleet.job_nodes + 1)) // fleet.elastic.nodes_per_replica)
        replicas = fleet.job_nodes // fleet.elastic.nodes_per_replica
        width = np.asarray(elastic.throughput(lost, replicas, fleet.elastic.batch))
    weights = np.array(failures.burst_shares) / np.array(failures.burst_sizes)
    columns = {
        "detection": [fault.detection_s for fault in fleet.faults],
        "right": [fault.right for fault in fleet.faults],
        "wrong": [fault.wrong for fault in fleet.faults],
        "share": [fault.share for fault in fleet.faults],
        "burst_size": failures.burst_sizes,
        "burst_share": weights / weights.sum(),  # of events, not of nodes
        "width": width,
    }
    table = np.zeros(max(map(len, columns.values())), TABLE)
    for name, column in columns.items():
        table[name][: len(column)] = column
    return table
