"""What guards see of a corruption, the verified checkpoint interval, and the guards on a real run."""

import math
import re
import warnings
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import INF, NAN, NOT_COUNT, NOT_POSITIVE, assert_refused, modest, refusals, spikes, strict

from reliability import checkpoint, coverage, guards, sdc, verification

LOG = Path(__file__).parents[2] / "shared" / "data" / "llmc" / "main.log"
FORMATS = pytest.mark.parametrize("name", sdc.FORMATS)


def sample(name, size, seed=0):
    return np.random.default_rng(seed).standard_normal(size).astype(sdc.dtype_of(name))


# --- the fields of a format -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, limits",
    [("float64", np.finfo("f8")), ("float32", np.finfo("f4")), ("bfloat16", ml_dtypes.finfo("bfloat16"))],
)
def test_fields_are_those_of_the_format(name, limits):
    assert coverage.fields(name) == {"sign": 1, "exponent": limits.nexp, "fraction": limits.nmant}
    assert sum(coverage.fields(name).values()) == sdc.bits(name)


# --- the norm guard, bit by bit -------------------------------------------------------------------


@FORMATS
@pytest.mark.parametrize("threshold", [1.5, 4.0])
def test_flips_seen_by_norm_is_a_loop_over_all_flips(name, threshold):
    values = sample(name, 12, 1)
    with strict():
        seen = coverage.flips_seen_by_norm(values, threshold)
    before = math.hypot(*values.astype(float).tolist())
    for bit in range(sdc.bits(name)):
        caught = 0
        for index in range(values.size):
            flipped = sdc.flip(values, index, bit)
            with np.errstate(invalid="ignore"):  # a signalling NaN, widened
                numbers = flipped.astype(float).tolist()
            caught += not all(map(math.isfinite, numbers)) or math.hypot(*numbers) > threshold * before
        assert seen[bit] == pytest.approx(caught / values.size, abs=1e-12)


def test_flips_seen_of_a_normal_gradient_are_those_that_theory_gives():
    # Norm 64, so that above threshold 4 a number must grow beyond 248. Below 2 only the exponent's highest bit is 0
    # that could do it; from 2 on that one is 1, and of the next only those that multiply by 2^8 and more do it.
    size, upper = 4096, 2 * (1 - 0.97725)
    seen = coverage.flips_seen_by_norm(sample("float64", size, 2), 4.0)
    expected = np.zeros(64)
    expected[55:62], expected[62] = upper, 1 - upper
    assert np.flatnonzero(seen).tolist() == np.flatnonzero(expected).tolist()
    errors = np.sqrt(upper * (1 - upper) / size)
    assert np.abs(seen - expected).max() < 4 * errors


@FORMATS
def test_the_norm_guard_never_sees_a_sign_nor_the_fraction_of_a_long_gradient(name):
    seen = coverage.flips_seen_by_norm(sample(name, 300, 3), 1.1)
    assert seen[-1] == 0.0
    assert not seen[: coverage.fields(name)["fraction"]].any()


@FORMATS
def test_a_higher_threshold_sees_no_more(name):
    values = sample(name, 50, 4)
    seen = np.array([coverage.flips_seen_by_norm(values, threshold) for threshold in (1.01, 2, 10, 1e6, 1e300)])
    assert (np.diff(seen, axis=0) <= 0).all()
    assert seen[0].sum() > seen[-1].sum()


@FORMATS
def test_single_flips_are_all_seen_by_fingerprint_and_dual_run_and_few_by_the_norm(name):
    values = sample(name, 500, 7)
    with strict():
        shares = coverage.single_flips(values, 4.0, exhausted=5)
    assert shares["fingerprint"] == shares["dual_run"] == 1.0
    assert shares["norm"] == pytest.approx(coverage.flips_seen_by_norm(values, 4.0).mean())
    # Only the exponent's highest bit, and only of numbers from 1 to 2, fills the exponent with ones.
    filled = np.mean((np.abs(values.astype(float)) >= 1) & (np.abs(values.astype(float)) < 2))
    assert shares["not_finite"] == pytest.approx(filled / sdc.bits(name), rel=1e-12)
    assert 0 < shares["not_finite"] < shares["norm"] < 0.1


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_signalling_nans_of_a_flip_are_read_without_a_warning(name):
    # One whose exponent turns all ones and whose fraction begins with a 0, without being 0.
    values = np.array([1.0, 1.0 + 2.0**-7]).astype(sdc.dtype_of(name))
    top = sdc.bits(name) - 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sdc.flipped_values(values, [0, 1], top).tolist() == pytest.approx([INF, NAN], nan_ok=True)
        assert coverage.flips_seen_by_norm(values, 4.0)[top] == 1.0


# --- the rolling median, and spikes at every step -------------------------------------------------

losses = st.lists(st.floats(0.5, 8), min_size=8, max_size=30)


@modest
@given(losses, st.integers(1, 6))
def test_rolling_median_is_a_loop_over_the_steps_before(curve, window):
    medians = guards.rolling_median(curve, window)
    assert np.isnan(medians[:window]).all()
    for step in range(window, len(curve)):
        assert medians[step] == np.median(curve[step - window : step])


@modest
@given(losses, st.integers(1, 6))
def test_loss_over_median_is_the_highest_threshold_without_an_alarm(curve, window):
    highest = coverage.loss_over_median(curve, window).max()
    assert spikes(curve, highest * (1 + 1e-9), window) == []
    assert spikes(curve, highest * (1 - 1e-9), window) != []


@modest
@given(losses, st.floats(1.2, 9), st.floats(1.2, 9), st.integers(1, 6))
def test_spikes_seen_is_the_share_of_injections_that_alarm_at_their_step(curve, factor, threshold, window):
    found = 0
    for step in range(window, len(curve)):
        spiked = [*curve[:step], curve[step] * factor, *curve[step + 1 :]]
        found += step in spikes(spiked, threshold, window)
    assert coverage.spikes_seen(curve, factor, threshold, window) == pytest.approx(found / (len(curve) - window))


def test_spikes_seen_depends_on_the_ratio_of_factor_and_threshold():
    curve = 3 + np.random.default_rng(5).random(200)
    assert coverage.spikes_seen(curve, 5, 5, 20) == coverage.spikes_seen(curve, 3, 3, 20)
    assert 0.3 < coverage.spikes_seen(curve, 5, 5, 20) < 0.7  # noise about its own median
    assert coverage.spikes_seen(curve, 5, 3, 20) == 1.0
    assert coverage.spikes_seen(curve, 3, 5, 20) == 0.0


# --- a corruption before the all-reduce -----------------------------------------------------------


@FORMATS
def test_a_flip_before_the_mean_leaves_all_replicas_equal_and_wrong(name):
    own = sample(name, (8, 64), 6)
    wrong = own.copy()
    wrong[3] = sdc.flip(own[3], np.abs(own[3].astype(float)).argmax(), sdc.bits(name) - 1)
    sound, got = (np.tile(g.astype(float).mean(axis=0).astype(g.dtype), (8, 1)) for g in (own, wrong))
    assert sdc.differs(sound, got).all()
    assert sdc.odd_ones_out(sdc.fingerprints(got)).tolist() == []
    assert np.flatnonzero(sdc.differs(own, wrong)).tolist() == [3]
    with pytest.raises(sdc.NoMajority):
        sdc.odd_ones_out(sdc.fingerprints(wrong))


# --- the interval with a verification -------------------------------------------------------------


def waste(interval, write, verification_time, silent_mtbf, failure_mtbf):
    """Exact share of time lost with restarts that cost nothing: expected time of a segment over its work, less one."""
    span = interval + verification_time + write
    failed = -math.expm1(-span / failure_mtbf)
    wrong = -math.expm1(-interval / silent_mtbf)
    lost = failure_mtbf - span / math.expm1(span / failure_mtbf)  # mean time of a try that a failure ends
    # A try ends by a failure, by a verification that finds a corruption (before the write), or well.
    again = failed + (1 - failed) * wrong
    tries = failed * lost + (1 - failed) * (span - wrong * write)
    return tries / (1 - again) / interval - 1


@pytest.mark.parametrize("verification_time", [0.0, 5.0, 60.0])
@pytest.mark.parametrize("silent_mtbf, failure_mtbf", [(1e7, 1e7), (3e6, 1e9), (1e9, 3e6)])
def test_verified_interval_is_the_optimum_of_the_exact_model_where_mean_times_are_long(
    verification_time, silent_mtbf, failure_mtbf
):
    arguments = (20.0, verification_time, silent_mtbf, failure_mtbf)
    best = verification.verified_interval(*arguments)
    grid = best * np.linspace(0.8, 1.2, 801)
    found = grid[np.argmin([waste(interval, *arguments) for interval in grid])]
    assert found == pytest.approx(best, rel=0.01)


def test_without_corruption_and_verification_it_is_youngs_interval():
    assert verification.verified_interval(240, 0, 1e18, 28440) == pytest.approx(checkpoint.young_interval(240, 28440))


def test_a_silent_corruption_counts_twice_a_failure():
    silent, failure = (verification.verified_interval(240, 0, *m) for m in ((1e5, 1e18), (1e18, 1e5)))
    assert failure / silent == pytest.approx(math.sqrt(2))


@modest
@given(st.floats(1e-3, 1e3), st.floats(1.0, 500.0), st.floats(0.0, 500.0))
def test_verified_interval_knows_no_unit_of_time(unit, write, verification_time):
    times = np.array([write, verification_time, 1e6, 3e4])
    assert verification.verified_interval(*(unit * times)) == pytest.approx(
        unit * verification.verified_interval(*times)
    )


def test_verified_interval_broadcasts():
    table = verification.verified_interval(240, np.array([0.0, 60.0]), np.array([[1e6], [1e7]]), 3e4)
    assert table.shape == (2, 2)
    assert table[1, 1] == verification.verified_interval(240, 60, 1e7, 3e4)


# --- bad input ------------------------------------------------------------------------------------

GOOD = {"write": 240.0, "verification": 60.0, "silent_mtbf": 1e6, "failure_mtbf": 3e4}
CURVE = [2.0, 2.0, 1.9, 2.1]
REFUSALS = [
    *refusals(
        verification.verified_interval,
        GOOD,
        write=NOT_POSITIVE,
        verification=(NAN, INF, -3.25, "seven", None),
        silent_mtbf=NOT_POSITIVE,
        failure_mtbf=NOT_POSITIVE,
    ),
    *refusals(coverage.flips_seen_by_norm, {"values": np.ones(4), "threshold": 4.0}, threshold=NOT_POSITIVE),
    *refusals(
        coverage.single_flips,
        {"values": np.ones(4), "threshold": 4.0, "exhausted": 2},
        threshold=NOT_POSITIVE,
        exhausted=(*NOT_COUNT, 2.5),
    ),
    *refusals(guards.rolling_median, {"losses": CURVE, "window": 2}, losses=([],), window=(*NOT_COUNT, 2.5)),
    *refusals(
        coverage.loss_over_median,
        {"losses": CURVE, "window": 2},
        losses=([], [2.0, NAN, 2.0, 2.0], [2.0, -3.25, 2.0, 2.0]),
        window=(*NOT_COUNT, 2.5, 4),
    ),
    *refusals(
        coverage.spikes_seen,
        {"losses": CURVE, "factor": 5.0, "threshold": 4.0, "window": 2},
        factor=NOT_POSITIVE,
        threshold=NOT_POSITIVE,
        window=(*NOT_COUNT, 2.5, 4),
    ),
]


@pytest.mark.parametrize("function, good, name, values", REFUSALS)
def test_bad_input_is_named_and_repeated(function, good, name, values):
    assert_refused(function, good, name, values)


@pytest.mark.parametrize("name", ["float16", "int32", "seven"])
def test_an_unknown_format_has_no_fields(name):
    with pytest.raises(ValueError, match=name):
        coverage.fields(name)


def test_a_gradient_of_zeros_is_refused():
    with pytest.raises(ValueError, match=r"\bvalues\b"):
        coverage.flips_seen_by_norm(np.zeros(4), 4.0)


# --- a real run -----------------------------------------------------------------------------------


@pytest.mark.skipif(not LOG.exists(), reason="the log of the real run is not there: ../shared/data/llmc/main.log")
def test_guards_on_a_real_run_that_had_no_corruption():
    lines = re.findall(r"^s:\d+ trl:(\S+) lr:\S+ norm:(\S+)$", LOG.read_text(encoding="utf-8"), re.MULTILINE)
    losses, norms = np.array(lines, dtype=float).T
    assert len(losses) == 19_560
    assert guards.spike_guard(losses, 4.0).tolist() == []
    # The loss strays by a tenth at most; the norm by itself passes the same threshold twice.
    assert coverage.loss_over_median(losses).max() == pytest.approx(1.10, abs=0.005)
    assert guards.spike_guard(norms, 4.0).tolist() == [7435, 9025]
    assert coverage.loss_over_median(norms).max() == pytest.approx(7.48, abs=0.005)
