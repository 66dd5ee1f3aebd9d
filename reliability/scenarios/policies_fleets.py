"""The fleets of the page on policies: one job under each way back, and what each pays."""

from dataclasses import dataclass

import numpy as np

from reliability import fleet_config, fleet_cost, fleet_parts, lemons, standby
from reliability.checkpoint import daly_interval
from reliability.units import HOUR_S, MINUTE_S

WAYS = ("wait", "cold", "standby", "elastic")
LETTERS = {"wait": "W", "cold": "C", "standby": "S", "elastic": "E"}
MEANING = {
    "wait": "no node more: a cold restart once the failed one is back from repair",
    "cold": "a cold restart with a node that is taken from other work",
    "standby": "a swap to an idle node that stands by",
    "elastic": "on with fewer replicas, no node more, until the failed one is back",
}
# Chances that a failure finds too few: the numbers of standbys that are tried.
SHORT = (0.5, 0.1, 0.02, 0.004, 0.0008, 0.0001, 0.00001)


@dataclass(frozen=True)
class Case:
    """One job and its failures: what the ways back are compared on."""

    job_nodes: int
    rate: float  # failures of a node in a day
    repair_h: float
    bursts: bool = False


def page_case(p, **changes):
    """Return the page's own job."""
    return Case(**{"job_nodes": p.gpus // p.gpus_per_node, "rate": p.rate, "repair_h": p.repair_h} | changes)


def generators(p):
    """Return the generator of each part of the page: what draws from it anew meets the failures of the page's own.

    Returns
    -------
    dict of "own", "maps", "curves" and "lemons" to numpy.random.Generator
    """
    return dict(zip(("own", "maps", "curves", "lemons"), np.random.default_rng(p.seed).spawn(4), strict=True))


def has_bursts(p):
    """Say whether any failure of the page's job takes more than one node."""
    return p.burst_nodes > 1 and p.burst_share > 0


def blast(p, case):
    """Return the shares and sizes of the blast radii."""
    return ([1 - p.burst_share, p.burst_share], [1, p.burst_nodes]) if case.bursts else ([1.0], [1])


def settings(p, case, way, standbys=0):
    """Return the settings of a fleet under a way back.

    Parameters
    ----------
    p : Parameters
    case : Case
    way : "wait", "cold", "standby" or "elastic"
    standbys : int
        Of the ways "standby" and "elastic".
    """
    shares, sizes = blast(p, case)
    failures = {"rate_per_node_day": case.rate, "burst_shares": shares, "burst_sizes": sizes}
    mtbf_s = 1 / (case.job_nodes * fleet_parts.Failures(**failures).event_rate)
    chosen = {
        "job_nodes": case.job_nodes,
        "warm_standbys": standbys,
        "horizon_h": 24.0 * p.days,
        "failures": failures,
        "faults": [{"name": "node", "detection_s": p.detection_s}],
        "repair": {"automatic_s": HOUR_S * case.repair_h},
        "recovery": {"restart_s": MINUTE_S * p.restart_min, "swap_s": p.swap_s},
        "checkpoint": {"interval_s": max(float(daly_interval(p.write_s, mtbf_s)), 1.0), "write_s": p.write_s},
    }
    if way == "cold":  # the node taken is given back for the one that returns, so each failure waits for one
        chosen["spare_nodes"] = case.job_nodes
        chosen["recovery"] = {"restart_s": MINUTE_S * (p.preemption_min + p.restart_min)}
    if way == "elastic":
        chosen["elastic"] = {
            "nodes_per_replica": p.replica_gpus // p.gpus_per_node,
            "reshard_s": p.resize_s,
            "grow_s": p.resize_s,
        }
    return chosen


def build(p, case, way, standbys=0):
    """Return the fleet of a case under a way back; see :func:`settings`."""
    return fleet_config.build(settings(p, case, way, standbys))


def standbys_to_try(p, case):
    """Return numbers of standbys, rising from 0, among which the best one lies, as far as they are apart.

    Those with which a failure finds too few with the chances `SHORT`, at the rate of failures that a job has
    which stops for a swap at each.
    """
    shares, sizes = blast(p, case)
    rates = np.array([case.job_nodes * case.rate / 24.0 * s / b for s, b in zip(shares, sizes, strict=True)])
    stops_h = (p.detection_s + p.swap_s) / HOUR_S
    rates = rates / (1.0 + rates.sum() * stops_h)
    found = {standby.standbys_needed(chance, rates, sizes, case.repair_h, together=False) for chance in SHORT}
    return sorted({0, *found})


def terms(p):
    """Return who pays what, in node-hours."""
    return fleet_cost.Terms(p.repair_paid, p.preempted_gpu_h / p.gpus_per_node, 24.0 * p.exchange_days)


def kept(p, case, way, standbys, result):
    """Return the ETTR and the useful share of what is paid, of each replication, as arrays."""
    if way == "cold":
        paid = fleet_cost.borrowed_hours(result, case.job_nodes, case.repair_h, terms(p))
    else:
        paid = fleet_cost.held_hours(result, case.job_nodes + standbys, case.repair_h, terms(p))
    return {
        "time": result.effective_training_ratio,
        "money": fleet_cost.useful_share(result, case.job_nodes, paid),
    }


def lemon_settings(p, wrong, standbys, rule=None):
    """Return the settings of a fleet with lemons, which are retired by a rule or never.

    Parameters
    ----------
    p : Parameters
    wrong : float
        Share of the failures for which a healthy node is blamed.
    standbys : int
    rule : dict, optional
        A ``retirement`` of the fleet.
    """
    case = page_case(p)
    good, _ = lemons.lemon_rates(case.rate, p.lemon_share, p.lemon_factor)
    return settings(p, case, "standby", standbys) | {
        "horizon_h": 24.0 * p.lemon_days,
        "spare_nodes": case.job_nodes,  # replacements, in place as soon as the standbys have run out
        "failures": {
            "rate_per_node_day": good,
            "bad_share": p.lemon_share,
            "bad_factor": p.lemon_factor - 1.0,
        },
        "faults": [{"name": "node", "detection_s": p.detection_s, "right": 1.0 - wrong, "wrong": wrong}],
        "repair": {"automatic_s": HOUR_S * case.repair_h, "automatic_fails": 1.0 - p.cured},
        "retirement": rule,
    }
