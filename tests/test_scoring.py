"""Scores of interval forecasts: slow loops, the score's own optimum, and intervals that come to hold what they promise."""

import numpy as np
import pytest
from oracles import NEGATIVE, NOT_COUNT, NOT_INSIDE_UNIT, assert_refused, refusals
from scipy import stats

from reliability import scoring
from reliability.forecast_mixtures import CountForecast, HoursForecast

pytestmark = pytest.mark.filterwarnings("error")


def poisson(mean):
    return CountForecast(np.array([1.0]), np.array([mean]), np.array([1e9]))


def test_score_and_coverage_against_a_slow_loop():
    rng = np.random.default_rng(1)
    low, seen = rng.integers(0, 9, 50), rng.integers(0, 20, 50)
    high = low + rng.integers(0, 9, 50)
    total = hits = 0
    for l, h, y in zip(low.tolist(), high.tolist(), seen.tolist(), strict=True):  # noqa: E741
        total += h - l + (20 * (l - y) if y < l else 20 * (y - h) if y > h else 0)
        hits += l <= y <= h
    assert scoring.interval_score(low, high, seen) == pytest.approx(total / 50)
    assert scoring.coverage(low, high, seen) == hits / 50


def test_the_true_quantiles_have_the_best_score():
    seen = np.random.default_rng(2).normal(size=20_000)
    scores = {
        wide: scoring.interval_score(np.full(20_000, -wide), np.full(20_000, wide), seen) for wide in (1.2, 1.645, 2.2)
    }
    assert min(scores, key=scores.get) == 1.645


def test_the_band_holds_95_percent():
    low, high = scoring.binomial_band(58)
    inside = sum(stats.binom.pmf(k, 58, 0.9) for k in range(59) if low - 1e-9 <= k / 58 <= high + 1e-9)
    assert 0.95 <= inside < 0.98


def test_the_pit_of_right_forecasts_is_flat_and_of_wrong_ones_not():
    rng = np.random.default_rng(3)
    right = scoring.pit_histogram([poisson(4.0).place(y) for y in rng.poisson(4, 2000)])
    assert right == pytest.approx(np.full(10, 0.1), abs=0.02)
    narrow = scoring.pit_histogram([poisson(4.0).place(y) for y in rng.poisson(4 * rng.gamma(1, 1, 1000))])
    assert narrow[0] + narrow[-1] > 0.4
    assert right.sum() == pytest.approx(1)
    assert scoring.pit_histogram([[0.3, 0.3], [1.0, 1.0], [0.0, 0.0]], bins=2).sum() == pytest.approx(1)


def test_adapted_intervals_come_to_cover_what_they_promise():
    rng = np.random.default_rng(4)
    seen = rng.poisson(20 * rng.gamma(4, 0.25, 400))
    fixed = scoring.adaptive_intervals([poisson(20.0)] * 400, seen.tolist(), step=0.0)
    adapted = scoring.adaptive_intervals([poisson(20.0)] * 400, seen.tolist())
    assert scoring.coverage(*fixed.T, seen) < 0.65
    # The level cannot pass the widest tails, so that a forecast so wrong stays below what it aims at.
    assert scoring.coverage(*adapted.T, seen) > scoring.coverage(*fixed.T, seen) + 0.1
    mild = rng.poisson(20 * rng.gamma(40, 0.025, 400))
    assert scoring.coverage(*scoring.adaptive_intervals([poisson(20.0)] * 400, mild.tolist()).T, mild) == pytest.approx(
        0.9, abs=0.03
    )


def test_an_interval_knows_nothing_of_its_own_outcome():
    forecasts, seen = [poisson(9.0)] * 6, [9, 30, 9, 9, 9, 9]
    before = scoring.adaptive_intervals(forecasts, seen)
    for i in range(6):
        changed = [*seen[:i], *[500] * (6 - i)]
        assert scoring.adaptive_intervals(forecasts, changed)[: i + 1].tolist() == before[: i + 1].tolist()
    assert scoring.adaptive_intervals(forecasts, seen[:5]).tolist() == before.tolist()
    with pytest.raises(ValueError, match="seen has 3"):
        scoring.adaptive_intervals(forecasts, seen[:3])


def test_widening_reaches_no_further_than_what_was_seen():
    long_tailed = HoursForecast(*(np.array([x]) for x in (1.0, 1.0, 2.0, 2.0)), 0.1)
    own, widest = long_tailed.quantile(0.95), long_tailed.quantile(1 - scoring.WIDEST / 2)
    seen = [0.0, *[2 * own] * 40]
    ends = scoring.adaptive_intervals([long_tailed] * 41, seen)
    assert ends[:2, 1] == pytest.approx([own, own], rel=0.1) and 2 * own < widest
    assert ends[2:, 1].max() == 2 * own  # seen at last, and no wider


@pytest.mark.parametrize(
    ("function", "good", "name", "values"),
    [
        *refusals(
            scoring.interval_score,
            {"low": [0], "high": [2], "seen": [1], "level": 0.9},
            level=NOT_INSIDE_UNIT,
            low=([], "x"),
            seen=([], "x"),
        ),
        *refusals(
            scoring.binomial_band,
            {"trials": 10, "level": 0.9, "sure": 0.95},
            trials=NOT_COUNT,
            level=NOT_INSIDE_UNIT,
            sure=NOT_INSIDE_UNIT,
        ),
        *refusals(
            scoring.pit_histogram, {"places": [[0.0, 0.5]], "bins": 10}, places=([[0.5, 1.75]], []), bins=NOT_COUNT
        ),
        *refusals(
            scoring.adaptive_intervals,
            {"forecasts": [poisson(1.0)], "seen": [1], "level": 0.9, "step": 0.1},
            level=NOT_INSIDE_UNIT,
            step=NEGATIVE,
        ),
    ],
)
def test_bad_input(function, good, name, values):
    assert_refused(function, good, name, values)


def test_an_interval_upside_down_is_refused():
    with pytest.raises(ValueError, match="one row a forecast"):
        scoring.pit_histogram([0.5])
    with pytest.raises(ValueError, match="high = 1"):
        scoring.coverage([2], [1], [1])
