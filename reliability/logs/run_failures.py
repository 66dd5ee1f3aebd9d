"""The failures among the ends of runs: which are incidents, and of which node."""

import numpy as np

from reliability.logs import names
from reliability.logs.calendar import US
from reliability.logs.notes import note

# How a run ended that is no failure by default: what is said of it, and whether some would count it.
NOT_COUNTED = {
    "node_failure": ("not counted as failures", True),
    "infrastructure_other": ("not counted as failures", True),
    "application": ("not counted as failures", True),
    "time_limit": ("their time was over, not counted as failures", True),
    "cancelled": ("a planned stop, not counted as failures", False),
    "preempted": ("a planned stop, not counted as failures", False),
}
SAME_FAILURE_S = 60.0  # ends of several jobs on one node within it are one failure of the node


def incidents_among(runs):
    """Return a row for each failure, those of one node and moment or of one job's parts counted once, and notes."""
    failed = runs[runs["failure"] & runs["ended"]]
    notes = note(
        "unknown",
        "failure without an end: no time to put it to",
        runs["line"][runs["failure"] & ~runs["ended"]].tolist(),
    )
    part = failed["job"].str.extract(r"^(\d+)\+\d+$", expand=False)
    twin = part.notna() & failed.assign(part=part).duplicated(["part", "end_us"])
    notes += note("merged", "parts of one heterogeneous job, ended by one failure", failed["line"][twin].tolist())
    failed = failed[~twin]
    alone = (
        np.array([len(h) == 1 if h else False for h in failed["nodelist"]], dtype=bool)
        & (failed["nodes"] == 1).to_numpy()
    )
    nodes = [hosts[0] if one else "" for hosts, one in zip(failed["nodelist"], alone, strict=True)]
    codes, spelt = names.unified(nodes)
    several = (codes < 0) & (failed["nodes"].fillna(2) != 1).to_numpy()
    notes += note(
        "unknown", "failed node: the data do not say which of a job's nodes it was", failed["line"][several].tolist()
    )
    reason = f"failures of jobs that shared nodes and ended within {SAME_FAILURE_S:.0f} s: maybe one"
    notes += note("warning", reason, _sharing(failed[several]))
    detail = [
        f"job {job}, attempt {attempt}" + (f", on one of {int(n)} nodes" if n > 1 else "")
        for job, attempt, n in zip(failed["job"], failed["attempt"], failed["nodes"].fillna(0), strict=True)
    ]
    table = failed[["line", "cls"]].assign(
        start_us=failed["end_us"],
        end_us=failed["end_us"],
        ended=False,
        open=False,
        node=np.array([*spelt, None], dtype=object)[codes],
        detail=detail,
    )
    table = table.sort_values(["node", "start_us", "line"], kind="stable")
    gap = table.groupby("node")["start_us"].diff()
    twin = (gap <= SAME_FAILURE_S * US) & table["node"].notna()
    reason = f"jobs of one node that ended within {SAME_FAILURE_S:.0f} s, by one failure"
    notes += note("merged", reason, sorted(table["line"][twin].tolist()))
    return table[~twin], notes


def not_counted(runs, failures):
    """Notes on the runs that ended badly and are no failure, a note each kind of end, and what would count them."""
    notes, ended = [], runs[runs["started"] & ~runs["failure"]]
    for outcome, (why, counts) in NOT_COUNTED.items():
        mine = ended[ended["outcome"] == outcome]
        found = sorted(set(mine["state"]))
        way = f"; failures='{','.join([*failures, *found])}' counts them" if counts else ""
        notes += note("excluded", f"runs {', '.join(found)}: {why}{way}", mine["line"].tolist())
    return notes


def _sharing(failed):
    """Lines of failed jobs of several nodes that share one with the failure just before."""
    order = failed.sort_values(["end_us", "line"], kind="stable")
    near = (order["end_us"].diff() <= SAME_FAILURE_S * US).to_numpy()
    lists, lines = order["nodelist"].tolist(), order["line"].tolist()
    return sorted(
        lines[i]
        for i in np.flatnonzero(near)
        if lists[i] and lists[i - 1] and not set(lists[i]).isdisjoint(lists[i - 1])
    )
