"""Runs of jobs: what each exposes, how it ended, and the incidents among the ends."""

import numpy as np

from reliability import checks
from reliability.logs import assemble, hostlist, run_failures
from reliability.logs.calendar import US, on_one_clock, stamp, window
from reliability.logs.notes import note
from reliability.logs.run_states import OUTCOMES, checked_failures
from reliability.units import HOUR_S

MOST_HOSTS = 5_000_000  # in all lists together
AGREE_S = 1.0


def incidents_of(source, runs, clocks, calendar, zone, failures, observed_from, observed_to, nodes, notes, **facts):
    """Return Incidents of runs.

    Parameters
    ----------
    source : str
    runs : pandas.DataFrame
        job, state, uid, seconds (NaN: not said), nodes (NaN), gpus (NaN), nodelist (text), waiting_s,
        line: a row an attempt of a job.
    clocks : (Stamps, Stamps)
        Of start and end.
    calendar : bool
    zone : str or None
    failures : sequence of str
        States that count as failures.
    observed_from, observed_to, nodes : told by the user, or None
    notes : list of Note
    **facts
        rows, format.

    Returns
    -------
    reliability.incidents.Incidents
        An incident is a run that a failure ended: its start is the run's end, its own end is not known.
        The node is known only where the run had one.
    """
    failures, nodes = checked_failures(failures), None if nodes is None else checks.count("nodes", nodes)
    lines = runs["line"].to_numpy()
    start, end = clocks
    known_zone, more = on_one_clock(source, zone, lines, start, end) if calendar and len(runs) else (zone, [])
    notes = notes + more
    runs = runs.assign(start_us=start.us, end_us=end.us, begun=~start.missing, ended=~end.missing)
    runs, more = _outcomes(runs, start.bad, end.bad)
    notes += more
    low, high = window(observed_from, observed_to, known_zone, calendar)
    runs, more = _spans(runs, high)
    notes += more
    runs, more = _one_attempt_each(runs)
    notes += more
    still = runs["line"][runs["started"] & (runs["outcome"] == "running")]
    notes += note("assumed", "still running: censored, its time so far is exposure", sorted(still))
    runs, more = _hosts(runs)
    notes += more
    runs["failure"] = runs["started"] & runs["state"].isin(failures)
    runs["cls"] = runs["state"].where(runs["failure"], None).astype(object)
    table, more = run_failures.incidents_among(runs)
    notes += more + _unknown_causes(runs) + run_failures.not_counted(runs, failures)
    started = runs[runs["started"]]
    first = int(started["start_us"].min()) if len(started) else 0
    exposure_s, more = _watched(started, low, high)
    notes += more
    weighed = exposure_s.notna() & started["nodes"].notna()
    if weighed.any():
        unweighed = started["line"][exposure_s.notna() & ~weighed]
        notes += note("unknown", "nodes of a run: not in the node-hours", unweighed.tolist())
    read = assemble.incidents(
        table,
        zone=known_zone,
        calendar=calendar,
        observed_from=observed_from,
        observed_to=observed_to,
        nodes=nodes,
        notes=notes,
        first_us=first,
        source=source,
        run_hours=float(exposure_s.sum() / HOUR_S),
        node_hours=float((exposure_s * started["nodes"])[weighed].sum() / HOUR_S) if weighed.any() else None,
        **facts,
    )
    zero = read.origin.value // 1000 if read.origin is not None else 0
    object.__setattr__(read, "jobs", _jobs(runs, zero, known_zone, calendar))
    return read


def _outcomes(runs, bad_start, bad_end):
    """Add outcome and started: a run that waits, or was stopped while it waited, never started."""
    outcome = runs["state"].map(OUTCOMES).fillna("unknown").to_numpy(dtype=object)
    waits = outcome == "never_started"
    nowhere = runs["nodelist"].str.casefold().isin(hostlist.NONE).to_numpy() & (runs["nodelist"] != "").to_numpy()
    # Slurm writes the time of the cancellation as Start of a job that was cancelled while it waited.
    stopped = nowhere & (runs["seconds"].fillna(0) == 0).to_numpy() & (outcome != "running")
    started = runs["begun"].to_numpy() & ~waits & ~stopped
    lines = runs["line"].to_numpy()
    notes = note("unknown", "start is no date: run left out", lines[bad_start].tolist())
    notes += note("unknown", "end is no date", lines[bad_end].tolist())
    strange = outcome == "unknown"
    shown = ", ".join(sorted({str(s)[:20] for s in runs["state"][strange]})[:5])
    notes += note("unknown", f"state is not one of Slurm's, and no failure: {shown}", lines[strange].tolist())
    notes += note("excluded", "runs that never started", lines[~started & ~bad_start].tolist())
    return runs.assign(outcome=np.where(started, outcome, "never_started"), started=started), notes


def _spans(runs, observed_to):
    """Settle the run time of each: as it is said, else from start to end; drop what ends before it starts."""
    started, lines = runs["started"].to_numpy(), runs["line"].to_numpy()
    running = (runs["outcome"] == "running").to_numpy()
    length = np.where(runs["ended"] & runs["begun"], (runs["end_us"] - runs["start_us"]) / US, np.nan)
    backwards = started & ((length < 0) | (runs["seconds"].to_numpy() < 0))
    notes = note("dropped", "end before start", lines[backwards].tolist())
    seconds = np.where(runs["seconds"].isna(), length, runs["seconds"])
    apart = started & ~backwards & ~running & (np.abs(seconds - length) > AGREE_S)
    notes += note("warning", "run time differs from end minus start (suspended?); it is used", lines[apart].tolist())
    if observed_to is not None:
        until = started & running & np.isnan(seconds) & (runs["start_us"].to_numpy() < observed_to)
        seconds = np.where(until, (observed_to - runs["start_us"]) / US, seconds)
    notes += note("unknown", "run time: left out of the exposure", lines[started & np.isnan(seconds)].tolist())
    still = started & running
    # A run that goes on has no end, whatever time its row shows.
    ended = runs["ended"].to_numpy() & ~still
    late = started & ~ended & ~still & np.isfinite(seconds)
    end_us = np.where(late, runs["start_us"] + np.round(np.nan_to_num(seconds) * US).astype(np.int64), runs["end_us"])
    return runs.assign(seconds=seconds, end_us=end_us, ended=ended | late)[~backwards], notes


def _watched(started, low, high):
    """Seconds of each run within the window of observation; NaN where its run time is not known."""
    seconds = started["seconds"]
    if low is None and high is None:
        return seconds, []
    begin = started["start_us"].to_numpy(dtype=float)
    end = begin + seconds.to_numpy() * US
    inside = np.minimum(end, np.inf if high is None else high) - np.maximum(begin, -np.inf if low is None else low)
    inside = seconds * 0 + np.maximum(inside, 0) / US
    part = (inside < seconds).to_numpy()
    return inside, note("excluded", "run time outside the window of observation", started["line"][part].tolist())


def _one_attempt_each(runs):
    """Keep one row for each job and start; a final state before one that still runs, else the later row."""
    runs = runs.assign(final=~runs["outcome"].isin(["running", "never_started"]))
    order = runs.sort_values(["job", "start_us", "final", "line"], kind="stable")
    again = order.duplicated(["job", "start_us"], keep="last")
    same = order.duplicated(["job", "start_us", "state", "end_us", "nodelist", "seconds"], keep="last") & again
    notes = note("dropped", "exact duplicates of an attempt", sorted(order["line"][same].tolist()))
    notes += note(
        "merged", "older rows of an attempt (same job and start)", sorted(order["line"][again & ~same].tolist())
    )
    kept = order[~again]
    return kept.assign(attempt=kept.groupby("job", sort=False).cumcount() + 1).reset_index(drop=True), notes


def _hosts(runs):
    """Replace host expressions by lists, and settle the number of nodes."""
    lines, texts = runs["line"].to_numpy(), runs["nodelist"].to_numpy(dtype=object)
    known, broken, total, interned = {}, set(), 0, {}
    for text in dict.fromkeys(texts):
        try:
            found = hostlist.expand(text) if total <= MOST_HOSTS else None
        except ValueError:
            broken.add(text)
            found = None
        known[text] = found and [interned.setdefault(host, host) for host in found]
        total += len(found or ())
    lists = [known[text] for text in texts]
    counts = np.array([len(hosts) if hosts else np.nan for hosts in lists])
    bad = np.array([text in broken for text in texts], dtype=bool) if broken else np.zeros(len(texts), dtype=bool)
    given = runs["nodes"].to_numpy(dtype=float)
    differ = np.isfinite(given) & np.isfinite(counts) & (given != counts) & runs["started"].to_numpy()
    notes = note("unknown", "node list cut or broken", lines[bad].tolist())
    notes += note("warning", "number of nodes differs from the node list; the number is used", lines[differ].tolist())
    if total > MOST_HOSTS:
        skipped = [
            line for line, hosts, text in zip(lines, lists, texts, strict=True) if hosts is None and text not in broken
        ]
        notes += note("unknown", f"node lists beyond {MOST_HOSTS:,} hosts in all: not expanded", skipped)
    nodelist = np.empty(len(lists), dtype=object)
    nodelist[:] = lists
    return runs.assign(nodelist=nodelist, nodes=np.where(np.isfinite(given), given, counts)), notes


def _unknown_causes(runs):
    requeued = runs["started"] & (runs["outcome"] == "requeued")
    return note("unknown", "cause of a requeue: not counted as a failure", runs["line"][requeued].tolist())


def _jobs(runs, zero, zone, calendar):
    """The table of attempts."""
    import pandas as pd

    none = np.iinfo(np.int64).min
    start_us = np.where(runs["started"], runs["start_us"], none)
    end_us = np.where(runs["ended"], runs["end_us"], none)
    jobs = pd.DataFrame(
        {
            "job": runs["job"],
            "attempt": runs["attempt"],
            "start": stamp(start_us if calendar else np.full(len(runs), none), zone),
            "end": stamp(end_us if calendar else np.full(len(runs), none), zone),
            "start_s": np.where(start_us == none, np.nan, (start_us - zero) / US),
            "end_s": np.where(end_us == none, np.nan, (end_us - zero) / US),
        }
    )
    for name in ("seconds", "nodes", "gpus", "nodelist", "state", "outcome", "started", "failure", "uid", "cls"):
        jobs[name] = runs[name]
    jobs["waiting_s"], jobs["line"] = runs["waiting_s"], runs["line"]
    return jobs.sort_values(["start_s", "line"], kind="stable", ignore_index=True)
