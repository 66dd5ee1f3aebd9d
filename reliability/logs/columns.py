"""Column names of tables of incidents and of runs: what each may be called, and what its unit is."""

import csv
import functools
import io
import re
from difflib import get_close_matches

from reliability.logs.notes import LogError
from reliability.units import DAY_S, HOUR_S, MINUTE_S

TITLES = 10  # lines above a header that may be a title
SEPARATORS = ";,\t|"
UNITS = {"d": DAY_S, "h": HOUR_S, "min": MINUTE_S, "s": 1.0, "ms": 1e-3}
UNIT_WORDS = {
    "d": ("d", "day", "days"),
    "h": ("h", "hr", "hrs", "hour", "hours"),
    "min": ("m", "min", "mins", "minute", "minutes"),
    "s": ("s", "sec", "secs", "second", "seconds"),
    "ms": ("ms", "msec", "millis", "milliseconds"),
}
UNIT_OF_WORD = {word: unit for unit, words in UNIT_WORDS.items() for word in words}

# Of several columns that could be meant, the name that comes first is taken.
ALIASES = {
    "node": "node host hostname node_name nodename host_name server server_name machine machine_name instance"
    " instance_id nodelist node_list hosts nodes_affected affected_node affected_nodes nodenum node_id nodeid node_number",
    "start": "start start_time starttime started started_at start_at start_date start_timestamp begin begin_time began"
    " down_at down_since down_from failed_at failure_time fail_time failed failure_start incident_start outage_start"
    " occurred occurred_at occurred_on problem_started prob_started detected_at detected opened_at opened open_time"
    " created_at created timestamp event_time datetime date_time time date from ts start_ts",
    "end": "end end_time endtime ended ended_at end_at end_date end_timestamp finish finish_time finished finished_at"
    " stop stop_time stopped stopped_at up_at up_since up_again back_at back_up recovered recovered_at recovery_time"
    " repaired repaired_at repair_time fixed fixed_at restored restored_at resolved resolved_at resolution_time"
    " problem_fixed prob_fixed incident_end outage_end failure_end closed_at closed close_time to end_ts",
    "duration": "duration downtime down_time down outage outage_duration lost hours_lost time_lost lost_time hours_down"
    " time_down time_to_repair ttr mttr repair repair_duration outage_length length elapsed unavailable",
    "cls": "class classification category failure_class failure_type failure_category incident_class incident_type"
    " incident_category error_class error_type fault_class fault_type fault type root_cause cause component subsystem kind"
    " reason",
    "system": "system system_name system_id cluster cluster_name",
    "detail": "detail details comment comments description message msg summary note notes text remark remarks",
    "rows": "id incident incident_id ticket ticket_id event event_id number",
}
RUN_ALIASES = {
    "run": "run run_id job jobid job_id attempt allocation allocation_id",
    "ended_by": "ended_by end_reason endedby end_state exit_reason termination_reason termination ended_with stop_reason"
    " outcome final_state state status result exit_status end_cause",
    "nodes": "nodes nnodes n_nodes num_nodes node_count nodecount alloc_nodes allocnodes",
    "gpus": "gpus ngpus n_gpus num_gpus gpu_count",
}


def plain_name(name):
    """A column's name in lower case, its words joined by underscores.

    Examples
    --------
    >>> plain_name(" Hours lost"), plain_name("startTime"), plain_name("Down Time (min)")
    ('hours_lost', 'start_time', 'down_time_min')
    """
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", str(name).strip().lstrip("\ufeff"))
    return re.sub(r"[\W_]+", "_", name.lower()).strip("_")


def without_unit(name):
    """Split a plain name into what it measures and its unit, None where it says none.

    Examples
    --------
    >>> without_unit("hours_lost"), without_unit("downtime_min"), without_unit("start")
    (('lost', 'h'), ('downtime', 'min'), ('start', None))
    """
    words = name.split("_")
    if len(words) > 1 and words[-1] in UNIT_OF_WORD:
        rest = words[:-2] if words[-2] == "in" else words[:-1]
        return "_".join(rest), UNIT_OF_WORD[words[-1]]
    if words[0] in UNIT_OF_WORD and len(words[0]) > 1:
        return ("_".join(words[1:]) or "duration"), UNIT_OF_WORD[words[0]]
    return name, None


def roles(names, aliases=ALIASES, told=None, source="options"):
    """Find which column plays which part.

    Parameters
    ----------
    names : sequence of str
        The header.
    aliases : dict
        Part: names, parted by blanks, the best first.
    told : dict, optional
        Part: column, where the user says it.
    source : str
        For messages.

    Returns
    -------
    dict
        Part: (index of the column, unit or None).

    Raises
    ------
    ValueError
        For a part or a column in `told` that does not exist.
    """
    found = {}
    plain = [plain_name(name) for name in names]
    for part, column in (told or {}).items():
        if part not in aliases:
            raise ValueError(f"columns: {part!r} is no part of the table: {', '.join(aliases)} are")
        if column not in names:
            near = get_close_matches(str(column), list(names), 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise LogError(
                source, None, None, f"a column {column!r} for {part}, but the header has {', '.join(names)}{hint}"
            )
        index = list(names).index(column)
        found[part] = (index, without_unit(plain[index])[1])
    taken = {index for index, _ in found.values()}
    for part, known in aliases.items():
        if part in found:
            continue
        for alias in known.split():
            match = _match(alias, plain, taken, part)
            if match:
                found[part] = match
                taken.add(match[0])
                break
    return found


def _match(alias, plain, taken, part):
    joined = alias.replace("_", "")
    for index, name in enumerate(plain):
        if index in taken:
            continue
        if name.replace("_", "") == joined:
            unit = without_unit(name)[1] if part in ("duration", "start", "end") else None
            return index, unit
        if part in ("duration", "start", "end"):
            base, unit = without_unit(name)
            if unit and base.replace("_", "") == joined:
                return index, unit
    return None


def is_preamble(line):
    """Whether a line before the header is none: blank, a comment, or a spreadsheet's ``sep=;``."""
    line = line.strip().lstrip("\ufeff")
    return not line or line.startswith("#") or re.fullmatch(r"(?i)\"?sep=.\"?", line) is not None


def split(line, separator):
    """Fields of one line, quotes taken off; a broken quotation is split plainly."""
    try:
        rows = list(csv.reader(io.StringIO(line), delimiter=separator))
        return [field.strip() for field in rows[0]] if len(rows) == 1 else line.split(separator)
    except csv.Error:
        return line.split(separator)


@functools.lru_cache(64)
def separator_of(header):
    """The separator under which most of a header's fields are known names; of equals, the one with most fields."""

    def known(separator):
        names = split(header, separator)
        return len(roles(names)) + len(roles(names, RUN_ALIASES)), len(names)

    return max(SEPARATORS, key=known)


def find_header(lines):
    """Return (number, line) of a table's header among its first lines, as (number, line).

    It is the first line whose fields are known names: above it a spreadsheet may have a title. Where no
    line is, the first that is no comment; None where there is none.
    """
    candidates = [(number, line) for number, line in lines if not is_preamble(line)]
    known = ((number, line) for number, line in candidates[:TITLES] if kind_of_header(line.lstrip("\ufeff")))
    return next(known, candidates[0] if candidates else None)


def date_and_time(names, part):
    """Indices of two columns that hold a start's or an end's date and time apart, or None.

    Examples
    --------
    >>> date_and_time(["Host", "Start date", "Start time"], "start")
    (1, 2)
    """
    plain = [plain_name(name) for name in names]
    pairs = [(f"{part}_date", f"{part}_time"), (f"date_{part}", f"time_{part}")]
    pairs += [("date", "time")] if part == "start" else []
    return next(((plain.index(a), plain.index(b)) for a, b in pairs if a in plain and b in plain), None)


@functools.lru_cache(64)
def kind_of_header(header):
    """Format of a table with this header: slurm, lanl, runs, csv, or None where it is none of these.

    Examples
    --------
    >>> kind_of_header("JobID|State|Start|End|Elapsed"), kind_of_header("node;start;end")
    ('slurm', 'csv')
    """
    names = split(header, separator_of(header))
    plain = [plain_name(name) for name in names]
    if {"job_id", "job_id_raw"} & set(plain) and "state" in plain and {"start", "elapsed"} & set(plain):
        return "slurm"
    if {"prob_started", "nodenum"} <= set(plain) or {"prob_started", "facilities"} <= set(plain):
        return "lanl"
    parts, runs = roles(names), roles(names, RUN_ALIASES)
    whole = "start" in parts and {"end", "duration"} & set(parts)
    if whole and {"run", "ended_by"} <= set(runs) and "cls" not in parts:
        return "runs"
    # One word may be chance; a table of incidents has at least a start and something more.
    if "start" in parts and len(names) >= 2 and len(parts) >= 2:
        return "csv"
    return None
