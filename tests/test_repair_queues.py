"""Repair queues: Erlang's formula by its sum, machine repair by its balance equations, and their limits."""

import math

import numpy as np
import pytest
from oracles import NOT_COUNT, NOT_POSITIVE, assert_refused, refusals, strict
from scipy import stats

from reliability import repair_queues, standby

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize("load", [1e-9, 0.5, 6.0, 400.0])
@pytest.mark.parametrize("k", [0, 1, 7, 300])
def test_erlang_by_its_sum(load, k):
    if k * math.log(load) - math.lgamma(k + 1) < -600:
        assert repair_queues.erlang_b(load, k) < 1e-250
    else:
        terms = [math.exp(i * math.log(load) - math.lgamma(i + 1)) for i in range(k + 1)]
        assert repair_queues.erlang_b(load, k) == pytest.approx(terms[-1] / math.fsum(terms), rel=1e-11)


@pytest.mark.parametrize("k", [101, 600, 20_000])
@pytest.mark.parametrize("share", [0.9, 0.99, 1.0, 1.02, 1.3, 20.0])
def test_erlang_of_a_large_pool_by_the_recursion(k, share):
    inverse = 1.0
    for i in range(1, k + 1):
        inverse = 1 + i / (k * share) * inverse
    assert repair_queues.erlang_b(k * share, k) == pytest.approx(1 / inverse, rel=1e-10, abs=1e-250)


def test_erlang_broadcasts_and_holds_at_extremes():
    with strict():
        assert repair_queues.erlang_b([1.0, 1e9], [[0], [5]]).shape == (2, 2)
        assert repair_queues.erlang_b(1e12, 10) == pytest.approx(1, rel=1e-10)
        assert repair_queues.erlang_b(1e-12, 300) == 0.0


def test_machine_repair_against_its_balance_equations():
    nodes, spares, mtbf, repair, crews = 7, 3, 10.0, 4.0, 2
    states = nodes + spares
    flow = np.zeros((states + 1, states + 1))
    for j in range(states):
        flow[j, j + 1] = min(nodes, states - j) / mtbf
        flow[j + 1, j] = min(j + 1, crews) / repair
    flow -= np.diag(flow.sum(1))
    long_run = np.linalg.lstsq(
        np.vstack([flow.T, np.ones(states + 1)]), np.append(np.zeros(states + 1), 1.0), rcond=None
    )[0]
    assert repair_queues.machine_repair(nodes, spares, mtbf, repair, crews) == pytest.approx(long_run, abs=1e-12)


def test_machine_repair_limits():
    each = repair_queues.machine_repair(40, 0, 9.0, 1.0)  # nodes that break and are repaired on their own
    assert each == pytest.approx(stats.binom.pmf(np.arange(41), 40, 0.1), rel=1e-10)
    many = repair_queues.machine_repair(10**6, 30, 1e6 / 6, 1.0)
    assert many[:40] == pytest.approx(standby.away_chances([6.0], [1], 1.0, 39), rel=2e-3)
    with pytest.raises(ValueError, match=r"nodes \+ standbys = 100000001"):
        repair_queues.machine_repair(10**8, 1, 1.0, 1.0)
    with strict():
        assert repair_queues.machine_repair(1000, 10, 1e-9, 1e9, crews=1)[-1] == pytest.approx(1)
        assert repair_queues.machine_repair(1, 0, 1e9, 1e-9)[0] == 1.0


@pytest.mark.parametrize(
    ("function", "good", "name", "values"),
    [
        *refusals(repair_queues.erlang_b, {"load": 1.0, "standbys": 3}, load=NOT_POSITIVE, standbys=(-1, 10**7)),
        *refusals(repair_queues.machine_repair, {"nodes": 3, "standbys": 1, "node_mtbf": 1.0, "repair": 1.0, "crews": 1}, nodes=NOT_COUNT, standbys=(-1,), node_mtbf=NOT_POSITIVE, repair=NOT_POSITIVE, crews=(0, -3, 1.5)),
    ],
)  # fmt: skip
def test_bad_input(function, good, name, values):
    assert_refused(function, good, name, values)
