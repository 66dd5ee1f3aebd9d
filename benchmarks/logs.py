"""Tasks of the bench on logs: files of so many rows, made here, read against `pandas.read_csv` of the same file.

The peak counts the memory of Python and numpy; Arrow's own, about 200 MB at a million rows, is not in it.
"""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from reliability import calibrate, incidents, slow_ranks
from reliability.logs.step_times import read_steps

NODES, SPAN_S, RANKS = 2048, 4 * 365 * 86400, 256
FOLDER = tempfile.TemporaryDirectory(prefix="bench-logs-")


@cache
def incident_file(rows):
    """Write an incident table of so many rows; return its path."""
    rng = np.random.default_rng(1)
    start = pd.Timestamp("2022-01-01") + pd.to_timedelta(np.sort(rng.integers(0, SPAN_S, rows)), unit="s")
    table = pd.DataFrame(
        {
            "node": np.char.add("gpu-", rng.integers(0, NODES, rows).astype(str)),
            "start": start,
            "end": start + pd.to_timedelta(rng.lognormal(7, 1.5, rows).astype(int), unit="s"),
            "class": rng.choice(["gpu", "network", "host", "software"], rows),
        }
    )
    path = Path(FOLDER.name) / f"incidents-{rows}.csv"
    table.to_csv(path, index=False)
    return path


@cache
def step_file(rows):
    """Write step times of so many rows, one rank of them slow; return its path."""
    rng = np.random.default_rng(2)
    seconds = rng.normal(30.0, 0.5, (rows // RANKS, RANKS))
    seconds[:, 7] *= 1.2
    step, rank = np.divmod(np.arange(seconds.size), RANKS)
    path = Path(FOLDER.name) / f"steps-{rows}.csv"
    pd.DataFrame({"step": step, "rank": rank, "seconds": seconds.ravel().round(4)}).to_csv(path, index=False)
    return path


def reading(rows):
    """Read an incident table."""
    path = incident_file(rows)
    return path.stat().st_size, lambda: incidents.read(path), lambda: pd.read_csv(path)


def fitting(rows):
    """Read it and fit the rates, with every test of an assumption."""
    path = incident_file(rows)
    return path.stat().st_size, lambda: calibrate.fit(incidents.read(path, nodes=NODES)), lambda: pd.read_csv(path)


def finding(rows):
    """Read step times and look for slow ranks."""
    path = step_file(rows)
    return path.stat().st_size, lambda: slow_ranks.find(read_steps(path)), lambda: pd.read_csv(path)


READ = "pandas.read_csv of the same file"
SIZES = [62_500, 250_000, 1_000_000]
TASKS = [
    ("read an incident log", READ, reading, SIZES, SIZES[-1]),
    ("read it, fit it, test its assumptions", READ, fitting, SIZES, SIZES[-1]),
    ("read step times, find slow ranks", READ, finding, SIZES, SIZES[-1]),
]
