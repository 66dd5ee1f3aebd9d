"""What logs of failures say about a cluster, for its plan: rates, repairs and classes."""

from dataclasses import dataclass, field

import numpy as np

from reliability import incidents
from reliability.errors import ClusterError
from reliability.fit_document import job_sizes
from reliability.log_keys import as_keys, there
from reliability.log_reads import stamp
from reliability.logs.notes import LogError
from reliability.plan_words import many, short
from reliability.text import escaped
from reliability.units import DAY_S
from reliability.unknowns import Unknown

LONGEST = 12.0  # logarithm of the hours of a mean repair: 18 years
WITHHELD = "(withheld)"


@dataclass(frozen=True)
class Failures:
    """What a log of failures says; see `reliability.evidence.Evidence`."""

    source: str
    rate: np.ndarray
    classes: tuple
    shares: np.ndarray
    repair_h: np.ndarray | None
    about: dict
    unknown: list = field(default_factory=list)


def failures(cluster, streams, names, reads):
    """Fit a log of failures, and draw from the fit.

    Parameters
    ----------
    cluster : reliability.cluster.Cluster
        With `failures.log`.
    streams : reliability.quantities.Streams
    names : reliability.aliases.Names
    reads : reliability.log_reads.Reads

    Returns
    -------
    Failures
    """
    from reliability import calibrate  # scipy and pandas take their time to load, and are wanted only here

    given, key = cluster.failures.log, "failures.log"
    log, unknown, assumed = _read(cluster, given, key, names, reads), [], None
    nodes = given.nodes or log.nodes
    if log.node_hours is None and nodes is None:
        nodes = assumed = max(cluster.nodes, log.table["node"].nunique())
        which = f"the job's {nodes:,}" if nodes == cluster.nodes else f"the {nodes:,} that it names"
        unknown.append(Unknown("how many nodes the log watches", f"it is taken to watch {which}", f"{key}.nodes"))
    gpus = cluster.cluster.gpus_per_node
    try:
        fit = reads.once(
            ("fit", _depends(cluster, given), given.system, nodes, gpus),
            lambda: calibrate.fit(log, nodes=nodes, gpus_per_node=gpus),
        )
    except ValueError as error:
        raise ClusterError(f"{key}: {names.file(given.path)}: {told(error, names)}") from None
    if fit.total is None:
        raise ClusterError(
            f"{key}: {names.file(given.path)}: does not say how often a node fails: {fit.exposure}. Give {key}.observed_from, {key}.observed_to and {key}.nodes."
        )
    if not fit.window_known and log.node_hours is None:
        unknown.append(
            Unknown(
                "when the log was begun and ended",
                "it is taken to run from its first incident to its last",
                f"{key}.observed_from and {key}.observed_to",
            )
        )
    horizon_s = DAY_S * cluster.target.horizon_days
    drawn = fit.sample_rate(streams.generator("rate"), streams.draws, horizon_s=horizon_s)
    classes = tuple(drawn["by_class"]) or ("unknown",)
    counts = np.array([fit.by_class[c][0] for c in classes]) if drawn["by_class"] else np.zeros(1)
    shares = streams.shares("shares", counts)
    repair = _repair(fit, streams)
    if not fit.incidents:
        bound = f"it is drawn below its 95% bound of {short(fit.total.high)} per 1,000 node-days"
        unknown.append(
            Unknown("how often a node fails: the log has no failure", bound, "a longer log, or one of more nodes")
        )
    events = many(fit.incidents, "failure") if fit.incidents else "no failure"
    source = f"{names.file(given.path)}: {events} in {fit.node_h:,.0f} node-hours ({fit.exposure})"
    return Failures(
        source,
        drawn["total"],
        tuple(escaped(c) for c in classes),
        shares,
        repair,
        _about(fit, log, given, names) | {"nodes_assumed": assumed, "rate_basis": escaped(drawn["basis"].sentence)},
        unknown,
    )


def _repair(fit, streams):
    """Mean time of a repair in hours [draws]: the record's own mean, with the uncertainty that the fitted lognormal gives it."""
    repairs = fit.repairs
    if repairs.log_mean is None or repairs.mean_h is None:
        return None
    centre, sigma = fit.sample_repair(streams.generator("repair"), streams.draws)
    # The logarithm of a lognormal's mean, to first order in what is uncertain: exactly it would hang on the far tail of sigma's draws.
    drawn = np.exp(np.minimum(centre + repairs.log_sigma**2 * (0.5 + np.log(sigma / repairs.log_sigma)), LONGEST))
    if repairs.mean_is_bound:
        return drawn
    # Where the record has seen the longest repair end, its own mean is the better centre. Its variance is not that of the
    # lognormal's fitted mean, s^2 + s^4 / 2 for each repair, but exp(s^2) - 1: the tail weighs more.
    variance = repairs.log_sigma**2
    wider = np.sqrt(np.expm1(min(variance, LONGEST)) / (variance + variance**2 / 2))
    return repairs.mean_h * np.exp(np.minimum(wider * np.log(drawn / np.median(drawn)), LONGEST))


def _about(fit, log, given, names):
    said = f"{log.rows:,} rows, {fit.incidents:,} incidents, {log.dropped:,} dropped."
    rows = [[n.kind, f"{n.count:,}", names.conceal(escaped(as_keys(n.reason, "failures.log")))] for n in log.notes]
    lines = [names.conceal(finding.sentence) for finding in fit.findings] + [
        f"Assumed: {names.conceal(text)}." for text in fit.notes
    ]
    return {
        "file": names.file(given.path),
        "format": log.format,
        "said": said,
        "incidents": fit.incidents,
        "dropped": log.dropped,
        **_dates(log, fit),
        "node_h": fit.node_h,
        "job_sizes": job_sizes(log),
        "rate_per_1000_node_days": {"value": fit.total.value, "low": fit.total.low, "high": fit.total.high},
        "header": ["in the log", "lines", "why"],
        "rows": rows,
        "align": "lrl",
        "lines": lines,
    }


def _dates(log, fit=None):
    """Return the days on which the log begins and ends, None where it has no calendar."""
    from datetime import timedelta

    window = None if fit is None else fit.record_s
    if window is None and len(log) and log.table["start_s"].notna().any():
        window = (float(log.table["start_s"].min()), float(log.table["start_s"].max()))
    if log.origin is None or window is None:
        return {"begins": None, "ends": None}
    begins, ends = (f"{log.origin + timedelta(seconds=float(end)):%Y-%m-%d}" for end in window)
    return {"begins": begins, "ends": ends}


def classes(cluster, streams, names, reads):
    """Draw the shares of the classes of a second log.

    Returns
    -------
    (classes, shares, about)
    """
    given, key = cluster.failures.classes_log, "failures.classes_log"
    log = _read(cluster, given, key, names, reads)
    counts = log.table["cls"].fillna("unknown").value_counts()
    if not len(counts):
        raise ClusterError(f"{key}: {names.file(given.path)}: has no incident, so that it tells no classes")
    rows = [[n.kind, f"{n.count:,}", names.conceal(escaped(as_keys(n.reason, key)))] for n in log.notes]
    listed = ", ".join(f"{escaped(name)} {n:,}" for name, n in counts.items())
    about = {"file": names.file(given.path), "format": log.format, "said": f"{log.rows:,} rows, {len(log):,} incidents, for their classes alone.",
             "incidents": len(log), "dropped": log.dropped, **_dates(log), "header": ["in the log", "lines", "why"], "rows": rows, "align": "lrl", "lines": [f"Incidents by class: {listed}."]}  # fmt: skip
    return tuple(escaped(name) for name in counts.index), streams.shares("shares", counts.to_numpy()), about


def _depends(cluster, given):
    """All that the reading of a log depends on, but for which of its systems is taken."""
    return stamp(cluster.path(given.path)), given.model_dump_json(exclude={"system"})


def _read(cluster, given, key, names, reads):
    """Read a log of failures, and give an alias to every name in it."""
    options = dict(given.options)
    for name in ("nodes", "observed_from", "observed_to"):
        if getattr(given, name) is not None:
            options[name] = _plain(getattr(given, name))
    path = there(cluster, given.path, key, names)
    try:
        log = reads.once(_depends(cluster, given), lambda: incidents.read(path, given.format, **options))
    except LogError as error:
        told_in_keys = LogError(error.file, error.line, error.found, as_keys(error.expected, key))
        raise concealed(told_in_keys, key, names, given.path) from None
    except (ValueError, TypeError) as error:
        said = as_keys(told(error, names), key)
        raise ClusterError(said if said.startswith(f"{key}.") else f"{key}: {said}") from None
    parts = dict(log.by_system())
    if given.system is not None and given.system not in parts:
        raise ClusterError(
            f"{key}.system = {given.system!r}: the log has {', '.join(str(name) for name in parts if name) or 'no column of systems'}"
        )
    if len(parts) > 1 and given.system is None:
        raise ClusterError(f"{key}: the log has the systems {', '.join(map(str, parts))}: choose one by {key}.system")
    if given.system is not None:
        log = parts[given.system]
    _learn(log, names)
    return log


def _plain(value):
    return value if isinstance(value, int | str) else value.isoformat()


def _learn(log, names):
    if not names.hidden:
        return
    names.learn(nodes=log.table["node"].dropna().unique())
    if log.events is not None and "node" in log.events:
        names.learn(nodes=log.events["node"].dropna().unique())
    if log.jobs is not None:
        names.learn(nodes=(host for hosts in log.jobs["nodelist"] if isinstance(hosts, list | tuple) for host in hosts))
        for column, kind in (("job", "jobs"), ("name", "jobs"), ("user", "users"), ("uid", "users")):
            if column in log.jobs:
                names.learn(**{kind: log.jobs[column].dropna().astype(str).unique()})


def told(error, names):
    """Return an error's text; with aliases nothing of it, since it quotes the log."""
    return WITHHELD if names.hidden else " ".join(str(error).split())


def concealed(error, key, names, path):
    """A log's error as the cluster file's, which names the key; with aliases without what stands in the log."""
    if not names.hidden:
        return ClusterError(f"{key}: {error}")
    where = "" if error.line is None else f", line {error.line}"
    return ClusterError(f"{key}: {names.file(path)}{where}: found {WITHHELD}, expected {error.expected}")
