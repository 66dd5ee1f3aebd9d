"""Tables of incidents, as CSV or Parquet."""

import numpy as np

from reliability import checks
from reliability.logs import calendar, csv_rows, outage_rows, table_rows, table_times
from reliability.logs import columns as columns_of
from reliability.logs.assemble import incidents
from reliability.logs.notes import LogError, note
from reliability.logs.table_times import Source, ends, times

TELL = "tell the columns: columns={'start': '…'}"


def read_csv(
    text,
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
    """Read a table of incidents: a row an outage.

    Parameters
    ----------
    text : reliability.logs.files.Text
        With a header. Separators ``; , tab |``; fields may be quoted. The columns are found by name,
        see ``reliability.logs.columns.ALIASES``; needed is a start.
    day_first : bool, optional
        Order of 03/11/2025. None: some row must prove it (a number above 12), or the file is refused.
    zone : str, optional
        Time zone of stamps that say none, such as "Europe/Berlin". None: unknown, and noted.
    columns : dict, optional
        Part: column name, where the names do not tell: start, end, duration, node, cls, system, detail.
    decimal : {".", ","}, optional
    duration_unit : {"s", "min", "h", "d", "ms"}, optional
        Where the duration's column does not say it in its name.
    system : str, optional
        Only rows of this system.
    nodes : int, optional
        Nodes that were watched: no table of incidents says it.
    observed_from, observed_to : str or timestamp, optional
        Window of observation, which no table of incidents says either. Incidents that start outside are excluded.

    Returns
    -------
    reliability.incidents.Incidents

    Raises
    ------
    LogError
        See :func:`reliability.incidents.read`.
    ValueError
        For an option that is out of range.
    """
    number, separator, header = csv_rows.header_of(text)
    options = {"day_first": day_first, "zone": zone, "decimal": decimal, "duration_unit": duration_unit}
    options |= {"system": system, "nodes": nodes, "observed_from": observed_from, "observed_to": observed_to}
    parts = parts_of(text.name, number, header, columns)
    needed = 1 + max(index for part, (index, _) in parts.items() if part in ("start", "end", "duration", "node"))
    rows = csv_rows.read_rows(text, number, separator, header, needed=needed)
    held = {part: rows.texts(index) for part, (index, _) in parts.items()}
    for part in ("start", "end"):
        pair = columns_of.date_and_time(header, part)
        if pair and parts.get(part, (None,))[0] in (*pair, None) and not (columns and part in columns):
            held[part] = table_times.joined(*(rows.texts(index) for index in pair))
            parts[part] = (pair[0], None)
    titles = note("excluded", "lines above the header", [n for n, _ in text.head() if n < number])
    source = Source(
        text.name,
        "csv",
        held,
        {part: unit for part, (_, unit) in parts.items()},
        {part: header[index] for part, (index, _) in parts.items()},
        rows.lines,
        rows.table,
        rows.read,
        titles + rows.notes + text.notes(),
        separator,
    )
    last = max(parts, key=lambda part: parts[part][0])
    if text.ends_with_newline is False and parts[last][0] == len(header) - 1 and last in ("start", "end", "duration"):
        source.notes += note(
            "warning", "no line end behind the last row: its last field may be cut", rows.lines[-1:].tolist()
        )
    return build(source, **options)


def parts_of(name, line, header, told):
    """Which column plays which part; a start is needed."""
    parts = columns_of.roles(header, told=told, source=name)
    if "start" not in parts:
        known = "start, start_time, began, failed_at, timestamp, …"
        raise LogError(name, line, ", ".join(header)[:200], f"a column for the start ({known}), or {TELL}")
    return parts


def build(source, day_first, zone, decimal, duration_unit, system, nodes, observed_from, observed_to, **facts):
    """Turn the columns of a table into Incidents; see :func:`read_csv`."""
    import pandas as pd

    nodes = None if nodes is None else checks.count("nodes", nodes)
    if not len(source.lines):
        return _nothing(source, zone, nodes, observed_from, observed_to, **facts)
    start, end, dated = times(source, day_first, decimal)
    known_zone, notes = calendar.on_one_clock(source.name, zone, source.lines, start, end) if dated else (None, [])
    notes = source.notes + notes
    end_us, ended, negative, more = ends(source, start, end, decimal, duration_unit)
    notes += more
    keep, more = table_rows.kept(source, start, end_us, ended, negative, system)
    notes += more
    rows = np.flatnonzero(keep)
    twice = outage_rows.same_text(source.table, rows, start.us[rows])
    notes += note("dropped", "exact duplicates of an earlier row", source.lines[rows[twice]].tolist())
    frame = pd.DataFrame({"row": rows, "start_us": start.us[rows], "end_us": end_us[rows], "ended": ended[rows]})
    frame["line"], frame["twice"] = source.lines[rows], twice
    frame, more = table_rows.named(frame, source)
    notes += more
    repeated = frame[frame["twice"]].assign(why=outage_rows.DUPLICATE)
    frame, swallowed, more = outage_rows.merged(frame[~frame["twice"]])
    frame["open"] &= ~end.bad[frame["row"].to_numpy()]  # an end that cannot be read is not one that is still to come
    notes += more
    aside = pd.concat([repeated, swallowed.assign(why=outage_rows.OVERLAP)], ignore_index=True)
    if "end" not in source.parts and "duration" not in source.parts:
        frame["open"] = False
        notes += note("unknown", "ends: the table has neither an end nor a duration", frame["line"].tolist())
    return incidents(
        frame,
        aside=aside.assign(open=False),
        rows_by_system=table_rows.counts(source),
        zone=known_zone,
        calendar=dated,
        observed_from=observed_from,
        observed_to=observed_to,
        nodes=nodes,
        rows=source.read if system is None else int(table_rows.of_system(source, system).sum()),
        notes=notes,
        format=source.format,
        source=source.name,
        **facts,
    )


def _nothing(source, zone, nodes, observed_from, observed_to, **facts):
    """Incidents of a table that has a header and no row."""
    from reliability.incidents import empty_table

    empty = empty_table().assign(start_us=np.zeros(0, np.int64), end_us=np.zeros(0, np.int64), ended=np.zeros(0, bool))
    told = {"observed_from": observed_from, "observed_to": observed_to, "nodes": nodes, "zone": zone}
    notes = [*source.notes, *note("warning", "no row below the header", [1])]
    return incidents(empty, **told, rows=source.read, notes=notes, format=source.format, source=source.name, **facts)
