"""Checkpoint tiers: where should checkpoints go, how often, and when does one count?"""

from dataclasses import dataclass, replace

import numpy as np
from pydantic import Field

from reliability import facts
from reliability.anchors import Anchor, rounding
from reliability.checkpoint import daly_interval, optimal_interval, renewal_efficiency, young_interval
from reliability.commit import as_blocking, asynchronous_efficiency, asynchronous_interval
from reliability.intervals import availability_interval
from reliability.scenarios.base import PageParameters, Result
from reliability.storage import upload_drag, write_time
from reliability.text import percent, table
from reliability.tiers import rates_by_tier, two_level_efficiency, two_level_optimum

TITLE = "checkpoint tiers"
CLASSES = ("process", "reboot", "node", "domain")
BYTES_PER_TIB = 2**40
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
    return 3600 * p.job_mtbf_h * p.gpus / (gpus or p.gpus)


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
        lost = "never" if kept > 1 - 1e-9 else f"{mtbf / (1 - kept) / 3600:,.1f} h"
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


def anchors():
    """Return the published results that the models are held against."""
    return [*_scr_anchors(), *_table_anchors(), *_size_anchors()]


def _scr_anchors():
    """SCR-model's two machines, on the model's grid of hundreds of seconds, restarts as long as writes."""
    rates, costs = facts.value("scr_rates"), facts.value("scr_costs_s")
    spans, shares, counts = (
        facts.value(name) for name in ("scr_intervals_s", "scr_efficiencies", "scr_local_per_global")
    )
    grid, found = 100.0 * np.arange(1, 1001), []
    for machine in ("atlas", "coastal"):
        cost, rate = ([source[f"{machine}_{tier}"] for tier in ("local", "global")] for source in (costs, rates))
        single = renewal_efficiency(grid, cost[1], cost[1], 1 / sum(rate))
        both = two_level_efficiency(grid[:200, None], np.arange(1, 100), cost, cost, rate)
        row, column = np.unravel_index(int(np.argmax(both)), both.shape)
        count, (alone, pair) = counts[machine], (f"{machine}_global_only", f"{machine}_two_levels")
        there = two_level_efficiency(spans[pair], count, cost, cost, rate)
        status, why = "emergent", ""
        if machine == "coastal":
            status, gap = "off", 1e6 * (both.max() - there)
            why = (
                f"The top is flat: the published plan keeps {gap:.0f} millionths less than the best one here. It would be the best "
                "among every third count (2, 5, 8 and so on); which counts were tried is not known."
            )
        found += [
            _scr(machine, "interval, file system only", spans[alone], grid[single.argmax()]),
            _scr(machine, "efficiency there", shares[alone], single.max()),
            _scr(machine, "interval, two levels", spans[pair], grid[row], status, why),
            _scr(machine, "local checkpoints for each global one", count, column + 1, status, why),
            _scr(machine, "efficiency of the published two levels", shares[pair], there),
        ]
    return found


def _scr(machine, what, published, computed, status="emergent", why=""):
    """An anchor of SCR-model: a share to its five digits, an interval to the grid, a count exactly."""
    ends, margin, shown, digits = (published, published), "exact", f"{published}", ".0f"
    if published < 1:
        ends, margin, digits = rounding(published, 5), "rounding of the printed number", ".5f"
    elif "interval" in what:
        ends, margin, shown, digits = (
            (published - 50, published + 50),
            "half a step of the grid",
            f"{published:,} s",
            ",.0f",
        )
    name = (
        f"scr-{machine}-{what.split(',')[0].replace(' ', '-')}-{'one' if 'only' in what or 'there' in what else 'two'}"
    )
    return Anchor(
        name, f"SCR, {machine}: {what}", shown, float(computed), *ends, margin, "scr_model", True, status, why, digits
    )


def daly_table():
    """Recompute the table of Daly's parameters: its rows as texts, and as printed."""
    mtbf_h = np.array(facts.value("daly_table_mtbf_h"))
    write, restart, mtbf = facts.value("daly_table_write_min"), facts.value("daly_table_restart_min"), 60 * mtbf_h
    best = optimal_interval(write, mtbf)
    here = young_interval(write, mtbf), daly_interval(write, mtbf), best, renewal_efficiency(best, write, restart, mtbf)
    names = "daly_table_young_min", "daly_table_daly_min", "daly_table_exact_min", "daly_table_efficiency"
    there = [facts.value(name) for name in names]
    places = (2, 2, 2, 3)
    return [
        [
            [f"{m:g}", *(f"{x:.{n}f}" for x, n in zip(row, places, strict=True))]
            for m, *row in zip(mtbf_h, *columns, strict=True)
        ]
        for columns in (here, there)
    ]


def _table_anchors():
    """Daly's table, Saxena's closed form, mlsysim's interval."""
    from scipy.optimize import minimize_scalar

    cells = [
        (a, b) for mine, theirs in zip(*daly_table(), strict=True) for a, b in zip(mine[1:], theirs[1:], strict=True)
    ]
    write, restart, mtbf = facts.value("daly_table_write_min"), facts.value("daly_table_restart_min"), 60.0
    closed = availability_interval(write, restart, mtbf) + write

    def unavailable(period):  # Saxena's model, less than none at the period of the write alone
        return -(1 - write / period) * mtbf / (mtbf + restart + period / 2)

    top = minimize_scalar(unavailable, bounds=(write, 10 * mtbf), method="bounded", options={"xatol": 1e-9}).x
    span, waste = facts.value("mlsysim_interval_s"), facts.value("mlsysim_waste_percent")
    cost, job = facts.value("mlsysim_write_s"), 3600 * facts.value("mlsysim_mtbf_h")
    young = young_interval(cost, job)
    lost = 100 * (cost / young + young / 2 / job)
    digits, search = "rounding of the printed number", "where the search stops"
    what = "Daly's write and restart, six MTBFs: numbers that come out as printed"
    why = "Young's interval, Daly's, the exact optimum and its efficiency."
    formula, found = f"closed form, {closed:.4f} min", "The top of that availability, by search."
    return [
        Anchor("daly-table", what, f"{len(cells)}", float(sum(a == b for a, b in cells)), len(cells), len(cells), "exact", "daly2006", False, "emergent", why, ".0f"),
        Anchor("saxena-period", "Saxena: best period, same write and restart, MTBF 1 h", formula, float(top), closed - 1e-4, closed + 1e-4, search, "saxena2024", True, "emergent", found, ".4f"),
        Anchor("mlsysim-interval", "mlsysim: interval", f"{span} s", young, *rounding(span, 2), digits, "mlsysim", True, "emergent", "Young's.", ".2f"),
        Anchor("mlsysim-waste", "mlsysim: time lost there", f"{waste}%", lost, *rounding(waste, 2), digits, "mlsysim", True, "emergent", "To first order, no restart.", ".2f"),
    ]  # fmt: skip


def _size_anchors():
    """BLOOM's size, and a checkpoint in each step."""
    from reliability import scenarios

    p = scenarios.inputs("checkpoint_tiers", scenarios.defaults("checkpoint_tiers"))
    size, bound = facts.value("bloom_checkpoint_tb"), facts.value("byterobust_step_overhead_percent")
    overhead = 100 * tiers(p)[0].stall / p.step_s
    binary = "In binary units, in which the source's sizes seem to be. What else is in its files is not said."
    bounded = "Only a bound, and another job: this page's, with nothing of the copy hidden behind the step."
    what = f"BLOOM: full checkpoint, at {p.bytes_per_parameter:g} bytes a parameter"
    step = "ByteRobust: overhead of a checkpoint in each step"
    return [
        Anchor("bloom-size", what, f"{size} TB", p.state_bytes / BYTES_PER_TIB, *rounding(size, 1), "rounding of the printed number", "bloom", True, "off", binary, ".2f"),
        Anchor("byterobust-step", step, f"below {bound}%", overhead, 0.0, bound, "the printed bound", "byterobust", False, "emergent", bounded, ".2f"),
    ]  # fmt: skip
