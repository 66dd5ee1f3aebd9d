"""Nodes of many replications, told apart: lives with an age, and nodes that are retired.

Each node's life ends at a running time of its job; of all nodes of a job the earliest end is kept up in
two levels, so that a failure touches few of them.
"""

import numpy as np

from reliability import lives
from reliability.fleet_streams import ALL

_BLOCK = 64  # nodes whose earliest end is kept
_JOB, _STANDBY, _IDLE, _AWAY = range(4)  # away: a spare, in repair or retired


def draw_lives(fleet):
    """Return the function that draws random lives of nodes, in seconds."""
    failures = fleet.failures
    mean = 1.0 / failures.rate
    if failures.life == "weibull":
        return lambda rng, number: lives.draw_weibull(rng, mean, failures.shape, number)
    if failures.life == "lognormal":
        return lambda rng, number: lives.draw_lognormal(rng, mean, failures.cv, number)
    return lambda rng, number: mean * rng.standard_exponential(number)


class Named:
    """The nodes of `number` replications of a fleet; the same interface as :class:`reliability.fleet_counted.Counted`."""

    def __init__(self, fleet, streams, number):
        self.fleet, self.number, self.job = fleet, number, float(fleet.job_nodes)
        self._life, self._sooner, self._node, self._join = (streams.open(p) for p in ("life", "gap", "node", "join"))
        self._automatic, self._manual, self._fate = (streams.open(p) for p in ("automatic", "manual", "fate"))
        self._selection = streams.generators("kind")
        self._bad_rate = fleet.failures.rate * fleet.failures.bad_factor
        nodes = fleet.pool + fleet.spare_nodes
        blocks = -(-nodes // _BLOCK)
        self.clock = np.zeros(number)  # running time of each job
        self._ends = np.full((number, blocks * _BLOCK), np.inf)  # on that clock, of the nodes in the job
        self._earliest = np.full((number, blocks), np.inf)  # of each block of them
        self._left = np.empty((number, nodes))  # life left of the others
        self._systematic = np.zeros((number, nodes), dtype=bool)  # whether a systematic failure ends it
        self._where = np.full((number, nodes), _IDLE, dtype=np.int8)
        self._bad = np.zeros((number, nodes), dtype=bool)
        self._blamed = np.zeros((number, nodes), dtype=np.int16)
        self._standbys = np.zeros((number, nodes if fleet.elastic else fleet.warm_standbys), dtype=np.int32)
        self._back = np.full((number, 16), np.inf)  # when nodes come back from repair ...
        self._back_node = np.zeros((number, 16), dtype=np.int32)  # ... and which
        self.stand, self.active = np.zeros(number), np.zeros(number)
        self.idle, self.spare = np.full(number, float(fleet.pool)), np.full(number, float(fleet.spare_nodes))
        self.retired = np.zeros(number)
        self._place(nodes)
        self.select(np.arange(number))

    def _place(self, nodes):
        self._spares = np.zeros((self.number, self.fleet.spare_nodes), dtype=np.int32)
        for r, generator in enumerate(self._selection):
            order = generator.permutation(nodes)
            self._bad[r, order[: self.fleet.bad_nodes]] = True
            self._spares[r] = generator.permutation(nodes)[: self.fleet.spare_nodes]
            self._where[r, self._spares[r]] = _AWAY
        at = np.arange(self.number)
        for node in range(nodes):
            self._renew(at, np.full(self.number, node))

    def _renew(self, at, node):
        """Give a node that is not in the job a new life."""
        life = self._life.take(at)
        bad = np.flatnonzero(self._bad[at, node]) if self._bad_rate else at[:0]
        systematic = np.zeros(len(at), dtype=bool)
        if bad.size:
            sooner = self._sooner.take(at[bad]) / self._bad_rate
            systematic[bad] = sooner < life[bad]
            life[bad] = np.minimum(sooner, life[bad])
        self._left[at, node], self._systematic[at, node] = life, systematic

    # Time -------------------------------------------------------------------------------------------------------------

    def rates(self, at=ALL):
        """Return nothing of use: lives end at times of their own."""
        return self.active[at]

    def until_fault(self, hazard, rate, fresh):
        """Return the time to the next fault of all."""
        return self._earliest.min(axis=1) - self.clock

    def until_fault_of(self, at, hazard, rate):
        """Return the time to the next fault of some; inf where no node is at work."""
        return self._earliest[at].min(axis=1) - self.clock[at]

    def age(self, time, at=ALL):
        """Let the nodes of the job run for a time."""
        self.clock[at] += time

    # Faults and repair ------------------------------------------------------------------------------------------------

    def strike(self, rate, now, blame, at):
        """A fault strikes, and the blamed node goes to repair; see :meth:`reliability.fleet_counted.Counted.strike`."""
        block = self._earliest[at].argmin(axis=1)
        node = block * _BLOCK + self._ends[at[:, None], block[:, None] * _BLOCK + np.arange(_BLOCK)].argmin(axis=1)
        systematic = self._systematic[at, node]
        if blame is None:
            self._withdraw(at, node, now)
            return systematic, np.ones(len(at))
        right, wrong, _ = blame
        other = node.copy()
        open_ = np.flatnonzero(wrong)
        while open_.size:
            other[open_] = (self._node.take(at[open_]) * self._where.shape[1]).astype(np.int64)
            found = (self._where[at[open_], other[open_]] == _JOB) & (other[open_] != node[open_])
            open_ = open_[~found & (self.active[at[open_]] > 1)]
        spared = np.flatnonzero(~right)  # goes on with a new life
        self._leave(at[spared], node[spared])
        self._renew(at[spared], node[spared])
        self._enter(at[spared], node[spared])
        blamed = np.flatnonzero(right | wrong)
        self._withdraw(at[blamed], other[blamed], now[blamed])
        return systematic, (right | wrong).astype(float)

    def _withdraw(self, at, node, now):
        self._leave(at, node)
        self._where[at, node] = _AWAY
        self.active[at] -= 1
        repair = self.fleet.repair
        fate = self._fate.take(at)
        manual = fate < repair.to_manual
        if repair.times == "exponential":
            time = repair.automatic_s * self._automatic.take(at) + manual * (repair.manual_s * self._manual.take(at))
        else:
            time = repair.automatic_s + manual * repair.manual_s
        p = repair.to_manual
        cured = np.where(
            manual, fate < p * (1 - repair.manual_fails), fate - p < (1 - p) * (1 - repair.automatic_fails)
        )
        self._bad[at, node] &= ~cured
        self._renew(at, node)
        back = now + (time + repair.requalify_s)
        if self.fleet.retirement:
            self._blamed[at, node] += 1
            retired = self._blamed[at, node] == self.fleet.retirement.failures
            self.retired[at] += retired
            back = np.where(retired, np.inf, back)
        slot = self._back[at].argmax(axis=1)  # an empty one holds inf
        full = np.isfinite(self._back[at, slot]).any()
        if full:
            self._back = np.concatenate([self._back, np.full_like(self._back, np.inf)], axis=1)
            self._back_node = np.concatenate([self._back_node, np.zeros_like(self._back_node)], axis=1)
            slot = self._back[at].argmax(axis=1)
        self._back[at, slot], self._back_node[at, slot] = back, node

    def returns(self, now, at=ALL):
        """Take in the nodes that have come back from repair by `now`: as standbys, up to their number, or idle."""
        came = self._back[at] <= now[:, None]
        row, slot = np.nonzero(came)
        if not row.size:
            return
        r = row if isinstance(at, slice) else at[row]
        order = np.lexsort((self._back[r, slot], row))
        r, slot, row = r[order], slot[order], row[order]
        rank = np.arange(len(row)) - np.searchsorted(row, row)
        node = self._back_node[r, slot]
        self._back[r, slot] = np.inf
        place = self.stand[r].astype(np.int64) + rank
        up = place < self._standbys.shape[1]
        self._standbys[r[up], place[up]] = node[up]
        self._where[r, node] = np.where(up, _STANDBY, _IDLE)
        np.add.at(self.stand, r[up], 1.0)
        np.add.at(self.idle, r[~up], 1.0)

    def next_return(self, at):
        """Return when the next node comes back from repair; inf where none is there."""
        return self._back[at].min(axis=1)

    # Places -----------------------------------------------------------------------------------------------------------

    def _enter(self, at, node):
        ends = self.clock[at] + self._left[at, node]
        self._where[at, node] = _JOB
        self._ends[at, node] = ends
        block = node // _BLOCK
        self._earliest[at, block] = np.minimum(self._earliest[at, block], ends)

    def _leave(self, at, node):
        self._ends[at, node] = np.inf
        block = node // _BLOCK
        self._earliest[at, block] = self._ends[at[:, None], block[:, None] * _BLOCK + np.arange(_BLOCK)].min(axis=1)

    def missing(self, at=ALL):
        """Return how many nodes each job lacks."""
        return self.job - self.active[at]

    def join(self, at=ALL, partly=False):
        """Let standbys take the places of lost nodes; see :meth:`reliability.fleet_counted.Counted.join`."""
        at = np.arange(self.number) if isinstance(at, slice) else at
        missing, stand = self.missing(at), self.stand[at]
        takes = np.minimum(missing, stand) if partly else missing * (stand >= missing)
        for done in range(int(takes.max(initial=0))):
            some = at[takes > done]
            last = self.stand[some].astype(np.int64) - 1
            place = np.minimum((self._join.take(some) * (last + 1)).astype(np.int64), last)
            node = self._standbys[some, place].astype(np.int64)
            self._standbys[some, place] = self._standbys[some, last]
            self.stand[some] = last
            self.active[some] += 1
            self._enter(some, node)
        return missing > takes

    def available(self, at):
        """Return the nodes of the working pool that are not in repair."""
        return self.active[at] + self.stand[at] + self.idle[at]

    def select(self, at):
        """Host selection: the job and its standbys are drawn anew from what is available."""
        job, standbys = self.fleet.job_nodes, self.fleet.warm_standbys
        for r in at.tolist():
            where, ends, left = self._where[r], self._ends[r], self._left[r]
            available = np.flatnonzero(where < _AWAY)
            others = self._selection[r].choice(available, len(available) - job, replace=False)
            was_in = np.flatnonzero(where == _JOB)
            where[available] = _JOB
            where[others] = _IDLE
            stand = min(standbys, len(others))
            where[others[:stand]] = _STANDBY
            self._standbys[r, :stand] = others[:stand]
            left[was_in] = ends[was_in] - self.clock[r]
            ends[:] = np.inf
            is_in = np.flatnonzero(where == _JOB)
            ends[is_in] = self.clock[r] + left[is_in]
            self._earliest[r] = ends.reshape(-1, _BLOCK).min(axis=1)
            self.active[r], self.stand[r], self.idle[r] = job, stand, len(others) - stand

    def preempt(self, at):
        """Take one spare into the working pool."""
        last = self.spare[at].astype(np.int64) - 1
        self._where[at, self._spares[at, last]] = _IDLE
        self.spare[at] = last
        self.idle[at] += 1
