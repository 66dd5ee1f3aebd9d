"""Lives of nodes and lemons: shape 1 is the exponential life exactly; else against scipy, closed forms and counting."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import INF, NOT_COUNT, NOT_INSIDE_UNIT, NOT_POSITIVE, assert_mean, assert_refused, modest, refusals, strict
from scipy import stats

from reliability import lemons, lives

pytestmark = pytest.mark.filterwarnings("error")

LEMONS = {"rate": 1 / 1000, "share": 0.15, "factor": 6.0}


@modest
@given(mean=st.floats(1e-6, 1e9), age=st.floats(1e-9, 1e9))
def test_shape_1_is_the_exponential_life_exactly(mean, age):
    assert lives.weibull_scale(mean, 1.0) == mean
    assert lives.weibull_hazard(age, mean, 1.0) == 1 / mean
    assert lives.weibull_cv(1.0) == 1.0
    assert lives.weibull_cdf(age, mean, 1.0) == pytest.approx(-math.expm1(-age / mean), rel=1e-14)


def test_shape_1_draws_the_very_numbers_of_the_exponential():
    drawn = lives.draw_weibull(np.random.default_rng(7), 1011.2, 1.0, 1000)
    assert drawn.tolist() == np.random.default_rng(7).exponential(1011.2, 1000).tolist()


@pytest.mark.parametrize("shape", [0.3, 0.7, 1.0, 2.5])
def test_weibull_against_scipy(shape):
    life = stats.weibull_min(shape, scale=lives.weibull_scale(1000.0, shape))
    ages = np.array([0.5, 30.0, 1000.0, 5000.0])
    assert life.mean() == pytest.approx(1000.0, rel=1e-12)
    assert lives.weibull_cv(shape) == pytest.approx(life.std() / life.mean(), rel=1e-12)
    assert lives.weibull_cdf(ages, 1000.0, shape) == pytest.approx(life.cdf(ages), rel=1e-12)
    assert lives.weibull_hazard(ages, 1000.0, shape) == pytest.approx(life.pdf(ages) / life.sf(ages), rel=1e-9)
    assert_mean(lives.draw_weibull(np.random.default_rng(1), 1000.0, shape, 200_000), 1000.0, 0.02)


@pytest.mark.parametrize("cv", [0.2, 1.462, 4.0])
def test_lognormal_against_scipy(cv):
    spread = math.sqrt(math.log(1 + cv * cv))
    life = stats.lognorm(spread, scale=1000.0 * math.exp(-spread * spread / 2))
    assert (life.mean(), life.std() / life.mean()) == pytest.approx((1000.0, cv), rel=1e-12)
    ages = np.array([0.0, 30.0, 1000.0, 5000.0])
    assert lives.lognormal_cdf(ages, 1000.0, cv) == pytest.approx(life.cdf(ages), rel=1e-11)
    drawn = lives.draw_lognormal(np.random.default_rng(1), 1000.0, cv, 200_000)
    assert np.log(drawn).std() == pytest.approx(spread, rel=0.01)
    assert_mean(np.log(drawn), math.log(1000) - spread * spread / 2, 0.01)


def test_renewals_in_closed_form():
    ages, failures = lives.renewal_function(lambda t: 1 - np.exp(-t), 5.0, steps=1000)
    assert failures == pytest.approx(ages, abs=6e-6)
    # Two exponential stages of mean 1/2 each: t - 1/4 + e^(-4t) / 4
    ages, failures = lives.renewal_function(lambda t: 1 - np.exp(-2 * t) * (1 + 2 * t), 5.0, steps=1000)
    assert failures == pytest.approx(ages - 0.25 + np.exp(-4 * ages) / 4, abs=1e-5)


@pytest.mark.parametrize("shape", [0.5, 0.7, 3.0])
def test_renewals_against_nodes_one_by_one(shape):
    rng, count = np.random.default_rng(4), []
    for _ in range(1500):
        age, failed = 0.0, 0
        while (age := age + lives.weibull_scale(1.0, shape) * rng.weibull(shape)) < 1.5:
            failed += 1
        count.append(failed)
    expected = lives.renewal_function(lambda t: lives.weibull_cdf(t, 1.0, shape), 1.5)[1][-1]
    assert_mean(count, expected, 0.04)
    drawn = lives.draw_renewals(lambda n: lives.draw_weibull(rng, 1.0, shape, n), 20_000, 1.5)
    assert drawn.size / 20_000 == pytest.approx(expected, rel=4 * math.sqrt(np.var(count) / 20_000) / expected + 1e-3)
    assert (np.diff(drawn) >= 0).all() and drawn[-1] < 1.5


def test_in_the_long_run_every_life_fails_once_per_mean():
    for shape in (0.6, 2.0):
        ages, failures = lives.renewal_function(lambda t, k=shape: lives.weibull_cdf(t, 1.0, k), 30.0, steps=1500)
        assert (failures[-1] - failures[-500]) / (ages[-1] - ages[-500]) == pytest.approx(1, rel=5e-3)
    assert lives.draw_renewals(lambda n: np.full(n, 2.0), 3, 1.0).size == 0


def test_failures_at_any_age():
    exponential = lambda t: -np.expm1(-t)  # noqa: E731
    for age in (1e-6, 0.1, 3.0, 59.0, 61.0, 1e6):
        assert lives.mean_failures(age, exponential, 1.0) == pytest.approx(age, rel=1e-3)
    for shape in (0.4, 0.7, 3.0):  # the asymptote t + (c^2 - 1) / 2
        beyond = lives.mean_failures(100.0, lambda t, k=shape: lives.weibull_cdf(t, 1.0, k), 1.0) - 100.0
        assert beyond == pytest.approx((lives.weibull_cv(shape) ** 2 - 1) / 2, abs=0.1)


def test_extreme_lives():
    with strict():
        assert lives.weibull_cdf([0.0, 1e300], 1e-300, 20.0).tolist() == [0.0, 1.0]
        assert lives.weibull_hazard(1e-300, 1.0, 20.0) == 0.0
        assert lives.lognormal_cdf(0.0, 1.0, 1.0) == 0.0


# Lemons ---------------------------------------------------------------------------------------------------------------


@modest
@given(rate=st.floats(1e-9, 1e9), share=st.floats(0, 1), factor=st.floats(1, 1e6))
def test_the_mean_rate_is_held(rate, share, factor):
    good, lemon = lemons.lemon_rates(rate, share, factor)
    assert (1 - share) * good + share * lemon == pytest.approx(rate, rel=1e-12)
    assert share * lemon / rate == pytest.approx(lemons.failures_by_lemons(share, factor), rel=1e-12)
    assert lemons.failures_by_lemons(share, 1.0) == pytest.approx(share, rel=1e-15)


def test_the_chance_of_a_lemon_by_counting_nodes():
    rng, exposure = np.random.default_rng(6), 1500.0
    is_lemon = rng.uniform(size=400_000) < LEMONS["share"]
    failed = rng.poisson(np.where(is_lemon, *lemons.lemon_rates(**LEMONS)[::-1]) * exposure)
    for k in range(6):
        assert_mean(is_lemon[failed == k], lemons.chance_of_lemon(k, exposure, **LEMONS), 0.1)


@modest
@given(level=st.floats(0.01, 0.99), exposure=st.floats(0, 1e5), share=st.floats(0.01, 0.9), factor=st.floats(1.1, 100))
def test_the_count_at_which_to_retire_is_the_first_that_reaches_the_level(level, exposure, share, factor):
    case = (exposure, 1e-3, share, factor)
    k = lemons.failures_to_retire(level, *case)
    assert lemons.chance_of_lemon(k, *case) >= level * (1 - 1e-6)
    assert k == 0 or lemons.chance_of_lemon(k - 1, *case) < level


def test_certain_lemons_and_none():
    with strict():
        assert lemons.chance_of_lemon([0, 10**6], 0.0, 1.0, 0.0, 6.0).tolist() == [0.0, 0.0]
        assert lemons.chance_of_lemon([0, 10**6], 1e12, 1.0, 1.0, 6.0).tolist() == [1.0, 1.0]
        assert lemons.chance_of_lemon(0, 1e300, 1.0, 0.5, 6.0) == 0.0


BELOW_1 = (math.nan, 0.5, "six")
NOT_SHARE = (math.nan, -0.25, 1.75, "x")


@pytest.mark.parametrize(
    ("function", "good", "name", "values"),
    [
        *refusals(lives.weibull_scale, {"mean": 1.0, "shape": 0.7}, mean=NOT_POSITIVE, shape=(*NOT_POSITIVE, 0.01)),
        *refusals(lives.weibull_hazard, {"age": 1.0, "mean": 1.0, "shape": 0.7}, age=NOT_POSITIVE),
        *refusals(lives.weibull_cv, {"shape": 0.7}, shape=NOT_POSITIVE),
        *refusals(lives.weibull_cdf, {"age": 1.0, "mean": 1.0, "shape": 0.7}, age=(-3.25, math.nan)),
        *refusals(
            lives.lognormal_cdf, {"age": 1.0, "mean": 1.0, "cv": 0.7}, age=(-3.25,), mean=NOT_POSITIVE, cv=NOT_POSITIVE
        ),
        *refusals(
            lives.draw_weibull,
            {"rng": np.random.default_rng(1), "mean": 1.0, "shape": 0.7, "size": 3},
            rng=(7,),
            size=(-1, 1.5),
        ),
        *refusals(
            lives.draw_lognormal,
            {"rng": np.random.default_rng(1), "mean": 1.0, "cv": 0.7, "size": 3},
            rng=(7,),
            cv=NOT_POSITIVE,
        ),
        *refusals(
            lives.draw_renewals,
            {"draw": lambda n: np.ones(n), "nodes": 3, "horizon": 1.0},
            nodes=NOT_COUNT,
            horizon=NOT_POSITIVE,
        ),
        *refusals(
            lives.renewal_function,
            {"cdf": lambda t: 1 - np.exp(-t), "horizon": 1.0, "steps": 3},
            horizon=NOT_POSITIVE,
            steps=NOT_COUNT,
        ),
        *refusals(
            lives.mean_failures,
            {"age": 1.0, "cdf": lambda t: 1 - np.exp(-t), "mean": 1.0},
            age=NOT_POSITIVE,
            mean=NOT_POSITIVE,
        ),
        *refusals(lemons.lemon_rates, LEMONS, rate=NOT_POSITIVE, share=NOT_SHARE, factor=BELOW_1),
        *refusals(lemons.failures_by_lemons, {"share": 0.1, "factor": 2.0}, share=NOT_SHARE, factor=BELOW_1),
        *refusals(
            lemons.chance_of_lemon, {"failures": 1, "exposure": 1.0, **LEMONS}, failures=(-1, 1.5), exposure=(-3.25,)
        ),
        *refusals(
            lemons.failures_to_retire,
            {"level": 0.5, "exposure": 1.0, **LEMONS},
            level=NOT_INSIDE_UNIT,
            share=(0.0, 1.0),
            factor=(0.5, 1.0),
        ),
    ],
)
def test_bad_input(function, good, name, values):
    assert_refused(function, good, name, values)


def renewals(rng, shape, age, nodes):
    """Failures of each of many nodes by an age, life after life; the mean life is 1."""
    ends = lives.weibull_scale(1.0, shape) * rng.weibull(shape, nodes)
    count, alive = np.zeros(nodes), np.flatnonzero(ends < age)
    while alive.size:
        count[alive] += 1
        ends[alive] += lives.weibull_scale(1.0, shape) * rng.weibull(shape, alive.size)
        alive = alive[ends[alive] < age]
    return count


@pytest.mark.parametrize(
    "shape, age, nodes", [(0.1, 300.0, 200), (0.2, 1000.0, 400), (0.2, 0.01, 5000), (20.0, 3.2, 5000)]
)
def test_failures_at_any_age_of_lives_that_vary_much_or_little(shape, age, nodes):
    count = renewals(np.random.default_rng(3), shape, age, nodes)
    assert_mean(count, lives.mean_failures(age, lambda t: lives.weibull_cdf(t, 1.0, shape), 1.0), 0.05)


def test_long_lives_of_small_shapes_come_to_their_rate():
    for shape in (0.2, 0.3):
        beyond = lives.mean_failures(1e7, lambda t, k=shape: lives.weibull_cdf(t, 1.0, k), 1.0) - 1e7
        assert beyond == pytest.approx((lives.weibull_cv(shape) ** 2 - 1) / 2, rel=0.05)


def test_a_step_may_be_longer_than_a_life():
    ages, failures = lives.renewal_function(lambda t: -np.expm1(-t), 3000.0, steps=300)
    assert failures[1:] == pytest.approx(ages[1:], rel=1e-9)
    with pytest.raises(ValueError, match="horizon = 1e\\+300"):
        lives.renewal_function(lambda t: -np.expm1(-t), 1e300)


def test_lives_at_the_ends_of_floats():
    with strict():
        assert lives.weibull_cv([1e3, 1e12, 2.0**53]) * np.array([1e3, 1e12, 2.0**53]) == pytest.approx(
            math.pi / math.sqrt(6), rel=1e-3
        )
        assert lives.weibull_cv(1000.001) == pytest.approx(lives.weibull_cv(999.999), rel=3e-6)
        assert lives.weibull_cv(1000.001) * 1000.001 == pytest.approx(lives.weibull_cv(999.999) * 999.999, rel=1e-8)
        assert lives.weibull_hazard(1e-300, 1e300, 0.05) == pytest.approx(4.152e269, rel=1e-3)
        assert lives.lognormal_cdf(
            [1.0, 2.0, 1.0, 1e-300], [1.0, 1.0, 1.0, 1e300], [1e-300, 1e-300, 1e200, 1.0]
        ).tolist() == (pytest.approx([0.5, 1.0, 1.0, 0.0], abs=1e-12))
        assert lives.draw_lognormal(np.random.default_rng(1), 1.0, 1e300, 3).shape == (3,)
    for function, good, name in (
        (lives.draw_renewals, {"draw": lambda n: np.ones(n), "nodes": 2, "horizon": 3.0}, "draw"),
        (lives.renewal_function, {"cdf": lambda t: -np.expm1(-t), "horizon": 3.0}, "cdf"),
    ):
        assert_refused(function, good, name, (None, 3.25, "seven"))


def test_lemons_at_the_ends_of_floats():
    with strict():
        assert lemons.chance_of_lemon(2**53, 1e300, 1e300, [0.0, 1.0], 2.0**53).tolist() == [0.0, 1.0]
        assert lemons.lemon_rates(1e9, 1e-300, 1e300)[1] == INF
        assert lemons.chance_of_lemon(0, [0.0, 1.0], 1e300, 1e-300, 1e300).tolist() == pytest.approx([0.0, 0.0])
        with pytest.raises(ValueError, match="exposure = 1e\\+300"):
            lemons.failures_to_retire(0.5, 1e300, 1.0, 0.5, 2.0)
