"""Rows that tell of one outage: exact duplicates, and outages of one node that overlap."""

import numpy as np

from reliability.logs.notes import note

DUPLICATE, OVERLAP = "exact duplicate", "overlaps an outage of its node"  # why a row is no incident


def same_text(table, rows, candidates):
    """Which rows repeat an earlier one in every field.

    Parameters
    ----------
    table : pyarrow.Table
        All fields as they stand in the file.
    rows : int array
        Which rows of the table are meant.
    candidates : int array
        Codes such that rows of different codes cannot be equal: only rows that share one are compared.

    Returns
    -------
    bool array
    """
    import pandas as pd
    import pyarrow as pa

    repeated = np.zeros(len(rows), dtype=bool)
    shared = np.flatnonzero(pd.Series(candidates).duplicated(keep=False)) if len(rows) else []
    if len(shared):
        fields = pd.MultiIndex.from_frame(table.take(pa.array(rows[shared])).to_pandas())
        repeated[shared] = fields.duplicated()
    return repeated


def merged(frame):
    """Merge outages of one node that overlap, or that start at one time.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``key`` (the node's code, -1 where unknown), ``start_us``, ``end_us`` (int), ``ended`` (False
        where the end is not known), ``line``, ``cls``, and whatever else: of a merged outage it is
        that of its first row.

    Returns
    -------
    (frame, swallowed, notes)
        In the order of node and start. ``open`` is True where the end is not known and the node
        had no later outage; where it had, the end is unknown but the outage over. `swallowed` are the rows that
        were merged into another.

    Notes
    -----
    Outages that only touch stay two: the node was up, if only for a moment. An outage without an
    end does not swallow what follows: the node must have been up to fail again.
    """
    frame = frame.sort_values(["key", "start_us", "line"], kind="stable", ignore_index=True)
    key, start = frame["key"].to_numpy(), frame["start_us"].to_numpy()
    ended = frame["ended"].to_numpy()
    reach = np.where(ended, frame["end_us"].to_numpy(), start)
    running = np.maximum.accumulate(reach) if (key == key[:1]).all() else _running_maximum(key, reach)
    fresh = np.ones(len(frame), dtype=bool)
    fresh[1:] = (key[1:] != key[:-1]) | (key[1:] < 0) | ((start[1:] >= running[:-1]) & (start[1:] != start[:-1]))
    outage = np.cumsum(fresh) - 1
    first = np.flatnonzero(fresh)
    out = frame.iloc[first].reset_index(drop=True)
    if len(out):
        out["end_us"] = np.maximum.reduceat(reach, first)
        out["ended"] = np.logical_and.reduceat(ended, first)
    last_of_node = np.ones(len(out), dtype=bool)
    out_key = out["key"].to_numpy()
    last_of_node[:-1] = (out_key[:-1] != out_key[1:]) | (out_key[:-1] < 0)
    out["open"] = ~out["ended"].to_numpy(dtype=bool) & last_of_node
    again = ~out["ended"].to_numpy(dtype=bool) & ~last_of_node
    swallowed = ~fresh
    differing = swallowed & (frame["cls"].to_numpy() != frame["cls"].to_numpy()[first[outage]])
    lines = frame["line"].to_numpy()
    notes = note("merged", "overlapping outages of one node, counted as one", _sorted(lines[swallowed]))
    notes += note("warning", "of those merged, a class other than the first row's", _sorted(lines[differing]))
    reason = "end missing though the node failed again later: over, but its length not known"
    notes += note("unknown", reason, _sorted(out["line"].to_numpy()[again]))
    return out, frame[swallowed], notes


def _running_maximum(key, reach):
    import pandas as pd

    return pd.Series(reach).groupby(key, sort=False).cummax().to_numpy()


def _sorted(lines):
    return np.sort(lines).tolist()
