"""When a checkpoint counts: uploads, torn writes, writes in place, each against a simulation event by event."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import (
    NEGATIVE,
    NOT_COUNT,
    NOT_FINITE,
    NOT_NUMBERS,
    NOT_POSITIVE,
    assert_mean,
    assert_refused,
    maximise,
    modest,
    refusals,
    restarting_until,
    strict,
)

from reliability import checkpoint as cp
from reliability import commit

pytestmark = pytest.mark.filterwarnings("error")

times = st.floats(1.0, 1e4)
shares = st.floats(0, 1)
units = st.floats(1e-3, 1e3)


# --- asynchronous checkpoints ---------------------------------------------------------------------


def asynchronous(rng, intervals, interval, stall, upload, drag, restart, mtbf):
    """Wall times from one new checkpoint to the next, event by event.

    A checkpoint that is being copied or uploaded when a fault strikes is torn and dropped. What is
    loaded is always the last committed one.
    """
    now, fault = 0.0, rng.exponential(mtbf)
    committed = at = best = 0
    pending, left, reached = None, interval, []
    while len(reached) <= intervals:
        speed = 1 - drag if pending else 1.0
        ends = now + (left / speed if speed else math.inf)
        commits = pending[1] if pending else math.inf
        if fault < min(ends, commits):
            now, pending, left, at = fault + restarting_until(rng, restart, mtbf), None, interval, committed
            fault = now + rng.exponential(mtbf)
        elif commits <= ends:
            left -= (commits - now) * speed
            now, committed, pending = commits, pending[0], None
        elif fault < ends + stall:  # torn
            now, left, at = fault + restarting_until(rng, restart, mtbf), interval, committed
            fault = now + rng.exponential(mtbf)
        else:
            assert pending is None
            now, at, left = ends + stall, at + 1, interval
            pending = (at, now + upload)
            if at > best:
                best = at
                reached.append(now)
    return np.diff(reached)


@pytest.mark.parametrize(
    "interval, stall, upload, drag",
    [(100.0, 5.0, 60.0, 0.0), (100.0, 5.0, 110.0, 0.25), (40.0, 5.0, 60.0, 1.0), (50.0, 2.0, 50.0, 0.0)],
)
def test_asynchronous_checkpoints_keep_what_a_simulation_does(interval, stall, upload, drag):
    walls = asynchronous(np.random.default_rng(5), 12_000, interval, stall, upload, drag, restart=30.0, mtbf=250.0)
    expected = interval / commit.asynchronous_efficiency(interval, stall, upload, drag, 30.0, 250.0)
    assert_mean(walls, expected, resolution=0.02)


def test_without_an_upload_it_is_a_blocking_write():
    assert commit.as_blocking(240.0, 0.0, 0.3, 388.2) == (240.0, 388.2)
    blocking = cp.renewal_efficiency(3540.0, 240.0, 388.2, 28440.0)
    assert commit.asynchronous_efficiency(3540.0, 240.0, 0.0, 0.0, 388.2, 28440.0) == blocking
    # The job stands still while it uploads.
    assert commit.asynchronous_efficiency(3540.0, 40.0, 200.0, 1.0, 388.2, 28440.0) == pytest.approx(
        blocking, rel=1e-14
    )


@modest
@given(times, st.floats(0.1, 100), st.floats(0, 1), shares, st.floats(0, 1e4), times, units)
def test_asynchronous_efficiency_is_a_share_without_a_unit(interval, stall, part, drag, restart, mtbf, unit):
    upload = part * interval
    kept = commit.asynchronous_efficiency(interval, stall, upload, drag, restart, mtbf)
    assert 0 <= kept < 1
    scaled = commit.asynchronous_efficiency(
        *(x * unit for x in (interval, stall, upload)), drag, restart * unit, mtbf * unit
    )
    assert scaled == pytest.approx(kept, rel=1e-9, abs=1e-300)
    # The same bytes in a longer upload lose more, and less drag keeps more.
    assert commit.asynchronous_efficiency(interval, stall, upload / 2, drag, restart, mtbf) >= kept
    assert (
        commit.asynchronous_efficiency(interval, stall, upload, drag / 2, restart, mtbf) >= kept
        if 2 * part < 1
        else True
    )


@pytest.mark.parametrize(
    "stall, upload, drag, mtbf", [(1.0, 300.0, 0.1, 28440.0), (50.0, 10.0, 0.0, 900.0), (1.0, 500.0, 0.0, 600.0)]
)
def test_the_best_interval_is_the_top_of_the_efficiency_or_as_long_as_the_upload(stall, upload, drag, mtbf):
    least = (1 - drag) * upload
    best = commit.asynchronous_interval(stall, upload, drag, mtbf)
    top = maximise(lambda t: commit.asynchronous_efficiency(t, stall, upload, drag, 0.0, mtbf), least, 20 * mtbf)
    assert best == pytest.approx(top, rel=1e-6)
    assert best >= least


def test_an_upload_that_does_not_end_in_its_interval_is_refused():
    with pytest.raises(ValueError, match=r"interval = 400: must be at least \(1 - drag\) upload = 450"):
        commit.asynchronous_efficiency([500.0, 400.0], 1.0, 500.0, 0.1, 0.0, 1e4)
    assert commit.asynchronous_efficiency(450.0, 1.0, 500.0, 0.1, 0.0, 1e4) > 0


def test_the_work_at_risk_is_the_most_that_a_simulated_fault_undoes():
    # The fault strikes just before the commit: all since the last committed snapshot is lost.
    interval, upload, drag = 100.0, 40.0, 0.25
    assert commit.work_at_risk(interval, upload, drag) == interval + upload * (1 - drag)
    assert commit.work_at_risk(interval, upload, 1.0) == interval


# --- torn writes ----------------------------------------------------------------------------------


def test_torn_writes_are_counted():
    rng = np.random.default_rng(11)
    interval, write, mtbf = 100.0, 40.0, 150.0
    faults = rng.exponential(mtbf, 40_000)
    struck = faults[faults < interval + write]
    assert_mean(struck >= interval, commit.torn_share(interval, write, mtbf), resolution=0.02)


def test_torn_share_where_failures_are_rare_or_thick():
    with strict():
        assert commit.torn_share(900.0, 100.0, 1e300) == pytest.approx(0.1)
        assert commit.torn_share(9e5, 100.0, 1.0) == 0.0
        assert commit.torn_share(900.0, 0.0, 100.0) == 0.0
        assert commit.torn_share(1e-9, 1e9, 1.0) == pytest.approx(1.0)


def in_place(rng, periods, interval, write, restart, mtbf, intervals):
    """Wall times of periods whose writes overwrite the only checkpoint; a copy is set aside at the end of each."""
    walls = []
    for _ in range(periods):
        now, at = 0.0, 0
        while at < intervals:
            fault = rng.exponential(mtbf)
            if fault >= interval + write:
                now, at = now + interval + write, at + 1
            else:
                now += fault + restarting_until(rng, restart, mtbf)
                at = at if fault < interval else 0  # torn: only the copy is left
        walls.append(now)
    return walls


@pytest.mark.parametrize("intervals", [1, 2, 6])
def test_writes_in_place_keep_what_a_simulation_does(intervals):
    interval, write, restart, mtbf = 60.0, 30.0, 20.0, 200.0
    walls = in_place(np.random.default_rng(2), 4000, interval, write, restart, mtbf, intervals)
    atomic = cp.renewal_efficiency(interval, write, restart, mtbf)
    assert_mean(walls, intervals * interval / (atomic * commit.in_place_share(write, mtbf, intervals)), resolution=0.02)


def test_writes_in_place_cost_nothing_where_every_checkpoint_is_copied_and_all_where_none_is():
    with strict():
        assert commit.in_place_share(240.0, 28440.0, 1) == pytest.approx(1.0, rel=1e-15)
        assert commit.in_place_share(0.0, 28440.0, 1000) == 1.0
        assert commit.in_place_share(240.0, 1e300, 1000) == pytest.approx(1.0)
        assert commit.in_place_share(240.0, 1.0, 10**7) == 0.0
        assert commit.in_place_share(1e300, 1e-300, 3) == 0.0
    x, n = 240 / 28440, 100
    assert commit.in_place_share(240.0, 28440.0, n) == pytest.approx(n * math.expm1(x) / math.expm1(n * x), rel=1e-13)


# --- shapes, scales, bad input --------------------------------------------------------------------


@pytest.mark.parametrize("mtbf", [1e-6, 1.0, 1e15])
@pytest.mark.parametrize("upload", [0.0, 1e-3, 1e6])
def test_extreme_scales_neither_warn_nor_leave_the_range(mtbf, upload):
    with strict():
        best = commit.asynchronous_interval(1.0, upload, 0.1, mtbf)
        assert best >= 0.9 * upload
        assert 0 <= commit.asynchronous_efficiency(best, 1.0, upload, 0.1, 100.0, mtbf) < 1
        assert 0 <= commit.torn_share(best, 1.0, mtbf) <= 1


def test_scalars_come_back_as_scalars_and_arrays_broadcast():
    for function, arguments in [
        (commit.asynchronous_efficiency, (900.0, 1.0, 50.0, 0.1, 30.0, 1e4)),
        (commit.asynchronous_interval, (1.0, 50.0, 0.1, 1e4)),
        (commit.work_at_risk, (900.0, 50.0, 0.1)),
        (commit.torn_share, (900.0, 50.0, 1e4)),
        (commit.in_place_share, (50.0, 1e4, 7)),
    ]:
        scalar = function(*arguments)
        assert isinstance(scalar, float), function.__name__
        grid = function(np.full((3, 1), arguments[0]), np.full(2, arguments[1]), *arguments[2:])
        np.testing.assert_allclose(grid, np.full((3, 2), scalar), rtol=1e-15, err_msg=function.__name__)


BAD_SHARE = (*NOT_FINITE, *NOT_NUMBERS, -3.25, 1.75)
UPLOAD = {"stall": 1.0, "upload": 5.0, "drag": 0.5}
BAD_UPLOAD = {"stall": NOT_POSITIVE, "upload": NEGATIVE, "drag": BAD_SHARE}
REFUSALS = [
    *refusals(commit.as_blocking, {**UPLOAD, "restart": 3.0}, **BAD_UPLOAD, restart=NEGATIVE),
    *refusals(
        commit.asynchronous_efficiency,
        {"interval": 9.0, **UPLOAD, "restart": 3.0, "mtbf": 99.0},
        **BAD_UPLOAD,
        interval=NOT_POSITIVE,
        restart=NEGATIVE,
        mtbf=NOT_POSITIVE,
    ),
    *refusals(commit.asynchronous_interval, {**UPLOAD, "mtbf": 99.0}, **BAD_UPLOAD, mtbf=NOT_POSITIVE),
    *refusals(
        commit.work_at_risk,
        {"interval": 9.0, "upload": 5.0, "drag": 0.5},
        interval=NOT_POSITIVE,
        upload=NEGATIVE,
        drag=BAD_SHARE,
    ),
    *refusals(
        commit.torn_share,
        {"interval": 9.0, "write": 1.0, "mtbf": 99.0},
        interval=NOT_POSITIVE,
        write=NEGATIVE,
        mtbf=NOT_POSITIVE,
    ),
    *refusals(
        commit.in_place_share,
        {"write": 1.0, "mtbf": 99.0, "intervals": 3},
        write=NEGATIVE,
        mtbf=NOT_POSITIVE,
        intervals=NOT_COUNT,
    ),
]


@pytest.mark.parametrize("function, good, name, values", REFUSALS)
def test_bad_input_is_named_and_repeated(function, good, name, values):
    assert_refused(function, good, name, values)


def test_shapes_that_do_not_fit_are_refused_by_name():
    with pytest.raises(ValueError, match="interval|upload|mtbf"):
        commit.asynchronous_efficiency([900.0, 901.0], 1.0, 5.0, 0.1, 0.0, [1.0, 2.0, 3.0])


def test_shares_where_a_float_holds_neither_side():
    with strict():
        assert commit.torn_share(1e-300, [1e9, 1e300], 1e-300) == pytest.approx(math.exp(-1), rel=1e-12)
        assert commit.torn_share(1e300, 1e-300, 1e-300) == 0.0
        assert commit.in_place_share(0.5, 1e-300, [1, 10**9]).tolist() == [1.0, 0.0]
