"""Slow ranks: who, since when, in which way; and that nobody is named without a reason."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import modest

from reliability import rank_courses, slow_ranks, step_periods
from reliability.slow_ranks import find


@dataclass
class Times:
    seconds: np.ndarray
    nodes: dict | None = None
    peers: dict | None = None
    phases: dict | None = None
    waiting: tuple = ()
    steps: list = field(default_factory=list)
    ranks: list = field(default_factory=list)

    def __post_init__(self):
        self.steps = self.steps or list(range(self.seconds.shape[0]))
        self.ranks = self.ranks or list(range(self.seconds.shape[1]))


def healthy(steps=100, ranks=16, jitter=0.01, seed=0):
    rng = np.random.default_rng(seed)
    return np.exp(jitter * rng.standard_normal((steps, ranks)) + 0.01 * rng.standard_normal((steps, 1)))


def named(found):
    return sorted(rank for one in found.slow for rank in one.ranks)


# Who, since when, how -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [3, 8, 64, 300])
@pytest.mark.parametrize("ratio", [1.07, 1.2, 3.0])
def test_a_rank_that_is_slow_throughout(ranks, ratio):
    times = healthy(60, ranks)
    times[:, 1] *= ratio
    [one] = find(Times(times)).slow
    assert (one.ranks, one.kind, one.since_step, one.until_step) == ((1,), "persistent", 0, None)
    assert one.ratio == pytest.approx(ratio, rel=0.01)
    assert one.rank == 1


def test_a_rank_that_becomes_slow_and_one_that_recovers():
    times = healthy(120)
    times[50:, 3] *= 1.3
    times[30:55, 9] *= 1.5
    found = {one.rank: one for one in find(Times(times)).slow}
    assert set(found) == {3, 9}
    assert found[3].kind == "persistent" and abs(found[3].since_step - 50) <= 1 and found[3].until_step is None
    assert found[9].kind == "transient" and abs(found[9].since_step - 30) <= 1 and abs(found[9].until_step - 54) <= 1
    assert found[9].ratio == pytest.approx(1.5, rel=0.02)


@pytest.mark.parametrize("start", [0, 40, 80])
def test_a_drift_is_told_from_a_step_and_dated(start):
    times = healthy(160)
    times[:, 5] *= 1 + 0.6 * np.clip((np.arange(160) - start) / (159 - start), 0, 1)
    [one] = find(Times(times)).slow
    assert (one.rank, one.kind) == (5, "drift")
    assert abs(one.since_step - start) <= 10
    assert one.ratio == pytest.approx(1.6, abs=0.03)


def test_single_slow_steps_that_come_again_and_again_are_intermittent():
    times = healthy(200)
    times[::8, 2] *= 1.8
    times[7, 4] *= 5  # once is nothing
    [one] = find(Times(times)).slow
    assert (one.rank, one.kind, one.episodes) == (2, "intermittent", 25)


def test_steps_keep_the_numbers_of_the_log():
    times = healthy(60)
    times[20:, 0] *= 1.4
    [one] = find(Times(times, steps=list(range(1000, 1600, 10)))).slow
    assert one.since_step == 1200


def test_what_a_slow_rank_costs_is_what_the_steps_would_be_shorter():
    times = np.ones((50, 4))
    times[:, 2] = 1.5
    times[:, 3] = 1.02
    [one] = find(Times(times)).slow
    assert one.lost_s == pytest.approx(50 * 0.48)


# The reference --------------------------------------------------------------------------------------------------------


def test_a_quarter_of_the_ranks_may_be_slow_and_two_may_be_quick():
    times = healthy(60, 32)
    times[:, :8] *= 1.25
    times[:, 30:] *= 0.7
    found = find(Times(times))
    assert named(found) == list(range(8)) and [one.rank for one in found.fast] == [30, 31]
    assert [one.ratio for one in found.slow] == pytest.approx([1.25] * 8, rel=0.01)


@pytest.mark.parametrize(("ranks", "slow"), [(2, 1), (16, 8), (16, 11)])
def test_most_ranks_becoming_slow_is_told_by_those_that_stayed(ranks, slow):
    times = healthy(100, ranks)
    times[40:, :slow] *= 1.4
    found = find(Times(times))
    assert named(found) == list(range(slow)) and found.fast == [] and found.job_slow == []
    assert all(abs(one.since_step - 40) <= 2 for one in found.slow)


@pytest.mark.parametrize(("ranks", "slow"), [(2, 1), (16, 8)])
def test_two_groups_that_always_differed_are_not_judged(ranks, slow):
    times = healthy(100, ranks)
    times[:, :slow] *= 1.4
    found = find(Times(times))
    assert found.slow == found.fast == [] and len(found.undecided) == 1
    assert "cannot tell" in found.undecided[0]


def test_stages_are_compared_with_their_like():
    times = healthy(60, 12)
    times[:, 8:] *= 1.5
    times[:, 9] *= 1.3
    assert named(find(Times(times, peers={r: r // 4 for r in range(12)}))) == [9]


# Nodes ----------------------------------------------------------------------------------------------------------------


def test_a_slow_node_is_one_finding_and_a_slow_rank_is_not_its_node():
    times = healthy(60, 32)
    times[20:, 8:16] *= 1.2
    times[:, 30] *= 1.3
    nodes = {rank: f"gpu-{rank // 8}" for rank in range(32)}
    found = {one.kind: one for one in find(Times(times, nodes=nodes)).slow}
    assert found["node"].node == "gpu-1" and found["node"].ranks == tuple(range(8, 16)) and found["node"].rank is None
    assert found["node"].course == "persistent" and abs(found["node"].since_step - 20) <= 1
    assert found["persistent"].ranks == (30,) and found["persistent"].node == "gpu-3"


def test_hosts_can_be_told_by_their_size():
    times = healthy(60, 32)
    times[:, 8:16] *= 1.2
    assert len(find(Times(times)).slow) == 8
    [one] = find(Times(times), ranks_per_node=8).slow
    assert one.kind == "node" and one.node == "ranks 8-15"


# Steps that are slow for everybody ------------------------------------------------------------------------------------


def test_warm_up_and_checkpoints_are_nobodys_fault():
    times = healthy(100)
    times[:2] *= [[50.0], [6.0]]
    times[25::25] *= 9
    times[0, 7] *= 2
    found = find(Times(times))
    assert found.slow == []
    assert [(a, b, kind) for a, b, _, kind in found.excluded] == [
        (0, 1, "warm-up"),
        (25, 25, "pause"),
        (50, 50, "pause"),
        (75, 75, "pause"),
    ]


def test_a_slow_period_of_all_ranks_is_reported_without_a_name():
    times = healthy(100, 8)
    times[30:60] *= 1.3
    found = find(Times(times))
    [(first, last, ratio)] = found.job_slow
    assert found.slow == [] and (first, last) == (30, 59) and ratio == pytest.approx(1.3, rel=0.01)


def test_the_job_may_be_slow_for_most_of_the_time():
    times = healthy(100, 8)
    times[35:] *= 1.5
    [(first, last, _)] = find(Times(times)).job_slow
    assert (first, last) == (35, 99)


# Coarse clocks --------------------------------------------------------------------------------------------------------


def test_rounded_times_hide_no_straggler_and_make_none():
    times = np.round(1.2 * healthy(80, 8, jitter=0.02), 1)
    assert find(Times(times)).slow == []
    times[:, 3] = np.round(1.5 * times[:, 3], 1)
    assert named(find(Times(times))) == [3]
    assert find(Times(times)).resolution == pytest.approx(0.1)


def test_one_step_of_the_printing_is_no_slowdown():
    times = np.full((50, 6), 1.2)
    times[:, 2] = 1.3  # may be 1.249 against 1.251
    found = find(Times(times))
    assert found.slow == [] and found.smallest > 0.1


def test_all_times_equal_say_nothing():
    found = find(Times(np.ones((20, 4))))
    assert found.slow == found.fast == found.job_slow == found.undecided == []


def test_one_rank_alone_has_slow_steps_only():
    times = np.full((60, 1), 1.2)
    times[[7, 19, 33]] = 1.3
    times[25] = 9.8
    found = find(Times(times))
    assert found.slow == [] and found.smallest is None
    assert [step for step, *_ in found.excluded] == [25]
    assert found.pause_lost_s == pytest.approx(9.8 - found.normal_step_s)


def test_two_steps_of_the_printing_are_no_slow_step_and_three_are():
    reference = np.full(60, 0.5)
    reference[[5, 20]], reference[30], reference[40:46] = 0.6, 0.7, 0.6
    assert step_periods.slow_periods(reference, quantum=0.1)[0] == []
    reference[50] = 0.8
    [period] = step_periods.slow_periods(reference, quantum=0.1)[0]
    assert (period.first, period.last, period.kind, period.count) == (50, 50, "pause", 1)


# Phases ---------------------------------------------------------------------------------------------------------------


def test_a_phase_tells_where_the_time_goes_and_who_is_slow_before_the_barrier():
    forward, backward = healthy(60, 8), 2 * healthy(60, 8, seed=1)
    forward[:, 5] *= 1.5
    wait = forward.max(axis=1, keepdims=True) - forward + 0.01
    whole = np.broadcast_to((forward + wait).mean(axis=1, keepdims=True) + 2, (60, 8)).copy()
    times = Times(whole, phases={"forward": forward, "backward": backward, "wait": wait}, waiting=("wait",))
    [one] = find(times).slow
    assert (one.rank, one.phase) == (5, "forward")
    assert find(Times(whole)).slow == []


def test_a_phase_that_was_not_measured_is_unknown():
    forward = np.full((10, 4), 0.3)
    forward[:, 2] = np.nan
    found = find(Times(np.full((10, 4), 0.97), phases={"forward": forward, "optimizer": np.zeros((10, 4))}))
    assert found.not_measured == {2: ["forward"]} and found.slow == []


# Chance ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tail", ["normal", "t3", "exponential"])
@pytest.mark.parametrize("scale", [0.003, 0.03, 0.1])
def test_jitter_alone_names_nobody(tail, scale):
    rng = np.random.default_rng(4)
    for ranks, steps in ((3, 60), (16, 50), (64, 200), (256, 40), (8, 1500), (4, 6)):
        draw = {
            "normal": rng.standard_normal,
            "t3": lambda size: rng.standard_t(3, size),
            "exponential": rng.standard_exponential,
        }
        times = np.exp(scale * draw[tail]((steps, ranks)))
        assert find(Times(times)).slow == [], (ranks, steps)


def test_ranks_that_always_differ_a_little_are_no_stragglers():
    times = healthy(100, 64) * np.exp(0.02 * np.random.default_rng(8).standard_normal(64))
    assert find(Times(times)).slow == []


def test_the_smallest_slowdown_that_is_stated_is_seen():
    for jitter in (0.005, 0.02):
        base = healthy(200, 16, jitter)
        smallest = find(Times(base)).smallest
        for factor, seen in ((1.15, [6]), (0.7, [])):
            times = base.copy()
            times[:, 6] *= 1 + factor * smallest
            assert named(find(Times(times))) == seen


# Order, scale, holes --------------------------------------------------------------------------------------------------


@modest
@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3), st.permutations(range(8)))
def test_the_unit_and_the_order_of_the_ranks_do_not_matter(seed, unit, order):
    times = healthy(60, 8, seed=seed)
    times[30:, 2] *= 1.4
    one, other = find(Times(times)).slow, find(Times(unit * times[:, order])).slow
    assert [order.index(f.rank) for f in one] == [f.rank for f in other]
    assert [f.ratio for f in one] == pytest.approx([f.ratio for f in other])


def test_holes_do_not_matter():
    times = healthy(100, 8)
    times[:, 3] *= 1.3
    times[np.random.default_rng(0).random((100, 8)) < 0.2] = np.nan
    times[60:, 5] = np.nan
    times[10] = np.nan
    assert named(find(Times(times))) == [3]


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "seconds", [np.ones(3), np.full((3, 2), np.nan), np.ones((0, 2)), np.array([[1.0, -3.25]]), np.array([[1.0, 0.0]])]
)
def test_no_times_are_refused(seconds):
    times = Times(np.ones((1, 1)))
    times.seconds = seconds
    with pytest.raises(ValueError, match="seconds"):
        find(times)


@pytest.mark.parametrize("threshold", [0, -1, np.nan, np.inf, "much"])
def test_a_wrong_threshold_is_refused(threshold):
    with pytest.raises(ValueError, match="threshold"):
        find(Times(healthy()), threshold=threshold)


def test_wrong_hosts_are_refused():
    with pytest.raises(ValueError, match="ranks_per_node"):
        find(Times(healthy()), ranks_per_node=0)
    with pytest.raises(ValueError, match="ranks_per_node"):
        find(Times(np.ones((2, 2)), ranks=["a", "b"]), ranks_per_node=1)


# The parts ------------------------------------------------------------------------------------------------------------


@modest
@given(
    st.lists(st.lists(st.one_of(st.floats(-10, 10), st.just(np.nan)), min_size=4, max_size=4), min_size=1, max_size=6)
)
def test_the_median_without_nan_is_numpys(rows):
    values = np.array(rows)
    for axis in (0, 1):
        lines = np.moveaxis(values, axis, -1).reshape(-1, values.shape[axis])
        slow = [np.median(line[~np.isnan(line)]) if (~np.isnan(line)).any() else np.nan for line in lines]
        assert step_periods.median(values, axis) == pytest.approx(slow, nan_ok=True)


def test_a_block_of_healthy_steps_stays_below_its_limit():
    rng = np.random.default_rng(3)
    above = 0
    for _ in range(200):
        courses = rank_courses.courses(0.01 * rng.standard_t(4, (100, 8)))
        above += any((b.medians > rank_courses.chance_limit(courses, b.length)).any() for b in courses.blocks)
    assert above <= 200 * 0.05  # one in a hundred for each of few lengths


@pytest.mark.parametrize(
    ("values", "step"),
    [([1.2, 1.3], 0.1), ([0.123, 4.5], 0.001), ([10, 20], 10.0), ([1 / 3, 0.2], 0.0), ([5.0], 0.0), ([], 0.0)],
)
def test_the_step_of_the_printing(values, step):
    assert step_periods.resolution(values) == pytest.approx(step)


@pytest.mark.parametrize("reference", [[], [np.nan], [1.0, -2.0], [[1.0]]])
def test_no_steps_are_refused(reference):
    with pytest.raises(ValueError, match="reference"):
        step_periods.slow_periods(reference)


def test_a_finding_knows_no_single_rank_of_a_node():
    assert slow_ranks.Finding((1, 2), 0, None, 1.2, 1.1, "node", "drift").rank is None
