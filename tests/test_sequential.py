"""Votes over many rounds: closed forms, plain simulations, and digits that survive a rare alarm."""

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
    refusals,
    strict,
)
from scipy.special import log_ndtr, ndtr

from reliability import sequential

pytestmark = pytest.mark.filterwarnings("error")


def rounds_until_votes(rng, flag, votes, window):
    """One run, round by round: when k of the last m rounds have flagged."""
    last = []
    for n in range(1, 10**6):
        last = [*last, rng.random() < flag][-window:]
        if sum(last) >= votes:
            return n


# --- rounds allowed -------------------------------------------------------------------------------


@modest
@given(st.integers(1, 10**7), st.floats(1e-6, 1e6), st.floats(1e-3, 1e5))
def test_rounds_and_alarms_undo_each_other(ranks, alarms, step):
    rounds = sequential.rounds_allowed(ranks, alarms, step)
    assert sequential.rounds_allowed(ranks, rounds, step) == pytest.approx(alarms, rel=1e-12)
    assert sequential.rounds_allowed(2 * ranks, 2 * alarms, step) == pytest.approx(rounds, rel=1e-12)
    assert sequential.rounds_allowed(ranks, alarms, 2 * step) == pytest.approx(rounds / 2, rel=1e-12)


# --- the chain ------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [0.0, 0.05, 1.0])
def test_the_chain_agrees_with_linear_equations(end):
    rng = np.random.default_rng(1)
    rows = rng.dirichlet(np.ones(7), size=6)
    within, alarm = rows[:, :6], rows[:, 6]
    rounds, chance = sequential.absorbing_chain(within, alarm, end)
    left = np.eye(6) - (1 - end) * within
    assert rounds == pytest.approx(np.linalg.solve(left, np.ones(6))[0], rel=1e-10)
    assert chance == pytest.approx(np.linalg.solve(left, alarm)[0], rel=1e-10)


def test_the_chain_keeps_its_digits_where_a_difference_would_lose_them():
    # Two steps, each of chance p, back to the start otherwise: (1 + 1 / p) / p rounds.
    for p in (1e-9, 1e-100, 1e-150):
        rounds, _ = sequential.absorbing_chain([[1 - p, p], [1 - p, 0.0]], [0.0, p])
        assert rounds == pytest.approx((1 + 1 / p) / p, rel=1e-12)


# --- votes ----------------------------------------------------------------------------------------


@modest
@given(st.floats(0, 1), st.integers(1, 30), st.integers(0, 30))
def test_a_window_has_the_tail_of_a_binomial(flag, votes, more):
    window = votes + more
    terms = [math.comb(window, i) * flag**i * (1 - flag) ** (window - i) for i in range(votes, window + 1)]
    assert sequential.vote_chance(flag, votes, window) == pytest.approx(math.fsum(terms), rel=1e-9, abs=1e-300)


@modest
@given(st.floats(1e-3, 0.99), st.integers(1, 8))
def test_all_of_the_window_is_a_run(flag, votes):
    expected = (1 - flag**votes) / ((1 - flag) * flag**votes)
    assert sequential.rounds_to_votes(flag, votes, votes) == pytest.approx(expected, rel=1e-9)


@modest
@given(st.floats(1e-300, 1), st.integers(1, 8))
def test_one_vote_is_geometric(flag, window):
    assert sequential.rounds_to_votes(flag, 1, window) == pytest.approx(1 / flag, rel=1e-12)


@pytest.mark.parametrize(("flag", "votes", "window"), [(0.2, 3, 5), (0.5, 2, 8), (0.3, 2, 3), (0.4, 4, 5)])
def test_votes_take_as_many_rounds_as_a_simulation(flag, votes, window):
    rng = np.random.default_rng(5)
    sample = [rounds_until_votes(rng, flag, votes, window) for _ in range(3000)]
    assert_mean(sample, sequential.rounds_to_votes(flag, votes, window), resolution=0.02)


@modest
@given(st.floats(1e-12, 0.9), st.integers(1, 5), st.integers(0, 3))
def test_windows_that_overlap_alarm_sooner_than_blocks(flag, votes, more):
    window = votes + more
    overlapping = sequential.rounds_to_votes(flag, votes, window)
    assert votes <= overlapping <= window / sequential.vote_chance(flag, votes, window) * (1 + 1e-9)
    # Each alarm's window ends in a flag: so many choices of the others.
    assert overlapping >= 1 / (math.comb(window - 1, votes - 1) * flag**votes) * (1 - 1e-9)


def test_votes_at_the_ends():
    with strict():
        assert sequential.rounds_to_votes(0.0, 3, 5) == INF
        assert sequential.rounds_to_votes(1.0, 3, 5) == 3.0
        assert sequential.rounds_to_votes(1e-200, 3, 5) == INF
        assert sequential.votes_before_end(0.0, 3, 5, 10.0) == 0.0


def test_votes_broadcast():
    flags = np.array([[0.1], [0.2]]) * np.array([1.0, 2.0, 3.0])
    rounds = sequential.rounds_to_votes(flags, 3, 5)
    assert rounds.shape == (2, 3)
    assert rounds[1, 0] == pytest.approx(sequential.rounds_to_votes(0.2, 3, 5), rel=1e-12)
    assert isinstance(sequential.rounds_to_votes(0.2, 3, 5), float)


@modest
@given(st.floats(10, 1e15), st.integers(1, 4), st.integers(0, 2))
def test_the_flag_for_so_many_rounds_is_the_inverse(rounds, votes, more):
    flag = sequential.flag_for_votes(rounds, votes, votes + more)
    assert sequential.rounds_to_votes(flag, votes, votes + more) == pytest.approx(rounds, rel=1e-9)


def test_the_flags_of_many_sizes_at_once_and_of_the_fewest_rounds():
    rounds = np.array([3.0, 100.0, 1e9])
    flags = sequential.flag_for_votes(rounds, 3, 5)
    assert flags[0] == pytest.approx(1.0, rel=1e-9)
    assert flags[2] == pytest.approx(sequential.flag_for_votes(1e9, 3, 5), rel=1e-9)


@modest
@given(st.floats(1e-6, 1), st.floats(1, 1e6))
def test_one_vote_before_the_end_has_a_closed_form(flag, phase):
    expected = flag / (flag + (1 - flag) / phase)
    assert sequential.votes_before_end(flag, 1, 1, phase) == pytest.approx(expected, rel=1e-12)


def test_votes_before_the_end_are_as_often_as_a_simulation_has_them():
    rng = np.random.default_rng(6)
    found = []
    for _ in range(3000):
        length = rng.geometric(1 / 12)
        found.append(rounds_until_votes(rng, 0.4, 3, 5) <= length)
    assert_mean(found, sequential.votes_before_end(0.4, 3, 5, 12.0), resolution=0.03)


# --- the score rule -------------------------------------------------------------------------------


def test_without_jitter_a_score_is_a_comparison():
    with strict():
        flags = sequential.score_flag(np.array([0.0, 0.33, 0.34]), 1024, 0.0, 0.75)
        assert flags.tolist() == [0.0, 0.0, 1.0]


def test_scores_are_below_as_often_as_a_simulation_has_them():
    rng = np.random.default_rng(7)
    times = 1 + 0.05 * rng.standard_normal((4000, 200))
    times[:, 0] += 0.15
    below = times.min(axis=1) / times[:, 0] < 0.75
    assert_mean(below, sequential.score_flag(0.15, 200, 0.05, 0.75), resolution=0.05)


@pytest.mark.parametrize("ranks, jitter", [(2, 0.2), (16, 0.2), (1024, 0.1), (1024, 0.05), (131072, 0.08)])
def test_healthy_ranks_score_below_as_often_as_a_simulation_has_them(ranks, jitter):
    rng = np.random.default_rng(8)
    times = 1 + jitter * rng.standard_normal((max(8, 2_000_000 // ranks), ranks))
    below = (times.min(axis=1, keepdims=True) / times < 0.75).mean(axis=1)
    assert_mean(below, sequential.score_flag(0.0, ranks, jitter, 0.75), resolution=0.04)


def test_a_rare_flag_takes_the_best_rank_as_it_varies():
    jitter, score, z = 0.5 / 30, 0.75, np.linspace(-10, 40, 200_001)
    density = 1023 * np.exp(1022 * log_ndtr(z) - z * z / 2) / math.sqrt(2 * math.pi)
    expected = (density * ndtr((1 - (1 - jitter * z) / score) / jitter)).sum() * (z[1] - z[0])
    assert expected < 1e-20  # taken at its expected time the best rank would make it rarer by many orders
    assert sequential.score_flag(0.0, 1024, jitter, score) == pytest.approx(expected, rel=1e-9, abs=0)


def test_more_ranks_have_a_better_best_and_flag_more():
    flags = sequential.score_flag(0.2, np.array([8, 1024, 10**7]), 0.03, 0.75)
    assert (np.diff(flags) > 0).all()
    assert sequential.score_flag(0.2, 1, 0.03, 0.75) == 0.0  # alone it is its own best


def test_extreme_scores():
    with strict():
        assert sequential.score_flag(0.34, 10, 1e-310, 0.75) == 1.0
        assert sequential.score_flag(1e300, 10**9, 1e-30, 1e-300) == pytest.approx(0.0, abs=1)
        assert sequential.score_flag([0.0, 0.5], 2**53, 1e300, 0.75) == pytest.approx(0.5)


def test_a_chain_refuses_what_is_none():
    for within, alarm in (([[0.5]], 0.5), ([0.5], [0.5]), ([[0.5, 0.5]], [0.5]), ([], [])):
        with pytest.raises(ValueError, match="within|alarm"):
            sequential.absorbing_chain(within, alarm)
    with pytest.raises(ValueError, match="alarm"):
        sequential.absorbing_chain([[0.5]], [NAN])
    with pytest.raises(ValueError, match="end = 1.5"):
        sequential.absorbing_chain([[0.5]], [0.5], end=1.5)


# --- bad input ------------------------------------------------------------------------------------

SHARE = (NAN, INF, -0.25, 1.75, "seven", None, [])
VOTES = {"flag": 0.25, "votes": 2, "window": 3}
REFUSALS = [
    *refusals(
        sequential.rounds_allowed,
        {"ranks": 9, "alarms_h": 0.5, "step": 30.0},
        ranks=(*NOT_COUNT, 2.5),
        alarms_h=NOT_POSITIVE,
        step=NOT_POSITIVE,
    ),
    *refusals(sequential.vote_chance, VOTES, flag=SHARE, votes=(*NOT_COUNT, 4), window=(*NOT_COUNT, 1)),
    *refusals(sequential.rounds_to_votes, VOTES, flag=SHARE, votes=(*NOT_COUNT, 4), window=(*NOT_COUNT, 9)),
    *refusals(
        sequential.votes_before_end, VOTES | {"phase": 4.0}, flag=SHARE, phase=(NAN, INF, 0.5, "seven", None, [])
    ),
    *refusals(
        sequential.flag_for_votes, {"rounds": 50.0, "votes": 2, "window": 3}, rounds=(NAN, INF, 1.5, "seven", None, [])
    ),
    *refusals(
        sequential.score_flag,
        {"slowdown": 0.5, "ranks": 9, "relative_jitter": 0.25, "score": 0.75},
        slowdown=NEGATIVE,
        ranks=(*NOT_COUNT, 2.5),
        relative_jitter=NEGATIVE,
        score=NOT_INSIDE_UNIT,
    ),
]


@pytest.mark.parametrize("function, good, name, values", REFUSALS)
def test_bad_input_is_named_and_repeated(function, good, name, values):
    assert_refused(function, good, name, values)
