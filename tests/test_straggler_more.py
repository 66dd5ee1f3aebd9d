"""What jitter does to a step, and what one round can find: closed forms, simulations and the limits without jitter."""

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
    NOT_INSIDE_UNIT,
    NOT_POSITIVE,
    assert_mean,
    assert_refused,
    modest,
    normal_tail,
    refusals,
    strict,
)

from reliability import detector, jitter, straggler

pytestmark = pytest.mark.filterwarnings("error")


# --- the step with a slow rank --------------------------------------------------------------------


@pytest.mark.parametrize("behind", [0.0, 0.3, 2.0, 7.0])
def test_the_larger_of_two_normals_has_a_closed_form(behind):
    # Clark (1961): mu + d Phi(d / sqrt 2) + sqrt 2 phi(d / sqrt 2), in standard deviations.
    a = behind / math.sqrt(2)
    density = math.exp(-a * a / 2) / math.sqrt(2 * math.pi)
    expected = behind * (1 - normal_tail(a)) + math.sqrt(2) * density
    with strict():
        step = jitter.expected_slow_step(2, 30.0, 0.5, 30.0 + 0.5 * behind)
    assert step == pytest.approx(30.0 + 0.5 * expected, rel=1e-12)


@modest
@given(st.integers(2, 10**7))
def test_a_slow_rank_that_is_not_slow_is_one_of_the_healthy(ranks):
    assert jitter.expected_slow_step(ranks, 30.0, 0.5, 30.0) == pytest.approx(
        straggler.expected_maximum(ranks, 30.0, 0.5), rel=1e-12
    )


@modest
@given(st.integers(2, 10**6), st.floats(0, 4), st.floats(1, 3))
def test_the_slow_step_is_no_shorter_than_its_parts_and_scales(ranks, deviation, factor):
    step = jitter.expected_slow_step(ranks, 30.0, deviation, 30.0 * factor)
    assert step >= 30.0 * factor * (1 - 1e-12)
    # The other ranks alone are one fewer; each rank added can only lengthen the step.
    assert step >= straggler.expected_maximum(ranks - 1, 30.0, deviation) * (1 - 1e-12)
    assert jitter.expected_slow_step(ranks, 60.0, 2 * deviation, 60.0 * factor) == pytest.approx(2 * step, rel=1e-12)


def test_the_slow_step_is_the_mean_of_simulated_ones():
    rng = np.random.default_rng(3)
    rounds = straggler.draw_rank_times(rng, 200, 30.0, 0.5, steps=4000)
    rounds[:, 7] += 1.2  # lost in the jitter as often as not
    assert_mean(rounds.max(axis=1) - 30.0, jitter.expected_slow_step(200, 30.0, 0.5, 31.2) - 30.0, resolution=0.005)


@pytest.mark.parametrize("behind", [25.9, 26.1, 1e6])
def test_a_rank_far_behind_is_the_step(behind):
    with strict():
        assert jitter.expected_slow_step(10**6, 1e3, 1.0, 1e3 + behind) == pytest.approx(1e3 + behind, rel=1e-12)


def test_without_jitter_the_slow_step_is_the_slow_ranks():
    with strict():
        assert jitter.expected_slow_step(1024, 30.0, 0.0, 36.0) == 36.0
        assert jitter.expected_slow_step(1024, 30.0, 0.0, 30.0) == 30.0


def test_the_slow_step_broadcasts():
    steps = jitter.expected_slow_step(np.array([[2], [1024]]), 30.0, 0.5, np.array([30.0, 31.5, 36.0]))
    assert steps.shape == (2, 3)
    assert steps[1, 1] == pytest.approx(jitter.expected_slow_step(1024, 30.0, 0.5, 31.5), rel=1e-12)
    assert isinstance(jitter.expected_slow_step(1024, 30.0, 0.5, 31.5), float)


def test_a_slow_rank_that_is_faster_is_refused():
    with pytest.raises(ValueError, match=r"slow_step = 29.5.*step = 30"):
        jitter.expected_slow_step(1024, 30.0, 0.5, 29.5)


# --- the distribution of the step -----------------------------------------------------------------


def test_the_chance_of_a_maximum_is_a_power():
    # Of two normals the larger is above the mean with chance 3/4.
    assert jitter.maximum_between(2, 30.0, 0.5, 30.0, 100.0) == pytest.approx(0.75, rel=1e-12)
    assert jitter.maximum_between(1, 0.0, 1.0, -1.0, 1.0) == pytest.approx(1 - 2 * normal_tail(1.0), rel=1e-12)


def test_intervals_side_by_side_share_out_all_chances():
    bounds = np.linspace(28.0, 36.0, 41)
    assert jitter.maximum_between(1024, 30.0, 0.5, bounds[:-1], bounds[1:]).sum() == pytest.approx(1.0, abs=1e-12)


def test_the_published_step_is_printed_by_about_as_many_seeds_as_it_should():
    # 1,000 seeds at a chance of 1.8 % each: 17.9 expected, with a standard deviation of 4.2.
    printed = [
        f"{straggler.step_time(straggler.draw_rank_times(np.random.default_rng(seed), 1024, 30.0, 0.5)):.2f}"
        for seed in range(1000)
    ]
    expected = 1000 * jitter.maximum_between(1024, 30.0, 0.5, 31.695, 31.705)
    assert expected == pytest.approx(17.9, abs=0.05)
    assert abs(printed.count("31.70") - expected) < 4 * math.sqrt(expected)
    assert printed.index("31.70") == 22


def test_without_jitter_the_maximum_is_certain():
    with strict():
        assert jitter.maximum_between(9, 30.0, 0.0, 29.995, 30.005) == 1.0
        assert jitter.maximum_between(9, 30.0, 0.0, 30.0, 30.005) == 0.0


# --- false alarms and recall ----------------------------------------------------------------------


@modest
@given(st.integers(1, 10**7), st.floats(1, 1e6), st.floats(1e-4, 0.2), st.floats(1e-3, 0.4))
def test_false_alarms_and_the_threshold_undo_each_other(ranks, rounds, relative, alarms):
    threshold = straggler.false_alarm_threshold(ranks, rounds, relative, alarms)
    assert detector.expected_false_alarms(ranks, rounds, relative, threshold) == pytest.approx(alarms, rel=1e-6)


def test_false_alarms_are_as_many_as_a_simulation_has():
    rng = np.random.default_rng(8)
    healthy = straggler.draw_rank_times(rng, 2001, 30.0, 0.5, steps=500)
    expected = detector.expected_false_alarms(2001, 500, 0.5 / 30, 0.05)
    # Nearly Poisson; the median of 2,001 ranks wanders by 0.028 standard deviations, which matters less.
    assert abs(straggler.detect(healthy, 0.05).sum() - expected) < 4 * math.sqrt(expected)


def test_recall_is_as_often_as_a_simulation_finds_it():
    rng = np.random.default_rng(9)
    rounds = straggler.draw_rank_times(rng, 501, 30.0, 0.5, steps=4000)
    rounds[:, 7] += 30.0 * 0.09
    found = straggler.detect(rounds, 0.08)[:, 7]
    assert_mean(found, detector.recall_of_one_round(0.09, 0.08, 0.5 / 30), resolution=0.02)


@modest
@given(st.floats(1e-6, 1 - 1e-6), st.floats(0, 1), st.floats(1e-4, 0.2))
def test_recall_and_the_slowdown_found_undo_each_other(recall, threshold, relative):
    slowdown = detector.slowdown_found(recall, threshold, relative)
    if slowdown >= 0:
        assert detector.recall_of_one_round(slowdown, threshold, relative) == pytest.approx(recall, rel=1e-6)


def test_half_of_the_ranks_at_the_threshold_are_found():
    assert detector.recall_of_one_round(0.1, 0.1, 0.02) == 0.5
    assert detector.slowdown_found(0.5, 0.1, 0.02) == pytest.approx(0.1, rel=1e-12)


def test_without_jitter_the_detector_is_a_comparison():
    with strict():
        assert detector.recall_of_one_round(np.array([0.09, 0.1, 0.11]), 0.1, 0.0).tolist() == [0.0, 0.0, 1.0]
        assert detector.expected_false_alarms(1024, 1000, 0.0, np.array([0.0, 0.1])).tolist() == [0.0, 0.0]
        assert detector.slowdown_found(0.95, 0.1, 0.0) == 0.1


# --- a longer tail --------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [1, 2, 10, 1024])
def test_the_exponential_maximum_is_a_harmonic_sum(ranks):
    harmonic = math.fsum(1 / k for k in range(1, ranks + 1))
    assert jitter.exponential_maximum(ranks, 30.0, 0.5) == pytest.approx(30.0 + 0.5 * (harmonic - 1), rel=1e-12)


def test_the_exponential_maximum_and_threshold_hold_in_a_simulation():
    rng = np.random.default_rng(10)
    rounds = 29.5 + 0.5 * rng.standard_exponential((500, 2001))  # mean 30, standard deviation 0.5
    assert_mean(rounds.max(axis=1) - 29.5, jitter.exponential_maximum(2001, 30.0, 0.5) - 29.5, resolution=0.01)
    threshold = detector.exponential_threshold(2001, 500, 0.5 / 30, alarms=400)
    assert abs(straggler.detect(rounds, threshold).sum() - 400) < 4 * 20


def test_the_exponential_threshold_is_zero_where_half_are_false_alarms():
    assert detector.exponential_threshold(10, 10, 0.1, alarms=50) == 0.0
    with pytest.raises(ValueError, match=r"alarms = 51"):
        detector.exponential_threshold(10, 10, 0.1, alarms=51)


# --- when a swap pays -----------------------------------------------------------------------------


def test_a_swap_pays_after_its_cost_is_lost():
    assert detector.pays_after(6.0, 0.12) == pytest.approx(50.0)
    with strict():
        assert detector.pays_after(6.0, 0.0) == INF
        assert detector.pays_after(np.array([0.0, 3.0]), np.array([0.1, 1.0])).tolist() == [0.0, 3.0]


def test_waiting_for_that_long_never_costs_more_than_twice_what_hindsight_would():
    cost, loss = 6.0, 0.12
    wait = detector.pays_after(cost, loss)
    stays = np.linspace(0.1, 10 * wait, 1000)
    paid = np.where(stays <= wait, stays * loss, wait * loss + cost)
    hindsight = np.minimum(stays * loss, cost)
    assert (paid / hindsight).max() == pytest.approx(2.0, rel=1e-9)


# --- bad input ------------------------------------------------------------------------------------

RATIO = (NAN, INF, -3.25, 1.75, "seven", None, [])
REFUSALS = [
    *refusals(
        jitter.expected_slow_step,
        {"ranks": 9, "step": 0.5, "jitter": 0.25, "slow_step": 4e6},
        ranks=(*NOT_COUNT, 1, 2.5),
        step=NOT_POSITIVE,
        jitter=NEGATIVE,
        slow_step=NOT_POSITIVE,
    ),
    *refusals(
        jitter.maximum_between,
        {"ranks": 9, "mean": 0.0, "sigma": 1.0, "low": -4e6, "high": 4e6},
        ranks=(*NOT_COUNT, 2.5),
        mean=(NAN, INF, "seven", None, []),
        sigma=NEGATIVE,
        low=(NAN, INF, "seven", None, []),
        high=(NAN, INF, "seven", None, [], -5e6),
    ),
    *refusals(
        jitter.exponential_maximum,
        {"ranks": 9, "mean": 0.0, "sigma": 0.0},
        ranks=(*NOT_COUNT, 2.5),
        mean=(NAN, INF, "seven", None, []),
        sigma=NEGATIVE,
    ),
    *refusals(
        detector.expected_false_alarms,
        {"ranks": 9, "rounds": 9, "relative_jitter": 0.25, "threshold": 0.5},
        ranks=(*NOT_COUNT, 2.5),
        rounds=NOT_POSITIVE,
        relative_jitter=NEGATIVE,
        threshold=NEGATIVE,
    ),
    *refusals(
        detector.recall_of_one_round,
        {"slowdown": 0.5, "threshold": 0.5, "relative_jitter": 0.25},
        slowdown=NEGATIVE,
        threshold=NEGATIVE,
        relative_jitter=NEGATIVE,
    ),
    *refusals(
        detector.slowdown_found,
        {"recall": 0.5, "threshold": 0.5, "relative_jitter": 0.25},
        recall=NOT_INSIDE_UNIT,
        threshold=NEGATIVE,
        relative_jitter=NEGATIVE,
    ),
    *refusals(
        detector.exponential_threshold,
        {"ranks": 9, "rounds": 9, "relative_jitter": 0.25, "alarms": 1.5},
        ranks=(*NOT_COUNT, 2.5),
        rounds=NOT_POSITIVE,
        relative_jitter=RATIO,
        alarms=NOT_POSITIVE,
    ),
    *refusals(detector.pays_after, {"cost": 6.5, "loss": 0.25}, cost=NEGATIVE, loss=RATIO),
]


@pytest.mark.parametrize("function, good, name, values", REFUSALS)
def test_bad_input_is_named_and_repeated(function, good, name, values):
    assert_refused(function, good, name, values)
