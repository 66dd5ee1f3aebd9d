"""Tables of incidents as Parquet, whose columns have types."""

import os

import numpy as np

from reliability.logs import table_dates
from reliability.logs.incident_table import build, parts_of
from reliability.logs.notes import LogError
from reliability.logs.table_times import Source


def read_parquet(
    path,
    day_first=None,
    zone=None,
    columns=None,
    decimal=None,
    duration_unit=None,
    system=None,
    nodes=None,
    observed_from=None,
    observed_to=None,
):
    """Read a table of incidents from a Parquet file; as
    :func:`reliability.logs.incident_table.read_csv`, lines being rows from 1."""
    import pyarrow as pa
    import pyarrow.parquet

    name = os.path.basename(os.fspath(path))
    try:
        table = pyarrow.parquet.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise LogError(name, None, str(error).split("\n")[0], "a Parquet table") from None
    header = [str(label) for label in table.column_names]
    parts = parts_of(name, None, header, columns)
    lines = np.arange(1, len(table) + 1)
    held = {}
    for part, (index, _) in parts.items():
        held[part] = _parquet_column(name, header[index], table.column(index).combine_chunks(), part)
    texts = pa.table(
        {str(i): _as_text(table.column(i)) for i in range(len(header)) if not pa.types.is_nested(table.column(i).type)}
    )
    source = Source(
        name,
        "parquet",
        held,
        {part: unit for part, (_, unit) in parts.items()},
        {part: header[index] for part, (index, _) in parts.items()},
        lines,
        texts,
        len(table),
    )
    options = {"day_first": day_first, "zone": zone, "decimal": decimal, "duration_unit": duration_unit}
    options |= {"system": system, "nodes": nodes, "observed_from": observed_from, "observed_to": observed_to}
    return build(source, **options)


def _as_text(column):
    """A column as strings, nulls empty."""
    import pyarrow as pa
    import pyarrow.compute as compute

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not pa.types.is_string(column.type):
        try:
            column = column.cast(pa.string())
        except pa.ArrowException:
            column = pa.chunked_array([pa.array([str(v) for v in column.to_pylist()], pa.string())])
    return compute.fill_null(column, "")


def _parquet_column(name, label, column, part):
    import pyarrow as pa
    import pyarrow.compute as compute

    kind = column.type
    if part in ("start", "end") and (pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
        zoned = pa.types.is_timestamp(kind) and kind.tz is not None
        us = column.cast(pa.timestamp("us", "UTC" if zoned else None), safe=False).cast(pa.int64())
        us = compute.fill_null(us, table_dates.MISSING).to_numpy(zero_copy_only=False).copy()
        false = np.zeros(len(us), dtype=bool)
        return table_dates.Stamps(us, np.full(len(us), zoned), false.copy(), false.copy())
    if pa.types.is_duration(kind):
        seconds = compute.divide(column.cast(pa.duration("us"), safe=False).cast(pa.int64()).cast(pa.float64()), 1e6)
        return compute.fill_null(compute.cast(seconds, pa.string()), "")
    if pa.types.is_nested(kind):
        raise LogError(name, None, f"column {label} of type {kind}", "texts, numbers or times")
    text = _as_text(pa.chunked_array([column])).combine_chunks()
    return compute.utf8_trim_whitespace(text)
