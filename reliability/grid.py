"""A grid file: a cluster file, and the settings of it that vary.

.. code-block:: toml

    cluster = "cluster.toml"        # relative to this file, or example:NAME
    replications = 200
    seed = 1
    [grid]
    "cluster.gpus" = [1024, 4096, 16384]
    "recovery.standby_nodes" = { from = 0, to = 32, points = 5 }
    "checkpoint.interval_min" = { from = 5, to = 160, points = 6, spacing = "log" }

Every combination of the values is a point.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from reliability import settings_files, toml_values
from reliability.cluster import find
from reliability.errors import BadInput
from reliability.text import nearest
from reliability.toml_values import written

MOST_POINTS = 10_000_000
MOST_REPLICATIONS = 1_000_000
KEYS = ("cluster", "replications", "seed", "grid")
RANGE_KEYS = ("from", "to", "points", "spacing")


@dataclass(frozen=True)
class Grid:
    """What a sweep goes through.

    Attributes
    ----------
    base : dict
        The cluster file's tables.
    folder : pathlib.Path
        Where the paths in it begin.
    axes : dict of name to tuple
        The values of each setting that varies; the last varies fastest.
    replications, seed : int
    """

    base: dict[str, Any]
    folder: Path
    axes: dict[str, tuple]
    replications: int
    seed: int

    def __len__(self):
        return math.prod(map(len, self.axes.values()))

    def points(self):
        """Yield the settings of each point, a dict by the axes' names."""
        for values in product(*self.axes.values()):
            yield dict(zip(self.axes, values, strict=True))

    def document(self, settings):
        """Return the cluster file's tables with these settings put in."""
        tables = copy.deepcopy(self.base)
        for name, value in settings.items():
            *places, key = name.split(".")
            table = tables
            for place in places:
                table = table.setdefault(place, {})
            table[key] = copy.deepcopy(value)
        return tables


def read(path):
    """Read a grid file.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Grid

    Raises
    ------
    BadInput
        In one line with the file, the key, what stands there and what is allowed.
    """
    if str(path).startswith("example:"):
        raise BadInput(f"{path}: a grid file is wanted, by its path; an example is a cluster file, which a grid file may name")
    path = Path(path)
    tables = settings_files.read(path)
    settings_files.check_kind(tables, path, "grid")
    for key in tables:
        if key not in KEYS:
            raise BadInput(f"{path}: unknown key {key!r}. {nearest(key, KEYS)}A grid file may have {', '.join(KEYS)}.")
    name = tables.get("cluster")
    if not isinstance(name, str):
        _refuse(path, "cluster", name, "the path of a cluster file, relative to this file, or example:NAME")
    replications = _whole(path, "replications", tables.get("replications", 100), 2, MOST_REPLICATIONS)
    seed = _whole(path, "seed", tables.get("seed", 1), 0, 2**63 - 1)
    axes = tables.get("grid")
    if not isinstance(axes, dict) or not axes:
        raise BadInput(f'{path}: grid: must be a table such as "cluster.gpus" = [1024, 4096]')
    file = find(name) if name.startswith("example:") else path.parent / name
    base = settings_files.read(file)
    if isinstance(base.get("grid"), dict):
        raise BadInput(f"{path}: cluster = {written(name)}: is a grid file; a cluster file is wanted, or one with a [fleet] table")
    grid = Grid(base, file.parent, {key: _axis(path, key, axes[key]) for key in axes}, replications, seed)
    for key in axes:
        _check_place(path, file, key, grid.base)
        if within := [other for other in axes if other.startswith(f"{key}.")]:
            raise BadInput(f"{path}: grid.{key}: holds grid.{within[0]}, which is an axis too; one would undo the other")
    if len(grid) > MOST_POINTS:
        raise BadInput(f"{path}: grid: has {len(grid):,} points; at most {MOST_POINTS:,} are allowed")
    return grid


def _refuse(path, key, value, allowed):
    if value is None:
        raise BadInput(f"{path}: {key}: is missing; it must be {allowed}")
    raise BadInput(f"{path}: {key} = {written(value)}: must be {allowed}")


def _whole(path, key, value, low, high):
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        _refuse(path, key, value, f"a whole number from {low:,} to {high:,}")
    return value


def _axis(path, key, given):
    """Return the values of an axis: a list as it is, a range laid out."""
    if isinstance(given, dict):
        return _range(path, key, given)
    if not isinstance(given, list) or not given:
        _refuse(path, f"grid.{key}", given, "a list of values, or a table with from, to and points")
    if len({_told_apart(value) for value in given}) != len(given):
        raise BadInput(f"{path}: grid.{key} = {written(given)}: has a value twice")
    return tuple(given)


def _told_apart(value):
    """Return what two values of an axis share if they are the same: 600 and 600.0 are."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return ("number", value) if number else (type(value), repr(value))


def _range(path, key, given):
    for part in given:
        if part not in RANGE_KEYS:
            raise BadInput(f"{path}: grid.{key}.{part}: unknown key; a range has {', '.join(RANGE_KEYS)}. A name with dots stands in quotes.")
    low, high, spacing = given.get("from"), given.get("to"), given.get("spacing", "linear")
    for part, value in (("from", low), ("to", high)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            _refuse(path, f"grid.{key}.{part}", value, "a finite number")
    points = _whole(path, f"grid.{key}.points", given.get("points"), 2, MOST_POINTS)
    if spacing not in ("linear", "log"):
        _refuse(path, f"grid.{key}.spacing", spacing, "linear or log")
    if low >= high or (spacing == "log" and low <= 0):
        raise BadInput(
            f"{path}: grid.{key}: from = {low:g}, to = {high:g}: from must be less than to, and with log above 0"
        )
    apart = high / low if spacing == "log" else high - low
    if not math.isfinite(apart):
        raise BadInput(f"{path}: grid.{key}: from = {low:g}, to = {high:g}: are too far apart")
    shares = [i / (points - 1) for i in range(points)]
    values = [low * apart**share if spacing == "log" else low + apart * share for share in shares]
    values[-1] = high
    if isinstance(low, int) and isinstance(high, int):  # whole ends stand for whole values, such as nodes
        values = [round(value) for value in values]
        if len(set(values)) < points:
            raise BadInput(f"{path}: grid.{key}: there are no {points} different whole numbers from {low} to {high}")
    return tuple(values)


def _check_place(path, file, key, base):
    """Refuse a name that leads through something other than tables, or through too many."""
    if len(key.split(".")) > toml_values.DEEPEST:
        raise BadInput(f"{path}: grid.{written(key)}: leads through more than {toml_values.DEEPEST} tables")
    table = base
    for place in key.split(".")[:-1]:
        if not isinstance(table, dict) or (place in table and not isinstance(table[place], dict)):
            raise BadInput(f"{path}: grid.{key}: {place} is no table of {file}")
        table = table.get(place, {})
    if "" in key.split("."):
        raise BadInput(f"{path}: grid.{key}: must be a name such as cluster.gpus")
