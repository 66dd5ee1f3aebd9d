"""Stragglers: the step that waits for the slowest, the median detector, and order statistics."""

import math
import statistics

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
    modest,
    normal_tail,
    one_sample_p,
    percent,
    refusals,
    strict,
)

from reliability import straggler as sg

pytestmark = pytest.mark.filterwarnings("error")

# A quotient or a product of floats: a few roundings of 1.1e-16 each.
ROUNDING = 1e-14

positive_times = st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=40)


def published_round():
    """The healthy ranks of the published case: 1,024 ranks, 30 s, 0.5 s; its seed is inferred."""
    return sg.draw_rank_times(np.random.default_rng(22), 1024, 30.0, 0.5)


# --- the step -------------------------------------------------------------------------------------


@modest
@given(positive_times)
def test_a_step_lasts_as_long_as_its_slowest_rank(times):
    slowest = times[0]
    for time in times:
        if time > slowest:
            slowest = time
    assert sg.step_time(times) == slowest
    assert sg.step_time(times[::-1]) == slowest


def test_steps_are_taken_over_the_last_axis():
    rounds = np.arange(24.0).reshape(2, 3, 4) + 1
    assert sg.step_time(rounds).tolist() == [[4.0, 8.0, 12.0], [16.0, 20.0, 24.0]]


def test_one_rank_waits_for_nobody():
    assert sg.step_time([30.5]) == 30.5


# --- drawing --------------------------------------------------------------------------------------


def test_rank_times_are_normal_around_the_step():
    times = sg.draw_rank_times(np.random.default_rng(1), 50_000, 30.0, 0.5)
    assert times.shape == (50_000,)
    assert one_sample_p(times[:20_000], lambda time: normal_tail((30.0 - time) / 0.5)) > 1e-3
    assert_mean(times, 30.0, resolution=1e-4)
    assert_mean((times - 30.0) ** 2, 0.25, resolution=0.01)


def test_rounds_are_drawn_apart():
    rounds = sg.draw_rank_times(np.random.default_rng(2), 2000, 30.0, 0.5, steps=3)
    assert rounds.shape == (3, 2000)
    correlation = np.corrcoef(rounds)[np.triu_indices(3, 1)]
    assert np.abs(correlation).max() < 4 / math.sqrt(2000)  # the standard error of no correlation
    assert sg.draw_rank_times(np.random.default_rng(2), 5, 30.0, 0.5, steps=1).shape == (1, 5)


def test_no_jitter_means_the_same_time_everywhere():
    assert sg.draw_rank_times(np.random.default_rng(3), 4, 30.0, 0.0).tolist() == [30.0] * 4


def test_draws_repeat_with_their_seed_and_leave_the_global_generator_alone():
    before = np.random.get_state()[1].tolist(), np.random.get_state()[2]
    assert published_round().tolist() == published_round().tolist()
    assert sg.draw_rank_times(np.random.default_rng(23), 1024, 30.0, 0.5).tolist() != published_round().tolist()
    assert (np.random.get_state()[1].tolist(), np.random.get_state()[2]) == before


# --- injection and replacement --------------------------------------------------------------------


def test_injection_slows_one_rank_of_a_copy():
    healthy = published_round()
    kept = healthy.copy()
    slow = sg.inject(healthy, 7, 36.0)
    assert healthy.tolist() == kept.tolist()
    assert slow[7] == 36.0
    assert np.flatnonzero(slow != healthy).tolist() == [7]


def test_injection_slows_that_rank_in_every_round():
    slow = sg.inject(np.full((3, 4), 30.0), 2, 36.0)
    assert slow.tolist() == [[30.0, 30.0, 36.0, 30.0]] * 3


def test_each_round_may_have_its_own_injected_time():
    slow = sg.inject(np.full((2, 3), 30.0), 0, [36.0, 37.0])
    assert slow.tolist() == [[36.0, 30.0, 30.0], [37.0, 30.0, 30.0]]


def test_injected_times_of_another_shape_are_refused_by_name():
    for times in (TIMES, [TIMES, TIMES]):
        with pytest.raises(ValueError, match=r"\bseconds\b"):
            sg.inject(times, 0, [36.0, 37.0, 38.0])


def test_injection_into_whole_numbers_keeps_the_fraction():
    assert sg.inject(np.array([30, 30, 30]), 1, 36.5).tolist() == [30.0, 36.5, 30.0]


@pytest.mark.parametrize("rank", [0, 1023])
def test_the_first_and_the_last_rank_are_ranks(rank):
    slow = sg.inject(published_round(), rank, 36.0)
    assert np.flatnonzero(sg.detect(slow, 0.1)).tolist() == [rank]


def test_replacement_brings_back_exactly_the_healthy_step():
    healthy = published_round()
    slow = sg.inject(healthy, 7, 36.0)
    kept = slow.copy()
    mended = sg.replace(slow, sg.detect(slow, 0.1), healthy)
    assert mended.tolist() == healthy.tolist()
    assert slow.tolist() == kept.tolist()
    assert sg.step_time(mended) == sg.step_time(healthy)


@modest
@given(st.lists(st.tuples(st.floats(1, 99), st.booleans(), st.floats(1, 99)), min_size=1, max_size=20))
def test_replacement_touches_the_masked_ranks_only(ranks):
    times, mask, healthy = (np.array(column) for column in zip(*ranks, strict=True))
    expected = [h if replaced else t for t, replaced, h in ranks]
    assert sg.replace(times, mask, healthy).tolist() == expected


# --- detection ------------------------------------------------------------------------------------


def test_the_published_case():
    healthy = published_round()
    slow = sg.inject(healthy, 7, 30.0 * 1.2)
    detected = np.flatnonzero(sg.detect(slow, 0.1))
    assert f"{sg.step_time(slow):.2f}" == "36.00"
    assert detected.tolist() == [7]
    assert sg.precision_recall(detected, [7]) == (1.0, 1.0)
    assert f"{sg.step_time(sg.replace(slow, sg.detect(slow, 0.1), healthy)):.2f}" == "31.70"
    assert f"{sg.step_time(healthy):.2f}" == "31.70"
    assert sg.detect(healthy, 0.1).sum() == 0


@modest
@given(positive_times, st.floats(0.01, 3))
def test_detection_is_a_loop_against_the_median(times, threshold):
    limit = (1 + threshold) * statistics.median(times)
    mask = sg.detect(times, threshold)
    assert mask.dtype == bool
    assert mask.tolist() == [time > limit for time in times]


@modest
@given(positive_times, st.integers(-20, 20), st.randoms(use_true_random=False))
def test_detection_knows_neither_the_unit_nor_the_order(times, exponent, order):
    mask = sg.detect(times, 0.5)
    # A power of two scales without rounding, so that the mask must be the very same.
    assert sg.detect(np.array(times) * 2.0**exponent, 0.5).tolist() == mask.tolist()
    turn = list(range(len(times)))
    order.shuffle(turn)
    assert sg.detect(np.array(times)[turn], 0.5).tolist() == mask[turn].tolist()


def test_a_rank_exactly_at_the_threshold_is_not_a_straggler():
    assert sg.detect([2.0, 2.0, 2.0, 3.0], 0.5).tolist() == [False] * 4
    assert sg.detect([2.0, 2.0, 2.0, np.nextafter(3.0, 4.0)], 0.5).tolist() == [False, False, False, True]


def test_each_round_has_its_own_median():
    rounds = np.array([[10.0, 10.0, 12.0], [30.0, 36.0, 30.0], [12.0, 12.0, 12.0]])
    assert sg.detect(rounds, 0.1).tolist() == [[False, False, True], [False, True, False], [False] * 3]


@pytest.mark.parametrize("ranks", [6, 7, 10, 65, 1000, 1001])
def test_a_median_of_an_even_number_of_ranks_lies_between_the_middle_two(ranks):
    # Even: (10 + 20) / 2 = 15, so that the limit is 22.5, where the lower of the two gives 15 and the upper 30.
    # Odd: the rank in the middle, 20, and a limit of 30.
    half = ranks // 2
    times = np.array([10.0] * half + [20.0] * (ranks - half - 2) + [22.0, 25.0])
    times = np.random.default_rng(ranks).permutation(times)
    assert times[sg.detect(times, 0.5)].tolist() == ([25.0] if ranks % 2 == 0 else [])
    assert sorted(times[sg.detect(times, 0.2)].tolist()) == (
        [20.0] * (half - 2) + [22.0, 25.0] if ranks % 2 == 0 else [25.0]
    )


def test_the_median_finds_fewer_than_half_and_no_more():
    slow = np.full(9, 30.0)
    slow[:4] = 36.0
    assert sg.detect(slow, 0.1).sum() == 4
    slow[4] = 36.0
    assert sg.detect(slow, 0.1).sum() == 0


@modest
@given(st.sets(st.integers(0, 19), max_size=20), st.sets(st.integers(0, 19), max_size=20))
def test_precision_and_recall_count_hits(detected, actual):
    precision, recall = sg.precision_recall(sorted(detected, reverse=True), sorted(actual))
    hits = sum(rank in actual for rank in detected)
    if detected:
        assert precision == hits / len(detected)
    else:
        assert precision == 1.0  # nothing that was said is wrong; recall tells of what was not said
    assert recall == (hits / len(actual) if actual else 1.0)


# --- what a straggler costs -----------------------------------------------------------------------


def test_published_drag_and_loss():
    assert f"{sg.drag(30.0, 36.0):+.0%}" == "+20%"
    assert percent(sg.loss_if_ignored(30.0, 36.0), 1) == "16.7%"


def test_against_the_step_that_jitter_really_leaves_they_are_smaller():
    real = sg.step_time(published_round())
    assert percent(sg.drag(real, 36.0), 1) == "13.6%"
    assert percent(sg.loss_if_ignored(real, 36.0), 1) == "11.9%"


@modest
@given(st.floats(1e-3, 1e6), st.floats(1, 1e3))
def test_loss_and_drag_tell_of_the_same_slowdown(healthy, slowdown):
    drag, loss = sg.drag(healthy, healthy * slowdown), sg.loss_if_ignored(healthy, healthy * slowdown)
    # Both are a difference from one: a rounding of the ratio.
    assert (1 - loss) * (1 + drag) == pytest.approx(1, rel=ROUNDING)
    assert drag == pytest.approx(slowdown - 1, rel=ROUNDING, abs=ROUNDING * slowdown)


def test_a_rank_that_is_not_slow_costs_nothing():
    assert sg.drag(30.0, 30.0) == 0.0
    assert sg.loss_if_ignored(30.0, 30.0) == 0.0


# --- the expected maximum -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ranks, expected",
    [
        (1, 0.0),
        (2, 1 / math.sqrt(math.pi)),
        (3, 1.5 / math.sqrt(math.pi)),
        (4, 3 / (2 * math.sqrt(math.pi)) * (1 + 2 / math.pi * math.asin(1 / 3))),
        (5, 5 / (4 * math.sqrt(math.pi)) * (1 + 6 / math.pi * math.asin(1 / 3))),
    ],
)
def test_expected_maximum_has_its_closed_forms(ranks, expected):
    assert sg.expected_maximum(ranks, 0.0, 1.0) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("ranks, printed", [(10, "1.53875"), (50, "2.24907"), (100, "2.50759")])
def test_expected_maximum_has_its_tabulated_values(ranks, printed):
    # Tables of normal order statistics, as in Harter (1961).
    assert f"{sg.expected_maximum(ranks, 0.0, 1.0):.5f}" == printed


@pytest.mark.parametrize("ranks", [7, 1024, 131_072, 10**7])
def test_expected_maximum_agrees_with_another_integral(ranks):
    # E = integral of P(max > x) over x > 0 less that of P(max < x) over x < 0; the power by its logarithm.
    # Simpson's rule in steps of 0.005: its error is of the order of 0.005^4 times the fourth derivative, 1e-9.
    def max_below(x):
        return math.exp(ranks * (math.log1p(-normal_tail(x)) if x > 0 else math.log(normal_tail(-x))))

    def max_above(x):
        return -math.expm1(ranks * math.log1p(-normal_tail(x)))

    def simpson(function, length, pieces=2400):
        weights = [1, *[4, 2] * (pieces // 2 - 1), 4, 1]
        return math.fsum(w * function(length * i / pieces) for i, w in enumerate(weights)) * length / pieces / 3

    expected = simpson(max_above, 12.0) - simpson(lambda x: max_below(-x), 12.0)
    assert sg.expected_maximum(ranks, 0.0, 1.0) == pytest.approx(expected, rel=1e-8)


def test_expected_maximum_is_the_mean_of_simulated_steps():
    rounds = sg.draw_rank_times(np.random.default_rng(4), 256, 30.0, 0.5, steps=4000)
    # As the excess over the step, so that 30 s of certainty do not hide the jitter.
    assert_mean(sg.step_time(rounds) - 30.0, sg.expected_maximum(256, 30.0, 0.5) - 30.0, resolution=0.004)


@modest
@given(st.integers(1, 10**7), st.floats(-1e3, 1e3), st.floats(0, 1e3))
def test_expected_maximum_moves_with_the_mean_and_grows_with_sigma(ranks, mean, sigma):
    standard = sg.expected_maximum(ranks, 0.0, 1.0)
    # What the sum of a mean and a multiple of sigma rounds away.
    assert sg.expected_maximum(ranks, mean, sigma) == pytest.approx(
        mean + sigma * standard, rel=1e-9, abs=1e-9 * (1 + abs(mean))
    )


def test_expected_maximum_grows_with_the_ranks_as_in_an_array_so_one_by_one():
    ranks = np.array([1, 2, 3, 10, 1024, 16_384, 131_072, 10**6, 10**7])
    with strict():
        maxima = sg.expected_maximum(ranks, 30.0, 0.5)
        one_by_one = [sg.expected_maximum(int(n), 30.0, 0.5) for n in ranks]
    assert (np.diff(maxima) > 0).all()
    np.testing.assert_allclose(maxima, one_by_one, rtol=1e-12)
    assert maxima[0] == pytest.approx(30.0, abs=1e-9)
    assert isinstance(one_by_one[0], float)


def test_expected_maximum_broadcasts_its_three_parameters():
    grid = sg.expected_maximum(np.array([[2], [3]]), np.array([10.0, 20.0]), 1.0)
    standard = np.array([1.0, 1.5]) / math.sqrt(math.pi)
    np.testing.assert_allclose(grid, np.array([10.0, 20.0]) + standard[:, None], rtol=1e-9)


def test_the_published_step_is_an_ordinary_draw_of_that_maximum():
    assert sg.expected_maximum(1024, 30.0, 0.5) == pytest.approx(31.62, abs=0.01)
    # The chance that the slowest of 1,024 stays below the published step is neither small nor nearly one.
    assert 0.05 < (1 - normal_tail((31.70 - 30.0) / 0.5)) ** 1024 < 0.95


# --- the threshold of a single round --------------------------------------------------------------


@pytest.mark.parametrize("alarms", [1.0, 0.01, 7.0])
@pytest.mark.parametrize("ranks, rounds", [(1024, 20_160), (131_072, 20_160), (10**7, 10**9), (8, 3)])
def test_at_the_threshold_the_expected_false_alarms_are_as_many_as_asked(ranks, rounds, alarms):
    with strict():
        threshold = sg.false_alarm_threshold(ranks, rounds, 0.02, alarms)
    # Through the upper tail: 1 - p has no digits left of a p of 1e-16.
    assert ranks * rounds * normal_tail(threshold / 0.02) == pytest.approx(alarms, rel=1e-9)


def test_one_false_alarm_is_what_the_threshold_is_for_unless_told():
    assert sg.false_alarm_threshold(1024, 20_160, 0.02) == sg.false_alarm_threshold(1024, 20_160, 0.02, 1.0)


def test_the_threshold_grows_with_the_jitter_and_with_the_ranks():
    one = sg.false_alarm_threshold(1024, 20_160, 0.01)
    assert sg.false_alarm_threshold(1024, 20_160, 0.03) == pytest.approx(3 * one, rel=ROUNDING)
    thresholds = sg.false_alarm_threshold(np.array([8, 1024, 16_384, 131_072]), 20_160, 0.01)
    assert (np.diff(thresholds) > 0).all()
    assert thresholds[1] == one
    # Ranks and rounds count alike.
    assert sg.false_alarm_threshold(20_160, 1024, 0.01) == pytest.approx(one, rel=ROUNDING)


def test_the_detector_raises_as_many_false_alarms_as_its_threshold_promises():
    ranks, rounds, jitter = 2000, 1000, 0.02
    threshold = sg.false_alarm_threshold(ranks, rounds, jitter, alarms=400.0)
    healthy = sg.draw_rank_times(np.random.default_rng(5), ranks, 1.0, jitter, steps=rounds)
    # The count is nearly Poisson, with a standard deviation of 20. The median of 2,000 ranks wanders by
    # 1.2533 / sqrt(2000) = 0.028 sigma, which changes the expected count by less than one of them.
    assert abs(sg.detect(healthy, threshold).sum() - 400) < 4 * 20


# --- bad input ------------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
TIMES = [30.0, 31.0, 29.0]
BAD_TIMES = ([], NAN, 3.25, "seven", None, [30.0, NAN], [30.0, INF], [30.0, -3.25])
REFUSALS = [
    *refusals(sg.step_time, {"rank_times": TIMES}, rank_times=BAD_TIMES),
    *refusals(
        sg.draw_rank_times,
        {"rng": RNG, "ranks": 4, "step": 30.0, "jitter": 0.0, "steps": 2},
        rng=(None, 22),
        ranks=(*NOT_COUNT, 2.5),
        step=NOT_POSITIVE,
        jitter=(*NEGATIVE, 29.5),  # of a step of 30 s: normal times would often be negative
        steps=(NAN, INF, -3, 0, "seven", [], 2.5),
    ),
    *refusals(
        sg.inject,
        {"rank_times": TIMES, "rank": 2, "seconds": 36.0},
        rank_times=BAD_TIMES,
        rank=(-3, 7, 1.5, NAN, "seven", None),
        seconds=(NAN, INF, -3.25, "seven", None),
    ),
    *refusals(
        sg.detect,
        {"rank_times": TIMES, "threshold": 0.1},
        rank_times=BAD_TIMES,
        threshold=(NAN, INF, -3.25, "seven", None),
    ),
    *refusals(
        sg.precision_recall,
        {"detected_ranks": [1], "actual_ranks": [1]},
        detected_ranks=([-3], [1.5], [NAN]),
        actual_ranks=([-3], [1.5], [NAN]),
    ),
    *refusals(
        sg.replace,
        {"rank_times": TIMES, "mask": [True, False, False], "healthy_times": TIMES},
        rank_times=([30.0, NAN, 30.0], [30.0, -3.25, 30.0]),
        healthy_times=([30.0, NAN, 30.0], [30.0, -3.25, 30.0]),
    ),
    *refusals(
        sg.loss_if_ignored, {"healthy_step": 30.0, "slow_step": 36.0}, healthy_step=NOT_POSITIVE, slow_step=NOT_POSITIVE
    ),
    *refusals(sg.drag, {"healthy_step": 30.0, "slow_step": 36.0}, healthy_step=NOT_POSITIVE, slow_step=NOT_POSITIVE),
    *refusals(
        sg.expected_maximum,
        {"ranks": 9, "mean": 0.0, "sigma": 0.0},
        ranks=(*NOT_COUNT, 2.5),
        mean=(NAN, INF, "seven", None, []),
        sigma=NEGATIVE,
    ),
    *refusals(
        sg.false_alarm_threshold,
        {"ranks": 9, "rounds": 9, "relative_jitter": 0.25, "alarms": 1.5},
        ranks=(*NOT_COUNT,),
        rounds=(*NOT_COUNT,),
        relative_jitter=(NAN, INF, -3.25, "seven", None, []),
        alarms=NOT_POSITIVE,
    ),
]


@pytest.mark.parametrize("function, good, name, values", REFUSALS)
def test_bad_input_is_named_and_repeated(function, good, name, values):
    assert_refused(function, good, name, values)


@pytest.mark.parametrize("alarms", [81.0, 1234.5])
def test_more_false_alarms_than_measurements_cannot_be_asked_for(alarms):
    with pytest.raises(ValueError, match=r"\balarms\b"):
        sg.false_alarm_threshold(9, 9, 0.25, alarms)


def test_masks_and_healthy_times_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"\bmask\b"):
        sg.replace(TIMES, [True, False], TIMES)
    with pytest.raises(ValueError, match=r"\bhealthy_times\b"):
        sg.replace(TIMES, [True, False, False], [30.0, 30.0])


def test_a_mask_of_numbers_is_not_a_mask():
    # [0, 2, 0] would be taken for truth values where a list of ranks was meant.
    with pytest.raises(ValueError, match=r"\bmask\b"):
        sg.replace(TIMES, [0, 2, 0], TIMES)
