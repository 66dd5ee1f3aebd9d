"""The fleet model against a plain SimPy program, in distribution, with all causes; and that program against timelines by hand."""

import functools
import math

import numpy as np
import pytest
import simpy_fleet
from oracles import assert_mean, two_sample_p
from test_fleet import ALL_CAUSES, BLOCKING, VARIANTS, changed

from reliability import fleet, fleet_config
from reliability.budget import BINS

pytestmark = pytest.mark.filterwarnings("error")

SAME = ("job_nodes", "pool_nodes", "warm_standbys", "spare_nodes", "failures")
BASE = {
    **{name: ALL_CAUSES[name] for name in SAME},
    "work_h": 300.0,
    "repair": {**ALL_CAUSES["repair"], "requalify_s": 3000.0},
    "recovery": {name: value for name, value in ALL_CAUSES["recovery"].items() if name != "swap_s"},
}
ALWAYS = {"clock": "always"}
BLAMED = [
    {"name": "hang", "share": 0.5, "detection_s": 300.0, "right": 0.6, "wrong": 0.3},
    {"name": "loud", "share": 0.5, "detection_s": 30.0},
]
UPLOADED, STRAGGLER = ALL_CAUSES["checkpoint"], ALL_CAUSES["straggler"]
SMALLER, VERIFIED = VARIANTS["elastic"], VARIANTS["verified"]["corruption"]
WORN = {"life": "weibull", "shape": 0.7}
DOMAINS = {"burst_shares": [0.6, 0.4], "burst_sizes": [1, 4]}
WINDOW = {"failures": 2, "window_days": 4.0}
LONG = {"work_h": None, "horizon_h": 300.0}  # retirement may leave a pool in which the work would never end
EVERY_PART = {
    **LONG,
    "failures": {**WORN, **ALWAYS, **DOMAINS},
    "faults": BLAMED,
    "recovery": {"swap_s": 100.0},
    "retirement": WINDOW,
    "checkpoint": UPLOADED,
    "corruption": VERIFIED,
    "straggler": STRAGGLER,
}
CASES = {
    "AIReSim's rules": {},
    "failures at any time": {"failures": ALWAYS},
    "blame and swaps": {"failures": ALWAYS, "faults": BLAMED, "recovery": {"swap_s": 100.0}},
    "bursts": {"failures": DOMAINS, "pool_nodes": 28},
    "bursts worn": {
        **LONG,
        "failures": {**WORN, **DOMAINS},
        "pool_nodes": 28,
        "faults": BLAMED,
        "retirement": {"failures": 2},
    },
    "window": {**LONG, "faults": BLAMED, "retirement": WINDOW},
    "uploads": {"checkpoint": UPLOADED, "straggler": STRAGGLER},
    "corruption": {"failures": ALWAYS, "checkpoint": BLOCKING, "corruption": {**VERIFIED, "every": 3}},
    "uploads verified": {"failures": ALWAYS, "checkpoint": UPLOADED, "corruption": VERIFIED},
    "elastic": {**SMALLER, "failures": ALWAYS, "checkpoint": UPLOADED, "straggler": STRAGGLER},
    "elastic, every part": {
        **SMALLER,
        **EVERY_PART,
    },
    "bursts, down to one node": {
        **LONG,
        "job_nodes": 2, "pool_nodes": 2, "warm_standbys": 0, "spare_nodes": 0,
        "failures": {"rate_per_node_day": 1.0, "burst_shares": [0.6, 0.4], "burst_sizes": [1, 2]},
        "elastic": {"nodes_per_replica": 1, "reshard_s": 200.0},
        "retirement": {"failures": 3},
    },
    "named": {"failures": {**WORN, **ALWAYS}, "faults": BLAMED, "checkpoint": BLOCKING},
    "lognormal": {"failures": {"life": "lognormal", "cv": 1.5}},
    "every part": {
        **EVERY_PART,
        "pool_nodes": 26,
    },
}


def settings_of(name):
    return changed(BASE, **CASES[name])


@functools.cache
def plain_runs(name, number=160):
    return simpy_fleet.replications(settings_of(name), 3, number)


def differences(name, settings, runs=1000):
    """Which results of a fleet differ from the plain program's of a case: by over four standard errors, or in distribution."""
    plain = plain_runs(name)
    result = fleet.simulate(fleet_config.build(settings), np.random.default_rng(11), runs)
    samples = {"elapsed": ([one.elapsed for one in plain], result.elapsed_s)}
    samples |= {name: ([one.bins[name] for one in plain], result.bins_s[name]) for name in BINS}
    samples |= {name: ([one.counts[name] for one in plain], count) for name, count in result.counts.items()}
    found = {}
    for name, pair in samples.items():
        # Rounded: work that is done to the end is alike but for the last digits.
        one, other = (np.round(np.asarray(sample, dtype=float), 3) for sample in pair)
        error = np.sqrt(one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other))
        gap = abs(one.mean() - other.mean())
        if gap > 4 * error + 1e-3 or two_sample_p(one, other) < 1e-5:
            found[name] = (one.mean(), other.mean(), gap / error if error else np.inf)
    return found


@pytest.mark.parametrize("name", CASES)
def test_the_two_programs_agree(name):
    assert differences(name, settings_of(name)) == {}


@pytest.mark.parametrize("name", CASES)
def test_the_plain_program_puts_every_second_into_one_bin(name):
    for one in plain_runs(name):
        assert sum(one.bins.values()) == pytest.approx(one.elapsed)
        assert min(one.bins.values()) >= -1e-6
        assert set(one.bins) <= set(BINS)


@pytest.mark.parametrize(
    ("name", "part", "setting", "value"),
    [
        ("blame and swaps", "recovery", "restart_s", 1600.0),
        ("AIReSim's rules", "repair", "to_manual", 0.8),
        ("uploads", "checkpoint", "upload_s", 3600.0),
        ("uploads verified", "corruption", "every", 3),
        ("uploads verified", "checkpoint", "upload_s", 2000.0),
        ("window", "retirement", "window_days", 6.0),
        ("bursts worn", "failures", "shape", 0.8),
        ("bursts worn", "retirement", "failures", 3),
        ("every part", "failures", "burst_shares", [0.7, 0.3]),
        ("elastic, every part", "retirement", "window_days", 8.0),
    ],
)
def test_a_difference_would_be_seen(name, part, setting, value):
    settings = settings_of(name)
    assert differences(name, {**settings, part: {**settings[part], setting: value}})


# The plain program itself, against timelines by hand ------------------------------------------------------------------


class Scripted(simpy_fleet.FleetRun):
    """A run whose lives are given, in the order in which they are drawn, and the working times of its corruptions."""

    def __init__(self, settings, lives, corruptions=()):
        self.lives, self.corruptions, self.worked = iter(lives), corruptions, 0.0
        super().__init__(settings, 0)

    def draw_life(self, mean):
        self.mean = mean
        return next(self.lives, math.inf)

    def corrupted(self, worked):
        began, self.worked = self.worked, self.worked + worked
        self.corrupt = self.corrupt or any(began < time <= self.worked for time in self.corruptions)


ALONE = {
    "job_nodes": 1,
    "horizon_h": 20_000 / 3600,
    "failures": {"rate_per_node_day": 1.0},
    "repair": {"automatic_s": 600.0, "times": "fixed"},
    "recovery": {"restart_s": 0.0},
}


@pytest.mark.parametrize(
    ("rule", "failures", "retired", "useful"),
    [
        ({"failures": 2, "window_days": 7300 / 86400}, 4, 2, 14_400),
        ({"failures": 2, "window_days": 7100 / 86400}, 5, 0, 20_000),
        ({"failures": 2}, 4, 2, 14_400),
        ({"failures": 3, "window_days": 14_500 / 86400}, 5, 1, 20_000),
        ({"failures": 3, "window_days": 14_300 / 86400}, 5, 0, 20_000),
        ({"failures": 1, "window_days": 1 / 86400}, 2, 2, 7200),
    ],
)
def test_by_hand_the_window_of_retirement(rule, failures, retired, useful):
    """Two nodes take turns, an hour each: the one fails at 1, 3 and 5 hours, the other at 2 and 4."""
    run = Scripted({**ALONE, "warm_standbys": 1, "retirement": rule}, [3600.0] * 9).run()
    assert (run.counts["failures"], run.counts["nodes_retired"]) == (failures, retired)
    assert (run.bins["useful"], run.bins["waiting"]) == pytest.approx((useful, 20_000 - useful))


def test_by_hand_the_window_runs_in_stops_as_well():
    """Failures are 3,600 s apart on the clock that runs, and 4,500 s on the wall."""
    slow = {**ALONE, "recovery": {"restart_s": 900.0}, "repair": {"automatic_s": 0.0}}
    for window, retired in ((4499, 0), (4501, 1)):
        rule = {"failures": 2, "window_days": window / 86400}
        assert Scripted({**slow, "retirement": rule}, [3600.0] * 9).run().counts["nodes_retired"] == retired


def test_by_hand_a_burst_takes_the_job_and_blames_nobody():
    """Four nodes fail at 1,000 s, the four that stood by at 2,000 s; then the first four are back and never fail."""
    settings = {
        **ALONE,
        "job_nodes": 4,
        "warm_standbys": 4,
        "failures": {"rate_per_node_day": 1.0, "burst_shares": [1.0], "burst_sizes": [4]},
        "faults": [{"name": "wrong", "right": 0.0, "wrong": 1.0}],
        "retirement": {"failures": 1},
    }
    run = Scripted(settings, [1000.0] * 8).run()
    assert dict(run.counts) == {
        "host_selections": 1,
        "failures": 2,
        "systematic": 0,
        "bursts": 2,
        "nodes_repaired": 8,
    }
    assert run.mean == 4 * 86400
    assert run.bins["useful"] == pytest.approx(20_000)


def test_by_hand_sizes_of_bursts():
    """Of 0.7 events for each failure of a node 0.6 are single and 0.1 take four; four is more than a shrunk job has."""
    settings = {**ALONE, "job_nodes": 8, "failures": {"rate_per_node_day": 1.0, **DOMAINS}}
    run = Scripted(settings, [])
    run.select_hosts()
    assert run.events == pytest.approx([0.6, 0.1])
    assert run.mean == pytest.approx(86400 / 0.7)
    struck = run.members[5]
    run.burst(struck, 4)
    assert len(run.members) == 4
    assert struck not in run.members
    run.members.pop()
    run.burst(run.members[0], 4)
    assert (run.members, run.counts["nodes_repaired"], run.away) == ([], 7, 7)


def test_by_hand_each_end_of_a_life_draws_its_size_and_a_systematic_failure_is_single():
    settings = {**ALONE, "job_nodes": 8, "failures": {"rate_per_node_day": 1.0, **DOMAINS}}
    found = []
    for seed in range(3000):
        run = simpy_fleet.FleetRun(settings, seed)
        run.select_hosts()
        run.fault(run.members[0], seed % 3 == 0)
        found.append(run.counts["bursts"])
    assert sum(found[::3]) == 0
    assert_mean(found[1::3] + found[2::3], 1 / 7, 6e-2)


def test_by_hand_a_node_alone_has_none_to_be_blamed_in_its_place():
    settings = {**ALONE, "faults": [{"name": "wrong", "right": 0.0, "wrong": 1.0}]}
    run = Scripted(settings, [3600.0] * 9).run()
    assert (run.counts["failures"], run.counts["misdiagnosed"], run.counts["nodes_repaired"]) == (5, 0, 0)


def verified_uploads(horizon, lives, corruptions):
    """One node, of which nobody ever takes notice."""
    settings = {
        **ALONE,
        "horizon_h": horizon / 3600,
        "faults": [{"name": "none", "right": 0.0}],
        "recovery": {"restart_s": 50.0},
        "checkpoint": {"interval_s": 100.0, "write_s": 10.0, "upload_s": 40.0, "drag": 0.5},
        "corruption": {"rate_per_node_day": 1.0, "verification_s": 5.0, "every": 2, "restart_s": 30.0},
    }
    return Scripted(settings, lives, corruptions).run()


def assert_bins(run, **expected):
    assert {name: run.bins[name] for name in expected} == pytest.approx(expected)
    assert sum(expected.values()) == pytest.approx(run.elapsed)


def test_by_hand_uploads_verified():
    """Two failures and a corruption, in the order of time.

    Work to 100 s, write to 110; upload to 150, work to 230, verification to 235, write to 245; upload to 285 verifies
    200 s of work; work to 365, write to 375, upload to 415 commits 300; a corruption at 420; a failure at 450 takes it
    back with 55 s of work. From 500 work to 600, verification to 605, write to 615; a failure at 640 drops the upload,
    so that 300 counts and 200 is verified. From 690 work to 790, write to 800, upload to 840; a corruption at 850; work
    to 920; the verification to 925 finds it: back to 200. From 955 work to 1,055, write to 1,065.
    """
    run = verified_uploads(1065.0, [450.0, 140.0], [385.0, 850.0 - 195.0])
    assert_bins(
        run,
        useful=300.0,
        checkpoint=6 * 10 + 4 * 20 + 12.5,
        redone=55 + 112.5 + 300,
        restart=50 + 50 + 30,
        verification=15.0,
    )
    assert (run.counts["failures"], run.counts["corruptions_found"], run.verified, run.intervals) == (2, 1, 200.0, 4)


def test_by_hand_a_corruption_in_the_snapshot_outlives_a_failure():
    """As before, but the corruption is at 300 s, before the write at 365 s: the failure goes back to a corrupt state."""
    run = verified_uploads(635.0, [450.0], [275.0])
    assert_bins(run, useful=200.0, checkpoint=3 * 10 + 3 * 20, redone=55 + 200, restart=50 + 30, verification=10.0)
    assert run.counts["corruptions_found"] == 1


def test_by_hand_a_corruption_during_the_upload_is_not_in_the_snapshot():
    """Corrupt at 120 s, in the upload of the clean write at 100 s; it counts from 150 s; the failure at 160 s goes there."""
    run = verified_uploads(325.0, [160.0], [110.0])
    assert_bins(run, useful=200.0, checkpoint=2 * 10 + 20, redone=30.0, restart=50.0, verification=5.0)
    assert run.counts["corruptions_found"] == 0
