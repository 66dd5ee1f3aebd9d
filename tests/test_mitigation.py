"""What to do about a slow rank: brute force, simulation, and the points at which answers change places."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import INF, NAN, NEGATIVE, NOT_COUNT, NOT_POSITIVE, assert_mean, assert_refused, modest, refusals, strict

from reliability import detector, mitigation

pytestmark = pytest.mark.filterwarnings("error")


@modest
@given(st.integers(2, 12), st.floats(0, 5), st.integers(1, 20))
def test_rebalancing_is_the_best_of_all_ways_to_share_out(replicas, slowdown, batches):
    ways = []
    for kept in range(batches + 1):
        others = -(-(replicas * batches - kept) // (replicas - 1))
        ways.append(max((1 + slowdown) * kept, others) / batches - 1)
    assert mitigation.rebalanced_drag(replicas, slowdown, batches) == pytest.approx(min(ways), abs=1e-9)


@modest
@given(st.integers(2, 1000), st.floats(0, 100))
def test_many_micro_batches_are_shared_out_evenly(replicas, slowdown):
    drag = mitigation.rebalanced_drag(replicas, slowdown, 10**7)
    assert drag == pytest.approx(slowdown / (replicas * (1 + slowdown) - slowdown), abs=1e-5)


def test_rebalancing_never_makes_it_worse_and_does_nothing_with_one_micro_batch():
    drags = mitigation.rebalanced_drag(np.array([2, 8, 512])[:, None], 0.06, np.array([1, 8, 32, 10**6]))
    assert drags.shape == (3, 4)
    assert (drags <= 0.06 + 1e-12).all() and (drags[:, 0] == pytest.approx(0.06))
    assert mitigation.rebalanced_drag(8, 0.0, 32) == 0.0


def test_a_swap_at_the_checkpoint_is_not_made_once_the_phase_has_ended():
    costs = mitigation.cost_at_checkpoint(np.array([0.0, 10.0, 30.0, 31.0, 1e6]), 0.1, 5.0, 30.0)
    assert costs == pytest.approx([0.0, 1.0, 3.0, 8.0, 8.0])


@pytest.mark.parametrize("mean", [5.0, 60.0, 1000.0])
def test_its_expected_cost_is_the_mean_of_simulated_phases(mean):
    lengths = np.random.default_rng(4).exponential(mean, 40_000)
    sample = mitigation.cost_at_checkpoint(lengths, 0.1, 5.0, 30.0)
    assert_mean(sample, mitigation.expected_cost_at_checkpoint(mean, 0.1, 5.0, 30.0), resolution=0.03)


def test_the_expected_cost_at_its_ends():
    with strict():
        assert mitigation.expected_cost_at_checkpoint(1e-300, 0.1, 5.0, 1e300) == pytest.approx(0.0, abs=1e-290)
        assert mitigation.expected_cost_at_checkpoint(1e12, 0.1, 5.0, 30.0) == pytest.approx(8.0, rel=1e-9)
        assert mitigation.expected_cost_at_checkpoint(60.0, 0.1, 5.0, 0.0) == 5.0


def test_a_swap_now_redoes_or_saves_whichever_is_less():
    assert mitigation.cost_of_swap_now(5.0, np.array([0.0, 3.0, 30.0]), 4.0).tolist() == [5.0, 8.0, 9.0]
    assert mitigation.cost_of_swap_now(5.0, 30.0) == 35.0


@modest
@given(st.floats(0, 10), st.floats(0, 1), st.floats(0, 10), st.floats(0, 1))
def test_at_the_break_even_two_answers_cost_the_same(cost, loss, more, less):
    other, kept = cost + more, loss * less
    length = mitigation.break_even(cost, loss, other, kept)
    if np.isfinite(length):
        assert cost + loss * length == pytest.approx(other + kept * length, rel=1e-6, abs=1e-9)
    else:
        assert kept >= loss


def test_break_even_at_its_ends():
    with strict():
        assert mitigation.break_even(0.0, 0.12, 6.0, 0.0) == pytest.approx(detector.pays_after(6.0, 0.12))
        assert mitigation.break_even(0.0, 0.1, 5.0, 0.1) == INF
        assert mitigation.break_even(0.0, 0.1, 5.0, 0.2) == INF
        assert mitigation.break_even(5.0, 0.1, 5.0, 0.05) == 0.0
        assert mitigation.break_even(5.0, 0.1, 5.0, 0.1) == 0.0


@modest
@given(st.floats(0.01, 1), st.floats(1, 1000), st.floats(0, 50))
def test_just_after_a_checkpoint_a_swap_now_is_better(loss, interval, swap):
    work = mitigation.swap_now_before(loss, interval)
    now = mitigation.cost_of_swap_now(swap, work)
    later = mitigation.cost_at_checkpoint(1e9, loss, swap, interval - work)
    assert now == pytest.approx(later, rel=1e-9)
    assert mitigation.cost_of_swap_now(swap, 0.9 * work) < mitigation.cost_at_checkpoint(
        1e9, loss, swap, interval - 0.9 * work
    )


# --- bad input ------------------------------------------------------------------------------------

RATIO = (NAN, INF, -3.25, 1.75, "seven", None, [])
WAIT = {"loss": 0.25, "swap": 6.5, "wait": 9.5}
REFUSALS = [
    *refusals(
        mitigation.rebalanced_drag,
        {"replicas": 4, "slowdown": 0.5, "micro_batches": 8},
        replicas=(*NOT_COUNT, 1, 2.5),
        slowdown=NEGATIVE,
        micro_batches=(*NOT_COUNT, 2.5),
    ),
    *refusals(
        mitigation.cost_at_checkpoint, {"length": 9.5} | WAIT, length=NEGATIVE, loss=RATIO, swap=NEGATIVE, wait=NEGATIVE
    ),
    *refusals(
        mitigation.expected_cost_at_checkpoint,
        {"mean_length": 9.5} | WAIT,
        mean_length=NOT_POSITIVE,
        loss=RATIO,
        swap=NEGATIVE,
        wait=NEGATIVE,
    ),
    *refusals(
        mitigation.cost_of_swap_now,
        {"swap": 6.5, "work": 9.5, "write": 3.5},
        swap=NEGATIVE,
        work=NEGATIVE,
        write=(NAN, INF, -3.25, "seven", []),
    ),
    *refusals(
        mitigation.break_even,
        {"cost": 0.5, "loss": 0.25, "other_cost": 6.5, "other_loss": 0.125},
        cost=NEGATIVE,
        loss=RATIO,
        other_cost=NEGATIVE,
        other_loss=RATIO,
    ),
    *refusals(mitigation.swap_now_before, {"loss": 0.25, "interval": 9.5}, loss=RATIO, interval=NOT_POSITIVE),
]


@pytest.mark.parametrize("function, good, name, values", REFUSALS)
def test_bad_input_is_named_and_repeated(function, good, name, values):
    assert_refused(function, good, name, values)
