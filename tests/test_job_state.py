"""A drawn job: its ETTR and where its time goes, against an event-by-event simulation and the chapter's models."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_simulation import simulate

from reliability import checkpoint, job_state, renewal

BASE = {
    "mtbf": 10_000.0,
    "interval": 1500.0,
    "write": 120.0,
    "shares": [0.7, 0.3],
    "on_node": [True, False],
    "detection": [60.0, 300.0],
    "cold": 900.0,
    "swap": 120.0,
    "replacement": 1800.0,
    "standbys": 2,
    "repair": 20_000.0,
    "waits": False,
}


def state(draws=1, **changes):
    """The state that a simulation's keywords describe."""
    p = BASE | changes
    full = np.full(draws, 1.0)
    return job_state.State(
        nodes=100, rate=full * 3600 / p["mtbf"] / 100, shares=np.tile(p["shares"], (draws, 1)), on_node=np.array(p["on_node"]),
        detection=np.tile(p["detection"], (draws, 1)), cold=full * p["cold"], swap=full * p["swap"], replacement=full * p["replacement"],
        repair_h=full * p["repair"] / 3600, standbys=p["standbys"], waits=p["waits"], write=full * p["write"], drag=full * 0.0, interval=p["interval"],
    )  # fmt: skip


CASES = {
    "standbys, else from elsewhere": {},
    "no standbys": {"standbys": 0},
    "waits for a repair": {"waits": True, "standbys": 1, "repair": 15_000.0},
    "waits without standbys": {"waits": True, "standbys": 0, "repair": 4_000.0},
    "failures during long recoveries": {"cold": 6_000.0, "swap": 2_000.0, "standbys": 6},
    "long writes": {"interval": 3000.0, "write": 2000.0},
    "one class": {"shares": [1.0, 0.0], "standbys": 50},
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_what_a_simulation_of_events_gives(name):
    case = BASE | CASES[name]
    rng = np.random.default_rng(11)
    runs = [simulate(rng, 8e6, **case) for _ in range(12)]
    s = state(**CASES[name])
    budget = s.budget()
    for part in runs[0][0]:
        drawn = np.array([run[0][part] for run in runs])
        error = drawn.std(ddof=1) / np.sqrt(len(runs))
        # The chance that standbys are left is drawn anew for each failure, which is off by less than a thousandth here.
        assert abs(drawn.mean() - getattr(budget, part)[0]) < 4 * error + 1e-3, (name, part)
    none = np.array([run[1] for run in runs])
    assert abs(none.mean() - s.chance_none_left()[0]) < 4 * none.std(ddof=1) / np.sqrt(len(runs)) + 0.01
    assert s.ettr()[0] == pytest.approx(budget.useful[0], rel=1e-12)


@pytest.mark.parametrize(
    "case", [{}, {"interval": 4000.0, "cold": 100.0, "swap": 50.0, "detection": [5.0, 5.0], "mtbf": 40_000.0}]
)
def test_the_spread_of_one_run_is_that_of_simulated_runs(case):
    rng = np.random.default_rng(5)
    kept = [simulate(rng, 1e6, **(BASE | case))[0]["useful"] for _ in range(300)]
    assert state(**case).spread(1e6)[0] == pytest.approx(np.std(kept), rel=0.2)


def test_with_one_kind_it_is_the_checkpoint_pages_model():
    s = state(shares=[0.0, 1.0])
    assert s.ettr()[0] == pytest.approx(checkpoint.renewal_efficiency(1500.0, 120.0, 1200.0, 10_000.0), rel=1e-12)


positive = st.floats(1e-3, 1e6)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(positive, positive, positive, positive, st.floats(0, 1), st.floats(0, 3), st.booleans(), st.integers(0, 5))
def test_the_shares_add_up_to_one(mtbf, interval, write, cold, share, drag, waits, standbys):
    s = state(
        mtbf=mtbf, interval=interval, write=write, cold=cold, shares=[share, 1 - share], waits=waits, standbys=standbys
    )
    s = replace(s, drag=np.array([drag]))
    budget = s.budget()
    parts = budget.parts()
    assert all(0 <= value <= 1 + 1e-12 for value in parts.values())
    assert sum(parts.values()) == pytest.approx(1.0, abs=1e-9)
    lost = budget.redone * (1 + drag) + budget.detection + budget.restart + budget.waiting
    assert s.lost_by_class().sum() == pytest.approx(float(lost[0]), abs=1e-9)
    assert s.ettr()[0] == pytest.approx(budget.useful[0], rel=1e-9, abs=1e-300)


@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.floats(1e-3, 1e3))
def test_all_times_scaled_leave_every_share(factor):
    times = ("mtbf", "interval", "write", "cold", "swap", "replacement", "repair")
    scaled = {name: BASE[name] * factor for name in times} | {"detection": [d * factor for d in BASE["detection"]]}
    assert state(**scaled).ettr()[0] == pytest.approx(state().ettr()[0], rel=1e-9)


def test_the_best_interval_of_certain_inputs_is_the_exact_optimum():
    s = state()
    assert job_state.best_interval(s) == pytest.approx(checkpoint.optimal_interval(120.0, 10_000.0), rel=1e-3)
    low, high = checkpoint.equally_good_range(120.0, 10_000.0)
    assert job_state.good_intervals(s) == pytest.approx((low, high), rel=5e-3)


def test_the_best_interval_of_uncertain_inputs_beats_those_beside_it():
    rng = np.random.default_rng(3)
    s = replace(state(draws=400), rate=0.0036 * np.exp(rng.normal(size=400)), write=120 * np.exp(rng.normal(size=400)))
    best = job_state.best_interval(s)
    means = [s.ettr(best * f).mean() for f in (0.8, 1.0, 1.25)]
    assert means[1] == max(means)
    low, high = job_state.good_intervals(s)
    assert low < best < high
    for end in (low, high):
        assert s.ettr(end).mean() / means[1] == pytest.approx(0.995, abs=1e-4)


@pytest.mark.parametrize("waits", [False, True])
def test_pools_are_what_each_state_says(waits):
    s = replace(state(draws=5, waits=waits), repair_h=np.linspace(1.0, 9.0, 5))
    found = job_state.pools(s, shortage=0.01)
    for k in (0, 1, 3):
        one = replace(s, standbys=k)
        assert found.none_left[k] == pytest.approx(one.chance_none_left().mean())
        assert found.ettr[k] == pytest.approx(one.ettr().mean())
        assert found.per_paid[k] == pytest.approx(one.ettr().mean() / (1 + k / 100))
    assert s.chance_none_left(found.enough).mean() <= 0.01 < s.chance_none_left(found.enough - 1).mean()
    assert (np.diff(found.none_left) <= 0).all()
    assert job_state.pools(s).best == found.best and job_state.pools(s).enough is None


def test_a_pool_for_very_many_failures_is_found_soon():
    s = replace(state(draws=500), repair_h=np.geomspace(1.0, 1e6, 500))
    assert job_state.pools(s).best < 100  # more standbys than nodes never pay
    assert job_state.pools(replace(s, waits=True), shortage=0.01).enough is None
    # Placed anew, the standbys are there again: however many fail, 2 / (k + 1)(k + 2) is the most.
    assert 5 < job_state.pools(s, shortage=0.01).enough <= 13


def test_without_a_swap_or_a_repair_no_pool_is_tried():
    assert job_state.pools(replace(state(), swap=None)) is None
    unknown = replace(state(), repair_h=None)
    assert job_state.pools(unknown) is None
    assert unknown.chance_none_left()[0] == 0.0 and unknown.load is None and unknown.waiting()[0] == 0.0


def test_a_rate_of_nothing_keeps_all_but_the_writes():
    s = replace(state(), rate=np.array([0.0]))
    assert s.ettr()[0] == pytest.approx(1500 / 1620, rel=1e-6)
    assert np.isfinite(job_state.best_interval(s))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"interval": 0.0}, "interval"),
        ({"write": -1.0}, "write"),
        ({"shares": np.array([0.5, 0.6])}, "shares"),
        ({"detection": np.array([-1.0, 0.0])}, "detection"),
        ({"restart": np.array([np.nan, 0.0])}, "restart"),
        ({"mtbf": 0.0}, "mtbf"),
        ({"drag": -0.1}, "drag"),
        ({"waiting": 1.5}, "waiting"),
    ],
)
def test_bad_input_is_named(changes, named):
    good = {
        "interval": 1.0,
        "write": 1.0,
        "shares": np.array([0.5, 0.5]),
        "detection": np.zeros(2),
        "restart": np.ones(2),
        "mtbf": 10.0,
    }
    with pytest.raises(ValueError, match=named):
        renewal.budget(**(good | changes))


def test_a_mixture_of_restarts_is_paid_at_most_at_its_mean():
    shares, times = np.array([0.2, 0.8]), np.array([10.0, 1000.0])
    assert renewal.effective_restart(shares, times, 1e9) == pytest.approx(802.0, rel=1e-5)
    assert renewal.effective_restart(shares, times, 100.0) < 802.0
    assert renewal.effective_restart([1.0], [50.0], 20.0) == pytest.approx(50.0)
    # Where exponentials would underflow, and where they would cancel.
    assert renewal.effective_restart([0.5, 0.5], [1e6, 2e6], 1.0) == pytest.approx(1e6 + np.log(2), abs=1e-3)
    assert renewal.effective_restart([1.0, 0.0], [1e6, 0.0], 1.0) == 1e6
    assert renewal.effective_restart([0.5, 0.5], [1.0, 3.0], 1e17) == pytest.approx(2.0)
