"""What a cluster file and its logs say about failures, repairs and slow ranks, as draws; and what they do not say."""

from dataclasses import dataclass, field

import numpy as np

from reliability import job_evidence, log_evidence, presets
from reliability.log_reads import Reads
from reliability.quantities import interval
from reliability.rates import HOURS_PER_1000_NODE_DAYS
from reliability.unknowns import Unknown


@dataclass(frozen=True)
class Evidence:
    """What is known of the failures of a cluster. Arrays are [draws].

    Attributes
    ----------
    source : str
        Where the rate comes from, in a sentence.
    rate : array
        Failures of a node in an hour.
    classes : tuple of str
    shares : array [draws, classes]
    repair_h : array or None
        Hours.
    drag : array
        By which share slow ranks make every step longer.
    unknown : tuple of reliability.unknowns.Unknown
    citation : str or None
        Key of ``references.bib`` for a published rate.
    logs : dict
        What was read, for the report and the JSON: by name, plain values.
    """

    source: str
    rate: np.ndarray
    classes: tuple[str, ...]
    shares: np.ndarray
    repair_h: np.ndarray | None
    drag: np.ndarray
    unknown: tuple[Unknown, ...] = ()
    citation: str | None = None
    logs: dict = field(default_factory=dict)


def gather(cluster, streams, names, reads=None):
    """Read what a cluster file names, and draw what it says.

    Parameters
    ----------
    cluster : reliability.cluster.Cluster
    streams : reliability.quantities.Streams
    names : reliability.aliases.Names
        What hosts, users, jobs and files are called.
    reads : reliability.log_reads.Reads, optional
        What was read for other plans of the same logs, and need not be read again.

    Returns
    -------
    Evidence

    Raises
    ------
    ClusterError, LogError
        Where a log cannot be read, or does not say how often nodes fail.
    """
    unknown, logs, citation = [], {}, None
    reads = Reads() if reads is None else reads
    failures, repair = cluster.failures, None
    if failures.log is not None:
        found = log_evidence.failures(cluster, streams, names, reads)
        source, rate, classes, shares, repair = found.source, found.rate, found.classes, found.shares, found.repair_h
        unknown += found.unknown
        logs["failures"] = found.about
    elif failures.preset is not None:
        source, rate, classes, shares, citation = _published(cluster, streams, unknown)
    else:
        source, rate, classes, shares = _given(cluster, streams, unknown)
    if failures.shares is not None:
        classes, shares = _shares(failures.shares, streams.draws)
    elif failures.classes_log is not None:
        classes, shares, logs["classes"] = log_evidence.classes(cluster, streams, names, reads)
    if cluster.recovery.repair_h is not None:
        repair = streams.quantity("repair", cluster.recovery.repair_h)
        if cluster.recovery.repair_h.exact:
            unknown.append(_exact("recovery.repair_h", "the time a repair takes", "a log of failures with their ends"))
    elif repair is None and cluster.recovery.standby_restart_s is not None:
        unknown.append(Unknown(
            _away(failures), "standbys are taken to be always there, and no number of them is advised",
            "a log of failures with their ends, or recovery.repair_h"))  # fmt: skip
    elif repair is None and cluster.recovery.none_left == "wait":
        unknown.append(Unknown(
            _away(failures), "the wait for it is taken to be none",
            "a log of failures with their ends, or recovery.repair_h"))  # fmt: skip
    drag = _drag(cluster, streams, names, unknown, logs, reads)
    _training(cluster, names, unknown, logs, reads)
    _exact_times(cluster, unknown)
    return Evidence(source, rate, tuple(classes), shares, repair, drag, tuple(unknown), citation, logs)


def _away(failures):
    why = "" if failures.log is None else ": the log has no two repairs that ended"
    return f"how long a failed node stays away{why}"


def _exact(key, what, tells):
    return Unknown(f"the range of {what}", f"{key} is taken as exact", tells)


def _published(cluster, streams, unknown):
    found = presets.preset(cluster.failures.preset)
    scale = cluster.cluster.gpus_per_node / found.gpus_per_node
    if found.events is None:
        rate = np.full(streams.draws, found.rate_per_node_h)
        unknown.append(
            Unknown(
                "how sure the published rate is: its source gives no count",
                "it is taken as exact, so the intervals are too narrow",
                "a log of this cluster's failures",
            )
        )
    else:
        rate = streams.counted("rate", found.events, found.node_hours)
    unknown.append(
        Unknown(
            "how often this cluster's nodes fail",
            f"a published rate stands in: {found.label}",
            "a log of this cluster's failures",
        )
    )
    if not found.primary:
        unknown.append(
            Unknown(
                "the published rate at first hand: it was read in a secondary source",
                "it is used as it is",
                "the paper itself, or a log of this cluster's failures",
            )
        )
    counts = np.array([found.shares[name] for name in found.shares], dtype=float)
    shares = streams.shares("shares", counts) if found.counted else np.tile(counts / counts.sum(), (streams.draws, 1))
    return f"{found.label}, as published", rate * scale, tuple(found.shares), shares, found.source


def _given(cluster, streams, unknown):
    given = cluster.failures.rate_per_1000_node_days
    rate = streams.quantity("rate", given) / HOURS_PER_1000_NODE_DAYS
    if given.exact:
        unknown.append(
            _exact(
                "failures.rate_per_1000_node_days",
                "the failure rate",
                "a log of this cluster's failures, or low and high beside the rate",
            )
        )
    within = "" if given.exact else f", from {given.low:g} to {given.high:g}"
    source = f"the cluster file: {given.value:g} failures per 1,000 node-days{within}"
    if cluster.failures.shares is None and cluster.failures.classes_log is None:
        unknown.append(
            Unknown(
                "the classes of the failures",
                "a node is taken to blame for each",
                "a log of this cluster's failures, or failures.shares",
            )
        )
    return source, rate, ("hardware",), np.ones((streams.draws, 1))


def _shares(table, draws):
    names = [name for name in table if table[name] > 0]
    values = np.array([table[name] for name in names])
    return tuple(names), np.tile(values / values.sum(), (draws, 1))


def _drag(cluster, streams, names, unknown, logs, reads):
    slow = cluster.stragglers
    if slow is not None and slow.slowdown is not None:
        return streams.quantity("slowdown", slow.slowdown)
    if slow is not None and slow.step_times is not None:
        drag, logs["step_times"], more = job_evidence.step_times(cluster, streams, names, reads)
        unknown += more
        return drag
    unknown.append(
        Unknown(
            "whether ranks are slow, and what that costs",
            "none is taken to be",
            "a log of step times by rank, or stragglers.slowdown",
        )
    )
    return np.zeros(streams.draws)


def _training(cluster, names, unknown, logs, reads):
    if cluster.training is None:
        unknown.append(
            Unknown(
                "the ETTR that the job has in fact",
                "the model's stands alone",
                "the job's own training log, over some weeks with restarts",
            )
        )
        return
    logs["training"] = job_evidence.training(cluster, names, reads)


def _exact_times(cluster, unknown):
    """List the times that are given without a range, and those that are not given."""
    recovery, written = cluster.recovery, cluster.checkpoint
    exact = [
        name
        for name in ("detection_s", "cold_restart_s", "standby_restart_s")
        if getattr(recovery, name) is not None and getattr(recovery, name).exact
    ]
    if exact:
        unknown.append(
            Unknown(
                "the range of " + ", ".join(f"recovery.{name}" for name in exact),
                "taken as exact",
                "the times of past recoveries, phase by phase",
            )
        )
    cost = written.write_s or written.write_gb_s
    if cost.exact:
        unknown.append(
            Unknown(
                "the range of the time of a checkpoint",
                "taken as exact",
                "the times of past checkpoints" if cluster.training else "the training log's checkpoint lines",
            )
        )
    if written.interval_min is None:
        unknown.append(
            Unknown(
                "how often the job checkpoints now",
                "it is taken to do so at its best interval",
                "checkpoint.interval_min",
            )
        )
    if cluster.cluster.price_per_gpu_hour is None:
        unknown.append(Unknown("the price of a GPU-hour", "costs are in GPU-hours only", "cluster.price_per_gpu_hour"))


def described(evidence, nodes):
    """Return the rate per 1,000 node-days, the MTBF of a node and of the job in hours, and the classes, with intervals.

    Where a log was watched without a failure, the rate has a bound and no value.
    """
    rate = evidence.rate * HOURS_PER_1000_NODE_DAYS
    every = 1 / np.maximum(evidence.rate, 1e-15)
    rates = [interval(rate), interval(every), interval(every / nodes)]
    log = evidence.logs.get("failures")
    if log is not None and not log["incidents"]:
        most = log["rate_per_1000_node_days"]["high"]
        least = HOURS_PER_1000_NODE_DAYS / most
        rates = [
            {"value": None, "low": 0.0, "high": most},
            {"value": None, "low": least, "high": None},
            {"value": None, "low": least / nodes, "high": None},
        ]
    return {
        **dict(zip(("rate_per_1000_node_days", "node_mtbf_h", "job_mtbf_h"), rates, strict=True)),
        "classes": [
            {"class": name, "share": interval(evidence.shares[:, i])} for i, name in enumerate(evidence.classes)
        ],
        "repair_h": None if evidence.repair_h is None else interval(evidence.repair_h),
        "slowdown": interval(evidence.drag),
    }
