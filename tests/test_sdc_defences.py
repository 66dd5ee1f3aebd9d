"""Verified patterns, faults injected into a step, the layered plan, and the page that joins them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import (
    INF,
    NAN,
    NEGATIVE,
    NOT_COUNT,
    NOT_INSIDE_UNIT,
    NOT_POSITIVE,
    assert_mean,
    assert_refused,
    maximise,
    modest,
    refusals,
    restarting_until,
    strict,
)

from reliability import (
    abft,
    anchors,
    checkpoint,
    defences,
    facts,
    injection,
    rates,
    rounding,
    scenarios,
    sdc,
    verification,
)
from reliability.pattern_simulation import draw_pattern_times
from reliability.scenarios import sdc_defences as scenario
from reliability.scenarios import sdc_defences_anchors
from reliability.scenarios.base import ParameterError

JOB = {"write": 20.0, "verification": 10.0, "restart": 15.0, "silent_mtbf": 300.0, "failure_mtbf": 200.0}


def one_pattern(rng, interval, write, verification, restart, silent_mtbf, failure_mtbf, every):
    """One pattern, event by event: how long until `every` intervals are written and the state is verified."""
    elapsed, written, spoilt, spoilt_when_written = 0.0, 0, False, False
    while True:
        last = written == every - 1
        stretch = interval + (verification if last else 0.0)
        failure = rng.exponential(failure_mtbf)
        if failure < stretch:
            elapsed += failure + restarting_until(rng, restart, failure_mtbf)
            spoilt = spoilt_when_written
            continue
        elapsed += stretch
        spoilt = spoilt or rng.exponential(silent_mtbf) < interval
        if last and spoilt:
            elapsed += restarting_until(rng, restart, failure_mtbf)
            written, spoilt, spoilt_when_written = 0, False, False
            continue
        failure = rng.exponential(failure_mtbf)
        if failure < write:
            elapsed += failure + restarting_until(rng, restart, failure_mtbf)
            spoilt = spoilt_when_written
            continue
        elapsed, written, spoilt_when_written = elapsed + write, written + 1, spoilt
        if last:
            return elapsed


# --- the pattern ----------------------------------------------------------------------------------

CASES = [
    (100.0, 20.0, 10.0, 15.0, 300.0, 200.0, 1),
    (100.0, 20.0, 10.0, 15.0, 600.0, 300.0, 3),
    (50.0, 20.0, 40.0, 15.0, 1000.0, 150.0, 4),
    (100.0, 20.0, 0.0, 0.0, 300.0, 1e9, 2),
    (100.0, 0.0, 5.0, 60.0, 1e9, 100.0, 2),
]


@pytest.mark.parametrize("case", CASES)
def test_pattern_time_is_the_mean_of_an_event_by_event_simulation(case):
    rng = np.random.default_rng(1)
    sample = [one_pattern(rng, *case) for _ in range(4000)]
    assert_mean(sample, verification.pattern_time(*case), 0.02)


@pytest.mark.parametrize("case", CASES)
def test_the_packages_simulation_has_the_same_mean(case):
    sample = draw_pattern_times(np.random.default_rng(2), 40_000, *case[:-1], every=case[-1])
    assert_mean(sample, verification.pattern_time(*case), 0.006)


def test_pattern_time_is_its_closed_form_for_a_single_write():
    t, c, v, r, s, f = 100.0, *JOB.values()
    f, s = 1 / f, 1 / s
    closed = (
        math.exp(f * c + s * t) * math.expm1(f * (t + v))
        + math.expm1(f * c)
        + math.expm1(f * r) * math.expm1(f * (t + v + c) + s * t)
    )
    assert verification.pattern_time(t, **JOB) == pytest.approx(closed / f, rel=1e-13)


@modest
@given(st.floats(10, 1e4), st.floats(0, 500), st.floats(0, 500), st.floats(100, 1e6), st.integers(1, 50))
def test_without_corruption_and_verification_it_is_the_renewal_model(interval, write, restart, mtbf, every):
    got = verification.pattern_efficiency(interval, write, 0, restart, 1e300, mtbf, every)
    assert got == pytest.approx(checkpoint.renewal_efficiency(interval, write, restart, mtbf), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(
    "mtbf_h, published_min", [(0.25, 9.17), (0.5, 14.16), (1, 21.28), (3, 39.16), (12, 81.55), (24, 116.69)]
)
def test_without_them_the_best_interval_is_the_published_exact_one(mtbf_h, published_min):
    got = verification.optimal_pattern_interval(300, 0, 600, 1e300, 3600 * mtbf_h) / 60
    assert got == pytest.approx(published_min, abs=0.006)


def test_without_failures_each_try_of_an_interval_is_geometric():
    got = verification.pattern_time(100.0, 20.0, 10.0, 15.0, 300.0, 1e300, every=3)
    again = math.expm1(300 / 300)  # mean number of patterns that a corruption spoils
    assert got == pytest.approx((3 * 120 + 10) + again * (3 * 100 + 2 * 20 + 10 + 15))


@pytest.mark.parametrize("every", [1, 5])
@pytest.mark.parametrize("unit", [1e-6, 0.03, 7e5])
def test_patterns_know_no_unit(unit, every):
    times = np.array([100.0, *JOB.values()])
    assert verification.pattern_time(*(unit * times), every) == pytest.approx(
        unit * verification.pattern_time(*times, every), rel=1e-11
    )
    best = [verification.optimal_pattern_interval(*(scale * times[1:]), every) for scale in (1.0, unit)]
    assert best[1] == pytest.approx(unit * best[0], rel=1e-3)


@pytest.mark.parametrize("every", [1, 2, 7])
@pytest.mark.parametrize("silent, failure", [(1e7, 1e5), (1e4, 1e5), (300.0, 1e9), (1e9, 100.0)])
def test_the_best_interval_is_where_a_search_finds_it(silent, failure, every):
    got = verification.optimal_pattern_interval(20, 10, 15, silent, failure, every)
    kept = lambda t: verification.pattern_efficiency(t, 20, 10, 15, silent, failure, every)  # noqa: E731
    assert got == pytest.approx(maximise(kept, got / 30, got * 30), rel=1e-3)


def test_first_order_is_the_limit_of_the_exact_model():
    for every in (1, 4):
        errors = []
        for scale in (1e4, 1e6, 1e8):
            first = verification.verified_interval(20, 10, 3 * scale, scale, every)
            errors.append(abs(verification.optimal_pattern_interval(20, 10, 15, 3 * scale, scale, every) / first - 1))
        assert errors[0] < 0.1 and errors[1] < 0.01 and errors[2] < 0.001


def test_the_interval_for_several_writes_is_the_published_one_for_one():
    assert verification.verified_interval(240, 31, 7e5, 1e4) == verification.verified_interval(
        240, 31, 7e5, 1e4, every=1
    )
    assert verification.verified_interval(240, 31, 7e5, 1e4) == pytest.approx(
        math.sqrt((31 + 240) / (1 / 7e5 + 1 / 2e4))
    )


@modest
@given(st.floats(1, 1e3), st.floats(0, 1e3), st.floats(1e2, 1e7), st.floats(1e2, 1e7))
def test_best_every_is_the_best_of_all(write, verify, silent, failure):
    got = verification.best_every(write, verify, silent, failure)
    lost = lambda q: (verify / q + write) * (q / silent + 1 / (2 * failure))  # noqa: E731
    assert lost(got) <= min(lost(q) for q in range(1, 3 * got + 3)) * (1 + 1e-12)


def test_extreme_scales_neither_overflow_nor_cancel():
    with strict():
        assert verification.pattern_efficiency(1.0, 1.0, 1.0, 1.0, 1e300, 1e300) == pytest.approx(1 / 3, rel=1e-12)
        assert verification.pattern_efficiency(1.0, 1e6, 1.0, 1.0, 1.0, 1.0) == 0.0
        assert verification.pattern_time(1e6, 1.0, 1.0, 1.0, 1.0, 1.0) == INF
        kept = verification.pattern_efficiency(1e3, 10.0, 10.0, 10.0, 1e18, 1e18, every=10**7)
        assert kept == pytest.approx(
            1e3 / (1010 + 1e-6) * (1 - 1e10 / 1e18), rel=1e-12
        )  # a corruption costs all that work
        # Failures far more often than a write takes: work as long as the mean time between them.
        assert verification.optimal_pattern_interval(1e6, 0, 1e6, 1e30, 1.0) == pytest.approx(1.0, rel=1e-3)
        assert verification.optimal_pattern_interval(1, 1, 1, 1e-3, 1e30) == pytest.approx(1e-3, rel=1e-2)
        assert verification.optimal_pattern_interval(1, 1, 1, 1e200, 1e200) == verification.verified_interval(
            1, 1, 1e200, 1e200
        )
        assert verification.best_every(1e-300, 1e300, 1e300, 1e-300) == 2**53
        assert verification.best_every(1, 0, 1, 1) == 1


def test_patterns_broadcast():
    failure = np.array([1e3, 1e4, 1e5])
    table = verification.optimal_pattern_interval(20, 10, 15, np.array([[1e5], [1e6]]), failure, every=2)
    assert table.shape == (2, 3)
    assert table[1, 2] == pytest.approx(verification.optimal_pattern_interval(20, 10, 15, 1e6, 1e5, 2), rel=1e-6)
    assert verification.best_every(20, 10, 1e6, failure).tolist() == [
        verification.best_every(20, 10, 1e6, f) for f in failure
    ]


def test_the_simulation_is_drawn_from_the_generator_alone():
    one, other = (draw_pattern_times(np.random.default_rng(5), 10, 100.0, **JOB, every=2) for _ in range(2))
    assert one.tolist() == other.tolist()


# --- faults injected into a step ------------------------------------------------------------------

STEP = injection.draw_step(np.random.default_rng(3), 12, 8, 3)
FACTOR = rounding.tail_factor(1e12)


def struck(place, flips=40, step=STEP, seed=4):
    return injection.inject(np.random.default_rng(seed), step, place, flips, 4.0, FACTOR)


def test_gradient_is_that_of_central_differences():
    rng = np.random.default_rng(1)
    step = injection.draw_step(rng, 4, 5, 3, "float32")
    _, gradient, _, _ = step.gradient(1, injection._Fault())

    def loss(flat):
        first, second = flat.reshape(2, 4, 4)
        return (
            (np.maximum(step.batches[1].astype(float) @ first, 0) @ second - step.targets[1].astype(float)) ** 2
        ).mean() / 2

    flat, h = np.concatenate([w.ravel() for w in step.weights]).astype(float), 1e-5
    for i in range(flat.size):
        ends = [loss(flat + sign * h * (np.arange(flat.size) == i)) for sign in (1, -1)]
        assert gradient[i] == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-4)


@pytest.mark.parametrize("name", abft.FORMATS)
def test_a_sound_step_alarms_nobody(name):
    step = injection.draw_step(np.random.default_rng(6), 12, 8, 3, name)
    clean = injection._Clean(step, FACTOR)
    seen, matters, not_finite = injection._strike(injection._Fault(), step, clean, 1.0001)
    assert seen == dict.fromkeys(injection.DEFENCES, False)
    assert not matters and not not_finite


@pytest.mark.parametrize(
    "place, all_of, none_of",
    [
        ("HBM: weights", [], ["digests", "replay"]),
        ("HBM: activations", ["replay"], ["checksums", "fingerprints", "digests"]),
        ("SRAM: operand", ["replay"], ["fingerprints", "digests"]),
        ("compute: product", ["replay"], ["fingerprints", "digests"]),
        ("network: in the sum", [], ["fingerprints", "digests", "replay"]),
        ("network: after it", ["fingerprints"], ["checksums", "digests", "replay"]),
        ("host: batch", ["digests"], ["fingerprints", "replay"]),
        ("host: checkpoint", ["digests"], ["guards", "checksums", "fingerprints", "replay"]),
    ],
)
def test_each_defence_sees_what_it_can_and_nothing_else(place, all_of, none_of):
    outcome = struck(place)
    assert outcome.matters.sum() >= 10
    for defence in all_of:
        assert outcome.seen[defence][outcome.matters].all(), defence
    for defence in none_of:
        # A flip that makes a NaN of a weight or of the sum is no longer silent: it reaches everything.
        assert not outcome.seen[defence][outcome.matters & ~outcome.not_finite].any(), defence
    assert outcome.seen["guards"][outcome.not_finite].all()


def test_checksums_see_most_of_what_goes_wrong_in_the_all_reduce():
    outcome = struck("network: in the sum")
    assert outcome.seen["checksums"][outcome.matters].mean() > 0.6


def test_checksums_see_most_of_what_goes_wrong_between_operands_and_sums():
    for place in ("SRAM: operand", "compute: product"):
        outcome = struck(place, 60)
        assert outcome.seen["checksums"][outcome.matters].mean() > 0.9
        assert outcome.seen["guards"][outcome.matters].mean() < 0.4


def test_activations_are_struck_between_the_way_forward_and_the_way_back():
    clean = STEP.gradient(0, injection._Fault())
    wrong = [STEP.gradient(0, injection._Fault("HBM: activations", np.random.default_rng(seed))) for seed in range(30)]
    assert [run[0] for run in wrong] == 30 * [clean[0]]  # the loss is known by then
    assert sum((run[1] != clean[1]).any() for run in wrong) > 20


def test_weights_at_rest_part_the_replicas_unless_a_nan_takes_all():
    outcome = struck("HBM: weights", 60)
    assert outcome.matters.all()
    assert outcome.seen["fingerprints"][~outcome.not_finite].all()


def test_injection_is_drawn_from_the_generator_alone_and_leaves_the_step_alone():
    before = [STEP.batches.tobytes(), *(w.tobytes() for w in STEP.weights)]
    one, other = struck("compute: product", 10), struck("compute: product", 10)
    assert all((one.seen[d] == other.seen[d]).all() for d in injection.DEFENCES)
    assert [STEP.batches.tobytes(), *(w.tobytes() for w in STEP.weights)] == before


# --- the plan -------------------------------------------------------------------------------------


@modest
@given(st.integers(0, 1000))
def test_seen_share_is_a_loop_over_flips(seed):
    rng = np.random.default_rng(seed)
    seen, matters = {d: rng.random(30) < 0.4 for d in "abc"}, rng.random(30) < 0.8
    running = {"a": 1.0, "b": float(rng.random())}
    missed = [(not seen["a"][i]) * (1 - running["b"] * bool(seen["b"][i])) for i in range(30) if matters[i]]
    assert defences.seen_share(seen, matters, running) == pytest.approx(1 - sum(missed) / len(missed))


def test_a_layer_that_sees_the_same_adds_nothing_and_none_sees_nothing():
    seen = {"a": np.array([True, False, True]), "b": np.array([True, False, True])}
    matters = np.ones(3, dtype=bool)
    assert (
        defences.seen_share(seen, matters, {"a": 1.0})
        == defences.seen_share(seen, matters, {"a": 1.0, "b": 1.0})
        == pytest.approx(2 / 3)
    )
    assert defences.seen_share(seen, matters, {}) == 0.0
    assert defences.seen_share(seen, ~matters, {"a": 1.0}) == 1.0


def test_per_week_is_the_rate_times_the_week():
    assert defences.per_week(2.5e-7, 16384, 0.5) == pytest.approx(2.5e-7 * 16384 * 7 * 24 / 2)
    assert defences.per_week(0.0, 10**7) == 0.0


@modest
@given(st.floats(1e-4, 0.999), st.floats(1e-9, 0.999))
def test_passes_to_trust_is_the_first_number_that_is_enough(shows, risk):
    passes = defences.passes_to_trust(shows, risk)
    assert (1 - shows) ** passes <= risk * (1 + 1e-9)
    assert passes == 1 or (1 - shows) ** (passes - 1) > risk * (1 - 1e-9)


def test_passes_to_trust_against_units_that_are_tested():
    tests = np.random.default_rng(7).geometric(0.3, 200_000)  # until a defective unit fails one
    passes = defences.passes_to_trust(0.3, 0.05)
    assert (tests > passes).mean() <= 0.05 < (tests > passes - 1).mean()
    assert defences.passes_to_trust(0.5, 0.125) == 3  # where the quotient is whole


def test_silent_rates_are_the_counts_over_their_gpu_hours():
    llama3, aegis = rates.silent_rates()
    assert llama3.value == pytest.approx(6 / (54 * 24 * 16384)) and llama3.low < llama3.value < llama3.high
    assert aegis.value == pytest.approx(18 / 3.5e7)
    low, high = rates.poisson_rate_interval(18, 3.5e7)
    assert (aegis.low, aegis.high) == (low, high)


# --- the page -------------------------------------------------------------------------------------


def parameters(**changes):
    small = {"products": 2, "matrix": 24, "width": 8, "flips": 12, "patterns": 200}
    values = scenarios.defaults("sdc_defences") | small | changes
    fields = scenario.Parameters.model_fields
    return scenarios.inputs(
        "sdc_defences", {k: float(v) if fields[k].annotation is float else v for k, v in values.items()}
    )


def test_page_layers_cost_more_and_let_no_more_through():
    p = parameters()
    plans = scenario.compute(p).values["plans"]
    assert [plan["layer"] for plan in plans] == list(scenario.LAYERS)
    assert (np.diff([plan["cost"] for plan in plans]) >= 0).all() and (
        np.diff([plan["through"] for plan in plans]) <= 1e-12
    ).all()
    for plan in plans:
        assert plan["through"] == pytest.approx(sum(p.mix[part] * share for part, share in plan["by_part"].items()))
    assert plans[-1]["by_part"]["host"] == 0.0


def test_page_interval_is_the_books_formula_with_the_pages_rates():
    p = parameters()
    first = scenario._periods(p, np.random.default_rng(1))[0]
    assert first["every"] == 1
    silent, failure = 54 * 86400 / 6, 54 * 86400 / 413
    assert first["first_s"] == pytest.approx(math.sqrt((31 + 240) / (1 / silent + 1 / (2 * failure))))


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"mix": {"HBM": 1.0}}, "mix"),
        ({"mix": {"HBM": 0.5, "SRAM": 0.1, "compute": 0.6, "network": 0.1, "host": 0.1}}, "mix"),
        ({"float_format": "float64"}, "float_format = 'float64'"),
        ({"sizes": [0]}, "sizes"),
        ({"stops": 6}, "stops = 6"),
        ({"gpus": 10**7}, "gpus = 10000000"),
        ({"replay_s": 1e6, "write_s": 1e-6}, "one verification in 10,000 writes"),
    ],
)
def test_page_refuses_what_does_not_go_together(changes, message):
    with pytest.raises(ParameterError, match=message):
        parameters(**changes)


def test_anchors_have_the_status_that_they_declare():
    found = {a.name: anchors.check(a) for a in scenario.anchors()}
    assert {a.status for a in found.values()} == set(anchors.STATUSES)
    assert found["aegis_count"].computed == pytest.approx(6 * 3.5e7 / (54 * 24 * facts.value("llama3_gpus")))
    assert found["aegis_nan"].computed < found["aegis_nan"].low


@pytest.mark.parametrize("events, other, ratio", [(6, 18, 2.0), (6, 18, 8.0), (10, 10, 1.0), (10, 40, 1.0)])
def test_two_counts_agree_where_an_exact_test_does_not_part_them(events, other, ratio):
    low, high = sdc_defences_anchors._equal_rates(events, 1.0, other, ratio)
    chance = 1 / (1 + ratio)  # of each event to be one of the first, were the rates equal
    terms = [
        math.comb(events + other, k) * chance**k * (1 - chance) ** (events + other - k)
        for k in range(events + other + 1)
    ]
    tails = sum(terms[: events + 1]), sum(terms[events:])
    assert (low <= events * ratio <= high) == (min(tails) > 0.025)


# --- bad input ------------------------------------------------------------------------------------

SEEN = {"a": np.array([True, False])}
PATTERN = {"interval": 100.0, **JOB, "every": 2}
BAD = {
    "verification": NEGATIVE[:4],
    "restart": NEGATIVE[:4],
    "silent_mtbf": NOT_POSITIVE,
    "failure_mtbf": NOT_POSITIVE,
    "every": (*NOT_COUNT, 2.5),
}
INTERVAL = {name: value for name, value in JOB.items() if name != "restart"}
DRAWN = {"rng": np.random.default_rng(1), "patterns": 3, **PATTERN}
REFUSALS = [
    *refusals(verification.pattern_time, PATTERN, interval=NOT_POSITIVE, write=NEGATIVE[:4], **BAD),
    *refusals(verification.pattern_efficiency, PATTERN, interval=NOT_POSITIVE, write=NEGATIVE[:4], **BAD),
    *refusals(verification.optimal_pattern_interval, {**JOB, "every": 2}, write=NOT_POSITIVE, **BAD),
    *refusals(verification.verified_interval, {**INTERVAL, "every": 2}, every=(*NOT_COUNT, 2.5)),
    *refusals(
        verification.best_every,
        INTERVAL,
        write=NOT_POSITIVE,
        **{name: BAD[name] for name in ("verification", "silent_mtbf", "failure_mtbf")},
    ),
    *refusals(
        draw_pattern_times,
        DRAWN,
        rng=(7, None),
        patterns=(*NOT_COUNT, 2.5),
        interval=NOT_POSITIVE,
        write=NEGATIVE[:4],
        **BAD,
    ),
    *refusals(
        injection.draw_step,
        {"rng": np.random.default_rng(1), "width": 4, "batch": 4, "replicas": 3},
        width=(NAN, 1, 2.5),
        batch=(NAN, 1, 2.5),
        replicas=(2, 2.5),
        rng=(7, None),
    ),
    *refusals(
        injection.inject,
        {
            "rng": np.random.default_rng(1),
            "step": STEP,
            "place": "host: batch",
            "flips": 1,
            "threshold": 4.0,
            "factor": 9.0,
        },
        rng=(7, None),
        place=("seven",),
        flips=(*NOT_COUNT, 2.5),
        threshold=(NAN, 0.25, "seven"),
        factor=(NAN, -3.25, 0.0),
    ),
    *refusals(
        defences.per_week,
        {"rate": 1e-7, "gpus": 8, "share": 0.5},
        rate=NEGATIVE,
        gpus=(*NOT_COUNT, 2.5),
        share=(NAN, -0.25, 1.75),
    ),
    *refusals(
        defences.passes_to_trust, {"shows": 0.5, "risk": 0.01}, shows=(NAN, 0.0, -0.25, 1.75), risk=NOT_INSIDE_UNIT
    ),
    *refusals(
        defences.seen_share,
        {"seen": SEEN, "matters": np.array([True, True]), "running": {"a": 1.0}},
        running=({"b": 1.0}, 0.25),
    ),
]


@pytest.mark.parametrize("function, good, name, values", REFUSALS)
def test_bad_input_is_named_and_repeated(function, good, name, values):
    assert_refused(function, good, name, values)


@pytest.mark.parametrize("share", [NAN, -0.25, 1.75])
def test_a_share_of_the_work_is_a_share(share):
    with pytest.raises(ValueError, match=f"running a = {share}"):
        defences.seen_share(SEEN, np.ones(2, dtype=bool), {"a": share})


def test_flips_of_another_number_are_refused():
    with pytest.raises(ValueError, match=r"matters has shape \(3,\)"):
        defences.seen_share(SEEN, np.ones(3, dtype=bool), {"a": 1.0})


def test_an_unknown_format_of_the_step_is_refused():
    with pytest.raises(ValueError, match="float64"):
        injection.draw_step(np.random.default_rng(1), 4, 4, 3, "float64")


def test_weights_are_drawn_in_the_master_copys_format():
    assert all(w.dtype == np.float32 for w in STEP.weights) and STEP.batches.dtype == sdc.dtype_of("bfloat16")


def test_scales_that_no_float_holds():
    with strict():
        assert verification.verified_interval(1e300, 3.0, 1e9, 2**53) == pytest.approx(1e150 * math.sqrt(1e9), rel=1e-3)
        assert verification.verified_interval(1.0, 0.0, 1e-300, 1e300, 10**9) == pytest.approx(
            math.sqrt(1e-309), rel=1e-6, abs=0
        )
        assert verification.best_every(1e300, 0.0, 1e300, 1e-9) == 1
        assert verification.best_every(1e-300, 1e300, 1e300, 1e-300) == 2**53
        assert verification.pattern_efficiency(3.0, 0.0, 0.0, 1e-30, 1e300, 1e30, 3) <= 1.0
        assert verification.optimal_pattern_interval(1e-30, 1e-9, 1e30, 1e9, 1e-300, 2**53) > 0
        assert defences.per_week(1e300, 10**9, 1e-300) == pytest.approx(168e9)


def test_many_optimal_intervals_are_those_one_by_one():
    failure, every = np.geomspace(1e2, 1e6, 9), np.arange(1, 10)
    together = verification.optimal_pattern_interval(240, 30, 388.2, 7e5, failure, every)
    alone = [
        verification.optimal_pattern_interval(240, 30, 388.2, 7e5, m, q) for m, q in zip(failure, every, strict=True)
    ]
    assert together == pytest.approx(alone, rel=1e-4)


def test_more_tests_and_attempts_than_can_be_counted_are_refused():
    with strict(), pytest.raises(ValueError, match="shows = 1e-300"):
        defences.passes_to_trust(1e-300, 0.01)
    for name in ("silent_mtbf", "failure_mtbf"):
        with pytest.raises(ValueError, match=name):
            draw_pattern_times(np.random.default_rng(1), 2, 100.0, **{**JOB, name: 1.5})
    with pytest.raises(ValueError, match="^seen = "):
        defences.seen_share(None, np.array([True]), {})
    with pytest.raises(ValueError, match="^step = "):
        injection.inject(np.random.default_rng(1), None, "host: batch", 1, 2.0, 9.0)
