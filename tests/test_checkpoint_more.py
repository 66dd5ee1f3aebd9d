"""What an interval costs beyond first order, chains of increments, and the numbers that the checkpoint page shows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import (
    NAN,
    NEGATIVE,
    NOT_FINITE,
    NOT_NUMBERS,
    NOT_POSITIVE,
    assert_mean,
    assert_refused,
    checkpointed_segment,
    modest,
    percent,
    refusals,
    strict,
)

from reliability import checkpoint as cp
from reliability import intervals, published, scenarios

pytestmark = pytest.mark.filterwarnings("error")

STEP, WRITE, INCREMENT, RESTART, MTBF = 30.0, 240.0, 72.0, 6.47 * 60, 7.9 * 3600
LOAD = 1.56 * 60
times = st.floats(1.0, 1e4)
units = st.floats(1e-3, 1e3)


# --- how far first order is off -------------------------------------------------------------------


@pytest.mark.parametrize(
    "write, first, exact, excess", [(WRITE, "87.45%", "86.37%", "1.25%"), (INCREMENT, "92.18%", "91.79%", "0.43%")]
)
def test_the_published_promise_and_what_is_kept(write, first, exact, excess):
    young = cp.young_interval(write, MTBF)
    assert percent(cp.efficiency(young, write, RESTART, MTBF)) == first
    assert percent(cp.renewal_efficiency(young, write, RESTART, MTBF)) == exact
    assert percent(intervals.first_order_excess(write, RESTART, MTBF)) == excess


@modest
@given(times, st.floats(0, 1e4), st.floats(10, 1e6))
def test_the_excess_is_the_ratio_of_the_two_models_at_youngs_interval(write, restart, mtbf):
    young = cp.young_interval(write, mtbf)
    exact = cp.renewal_efficiency(young, write, restart, mtbf)
    if exact > 1e-200:
        ratio = cp.efficiency(young, write, restart, mtbf) / exact - 1
        assert intervals.first_order_excess(write, restart, mtbf) == pytest.approx(ratio, rel=1e-9, abs=1e-12)


def test_the_excess_follows_its_expansion_where_failures_are_rare():
    for mtbf in (1e8, 1e10):
        c, r = WRITE / mtbf, RESTART / mtbf
        leading = 4 / 3 * c + r * math.sqrt(2 * c) + r * r / 2
        # The next order is sqrt(c) as large; logarithms near 0 leave a few 1e-16.
        excess = intervals.first_order_excess(WRITE, RESTART, mtbf)
        assert excess == pytest.approx(leading, rel=3 * math.sqrt(2 * c), abs=1e-15)


def test_youngs_loss_follows_its_expansion_and_is_never_below_nothing():
    for c in (1e-3, 1e-4, 1e-5):
        u = math.sqrt(2 * c)
        # The efficiency bends by 1/u at its top, and Young lies u^2/3 beside it.
        assert intervals.young_loss(c, 1.0) == pytest.approx(u**3 / 18, rel=u)
    assert intervals.young_loss(1e-9, 1e9) == 0.0


@modest
@given(times, st.floats(1, 1e6))
def test_youngs_loss_is_what_the_two_intervals_keep(write, mtbf):
    kept = [
        cp.renewal_efficiency(t, write, 0.0, mtbf)
        for t in (cp.young_interval(write, mtbf), cp.optimal_interval(write, mtbf))
    ]
    if kept[1] > 1e-200:
        assert intervals.young_loss(write, mtbf) == pytest.approx(1 - kept[0] / kept[1], rel=1e-9, abs=1e-12)


@modest
@given(times, times, times, units)
def test_errors_have_no_unit_of_time(write, restart, mtbf, unit):
    excess = intervals.first_order_excess(write, restart, mtbf)
    if excess < 1e100:
        scaled = intervals.first_order_excess(write * unit, restart * unit, mtbf * unit)
        assert scaled == pytest.approx(excess, rel=1e-9)
    assert intervals.young_loss(write * unit, mtbf * unit) == pytest.approx(
        intervals.young_loss(write, mtbf), rel=1e-9, abs=1e-14
    )


def test_both_errors_grow_as_the_mtbf_falls_and_the_promise_is_the_worse_one():
    mtbfs = np.geomspace(1e7, 100.0, 200)
    excess, loss = intervals.first_order_excess(WRITE, RESTART, mtbfs), intervals.young_loss(WRITE, mtbfs)
    assert (np.diff(excess) > 0).all()
    assert (np.diff(loss) > 0).all()
    assert (excess > loss).all()


def test_errors_stay_finite_or_infinite_but_never_warn():
    with strict():
        assert intervals.first_order_excess(1e5, 1e5, 1.0) == math.inf
        assert intervals.young_loss(1e5, 1.0) == 1.0


# --- increments -----------------------------------------------------------------------------------


def test_break_even_restart_brings_the_shorter_write_down_to_the_longer_one():
    longer = intervals.break_even_restart(WRITE, INCREMENT, MTBF)
    full = cp.renewal_efficiency(cp.optimal_interval(WRITE, MTBF), WRITE, RESTART, MTBF)
    short = cp.renewal_efficiency(cp.optimal_interval(INCREMENT, MTBF), INCREMENT, RESTART + longer, MTBF)
    assert short == pytest.approx(full, rel=1e-12)
    assert intervals.break_even_restart(INCREMENT, WRITE, MTBF) == pytest.approx(-longer, rel=1e-12)
    assert intervals.break_even_restart(WRITE, WRITE, MTBF) == 0.0


def test_a_chain_without_increments_is_the_exact_model():
    chain = intervals.chain_efficiency(3540.0, WRITE, RESTART, MTBF, increments=0, factor=0.3, load=LOAD)
    assert chain == pytest.approx(cp.renewal_efficiency(3540.0, WRITE, RESTART, MTBF), rel=1e-13)


def test_a_chain_of_increments_as_large_as_full_ones_that_load_at_once_is_the_exact_model():
    chain = intervals.chain_efficiency(3540.0, WRITE, RESTART, MTBF, increments=7, factor=1.0, load=0.0)
    assert chain == pytest.approx(cp.renewal_efficiency(3540.0, WRITE, RESTART, MTBF), rel=1e-13)


def test_an_endless_chain_that_loads_at_once_is_the_incremental_checkpoint_of_the_publication():
    chain = intervals.chain_efficiency(1980.0, WRITE, RESTART, MTBF, increments=100_000, factor=0.3, load=0.0)
    assert chain == pytest.approx(cp.renewal_efficiency(1980.0, INCREMENT, RESTART, MTBF), rel=1e-6)


def test_a_chain_is_what_an_event_simulation_reaches():
    rng = np.random.default_rng(3)
    interval, write, restart, mtbf, increments, factor, load = 120.0, 40.0, 30.0, 300.0, 3, 0.25, 80.0
    walls = []
    for _ in range(12_000):
        walls.append(0.0)
        for behind in range(increments + 1):
            cost = write if behind == increments else factor * write
            walls[-1] += checkpointed_segment(rng, interval, cost, restart + behind * factor * load, mtbf)
    expected = (
        (increments + 1)
        * interval
        / intervals.chain_efficiency(interval, write, restart, mtbf, increments, factor, load)
    )
    assert_mean(walls, expected, resolution=0.012)


def test_a_chain_broadcasts_over_intervals_and_survives_hopeless_ones():
    spans = np.array([600.0, 1200.0])
    together = intervals.chain_efficiency(spans, WRITE, RESTART, MTBF, 3, 0.3, LOAD)
    assert together.tolist() == [
        intervals.chain_efficiency(t, WRITE, RESTART, MTBF, 3, 0.3, LOAD) for t in spans.tolist()
    ]
    with strict():
        assert intervals.chain_efficiency(1e9, WRITE, RESTART, 1.0, 3, 0.3, LOAD) == 0.0


CHAIN = {"interval": 9.0, "write": 1.0, "restart": 2.0, "mtbf": 99.0, "increments": 3, "factor": 0.5, "load": 1.0}
REFUSALS = [
    *refusals(
        intervals.first_order_excess,
        {"write": 1.0, "restart": 2.0, "mtbf": 9.0},
        write=(*NEGATIVE, 0.0),
        restart=NEGATIVE,
        mtbf=NOT_POSITIVE,
    ),
    *refusals(intervals.young_loss, {"write": 1.0, "mtbf": 9.0}, write=(*NEGATIVE, 0.0), mtbf=NOT_POSITIVE),
    *refusals(
        intervals.chain_efficiency,
        CHAIN,
        interval=NOT_POSITIVE,
        write=NOT_POSITIVE,
        restart=NEGATIVE,
        mtbf=NOT_POSITIVE,
        increments=(*NOT_FINITE, *NOT_NUMBERS, -3, 2.5),
        factor=(*NOT_FINITE, *NOT_NUMBERS, -3.25, 0.0, 1.75),
        load=NEGATIVE,
    ),
]


@pytest.mark.parametrize("function, good, name, values", REFUSALS)
def test_bad_input_is_named_and_repeated(function, good, name, values):
    assert_refused(function, good, name, values)


def test_bad_writes_of_the_break_even_are_refused():
    for name, bad in (("write", NAN), ("shorter", -3.25), ("mtbf", 0.0)):
        with pytest.raises(ValueError, match=rf"^{name} = {bad}: must be"):
            intervals.break_even_restart(**({"write": 2.0, "shorter": 1.0, "mtbf": 9.0} | {name: bad}))
    with pytest.raises(ValueError, match=r"write \(2,\), shorter \(3,\)"):
        intervals.break_even_restart([1.0, 2.0], [1.0, 2.0, 3.0], 9.0)


# --- what the page says of the publication --------------------------------------------------------


def texts(**changes):
    parameters = scenarios.inputs("checkpoint", published.inputs("checkpoint")).model_copy(update=changes)
    return scenarios.scenario("checkpoint").compute(parameters).texts


def test_a_restart_of_388_seconds_misses_three_published_figures_and_which():
    missed = published.mismatches("checkpoint", texts(restart_min=388 / 60))
    assert {figure.name: (figure.text, text) for figure, text in missed} == {
        "curve.300.full": ("83.43%", "83.44%"),
        "curve.300.incremental": ("84.75%", "84.76%"),
        "curve.1500.full": ("55.24%", "55.25%"),
    }


def test_5000_steps_with_their_checkpoint_are_the_round_interval_behind_no_checkpoint():
    steps = np.arange(4000, 6000)
    printed = {
        write: [percent(share) for share in cp.efficiency(steps * STEP, write, RESTART, MTBF)] for write in (WRITE, 0.0)
    }
    alike = {
        write: [int(n) for n, text in zip(steps, column, strict=True) if text == "27.38%"]
        for write, column in printed.items()
    }
    assert alike == {WRITE: [4999, 5000, 5001], 0.0: [5002, 5003, 5004]}
    assert percent(cp.renewal_efficiency(5000 * STEP, WRITE, RESTART, MTBF)) == "2.66%"


@pytest.mark.parametrize("factor, steps", [(1.0, (89, 156)), (0.3, (46, 95))])
def test_whole_steps_as_good_as_the_best_to_half_a_percent(factor, steps):
    kept = cp.renewal_efficiency(np.arange(1, 1000) * STEP, WRITE * factor, RESTART, MTBF)
    good = np.flatnonzero(kept >= (1 - 0.005) * kept.max()) + 1
    assert (good[0], good[-1]) == steps


@pytest.mark.parametrize("write, promise_h, young_min", [(WRITE, "9.76", "23.8"), (INCREMENT, "3.73", "7.1")])
def test_where_first_order_is_off_by_more_than_one_percent(write, promise_h, young_min):
    mtbfs = np.geomspace(60.0, 1e5, 200_001)
    excess, loss = intervals.first_order_excess(write, RESTART, mtbfs), intervals.young_loss(write, mtbfs)
    assert f"{mtbfs[excess > 0.01][-1] / 3600:.2f}" == promise_h
    assert f"{mtbfs[loss > 0.01][-1] / 60:.1f}" == young_min
