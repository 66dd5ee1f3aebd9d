"""Tiers: which failures each recovers, and the Markov model of several levels against a simulation event by event."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import (
    NEGATIVE,
    NOT_FINITE,
    NOT_NUMBERS,
    NOT_POSITIVE,
    assert_mean,
    assert_refused,
    modest,
    refusals,
    strict,
)

from reliability import checkpoint as cp
from reliability import facts, tiers

pytestmark = pytest.mark.filterwarnings("error")

ATLAS = {"writes": [9.0, 438.0], "restarts": [9.0, 438.0], "rates": [7.78e-6, 5.19e-7]}
COASTAL = {"writes": [15.0, 1835.0], "restarts": [15.0, 1835.0], "rates": [8.54e-7, 2.01e-7]}
times = st.floats(1.0, 1e3)


def level_of_next(number, counts):
    """Level of checkpoint `number`, counted from 1: how often it closes a group, level by level."""
    level = 0
    for count in counts:
        if number % (count + 1):
            break
        number //= count + 1
        level += 1
    return level


def periods(rng, many, interval, counts, writes, restarts, rates, escalates):
    """Wall times of whole periods, event by event: a stack of checkpoints, of which each fault burns what it reaches."""
    length = int(np.prod([count + 1 for count in counts]))
    edges = np.cumsum(rates)

    def fault():
        return rng.exponential(1 / edges[-1]), int(np.searchsorted(edges, rng.random() * edges[-1], side="right"))

    walls = []
    for _ in range(many):
        now, stack = 0.0, [(0, len(counts))]  # (intervals done, level)
        while stack[-1][0] < length:
            done = stack[-1][0]
            level = level_of_next(done + 1, counts)
            after, kind = fault()
            if after >= interval + writes[level]:
                now += interval + writes[level]
                stack.append((done + 1, level))
                continue
            now += after
            while True:  # burn what the fault reaches, then read the latest that is left
                while stack[-1][1] < kind:
                    stack.pop()
                after, kind = fault()
                reads = restarts[stack[-1][1]]
                if after >= reads:
                    now += reads
                    break
                now += after
                if escalates and kind == stack[-1][1] < len(counts):
                    kind += 1
        walls.append(now)
    return walls


@pytest.mark.parametrize("escalates", [True, False])
def test_two_levels_keep_what_a_simulation_does(escalates):
    case = {"writes": [4.0, 25.0], "restarts": [20.0, 60.0], "rates": [1 / 150, 1 / 900]}
    walls = periods(np.random.default_rng(7), 2500, 40.0, [5], *case.values(), escalates)
    assert_mean(walls, 6 * 40.0 / tiers.multilevel_efficiency(40.0, [5], **case, escalates=escalates), resolution=0.02)


@pytest.mark.parametrize("escalates", [True, False])
def test_three_levels_keep_what_a_simulation_does(escalates):
    case = {"writes": [1.0, 6.0, 30.0], "restarts": [15.0, 25.0, 60.0], "rates": [1 / 200, 1 / 500, 1 / 1500]}
    walls = periods(np.random.default_rng(8), 1200, 30.0, [2, 3], *case.values(), escalates)
    assert_mean(
        walls, 12 * 30.0 / tiers.multilevel_efficiency(30.0, [2, 3], **case, escalates=escalates), resolution=0.02
    )


def test_the_pattern_has_each_level_where_its_group_ends():
    for counts in ([], [0], [3], [2, 1], [1, 0, 2]):
        levels = tiers.pattern(counts)
        assert levels.tolist() == [level_of_next(k + 1, counts) for k in range(levels.size)]
        assert levels[-1] == len(counts)


def test_one_level_is_the_exact_model():
    for interval, write, restart, mtbf in [(3540.0, 240.0, 388.2, 28440.0), (50.0, 40.0, 60.0, 30.0)]:
        exact = cp.renewal_efficiency(interval, write, restart, mtbf)
        assert tiers.multilevel_efficiency(interval, [], [write], [restart], [1 / mtbf]) == pytest.approx(
            exact, rel=1e-12
        )
        assert tiers.two_level_efficiency(
            interval, 0, [1.0, write], [1.0, restart], [0.4 / mtbf, 0.6 / mtbf]
        ) == pytest.approx(exact, rel=1e-12)


def test_levels_that_cost_alike_and_lose_nothing_are_one():
    # No failure needs the global level, so that local checkpoints are all that counts.
    both = tiers.multilevel_efficiency(300.0, [4], [20.0, 20.0], [50.0, 50.0], [1e-3, 0.0], escalates=False)
    assert both == pytest.approx(cp.renewal_efficiency(300.0, 20.0, 50.0, 1000.0), rel=1e-12)


@modest
@given(
    times,
    st.integers(0, 40),
    st.tuples(times, times),
    st.tuples(times, times),
    st.tuples(st.floats(0, 1e-3), st.floats(0, 1e-3)),
    st.booleans(),
)
def test_the_closed_form_is_the_markov_model(interval, count, writes, restarts, rates, escalates):
    markov = tiers.multilevel_efficiency(interval, [count], writes, restarts, rates, escalates)
    assert tiers.two_level_efficiency(interval, count, writes, restarts, rates, escalates) == pytest.approx(
        markov, rel=1e-9
    )
    assert 0 <= markov < 1
    unit = 60.0
    scaled = tiers.multilevel_efficiency(
        interval * unit,
        [count],
        *([x * unit for x in xs] for xs in (writes, restarts)),
        [r / unit for r in rates],
        escalates,
    )
    assert scaled == pytest.approx(markov, rel=1e-9)
    if escalates:  # a restart that falls further loses more
        assert (
            markov <= tiers.multilevel_efficiency(interval, [count], writes, restarts, rates, False) * (1 + 1e-12)
            or restarts[0] > restarts[1]
        )


def test_an_empty_level_changes_nothing():
    two = tiers.multilevel_efficiency(1500.0, [6], [9.0, 438.0], [9.0, 438.0], [8e-6, 5e-7])
    three = tiers.multilevel_efficiency(1500.0, [6, 0], [9.0, 77.0, 438.0], [9.0, 77.0, 438.0], [8e-6, 3e-7, 2e-7])
    assert three == pytest.approx(two, rel=1e-12)


@pytest.mark.parametrize("machine, case", [("atlas", ATLAS), ("coastal", COASTAL)])
def test_scr_efficiencies_to_the_printed_digit(machine, case):
    spans, shares, counts = (facts.value(f"scr_{n}") for n in ("intervals_s", "efficiencies", "local_per_global"))
    pair, alone = f"{machine}_two_levels", f"{machine}_global_only"
    both = tiers.multilevel_efficiency(spans[pair], [counts[machine]], **case)
    one = tiers.multilevel_efficiency(spans[alone], [], case["writes"][1:], case["restarts"][1:], [sum(case["rates"])])
    assert (f"{both:.5f}", f"{one:.5f}") == (f"{shares[pair]:.5f}", f"{shares[alone]:.5f}")


def test_atlas_fixes_that_a_failure_during_a_local_restart_falls_to_the_global_checkpoint():
    assert f"{tiers.multilevel_efficiency(1500.0, [26], **ATLAS):.5f}" == "0.96695"
    assert f"{tiers.multilevel_efficiency(1500.0, [26], **ATLAS, escalates=False):.5f}" == "0.96696"


@pytest.mark.parametrize(
    "case", [ATLAS, COASTAL, {"writes": [1.0, 40.0], "restarts": [300.0, 900.0], "rates": [1e-3, 1e-5]}]
)
def test_the_optimum_is_no_worse_than_any_plan_of_a_wide_grid(case):
    best = tiers.two_level_optimum(**case)
    young = np.sqrt(2 * case["writes"][0] / case["rates"][0])
    grid = tiers.two_level_efficiency(young * np.geomspace(0.1, 10, 400)[:, None], np.arange(400), **case)
    assert best.efficiency >= grid.max() - 1e-12
    assert best.efficiency == pytest.approx(grid.max(), rel=1e-5)
    assert best.efficiency == tiers.two_level_efficiency(best.interval, best.count, **case)


def test_each_tier_has_youngs_interval_where_failures_are_rare():
    writes, rates = [1.0, 400.0], [1e-8, 1e-10]
    best = tiers.two_level_optimum(writes, [0.0 + 1, 1.0], rates)
    assert best.interval == pytest.approx(np.sqrt(2 * writes[0] / rates[0]), rel=0.02)
    assert best.interval * (best.count + 1) == pytest.approx(np.sqrt(2 * writes[1] / rates[1]), rel=0.02)


def test_a_dearer_local_tier_is_left_out():
    best = tiers.two_level_optimum([500.0, 400.0], [500.0, 400.0], [1e-6, 1e-5])
    assert best.count == 0
    assert best.interval == pytest.approx(cp.optimal_interval(400.0, 1 / 1.1e-5), rel=1e-4)


# --- which failures a tier recovers -----------------------------------------------------------------


def test_each_failure_goes_to_the_first_tier_that_survives_it():
    survives = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1]], dtype=bool)
    rates = np.array([1.0, 2.0, 4.0, 8.0])
    expected = [
        sum(r for r, column in zip(rates, survives.T, strict=True) if column.tolist().index(True) == tier)
        for tier in range(3)
    ]
    assert tiers.rates_by_tier(rates, survives).tolist() == expected


@pytest.mark.parametrize(
    "survives",
    [[[True, True], [True, False]], [[True, False], [False, True]], [[True]], [True, True], [[1, 0], [1, 1]], []],
)
def test_tiers_that_do_not_nest_are_refused(survives):
    with pytest.raises(ValueError, match="survives"):
        tiers.rates_by_tier([1.0, 2.0], survives)


# --- scales and bad input -----------------------------------------------------------------------------


@pytest.mark.parametrize("interval, count, rate", [*itertools.product([1e-6, 1e9], [0, 1, 10**7], [0.0, 1e-300, 1e6])])
def test_extreme_scales_neither_warn_nor_leave_the_range(interval, count, rate):
    with strict():
        share = tiers.two_level_efficiency(interval, count, [1.0, 9.0], [1.0, 9.0], [rate, rate / 3])
        assert 0 <= share < 1
        assert tiers.multilevel_efficiency(interval, [min(count, 9)], [1.0, 9.0], [1.0, 9.0], [rate, rate / 3]) >= 0


def test_without_failures_the_writes_alone_are_lost():
    assert tiers.two_level_efficiency(90.0, 4, [1.0, 6.0], [1.0, 6.0], [0.0, 0.0]) == pytest.approx(450 / 460)
    assert tiers.multilevel_efficiency(90.0, [4], [1.0, 6.0], [1.0, 6.0], [0.0, 0.0]) == pytest.approx(450 / 460)


def test_arrays_of_scenarios_are_the_scenarios_one_by_one():
    spans, top = np.array([[900.0], [1500.0]]), np.array([438.0, 1835.0, 60.0])
    together = tiers.two_level_efficiency(spans, 26, [9.0, top], [9.0, top], [7.78e-6, 5.19e-7])
    loop = [
        [tiers.multilevel_efficiency(t, [26], [9.0, c], [9.0, c], [7.78e-6, 5.19e-7]) for c in top] for t in spans[:, 0]
    ]
    np.testing.assert_allclose(together, loop, rtol=1e-12)
    np.testing.assert_allclose(
        tiers.multilevel_efficiency(spans, [26], [9.0, top], [9.0, top], [7.78e-6, 5.19e-7]), loop, rtol=1e-12
    )


GOOD = {"interval": 9.0, "writes": [1.0, 2.0], "restarts": [1.0, 2.0], "rates": [0.01, 0.02]}
BAD_COUNT = (*NOT_FINITE, *NOT_NUMBERS, -3, 2.5)
REFUSALS = [
    *refusals(
        tiers.rates_by_tier, {"rates": [1.0, 2.0], "survives": [[True, True]]}, rates=([1.0, -3.25], [np.nan, 1.0], [])
    ),
    *refusals(tiers.two_level_efficiency, {**GOOD, "count": 3}, interval=NOT_POSITIVE, count=BAD_COUNT),
    *refusals(tiers.multilevel_efficiency, {**GOOD, "counts": [3]}, interval=NOT_POSITIVE),
]


@pytest.mark.parametrize("function, good, name, values", REFUSALS)
def test_bad_input_is_named_and_repeated(function, good, name, values):
    assert_refused(function, good, name, values)


@pytest.mark.parametrize("name", ["writes", "restarts", "rates"])
@pytest.mark.parametrize(
    "function, more, also",
    [
        (tiers.two_level_efficiency, {"count": 3, "interval": 9.0}, ()),
        (tiers.multilevel_efficiency, {"counts": [3], "interval": 9.0}, ()),
        (tiers.two_level_optimum, {}, (0.0,)),
    ],
)
def test_bad_entries_of_a_level_are_named_and_repeated(function, more, also, name):
    good = {key: GOOD[key] for key in ("writes", "restarts", "rates")} | more
    for value in (*NEGATIVE[:4], *also):
        with pytest.raises(ValueError, match=rf"{name}\[1\] = {value}"):
            function(**{**good, name: [1.0, value]})
    for wrong in ([1.0], [1.0, 2.0, 3.0], 1.0):
        with pytest.raises(ValueError, match=rf"{name} = .*must have 2 entries"):
            function(**{**good, name: wrong})


def test_bad_counts_are_named_by_level():
    for value in (-3, 2.5):
        with pytest.raises(ValueError, match=rf"counts\[1\] = {value}"):
            tiers.pattern([2, value])


@pytest.mark.parametrize(
    "writes, restarts, rates",
    [
        ([1.0, 1000.0], [1.0, 1.0], [1e-12, 1e-3]),  # an MTBF of the global write
        ([7231.6, 1.86e-3], [687.5, 0.0254], [0.0228, 3.14e-6]),  # the global tier is the cheaper one
        ([0.0021, 717.9], [82.2, 0.0017], [4.27e-4, 1.56e-12]),  # a long local restart escalates
        ([0.0139, 0.0013], [2.96, 1251.9], [2.34e-5, 7.76e-9]),  # a long global restart
        ([0.0141, 979.9], [223.8, 2.72], [4.38e-11, 9.2e-5]),  # two tops
    ],
)
def test_the_optimum_is_one_where_first_order_is_far_off(writes, restarts, rates):
    found = tiers.two_level_optimum(writes, restarts, rates)
    counts = np.unique(np.rint(np.append(0, np.geomspace(1, 1e9, 150)))).astype(np.int64)
    shares = tiers.two_level_efficiency(np.geomspace(1e-4, 1e6, 300)[:, None], counts, writes, restarts, rates)
    assert found.efficiency >= shares.max() and found.efficiency > 0.1
    assert found.efficiency == tiers.two_level_efficiency(found.interval, found.count, writes, restarts, rates)


def test_the_optimum_at_any_scale():
    with strict():
        assert 0 < tiers.two_level_optimum([1.0, 1e300], [1.0, 1.0], [1e-300, 1e-300]).efficiency < 1
        assert tiers.two_level_optimum([1e-300, 1e300], [1.0, 1.0], [1e300, 1e-300]).efficiency == 0.0


def test_lists_that_are_none_are_refused():
    for bad in (3, 2.5, None, "12", b"12", {}):
        with pytest.raises(ValueError, match="counts"):
            tiers.pattern(bad)
    with pytest.raises(ValueError, match="rates has shape"):
        tiers.rates_by_tier(1.5, [[True]])
    with pytest.raises(ValueError, match="survives"):
        tiers.rates_by_tier([1.5, 2.0], [[True, True], [True]])
