"""The results of a sweep as one table, and its files."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from reliability import sweep
from reliability.budget import BINS
from reliability.fleet_result import COUNTS, FleetResult
from reliability.staging import whole


def table(members: list[sweep.Point], kept: sweep.Store):
    """Return the results of all points, a row each in the grid's order, as a DataFrame.

    Its last column, ``error``, is empty, or says why the point could not be simulated. Then its row has no results.
    """
    import pandas as pd

    nothing = _no_result()
    rows = [{**point.settings, **nothing, **kept.done[point.key]} for point in members]
    return pd.DataFrame(rows)


def _no_result() -> dict[str, Any]:
    """Return the columns of a point's results without any: no replication, NaN, and no reason."""
    one = np.ones(1)
    names = sweep.row(FleetResult(one, dict.fromkeys(BINS, one), dict.fromkeys(COUNTS, one)))
    return dict.fromkeys(names, math.nan) | {"replications": 0, sweep.ERROR: ""}


def write(results, folder: str | os.PathLike) -> list[Path]:
    """Write the table as Parquet and as CSV, each whole or not at all; return the files."""
    folder, files = Path(folder), []
    for name, put in (("sweep.parquet", results.to_parquet), ("sweep.csv", results.to_csv)):
        with whole(folder / name) as half, half.open("wb") as file:  # Arrow does not open a name that is not UTF-8
            put(file, index=False)
        files.append(folder / name)
    return files
