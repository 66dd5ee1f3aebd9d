"""What the recovery page adds to the published model: the mix by counts, parts, means, the interval that saves as much."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import INF, NAN, NEGATIVE, NOT_POSITIVE, assert_mean, assert_refused, modest, refusals

from reliability import facts, faults
from reliability import recovery as rc

pytestmark = pytest.mark.filterwarnings("error")

ROUNDING = 1e-13
CLASSES = ("gpu", "network", "host", "software", "other")
DETECTION_S = {"gpu": 10.0, "network": 30.0, "host": 2.0, "software": 2.0, "other": 2.0}
MIX = {"gpu": 0.587, "network": 0.084, "host": 0.10, "software": 0.145, "other": 0.084}
RECORDED = faults.counts_from({"software": 2, "other": 2, "gpu": 13, "host": 2, "network": 1})
COLD = rc.cold_path(DETECTION_S, 388.2)
WARM = rc.standby_path(DETECTION_S, 388.2, 55.0)

counts = st.lists(st.integers(0, 1000), min_size=5, max_size=5)
seconds = st.floats(0, 1e5)


# --- the mix by counts ----------------------------------------------------------------------------


def test_llama3_by_counts_has_the_sums_of_its_table():
    grouped = faults.group_causes(facts.value("llama3_causes"), faults.LLAMA3_CAUSES)
    assert grouped == {"gpu": 268, "network": 35, "host": 42, "software": 61, "other": 13}
    assert sum(grouped.values()) == facts.value("llama3_unexpected") == 419


def test_llama3_mix_by_counts_is_the_quotients():
    mix = faults.mix_from_counts(facts.value("llama3_causes"), faults.LLAMA3_CAUSES)
    assert [f"{100 * mix[c]:.1f}" for c in CLASSES] == ["64.0", "8.4", "10.0", "14.6", "3.1"]
    assert sum(mix.values()) == pytest.approx(1, rel=ROUNDING)
    faults.fault_mix(mix)  # a mix that the model takes


def test_the_mix_in_circulation_adds_up_a_misprint():
    causes = facts.value("llama3_causes")
    printed = {cause: round(100 * n / 419, 1) for cause, n in causes.items()}
    printed["faulty_gpu"] = facts.value("llama3_faulty_gpu_printed_percent")
    assert sum(printed.values()) == pytest.approx(94.9)
    gpu = sum(printed[cause] for cause in faults.LLAMA3_CAUSES["gpu"])
    assert gpu == pytest.approx(100 * facts.value("published_mix")["gpu"]) == pytest.approx(58.7)


@modest
@given(counts)
def test_grouping_agrees_with_a_plain_loop(values):
    causes = {c: [f"{c} a", f"{c} b"] for c in CLASSES}
    table = {f"{c} a": n for c, n in zip(CLASSES, values, strict=True)} | {f"{c} b": 1 for c in CLASSES}
    grouped = faults.group_causes(table, causes)
    for c, n in zip(CLASSES, values, strict=True):
        assert grouped[c] == n + 1
    assert faults.mix_from_counts(table, causes) == {c: grouped[c] / (sum(values) + 5) for c in CLASSES}


NO_CAUSES = dict.fromkeys(CLASSES, ())


@pytest.mark.parametrize(
    "counts, causes, said",
    [
        ({}, NO_CAUSES, "counts"),
        ([3], NO_CAUSES, "counts"),
        ({"bug": 1}, NO_CAUSES, "bug"),
        ({"bug": 1}, {**NO_CAUSES, "software": ("bug", "typo")}, "typo"),
        ({"bug": 1}, {**NO_CAUSES, "software": ("bug",), "other": ("bug",)}, "bug"),
        ({"bug": 1}, {"software": ("bug",)}, "network"),
        ({"bug": 1}, {**NO_CAUSES, "software": ("bug",), "disk": ()}, "disk"),
        ({"bug": -1}, {**NO_CAUSES, "software": ("bug",)}, r"counts\['bug'\] = -1"),
        ({"bug": 1.5}, {**NO_CAUSES, "software": ("bug",)}, r"counts\['bug'\] = 1\.5"),
        ({"bug": NAN}, {**NO_CAUSES, "software": ("bug",)}, r"counts\['bug'\] = nan"),
    ],
)
def test_causes_that_do_not_cover_the_counts_are_refused(counts, causes, said):
    for function in (faults.group_causes, faults.mix_from_counts):
        with pytest.raises(ValueError, match=said):
            function(counts, causes)


def test_a_mix_of_no_events_is_refused():
    with pytest.raises(ValueError, match="at least one event"):
        faults.mix_from_counts({"bug": 0}, {**NO_CAUSES, "software": ("bug",)})


# --- parts and means ------------------------------------------------------------------------------


def test_the_published_week_is_mostly_rollback():
    cold, warm = (rc.hours_by_part_h(RECORDED, path, 1800.0) for path in (COLD, WARM))
    assert {part: f"{hours:.3f}" for part, hours in cold.items()} == {
        "rollback": "10.000",
        "restart": "2.157",
        "detection": "0.048",
    }
    assert f"{warm['restart']:.3f}" == "0.676"
    assert cold["rollback"] == warm["rollback"] and cold["detection"] == warm["detection"]
    assert f"{cold['restart'] - warm['restart']:.2f}" == "1.48"


@modest
@given(counts, seconds)
def test_parts_add_up_to_the_hours_lost(values, rollback):
    for path in (COLD, WARM):
        parts = rc.hours_by_part_h(values, path, rollback)
        assert sum(parts.values()) == pytest.approx(rc.hours_lost_h(values, path, rollback), rel=1e-12)


def test_parts_of_many_weeks_are_those_of_each():
    weeks = np.arange(15).reshape(3, 5)
    together = rc.hours_by_part_h(weeks, WARM, 1800.0)
    for week, *hours in zip(weeks, *together.values(), strict=True):
        assert hours == pytest.approx(list(rc.hours_by_part_h(week, WARM, 1800.0).values()), rel=ROUNDING)


def test_the_mean_is_that_of_drawn_weeks():
    drawn = faults.draw_fault_counts(np.random.default_rng(11), 20000, 168 / 7.9, MIX)
    for path in (COLD, WARM):
        assert_mean(rc.hours_lost_h(drawn, path, 1800.0), rc.mean_hours_lost_h(168 / 7.9, MIX, path, 1800.0), 0.002)


def test_the_mean_of_a_certain_class_is_its_loss():
    certain = dict.fromkeys(CLASSES, 0.0) | {"network": 1.0}
    assert rc.mean_hours_lost_h(3.0, certain, WARM, 100.0) == pytest.approx(3 * (30 + 100 + 55) / 3600, rel=ROUNDING)


@pytest.mark.parametrize(
    "function, good, name, values",
    refusals(
        rc.mean_hours_lost_h,
        {"expected": 1.0, "mix": MIX, "path": COLD, "rollback": 1.0},
        expected=NEGATIVE,
        rollback=NEGATIVE,
    ),
)
def test_an_impossible_mean_is_refused(function, good, name, values):
    assert_refused(function, good, name, values)


# --- the interval that saves as much --------------------------------------------------------------


def test_the_published_standby_is_worth_an_interval_of_51_minutes():
    saved_min = 60 * (rc.hours_lost_h(RECORDED, COLD, 1800.0) - rc.hours_lost_h(RECORDED, WARM, 1800.0))
    assert f"{rc.equivalent_interval(60.0, saved_min, 20):.1f}" == "51.1"


@modest
@given(st.integers(1, 1000), st.floats(60, 1e5), st.floats(0, 0.99))
def test_that_interval_loses_what_the_saving_leaves(n, interval, share):
    only_gpus = [n, 0, 0, 0, 0]
    saved_s = share * n * interval / 2
    shorter = rc.equivalent_interval(interval, saved_s, n)
    before, after = (3600 * rc.hours_lost_h(only_gpus, COLD, t / 2) for t in (interval, shorter))
    assert before - after == pytest.approx(saved_s, rel=1e-9, abs=1e-6)


def test_no_interval_saves_more_than_the_whole_rollback():
    assert rc.equivalent_interval(60.0, 600.0, 20) == 0
    assert rc.equivalent_interval(60.0, 601.0, 20) == 0
    assert rc.equivalent_interval(60.0, 599.0, 20) > 0


def test_a_standby_that_costs_is_worth_a_longer_interval_and_no_faults_no_other():
    assert rc.equivalent_interval(60.0, -100.0, 20) == 70
    assert rc.equivalent_interval(60.0, 5.0, 0) == 60
    assert rc.equivalent_interval([60.0, 30.0], 100.0, 20).tolist() == [50, 20]


@pytest.mark.parametrize(
    "function, good, name, values",
    refusals(
        rc.equivalent_interval,
        {"interval": 60.0, "saved": 1.0, "faults": 20},
        interval=NOT_POSITIVE,
        saved=(NAN, INF, -INF, "seven", None, []),
        faults=(*NEGATIVE, 2.5),
    ),
)
def test_an_impossible_interval_is_refused(function, good, name, values):
    assert_refused(function, good, name, values)


# --- the recorded week ----------------------------------------------------------------------------

# The publication gives its seed, the rate and the mix, not its sampler. These are the ways of drawing a week from them
# that a person would write, each with both of numpy's usual generators and with the classes in five orders.
SEED = 7
HOURS = 24 * facts.value("published_days")
MTBF_H = facts.value("kokolis_job_mttf_h")
EXPECTED = HOURS / MTBF_H
RECORDED_WEEK = facts.value("published_recorded_faults")  # its classes in the order of their first appearance
ORDERS = {
    "as in the mix": CLASSES,
    "by share": ("gpu", "software", "host", "network", "other"),
    "by share, the tie the other way": ("gpu", "software", "host", "other", "network"),
    "by name": ("gpu", "host", "network", "other", "software"),
    "as recorded": tuple(RECORDED_WEEK),
}
BATCHES = (21, 22, 25, 30, 32, 40, 42, 43, 44, 50, 60, 63, 64, 100, 128, 150, 168, 200, 250, 256, 500, 512, 1000, 10000)
GAPS = {
    "exponential": lambda rng: rng.exponential(MTBF_H),
    "-log(u)": lambda rng: -MTBF_H * np.log(rng.uniform()),
    "-log(1 - u)": lambda rng: -MTBF_H * np.log1p(-rng.uniform()),
}
CHANCES = {"dt / MTBF": 1 / MTBF_H, "1 - exp(-dt / MTBF)": -np.expm1(-1 / MTBF_H)}  # of a fault in one hour


def classes_of(rng, n, mix):
    return rng.choice(len(mix), n, p=mix)


def number_and_classes(rng, mix):
    return classes_of(rng, rng.poisson(EXPECTED), mix)


def number_times_and_classes(rng, mix):
    n = rng.poisson(EXPECTED)
    rng.uniform(0, HOURS, n)
    return classes_of(rng, n, mix)


def number_times_and_classes_sorted_together(rng, mix):
    times = rng.uniform(0, HOURS, rng.poisson(EXPECTED))
    return classes_of(rng, times.size, mix)[np.argsort(times)]


def number_classes_and_times_sorted_together(rng, mix):
    classes = classes_of(rng, rng.poisson(EXPECTED), mix)
    return classes[np.argsort(rng.uniform(0, HOURS, classes.size))]


def number_and_each_fault_in_turn(rng, mix):
    faults_of = [(rng.uniform(0, HOURS), rng.choice(len(mix), p=mix)) for _ in range(rng.poisson(EXPECTED))]
    return [fault for _, fault in sorted(faults_of)]


def number_split_by_class(rng, mix):
    return np.repeat(range(len(mix)), rng.multinomial(rng.poisson(EXPECTED), mix))


def number_of_each_class(rng, mix):
    return np.repeat(range(len(mix)), rng.poisson(EXPECTED * np.array(mix)))


def given_number_of_classes(rng, mix):
    return classes_of(rng, sum(RECORDED_WEEK.values()), mix)


def given_number_split_by_class(rng, mix):
    return np.repeat(range(len(mix)), rng.multinomial(sum(RECORDED_WEEK.values()), mix))


def gap_and_class_in_turn(gap):
    def draw(rng, mix):
        drawn, time = [], gap(rng)
        while time < HOURS:
            drawn.append(rng.choice(len(mix), p=mix))
            time += gap(rng)
        return drawn

    return draw


def class_and_gap_in_turn(gap):
    def draw(rng, mix):
        drawn, time = [], 0.0
        while time < HOURS:
            drawn.append(rng.choice(len(mix), p=mix))
            time += gap(rng)
        return drawn[:-1]  # the last one would come after the end

    return draw


def gaps_and_classes(gap):
    def draw(rng, mix):
        n, time = 0, gap(rng)
        while time < HOURS:
            n, time = n + 1, time + gap(rng)
        return classes_of(rng, n, mix)

    return draw


def many_gaps_and_classes(batch):
    def draw(rng, mix):
        times = np.cumsum(rng.exponential(MTBF_H, batch))
        return classes_of(rng, np.sum(times < HOURS), mix)

    return draw


def many_gaps_and_as_many_classes(batch):
    def draw(rng, mix):
        times = np.cumsum(rng.exponential(MTBF_H, batch))
        return classes_of(rng, batch, mix)[times < HOURS]

    return draw


def hours_and_classes(chance):
    def draw(rng, mix):
        return classes_of(rng, np.sum(rng.uniform(size=round(HOURS)) < chance), mix)

    return draw


def hour_and_class_in_turn(chance):
    def draw(rng, mix):
        return [rng.choice(len(mix), p=mix) for _ in range(round(HOURS)) if rng.uniform() < chance]

    return draw


WAYS = {
    way.__name__: way
    for way in (
        number_and_classes,
        number_times_and_classes,
        number_times_and_classes_sorted_together,
        number_classes_and_times_sorted_together,
        number_and_each_fault_in_turn,
        number_split_by_class,
        number_of_each_class,
        given_number_of_classes,
        given_number_split_by_class,
    )
}
for family, choices in [
    (gap_and_class_in_turn, GAPS),
    (class_and_gap_in_turn, GAPS),
    (gaps_and_classes, GAPS),
    (many_gaps_and_classes, {n: n for n in BATCHES}),
    (many_gaps_and_as_many_classes, {n: n for n in BATCHES}),
    (hours_and_classes, CHANCES),
    (hour_and_class_in_turn, CHANCES),
]:
    WAYS |= {f"{family.__name__}, {label}": family(choice) for label, choice in choices.items()}


@pytest.fixture(scope="module")
def drawn_weeks():
    """Return the class of each fault of a week, in order of time, by generator, way and order of the classes."""
    mix = facts.value("published_mix")
    return {
        (make.__name__, way, label): [order[k] for k in draw(make(SEED), [mix[c] for c in order])]
        for make in (np.random.default_rng, np.random.RandomState)
        for way, draw in WAYS.items()
        for label, order in ORDERS.items()
    }


def ways_to(week, weeks):
    """Return what gives a week's counts, with the classes appearing in its order."""
    return {key for key, drawn in weeks.items() if Counter(drawn) == week and [*dict.fromkeys(drawn)] == [*week]}


def test_no_common_order_of_draws_gives_the_recorded_week(drawn_weeks):
    assert ways_to(RECORDED_WEEK, drawn_weeks) == set()
    # Twenty classes, the number given beforehand, have these counts in 1 of 170 draws: here one has, in another order.
    assert [key for key, drawn in drawn_weeks.items() if Counter(drawn) == RECORDED_WEEK] == [
        ("RandomState", "given_number_of_classes", "by share")
    ]


def test_an_order_of_draws_that_is_listed_is_found(drawn_weeks):
    trace = faults.draw_trace(np.random.default_rng(SEED), HOURS, MTBF_H, facts.value("published_mix"))
    week = dict(Counter(trace.classes.tolist()))
    assert ways_to(week, drawn_weeks) == {("default_rng", "number_times_and_classes", "as in the mix")}
