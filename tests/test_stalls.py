"""What stalls leave of the time, each convention against its own simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import (
    NEGATIVE,
    NOT_COUNT,
    NOT_POSITIVE,
    assert_mean,
    assert_refused,
    modest,
    refusals,
    restarting_until,
    strict,
    two_sample_p,
)

from reliability import recovery, stalls
from reliability.availability import availability
from reliability.checkpoint import renewal_efficiency

ROUNDING = 1e-13
stall, mtbf = st.floats(0, 1e3), st.floats(1e-2, 1e5)


def faults(rng, every, horizon):
    """Times of the faults of a Poisson process, one by one."""
    found, now = [], rng.exponential(every)
    while now < horizon:
        found.append(now)
        now += rng.exponential(every)
    return found


def served_in_turn(times, lengths, horizon):
    """Share of time outside a queue's busy periods."""
    free, busy = 0.0, 0.0
    for time, length in zip(times, lengths, strict=True):
        start = max(free, time)
        free = start + length
        busy += max(0.0, min(free, horizon) - min(start, horizon))
    return 1 - busy / horizon


def started_at_once(times, lengths, horizon):
    """Share of time outside the union of all stalls."""
    until, busy = 0.0, 0.0
    for time, length in zip(times, lengths, strict=True):
        end = min(time + length, horizon)
        busy += max(0.0, end - max(time, until))
        until = max(until, end)
    return 1 - busy / horizon


def test_ft_hsdp_counts_the_stall_in_the_time_between_faults():
    assert f"{stalls.serial_share(10, 18):.1%}" == "44.4%"  # published: 44 %
    assert f"{stalls.serial_share(3, 18):.1%}" == "83.3%"  # published: 80 %
    for other in (stalls.running_share(10, 18), availability(18, 10)):
        assert not 0.435 <= other <= 0.445


@pytest.mark.parametrize(
    ("share", "simulated"), [(stalls.serial_share, served_in_turn), (stalls.running_share, started_at_once)]
)
def test_shares_against_a_simulation(share, simulated):
    """Stalls of two lengths: only their mean counts."""
    rng, samples = np.random.default_rng(5), []
    for _ in range(120):
        times = faults(rng, 1.0, 300.0)
        samples.append(simulated(times, rng.choice([0.1, 1.1], len(times)), 300.0))
    assert_mean(samples, share(0.6, 1.0), resolution=0.012)


@modest
@given(stall, mtbf, st.floats(1e-3, 1e3))
def test_only_the_ratio_counts(s, m, unit):
    for share in (stalls.serial_share, stalls.running_share):
        assert share(s * unit, m * unit) == pytest.approx(share(s, m), rel=1e-9, abs=1e-12)


@modest
@given(stall, mtbf)
def test_the_fewer_faults_count_the_more_is_left(s, m):
    shares = [stalls.serial_share(s, m), stalls.running_share(s, m), availability(m, s)]
    assert np.all(np.diff(shares) >= -1e-15)


@modest
@given(st.floats(0, 20), st.floats(0.1, 10))
def test_the_running_share_is_the_renewal_of_a_recovery_that_starts_over(s, m):
    assert stalls.running_share(s, m) == pytest.approx(m / (m + recovery.recovery_with_faults(s, m)), rel=1e-12)


def test_half_an_interval_of_repeated_work_is_a_stall_to_second_order():
    """What the page of the recovery timeline does with it: the exact model has a relative (T/M)^2/24 less."""
    for interval in (0.05, 0.2, 0.4):
        exact = renewal_efficiency(interval, 0.0, 0.3, 1.0)
        missing = 1 - exact / stalls.running_share(0.3 + interval / 2, 1.0)
        assert missing == pytest.approx(interval**2 / 24, rel=0.01)


def test_shares_at_extreme_scales():
    with strict():
        for share in (stalls.serial_share, stalls.running_share):
            assert share(0.0, 1e-300) == 1.0
            assert share(1e300, 1e-300) == 0.0
            assert share(1.0, 1e300) == 1.0
            assert 1 - share(1e-9, 1.0) == pytest.approx(1e-9, rel=1e-6)
        assert stalls.running_share(700.0, 1.0) == pytest.approx(math.exp(-700), rel=1e-12)


def test_drawn_recoveries_have_the_exact_mean_and_the_law_of_a_plain_loop():
    rng = np.random.default_rng(8)
    for duration, every, resolution in ((1.0, 3.0, 0.01), (2.0, 1.0, 0.02)):
        drawn = stalls.draw_recoveries(rng, duration, every, 20000)
        assert_mean(drawn, recovery.recovery_with_faults(duration, every), resolution)
        slow = [restarting_until(rng, duration, every) for _ in range(4000)]
        assert two_sample_p(drawn, np.array(slow)) > 1e-3
        assert drawn.min() == duration


def test_drawn_recoveries_in_the_limits():
    rng = np.random.default_rng(1)
    assert stalls.draw_recoveries(rng, 0.0, 1.0, 3).tolist() == [0, 0, 0]
    assert stalls.draw_recoveries(rng, 5.0, 1e12, 3).tolist() == [5, 5, 5]
    same = [stalls.draw_recoveries(np.random.default_rng(4), 1.0, 1.0, 50) for _ in range(2)]
    assert np.array_equal(*same)


CASES = [
    *refusals(stalls.serial_share, {"stall": 1.0, "mtbf": 2.0}, stall=NEGATIVE, mtbf=NOT_POSITIVE),
    *refusals(stalls.running_share, {"stall": 1.0, "mtbf": 2.0}, stall=NEGATIVE, mtbf=NOT_POSITIVE),
    *refusals(
        stalls.draw_recoveries,
        {"rng": np.random.default_rng(0), "duration": 1.0, "mtbf": 1.0, "number": 2},
        duration=(*NEGATIVE, 10.5, [1.0, 2.0]),
        mtbf=(*NOT_POSITIVE, 0.05),
        number=(*NOT_COUNT, 2.5),
        rng=("seven", None, 3),
    ),
]


@pytest.mark.parametrize("function, good, name, values", CASES)
def test_bad_input_is_refused(function, good, name, values):
    assert_refused(function, good, name, values)


def test_arrays_broadcast():
    assert stalls.running_share([[1.0], [2.0]], [1.0, 2.0, 4.0]).shape == (2, 3)
    assert stalls.serial_share([1.0, 3.0], 2.0).tolist() == [0.5, 0.0]
    with pytest.raises(ValueError, match="stall.*mtbf"):
        stalls.serial_share([1.0, 2.0], [1.0, 2.0, 3.0])
