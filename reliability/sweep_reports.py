"""A page for each point of a sweep, made by papermill: a folder each, which appears when it is whole.

A point over a cluster file gets the report of its plan, as ``python -m reliability plan`` makes it; a point over a
``[fleet]`` table gets the page ``fleet_report``, with the replications and the seed of the sweep.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from reliability import __version__, cluster_fields, distribute, plan_report, report, signals
from reliability.errors import BadInput
from reliability.log_reads import stamp
from reliability.staging import publish, staging, whole
from reliability.text import escaped

if TYPE_CHECKING:
    from distributed import Client

    from reliability.grid import Grid
    from reliability.sweep import Point

FOLDER, TABLE = "reports", "reports.csv"
CLUSTER, FLEET = "cluster.toml", "fleet.toml"
FLEET_PAGE, FLEET_JSON = "fleet_report", "simulate.json"
MOST_LETTERS = 80  # of a folder's name, but for the end that tells it from all others
MOST_NAME = 100  # letters of a cluster's name

_one_at_a_time = threading.Lock()  # in a process: Sphinx's registers are the process's own


@dataclass(frozen=True)
class Member:
    """The report of a point: what it is made from, and where it belongs."""

    point: Point
    tables: dict[str, Any]
    grid: Grid
    folder: Path

    @property
    def file(self) -> str:
        """The name of its settings file."""
        return FLEET if "fleet" in self.tables else CLUSTER

    @property
    def page(self) -> Path:
        """What to open."""
        return self.folder / "report.html"

    def text(self, change: Callable[[Path], str]) -> str:
        """Return the settings file; `change` says how the place of a log is written."""
        import tomli_w

        tables, named = copy.deepcopy(self.tables), label(self.point.settings)
        for table, key in _logs(tables):
            table[key] = change(self.grid.folder / table[key])
        if self.file == CLUSTER:  # its report says which point it is
            tables["name"] = f"{tables['name']} ({named})"[:MOST_NAME] if tables.get("name") else named[:MOST_NAME]
        return f"# The point {named} of a sweep.\n{tomli_w.dumps(tables)}"


def _logs(tables: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the table and the key of each file that a cluster file names."""
    for *places, key in cluster_fields.FILES:
        table: Any = tables
        for place in places:
            table = table.get(place) if isinstance(table, dict) else None
        if isinstance(table, dict) and key in table:
            yield table, key


def members(grid: Grid, points: list[Point], out: str | os.PathLike) -> list[Member]:
    """Return the reports of a sweep's points, whose folders depend on all that is in them."""
    made = []
    for point in points:
        tables = grid.document(point.settings)
        logs = [stamp(grid.folder / table[key]) for table, key in _logs(tables)]
        depends = json.dumps([point.key, tables, logs], sort_keys=True, default=str)
        end = hashlib.sha256(depends.encode()).hexdigest()[:8]
        made.append(Member(point, tables, grid, Path(out) / FOLDER / f"{_as_file(label(point.settings))}-{end}"))
    return made


def label(settings: dict[str, Any]) -> str:
    """Write a point's settings in a short line.

    >>> label({"recovery.standby_nodes": 2, "checkpoint.interval_min": 25.198420997897465, "recovery.none_left": "wait"})
    'standby_nodes = 2, interval_min = 25.1984, none_left = wait'
    """
    values = {name: f"{value:g}" if isinstance(value, float) else f"{value}" for name, value in settings.items()}
    return escaped(", ".join(f"{name.rpartition('.')[2]} = {value}" for name, value in values.items()))


def _as_file(text: str) -> str:
    """Write a text as a part of a file's name.

    >>> _as_file("standby_nodes = 2, path = ../a b")
    'standby_nodes=2,path=.._a_b'
    """
    return re.sub(r"[^\w.,=+-]+", "_", text.replace(" = ", "=").replace(", ", ","), flags=re.ASCII)[:MOST_LETTERS]


def check() -> None:
    """Import what a report needs, so that a package that is missing is found before anything runs.

    Raises
    ------
    ModuleNotFoundError
    """
    import tomli_w  # noqa: F401

    report.check()


def run(
    reports: list[Member],
    client: Client | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[Path, str]:
    """Make the reports that are not there yet; one that fails leaves the others alone.

    Parameters
    ----------
    reports : list of Member
        Of :func:`members`.
    client : distributed.Client, optional
        As :func:`reliability.distribute.place` gives it; its workers must see the logs under the same paths. By default
        the work is done in this process.
    progress : function of (done, all), optional

    Returns
    -------
    dict of folder to str
        Why a report could not be made, in a line each.
    """
    left = list({member.folder: member for member in reports if not member.folder.is_dir()}.values())
    done, failed = len(reports) - len(left), {}
    if progress:
        progress(done, len(reports))
    pieces = [(m.file, m.text(_absolute), label(m.point.settings), m.grid.replications, m.grid.seed) for m in left]
    for i, made in distribute.results(make, pieces, client):
        if isinstance(made, str):
            failed[left[i].folder] = made
        else:
            _keep(left[i], made)
        done += 1
        if progress:
            progress(done, len(reports))
    return failed


def _keep(member: Member, files: dict[str, bytes]) -> None:
    """Put a report where it belongs, with its settings file beside it."""
    home = os.path.realpath(member.folder)
    settings = member.text(lambda log: os.path.relpath(_absolute(log), home))
    with staging(member.folder) as folder:
        for name, content in {**files, member.file: settings.encode()}.items():
            (folder / name).write_bytes(content)
        publish(folder, member.folder)


def _absolute(log: Path) -> str:
    """The place of a log, whose own name stays where it is a link."""
    return os.path.join(os.path.realpath(log.parent), log.name)


def make(piece: tuple[str, str, str, int, int]) -> dict[str, bytes] | str:
    """Make one report, and return its files by name, or why there is none in a line; what a worker does."""
    name, text, named, replications, seed = piece
    # A notebook that ran in the main thread leaves Python's own answers to signals.
    with _one_at_a_time, signals.kept(*signals.ENDING), TemporaryDirectory(prefix="reliability-") as temporary:
        folder = Path(temporary).resolve()
        file = folder / name
        file.write_text(text, encoding="utf-8")
        try:
            if name == CLUSTER:
                plan_report.write(file, folder, progress=False)
            else:
                _write_fleet(file, folder, named, replications, seed)
        except ModuleNotFoundError:
            raise
        except Exception as error:  # whatever it is, the other points are none the worse for it
            kind = "" if isinstance(error, BadInput | RuntimeError) else f"{type(error).__name__}: "
            return " ".join(f"{kind}{error}".replace(f"{folder}{os.sep}", "").split())
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path != file}


def _write_fleet(file: Path, folder: Path, named: str, replications: int, seed: int) -> None:
    made = report.make(FLEET_PAGE, {"fleet_file": str(file), "replications": replications, "seed": seed})
    made.without_path("fleet_file", file.name)
    said = [("Point", named), ("Settings", file.name), ("Replications", f"{replications:,}, seed {seed}")]
    (folder / "report.ipynb").write_text(made.ipynb(), encoding="utf-8")
    made.notebook = plan_report.to_read(made.notebook, FLEET_JSON)
    (folder / "report.html").write_text(made.html(about={"version": __version__, "of": said}), encoding="utf-8")
    (folder / FLEET_JSON).write_text(report.as_json(made.results["results"]["simulate"]), encoding="utf-8")


def write_table(reports: list[Member], failed: dict[Path, str], out: str | os.PathLike) -> Path:
    """Write which report belongs to which settings, whole or not at all; return the file."""
    import pandas as pd

    rows = [
        {
            **member.point.settings,
            "report": "" if member.folder in failed else member.page.relative_to(out).as_posix(),
            "error": failed.get(member.folder, ""),
        }
        for member in reports
    ]
    with whole(Path(out) / TABLE) as half:
        pd.DataFrame(rows).to_csv(half, index=False)
    return Path(out) / TABLE
