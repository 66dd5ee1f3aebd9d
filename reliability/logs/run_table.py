"""Tables of runs: a row an attempt of a job, with what ended it."""

import numpy as np

from reliability.logs import columns as column_names
from reliability.logs import csv_rows, names, runs
from reliability.logs.notes import LogError
from reliability.logs.run_states import FAILURES, states
from reliability.logs.table_times import Source, durations_of, numbers_of, times

PARTS = {part: column_names.ALIASES[part] for part in ("start", "end", "duration")}
PARTS |= column_names.RUN_ALIASES | {"nodelist": column_names.ALIASES["node"]}


def read_runs(
    text,
    failures=FAILURES,
    day_first=None,
    zone=None,
    columns=None,
    decimal=None,
    duration_unit=None,
    nodes=None,
    observed_from=None,
    observed_to=None,
):
    """Read a table of runs: name, start, end or duration, and what ended each.

    The end of an allocation, a cancellation and a run that goes on are censored: they add exposure, no failure.

    Parameters
    ----------
    text : reliability.logs.files.Text
        Columns by name, see ``reliability.logs.columns.RUN_ALIASES``; ``start_h`` and the like are
        hours since some zero. What ended a run is a state of Slurm's or a word for one.
    failures : sequence of str
        As in :func:`reliability.logs.slurm.read_slurm`.
    day_first, zone, columns, decimal, duration_unit, observed_from, observed_to
        As in :func:`reliability.logs.incident_table.read_csv`.
    nodes : int, optional
        Nodes of the cluster.

    Returns
    -------
    reliability.incidents.Incidents
        ``node_hours`` is None where the table does not say how many nodes a run had; ``run_hours`` is known.
    """
    number, separator, header = csv_rows.header_of(text)
    parts = _roles(text.name, number, header, columns)
    needed = 1 + max(
        index for part, (index, _) in parts.items() if part in ("run", "start", "end", "duration", "ended_by")
    )
    rows = csv_rows.read_rows(text, number, separator, header, needed=needed)
    source = Source(
        text.name,
        "runs",
        {part: rows.texts(index) for part, (index, _) in parts.items()},
        {part: unit for part, (_, unit) in parts.items()},
        {part: header[index] for part, (index, _) in parts.items()},
        rows.lines,
        rows.table,
        rows.read,
        rows.notes,
        separator,
    )
    start, end, dated = times(source, day_first, decimal)
    notes, seconds = list(rows.notes), np.full(len(rows.lines), np.nan)
    if "duration" in parts:
        seconds, _, _, more = durations_of(source, decimal, duration_unit, "end" not in parts)
        notes += more
    return runs.incidents_of(
        text.name,
        _frame(source, seconds, decimal),
        (start, end),
        dated,
        zone if dated else None,
        failures,
        observed_from,
        observed_to,
        nodes,
        notes + text.notes(),
        rows=rows.read,
        format="runs",
    )


def _roles(name, line, header, told):
    parts = column_names.roles(header, PARTS, told, name)
    absent = [part for part in ("run", "start", "ended_by") if part not in parts]
    absent += ["end or duration"] if not {"end", "duration"} & set(parts) else []
    if absent:
        expected = (
            f"a table of runs with a column for {', '.join(absent)}, or to be told: columns={{'{absent[0]}': '…'}}"
        )
        raise LogError(name, line, ", ".join(header)[:200], expected)
    return parts


def _frame(source, seconds, decimal):
    """The runs, as :func:`reliability.logs.runs.incidents_of` takes them."""
    import pandas as pd

    count = len(source.lines)

    def texts(part):
        found = source.parts.get(part)
        return np.full(count, "", dtype=object) if found is None else csv_rows.objects(found)

    def amounts(part):
        if part not in source.parts or not count:
            return np.full(count, np.nan)
        found, _ = numbers_of(source, part, source.parts[part], decimal)
        return np.where((found > 0) & (found < 1e7), found, np.nan)

    state, uid = states(texts("ended_by"))
    frame = pd.DataFrame(
        {
            "job": pd.Series(texts("run"), dtype=object),
            "state": pd.Series(np.where(state == "", names.UNNAMED, state), dtype=object),
            "uid": pd.array(np.where(uid < 0, 0, uid), dtype="Int64"),
            "seconds": seconds,
            "nodes": amounts("nodes"),
            "gpus": amounts("gpus"),
            "nodelist": pd.Series(texts("nodelist"), dtype=object),
            "waiting_s": np.nan,
            "line": source.lines,
        }
    )
    frame["uid"] = frame["uid"].mask(uid < 0)
    return frame
