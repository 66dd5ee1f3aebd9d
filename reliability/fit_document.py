"""The fit of a log as plain values: what ``python -m reliability incidents --json`` prints."""

from reliability.units import DAY_S, HOUR_S


def document(log, fits):
    """Return the fits of a log's systems as plain values.

    Where the file has several systems, each is in ``systems``; at the top are the counts of all, and
    null for what is of one system only.
    """
    systems = [
        _with_untimed(_system(name, fit) | merging(part, fit), part)
        for (name, fit), (_, part) in zip(fits, log.by_system(), strict=True)
    ]
    top = dict(systems[0]) if len(systems) == 1 else _all(systems)
    top.pop("name", None)
    head = {"source": log.source, "format": log.format}
    tail = {"rows": log.rows, "dropped": log.dropped, "merged": _counted(log, "merged")}
    notes = [{"kind": n.kind, "reason": n.reason, "count": n.count, "lines": list(n.lines)} for n in log.notes]
    sizes = {"mttf_by_size": job_sizes(log)}
    return {**head, "rows": log.rows, **top, **tail, **sizes, "notes": notes, "systems": systems}


def job_sizes(log):
    """Mean time to failure of jobs by size, as `reliability.logs.job_sizes` has it; None where there are no job records."""
    from reliability.logs.job_sizes import mttf_by_size

    if log.jobs is None:
        return None
    try:
        found = mttf_by_size(log)
    except ValueError:  # the records do not say the sizes
        return None
    return [{name: None if value != value else value for name, value in row.items()} for row in found.to_dict("records")]


def _with_untimed(found, part):
    """Count the incidents whose start the log does not say: they are in no rate and no test, and happened all the same."""
    untimed = part.table.loc[part.table["start_s"].isna(), "cls"].value_counts().to_dict()
    by_class = {cls: {"incidents": 0} for cls in untimed} | found["by_class"]
    by_class |= {cls: by_class[cls] | {"incidents": by_class[cls]["incidents"] + n} for cls, n in untimed.items()}
    number = sum(untimed.values())
    return found | {"incidents": found["incidents"] + number, "without_start": number, "by_class": by_class}


def _all(systems):
    """Top-level keys for several systems: counts are added, and what is one system's is null."""
    by_class = {}
    for one in systems:
        for cls, found in one["by_class"].items():
            by_class.setdefault(cls, {"incidents": 0})["incidents"] += found["incidents"]
    counts = dict(sorted(by_class.items(), key=lambda item: -item[1]["incidents"]))
    added = {name: sum(one[name] for one in systems) for name in ("incidents", "without_start", "overlaps", "duplicates")}
    return dict.fromkeys(systems[0]) | added | {"by_class": counts}


def _counted(log, kind):
    return sum(n.count for n in log.notes if n.kind == kind)


def merging(log, fit):
    """Return the rows of a log of one system, and how often an incident came before repeats were merged.

    ``overlaps`` are further outages of a node that was down already, ``duplicates`` those of them that repeat a
    row in every field; ``before_merging`` counts all as incidents of their own. It is None where there are none.
    """
    again, before = log.overlaps, None
    if again and fit.record_s is not None:
        count = fit.incidents + again
        hours = (fit.record_s[1] - fit.record_s[0]) / HOUR_S
        before = {"incidents": count, "mtbf_h": hours / (count if fit.window_known else count - 1)}
    return {"rows": log.rows, "overlaps": again, "duplicates": log.duplicates, "before_merging": before}


def _rate(rate):
    """A rate as JSON: `low` and `high` of the interval that fits, and the exact Poisson one beside it."""
    names = ("value", "low", "high", "exact_low", "exact_high", "events", "node_h", "index", "model", "why")
    return {name: None if rate is None else getattr(rate, name) for name in names}


def _triple(three):
    return None if three is None else dict(zip(("value", "low", "high"), three, strict=True))


def _repairs(found):
    names = ("closed", "still_open", "unknown", "zero", "median_h", "mean_h", "mean_is_bound", "p90_h", "total_h")
    lognormal = ("log_mean", "log_sigma", "lognormal_median_h", "lognormal_mean_h", "lognormal_p90_h")
    return {name: getattr(found, name) for name in names + lognormal}


def _plain(found, *left_out):
    """A small result as a table of its numbers."""
    from dataclasses import fields

    return None if found is None else {f.name: getattr(found, f.name) for f in fields(found) if f.name not in left_out}


def _system(name, fit):
    mtbf, gaps, at = fit.mtbf_h, fit.gaps, fit.node_rates
    lemons = [] if at is None else [_plain(lemon) for lemon in at.lemons]
    per_node = fit.total.node_mtbf_h if fit.total else None
    return {
        "name": name,
        "incidents": fit.incidents,
        "nodes": fit.nodes,
        "node_hours": fit.node_h,
        "exposure": fit.exposure,
        "window_known": fit.window_known,
        "days": (fit.record_s[1] - fit.record_s[0]) / DAY_S if fit.record_s else None,
        "mtbf_h": mtbf[0] if mtbf else None,
        "mtbf_low_h": mtbf[1] if mtbf else None,
        "mtbf_high_h": mtbf[2] if mtbf else None,
        "node_mtbf_h": _triple(per_node),
        "gpu_mtbf_h": _triple(tuple(end and end * fit.gpus_per_node for end in per_node))
        if per_node and fit.gpus_per_node
        else None,
        "rate_per_1000_node_days": _rate(fit.total),
        "recent_rate_per_1000_node_days": fit.recent_rate,
        "by_class": {
            cls: {"incidents": count, **_rate(rate), "repairs": _repairs(fit.repairs_by_class[cls])}
            for cls, (count, rate) in fit.by_class.items()
        },
        "weibull_shape": gaps.shape if gaps else None,
        "weibull_low": gaps.shape_low if gaps else None,
        "weibull_high": gaps.shape_high if gaps else None,
        "repairs": _repairs(fit.repairs),
        "trend": {"laplace": _plain(fit.laplace), "power_law": _plain(fit.power_law), "p_value": fit.trend_p},
        "dispersion": {"period_days": fit.period_s / DAY_S, **(_plain(fit.weekly) or {})},
        "gaps": _plain(gaps),
        "shared_starts": _plain(fit.shared),
        "nodes_alike": None if at is None else {**_plain(at, "lemons"), "lemons": lemons},
        "halves": _plain(fit.halves),
        "findings": [_plain(finding) for finding in fit.findings],
        "assumed": list(fit.notes),
    }
