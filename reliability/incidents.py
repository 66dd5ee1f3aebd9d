"""Logs in: one incident table from whatever a cluster has written."""

import importlib
import inspect
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property

from reliability.logs.notes import Note, dropped, note_table
from reliability.logs.outage_rows import DUPLICATE, OVERLAP
from reliability.text import escaped
from reliability.text import table as text_table
from reliability.units import HOUR_S

COLUMNS = ("start", "end", "start_s", "end_s", "open", "node", "cls", "line", "detail")
EXTRA_COLUMNS = ("system", "group")  # where the data have several systems, or failures of one cause on several nodes
READERS = {
    "csv": ("reliability.logs.incident_table", "read_csv"),
    "parquet": ("reliability.logs.parquet_table", "read_parquet"),
    "runs": ("reliability.logs.run_table", "read_runs"),
    "slurm": ("reliability.logs.slurm", "read_slurm"),
    "lanl": ("reliability.logs.lanl", "read_lanl"),
    "xid": ("reliability.logs.xid", "read_xid"),
    "kubernetes": ("reliability.logs.kubernetes", "read_kubernetes"),
}
FORMATS = ("auto", *READERS)


@dataclass(frozen=True)
class Incidents:
    """Incidents of a cluster, and what the data say about how long it was watched.

    Attributes
    ----------
    table : pandas.DataFrame
        A row an incident, the earliest first. ``start``, ``end`` (timestamps; NaT where unknown),
        ``start_s``, ``end_s`` (seconds since `origin`; NaN where unknown), ``open`` (True where the
        repair had not ended when the record did), ``node`` (None where unknown), ``cls`` (class),
        ``line`` (in the source, from 1), ``detail``. An ``end`` that is missing while ``open`` is
        False is unknown: it must not be counted as a repair time. Where the data have them:
        ``system``, and ``group``, the number of a common cause (-1: none).
    events : pandas.DataFrame or None
        Rows that are not incidents, with ``why``: of a table, exact duplicates and rows that were merged.
    jobs : pandas.DataFrame or None
        Attempts of jobs: job, attempt, start, end, start_s, end_s, seconds, nodes, gpus, nodelist,
        state, outcome, started, failure, uid, cls, line.
    origin : pandas.Timestamp or None
        Where ``start_s`` is 0. None where the source has no calendar.
    zone : str or None
        None: unknown, and stamps are what the clock on the wall showed.
    observed_s : (float, float) or None
        Window of observation, where the data or the user say it.
    nodes : int or None
        Nodes that were watched, where the data or the user say it.
    node_hours, run_hours : float or None
        Exposure: run time of all attempts times their nodes, and without them.
    rows : int
        Rows read, before any was merged or dropped.
    notes : tuple of Note
    format, source : str
    nodes_by_system, rows_by_system : dict
        Nodes and rows of each system, where the data name several.
    """

    table: object
    origin: object
    zone: str | None
    rows: int
    notes: tuple[Note, ...]
    format: str
    source: str
    events: object = None
    jobs: object = None
    observed_s: tuple[float, float] | None = None
    nodes: int | None = None
    node_hours: float | None = None
    run_hours: float | None = None
    nodes_by_system: dict = field(default_factory=dict)
    rows_by_system: dict = field(default_factory=dict)

    def __len__(self):
        return len(self.table)

    @property
    def dropped(self):
        """Lines that were dropped, whatever the reason."""
        return dropped(self.notes)

    @property
    def duplicates(self):
        """Outages of a table that repeat an earlier row in every field, and count once."""
        return self._aside(DUPLICATE)

    @property
    def overlaps(self):
        """Further outages of a node that was down already, exact duplicates among them; they are merged."""
        return self._aside(DUPLICATE, OVERLAP)

    def _aside(self, *why):
        if self.events is None or not len(self.events):
            return 0
        inside = self.events["why"].isin(why)
        if self.observed_s is not None:
            inside &= self.events["start_s"].between(*self.observed_s, inclusive="left")
        return int(inside.sum())

    @cached_property
    def classes(self):
        """Class names, the most frequent first."""
        return self.table["cls"].value_counts(sort=True).index.tolist()

    def down_hours(self):
        """Hours down of each node, over incidents whose end is known."""
        known = self.table[self.table["end_s"].notna()]
        return ((known["end_s"] - known["start_s"]) / HOUR_S).groupby(known["node"]).sum().to_dict()

    def by_system(self):
        """Return (name, Incidents) for each system in the data; one with the name None where none is named.

        Notes are those of the whole file.
        """
        if "system" not in self.table or self.table["system"].isna().all():
            return [(None, self)]
        return [(str(name), self._of_system(name, part)) for name, part in self.table.groupby("system", sort=True)]

    def _of_system(self, name, part):
        events = self.events
        if events is not None and "system" in events:
            events = events[events["system"] == name].reset_index(drop=True)
        rows = self.rows_by_system.get(str(name), len(part))
        nodes = self.nodes_by_system.get(str(name))
        return replace(self, table=part.reset_index(drop=True), events=events, rows=rows, nodes=nodes)

    def _facts(self):
        """What a summary says, as (name, text)."""
        span = "no incident" if not len(self) else self._span()
        yield "source", f"{escaped(self.source)} ({self.format})"
        yield "rows read", f"{self.rows:,}"
        yield "incidents", f"{len(self):,}"
        yield "still open", f"{int(self.table['open'].sum()):,}"
        yield "from, to", span
        yield "time zone", escaped(self.zone) if self.zone else "unknown" if self.origin is not None else "no calendar"
        yield "nodes with incidents", f"{self.table['node'].nunique():,}"
        yield "nodes watched", "unknown" if self.nodes is None else f"{self.nodes:,}"
        if self.jobs is not None:
            yield "attempts of jobs", f"{len(self.jobs):,}"
            yield "node-hours run", "unknown" if self.node_hours is None else f"{self.node_hours:,.1f}"

    def _span(self):
        if self.origin is None or self.table["start"].isna().all():
            known = self.table["start_s"].dropna()
            return f"{known.min():,.0f} s to {known.max():,.0f} s" if len(known) else "unknown"
        return f"{self.table['start'].min():%Y-%m-%d %H:%M} to {self.table['start'].max():%Y-%m-%d %H:%M}"

    def __str__(self):
        parts = [text_table(["what", "value"], self._facts(), "ll")]
        classes = self.table["cls"].value_counts()
        if len(classes):
            parts.append(text_table(["class", "incidents"], [(escaped(k), f"{v:,}") for k, v in classes.items()]))
        if self.notes:
            parts.append(text_table(["what", "count", "reason", "lines"], note_table(self.notes), "lrll"))
        return "\n\n".join(parts)

    def _repr_html_(self):
        from html import escape

        def rows(header, body):
            head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
            lines = "".join("<tr>" + "".join(f"<td>{escape(str(c))}</td>" for c in row) + "</tr>" for row in body)
            return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"

        classes = [(escaped(k), f"{v:,}") for k, v in self.table["cls"].value_counts().items()]
        parts = [rows(["what", "value"], self._facts()), rows(["class", "incidents"], classes)]
        if self.notes:
            parts.append(rows(["what", "count", "reason", "lines"], note_table(self.notes)))
        return "\n".join(parts)


def empty_table():
    """Return an incident table without rows, with the types of each column."""
    import pandas as pd

    kinds = {"start": "datetime64[us]", "end": "datetime64[us]", "start_s": float, "end_s": float, "open": bool}
    kinds |= {"node": object, "cls": object, "line": "int64", "detail": object}
    return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})


def read(path, format="auto", **options):
    """Read a log or a table of incidents.

    Parameters
    ----------
    path : str or path
    format : str
        auto, csv, parquet, runs, slurm, lanl, xid or kubernetes.
    **options
        Of the format's reader: see its documentation.

    Returns
    -------
    Incidents

    Raises
    ------
    LogError
        For a file that cannot be read rightly: it names file, line, what stands there and what is expected.
    ValueError
        For a format or an option that is not known.

    Notes
    -----
    CSV and Parquet: :func:`reliability.logs.incident_table.read_csv`; Slurm:
    :func:`reliability.logs.slurm.read_slurm`; tables of runs: :func:`reliability.logs.run_table.read_runs`;
    LANL's release: :func:`reliability.logs.lanl.read_lanl`; kernel logs: :func:`reliability.logs.xid.read_xid`;
    Kubernetes: :func:`reliability.logs.kubernetes.read_kubernetes`.
    """
    if format not in FORMATS:
        raise ValueError(f"format = {format!r}: must be one of {', '.join(FORMATS)}")
    from reliability.logs import files, kinds

    if format == "parquet" or (format == "auto" and kinds.is_parquet(path)):
        reader, source = _reader("parquet"), path
    else:
        source = files.open_text(path)
        reader = _reader(kinds.kind_of(source) if format == "auto" else format)
    _check_options(reader, options)
    return reader(source, **options)


def _reader(format):
    module, function = READERS[format]
    return getattr(importlib.import_module(module), function)


def _check_options(reader, options):
    """Refuse an option that the format's reader does not know, naming the nearest one."""
    parameters = list(inspect.signature(reader).parameters.values())[1:]
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return
    known = [p.name for p in parameters]
    for name in options:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ValueError(f"{name} is not an option of {reader.__name__}: {', '.join(known)} are{hint}")


__all__ = ["FORMATS", "Incidents", "empty_table", "read"]
