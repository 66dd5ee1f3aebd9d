"""Trend tests: their level under a steady rate, a known power law found again, and the textbook formulas."""

import math

import numpy as np
import pytest
from oracles import NAN, NOT_FINITE, NOT_INSIDE_UNIT, assert_refused, refusals
from scipy import stats

from reliability import trend

pytestmark = pytest.mark.filterwarnings("error")
TIMES = [1.0, 2.0, 3.0, 10.0]


def test_a_steady_rate_is_rejected_as_often_as_stated():
    rng, low = np.random.default_rng(1), [0, 0]
    for _ in range(500):
        times = rng.uniform(5, 25, rng.integers(4, 40))
        low[0] += trend.laplace(times, 5, 25).p_value < 0.05
        low[1] += trend.power_law(times, 5, 25).p_value < 0.05
    assert all(stats.binom.cdf(k, 500, 0.05) > 0.001 and stats.binom.sf(k - 1, 500, 0.05) > 0.001 for k in low)


@pytest.mark.parametrize("shape", [0.5, 1.0, 1.8])
def test_a_known_power_law_lies_in_its_exact_interval(shape):
    rng, hits, shapes = np.random.default_rng(2), 0, []
    for _ in range(300):
        # Given their number, the times of a power-law process are independent, with F(t) = (t / T)^shape.
        fit = trend.power_law(100 * rng.uniform(size=30) ** (1 / shape), 0, 100)
        hits += fit.low <= shape <= fit.high
        shapes.append(fit.shape * 29 / 30)  # the unbiased estimate
    assert 0.91 < hits / 300 < 0.985
    assert np.mean(shapes) == pytest.approx(shape, rel=0.05)


def test_laplace_against_the_slow_formula_and_its_signs():
    test = trend.laplace(TIMES, 0, 20)
    assert test.statistic == pytest.approx((sum(TIMES) / 4 - 10) / (20 / math.sqrt(48)))
    assert test.statistic < 0 < trend.laplace([20 - t for t in TIMES], 0, 20).statistic
    assert trend.laplace(TIMES, 0, 20).p_value == pytest.approx(trend.laplace([20 - t for t in TIMES], 0, 20).p_value)


def test_power_law_against_the_slow_formula():
    fit = trend.power_law(TIMES, 0, 20)
    total = sum(math.log(20 / t) for t in TIMES)
    assert fit.shape == pytest.approx(4 / total)
    assert fit.rate_at_end == pytest.approx(4 * fit.shape / 20)
    # A change of unit or of origin changes nothing but the rate.
    moved = trend.power_law([7 + 60 * t for t in TIMES], 7, 7 + 60 * 20)
    assert (moved.shape, moved.low, moved.high, moved.p_value) == pytest.approx(
        (fit.shape, fit.low, fit.high, fit.p_value)
    )
    assert math.isfinite(trend.power_law([0.0, 5.0], 0, 20).shape)


@pytest.mark.parametrize(
    ("function", "good", "name", "values"),
    [
        *refusals(
            trend.laplace,
            {"times": TIMES, "start": 0.0, "end": 20.0},
            times=([], [NAN], "x"),
            start=NOT_FINITE,
            end=NOT_FINITE,
        ),
        *refusals(trend.power_law, {"times": TIMES, "start": 0.0, "end": 20.0, "level": 0.95}, level=NOT_INSIDE_UNIT),
    ],
)
def test_bad_input(function, good, name, values):
    assert_refused(function, good, name, values)


@pytest.mark.parametrize(("times", "start", "end"), [(TIMES, 0, 9), (TIMES, 2, 20), (TIMES, 20, 0), ([TIMES], 0, 20)])
def test_times_outside_the_window_are_refused(times, start, end):
    with pytest.raises(ValueError, match="window|list of times"):
        trend.laplace(times, start, end)
