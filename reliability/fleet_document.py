"""The fleet that a settings file describes: its ``[fleet]`` table, or a cluster file as `plan` reads it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reliability import fleet_config
from reliability.errors import BadInput
from reliability.grid import toml

if TYPE_CHECKING:
    from reliability.job_state import State

DRAWS, SEED = 401, 7  # of what a cluster file does not give exactly; their medians are simulated


def fleet_of(tables: dict[str, Any], source: str = "cluster file", folder: str | Path = ".") -> fleet_config.Fleet:
    """Return the fleet of a file's tables.

    Parameters
    ----------
    tables : dict
        With a table ``fleet`` and nothing else, or those of a cluster file.
    source : str
        The file's name, for messages.
    folder : path
        Where the paths in the tables begin.

    Raises
    ------
    BadInput
        In one line with the file.
    """
    if "fleet" not in tables:
        if not tables:
            raise BadInput(f"{source}: is empty; it needs a [fleet] table, or those of a cluster file")
        return of_cluster(tables, source, folder)
    if others := [name for name in tables if name != "fleet"]:
        raise BadInput(f"{source}: [{others[0]}]: unknown table beside [fleet]")
    try:
        return fleet_config.build(tables["fleet"])
    except ValueError as error:
        raise BadInput(f"{source}: {error}") from None


def read(path: str | Path) -> fleet_config.Fleet:
    """Return the fleet of a settings file; ``example:NAME`` is one that comes with the book."""
    from reliability.cluster import find

    path = find(path)
    return fleet_of(toml(path), str(path), path.parent)


def of_cluster(tables: dict[str, Any], source: str, folder: str | Path) -> fleet_config.Fleet:
    """Return the fleet of a cluster file as it is now, each quantity at its median.

    A class for which a node is to blame sends that node to repair; after the others the job restarts on the nodes it has.
    Where the cluster requeues, nodes from elsewhere are there as spares that are preempted one by one, and each costs the
    replacement time. Without a known repair a node is back at once. Slow ranks that the file knows of are no process in
    time, and are left out.
    """
    from reliability import cluster, plan

    parsed = cluster.build(tables, source, folder)
    made = plan.make(parsed, draws=DRAWS, seed=SEED)
    return of_state(made.now, made.evidence.classes, parsed.target.horizon_days)


def of_state(state: State, classes: tuple[str, ...], horizon_days: float) -> fleet_config.Fleet:
    """Return the fleet of a plan's state over a horizon."""

    def median(values):
        return float(np.median(values))

    shares = np.median(state.shares, axis=0)
    faults = [
        {
            "name": name,
            "share": float(share / shares.sum()),
            "detection_s": median(state.detection[:, i]),
            "right": float(state.on_node[i]),
        }
        for i, (name, share) in enumerate(zip(classes, shares, strict=True))
        if share > 0
    ]
    spares = 0 if state.waits else state.nodes
    return fleet_config.build(
        {
            "job_nodes": state.nodes,
            "warm_standbys": state.standbys if state.swap is not None else 0,
            "spare_nodes": spares,
            "horizon_h": 24.0 * horizon_days,
            "failures": {"rate_per_node_day": 24.0 * median(state.rate), "clock": "always"},
            "faults": faults,
            "repair": {"automatic_s": 0.0 if state.repair_h is None else 3600.0 * median(state.repair_h)},
            "recovery": {
                "restart_s": median(state.cold),
                **({} if state.swap is None else {"swap_s": median(state.swap)}),
                "preemption_s": median(state.replacement),
            },
            "checkpoint": {"interval_s": float(state.interval), "write_s": median(state.write)},
        }
    )
