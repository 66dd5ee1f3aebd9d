"""The fleet model of many replications in lockstep: each turn of the loop takes every job to its next event.

A turn is a stretch of running and all of the stop that follows it. Numbers per replication are arrays;
`at` selects replications, `ALL` of them or the indices of some.
"""

import numpy as np

from reliability import elastic, fleet_progress
from reliability.budget import BINS, WAITING
from reliability.fleet_counted import Counted
from reliability.fleet_named import Named, draw_lives
from reliability.fleet_stops import COUNTS, GROWING, RESTARTING, RUNNING, SELECTING, Stops
from reliability.fleet_streams import ALL, Streams


class Engine(Stops):
    """Replications `first` to `first + number - 1` of a fleet under one key."""

    def __init__(self, fleet, key, first, number):
        self.fleet, self.number = fleet, number
        streams = Streams(key, first, number, draw_lives(fleet))
        self.gap = streams.open("gap")
        self.fault_class = streams.open("class") if self._classes() else None
        self.bins = np.zeros((len(BINS), number))
        self.counts = {name: np.zeros(number) for name in COUNTS}
        self.now = np.zeros(number)
        self.done = np.zeros(number, dtype=bool)
        self.work = np.full(number, np.inf if fleet.work_h is None else fleet.work_h * 3600.0)
        self.limit = np.full(number, np.inf if fleet.horizon_h is None else fleet.horizon_h * 3600.0)
        self.elapsed, self.final_bins = np.zeros(number), np.zeros((len(BINS), number))
        self.final_counts = {name: np.zeros(number) for name in COUNTS}
        self.phase = np.zeros(number, dtype=np.int64)
        self.left = np.zeros(number)
        self.nodes = (Named if fleet.named else Counted)(fleet, streams, number)
        self._open_progress(streams)
        self.speed = 1.0
        self._open_slowdowns(streams)
        self.always = fleet.failures.clock == "always"
        # Where a fault is the only event of a run, its gap is drawn when the run begins.
        self.faults_only = not (self.always or fleet.named or fleet.corruption or fleet.straggler or fleet.elastic)
        # Where besides each fault is alike, its stop and its swap need no case to be told from another.
        recovery = fleet.recovery
        alike = (
            self.fault_class is None and not fleet.failures.has_bursts and recovery.swap_s in (None, recovery.restart_s)
        )
        self.swaps_only = self.faults_only and alike
        self.hazard = None if self.faults_only else self.gap.take().copy()

    def _open_progress(self, streams):
        checkpoint, corruption = self.fleet.checkpoint, self.fleet.corruption
        if corruption:
            rate = corruption.rate_per_node_day / 86400.0 * self.fleet.job_nodes
            self.progress = fleet_progress.Patterns(self.bins, checkpoint, corruption, rate, streams.open("silent"))
        elif checkpoint:
            self.progress = fleet_progress.Cycles(self.bins, checkpoint)
        else:
            self.progress = fleet_progress.Kept(self.bins)

    def _open_slowdowns(self, streams):
        straggler, shrinking = self.fleet.straggler, self.fleet.elastic
        if straggler or shrinking:
            self.speed = np.ones(self.number)
        if straggler:
            self._slow_stream = streams.open("straggler")
            self._slow_rate = straggler.rate_per_node_day / 86400.0 * self.fleet.job_nodes
            self.slow = np.zeros(self.number, dtype=bool)
            # Running time until a node turns slow, or until those that are slow are found
            self.slow_left = self._slow_stream.take() / self._slow_rate
        if shrinking:
            lost = -(-(self.fleet.job_nodes - np.arange(self.fleet.job_nodes + 1)) // shrinking.nodes_per_replica)
            replicas = self.fleet.job_nodes // shrinking.nodes_per_replica
            self._width = np.asarray(elastic.throughput(lost, replicas, shrinking.batch))

    # The loop ---------------------------------------------------------------------------------------------------------

    def run(self):
        """Run every replication to its end."""
        first = self.fleet.recovery.host_selection_s
        self.counts["host_selections"] += 1
        if self.always:
            self.phase[:], self.left[:] = SELECTING, first
            self.stops(np.arange(self.number))
            self._set_speed()
        else:
            self.spend(ALL, WAITING, first)
        while not self.done.all():
            self.turn()
        return self

    def turn(self):
        """Run each job to its next event, and through the stop that it brings."""
        rate = self.nodes.rates_of_full_jobs() if self.faults_only else self.nodes.rates()
        failing = self.nodes.until_fault(self.gap if self.faults_only else self.hazard, rate, self.faults_only)
        ending = self.progress.until(self.work, self.speed)
        if self.fleet.horizon_h is not None:
            ending = np.minimum(ending, self.limit - self.now)
        time = np.minimum(failing, ending)
        if not self.faults_only:
            time, others = self._other_events(time)
            running = self.phase == RUNNING
            time = np.where(running, time, 0.0)
        ended = ending <= time
        self.progress.advance(time, self.speed)
        self.now += time
        if self.fleet.named:
            self.nodes.age(time)
        if ended.any():
            self.finish(np.flatnonzero(ended))
        if self.swaps_only:
            self.swap(rate)
            return
        if self.faults_only:
            self.fault(ALL, rate)
            self.stop(ALL)
            return
        if not self.fleet.named:
            self.hazard -= time * rate
        failed = (failing <= time) & running
        stopped = np.flatnonzero(failed & ~self.done)
        if stopped.size:
            self.fault(stopped, rate[stopped])
        stopping = self._meet(others, time, running & ~failed & ~self.done)
        if self.always or self.fleet.elastic:
            self.step(np.flatnonzero((self.phase != RUNNING) & ~self.done))
        else:
            if stopped.size:
                self.stop(stopped)
            self.stops(stopping[~self.done[stopping]])
        self._set_speed()

    def _other_events(self, time):
        """Shorten `time` to the next event that is no fault; returns it, and the time of each kind."""
        others = {}
        boundary = self.progress.boundary(self.speed)
        if boundary is not None:
            others["boundary"] = boundary
        if self.fleet.straggler:
            others["slow"] = self.slow_left
        if self.fleet.elastic:
            others["return"] = np.full(self.number, np.inf)
            short = np.flatnonzero((self.nodes.missing() > 0) & ~self.done)
            others["return"][short] = np.maximum(self.nodes.next_return(short) - self.now[short], 0.0)
        for other in others.values():
            time = np.minimum(time, other)
        # Without a minimum, rounding could bring an event that moves nothing on.
        return np.where(self.done, 0.0, time), others

    def _meet(self, others, time, free):
        """Meet the events that are no fault, where a job is `free` to; returns the replications that stop for one."""
        stopping = []
        if "slow" in others:
            self.slow_left = others["slow"] - time
            met = np.flatnonzero((others["slow"] <= time) & free)
            found = met[self.slow[met]]
            self.slow[met] ^= True
            self.slow_left[met] = self.fleet.straggler.found_after_s
            self.slow_left[found] = self._slow_stream.take(found) / self._slow_rate
            self.counts["stragglers_found"][found] += 1
            stopping.append(self._begin_stop(found, RESTARTING, self.fleet.straggler.pause_s))
        if "boundary" in others:
            met = np.flatnonzero((others["boundary"] <= time) & free)
            found = self.progress.pass_boundary(met)
            self.counts["corruptions_found"][found] += 1
            restart = self.fleet.corruption.restart_s
            stopping.append(
                self._begin_stop(found, RESTARTING, self.fleet.recovery.restart_s if restart is None else restart)
            )
        if "return" in others:
            met = np.flatnonzero((others["return"] <= time) & free)
            stopping.append(self._grow(met[self.phase[met] == RUNNING]))
        return np.unique(np.concatenate(stopping)) if stopping else np.empty(0, dtype=np.int64)

    def _begin_stop(self, at, phase, length):
        self.phase[at], self.left[at] = phase, np.maximum(self.left[at] * (self.phase[at] == phase), length)
        return at

    def _grow(self, at):
        self.nodes.returns(self.now[at], at)
        missing = self.nodes.missing(at)
        after = self.nodes.job - (missing - np.minimum(missing, self.nodes.stand[at]))
        wider = self._width[after.astype(int)] > self._width[(self.nodes.job - missing).astype(int)]
        self.nodes.join(at[~wider], partly=True)
        return self._begin_stop(at[wider], GROWING, self.fleet.elastic.grow_s)

    def _set_speed(self):
        if self.fleet.straggler:
            self.speed = np.where(self.slow, 1.0 / (1.0 + self.fleet.straggler.slowdown), 1.0)
        if self.fleet.elastic:
            width = self._width[self.nodes.active.astype(int)]
            self.speed = width * self.speed if self.fleet.straggler else np.maximum(width, 1e-300)
