"""The job of the page on the budget of time: its settings at a size, and what each lever changes in them."""

import math

from reliability import fleet_config, fleet_parts
from reliability.faults import CLASSES
from reliability.recovery import STANDBY_HELPS
from reliability.units import DAY_S, HOUR_S, MINUTE_S
from reliability.verification import best_every, optimal_pattern_interval

LEVERS = {
    "failures": "fewer failures",
    "lemons": "lemons screened out",
    "detection": "faults found by inspection",
    "restart": "shorter cold restart",
    "swap": "swap to a standby",
    "standbys": "more standbys",
    "write": "short writes",
    "stragglers": "slow nodes found sooner",
    "verification": "cheap verification",
}
# The three of the publication, each with all that belongs to it; the page says where they come from.
THREE = {
    "failure rate": ("failures", "lemons"),
    "recovery": ("detection", "restart", "swap", "standbys"),
    "checkpoint": ("write",),
}
NONE, ALL = frozenset(), frozenset(LEVERS)


def fleet(p, gpus, turned=NONE):
    """Return the fleet of a job of so many GPUs.

    Parameters
    ----------
    p : Parameters
    gpus : int
    turned : set of names of `LEVERS`
        The levers that are turned. Whichever they are, the checkpoint interval is the best one for them.

    Returns
    -------
    reliability.fleet_config.Fleet
    """
    nodes = gpus // p.gpus_per_node
    standbys, pool = standby_nodes(p, nodes, turned), pool_nodes(p, nodes, turned)
    restart = {"restart_s": cold_s(p, gpus, turned)}
    if "swap" in turned:
        restart["swap_s"] = swap_s(p, gpus)
    return fleet_config.build(
        {
            "job_nodes": nodes,
            "pool_nodes": nodes + pool,
            "warm_standbys": standbys,
            "spare_nodes": share_of(p.spare_percent, nodes),
            "horizon_h": 24.0 * p.days,
            "failures": failures(p, turned),
            "faults": faults(p, turned),
            "repair": {
                "automatic_s": MINUTE_S * p.automatic_repair_min,
                "manual_s": MINUTE_S * p.manual_repair_min,
                "to_manual": p.to_manual,
                "automatic_fails": p.automatic_fails,
                "manual_fails": p.manual_fails,
            },
            "recovery": restart
            | {"host_selection_s": MINUTE_S * p.selection_min, "preemption_s": MINUTE_S * p.preemption_min},
            "checkpoint": {"interval_s": interval_s(p, gpus, turned), "write_s": write_s(p, turned)},
            "straggler": {
                "rate_per_node_day": p.slow_per_1000_node_days / 1000,
                "slowdown": p.slowdown,
                "found_after_s": HOUR_S * (p.slow_found_soon_h if "stragglers" in turned else p.slow_found_h),
                "pause_s": restart.get("swap_s", restart["restart_s"]),
            },
            "corruption": {
                "rate_per_node_day": silent_per_node_day(p),
                "verification_s": verification_s(p, turned),
                "every": verified_every(p, gpus, turned),
            },
        }
    )


def share_of(percent, nodes):
    """Return so many percent of the nodes, rounded up to whole ones."""
    return math.ceil(percent * nodes / 100 * (1 - 1e-12))


def standby_nodes(p, nodes, turned=NONE):
    """Return how many nodes stand by, warm."""
    return share_of(p.more_standby_percent if "standbys" in turned else p.standby_percent, nodes)


def pool_nodes(p, nodes, turned=NONE):
    """Return how many nodes of the working pool are not in the job: the idle ones, or the standbys where those are more."""
    return max(share_of(p.idle_percent, nodes), standby_nodes(p, nodes, turned))


def failures(p, turned=NONE):
    """Return the settings of the failures: the rate is the mean of good and bad nodes as the job begins, nothing screened."""
    rate = p.fewer_failures_per_1000_node_days if "failures" in turned else p.failures_per_1000_node_days
    factor = p.lemon_factor - 1
    return {
        "rate_per_node_day": rate / 1000 / (1 + p.lemon_share * factor),
        "bad_share": p.lemon_share * (p.lemons_left if "lemons" in turned else 1.0),
        "bad_factor": factor,
        "clock": "always",
        "burst_shares": [1 - p.burst_share, p.burst_share],
        "burst_sizes": [1, p.rack_nodes],
    }


def faults(p, turned=NONE):
    """Return the classes of faults: how soon each is seen, and whether a node is blamed, and which."""
    found = {"gpu": p.inspection_gpu_s, "network": p.inspection_network_s, "host": p.inspection_host_s}
    total, classes = sum(p.class_counts.values()), []
    for name in CLASSES:
        if count := p.class_counts[name]:
            seen = min(found.get(name, p.detection_s), p.detection_s) if "detection" in turned else p.detection_s
            blame = {"right": 1 - p.wrong_node, "wrong": p.wrong_node} if name in STANDBY_HELPS else {"right": 0.0}
            classes.append({"name": name, "share": count / total, "detection_s": seen, **blame})
    return classes


def cold_s(p, gpus, turned=NONE):
    """Return the length of a cold restart: as measured, its set-up of communication carried to the size."""
    grown = p.restart_min - p.nccl_min + p.nccl_min * (gpus / p.measured_gpus) ** p.nccl_exponent
    return MINUTE_S * grown * (p.restart_factor if "restart" in turned else 1.0)


def swap_s(p, gpus):
    """Return the length of a swap to a standby, carried to the size."""
    return p.swap_s * (gpus / p.measured_gpus) ** p.swap_exponent


def write_s(p, turned=NONE):
    """Return how long a write stops the job."""
    return p.short_write_s if "write" in turned else p.write_s


def verification_s(p, turned=NONE):
    """Return how long a verification stops the job."""
    return p.cheap_verification_s if "verification" in turned else p.verification_s


def silent_per_node_day(p):
    """Return the silent corruptions of a node in a day."""
    return 24 * p.gpus_per_node * p.silent_found / p.silent_gpu_hours


def mtbf_s(p, gpus, turned=NONE):
    """Return the mean time between the failures that stop the job, as it begins; a burst stops it once."""
    of_node = fleet_parts.Failures(**failures(p, turned))
    systematic = of_node.rate * of_node.bad_share * of_node.bad_factor
    return 1 / (gpus // p.gpus_per_node * (of_node.event_rate + systematic))


def silent_mtbf_s(p, gpus):
    """Return the mean time between silent corruptions of the job."""
    return DAY_S / (gpus // p.gpus_per_node * silent_per_node_day(p))


def verified_every(p, gpus, turned=NONE):
    """Return how many writes to a verification are best."""
    return int(
        best_every(write_s(p, turned), verification_s(p, turned), silent_mtbf_s(p, gpus), mtbf_s(p, gpus, turned))
    )


def interval_s(p, gpus, turned=NONE):
    """Return the best checkpoint interval, of the exact model for failures and silent corruptions."""
    return float(
        optimal_pattern_interval(
            write_s(p, turned),
            verification_s(p, turned),
            cold_s(p, gpus, turned),
            silent_mtbf_s(p, gpus),
            mtbf_s(p, gpus, turned),
            verified_every(p, gpus, turned),
        )
    )
