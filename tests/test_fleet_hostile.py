"""The fleet model under extreme settings: it ends, every second is in one bin, and what follows exactly from others does."""

import math
import multiprocessing
import os
import signal
import time

import numpy as np
import pytest
import test_fleet
from hypothesis import Phase, given, settings
from hypothesis import strategies as some
from oracles import assert_mean, bytes_of, modest

from reliability import fleet, fleet_config, fleet_parts, fleet_result
from reliability.budget import BINS

pytestmark = pytest.mark.filterwarnings("error")

SMALL = {
    "job_nodes": 8,
    "warm_standbys": 2,
    "horizon_h": 200.0,
    "failures": {"rate_per_node_day": 0.1},
    "repair": {"automatic_s": 7200.0},
    "recovery": {"restart_s": 600.0},
}
LEMONS = {"bad_share": 0.25, "bad_factor": 5.0}
WORN = {"life": "weibull", "shape": 0.7}
ALWAYS = {"clock": "always"}
UPLOADED = {"interval_s": 7200.0, "write_s": 300.0, "upload_s": 3000.0, "drag": 0.3}
STRAGGLER = {"rate_per_node_day": 0.1, "slowdown": 0.3, "found_after_s": 20000.0, "pause_s": 500.0}
CORRUPTION = {"rate_per_node_day": 0.1, "verification_s": 200.0, "every": 2}
BLAMED = [{"name": "hang", "detection_s": 300.0, "right": 0.6, "wrong": 0.3}]
ELASTIC = {"nodes_per_replica": 2, "reshard_s": 300.0, "grow_s": 100.0}
EVERY_PART = {
    "pool_nodes": 12,
    "spare_nodes": 3,
    "failures": {**WORN, **ALWAYS, **LEMONS, "burst_shares": [0.7, 0.3], "burst_sizes": [1, 4]},
    "faults": BLAMED,
    "repair": {"manual_s": 90000.0, "to_manual": 0.5, "automatic_fails": 0.4, "requalify_s": 900.0},
    "recovery": {"swap_s": 60.0, "host_selection_s": 300.0, "preemption_s": 900.0},
    "retirement": {"failures": 3, "window_days": 4.0},
    "checkpoint": UPLOADED,
    "corruption": CORRUPTION,
    "straggler": STRAGGLER,
}


def changed(base=SMALL, /, **changes):
    """Return the settings with some parts replaced, or changed where they are tables; None leaves one out."""
    return test_fleet.changed(base, **changes)


def run(replications=3, seed=5, base=SMALL, /, **changes):
    config = fleet_config.build(changed(base, **changes))
    return fleet.simulate(config, np.random.default_rng(seed), replications)


def assert_sound(result, given):
    """What holds for every fleet."""
    config = fleet_config.build(given)
    assert len(result) > 0
    assert np.isfinite(result.elapsed_s).all()
    for name in BINS:
        assert (result.bins_s[name] >= -1e-9 * result.elapsed_s).all(), name
    assert sum(result.bins_s.values()) == pytest.approx(result.elapsed_s, rel=1e-9, abs=1e-9)
    if config.horizon_h is None:
        assert result.bins_s["useful"] == pytest.approx(config.work_h * 3600, rel=1e-9)
    else:
        assert result.elapsed_s == pytest.approx(config.horizon_h * 3600, rel=1e-12)
    assert_counts(result.counts, config)
    absent = {
        "checkpoint": config.checkpoint,
        "redone": config.checkpoint,
        "degraded": config.elastic or config.straggler,
        "verification": config.corruption,
    }
    for name, part in absent.items():
        assert part or not result.bins_s[name].any(), name


def assert_counts(counts, config):
    for name, count in counts.items():
        assert (count == np.floor(count)).all(), name
        assert (count >= 0).all(), name
    failures, single = counts["failures"], counts["failures"] - counts["bursts"]
    assert (counts["systematic"] + counts["bursts"] <= failures).all()
    assert (counts["misdiagnosed"] <= single).all()
    assert (counts["nodes_repaired"] <= single + max(config.failures.burst_sizes) * counts["bursts"]).all()
    assert (counts["nodes_retired"] <= np.minimum(single, config.pool + config.spare_nodes)).all()
    assert (counts["good_nodes_retired"] <= counts["nodes_retired"]).all()
    assert config.bad_nodes or (counts["good_nodes_retired"] == counts["nodes_retired"]).all()
    assert (counts["preemptions"] <= config.spare_nodes).all()
    assert (counts["host_selections"] >= 1).all()
    assert config.elastic is None or (counts["host_selections"] == 1).all()
    assert config.job_nodes > 1 or not counts["misdiagnosed"].any()
    for name, part in {
        "bursts": config.failures.has_bursts,
        "systematic": config.bad_nodes,
        "corruptions_found": config.corruption,
        "stragglers_found": config.straggler,
        "nodes_retired": config.retirement,
        "good_nodes_retired": config.retirement,
    }.items():
        assert part or not counts[name].any(), name


# A process of their own for hostile fleets, which neither a run without an end nor a crash outlives ------------------


def simulated(given, replications):
    return fleet.simulate(fleet_config.build(given), np.random.default_rng(5), replications)


def serve(pipe):
    """Call what comes through the pipe, until nothing does; an error comes back as its name and message."""
    pipe.send("ready")
    while True:
        function, arguments = pipe.recv()
        started = time.process_time()
        try:
            answer = function(*arguments)
        except (Exception, KeyboardInterrupt) as error:
            answer = f"{type(error).__name__}: {error}"
        pipe.send((answer, time.process_time() - started))


class Worker:
    """A process that calls functions of this module."""

    process = None

    def start(self):
        spawn = multiprocessing.get_context("spawn")
        self.pipe, there = spawn.Pipe()
        self.process = spawn.Process(target=serve, args=(there,), daemon=True)
        self.process.start()
        there.close()
        assert self.pipe.recv() == "ready"
        for warm in (SMALL, changed(**EVERY_PART)):  # what is compiled is compiled before the clock runs
            self.ask(simulated, warm, 2, limit=300)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.join()
            self.process = None

    def begin(self, function, *arguments):
        if not self.process:
            self.start()
        self.pipe.send((function, arguments))

    def answer(self, limit):
        """Return what came back and the processor's seconds it took."""
        try:
            if self.pipe.poll(limit):
                return self.pipe.recv()
            failure = f"no end after {limit} s"
        except EOFError:
            failure = "the process died"
        self.stop()
        pytest.fail(failure)

    def ask(self, function, *arguments, limit=20):
        self.begin(function, *arguments)
        return self.answer(limit)


@pytest.fixture(scope="module")
def worker():
    worker = Worker()
    yield worker
    worker.stop()


# Extremes -------------------------------------------------------------------------------------------------------------

ZEROS = {
    "repair": {"automatic_s": 0.0},
    "recovery": {"restart_s": 0.0},
    "checkpoint": {"interval_s": 3600.0},
    "corruption": {"rate_per_node_day": 0.1, "verification_s": 0.0},
    "straggler": {"rate_per_node_day": 0.1, "slowdown": 0.3, "found_after_s": 0.0},
}
BLAMELESS = [{"name": "none", "right": 0.0}]
MILLION = {"job_nodes": 10**6, "horizon_h": 48.0}
EXTREMES = {
    "one node": {"job_nodes": 1, "warm_standbys": 0},
    "one node, and another to blame": {"job_nodes": 1, "faults": [{"name": "wrong", "right": 0.0, "wrong": 1.0}]},
    "one worn node, and another to blame": {
        "job_nodes": 1,
        "failures": WORN,
        "faults": [{"name": "wrong", "right": 0.0, "wrong": 1.0}],
    },
    "one node that is lost in a smaller job": {
        "job_nodes": 1,
        "faults": BLAMED,
        "elastic": {"nodes_per_replica": 1, "reshard_s": 1.0},
    },
    "a million nodes": {**MILLION, "failures": {"rate_per_node_day": 1e-5, **LEMONS}},
    "a million worn nodes": {
        **MILLION,
        "failures": {"rate_per_node_day": 1e-5, **WORN, **LEMONS},
        "retirement": {"failures": 2, "window_days": 1.0},
        "checkpoint": UPLOADED,
    },
    "a million nodes at once": {
        **MILLION,
        "failures": {"rate_per_node_day": 1.0, "burst_shares": [1.0], "burst_sizes": [10**6]},
    },
    "a hundred thousand nodes that all fail": {
        "job_nodes": 10**5,
        "horizon_h": 1.0,
        "failures": {"rate_per_node_day": 1000.0, **ALWAYS},
        "repair": {"automatic_s": 1e6},
    },
    "a million replicas": {
        **MILLION,
        "warm_standbys": 10,
        "failures": {"rate_per_node_day": 1e-5},
        "elastic": {"nodes_per_replica": 1, "reshard_s": 1.0},
    },
    "a restart that hardly ever ends": {
        "failures": {"rate_per_node_day": 180.0, **ALWAYS},  # once in 60 s
        "faults": BLAMELESS,
        "horizon_h": 720.0,
    },
    "worn nodes in a restart that hardly ever ends": {
        "failures": {"rate_per_node_day": 180.0, **ALWAYS, **WORN},
        "faults": BLAMELESS,
        "horizon_h": 720.0,
    },
    "failures far more often than they are seen": {
        "failures": {"rate_per_node_day": 1e4, **ALWAYS},
        "faults": [{"name": "hang", "detection_s": 600.0}],
        "horizon_h": 24.0,
    },
    "no time to compute": {"failures": {"rate_per_node_day": 1e4}, "horizon_h": 20.0},
    "nothing happens": {"failures": {"rate_per_node_day": 1e-12}},
    "nothing takes time": ZEROS,
    "nothing takes time, worn": {**ZEROS, "failures": WORN},
    "nothing takes time, elastic": {**ZEROS, "elastic": {"nodes_per_replica": 2, "reshard_s": 0.0}},
    "hardly any work": {"horizon_h": None, "work_h": 1e-9},
    "hardly any horizon": {"horizon_h": 1e-9},
    "a horizon within host selection": {"horizon_h": 0.5, "recovery": {"host_selection_s": 3600.0}},
    "a horizon within a restart": {"recovery": {"restart_s": 1e9}},
    "a horizon within detection": {"faults": [{"name": "hang", "detection_s": 1e12}]},
    "a horizon within a repair": {"repair": {"automatic_s": 1e12}},
    "an interval longer than the work": {"horizon_h": None, "work_h": 40.0, "checkpoint": {"interval_s": 1e12}},
    "an interval longer than the horizon": {"checkpoint": {"interval_s": 1e12, "write_s": 1e12}},
    "a write longer than the horizon": {"checkpoint": {"interval_s": 60.0, "write_s": 1e12}},
    "a checkpoint a step": {"horizon_h": 2160.0, "checkpoint": {"interval_s": 10.0, "write_s": 0.1}},
    "a checkpoint a step, uploaded and verified": {
        "horizon_h": 2160.0,
        "checkpoint": {"interval_s": 10.0, "write_s": 0.1, "upload_s": 5.0, "drag": 0.1},
        "corruption": {"rate_per_node_day": 0.1, "verification_s": 1.0, "every": 10},
    },
    "uploads that stop the job": {"checkpoint": {"interval_s": 60.0, "upload_s": 3000.0, "drag": 1.0}},
    "uploads as long as the interval": {"checkpoint": {"interval_s": 3000.0, "upload_s": 3000.0}},
    "uploads as long as the interval, dragged and verified": {
        "checkpoint": {"interval_s": 0.7 * 3000.0, "upload_s": 3000.0, "drag": 0.3},
        "corruption": CORRUPTION,
    },
    "stragglers found at once": {"straggler": {**STRAGGLER, "found_after_s": 0.0}},
    "stragglers never found": {"straggler": {**STRAGGLER, "rate_per_node_day": 1e6, "found_after_s": 1e12}},
    "stragglers that stop the job": {"straggler": {**STRAGGLER, "slowdown": 1e9}},
    "every interval corrupt": {
        "checkpoint": {"interval_s": 3600.0, "write_s": 10.0},
        "corruption": {"rate_per_node_day": 1e4, "verification_s": 10.0},
    },
    "a burst as large as the job": {
        "failures": {"burst_shares": [1.0], "burst_sizes": [8]},
        "warm_standbys": 3,
        "spare_nodes": 3,
    },
    "a worn burst as large as the job": {
        "failures": {**WORN, "burst_shares": [0.0, 1.0], "burst_sizes": [1, 8]},
        "retirement": {"failures": 1},
    },
    "all nodes bad for ever": {
        "failures": {"bad_share": 1.0, "bad_factor": 1000.0},
        "repair": {"automatic_fails": 1.0, "manual_fails": 1.0, "to_manual": 0.5, "manual_s": 1.0},
    },
    "all worn nodes bad": {"failures": {**WORN, "bad_share": 1.0, "bad_factor": 2.0}, "faults": BLAMED},
    "two worn nodes, now and then both bad": {
        "job_nodes": 2,
        "failures": {**WORN, "bad_share": 0.5, "bad_factor": 10.0},
        "repair": {"automatic_fails": 1.0},
    },
    "no standbys": {"warm_standbys": 0},
    "spares only": {
        "warm_standbys": 0,
        "spare_nodes": 5,
        "failures": {"rate_per_node_day": 1.0},
        "repair": {"automatic_s": 1e12},
    },
    "spares and standbys, no pool": {"pool_nodes": 10, "spare_nodes": 1000, "repair": {"automatic_s": 1e9}},
    "down to no replica": {
        "repair": {"automatic_s": 1e9},
        "elastic": {"nodes_per_replica": 2, "reshard_s": 60.0},
        "failures": {"rate_per_node_day": 1.0},
    },
    "one replica or none": {"elastic": {"nodes_per_replica": 8, "reshard_s": 60.0}, "faults": BLAMED},
    "bursts in a job that has shrunk": {
        "warm_standbys": 0,
        "failures": {"rate_per_node_day": 1.0, "burst_shares": [0.5, 0.5], "burst_sizes": [1, 4], **ALWAYS},
        "faults": BLAMED,
        "elastic": {"nodes_per_replica": 1, "reshard_s": 60.0},
        "repair": {"automatic_s": 90000.0},
    },
    "one legal size": {"elastic": {"nodes_per_replica": 2, "batch": 1, "reshard_s": 60.0}},
    "retired at the first failure": {"retirement": {"failures": 1}, "failures": {"rate_per_node_day": 1.0}},
    "retired at the first failure, elastic": {
        "retirement": {"failures": 1, "window_days": 1e-6},
        "failures": {"rate_per_node_day": 1.0},
        "elastic": {"nodes_per_replica": 1, "reshard_s": 60.0},
    },
    "lives of one length": {"failures": {"rate_per_node_day": 1.0, "life": "weibull", "shape": 1e6}},
    "lives of nothing or for ever": {"failures": {"rate_per_node_day": 0.1, "life": "weibull", "shape": 0.05}},
    "lognormal lives of one length": {"failures": {"rate_per_node_day": 1.0, "life": "lognormal", "cv": 1e-9}},
    "lognormal lives of nothing or for ever": {"failures": {"life": "lognormal", "cv": 1e3}},
    "every part": EVERY_PART,
    "every part, elastic": {
        **EVERY_PART,
        "pool_nodes": 10,
        "spare_nodes": 0,
        "elastic": ELASTIC,
    },
}


@pytest.mark.parametrize("name", EXTREMES)
def test_an_extreme_ends_with_every_second_in_a_bin(name, worker):
    given = changed(**EXTREMES[name])
    result, _ = worker.ask(simulated, given, 1 if name.startswith("a million") else 2)
    assert isinstance(result, fleet_result.FleetResult), result
    assert_sound(result, given)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nothing happens", {"failures": 0}),
        ("a horizon within host selection", {"failures": 0, "host_selections": 1, "waiting": 1800.0}),
        ("a horizon within detection", {"failures": 1}),
        ("a horizon within a restart", {"failures": 1}),
        ("stragglers never found", {"stragglers_found": 0}),
        ("no standbys", {"preemptions": 0}),
        ("spares only", {"failures": 6, "preemptions": 5, "host_selections": 6}),
        ("retired at the first failure", {"nodes_retired": 3, "failures": 3, "nodes_repaired": 3}),
        ("retired at the first failure, elastic", {"nodes_retired": 10, "failures": 10}),
        ("down to no replica", {"failures": 9}),
        ("every interval corrupt", {"useful": 3600.0 * 0}),
        ("a worn burst as large as the job", {"nodes_retired": 0}),
        ("one node, and another to blame", {"misdiagnosed": 0, "nodes_repaired": 0}),
        ("one worn node, and another to blame", {"misdiagnosed": 0, "nodes_repaired": 0}),
    ],
)
def test_what_an_extreme_must_give(name, expected, worker):
    given = changed(**EXTREMES[name])
    result, _ = worker.ask(simulated, given, 2)
    assert isinstance(result, fleet_result.FleetResult), result
    for what, value in expected.items():
        found = result.bins_s[what] if what in BINS else result.counts[what]
        # Work in the interval that the horizon cuts has not been looked at yet.
        slack = 3700.0 if name == "every interval corrupt" else 1e-6
        assert np.abs(found - value).max() <= slack, what


@pytest.mark.parametrize("life", [{}, WORN, {"life": "lognormal", "cv": 1.2}])
@pytest.mark.parametrize("nodes", [1, 2, 20])
def test_nodes_that_are_all_bad_for_ever_fail_at_their_rate(life, nodes, worker):
    """Systematic failures are a Poisson process, whatever else the nodes fail of."""
    given = {
        "job_nodes": nodes,
        "warm_standbys": 2,
        "work_h": 24 * 20 / nodes,
        "failures": {"rate_per_node_day": 0.3, **life, "bad_share": 1.0, "bad_factor": 4.0},
        "repair": {"automatic_s": 0.0, "automatic_fails": 1.0},
        "recovery": {"restart_s": 0.0},
    }
    result, _ = worker.ask(simulated, given, 400)
    assert isinstance(result, fleet_result.FleetResult), result
    expected = 0.3 * 4.0 * 20
    assert_mean(result.counts["systematic"], expected, 1.5e-2)
    assert_mean((result.counts["systematic"] - expected) ** 2, expected, 0.1)


HUGE = {
    "denormal rate": {"failures": {"rate_per_node_day": 1e-320, **WORN}},
    "rate": {"failures": {"rate_per_node_day": 1e300}},
    "rate, in stops too": {"failures": {"rate_per_node_day": 1e300, **ALWAYS}, "faults": BLAMELESS},
    "rate of bad nodes": {"failures": {"bad_share": 0.5, "bad_factor": 1e300}},
    "spread": {"failures": {"life": "lognormal", "cv": 1e200}},
    "shape": {"failures": {"life": "weibull", "shape": 1e300}},
    "tiny rate": {"failures": {"rate_per_node_day": 1e-300, **WORN}},
    "horizon": {"horizon_h": 1e300},
    "work": {"horizon_h": None, "work_h": 1e300},
    "restart": {"recovery": {"restart_s": 1e300}},
    "repair": {"repair": {"automatic_s": 1e300}},
    "interval": {"checkpoint": {"interval_s": 1e-300}},
    "stragglers": {"straggler": {**STRAGGLER, "rate_per_node_day": 1e300}},
    "corruption": {"checkpoint": {"interval_s": 60.0}, "corruption": {**CORRUPTION, "rate_per_node_day": 1e300}},
    "window": {"retirement": {"failures": 2, "window_days": 1e300}},
}


@pytest.mark.parametrize("name", HUGE)
def test_a_number_beyond_all_sense_is_refused_or_simulated(name, worker):
    """In one line that says what is wrong, or to the end: never a warning, a NaN or a run without an end."""
    given = changed(**HUGE[name])
    answer, _ = worker.ask(simulated, given, 2, limit=5)
    if isinstance(answer, str):
        assert answer.startswith("FleetError: ")
        assert "\n" not in answer
    else:
        assert_sound(answer, given)


ENDLESS = {
    # An hour between failures, a day between checkpoints: e^24 failures for each interval
    "failures": {
        "horizon_h": None,
        "work_h": 1000.0,
        "failures": {"rate_per_node_day": 3.0},
        "faults": BLAMELESS,
        "checkpoint": {"interval_s": 86400.0},
    },
    # Cycles without a random number among them
    "cycles": {
        "horizon_h": fleet_parts.MOST_HOURS,
        "failures": {"rate_per_node_day": 1e-9},
        "checkpoint": {"interval_s": 1.0},
        "corruption": {"rate_per_node_day": 1e-9, "verification_s": 1.0, "every": 10**9},
    },
}


@pytest.mark.parametrize("name", ENDLESS)
def test_work_that_is_never_done_is_refused_or_can_be_interrupted(name, worker):
    given = changed(**ENDLESS[name])
    worker.begin(simulated, given, 2)
    said = "FleetError: "
    if not worker.pipe.poll(1):
        said = "KeyboardInterrupt: "
        os.kill(worker.process.pid, signal.SIGINT)
    answer, _ = worker.answer(5)
    assert answer.startswith(said)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"horizon_h": None, "work_h": 0.0}, "work_h = 0.0"),
        ({"horizon_h": 0.0}, "horizon_h = 0.0"),
        ({"horizon_h": math.inf}, "horizon_h = inf"),
        ({"job_nodes": 10**6 + 1}, "job_nodes = 1000001"),
        ({"job_nodes": 8.0}, "job_nodes = 8.0"),
        ({"job_nodes": True}, "job_nodes = true"),
        ({"failures": {"rate_per_node_day": 0.0}}, "failures.rate_per_node_day = 0.0"),
        ({"failures": {"rate_per_node_day": -1.0}}, "failures.rate_per_node_day = -1.0"),
        ({"failures": {"burst_shares": [1.0], "burst_sizes": [16]}}, "job_nodes = 8 is no multiple of 16"),
        ({"failures": {"burst_shares": [], "burst_sizes": []}}, "failures.burst_shares"),
        ({"faults": []}, "faults"),
        ({"faults": [{"name": "a", "share": 0.5}]}, "faults: their shares sum to 0.5"),
        ({"faults": [{"name": "a", "right": 0.7, "wrong": 0.7}]}, "right \\+ wrong = 1.4"),
        ({"retirement": {"failures": 0}}, "retirement.failures = 0"),
        ({"retirement": {"failures": 2, "window_days": 0.0}}, "retirement.window_days = 0.0"),
        ({"retirement": {"failures": 2, "window_days": -1.0}}, "retirement.window_days = -1.0"),
        ({"retirement": {"failures": 2, "window_days": math.nan}}, "retirement.window_days = nan"),
        ({"checkpoint": {"interval_s": 0.0}}, "checkpoint.interval_s = 0.0"),
        ({"checkpoint": {"interval_s": 10.0, "drag": 1.5}}, "checkpoint.drag = 1.5"),
        ({"elastic": {"nodes_per_replica": 16, "reshard_s": 1.0}}, "nodes_per_replica = 16"),
    ],
)
def test_nonsense_is_refused_in_a_line(changes, said):
    with pytest.raises(fleet_config.FleetError, match=said) as refusal:
        fleet_config.build(changed(**changes))
    assert "\n" not in str(refusal.value)


# Invariants of any fleet ----------------------------------------------------------------------------------------------

# A failing fleet is shown as found: to shrink it would take minutes.
found = settings(modest, phases=[Phase.explicit, Phase.generate])
rates = some.floats(0.01, 3.0)
times = some.sampled_from([0.0, 1.0, 600.0, 7200.0, 86400.0]) | some.floats(0.0, 20000.0)
shares = some.sampled_from([0.0, 1.0]) | some.floats(0.0, 1.0)


@some.composite
def failures_of(draw, job_nodes):
    out = {"rate_per_node_day": draw(rates), "bad_share": draw(shares), "bad_factor": draw(some.floats(0.0, 20.0))}
    out["clock"] = draw(some.sampled_from(["running", "always"]))
    out |= draw(
        some.sampled_from([{}, {"life": "weibull", "shape": 0.6}, {"life": "weibull", "shape": 3.0}])
        | some.just({"life": "lognormal", "cv": 1.2})
    )
    size = draw(some.sampled_from([n for n in range(1, job_nodes + 1) if job_nodes % n == 0]))
    if size > 1:
        share = draw(shares)
        out |= {"burst_shares": [1 - share, share], "burst_sizes": [1, size]}
    return out


@some.composite
def blame(draw):
    right = draw(shares)
    return {"name": "a fault", "detection_s": draw(times), "right": right, "wrong": draw(shares) * (1 - right)}


@some.composite
def checkpoints(draw):
    upload, drag = draw(times), draw(shares)
    interval = (1 - drag) * upload + draw(some.floats(60.0, 40000.0))
    return {"interval_s": interval, "write_s": draw(times), "upload_s": upload, "drag": drag}


@some.composite
def fleets(draw):
    """Any fleet of a few nodes, over a horizon of some days."""
    job, standbys = draw(some.integers(1, 12)), draw(some.integers(0, 4))
    out = {
        "job_nodes": job,
        "warm_standbys": standbys,
        "horizon_h": draw(some.floats(0.01, 150.0)),
        "failures": draw(failures_of(job)),
        "faults": [draw(blame())],
        "repair": {
            "automatic_s": draw(times),
            "manual_s": draw(times),
            "to_manual": draw(shares),
            "automatic_fails": draw(shares),
            "manual_fails": draw(shares),
            "requalify_s": draw(times),
            "times": draw(some.sampled_from(["exponential", "fixed"])),
        },
        "recovery": {name: draw(times) for name in ("restart_s", "swap_s", "host_selection_s", "preemption_s")},
    }
    if draw(some.booleans()):
        size = draw(some.sampled_from([n for n in range(1, job + 1) if job % n == 0]))
        out["elastic"] = {"nodes_per_replica": size, "reshard_s": draw(times), "grow_s": draw(times)}
    else:
        out |= {"pool_nodes": job + standbys + draw(some.integers(0, 3)), "spare_nodes": draw(some.integers(0, 3))}
    if draw(some.booleans()):
        out["checkpoint"] = draw(checkpoints())
        if draw(some.booleans()):
            out["corruption"] = {
                "rate_per_node_day": draw(rates),
                "verification_s": draw(times),
                "every": draw(some.integers(1, 4)),
            }
    if draw(some.booleans()):
        out["straggler"] = {
            "rate_per_node_day": draw(rates),
            "slowdown": draw(some.floats(0.01, 10.0)),
            "found_after_s": draw(times),
            "pause_s": draw(times),
        }
    if draw(some.booleans()):
        out["retirement"] = {"failures": draw(some.integers(1, 4))}
        if draw(some.booleans()):
            out["retirement"]["window_days"] = draw(some.floats(0.01, 10.0))
    return out


def same_bytes(given, key):
    """Simulate a fleet whole, in blocks and piece by piece; returns the result, and whether all had the same bytes."""
    config = fleet_config.build(given)
    whole = fleet.simulate_key(config, key, 5)
    parts = [fleet.simulate_block(config, key, first, number) for first, number in ((0, 1), (1, 3), (4, 1))]
    others = fleet.simulate_key(config, key, 5, block=2), fleet_result.join(parts)
    return whole, {bytes_of(whole)} == {bytes_of(other) for other in others}


def assert_fleet(worker, given, key):
    answer, _ = worker.ask(same_bytes, given, key)
    assert not isinstance(answer, str), answer
    whole, same = answer
    assert_sound(whole, given)
    assert same


@settings(found, max_examples=120)
@given(given_fleet=fleets(), key=some.integers(0, 2**128 - 1))
def test_any_fleet(given_fleet, key, worker):
    """Each second in a bin, and the same bytes whatever the block and the way there."""
    assert_fleet(worker, given_fleet, key)


@settings(found, max_examples=40)
@given(given_fleet=fleets(), work=some.floats(0.01, 150.0), key=some.integers(0, 2**128 - 1))
def test_any_fleet_that_works_to_the_end(given_fleet, work, key, worker):
    """No work is lost, no node is taken out for good, and none fails while the job waits for the others."""
    parts = {"failures": {"clock": "running"}, "retirement": None, "checkpoint": None, "corruption": None}
    assert_fleet(worker, changed(given_fleet, horizon_h=None, work_h=work, **parts), key)


def each_and_alone(given_fleets, key):
    """Simulate replications 3, 4 ... under a fleet each, at once and one by one; returns the bytes of both."""
    configs = [fleet_config.build(one) for one in given_fleets]
    alone = [fleet.simulate_block(config, key, 3 + i, 1) for i, config in enumerate(configs)]
    both = fleet.simulate_each(configs, key, first=3), fleet_result.join(alone)
    return tuple(bytes_of(result) for result in both)


@settings(found, max_examples=20)
@given(given_fleets=some.lists(fleets(), min_size=1, max_size=4), key=some.integers(0, 2**128 - 1))
def test_each_replication_under_a_fleet_of_its_own(given_fleets, key, worker):
    """As if each fleet had been simulated whole, and that replication taken."""
    answer, _ = worker.ask(each_and_alone, given_fleets, key)
    assert not isinstance(answer, str), answer
    at_once, one_by_one = answer
    assert at_once == one_by_one


# What must follow exactly on the same failures ------------------------------------------------------------------------

# Nodes all alike, always enough of them, and a clock that stops with the job: stops change nothing but the time.
ALIKE = changed(warm_standbys=300, horizon_h=None, work_h=400.0)


@pytest.mark.parametrize(
    ("change", "each"),
    [
        ({"recovery": {"restart_s": 1000.0}}, 400.0),
        ({"faults": [{"name": "fault", "detection_s": 77.0}]}, 77.0),
        ({"recovery": {"restart_s": 0.0}}, -600.0),
    ],
)
def test_a_longer_stop_costs_its_length_at_each_failure(change, each):
    before, after = run(20, 5, ALIKE), run(20, 5, ALIKE, **change)
    assert before.counts["failures"].min() > 0
    assert (before.counts["failures"] == after.counts["failures"]).all()
    assert after.elapsed_s - before.elapsed_s == pytest.approx(each * before.counts["failures"], abs=1e-3)


def test_checkpoints_only_add_time_where_work_was_never_lost():
    """They lose work too: the job without them, which is said to lose none, is done first."""
    plain = run(20, 5, ALIKE)
    for interval in (1800.0, 20_000.0):
        saved = run(20, 5, ALIKE, checkpoint={"interval_s": interval, "write_s": 60.0})
        assert (saved.elapsed_s >= plain.elapsed_s).all()
        assert (saved.counts["failures"] >= plain.counts["failures"]).all()


@pytest.mark.parametrize(
    "parts", [{}, {"failures": WORN}, EVERY_PART, {"elastic": ELASTIC, "checkpoint": UPLOADED, "straggler": STRAGGLER}]
)
def test_a_longer_run_begins_as_a_shorter_one(parts):
    """More of everything that can only grow; and no useful work is lost but what was not committed."""
    short, long = run(10, 5, horizon_h=100.0, **only(parts)), run(10, 5, horizon_h=250.0, **only(parts))
    for name, count in short.counts.items():
        assert (count <= long.counts[name]).all(), name
    for name in ("checkpoint", "redone", "detection", "restart", "waiting", "verification"):
        assert (short.bins_s[name] <= long.bins_s[name] + 1e-6).all(), name
    assert (short.counts["failures"] < long.counts["failures"]).any()


def only(parts):
    """Leave the horizon out."""
    return {name: value for name, value in parts.items() if name != "horizon_h"}


@pytest.mark.parametrize("parts", [{}, {"failures": WORN}, {"elastic": ELASTIC, "checkpoint": UPLOADED}])
def test_more_work_takes_longer(parts):
    less, more = (run(10, 5, horizon_h=None, work_h=work, **parts) for work in (100.0, 250.0))
    assert (more.elapsed_s - less.elapsed_s >= 150 * 3600).all()
    for name, count in less.counts.items():
        assert (count <= more.counts[name]).all(), name


def test_the_end_of_the_work_is_a_horizon():
    """A run for the time that the work took has done that work, by the same road."""
    done = run(1, 5, horizon_h=None, work_h=100.0)
    again = run(1, 5, horizon_h=float(done.training_time_h[0]))
    assert again.bins_s["useful"] == pytest.approx(done.bins_s["useful"])
    assert again.counts["failures"] == done.counts["failures"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"failures": 3, "window_days": fleet_parts.MOST_DAYS}, {"failures": 3}),
        ({"failures": 3, "window_days": 1e-9}, {"failures": 1000}),
        ({"failures": 1, "window_days": 1e-9}, {"failures": 1}),
    ],
)
def test_a_window_as_long_as_the_run_or_as_short_as_a_moment(one, other):
    lemons = {"failures": {"rate_per_node_day": 0.5, **LEMONS}}
    results = [run(20, 5, **lemons, retirement=rule) for rule in (one, other)]
    assert bytes_of(results[0]) == bytes_of(results[1])
    assert results[0].counts["failures"].min() >= 3


@pytest.mark.parametrize("life", [{}, WORN])
def test_a_share_of_nothing_changes_nothing(life):
    """Bursts of no share, a class of faults that is split in two alike, repairs by hand that never happen."""
    plain = run(20, 5, failures=life)
    for parts in (
        {"failures": {**life, "burst_shares": [1.0, 0.0], "burst_sizes": [1, 4]}},
        {"failures": {**life, "bad_share": 0.0, "bad_factor": 50.0}},
        {"repair": {"manual_s": 1e6, "manual_fails": 1.0}, "failures": life},
        {"recovery": {"swap_s": 600.0}, "failures": life},
    ):
        assert bytes_of(run(20, 5, **parts)) == bytes_of(plain)


def test_auto_stops_where_what_it_has_not_seen_is_rare():
    result = fleet.simulate(
        fleet_config.build(changed(failures={"rate_per_node_day": 1e-12})), np.random.default_rng(1)
    )
    assert len(result) == 600  # log(1 / 0.05) / 0.005
    assert (result.effective_training_ratio == 1).all()


def test_auto_ends_where_nothing_is_ever_useful():
    given_fleet = changed(horizon_h=0.5, recovery={"host_selection_s": 3600.0})
    result = fleet.simulate(fleet_config.build(given_fleet), np.random.default_rng(1))
    assert len(result) == 600
    assert not result.effective_training_ratio.any()
