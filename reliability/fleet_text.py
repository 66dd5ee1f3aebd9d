"""The results of a simulation of a fleet as JSON and as a table of 80 columns."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

from reliability import budget
from reliability.text import counted, table

if TYPE_CHECKING:
    from reliability.fleet_config import Fleet
    from reliability.fleet_result import FleetResult

SCHEMA, VERSION = "training-reliability/simulate", 1
INTERVAL, NONE_LOST = "95 % interval", "No hour is lost."


def as_json(result: FleetResult, config: Fleet, seed: int) -> dict[str, Any]:
    """Return the results as JSON has them; a spread that one replication alone does not tell is None.

    ``training_time_h``, ``effective_training_ratio``, each count such as ``failures`` and each bin of
    ``hours_lost`` are {``mean``, ``sd``, ``low``, ``high``}; ``replications``, ``seconds`` (of processor time),
    ``partial`` (interrupted), ``level`` of the intervals, ``seed``, and ``fleet``, the settings in full.
    """
    document = {"schema": SCHEMA, "version": VERSION, **result.summary()}
    return {**_plain(document), "seed": seed, "fleet": config.model_dump(mode="json")}


def _plain(value: Any) -> Any:
    """Round numbers to six significant digits; one that is not known is None."""
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    if isinstance(value, float):
        return None if value != value else float(f"{value:.6g}")
    return value


def as_text(result: FleetResult, config: Fleet, at_medians: bool = False) -> str:
    """Return the results as tables for a terminal.

    Parameters
    ----------
    result : FleetResult
    config : Fleet
    at_medians : bool
        Whether the settings are the medians of what a cluster file gives.
    """
    aim = f"{config.length_h:,.6g} hours{'' if config.work_h is None else ' of work'}"
    partial = " (interrupted: partial)" if result.partial else ""
    head = f"{config.job_nodes:,} nodes, {aim}; {counted(len(result), 'replication')}{partial}, {result.seconds:.1f} s."
    if at_medians:
        head += "\nEach quantity of the cluster file is at its median; `plan` has their whole range."
    parts = [head, results(result)]
    if lost := hours_lost(result):
        parts.append(table(["hours lost", "mean", INTERVAL, "sd", "share"], lost))
        parts.append("\n".join(f"{name}: {budget.MEANING[name]}" for name, *_ in lost))
    else:
        parts.append(NONE_LOST)
    return "\n\n".join(parts)


def results(result: FleetResult) -> str:
    """Return the times and counts as a table, and the names of what never happened."""
    found = result.summary()
    rows = [
        ("training time, h", *_cells(found["training_time_h"])),
        ("effective training ratio", *_cells(found["effective_training_ratio"], 4)),
        *((name.replace("_", " "), *_cells(found[name])) for name, count in result.counts.items() if count.any()),
    ]
    never = [name.replace("_", " ") for name, count in result.counts.items() if not count.any()]
    said = ["\n\n", fill(f"None: {', '.join(never)}.", 80)] if never else []
    return "".join([table(["mean of the replications", "mean", INTERVAL, "sd"], rows), *said])


def hours_lost(result: FleetResult) -> list[tuple[str, str, str, str, str]]:
    """Return the bins that have lost hours as rows: name, mean, interval, spread, and share of the whole time."""
    found = result.summary()
    return [
        (name, *_cells(hours), f"{100 * hours['mean'] / found['training_time_h']['mean']:.2f}%")
        for name, hours in found["hours_lost"].items()
        if hours["mean"] > 0
    ]


def _cells(estimate: dict[str, float], decimals: int | None = None) -> tuple[str, str, str]:
    def written(value):
        if value != value:
            return "unknown"
        return f"{value:.{decimals}f}" if decimals else f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"

    if estimate["low"] != estimate["low"]:
        return written(estimate["mean"]), "unknown", "unknown"
    return written(estimate["mean"]), f"{written(estimate['low'])} to {written(estimate['high'])}", written(estimate["sd"])
