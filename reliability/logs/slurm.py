"""Slurm's accounting: `sacct --parsable2`, or its JSON."""

import re

import numpy as np

from reliability.logs import columns, csv_rows, durations, runs, slurm_json, table_dates
from reliability.logs.notes import LogError, Note, note, quoted
from reliability.logs.run_states import FAILURES, states

COMMAND = "sacct --parsable2 --allusers --format=JobID,State,Start,End,Elapsed,NNodes,NodeList"
FIELDS = {
    "job": ("job_id", "job_id_raw"),
    "state": ("state",),
    "submit": ("submit", "eligible"),
    "start": ("start",),
    "end": ("end",),
    "elapsed": ("elapsed",),
    "elapsed_raw": ("elapsed_raw",),
    "nodes": ("nnodes", "alloc_nodes", "req_nodes"),
    "nodelist": ("node_list",),
    "tres": ("alloc_tres", "alloc_gres", "req_tres", "req_gres"),
}
FREE_TEXT = ("job_name", "comment", "admin_comment", "system_comment", "work_dir", "submit_line", "wc_key")
JOB = r"\d+(?:_\d+|_\[[^\]]*\]|\+\d+)?"
STEP = JOB + r"\.\S+"
COUNT = re.compile(r"(\d{1,9}(?:\.\d+)?)([Kk])?")
GPUS = re.compile(r"gres/gpu(?::[^=,]+)?[=:](\d{1,7})|(?:^|,)gpu(?::[^=:,]+)?:(\d{1,7})")


def read_slurm(text, failures=FAILURES, zone=None, nodes=None, observed_from=None, observed_to=None):
    """Read job records of Slurm.

    Parameters
    ----------
    text : reliability.logs.files.Text
        Output of ``sacct --parsable2`` (or ``--parsable``) with its header, or of ``sacct --json``.
        Needed: JobID, State, Start, and End or Elapsed; NNodes or NodeList for node-hours. With
        ``--duplicates`` a job that was requeued has a row an attempt: all count.
    failures : sequence of str
        States that count as failures; by default NODE_FAIL alone. BOOT_FAIL (the node never came up)
        and FAILED, OUT_OF_MEMORY (of the application, mostly) may be told as well. TIMEOUT, CANCELLED,
        PREEMPTED are planned stops, and REQUEUED has no stated cause.
    zone : str, optional
        Slurm writes local time; None: unknown.
    nodes : int, optional
        Nodes of the cluster; the file names only those that had jobs.
    observed_from, observed_to : str or timestamp, optional
        As the query was asked: the file does not say it.

    Returns
    -------
    reliability.incidents.Incidents
        With ``jobs``, ``node_hours``, ``run_hours``. Steps are left out: their time is their job's.

    Raises
    ------
    LogError
        See :func:`reliability.incidents.read`.
    """
    head = text.head(1)[0][1].lstrip()
    name_of, lines, read, notes = slurm_json.fields_of(text) if head[:1] == "{" else _of_table(text)
    jobs = name_of["job"]
    is_job = _matching(jobs, JOB)
    is_step = ~is_job & _matching(jobs, STEP)
    rest = ~is_job & ~is_step
    header = rest & np.array(
        [text.lower().replace("raw", "") == "jobid" for text in jobs] if rest.any() else rest, dtype=bool
    )
    notes += note("excluded", "steps of jobs: their time is their job's", lines[is_step].tolist())
    notes += note("excluded", "headers repeated, as in files put together", lines[header].tolist())
    notes += note("dropped", "JobID is no job's number", lines[rest & ~header].tolist())
    if not is_job.any() and not is_step.any() and read:
        expected = f"a JobID such as 1234, 1234_5 or 1234+1, as {COMMAND} prints it"
        raise LogError(text.name, int(lines[0]) if len(lines) else None, jobs[0] if len(jobs) else None, expected)
    return _runs(text, {k: v[is_job] for k, v in name_of.items()}, lines[is_job], notes)(
        failures, zone, nodes, observed_from, observed_to, read
    )


def _matching(texts, pattern):
    """Which texts are wholly of a pattern."""
    import pyarrow as pa
    import pyarrow.compute as compute

    found = compute.match_substring_regex(pa.array(texts, pa.string()), f"^(?:{pattern})$")
    return found.to_numpy(zero_copy_only=False)


def _runs(text, held, lines, notes):
    """Return a function that makes Incidents of the fields of the jobs."""
    import pandas as pd
    import pyarrow as pa

    count = len(lines)
    nothing = np.full(count, "", dtype=object)

    def texts(part):
        return held.get(part, nothing)

    dates = {part: (pa.array(texts(part), pa.string()), lines) for part in ("submit", "start", "end")}
    stamps = table_dates.parse(text.name, None, **dates)
    _refuse_unless_dates(text, stamps["start"], texts("start"), lines)
    seconds, bad = durations.column_seconds(texts("elapsed"))
    raw = pd.to_numeric(pd.Series(texts("elapsed_raw")), errors="coerce").to_numpy(dtype=float)
    seconds = np.where(np.isfinite(seconds), seconds, np.where(raw >= 0, raw, np.nan))
    notes = notes + note("unknown", "Elapsed is no duration", lines[bad].tolist())
    state, uid = states(texts("state"))
    both = ~stamps["submit"].missing & ~stamps["start"].missing
    waiting = np.where(both, (stamps["start"].us - stamps["submit"].us) / 1e6, np.nan)
    frame = pd.DataFrame(
        {
            "job": pd.Series(texts("job"), dtype=object),
            "state": pd.Series(state, dtype=object),
            "uid": pd.array(np.where(uid < 0, 0, uid), dtype="Int64"),
            "seconds": seconds,
            "nodes": _counts(texts("nodes")),
            "gpus": _gpus(texts("tres")),
            "nodelist": pd.Series(texts("nodelist"), dtype=object),
            "waiting_s": np.where(waiting >= 0, waiting, np.nan),
            "line": lines,
        }
    )
    frame["uid"] = frame["uid"].mask(uid < 0)

    def finish(failures, zone, nodes, observed_from, observed_to, read):
        return runs.incidents_of(
            text.name,
            frame,
            (stamps["start"], stamps["end"]),
            True,
            zone,
            failures,
            observed_from,
            observed_to,
            nodes,
            notes + text.notes(),
            rows=read,
            format="slurm",
        )

    return finish


def _refuse_unless_dates(text, start, texts, lines):
    if start.bad.sum() * 2 > (start.bad | ~start.missing).sum():
        row = int(np.flatnonzero(start.bad)[0])
        raise LogError(text.name, int(lines[row]), texts[row], "a Start such as 2025-03-01T00:05:00")


def _of_table(text):
    """Fields of each row, by part; lines; rows read; notes."""
    number, separator, header = csv_rows.header_of(text)
    plain = [columns.plain_name(name) for name in header]
    plain = ["nnodes" if name in ("n_nodes", "nnodes") else name for name in plain]
    plain = [re.sub(r"^(alloc|req)(nodes|tres|gres)$", r"\1_\2", name) for name in plain]
    plain = [
        {"nodelist": "node_list", "jobid": "job_id", "jobidraw": "job_id_raw", "elapsedraw": "elapsed_raw"}.get(n, n)
        for n in plain
    ]
    places = {}
    for part, known in FIELDS.items():
        found = [plain.index(name) for name in known if name in plain]
        if found:
            places[part] = found[0]
    absent = [part for part in ("job", "state", "start") if part not in places]
    if absent or not {"end", "elapsed", "elapsed_raw"} & set(places):
        wanted = "a header with JobID, State, Start, and End or Elapsed"
        raise LogError(text.name, number, separator.join(header)[:200], f"{wanted}: {COMMAND}")
    free = next((plain.index(name) for name in FREE_TEXT if name in plain), None)

    def mend(fields):
        """A name with the separator in it, or a node list parted by commas."""
        if separator == ",":
            fields = _rejoined(fields)
        extra = len(fields) - len(header)
        if extra > 0 and free is not None:
            mended.append(1)
            fields = fields[:free] + [separator.join(fields[free : free + extra + 1])] + fields[free + extra + 1 :]
        return fields if len(fields) == len(header) else None

    mended = []
    needed = 1 + max(place for part, place in places.items() if part in ("job", "state", "start", "end", "elapsed"))
    rows = csv_rows.read_rows(text, number, separator, header, quotes=separator != "|", mend=mend, needed=needed)
    held = {part: csv_rows.objects(rows.texts(place)) for part, place in places.items()}
    notes = list(rows.notes)
    if mended:
        reason = f"rows with {quoted(separator)} within {header[free]}, read as one field"
        notes.append(Note("assumed", reason, len(mended)))
    return held, rows.lines, rows.read, notes


def _rejoined(fields):
    """Fields whose brackets were cut by a comma, put together again."""
    found, depth = [], 0
    for field in fields:
        if depth:
            found[-1] += "," + field
        else:
            found.append(field)
        depth = max(0, depth + field.count("[") - field.count("]"))
    return found


def _counts(texts):
    """Numbers of nodes; Slurm writes 1,024 as 1K and 1,536 as 1.5K. NaN where there is none."""
    import pandas as pd

    codes, distinct = pd.factorize(np.asarray(texts, dtype=object), use_na_sentinel=False)
    found = np.full(len(distinct) + 1, np.nan)
    for i, text in enumerate(distinct):
        match = COUNT.fullmatch(text.strip())
        found[i] = float(match[1]) * (1024 if match[2] else 1) if match else np.nan
    return np.where((found > 0) & (found < 1e7), found, np.nan)[codes]


def _gpus(texts):
    """GPUs of an allocation from its trackable resources; NaN where it says none."""
    import pandas as pd

    codes, distinct = pd.factorize(np.asarray(texts, dtype=object), use_na_sentinel=False)
    found = np.full(len(distinct) + 1, np.nan)
    for i, text in enumerate(distinct):
        match = GPUS.search(str(text))
        if match:
            found[i] = float(match[1] or match[2])
    return found[codes]
