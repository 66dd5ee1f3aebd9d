"""Kubernetes' events and node conditions: outages of nodes, and failures of GPUs where they say so."""

import math

import numpy as np

from reliability.logs import collector
from reliability.logs import kubernetes_outages as outages
from reliability.logs.kubernetes_objects import read
from reliability.logs.notes import note
from reliability.text import escaped

US = 1_000_000
SHOWN = 200


@collector.paused()
def read_kubernetes(text, merge_window_s=600.0, nodes=None, observed_from=None, observed_to=None):
    """Read events and nodes, as ``kubectl get events -o json`` and ``kubectl get nodes -o json`` print them.

    Read are lists, one object a line, objects one after the other, and watches; events of core/v1 and of
    events.k8s.io/v1. A node is out of service from ``NodeNotReady`` to ``NodeReady``, and still is where
    the latter has not come; a condition that is not as it should be is an outage that goes on. Events of
    pods (evictions, preemptions, scheduling, restarts) and cordons are no failures. Which class an outage
    belongs to is unknown unless reason or message say it.

    Parameters
    ----------
    text : reliability.logs.files.Text
    merge_window_s : float
        Failures of one node that overlap or follow each other within it are one incident.
    nodes : int, optional
        Nodes that were watched; by default those that the file lists, where it lists nodes.
    observed_from, observed_to : str or timestamp, optional
        The window of observation. Kubernetes keeps events for an hour, unless told otherwise.

    Returns
    -------
    reliability.incidents.Incidents
        ``events`` has ``why``, ``kind`` (event or review), ``reason``, ``object`` and ``messages`` too.

    Raises
    ------
    LogError
        Where the file is no such JSON.
    """
    if (
        isinstance(merge_window_s, bool)
        or not isinstance(merge_window_s, int | float)
        or not 0 < merge_window_s < math.inf
    ):
        raise ValueError(f"merge_window_s = {merge_window_s!r}: must be a number of seconds above 0")
    if nodes is not None and (isinstance(nodes, bool) or not isinstance(nodes, int) or nodes < 1):
        raise ValueError(f"nodes = {nodes!r}: must be a whole number from 1")
    found = read(text)
    notes, others = [], []
    found_outages = outages.from_events(found, others, notes)
    found_outages = outages.with_conditions(found, found_outages, others, notes)
    merged, joined = outages.merged(found_outages, merge_window_s)
    notes += note("merged", "failures of a node that overlap or follow within the window: one incident", joined)
    notes += _notes(found, others, merged)
    return _incidents(text, found, merged, others, notes + text.notes(), nodes, observed_from, observed_to)


def _notes(found, others, merged):
    yield from note("dropped", "a last line that was cut off", found.cut)
    yield from note("merged", "later versions of the same event", found.updates)
    yield from note("excluded", "objects that are neither events nor nodes", found.others)
    yield from note("unknown", "time of an event", found.undated)
    pods = [row[0] for row in others if row[6] is not None and row[6].kind != "Node"]
    yield from note("excluded", "events of pods and other things, no failures of a node", sorted(pods))
    mine = [row for row in others if row[6] is None or row[6].kind == "Node"]
    plain = [row[0] for row in mine if row[4] == "event"]
    yield from note("excluded", "events and conditions of nodes that are no failure by themselves", sorted(plain))
    yield from note("warning", "cases for review, not counted", sorted(row[0] for row in mine if row[4] == "review"))
    planned = [o.line for o in merged if o.planned]
    yield from note(
        "warning", "outages of nodes cordoned or shut down before: perhaps planned, counted", sorted(planned)
    )
    endless = [o.line for o in merged if not o.open and o.end_us is None]
    yield from note("unknown", "end of an outage", sorted(endless))
    unknown = [o.line for o in merged if o.cls == "unknown"]
    yield from note("unknown", "cause of an outage", sorted(unknown))


def _listed(found, merged):
    """How many nodes there are, where the file lists all that it speaks of; else None."""
    spoken = {o.node for o in merged} | {e.name for e in found.events if e.kind == "Node" and e.name}
    return len(found.nodes) if found.nodes and spoken <= found.nodes.keys() else None


def _incidents(text, found, merged, others, notes, nodes, observed_from, observed_to):
    import pandas as pd

    from reliability.logs.assemble import incidents

    rows = pd.DataFrame(
        {
            "start_us": np.array([o.start_us for o in merged], dtype=np.int64),
            "end_us": np.array([o.end_us or 0 for o in merged], dtype=np.int64),
            "ended": np.array([o.end_us is not None for o in merged], dtype=bool),
            "open": np.array([o.open for o in merged], dtype=bool),
            "node": pd.Series([o.node for o in merged], dtype=object),
            "cls": pd.Series([o.cls for o in merged], dtype=object),
            "line": np.array([o.line for o in merged], dtype=np.int64),
            "detail": pd.Series([escaped(o.why[:SHOWN]) for o in merged], dtype=object),
        }
    )
    result = incidents(
        rows,
        zone="UTC",
        observed_from=observed_from,
        observed_to=observed_to,
        notes=notes,
        nodes=nodes if nodes is not None else _listed(found, merged),
        rows=found.rows,
        format="kubernetes",
        source=text.name,
    )
    object.__setattr__(result, "events", _events(others, result.origin))
    return result


def _events(others, origin):
    import pandas as pd

    from reliability.logs.calendar import stamp

    others = sorted(others, key=lambda row: (row[1] is None, row[1] or 0, row[0]))
    nat = np.iinfo(np.int64).min
    us = np.array([nat if row[1] is None else row[1] for row in others], dtype=np.int64)
    known = us[us != nat]
    zero = (
        int(origin.as_unit("us").asm8.astype("int64")) if origin is not None else int(known.min()) if len(known) else 0
    )
    events = [row[6] for row in others]

    def column(values, kind=object):
        return pd.Series(list(values), dtype=kind)

    table = pd.DataFrame({"start": stamp(us, "UTC"), "end": stamp(np.full(len(us), nat), "UTC")})
    table["start_s"] = np.where(us == nat, np.nan, (us - zero) / US)
    table["end_s"], table["open"] = np.full(len(us), np.nan), np.zeros(len(us), dtype=bool)
    table["node"], table["cls"] = column(row[2] for row in others), column(row[3] for row in others)
    table["line"] = column((row[0] for row in others), "int64")
    table["detail"] = column(
        escaped(f"{e.reason}: {e.message}"[:SHOWN]) if e else escaped(row[5][:SHOWN])
        for row, e in zip(others, events, strict=True)
    )
    table["why"], table["kind"] = column(escaped(row[5]) for row in others), column(row[4] for row in others)
    table["reason"] = column(escaped(e.reason) if e else None for e in events)
    table["object"] = column(escaped(f"{e.kind}/{e.name}") if e else None for e in events)
    table["messages"] = column((e.count if e else 1 for e in events), "int64")
    return table
