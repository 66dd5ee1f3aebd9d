"""Incidents and node-hours down by week of real systems, with their source: ``weekly_counts.toml`` beside this module."""

import datetime
import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Weekly:
    """A record by the week.

    Attributes
    ----------
    system : str
        Number of the system in the source.
    nodes : int
    first_day : date
        On which the first week begins.
    incidents : int array [weeks]
    hours_down : array [weeks]
        Node-hours.
    source : str
        A key of ``references.bib``.
    locator : str
        Where in the source the numbers stand.
    """

    system: str
    nodes: int
    first_day: datetime.date
    incidents: np.ndarray
    hours_down: np.ndarray
    source: str
    locator: str


@functools.cache
def _tables():
    with Path(__file__).with_suffix(".toml").open("rb") as file:
        return tomllib.load(file)


def systems():
    """Return the numbers of the systems.

    Examples
    --------
    >>> systems()
    ('16', '20')
    """
    return tuple(_tables()["systems"])


def weekly(system):
    """Return the :class:`Weekly` record of a system.

    Parameters
    ----------
    system : str
        One of :func:`systems`.

    Examples
    --------
    >>> record = weekly("20")
    >>> record.nodes, record.incidents.size, int(record.incidents.sum())
    (512, 194, 2463)
    """
    tables = _tables()
    if system not in tables["systems"]:
        raise ValueError(f"system = {system!r}: must be one of {', '.join(map(repr, systems()))}")
    one, source = tables["systems"][system], tables["source"]
    return Weekly(
        system, one["nodes"], one["first_day"], np.array(one["incidents"], dtype=np.int64),
        np.array(one["hours_down"], dtype=float), source["key"], source["locator"],
    )  # fmt: skip
