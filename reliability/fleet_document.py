"""The fleet that a settings file describes: its ``[fleet]`` table, or a cluster file as `plan` reads it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reliability import fleet_config, plan_fleets, settings_files
from reliability.errors import BadInput
from reliability.settings_faults import placed
from reliability.text import escaped
from reliability.toml_values import written

if TYPE_CHECKING:
    from reliability.job_state import State
    from reliability.log_reads import Reads

DRAWS, SEED = 401, 7  # of what a cluster file does not give exactly; their medians are simulated


def fleet_of(
    tables: dict[str, Any],
    source: str = "cluster file",
    folder: str | Path = ".",
    reads: Reads | None = None,
    text: str = "",
) -> fleet_config.Fleet:
    """Return the fleet of a file's tables.

    Parameters
    ----------
    tables : dict
        With a table ``fleet`` and nothing else, or those of a cluster file.
    source : str
        The file's name, for messages.
    folder : path
        Where the paths in the tables begin.
    reads : reliability.log_reads.Reads, optional
        What was read for other fleets of the same logs.
    text : str
        The file, to name the line of a fault.

    Raises
    ------
    BadInput
        In one line with the file.
    """
    settings_files.check_kind(tables, source, "fleet", "cluster")
    if "fleet" not in tables:
        if not tables:
            raise BadInput(f"{source}: is empty; it needs a [fleet] table, or those of a cluster file")
        return of_cluster(tables, source, folder, reads, text)
    if others := [name for name in tables if name != "fleet"]:
        raise BadInput(f"{source}: [{others[0]}]: unknown table beside [fleet]")
    if not isinstance(tables["fleet"], dict):
        raise BadInput(f"{source}: fleet = {written(tables['fleet'])}: must be a table, [fleet]")
    try:
        return fleet_config.build(tables["fleet"], text)
    except fleet_config.FleetError as error:
        raise fleet_config.FleetError(placed(source, str(error))) from None


def read(path: str | Path) -> fleet_config.Fleet:
    """Return the fleet of a settings file; ``example:NAME`` is one that comes with the book."""
    return read_with_kind(path)[0]


def read_with_kind(path: str | Path) -> tuple[fleet_config.Fleet, bool]:
    """Return the fleet of a settings file, and whether it is a cluster file's, each quantity at its median."""
    from reliability.cluster import find

    path = find(path)
    text = settings_files.text(path)
    tables = settings_files.tables(text, escaped(path))
    return fleet_of(tables, str(path), path.parent, text=text), "fleet" not in tables


def of_cluster(
    tables: dict[str, Any], source: str, folder: str | Path, reads: Reads | None = None, text: str = ""
) -> fleet_config.Fleet:
    """Return the fleet of a cluster file as it is now, each quantity at its median; see :class:`reliability.plan_fleets.Builder`."""
    from reliability import cluster, plan
    from reliability.aliases import Names
    from reliability.quantities import Streams

    parsed = cluster.build(tables, source, folder, text)
    evidence, now = plan.current(parsed, Streams(SEED, DRAWS), Names(hidden=False), reads)
    return of_state(now, evidence.classes, parsed.target.horizon_days)


def of_state(state: State, classes: tuple[str, ...], horizon_days: float) -> fleet_config.Fleet:
    """Return the fleet of a plan's state over a horizon, each quantity at its median."""
    (found,) = plan_fleets.Builder(classes, 1).fleets(plan_fleets.at_medians(state), np.array([24.0 * horizon_days]))
    return found
