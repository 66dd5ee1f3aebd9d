"""The page on the budget of time: the fleets that it builds, what its gains are, and the claim that it examines."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from book_outputs import book_outputs
from budget_results import BOOK, SMALL, fleet_result, gained, inputs, made, with_verdicts

from reliability import anchors, budget, checkpoint, fleet
from reliability.scenarios import budget as page
from reliability.scenarios import budget_fleets as fleets
from reliability.scenarios import budget_runs as runs
from reliability.scenarios.base import ParameterError

pytestmark = pytest.mark.filterwarnings("error")

# About the most nodes and days that the page takes
MANY = {"gpus_per_node": 1, "burst_share": 0.0, "smallest_gpus": 960_000, "doublings": 0, "days": 366}


@pytest.fixture(scope="module")
def result():
    return page.compute(inputs(**SMALL))


# The fleets -----------------------------------------------------------------------------------------------------------


def test_the_plain_job_at_the_inputs_of_the_book():
    fleet = fleets.fleet(inputs(), 131072)
    assert (fleet.job_nodes, fleet.warm_standbys, fleet.pool - fleet.job_nodes, fleet.spare_nodes) == (
        16384,
        66,
        263,
        820,
    )
    assert fleet.horizon_h == 720
    assert fleet.recovery.swap_s is None
    assert (
        fleet.straggler.pause_s == fleet.recovery.restart_s == pytest.approx(60 * (6.47 - 1.09 + 16 * 1.09), rel=1e-12)
    )
    assert fleet.corruption.rate_per_node_day == pytest.approx(18 / 3.5e7 * 24 * 8, rel=1e-12)
    assert {fault.name: fault.right for fault in fleet.faults} == {
        "gpu": 0.95, "network": 0.95, "host": 0.95, "software": 0, "other": 0
    }  # fmt: skip


def test_the_rate_is_the_mean_of_good_and_bad_nodes_and_a_burst_stops_the_job_once():
    p = inputs(burst_share=0.0)
    failures = fleets.fleet(p, 16384).failures
    mean = failures.rate_per_node_day * (1 + failures.bad_share * failures.bad_factor)
    assert mean == pytest.approx(6.5e-3, rel=1e-12)
    assert fleets.mtbf_s(p, 16384) == pytest.approx(86400 / (2048 * 6.5e-3), rel=1e-12)
    racks = fleets.mtbf_s(inputs(burst_share=1.0, lemon_share=0.0), 16384)
    assert racks == pytest.approx(16 * fleets.mtbf_s(p, 16384), rel=1e-12)


@pytest.mark.parametrize(
    ("lever", "changed"),
    [
        ("failures", {"failures", "checkpoint", "corruption"}),
        ("lemons", {"failures", "checkpoint"}),
        ("detection", {"faults"}),
        ("restart", {"recovery", "straggler", "checkpoint"}),
        ("swap", {"recovery", "straggler"}),
        ("standbys", {"pool_nodes", "warm_standbys"}),
        ("write", {"checkpoint", "corruption"}),
        ("stragglers", {"straggler"}),
        ("verification", {"corruption", "checkpoint"}),
    ],
)
def test_a_lever_changes_its_own_settings_and_the_best_interval(lever, changed):
    plain, turned = (fleets.fleet(inputs(), 131072, frozenset(some)) for some in ([], [lever]))
    differing = {name for name in type(plain).model_fields if getattr(plain, name) != getattr(turned, name)}
    assert {*changed} - {"checkpoint", "corruption"} <= differing <= {*changed}
    if lever in ("write", "verification"):
        assert differing == changed


def test_turned_levers_have_their_values():
    p = inputs()
    fleet = fleets.fleet(p, 8192, fleets.ALL)
    assert fleet.failures.rate_per_node_day == pytest.approx(2.34e-3 / 1.75, rel=1e-12)
    assert fleet.failures.bad_share == pytest.approx(0.015, rel=1e-12)
    assert {fault.name: fault.detection_s for fault in fleet.faults} == {
        "gpu": 10, "network": 30, "host": 2, "software": 120, "other": 120
    }  # fmt: skip
    assert fleet.recovery.restart_s == pytest.approx(0.5 * 6.47 * 60, rel=1e-12)
    assert fleet.recovery.swap_s == fleet.straggler.pause_s == 55
    assert fleet.warm_standbys == fleet.pool - fleet.job_nodes == 31
    assert (fleet.checkpoint.write_s, fleet.straggler.found_after_s, fleet.corruption.verification_s) == (5, 3600, 1)


def test_a_restart_and_a_swap_grow_by_their_powers():
    p = inputs(nccl_exponent=0.5, swap_exponent=0.25)
    assert fleets.cold_s(p, 16 * 8192) == pytest.approx(60 * (6.47 + 3 * 1.09), rel=1e-12)
    assert fleets.swap_s(p, 16 * 8192) == pytest.approx(110, rel=1e-12)


def test_inspection_is_never_slower_than_what_it_replaces():
    faults = {f["name"]: f["detection_s"] for f in fleets.faults(inputs(detection_s=5.0), fleets.ALL)}
    assert faults == {"gpu": 5, "network": 5, "host": 2, "software": 5, "other": 5}


def test_without_corruption_and_verification_the_interval_is_that_of_the_exact_model():
    p = inputs(verification_s=0.0, cheap_verification_s=0.0, silent_gpu_hours=1e12)
    for size in (1024, 131072):
        wanted = checkpoint.optimal_interval(240.0, fleets.mtbf_s(p, size))
        assert fleets.interval_s(p, size) == pytest.approx(wanted, rel=1e-3)
        assert fleets.verified_every(p, size) == 1


def test_shares_of_nodes_are_rounded_up_but_for_a_rounding_error():
    assert [fleets.share_of(percent, 100) for percent in (0, 0.1, 7.000000000000001, 7)] == [0, 1, 7, 7]


# Gains and their interaction ------------------------------------------------------------------------------------------


def test_the_three_groups_by_hand():
    found = runs.three(made(0.1, [0.2, 0.15, 0.12], [0.5, 0.4, 0.6], 0.9))
    assert found.plain.mean == pytest.approx(0.1)
    assert [one.mean for one in found.first.values()] == pytest.approx([0.1, 0.05, 0.02])
    assert [one.mean for one in found.last.values()] == pytest.approx([0.4, 0.5, 0.3])
    assert [one.mean for one in found.later.values()] == pytest.approx([0.3, 0.45, 0.28])
    assert (found.summed.mean, found.together.mean, found.beyond.mean) == pytest.approx((0.17, 0.8, 0.63))
    assert found.verdict == "more"  # the noise is shared, so a paired difference has none
    assert found.beyond.sd == pytest.approx(0, abs=1e-12) and found.plain.sd == pytest.approx(0.01)


def test_less_than_the_sum_is_told_from_more():
    assert runs.three(made(0.8, [0.9, 0.9, 0.9], [0.92, 0.92, 0.92], 0.95)).verdict == "less"


def test_a_gain_is_shown_where_it_is_told_from_nothing_and_prints_as_something():
    assert runs.shown(gained(0.002)) and runs.shown(gained(0.0005, 0.0001))
    assert not runs.shown(gained(0.002, 0.003)) and not runs.shown(gained(-0.002))
    assert not runs.shown(gained(0.0004, 0.0001))
    assert runs.most({"a": gained(0.01), "b": gained(0.02)}) == ("b", True)
    assert runs.most({"a": gained(0.01), "b": gained(0.02, 0.1)}) == ("a", False)
    assert runs.most({"a": gained(0.01, 0.1), "b": gained(-0.02)})[0] is None


def test_what_adds_up_is_neither_more_nor_less():
    assert runs.three(made(0.1, [0.1, 0.3, 0.1], [0.3, 0.1, 0.3], 0.3)).verdict == "same"
    assert runs.three(made(0.1, [0.1] * 3, [0.1] * 3, 0.1)).verdict == "same"


@pytest.mark.parametrize(
    ("verdicts", "start"),
    [
        ({"n1": "less", "n2": "more", "n4": "more"}, 2),
        ({"n1": "more", "n2": "open", "n4": "more"}, 4),
        ({"n1": "more", "n2": "more", "n4": "less"}, None),
        ({"n1": "more"}, 1),
    ],
)
def test_the_size_from_which_the_claim_holds(verdicts, start):
    assert runs.holds_from(with_verdicts(**verdicts)) == start


def test_levers_that_gain_nothing_do_not_have_to_be_turned_together():
    found = with_verdicts(n1="more", n2="more")
    assert runs.holds_from(found | {2: replace(found[2], together=gained(-0.01))}) is None


# The page's results ---------------------------------------------------------------------------------------------------


def test_every_second_is_in_one_bin(result):
    assert result.values["imbalance_s"] < 1e-6
    for by_size in result.values["hours"].values():
        for hours in by_size.values():
            assert set(hours) == set(budget.BINS)
            assert sum(hours.values()) == pytest.approx(24, rel=1e-12)
            assert min(hours.values()) >= 0


def test_the_sum_of_the_bins_would_be_found_wrong():
    one = fleet_result([0.5, 0.5])
    one.bins_s["waiting"] = np.array([0.0, 2.0])
    assert runs.imbalance_s({"one": one, "other": fleet_result([1.0])}) == 2.0


def test_gains_are_paired_and_belong_to_their_sizes(result):
    values = result.values
    assert list(values["gains"]) == [128, 256] and set(values["gains"][256]) == set(page.LEVERS)
    one = values["three"][256]
    assert one.first["checkpoint"] == values["gains"][256]["write"]
    assert one.summed.mean == pytest.approx(sum(e.mean for e in one.first.values()), rel=1e-9)
    assert one.beyond.mean == pytest.approx(one.together.mean - one.summed.mean, abs=1e-12)
    assert one.all.mean > one.plain.mean + one.together.mean - 1e-3
    assert one.plain.mean == pytest.approx(values["hours"]["plain"][256]["useful"] / 24, rel=1e-12)


def test_the_same_seed_gives_the_same_page(result):
    again = page.compute(inputs(**SMALL))
    assert again.sections == result.sections
    assert page.compute(inputs(**SMALL, seed=10)).sections["plain"] != result.sections["plain"]


def test_with_nothing_to_turn_nothing_is_gained():
    same = {
        "fewer_failures_per_1000_node_days": 400.0, "lemons_left": 1.0, "inspection_gpu_s": 900.0, "inspection_network_s": 900.0,
        "inspection_host_s": 900.0, "restart_factor": 1.0, "short_write_s": 240.0,
        "slow_found_soon_h": 24.0, "cheap_verification_s": 30.0,
    }  # fmt: skip
    pool = dict.fromkeys(("standby_percent", "more_standby_percent", "idle_percent", "spare_percent"), 90.0)
    results = runs.simulate(inputs(**SMALL, **same | pool), 256, np.random.default_rng(1))
    for lever in set(page.LEVERS) - {"swap"}:
        gained = runs.gain(results, frozenset([lever]))
        assert (gained.mean, gained.sd) == (0, 0), lever
    assert runs.gain(results, frozenset(["swap"])).mean > 0


def test_a_job_that_is_simulated_again_meets_the_failures_of_the_tables(result):
    p, size = inputs(**SMALL), 256
    states = {turned: fleets.fleet(p, size, turned) for turned in (fleets.NONE, frozenset(["lemons"]))}
    again = fleet.compare(states, runs.generator(p, size), p.replications)
    assert runs.gain(again, frozenset(["lemons"])) == result.values["gains"][size]["lemons"]
    assert len({fleet.draw_key(runs.generator(p, one)) for one in p.sizes}) == 2  # each size meets its own


def test_the_solutions_in_the_book_give_the_gains_of_its_table():
    # One of them once said -0.4 of what the table has as -0.3: it had drawn other failures.
    outputs = book_outputs("budget")
    (table,) = [text for text in outputs if text.startswith("| points gained alone")]
    largest = {cells[1].strip(): cells[-2].strip() for cells in (row.split("|") for row in table.splitlines())}
    assert any(text.startswith(f"Alone {largest['slow nodes found sooner']} points, with a swap") for text in outputs)
    assert any(text.startswith(f"With its own interval {largest['short writes']} points,") for text in outputs)


def test_for_a_program_the_interval_of_a_share_ends_at_0_and_1():
    few = {"replications": 2, "fewer_failures_per_1000_node_days": 400.0, "short_write_s": 240.0}
    values = page.compute(inputs(**SMALL | few)).values
    for name in ("plain", "all", "together"):  # of two runs their intervals reach beyond what can be
        assert max(getattr(three, name).high for three in values["three"].values()) > 1
    document = page.document(values)
    for name, least in (("plain", 0), ("all", 0), ("together", -1)):
        for size, one in document[name].items():
            assert least <= one["low"] <= one["mean"] <= one["high"] <= 1
            assert one["mean"] == getattr(values["three"][size], name).mean
    for one in (one for gains in document["gains"].values() for one in gains.values()):
        assert -1 <= one["low"] <= one["mean"] <= one["high"] <= 1
    assert document["hours"] == values["hours"]


def test_every_bin_has_a_name_in_the_other_taxonomy(result):
    lines = result.sections["taxonomy"].splitlines()[2:]
    assert [line.split("|")[1].strip() for line in lines] == list(budget.BINS)


def test_the_anchors_are_those_of_single_jobs():
    held = page.anchors()
    assert {"llama3", "byterobust", "ft_hsdp_synchronous", "network_ettr"} <= {anchor.name for anchor in held}
    assert not {anchor.source for anchor in held} & {"airesim", "reliability_economics"}
    for anchor in held:
        anchors.check(anchor)


# Bad input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"smallest_gpus": 1000}, "smallest_gpus = 1000: must be a multiple of 128"),
        ({"smallest_gpus": 16384, "doublings": 10}, "doublings = 10: 16,777,216 GPUs"),
        ({"doublings": -1}, "doublings = -1"),
        ({"class_counts": {"gpu": 1}}, "class_counts = "),
        ({"class_counts": dict.fromkeys(("gpu", "network", "host", "software", "other"), 0)}, "not all 0"),
        ({"nccl_min": 6.5}, "nccl_min = 6.5: must be at most restart_min = 6.47"),
        ({"idle_percent": 0.3}, "standby_percent = 0.4: must be at most idle_percent = 0.3"),
        ({"more_standby_percent": 0.1}, "standby_percent = 0.4: must be at most more_standby_percent = 0.1"),
        ({"failures_per_1000_node_days": 2.0}, "fewer_failures_per_1000_node_days = 2.34: must be at most failures_"),
        ({"write_s": 2.0}, "short_write_s = 5: must be at most write_s = 2"),
        ({"slow_found_h": 0.5}, "slow_found_soon_h = 1: must be at most slow_found_h = 0.5"),
        ({"verification_s": 0.0}, "cheap_verification_s = 1: must be at most verification_s = 0"),
        ({"silent_gpu_hours": 0.001}, "^silent_gpu_hours = 0.001: must be at least 1.72 for 18 corruptions, or a run of 30 days"),
        (
            MANY | {"failures_per_1000_node_days": 9999.0},
            "^failures_per_1000_node_days = 9999.0: must be at most 2820, or a run of 366 days on 960,000 GPUs has more events",
        ),
        (
            MANY | {"smallest_gpus": 10**6},
            "^doublings = 0: 1,000,000 GPUs need a pool of 1,030,000 nodes, idle ones and standbys with them; the model has at most 1,000,000$",
        ),
        (
            MANY | {"more_standby_percent": 5.0},
            "^doublings = 0: 960,000 GPUs need a pool of 1,008,000 nodes",
        ),
        ({"rack_nodes": 1}, "rack_nodes = 1"),
        ({"short_write_s": 0.0}, "short_write_s"),
        ({"replications": 1}, "replications"),
        ({"lemon_factor": 0.5}, "lemon_factor"),
    ],
)
def test_wrong_parameters_are_named(changes, message):
    with pytest.raises(ParameterError, match=message):
        inputs(**changes)


def test_everything_that_is_turned_the_wrong_way_is_named_at_once():
    with pytest.raises(ParameterError, match=r"fewer_failures.*; short_write_s"):
        inputs(failures_per_1000_node_days=2.0, write_s=2.0)


def test_a_lever_may_be_left_where_it_stands():
    same = {plain: BOOK[turned] for turned, plain in page.AT_MOST if plain not in ("restart_min", "idle_percent")}
    assert inputs(**same | {"more_standby_percent": BOOK["standby_percent"]}).write_s == BOOK["short_write_s"]


def test_standbys_beyond_the_idle_nodes_enlarge_the_pool():
    p = inputs(standby_percent=1.0, more_standby_percent=3.0, idle_percent=2.0)
    assert [fleets.pool_nodes(p, 100, turned) for turned in (fleets.NONE, {"standbys"})] == [2, 3]


def test_what_a_refusal_calls_enough_is_enough_for_the_model():
    many = inputs(**MANY | {"failures_per_1000_node_days": 2820.0})
    assert fleets.fleet(many, many.sizes[-1]).pool == 975_360
    p = inputs(silent_gpu_hours=1.72)
    assert fleets.fleet(p, p.sizes[-1], fleets.ALL).corruption.rate_per_node_day == pytest.approx(24 * 8 * 18 / 1.72)


def test_without_bursts_a_size_need_not_fill_racks():
    assert fleets.fleet(inputs(smallest_gpus=1000, burst_share=0.0), 1000).job_nodes == 125


def test_the_sizes_of_the_book_and_those_of_a_single_job():
    assert inputs().sizes == [1024 * 2**k for k in range(8)] and inputs(doublings=0).sizes == [1024]


def test_points():
    assert page.points(SimpleNamespace(mean=0.1234, half_width=0.01)) == "+12.3\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}1.0"
    assert (
        page.points(SimpleNamespace(mean=-0.0001, half_width=0.0004)) == "+0.0\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}0.0"
    )
