"""A job that is placed anew when no standby is left: against its events, its chain state by state, and its limits."""

import heapq

import numpy as np
import pytest
from oracles import NOT_POSITIVE, assert_refused, refusals

from reliability.placements import LONG, MANY, _solved, chance_placed_anew
from reliability.repair_queues import erlang_b

pytestmark = pytest.mark.filterwarnings("error")


def simulated(rng, load, standbys, failures):
    """Share of the failures that find no standby; repairs take a mean of 1."""
    now, back, stand, none = 0.0, [], standbys, 0
    for i in range(failures + failures // 10):
        now += rng.exponential(1 / load)
        while back and back[0] <= now:
            heapq.heappop(back)
            stand = min(stand + 1, standbys)
        heapq.heappush(back, now + rng.exponential(1.0))
        if stand:
            stand -= 1
        else:
            stand = standbys
            none += i >= failures // 10
    return none / failures


@pytest.mark.parametrize(
    ("load", "standbys"),
    [(0.3, 1), (0.36, 1), (0.3, 3), (2.0, 2), (2.0, 4), (2.0, 6), (3.0, 6), (6.0, 10), (9.0, 1), (20.0, 12)],
)
def test_it_is_what_its_events_give(load, standbys):
    found = [simulated(np.random.default_rng(seed), load, standbys, 12_000) for seed in range(20)]
    mean, error = np.mean(found), np.std(found, ddof=1) / np.sqrt(20)
    assert error < 0.06 * mean  # or it would tell nothing
    assert abs(chance_placed_anew(load, standbys) - mean) < 4 * error


def eliminated(load, standbys, most):
    """The same share from the chain of (standbys standing, nodes in repair), state by state; the last takes no failure.

    By elimination without a subtraction (Grassmann, Taksar, Heyman), which keeps the smallest chances to all digits.
    """
    states = [(stand, away) for away in range(most + 1) for stand in range(standbys + 1) if away >= standbys - stand]
    place = {state: i for i, state in enumerate(states)}
    rates = np.zeros((len(states), len(states)))
    for (stand, away), i in place.items():
        if away < most:
            rates[i, place[stand - 1 if stand else standbys, away + 1]] += load
        if away:
            rates[i, place[min(stand + 1, standbys), away - 1]] += away
    for last in range(len(states) - 1, 0, -1):
        rates[:last, last] /= rates[last, :last].sum()
        rates[:last, :last] += np.outer(rates[:last, last], rates[last, :last])
    chances = np.ones(1)
    for i in range(1, len(states)):
        chances = np.append(chances, chances @ rates[:i, i])
    return sum(chance for chance, (stand, _) in zip(chances, states, strict=True) if not stand) / chances.sum()


@pytest.mark.parametrize(
    ("load", "standbys"),
    [(0.01, 3), (0.3, 4), (0.3, 8), (1.0, 1), (2.0, 4), (2.0, 8), (3.0, 6), (6.0, 4), (6.0, 10), (60.0, 2)],
)
def test_it_is_exact_where_no_simulation_gets(load, standbys):
    most = standbys + int(load + 12 * np.sqrt(load)) + 18
    assert chance_placed_anew(load, standbys) == pytest.approx(eliminated(load, standbys, most), rel=1e-12, abs=0)


def test_many_loads_are_the_same_as_each():
    loads = np.random.default_rng(1).lognormal(1.0, 1.5, (7, 150))
    loads[:, :20] = 3.0
    found = chance_placed_anew(loads, 5)
    assert found.shape == loads.shape
    assert found[3, [0, 40, 149]].tolist() == pytest.approx(
        [chance_placed_anew(a, 5) for a in loads[3, [0, 40, 149]]], rel=1e-12
    )
    assert found[0, 0] == found[6, 19] == pytest.approx(chance_placed_anew(3.0, 5), rel=1e-12)


@pytest.mark.parametrize("standbys", [1, 2, 7, 40])
def test_a_small_load_gives_erlangs_formula(standbys):
    for load in (1e-3, 1e-5):
        first_order = erlang_b(load, standbys) * (1 - load / standbys)
        assert chance_placed_anew(load, standbys) == pytest.approx(first_order, rel=5 * load**2, abs=0)


@pytest.mark.parametrize("standbys", [1, 5, 40, LONG])
def test_a_great_load_gives_a_walk_with_even_steps(standbys):
    limit = 2 / ((standbys + 1) * (standbys + 2))
    assert chance_placed_anew(1e12, standbys) == pytest.approx(limit, rel=1e-6)
    below, above = chance_placed_anew([MANY * (1 - 1e-9), MANY * (1 + 1e-9)], standbys)
    assert above == pytest.approx(below, rel=1e-9)
    further = float(_solved(np.array([3 * MANY]), standbys)[0])
    assert chance_placed_anew(3 * MANY, standbys) == pytest.approx(further, rel=2e-5)


def test_no_standby_and_more_than_are_solved():
    assert chance_placed_anew(3.0, 0) == 1.0
    bounds = [erlang_b(100.0, LONG + 1), 2 / ((LONG + 2) * (LONG + 3))]
    assert chance_placed_anew([100.0, 1e9], LONG + 1) == pytest.approx(bounds, rel=1e-12, abs=0)


def test_it_rises_with_the_load_falls_with_the_standbys_and_is_below_erlangs():
    loads = np.geomspace(1e-4, 1e5, 200)
    found = np.array([chance_placed_anew(loads, k) for k in (1, 2, 3, 6, 12, 30)])
    assert (np.diff(found, axis=1) >= 0).all() and (np.diff(found, axis=0) <= 0).all()
    for row, k in zip(found, (1, 2, 3, 6, 12, 30), strict=True):
        assert (row <= erlang_b(loads, k) * (1 + 1e-12) + 1e-300).all()
        assert (row <= 2 / ((k + 1) * (k + 2))).all()


@pytest.mark.parametrize(
    ("function", "good", "name", "values"),
    refusals(chance_placed_anew, {"load": 1.0, "standbys": 3}, load=NOT_POSITIVE, standbys=(-1, 1.5)),
)
def test_bad_input(function, good, name, values):
    assert_refused(function, good, name, values)
