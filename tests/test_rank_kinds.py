"""How a rank is slow: slowdowns that come and go, and ranks that join late or leave early."""

import numpy as np
import pytest
from test_slow_ranks import Times, healthy, named

from reliability.slow_ranks import find

STEPS = np.arange(300)


@pytest.mark.parametrize("ratio", [1.1, 1.5, 3.0])
@pytest.mark.parametrize("length", [1, 3, 5, 7])
def test_bursts_of_slow_steps_are_intermittent_from_the_first_to_the_last(ratio, length):
    times = healthy(300, 8)
    slow = (STEPS >= 40) & (STEPS % 10 < length)
    times[slow, 2] *= ratio
    [one] = find(Times(times)).slow
    assert (one.rank, one.kind, one.until_step) == (2, "intermittent", None) and abs(one.since_step - 40) <= 5
    assert one.ratio == pytest.approx(ratio, rel=0.02)
    assert one.episodes == pytest.approx(26, abs=3)


def test_bursts_at_random_that_stop():
    times = healthy(300, 8)
    slow = np.random.default_rng(1).random(300) < 0.3
    slow[200:] = False
    times[slow, 5] *= 1.4
    [one] = find(Times(times)).slow
    at = np.flatnonzero(slow)
    assert (one.kind, one.since_step, one.until_step) == ("intermittent", at[0], at[-1])


def test_long_bursts_are_told_by_their_stretches():
    times = healthy(400, 8)
    times[np.arange(400) % 80 >= 50, 1] *= 1.3
    [one] = find(Times(times)).slow
    assert (one.kind, one.since_step, one.until_step, one.episodes) == ("intermittent", 50, None, 5)


def test_two_slow_stretches_are_transient():
    times = healthy(300, 8)
    times[50:90, 5] *= 1.3
    times[150:200, 5] *= 1.3
    [one] = find(Times(times)).slow
    assert (one.kind, one.since_step, one.until_step, one.episodes) == ("transient", 50, 199, 2)


def test_what_only_one_rank_does_every_so_many_steps_is_told_by_its_period():
    times = healthy(200, 8)
    times[19::20, 0] += 5
    times[np.random.default_rng(2).random(200) < 0.1, 3] *= 2
    found = {one.rank: one for one in find(Times(times)).slow}
    assert (found[0].kind, found[0].every) == ("intermittent", 20)
    assert (found[3].kind, found[3].every) == ("intermittent", None)


def test_a_slow_stretch_with_jitter_is_not_one_that_comes_and_goes():
    times = healthy(200, 16, jitter=0.08, seed=3)
    times[60:, 4] *= 1.2
    [one] = find(Times(times)).slow
    assert (one.rank, one.kind) == (4, "persistent") and abs(one.since_step - 60) <= 3


def test_ranks_that_join_late_or_leave_early_are_slow_while_they_are_there():
    times = healthy(120, 12)
    times[:, [3, 7]] *= 1.3
    times[:50, 7] = np.nan
    times[80:, 3] = np.nan
    times[50:, 10] = np.nan
    found = {one.rank: (one.kind, one.since_step, one.until_step) for one in find(Times(times)).slow}
    assert found == {7: ("persistent", 50, None), 3: ("persistent", 0, 79)}


@pytest.mark.parametrize("tail", ["t3", "exponential", "one-sided t3"])
def test_jitter_with_a_long_tail_is_not_intermittent(tail):
    rng = np.random.default_rng(5)
    for _ in range(12):
        draw = {
            "t3": lambda: rng.standard_t(3, (200, 16)),
            "exponential": lambda: rng.standard_exponential((200, 16)),
            "one-sided t3": lambda: np.abs(rng.standard_t(3, (200, 16))),
        }[tail]()
        assert named(find(Times(1 + 0.01 * draw))) == []


def test_steps_that_end_at_a_barrier_are_told_as_such():
    steps = healthy(60, 1)
    alike = np.repeat(steps, 8, axis=1)
    assert find(Times(alike)).alike
    assert not find(Times(healthy(60, 8))).alike
    assert not find(Times(np.ones((60, 8)))).alike  # nothing varies: nothing is told
    assert not find(Times(np.round(np.repeat(1 + 0.1 * (steps > 1), 8, axis=1), 1))).alike  # a step of the printing
    assert not find(Times(steps)).alike  # one rank
