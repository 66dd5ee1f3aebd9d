"""A grid of cluster settings, simulated point by point: results kept as they come, taken up where they stopped.

A point's result depends on its settings, the seed and the number of replications alone. All points meet the same
failures, replication by replication, so that neighbours can be compared.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reliability import __version__, distribute, fleet, fleet_config, fleet_document, sweep_cost
from reliability.errors import BadInput
from reliability.fleet_sources import MODEL, sources
from reliability.log_reads import Reads
from reliability.text import escaped
from reliability.toml_values import written

if TYPE_CHECKING:
    from distributed import Client

    from reliability.grid import Grid

KEPT = "points.jsonl"
ERROR = "error"  # column of the table: why a point could not be simulated


@dataclass(frozen=True)
class Point:
    """One point of a grid: its settings, the fleet they make, and the key under which its result is kept."""

    settings: dict[str, Any]
    fleet: fleet_config.Fleet
    key: str


def _place(settings: dict[str, Any]) -> str:
    """Say where in the grid a point is."""
    return f"at the point {', '.join(f'{name} = {written(value)}' for name, value in settings.items())}"


def points(grid: Grid, progress: Callable[[int, int], None] | None = None) -> list[Point]:
    """Return the points of a grid, in its order; what they say of the same logs is read once.

    Parameters
    ----------
    grid : Grid
    progress : function of (done, all), optional

    Raises
    ------
    BadInput
        At the first point whose settings make no fleet, with them.
    """
    made, reads = [], Reads()
    for settings in grid.points():
        config = fleet_document.fleet_of(grid.document(settings), _place(settings), grid.folder, reads)
        made.append(Point(settings, config, point_key(config, grid.seed, grid.replications)))
        if progress:
            progress(len(made), len(grid))
    return made


def point_key(config: fleet_config.Fleet, seed: int, replications: int) -> str:
    """Return the name under which a point's result is kept: a hash of all that it depends on."""
    depends = {
        "fleet": config.model_dump(mode="json"),
        "seed": seed,
        "replications": replications,
        "version": __version__,
        "sources": _sources(),
    }
    return hashlib.sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()


@cache
def _sources() -> str:
    return sources(MODEL)


def simulate_points(batch: tuple[list[Point], int, int]) -> list[tuple[str, dict]]:
    """Simulate a batch of points; what a worker does.

    Returns
    -------
    list of (key, dict)
        The :func:`row` of each point; of one whose work is never done, why, under `ERROR` and with nothing else.
    """
    members, key, replications = batch
    results = []
    for point in members:
        try:
            found = row(fleet.simulate_key(point.fleet, key, replications))
        except BadInput as error:
            found = {ERROR: str(error)}
        results.append((point.key, found))
    return results


def not_simulated(members: list[Point], kept: Store) -> str:
    """Say in a line how many points could not be simulated, and why the first could not; nothing where all were."""
    failed = [point for point in members if ERROR in kept.done[point.key]]
    if not failed:
        return ""
    place, reason = _place(failed[0].settings), kept.done[failed[0].key][ERROR]
    return (
        f"{len(failed):,} of {len(members):,} points could not be simulated; the column {ERROR} of sweep.csv says why. "
        f"{escaped(place[0].upper() + place[1:])}: {reason}"
    )


def row(result: fleet.FleetResult) -> dict[str, float]:
    """Return a result's estimates as one row: ``hours_lost.restart.mean``."""
    summary = result.summary()
    for name in ("seconds", "partial", "level"):  # what differs from run to run, and what does not
        del summary[name]
    return dict(_flat("", summary))


def _flat(prefix: str, tree: Mapping) -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{prefix}{name}.", value)
        else:
            yield f"{prefix}{name}", value


class Store:
    """The results of finished points, one line each, in a file that only grows."""

    def __init__(self, folder: Path):
        self._file = (folder / KEPT).open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise BadInput(f"{folder}: another sweep writes there") from None
        self.done = self._read()

    def _read(self) -> dict[str, dict]:
        """Return what is kept; cut off a line that an interruption left unfinished."""
        self._file.seek(0)
        done, whole = {}, 0
        for line in self._file:
            try:
                kept = json.loads(line) if line.endswith(b"\n") else None
                done[kept["key"]] = kept["result"]
            except (ValueError, TypeError, KeyError):
                break
            whole += len(line)
        self._file.seek(0, os.SEEK_END)
        if whole < self._file.tell():
            self._file.truncate(whole)
        return done

    def add(self, results: list[tuple[str, dict]]) -> None:
        """Keep results; they are on the disk when this returns."""
        lines = [json.dumps({"key": key, "result": result}) + "\n" for key, result in results]
        self._file.write("".join(lines).encode())
        self._file.flush()
        os.fsync(self._file.fileno())
        self.done.update(results)

    def close(self) -> None:
        """Let another sweep have the file."""
        self._file.close()


@contextmanager
def store(folder: str | os.PathLike) -> Iterator[Store]:
    """Open the store of an output folder, which is made where it is not there."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        opened = Store(folder)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written to ({error.strerror})") from None
    try:
        yield opened
    finally:
        opened.close()


def run(
    grid: Grid,
    members: list[Point],
    kept: Store,
    client: Client | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Simulate the points that are not kept yet.

    Parameters
    ----------
    grid : Grid
    members : list of Point
        Of :func:`points`.
    kept : Store
    client : distributed.Client, optional
        As :func:`reliability.distribute.place` gives it; by default the work is done in this process.
    progress : function of (done, all), optional
    """
    key = fleet.key_of(grid.seed)
    left = list({point.key: point for point in members if point.key not in kept.done}.values())
    all_points, done = len(members), len(members) - len(left)

    def keep(results: list[tuple[str, dict]]) -> None:
        nonlocal done
        kept.add(results)
        done += len(results)
        if progress:
            progress(done, all_points)

    keep([])
    # In this process: how long the second takes says how many points a task should have. The first loads the engine.
    for point in [left.pop(0) for _ in left[:2]]:
        began = time.perf_counter()
        keep(simulate_points(([point], key, grid.replications)))
        took = time.perf_counter() - began
    if not left:
        return
    workers = distribute.workers(client)
    size = sweep_cost.batch_size(len(left), took, workers)
    batches = [(left[i : i + size], key, grid.replications) for i in range(0, len(left), size)]
    for _, results in distribute.results(simulate_points, batches, client):
        keep(results)
