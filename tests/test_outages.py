"""A job through a trace of failures: by hand, minute by minute, and against the long run in closed form."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import NAN, NEGATIVE, NOT_COUNT, NOT_POSITIVE, assert_mean, assert_refused, modest, refusals, strict

from reliability import bursts, cascades, outages, repair_queues

pytestmark = pytest.mark.filterwarnings("error")

TIMES = {"standbys": 2, "swap": 0.3, "wait": 4.3, "away": 5.0, "interval": 0.5, "write": 0.02}
SHRINK = {"nodes": 64, "replica": 8, "reshard": 0.5, "away": 5.0, "interval": 0.1, "write": 0.003}
NONE = {"times": [], "lost": [], "horizon": 10.0}

traces = st.lists(st.tuples(st.integers(0, 4999), st.integers(1, 20)), max_size=30, unique_by=lambda e: e[0]).map(
    sorted
)


def minute_by_minute(times, lost, horizon, standbys, swap, wait, away, interval, write, step=0.01):
    """The same job on a clock that ticks every hundredth of an hour; everything falls on its ticks."""
    tick = lambda x: round(x / step)  # noqa: E731
    free, back, down, kept, up, stops, outage = standbys, [], 0, 0.0, 0, 0, 0
    events = {tick(t): n for t, n in zip(times, lost, strict=True)}
    for now in range(tick(horizon)):
        free += sum(b == now for b in back)
        if now in events:
            nodes, running = events[now], outage <= now
            enough = free >= nodes
            if enough:
                free -= nodes
                back += [now + tick(away)] * nodes
            if running:
                stops += 1
                kept = max(0.0, kept - interval / 2)
            outage = max(outage, now + tick(swap if enough else wait))
        if outage <= now:
            up += 1
            kept += step * (1 - write / interval)
        down += outage > now
    return kept / horizon, up * step / horizon, stops


@modest
@given(trace=traces)
def test_against_a_clock(trace):
    times, lost = [t / 100 for t, _ in trace], [n for _, n in trace]
    run = outages.with_standbys(times, lost, 50.0, **TIMES)
    kept, up, stops = minute_by_minute(times, lost, 50.0, **TIMES)
    assert (run.up, run.stops) == (pytest.approx(up, abs=1e-9), stops)
    assert run.kept == pytest.approx(kept, abs=1e-9)


@modest
@given(trace=traces)
def test_a_job_that_shrinks_stays_within_its_bounds(trace):
    times, lost = [t / 100 for t, _ in trace], [n for _, n in trace]
    run = outages.shrinking(times, lost, 100.0, **SHRINK)
    rigid = outages.shrinking(times, lost, 100.0, **{**SHRINK, "away": 0.0})
    assert 0 <= run.kept <= rigid.kept + 1e-12 and run.up == rigid.up
    assert run.up == pytest.approx(1 - sum(min(100.0, e) - s for s, e in queue(times, 0.5, 100.0)) / 100, abs=1e-9)


def queue(times, service, horizon):
    """Stops that are served one after another."""
    end = 0.0
    for time in times:
        start = max(end, time)
        if start >= horizon:
            return
        end = start + service
        yield start, end


def test_a_job_that_shrinks_by_hand():
    # Two nodes fail at 10 h: one replica of eight, until 15 h; another at 12 h: still one, its nodes stand together.
    run = outages.shrinking([10.0, 12.0], [2, 1], 20.0, **SHRINK)
    width, working = 7 / 8, 0.97
    full, narrow = 10.0 + (20.0 - 17.0), 2.0 - 0.5 + 3.0 - 0.5 + 2.0
    assert run.kept == pytest.approx((working * (full + width * narrow) - 0.05 * (1 + width)) / 20, rel=1e-12)
    assert (run.stops, run.up) == (2, pytest.approx(19 / 20))
    # A failure during the stop of another is served after it, and the two run into one outage
    run = outages.shrinking([10.0, 10.2], [1, 1], 14.0, **SHRINK)
    assert run.kept == pytest.approx((working * (10.0 + width * 3.0) - 0.05 * (1 + width)) / 14, rel=1e-12)
    run = outages.shrinking([10.0, 10.2], [1, 1], 10.8, **SHRINK)
    assert (run.kept, run.up) == pytest.approx(((working * 10.0 - 0.05 * (1 + width)) / 10.8, 10 / 10.8), rel=1e-12)
    # Nodes that are back before the next failure were missing all the same (which reliability-economics forgets)
    run = outages.shrinking([10.0, 16.0], [1, 1], 16.5, **SHRINK)
    assert run.kept == pytest.approx((working * (10.0 + width * 4.5 + 1.0) - 0.1) / 16.5, rel=1e-12)
    # More nodes than there are: it stands still until they are back
    assert outages.shrinking([1.0], [100], 7.0, **{**SHRINK, "write": 0.0}).kept == pytest.approx((1 - 0.05 + 1) / 7)


def test_without_failures_only_the_writes_are_lost():
    assert outages.with_standbys(**NONE, **TIMES) == outages.Ledger(pytest.approx(0.96), 1.0, 0)
    assert outages.shrinking(**NONE, **SHRINK) == outages.Ledger(pytest.approx(0.97), 1.0, 0)


@pytest.mark.parametrize(("rates", "sizes"), [([0.3], [1]), ([0.15, 0.15 / 16], [1, 16])])
def test_without_standbys_the_long_run_in_closed_form(rates, sizes):
    """Outages of one length that overlap: up e^(-rate D) of the time, whatever the size of the bursts."""
    rng, events = np.random.default_rng(1), sum(rates)
    runs = [
        outages.with_standbys(*bursts.draw_bursts(rng, rates, sizes, 20_000.0), 20_000.0, **{**TIMES, "standbys": 0})
        for _ in range(8)
    ]
    up = cascades.share_up(events, 0.0, 1.0, TIMES["wait"])
    stops = cascades.interruption_rate(events, 0.0, 1.0, TIMES["wait"])
    assert_mean([run.up for run in runs], up, 0.02)
    assert_mean([run.stops / 20_000 for run in runs], stops, 0.02)
    assert_mean([run.kept for run in runs], outages.kept_share(up, stops, 0.5, 0.02), 0.02)


def test_standbys_that_are_not_taken_when_too_few_are_erlangs_pool():
    """Single failures, each swap in no time: the share of waits is Erlang's loss formula."""
    rng, options = np.random.default_rng(2), {"swap": 0.0, "wait": 1e-6, "away": 5.0, "interval": 1.0, "write": 0.0}
    waits = []
    for _ in range(10):
        times, lost = bursts.draw_bursts(rng, [0.4], [1], 5000.0)
        run = outages.with_standbys(times, lost, 5000.0, standbys=2, **options)
        waits.append((1 - run.up) * 5000 / 1e-6 / len(times))
    assert_mean(waits, repair_queues.erlang_b(2.0, 2), 0.03)


def test_extremes():
    with strict():
        dead = outages.with_standbys(np.linspace(0, 9.99, 1000), np.ones(1000, int), 10.0, **TIMES)
        assert (dead.kept, dead.up, dead.stops) == (0.0, 0.0, 1)
        assert outages.kept_share(1.0, 1e300, 1e-3, 0.0) == 0.0
        assert outages.kept_share([0.5, 1.0], 0.0, 1.0, 0.1).tolist() == pytest.approx([0.45, 0.9])
    assert math.isclose(outages.kept_share(0.9125, 0.2953, 0.5, 0.02), 0.9125 * 0.96 - 0.2953 / 4)


LISTS = ([1.0, 0.5], [0.5], [0.5, 10.0])
ONE = {"times": [0.5, 1.0], "lost": [1, 1], "horizon": 10.0}


@pytest.mark.parametrize(
    ("function", "good", "name", "values"),
    [
        *refusals(outages.kept_share, {"up": 1.0, "stops": 0.1, "interval": 1.0, "write": 0.1}, up=(-0.25, 1.75), stops=NEGATIVE, interval=NOT_POSITIVE, write=(*NEGATIVE, 1.5)),
        *refusals(outages.with_standbys, {**ONE, **TIMES}, horizon=NOT_POSITIVE, standbys=(-1, 1.5), swap=NEGATIVE, wait=NEGATIVE, away=NEGATIVE, interval=NOT_POSITIVE, write=(-3.25, 0.75)),
        *refusals(outages.shrinking, {**ONE, **SHRINK}, nodes=NOT_COUNT, replica=NOT_COUNT, reshard=NEGATIVE, away=NEGATIVE),
    ],
)  # fmt: skip
def test_bad_input(function, good, name, values):
    assert_refused(function, good, name, values)


@pytest.mark.parametrize(
    "function", [lambda **t: outages.with_standbys(**t, **TIMES), lambda **t: outages.shrinking(**t, **SHRINK)]
)
def test_bad_traces(function):
    for times in LISTS:
        with pytest.raises(ValueError, match="times"):
            function(**{**ONE, "times": times})
    with pytest.raises(ValueError, match="lost"):
        function(**{**ONE, "lost": [0, 1]})


@pytest.mark.parametrize("bad", ["seven", 1j, {}, None, [[1.0, 2.0], [3.0]], [1.0, NAN], 10**400])
def test_a_trace_that_is_none_is_refused_by_name(bad):
    rest = {"horizon": 10.0, "away": 1.0, "interval": 1.0, "write": 0.1}
    for call in (
        lambda **trace: outages.with_standbys(**trace, **rest, standbys=2, swap=0.1, wait=0.2),
        lambda **trace: outages.shrinking(**trace, **rest, nodes=8, replica=4, reshard=0.1),
    ):
        assert call(times=[], lost=[]).kept == pytest.approx(0.9)
        for trace in ({"times": bad, "lost": [1, 1]}, {"times": [1.0, 2.0], "lost": bad}):
            with pytest.raises(ValueError, match="times|lost"):
                call(**trace)
