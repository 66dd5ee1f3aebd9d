"""The fleet model: one cause at a time against the exact models, every second in one bin, the same bytes each time."""

import tomllib

import numpy as np
import pytest
from oracles import assert_mean, bytes_of
from scipy import stats

from reliability import (
    budget,
    bursts,
    checkpoint,
    commit,
    elastic,
    fleet,
    fleet_config,
    fleet_engine,
    fleet_result,
    lives,
    repair_queues,
    stalls,
    verification,
)
from reliability.fleet_state import Workspace

pytestmark = pytest.mark.filterwarnings("error")

RATE = 0.1 / 86400  # of a node; 100 of them fail once in 8,640 s
MTBF, RESTART = 8640.0, 600.0
PLAIN = {
    "job_nodes": 100,
    "warm_standbys": 50,
    "horizon_h": 4000.0,
    "failures": {"rate_per_node_day": 0.1},
    "repair": {"automatic_s": 3600.0},
    "recovery": {"restart_s": RESTART},
}


def changed(settings, **changes):
    """Return the settings with some parts replaced; None leaves one out."""
    out = dict(settings)
    for name, value in changes.items():
        both = isinstance(value, dict) and isinstance(out.get(name), dict)
        out[name] = {**out[name], **value} if both else value
    return {name: value for name, value in out.items() if value is not None}


def run(settings, replications, seed=5, **options):
    return fleet.simulate(fleet_config.build(settings), np.random.default_rng(seed), replications, **options)


def assert_share(settings, expected, replications, resolution):
    result = run(settings, replications)
    assert_mean(result.effective_training_ratio, expected, resolution)
    assert_closed(result)
    return result


def assert_closed(result):
    """Every second is in exactly one bin."""
    for name, seconds in result.bins_s.items():
        assert seconds.min() >= -1e-6, name
    assert sum(result.bins_s.values()) == pytest.approx(result.elapsed_s, rel=1e-12, abs=1e-5)


# One cause at a time --------------------------------------------------------------------------------------------------


def test_a_stop_for_each_failure_of_a_clock_that_stops_with_it_is_the_availability():
    assert_share(PLAIN, MTBF / (MTBF + RESTART), 200, 3e-4)


def test_failures_in_a_restart_start_it_over():
    assert_share(changed(PLAIN, failures={"clock": "always"}), stalls.running_share(RESTART, MTBF), 200, 3e-4)


def test_detection_takes_as_long_as_each_class_needs():
    faults = [
        {"name": "loud", "share": 0.3, "detection_s": 100.0},
        {"name": "hang", "share": 0.7, "detection_s": 1000.0},
    ]
    result = assert_share(changed(PLAIN, faults=faults), MTBF / (MTBF + RESTART + 730), 200, 3e-4)
    assert_mean(result.bins_s["detection"] / result.bins_s["restart"], 730 / RESTART, 2e-3)


@pytest.mark.parametrize(("clock", "restart"), [("always", RESTART), ("running", 0.0)])
def test_checkpoints_are_the_renewal_model(clock, restart):
    settings = changed(
        PLAIN,
        failures={"clock": clock},
        recovery={"restart_s": restart},
        checkpoint={"interval_s": 1800.0, "write_s": 120.0},
    )
    assert_share(settings, checkpoint.renewal_efficiency(1800.0, 120.0, restart, MTBF), 200, 1e-3)


def test_uploads_count_when_they_are_committed():
    asynchronous = {"interval_s": 1800.0, "write_s": 20.0, "upload_s": 900.0, "drag": 0.2}
    settings = changed(PLAIN, failures={"clock": "always"}, checkpoint=asynchronous)
    assert_share(settings, commit.asynchronous_efficiency(1800.0, 20.0, 900.0, 0.2, RESTART, MTBF), 200, 1e-3)


@pytest.mark.parametrize("every", [1, 3])
def test_silent_corruption_is_the_pattern_model(every):
    settings = changed(
        PLAIN,
        horizon_h=1000.0,
        failures={"clock": "always"},
        checkpoint={"interval_s": 1800.0, "write_s": 120.0},
        corruption={"rate_per_node_day": 0.02, "verification_s": 60.0, "every": every},
    )
    exact = verification.pattern_efficiency(1800.0, 120.0, 60.0, RESTART, 5 * MTBF, MTBF, every)
    assert_share(settings, exact, 150, 3e-3)


@pytest.mark.parametrize("pause", [0.0, 300.0])
def test_a_straggler_drags_until_it_is_found(pause):
    """A renewal process of running time: free of stragglers for an exponential time, then found after a fixed one."""
    straggler = {"rate_per_node_day": 0.05, "slowdown": 0.25, "found_after_s": 3600.0, "pause_s": pause}
    settings = changed(PLAIN, failures={"rate_per_node_day": 1e-9}, straggler=straggler)
    free = 2 * MTBF
    result = assert_share(settings, (free + 0.8 * 3600) / (free + 3600 + pause), 200, 1e-3)
    assert_mean(result.bins_s["degraded"] / result.elapsed_s, 0.2 * 3600 / (free + 3600 + pause), 1e-2)


@pytest.mark.parametrize(
    "repair",
    [
        {"automatic_s": 17280.0},
        {"automatic_s": 17280.0, "times": "fixed"},
        {"automatic_s": 8640.0, "manual_s": 17280.0, "to_manual": 0.3, "requalify_s": 3456.0},
    ],
)
def test_waits_for_a_repair_are_the_loss_formula(repair):
    """A job that stops while more than its standbys are away: a loss system, whatever the repair times."""
    settings = changed(PLAIN, warm_standbys=3, repair=repair, recovery={"restart_s": 0.0})
    result = assert_share(settings, 1 - repair_queues.erlang_b(100 * RATE * 17280, 4), 200, 2e-3)
    assert_mean(result.bins_s["waiting"] / result.elapsed_s, repair_queues.erlang_b(100 * RATE * 17280, 4), 2e-2)


def test_nodes_that_fail_while_the_job_waits_are_the_machine_repair_model():
    settings = changed(
        PLAIN,
        warm_standbys=3,
        failures={"clock": "always"},
        repair={"automatic_s": 17280.0},
        recovery={"restart_s": 0.0},
    )
    chances = repair_queues.machine_repair(100, 3, 1 / RATE, 17280.0)
    assert_share(changed(settings, horizon_h=2000.0), chances[:4].sum(), 200, 4e-3)


@pytest.mark.parametrize(("standbys", "batch"), [(3, None), (0, None), (2, 20)])
def test_a_smaller_job_goes_on_at_the_speed_of_its_replicas(standbys, batch):
    settings = changed(
        PLAIN,
        warm_standbys=standbys,
        failures={"clock": "always"},
        repair={"automatic_s": 17280.0},
        recovery={"restart_s": 0.0},
        elastic={"nodes_per_replica": 5, "batch": batch, "reshard_s": 0.0},
    )
    chances = repair_queues.machine_repair(100, standbys, 1 / RATE, 17280.0)
    lost = np.maximum(np.arange(len(chances)) - standbys, 0)
    speed = elastic.throughput(-(-lost // 5), 20, batch)
    settings["elastic"] = {name: value for name, value in settings["elastic"].items() if value is not None}
    result = assert_share(settings, chances @ speed, 150, 3e-3)
    assert_mean(result.bins_s["degraded"] / result.elapsed_s, 1 - chances @ speed, 5e-2)


def test_each_node_that_comes_back_stops_the_job_to_grow():
    """Failures are so rare that each is over before the next, with a stop to shrink and one to grow."""
    settings = changed(
        PLAIN,
        warm_standbys=0,
        horizon_h=20_000.0,
        failures={"rate_per_node_day": 1e-4},
        repair={"automatic_s": 7200.0, "times": "fixed"},
        elastic={"nodes_per_replica": 5, "reshard_s": 100.0, "grow_s": 900.0},
    )
    result = run(settings, 50)
    stopped = result.bins_s["restart"].sum() / result.counts["failures"].sum()
    assert stopped == pytest.approx(100.0 + 900.0, rel=0.02)
    degraded = result.bins_s["degraded"].sum() / result.counts["failures"].sum()
    assert degraded == pytest.approx((7200.0 - 100.0) / 20, rel=0.02)


def test_bursts_interrupt_less_often_and_take_as_many_nodes():
    split = {"burst_shares": [0.6, 0.4], "burst_sizes": [1, 10]}
    result = run(changed(PLAIN, failures=split, recovery={"restart_s": 0.0}, repair={"automatic_s": 600.0}), 200)
    running = result.bins_s["useful"]
    assert_mean(result.counts["failures"] / running, 1 / bursts.job_mtbf(1 / RATE, 100, [0.6, 0.4], [1, 10]), 3e-3)
    assert_mean(result.counts["nodes_repaired"] / running, 100 * RATE, 5e-3)
    assert_mean(result.counts["bursts"] / running, 0.4 * 10 * RATE, 1e-2)


def test_blame():
    result = run(
        changed(PLAIN, faults=[{"name": "any", "right": 0.6, "wrong": 0.3}], repair={"automatic_s": 600.0}), 100
    )
    assert_mean(result.counts["nodes_repaired"] / result.counts["failures"], 0.9, 1e-3)
    assert_mean(result.counts["misdiagnosed"] / result.counts["failures"], 0.3, 5e-3)


@pytest.mark.parametrize("life", [{"life": "weibull", "shape": 0.7}, {"life": "lognormal", "cv": 1.5}, {}])
def test_failures_of_named_nodes_are_a_renewal_process(life):
    """Repair takes no time and a swap none, so that each place holds a node that is renewed as it fails."""
    settings = changed(
        PLAIN,
        job_nodes=50,
        warm_standbys=1,
        horizon_h=480.0,
        failures=life,
        repair={"automatic_s": 0.0},
        recovery={"restart_s": 0.0},
    )
    mean, age = 10.0, 20.0  # days
    cdf = {
        "weibull": lambda t: lives.weibull_cdf(t, mean, 0.7),
        "lognormal": lambda t: lives.lognormal_cdf(t, mean, 1.5),
        None: lambda t: -np.expm1(-t / mean),
    }[life.get("life")]
    # The one standby is fresh: whichever of two nodes alike stands by is the younger, and only its place changes.
    assert_mean(run(settings, 400).counts["failures"] / 50, lives.mean_failures(age, cdf, mean), 6e-3)


def test_lemons_are_retired_at_their_last_failure():
    """Repairs cure nobody: without retirement each lemon fails to the end, with it at most four times."""
    settings = changed(
        PLAIN,
        horizon_h=3000.0,
        failures={"bad_share": 0.1, "bad_factor": 20.0},
        repair={"automatic_s": 3600.0, "automatic_fails": 1.0},
    )
    kept, retired = run(settings, 30), run(changed(settings, retirement={"failures": 4}), 30)
    assert retired.counts["systematic"].max() <= 4 * 15  # bad nodes among 150
    assert retired.counts["systematic"].mean() < 0.2 * kept.counts["systematic"].mean()
    assert (retired.counts["nodes_retired"] <= retired.counts["nodes_repaired"] / 4).all()
    assert kept.counts["nodes_retired"].max() == 0
    assert retired.counts["nodes_retired"].mean() > 12


def test_a_repair_cures_a_bad_node_as_often_as_it_succeeds():
    """Each of the bad nodes fails systematically until cured: 1 / 0.6 times for each of them that ever fails."""
    settings = changed(
        PLAIN,
        failures={"rate_per_node_day": 1e-4, "bad_share": 0.5, "bad_factor": 5000.0},
        warm_standbys=0,
        repair={"automatic_s": 3600.0, "automatic_fails": 0.4},
    )
    assert_mean(run(settings, 300).counts["systematic"], 50 / 0.6, 1e-2)


# Bytes, replications, intervals ---------------------------------------------------------------------------------------

ALL_CAUSES = {
    "job_nodes": 20,
    "pool_nodes": 24,
    "warm_standbys": 2,
    "spare_nodes": 4,
    "horizon_h": 300.0,
    "failures": {"rate_per_node_day": 0.1, "bad_share": 0.2, "bad_factor": 5.0},
    "faults": [
        {"name": "loud", "share": 0.5, "right": 0.6, "wrong": 0.3, "detection_s": 300.0},
        {"name": "other", "share": 0.5},
    ],
    "repair": {
        "automatic_s": 20000.0,
        "manual_s": 90000.0,
        "to_manual": 0.5,
        "automatic_fails": 0.4,
        "manual_fails": 0.2,
    },
    "recovery": {"restart_s": 1200.0, "swap_s": 100.0, "host_selection_s": 600.0, "preemption_s": 2000.0},
    "checkpoint": {"interval_s": 7200.0, "write_s": 300.0, "upload_s": 3000.0, "drag": 0.3},
    "straggler": {"rate_per_node_day": 0.05, "slowdown": 0.3, "found_after_s": 20000.0, "pause_s": 500.0},
}
BLOCKING = {"interval_s": 7200.0, "write_s": 300.0}
VARIANTS = {
    "counted": {},
    "work": {"horizon_h": None, "work_h": 200.0, "straggler": None},
    "bursts": {"failures": {"burst_shares": [0.6, 0.4], "burst_sizes": [1, 4], "clock": "always"}},
    "verified": {"checkpoint": None, "corruption": {"rate_per_node_day": 0.05, "verification_s": 200.0, "every": 2}},
    "elastic": {
        "pool_nodes": 22,
        "spare_nodes": 0,
        "elastic": {"nodes_per_replica": 4, "batch": 12, "reshard_s": 500.0, "grow_s": 200.0},
    },
    "named": {"failures": {"life": "weibull", "shape": 0.7, "clock": "always"}, "retirement": {"failures": 3}},
    "all": {
        "failures": {
            "life": "lognormal",
            "cv": 1.5,
            "burst_shares": [0.6, 0.4],
            "burst_sizes": [1, 4],
            "clock": "always",
        },
        "corruption": {"rate_per_node_day": 0.05, "verification_s": 200.0, "every": 2},
        "retirement": {"failures": 2, "window_days": 5.0},
    },
}


def variant(name):
    settings = changed(ALL_CAUSES, **VARIANTS[name])
    return settings if "checkpoint" in settings else {**settings, "checkpoint": BLOCKING}


@pytest.mark.parametrize("name", VARIANTS)
def test_the_same_bytes_whatever_the_block(name):
    blocks = [run(variant(name), 40, block=block) for block in (40, 1, 7)]
    assert_closed(blocks[0])
    assert len({bytes_of(block) for block in blocks}) == 1
    assert bytes_of(run(variant(name), 40, seed=6)) != bytes_of(blocks[0])


def test_a_replication_is_the_same_alone_and_in_another_process():
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    config, key = fleet_config.build(variant("counted")), 7
    whole = fleet.simulate_block(config, key, 0, 6)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        parts = [pool.submit(fleet.simulate_block, config, key, first, 2) for first in (0, 2, 4)]
        assert bytes_of(fleet_result.join([part.result() for part in parts])) == bytes_of(
            whole
        )


def test_policies_meet_the_same_failures():
    slow = fleet_config.build(changed(PLAIN, horizon_h=500.0, failures={"clock": "always"}))
    fast = fleet_config.build(
        changed(PLAIN, horizon_h=500.0, failures={"clock": "always"}, recovery={"restart_s": 300.0})
    )
    results = fleet.compare({"slow": slow, "fast": fast}, np.random.default_rng(1), 200)
    ratios = [result.effective_training_ratio for result in results.values()]
    counts = [result.counts["failures"] for result in results.values()]
    assert np.corrcoef(counts)[0, 1] > 0.98  # a job that stands for longer lacks a node for longer, which cannot fail
    paired, apart = np.var(ratios[1] - ratios[0]), np.var(ratios[0]) + np.var(ratios[1])
    assert paired < 0.3 * apart
    assert_mean(ratios[1] - ratios[0], stalls.running_share(300.0, MTBF) - stalls.running_share(600.0, MTBF), 1e-2)


def test_auto_stops_at_the_precision():
    settings = changed(PLAIN, horizon_h=200.0, checkpoint={"interval_s": 1800.0, "write_s": 120.0})
    loose, tight = run(settings, "auto", precision=0.02), run(settings, "auto", precision=0.002)
    assert len(loose) < len(tight)
    found = fleet_result.estimate(tight.effective_training_ratio)
    assert found.half_width <= 0.002 * found.mean
    assert found.half_width > 0.002 * found.mean / np.sqrt(3)  # nor has it run three times as long as it must
    assert bytes_of(run(settings, "auto", precision=0.002, block=11)) == bytes_of(tight)


def test_auto_goes_on_where_nearly_nothing_happens():
    """A month of eight nodes that meet a failure in one run of seventy; most runs of 32 meet none."""
    settings = changed(
        PLAIN,
        job_nodes=8,
        warm_standbys=0,
        horizon_h=720.0,
        repair={"automatic_s": 3e6},
        failures={"rate_per_node_day": 6e-5},
    )
    for seed in range(8):
        result = run(settings, "auto", seed=seed)
        assert len(result) >= 600  # log(1 / 0.05) / 0.005
    never = run(changed(settings, failures={"rate_per_node_day": 1e-9}), "auto")
    assert len(never) == 600
    assert len(run(changed(settings, failures={"rate_per_node_day": 1e-9}), "auto", precision=0.05)) == 60


def test_an_interrupted_run_gives_what_it_has():
    def stop(done, wanted):
        if done >= 20:
            raise KeyboardInterrupt

    settings = changed(PLAIN, horizon_h=100.0)
    with pytest.raises(KeyboardInterrupt):  # unless it is asked for: who computes on would take it for the whole
        run(settings, 100, block=10, progress=stop)
    result = run(settings, 100, block=10, progress=stop, partial=True)
    assert result.partial
    assert len(result) == 20
    assert bytes_of(result) == bytes_of(run(changed(PLAIN, horizon_h=100.0), 20))


def test_the_interval_is_students():
    sample = np.random.default_rng(0).normal(3.0, 2.0, 12)
    expected = stats.t.interval(0.9, 11, sample.mean(), stats.sem(sample))
    found = fleet_result.estimate(sample, 0.9)
    assert (found.low, found.high) == pytest.approx(expected)


def test_the_summary_has_every_estimate():
    summary = run(changed(PLAIN, horizon_h=100.0), 10).summary()
    assert set(summary["hours_lost"]) == set(budget.BINS) - {"useful"}
    for name in ("training_time_h", "effective_training_ratio", "failures"):
        assert set(summary[name]) == {"mean", "sd", "low", "high"}
    assert (summary["replications"], summary["partial"]) == (10, False)


def test_every_bin_has_a_meaning_and_a_place_in_the_goodput_taxonomy():
    assert set(budget.MEANING) == set(budget.GOODPUT_TAXONOMY) == set(budget.BINS)


# Refusals -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"job_nodes": 0}, r"fleet.job_nodes = 0: must be a whole number from 1 to 1,000,000 \(nodes of the job\)$"),
        ({"job_node": 3}, r"fleet.job_node: unknown key. Did you mean job_nodes\? The table fleet may have job_nodes, pool_nodes"),
        ({"failures": {"bad_shar": 0.1}}, r"fleet.failures.bad_shar: unknown key. Did you mean bad_share\?"),
        ({"faults": [{"name": "x", "detect": 1.0}]}, r"^fleet.faults.x.detect: unknown key. Did you mean detection_s\? [^;]*$"),
        ({"faults": [{"nmae": "x"}]}, r"^fleet.faults.1.nmae: unknown key. Did you mean name\? [^;]*$"),
        ({"faults": [{"name": "x", "share": 0.5}, {"name": "gpu", "share": 2}]}, "fleet.faults.gpu.share = 2: must be a number above 0"),
        ({"faults": {"gpu": 1.0}}, r"fleet.faults = { gpu = 1.0 }: must be tables, \[\[fleet.faults\]\]"),
        ({"faults": [3]}, r"fleet.faults.1 = 3: must be a table, \[\[fleet.faults\]\]$"),
        ({"faults": [{"share": 1.0}]}, r"^fleet.faults.1.name: is missing; it must be a text \(the class's name\)$"),
        ({"repair": 3}, r"fleet.repair = 3: must be a table, \[fleet.repair\]$"),
        ({"repair": [{"automatic_s": 3}]}, r"fleet.repair = \[{ automatic_s = 3 }\]: must be a table, \[fleet.repair\]$"),
        ({"recovery": {"restart_s": True}}, "fleet.recovery.restart_s = true: must be a number at least 0"),
        ({"recovery": {"restart_s": "5"}}, "fleet.recovery.restart_s = '5': must be a number at least 0"),
        ({"recovery": {"restart_min": 5}}, "restart_s is in s, not min"),
        ({"recovery": {"restart_s": 1e13}}, "fleet.recovery.restart_s = 10000000000000.0: must be a number at least 0 and at most 3,153,600,000,000"),
        ({"job_nodes": 10**5000}, "fleet.job_nodes = a whole number of 16,610 bits: must be a whole number from 1 to"),
        ({"failures": {"burst_sizes": 4}}, "fleet.failures.burst_sizes = 4: must be a list of different whole numbers"),
        ({"failures": {"burst_sizes": [4, 1.5]}}, r"fleet.failures.burst_sizes = 1.5 \(number 2 of the list\): must be a list of different whole"),
        ({"failures": {"burst_shares": [1.0, 0.0], "burst_sizes": [1, 2**63 - 1]}}, r"burst_sizes = 9\d+ \(number 2 of the list\): must be a list of .* from 1 to 1,000,000;"),
        ({"failures": {"clock": "never"}}, "fleet.failures.clock = 'never': must be one of running, always"),
        ({"elastic": {"nodes_per_replica": 5, "reshard_s": 1.0, "batch": 10**30}}, "batch = a whole number of 100 bits: must be a whole number from 1 to 1,000,000,000"),
        ({"job_nodes": 0, "horizon_h": -1}, r"fleet.job_nodes = 0: .*\) \(and 1 more to mend\)$"),
        ({"qqq": 3}, "fleet.qqq: unknown key. The table fleet may have"),
        ({"q\x1b\nq": 3}, r"fleet.q\\x1b\\nq: unknown key. The table fleet may have"),
        ({"repair": None}, r"^the table \[fleet.repair\] is missing$"),
        ({"recovery": {"restart_s": float("nan")}}, "recovery.restart_s = nan"),
        ({"work_h": 3.0}, "fleet: give one of work_h and horizon_h, .*: both are given$"),
        ({"horizon_h": None}, "fleet: give one of work_h and horizon_h, .*: neither is given$"),
        ({"failures": {"rate_per_node_day": 1e-300}}, r"rate_per_node_day = 1e-300: must be at least 1e-100 \(random failures"),
        ({"pool_nodes": 120}, "fleet.pool_nodes = 120: must hold job_nodes \\+ warm_standbys = 150"),
        ({"failures": {"life": "weibull"}}, "fleet.failures.shape: is missing; life = 'weibull' needs it"),
        ({"failures": {"cv": 1.0}}, "fleet.failures.cv = 1: goes with life = 'lognormal' only"),
        (
            {"failures": {"burst_shares": [0.5, 0.4], "burst_sizes": [1, 10]}},
            r"fleet.failures.burst_shares = \[0.5, 0.4\]: must sum to 1",
        ),
        ({"failures": {"burst_shares": [0.5, 0.5], "burst_sizes": [1, 7]}}, "fleet.failures.burst_sizes: job_nodes = 100 is no multiple of 7"),
        ({"faults": [{"name": "x", "share": 0.4}]}, "fleet.faults: their shares sum to 0.4"),
        ({"faults": [{"name": "x", "right": 0.8, "wrong": 0.4}]}, "fleet.faults.x.right \\+ wrong = 1.2: must be at most 1$"),
        ({"elastic": {"nodes_per_replica": 7, "reshard_s": 1.0}}, "fleet.elastic.nodes_per_replica = 7: must divide job_nodes = 100"),
        (
            {"elastic": {"nodes_per_replica": 5, "reshard_s": 1.0}, "spare_nodes": 1},
            "fleet.elastic: every node outside the job",
        ),
        ({"corruption": {"rate_per_node_day": 0.1, "verification_s": 1.0}}, "fleet.corruption: needs a checkpoint"),
        ({"checkpoint": {"interval_s": 10.0, "upload_s": 20.0}}, "fleet.checkpoint.interval_s = 10: must be at least"),
        (
            {"failures": {"rate_per_node_day": 60000.01}},
            "failures.rate_per_node_day = 60000.01: means 1,000,000,167 events in a replication; the model does at most 1,000,000,000",
        ),
        ({"failures": {"rate_per_node_day": 1e9}, "job_nodes": 10**6, "horizon_h": 1e6}, "means 4e\\+19 events"),
    ],
)
def test_what_is_impossible_or_not_modelled_is_refused(changes, said):
    with pytest.raises(fleet_config.FleetError, match=said):
        fleet_config.build(changed(PLAIN, **changes))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('[[fleet.faults]]\nname = "a"\nshare = 0.6\n[[fleet.faults]]\nname = "b"\nshare = 0.6', "line 8: fleet.faults: their shares sum to 1.2"),
        ('[[fleet.faults]]\nname = "a"\n[[fleet.faults]]\nname = "b"\nright = 0.9\nwrong = 0.9', r"line 12: fleet.faults.b.right \+ wrong"),
        ('[[fleet.faults]]\nname = "a"\n[[fleet.faults]]\nname = "b"\nshare = 2', "line 12: fleet.faults.b.share = 2"),
        ('[[fleet.faults]]\nname = "a"\n[[fleet.faults]]\nshare = 1.0', "line 10: fleet.faults.2.name: is missing"),
        ("[fleet.retirement]\n[[fleet.faults]]\nname = 'a'", "line 8: fleet.retirement.failures: is missing"),
    ],
)
def test_a_fault_has_the_line_of_its_key_or_of_its_table(more, said):
    text = f"[fleet]\njob_nodes = 8\nhorizon_h = 1\nrepair.automatic_s = 1\nrecovery.restart_s = 1\n[fleet.failures]\nrate_per_node_day = 1\n{more}"
    with pytest.raises(fleet_config.FleetError, match=f"^{said}"):
        fleet_config.build(tomllib.loads(text)["fleet"], text)


def test_a_burst_of_no_share_takes_no_memory():
    bursts = {"rate_per_node_day": 0.1, "burst_shares": [1.0, 0.0], "burst_sizes": [1, 10**6]}
    sizes = [len(Workspace(fleet_config.build(changed(PLAIN, failures=f))).arrays.drawn) for f in ({"rate_per_node_day": 0.1}, bursts)]
    assert sizes[0] == sizes[1]


def test_work_that_no_pool_is_left_for_is_refused():
    settings = changed(PLAIN, horizon_h=None, work_h=5000.0, warm_standbys=5, retirement={"failures": 1})
    with pytest.raises(fleet_config.FleetError, match="shrunk below job_nodes"):
        run(settings, 2)
    result = run(changed(settings, work_h=None, horizon_h=500.0), 2)
    assert (result.counts["nodes_retired"] == 6).all()
    assert_closed(result)


def test_simulate_refuses_what_is_no_fleet_and_no_generator():
    with pytest.raises(fleet_config.FleetError, match="must be a Fleet"):
        fleet.simulate(PLAIN, np.random.default_rng(0), 3)
    with pytest.raises(ValueError, match="rng = 7"):
        fleet.simulate(fleet_config.build(PLAIN), 7, 3)
    for given in (0, "autox"):
        with pytest.raises(ValueError, match=f'replications = {given!r}: must be .*, or "auto"$'):
            fleet.simulate(fleet_config.build(PLAIN), np.random.default_rng(0), given)


NEVER_DONE = {"work_h": 100.0, "horizon_h": None, "failures": {"rate_per_node_day": 1.0}, "checkpoint": {"interval_s": 86400.0}}


def test_work_that_is_never_done_ends_at_the_most_events(monkeypatch):
    """A failure every 864 s, a day to the next checkpoint."""
    monkeypatch.setattr(fleet_engine, "MOST_EVENTS", 10_000)
    config = fleet_config.build(changed(PLAIN, **NEVER_DONE))
    with pytest.raises(fleet_config.FleetError, match=r"^work_h = 100: after 10,000 failures or other events 0 hours of it are done; .* horizon_h"):
        fleet.simulate(config, np.random.default_rng(1), 1)


def test_a_horizon_ends_whatever_is_never_done(monkeypatch):
    monkeypatch.setattr(fleet_engine, "MOST_EVENTS", 100)
    config = fleet_config.build(changed(PLAIN, **NEVER_DONE | {"work_h": None, "horizon_h": 1000.0}))
    assert fleet.simulate(config, np.random.default_rng(1), 1).counts["failures"][0] > 1000


def test_checkpoints_far_apart_are_no_matter_while_nodes_are_new():
    """A failure every 32 min in the long run, 12 h between checkpoints; but nodes that wear out have hardly any in the first month."""
    aged = {"rate_per_node_day": 1 / 365, "life": "weibull", "shape": 3.0}
    config = fleet_config.build(
        changed(PLAIN, job_nodes=16384, pool_nodes=None, work_h=720.0, horizon_h=None, failures=aged, checkpoint={"interval_s": 43200.0})
    )
    assert fleet.simulate(config, np.random.default_rng(1), 5).counts["failures"].mean() < 100
