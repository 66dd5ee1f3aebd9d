"""How a job stops and comes back: faults, restarts, host selection, preemption, waits for a repair."""

import numpy as np

from reliability.budget import DETECTION, RESTART, USEFUL, WAITING
from reliability.fleet_config import FleetError
from reliability.fleet_streams import ALL

COUNTS = (
    "failures", "systematic", "bursts", "nodes_repaired", "misdiagnosed", "host_selections", "preemptions",
    "corruptions_found", "stragglers_found", "nodes_retired",
)  # fmt: skip
RUNNING, DETECTING, RESTARTING, GROWING, SELECTING, PREEMPTING, LACKING = range(7)
_BIN = np.array([USEFUL, DETECTION, RESTART, RESTART, WAITING, WAITING, WAITING])


class Stops:
    """The stops of :class:`reliability.fleet_engine.Engine`, which holds the state of its replications."""

    def _classes(self):
        faults = self.fleet.faults
        self._edges = np.cumsum([fault.share for fault in faults])[:-1]
        self._detection, self._right, self._wrong, self._share = (
            np.array([getattr(fault, name) for fault in faults]) for name in ("detection_s", "right", "wrong", "share")
        )
        self._begin = np.concatenate([[0.0], self._edges])
        self._blames = bool((self._right < 1).any())
        return len(faults) > 1 or self._blames

    def fault(self, at, rate):
        """A fault strikes: work since the last commit is lost, blamed nodes go to repair, the stop begins."""
        blame = None
        detection = self._detection[0]
        if self.fault_class is not None:
            u = self.fault_class.take(at)
            kind = np.searchsorted(self._edges, u, side="right")
            detection = self._detection[kind]
            if self._blames:
                u = (u - self._begin[kind]) / self._share[kind]
                right, wrong = self._right[kind], self._wrong[kind]
                wrongly = (u >= right) & (u < right + wrong)
                blame = u < right, wrongly, (u - right) / np.where(wrong > 0, wrong, 1.0)
                self.counts["misdiagnosed"][at] += wrongly
        self.progress.rollback(at)
        systematic, withdrawn = self.nodes.strike(rate, self.now[at], blame, at)
        self.counts["failures"][at] += 1
        self.counts["systematic"][at] += systematic
        if np.ndim(withdrawn):
            self.counts["nodes_repaired"][at] += withdrawn
            self.counts["bursts"][at] += withdrawn > 1
        else:
            self.counts["nodes_repaired"][at] += withdrawn
        if not self.faults_only and not self.fleet.named:
            self.hazard[at] = self.gap.take(at)
        self.phase[at], self.left[at] = DETECTING, detection

    def swap(self, rate):
        """Every job fails, stops and takes a standby: :meth:`fault` and :meth:`stop` at once, where all faults are alike."""
        self.progress.rollback()
        detection, restart = float(self._detection[0]), self.fleet.recovery.restart_s
        systematic, short = self.nodes.swap(rate, self.now, detection + restart)
        self.counts["failures"] += 1
        self.counts["systematic"] += systematic
        if detection:
            self.spend(ALL, DETECTION, detection)
        self.spend(ALL, RESTART, restart)
        if short.size:
            self._short(short)

    def stop(self, at):
        """Go through a stop in which no fault can strike."""
        if self.left[at].any():
            self.spend(at, DETECTION, self.left[at].copy())
        self.spend(at, RESTART, self._restart(at))
        self.nodes.returns(self.now[at], at)
        short = np.flatnonzero(self.nodes.join(at))
        self.phase[at] = RUNNING
        if short.size:
            self._short(short if isinstance(at, slice) else at[short])

    def _short(self, short):
        """Too few stand by after a stop in which no fault can strike."""
        self.nodes.active[short[self.done[short]]] = self.nodes.job  # what runs on unnoted must not run dry
        short = short[~self.done[short]]
        enough = self.nodes.available(short) >= self.nodes.job
        chosen = short[enough]
        if chosen.size:
            self._select(chosen)
            self.spend(chosen, WAITING, self.fleet.recovery.host_selection_s)
        if chosen.size < short.size:
            self.stops(self._lack(self._preempt(short[~enough])))

    def _preempt(self, at):
        """Preempt spares one by one until the job and its standbys are complete, where no fault can strike; returns `at`."""
        self.phase[at] = PREEMPTING
        taking = at[self.nodes.spare[at] > 0]
        while taking.size:
            self.spend(taking, WAITING, self.fleet.recovery.preemption_s)
            self.nodes.returns(self.now[taking], taking)
            self.nodes.preempt(taking)
            self.counts["preemptions"][taking] += 1
            lacks = self.nodes.available(taking) < self.nodes.job + self.fleet.warm_standbys
            taking = taking[lacks & (self.nodes.spare[taking] > 0) & ~self.done[taking]]
        return at[~self.done[at]]

    def _restart(self, at):
        """Length of the restart, once the fault is seen: a swap where enough stand by, else a cold one."""
        recovery, shrinking = self.fleet.recovery, self.fleet.elastic
        cold = shrinking.reshard_s if shrinking else recovery.restart_s
        if recovery.swap_s is None and not shrinking:
            return cold
        self.nodes.returns(self.now[at], at)
        missing = self.nodes.missing(at)
        swap = recovery.restart_s if recovery.swap_s is None else recovery.swap_s
        whole = np.where(missing > 0, swap, recovery.restart_s)
        return np.where(self.nodes.stand[at] >= missing, whole, cold)

    def _lack(self, at):
        """Too few stand by: select hosts anew, preempt a spare, or wait for a repair; returns `at`."""
        if self.fleet.elastic:
            self.phase[at] = np.where(self._width[self.nodes.active[at].astype(int)] > 0, RUNNING, LACKING)
            return at
        available, spare = self.nodes.available(at), self.nodes.spare[at]
        wanted = np.where(
            (self.phase[at] == PREEMPTING) & (spare > 0), self.nodes.job + self.fleet.warm_standbys, self.nodes.job
        )
        enough = available >= wanted
        chosen = at[enough]
        if chosen.size:
            self._select(chosen)
            self.phase[chosen], self.left[chosen] = SELECTING, self.fleet.recovery.host_selection_s
        if chosen.size < at.size:
            self.phase[at] = np.where(enough, SELECTING, np.where(spare > 0, PREEMPTING, LACKING))
            self.left[at] = np.where(enough, self.left[at], self.fleet.recovery.preemption_s)
        return at

    def _select(self, at):
        self.nodes.select(at)
        self.counts["host_selections"][at] += 1

    def stops(self, at):
        """Go through stops phase by phase, faults included where the failure clock always runs."""
        while at.size:
            self.step(at)
            at = at[(self.phase[at] != RUNNING) & ~self.done[at]]

    def step(self, at):
        """Take stops to the end of their phase, or to a fault in it."""
        seen = at[(self.phase[at] == DETECTING) & (self.left[at] == 0)]
        if seen.size:
            self.nodes.returns(self.now[seen], seen)
            self.phase[seen], self.left[seen] = RESTARTING, self._restart(seen)
        time = self.left[at]
        lacking = np.flatnonzero(self.phase[at] == LACKING)
        if lacking.size:
            time[lacking] = self._until_return(at[lacking])
        failed = np.zeros(at.size, dtype=bool)
        if self.always:
            rate = self.nodes.rates(at)
            failing = self.nodes.until_fault_of(at, self.hazard, rate)
            failed = failing < time
            time = np.where(failed, failing, time)
            if self.fleet.named:
                self.nodes.age(time, at)
            else:
                self.hazard[at] -= time * rate
        self.spend(at, _BIN[self.phase[at]], time)
        self.left[at] -= time
        if failed.any():
            self.fault(at[failed], rate[failed])
        self._next_phase(at[~failed])

    def _next_phase(self, at):
        phase = self.phase[at]
        self.nodes.returns(self.now[at], at)
        seen = at[phase == DETECTING]
        if seen.size:
            self.phase[seen], self.left[seen] = RESTARTING, self._restart(seen)
        ready = at[(phase == RESTARTING) | (phase == GROWING)]
        if ready.size:
            self.phase[ready] = RUNNING
            short = self.nodes.join(ready, partly=bool(self.fleet.elastic))
            self._lack(ready[short])
        self.phase[at[phase == SELECTING]] = RUNNING
        taken = at[phase == PREEMPTING]
        if taken.size:
            self.nodes.preempt(taken)
            self.counts["preemptions"][taken] += 1
            self._lack(taken)
        back = at[phase == LACKING]
        if back.size and self.fleet.elastic:
            self.nodes.join(back, partly=True)
        if back.size:
            self._lack(back)

    def _until_return(self, at):
        """Return how long a job waits for the next repair: past its horizon, where none is under way."""
        back = self.nodes.next_return(at)
        if self.fleet.horizon_h is None and not np.isfinite(back).all():
            raise FleetError(
                "work_h: the pool has shrunk below job_nodes for good, and the work is never done; give horizon_h instead"
            )
        return np.minimum(back, self.limit[at] + 1.0) - self.now[at]

    def spend(self, at, bin_, time):
        """Let a job stand for a time, in a bin, until its horizon."""
        self.now[at] += time
        if np.ndim(bin_):
            self.bins[bin_, at] += time
        else:
            self.bins[bin_][at] += time
        if self.fleet.horizon_h is not None:
            over = np.flatnonzero(self.now[at] > self.limit[at])
            if over.size:
                bins = bin_[over] if np.ndim(bin_) else bin_
                over = over if isinstance(at, slice) else at[over]
                self.bins[bins, over] -= self.now[over] - self.limit[over]
                self.now[over] = self.limit[over]
                self.finish(over)

    def finish(self, at):
        """Note the results of replications that have come to their end; they run on unnoted."""
        at = at[~self.done[at]]
        self.done[at] = True
        self.elapsed[at] = self.now[at]
        if self.swaps_only:
            self.counts["nodes_repaired"][at] = self.counts["failures"][at]
        self.final_bins[:, at] = self.bins[:, at]
        if self.fleet.retirement:
            self.counts["nodes_retired"][at] = self.nodes.retired[at]
        for name, count in self.counts.items():
            self.final_counts[name][at] = count[at]
        self.work[at] = self.limit[at] = np.inf
