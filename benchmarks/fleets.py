"""Tasks of the bench on the simulated fleet: AIReSim's base case and its causes, against drawing the random numbers.

A run of the base case meets about 11,150 faults. Each needs the time to it, which kind of node it strikes and how its repair
goes: four uniform and three exponential numbers.
"""

from pathlib import Path

import numpy as np

from reliability import fleet, fleet_document

BASE = Path(__file__).parents[1] / "examples" / "airesim-base.toml"
FAULTS, UNIFORM, EXPONENTIAL = 11_150, 4, 3
FLOOR = "drawing its random numbers"


def simulated(days):
    """Simulate so many days of work of the base case, each replication on its own streams."""
    base = fleet_document.read(BASE)
    config = base.model_copy(update={"work_h": 24.0 * days})

    def task(replications):
        def floor():
            rng, faults = np.random.default_rng(1), round(FAULTS * days / 256)
            for _ in range(replications):
                rng.random(UNIFORM * faults)
                rng.standard_exponential(EXPONENTIAL * faults)

        return 8 * replications, lambda: fleet.simulate_key(config, 1, replications), floor

    return task


TASKS = [
    ("fleet, AIReSim's base case, N replications", FLOOR, simulated(256), (100, 300, 1000), 1000),
    ("fleet, the same over a tenth of the time", FLOOR, simulated(25.6), (100, 300, 1000), 1000),
]
