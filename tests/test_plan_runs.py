"""States of a plan, simulated: what is expected without chance, what one run shows, and pairs on common random numbers."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from scipy import stats
from test_plan import FILE, state_of

from reliability import budget, cluster, fleet, plan_fleets, plan_runs
from reliability.fleet_result import FleetResult
from reliability.quantities import Streams, interval
from reliability.renewal import PLAN_BINS

TEXT = FILE.format(name="x", write="30")
RATE = "6.5, low = 5, high = 8.5"
SURE = RATE_ALONE = TEXT
for given in (
    "6.5, low = 5, high = 8.5",
    "60, low = 10, high = 600",
    "24, low = 12, high = 48",
    "0.02, low = 0.01, high = 0.04",
):
    SURE = SURE.replace(f"{{ value = {given} }}", given.split(",")[0])
    if given != RATE:
        RATE_ALONE = RATE_ALONE.replace(f"{{ value = {given} }}", given.split(",")[0])


def simulator(text=TEXT, draws=400, runs=60, seed=7):
    read = cluster.parse(text)
    state, classes = state_of(read, draws, seed)
    return plan_runs.Simulator(classes, 24 * read.target.horizon_days, Streams(seed, draws), state, runs), state


@pytest.fixture(scope="module")
def base():
    made, state = simulator()
    return made, made.measure(state)


# What is expected, and what one run shows -----------------------------------------------------------------------------


def a_law_of_its_own(monkeypatch, kept, noise, seed=5):
    """Put runs in the place of the fleet's that keep what `kept` says of the failure rate, and chance on top."""

    def simulate_each(fleets, key, first=0):
        rng, rate = np.random.default_rng(seed), np.array([one.failures.rate_per_node_day for one in fleets])
        useful = kept(rate) + noise * rng.normal(size=len(fleets))
        bins = {name: np.zeros(len(fleets)) for name in budget.BINS} | {"useful": useful, "redone": 1 - useful}
        counts = {name: np.ones(len(fleets)) for name in ("failures", "host_selections", "nodes_repaired")}
        return FleetResult(np.ones(len(fleets)), bins, counts)

    monkeypatch.setattr(fleet, "simulate_each", simulate_each)


@pytest.mark.parametrize(
    "kept", [lambda rate: 0.97 - 6 * rate, lambda rate: 0.9 - 900 * rate**2, lambda rate: 0.8 + 0 * rate]
)
def test_the_interval_is_that_of_the_runs_law_without_their_chance(monkeypatch, kept):
    noise = 0.01
    a_law_of_its_own(monkeypatch, kept, noise)
    made, state = simulator(RATE_ALONE, draws=4000, runs=1000)
    found = made.measure(state)
    truth = kept(24 * state.rate)
    for end in ("low", "value", "high"):
        assert interval(found.ettr)[end] == pytest.approx(interval(truth)[end], abs=4 * noise * np.sqrt(5 / 1000))
    assert found.ettr.mean() == pytest.approx(truth.mean(), abs=4 * found.error())
    assert found.error() == pytest.approx(noise / np.sqrt(1000), rel=0.1)
    shown = truth + noise * np.random.default_rng(1).normal(size=4000)
    for end in ("low", "value", "high"):
        assert interval(found.one_run)[end] == pytest.approx(interval(shown)[end], abs=0.3 * noise)


def test_certain_inputs_leave_nothing_open_but_chance():
    made, state = simulator(SURE, draws=100, runs=100)
    found = made.measure(state)
    # Constant, whatever the polynomial, to rounding.
    assert np.ptp(found.ettr) < 1e-12 < np.ptp(found.one_run)
    (one,) = plan_fleets.Builder(("gpu", "software"), 1).fleets(plan_fleets.at_medians(state), np.array([720.0]))
    many = fleet.simulate_key(one, 99, 400).effective_training_ratio
    error = np.hypot(found.error(), np.std(many) / 20)
    assert abs(found.ettr[0] - many.mean()) < 4 * error
    assert np.std(found.one_run) == pytest.approx(np.std(many), rel=0.25)
    assert np.std(found.one_run) == pytest.approx(state.spread(720 * 3600.0)[0], rel=0.25)


def test_no_run_keeps_more_than_its_writes_and_slow_ranks_leave():
    made, state = simulator(TEXT.replace("6.5, low = 5, high = 8.5", "0.02, low = 0.01, high = 0.04"), draws=300, runs=100)
    fleets = made._builder.fleets(state, made.hours(state))
    kept = fleet.simulate_each(fleets, made.key).effective_training_ratio
    most = state.most(720 * 3600.0)
    # A fleet's ranks are slow from soon after its start on.
    assert kept.max() == pytest.approx(most[np.argmax(kept)], rel=1e-4)
    found = made.measure(state)
    assert (found.one_run <= most).all() and (found.one_run == most).any()


def test_a_long_run_is_simulated_in_part_and_its_chance_is_that_of_the_whole(monkeypatch):
    made, state = simulator(SURE, draws=60, runs=60)
    assert made.hours(state)[0] == 720
    a = made.measure(state)
    monkeypatch.setattr(plan_runs, "MOST_FAILURES", 5)
    assert made.hours(state) == pytest.approx(np.full(60, 5 * state.mtbf[0] / 3600))
    b = made.measure(state)
    assert np.std(b.chance) > 1.5 * np.std(a.chance)
    assert np.std(b.one_run) == pytest.approx(np.std(a.one_run), rel=0.35)
    assert a.failures == pytest.approx(b.failures, rel=0.15)


def test_there_are_fewer_runs_of_a_larger_job(monkeypatch):
    assert simulator(draws=400, runs=1000)[0].runs == 400
    monkeypatch.setattr(plan_runs, "MOST_WORK", 5000)
    few = simulator(draws=400, runs=1000)[0].runs
    assert plan_runs.FEWEST <= few == pytest.approx(5000 / (128 * 6.5e-3 * 30), rel=0.1)


# Bins -----------------------------------------------------------------------------------------------------------------


def test_the_bins_of_a_draw_add_up(base):
    _, found = base
    assert list(found.parts()) == [name for name in budget.BINS if name != "verification"] == list(PLAN_BINS)
    assert found.shares.sum(axis=1) == pytest.approx(np.ones(400), abs=1e-12)
    assert (found.shares >= 0).all() and found.parts()["useful"] is not None
    assert found.ettr == pytest.approx(found.parts()["useful"])


def test_what_the_classes_cost_adds_up_to_what_failures_cost(base):
    _, found = base
    part = found.parts()
    lost = part["redone"] * (1 + found.state.drag) + part["detection"] + part["restart"] + part["waiting"]
    assert found.lost_by_class().sum(axis=1) == pytest.approx(lost, rel=1e-9)


def test_the_first_placement_is_not_the_plans():
    made, state = simulator(
        SURE.replace("repair_h", "replacement_min = 600\nrepair_h").replace("6.5", "1e-9"), draws=10, runs=10
    )
    found = made.measure(state)
    assert found.parts()["waiting"] == pytest.approx(np.zeros(10), abs=1e-12)
    assert found.ettr == pytest.approx(np.full(10, 3600 / 3630 / 1.02), rel=1e-3)


def test_a_shortage_is_as_often_as_in_the_runs():
    made, state = simulator(TEXT.replace("gpus = 1024", "gpus = 2048"), draws=200, runs=30)
    found = made.measure(state)
    result = fleet.simulate_each(made._builder.fleets(state, made.hours(state)), made.key)
    counted = (result.counts["host_selections"] - 1).sum() / result.counts["nodes_repaired"].sum()
    weights = result.counts["nodes_repaired"]
    assert np.average(found.none_left[:30], weights=weights) == pytest.approx(counted, rel=1e-9)
    none = replace(state, standbys=0)
    assert (made.measure(none).none_left == 1).all()


# Pairs ----------------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_numbers_and_another_does_not(base):
    made, found = base
    again, state = simulator()
    assert again.measure(state).shares.tobytes() == found.shares.tobytes() == made.measure(state).shares.tobytes()
    other, state = simulator(seed=8)
    assert other.measure(state).chance.tobytes() != found.chance.tobytes()


@pytest.mark.parametrize("lever", [{"detection": 0.5}, {"write": 0.5}, {"cold": 0.5, "swap": 0.5}])
def test_a_gain_is_a_paired_difference(base, lever):
    made, now = base
    better = made.measure(
        replace(now.state, **{name: getattr(now.state, name) * factor for name, factor in lever.items()})
    )
    alone = np.hypot(now.error(), better.error())
    assert better.error(now) < alone / 2
    assert now.error(now) == 0.0
    expected = better.formula[:, 0] - now.formula[:, 0]
    assert abs((better.ettr - now.ettr - expected).mean()) < 4 * better.error(now)


def test_by_formula_it_is_near_what_is_simulated(base):
    made, now = base
    fewer = replace(now.state, rate=now.state.rate / 2)
    simulated = made.measure(fewer)
    gap = (now.by_formula(fewer) - simulated.ettr).mean()
    assert abs(gap) < 4 * simulated.error(now)
    assert now.by_formula(now.state) == pytest.approx(now.ettr)


# Logs -----------------------------------------------------------------------------------------------------------------


def test_intervals_of_simulated_logs_cover_the_truth(tmp_path):
    """The true rate makes the log; the share of the draws below the true expected ETTR, by long simulation, is uniform.

    Intervals that are too narrow would have it near 0 and 1, those that are too wide near a half.
    """
    days, nodes, rate = 60, 16, 0.02
    text = SURE.replace(
        "rate_per_1000_node_days = 6.5",
        f'log = {{ path = "log.csv", nodes = {nodes}, observed_from = 2026-01-01, observed_to = 2026-03-02 }}',
    )
    text = text.replace("gpus = 1024", "gpus = 128").replace("horizon_days = 30", "horizon_days = 10")
    truth, _ = state_of(
        cluster.parse(
            text.replace(
                text[text.index("log = {") : text.index("}\n") + 1], f"rate_per_1000_node_days = {1000 * rate}"
            )
        ),
        2,
    )
    (one,) = plan_fleets.Builder(("gpu", "software"), 1).fleets(plan_fleets.at_medians(truth), np.array([240.0]))
    expected = fleet.simulate_key(one, 1, 40_000).effective_training_ratio.mean()
    rng, below, logs = np.random.default_rng(17), [], 120
    for seed in range(logs):
        starts = np.sort(rng.uniform(0, days, rng.poisson(rate * nodes * days)))
        rows = ["start,end,node,class"]
        for start in starts:
            begins = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=float(start))
            rows.append(
                f"{begins:%Y-%m-%dT%H:%M:%SZ},{begins + timedelta(hours=5):%Y-%m-%dT%H:%M:%SZ},n{rng.integers(nodes)},gpu"
            )
        (tmp_path / "log.csv").write_text("\n".join(rows) + "\n")
        read = cluster.parse(text, folder=tmp_path)
        state, classes = state_of(read, 400, seed)
        found = plan_runs.Simulator(classes, 240.0, Streams(seed, 400), state, 150).measure(state)
        below.append(np.mean(found.ettr < expected))
    assert stats.kstest(below, "uniform").pvalue > 0.001
