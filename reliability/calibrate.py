"""Rates out: what a log of incidents says about a cluster's failures, and how sure it is."""

import numpy as np

from reliability import assumptions, checks, dispersion, exposures, gaps, node_rates, repair_times, trend
from reliability.fit_result import Fit
from reliability.fitted_rates import rate_of
from reliability.units import DAY_S, WEEK_S


def fit(incidents, nodes=None, gpus_per_node=None, observed_s=None, together_s=0.0):
    """Fit rates, repair times and tests of the assumptions to a log of one system.

    Parameters
    ----------
    incidents : reliability.incidents.Incidents
        Or anything with its `table` (columns start_s, end_s, open, node, cls) and, where known,
        `observed_s`, `nodes`, `node_hours` and `run_hours`.
    nodes : int, >= 1, optional
        Nodes watched; else as the log says.
    gpus_per_node : int, >= 1, optional
    observed_s : (float, float), optional
        When watching began and ended, in the log's seconds; else as the log says.
    together_s : float, >= 0
        Incidents that begin within so many seconds of each other began together.

    Returns
    -------
    Fit

    Notes
    -----
    Exposure is the log's node-hours where it has them (the run time of jobs), else nodes times the
    window: the time for which a node was down is not taken off. Without a number of nodes there is no
    rate per node, and without a window the span of the incidents stands for it, which the notes say: n
    incidents part it into n - 1 gaps, and the rate is n - 1 over its node-hours, of which each class has its share.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> log = {"start_s": [0.0, 36e3, 72e3], "end_s": [3600.0, 4e4, np.nan], "open": [False, False, True]}
    >>> log |= {"node": ["a", "b", "a"], "cls": ["gpu", "gpu", "network"]}
    >>> found = fit(SimpleNamespace(table=log), nodes=10, observed_s=(0, 100 * 3600))
    >>> found.total.value, round(found.mtbf_h[0], 1), found.repairs.still_open
    (72.0, 33.3, 1)
    """
    table = incidents.table
    systems = (
        {str(s) for s in np.asarray(table["system"], dtype=object) if s is not None} if "system" in table else set()
    )
    if len(systems) > 1:
        raise ValueError(
            f"incidents hold the systems {', '.join(sorted(systems))}: fit each by itself, as fit_systems does"
        )
    nodes, gpus_per_node = (
        None if value is None else checks.count(name, value)
        for name, value in (
            ("nodes", getattr(incidents, "nodes", None) if nodes is None else nodes),
            ("gpus_per_node", gpus_per_node),
        )
    )
    notes = []
    columns = exposures.columns_of(table)
    window = observed_s if observed_s is not None else getattr(incidents, "observed_s", None)
    if window is None:
        window = exposures.span_of_jobs(getattr(incidents, "jobs", None), notes)
    columns, record, known = exposures.record_of(columns, window, notes)
    start, end, still_open, node, cls = columns
    n = start.size
    numbers, names = _numbered(node)
    if nodes is not None and nodes < len(names):
        raise ValueError(f"nodes = {nodes}: must be at least {len(names)}, the nodes that have an incident")
    node_h, run_h = getattr(incidents, "node_hours", None), getattr(incidents, "run_hours", None)
    node_h, exposure, events = exposures.node_hours(node_h, run_h, nodes, record, known, n, notes)
    together_s = checks.scalar("together_s", checks.non_negative("together_s", together_s))
    span = record[1] - record[0] if record and record[1] > record[0] else None
    shared = dispersion.shared_starts(start, numbers, together_s, span)
    codes, classes = _numbered(["unknown" if c is None or c != c else c for c in cls])
    total, by_class = _rates(events, n, node_h, start, codes, classes, numbers, record, together_s, shared)
    mtbf_h = exposures.system_mtbf(n, record, known, run_h)
    lengths = np.where(still_open & np.isnan(end), (record[1] if record else np.nan) - start, end - start)
    repairs = repair_times.fit_repairs(lengths, still_open)
    masks = {c: codes == classes.index(c) for c in by_class}
    repairs_by_class = {c: repair_times.fit_repairs(lengths[mine], still_open[mine]) for c, mine in masks.items()}
    period_s, tests = _tests(start, record, known)
    at_nodes = node_rates.node_rates(np.bincount(numbers[numbers >= 0], minlength=len(names)), names, nodes)
    halves = None
    if record and names:
        on = numbers >= 0
        halves = node_rates.half_to_half(start[on], numbers[on], *record, nodes or len(names))
    found = Fit(
        n,
        nodes,
        gpus_per_node,
        record,
        known,
        node_h,
        exposure,
        total,
        by_class,
        mtbf_h,
        repairs,
        repairs_by_class,
        *tests[:3],
        period_s,
        tests[3],
        shared if names else None,
        at_nodes,
        halves,
        exposures.daily_counts(start, record),
        (),
        tuple(notes),
    )
    object.__setattr__(found, "findings", assumptions.findings(found))
    return found


def fit_systems(incidents, nodes=None, **options):
    """Fit each system of a log by itself; return a list of (name, Fit), the name None where the log names no system.

    Parameters
    ----------
    incidents : reliability.incidents.Incidents
    nodes : int, optional
        Only for a log of one system.
    **options
        Of :func:`fit`.
    """
    parts = incidents.by_system()
    if nodes is not None and len(parts) > 1:
        raise ValueError(f"nodes = {nodes}: given for a log of {len(parts)} systems; choose one of them")
    return [(name, fit(part, nodes=nodes, **options)) for name, part in parts]


def _numbered(labels):
    """Number of each label, -1 where it is unknown, and the labels."""
    index = {}
    numbers = (-1 if name is None or name != name else index.setdefault(str(name), len(index)) for name in labels)
    return np.fromiter(numbers, np.int64, len(labels)), list(index)


def _rates(events, n, node_h, start, codes, classes, numbers, record, together_s, shared):
    """The rate in total and by class, the most frequent first."""
    counts = np.bincount(codes, minlength=len(classes))
    by_class = {}
    # A record that is cut at its own incidents has one gap less than incidents. Which class lacks it is not known: each
    # gives up its share, so that the classes' rates add up to the total's.
    class_h = node_h * n / events if node_h and events else node_h
    for i in sorted(range(len(classes)), key=lambda i: (-counts[i], classes[i])):
        mine, rate = codes == i, None
        if node_h:
            bursts = dispersion.shared_starts(start[mine], numbers[mine], together_s)
            rate = rate_of(int(counts[i]), class_h, start[mine], record, _listed(bursts))
        by_class[classes[i]] = (int(counts[i]), rate)
    total = rate_of(events, node_h, start, record, _listed(shared)) if node_h else None
    return total, by_class


def _listed(shared):
    """Sizes of the groups that began together; none where chance alone makes as many."""
    if not shared.above_chance:
        return []
    return np.repeat([size for size, _ in shared.sizes], [often for _, often in shared.sizes]) if shared.sizes else []


def _tests(start, record, known):
    """Length of the periods that counts are taken in; Laplace, power law, dispersion and gaps."""
    if record is None:
        return WEEK_S, (None, None, None, None)
    span = record[1] - record[0]
    period_s = WEEK_S if span >= 10 * WEEK_S else DAY_S if span >= 10 * DAY_S else span / 10
    # A record that is cut at its own first and last incident: those two say nothing of the rate between them.
    inner = start if known else start[1:-1]
    steady = (trend.laplace(inner, *record), trend.power_law(inner, *record)) if inner.size >= 4 else (None, None)
    weekly = dispersion.dispersion(dispersion.counts_in(start, *record, period_s)) if start.size >= 4 else None
    return period_s, (*steady, weekly, gaps.gaps_between(start) if start.size else None)
