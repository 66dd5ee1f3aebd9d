"""Faults and recoveries: the published week, fault-by-fault books, and the statistics of the draws."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import (
    INF,
    NAN,
    NEGATIVE,
    NOT_COUNT,
    NOT_POSITIVE,
    assert_mean,
    assert_refused,
    chi_square_p,
    independence_p,
    modest,
    one_sample_p,
    percent,
    poisson_at_most,
    poisson_exactly,
    refusals,
    restarting_until,
    strict,
    two_sample_p,
)

from reliability import faults
from reliability import recovery as rc

pytestmark = pytest.mark.filterwarnings("error")

# Sums and quotients of floats: a few roundings of 1.1e-16 each.
ROUNDING = 1e-13

CLASSES = ("gpu", "network", "host", "software", "other")
PHASES_MIN = {"stop": 0.52, "reschedule": 1.50, "load": 1.56, "nccl": 1.09, "warmup": 1.80}
COLD_S, STANDBY_S, ROLLBACK_S, WEEK_H = 6.47 * 60, 55.0, 1800.0, 168.0
DETECTION_S = {"gpu": 10.0, "network": 30.0, "host": 2.0, "software": 2.0, "other": 2.0}
MIX = {"gpu": 0.587, "network": 0.084, "host": 0.10, "software": 0.145, "other": 0.084}
RECORDED = {"software": 2, "other": 2, "gpu": 13, "host": 2, "network": 1}

seconds = st.floats(0, 1e5)
week_counts = st.lists(st.integers(0, 1000), min_size=5, max_size=5)


def cold():
    return rc.cold_path(DETECTION_S, COLD_S)


def warm(**changes):
    return rc.standby_path(DETECTION_S, COLD_S, STANDBY_S, **changes)


def hours_lost_fault_by_fault(trace, restart_of):
    lost = 0.0
    for fault in trace:
        lost += DETECTION_S[fault] + ROLLBACK_S + restart_of[fault]
    return lost / 3600


# --- classes and the timeline ---------------------------------------------------------------------


def test_the_five_classes_and_those_a_standby_helps():
    assert tuple(faults.CLASSES) == CLASSES
    assert set(rc.STANDBY_HELPS) == {"gpu", "network", "host"}


def test_the_published_phases_add_up_to_6_47_minutes():
    total = rc.timeline_total({name: 60 * minutes for name, minutes in PHASES_MIN.items()})
    assert total == pytest.approx(388.2, rel=ROUNDING)
    assert f"{total / 60:.2f}" == "6.47"


@modest
@given(st.lists(seconds, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_a_timeline_is_as_long_as_its_phases_in_any_order(lengths, order):
    names = [f"phase {i}" for i in range(len(lengths))]
    shuffled = list(zip(names, lengths, strict=True))
    order.shuffle(shuffled)
    assert rc.timeline_total(dict(shuffled)) == pytest.approx(math.fsum(lengths), rel=ROUNDING)


# --- paths ----------------------------------------------------------------------------------------


def test_a_cold_path_restarts_every_class_alike():
    path = cold()
    np.testing.assert_array_equal(path.restart, np.full(5, COLD_S))
    np.testing.assert_array_equal(path.detection, [DETECTION_S[name] for name in CLASSES])


def test_a_standby_shortens_the_restart_of_the_classes_it_helps_only():
    np.testing.assert_array_equal(warm().restart, [55.0, 55.0, 55.0, COLD_S, COLD_S])
    np.testing.assert_array_equal(warm().detection, cold().detection)


def test_detection_may_be_given_in_any_order():
    turned = dict(reversed(DETECTION_S.items()))
    np.testing.assert_array_equal(rc.cold_path(turned, COLD_S).detection, cold().detection)
    np.testing.assert_array_equal(rc.standby_path(turned, COLD_S, STANDBY_S).detection, cold().detection)


@pytest.mark.parametrize("helps", [subset for k in range(6) for subset in itertools.combinations(CLASSES, k)])
def test_any_set_of_classes_may_be_helped(helps):
    expected = [STANDBY_S if name in helps else COLD_S for name in CLASSES]
    np.testing.assert_array_equal(warm(helps=helps).restart, expected)


def test_loss_per_fault_is_detection_rollback_and_restart():
    np.testing.assert_allclose(cold().loss_per_fault(1800.0), [2198.2, 2218.2, 2190.2, 2190.2, 2190.2], rtol=ROUNDING)
    np.testing.assert_allclose(warm().loss_per_fault(0.0), [65.0, 85.0, 57.0, 390.2, 390.2], rtol=ROUNDING)


def test_paths_have_names_and_are_frozen():
    assert cold().name
    assert cold().name != warm().name
    with pytest.raises(dataclasses.FrozenInstanceError):
        cold().restart = np.zeros(5)


# --- counts and replay ----------------------------------------------------------------------------


def test_a_trace_is_counted_in_the_order_of_the_classes():
    trace = ["software", "gpu", "other", "gpu", "host", "gpu"]
    counts = faults.count_faults(trace)
    assert counts.tolist() == [3, 0, 1, 1, 1]
    assert np.issubdtype(counts.dtype, np.integer)
    assert faults.count_faults(np.array(trace)).tolist() == [3, 0, 1, 1, 1]


def test_a_week_without_faults_is_counted_as_such():
    assert faults.count_faults([]).tolist() == [0, 0, 0, 0, 0]


def test_counts_from_a_mapping_follow_the_names_not_the_order():
    counts = faults.counts_from(RECORDED)
    assert counts.tolist() == [13, 1, 2, 2, 2]
    assert np.issubdtype(counts.dtype, np.integer)


@modest
@given(week_counts, st.randoms(use_true_random=False))
def test_replaying_a_trace_and_counting_it_first_are_the_same(counts, order):
    trace = [name for name, count in zip(CLASSES, counts, strict=True) for _ in range(count % 20)]
    order.shuffle(trace)
    restart = {name: STANDBY_S if name in ("gpu", "network", "host") else COLD_S for name in CLASSES}
    lost = rc.hours_lost_h(faults.count_faults(trace), warm(), ROLLBACK_S)
    assert lost == pytest.approx(hours_lost_fault_by_fault(trace, restart), rel=ROUNDING)


# --- hours lost and ETTR --------------------------------------------------------------------------


def test_the_published_week():
    counts = faults.counts_from(RECORDED)
    lost_cold = rc.hours_lost_h(counts, cold(), ROLLBACK_S)
    lost_warm = rc.hours_lost_h(counts, warm(), ROLLBACK_S)
    assert counts.sum() == 20
    assert (f"{lost_cold:.3f}", percent(rc.ettr(lost_cold, WEEK_H))) == ("12.204", "92.74%")
    assert (f"{lost_warm:.3f}", percent(rc.ettr(lost_warm, WEEK_H))) == ("10.724", "93.62%")
    assert f"{lost_cold - lost_warm:.2f}" == "1.48"


def test_rollback_is_ten_of_the_hours_lost_in_the_published_week():
    counts = faults.counts_from(RECORDED)
    with_rollback = rc.hours_lost_h(counts, cold(), ROLLBACK_S)
    assert with_rollback - rc.hours_lost_h(counts, cold(), 0.0) == pytest.approx(10.0, rel=ROUNDING)


def test_the_expected_faults_of_the_published_week():
    assert f"{faults.expected_faults(WEEK_H, 7.9):.1f}" == "21.3"


@modest
@given(week_counts, week_counts, seconds, st.integers(0, 50))
def test_hours_lost_are_linear_in_the_counts(one, other, rollback, times):
    def lost(counts):
        return rc.hours_lost_h(np.array(counts), warm(), rollback)

    assert lost(np.add(one, other)) == pytest.approx(lost(one) + lost(other), rel=ROUNDING)
    assert lost(np.multiply(one, times)) == pytest.approx(times * lost(one), rel=ROUNDING)
    assert lost([0] * 5) == 0


@modest
@given(week_counts, seconds, seconds, st.floats(0, 1))
def test_a_standby_that_is_quicker_never_loses_to_a_cold_restart(counts, rollback, restart, share):
    cold_path = rc.cold_path(DETECTION_S, restart)
    counts = np.array(counts)
    lost_cold = rc.hours_lost_h(counts, cold_path, rollback)
    lost_warm = rc.hours_lost_h(counts, rc.standby_path(DETECTION_S, restart, restart * share), rollback)
    saved = counts[:3].sum() * restart * (1 - share) / 3600
    # What is saved is a difference of two sums: their rounding, not its own.
    assert lost_cold - lost_warm == pytest.approx(saved, rel=ROUNDING, abs=ROUNDING * lost_cold)
    same = rc.standby_path(DETECTION_S, restart, restart)
    assert rc.hours_lost_h(counts, same, rollback) == pytest.approx(lost_cold, rel=ROUNDING)


def test_many_weeks_are_each_what_one_week_is():
    weeks = np.random.default_rng(1).poisson(4.0, (3, 7, 5))
    lost = rc.hours_lost_h(weeks, warm(), ROLLBACK_S)
    assert lost.shape == (3, 7)
    one_by_one = [[rc.hours_lost_h(week, warm(), ROLLBACK_S) for week in row] for row in weeks]
    np.testing.assert_allclose(lost, one_by_one, rtol=ROUNDING)


def test_counts_of_a_narrow_type_do_not_wrap():
    assert rc.hours_lost_h(np.full(5, 100, dtype=np.uint8), cold(), ROLLBACK_S) == pytest.approx(
        100 * (5 * 1800 + 5 * COLD_S + 46) / 3600, rel=ROUNDING
    )


def test_ettr_at_its_limits_and_over_arrays():
    assert rc.ettr(0.0, 168.0) == 1.0
    assert rc.ettr(168.0, 168.0) == 0.0
    np.testing.assert_allclose(rc.ettr(np.array([42.0, 84.0]), 168.0), [0.75, 0.5], rtol=ROUNDING)


def test_a_week_cannot_lose_more_than_itself():
    assert rc.ettr(200.0, 168.0) == 0.0


@modest
@given(st.floats(0, 1), st.floats(1e-3, 1e6), st.floats(1e-3, 1e3))
def test_ettr_and_expected_faults_have_no_unit_of_time(share, horizon, unit):
    assert rc.ettr(share * horizon * unit, horizon * unit) == pytest.approx(1 - share, abs=ROUNDING)
    assert faults.expected_faults(horizon * unit, 7.9 * unit) == pytest.approx(horizon / 7.9, rel=ROUNDING)


# --- draws ----------------------------------------------------------------------------------------


def test_a_drawn_trace_is_a_poisson_process_of_the_mix():
    trace = faults.draw_trace(np.random.default_rng(2), 40_000.0, 7.9, MIX)
    times, classes = np.asarray(trace.times), np.asarray(trace.classes)
    assert times.shape == classes.shape
    assert (np.diff(times) >= 0).all()
    assert times[0] >= 0
    assert times[-1] < 40_000.0
    # A Poisson count has a standard deviation of its square root.
    expected = 40_000.0 / 7.9
    assert abs(times.size - expected) < 4 * math.sqrt(expected)
    assert one_sample_p(np.diff(times, prepend=0.0), lambda gap: -math.expm1(-gap / 7.9)) > 1e-3
    assert one_sample_p(times, lambda time: time / 40_000.0) > 1e-3
    observed = [int((classes == name).sum()) for name in CLASSES]
    assert sum(observed) == times.size
    assert chi_square_p(observed, [times.size * MIX[name] for name in CLASSES]) > 1e-3


def test_the_class_of_a_fault_depends_neither_on_its_time_nor_on_the_one_before():
    trace = faults.draw_trace(np.random.default_rng(3), 60_000.0, 7.9, MIX)
    numbers = np.array([CLASSES.index(name) for name in trace.classes])
    pairs, halves = np.zeros((5, 5)), np.zeros((2, 5))
    np.add.at(pairs, (numbers[:-1], numbers[1:]), 1)
    np.add.at(halves, ((np.asarray(trace.times) > 30_000.0).astype(int), numbers), 1)
    assert independence_p(pairs) > 1e-3
    assert independence_p(halves) > 1e-3


def test_short_horizons_have_their_share_of_faults_and_of_silence():
    rng = np.random.default_rng(4)
    drawn = [faults.draw_trace(rng, 5.0, 4.0, MIX).times for _ in range(3000)]
    counts = np.array([len(times) for times in drawn])
    # A process that began with a fault, or counted from one, would heap times at the start.
    assert one_sample_p(np.concatenate(drawn), lambda time: time / 5.0) > 1e-3
    assert_mean(counts, 5.0 / 4.0, resolution=0.02)
    assert_mean(counts == 0, math.exp(-5.0 / 4.0), resolution=0.04)
    assert faults.count_faults(faults.draw_trace(np.random.default_rng(5), 1e-9, 1e9, MIX).classes).sum() == 0


def test_drawn_weeks_have_the_mean_and_the_spread_of_poisson_counts_in_every_class():
    counts = faults.draw_fault_counts(np.random.default_rng(6), 50_000, WEEK_H / 7.9, MIX)
    assert counts.shape == (50_000, 5)
    assert np.issubdtype(counts.dtype, np.integer)
    for i, name in enumerate(CLASSES):
        mean = WEEK_H / 7.9 * MIX[name]
        assert_mean(counts[:, i], mean, resolution=0.004)
        assert_mean((counts[:, i] - mean) ** 2, mean, resolution=0.01)
    # Thinned Poisson counts are independent: the correlation of n pairs has a standard error of 1 / sqrt(n).
    correlation = np.corrcoef(counts.T)[np.triu_indices(5, 1)]
    assert np.abs(correlation).max() < 4 / math.sqrt(50_000)


def test_drawn_weeks_and_drawn_traces_agree():
    rng = np.random.default_rng(7)
    weeks = faults.draw_fault_counts(rng, 1500, 21.0, MIX)
    traces = np.array([faults.count_faults(faults.draw_trace(rng, 168.0, 8.0, MIX).classes) for _ in range(1500)])
    lost = [rc.hours_lost_h(counts, warm(), ROLLBACK_S) for counts in (weeks, traces)]
    assert two_sample_p(*lost) > 1e-3
    assert_mean(lost[1], lost[0].mean(), resolution=0.01)


def test_a_class_without_a_share_is_never_drawn():
    only_host = {**dict.fromkeys(CLASSES, 0.0), "host": 1.0}
    trace = faults.draw_trace(np.random.default_rng(8), 1000.0, 1.0, only_host)
    assert set(trace.classes) == {"host"}
    assert faults.draw_fault_counts(np.random.default_rng(8), 500, 9.0, only_host)[:, [0, 1, 3, 4]].sum() == 0


def test_the_mix_may_be_given_in_any_order():
    turned = dict(reversed(MIX.items()))
    counts = faults.draw_fault_counts(np.random.default_rng(9), 4000, 21.0, turned)
    assert_mean(counts[:, 0], 21.0 * 0.587, resolution=0.01)
    assert_mean(counts[:, 3], 21.0 * 0.145, resolution=0.01)
    classes = np.asarray(faults.draw_trace(np.random.default_rng(9), 40_000.0, 7.9, turned).classes)
    assert_mean(classes == "gpu", 0.587, resolution=0.02)


def test_shares_and_values_follow_the_order_of_the_classes():
    turned = dict(reversed(MIX.items()))
    assert faults.fault_mix(turned).tolist() == [0.587, 0.084, 0.10, 0.145, 0.084]
    assert faults.by_class("detection", dict(reversed(DETECTION_S.items()))).tolist() == [10.0, 30.0, 2.0, 2.0, 2.0]


def test_the_mix_by_counts_of_llama3_gives_gpus_64_percent():
    # GPU 268, switch and cable 35, host 42, software 61, other 13: the 419 unexpected interruptions.
    counts = faults.counts_from({"gpu": 268, "network": 35, "host": 42, "software": 61, "other": 13})
    assert counts.sum() == 419
    mix = faults.fault_mix(dict(zip(CLASSES, (counts / counts.sum()).tolist(), strict=True)))
    assert percent(mix[0], 1) == "64.0%"


def test_draws_repeat_with_their_seed_and_leave_the_global_generator_alone():
    before = np.random.get_state()[1].tolist(), np.random.get_state()[2]

    def draw(seed):
        rng = np.random.default_rng(seed)
        trace = faults.draw_trace(rng, 168.0, 7.9, MIX)
        return [*trace.times, *trace.classes], faults.draw_fault_counts(rng, 6, 21.0, MIX).tolist()

    assert draw(10) == draw(10)
    assert draw(10)[0] != draw(11)[0]
    assert draw(10)[1] != draw(11)[1]
    assert (np.random.get_state()[1].tolist(), np.random.get_state()[2]) == before


# --- where a value lies ---------------------------------------------------------------------------


@modest
@given(st.integers(-3, 12), st.lists(st.integers(0, 9), min_size=1, max_size=40))
def test_position_counts_the_shares_below_at_and_above(value, sample):
    position = rc.position(value, np.array(sample))
    n = len(sample)
    assert position.below == pytest.approx(sum(x < value for x in sample) / n, rel=ROUNDING)
    assert position.equal == pytest.approx(sum(x == value for x in sample) / n, rel=ROUNDING)
    assert position.above == pytest.approx(sum(x > value for x in sample) / n, rel=ROUNDING)


def test_the_recorded_week_lies_among_drawn_ones_where_poisson_puts_it():
    drawn = faults.draw_fault_counts(np.random.default_rng(12), 50_000, WEEK_H / 7.9, MIX).sum(axis=1)
    position = rc.position(20, drawn)
    mean = WEEK_H / 7.9
    for share, chance in [
        (position.below, poisson_at_most(19, mean)),
        (position.equal, poisson_exactly(20, mean)),
        (position.above, 1 - poisson_at_most(20, mean)),
    ]:
        assert abs(share - chance) < 4 * math.sqrt(chance * (1 - chance) / 50_000)


# --- recoveries that faults interrupt -------------------------------------------------------------


@pytest.mark.parametrize("duration, mtbf", [(388.2, 28_440.0), (60.0, 60.0), (25.0, 10.0)])
def test_a_recovery_that_faults_restart_lasts_as_long_as_in_an_event_simulation(duration, mtbf):
    rng = np.random.default_rng(13)
    lengths = [restarting_until(rng, duration, mtbf) for _ in range(30_000)]
    assert_mean(lengths, rc.recovery_with_faults(duration, mtbf), resolution=0.01)


@modest
@given(st.floats(1e-9, 1e-4), st.floats(1e-3, 1e9))
def test_a_short_recovery_is_lengthened_by_half_of_its_chance_of_a_fault(ratio, mtbf):
    duration = ratio * mtbf
    longer = rc.recovery_with_faults(duration, mtbf)
    # The next term of the exponential is ratio^2 / 6.
    assert longer / duration == pytest.approx(1 + ratio / 2 + ratio**2 / 6, rel=ROUNDING)


def test_recovery_with_faults_at_extreme_scales():
    with strict():
        assert rc.recovery_with_faults(0.0, 5.0) == 0.0
        assert rc.recovery_with_faults(1.0, 1e300) == pytest.approx(1.0, rel=ROUNDING)
        assert rc.recovery_with_faults(600.0, 1.0) == pytest.approx(math.exp(600.0), rel=1e-12)
        # Longer than any float: said as infinity, without a warning.
        assert rc.recovery_with_faults(1e6, 1.0) == INF
    np.testing.assert_allclose(
        rc.recovery_with_faults([1.0, 2.0], 2.0), [2 * (math.exp(0.5) - 1), 2 * (math.e - 1)], rtol=ROUNDING
    )


# --- bad input ------------------------------------------------------------------------------------


def replaced(mapping, **changes):
    return {**mapping, **changes}


RNG = np.random.default_rng(0)
PATH = rc.cold_path(DETECTION_S, COLD_S)
REFUSALS = [
    *refusals(rc.cold_path, {"detection": DETECTION_S, "restart": COLD_S}, restart=NEGATIVE),
    *refusals(
        rc.standby_path,
        {"detection": DETECTION_S, "restart": COLD_S, "standby": STANDBY_S},
        restart=NEGATIVE,
        standby=NEGATIVE,
    ),
    *refusals(PATH.loss_per_fault, {"rollback": 0.0}, rollback=NEGATIVE),
    *refusals(
        rc.hours_lost_h,
        {"counts": np.ones(5), "path": PATH, "rollback": 0.0},
        counts=([], [1, 1, 1, 1, -3], [1, 1, 1, 1, NAN]),
        rollback=NEGATIVE,
    ),
    *refusals(rc.ettr, {"lost": 0.0, "horizon": 10.0}, lost=NEGATIVE, horizon=NOT_POSITIVE),
    *refusals(faults.expected_faults, {"horizon": 10.0, "mtbf": 1.0}, horizon=NEGATIVE, mtbf=NOT_POSITIVE),
    *refusals(
        faults.draw_trace,
        {"rng": RNG, "horizon": 10.0, "mtbf": 1.0, "mix": MIX},
        rng=(None, 7),
        horizon=NOT_POSITIVE,
        mtbf=NOT_POSITIVE,
    ),
    *refusals(
        faults.draw_fault_counts,
        {"rng": RNG, "weeks": 3, "expected": 21.0, "mix": MIX},
        rng=(None, 7),
        weeks=(*NOT_COUNT, 2.5),
        expected=NEGATIVE,
    ),
    *refusals(rc.position, {"value": 1.0, "sample": [1.0]}, value=(NAN, "seven", None), sample=([], [1.0, NAN])),
    *refusals(rc.recovery_with_faults, {"duration": 0.0, "mtbf": 1.0}, duration=NEGATIVE, mtbf=NOT_POSITIVE),
]


@pytest.mark.parametrize("function, good, name, values", REFUSALS)
def test_bad_input_is_named_and_repeated(function, good, name, values):
    assert_refused(function, good, name, values)


@pytest.mark.parametrize(
    "mix, said",
    [
        ({name: MIX[name] for name in CLASSES[:4]}, "other"),
        (replaced(MIX, disk=0.0), "disk"),
        (replaced(MIX, gpu=-0.25), r"-0\.25"),
        (replaced(MIX, gpu=1.75), r"1\.75"),
        (replaced(MIX, host=NAN), "nan"),
        (replaced(MIX, host="seven"), "seven"),
        (replaced(MIX, gpu=0.687), r"1\.1|1\.0999"),
        (replaced(MIX, gpu=MIX["gpu"] + 2e-9), r"1\.000000002|1\.00000000[12]9*"),
        ({}, "gpu"),
    ],
)
def test_a_mix_of_other_classes_or_another_sum_is_refused(mix, said):
    for draw in (
        lambda: faults.draw_trace(np.random.default_rng(0), 10.0, 1.0, mix),
        lambda: faults.draw_fault_counts(np.random.default_rng(0), 3, 1.0, mix),
    ):
        with pytest.raises(ValueError, match="mix") as caught:
            draw()
        caught.match(said)


def test_a_mix_whose_sum_is_rounded_is_taken():
    rounded = replaced(MIX, gpu=MIX["gpu"] + 5e-10)
    assert faults.draw_fault_counts(np.random.default_rng(0), 3, 1.0, rounded).shape == (3, 5)
    assert faults.draw_trace(np.random.default_rng(0), 100.0, 1.0, rounded).times.size > 0


@pytest.mark.parametrize(
    "detection, said",
    [
        ({name: DETECTION_S[name] for name in CLASSES[1:]}, "gpu"),
        (replaced(DETECTION_S, disk=1.0), "disk"),
        (replaced(DETECTION_S, host=-3.25), r"-3\.25"),
        (replaced(DETECTION_S, host=NAN), "nan"),
        (replaced(DETECTION_S, host=INF), "inf"),
    ],
)
def test_detection_wants_one_time_for_each_class(detection, said):
    for path in (lambda: rc.cold_path(detection, COLD_S), lambda: rc.standby_path(detection, COLD_S, STANDBY_S)):
        with pytest.raises(ValueError, match="detection") as caught:
            path()
        caught.match(said)


def test_a_standby_cannot_help_a_class_that_does_not_exist():
    with pytest.raises(ValueError, match="helps") as caught:
        warm(helps=("gpu", "disk"))
    caught.match("disk")


@pytest.mark.parametrize("trace", [["gpu", "disk"], ["GPU"], [3]])
def test_a_trace_with_an_unknown_class_is_refused(trace):
    with pytest.raises(ValueError, match=r"\btrace\b") as caught:
        faults.count_faults(trace)
    caught.match(str(trace[-1]))


@pytest.mark.parametrize(
    "change, said", [({"disk": 1}, "disk"), ({"gpu": -3}, "-3"), ({"gpu": 2.5}, r"2\.5"), ({"gpu": NAN}, "nan")]
)
def test_recorded_counts_are_whole_numbers_of_known_classes(change, said):
    with pytest.raises(ValueError, match=said):
        faults.counts_from(replaced(RECORDED, **change))


@pytest.mark.parametrize(
    "phases, said",
    [
        ({}, "empty|no phase|at least one"),
        ({"stop": 1.0, "load": -3.25}, r"-3\.25"),
        ({"stop": NAN, "load": 1.0}, "nan"),
    ],
)
def test_a_timeline_wants_phases_that_last(phases, said):
    with pytest.raises(ValueError, match="phases") as caught:
        rc.timeline_total(phases)
    caught.match(said)


@pytest.mark.parametrize("shape", [(4,), (6,), (5, 3), ()])
def test_counts_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match=r"\bcounts\b"):
        rc.hours_lost_h(np.ones(shape, dtype=int), cold(), ROLLBACK_S)
