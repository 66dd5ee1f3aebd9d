"""Draws of a rate for a plan: the level that they take, the horizon, and how often they hold what was true and what came."""

from types import SimpleNamespace

import numpy as np
import pytest
from oracles import assert_refused, refusals

from reliability import calibrate, rate_draws

DAY = 86_400.0
NODES = 100


def fitted(start, days):
    n = start.size
    table = {
        "start_s": start,
        "end_s": start + 3600,
        "open": np.zeros(n, bool),
        "node": np.array([None] * n, dtype=object),
        "cls": np.array(["gpu"] * n, dtype=object),
    }
    return calibrate.fit(SimpleNamespace(table=table), nodes=NODES, observed_s=(0, days * DAY))


def record(rng, rates, days):
    """Fit to the first days of a record with a rate a day; the mean rate of those days and of the rest."""
    counts = rng.poisson(rates)
    start = np.sort(np.repeat(np.arange(rates.size), counts) + rng.uniform(size=counts.sum())) * DAY
    return fitted(start[start < days * DAY], days), rates[:days].mean(), rates[days:].mean()


def interval(fit, rng, horizon_days):
    drawn = fit.sample_rate(rng, 2000, horizon_s=horizon_days * DAY)
    return np.quantile(drawn["total"] * 24 * NODES, [0.025, 0.975]), drawn["basis"]


def test_a_steady_record_whose_trend_test_rejects_by_chance_keeps_its_mean_and_width():
    fits = (fitted(np.sort(np.random.default_rng(seed).uniform(0, 90 * DAY, 115)), 90) for seed in range(160))
    chance = [fit for fit in fits if 0.01 <= fit.trend_p < 0.05]
    assert len(chance) > 2
    widths = []
    for fit in chance:
        drawn = fit.sample_rate(np.random.default_rng(1), 4000, horizon_s=30 * DAY)
        assert drawn["basis"].level == "record"
        assert "mean of the whole record" in fit.findings[0].sentence
        low, high = np.quantile(drawn["total"] * 24_000, [0.025, 0.975])
        assert low < fit.total.value < high
        widths.append(np.log(high / low) / np.log(fit.total.exact_high / fit.total.exact_low))
    assert np.median(widths) < 2.5 and max(widths) < 5


@pytest.mark.parametrize("horizon", [30, 90])
def test_draws_of_steady_records_hold_the_truth_and_are_as_wide_as_the_exact_interval(horizon):
    rng, held, wider = np.random.default_rng(12), [], []
    for _ in range(200 if horizon == 30 else 80):
        fit, truth, _ = record(rng, np.full(120, 115 / 90), 90)
        (low, high), basis = interval(fit, rng, horizon)
        assert (basis.period_days, basis.capped) == (9, True)
        held.append(low <= truth <= high)
        wider.append(np.log(high / low) / np.log(fit.total.exact_high / fit.total.exact_low))
    assert np.mean(held) >= 0.91
    assert np.median(wider) == pytest.approx(1, abs=0.1)
    assert np.quantile(wider, 0.9) < 1.8


def test_draws_hold_what_comes_where_the_rate_varies_or_falls():
    rng, t = np.random.default_rng(13), np.arange(395)
    kinds = {
        "week": lambda: np.repeat(rng.gamma(2, 0.5, 57), 7)[:395],
        "month": lambda: np.repeat(rng.gamma(4, 0.25, 14), 30)[:395],
        "falling": lambda: 2 * np.exp(-1.5 * t / 365),
    }
    for kind, rates in kinds.items():
        held = []
        for _ in range(40):
            fit, _, coming = record(rng, rates(), 365)
            (low, high), _ = interval(fit, rng, 30)
            held.append(low <= coming <= high)
        assert np.mean(held) >= 0.82, kind


def test_a_clear_fall_is_planned_with_at_its_end_and_a_slight_one_is_not():
    rng = np.random.default_rng(4)
    fit = fitted(np.sort(600 * DAY * rng.uniform(size=900) ** 2), 600)
    assert fit.rate_basis(30 * DAY).level == "recent"
    assert fit.rate_basis(30 * DAY, recent=False).level == "record"
    assert "record's end" in fit.rate_basis(30 * DAY).sentence
    # So many incidents that a fall by a tenth is significant: it is not material.
    share = rng.uniform(size=40_000)
    slight = fitted(np.sort(600 * DAY * (share - 0.04 * share * (1 - share))), 600)
    assert slight.trend_p < 0.01
    basis = slight.rate_basis(30 * DAY)
    assert basis.level == "record" and "factor of 1.25" in basis.sentence


def test_a_trend_that_is_not_clear_is_not_planned_with(monkeypatch):
    rng = np.random.default_rng(21)
    fits = [record(rng, np.repeat(rng.gamma(0.7, 1 / 0.7, 29), 14)[:400], 380)[0] for _ in range(60)]
    vague = [fit for fit in fits if 0.01 < fit.trend_p < 0.05]
    assert vague and {fit.rate_basis(30 * DAY).level for fit in vague} == {"record"}
    monkeypatch.setattr(rate_draws, "CLEAR", 0.05)
    assert "recent" in {fit.rate_basis(30 * DAY).level for fit in vague}  # it is the p-value that decides


def test_the_horizon_is_the_one_asked_for_until_the_record_is_too_short():
    rng = np.random.default_rng(8)
    fit, _, _ = record(rng, np.repeat(rng.gamma(1, 1, 104), 7) * 2, 700)
    week, month, year = (fit.rate_basis(days * DAY) for days in (7, 28, 365))
    assert [b.period_days for b in (week, month, year)] == [7, 28, 70]
    assert [b.capped for b in (week, month, year)] == [False, False, True]
    # Weeks are independent: a month averages over four of them.
    assert month.variation < 0.75 * week.variation
    assert "how 365 days, as asked for, vary" in year.sentence and "periods of 70 days stand" in year.sentence
    assert "asked for" not in week.sentence
    few = fitted(np.arange(1, 6) * DAY, 90).rate_basis(30 * DAY)
    assert (few.period_days, few.capped) == (None, True) and "too few incidents" in few.sentence
    alone = fit.rate_basis()
    assert (alone.horizon_days, alone.period_days, alone.capped) == (None, None, False)


@pytest.mark.parametrize(
    ("function", "good", "name", "values"),
    refusals(
        fitted(np.arange(1, 40) * DAY, 40).sample_rate,
        {"rng": np.random.default_rng(1), "n": 5, "horizon_s": 5 * DAY},
        n=(0, 1.5, "x"),
        horizon_s=(0, -3.25, np.nan, np.inf, "seven"),
    ),
)
def test_bad_input(function, good, name, values):
    assert_refused(function, good, name, values)
