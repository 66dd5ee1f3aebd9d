"""Lemons and histories: false discoveries held, lemons found, and shrinkage that predicts better than either extreme."""

import numpy as np
import pytest
from oracles import NOT_COUNT, NOT_INSIDE_UNIT, assert_refused, refusals
from scipy import stats

from reliability.node_rates import half_to_half, node_rates

pytestmark = pytest.mark.filterwarnings("error")


def test_nodes_that_are_alike_are_seldom_named():
    rng = np.random.default_rng(1)
    named = sum(bool(node_rates(rng.poisson(4, 60), nodes=60).lemons) for _ in range(300))
    assert named <= 25


def test_lemons_are_named_and_few_good_nodes_with_them():
    rng, found, false = np.random.default_rng(2), 0, 0
    for _ in range(60):
        rates = np.full(100, 3.0)
        rates[:5] = 20.0
        lemons = {lemon.node for lemon in node_rates(rng.poisson(rates), nodes=100).lemons}
        found += len(lemons & set(range(5)))
        false += len(lemons - set(range(5)))
    assert found / 300 > 0.95
    assert false / (found + false) < 0.05


def test_nodes_without_an_incident_count():
    listed = node_rates([9, 8, 7], nodes=100)
    assert (listed.nodes, listed.nodes_with, listed.assumed) == (100, 3, False)
    assert len(listed.lemons) == 3
    alone = node_rates([9, 8, 7])
    assert alone.assumed
    assert alone.lemons == ()
    counts = np.concatenate([[9, 8, 7], np.zeros(97, int)])
    assert listed.index == pytest.approx(counts.var(ddof=1) / counts.mean())
    assert node_rates(counts).index == pytest.approx(listed.index)
    assert node_rates(counts).cv == pytest.approx(listed.cv)


def test_p_values_against_scipy():
    counts = np.array([12, 3, 1, 0, 4])
    adjusted = stats.false_discovery_control([stats.binom.sf(k - 1, 20, 0.2) for k in counts])
    assert node_rates(counts).lemons[0].p_value == pytest.approx(adjusted[0])


def test_shrunk_rates_predict_better_than_histories_or_the_mean():
    rng, errors = np.random.default_rng(3), np.zeros(3)
    for _ in range(40):
        rates = rng.gamma(2, 1.5, 200)  # cv 0.71
        before = rng.poisson(rates)
        found = node_rates(before, nodes=200)
        shrunk = found.history_weight * before + (1 - found.history_weight) * before.mean()
        errors += [((x - rates) ** 2).mean() for x in (shrunk, before, np.full(200, before.mean()))]
        assert 0.4 < found.cv < 1.05
    assert errors[0] < 0.85 * min(errors[1:])
    assert node_rates(np.full(50, 4)).history_weight == 0


def test_half_to_half_sees_what_lasts():
    rng = np.random.default_rng(4)
    rates = rng.gamma(1, 3, 100)
    nodes = np.concatenate([np.repeat(np.arange(100), rng.poisson(rates)) for _ in range(2)])
    times = np.linspace(0, 10, nodes.size)
    lasting = half_to_half(times, nodes, 0, 10, 100)
    assert lasting.correlation > 0.4
    assert lasting.worst_ratio > 1.8
    chance = half_to_half(rng.uniform(0, 10, 400), rng.integers(0, 100, 400), 0, 10, 100)
    assert abs(chance.correlation) < 0.3
    assert half_to_half(times, nodes % 5, 0, 10, 5) is None


def test_too_little_to_tell():
    assert node_rates([]) is None
    assert node_rates([7]) is None
    assert node_rates([0, 0]) is None


@pytest.mark.parametrize(
    ("function", "good", "name", "values"),
    refusals(
        node_rates,
        {"counts": [3, 1], "nodes": 4, "false_discoveries": 0.05},
        counts=([1.5], [-3], "x"),
        nodes=(1, *(v for v in NOT_COUNT if v is not None)),
        false_discoveries=NOT_INSIDE_UNIT,
    ),
)
def test_bad_input(function, good, name, values):
    assert_refused(function, good, name, values)
