"""The inputs of a plan: each value that it uses, with its range, its unit and where it comes from."""

from reliability.evidence import described
from reliability.quantities import interval


def inputs(made):
    """Return the values that a plan uses.

    Parameters
    ----------
    made : reliability.plan.Plan

    Returns
    -------
    list of dict
        ``what``, ``key`` (of the cluster file), ``value``, ``low``, ``high`` and ``unit``. Low and high are None where a value is taken
        as exact, and all three where it is not given. A range is the file's own; of what a log gives, or is worked out, it is that of the draws.
    """
    cluster, evidence = made.cluster, made.evidence
    job, recovery, target = cluster.cluster, cluster.recovery, cluster.target
    rate = described(evidence, made.now.state.nodes)["rate_per_1000_node_days"]
    return [
        _row("GPUs of the job", "cluster.gpus", job.gpus, "GPUs"),
        _row("GPUs in a node", "cluster.gpus_per_node", job.gpus_per_node, "GPUs"),
        _row("price of a GPU-hour", "cluster.price_per_gpu_hour", job.price_per_gpu_hour, job.currency),
        _row("failure rate", _rate_key(cluster.failures), rate, "per 1,000 node-days"),
        _write(made),
        _row("time between two checkpoints now", "checkpoint.interval_min", cluster.checkpoint.interval_min, "min"),
        _row("time until a failure is noticed", "recovery.detection_s", recovery.detection_s, "s"),
        *(
            _row(f"the same, class {name}", f"recovery.detection_by_class_s.{name}", value, "s")
            for name, value in recovery.detection_by_class_s.items()
        ),
        _row("cold restart", "recovery.cold_restart_s", recovery.cold_restart_s, "s"),
        _row("swap of a standby", "recovery.standby_restart_s", recovery.standby_restart_s, "s"),
        _row("what a replacement takes longer", "recovery.replacement_min", recovery.replacement_min, "min"),
        _repair(made),
        _row("standby nodes now", "recovery.standby_nodes", recovery.standby_nodes, "nodes"),
        _slow(made),
        _row("target of the ETTR", "target.ettr", target.ettr, "share"),
        _row("length of the run", "target.horizon_days", target.horizon_days, "days"),
        _row("shortage that is small enough", "target.shortage", target.shortage, "share"),
    ]


def _row(what, key, value, unit):
    if isinstance(value, dict):
        low, high, value = value["low"], value["high"], value["value"]
    elif hasattr(value, "exact"):
        low, high, value = value.low, value.high, value.value
    else:
        low = high = None
    if low == high == value:
        low = high = None
    return {"what": what, "key": key, "value": value, "low": low, "high": high, "unit": unit}


def _rate_key(failures):
    return next(
        f"failures.{name}"
        for name in ("log", "rate_per_1000_node_days", "preset")
        if getattr(failures, name) is not None
    )


def _write(made):
    given = made.cluster.checkpoint
    if given.write_s is not None:
        return _row("a checkpoint stops the job for", "checkpoint.write_s", given.write_s, "s")
    return _row(
        "a checkpoint stops the job for", "checkpoint.parameters_b, write_gb_s", interval(made.now.state.write), "s"
    )


def _repair(made):
    given, drawn = made.cluster.recovery.repair_h, made.evidence.repair_h
    if given is not None or drawn is None:
        return _row("mean time of a repair", "recovery.repair_h", given, "h")
    return _row("mean time of a repair", "failures.log", interval(drawn), "h")


def _slow(made):
    slow, what = made.cluster.stragglers, "slow ranks make a step longer by"
    if slow is not None and slow.step_times is not None:
        return _row(what, "stragglers.step_times", interval(made.evidence.drag), "share")
    return _row(what, "stragglers.slowdown", None if slow is None else slow.slowdown, "share")
