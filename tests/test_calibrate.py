"""The fit of a log: exposure and intervals by hand, bounds without failures, widening where failures cluster, and its draws."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from oracles import NEGATIVE, NOT_COUNT, NOT_INSIDE_UNIT, NOT_POSITIVE, assert_mean, assert_refused, refusals
from scipy import stats

from reliability import calibrate
from reliability.fitted_rates import rate_of

pytestmark = pytest.mark.filterwarnings("error")
DAY = 86_400.0
LANL = Path(__file__).parents[2] / "shared" / "data" / "lanl" / "systems-16-20.csv"


def log(start, node=None, cls=None, lasts=3600.0, still_open=None, **more):
    start = np.asarray(start, dtype=float)
    still_open = np.zeros(start.size, bool) if still_open is None else np.asarray(still_open)
    table = {
        "start_s": start,
        "end_s": np.where(still_open, np.nan, start + lasts),
        "open": still_open,
        "node": np.array([None] * start.size if node is None else node, dtype=object),
        "cls": np.array(["gpu"] * start.size if cls is None else cls, dtype=object),
    }
    return SimpleNamespace(table=table, **more)


def steady(rng, n=300, days=700, nodes=40):
    return log(
        np.sort(rng.uniform(0, days * DAY, n)),
        [f"n{k}" for k in rng.integers(0, nodes, n)],
        rng.choice(["gpu", "net"], n),
    )


def test_rate_of_a_known_window_by_hand():
    fit = calibrate.fit(
        log([0, 5 * DAY, 9 * DAY], ["a", "b", "a"], ["gpu", "net", "gpu"]), nodes=100, observed_s=(0, 30 * DAY)
    )
    assert fit.total.value == pytest.approx(1.0)
    assert fit.total.low == pytest.approx(stats.chi2.ppf(0.025, 6) / 2 / 3)
    assert fit.total.high == pytest.approx(stats.chi2.ppf(0.975, 8) / 2 / 3)
    assert fit.total.node_mtbf_h[0] == pytest.approx(24_000)
    assert fit.total.job_mtbf_h(10)[0] == pytest.approx(2400)
    assert fit.mtbf_h[0] == pytest.approx(240)
    assert list(fit.by_class) == ["gpu", "net"]
    assert [count for count, _ in fit.by_class.values()] == [2, 1]
    assert "time down included" in fit.exposure
    assert fit.window_known


def test_what_the_data_do_not_say_stays_unknown():
    without_nodes = calibrate.fit(log([0, DAY, 3 * DAY]), observed_s=(0, 9 * DAY))
    assert without_nodes.total is None
    assert without_nodes.by_class["gpu"] == (3, None)
    assert without_nodes.mtbf_h[0] == pytest.approx(72)
    with pytest.raises(ValueError, match="give nodes"):
        without_nodes.sample_rate(np.random.default_rng(1), 5)
    span = calibrate.fit(log([0, DAY, 3 * DAY]), nodes=10)
    assert not span.window_known
    assert span.mtbf_h[0] == pytest.approx(36)  # two gaps in three days
    assert span.total.value == pytest.approx(2 / 30 * 1000)
    assert any("first incident to the last" in note for note in span.notes)
    for start in ([], [5.0], [5.0, 5.0]):
        fit = calibrate.fit(log(start), nodes=10)
        assert fit.total is None
        assert fit.mtbf_h is None
        assert fit.shared is None


def test_no_incident_gives_a_bound():
    fit = calibrate.fit(log([]), nodes=60, observed_s=(0, 3 * DAY))
    assert fit.total.value is None
    assert fit.total.node_mtbf_h == (None, pytest.approx(4320 / np.log(20)), None)
    assert fit.mtbf_h == (None, pytest.approx(72 / np.log(20)), None)
    assert "below" in next(f.sentence for f in fit.findings if f.name == "interval")
    drawn = fit.sample_rate(np.random.default_rng(1), 4000)
    assert (drawn["total"] > 0).all()
    assert np.quantile(drawn["total"] * 24_000, 0.95) < fit.total.high


def test_run_time_of_jobs_is_the_exposure():
    jobs = {"start_s": np.array([0.0, 100 * DAY]), "seconds": np.array([DAY, DAY])}
    fit = calibrate.fit(log([DAY], node_hours=400.0, run_hours=100.0, jobs=jobs))
    assert fit.total.value == pytest.approx(60)
    assert fit.mtbf_h[0] == pytest.approx(100)
    assert fit.record_s == (0.0, 101 * DAY)
    runs = calibrate.fit(log([DAY], run_hours=600.0), nodes=8)
    assert runs.mtbf_h == pytest.approx((600, 107.7, 23699), rel=1e-3)
    assert runs.total is None


def test_a_steady_log_keeps_the_exact_interval_and_passes_the_tests():
    names = (
        "steady rate",
        "interval",
        "independent counts",
        "exponential gaps",
        "constant hazard",
        "one node at a time",
    )
    held = np.zeros(len(names))
    for seed in range(8):
        fit = calibrate.fit(steady(np.random.default_rng(seed)), nodes=40, observed_s=(0, 700 * DAY))
        held += [{f.name: f.holds for f in fit.findings}[name] for name in names]
    assert (held >= 6).all(), dict(zip(names, held, strict=True))


def test_a_clustered_log_widens_the_interval_and_says_why():
    rng = np.random.default_rng(3)
    counts = rng.poisson(6 * rng.gamma(1, 1, 100))
    start = np.sort(np.repeat(np.arange(100), counts) + rng.uniform(size=counts.sum())) * 7 * DAY
    fit = calibrate.fit(log(start), nodes=50, observed_s=(0, 700 * DAY))
    assert fit.total.model == "overdispersed"
    assert fit.total.high - fit.total.low > 1.5 * (fit.total.exact_high - fit.total.exact_low)
    sentence = next(f.sentence for f in fit.findings if f.name == "interval")
    assert "widened" in sentence and "periods" in sentence
    bursts = np.repeat(np.sort(rng.uniform(0, 700 * DAY, 30)), 8)
    nodes = np.tile([f"n{k}" for k in range(8)], 30)
    racks = calibrate.fit(log(bursts, nodes), nodes=50, observed_s=(0, 700 * DAY))
    assert racks.shared.sizes == ((8, 30),)
    assert racks.total.index >= 8
    assert racks.total.model in ("clustered", "overdispersed")
    # Thirty bursts are known as well as thirty incidents are, at the best.
    assert racks.total.high / racks.total.value > 1.4


def test_a_few_bursts_widen_too():
    start, nodes = np.repeat([3 * DAY, 50 * DAY], 4), ["a", "b", "c", "d"] * 2
    fit = calibrate.fit(log(start, nodes), nodes=4, observed_s=(0, 100 * DAY))
    assert (fit.total.model, fit.total.index) == ("clustered", 4)


def test_a_falling_rate_is_told_and_planned_with_at_its_end():
    rng = np.random.default_rng(4)
    start = np.sort(600 * DAY * rng.uniform(size=900) ** 2)
    fit = calibrate.fit(log(start), nodes=100, observed_s=(0, 600 * DAY))
    assert fit.steady is False
    assert "falling" in fit.findings[0].sentence
    at_end = 900 * 0.5 / 600 / 100 * 1000
    assert fit.recent_rate == pytest.approx(at_end, rel=0.35)
    drawn = fit.sample_rate(rng, 4000)["total"] * 24_000
    assert np.median(drawn) == pytest.approx(at_end, rel=0.4)
    assert np.median(fit.sample_rate(rng, 4000, recent=False)["total"] * 24_000) == pytest.approx(
        fit.total.value, rel=0.1
    )


def test_draws_spread_as_the_interval_says_and_more_over_a_short_horizon():
    fit = calibrate.fit(steady(np.random.default_rng(5)), nodes=40, observed_s=(0, 700 * DAY))
    drawn = fit.sample_rate(np.random.default_rng(6), 20_000, recent=False)
    assert_mean(drawn["total"] * 24_000, fit.total.value, 0.01)
    assert np.quantile(drawn["total"], [0.025, 0.975]) * 24_000 == pytest.approx(
        [fit.total.low, fit.total.high], rel=0.03
    )
    assert sum(drawn["by_class"].values()) == pytest.approx(drawn["total"])
    rng = np.random.default_rng(7)
    counts = rng.poisson(6 * rng.gamma(1, 1, 100))
    start = np.sort(np.repeat(np.arange(100), counts) + rng.uniform(size=counts.sum())) * 7 * DAY
    uneven = calibrate.fit(log(start), nodes=50, observed_s=(0, 700 * DAY))
    week, mean = (uneven.sample_rate(rng, 8000, horizon_s=h, recent=False)["total"] for h in (7 * DAY, None))
    assert week.std() > 2 * mean.std()
    # A week's rate was gamma with coefficient of variation 1.
    assert week.std() / week.mean() == pytest.approx(1.0, rel=0.25)


def test_open_repairs_are_censored_at_the_end_of_the_record():
    fit = calibrate.fit(log([0, DAY, 2 * DAY], still_open=[False, False, True]), nodes=3, observed_s=(0, 10 * DAY))
    assert (fit.repairs.closed, fit.repairs.still_open) == (2, 1)
    assert fit.repairs.total_h == pytest.approx(2 + 8 * 24)
    assert fit.repairs.mean_is_bound


def test_a_file_of_several_systems_is_fitted_one_by_one():
    both = log([0, DAY, 2 * DAY])
    both.table["system"] = np.array(["16", "20", "20"], dtype=object)
    with pytest.raises(ValueError, match="16, 20.*fit_systems"):
        calibrate.fit(both, nodes=4)
    both.by_system = lambda: [("16", log([0, DAY])), ("20", log([0, DAY]))]
    assert [name for name, _ in calibrate.fit_systems(both)] == ["16", "20"]
    with pytest.raises(ValueError, match="nodes = 4"):
        calibrate.fit_systems(both, nodes=4)


def test_incidents_outside_the_window_and_without_a_start_are_counted():
    fit = calibrate.fit(log([-5.0, 0.0, DAY, np.nan]), nodes=3, observed_s=(0, 2 * DAY))
    assert fit.incidents == 2
    assert len([note for note in fit.notes if re.match(r"1 incident\b", note)]) == 2


@pytest.mark.skipif(not LANL.exists(), reason="needs ../shared/data/lanl")
def test_lanl_system_20():
    from reliability import incidents

    fits = dict(calibrate.fit_systems(incidents.read(LANL)))
    fit = fits["20"]
    assert fit.mtbf_h[0] == pytest.approx(13.17, rel=0.01)  # 13.17 h is that of the rows before overlaps are merged
    assert fit.gaps.shape == pytest.approx(0.65, abs=0.005)
    assert fit.power_law.high < 0.6
    assert fit.nodes == 512
    assert fit.node_rates.lemons[0].node == "0"
    assert not any(f.holds for f in fit.findings if f.name not in ("repair times",))
    assert fits["16"].nodes == 16


@pytest.mark.parametrize(
    ("function", "good", "name", "values"),
    [
        *refusals(
            calibrate.fit,
            {
                "incidents": log([0, DAY], ["a", "b"]),
                "nodes": 4,
                "gpus_per_node": 8,
                "observed_s": (0.0, 2 * DAY),
                "together_s": 0.0,
            },
            nodes=(1, -3, 1.5, "seven"),
            gpus_per_node=(0, -3, 1.5),
            observed_s=((9.0, 3.0), "x"),
            together_s=NEGATIVE,
        ),
        *refusals(
            rate_of,
            {"events": 3, "node_h": 5.0, "level": 0.95},
            events=(-3, 1.5, "x"),
            node_h=NOT_POSITIVE,
            level=NOT_INSIDE_UNIT,
        ),
        *refusals(rate_of(3, 5.0).job_mtbf_h, {"nodes": 3}, nodes=NOT_COUNT),
    ],
)
def test_bad_input(function, good, name, values):
    assert_refused(function, good, name, values)


def test_alike_nodes_seldom_seem_to_have_a_history():
    rng, found = np.random.default_rng(31), []
    for _ in range(60):
        start = np.sort(rng.uniform(0, 200 * DAY, 120))
        fit = calibrate.fit(
            log(start, node=[f"n{i}" for i in rng.integers(0, 50, 120)]), nodes=50, observed_s=(0, 200 * DAY)
        )
        found.append({one.name: one.holds for one in fit.findings}["nodes without memory"])
    assert sum(not holds for holds in found) <= 8


def test_a_burst_over_all_nodes_at_one_moment_is_no_chance():
    fit = calibrate.fit(log([5 * DAY] * 30, node=[f"n{i}" for i in range(30)]), nodes=40, observed_s=(0, 60 * DAY))
    assert {one.name: one.holds for one in fit.findings}["one node at a time"] is False


def test_no_nodes_are_refused_and_not_taken_for_unknown():
    with pytest.raises(ValueError, match="nodes = 0"):
        calibrate.fit(log([0.0, DAY]), nodes=0)
