"""The release of node failures by Los Alamos National Laboratory: a worked example of a foreign format.

Its file of all systems has a row an outage: system, node, start, end and minutes down, and six columns
of causes of which a row fills one at most. Dates are month first. See LA-UR-05-7318.
"""

import numpy as np

from reliability.logs import columns, csv_rows
from reliability.logs.incident_table import build
from reliability.logs.notes import LogError, note
from reliability.logs.table_times import Source

CAUSES = ("Facilities", "Hardware", "Human Error", "Network", "Undetermined", "Software")
PARTS = {"system": "system", "node": "nodenumz", "start": "prob_started", "end": "prob_fixed", "duration": "down_time"}
SIZE = "nodes"


def read_lanl(text, system=None, zone=None, nodes=None, observed_from=None, observed_to=None):
    """Read LANL's release of node failures.

    Parameters
    ----------
    text : reliability.logs.files.Text
    system : int or str, optional
        One system; None: all, in the table's column ``system``. A node is one of its system: numbers repeat.
    zone : str, optional
        The release does not say one. "America/Denver" is where the laboratory stands.
    nodes : int, optional
        Nodes watched; None: as the release says for its system, where only one is read.
    observed_from, observed_to : str or timestamp, optional
        The release gives months of production, not a window of observation.

    Returns
    -------
    reliability.incidents.Incidents
        Class is the column of the cause, ``detail`` what stands in it; nodes by system in ``nodes_by_system``.

    Raises
    ------
    LogError
        Where a column of the release is absent, or a system is not in the file.
    """
    number, separator, header = csv_rows.header_of(text)
    plain = [columns.plain_name(name) for name in header]
    places = {}
    for part, label in PARTS.items():
        # Some copies have the original node number only.
        label = "nodenum" if part == "node" and label not in plain else label
        if label not in plain:
            if part in ("system", "duration"):
                continue
            raise LogError(text.name, number, ", ".join(header), f"LANL's column {label!r}")
        places[part] = plain.index(label)
    rows = csv_rows.read_rows(text, number, separator, header, needed=1 + max(places.values()))
    held = {part: rows.texts(index) for part, index in places.items()}
    held["cls"], held["detail"], notes = _causes(rows, header)
    source = Source(
        text.name,
        "lanl",
        held,
        {"start": None, "end": None, "duration": "min"},
        {part: header[index] for part, index in places.items()},
        rows.lines,
        rows.table,
        rows.read,
        rows.notes + text.notes() + notes,
        separator,
    )
    sizes = _sizes(rows, plain, held)
    if nodes is None and sizes:
        chosen = [n for name, n in sizes.items() if system is None or name == str(system)]
        nodes = chosen[0] if len(chosen) == 1 else None
    return build(
        source,
        day_first=False,
        zone=zone,
        decimal=".",
        duration_unit="min",
        system=system,
        nodes=nodes,
        observed_from=observed_from,
        observed_to=observed_to,
        nodes_by_system=sizes,
    )


def _causes(rows, header):
    """Class and detail of each row: the first cause column that is filled."""
    import pyarrow as pa

    cls = np.full(len(rows.lines), "", dtype=object)
    detail = cls.copy()
    several = np.zeros(len(cls), dtype=bool)
    for cause in CAUSES:
        index = next((i for i, name in enumerate(header) if name.strip().casefold() == cause.casefold()), None)
        if index is None:
            continue
        texts = rows.texts(index).to_numpy(zero_copy_only=False)
        filled = texts != ""
        several |= filled & (cls != "")
        fresh = filled & (cls == "")
        cls[fresh], detail[fresh] = cause, texts[fresh]
    notes = note("warning", "causes in several columns: the first is taken", rows.lines[several].tolist())
    return pa.array(cls.tolist(), pa.string()), pa.array(detail.tolist(), pa.string()), notes


def _sizes(rows, plain, held):
    """Nodes of each system, where the file says one number for it."""
    if SIZE not in plain or "system" not in held:
        return {}
    import pandas as pd

    frame = pd.DataFrame({"system": held["system"].to_pandas(), "nodes": rows.texts(plain.index(SIZE)).to_pandas()})
    found = frame[frame["nodes"].str.fullmatch(r"[1-9]\d{0,6}").fillna(False)].groupby("system")["nodes"].unique()
    return {str(name): int(values[0]) for name, values in found.items() if len(values) == 1}
