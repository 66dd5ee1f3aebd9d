"""The page on stragglers over many rounds: its detectors against simulations, its anchors, what it refuses."""

import numpy as np
import pytest
from oracles import assert_mean

from reliability import anchors, mitigation, scenarios, sequential
from reliability.scenarios import straggler_rounds as page
from reliability.scenarios.base import ParameterError

pytestmark = pytest.mark.filterwarnings("error")


def inputs(**changed):
    return scenarios.inputs("straggler_rounds", scenarios.defaults("straggler_rounds") | changed)


def test_the_detectors_alarm_as_seldom_as_they_are_set_to():
    from scipy.special import ndtr

    from reliability import cusum

    p = inputs()
    at = page.settings(p, 1024, 0.5)
    rounds = p.rounds_allowed(1024, 0.5)
    assert 1 / ndtr(-at.one) == pytest.approx(rounds, rel=1e-9)
    assert sequential.rounds_to_votes(ndtr(-at.vote), p.votes, p.window) == pytest.approx(rounds, rel=1e-6)
    assert cusum.cusum_rounds(0.0, p.reference, at.limit) == pytest.approx(rounds, rel=1e-4)


def test_the_times_to_detect_are_those_of_a_simulation():
    p = inputs(slowdown=0.05)
    at = page.settings(p, p.ranks, p.alarms_h)
    rounds = page.rounds_to_detect(p, at, p.shift)
    votes, sums = page.simulated_rounds(np.random.default_rng(3), p, at)
    assert_mean(votes, rounds["votes"], resolution=0.02)
    assert_mean(sums, rounds["cumulative sum"], resolution=0.02)


def test_more_ranks_and_fewer_false_alarms_take_longer():
    p = inputs()
    by_size = [page.detect_curve_min(p, n, np.array([1e-3, 0.05, 1.0])) for n in (1024, 131072)]
    for name in page.DETECTORS:
        assert (np.diff(by_size[0][name]) < 0).all()
        assert (by_size[0][name] < by_size[1][name]).all()
    assert (by_size[1]["cumulative sum"] < by_size[1]["votes"]).all()
    assert (by_size[1]["votes"] < by_size[1]["one round"]).all()


def test_hiccups_undo_what_takes_a_single_round_at_its_word():
    p = inputs()
    at = page.settings(p, p.ranks, p.alarms_h)
    alarms = page.hiccup_alarms_h(p, at)
    hiccups_h = p.ranks * p.hiccups_a_day / 24
    assert alarms["one round"] == pytest.approx(hiccups_h * 30 / 31.62, rel=0.01)
    assert alarms["cumulative sum"] == pytest.approx(alarms["one round"], rel=0.01)
    assert alarms["votes"] < 2 * p.alarms_h and alarms["the same, scores cut"] < 2 * p.alarms_h
    none = page.hiccup_alarms_h(inputs(hiccups_a_day=0.0), at)
    assert [none[name] for name in page.DETECTORS] == pytest.approx([p.alarms_h] * 3, rel=1e-3)


def test_what_is_cheapest_changes_with_how_long_it_stays_and_how_slow_it_is():
    p = inputs()
    for x in (0.06, 0.5):
        share, drag = float(page.loss(p, p.ranks, x)), mitigation.rebalanced_drag(p.replicas, x, p.micro_batches)
        answers = page.answers_min(p, share, drag)
        for length in (1.0, 1e5):
            cost = {name: float(page.cost_min(p, name, length, share, drag)) for name in answers}
            if length == 1.0:
                assert min(cost, key=cost.get) == "ignore"
            else:
                assert cost["swap at the next checkpoint"] == pytest.approx(answers["swap at the next checkpoint"][0])
                assert min(cost, key=cost.get).startswith("swap")


def test_the_anchors_are_what_they_are_declared_to_be():
    held = page.anchors()
    assert len({a.name for a in held}) == len(held)
    statuses = [anchors.check(a).status for a in held]
    assert [statuses.count(status) for status in anchors.STATUSES] == [1, 8, 2, 2]
    computed = {a.name: a.computed for a in held}
    assert computed["ar-slowdown"] == pytest.approx(1.973, abs=0.003)
    assert computed["ar-healthy"] == pytest.approx(2.037, abs=0.003)


@pytest.mark.parametrize(
    "changed",
    [
        {
            "slowdown": 50.0,
            "jitter_s": 1e-3,
            "votes": 2,
            "window": 2,
            "phase_min": 0.01,
            "replicas": 2,
            "micro_batches": 1,
        },
        {"ranks": 8, "sizes": [8], "alarms_h": 1.0, "hiccups_a_day": 0.0, "swap_min": 0.0, "write_s": 0.0},
        {"ranks": 10**7, "slowdown": 0.0084, "alarms_h": 1e-4, "votes": 8, "window": 8},
    ],
)
def test_the_ends_of_what_is_allowed(changed):
    p = inputs(**changed)
    result = page.compute(p)
    assert 0 <= result.values["loss"] < 1
    assert all(np.isfinite(minutes) for minutes in result.values["detect_min"].values())
    at = result.values["settings"]
    assert all(0 <= chance <= 1 for chance in page.found_before_end(p, at, p.phase_min).values())
    assert page.hiccup_alarms_h(p, at)["the same, scores cut"] >= 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("jitter_s", 4.0),
        ("votes", 6),
        ("slowdown", 0.008),
        ("sizes", [1024, 512]),
        ("sizes", [4]),
        ("alarms_h", 9000.0),
        ("hiccups_a_day", 300.0),
    ],
)
def test_what_the_detectors_cannot_be_set_to_is_refused(name, value):
    with pytest.raises(ParameterError, match=f"^{name} = "):
        inputs(**{name: value})
