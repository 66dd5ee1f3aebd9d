"""Phases by size: limits and scaling laws, slow loops, and published times held where they were published."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import INF, NAN, NEGATIVE, NOT_COUNT, NOT_POSITIVE, assert_refused, modest, refusals, strict

from reliability import timeline as tl

ROUNDING = 1e-13
COLD = tl.PublishedCurve([16000, 22000, 64000, 98000], [200.0, 300.0, 600.0, 900.0], rounding=500.0)
NCCL = tl.PublishedCurve([16000, 22000, 64000, 98000], [17.0, 30.0, 100.0, 200.0])
times = st.floats(1e-3, 1e6)


# --- waves ----------------------------------------------------------------------------------------


@modest
@given(st.integers(1, 300), st.integers(1, 50), times)
def test_waves_as_a_loop_that_starts_them(nodes, at_once, each):
    left, waves = nodes, 0
    while left > 0:
        left, waves = left - at_once, waves + 1
    assert tl.waves_time(nodes, at_once, each) == pytest.approx(waves * each, rel=ROUNDING)


def test_one_wave_is_enough_for_as_many_as_start_at_once():
    assert tl.waves_time([1, 1024, 1025, 2048, 2049], 1024, 90.0).tolist() == [90, 90, 180, 180, 270]
    assert tl.waves_time(10**7, 1, 1.0) == 1e7


# --- load -----------------------------------------------------------------------------------------


@modest
@given(times, times, st.integers(1, 10**5), times, st.integers(1, 100))
def test_load_is_limited_by_the_storage_or_by_the_readers(size, storage, readers, reader, copies):
    whole = size * copies
    slower = min(storage, readers * reader)
    assert tl.load_time(size, storage, readers, reader, copies) == pytest.approx(whole / slower, rel=1e-12)


def test_load_by_moving_bytes_second_by_second():
    for storage, readers, reader in ((100.0, 8, 5.0), (30.0, 8, 5.0)):
        left, seconds = 3 * 1200.0, 0
        while left > 1e-9:
            left, seconds = left - min(storage, readers * reader), seconds + 1
        assert tl.load_time(1200.0, storage, readers, reader, copies=3) == seconds


def test_replicas_that_read_for_themselves_wait_for_the_storage():
    replicas = np.array([1, 2, 4, 64])
    each = tl.load_time(5000.0, 1000.0, 128 * replicas, 10.0, replicas)
    assert each.tolist() == [5.0, 10.0, 20.0, 320.0]  # in proportion to the job
    once = tl.load_time(5000.0, 1000.0, 128, 10.0)
    assert once == 5.0  # at any size


# --- communication --------------------------------------------------------------------------------


def test_setup_is_the_measured_time_at_the_measured_size_and_scales_with_its_power():
    assert tl.setup_time(8192, 65.4, 8192, 1.7) == 65.4
    assert tl.setup_time(32768, 10.0, 8192, 0.5) == pytest.approx(20.0, rel=ROUNDING)
    assert tl.setup_time([1, 8192, 10**7], 65.4, 8192, 0.0).tolist() == [65.4] * 3
    assert tl.setup_time(10**7, 0.0, 1, 300.0) == 0.0


def test_phases_at_extreme_scales():
    with strict():
        assert tl.setup_time(1, 65.4, 10**7, 1.0) == pytest.approx(65.4e-7, rel=ROUNDING)
        assert tl.setup_time(10**7, 1e300, 1, 300.0) == INF
        assert tl.load_time(1e300, 1e-300, 1, 1.0) == INF
        assert tl.load_time(1e-300, 1e300, 10**7, 1e300) == 0.0


# --- published curves -----------------------------------------------------------------------------


def test_the_curve_goes_through_its_points():
    for curve in (COLD, NCCL):
        assert curve.at(curve.sizes) == pytest.approx(curve.times, rel=ROUNDING)


@modest
@given(st.floats(16000, 98000))
def test_between_points_it_is_straight_on_logarithmic_paper(size):
    expected = math.exp(np.interp(math.log(size), np.log(NCCL.sizes), np.log(NCCL.times)))
    assert NCCL.at(size) == pytest.approx(expected, rel=1e-12)


@modest
@given(st.floats(0.01, 100), st.floats(0.01, 100))
def test_it_follows_a_change_of_units(by_size, by_time):
    moved = tl.PublishedCurve(COLD.sizes * by_size, COLD.times * by_time)
    assert moved.at(30000 * by_size) == pytest.approx(by_time * COLD.at(30000), rel=1e-12)
    assert moved.exponents() == pytest.approx(COLD.exponents(), rel=1e-9)


def test_its_powers_of_the_size():
    assert [f"{power:.2f}" for power in COLD.exponents()] == ["1.27", "0.65", "0.95"]
    assert [f"{power:.2f}" for power in NCCL.exponents()] == ["1.78", "1.13", "1.63"]


def test_each_inner_point_left_out_is_predicted_from_its_neighbours():
    first = 200 * (22 / 16) ** (math.log(3) / math.log(4))
    second = 300 * (64 / 22) ** (math.log(3) / math.log(98 / 22))
    assert COLD.held_out() == pytest.approx([first, second], rel=1e-12)
    assert [f"{t:.0f}" for t in COLD.held_out()] == ["257", "658"]


def test_a_power_law_is_held_out_exactly():
    sizes = np.array([1.0, 3.0, 10.0, 17.0])
    curve = tl.PublishedCurve(sizes, 5 * sizes**0.7)
    assert curve.held_out() == pytest.approx(curve.times[1:-1], rel=1e-12)


@pytest.mark.parametrize("size", [15000, 98501, 131072, [20000, 8192]])
def test_outside_its_points_it_refuses_unless_asked(size):
    wrong = size[-1] if isinstance(size, list) else size
    with pytest.raises(ValueError, match=rf"size = {wrong}: must lie from 16000 to 98000.*extend=True"):
        COLD.at(size)
    assert np.all(COLD.at(size, extend=True) > 0)


def test_asked_it_goes_on_with_the_last_power():
    assert COLD.at(196000, extend=True) == pytest.approx(900 * 2 ** COLD.exponents()[-1], rel=1e-12)
    assert COLD.at(8000, extend=True) == pytest.approx(200 * 0.5 ** COLD.exponents()[0], rel=1e-12)


def test_it_holds_as_far_as_its_sizes_are_rounded():
    assert COLD.holds([15500, 15499, 16384, 98304, 98500, 98501]).tolist() == [True, False, True, True, True, False]
    assert not NCCL.holds(98304)
    assert COLD.at(98304) == pytest.approx(902.65, abs=0.01)


@pytest.mark.parametrize(
    ("sizes", "published", "rounding", "said"),
    [
        ([1, 2], [1.0], 0.0, "sizes"),
        ([1], [1.0], 0.0, "sizes"),
        ([[1, 2]], [[1.0, 2.0]], 0.0, "sizes"),
        ([2, 1], [1.0, 2.0], 0.0, "sizes"),
        ([1, 1], [1.0, 2.0], 0.0, "sizes"),
        ([0, 1], [1.0, 2.0], 0.0, r"sizes\[0\] = 0"),
        ([1, 2], [1.0, NAN], 0.0, r"times\[1\] = nan"),
        ([1, 2], [1.0, -3.25], 0.0, r"times\[1\] = -3\.25"),
        ([1, 2], [1.0, 2.0], -3.25, r"rounding = -3\.25"),
        ([1, 2], [1.0, 2.0], [1.0], "rounding"),
    ],
)
def test_points_that_are_no_curve_are_refused(sizes, published, rounding, said):
    with pytest.raises(ValueError, match=said):
        tl.PublishedCurve(sizes, published, rounding)


CASES = [
    *refusals(
        tl.waves_time, {"nodes": 8, "at_once": 2, "each": 1.0}, nodes=NOT_COUNT, at_once=NOT_COUNT, each=NEGATIVE
    ),
    *refusals(
        tl.load_time,
        {"size": 1.0, "storage": 1.0, "readers": 1, "reader": 1.0, "copies": 1},
        size=NOT_POSITIVE,
        storage=NOT_POSITIVE,
        readers=NOT_COUNT,
        reader=NOT_POSITIVE,
        copies=NOT_COUNT,
    ),
    *refusals(
        tl.setup_time,
        {"ranks": 8, "measured": 1.0, "measured_ranks": 8, "exponent": 1.0},
        ranks=NOT_COUNT,
        measured=NEGATIVE,
        measured_ranks=NOT_COUNT,
        exponent=(NAN, INF, -INF, "seven", None, []),
    ),
    *refusals(COLD.at, {"size": 20000}, size=NOT_POSITIVE),
    *refusals(COLD.holds, {"size": 20000}, size=NOT_POSITIVE),
]


@pytest.mark.parametrize("function, good, name, values", CASES)
def test_bad_input_is_refused(function, good, name, values):
    assert_refused(function, good, name, values)


def test_arrays_broadcast_and_shapes_that_do_not_are_named():
    assert tl.setup_time(np.ones((3, 1), int), [1.0, 2.0], 4).shape == (3, 2)
    with pytest.raises(ValueError, match="nodes.*at_once"):
        tl.waves_time([1, 2], [1, 2, 3], 1.0)
