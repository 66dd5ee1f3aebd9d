"""Who pays what: node-hours by hand, the part of a repair inside a horizon, the cost of useful work."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import assert_mean

from reliability import fleet, fleet_config, fleet_cost
from reliability.budget import BINS
from reliability.fleet_cost import Terms
from reliability.fleet_result import FleetResult

pytestmark = pytest.mark.filterwarnings("error")


def run(hours=(100.0, 100.0), useful=(80.0, 50.0), repaired=(3, 0), retired=(1, 0)):
    """A result of two replications."""
    bins = {name: np.zeros(2) for name in BINS} | {"useful": 3600 * np.array(useful)}
    counts = {"nodes_repaired": np.array(repaired, float), "nodes_retired": np.array(retired, float)}
    return FleetResult(3600 * np.array(hours), bins, counts)


def test_repairs_of_no_time_cost_nothing_and_endless_ones_half_the_horizon():
    assert fleet_cost.repair_within(0.0, 720.0) == 0
    assert fleet_cost.repair_within(1e-3, 720.0) == pytest.approx(1e-3, rel=1e-5)
    assert fleet_cost.repair_within(1e15, 720.0) == pytest.approx(360.0, rel=1e-9)


@settings(derandomize=True, deadline=None)
@given(st.floats(1e-6, 1e12), st.floats(1e-3, 1e6), st.floats(1e-3, 1e3))
def test_the_part_inside_scales_with_all_times_and_never_exceeds_either(mean, horizon, scale):
    inside = fleet_cost.repair_within(mean, horizon)
    assert 0 < inside <= min(mean, horizon / 2) * (1 + 1e-9)
    assert fleet_cost.repair_within(scale * mean, scale * horizon) == pytest.approx(scale * inside, rel=1e-6)


def test_the_part_inside_is_what_drawn_repairs_have():
    rng = np.random.default_rng(3)
    start, length = 100 * rng.random(200_000), rng.exponential(40.0, 200_000)
    assert_mean(np.minimum(length, 100 - start), fleet_cost.repair_within(40.0, 100.0), 0.2)


def test_the_jump_to_the_series_of_long_repairs_is_smooth():
    below, above = fleet_cost.repair_within(np.array([0.999e4, 1.001e4]), 1.0)
    assert abs(below - above) < 1e-6


def test_one_s_own_nodes_are_paid_all_the_time():
    own = fleet_cost.held_hours(run(), 12, 10.0, Terms())
    assert own == pytest.approx([1200.0, 1200.0])
    let = fleet_cost.held_hours(run(), 12, 10.0, Terms(in_repair=0.25, retired_h=7.0))
    away = 2 * fleet_cost.repair_within(10.0, 100.0)  # the retired one is in no repair
    assert let == pytest.approx([1200 - 0.75 * away + 7, 1200.0])


def test_a_borrowed_node_is_paid_through_the_failed_one_and_what_the_other_work_lost():
    paid = fleet_cost.borrowed_hours(run(), 10, 10.0, Terms(in_repair=0.5, preempted_h=4.0, retired_h=7.0))
    away = 2 * fleet_cost.repair_within(10.0, 100.0)
    assert paid == pytest.approx([1000 + 0.5 * away + 3 * 4 + 7, 1000.0])


def test_useful_share_prices_idle_standbys_in_as_reliability_economics_does():
    share = fleet_cost.useful_share(run(), 10, fleet_cost.held_hours(run(), 12, 10.0, Terms()))
    assert share == pytest.approx(np.array([0.8, 0.5]) * 10 / 12)
    assert fleet_cost.cost_of_useful_hour(2.0, share) == pytest.approx([3.0, 4.8])
    assert fleet_cost.cost_of_useful_hour(2.0, 0.0) == np.inf


def test_hours_in_repair_are_those_of_a_simulated_fleet():
    """A job with a standby for each node never waits: its nodes away are those of a pool without limit."""
    rate, repair_h, horizon_h = 0.05, 30.0, 200.0
    settings = {
        "job_nodes": 100,
        "warm_standbys": 100,
        "horizon_h": horizon_h,
        "failures": {"rate_per_node_day": rate, "clock": "always"},
        "repair": {"automatic_s": 3600 * repair_h},
        "recovery": {"restart_s": 0.0},
    }
    result = fleet.simulate(fleet_config.build(settings), np.random.default_rng(1), 200)
    mean_away = 100 * rate / 24 * repair_h * (1 - repair_h / horizon_h * -np.expm1(-horizon_h / repair_h))
    assert_mean(fleet_cost.hours_in_repair(result, repair_h), mean_away * horizon_h, 25.0)


@pytest.mark.parametrize("field", ["in_repair", "preempted_h", "retired_h"])
@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf])
def test_impossible_terms_are_refused(field, value):
    with pytest.raises(ValueError, match=field):
        Terms(**{field: value})


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: Terms(in_repair=1.1), "in_repair"),
        (lambda: fleet_cost.repair_within(-1.0, 1.0), "mean_h"),
        (lambda: fleet_cost.repair_within(1.0, 0.0), "horizon_h"),
        (lambda: fleet_cost.held_hours(run(), 0, 1.0, Terms()), "nodes"),
        (lambda: fleet_cost.borrowed_hours(run(), 1.5, 1.0, Terms()), "nodes"),
        (lambda: fleet_cost.useful_share(run(), 1, np.zeros(2)), "paid_hours"),
        (lambda: fleet_cost.cost_of_useful_hour(-1.0, 0.5), "price"),
        (lambda: fleet_cost.cost_of_useful_hour(1.0, 1.5), "share"),
    ],
)
def test_bad_input_is_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()
