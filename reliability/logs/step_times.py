"""Step times of ranks: a table of step, rank and seconds, long or with a column a rank, or a trace of operations."""

from dataclasses import dataclass, field

import numpy as np

from reliability.logs import csv_rows, step_columns, step_values
from reliability.logs.files import open_text
from reliability.logs.notes import LogError, Note, note

PARQUET = b"PAR1"
MOST_CELLS = 200_000_000
EXPECTED = "a table of step times with columns step, rank and seconds, or step and a column a rank"


@dataclass(frozen=True)
class StepTimes:
    """Seconds [steps, ranks] of each rank in each step; NaN where nothing was measured.

    `ranks` are whole numbers where all of them are, else their names. `nodes` maps a rank to its host, `peers` to its
    pipeline stage; None where the file does not say. `phases` maps a part of the step to its seconds [steps, ranks],
    of which those in `waiting` may hold waiting for other ranks. `unit` is None where the file names none, and
    "norm" where the times are normalised: ratios hold, seconds do not.
    """

    steps: list
    ranks: list
    seconds: np.ndarray
    nodes: dict | None = None
    peers: dict | None = None
    phases: dict | None = None
    waiting: tuple = ()
    unit: str | None = "s"
    rows: int = 0
    notes: tuple = ()
    source: str = ""
    layout: str = "long"
    links: dict = field(default_factory=dict)

    def __str__(self):
        return (
            f"{self.source}: {len(self.steps):,} steps of {len(self.ranks):,} ranks, {self.rows:,} rows ({self.layout})"
        )


def read_steps(path, decimal=None):
    """Read step times from CSV, Parquet or an operation-level trace.

    Parameters
    ----------
    path : str or path
        CSV with any of the separators comma, semicolon, tab and bar, also compressed; or Parquet.
    decimal : {".", ","}, optional
        The decimal sign, where the file leaves it open.

    Returns
    -------
    StepTimes

    Raises
    ------
    LogError
        Naming file, line, what stands there and what is expected.

    Notes
    -----
    The same step and rank twice: the last time counts, as after a resume. Times that are negative, zero, infinite or
    no number are dropped; an empty phase was not measured and is not 0. Each is counted in the notes.
    """
    import os

    name = os.path.basename(os.fspath(path))
    try:
        with open(path, "rb") as file:
            parquet = file.read(4) == PARQUET
    except OSError:
        parquet = False  # open_text says what is wrong
    if parquet:
        return _from_columns(*_parquet(path, name), name)
    text = open_text(path)
    number, separator, names = csv_rows.header_of(text)
    from reliability.logs import operations

    if not operations.is_trace(names):
        _checked(step_columns.layout(names), names, text.name, number)
    rows = csv_rows.read_rows(text, number, separator, names)
    notes = [*rows.notes, *text.notes()]

    def numbers(index):
        return step_values.numbers_of(rows.texts(index), separator, decimal, text.name)

    return _from_columns(names, rows.texts, numbers, rows.lines, notes, text.name)


def _parquet(path, name):
    import pyarrow as pa
    import pyarrow.compute as compute
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise LogError(name, None, f"a damaged Parquet file ({str(error).splitlines()[0]})", EXPECTED) from None

    def column(index):
        found = table.column(index)
        if pa.types.is_dictionary(found.type):
            found = found.cast(found.type.value_type)
        return found.combine_chunks() if found.num_chunks != 1 else found.chunk(0)

    def texts(index):
        found = column(index)
        return compute.fill_null(found.cast(pa.string()), "")

    def numbers(index):
        found = column(index)
        if pa.types.is_string(found.type) or pa.types.is_large_string(found.type):
            return step_values.numbers_of(texts(index), ",", None, name)
        try:
            values = found.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False).astype(float)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            raise LogError(name, None, f"column {table.column_names[index]} of type {found.type}", "numbers") from None
        return values, np.isinf(values)

    return table.column_names, texts, numbers, np.arange(1, len(table) + 1), []


def _checked(parts, names, name, line):
    """Refuse a table of another kind."""
    missing = [part for part in ("step", "seconds") if parts[part] is None]
    if parts["wide"] or parts["seconds"] is None and parts["phases"] and parts["rank"] is not None:
        missing = [part for part in missing if part == "step"]
    if missing:
        raise LogError(
            name, line, ", ".join(map(str, names)), f"{EXPECTED}; there is no column for {' and '.join(missing)}"
        )


def _from_columns(names, texts, numbers, lines, notes, name):
    from reliability.logs import operations

    if operations.is_trace(names):
        return operations.step_times(names, texts, numbers, lines, notes, name)
    parts = step_columns.layout(names)
    _checked(parts, names, name, None)
    notes = list(notes)
    step, good = _step_column(parts, numbers, lines, notes, name)
    unit = parts["unit"]
    if parts["wide"]:
        return _wide(parts, numbers, lines, step, good, notes, name)
    rank = np.zeros(step.size, dtype=int) if parts["rank"] is None else None
    if rank is None:
        rank, ranks = step_values.labels(texts(parts["rank"]))
        known = rank >= 0
        notes += note("dropped", "no rank", lines[good & ~known].tolist())
        good &= known
    else:
        ranks = [0]
        notes.append(Note("assumed", "no column of ranks: the times of one rank", 1))
    phases = {phase: _seconds(numbers, *column) for phase, column in parts["phases"].items()}
    if parts["seconds"] is None:
        own = [phase for phase in phases if not _waits(phase)] or list(phases)
        values = sum(phases[phase][0] for phase in own)
        bad = np.logical_or.reduce([phases[phase][1] for phase in own])
        notes.append(Note("assumed", f"no column of the whole step: the sum of {', '.join(own)}", 1))
    else:
        values, bad = _seconds(numbers, parts["seconds"], unit)
        if unit is None:
            notes.append(Note("assumed", "the times name no unit: taken as seconds, and ratios hold in any", 1))
    values, good = step_values.positive(values, bad, good, lines, notes)
    steps, step_at = np.unique(step[good], return_inverse=True)
    if not steps.size:
        raise LogError(name, None, "no row with a step, a rank and a time", EXPECTED)
    used, rank_at = np.unique(rank[good], return_inverse=True)
    ranks = [ranks[i] for i in used]
    if steps.size * used.size > max(MOST_CELLS, 100 * good.sum()):
        raise LogError(name, None, f"{steps.size:,} steps and {used.size:,} ranks in {good.sum():,} rows", EXPECTED)
    place = step_at * used.size + rank_at
    step_values.note_doubles(place, values[good], lines[good], notes)
    shape = (steps.size, used.size)
    matrix = step_values.filled(shape, place, values[good])
    holes = int(np.isnan(matrix).sum())
    if holes:
        notes.append(Note("unknown", "steps of a rank without a time", holes))
    return StepTimes(
        steps=step_values.whole(steps), ranks=ranks, seconds=matrix,
        nodes=step_values.named(parts["node"], texts, good, rank_at, ranks, notes, "host"),
        peers=step_values.named(parts["peers"], texts, good, rank_at, ranks, notes, "stage"),
        phases={p: step_values.filled(shape, place, np.where(v >= 0, v, np.nan)[good]) for p, (v, _) in phases.items()} or None,
        waiting=tuple(phase for phase in phases if _waits(phase)),
        unit=unit, rows=int(step.size), notes=tuple(notes), source=name,
    )  # fmt: skip


def _waits(phase):
    import re

    return re.search(step_columns.WAITING, phase) is not None


def _seconds(numbers, index, unit):
    values, bad = numbers(index)
    return values * step_columns.UNITS.get(unit, 1.0), bad


def _step_column(parts, numbers, lines, notes, name):
    step, bad = numbers(parts["step"])
    if not (~bad & ~np.isnan(step)).any():
        raise LogError(name, None, "a column of steps without a number", EXPECTED)
    good = ~np.isnan(step) & ~bad & (step == np.floor(step)) & (np.abs(step) < 2**53)
    notes += note("dropped", "no whole number as the step", lines[~good].tolist())
    return step, good


def _wide(parts, numbers, lines, step, good, notes, name):
    """A column a rank."""
    columns = sorted(parts["wide"].items(), key=lambda item: item[1][0])
    units = {unit for _, (_, unit) in columns}
    unit = units.pop() if len(units) == 1 else None
    if unit is None:
        notes.append(Note("assumed", "the times name no unit: taken as seconds, and ratios hold in any", 1))
    ranks = [rank for _, (rank, _) in columns]
    if len(set(ranks)) < len(ranks):
        raise LogError(name, None, "two columns of the same rank", EXPECTED)
    steps, at = np.unique(step[good], return_inverse=True)
    matrix = np.full((steps.size, len(ranks)), np.nan)
    cells = 0
    for i, (index, (_, own)) in enumerate(columns):
        values, bad = _seconds(numbers, index, own)
        empty = np.isnan(values) & ~bad & good
        values, kept = step_values.positive(values, bad, good & ~empty, lines, notes)
        matrix[at[kept[good]], i] = values[kept]
        cells += int(good.sum())
    if not np.isfinite(matrix).any():
        raise LogError(name, None, "no row with a step and a time", EXPECTED)
    step_values.note_doubles(at, np.arange(at.size, dtype=float), lines[good], notes)
    some = np.isfinite(matrix).any(axis=1)
    holes = int(np.isnan(matrix[some]).sum())
    if holes:
        notes.append(Note("unknown", "steps of a rank without a time", holes))
    return StepTimes(
        step_values.whole(steps[some]),
        ranks,
        matrix[some],
        unit=unit,
        rows=int(step.size),
        notes=tuple(notes),
        source=name,
        layout="wide",
    )
