"""Tasks of the bench on the simulated fleet: AIReSim's base case, with more and more causes, against its floors.

A run of the base case meets about 11,150 faults. Each needs the time to it, which kind of node it strikes and how its repair
goes: four uniform and three exponential numbers. The other floors are the SimPy oracle of the tests, which does the
same in plain Python, and the base case itself.
"""

import sys
from pathlib import Path

import numpy as np

from reliability import fleet, fleet_config, fleet_document

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))

import simpy_fleet  # noqa: E402 (from the tests)

BASE = fleet_document.read(ROOT / "examples" / "airesim-base.toml").model_dump(exclude_unset=True)
FAULTS, UNIFORM, EXPONENTIAL, DAYS = 11_150, 4, 3, 256
RANDOM, ORACLE, ALONE = "drawing its random numbers", "the SimPy oracle of the tests", "the base case alone"

CHECKPOINT = {"interval_s": 1800.0, "write_s": 30.0}
UPLOADED = {**CHECKPOINT, "upload_s": 600.0, "drag": 0.05}
FAULT_CLASSES = (
    {"name": "loud", "share": 0.5, "detection_s": 30.0},
    {"name": "hang", "share": 0.5, "detection_s": 600.0, "right": 0.8, "wrong": 0.1},
)
STRAGGLER = {"rate_per_node_day": 0.0005, "slowdown": 0.2, "found_after_s": 7200.0, "pause_s": 300.0}
CORRUPTION = {"rate_per_node_day": 2e-5, "verification_s": 60.0, "every": 4}
BURSTS = {"burst_shares": (0.7, 0.3), "burst_sizes": (1, 16)}
WEIBULL = {"life": "weibull", "shape": 0.7}
CAUSES = {
    "checkpoints": {"checkpoint": CHECKPOINT},
    "checkpoints with uploads": {"checkpoint": UPLOADED},
    "failures at any time": {"failures": {"clock": "always"}},
    "fault classes and blame": {"faults": FAULT_CLASSES},
    "bursts": {"failures": BURSTS},
    "Weibull lives": {"failures": WEIBULL},
    "retirement": {"retirement": {"failures": 3, "window_days": 30.0}},
    "stragglers": {"straggler": STRAGGLER},
    "silent corruption": {"checkpoint": CHECKPOINT, "corruption": CORRUPTION},
    "all of them": {
        "failures": {**BURSTS, **WEIBULL, "clock": "always"},
        "faults": FAULT_CLASSES,
        "recovery": {"swap_s": 300.0},
        "checkpoint": UPLOADED,
        "straggler": STRAGGLER,
        "corruption": CORRUPTION,
        "retirement": {"failures": 8, "window_days": 60.0},
        "work_h": None,  # which would take far longer
        "horizon_h": 9866.0,
    },
}


def built(**changes):
    """Return the base case with some settings changed."""
    settings = dict(BASE)
    for name, value in changes.items():
        both = isinstance(value, dict) and isinstance(settings.get(name), dict)
        settings[name] = {**settings[name], **value} if both else value
    return fleet_config.build({name: value for name, value in settings.items() if value is not None})


def draws(replications, faults):
    """Draw the random numbers of so many replications of so many faults."""
    rng = np.random.default_rng(1)
    for _ in range(replications):
        rng.random(UNIFORM * faults)
        rng.standard_exponential(EXPONENTIAL * faults)


def simulated(replications):
    """Simulate the base case, each replication on its own streams."""
    config = built()
    fleet.simulate_key(config, 1, 1)  # compiled
    return 8 * replications, lambda: fleet.simulate_key(config, 1, replications), lambda: draws(replications, FAULTS)


def longer(faults):
    """Simulate a work that meets so many faults, ten times."""
    config = built(work_h=24.0 * DAYS * faults / FAULTS)
    fleet.simulate_key(config, 1, 1)
    return 8 * 10, lambda: fleet.simulate_key(config, 1, 10), lambda: draws(10, faults)


def beside_the_oracle(replications):
    """Simulate a twentieth of the work."""
    work = 24.0 * DAYS / 20
    config, settings = built(work_h=work), {**BASE, "work_h": work}
    fleet.simulate_key(config, 1, 1)
    return (
        8 * replications,
        lambda: fleet.simulate_key(config, 1, replications),
        lambda: simpy_fleet.replications(settings, 1, replications),
    )


def with_cause(changes):
    """Simulate the base case with another cause."""

    def task(replications):
        config, base = built(**changes), built()
        fleet.simulate_key(config, 1, 1)
        return (
            8 * replications,
            lambda: fleet.simulate_key(config, 1, replications),
            lambda: fleet.simulate_key(base, 1, replications),
        )

    return task


TASKS = [
    ("fleet, AIReSim's base case, N replications", RANDOM, simulated, (100, 300, 1000), 1000),
    ("fleet, the base case, N failures, 10 replications", RANDOM, longer, (1115, 11_150, 111_500), 11_150),
    ("fleet, a twentieth of the base case, N replications", ORACLE, beside_the_oracle, (1, 3), 3),
    *((f"fleet, the base case and {name}, N replications", ALONE, with_cause(changes), (10, 50), 50) for name, changes in CAUSES.items()),
]  # fmt: skip
