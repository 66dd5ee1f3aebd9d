"""The ways back of the page on the timeline of a recovery: their phases by size, and what each keeps."""

from dataclasses import dataclass

import numpy as np

from reliability import elastic, stalls, timeline
from reliability.faults import CLASSES
from reliability.rates import gpu_mtbf_h
from reliability.recovery import STANDBY_HELPS, recovery_with_faults
from reliability.units import HOUR_S

PHASES = ("stop", "reschedule", "load", "communicator", "warm-up")
WAYS = {"cold": "cold restart", "standby": "standby", "shrink": "shrink, any size", "even": "shrink, legal size"}
SMALLEST = 1e-300  # below it a share is 0 for every purpose


def mtbf_s(p, gpus):
    """Return the seconds between failures of a job on so many GPUs, in a stall as at any time."""
    return HOUR_S * gpu_mtbf_h(p.failures_per_1000_node_days, p.gpus_per_node) / np.asarray(gpus)


def phases_s(p, gpus):
    """Return the seconds of each phase of a cold restart on so many GPUs, a number or an array."""
    nodes, measured_nodes = -(-np.asarray(gpus) // p.gpus_per_node), -(-p.measured_gpus // p.gpus_per_node)
    replicas = np.maximum(1, np.asarray(gpus) // p.replica_gpus)
    copies = np.minimum(replicas, p.reading_replicas or replicas)
    wave_s = 60 * p.reschedule_min / timeline.waves_time(measured_nodes, p.nodes_at_once, 1.0)
    phases = (
        60 * p.stop_min,
        timeline.waves_time(nodes, p.nodes_at_once, wave_s),
        timeline.load_time(1000 * p.checkpoint_tb, p.storage_gb_s, copies * p.replica_nodes, p.node_gb_s, copies),
        timeline.setup_time(gpus, 60 * p.nccl_min, p.measured_gpus, p.nccl_exponent),
        60 * p.warmup_min,
    )
    return {name: np.broadcast_to(times, np.shape(gpus))[()] for name, times in zip(PHASES, phases, strict=True)}


def swap_phases_s(p, gpus):
    """Return the seconds of a swap's phases: stop, a copy of the node's part from a peer, communication."""
    phases = phases_s(p, gpus)
    copy = 1000 * p.checkpoint_tb / p.replica_nodes / p.node_gb_s
    return {"stop": phases["stop"], "copy": copy, "communicator": p.rebuild_share * phases["communicator"]}


@dataclass(frozen=True)
class Choice:
    """What each way back costs on `gpus` GPUs.

    `mtbf_s` between faults; `stall_s` by way (cold, standby, shrink) and class [5]: detection,
    repeated work and phases; `lead_s`, the part of a shrink's stall before it goes on; `kept`, the
    share of the machines' time that goes into work that lasts, by way, shrinking to any and to a
    legal size; `away` and `speed`, the mean number of nodes away and the speed, while it runs.
    """

    gpus: int
    mtbf_s: float
    stall_s: dict
    lead_s: float
    kept: dict
    away: float
    speed: dict


def batches(p, gpus):
    """Return the global batch that the replicas share evenly, by way to shrink: None where any number is legal."""
    return {"shrink": None, "even": p.replica_batch * (gpus // p.replica_gpus)}


def choice(p, gpus):
    """Compute what each way back costs a job of so many GPUs, which are whole replicas."""
    every_s, phases, swap = float(mtbf_s(p, gpus)), phases_s(p, gpus), swap_phases_s(p, gpus)
    alone = gpus <= p.replica_gpus  # no other replica holds the state
    cold = p.detection_s + 30 * p.checkpoint_interval_min + sum(phases.values())
    resize = swap["stop"] + swap["communicator"]
    lead = p.detection_s + (30 * p.checkpoint_interval_min if alone else p.step_s / 2) + resize
    node = {
        "cold": cold,
        "standby": lead + (phases["load"] if alone else swap["copy"]),
        "shrink": lead + resize + alone * phases["load"],
    }
    stall = {way: np.array([seconds if c in STANDBY_HELPS else cold for c in CLASSES]) for way, seconds in node.items()}
    runs = {way: stalls.running_share(float(p.shares @ seconds), every_s) for way, seconds in stall.items()}
    # The speed counts while the job runs, and then no node can have failed within the last lead.
    away = p.node_share * max(0.0, 60 * p.away_min - lead) / every_s
    speed = {
        way: elastic.mean_throughput(away, p.replica_nodes, gpus // p.replica_gpus, batch)
        for way, batch in batches(p, gpus).items()
    }
    kept = {"cold": runs["cold"], "standby": runs["standby"] / (1 + p.standby_percent / 100)}
    kept |= {way: runs["shrink"] * share for way, share in speed.items()}
    return Choice(gpus, every_s, stall, lead, kept, away, speed)


def lost_while_away_s(p, gpus, way, away_s):
    """Return what one outage alone costs a shrunk job in speed, as seconds of the whole job."""
    speed = elastic.throughput(1, gpus // p.replica_gpus, batches(p, gpus)[way])
    return (1 - speed) * max(0.0, away_s - choice(p, gpus).lead_s)


def break_even_s(p, gpus, way, other="cold"):
    """Return how long a node may be away until a shrunk job keeps no more than another way back.

    Parameters
    ----------
    p : Parameters
    gpus : int
    way : "shrink" or "even"
    other : "cold" or "standby"
    """
    one = choice(p, gpus)
    pool_s = one.mtbf_s * np.log1p(p.standby_percent / 100) if other == "standby" else 0.0
    saved_s = float(p.shares @ (one.stall_s[other] - one.stall_s["shrink"])) + pool_s
    if saved_s <= 0 or not p.node_share:
        return 0.0 if saved_s <= 0 else np.inf
    level = max(SMALLEST, np.exp(-saved_s / one.mtbf_s))
    away = elastic.away_at_throughput(level, p.replica_nodes, gpus // p.replica_gpus, batches(p, gpus)[way])
    return float(one.lead_s + away * one.mtbf_s / p.node_share)


def kept_by_away(p, gpus, away_s):
    """Return what each way back keeps against how long a node is away, and where shrinking has fallen to a cold restart.

    Parameters
    ----------
    p : Parameters
    gpus : int
    away_s : array [n]

    Returns
    -------
    kept : dict of way's name to a number or array [n]
    equal_s : dict of way's name to seconds
    """
    one = choice(p, gpus)
    running = stalls.running_share(float(p.shares @ one.stall_s["shrink"]), one.mtbf_s)
    kept = {WAYS[way]: one.kept[way] for way in ("cold", "standby")}
    away = p.node_share * np.maximum(0.0, away_s - one.lead_s) / one.mtbf_s
    for way, batch in batches(p, gpus).items():
        kept[WAYS[way]] = running * elastic.mean_throughput(away, p.replica_nodes, gpus // p.replica_gpus, batch)
    return kept, {WAYS[way]: break_even_s(p, gpus, way) for way in ("shrink", "even")}


@dataclass(frozen=True)
class Disturbed:
    """A recovery that faults start over, in seconds: undisturbed, its exact mean, drawn mean and standard error (None: too long to draw)."""

    gpus: int
    way: str
    undisturbed: float
    mean: float
    drawn: float | None
    error: float | None


def disturbed(p, gpus, rng):
    """Compare what faults during a restart and during a swap add, exactly and drawn fault by fault."""
    every_s, found = float(mtbf_s(p, gpus)), []
    for way in ("cold", "standby"):
        length, drawn = float(choice(p, gpus).stall_s[way][0]), None
        if length <= stalls.MOST_RESTARTS / 2 * every_s:
            lengths = stalls.draw_recoveries(rng, length, every_s, p.recoveries)
            drawn = float(lengths.mean()), float(lengths.std(ddof=1) / np.sqrt(p.recoveries))
        found.append(Disturbed(gpus, way, length, recovery_with_faults(length, every_s), *(drawn or (None, None))))
    return found
