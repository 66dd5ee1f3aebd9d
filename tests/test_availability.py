"""Availability: scaling laws, simulations, and the published anchors."""

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
    NOT_INSIDE_UNIT,
    NOT_POSITIVE,
    assert_mean,
    assert_refused,
    bisect,
    checkpointed_segment,
    maximise,
    modest,
    percent,
    poisson_at_most,
    poisson_exactly,
    refusals,
    strict,
)

from reliability import availability as av
from reliability import rates

pytestmark = pytest.mark.filterwarnings("error")

times = st.floats(1e-3, 1e9)
counts = st.integers(1, 10**7)
# Products and quotients of floats: a few roundings of 1.1e-16 each.
ROUNDING = 1e-14

NODE_MTBF_H = 7.9 * 1024


# --- job and node ---------------------------------------------------------------------------------


def test_a_job_of_one_node_fails_as_often_as_the_node():
    assert av.job_mtbf(123.5, 1) == 123.5
    assert av.node_mtbf(123.5, 1) == 123.5


@modest
@given(times, counts)
def test_calibration_and_prediction_are_inverse(mtbf, nodes):
    assert av.job_mtbf(av.node_mtbf(mtbf, nodes), nodes) == pytest.approx(mtbf, rel=ROUNDING)


@modest
@given(times, counts)
def test_twice_the_nodes_fail_twice_as_often(mtbf, nodes):
    assert av.job_mtbf(mtbf, 2 * nodes) == pytest.approx(av.job_mtbf(mtbf, nodes) / 2, rel=ROUNDING)


def test_job_mtbf_is_the_mean_of_the_first_of_many_exponential_failures():
    first = np.random.default_rng(1).exponential(500.0, (20_000, 32)).min(axis=1)
    assert_mean(first, av.job_mtbf(500.0, 32), resolution=0.01)


def test_kokolis_anchor_gives_the_published_node_and_comes_back():
    node = av.node_mtbf(7.9, 1024)
    assert f"{node:.1f}" == "8089.6"
    assert f"{av.job_mtbf(node, 1024):.2f}" == "7.90"


def test_llama3_anchor_gives_the_published_node_years():
    assert f"{av.node_mtbf(2.78, 16384) / 8760:.2f}" == "5.20"


@pytest.mark.parametrize("interruptions, hours", [(466, "2.781"), (419, "3.093")])
def test_llama3_interruption_interval_with_and_without_planned_stops(interruptions, hours):
    assert f"{av.interruption_interval(54 * 24, interruptions):.3f}" == hours


def test_interruption_interval_recovers_the_mean_of_simulated_gaps():
    gaps = np.random.default_rng(2).exponential(3.0, 40_000)
    interval = av.interruption_interval(float(gaps.sum()), gaps.size)
    assert interval == pytest.approx(gaps.mean(), rel=1e-12)  # one sum, taken in another order
    assert_mean(gaps, 3.0, resolution=0.01)


# --- availability ---------------------------------------------------------------------------------


def test_availability_at_its_limits():
    assert av.availability(5.0, 0.0) == 1.0
    assert av.availability(5.0, 5.0) == 0.5
    assert av.availability(1.0, 1e300) == pytest.approx(1e-300, rel=ROUNDING)


@modest
@given(times, times, st.floats(1e-6, 1e6))
def test_availability_has_no_unit_of_time(mtbf, mttr, unit):
    assert av.availability(mtbf * unit, mttr * unit) == pytest.approx(av.availability(mtbf, mttr), rel=ROUNDING)


@modest
@given(times, times)
def test_availability_counts_the_odds_of_up_and_down(mtbf, mttr):
    up = av.availability(mtbf, mttr)
    down = av.availability(mttr, mtbf)
    assert up + down == pytest.approx(1.0, rel=ROUNDING)
    assert up / down == pytest.approx(mtbf / mttr, rel=ROUNDING)


def test_availability_is_the_long_run_share_of_an_alternating_renewal_process():
    rng = np.random.default_rng(3)
    up = rng.exponential(7.9, 100_000)
    down = rng.uniform(0.0, 2.0, 100_000)  # any distribution of mean 1: only the mean counts
    formula = av.availability(7.9, 1.0)
    # up - A (up + down) has mean zero when A is the share; its spread gives the standard error.
    excess = up - formula * (up + down)
    standard_error = excess.std() / math.sqrt(excess.size) / (up + down).mean()
    assert standard_error < 5e-4
    assert abs(excess.mean() / (up + down).mean()) < 4 * standard_error


def test_scale_table_prints_the_published_rows():
    published = [
        ["128", "63.200", "98.44%", "99.87%"],
        ["1024", "7.900", "88.76%", "98.96%"],
        ["8192", "0.988", "49.69%", "92.22%"],
        ["16384", "0.494", "33.05%", "85.56%"],
        ["32768", "0.247", "19.80%", "74.76%"],
        ["131072", "0.062", "5.81%", "42.55%"],
    ]
    table = av.scale_table(NODE_MTBF_H, [int(row[0]) for row in published], [1.0, 5 / 60])
    printed = [
        [str(int(nodes)), f"{mtbf:.3f}", *(percent(share) for share in shares)]
        for nodes, mtbf, shares in zip(table.nodes, table.job_mtbf, table.availability, strict=True)
    ]
    assert printed == published


def test_scale_table_is_a_loop_over_rows_and_columns():
    nodes, mttrs = [1, 7, 300, 10**7], [0.0, 0.25, 40.0]
    table = av.scale_table(1000.0, nodes, mttrs)
    assert table.availability.shape == (4, 3)
    for i, n in enumerate(nodes):
        assert table.job_mtbf[i] == pytest.approx(1000.0 / n, rel=ROUNDING)
        for j, mttr in enumerate(mttrs):
            assert table.availability[i, j] == pytest.approx(1000.0 / (1000.0 + n * mttr), rel=ROUNDING)


def test_scale_table_is_frozen():
    table = av.scale_table(1000.0, [1, 2], [1.0])
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.nodes = np.array([3])


# --- the size at a level --------------------------------------------------------------------------


@modest
@given(times, times, st.floats(0.001, 0.999))
def test_at_the_size_of_a_level_the_availability_is_that_level(node_mtbf, mttr, level):
    size = av.size_at_availability(node_mtbf, mttr, level)
    assert node_mtbf / size / (node_mtbf / size + mttr) == pytest.approx(level, rel=1e-12)


def test_size_at_availability_agrees_with_a_root_search():
    root = bisect(lambda n: 0.7 - 8089.6 / (8089.6 + n * 1.5), 1, 1e7)
    assert av.size_at_availability(8089.6, 1.5, 0.7) == pytest.approx(root, rel=1e-13)


def test_half_the_time_is_lost_where_the_jobs_mtbf_equals_its_mttr():
    assert av.size_at_availability(8089.6, 1.0, 0.5) == pytest.approx(8089.6, rel=ROUNDING)


def test_the_published_deadline_of_cold_repair_lies_just_below_8192():
    assert 4096 < av.size_at_availability(NODE_MTBF_H, 1.0, 0.5) < 8192
    assert 65536 < av.size_at_availability(NODE_MTBF_H, 5 / 60, 0.5) < 131072


# --- rates per 1,000 node-days --------------------------------------------------------------------


@modest
@given(times, st.integers(1, 72))
def test_rate_and_gpu_mtbf_are_inverse(gpu_mtbf_h, gpus):
    rate = rates.failures_per_1000_node_days(gpu_mtbf_h, gpus)
    assert rates.gpu_mtbf_h(rate, gpus) == pytest.approx(gpu_mtbf_h, rel=ROUNDING)


@pytest.mark.parametrize(
    "gpu_mtbf_h, printed",
    [
        (7.9 * 1024, "23.7"),  # RSC-1, all interruptions of 1,024-GPU jobs
        (54 * 24 / 419 * 16384, "3.79"),  # Llama 3, unexpected interruptions
        (7 * 24 * 48 * 8, "2.98"),  # BLOOM-176B: one GPU a week on 48 nodes, "about 3.0"
    ],
)
def test_published_rates_per_1000_node_days(gpu_mtbf_h, printed):
    rate = rates.failures_per_1000_node_days(gpu_mtbf_h, 8)
    assert f"{rate:.{len(printed.split('.')[1])}f}" == printed


@pytest.mark.parametrize("gpus, hours", [(16384, "1.803"), (131072, "0.225")])
def test_kokolis_projection_from_the_rate_of_rsc1(gpus, hours):
    assert f"{av.job_mtbf(rates.gpu_mtbf_h(6.50, 8), gpus):.3f}" == hours


def test_rate_counts_the_failures_of_simulated_nodes():
    # 1,000 days of one node of four GPUs: 96,000 GPU-hours at one failure in 2,000.
    failures = np.random.default_rng(4).poisson(24.0 / 2000.0, (500, 1000, 4)).sum(axis=(1, 2))
    assert_mean(failures, rates.failures_per_1000_node_days(2000.0, 4), resolution=0.01)


# --- the interval a count leaves on a rate --------------------------------------------------------


@pytest.mark.parametrize(
    "events, low, high", [(1, "0.0253", "5.5716"), (10, "4.7954", "18.3904"), (419, "379.8359", "461.1059")]
)
def test_garwood_interval_has_its_published_values(events, low, high):
    # One and ten events: the standard table of exact limits (Garwood 1936). 419: Llama 3.
    interval = rates.poisson_rate_interval(events, 1.0)
    assert [f"{x:.4f}" for x in interval] == [low, high]


def test_no_events_leave_zero_below_and_the_log_of_the_tail_above():
    low, high = rates.poisson_rate_interval(0, 10.0, level=0.9)
    assert low == 0.0
    assert high == pytest.approx(-math.log(0.05) / 10.0, rel=1e-12)


@pytest.mark.parametrize("events", [1, 3, 20, 419])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_garwood_limits_leave_half_of_the_rest_in_each_tail(events, level):
    low, high = rates.poisson_rate_interval(events, 1.0, level=level)
    # The oracle's terms are exponentials of numbers of up to 4,000, and the lower tail is one less a sum of
    # them: 1e-12, and 1e-12 of one in a tail of 5e-4.
    assert 1 - poisson_at_most(events - 1, low) == pytest.approx((1 - level) / 2, rel=1e-8)
    assert poisson_at_most(events, high) == pytest.approx((1 - level) / 2, rel=1e-8)


@pytest.mark.parametrize("mean", [0.3, 2.0, 7.5])
def test_garwood_interval_covers_the_truth_at_least_as_often_as_it_says(mean):
    covered = 0.0
    for events in range(60):
        low, high = rates.poisson_rate_interval(events, 1.0, level=0.8)
        covered += poisson_exactly(events, mean) * (low <= mean <= high)
    # Conservative, but not without limit: each tail is short of a tenth by less than one term.
    assert 0.8 <= covered < 0.97


@modest
@given(st.integers(0, 10**6), times, st.floats(0.01, 0.99))
def test_rate_interval_scales_with_exposure_and_holds_the_estimate(events, exposure, level):
    low, high = rates.poisson_rate_interval(events, exposure, level=level)
    unit_low, unit_high = rates.poisson_rate_interval(events, 1.0, level=level)
    assert low == pytest.approx(unit_low / exposure, rel=ROUNDING)
    assert high == pytest.approx(unit_high / exposure, rel=ROUNDING)
    if level > 0.5:  # a narrow level may exclude the estimate of a small count
        assert low <= events / exposure <= high


# --- expected ETTR --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "gpus, rate, restart_min, interval_min, write_min, printed",
    [
        (16_000, 6.5e-3, 5, 5, 0, "0.932"),
        (16_000, 6.5e-3, 5, 60, 0, "0.684"),
        (12_000, 6.5e-3, 5, None, 10 / 60, "0.9205"),
        (12_000, 1e-3, 5, None, 5, "0.898"),
        (12_000, 6.5e-3, 5, None, 5, "0.740"),
        (100_000, 2.34e-3, 2, 2, 0, "0.939"),
        (100_000, 2.34e-3, 3.28, 3.28, 0, "0.900"),
    ],
)
def test_kokolis_cases(gpus, rate, restart_min, interval_min, write_min, printed):
    mtbf_min = 24 * 60 / (gpus / 8 * rate)
    if interval_min is None:
        interval_min = math.sqrt(2 * write_min * mtbf_min)
    ettr = av.expected_ettr(mtbf_min, restart_min, interval_min, write_min)
    assert f"{ettr:.{len(printed) - 2}f}" == printed


def test_expected_ettr_without_writes_is_the_simple_one():
    assert av.expected_ettr(100.0, 3.0, 10.0) == pytest.approx(1 - (3 + 5) / 100, rel=ROUNDING)
    assert av.expected_ettr(100.0, 3.0, 10.0, 0.0) == av.expected_ettr(100.0, 3.0, 10.0)


def test_expected_ettr_never_falls_below_zero():
    with strict():
        assert av.expected_ettr(1e-6, 300.0, 60.0, 10.0) == 0.0
        assert av.expected_ettr(8.0, 3.0, 10.0) == 0.0
        assert av.expected_ettr(8.01, 3.0, 10.0) == pytest.approx(0.01 / 8.01, rel=1e-12)


@modest
@given(times, st.floats(0, 1e6), times, st.floats(0, 1e6), st.floats(1e-3, 1e3))
def test_expected_ettr_has_no_unit_of_time_and_is_a_share(mtbf, restart, interval, write, unit):
    ettr = av.expected_ettr(mtbf, restart, interval, write)
    scaled = av.expected_ettr(mtbf * unit, restart * unit, interval * unit, write * unit)
    assert 0 <= ettr <= 1
    # 1 - loss cancels near zero: a rounding of the loss, which is near 1 there.
    assert scaled == pytest.approx(ettr, rel=ROUNDING, abs=ROUNDING)


def test_expected_ettr_keeps_the_books_of_a_simulated_year():
    # Faults by the wall clock, each costing a restart and a uniform part of an interval; what is
    # left is divided between work and writes.
    rng = np.random.default_rng(5)
    mtbf, restart, interval, write = 400.0, 6.0, 30.0, 2.0
    horizon = 100_000.0
    shares = []
    for faults in rng.poisson(horizon / mtbf, 2000):
        lost = (restart + interval * rng.random(faults)).sum()
        shares.append((horizon - lost) / horizon * interval / (interval + write))
    assert_mean(shares, av.expected_ettr(mtbf, restart, interval, write), resolution=0.001)


def test_expected_ettr_is_within_the_stated_five_percent_of_an_event_simulation():
    # The claim of its authors, up to 8,000 GPUs, at RSC-1's rate and a restart of 5 minutes.
    rng = np.random.default_rng(6)
    mtbf = 24 * 60 / (8000 / 8 * 6.5e-3)
    walls = [checkpointed_segment(rng, 30.0, 1.0, 5.0, mtbf) for _ in range(20_000)]
    simulated = 30.0 / np.mean(walls)
    assert abs(av.expected_ettr(mtbf, 5.0, 30.0, 1.0) / simulated - 1) < 0.05


def test_expected_ettr_is_greatest_where_its_derivative_vanishes():
    # d/dt: t^2 + 2 w t - 2 w (M - u) = 0, solved by hand; Kokolis' sqrt(2wM) is its first order.
    mtbf, restart, write = 700.0, 20.0, 6.0
    found = maximise(lambda t: av.expected_ettr(mtbf, restart, t, write), 1, 600)
    by_hand = -write + math.sqrt(write**2 + 2 * write * (mtbf - restart))
    assert found == pytest.approx(by_hand, rel=1e-6)  # a flat maximum is known to about sqrt(1e-16)


# --- shapes, scales, bad input --------------------------------------------------------------------


def test_scalars_come_back_as_scalars_and_arrays_broadcast():
    assert isinstance(av.availability(7.9, 1.0), float)
    assert isinstance(av.job_mtbf(8089.6, 1024), float)
    assert isinstance(av.expected_ettr(8.0, 0.1, 1.0, 0.1), float)
    grid = av.availability(np.array([[1.0], [3.0]]), np.array([1.0, 3.0, 9.0]))
    np.testing.assert_allclose(grid, [[0.5, 0.25, 0.1], [0.75, 0.5, 0.25]], rtol=ROUNDING)
    np.testing.assert_allclose(av.job_mtbf(100.0, [1, 2, 4]), [100, 50, 25], rtol=ROUNDING)
    np.testing.assert_allclose(av.expected_ettr([100.0, 200.0], 3.0, 10.0), [0.92, 0.96], rtol=ROUNDING)


def test_integers_of_any_size_are_not_divided_as_integers():
    assert av.job_mtbf(np.int32(7), np.int32(2)) == 3.5
    # 2 to the 17 nodes times 2 to the 15 hours do not fit 32 bits.
    assert av.node_mtbf(np.int32(2**15), np.int32(2**17)) == 2**32


def test_inputs_are_left_as_they_were():
    nodes, mttrs = np.array([1, 2, 3]), np.array([1.0, 2.0])
    av.scale_table(10.0, nodes, mttrs)
    assert nodes.tolist() == [1, 2, 3]
    assert mttrs.tolist() == [1.0, 2.0]


def test_extreme_scales_neither_warn_nor_leave_the_range():
    with strict():
        for mtbf in (1e-300, 1e-12, 1.0, 1e12, 1e300):
            for nodes in (1, 10**7):
                job = av.job_mtbf(mtbf, nodes)
                assert job > 0
                assert 0 <= av.availability(job, 1.0) <= 1
                assert 0 <= av.expected_ettr(job, 1.0, 1.0, 1.0) <= 1
        low, high = rates.poisson_rate_interval(10**7, 1e9)
        assert 0 < low < 0.01 < high < 0.0101


GOOD = {
    "job_mtbf": {"node_mtbf": 8000.0, "nodes": 8},
    "node_mtbf": {"job_mtbf": 7.9, "nodes": 8},
    "interruption_interval": {"elapsed": 100.0, "interruptions": 7},
    "availability": {"mtbf": 8.0, "mttr": 0.0},
    "size_at_availability": {"node_mtbf": 8000.0, "mttr": 1.5, "level": 0.5},
    "scale_table": {"node_mtbf": 8000.0, "nodes": [1, 2], "mttrs": [0.0, 1.0]},
    "failures_per_1000_node_days": {"gpu_mtbf_h": 8000.0, "gpus_per_node": 8},
    "gpu_mtbf_h": {"rate_per_1000_node_days": 6.5, "gpus_per_node": 8},
    "poisson_rate_interval": {"events": 0, "exposure": 2.5, "level": 0.9},
    "expected_ettr": {"mtbf": 8.0, "restart": 0.0, "interval": 1.5, "write": 0.0},
}
REFUSALS = [
    *refusals(av.job_mtbf, GOOD["job_mtbf"], node_mtbf=NOT_POSITIVE, nodes=NOT_COUNT),
    *refusals(av.node_mtbf, GOOD["node_mtbf"], job_mtbf=NOT_POSITIVE, nodes=NOT_COUNT),
    *refusals(av.interruption_interval, GOOD["interruption_interval"], elapsed=NOT_POSITIVE, interruptions=NOT_COUNT),
    *refusals(av.availability, GOOD["availability"], mtbf=NOT_POSITIVE, mttr=NEGATIVE),
    *refusals(
        av.size_at_availability,
        GOOD["size_at_availability"],
        node_mtbf=NOT_POSITIVE,
        mttr=NOT_POSITIVE,
        level=NOT_INSIDE_UNIT,
    ),
    *refusals(
        av.scale_table,
        GOOD["scale_table"],
        node_mtbf=NOT_POSITIVE,
        nodes=([], [4, -3], [4, 0], [4, NAN]),
        mttrs=([], [1.0, -3.25], [1.0, NAN], [1.0, INF]),
    ),
    *refusals(
        rates.failures_per_1000_node_days,
        GOOD["failures_per_1000_node_days"],
        gpu_mtbf_h=NOT_POSITIVE,
        gpus_per_node=NOT_COUNT,
    ),
    *refusals(rates.gpu_mtbf_h, GOOD["gpu_mtbf_h"], rate_per_1000_node_days=NOT_POSITIVE, gpus_per_node=NOT_COUNT),
    *refusals(
        rates.poisson_rate_interval,
        GOOD["poisson_rate_interval"],
        events=(NAN, INF, -3, "seven", None, []),
        exposure=NOT_POSITIVE,
        level=NOT_INSIDE_UNIT,
    ),
    *refusals(
        av.expected_ettr,
        GOOD["expected_ettr"],
        mtbf=NOT_POSITIVE,
        restart=NEGATIVE,
        interval=NOT_POSITIVE,
        write=NEGATIVE,
    ),
]


@pytest.mark.parametrize("function, good, name, values", REFUSALS)
def test_bad_input_is_named_and_repeated(function, good, name, values):
    assert_refused(function, good, name, values)


def test_one_bad_element_of_an_array_is_enough():
    bad = [[8.0, NAN], [8.0, -3.25], [[8.0], [0.0]]]
    assert_refused(av.availability, {"mtbf": [1.0, 2.0], "mttr": 1.0}, "mtbf", bad)
    assert_refused(av.expected_ettr, {"mtbf": 8.0, "restart": 0.1, "interval": 1.0}, "interval", bad)


def test_a_bad_element_is_shown_wherever_it_hides_in_a_long_array():
    for place in (0, 50, 99):
        long = np.ones(100)
        long[place] = -3.25
        with pytest.raises(ValueError, match=r"\bmtbf\b") as caught:
            av.availability(long, 1.0)
        caught.match(r"-3\.25")


@pytest.mark.parametrize("name", ["nodes", "mttrs"])
def test_a_scale_table_wants_lists_and_no_tables(name):
    with pytest.raises(ValueError, match=rf"\b{name}\b") as caught:
        av.scale_table(**{**GOOD["scale_table"], name: [[4.0, 5.0]]})
    caught.match(r"\(1, 2\)")  # the shape that it has


def test_shapes_that_do_not_fit_are_refused_by_name():
    with pytest.raises(ValueError, match=r"\b(mtbf|mttr)\b"):
        av.availability([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"\b(node_mtbf|nodes)\b"):
        av.job_mtbf([1.0, 2.0], [1, 2, 3])
