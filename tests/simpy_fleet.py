"""The fleet model as a plain SimPy program: one job, named nodes, a process for each repair.

Written from the description of the model, for clarity and not for speed; it shares no code with the
package. A fleet is given as the nested dict that its TOML file holds.
"""

import math
import random
from collections import Counter

import simpy

DAY = 86400.0


class Node:
    """One node: where it is, whether it is bad, and how much of its life is left."""

    def __init__(self, bad):
        self.bad = bad
        self.blamed = []  # when
        self.life = math.inf  # running time until it fails at random
        self.bad_life = math.inf  # until it fails systematically


class Strike(Exception):
    """A fault has interrupted the job."""


class Finished(Exception):
    """The work is done, or the horizon has come."""


class FleetRun:
    """One replication."""

    def __init__(self, settings, seed):
        self.settings, self.random, self.env = settings, random.Random(seed), simpy.Environment()
        self.job_nodes = settings["job_nodes"]
        self.wanted_standbys = settings.get("warm_standbys", 0)
        self.failures = settings["failures"]
        self.recovery = settings["recovery"]
        self.always = self.failures.get("clock", "running") == "always"
        shares, self.sizes = self.failures.get("burst_shares", [1.0]), self.failures.get("burst_sizes", [1])
        self.events = [share / size for share, size in zip(shares, self.sizes, strict=True)]  # for a failure of a node
        pool = settings.get("pool_nodes", self.job_nodes + self.wanted_standbys)
        spares = settings.get("spare_nodes", 0)
        bad = int(self.failures.get("bad_share", 0.0) * (pool + spares))
        nodes = [Node(i < bad) for i in range(pool + spares)]
        self.random.shuffle(nodes)
        for node in nodes:
            self.renew(node)
        self.idle, self.spares = nodes[:pool], nodes[pool:]
        self.members, self.standbys, self.away = [], [], 0
        self.widths = [self.width_of(nodes) for nodes in range(self.job_nodes + 1)] if "elastic" in settings else []
        self.bins, self.counts = Counter(), Counter()
        self.horizon = settings.get("horizon_h", math.inf) * 3600.0
        self.target = settings.get("work_h", math.inf) * 3600.0
        self.done = self.committed = self.verified = 0.0  # work: as it stands, behind a commit, verified
        self.in_interval = 0.0  # work since the last write
        self.write_left = None  # seconds of a write that has begun
        self.upload_left = 0.0  # seconds of an upload
        self.snapshot = None  # what a write has caught: the work, whether it is corrupt, whether it is verified
        self.intervals = 0
        self.corrupt = self.corrupt_in_checkpoint = False
        self.slow = False
        self.until_change = self.next_straggler()  # running time until a node turns slow, or is found
        self.node_returned = self.env.event()

    # Nodes

    def renew(self, node):
        f = self.failures
        node.life = self.draw_life(DAY / f["rate_per_node_day"] / sum(self.events))
        bad_rate = f.get("bad_factor", 0.0) * f["rate_per_node_day"] / DAY if node.bad else 0.0
        node.bad_life = self.random.expovariate(bad_rate) if bad_rate else math.inf

    def draw_life(self, mean):
        f = self.failures
        kind = f.get("life", "exponential")
        if kind == "exponential":
            return self.random.expovariate(1 / mean)
        if kind == "weibull":
            return self.random.weibullvariate(mean / math.gamma(1 + 1 / f["shape"]), f["shape"])
        spread = math.sqrt(math.log(1 + f["cv"] ** 2))
        return self.random.lognormvariate(math.log(mean) - spread**2 / 2, spread)

    def next_failure(self):
        """Which node of the job fails next, after how long, and how."""
        node = min(self.members, key=lambda n: min(n.life, n.bad_life), default=None)
        if node is None:
            return math.inf, None, False
        return max(0.0, min(node.life, node.bad_life)), node, node.bad_life < node.life

    def age(self, time):
        for node in self.members:
            node.life -= time
            node.bad_life -= time

    def repair(self, node):
        r = self.settings["repair"]

        def stage(mean):
            return (
                self.random.expovariate(1 / mean) if mean and r.get("times", "exponential") == "exponential" else mean
            )

        fails = r.get("automatic_fails", 0.0)
        yield self.env.timeout(stage(r["automatic_s"]))
        if self.random.random() < r.get("to_manual", 0.0):
            yield self.env.timeout(stage(r.get("manual_s", 0.0)))
            fails = r.get("manual_fails", 0.0)
        if self.random.random() >= fails:
            node.bad = False
        yield self.env.timeout(r.get("requalify_s", 0.0))
        self.renew(node)
        self.away -= 1
        if "elastic" in self.settings or len(self.standbys) < self.wanted_standbys:
            self.standbys.append(node)
        else:
            self.idle.append(node)
        self.node_returned.succeed()
        self.node_returned = self.env.event()

    def send_to_repair(self, node):
        self.members.remove(node)
        self.counts["nodes_repaired"] += 1
        self.away += 1
        self.env.process(self.repair(node))

    def blame(self, node):
        """Send a single node to repair, or take it out for good where it was blamed so often."""
        node.blamed.append(self.env.now)
        rule = self.settings.get("retirement", {"failures": math.inf})
        since = self.env.now - rule.get("window_days", math.inf) * DAY
        if sum(time >= since for time in node.blamed) >= rule["failures"]:
            self.members.remove(node)
            self.counts["nodes_repaired"] += 1
            self.counts["nodes_retired"] += 1
            self.counts["good_nodes_retired"] += not node.bad
        else:
            self.send_to_repair(node)

    # Time

    def spend(self, seconds, until, clock):
        """Let time pass, up to an event, a fault where the clock of failures runs, or the horizon.

        Returns the time that passed and the fault, if one ended it.
        """
        started = self.env.now
        failing, node, systematic = self.next_failure() if clock else (math.inf, None, False)
        longest = min(seconds, failing, self.horizon - started)
        alarm = self.env.timeout(longest) if longest < math.inf else None
        awaited = [event for event in (alarm, until) if event is not None]
        yield awaited[0] if len(awaited) == 1 else simpy.AnyOf(self.env, awaited)
        passed = self.env.now - started
        if clock:
            self.age(passed)
        struck = alarm is not None and alarm.processed and failing <= min(seconds, self.horizon - started)
        return passed, (node, systematic) if struck else None

    def stand(self, name, seconds, until=None):
        """The job stands."""
        passed, strike = yield from self.spend(seconds, until, clock=self.always)
        self.bins[name] += passed
        self.go_on(strike)

    def go_on(self, strike):
        if self.env.now >= self.horizon:
            raise Finished
        if strike:
            self.fault(*strike)
            raise Strike

    def run(self):
        """Run to the end; returns the run itself."""
        process = self.env.process(self.life_of_job())
        self.env.run(until=process)
        self.elapsed = self.env.now
        return self

    # The job

    def life_of_job(self):
        try:
            self.select_hosts()
            try:
                yield from self.stand("waiting", self.recovery.get("host_selection_s", 0.0))
            except Strike:
                yield from self.recover()
            while True:
                try:
                    yield from self.compute()
                except Strike:
                    yield from self.recover()
        except Finished:
            return

    def recover(self):
        """Detection, restart, and nodes in the place of those lost; a fault meanwhile starts it over."""
        while True:
            try:
                yield from self.stand("detection", self.detection)
                yield from self.stand("restart", self.restart_time())
                yield from self.fill()
                return
            except Strike:
                continue

    def restart_time(self):
        missing = self.job_nodes - len(self.members)
        if missing == 0:
            return self.recovery["restart_s"]
        if len(self.standbys) >= missing:
            return self.recovery.get("swap_s", self.recovery["restart_s"])
        return self.settings["elastic"]["reshard_s"] if "elastic" in self.settings else self.recovery["restart_s"]

    def take_standbys(self):
        while self.standbys and len(self.members) < self.job_nodes:
            self.members.append(self.standbys.pop(self.random.randrange(len(self.standbys))))

    def fill(self):
        if "elastic" in self.settings:
            self.take_standbys()
            while self.width(len(self.members)) == 0:
                yield from self.stand("waiting", math.inf, self.node_returned)
                self.take_standbys()
            return
        if self.job_nodes - len(self.members) <= len(self.standbys):
            self.take_standbys()
            return
        if self.available() < self.job_nodes:
            while self.spares and self.available() < self.job_nodes + self.wanted_standbys:
                yield from self.stand("waiting", self.recovery.get("preemption_s", 0.0))
                self.idle.append(self.spares.pop())
                self.counts["preemptions"] += 1
            while self.available() < self.job_nodes:
                yield from self.stand("waiting", math.inf, self.node_returned)
        self.select_hosts()
        yield from self.stand("waiting", self.recovery.get("host_selection_s", 0.0))

    def available(self):
        return len(self.members) + len(self.standbys) + len(self.idle)

    def select_hosts(self):
        everyone = self.members + self.standbys + self.idle
        self.random.shuffle(everyone)
        wanted = self.job_nodes + self.wanted_standbys
        self.members, self.standbys = everyone[: self.job_nodes], everyone[self.job_nodes : wanted]
        self.idle = everyone[wanted:]
        self.counts["host_selections"] += 1

    def fault(self, node, systematic):
        """Go back to the last committed checkpoint, and find out who it was."""
        self.counts["failures"] += 1
        self.counts["systematic"] += systematic
        classes = self.settings.get("faults", [{}])
        kind = self.random.choices(classes, [c.get("share", 1.0) for c in classes])[0]
        self.detection = kind.get("detection_s", 0.0)
        if "checkpoint" in self.settings:
            self.go_back(self.committed)
            self.corrupt = self.corrupt_in_checkpoint
        size = 1 if systematic else self.random.choices(self.sizes, self.events)[0]
        if size > 1:
            self.burst(node, size)
        else:
            self.diagnose(node, kind)

    def burst(self, node, size):
        """A blast radius: the node and others of the job go to repair, and none of them is blamed."""
        self.counts["bursts"] += 1
        others = [n for n in self.members if n is not node]
        for lost in [node, *self.random.sample(others, min(size - 1, len(others)))]:
            self.send_to_repair(lost)

    def diagnose(self, node, kind):
        u, right = self.random.random(), kind.get("right", 1.0)
        if u < right:
            self.blame(node)
            return
        self.renew(node)  # nobody looked at it: it goes on, with a new life
        others = [n for n in self.members if n is not node]
        if u < right + kind.get("wrong", 0.0) and others:
            self.counts["misdiagnosed"] += 1
            self.blame(self.random.choice(others))

    def go_back(self, kept):
        self.bins["redone"] += self.done - kept
        self.bins["useful"] -= self.done - kept
        self.done = kept
        self.in_interval, self.upload_left, self.write_left = 0.0, 0.0, None

    # Computing

    def compute(self):
        """Work, write, work ... until all is done or a fault strikes."""
        interval = self.settings.get("checkpoint", {}).get("interval_s", math.inf)
        while True:
            if self.write_left is None:
                yield from self.work(interval)
                if self.is_last_of_pattern():
                    yield from self.running("verification", self.settings["corruption"]["verification_s"])
                    if self.corrupt:
                        yield from self.back_to_verified()
                        continue
                self.write_left = self.settings["checkpoint"].get("write_s", 0.0)
            yield from self.running("checkpoint", self.write_left)
            self.write_left, self.in_interval = None, 0.0
            self.written()

    def work(self, interval):
        """Compute the rest of an interval, at whatever speed the job has."""
        drag = self.settings.get("checkpoint", {}).get("drag", 0.0)
        while (left := min(interval - self.in_interval, self.target - self.done)) > 1e-9:
            speed, uploading = self.speed(), self.upload_left > 0
            kept = 1 - drag if uploading else 1.0
            time = left / (speed * kept) if kept else math.inf
            shares = {"useful": speed * kept, "degraded": (1 - speed) * kept, "checkpoint": 1 - kept}
            yield from self.pass_running(min(time, self.upload_left) if uploading else time, shares)
        if self.done >= self.target - 1e-6:
            raise Finished

    def running(self, name, seconds):
        """Write or verify: the job runs, but does no work."""
        while seconds > 1e-9:
            started = self.env.now
            standing = self.bins["restart"]  # a straggler's pause, in between
            yield from self.pass_running(seconds, {name: 1.0})
            seconds -= self.env.now - started - (self.bins["restart"] - standing)
            if name == "checkpoint":
                self.write_left = seconds

    def pass_running(self, longest, shares):
        """Let running time pass up to the next fault, straggler or node that returns; book it by its shares."""
        until = self.node_returned if len(self.members) < self.job_nodes else None
        if "straggler" in self.settings:
            longest = min(longest, self.until_change)
        passed, strike = yield from self.spend(longest, until, clock=True)
        for name, share in shares.items():
            self.bins[name] += passed * share
        work = passed * shares.get("useful", 0.0)
        self.done += work
        self.in_interval += work
        if "useful" in shares:
            self.corrupted(passed)
            self.uploaded(passed)
        self.until_change -= passed
        self.go_on(strike)
        if "straggler" in self.settings and self.until_change < 1e-9:
            yield from self.straggle()
        if until is not None:
            yield from self.grow()

    def speed(self):
        speed = 1 / (1 + self.settings["straggler"]["slowdown"]) if self.slow else 1.0
        return speed * self.width(len(self.members)) if "elastic" in self.settings else speed

    def width(self, nodes):
        return self.widths[nodes]

    def width_of(self, nodes):
        """Share of full speed of the largest legal number of replicas that so many nodes make."""
        e = self.settings["elastic"]
        whole = self.job_nodes // e["nodes_per_replica"]
        legal = [n for n in range(1, whole + 1) if e.get("batch") is None or e["batch"] % n == 0]
        return max([n for n in legal if n <= nodes // e["nodes_per_replica"]], default=0) / max(legal)

    def grow(self):
        """Take in the nodes that have returned; where that makes the job wider, it stops for it."""
        after = min(self.job_nodes, len(self.members) + len(self.standbys))
        if self.width(after) > self.width(len(self.members)):
            yield from self.stand("restart", self.settings["elastic"].get("grow_s", 0.0))
        self.take_standbys()

    def straggle(self):
        """A node turns slow, or the slow ones are found and replaced."""
        self.slow = not self.slow
        if self.slow:
            self.until_change = self.settings["straggler"]["found_after_s"]
            return
        self.until_change = self.next_straggler()
        self.counts["stragglers_found"] += 1
        yield from self.stand("restart", self.settings["straggler"].get("pause_s", 0.0))

    def next_straggler(self):
        if "straggler" not in self.settings:
            return math.inf
        return self.random.expovariate(self.settings["straggler"]["rate_per_node_day"] * self.job_nodes / DAY)

    # Checkpoints

    def written(self):
        """A write has ended: what it caught counts at once, or when it is uploaded."""
        self.intervals += 1
        verified = "corruption" in self.settings and self.intervals % self.settings["corruption"].get("every", 1) == 0
        self.snapshot = self.done, self.corrupt, verified
        self.upload_left = self.settings["checkpoint"].get("upload_s", 0.0)
        if not self.upload_left:
            self.commit()

    def uploaded(self, passed):
        if self.upload_left:
            self.upload_left = max(0.0, self.upload_left - passed)
            if self.upload_left < 1e-9:
                self.upload_left = 0.0
                self.commit()

    def commit(self):
        self.committed, self.corrupt_in_checkpoint, verified = self.snapshot
        if verified:
            self.verified = self.committed

    def corrupted(self, worked):
        if "corruption" in self.settings:
            rate = self.settings["corruption"]["rate_per_node_day"] * self.job_nodes / DAY
            if self.random.random() < -math.expm1(-rate * worked):
                self.corrupt = True

    def is_last_of_pattern(self):
        if "corruption" not in self.settings:
            return False
        every = self.settings["corruption"].get("every", 1)
        return self.intervals % every == every - 1

    def back_to_verified(self):
        self.counts["corruptions_found"] += 1
        self.go_back(self.verified)
        self.committed, self.corrupt, self.corrupt_in_checkpoint = self.verified, False, False
        self.intervals -= self.intervals % self.settings["corruption"].get("every", 1)
        yield from self.stand("restart", self.settings["corruption"].get("restart_s", self.recovery["restart_s"]))


def replications(settings, seed, number):
    """Run so many replications; returns their runs."""
    return [FleetRun(settings, f"{seed}/{i}").run() for i in range(number)]
