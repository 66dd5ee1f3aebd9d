"""Independence of failures: the level of the tests, a known Weibull shape, and intervals that hold what they promise."""

import numpy as np
import pytest
from oracles import NEGATIVE, NOT_COUNT, NOT_INSIDE_UNIT, NOT_POSITIVE, assert_refused, refusals
from scipy import stats

from reliability import dispersion, gaps
from reliability.rates import poisson_rate_interval

pytestmark = pytest.mark.filterwarnings("error")


def test_poisson_counts_are_rejected_as_often_as_stated():
    rng = np.random.default_rng(1)
    low = sum(dispersion.dispersion(rng.poisson(4, 30)).p_value < 0.05 for _ in range(1000))
    assert 28 <= low <= 78
    assert dispersion.dispersion(rng.negative_binomial(1, 0.2, 100)).p_value < 1e-6


def test_dispersion_against_the_slow_formula():
    counts = [0, 3, 1, 9, 2]
    found = dispersion.dispersion(counts)
    assert found.index == pytest.approx(np.var(counts, ddof=1) / 3)
    assert found.p_value == pytest.approx(stats.chi2.sf(sum((k - 3) ** 2 for k in counts) / 3, 4))
    off = [k - 3 for k in counts]
    assert found.neighbours == pytest.approx(
        sum(a * b for a, b in zip(off, off[1:], strict=False)) / sum(a * a for a in off)
    )
    assert dispersion.dispersion([0, 0]) is None
    assert dispersion.dispersion([7]) is None
    assert dispersion.dispersion([2, 2, 2]).index == 0


def test_counts_of_periods_leave_out_what_is_no_whole_period():
    times = [0.0, 0.99, 1.0, 2.5, 3.2]
    assert dispersion.counts_in(times, 0.0, 3.5, 1.0).tolist() == [2, 1, 1]
    assert dispersion.counts_in(times, 0.0, 0.5, 1.0).tolist() == []


@pytest.mark.parametrize("shape", [0.65, 1.0, 1.6])
def test_a_known_weibull_shape_lies_in_its_interval(shape):
    rng, hits = np.random.default_rng(3), 0
    for _ in range(40):
        found = gaps.gaps_between(np.cumsum(rng.weibull(shape, 200)))
        hits += found.shape_low <= shape <= found.shape_high
    assert 34 <= hits <= 40


def test_gaps_of_zero_are_counted_and_left_out():
    times = np.cumsum(np.random.default_rng(4).exponential(1.0, 400))
    alone, doubled = gaps.gaps_between(times), gaps.gaps_between(np.concatenate([times, times[:50]]))
    assert (alone.zero, doubled.zero) == (0, 50)
    assert doubled.shape == alone.shape
    assert alone.p_value >= 0.05
    assert gaps.gaps_between(times[:8]) is None
    assert gaps.gaps_between(np.arange(100.0)) is None  # one gap a hundred times: no distribution to fit
    assert gaps.gaps_between([]) is None


def test_the_exponential_is_rejected_as_often_as_stated_though_its_mean_is_estimated():
    rng = np.random.default_rng(5)
    low = sum(gaps.gaps_between(np.cumsum(rng.exponential(7.0, 40))).p_value < 0.05 for _ in range(80))
    assert 0 < low <= 11


def test_thinning_keeps_the_distribution():
    ordered = np.sort(np.random.default_rng(6).lognormal(1, 2, 200_001))
    thin = gaps.thinned(ordered, 50_000)
    assert thin.size <= 50_000
    assert np.log(thin).mean() == pytest.approx(np.log(ordered).mean(), abs=1e-3)
    assert np.log(thin).std() == pytest.approx(np.log(ordered).std(), rel=1e-3)
    assert gaps.thinned(ordered[:10]) is not None and gaps.thinned(ordered[:10]).size == 10


def test_shared_starts_against_a_slow_loop():
    rng = np.random.default_rng(7)
    times, nodes = rng.integers(0, 200, 150).astype(float), rng.integers(-1, 12, 150)
    found = dispersion.shared_starts(times, nodes)
    groups = [{n for t, n in zip(times, nodes, strict=True) if t == moment and n >= 0} for moment in set(times)]
    sizes = [len(group) for group in groups if len(group) > 1]
    assert (found.groups, found.incidents, found.largest) == (len(sizes), sum(sizes), max(sizes))
    assert sum(often for _, often in found.sizes) == len(sizes)
    # One node that fails twice in a moment is not two nodes.
    assert dispersion.shared_starts([5.0, 5.0], [3, 3]).groups == 0
    assert dispersion.shared_starts([5.0, 9.0], [3, 4]).groups == 0
    assert dispersion.shared_starts([5.0, 9.0], [3, 4], within=4.0).groups == 1
    assert dispersion.shared_starts([], []).incidents == 0


def test_incidents_that_all_began_at_one_moment_are_no_chance():
    burst = dispersion.shared_starts([7.0] * 30, range(30))
    assert burst.above_chance and burst.expected_by_chance < 2
    assert dispersion.shared_starts([7.0] * 30, range(30), span=62 * 86_400.0).above_chance
    # What chance makes hangs on how long was watched.
    few = [dispersion.shared_starts([0.0, 10.0, 10.0], [1, 2, 3], span=span) for span in (1e4, 1e9)]
    assert few[1].expected_by_chance < 1e-6
    assert dispersion.shared_starts([0.0, 90_000.0], [1, 2], span=90_000.0).expected_by_chance == pytest.approx(
        dispersion.shared_starts([0.0, 90_000.0], [1, 2]).expected_by_chance
    )
    with pytest.raises(ValueError, match="span"):
        dispersion.shared_starts([0.0, 1.0], [1, 2], span=0)


@pytest.mark.parametrize("kind", ["weekly", "bursts"])
def test_the_widened_interval_holds_where_the_exact_one_does_not(kind):
    rng, wide, exact = np.random.default_rng(8), 0, 0
    for _ in range(300):
        if kind == "weekly":
            counts = rng.poisson(5 * rng.gamma(1, 1, 100))
        else:
            counts = np.array([rng.geometric(0.2, k).sum() for k in rng.poisson(1, 100)])
        times, n = np.repeat(np.arange(100.0), counts) + 0.5, int(counts.sum())
        index = max(dispersion.block_dispersion(times, 0, 100).index, 1)
        low, high = dispersion.widened_interval(n, 100.0, index)
        wide += low <= 5 <= high
        low, high = poisson_rate_interval(n, 100.0)
        exact += low <= 5 <= high
    assert wide / 300 > 0.9
    assert exact / 300 < 0.65


def test_the_widened_interval_is_never_inside_the_exact_one():
    for n, index in ((1, 1.0), (5, 1.0), (400, 1.0), (400, 9.0), (3, 50.0)):
        low, high = dispersion.widened_interval(n, 10.0, index)
        exact = poisson_rate_interval(n, 10.0)
        assert low <= exact[0] < n / 10 < exact[1] <= high


@pytest.mark.parametrize(
    ("function", "good", "name", "values"),
    [
        *refusals(dispersion.dispersion, {"counts": [1, 2]}, counts=([1.5], [-3], "x", [])),
        *refusals(
            dispersion.widened_interval,
            {"events": 4, "exposure": 2.0, "index": 2.0, "blocks": 20, "level": 0.95},
            events=NOT_COUNT,
            exposure=NOT_POSITIVE,
            index=(0.5, *NEGATIVE),
            blocks=(1, *NOT_COUNT),
            level=NOT_INSIDE_UNIT,
        ),
        *refusals(dispersion.shared_starts, {"times": [1.0], "nodes": [1], "within": 0.0}, within=NEGATIVE),
    ],
)
def test_bad_input(function, good, name, values):
    assert_refused(function, good, name, values)
