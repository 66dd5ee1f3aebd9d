"""Checkpoint intervals: the first-order model, the exact one, and the published curve."""

import dataclasses
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
    NOT_FINITE,
    NOT_INSIDE_UNIT,
    NOT_NUMBERS,
    NOT_POSITIVE,
    assert_mean,
    assert_refused,
    checkpointed_segment,
    exact_optimum,
    log_renewal,
    maximise,
    modest,
    percent,
    refusals,
    strict,
)

from reliability import checkpoint as cp

pytestmark = pytest.mark.filterwarnings("error")

times = st.floats(1e-3, 1e6)
shares = st.floats(1e-6, 1.9)
# Products, quotients and one exponential of floats: some roundings of 1.1e-16 each.
ROUNDING = 1e-13

STEP, WRITE, RESTART, MTBF = 30.0, 240.0, 6.47 * 60, 7.9 * 3600


# --- the first-order model ------------------------------------------------------------------------


def test_nothing_is_lost_without_faults_writes_or_restarts():
    assert cp.efficiency(100.0, 0.0, 0.0, 1e300) == 1.0
    assert cp.efficiency(100.0, 25.0, 0.0, 1e300) == pytest.approx(0.8, rel=ROUNDING)


@modest
@given(times, times, st.floats(0, 1e6), times, st.floats(1e-3, 1e3))
def test_efficiencies_have_no_unit_of_time(interval, write, restart, mtbf, unit):
    scaled = [x * unit for x in (interval, write, restart, mtbf)]
    assert cp.efficiency(*scaled) == pytest.approx(cp.efficiency(interval, write, restart, mtbf), rel=ROUNDING)
    exact = cp.renewal_efficiency(interval, write, restart, mtbf)
    # A rounding of the exponent is a relative error of the power: exponents here reach 1e3 before it underflows.
    assert cp.renewal_efficiency(*scaled) == pytest.approx(exact, rel=1e-11, abs=1e-300)


@modest
@given(times, times, st.floats(0, 1e6), times)
def test_efficiencies_are_shares_and_the_exact_model_has_the_greater_loss(interval, write, restart, mtbf):
    first = cp.efficiency(interval, write, restart, mtbf)
    exact = cp.renewal_efficiency(interval, write, restart, mtbf)
    # e^(R/M) (e^x - 1) > (1 + R/M) (x + x^2/2) with x = (T+C)/M: each term of the first order is in it.
    assert 0 <= exact <= first * (1 + ROUNDING) <= 1 + ROUNDING


def test_efficiency_keeps_the_books_of_faults_on_the_clock_of_useful_work():
    # Each fault costs a restart and, on average, half of an interval; writes and restarts have none.
    rng = np.random.default_rng(1)
    interval, write, restart, mtbf = 600.0, 60.0, 200.0, 3000.0
    faults = rng.poisson(interval / mtbf, 200_000)
    walls = np.full(faults.size, interval + write)
    for cell in np.flatnonzero(faults):
        walls[cell] += (restart + interval * rng.random(faults[cell])).sum()
    assert_mean(walls, interval / cp.efficiency(interval, write, restart, mtbf), resolution=0.001)


def test_published_curve_of_full_and_incremental_checkpoints():
    published = """
        300 83.43% 84.75%
        600 74.44% 74.96%
        900 66.79% 67.07%
        1200 60.49% 60.66%
        1500 55.24% 55.36%
        1800 50.83% 50.91%
        2100 47.06% 47.12%
        2400 43.81% 43.85%
        2700 40.97% 41.01%
        3000 38.48% 38.51%
        3300 36.28% 36.30%
        3600 34.31% 34.33%
        3900 32.55% 32.56%
        4200 30.95% 30.97%
        4500 29.51% 29.52%
        4800 28.19% 28.20%
    """
    rows = [line.split() for line in published.split("\n") if line.strip()]
    intervals = STEP * np.array([int(row[0]) for row in rows])
    full = cp.efficiency(intervals, WRITE, RESTART, MTBF)
    incremental = cp.efficiency(intervals, cp.incremental_write(WRITE, 0.3), RESTART, MTBF)
    printed = [[row[0], percent(a), percent(b)] for row, a, b in zip(rows, full, incremental, strict=True)]
    assert printed == rows


def test_published_efficiency_without_checkpoints():
    assert percent(cp.efficiency(5000 * STEP, WRITE, RESTART, MTBF)) == "27.38%"


# --- the grid -------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor, steps, efficiency", [(1.0, 123, "87.45%"), (0.3, 67, "92.18%")])
def test_published_grid_optimum_equals_young_in_whole_steps(factor, steps, efficiency):
    write = cp.incremental_write(WRITE, factor)
    best = cp.grid_optimum(STEP, write, RESTART, MTBF)
    assert (best.steps, percent(best.efficiency)) == (steps, efficiency)
    assert best.interval == steps * STEP
    assert round(cp.young_interval(write, MTBF) / STEP) == steps


@pytest.mark.parametrize("factor, steps, efficiency", [(1.0, 118, "86.38%"), (0.3, 66, "91.79%")])
def test_grid_optimum_of_the_exact_model(factor, steps, efficiency):
    best = cp.grid_optimum(STEP, WRITE * factor, RESTART, MTBF, model=cp.renewal_efficiency)
    assert (best.steps, percent(best.efficiency)) == (steps, efficiency)


@modest
@given(st.floats(1, 100), st.floats(1, 1e3), st.floats(0, 1e3), st.floats(10, 1e5), st.integers(1, 60))
def test_grid_optimum_is_the_best_of_a_loop(step, write, restart, mtbf, max_steps):
    best = cp.grid_optimum(step, write, restart, mtbf, max_steps=max_steps)
    loop = [
        (k * step) / (k * step + write + (k * step / 2 + restart) * k * step / mtbf) for k in range(1, max_steps + 1)
    ]
    assert 1 <= best.steps <= max_steps
    assert best.efficiency == pytest.approx(max(loop), rel=ROUNDING)
    assert loop[best.steps - 1] == pytest.approx(max(loop), rel=ROUNDING)


def test_grid_takes_the_smallest_of_equally_good_intervals():
    def two_peaks(interval, write, restart, mtbf):
        return np.where((np.asarray(interval) == 6.0) | (np.asarray(interval) == 15.0), 0.75, 0.25)

    best = cp.grid_optimum(3.0, 1.0, 1.0, 10.0, max_steps=9, model=two_peaks)
    assert (best.steps, best.interval, best.efficiency) == (2, 6.0, 0.75)


def test_grid_ends_where_it_is_told_to_and_5000_steps_unless_told():
    assert cp.grid_optimum(STEP, WRITE, RESTART, MTBF, max_steps=1).steps == 1
    assert cp.grid_optimum(STEP, WRITE, RESTART, MTBF, max_steps=122).steps == 122
    assert cp.grid_optimum(1e-3, WRITE, RESTART, MTBF).steps == 5000


def test_grid_optimum_is_frozen():
    best = cp.grid_optimum(STEP, WRITE, RESTART, MTBF)
    with pytest.raises(dataclasses.FrozenInstanceError):
        best.steps = 1


# --- Young and Daly -------------------------------------------------------------------------------

# MTBF in hours; Young, Daly and exact interval in minutes; exact efficiency: a write of 5 min, a restart of 10.
TABLE = [
    (0.25, "12.25", "9.14", "9.17", "0.200"),
    (0.5, "17.32", "14.15", "14.16", "0.378"),
    (1, "24.49", "21.27", "21.28", "0.546"),
    (3, "42.43", "39.16", "39.16", "0.740"),
    (12, "84.85", "81.55", "81.55", "0.875"),
    (24, "120.00", "116.69", "116.69", "0.913"),
]


@pytest.mark.parametrize("mtbf_h, young, daly, exact, efficiency", TABLE)
def test_published_table_of_intervals(mtbf_h, young, daly, exact, efficiency):
    mtbf = mtbf_h * 60
    optimum = cp.optimal_interval(5.0, mtbf)
    assert f"{cp.young_interval(5.0, mtbf):.2f}" == young
    assert f"{cp.daly_interval(5.0, mtbf):.2f}" == daly
    assert f"{optimum:.2f}" == exact
    assert f"{cp.renewal_efficiency(optimum, 5.0, 10.0, mtbf):.3f}" == efficiency


@modest
@given(times, times)
def test_young_interval_follows_the_square_root_of_each_time(write, mtbf):
    assert cp.young_interval(4 * write, mtbf) == pytest.approx(2 * cp.young_interval(write, mtbf), rel=ROUNDING)
    assert cp.young_interval(write, 9 * mtbf) == pytest.approx(3 * cp.young_interval(write, mtbf), rel=ROUNDING)


@pytest.mark.parametrize("restart", [0.0, 388.2, 1e5])
def test_young_interval_is_the_first_order_optimum_for_every_restart(restart):
    found = maximise(lambda t: cp.efficiency(t, WRITE, restart, MTBF), 1, MTBF)
    # The maximum is flat: an efficiency known to 1e-16 fixes its place to about the square root of that.
    assert found == pytest.approx(cp.young_interval(WRITE, MTBF), rel=1e-6)


@pytest.mark.parametrize("write", [2.0, 2.5, 1e9])
def test_daly_interval_is_the_mtbf_from_a_write_of_twice_the_mtbf_on(write):
    assert cp.daly_interval(write, 1.0) == 1.0


def test_daly_interval_still_follows_its_series_just_below_that_write():
    # At C = 2M the series is 2M (1 + 1/3 + 1/9) - 2M.
    assert cp.daly_interval(2.0 * (1 - 1e-12), 1.0) == pytest.approx(8 / 9, rel=1e-11)


def test_daly_interval_takes_arrays_on_both_sides_of_the_switch():
    one_by_one = [cp.daly_interval(write, 15.0) for write in (5.0, 29.9, 30.0, 500.0)]
    np.testing.assert_array_equal(cp.daly_interval([5.0, 29.9, 30.0, 500.0], 15.0), one_by_one)
    assert one_by_one[2:] == [15.0, 15.0]


@pytest.mark.parametrize("u", [0.2, 0.1, 0.05])
def test_daly_interval_misses_the_exact_one_by_the_fourth_order_only(u):
    # With u = sqrt(2C/M) the exact t is u - u^2/3 + u^3/36 + u^4/270 + u^5/4320 ...; Daly ends at u^3.
    write, mtbf = u * u / 2 * 1000.0, 1000.0
    gap = (cp.optimal_interval(write, mtbf) - cp.daly_interval(write, mtbf)) / mtbf
    # The next term of the series, u/16 of this one, plus what two rounded values near u leave in the gap.
    assert gap / (u**4 / 270) == pytest.approx(1 + u / 16, rel=u**2 / 50 + 1e-15 * 270 / u**3)


# --- the exact model ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "interval, write, restart, mtbf", [(120.0, 10.0, 30.0, 300.0), (50.0, 40.0, 100.0, 80.0), (20.0, 0.0, 0.0, 60.0)]
)
def test_renewal_efficiency_is_what_an_event_simulation_reaches(interval, write, restart, mtbf):
    rng = np.random.default_rng(2)
    walls = [checkpointed_segment(rng, interval, write, restart, mtbf) for _ in range(25_000)]
    assert_mean(walls, interval / cp.renewal_efficiency(interval, write, restart, mtbf), resolution=0.012)


@pytest.mark.parametrize(
    "rate, cost, interval, printed",
    [(7.78e-6 + 5.19e-7, 438.0, 10_000.0, "0.91381"), (8.54e-7 + 2.01e-7, 1835.0, 57_800.0, "0.93724")],
)
def test_renewal_efficiency_gives_the_single_level_figures_of_scr(rate, cost, interval, printed):
    # Moody et al. 2010: atlas and coastal, checkpoints to the parallel file system only, restart as long as the write.
    assert f"{cp.renewal_efficiency(interval, cost, cost, 1 / rate):.5f}" == printed


@modest
@given(times, times, st.floats(1e-3, 50), times)
def test_a_restart_multiplies_the_exact_efficiency_by_its_chance_of_no_fault(interval, write, restarts, mtbf):
    with_restart = cp.renewal_efficiency(interval, write, restarts * mtbf, mtbf)
    without = cp.renewal_efficiency(interval, write, 0.0, mtbf)
    assert with_restart == pytest.approx(without * math.exp(-restarts), rel=1e-12, abs=1e-300)


def test_without_writes_the_exact_model_agrees_with_the_first_order_to_second_order():
    # 1/exact - 1/first = (R^2/2 + RT/2 + T^2/6) / M^2 + O(1/M^3) when C = 0.
    interval, restart = 10.0, 5.0
    for mtbf in (1e4, 1e5):
        gap = 1 / cp.renewal_efficiency(interval, 0.0, restart, mtbf) - 1 / cp.efficiency(interval, 0.0, restart, mtbf)
        second = restart**2 / 2 + restart * interval / 2 + interval**2 / 6
        # The third-order term is of the order of (R + T) / M; two inverses near 1 leave 4e-16 M^2.
        assert gap * mtbf**2 == pytest.approx(second, rel=15 / mtbf, abs=1e-15 * mtbf**2)


def test_the_exact_efficiency_rises_to_its_optimum_and_falls_after_it():
    optimum = exact_optimum(WRITE, MTBF)
    rising = cp.renewal_efficiency(np.linspace(0.05, 0.999, 60) * optimum, WRITE, RESTART, MTBF)
    falling = cp.renewal_efficiency(np.linspace(1.001, 20, 60) * optimum, WRITE, RESTART, MTBF)
    assert (np.diff(rising) > 0).all()
    assert (np.diff(falling) < 0).all()


@pytest.mark.parametrize("restart", [0.0, 600.0, 7200.0])
def test_optimal_interval_maximises_the_exact_efficiency_for_every_restart(restart):
    def exact(interval):
        return interval / (MTBF * math.exp(restart / MTBF) * math.expm1((interval + WRITE) / MTBF))

    # As for Young: the place of a flat maximum is known to about the square root of the rounding.
    assert cp.optimal_interval(WRITE, MTBF) == pytest.approx(maximise(exact, 1, MTBF), rel=1e-6)


@pytest.mark.parametrize("ratio", [1e-15, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.3, 1.0, 5.0, 25.0, 50.0, 1e3, 1e9])
def test_optimal_interval_holds_from_writes_of_nothing_to_writes_far_above_the_mtbf(ratio):
    # Near zero the Lambert function is at its branch point, where it forgets half of its digits
    # unless the argument is built with care.
    with strict():
        assert cp.optimal_interval(ratio * 7.0, 7.0) == pytest.approx(exact_optimum(ratio * 7.0, 7.0), rel=1e-9)


@modest
@given(times, times)
def test_optimal_interval_lies_below_young_and_below_the_mtbf(write, mtbf):
    optimum = cp.optimal_interval(write, mtbf)
    assert 0 < optimum < cp.young_interval(write, mtbf)
    assert optimum <= mtbf


# --- how flat the optimum is ----------------------------------------------------------------------


@pytest.mark.parametrize("write, mtbf", [(240.0, 28_440.0), (72.0, 28_440.0), (5.0, 15.0), (1e-6, 1.0), (40.0, 10.0)])
@pytest.mark.parametrize("tolerance", [1e-8, 1e-6, 0.001, 0.005, 0.2, 0.9])
def test_at_the_ends_of_the_good_range_exactly_the_tolerance_is_lost(write, mtbf, tolerance):
    low, high = cp.equally_good_range(write, mtbf, tolerance)
    best = log_renewal(exact_optimum(write, mtbf), write, mtbf)
    assert low < exact_optimum(write, mtbf) < high
    for end in (low, high):
        # The ends to 1e-6, and the rounding of the two logarithms, of up to 20, that are subtracted.
        lost = -math.expm1(log_renewal(end, write, mtbf) - best)
        assert lost == pytest.approx(tolerance, rel=1e-6, abs=1e-14)


def test_good_range_takes_arrays():
    low, high = cp.equally_good_range([240.0, 72.0], MTBF, [[0.005], [0.2]])
    for i, tolerance in enumerate((0.005, 0.2)):
        for j, write in enumerate((240.0, 72.0)):
            assert (low[i, j], high[i, j]) == pytest.approx(cp.equally_good_range(write, MTBF, tolerance), rel=1e-9)


def test_half_a_percent_is_the_tolerance_unless_told():
    assert cp.equally_good_range(WRITE, MTBF) == cp.equally_good_range(WRITE, MTBF, 0.005)


def test_good_range_is_the_one_of_a_fine_grid():
    low, high = cp.equally_good_range(WRITE, MTBF)
    best = log_renewal(exact_optimum(WRITE, MTBF), WRITE, MTBF)
    good = [t for t in range(1, int(MTBF)) if math.exp(log_renewal(t, WRITE, MTBF) - best) >= 1 - 0.005]
    assert math.ceil(low) == good[0]
    assert math.floor(high) == good[-1]


def test_good_range_narrows_with_the_square_root_of_the_tolerance():
    wide = np.subtract(*cp.equally_good_range(WRITE, MTBF, 4e-8))
    narrow = np.subtract(*cp.equally_good_range(WRITE, MTBF, 1e-8))
    # The next order of the parabola is of the order of the tolerance; the ends are known to 1e-16 / 2e-4 of each other.
    assert wide / narrow == pytest.approx(2, rel=1e-4)


def test_good_range_has_no_unit_of_time():
    in_seconds = cp.equally_good_range(WRITE, MTBF)
    in_hours = cp.equally_good_range(WRITE / 3600, MTBF / 3600)
    assert np.multiply(in_hours, 3600) == pytest.approx(in_seconds, rel=1e-6)


def test_good_range_survives_writes_that_no_interval_survives():
    # The efficiency itself, e^-100000, is zero as a float: only its logarithm still has a shape, log t - t.
    with strict():
        low, high = cp.equally_good_range(1e5, 1.0, 0.005)
    for end in (low, high):
        assert -math.expm1(math.log(end) - end + 1) == pytest.approx(0.005, rel=1e-6)
    assert low < 1 < high


# --- incremental checkpoints ----------------------------------------------------------------------


def test_incremental_write_is_the_published_share():
    assert cp.incremental_write(240.0, 0.3) == pytest.approx(72.0, rel=ROUNDING)
    assert cp.incremental_write(240.0, 1.0) == 240.0


@modest
@given(times, st.floats(0.01, 0.99), times)
def test_a_smaller_write_moves_the_optimum_closer_and_the_efficiency_up(write, factor, mtbf):
    small = cp.incremental_write(write, factor)
    assert cp.optimal_interval(small, mtbf) < cp.optimal_interval(write, mtbf) * (1 + ROUNDING)
    interval = cp.young_interval(write, mtbf)
    assert cp.efficiency(interval, small, 1.0, mtbf) > cp.efficiency(interval, write, 1.0, mtbf)


# --- shapes, scales, bad input --------------------------------------------------------------------


def test_scalars_come_back_as_scalars_and_arrays_broadcast():
    for function, arguments in [
        (cp.efficiency, (10.0, 1.0, 1.0, 100.0)),
        (cp.renewal_efficiency, (10.0, 1.0, 1.0, 100.0)),
        (cp.young_interval, (1.0, 100.0)),
        (cp.daly_interval, (1.0, 100.0)),
        (cp.optimal_interval, (1.0, 100.0)),
        (cp.incremental_write, (1.0, 0.5)),
    ]:
        scalar = function(*arguments)
        assert isinstance(scalar, float), function.__name__
        grid = function(np.full((3, 1), arguments[0]), np.full(2, arguments[1]), *arguments[2:])
        np.testing.assert_array_equal(grid, np.full((3, 2), scalar), err_msg=function.__name__)


def test_integers_of_any_width_are_times_too():
    # 240 s of 28,440 s: 2 C M does not fit 16 bits, nor 100,000 times that 32.
    assert cp.young_interval(np.int16(240), np.int16(28_440)) == pytest.approx(
        math.sqrt(2 * 240 * 28_440), rel=ROUNDING
    )
    assert cp.young_interval(np.int32(10**6), np.int32(10**9)) == pytest.approx(math.sqrt(2e15), rel=ROUNDING)


@pytest.mark.parametrize("mtbf", [1e-6, 1e-3, 1.0, 1e6, 1e15])
@pytest.mark.parametrize("write", [1e-3, 1.0, 1e5])
def test_extreme_scales_neither_warn_nor_leave_the_range(write, mtbf):
    with strict():
        young, daly, exact = (
            cp.young_interval(write, mtbf),
            cp.daly_interval(write, mtbf),
            cp.optimal_interval(write, mtbf),
        )
        assert young > 0
        assert 0 < daly <= young
        assert 0 < exact <= mtbf
        for interval in (young, daly, exact, 1e-9, 1e12):
            assert 0 <= cp.renewal_efficiency(interval, write, 10.0, mtbf) < 1
            assert 0 < cp.efficiency(interval, write, 10.0, mtbf) < 1
        low, high = cp.equally_good_range(write, mtbf)
        assert 0 < low < exact < high
        for model in (cp.efficiency, cp.renewal_efficiency):
            assert 1 <= cp.grid_optimum(1.0, write, 10.0, mtbf, max_steps=50, model=model).steps <= 50


def test_without_faults_the_exact_model_loses_the_writes_alone():
    with strict():
        assert cp.renewal_efficiency(90.0, 10.0, 1000.0, 1e300) == pytest.approx(0.9, rel=ROUNDING)
        # The interval is no float's share of the MTBF any more: 0 / 0 unless it is thought of.
        assert cp.renewal_efficiency(9e-30, 1e-30, 0.0, 1e300) == pytest.approx(0.9, rel=ROUNDING)


LENGTHS = {"interval": 10.0, "write": 1.0, "restart": 0.0, "mtbf": 100.0}
GRID = {"step": 10.0, "write": 1.0, "restart": 0.0, "mtbf": 100.0, "max_steps": 5}
NOT_SCALAR = ([1.5, 2.5],)
REFUSALS = [
    *refusals(cp.efficiency, LENGTHS, interval=NOT_POSITIVE, write=NEGATIVE, restart=NEGATIVE, mtbf=NOT_POSITIVE),
    *refusals(
        cp.renewal_efficiency, LENGTHS, interval=NOT_POSITIVE, write=NEGATIVE, restart=NEGATIVE, mtbf=NOT_POSITIVE
    ),
    *refusals(cp.young_interval, {"write": 1.0, "mtbf": 9.0}, write=NEGATIVE, mtbf=NOT_POSITIVE),
    *refusals(cp.daly_interval, {"write": 1.0, "mtbf": 9.0}, write=NEGATIVE, mtbf=NOT_POSITIVE),
    *refusals(cp.optimal_interval, {"write": 1.0, "mtbf": 9.0}, write=NEGATIVE, mtbf=NOT_POSITIVE),
    *refusals(
        cp.grid_optimum,
        GRID,
        step=(*NOT_POSITIVE, *NOT_SCALAR),
        write=(*NEGATIVE, *NOT_SCALAR),
        restart=(*NEGATIVE, *NOT_SCALAR),
        mtbf=(*NOT_POSITIVE, *NOT_SCALAR),
        max_steps=(*NOT_COUNT, 2.5),
    ),
    *refusals(
        cp.equally_good_range,
        {"write": 1.0, "mtbf": 9.0, "tolerance": 0.1},
        write=(*NEGATIVE, 0.0),
        mtbf=NOT_POSITIVE,
        tolerance=NOT_INSIDE_UNIT,
    ),
    *refusals(
        cp.incremental_write,
        {"write": 1.0, "factor": 1.0},
        write=NEGATIVE,
        factor=(*NOT_FINITE, *NOT_NUMBERS, -3.25, 0.0, 1.75),
    ),
]


@pytest.mark.parametrize("function, good, name, values", REFUSALS)
def test_bad_input_is_named_and_repeated(function, good, name, values):
    assert_refused(function, good, name, values)


@pytest.mark.parametrize("function", [cp.efficiency, cp.renewal_efficiency])
@pytest.mark.parametrize("name", LENGTHS)
def test_one_bad_element_of_an_array_is_enough(function, name):
    assert_refused(function, LENGTHS, name, [[8.0, NAN], [INF, 8.0], [[8.0], [-3.25]]])


def test_shapes_that_do_not_fit_are_refused_by_name():
    with pytest.raises(ValueError, match=r"\b(interval|write)\b"):
        cp.efficiency([1.0, 2.0], [1.0, 2.0, 3.0], 1.0, 10.0)
    with pytest.raises(ValueError, match=r"\b(write|mtbf)\b"):
        cp.young_interval([1.0, 2.0], [1.0, 2.0, 3.0])
