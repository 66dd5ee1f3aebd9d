"""The naive forecasts: Poisson counts against scipy, moments of repairs by a slow loop, and hours against draws."""

import numpy as np
import pytest
from scipy import stats

from reliability import naive_forecasts

HOUR = 3600.0


def test_counts_are_the_ends_of_a_poisson_distribution_and_none_of_none():
    low, high = naive_forecasts.counts(np.array([0.0, 3.0, 40.0]))
    assert low.tolist() == [0, *stats.poisson([3, 40]).ppf(0.05)]
    assert high.tolist() == [0, *stats.poisson([3, 40]).ppf(0.95)]


def test_only_repairs_that_had_ended_are_known():
    start, end = HOUR * np.array([0.0, 1.0, 5.0, 2.0]), HOUR * np.array([4.0, 2.0, 6.0, np.inf])
    for hour in (0.5, 3.0, 4.5, 9.0):
        past = [(e - s) / HOUR for s, e in zip(start, end, strict=True) if e < hour * HOUR]
        first, second = naive_forecasts.repairs_until(np.array([hour * HOUR]), start, end)
        assert first[0] == pytest.approx(np.mean(past) if past else 0)
        assert second[0] == pytest.approx(np.mean(np.square(past)) if past else 0)


def test_weekly_sums_give_the_moments_of_exponential_repairs():
    weeks = np.array([0.0, 1.0, 2.0]) * naive_forecasts.WEEK_S
    first, second = naive_forecasts.exponential_until(weeks, np.array([4, 0, 9]), np.array([8.0, 2.0, 7.0]))
    assert first == pytest.approx([0, 2.0, 2.5]) and second == pytest.approx([0, 8.0, 12.5])


def test_hours_cover_what_a_compound_poisson_process_brings():
    rng = np.random.default_rng(1)
    brought = np.array([rng.exponential(2.0, rng.poisson(15)).sum() for _ in range(4000)])
    low, high = naive_forecasts.hours(np.array([15.0]), np.array([2.0]), np.array([8.0]))
    assert ((low <= brought) & (brought <= high)).mean() == pytest.approx(0.9, abs=0.015)
    assert [end.tolist() for end in naive_forecasts.hours(np.zeros(1), np.zeros(1), np.zeros(1))] == [[0.0], [0.0]]
