"""The page of the recovery timeline: its model event by event, its limits, its parameters, its anchors."""

import heapq
import math

import numpy as np
import pytest
from oracles import INF, assert_mean

from reliability import anchors, elastic, facts, faults, scenarios
from reliability.scenarios import recovery_timeline as page
from reliability.scenarios.base import ParameterError

BOOK = scenarios.defaults("recovery_timeline")


def book(**changes):
    return scenarios.inputs("recovery_timeline", BOOK | changes)


def test_the_shares_are_llama3s_counts():
    assert BOOK["class_counts"] == faults.group_causes(facts.value("llama3_causes"), faults.LLAMA3_CAUSES)


def test_the_tables_and_numbers_of_the_book():
    p = book()
    phases = page.phases_s(p, 16384)
    assert {name: round(float(s), 1) for name, s in phases.items()} == {
        "stop": 31.2,
        "reschedule": 90.0,
        "load": 90.7,  # sixteen replicas read 5.67 TB each at 1,000 GB/s
        "communicator": 130.8,
        "warm-up": 108.0,
    }
    one = page.choice(p, 16384)
    assert one.mtbf_s / 3600 == pytest.approx(24000 / 6.5 / 2048)
    assert {way: f"{share:.1%}" for way, share in one.kept.items()} == {
        "cold": "88.9%",
        "standby": "94.7%",
        "shrink": "91.7%",
        "even": "77.2%",
    }
    assert page.duration(page.break_even_s(p, 16384, "shrink")) == "3.7 h"
    assert page.duration(page.break_even_s(p, 16384, "even")) == "17.2 min"


def test_at_the_measured_size_the_measured_phases_come_back():
    phases = page.phases_s(book(), 8192)
    for name, minutes in {"stop": 0.52, "reschedule": 1.5, "communicator": 1.09, "warm-up": 1.8}.items():
        assert phases[name] == pytest.approx(60 * minutes)


def shrunk(rng, p, gpus, batch, horizon, start):
    """Share of its full work that a shrunk job does, event by event.

    A fault stops it at once, whatever is going on; one that takes a node stops it again when the node is back.
    """
    one, replicas, nodes = page.choice(p, gpus), gpus // p.replica_gpus, gpus // p.gpus_per_node
    lead, whole, cold = one.lead_s, one.stall_s["shrink"][0], one.stall_s["cold"][0]
    now, stopped, out, work, queue = 0.0, 0.0, 0, 0.0, [(rng.exponential(one.mtbf_s), "fault")]
    while now < horizon:
        at, what = heapq.heappop(queue)
        at = min(at, horizon)
        left = max(0, nodes - out) // p.replica_nodes
        speed = max([n for n in range(1, left + 1) if batch is None or batch % n == 0], default=0) / replicas
        work += speed * max(0.0, at - max(now, stopped, start))
        now = at
        if what == "fault":
            heapq.heappush(queue, (now + rng.exponential(one.mtbf_s), "fault"))
            if rng.random() < p.node_share:
                out, stopped = out + 1, max(stopped, now + lead)
                heapq.heappush(queue, (now + 60 * p.away_min, "back"))
            else:
                stopped = max(stopped, now + cold)
        elif what == "back":
            out, stopped = out - 1, max(stopped, now + whole - lead)
    return work / (horizon - start)


@pytest.mark.parametrize("way", ["shrink", "even"])
@pytest.mark.parametrize("gpus", [16384, 32768])
def test_what_a_shrunk_job_keeps_against_a_simulation(gpus, way):
    p, rng = book(away_min=90.0), np.random.default_rng(23)
    one, batch = page.choice(p, gpus), page.batches(p, gpus)[way]
    start = 20 * one.mtbf_s
    samples = [shrunk(rng, p, gpus, batch, start + 300 * one.mtbf_s, start) for _ in range(25)]
    assert_mean(samples, one.kept[way], resolution=0.012)


@pytest.mark.parametrize("way", ["shrink", "even"])
@pytest.mark.parametrize("other", ["cold", "standby"])
@pytest.mark.parametrize("gpus", [4096, 16384, 98304])
def test_at_break_even_both_ways_keep_the_same(gpus, way, other):
    p = book(standby_percent=8.0)
    away_s = page.break_even_s(p, gpus, way, other)
    one = page.choice(book(standby_percent=8.0, away_min=max(1.0, away_s / 60)), gpus)
    if away_s == 0:
        assert one.kept[way] <= one.kept[other]
    else:
        assert one.kept[way] == pytest.approx(one.kept[other], rel=1e-6)


def test_a_kept_curve_goes_through_the_choice():
    p = book()
    kept, equal_s = page.kept_by_away(p, 16384, np.array([600.0, 3600.0]))
    one = page.choice(p, 16384)
    assert kept[page.WAYS["shrink"]][1] == pytest.approx(one.kept["shrink"], rel=1e-12)
    assert kept[page.WAYS["even"]][1] == pytest.approx(one.kept["even"], rel=1e-12)
    assert kept[page.WAYS["cold"]] == one.kept["cold"]
    assert equal_s[page.WAYS["even"]] < equal_s[page.WAYS["shrink"]]


def test_one_replica_alone_cannot_shrink():
    one = page.choice(book(away_min=1e6), 1024)
    assert one.kept["shrink"] < 1e-9
    assert one.stall_s["standby"][0] > page.choice(book(checkpoint_interval_min=0.0), 1024).stall_s["standby"][0]


def test_without_a_node_to_blame_all_ways_are_one():
    p = book(class_counts={"gpu": 0, "network": 0, "host": 0, "software": 3, "other": 1}, standby_percent=0.0)
    one = page.choice(p, 16384)
    assert len({round(share, 12) for share in one.kept.values()}) == 1
    assert page.break_even_s(p, 16384, "shrink") == 0


def test_a_batch_that_divides_makes_every_size_legal_that_one_needs():
    easy = page.choice(book(replica_batch=135), 16384)  # 2,160 sequences for fifteen replicas too
    assert easy.kept["even"] == pytest.approx(easy.kept["shrink"], rel=1e-4)
    assert elastic.throughput(1, 16, 16 * 135) == 15 / 16


@pytest.mark.parametrize(
    "changes",
    [
        {"failures_per_1000_node_days": 1e6},
        {"failures_per_1000_node_days": 1e-6},
        {"gpus": 1024, "sizes": [1024]},
        {"gpus": 10**7, "replica_gpus": 10000, "sizes": [10**7]},
        {"gpus": 1, "gpus_per_node": 1, "replica_gpus": 1, "sizes": [1, 2], "replica_batch": 1},
        {
            "stop_min": 0.0,
            "reschedule_min": 0.0,
            "nccl_min": 0.0,
            "warmup_min": 0.0,
            "detection_s": 0.0,
            "step_s": 0.0,
            "checkpoint_interval_min": 0.0,
        },
        {"away_min": 0.0, "rebuild_share": 0.0, "standby_percent": 0.0},
    ],
)
def test_extreme_parameters(changes):
    result = page.compute(book(**changes))
    for one in result.values["choices"]:
        for share in one.kept.values():
            assert 0 <= share <= 1
    for times in result.values["break_even_s"].values():
        assert all(0 <= t <= INF for t in times)
    for text in result.sections.values():
        assert "nan" not in text and "inf" not in text
    for one in page.disturbed(book(**changes), result.values["sizes"][0], np.random.default_rng(1)):
        assert one.mean >= one.undisturbed


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"gpus": 1000}, "gpus = 1000"),
        ({"sizes": [1024, 1000]}, r"sizes = \[1024, 1000\]"),
        ({"sizes": [1024, 1024]}, r"sizes = \[1024, 1024\]"),
        ({"sizes": [0]}, r"sizes = \[0\]"),
        ({"replica_gpus": 1023}, "replica_gpus = 1023"),
        ({"class_counts": {"gpu": 1}}, "class_counts = {'gpu': 1}"),
        ({"class_counts": dict.fromkeys(faults.CLASSES, 0)}, "class_counts"),
        ({"class_counts": dict.fromkeys(faults.CLASSES, 1) | {"gpu": -1}}, "class_counts"),
        ({"storage_gb_s": 0.0}, "storage_gb_s = 0.0"),
        ({"rebuild_share": 1.75}, "rebuild_share = 1.75"),
        ({"away_min": float("nan")}, "away_min"),
        ({"nccl_exponent": -1.0}, "nccl_exponent"),
    ],
)
def test_impossible_parameters_are_refused(changes, said):
    with pytest.raises(ParameterError, match=said):
        book(**changes)


def test_each_anchor_stands_as_declared():
    held = {anchor.name: anchors.check(anchor) for anchor in page.anchors()}
    assert len(held) == len(page.anchors())
    numbers = {name: f"{anchor.computed:.4g}" for name, anchor in held.items() if anchor.computed is not None}
    assert (
        numbers
        | {
            "ft_hsdp_44": "0.4444",
            "ft_hsdp_80": "0.8333",
            "held_out_cold_1": "257.4",
            "held_out_cold_2": "657.9",
            "trainmover_swap": "43.8",
            "kokolis_simple": "0.9323",
            "kokolis_quick_write": "0.9205",
            "kokolis_calm": "0.8979",
            "kokolis_slow_write": "0.7398",
            "kokolis_far": "0.9391",
            "reliability_economics_elastic": "0.7944",
        }
        == numbers
    )
    for anchor in held.values():
        assert anchor.primary == facts_are_primary(anchor)


def facts_are_primary(anchor):
    """Only what was read in the source itself is called primary: the abstracts, and the models' own numbers."""
    return anchor.name in ("ft_hsdp_44", "ft_hsdp_80", "trainmover_swap") or anchor.source in (
        "kokolis2025",
        "reliability_economics",
    )


def test_the_published_elastic_policy_against_its_rules():
    """Its own rules in a loop: faults wait their turn, each stops the job, and nodes are away five hours."""
    rng, results = np.random.default_rng(3), []
    hours, nodes = facts.value("reliability_economics_hours"), facts.value("reliability_economics_nodes")
    every = 24000 / facts.value("reliability_economics_rate") / nodes["job"]
    for _ in range(60):
        now, work, back = 0.0, 0.0, []
        fault = rng.exponential(every)
        while fault < hours["horizon"]:
            base = max(now, fault)
            work += running(now, base, back, hours, nodes)
            back = [t for t in back if t > fault]
            work -= hours["interval"] / 2 * usable(len(back), nodes)
            back.append(fault + hours["repair"] + hours["requalify"])
            now, fault = base + hours["reshard"], fault + rng.exponential(every)
        work += running(now, hours["horizon"], back, hours, nodes)
        results.append(work / (nodes["job"] * hours["horizon"]))
    ours = next(a for a in page.anchors() if a.name == "reliability_economics_elastic")
    assert_mean(results, ours.computed, resolution=0.003, errors=5.0)


def usable(out, nodes):
    return nodes["job"] - -(-out // nodes["replica"]) * nodes["replica"]


def running(start, end, back, hours, nodes):
    """Node-hours of work from start to end while nodes come back."""
    marks = [start, *sorted(t for t in back if start < t < end), end]
    spans = zip(marks[:-1], marks[1:], strict=True)
    kept = 1 - hours["write"] / hours["interval"]
    return sum(kept * max(0.0, b - a) * usable(sum(t > a for t in back), nodes) for a, b in spans)


def test_a_mean_of_several_runs_is_held_to_the_error_of_a_mean():
    found = {anchor.name: anchor for anchor in page.anchors()}["reliability_economics_elastic"]
    hours, nodes = facts.value("reliability_economics_hours"), facts.value("reliability_economics_nodes")
    failures = facts.value("reliability_economics_rate") / 24_000 * nodes["job"] * hours["horizon"]
    one_run = math.sqrt(failures) * (hours["reshard"] + hours["interval"] / 2) / hours["horizon"]
    runs = facts.value("reliability_economics_runs")
    assert runs > 1 and found.high - found.low == pytest.approx(6 * one_run / math.sqrt(runs))
