"""Forecasts of counts and hours: their distributions against scipy, no look ahead, and levels that follow what moves."""

import numpy as np
import pytest
from oracles import NOT_COUNT, assert_mean, assert_refused, refusals
from scipy import integrate, stats

from reliability import forecast

pytestmark = pytest.mark.filterwarnings("error")
DAILY = np.random.default_rng(1).poisson(2, 300)
HOURS = np.random.default_rng(2).gamma(0.3, 20, 300)


def test_a_count_forecast_is_a_mixture_of_scipys_negative_binomials():
    found = forecast.CountForecast(np.array([0.3, 0.7]), np.array([4.0, 12.0]), np.array([2.0, 9.0]))
    parts = [(0.3, stats.nbinom(2, 2 / 6)), (0.7, stats.nbinom(9, 9 / 21))]
    counts = np.arange(60)
    assert found.cdf(counts) == pytest.approx(sum(w * part.cdf(counts) for w, part in parts))
    assert found.mean == pytest.approx(9.6)
    for level in (0.001, 0.05, 0.5, 0.95, 0.999):
        k = found.quantile(level)
        assert found.cdf(k)[0] >= level > (found.cdf(k - 1)[0] if k else -1)
    assert found.place(0) == (0.0, pytest.approx(found.cdf(0)[0]))
    rng = np.random.default_rng(3)
    assert_mean(found.draw(rng, 40_000), 9.6, 0.01)
    assert_mean(found.draw(rng, 40_000, means_only=True), 9.6, 0.01)


def test_an_hours_forecast_is_a_distribution():
    found = forecast.HoursForecast(
        np.array([0.4, 0.6]), np.array([1.0, 2.0]), np.array([0.8, 0.5]), np.array([0.3, 0.5]), 0.1
    )

    student = stats.t(forecast.FREEDOM)

    def density(x, centre, below, above):
        return 2 / (below + above) * student.pdf((x - centre) / (below if x < centre else above))

    for hours in (0.5, 3.0, 20.0):
        slow = sum(
            w * integrate.quad(density, -40, np.log(hours + 0.1), args=(c, b, a), points=[c], limit=200)[0]
            for w, c, b, a in ((0.4, 1.0, 0.8, 0.3), (0.6, 2.0, 0.5, 0.5))
        )
        assert found.cdf(hours)[0] == pytest.approx(slow, rel=1e-6)
        assert found.quantile(found.cdf(hours)[0]) == pytest.approx(hours, rel=1e-6)
    assert found.quantile(1e-9) == 0.0
    assert found.cdf(-1.0)[0] == 0
    assert found.place(0.0) == (0.0, pytest.approx(found.cdf(0.0)[0]))


def test_a_steady_past_is_forecast_as_what_it_is():
    (week,) = forecast.count_forecasts(np.random.default_rng(4).poisson(3, 2000), 7, [2000])
    assert week.mean == pytest.approx(21, rel=0.15)
    assert abs(week.quantile(0.05) - stats.poisson(21).ppf(0.05)) <= 3
    assert abs(week.quantile(0.95) - stats.poisson(21).ppf(0.95)) <= 3


def test_the_level_follows_a_rate_that_fell_and_the_spread_a_rate_that_jumps():
    rng = np.random.default_rng(5)
    fell = rng.poisson(np.where(np.arange(400) < 200, 10, 1))
    assert forecast.count_forecasts(fell, 7, [400])[0].mean < 10
    jumping = rng.poisson(np.repeat(3 * rng.gamma(1, 1, 60), 7))
    (week,) = forecast.count_forecasts(jumping, 7, [420])
    assert week.quantile(0.95) - week.quantile(0.05) > 2 * (stats.poisson(21).ppf(0.95) - stats.poisson(21).ppf(0.05))
    gone = np.concatenate([rng.poisson(5, 200), np.zeros(200, int)])
    assert forecast.count_forecasts(gone, 7, [400])[0].quantile(0.95) <= 1
    assert forecast.count_forecasts(np.zeros(100, int), 7, [100])[0].quantile(0.95) == 0


@pytest.mark.parametrize(("function", "daily"), [(forecast.count_forecasts, DAILY), (forecast.hours_forecasts, HOURS)])
def test_what_comes_later_changes_nothing(function, daily):
    origins = [100, 130, 200]
    whole = function(daily, 7, origins)
    later = daily.copy()
    later[200:] = 999
    for one, other, origin in zip(whole, function(later, 7, origins), origins, strict=True):
        assert [one.quantile(q) for q in (0.05, 0.5, 0.95)] == [other.quantile(q) for q in (0.05, 0.5, 0.95)]
        cut = function(daily[:origin], 7, [100, origin] if origin > 100 else [100])[-1]
        assert [one.quantile(q) for q in (0.05, 0.95)] == pytest.approx([cut.quantile(q) for q in (0.05, 0.95)])
    later[190:200] = 999
    assert function(later, 7, origins)[-1].quantile(0.5) != whole[-1].quantile(0.5)


def test_hours_scale_with_their_unit():
    one, ten = (forecast.hours_forecasts(HOURS * k, 7, [250])[0] for k in (1, 10))
    assert ten.quantile(0.9) == pytest.approx(10 * one.quantile(0.9), rel=1e-6)
    assert forecast.hours_forecasts(np.zeros(100), 7, [100])[0].quantile(0.95) < 0.1


@pytest.mark.parametrize(
    ("function", "good", "name", "values"),
    [
        *refusals(
            forecast.count_forecasts,
            {"daily": DAILY, "days": 7, "origins": [100]},
            daily=([1.5], [-3], "x", []),
            days=NOT_COUNT,
            origins=([0], [100, 100], [301], "x"),
        ),
        *refusals(
            forecast.hours_forecasts,
            {"daily": HOURS, "days": 7, "origins": [100]},
            daily=([-3.25], "x", []),
            days=NOT_COUNT,
        ),
    ],
)
def test_bad_input(function, good, name, values):
    assert_refused(function, good, name, values)
