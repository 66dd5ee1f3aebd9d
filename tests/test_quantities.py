"""Draws of what is not known exactly: the ranges they come from, and that they are common to two plans."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliability.quantities import Quantity, Streams, interval
from reliability.rates import poisson_rate_interval

MANY = Streams(1, 40_000)


@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.floats(1e-3, 1e3), st.floats(0.05, 1), st.floats(1, 20))
def test_a_quantitys_range_is_the_central_95_percent_of_its_draws(value, down, up):
    drawn = MANY.quantity("x", Quantity(value, value * down, value * up))
    low, middle, high = np.quantile(drawn, [0.025, 0.5, 0.975])
    assert (low, middle, high) == pytest.approx((value * down, value, value * up), rel=0.05)
    assert (drawn > 0).all()


def test_a_range_that_begins_at_nothing_stays_above_it():
    drawn = MANY.quantity("x", Quantity(0.01, 0.0, 0.05))
    assert drawn.min() == 0.0 and np.quantile(drawn, 0.975) == pytest.approx(0.05, rel=0.05)
    assert MANY.quantity("x", Quantity(0.0, 0.0, 0.05)).max() > 0.05


def test_without_a_range_it_is_constant():
    assert set(MANY.quantity("x", Quantity(3.0))) == {3.0}


@pytest.mark.parametrize(("events", "exposure"), [(419, 1000.0), (3, 10.0), (1, 1.0), (0, 5.0)])
def test_a_counted_rate_has_about_the_exact_interval(events, exposure):
    drawn = MANY.counted("rate", events, exposure)
    low, high = poisson_rate_interval(events, exposure)
    assert low <= np.quantile(drawn, 0.025) + 1e-9 and np.quantile(drawn, 0.975) <= high
    assert np.mean(drawn) == pytest.approx((events + 0.5) / exposure, rel=0.02)


def test_shares_of_counts():
    drawn = MANY.shares("classes", np.array([60.0, 30.0, 0.0]))
    assert drawn.sum(axis=1) == pytest.approx(np.ones(40_000))
    assert drawn.mean(axis=0) == pytest.approx(np.array([60.5, 30.5, 0.5]) / 91.5, rel=0.02)


def test_a_name_has_the_same_numbers_whatever_else_is_drawn():
    a, b = Streams(7, 50), Streams(7, 50)
    b.quantity("another", Quantity(1.0, 0.5, 2.0))
    assert (a.normal("rate") == b.normal("rate")).all()
    assert not np.allclose(a.normal("rate"), a.normal("repair"))
    assert not np.allclose(a.normal("rate"), Streams(8, 50).normal("rate"))


@pytest.mark.parametrize(("seed", "draws", "named"), [(-1, 5, "seed"), (1.5, 5, "seed"), (1, 0, "draws")])
def test_bad_streams_are_refused(seed, draws, named):
    with pytest.raises(ValueError, match=named):
        Streams(seed, draws)


def test_an_interval_refuses_what_is_no_number():
    with pytest.raises(ValueError, match="NaN"):
        interval([1.0, np.nan])
    with pytest.raises(ValueError, match="empty"):
        interval([])
    with pytest.raises(ValueError, match="level"):
        interval([1.0], level=1.0)
