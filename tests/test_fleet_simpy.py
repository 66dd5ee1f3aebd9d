"""The fleet model against a plain SimPy program, in distribution, with all causes that can go together."""

import numpy as np
import pytest
import simpy_fleet
from oracles import two_sample_p

from reliability import fleet, fleet_config
from reliability.budget import BINS

pytestmark = pytest.mark.filterwarnings("error")

BASE = {
    "job_nodes": 20,
    "pool_nodes": 24,
    "warm_standbys": 2,
    "spare_nodes": 4,
    "work_h": 300.0,
    "failures": {"rate_per_node_day": 0.1, "bad_share": 0.2, "bad_factor": 5.0},
    "repair": {
        "automatic_s": 20000.0,
        "manual_s": 90000.0,
        "to_manual": 0.5,
        "automatic_fails": 0.4,
        "manual_fails": 0.2,
        "requalify_s": 3000.0,
    },
    "recovery": {"restart_s": 1200.0, "host_selection_s": 600.0, "preemption_s": 2000.0},
}
ALWAYS = {"clock": "always"}
BLAMED = [
    {"name": "hang", "share": 0.5, "detection_s": 300.0, "right": 0.6, "wrong": 0.3},
    {"name": "loud", "share": 0.5, "detection_s": 30.0},
]
BLOCKING = {"interval_s": 7200.0, "write_s": 300.0}
UPLOADED = {**BLOCKING, "upload_s": 3000.0, "drag": 0.3}
STRAGGLER = {"rate_per_node_day": 0.05, "slowdown": 0.3, "found_after_s": 20000.0, "pause_s": 500.0}
SMALLER = {
    "pool_nodes": 22,
    "spare_nodes": 0,
    "elastic": {"nodes_per_replica": 4, "batch": 12, "reshard_s": 500.0, "grow_s": 200.0},
}
WORN = {"life": "weibull", "shape": 0.7}
CASES = {
    "AIReSim's rules": {},
    "failures at any time": {"failures": ALWAYS},
    "blame and swaps": {"failures": ALWAYS, "faults": BLAMED, "recovery": {"swap_s": 100.0}},
    "bursts": {"failures": {"burst_shares": [0.6, 0.4], "burst_sizes": [1, 4]}, "pool_nodes": 28},
    "uploads": {"checkpoint": UPLOADED, "straggler": STRAGGLER},
    "corruption": {
        "failures": ALWAYS,
        "checkpoint": BLOCKING,
        "corruption": {"rate_per_node_day": 0.05, "verification_s": 200.0, "every": 3},
    },
    "elastic": {**SMALLER, "failures": ALWAYS, "checkpoint": UPLOADED, "straggler": STRAGGLER},
    "named": {"failures": {**WORN, **ALWAYS}, "faults": BLAMED, "checkpoint": BLOCKING},
    "lognormal": {"failures": {"life": "lognormal", "cv": 1.5}},
    "everything": {
        "work_h": None,
        "horizon_h": 400.0,
        "failures": {**WORN, **ALWAYS},
        "faults": BLAMED,
        "recovery": {"swap_s": 100.0},
        "retirement": {"failures": 5},
        "checkpoint": BLOCKING,
        "corruption": {"rate_per_node_day": 0.05, "verification_s": 200.0, "every": 2},
        "straggler": STRAGGLER,
    },
}


def settings_of(name):
    out = dict(BASE)
    for part, value in CASES[name].items():
        both = isinstance(value, dict) and isinstance(out.get(part), dict)
        out[part] = {**out[part], **value} if both else value
    return {part: value for part, value in out.items() if value is not None}


def differences(settings, plain_runs, runs):
    """Which results of the two programs differ: by over four standard errors, or in distribution."""
    plain = simpy_fleet.replications(settings, 3, plain_runs)
    result = fleet.simulate(fleet_config.build(settings), np.random.default_rng(11), runs)
    samples = {"elapsed": ([one.elapsed for one in plain], result.elapsed_s)}
    samples |= {name: ([one.bins[name] for one in plain], result.bins_s[name]) for name in BINS}
    samples |= {name: ([one.counts[name] for one in plain], count) for name, count in result.counts.items()}
    found = {}
    for name, pair in samples.items():
        # Rounded: work that is done to the end is alike but for the last digits.
        one, other = (np.round(np.asarray(sample, dtype=float), 3) for sample in pair)
        error = np.sqrt(one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other))
        gap = abs(one.mean() - other.mean())
        if gap > 4 * error + 1e-3 or two_sample_p(one, other) < 1e-5:
            found[name] = (one.mean(), other.mean(), gap / error if error else np.inf)
    for one in plain:
        assert sum(one.bins.values()) == pytest.approx(one.elapsed)
    return found


@pytest.mark.parametrize("name", CASES)
def test_the_two_programs_agree(name):
    assert differences(settings_of(name), 250, 1000) == {}


@pytest.mark.parametrize(
    ("name", "part", "setting", "value"),
    [
        ("blame and swaps", "recovery", "restart_s", 1600.0),
        ("AIReSim's rules", "repair", "to_manual", 0.8),
        ("uploads", "checkpoint", "upload_s", 3600.0),
    ],
)
def test_a_difference_would_be_seen(name, part, setting, value, monkeypatch):
    settings = settings_of(name)
    other = {**settings, part: {**settings[part], setting: value}}
    replications = simpy_fleet.replications
    monkeypatch.setattr(simpy_fleet, "replications", lambda settings, seed, number: replications(other, seed, number))
    assert differences(settings, 250, 1000)
