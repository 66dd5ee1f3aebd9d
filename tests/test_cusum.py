"""The cumulative sum: a plain loop, published run lengths, a coarse chain solved another way, simulations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import INF, NAN, NEGATIVE, NOT_POSITIVE, assert_mean, assert_refused, modest, normal_tail, refusals, strict

from reliability import cusum

pytestmark = pytest.mark.filterwarnings("error")


def run_lengths(rng, shift, reference, limit, runs, cut=INF, outliers=0.0):
    """Rounds to an alarm of many runs, round by round."""
    total, rounds, on = np.zeros(runs), np.zeros(runs, dtype=int), np.ones(runs, dtype=bool)
    while on.any():
        scores = np.where(rng.random(runs) < outliers, INF, shift + rng.standard_normal(runs))
        total = np.maximum(0.0, total + np.minimum(scores, cut) - reference)
        rounds += on
        on &= total <= limit
    return rounds


def coarse_chain(shift, reference, limit, states=200):
    """Brook and Evans (1972): the statistic on a grid, the equations solved as they stand."""
    width = limit / (states - 0.5)
    x = width * np.arange(states)
    below = np.vectorize(lambda z: 1 - normal_tail(z))
    edges = below(x[None, :] + width / 2 - x[:, None] - shift + reference)
    within = np.diff(edges, axis=1, prepend=0.0)
    return np.linalg.solve(np.eye(states) - within, np.ones(states))[0]


# --- the statistic --------------------------------------------------------------------------------


@modest
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=60), st.floats(0, 3))
def test_the_statistic_is_a_loop(scores, reference):
    total, expected = 0.0, []
    for score in scores:
        total = max(0.0, total + score - reference)
        expected.append(total)
    assert cusum.statistic(scores, reference) == pytest.approx(expected, abs=1e-9)


def test_each_rank_has_a_statistic_of_its_own():
    scores = np.array([[1.0, 0.0], [2.0, 3.0], [-9.0, 1.0]])
    assert cusum.statistic(scores, 0.5).tolist() == [[0.5, 0.0], [2.0, 2.5], [0.0, 3.0]]


# --- run lengths ----------------------------------------------------------------------------------

# Montgomery, Introduction to Statistical Quality Control, table of two-sided sums with reference 1/2: without a shift
# the one-sided run is twice as long; with one the other side hardly matters.
PUBLISHED = [
    (0.0, 4.0, 2 * 168, 1.0),
    (0.0, 5.0, 2 * 465, 1.0),
    (1.0, 4.0, 8.38, 0.005),
    (1.0, 5.0, 10.4, 0.05),
    (2.0, 5.0, 4.01, 0.005),
]


@pytest.mark.parametrize(("shift", "limit", "published", "rounding"), PUBLISHED)
def test_run_lengths_are_the_published_ones(shift, limit, published, rounding):
    assert cusum.cusum_rounds(shift, 0.5, limit) == pytest.approx(published, abs=rounding)


@pytest.mark.parametrize(
    ("shift", "reference", "limit"), [(0.0, 0.5, 3.0), (1.5, 1.0, 4.0), (0.0, 1.5, 1.0), (-0.5, 0.2, 2.0)]
)
def test_run_lengths_are_those_of_a_coarse_chain(shift, reference, limit):
    assert cusum.cusum_rounds(shift, reference, limit) == pytest.approx(coarse_chain(shift, reference, limit), rel=2e-3)


@pytest.mark.parametrize(("shift", "reference", "limit"), [(0.0, 0.5, 2.5), (3.6, 1.8, 3.5), (0.5, 0.25, 9.0)])
def test_run_lengths_are_those_of_a_simulation(shift, reference, limit):
    sample = run_lengths(np.random.default_rng(8), shift, reference, limit, 4000)
    assert_mean(sample, cusum.cusum_rounds(shift, reference, limit), resolution=0.03)


@modest
@given(st.floats(-3, 10), st.floats(0, 5))
def test_without_a_limit_one_score_alarms(shift, reference):
    assert cusum.cusum_rounds(shift, reference, 0.0) == pytest.approx(1 / normal_tail(reference - shift), rel=1e-9)


@modest
@given(st.floats(0.1, 3), st.floats(0.5, 20))
def test_run_lengths_rise_with_the_limit_and_fall_with_the_shift(reference, limit):
    runs = cusum.cusum_rounds(np.array([0.0, reference, 2 * reference]), reference, limit)
    assert (np.diff(runs) <= 0).all()
    assert cusum.cusum_rounds(0.0, reference, limit * 1.1) >= runs[0]
    # Lorden: a false alarm is rarer than exp(-2 kappa h), and rarer still than a single score above h + kappa is not.
    assert math.exp(2 * reference * limit) <= runs[0] * (1 + 1e-9) <= 1.001 / normal_tail(reference + limit)


def test_a_rare_alarm_keeps_its_digits():
    # Each deviation that the limit is moved by weighs 2 kappa in the logarithm, far beyond what 1 - 1e-16 could tell.
    with strict():
        runs = np.log(cusum.cusum_rounds(0.0, 1.0, np.array([20.0, 25.0, 30.0, 55.0])))
    assert np.diff(runs) == pytest.approx([10.0, 10.0, 50.0], rel=1e-6)
    assert cusum.cusum_rounds(1e4, 1.0, 5.0) == 1.0
    assert cusum.cusum_rounds(-1e4, 1.0, 5.0) == INF


# --- Siegmund -------------------------------------------------------------------------------------


def test_siegmund_is_close_for_small_references_and_not_for_large_ones():
    references = np.array([0.25, 2.0])
    limits = cusum.cusum_limit(1e6, references)
    off = cusum.siegmund_rounds(0.0, references, limits) / cusum.cusum_rounds(0.0, references, limits) - 1
    assert abs(off[0]) < 0.003
    assert 0.4 < off[1] < 0.6


def test_far_limits_are_left_to_siegmund_without_a_jump():
    for shift in (0.0, 0.1):
        near, far = cusum.cusum_rounds(shift, 0.05, np.array([60.0, 60.001]))
        assert far == pytest.approx(near, rel=2e-3)


@modest
@given(st.floats(0, 3), st.floats(0, 50), st.floats(-1e-6, 1e-6))
def test_siegmund_without_a_drift_is_a_square(reference, limit, drift):
    with strict():
        rounds = cusum.siegmund_rounds(reference + drift, reference, limit)
    assert rounds == pytest.approx((limit + 1.166) ** 2, rel=1e-3)


def test_siegmund_where_its_two_ways_meet():
    b, drifts = 5 + 1.166, np.array([0.99e-4, 1.01e-4, -0.99e-4, -1.01e-4]) / (2 * 6.166)
    x = 2 * drifts * b
    expected = 2 * b**2 * (0.5 - x / 6 + x**2 / 24)
    assert cusum.siegmund_rounds(0.5 + drifts, 0.5, 5.0) == pytest.approx(expected, rel=1e-9)


# --- the limit ------------------------------------------------------------------------------------


@modest
@given(st.floats(1e3, 1e13), st.floats(0.6, 2.0))
def test_the_limit_for_so_many_rounds_is_the_inverse(rounds, reference):
    limit = cusum.cusum_limit(rounds, reference)
    assert cusum.cusum_rounds(0.0, reference, limit) == pytest.approx(rounds, rel=1e-4)


def test_no_limit_is_needed_where_the_reference_is_enough():
    assert cusum.cusum_limit(np.array([1.0, 100.0, 700.0]), 3.0).tolist() == [0.0, 0.0, 0.0]
    assert cusum.cusum_limit(800.0, 3.0) > 0
    assert cusum.cusum_limit(np.full((2, 1), 1e4), np.array([0.5, 1.0, 2.0])).shape == (2, 3)


# --- phases, hiccups and cuts ---------------------------------------------------------------------


def test_a_phase_is_found_as_often_as_in_a_simulation():
    rng = np.random.default_rng(9)
    found = run_lengths(rng, 2.0, 1.0, 5.0, 6000) <= rng.geometric(1 / 8, 6000)
    assert_mean(found, cusum.cusum_before_end(2.0, 1.0, 5.0, 8.0), resolution=0.02)


@modest
@given(st.floats(0, 6), st.floats(0.3, 3), st.floats(0.1, 10), st.floats(1, 1e4))
def test_the_longer_a_phase_the_likelier_it_is_found(shift, reference, limit, phase):
    chance = cusum.cusum_before_end(shift, reference, limit, phase)
    assert 0 <= chance <= cusum.cusum_before_end(shift, reference, limit, 2 * phase) <= 1
    # The chance that a single round alarms is a lower bound, by Jensen the survival to the mean round another.
    assert chance >= (1 - 1 / phase) ** (cusum.cusum_rounds(shift, reference, limit) - 1) * (1 - 1e-9)


def test_hiccups_fill_a_sum_that_is_not_cut():
    runs = cusum.cusum_rounds(0.0, 1.0, 6.0, outliers=0.01)
    assert runs == pytest.approx(1 / (0.01 + 0.99 / cusum.cusum_rounds(0.0, 1.0, 6.0)), rel=1e-3)
    assert cusum.cusum_rounds(0.0, 0.01, 70.0, outliers=0.01) == pytest.approx(100, rel=0.05)


@pytest.mark.parametrize(("shift", "cut", "outliers"), [(0.0, 2.9, 0.1), (2.0, 2.5, 0.0), (0.5, 2.2, 0.1)])
def test_cut_scores_take_as_many_rounds_as_in_a_simulation(shift, cut, outliers):
    sample = run_lengths(np.random.default_rng(10), shift, 1.0, 4.0, 4000, cut, outliers)
    assert_mean(sample, cusum.cusum_rounds(shift, 1.0, 4.0, cut=cut, outliers=outliers), resolution=0.02)


def test_a_cut_far_out_cuts_nothing():
    for reference, limit in ((0.5, 5.0), (1.8, 3.5), (0.25, 20.0)):
        for shift in (0.0, 2 * reference):
            plain = cusum.cusum_rounds(shift, reference, limit)
            assert cusum.cusum_rounds(shift, reference, limit, cut=50.0) == pytest.approx(plain, rel=0.015)


# --- bad input ------------------------------------------------------------------------------------

ANY = (NAN, INF, "seven", None, [])
GOOD = {"shift": 0.5, "reference": 0.25, "limit": 4.0}
REFUSALS = [
    *refusals(cusum.statistic, {"scores": [1.5, 2.5], "reference": 0.25}, scores=(*ANY, 1.5), reference=NEGATIVE),
    *refusals(cusum.siegmund_rounds, GOOD, shift=ANY, reference=NEGATIVE, limit=NEGATIVE),
    *refusals(
        cusum.cusum_rounds,
        GOOD | {"cut": 2.5, "outliers": 0.125},
        shift=ANY,
        reference=NEGATIVE,
        limit=NEGATIVE,
        cut=(NAN, INF, "seven", [], 0.125),
        outliers=(NAN, -0.25, 1.75, "seven", None, []),
    ),
    *refusals(
        cusum.cusum_before_end,
        GOOD | {"phase": 9.0},
        shift=ANY,
        limit=NEGATIVE,
        phase=(NAN, INF, 0.5, "seven", None, []),
    ),
    *refusals(
        cusum.cusum_limit,
        {"rounds": 900.0, "reference": 0.5},
        rounds=(NAN, INF, 0.5, "seven", None, []),
        reference=NOT_POSITIVE,
    ),
]


@pytest.mark.parametrize("function, good, name, values", REFUSALS)
def test_bad_input_is_named_and_repeated(function, good, name, values):
    assert_refused(function, good, name, values)


@pytest.mark.parametrize(
    "shift, reference, limit", [(10.0, 0.5, 61.0), (40.0, 0.5, 61.0), (3.5, 0.5, 100.0), (1.5, 0.5, 61.0)]
)
def test_far_limits_and_large_drifts_against_a_simulation(shift, reference, limit):
    rng, total, rounds = np.random.default_rng(12), np.zeros(2000), np.zeros(2000)
    while (running := total <= limit).any():
        total[running] = np.maximum(0, total[running] + shift - reference + rng.standard_normal(running.sum()))
        rounds[running] += 1
    error = rounds.std() / math.sqrt(rounds.size)
    assert cusum.cusum_rounds(shift, reference, limit) == pytest.approx(
        rounds.mean(), abs=4 * error + 5e-4 * rounds.mean()
    )


def test_far_limits_at_any_scale():
    with strict():
        assert cusum.cusum_rounds(0.0, 0.5, [1e3, 1e300]).tolist() == [INF, INF]
        assert cusum.siegmund_rounds([-1e300, 0.0, 1e300], [0.0, 1e300, 0.0], 1.0).tolist() == [INF, INF, 2.166e-300]
        assert cusum.cusum_rounds([-1e300, 0.0, 1e300], [0.0, 1e300, 0.0], 1.0).tolist() == [INF, INF, 1.0]
        assert cusum.cusum_rounds(10.0, 0.5, 1e300) == pytest.approx(1e300 / 9.5)
        assert cusum.cusum_rounds(5.0, 0.5, 4.5e6 * (1 - 1e-9)) == pytest.approx(
            cusum.cusum_rounds(5.0, 0.5, 4.5e6), rel=1e-8
        )
        assert cusum.cusum_limit([3.0, 1.0], [1e-300, 1e300]) == pytest.approx([0.4757, 0.0], abs=1e-4)


def test_a_limit_too_far_for_a_chain_is_refused():
    for function, more in ((cusum.cusum_before_end, {"phase": 10.0}), (cusum.cusum_rounds, {"cut": 2.0})):
        with pytest.raises(ValueError, match="limit = 1e\\+12: must be at most 200"):
            function(0.0, 0.5, 1e12, **more)
