"""The way back phase by phase and by size; wait for it, swap a node, or go on with fewer replicas."""

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from reliability import elastic, stalls, timeline
from reliability.faults import CLASSES
from reliability.rates import gpu_mtbf_h
from reliability.recovery import STANDBY_HELPS, recovery_with_faults
from reliability.scenarios.base import PageParameters, Result
from reliability.scenarios.recovery_timeline_anchors import anchors, published_curves  # noqa: F401
from reliability.text import percent, table

TITLE = "the phases of a recovery, and what to do meanwhile"
PHASES = ("stop", "reschedule", "load", "communicator", "warm-up")
WAYS = {"cold": "cold restart", "standby": "standby", "shrink": "shrink, any size", "even": "shrink, legal size"}
SMALLEST = 1e-300  # below it a share is 0 for every purpose


def _minutes(what, **limits):
    return Field(**({"ge": 0, "le": 1e6} | limits), description=f"{what} (min)")


class Parameters(PageParameters):
    """The job, its failures, a restart that was measured once, and what limits each of its phases."""

    gpus: int = Field(ge=1, le=10**8, description="GPUs of the job")
    gpus_per_node: int = Field(ge=1, le=1024, description="GPUs in a node")
    failures_per_1000_node_days: float = Field(gt=0, le=1e6, description="failures of 1,000 nodes in a day")
    class_counts: dict[str, int] = Field(description="failures by class, for their shares")
    replica_gpus: int = Field(ge=1, le=10**8, description="GPUs of one data-parallel replica")
    replica_batch: int = Field(ge=1, le=10**6, description="sequences that each replica takes of a global batch")
    measured_gpus: int = Field(ge=1, le=10**8, description="GPUs of the restart that was measured")
    stop_min: float = _minutes("measured: stop")
    reschedule_min: float = _minutes("measured: reschedule")
    nccl_min: float = _minutes("measured: set up communication")
    warmup_min: float = _minutes("measured: warm-up")
    nodes_at_once: int = Field(ge=1, le=10**8, description="nodes that the scheduler starts at once")
    checkpoint_tb: float = Field(gt=0, le=1e6, description="size of a checkpoint (TB)")
    storage_gb_s: float = Field(
        gt=0, le=1e9, description="what the storage gives to all readers together, in GB a second"
    )
    node_gb_s: float = Field(
        gt=0, le=1e6, description="what one node reads, from the storage or from a peer, in GB a second"
    )
    reading_replicas: int = Field(
        ge=0, le=10**8, description="replicas that read from the storage; the others get it from them; 0: each reads"
    )
    nccl_exponent: float = Field(ge=0, le=3, description="communication set-up grows with this power of the size")
    rebuild_share: float = Field(
        ge=0, le=1, description="share of the communication set-up that a swap or a shrink repeats"
    )
    detection_s: float = Field(ge=0, le=1e6, description="detection of a fault (s)")
    checkpoint_interval_min: float = _minutes("checkpoint interval; a restart repeats half of it")
    step_s: float = Field(ge=0, le=1e5, description="training step; a swap or a shrink repeats half of it (s)")
    away_min: float = _minutes("time until a failed node, or another in its place, is back")
    standby_percent: float = Field(ge=0, le=100, description="standbys for each 100 nodes of the job")
    sizes: list[int] = Field(min_length=1, max_length=20, description="sizes of the tables (GPUs)")
    recoveries: int = Field(ge=2, le=10**6, description="recoveries drawn, fault by fault")
    seed: int = Field(ge=0, le=2**63 - 1, description="seed of the drawn recoveries")

    def model_post_init(self, _):
        """Refuse counts that are none, and jobs that are not whole replicas of whole nodes."""
        counts = self.class_counts
        if set(counts) != set(CLASSES) or any(not 0 <= n <= 10**9 for n in counts.values()) or not sum(counts.values()):
            raise ValueError(
                f"class_counts = {counts}: must give a count from 0 for each of {', '.join(CLASSES)}, not all 0"
            )
        if self.replica_gpus % self.gpus_per_node:
            raise ValueError(
                f"replica_gpus = {self.replica_gpus}: must be a multiple of gpus_per_node = {self.gpus_per_node}"
            )
        for name, sizes in (("gpus", [self.gpus]), ("sizes", self.sizes)):
            if any(not 0 < n <= 10**8 or n % self.replica_gpus or n > 10**5 * self.replica_gpus for n in sizes):
                given = getattr(self, name)
                raise ValueError(
                    f"{name} = {given}: must be a multiple of replica_gpus = {self.replica_gpus}, at most 100000 times it"
                )
        if len(set(self.sizes)) < len(self.sizes):
            raise ValueError(f"sizes = {self.sizes}: must differ")

    @property
    def shares(self):
        """Shares of the failures by class, an array in the order of `CLASSES`."""
        counts = np.array([self.class_counts[c] for c in CLASSES], dtype=float)
        return counts / counts.sum()

    @property
    def node_share(self):
        """Share of the failures for which a node is to blame."""
        return float(sum(share for c, share in zip(CLASSES, self.shares, strict=True) if c in STANDBY_HELPS))

    @property
    def replica_nodes(self):
        """Nodes of a replica."""
        return self.replica_gpus // self.gpus_per_node


def mtbf_s(p, gpus):
    """Return the seconds between failures of a job on so many GPUs, in a stall as at any time."""
    return 3600 * gpu_mtbf_h(p.failures_per_1000_node_days, p.gpus_per_node) / np.asarray(gpus)


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


def compute(p):
    """Compute the page's tables from parameters `p`."""
    sizes = sorted(p.sizes)
    by_size, here = phases_s(p, np.array(sizes)), choice(p, p.gpus)
    choices = [choice(p, size) for size in sizes]
    even = {way: [break_even_s(p, size, way) for size in sizes] for way in ("shrink", "even")}
    values = {
        "phases_s": phases_s(p, p.gpus),
        "phases_by_size_s": by_size,
        "sizes": sizes,
        "choice": here,
        "choices": choices,
        "break_even_s": even,
    }
    return Result(
        {},
        {"timeline": _timeline(sizes, by_size), "classes": _classes(p, here), "sizes": _sizes(choices, even)},
        values,
    )


def _timeline(sizes, by_size):
    rows = [[name, *(f"{seconds:.0f}" for seconds in times)] for name, times in by_size.items()]
    rows.append(["**cold restart**", *(f"**{seconds:.0f}**" for seconds in sum(by_size.values()))])
    for name, curve in published_curves().items():
        rows.append([f"FT-HSDP, {name} *", *(f"{curve.at(n):.0f}" if curve.holds(n) else "" for n in sizes)])
    return table(["seconds, by GPUs", *(f"{size:,}" for size in sizes)], rows)


def _classes(p, here):
    slow = {way: lost_while_away_s(p, p.gpus, way, 60 * p.away_min) for way in ("shrink", "even")}
    rows, means = [], np.zeros(len(WAYS))
    for i, name in enumerate(CLASSES):
        lost = [here.stall_s["cold"][i], here.stall_s["standby"][i]]
        lost += [here.stall_s["shrink"][i] + (slow[way] if name in STANDBY_HELPS else 0.0) for way in slow]
        means += p.shares[i] * np.array(lost)
        rows.append([name, percent(p.shares[i], 1), *(f"{seconds:,.0f}" for seconds in lost)])
    rows.append(["mean", "", *(f"**{seconds:,.0f}**" for seconds in means)])
    return table(["seconds lost", "share", *WAYS.values()], rows)


def _sizes(choices, even):
    rows = []
    for i, one in enumerate(choices):
        best = max(one.kept.values())
        kept = [f"**{percent(share, 1)}**" if share == best else percent(share, 1) for share in one.kept.values()]
        rows.append([f"{one.gpus:,}", duration(one.mtbf_s), *kept, *(duration(even[way][i]) for way in even)])
    return table(["GPUs", "a fault every", *WAYS.values(), "worth it up to, any size", "legal size"], rows)


def duration(seconds):
    """Write a time in the unit that suits it.

    >>> duration(90), duration(7200), duration(3e6), duration(float("inf")), duration(0)
    ('1.5 min', '2.0 h', '35 d', 'for ever', 'never')
    """
    if seconds in (0, np.inf):
        return "for ever" if seconds else "never"
    if seconds < 3600:
        return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.2g} s"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:,.0f} d"
