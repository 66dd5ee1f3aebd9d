"""How often a rule of retirement takes out a good node: against closed forms, plain draws and the simulated fleet."""

import numpy as np
import pytest
from oracles import assert_mean
from scipy import stats

from reliability import fleet, fleet_config, retirement

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize("failures", [1, 2, 5])
@pytest.mark.parametrize("mean", [1e-6, 0.3, 4.0])
def test_without_a_window_it_is_the_tail_of_a_poisson_count(mean, failures):
    assert retirement.chance_retired(mean, failures) == pytest.approx(stats.poisson.sf(failures - 1, mean), rel=1e-9)
    rng = np.random.default_rng(1)
    assert retirement.chance_retired(mean, failures, 1.0, rng=rng) == retirement.chance_retired(mean, failures)


def test_two_within_a_window_is_the_known_chance_of_a_small_gap():
    mean, window = 3.0, 0.07
    counts = np.arange(2, 40)
    close = 1 - np.maximum(0.0, 1 - (counts - 1) * window) ** counts
    expected = stats.poisson.pmf(counts, mean) @ close
    found = [
        retirement.chance_retired(mean, 2, window, rng=np.random.default_rng(seed), draws=4000) for seed in range(30)
    ]
    assert_mean(np.array(found), expected, 0.002)


def test_a_window_is_what_plain_draws_of_its_failures_give():
    rng, mean, failures, window, nodes = np.random.default_rng(2), 2.5, 3, 0.2, 20_000
    retired = 0
    for count in rng.poisson(mean, nodes):
        times = sorted(rng.random(count).tolist())
        retired += any(times[i + failures - 1] - times[i] <= window for i in range(count - failures + 1))
    error = np.sqrt(retired) / nodes
    assert (
        abs(retirement.chance_retired(mean, failures, window, rng=np.random.default_rng(3)) - retired / nodes)
        < 4 * error
    )


def test_a_node_that_is_blamed_without_end_is_retired():
    assert retirement.chance_retired(500.0, 3, 0.05, rng=np.random.default_rng(1), draws=100) == pytest.approx(1.0)
    assert retirement.chance_retired(0.0, 3, 0.05) == 0


def test_a_node_that_is_away_after_each_failure_fails_less():
    """The n-th failure comes after n gaps and n - 1 times away."""
    rng, mean, failures, away = np.random.default_rng(4), 3.0, 3, 0.15
    last = rng.exponential(1 / mean, (50_000, failures)).sum(axis=1) + (failures - 1) * away
    assert_mean(last <= 1, retirement.chance_retired(mean, failures, away=away), 0.01)
    assert retirement.chance_retired(mean, failures, away=0.5) == 0
    assert retirement.chance_retired(mean, failures, 0.2, 0.1, rng=rng) == 0


def test_a_window_holds_the_times_away_as_well():
    """Two failures within 0.3 of the horizon, a tenth of which the node is away after the first."""
    rng, mean, window, away = np.random.default_rng(5), 1.0, 0.3, 0.1
    gaps = rng.exponential(1 / mean, (20_000, 12)) + away * (np.arange(12) > 0)
    close = ((gaps <= window) & (np.cumsum(gaps, axis=1) <= 1))[:, 1:].any(axis=1)
    found = retirement.chance_retired(mean, 2, window, away, rng=np.random.default_rng(6))
    assert_mean(close, found, 0.03)
    assert close.mean() < 0.8 * retirement.chance_retired(mean, 2, window, rng=np.random.default_rng(6))


def without_lemons(wrong, standbys, repair_h, runs, **rule):
    """A fleet in which all retired nodes are good ones."""
    settings = {
        "job_nodes": 200,
        "warm_standbys": standbys,
        "spare_nodes": 100,
        "horizon_h": 24.0 * 60,
        "failures": {"rate_per_node_day": 0.02},
        "faults": [{"name": "node", "right": 1 - wrong, "wrong": wrong}],
        "repair": {"automatic_s": 3600 * repair_h},
        "recovery": {"restart_s": 0.0},
        "retirement": {"failures": 4} | rule,
    }
    return fleet.simulate(fleet_config.build(settings), np.random.default_rng(1), runs)


@pytest.mark.parametrize("wrong", [0.0, 0.3])
def test_good_nodes_retired_are_those_of_a_fleet_without_lemons(wrong):
    """Repaired at once they are back at once, and a retired one has a new one in its place."""
    result = without_lemons(wrong, 0, 0.0, 60)
    mean = retirement.blames_of_a_good_node(result, 200, 1 - wrong, wrong)
    assert retirement.share_away(result, 0, 0.0) == 0
    assert_mean(result.counts["nodes_retired"], 200 * retirement.chance_retired(mean, 4), 0.06)


def test_good_nodes_retired_within_a_window_are_those_of_a_fleet():
    result = without_lemons(0.3, 0, 0.0, 150, failures=3, window_days=15.0)
    mean = retirement.blames_of_a_good_node(result, 200, 0.7, 0.3)
    chance = retirement.chance_retired(mean, 3, 15 / 60, rng=np.random.default_rng(1))
    assert_mean(result.counts["nodes_retired"], 200 * chance, 0.06)


def test_nodes_that_stand_by_between_two_failures_are_retired_less():
    """Fewer than if they were always at work; more than if the pool were always full, which retirement empties."""
    result = without_lemons(0.0, 10, 5.0, 150)
    mean = retirement.blames_of_a_good_node(result, 200, 1.0, 0.0)
    away = retirement.share_away(result, 10, 5.0)
    assert away == pytest.approx((5 / 24 + 10 / (200 * 0.02)) / 60, rel=0.05)
    always, full = (210 * retirement.chance_retired(mean, 4, away=share) for share in (0.0, away))
    assert full < result.counts["nodes_retired"].mean() < 0.9 * always


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"mean": -1.0}, "mean"),
        ({"failures": 0}, "failures"),
        ({"window": 0.0}, "window"),
        ({"window": 1.5}, "window"),
        ({"rng": None}, "rng"),
        ({"away": 1.5}, "away"),
        ({"draws": 0}, "draws"),
    ],
)
def test_bad_input_is_named(change, name):
    given = {"mean": 1.0, "failures": 2, "window": 0.1, "rng": np.random.default_rng(1)} | change
    with pytest.raises(ValueError, match=name):
        retirement.chance_retired(**given)
