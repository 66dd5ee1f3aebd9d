"""The way back phase by phase and by size; wait for it, swap a node, or go on with fewer replicas."""

import numpy as np
from pydantic import Field

from reliability.faults import CLASSES, check_class_counts
from reliability.recovery import STANDBY_HELPS
from reliability.scenarios.base import PageParameters, Result, duration
from reliability.scenarios.recovery_timeline_anchors import anchors, published_curves  # noqa: F401
from reliability.scenarios.recovery_timeline_ways import (  # noqa: F401  part of the page's module
    PHASES,
    WAYS,
    batches,
    break_even_s,
    choice,
    disturbed,
    kept_by_away,
    lost_while_away_s,
    mtbf_s,
    phases_s,
    swap_phases_s,
)
from reliability.text import percent, table

TITLE = "the phases of a recovery, and what to do meanwhile"


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
        check_class_counts(self.class_counts)
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
        {
            "timeline": _timeline(sizes, by_size),
            "classes": _classes(p, here),
            "sizes": _sizes(choices),
            "worth": _worth(sizes, even),
        },
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


def _sizes(choices):
    rows = []
    for one in choices:
        best = max(one.kept.values())
        kept = [f"**{percent(share, 1)}**" if share == best else percent(share, 1) for share in one.kept.values()]
        rows.append([f"{one.gpus:,}", duration(one.mtbf_s), *kept])
    return table(["GPUs", "a fault every", *WAYS.values()], rows)


def break_even(seconds):
    """Write how long a node must be away before a way pays; 0 is that it never does."""
    return duration(seconds) if seconds else "never"


def _worth(sizes, even):
    rows = [[f"{size:,}", *(break_even(even[way][i]) for way in even)] for i, size in enumerate(sizes)]
    return table(["GPUs", *(WAYS[way] for way in even)], rows)
