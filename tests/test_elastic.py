"""Going on with fewer replicas: slow loops, an event-by-event simulation, limits, and a published ratio."""

import heapq
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
    modest,
    poisson_exactly,
    refusals,
    strict,
)

from reliability import elastic as el

ROUNDING = 1e-12
batches = st.one_of(st.none(), st.integers(1, 5000))


def legal(replicas, batch):
    return [n for n in range(1, replicas + 1) if batch is None or batch % n == 0]


def speed(replicas_left, replicas, batch):
    """The largest legal number that is left, over the largest of all, as a loop."""
    at_work = max([n for n in legal(replicas, batch) if n <= replicas_left], default=0)
    return at_work / max(legal(replicas, batch))


@modest
@given(st.integers(1, 60), batches)
def test_legal_sizes_and_throughput_as_plain_loops(replicas, batch):
    assert el.legal_sizes(replicas, batch).tolist() == legal(replicas, batch)
    lost = np.arange(replicas + 3)
    expected = [speed(max(0, replicas - n), replicas, batch) for n in lost.tolist()]
    assert el.throughput(lost, replicas, batch) == pytest.approx(expected, rel=ROUNDING)


def test_of_sixteen_replicas_one_less_is_legal_or_half():
    assert el.throughput([0, 1, 2, 8, 9, 16, 99], 16, 2048).tolist() == [1, 0.5, 0.5, 0.5, 0.25, 0, 0]
    assert el.throughput(1, 16, 2160) == el.throughput(1, 16) == 15 / 16


@modest
@given(st.floats(0.01, 30), st.integers(1, 5), st.integers(1, 8), batches)
def test_mean_throughput_as_a_sum_over_the_nodes_away(away, nodes_per_replica, replicas, batch):
    nodes = nodes_per_replica * replicas
    speeds = [speed(left, replicas, batch) for left in range(replicas + 1)]
    terms = [poisson_exactly(x, away) * speeds[(nodes - x) // nodes_per_replica] for x in range(nodes + 1)]
    assert el.mean_throughput(away, nodes_per_replica, replicas, batch) == pytest.approx(math.fsum(terms), rel=1e-11)


def coming_and_going(rng, every, away, nodes_per_replica, replicas, batch, horizon):
    """Mean speed of a job whose nodes fail and come back, event by event."""
    nodes, now, out, back, work = nodes_per_replica * replicas, 0.0, 0, [], 0.0
    fault = rng.exponential(every)
    while now < horizon:
        until = min(fault, back[0] if back else INF, horizon)
        left = max(0, (nodes - out) // nodes_per_replica)
        work += (until - now) * speed(left, replicas, batch)
        now = until
        if now == fault:
            out += 1
            heapq.heappush(back, now + rng.uniform(0.0, 2 * away))
            fault = now + rng.exponential(every)
        elif back and now == back[0]:
            out -= 1
            heapq.heappop(back)
    return work / horizon


@pytest.mark.parametrize("batch", [None, 16])
def test_mean_throughput_against_nodes_that_come_and_go(batch):
    """It begins with all nodes there: the start is long before what is counted would matter."""
    rng = np.random.default_rng(17)
    samples = [coming_and_going(rng, 1.0, 2.0, 3, 4, batch, 400.0) for _ in range(40)]
    assert_mean(samples, el.mean_throughput(2.0, 3, 4, batch), resolution=0.012, errors=4.0)


def test_limits_of_mean_throughput():
    with strict():
        assert el.mean_throughput(0.0, 128, 16) == 1.0
        assert el.mean_throughput(0.0, 1, 1, 7) == 1.0
        assert 1 - el.mean_throughput(1e-6, 128, 16) == pytest.approx(1e-6 / 16, rel=1e-6)
        assert 1 - el.mean_throughput(1e-6, 128, 16, 2048) == pytest.approx(1e-6 / 2, rel=1e-6)
        assert el.mean_throughput(1e9, 128, 16) == 0.0
        assert el.mean_throughput(1.3, 1, 1) == pytest.approx(math.exp(-1.3), rel=ROUNDING)
        # One replica is broken nearly always, two hardly ever.
        assert el.mean_throughput(50.0, 1000, 16) == pytest.approx(15 / 16, rel=1e-9)
        assert el.mean_throughput(100.0, 10**6, 10) == pytest.approx(0.9, rel=1e-9)
        assert 0.99 < el.mean_throughput(500.0, 1, 10**5) < 1.0


def test_it_falls_as_more_nodes_are_away_and_broadcasts():
    away = np.geomspace(1e-3, 1e4, 60)
    for batch in (None, 2048):
        assert np.all(np.diff(el.mean_throughput(away, 128, 16, batch)) <= 1e-15)
    table = el.mean_throughput(away[:, None], [1, 8, 128], 16)
    assert table.shape == (60, 3)
    assert table[7, 1] == el.mean_throughput(away[7], 8, 16)
    with pytest.raises(ValueError, match="away.*nodes_per_replica"):
        el.mean_throughput([1.0, 2.0], [1, 2, 3], 4)


@pytest.mark.parametrize(
    ("nodes_per_replica", "replicas", "batch"), [(1, 1, None), (7, 5, None), (128, 16, 2048), (200, 15, 60)]
)
def test_away_at_throughput_is_its_inverse(nodes_per_replica, replicas, batch):
    level = np.array([1e-6, 0.01, 0.3, 0.5, 0.93, 0.999, 1 - 1e-6])
    away = el.away_at_throughput(level, nodes_per_replica, replicas, batch)
    assert el.mean_throughput(away, nodes_per_replica, replicas, batch) == pytest.approx(level, rel=1e-9)


def test_away_at_throughput_in_the_limits():
    assert el.away_at_throughput(1.0, 128, 16) == 0.0
    assert el.away_at_throughput([0.5, 1e-3], 1, 1) == pytest.approx([math.log(2), math.log(1000)], rel=1e-9)
    assert el.away_at_throughput(1e-300, 1, 1) == pytest.approx(300 * math.log(10), rel=1e-9)
    assert math.isfinite(el.away_at_throughput(1e-300, 128, 10**4))


@modest
@given(st.floats(1e-3, 1e6), st.floats(1e-6, 1))
def test_at_break_even_the_speed_lost_is_what_was_saved(saved, slowdown):
    assert el.break_even_away(saved, slowdown) * slowdown == pytest.approx(saved, rel=1e-12)


def test_break_even_in_the_limits():
    with strict():
        assert el.break_even_away([-5.0, 0.0, 10.0], 0.5).tolist() == [0, 0, 20]
        assert el.break_even_away(10.0, 0.0) == INF
        assert el.break_even_away(0.0, 0.0) == 0.0
        assert el.break_even_away(-1.0, 0.0) == 0.0


CASES = [
    *refusals(el.legal_sizes, {"replicas": 4, "batch": 8}, replicas=NOT_COUNT, batch=(NAN, INF, -3, 0, "seven", [])),
    *refusals(
        el.throughput,
        {"lost": 1, "replicas": 4, "batch": 8},
        lost=(*NEGATIVE, 2.5),
        replicas=NOT_COUNT,
        batch=(NAN, -3, 0, "seven", []),
    ),
    *refusals(
        el.mean_throughput,
        {"away": 1.0, "nodes_per_replica": 2, "replicas": 4},
        away=NEGATIVE,
        nodes_per_replica=NOT_COUNT,
        replicas=NOT_COUNT,
        batch=(NAN, -3, 0, "seven", []),
    ),
    *refusals(
        el.away_at_throughput,
        {"level": 0.5, "nodes_per_replica": 2, "replicas": 4},
        level=(*NOT_POSITIVE, 1.75),
        nodes_per_replica=NOT_COUNT,
        replicas=NOT_COUNT,
        batch=(NAN, -3, 0, "seven", []),
    ),
    *refusals(
        el.break_even_away,
        {"saved": 1.0, "slowdown": 0.5},
        saved=(NAN, INF, "seven", None, []),
        slowdown=(NAN, -3.25, 1.75, "seven", None, []),
    ),
]


@pytest.mark.parametrize("function, good, name, values", CASES)
def test_bad_input_is_refused(function, good, name, values):
    assert_refused(function, good, name, values)


def test_a_level_just_below_1_and_one_near_0_keep_their_digits():
    for level in (1 - 1e-15, 1 - 1e-9, 0.5, 0.4999, 1e-12, 1e-300):
        away = el.away_at_throughput(level, 1, 1)
        assert math.exp(-away) == pytest.approx(level, rel=1e-9)
        assert away == pytest.approx(-math.log1p(level - 1) if level > 0.5 else -math.log(level), rel=1e-9, abs=0)


def test_no_more_than_all_speed_and_many_levels_at_once():
    assert el.mean_throughput(0.0, 1, 1000) <= 1.0
    levels = np.linspace(1e-6, 1.0, 3000).reshape(3, 1000)
    away = el.away_at_throughput(levels, 16, 16, batch=2048)
    assert el.mean_throughput(away, 16, 16, batch=2048) == pytest.approx(levels, rel=1e-11)
    assert away[1, 17] == pytest.approx(el.away_at_throughput(levels[1, 17], 16, 16, batch=2048), rel=1e-11)
