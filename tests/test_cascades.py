"""Cascades: without branching the Poisson process; else against quadrature and an event-by-event simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import NEGATIVE, NOT_POSITIVE, assert_mean, assert_refused, modest, refusals, strict
from scipy.integrate import quad

from reliability import bursts, cascades

pytestmark = pytest.mark.filterwarnings("error")

CASE = {"rate": 2.0, "branching": 0.6, "delay": 0.7}


def simulated(rng, rate, branching, delay, horizon):
    """Event by event: the intensity is base + excess; the excess decays, and jumps at each failure (Ogata's thinning)."""
    base, jump, time, excess, times = rate * (1 - branching), branching / delay, 0.0, 0.0, []
    while True:
        bound = base + excess
        wait = rng.exponential(1 / bound)
        time, excess = time + wait, excess * math.exp(-wait / delay)
        if time >= horizon:
            return np.array(times)
        if rng.uniform() * bound < base + excess:
            times.append(time)
            excess += jump


@pytest.fixture(scope="module")
def by_events():
    times = simulated(np.random.default_rng(5), **CASE, horizon=20_050.0)
    return times[times >= 50] - 50  # it begins without a past


@modest
@given(rate=st.floats(0, 1e3), delay=st.floats(1e-6, 1e6), outage=st.floats(0, 10))
def test_without_branching_it_is_the_poisson_process(rate, delay, outage):
    up = math.exp(-rate * outage)
    assert cascades.share_up(rate, 0.0, delay, outage) == pytest.approx(up, rel=1e-12)
    assert cascades.interruption_rate(rate, 0.0, delay, outage) == pytest.approx(rate * up, rel=1e-12)
    assert cascades.interruption_rate(rate, 0.0, delay, 0.0) == rate  # to the last bit
    assert cascades.dispersion(0.0, delay, outage + 1) == 1.0


def test_without_branching_the_draws_are_those_of_single_failures():
    drawn = cascades.draw_cascades(np.random.default_rng(7), 0.3, 0.0, 1.0, 1000.0)
    assert drawn.tolist() == bursts.draw_bursts(np.random.default_rng(7), [0.3], [1], 1000.0)[0].tolist()


@pytest.mark.parametrize("branching", [1e-9, 0.2, 0.9, 0.999, 1 - 1e-6])
@pytest.mark.parametrize("outage", [1e-4, 0.3, 40.0])
def test_the_void_probability_by_quadrature(branching, outage):
    y = -math.expm1(-outage)

    def integrand(u):  # with y = e^u, so that the peak at 0 is no trouble
        x = math.exp(u)
        return x * -math.expm1(-branching * x) / (x + math.expm1(-branching * x))

    area = sum(quad(integrand, math.log(y) - k - 1, math.log(y) - k, epsrel=1e-12)[0] for k in range(19))
    area += branching / (1 - branching) * y * math.exp(-19)  # below, the integrand is at its limit
    expected = math.exp(-(1 - branching) * (outage + area))
    assert cascades.share_up(1.0, branching, 1.0, outage) == pytest.approx(expected, rel=2e-7)


@modest
@given(branching=st.floats(0, 0.999), outage=st.floats(0.01, 5), rate=st.floats(0.01, 3))
def test_interruptions_are_the_slope_of_the_share_up(branching, outage, rate):
    step = 1e-5 * outage
    slope = (
        cascades.share_up(rate, branching, 1.0, outage - step) - cascades.share_up(rate, branching, 1.0, outage + step)
    ) / (2 * step)
    assert cascades.interruption_rate(rate, branching, 1.0, outage) == pytest.approx(slope, rel=1e-5, abs=1e-9)


def test_scaling_limits_and_extremes():
    with strict():
        assert cascades.share_up(3.0, 0.5, 1.0, 2.0) == pytest.approx(
            cascades.share_up(0.3, 0.5, 10.0, 20.0), rel=1e-13
        )
        assert cascades.interruption_rate(3.0, 0.5, 1.0, 2.0) == pytest.approx(
            10 * cascades.interruption_rate(0.3, 0.5, 10.0, 20.0), rel=1e-13
        )
        assert cascades.interruption_rate(1.7, 0.99, 1.0, 0.0) == 1.7
        # Children that come at once are absorbed: families arrive like a Poisson process of their own
        assert cascades.interruption_rate(1.0, 0.5, 1e-9, 0.1) == pytest.approx(0.5 * math.exp(-0.05), rel=1e-6)
        assert cascades.share_up(1e9, 0.5, 1.0, 1.0) == 0.0
        assert cascades.share_up(1e-300, 0.5, 1e300, 1e-300) == 1.0
        assert 0 < cascades.share_up(1.0, 1 - 1e-12, 1.0, 0.5) <= 1
        assert cascades.dispersion(0.5, 1.0, 1e12) == pytest.approx(4, rel=1e-9)
        assert cascades.dispersion(0.5, 1e9, 1.0) - 1 == pytest.approx(3 * 0.25e-9, rel=1e-5)
        assert cascades.dispersion(0.5, 1e4, 1.0) - 1 == pytest.approx(3 * 0.25e-4, rel=1e-4)
        assert cascades.share_up([[1.0], [2.0]], [0.0, 0.5, 0.9], 1.0, 0.3).shape == (2, 3)


def test_against_events_one_by_one(by_events):
    horizon, parts, outage = 20_000.0, 400, 0.4
    gaps, edges = np.diff(by_events), np.linspace(0, horizon, parts + 1)
    assert_mean(np.histogram(by_events, edges)[0], CASE["rate"] * horizon / parts, 0.02)
    stops = by_events[1:][gaps > outage]
    assert_mean(
        np.histogram(stops, edges)[0] * parts / horizon, cascades.interruption_rate(**CASE, outage=outage), 0.02
    )
    up = np.add.reduceat(np.maximum(gaps - outage, 0), np.searchsorted(by_events[1:], edges[:-1]))
    assert_mean(up * parts / horizon, cascades.share_up(**CASE, outage=outage), 0.02)


def test_draws_have_the_rate_and_the_dispersion():
    horizon = 40_000.0
    times = cascades.draw_cascades(np.random.default_rng(8), **CASE, horizon=horizon)
    assert (np.diff(times) >= 0).all() and times[0] >= 0 and times[-1] < horizon
    counts = np.histogram(times, 8000, (0, horizon))[0]
    assert_mean(counts.reshape(200, -1).sum(1), CASE["rate"] * 200, 0.01)
    expected = cascades.dispersion(CASE["branching"], CASE["delay"], 5.0)
    assert counts.var() / counts.mean() == pytest.approx(expected, rel=0.08)
    for outage in (0.05, 0.4):
        stops = times[np.diff(times, prepend=-1.0) > outage]
        assert_mean(
            np.histogram(stops, 400, (0, horizon))[0] * 400 / horizon,
            cascades.interruption_rate(**CASE, outage=outage),
            0.02,
        )


@pytest.mark.parametrize(
    ("function", "good", "name", "values"),
    [
        *refusals(cascades.share_up, {**CASE, "outage": 1.0}, rate=NEGATIVE, branching=(-0.25, 1.0, 1.75), delay=NOT_POSITIVE, outage=NEGATIVE),
        *refusals(cascades.interruption_rate, {**CASE, "outage": 1.0}, rate=NEGATIVE, branching=(1.0,), delay=NOT_POSITIVE, outage=NEGATIVE),
        *refusals(cascades.dispersion, {"branching": 0.5, "delay": 1.0, "window": 1.0}, branching=(1.0, -0.5), delay=NOT_POSITIVE, window=NOT_POSITIVE),
        *refusals(
            cascades.draw_cascades,
            {"rng": np.random.default_rng(1), **CASE, "horizon": 1.0},
            rng=(7,), rate=NEGATIVE, branching=(1.0,), delay=NOT_POSITIVE, horizon=NOT_POSITIVE,
        ),
    ],
)  # fmt: skip
def test_bad_input(function, good, name, values):
    assert_refused(function, good, name, values)


def test_many_scenarios_are_those_one_by_one_and_a_draw_too_large_is_refused():
    rates, branching = np.linspace(0.1, 2, 7), np.linspace(0, 0.999, 7)
    together = cascades.share_up(rates, branching, 1.0, 0.5)
    assert together.tolist() == [cascades.share_up(r, n, 1.0, 0.5) for r, n in zip(rates, branching, strict=True)]
    with pytest.raises(ValueError, match="rate = 1"):
        cascades.draw_cascades(np.random.default_rng(1), 1.0, 0.5, 1.0, horizon=1e300)
    with pytest.raises(ValueError, match="horizon = 1e"):
        bursts.draw_bursts(np.random.default_rng(1), [1.0], [1], horizon=1e300)
