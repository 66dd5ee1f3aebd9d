"""Nodes of many replications, counted: with exponential lives all good ones are alike, and all bad ones.

Each place, in the job, standing by, idle in the pool, spare, holds a number of nodes, some of them bad.
"""

import numpy as np

from reliability.fleet_returns import Returns
from reliability.fleet_streams import ALL


class Counted:
    """The nodes of `number` replications of a fleet.

    Attributes
    ----------
    active, bad : arrays [number]
        Nodes in the job, and the bad ones among them; `stand`, `idle` and `spare` likewise, with
        `stand_bad`, `idle_bad` and `spare_bad`.
    """

    def __init__(self, fleet, streams, number):
        self.fleet = fleet
        failures = fleet.failures
        shares, sizes = np.array(failures.burst_shares), np.array(failures.burst_sizes, dtype=float)
        weights = shares / sizes
        self._random = failures.rate * weights.sum()  # events a node
        self._systematic = failures.rate * failures.bad_factor
        self._sizes, self._edges = sizes, np.cumsum(weights)[:-1] / weights.sum()
        self._kind, self._join = streams.open("kind"), streams.generators("join")
        self._size = streams.open("size") if failures.has_bursts else None
        self._automatic, self._manual, self._fate = (streams.open(p) for p in ("automatic", "manual", "fate"))
        self._good_back, self._bad_back = Returns(number), Returns(number, near=24, new=12)  # bad ones are few
        self._u = np.zeros(number)
        self._fill(fleet, number)

    def _fill(self, fleet, number):
        job, pool, spare = float(fleet.job_nodes), float(fleet.pool), float(fleet.spare_nodes)
        at = np.arange(number)
        bad = np.full(number, float(fleet.bad_nodes))
        self.spare = np.full(number, spare)
        self.spare_bad = self._marked(at, np.full(number, pool + spare), bad, self.spare)
        self.active, self.stand, self.idle = np.zeros(number), np.zeros(number), np.full(number, pool)
        self.bad, self.stand_bad, self.idle_bad = np.zeros(number), np.zeros(number), bad - self.spare_bad
        self.job = job
        self.select(at)

    def _marked(self, at, total, marked, sample):
        """Bad ones in a random sample of nodes, `marked` of which are bad; `at` holds indices, the others are arrays along it."""
        drawn = np.where(sample >= total, marked, 0.0)
        for i in np.flatnonzero((marked > 0) & (sample > 0) & (sample < total)).tolist():
            bad, number = int(marked[i]), int(total[i])
            drawn[i] = self._join[at[i]].hypergeometric(bad, number - bad, int(sample[i]))
        return drawn

    def rates_of_full_jobs(self):
        """Return the rate of faults of jobs that lack no node."""
        full = self._random * self.job
        return self._systematic * self.bad + full if self.fleet.bad_nodes else np.full(len(self.bad), full)

    def rates(self, at=ALL):
        """Return the rate of faults of each job."""
        rate = self._random * self.active[at]
        return rate + self._systematic * self.bad[at] if self.fleet.bad_nodes else rate

    def until_fault(self, hazard, rate, fresh):
        """Return the time to the next fault of all; `hazard` is what is left of its unit exponential, or its stream if `fresh`."""
        if fresh:
            return hazard.take() / rate
        return np.divide(hazard, rate, out=np.full(len(rate), np.inf), where=rate > 0)

    def until_fault_of(self, at, hazard, rate):
        """Return the time to the next fault of some; inf where no node is at work."""
        return np.divide(hazard[at], rate, out=np.full(len(at), np.inf), where=rate > 0)

    def age(self, time, at=ALL):
        """Let the nodes of the job run for a time; exponential ones have no age."""

    def strike(self, rate, now, blame=None, at=ALL):
        """A fault strikes, and the blamed nodes go to repair.

        Parameters
        ----------
        rate, now : arrays
            Rate of faults, and the time.
        blame : (right, wrong, other), optional
            Whether the node that failed is blamed, or another one, which a uniform number `other` picks.
            Without it the right one always is. A burst is never misread.
        at : ALL or indices

        Returns
        -------
        (systematic, withdrawn) : arrays
            Whether the failure was a systematic one, and the nodes that went to repair.
        """
        u = self._kind.take(at)
        active, bad = self.active[at], self.bad[at]
        value = u * rate
        random = self._random * active
        systematic = value >= random
        is_bad = value >= random - self._random * bad
        if self.fleet.bad_nodes:  # the low digits of the number tell which standby comes in
            u = u * 2.0**22
            self._u[at] = u - np.floor(u)
        count = 1.0
        if self._size is not None:
            v = self._size.take(at)
            count = np.where(systematic, 1.0, self._sizes[np.searchsorted(self._edges, v, side="right")])
            count = np.minimum(count, active)
        if blame is not None:
            right, wrong, other = blame
            is_bad = np.where(wrong, other * (active - 1) < bad - is_bad, is_bad)
            count = np.where(count > 1, count, right | wrong)
        number_bad = is_bad & (count > 0)
        if self._size is not None:
            several = np.flatnonzero(count > 1)
            number_bad = number_bad.astype(float)
            indices = several if isinstance(at, slice) else at[several]
            number_bad[several] = self._marked(indices, active[several], bad[several], count[several])
        self.active[at] -= count
        if self.fleet.bad_nodes:
            self.bad[at] -= number_bad
        self._to_repair(now, count, number_bad, at)
        return systematic, count

    def swap(self, rate, now, stop):
        """One fault in each replication, its node always blamed, its stop and the swap, at once.

        The same as :meth:`strike` at the time `now`, :meth:`returns` after the stop, and :meth:`join`, for full jobs.

        Returns
        -------
        (systematic, short) : bool array and indices
            Whether the failure was systematic, and where no node stands by.
        """
        u = self._kind.take()
        value = u * rate
        full = self._random * self.job
        systematic = value >= full
        if self.fleet.bad_nodes:
            is_bad = value >= full - self._random * self.bad
            self.bad -= is_bad
            u = u * 2.0**22
            np.subtract(u, np.floor(u), out=self._u)
        else:
            is_bad = systematic
        self._repair(now, is_bad, ALL)
        self.returns(now + stop)
        if self.fleet.bad_nodes and self.stand_bad.any():
            bad = self._u * self.stand < self.stand_bad
            self.stand_bad -= bad
            self.bad += bad
        self.stand -= 1.0
        short = np.flatnonzero(self.stand < 0)
        self.stand[short] = 0.0
        self.active[short] = self.job - 1.0
        return systematic, short

    def _to_repair(self, now, count, number_bad, at):
        if self._size is None and np.ndim(count) == 0:
            self._repair(now, number_bad, at)
            return
        count = np.broadcast_to(count, now.shape)
        indices = np.arange(len(now)) if isinstance(at, slice) else at
        for node in range(int(count.max(initial=0))):
            there = np.flatnonzero(count > node)
            self._repair(now[there], number_bad[there] > node, indices[there])

    def _repair(self, now, is_bad, at):
        repair = self.fleet.repair
        fate = self._fate.take(at)
        manual = fate < repair.to_manual
        if repair.times == "exponential":
            time = repair.automatic_s * self._automatic.take(at) + manual * (repair.manual_s * self._manual.take(at))
        else:
            time = repair.automatic_s + manual * repair.manual_s
        back = now + (time + repair.requalify_s)
        if not is_bad.any():
            self._good_back.push(back, at)
            return
        p = repair.to_manual
        cured = np.where(
            manual, fate < p * (1 - repair.manual_fails), fate - p < (1 - p) * (1 - repair.automatic_fails)
        )
        stays = np.flatnonzero(is_bad & ~cured)
        if stays.size:
            self._bad_back.push(back[stays], stays if isinstance(at, slice) else at[stays])
            back[stays] = np.inf
        self._good_back.push(back, at)

    def returns(self, now, at=ALL):
        """Take in the nodes that have come back from repair by `now`: as standbys, up to their number, or idle."""
        came = self._good_back.advance(now, at)
        bad = None if self._bad_back.empty else self._bad_back.advance(now, at)
        if bad is not None:
            came += bad
        stand = self.stand[at]
        up = came if self.fleet.elastic else np.minimum(came, self.fleet.warm_standbys - stand)
        self.stand[at] = stand + up
        self.idle[at] += came - up
        if bad is not None and bad.any():
            # Which of those that came stand by is taken to be random, rounded by one uniform number.
            up_bad = np.floor(np.divide(up * bad, came, out=np.zeros_like(up), where=came > 0) + self._u[at])
            up_bad = np.minimum(np.minimum(up_bad, bad), up)
            up_bad = np.maximum(up_bad, up - (came - bad))
            self.stand_bad[at] += up_bad
            self.idle_bad[at] += bad - up_bad

    def next_return(self, at):
        """Return when the next node comes back from repair; inf where none is there."""
        return np.minimum(self._good_back.next(at), self._bad_back.next(at))

    def missing(self, at=ALL):
        """Return how many nodes each job lacks."""
        return self.job - self.active[at]

    def join(self, at=ALL, partly=False):
        """Let standbys take the places of lost nodes, where there are enough of them, or, `partly`, as many as there are.

        Returns
        -------
        bool array
            Where nodes are still missing.
        """
        missing, stand = self.job - self.active[at], self.stand[at]
        takes = np.minimum(missing, stand) if partly else missing * (stand >= missing)
        if self.fleet.bad_nodes and (stand_bad := self.stand_bad[at]).any():
            bad = ((self._u[at] * stand < stand_bad) & (takes > 0)).astype(float)
            several = np.flatnonzero(takes > 1)
            if several.size:
                indices = several if isinstance(at, slice) else at[several]
                bad[several] = self._marked(indices, stand[several], stand_bad[several], takes[several])
            self.stand_bad[at] = stand_bad - bad
            self.bad[at] += bad
        self.stand[at] = stand - takes
        self.active[at] += takes
        return missing > takes

    def available(self, at):
        """Return the nodes of the working pool that are not in repair."""
        return self.active[at] + self.stand[at] + self.idle[at]

    def select(self, at):
        """Host selection: the job and its standbys are drawn anew from what is available."""
        total = self.available(at)
        marked = self.bad[at] + self.stand_bad[at] + self.idle_bad[at]
        chosen = np.minimum(self.job + self.fleet.warm_standbys, total)
        self.active[at], self.stand[at], self.idle[at] = self.job, chosen - self.job, total - chosen
        if marked.any():
            idle_bad = self._marked(at, total, marked, total - chosen)
            stand_bad = self._marked(at, chosen, marked - idle_bad, chosen - self.job)
            self.bad[at], self.stand_bad[at], self.idle_bad[at] = marked - idle_bad - stand_bad, stand_bad, idle_bad

    def preempt(self, at):
        """Take one spare into the working pool."""
        is_bad = self._marked(at, self.spare[at], self.spare_bad[at], np.ones(len(at)))
        self.spare[at] -= 1
        self.spare_bad[at] -= is_bad
        self.idle[at] += 1
        self.idle_bad[at] += is_bad
