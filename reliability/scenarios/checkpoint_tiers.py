"""Checkpoint tiers: where should checkpoints go, how often, and when does one count?"""

from dataclasses import dataclass, replace

import numpy as np
from pydantic import Field

from reliability.checkpoint import optimal_interval, renewal_efficiency
from reliability.commit import as_blocking, asynchronous_efficiency, asynchronous_interval
from reliability.scenarios.base import PageParameters, Result, duration, short  # noqa: F401
from reliability.scenarios.checkpoint_tiers_anchors import anchors, daly_table  # noqa: F401  part of the page's module
from reliability.storage import upload_drag, write_time
from reliability.text import percent, table
from reliability.tiers import rates_by_tier, two_level_efficiency, two_level_optimum
from reliability.units import HOUR_S

TITLE = "checkpoint tiers"
CLASSES = ("process", "reboot", "node", "domain")
# Which failures outlive which tier: a crashed process leaves its node's memory, a reboot the disk, a
# lost node what its peers hold; only shared storage outlives several nodes at once.
SURVIVES = {
    "memory": ("process",),
    "node disk": ("process", "reboot"),
    "peer memory": ("process", "reboot", "node"),
    "file system": CLASSES,
}


class Parameters(PageParameters):
    """The model, the job, the ways to write, the failures."""

    model_b: float = Field(gt=0, le=1e6, description="parameters of the model (billions)")
    bytes_per_parameter: float = Field(gt=0, le=1e3, description="bytes of state a parameter")
    gpus: int = Field(ge=1, le=10**8, description="GPUs of the job")
    gpus_per_node: int = Field(ge=1, le=1024, description="GPUs in a node")
    job_mtbf_h: float = Field(gt=0, le=1e9, description="mean time between failures of the job (h)")
    step_s: float = Field(gt=0, le=1e5, description="length of a training step (s)")
    restart_min: float = Field(ge=0, le=1e6, description="restart without the loading of a checkpoint (min)")
    storage_gb_s: float = Field(gt=0, le=1e9, description="bandwidth of the file system, all writers together (GB/s)")
    quota: float = Field(gt=0, lt=1, description="share of a network that uploads may use while the job trains")
    exposed: float = Field(ge=0, le=1, description="share of a step that waits for training traffic on that network")
    memory_gb_s: float = Field(gt=0, le=1e6, description="copy from a GPU to its node's memory (GB/s a GPU)")
    disk_gb_s: float = Field(gt=0, le=1e6, description="write to a node's disk (GB/s a node)")
    peer_gb_s: float = Field(gt=0, le=1e6, description="network to another node (GB/s a GPU)")
    incremental_factor: float = Field(
        gt=0, le=1, description="size of an incremental checkpoint over that of a full one"
    )
    share_process: float = Field(gt=0, lt=1, description="share of failures: a process, its node stays up")
    share_reboot: float = Field(gt=0, lt=1, description="share of failures: a node that comes back with its disk")
    share_domain: float = Field(
        gt=0, lt=1, description="share of failures: several nodes at once; the rest loses one node"
    )

    def model_post_init(self, _):
        """Refuse shares that leave nothing for single nodes."""
        if self.share_process + self.share_reboot + self.share_domain >= 1:
            raise ValueError(
                f"share_process + share_reboot + share_domain = {1 - self.shares['node']:g}: must stay below 1, the rest loses one node"
            )

    @property
    def shares(self):
        """Shares of failures by class."""
        node = 1 - self.share_process - self.share_reboot - self.share_domain
        return dict(zip(CLASSES, (self.share_process, self.share_reboot, node, self.share_domain), strict=True))

    @property
    def state_bytes(self):
        """Size of a full checkpoint."""
        return 1e9 * self.model_b * self.bytes_per_parameter


@dataclass(frozen=True)
class Tier:
    """A place for checkpoints: the job stops for `stall`, drags by `drag` for `upload`, and loads in `load`."""

    name: str
    survives: tuple
    stall: float
    upload: float
    drag: float
    load: float

    def costs(self, restart):
        """Blocking write and restart that cost as much."""
        return as_blocking(self.stall, self.upload, self.drag, restart + self.load)


@dataclass(frozen=True)
class Plan:
    """A way to checkpoint: `interval` of work, `count` local ones for each on the file system, `efficiency`."""

    interval: float
    count: int
    efficiency: float


def tiers(p, gpus=None):
    """The four tiers of parameters `p`, the cheapest first; on another number of GPUs where one is given."""
    gpus = gpus or p.gpus
    each = p.state_bytes / gpus / 1e9
    on_node = min(p.gpus_per_node, gpus) * each
    stall, shared = each / p.memory_gb_s, write_time(1e9 * p.model_b, p.bytes_per_parameter, 1e9 * p.storage_gb_s)
    drag, to_peer, to_disk = upload_drag(p.quota, p.exposed), each / p.peer_gb_s, on_node / p.disk_gb_s
    ways = {
        "memory": (stall, 0.0, 0.0, stall),
        "node disk": (stall, to_disk, 0.0, to_disk),
        "peer memory": (stall, to_peer / p.quota, drag, to_peer),
        "file system": (stall, shared / p.quota, drag, shared),
    }
    return [Tier(name, SURVIVES[name], *ways[name]) for name in SURVIVES]


def blocking_plan(p, gpus=None):
    """Blocking writes to the file system alone, at their best interval."""
    mtbf, restart, top = _mtbf(p, gpus), 60 * p.restart_min, tiers(p, gpus)[-1]
    span = max(optimal_interval(top.load, mtbf), p.step_s)
    return Plan(span, 0, renewal_efficiency(span, top.load, restart + top.load, mtbf))


def background_plan(p, gpus=None):
    """Asynchronous checkpoints on the file system alone, at their best interval."""
    mtbf, restart, top = _mtbf(p, gpus), 60 * p.restart_min, tiers(p, gpus)[-1]
    span = max(asynchronous_interval(top.stall, top.upload, top.drag, mtbf), p.step_s)
    return Plan(span, 0, asynchronous_efficiency(span, top.stall, top.upload, top.drag, restart + top.load, mtbf))


def tiered_plan(p, local, gpus=None):
    """A local tier in front of the file system: the best interval and count, with room for a step and every upload."""
    top = tiers(p, gpus)[-1]
    writes, restarts = zip(*(tier.costs(60 * p.restart_min) for tier in (local, top)), strict=True)
    rates = np.array(list(p.shares.values())) / _mtbf(p, gpus)
    rates = rates_by_tier(rates, np.array([[c in tier.survives for c in CLASSES] for tier in (local, top)]))
    best = two_level_optimum(writes, restarts, rates)
    span = max(best.interval, p.step_s, (1 - local.drag) * local.upload)
    if span > best.interval:  # fewer, longer intervals in about the same period
        best = replace(best, count=int((best.count + 1) * best.interval / span) - 1)
    count = max(best.count, int(np.ceil((1 - top.drag) * top.upload / span)) - 1)
    return Plan(span, count, two_level_efficiency(span, count, writes, restarts, rates))


def ceiling(p, gpus=None):
    """Share that is kept where checkpoints cost nothing and lose nothing: the restart alone, without loading."""
    return float(np.exp(-60 * p.restart_min / _mtbf(p, gpus)))


def _mtbf(p, gpus=None):
    return HOUR_S * p.job_mtbf_h * p.gpus / (gpus or p.gpus)


def compute(p):
    """Compute the page's plans from parameters `p`."""
    mtbf, every = _mtbf(p), tiers(p)
    plans = {"blocking": blocking_plan(p), "background": background_plan(p)}
    plans |= {tier.name: tiered_plan(p, tier) for tier in every[:-1]}
    shares, rows, names = p.shares, [], dict.fromkeys(plans)
    names |= {"blocking": "file system, blocking", "background": "file system, in the background"}
    for tier in every:
        kept = sum(shares[c] for c in tier.survives)
        stop = f"{tier.stall:.3g}", f"{tier.upload:,.3g}" if tier.upload < 100 else f"{tier.upload:,.0f}"
        lost = "never" if kept > 1 - 1e-9 else f"{mtbf / (1 - kept) / HOUR_S:,.1f} h"
        rows.append([tier.name, *stop, percent(kept, 0), lost])
    sections = {
        "tiers": table(["tier", "stall (s)", "upload (s)", "failures survived", "lost once in"], rows),
        "plans": table(
            ["plan", "interval (s)", "one on the file system every (min)", "kept"],
            [
                [
                    names[key] or f"{key}, then file system",
                    f"{plan.interval:,.1f}",
                    f"{(plan.count + 1) * plan.interval / 60:,.1f}",
                    percent(plan.efficiency),
                ]
                for key, plan in plans.items()
            ],
        ),
    }
    values = {"tiers": every, "plans": plans, "write_s": every[-1].load, "drag": every[-1].drag, "ceiling": ceiling(p)}
    return Result({}, sections, values)
