"""Standby pools: Poisson where failures are single, else against convolutions, chains and a pool run event by event."""

import heapq
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import (
    NEGATIVE,
    NOT_INSIDE_UNIT,
    NOT_POSITIVE,
    assert_mean,
    assert_refused,
    modest,
    refusals,
    strict,
)
from scipy import stats

from reliability import bursts, standby

pytestmark = pytest.mark.filterwarnings("error")

BURSTS = {"rates": [0.06, 0.004], "lost": [1, 16]}


def pool_event_by_event(times, lost, repairs, standbys):
    """Whether each event finds too few, from a pool that is followed node by node."""
    free, back, found, repairs = standbys, [], [], iter(repairs)
    for time, nodes in zip(times, lost, strict=True):
        while back and back[0] <= time:
            heapq.heappop(back)
            free += 1
        found.append(free < nodes)
        for _ in range(nodes):
            heapq.heappush(back, time + next(repairs))
        free -= nodes  # below 0: nodes that the job waits for
    return found


@modest
@given(load=st.floats(1e-9, 120), together=st.booleans())
def test_single_failures_are_the_poisson_distribution(load, together):
    chances = standby.away_chances([load], [1], 1.0, 240, together)
    assert chances == pytest.approx(stats.poisson.pmf(np.arange(241), load), rel=1e-9, abs=1e-300)


def test_chances_keep_their_digits_where_the_first_of_them_is_rescaled():
    assert standby.away_chances([600.0], [1], 1.0, 900) == pytest.approx(
        stats.poisson.pmf(np.arange(901), 600.0), rel=1e-9, abs=0
    )


def test_groups_by_convolution():
    """Nodes back together: 16 for each of a Poisson count of bursts, and a Poisson count of single nodes."""
    single, burst = (stats.poisson.pmf(np.arange(200), rate * 48) for rate in BURSTS["rates"])
    spread = np.zeros(200)
    spread[::16] = burst[: len(spread[::16])]
    assert standby.away_chances(**BURSTS, repair=48.0, most=199) == pytest.approx(
        np.convolve(single, spread)[:200], rel=1e-10
    )


def test_repaired_one_by_one_by_quadrature():
    """Groups left of a burst of age t are binomial; their generating function is integrated numerically."""
    ages = np.linspace(0, 60, 200_001)
    left = np.array([np.trapezoid(stats.binom.pmf(j, 4, np.exp(-ages)), ages) for j in (1, 2, 3, 4)])
    assert left == pytest.approx(1 / np.array([1, 2, 3, 4]), rel=1e-6)
    alone = standby.away_chances([0.3], [4], 2.0, 80, together=False)
    groups = np.concatenate([[0.0], 0.6 * left])
    transform = np.fft.fft(groups, 512)
    assert alone == pytest.approx(np.fft.ifft(np.exp(transform - groups.sum())).real[:81], abs=2e-8)


@pytest.mark.parametrize("together", [True, False])
def test_chances_sum_to_1_and_have_their_mean_even_where_e_to_the_minus_load_is_0(together):
    with strict():
        chances = standby.away_chances([1000.0, 50.0], [1, 40], 2.0, 20_000, together)
    assert chances.sum() == pytest.approx(1, rel=1e-9)
    assert chances @ np.arange(20_001) == pytest.approx(6000, rel=1e-9)


@pytest.mark.parametrize("together", [True, False])
def test_against_a_pool_run_event_by_event(together):
    rng = np.random.default_rng(3)
    times, lost = bursts.draw_bursts(rng, rates=BURSTS["rates"], sizes=BURSTS["lost"], horizon=400_000.0)
    repairs = np.full(lost.sum(), 48.0) if together else rng.exponential(48.0, lost.sum())
    away = standby.nodes_away(times, lost, repairs)
    for k in (5, 20):
        short = away > k - lost
        assert short[:3000].tolist() == pool_event_by_event(times[:3000], lost[:3000], repairs, k)
        parts = [part.mean() for part in np.array_split(short[100:], 100)]
        assert_mean(parts, standby.chance_short(**BURSTS, repair=48.0, standbys=k, together=together), 0.06)


def test_a_node_that_is_back_at_the_very_instant_is_there():
    assert standby.nodes_away([0.0, 2.0, 2.0], [1, 1, 1], [2.0, 1.0, 1.0]).tolist() == [0, 0, 1]
    assert pool_event_by_event([0.0, 2.0], [1, 1], [2.0, 1.0], 1) == [False, False]


@modest
@given(load=st.floats(0.01, 100), target=st.floats(1e-6, 0.5))
def test_the_smallest_pool_that_meets_the_target(load, target):
    k = standby.standbys_needed(target, [load], [1], 1.0)
    assert stats.poisson.sf(k - 1, load) <= target * (1 + 1e-9)
    assert k == 0 or stats.poisson.sf(k - 2, load) > target * (1 - 1e-9)
    assert standby.standbys_needed(target, [load / 8], [1], 8.0) == k


def test_the_pool_of_the_recovery_page():
    away = 48 / 7.9
    assert standby.standbys_needed(0.01, [1 / 7.9], [1], 48.0) == stats.poisson.ppf(0.99, away) + 1 == 13


def test_bursts_need_at_least_the_same_pool_and_no_repair_needs_only_a_burst():
    assert standby.standbys_needed(0.01, **BURSTS, repair=0.0) == 16
    assert standby.standbys_needed(0.2, **BURSTS, repair=0.0) == 1
    shares = standby.chance_short(**BURSTS, repair=48.0, standbys=np.arange(200))
    assert (np.diff(shares) <= 0).all() and shares[0] == 1.0 and shares[-1] < 1e-9
    tiny = standby.chance_short([0.5], [1], 2.0, 100)
    assert tiny == pytest.approx(stats.poisson.sf(99, 1.0), rel=1e-9)  # far in the tail its digits are kept


def test_a_pool_that_lasts_against_periods_one_by_one():
    rng, rates, lost, repair, k, horizon = np.random.default_rng(9), [0.5, 0.05], [1, 4], 2.0, 6, 30.0
    lasted = []
    for _ in range(1200):
        times, sizes = bursts.draw_bursts(rng, rates, lost, horizon)
        lasted.append(not any(pool_event_by_event(times, sizes, rng.exponential(repair, sizes.sum()), k)))
    assert_mean(lasted, standby.chance_pool_lasts(rates, lost, repair, k, horizon), 0.05)


def test_a_pool_that_lasts_at_its_limits():
    assert standby.chance_pool_lasts([0.5], [1], 2.0, 0, 3.0) == pytest.approx(math.exp(-1.5), rel=1e-12)
    assert standby.chance_pool_lasts([0.5], [4], 2.0, 3, 3.0) == pytest.approx(math.exp(-1.5), rel=1e-12)
    assert standby.chance_pool_lasts([0.5], [1], 2.0, 4, 0.0) == 1.0
    longer = [standby.chance_pool_lasts([0.5], [1], 2.0, 4, t) for t in (1.0, 10.0, 1e4, 1e7)]
    assert all(a >= b for a, b in pairwise(longer)) and longer[-1] < 1e-12


@pytest.mark.parametrize(
    ("function", "good", "name", "values"),
    [
        *refusals(standby.away_chances, {**BURSTS, "repair": 1.0, "most": 5}, rates=(NEGATIVE[0], [-1.0, 1.0], [1.0]), lost=([0, 1], [1.5, 2]), repair=NEGATIVE, most=(-1, 10**6 + 1)),
        *refusals(standby.chance_short, {**BURSTS, "repair": 1.0, "standbys": 5}, rates=([0.0, 0.0],), standbys=(-1, 1.5), repair=NEGATIVE),
        *refusals(standby.standbys_needed, {"target": 0.1, **BURSTS, "repair": 1.0}, target=NOT_INSIDE_UNIT, rates=([0.0, 0.0],)),
        *refusals(standby.chance_pool_lasts, {**BURSTS, "repair": 1.0, "standbys": 3, "horizon": 1.0}, repair=NOT_POSITIVE, standbys=(-1, 1001), horizon=NEGATIVE),
        *refusals(standby.nodes_away, {"times": [0.0, 1.0], "lost": [1, 1], "repairs": [1.0, 1.0]}, times=([1.0, 0.0], [0.0]), lost=([0, 1], [2, 1]), repairs=([1.0], [-1.0, 1.0])),
    ],
)  # fmt: skip
def test_bad_input(function, good, name, values):
    if name in ("times", "lost", "repairs", "rates"):
        function(**good)
        for value in values:
            with pytest.raises(ValueError, match=name):
                function(**{**good, name: value})
    else:
        assert_refused(function, good, name, values)


def test_more_than_can_be_followed_is_refused_by_the_name_that_was_given():
    for call in (
        lambda: standby.standbys_needed(0.01, [1e4], [1], 100.0),
        lambda: standby.chance_short([1e300], [1], 2.0, 3),
        lambda: standby.chance_short([0.5], [1], 1e300, 3),
        lambda: standby.chance_pool_lasts([1e300], [1], 2.0, 3, 5.0),
        lambda: standby.chance_pool_lasts([0.5], [1], 2.0, 3, 1e300),
    ):
        with pytest.raises(ValueError, match="rates = .*repair = "), strict():
            call()
    with strict():
        assert standby.away_chances([1e300], [1], 2.0, 3).tolist() == [0.0] * 4
