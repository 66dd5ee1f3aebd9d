"""The backtest: no look ahead, hours down by a slow loop, and coverage on systems of many kinds and on LANL's."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from oracles import NOT_INSIDE_UNIT, assert_refused, refusals
from scipy import stats

from reliability import backtest, scoring

pytestmark = pytest.mark.filterwarnings("error")
DAY = backtest.DAY_S
LANL = Path(__file__).parents[2] / "shared" / "data" / "lanl" / "systems-16-20.csv"


def system(rng, kind, a_week, days):
    """Starts and ends of incidents of a made-up system, in seconds."""
    t = np.arange(days)
    rate = np.full(days, a_week / 7)
    if kind == "drifting":
        rate = rate * np.exp(np.cumsum(rng.normal(0, 0.03, days)))
    elif kind == "settling":
        rate = rate * (0.3 + 3 * np.exp(-6 * t / days))
    elif kind == "ageing":
        rate = rate * (0.3 + 2 * t / days)
    elif kind == "uneven":
        rate = rate * np.repeat(rng.gamma(2, 0.5, days // 7 + 1), 7)[:days]
    counts = rng.poisson(rate / (2 if kind == "bursty" else 1))
    if kind == "bursty":
        counts = counts + rng.poisson(rate / 12) * rng.geometric(1 / 6, days)
    start = np.sort(np.repeat(t, counts) + rng.uniform(size=counts.sum())) * DAY
    return start, start + rng.lognormal(1, 1.5, start.size) * 3600


KINDS = ("steady", "drifting", "settling", "ageing", "uneven", "bursty")


@pytest.mark.parametrize("kind", KINDS)
def test_coverage_lies_in_the_band_for_systems_of_every_kind(kind):
    rng = np.random.default_rng([22, KINDS.index(kind)])
    for a_week in (3, 40):
        start, _ = system(rng, kind, a_week, 900)
        (week,) = backtest.backtest(start, observed_s=(0, 900 * DAY), windows_days=[7]).windows
        assert week.scored == 38
        assert week.counts.inside_band, (kind, a_week, week.counts.coverage)
        # What is gained against the naive forecast is large where that is wrong; where it is right little is lost.
        assert week.counts.score < 1.35 * week.counts.naive_score
        if kind != "steady" and a_week == 40:
            assert week.counts.score < 0.75 * week.counts.naive_score


def test_what_comes_later_changes_no_forecast():
    start, end = system(np.random.default_rng(1), "drifting", 20, 400)
    whole = backtest.backtest(start, end, observed_s=(0, 400 * DAY))
    (week, _), cut = whole.windows, 320 * DAY
    kept = start < cut
    extra = cut + np.linspace(0, 79 * DAY, 500)
    changed_start = np.concatenate([start[kept], extra])
    changed_end = np.concatenate([np.where(end[kept] < cut, end[kept], cut + 70 * DAY), extra + 9 * DAY])
    other = backtest.backtest(changed_start, changed_end, observed_s=(0, 400 * DAY)).windows[0]
    before = week.starts_s <= cut - 7 * DAY
    assert 4 <= before.sum() < week.scored
    for name in ("counts", "hours"):
        one, two = getattr(week, name), getattr(other, name)
        assert one.low[before].tolist() == two.low[before].tolist()
        assert one.high[before].tolist() == two.high[before].tolist()
        assert one.naive_high[before].tolist() == pytest.approx(two.naive_high[before].tolist())
        assert one.seen[~before].tolist() != two.seen[~before].tolist()


def test_outcomes_against_a_slow_loop():
    start, end = system(np.random.default_rng(2), "steady", 10, 204)
    still_open = np.zeros(start.size, bool)
    still_open[::50], end[::50], end[7] = True, np.nan, np.nan
    found = backtest.backtest(start, end, still_open, (0, 204 * DAY))
    week = found.windows[0]
    assert week.starts_s[0] == pytest.approx(142.8 * DAY)
    assert week.scored == week.counts.seen.size == 8
    for i, a in enumerate(week.starts_s):
        b = a + 7 * DAY
        assert week.counts.seen[i] == ((start >= a) & (start < b)).sum()
        down = 0.0
        for s, e, o in zip(start, end, still_open, strict=True):
            e = 204 * DAY if o else e
            down += max(0.0, min(e, b) - max(s, a)) / 3600 if e == e else 0.0
        assert week.hours.seen[i] == pytest.approx(down, abs=1e-6)
    assert any("1 incidents whose end is unknown" in note for note in found.notes)


def test_the_naive_forecast_is_the_poisson_of_all_the_past():
    start, _ = system(np.random.default_rng(3), "steady", 10, 200)
    week = backtest.backtest(start, observed_s=(0, 200 * DAY)).windows[0]
    for a, low, high in zip(week.starts_s, week.counts.naive_low, week.counts.naive_high, strict=True):
        mean = 7 * (start < a).sum() / (a / DAY)
        assert (low, high) == (stats.poisson(mean).ppf(0.05), stats.poisson(mean).ppf(0.95))


def test_times_may_be_moved_and_nodes_cap_the_hours():
    start, end = system(np.random.default_rng(4), "uneven", 10, 300)
    one = backtest.backtest(start, end, observed_s=(0, 300 * DAY)).windows[0]
    two = backtest.backtest(start + 1.7e9, end + 1.7e9, observed_s=(1.7e9, 1.7e9 + 300 * DAY)).windows[0]
    assert one.counts.high.tolist() == two.counts.high.tolist()
    assert one.hours.high == pytest.approx(two.hours.high, rel=1e-6)
    assert backtest.backtest(start, end, observed_s=(0, 300 * DAY), nodes=1).windows[0].hours.high.max() <= 168


def test_records_that_cannot_be_scored_say_why():
    for start in ([], [5.0], [5.0, 5.0], [0.0, 3 * DAY]):
        found = backtest.backtest(start, start)
        assert [w.scored for w in found.windows] == [0, 0]
        assert all(w.reason for w in found.windows)
    assert any("first incident to its last" in note for note in found.notes)


def test_a_record_that_goes_silent_is_forecast_as_silent():
    start, end = system(np.random.default_rng(5), "steady", 20, 200)
    week = backtest.backtest(start, end, observed_s=(0, 600 * DAY)).windows[0]
    assert week.counts.coverage == 1
    assert week.counts.high[-1] == 0
    assert week.counts.score < 0.2 * week.counts.naive_score
    none = backtest.backtest([], [], observed_s=(0, 600 * DAY)).windows[0]
    assert (none.counts.coverage, none.counts.naive_coverage, none.counts.width) == (1, 1, 0)


@pytest.mark.skipif(not LANL.exists(), reason="needs ../shared/data/lanl")
@pytest.mark.parametrize("name", [16, 20])
def test_lanl_by_its_raw_rows(name):
    import pandas as pd

    rows = pd.read_csv(LANL)
    rows = rows[rows["System"] == name]
    start, end = (
        pd.to_datetime(rows[c], format="%m/%d/%Y %H:%M").astype("int64").to_numpy() / 1e6
        for c in ("Prob Started", "Prob Fixed")
    )
    for window in backtest.backtest(start, end).windows:
        assert window.scored >= 12
        low, high = scoring.binomial_band(window.scored)
        assert low <= window.counts.coverage <= high
        assert window.counts.naive_coverage < 0.6
        assert window.counts.score < 0.6 * window.counts.naive_score
        assert window.hours.inside_band
        assert window.hours.score < window.hours.naive_score


def test_a_log_of_one_system_is_taken_as_it_is_read():
    start, end = system(np.random.default_rng(6), "steady", 20, 200)
    table = {
        "start_s": np.append(start, np.nan),
        "end_s": np.append(end, np.nan),
        "open": np.zeros(start.size + 1, bool),
    }
    log = SimpleNamespace(table=table, observed_s=(0.0, 200 * DAY), nodes=40)
    assert (
        backtest.of_incidents(log).windows[0].counts.score
        == backtest.backtest(start, end, observed_s=(0, 200 * DAY)).windows[0].counts.score
    )


@pytest.mark.parametrize(
    ("function", "good", "name", "values"),
    refusals(
        backtest.backtest,
        {
            "start_s": [0.0, 9e6],
            "observed_s": (0.0, 1e7),
            "held_out": 0.3,
            "windows_days": [7],
            "nodes": 4,
            "end_s": [1.0, 9.1e6],
        },
        start_s=("x", [np.nan, 1.0]),
        observed_s=((9.0, 3.0),),
        held_out=NOT_INSIDE_UNIT,
        windows_days=([0], [1.5]),
        nodes=(0, -3, 1.5),
        end_s=([-3.25, 9e6],),
    ),
)
def test_bad_input(function, good, name, values):
    assert_refused(function, good, name, values)


def test_a_record_of_ages_is_refused():
    with pytest.raises(ValueError, match="is a date wrong"):
        backtest.backtest([0.0, 3e10])


def other_system(rng, kind, days):
    """A made-up system of a kind that nothing was tuned on: starts and ends in seconds, at whole minutes."""
    rate = rng.choice([0.5, 2.0, 6.0])
    start = rng.uniform(0, days, rng.poisson(rate * days))
    if kind == "clusters that excite themselves":
        fathers = start
        while fathers.size:
            fathers = np.repeat(fathers, rng.poisson(0.5, fathers.size))
            fathers = fathers + rng.exponential(0.3, fathers.size)
            start = np.concatenate([start, fathers])
    elif kind == "bursts over many nodes":
        at = rng.uniform(0, days, rng.poisson(days / 15))
        start = np.concatenate([start, np.repeat(at, rng.geometric(0.1, at.size))])
    elif kind == "Weibull gaps":
        start = np.cumsum(rng.weibull(0.65, int(2 * rate * days)) / rate)
    else:  # levels that wander, and fall
        level = np.zeros(days)
        for day in range(1, days):
            level[day] = 0.97 * level[day - 1] + 0.25 * rng.standard_normal()
        expected = rate * np.exp(level - 0.5) * (0.4 + 3 * np.exp(-7 * np.arange(days) / days))
        start = np.repeat(np.arange(days), rng.poisson(expected)).astype(float)
        start += rng.uniform(size=start.size)
    start = np.round(np.sort(start[start < days]) * 1440) * 60
    return start, start + rng.lognormal(0, 1.5, start.size) * 3600


OTHER_KINDS = ("clusters that excite themselves", "bursts over many nodes", "Weibull gaps", "levels that wander")


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_coverage_lies_in_the_band_for_kinds_that_nothing_was_tuned_on(kind):
    rng, inside, ratios = np.random.default_rng([9, OTHER_KINDS.index(kind)]), [], []
    for days in (500, 800, 1000):
        start, end = other_system(rng, kind, days)
        for window in backtest.backtest(start, end, observed_s=(0, days * DAY)).windows:
            inside += [window.counts.inside_band, window.hours.inside_band]
            ratios.append(window.counts.score / window.counts.naive_score)
    assert sum(inside) >= len(inside) - 1
    # Gaps and rare bursts leave a steady rate almost as Poisson as it was.
    assert np.exp(np.log(ratios).mean()) < (0.9 if "clusters" in kind or "levels" in kind else 1.1)


def test_weeks_are_forecast_as_the_incidents_in_them():
    start, end = system(np.random.default_rng(7), "uneven", 20, 420)
    weeks = np.bincount((start // (7 * DAY)).astype(int), minlength=60)
    week, month = backtest.of_weeks(weeks, weeks * 2.0).windows
    by_time = backtest.backtest(start, observed_s=(0, 420 * DAY), windows_days=[7, 28]).windows
    for one, other in zip((week, month), by_time, strict=True):
        assert one.counts.seen.tolist() == other.counts.seen.tolist()
        assert one.counts.naive_high.tolist() == other.counts.naive_high.tolist()
        assert one.counts.high == pytest.approx(other.counts.high, abs=0.1 * other.counts.high.max())
    assert week.hours.seen == pytest.approx(2.0 * week.counts.seen)
    assert (week.scored, month.scored) == (18, 4)
    assert week.starts_s[0] == 42 * 7 * DAY
    assert backtest.of_weeks(weeks).windows[0].hours is None


@pytest.mark.parametrize(
    ("function", "good", "name", "values"),
    refusals(
        backtest.of_weeks,
        {"incidents": [3] * 40, "hours": [1.0] * 40, "held_out": 0.3, "weeks": [1]},
        incidents=([1.5], [-3], [[1, 2]]),
        hours=([1.0], [-3.25] * 40),
        held_out=NOT_INSIDE_UNIT,
        weeks=([0], [1.5]),
    ),
)
def test_bad_weeks(function, good, name, values):
    assert_refused(function, good, name, values)


def test_no_nodes_are_refused_and_not_taken_for_unknown():
    log = SimpleNamespace(table={"start_s": [0.0], "end_s": [1.0], "open": [False]}, observed_s=(0.0, DAY), nodes=4)
    with pytest.raises(ValueError, match="nodes = 0"):
        backtest.of_incidents(log, nodes=0)
