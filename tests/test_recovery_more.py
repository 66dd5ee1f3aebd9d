"""What the recovery page adds to the published model: the mix by counts, parts, means, the interval that saves as much."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import INF, NAN, NEGATIVE, NOT_POSITIVE, assert_mean, assert_refused, modest, refusals

from reliability import facts, faults
from reliability import recovery as rc

pytestmark = pytest.mark.filterwarnings("error")

ROUNDING = 1e-13
CLASSES = ("gpu", "network", "host", "software", "other")
DETECTION_S = {"gpu": 10.0, "network": 30.0, "host": 2.0, "software": 2.0, "other": 2.0}
MIX = {"gpu": 0.587, "network": 0.084, "host": 0.10, "software": 0.145, "other": 0.084}
RECORDED = faults.counts_from({"software": 2, "other": 2, "gpu": 13, "host": 2, "network": 1})
COLD = rc.cold_path(DETECTION_S, 388.2)
WARM = rc.standby_path(DETECTION_S, 388.2, 55.0)

counts = st.lists(st.integers(0, 1000), min_size=5, max_size=5)
seconds = st.floats(0, 1e5)


# --- the mix by counts ----------------------------------------------------------------------------


def test_llama3_by_counts_has_the_sums_of_its_table():
    grouped = faults.group_causes(facts.value("llama3_causes"), faults.LLAMA3_CAUSES)
    assert grouped == {"gpu": 268, "network": 35, "host": 42, "software": 61, "other": 13}
    assert sum(grouped.values()) == facts.value("llama3_unexpected") == 419


def test_llama3_mix_by_counts_is_the_quotients():
    mix = faults.mix_from_counts(facts.value("llama3_causes"), faults.LLAMA3_CAUSES)
    assert [f"{100 * mix[c]:.1f}" for c in CLASSES] == ["64.0", "8.4", "10.0", "14.6", "3.1"]
    assert sum(mix.values()) == pytest.approx(1, rel=ROUNDING)
    faults.fault_mix(mix)  # a mix that the model takes


def test_the_mix_in_circulation_adds_up_a_misprint():
    causes = facts.value("llama3_causes")
    printed = {cause: round(100 * n / 419, 1) for cause, n in causes.items()}
    printed["faulty_gpu"] = facts.value("llama3_faulty_gpu_printed_percent")
    assert sum(printed.values()) == pytest.approx(94.9)
    gpu = sum(printed[cause] for cause in faults.LLAMA3_CAUSES["gpu"])
    assert gpu == pytest.approx(100 * facts.value("published_mix")["gpu"]) == pytest.approx(58.7)


@modest
@given(counts)
def test_grouping_agrees_with_a_plain_loop(values):
    causes = {c: [f"{c} a", f"{c} b"] for c in CLASSES}
    table = {f"{c} a": n for c, n in zip(CLASSES, values, strict=True)} | {f"{c} b": 1 for c in CLASSES}
    grouped = faults.group_causes(table, causes)
    for c, n in zip(CLASSES, values, strict=True):
        assert grouped[c] == n + 1
    assert faults.mix_from_counts(table, causes) == {c: grouped[c] / (sum(values) + 5) for c in CLASSES}


NO_CAUSES = dict.fromkeys(CLASSES, ())


@pytest.mark.parametrize(
    "counts, causes, said",
    [
        ({}, NO_CAUSES, "counts"),
        ([3], NO_CAUSES, "counts"),
        ({"bug": 1}, NO_CAUSES, "bug"),
        ({"bug": 1}, {**NO_CAUSES, "software": ("bug", "typo")}, "typo"),
        ({"bug": 1}, {**NO_CAUSES, "software": ("bug",), "other": ("bug",)}, "bug"),
        ({"bug": 1}, {"software": ("bug",)}, "network"),
        ({"bug": 1}, {**NO_CAUSES, "software": ("bug",), "disk": ()}, "disk"),
        ({"bug": -1}, {**NO_CAUSES, "software": ("bug",)}, r"counts\['bug'\] = -1"),
        ({"bug": 1.5}, {**NO_CAUSES, "software": ("bug",)}, r"counts\['bug'\] = 1\.5"),
        ({"bug": NAN}, {**NO_CAUSES, "software": ("bug",)}, r"counts\['bug'\] = nan"),
    ],
)
def test_causes_that_do_not_cover_the_counts_are_refused(counts, causes, said):
    for function in (faults.group_causes, faults.mix_from_counts):
        with pytest.raises(ValueError, match=said):
            function(counts, causes)


def test_a_mix_of_no_events_is_refused():
    with pytest.raises(ValueError, match="at least one event"):
        faults.mix_from_counts({"bug": 0}, {**NO_CAUSES, "software": ("bug",)})


# --- parts and means ------------------------------------------------------------------------------


def test_the_published_week_is_mostly_rollback():
    cold, warm = (rc.hours_by_part_h(RECORDED, path, 1800.0) for path in (COLD, WARM))
    assert {part: f"{hours:.3f}" for part, hours in cold.items()} == {
        "rollback": "10.000",
        "restart": "2.157",
        "detection": "0.048",
    }
    assert f"{warm['restart']:.3f}" == "0.676"
    assert cold["rollback"] == warm["rollback"] and cold["detection"] == warm["detection"]
    assert f"{cold['restart'] - warm['restart']:.2f}" == "1.48"


@modest
@given(counts, seconds)
def test_parts_add_up_to_the_hours_lost(values, rollback):
    for path in (COLD, WARM):
        parts = rc.hours_by_part_h(values, path, rollback)
        assert sum(parts.values()) == pytest.approx(rc.hours_lost_h(values, path, rollback), rel=1e-12)


def test_parts_of_many_weeks_are_those_of_each():
    weeks = np.arange(15).reshape(3, 5)
    together = rc.hours_by_part_h(weeks, WARM, 1800.0)
    for week, *hours in zip(weeks, *together.values(), strict=True):
        assert hours == pytest.approx(list(rc.hours_by_part_h(week, WARM, 1800.0).values()), rel=ROUNDING)


def test_the_mean_is_that_of_drawn_weeks():
    drawn = faults.draw_fault_counts(np.random.default_rng(11), 20000, 168 / 7.9, MIX)
    for path in (COLD, WARM):
        assert_mean(rc.hours_lost_h(drawn, path, 1800.0), rc.mean_hours_lost_h(168 / 7.9, MIX, path, 1800.0), 0.002)


def test_the_mean_of_a_certain_class_is_its_loss():
    certain = dict.fromkeys(CLASSES, 0.0) | {"network": 1.0}
    assert rc.mean_hours_lost_h(3.0, certain, WARM, 100.0) == pytest.approx(3 * (30 + 100 + 55) / 3600, rel=ROUNDING)


@pytest.mark.parametrize(
    "function, good, name, values",
    refusals(
        rc.mean_hours_lost_h,
        {"expected": 1.0, "mix": MIX, "path": COLD, "rollback": 1.0},
        expected=NEGATIVE,
        rollback=NEGATIVE,
    ),
)
def test_an_impossible_mean_is_refused(function, good, name, values):
    assert_refused(function, good, name, values)


# --- the interval that saves as much --------------------------------------------------------------


def test_the_published_standby_is_worth_an_interval_of_51_minutes():
    saved_min = 60 * (rc.hours_lost_h(RECORDED, COLD, 1800.0) - rc.hours_lost_h(RECORDED, WARM, 1800.0))
    assert f"{rc.equivalent_interval(60.0, saved_min, 20):.1f}" == "51.1"


@modest
@given(st.integers(1, 1000), st.floats(60, 1e5), st.floats(0, 0.99))
def test_that_interval_loses_what_the_saving_leaves(n, interval, share):
    only_gpus = [n, 0, 0, 0, 0]
    saved_s = share * n * interval / 2
    shorter = rc.equivalent_interval(interval, saved_s, n)
    before, after = (3600 * rc.hours_lost_h(only_gpus, COLD, t / 2) for t in (interval, shorter))
    assert before - after == pytest.approx(saved_s, rel=1e-9, abs=1e-6)


def test_no_interval_saves_more_than_the_whole_rollback():
    assert rc.equivalent_interval(60.0, 600.0, 20) == 0
    assert rc.equivalent_interval(60.0, 601.0, 20) == 0
    assert rc.equivalent_interval(60.0, 599.0, 20) > 0


def test_a_standby_that_costs_is_worth_a_longer_interval_and_no_faults_no_other():
    assert rc.equivalent_interval(60.0, -100.0, 20) == 70
    assert rc.equivalent_interval(60.0, 5.0, 0) == 60
    assert rc.equivalent_interval([60.0, 30.0], 100.0, 20).tolist() == [50, 20]


@pytest.mark.parametrize(
    "function, good, name, values",
    refusals(
        rc.equivalent_interval,
        {"interval": 60.0, "saved": 1.0, "faults": 20},
        interval=NOT_POSITIVE,
        saved=(NAN, INF, -INF, "seven", None, []),
        faults=(*NEGATIVE, 2.5),
    ),
)
def test_an_impossible_interval_is_refused(function, good, name, values):
    assert_refused(function, good, name, values)
