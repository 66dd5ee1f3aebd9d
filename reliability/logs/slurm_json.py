"""The JSON of `sacct --json`, as the fields of its table."""

import json

import numpy as np

from reliability.logs.notes import LogError, Note


def fields_of(text):
    """Fields of each job by part, lines, jobs read, notes; lines are the numbers of the jobs in the document."""
    try:
        document = json.loads(text.read())
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise LogError(text.name, line, None, f"JSON of sacct --json: {getattr(error, 'msg', error)}") from None
    listed = document.get("jobs") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise LogError(text.name, 1, None, 'a list under "jobs", as sacct --json writes it')
    records = []
    for job in listed:
        if not isinstance(job, dict):
            raise LogError(text.name, None, repr(job)[:60], 'an object for each of "jobs"')
        records.append(_record(job))
    parts = ("job", "state", "submit", "start", "end", "elapsed_raw", "nodes", "nodelist", "tres")
    held = {part: np.array([record[part] for record in records], dtype=object) for part in parts}
    steps = sum(len(job.get("steps") or []) for job in listed if isinstance(job.get("steps") or [], list))
    notes = [Note("excluded", "steps of jobs: their time is their job's", steps)] if steps else []
    return held, np.arange(1, len(records) + 1), len(records), notes


def _record(job):
    """Fields of one job of the JSON, as texts."""

    def number(value):
        value = value.get("number") if isinstance(value, dict) and value.get("set", True) else value
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""

    def inner(name):
        value = job.get(name)
        return value if isinstance(value, dict) else {}

    state = inner("state").get("current") or job.get("state") or job.get("job_state") or ""
    state = state[0] if isinstance(state, list) and state else state
    times, array, het = inner("time"), inner("array"), inner("het")
    name = number(job.get("job_id"))
    if number(array.get("task_id")) and number(array.get("job_id")) not in ("", "0"):
        name = f"{number(array.get('job_id'))}_{number(array.get('task_id'))}"
    elif number(het.get("job_id")) not in ("", "0"):
        name = f"{number(het.get('job_id'))}+{number(het.get('job_offset')) or '0'}"
    tres = inner("tres").get("allocated") or []
    gpus = [t for t in tres if isinstance(t, dict) and (t.get("type"), t.get("name")) == ("gres", "gpu")]

    def moment(key):
        value = number(times.get(key))
        return "" if value == "0" else value

    return {
        "job": name,
        "state": str(state),
        "submit": moment("submission"),
        "start": moment("start"),
        "end": moment("end"),
        "elapsed_raw": number(times.get("elapsed")),
        "nodes": number(job.get("allocation_nodes")),
        "nodelist": str(job.get("nodes") or ""),
        "tres": f"gres/gpu={number(gpus[0].get('count'))}" if gpus and number(gpus[0].get("count")) else "",
    }
