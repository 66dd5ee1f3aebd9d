"""How long a cluster was watched: the record of a log, its node-hours, and the time between its incidents."""

import numpy as np

from reliability import checks
from reliability.rates import poisson_rate_interval
from reliability.text import counted
from reliability.units import DAY_S, HOUR_S

LONGEST_DAYS = 200_000


def columns_of(table):
    """Arrays of the table's columns, by start."""
    start, end = (np.asarray(table[name], dtype=float) for name in ("start_s", "end_s"))
    still_open = np.asarray(table["open"], dtype=bool)
    node, cls = (np.asarray(table[name], dtype=object) for name in ("node", "cls"))
    order = np.argsort(start, kind="stable")
    return [column[order] for column in (start, end, still_open, node, cls)]


def record_of(columns, window, notes):
    """The incidents within the record, when it began and ended, and whether that is known."""
    start = columns[0]
    unknown = int(np.isnan(start).sum())
    if unknown:
        notes.append(f"{counted(unknown, 'incident')} of unknown start: in no rate and no test")
        columns = [column[~np.isnan(start)] for column in columns]
        start = columns[0]
    if window is not None:
        begin, over = (float(t) for t in checks.real("observed_s", window))
        if not begin < over:
            raise ValueError(f"observed_s = ({begin:g}, {over:g}): must begin before it ends")
        inside = (start >= begin) & (start <= over)
        if not inside.all():
            notes.append(f"{counted(int((~inside).sum()), 'incident')} outside the window of observation left out")
        return [column[inside] for column in columns], (begin, over), True
    if start.size < 2 or start[0] == start[-1]:
        notes.append("the window of observation is unknown, and the incidents span no time: there is no rate")
        return columns, None, False
    notes.append("the window of observation is unknown: the record is taken to run from the first incident to the last")
    return columns, (float(start[0]), float(start[-1])), False


def span_of_jobs(jobs, notes):
    """From the first start of a job to the last end, where the log has jobs."""
    if jobs is None or not len(jobs):
        return None
    start, seconds = (np.asarray(jobs[name], dtype=float) for name in ("start_s", "seconds"))
    ran = ~(np.isnan(start) | np.isnan(seconds))
    if not ran.any() or not (over := float((start + seconds)[ran].max())) > (begin := float(start[ran].min())):
        return None
    notes.append("the window of observation is taken to be the span of the job records")
    return begin, over


def node_hours(given_h, run_h, nodes, record, known, n, notes):
    """Node-hours, how they were found, and the incidents that fall into them."""
    if given_h is not None and given_h > 0:
        return float(given_h), "run time of all jobs times their nodes", n
    if run_h:
        notes.append("the runs do not say on how many nodes they were: there is no rate per node")
        return None, "the number of nodes of each run is unknown", n
    if nodes is None:
        notes.append("the number of nodes is unknown: there is no rate per node; give nodes")
        return None, "the number of nodes is unknown", n
    if record is None:
        return None, "the window of observation is unknown", n
    hours = nodes * (record[1] - record[0]) / HOUR_S
    if known:
        return hours, f"{counted(nodes, 'node')} times the window of observation, time down included", n
    # The record begins with an incident and ends with one: as many gaps as incidents, less one.
    return (
        hours,
        f"{counted(nodes, 'node')} times the span of the incidents (assumed), time down included, which {counted(n, 'incident')} part into {counted(n - 1, 'gap')}: the rate is gaps over node-hours",
        n - 1,
    )


def system_mtbf(n, record, known, run_h):
    """Hours between incidents of the whole system, with the exact interval of a steady rate."""
    hours = run_h if run_h else (record[1] - record[0]) / HOUR_S if record else None
    if not hours:
        return None
    events = n if run_h or known else n - 1
    if events < 1:
        return None, hours / -np.log(0.05), None
    low, high = poisson_rate_interval(events, hours)
    return hours / events, 1 / high, 1 / low


def daily_counts(start, record):
    """Counts of the whole days before the record's end."""
    if record is None:
        return np.zeros(0, dtype=np.int64)
    days = int((record[1] - record[0]) // DAY_S)
    if days > LONGEST_DAYS:
        raise ValueError(f"the record spans {days:,} days: must be at most {LONGEST_DAYS:,}; is a date wrong?")
    edges = record[1] - DAY_S * np.arange(days, -1, -1)
    edges[-1:] = np.nextafter(edges[-1:], np.inf)  # the last incident may lie on the very end
    return np.diff(np.searchsorted(start, edges)).astype(np.int64)
