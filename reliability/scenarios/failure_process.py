"""Bursts, cascades, lives and lemons: what they change at the same number of node failures."""

import numpy as np
from pydantic import Field

from reliability import bursts, lemons, lives, standby
from reliability.scenarios.base import PageParameters, Result, counted, short
from reliability.scenarios.failure_process_anchors import anchors as anchors  # part of every richer page's module
from reliability.scenarios.failure_process_traces import WEEK_H, draw, observe  # noqa: F401  part of the page
from reliability.text import percent, table

TITLE = "failures that do not come one by one"
MOST_AWAY = 20_000  # nodes of the fleet in repair: what is summed up one by one


class Parameters(PageParameters):
    """The job and its fleet, how failures are grouped, and the pool."""

    job_mtbf_h: float = Field(
        gt=0, le=1e9, description="mean time between failures of the job if each node failed alone (h)"
    )
    job_nodes: int = Field(ge=1, le=10**6, description="nodes of the job")
    fleet_nodes: int = Field(ge=1, le=10**7, description="nodes of the fleet: whole racks and power domains")
    rack_nodes: int = Field(ge=1, le=1000, description="nodes of a rack")
    power_nodes: int = Field(ge=1, le=1000, description="nodes of a power domain")
    rack_share: float = Field(ge=0, le=1, description="share of node failures: with the whole rack")
    power_share: float = Field(ge=0, le=1, description="share of node failures: with the whole power domain")
    outage_min: float = Field(ge=0, le=1e6, description="time that a failure stops the job (min)")
    branching: float = Field(ge=0, le=0.99, description="failures that one failure sets off on average")
    delay_h: float = Field(gt=0, le=1e6, description="mean time until they come (h)")
    life_shape: float = Field(ge=0.2, le=20, description="shape of a Weibull life; 1 is the exponential one")
    lemon_share: float = Field(gt=0, lt=1, description="share of nodes that are lemons")
    lemon_factor: float = Field(gt=1, le=1e4, description="how many times as often a lemon fails as a good node")
    repair_h: float = Field(gt=0, le=1e5, description="time until a failed node is back (h)")
    target: float = Field(ge=1e-6, lt=1, description="chance that an interruption may find too few standbys")
    days: int = Field(ge=1, le=10**4, description="period that the pool is to last (days)")
    failures: int = Field(ge=1000, le=10**7, description="node failures drawn of each process")
    seed: int = Field(ge=0, le=2**63 - 1, description="seed of the draws")

    def model_post_init(self, _):
        """Refuse shares above 1, a job that does not fit, and domains that do not fill the fleet."""
        if self.rack_share + self.power_share > 1 + 1e-9:
            raise ValueError(f"rack_share + power_share = {self.rack_share + self.power_share:g}: must be at most 1")
        if self.job_nodes > self.fleet_nodes:
            raise ValueError(f"job_nodes = {self.job_nodes}: must be at most fleet_nodes = {self.fleet_nodes}")
        for name in ("rack_nodes", "power_nodes"):
            if self.fleet_nodes % getattr(self, name):
                raise ValueError(
                    f"fleet_nodes = {self.fleet_nodes}: must be a multiple of {name} = {getattr(self, name)}"
                )
        if self.repair_h > self.node_mtbf_h:
            raise ValueError(
                f"repair_h = {self.repair_h:g}: must be at most the {self.node_mtbf_h:g} h between failures of a node"
            )
        if self.fleet_nodes / self.node_mtbf_h * self.repair_h > MOST_AWAY:
            raise ValueError(
                f"fleet_nodes = {self.fleet_nodes}: more than {MOST_AWAY} of them would be away; a smaller fleet will do"
            )

    @property
    def node_mtbf_h(self):
        """Mean time between failures of a node."""
        return self.job_mtbf_h * self.job_nodes

    @property
    def rate(self):
        """Failures of the job's nodes per hour, as a list for single failures."""
        return [1 / self.job_mtbf_h]

    @property
    def jobs(self):
        """Such jobs in the fleet."""
        return self.fleet_nodes // self.job_nodes

    @property
    def load(self):
        """Nodes of the job that are away on average."""
        return self.repair_h / self.job_mtbf_h

    @property
    def shares(self):
        """Share of the node failures by blast radius."""
        return [max(0.0, 1 - self.rack_share - self.power_share), self.rack_share, self.power_share]

    @property
    def sizes(self):
        """Blast radii in nodes."""
        return [1, self.rack_nodes, self.power_nodes]


def compute(p):
    """Compute what each process does to the job, to a fleet of such jobs, and the pool that it needs."""
    grouped = bursts.demands(p.node_mtbf_h, p.job_nodes, p.shares, p.sizes)
    kinds = {"one by one": ((p.rate, [1]), True), "together": (grouped, True), "apart": (grouped, False)}
    pools = {name: standby.standbys_needed(p.target, *kind, p.repair_h, same) for name, (kind, same) in kinds.items()}
    small = pools["one by one"]
    short = {name: standby.chance_short(*kind, p.repair_h, small, same) for name, (kind, same) in kinds.items()}
    mtbf_h = {
        "one by one": p.job_mtbf_h,
        "packed": bursts.job_mtbf(p.node_mtbf_h, p.job_nodes, p.shares, p.sizes),
        "scattered": bursts.job_mtbf(p.node_mtbf_h, p.job_nodes, p.shares, p.sizes, p.fleet_nodes),
    }
    values = {"kinds": kinds, "pools": pools, "short": short, "mtbf_h": mtbf_h}
    values |= _fleet(p, pools) | _young(p) | _lemons(p)
    return Result({}, _sections(p, values), values)


def _fleet(p, pools):
    """Jobs interrupted a week in a fleet full of such jobs, and one pool for all of them: (pool of a job, shared pool)."""
    alone, together = (
        ([p.jobs / p.job_mtbf_h], [1]),
        bursts.demands(p.node_mtbf_h, p.jobs * p.job_nodes, p.shares, p.sizes),
    )
    shared = {"one by one": standby.standbys_needed(p.target, *alone, p.repair_h)}
    shared["bursts"] = standby.standbys_needed(p.target, *together, p.repair_h)
    return {
        "shared": {
            "one by one": (pools["one by one"], shared["one by one"]),
            "bursts": (pools["together"], shared["bursts"]),
        }
    }


def _young(p):
    """Failures of a fleet of new nodes by age, over those of the long run; nodes of a new job that are away, and their pool."""
    cv = lives.weibull_cv(p.life_shape)
    families = {
        "Weibull": lambda t: lives.weibull_cdf(t, p.node_mtbf_h, p.life_shape),
        "lognormal": lambda t: lives.lognormal_cdf(t, p.node_mtbf_h, cv),
    }
    ages = sorted({1, 7, p.days, 365})
    over = {
        name: {day: lives.early_ratio(24.0 * day, cdf, p.node_mtbf_h) for day in ages}
        for name, cdf in families.items()
    }
    away = p.job_nodes * lives.mean_failures(p.repair_h, families["Weibull"], p.node_mtbf_h)
    return {
        "young": over,
        "new_away": away,
        "new_pool": standby.standbys_needed(p.target, [away / p.repair_h], [1], p.repair_h),
    }


def _lemons(p):
    """Their share of the failures, hours between failures of a node of either kind, and when to retire one."""
    kind = (1 / p.node_mtbf_h, p.lemon_share, p.lemon_factor)
    good, lemon = (1 / rate for rate in lemons.lemon_rates(*kind))
    retire = lemons.failures_to_retire(0.5, 24.0 * p.days, *kind)
    chance = lemons.chance_of_lemon(retire, 24.0 * p.days, *kind)
    by_lemons = lemons.failures_by_lemons(p.lemon_share, p.lemon_factor)
    return {"by_lemons": by_lemons, "good_h": good, "lemon_h": lemon, "retire": retire, "retired_rightly": chance}


def _sections(p, v):
    small, mtbf_h, stopped = (
        v["pools"]["one by one"],
        v["mtbf_h"],
        {name: WEEK_H * p.jobs / h for name, h in v["mtbf_h"].items()},
    )
    whole = {name: f"{n:,.0f}" if n >= 9.5 else f"{n:.2g}" for name, n in stopped.items()}
    told = f"a node with {counted(v['retire'], 'failure')} is a lemon with a chance of {percent(v['retired_rightly'], 0)}, with one less it is more likely not."
    days = next(iter(v["young"].values()))
    return {
        "answer": f"In numbers: this job is interrupted every **{short(mtbf_h['packed'])} h** with bursts, every {p.job_mtbf_h:g} h one by one. "
        f"The smallest pool that leaves at most {100 * p.target:g}% of interruptions short is **{small}** for single failures and "
        f"**{v['pools']['together']}** for bursts. With a pool of {small}, **{percent(v['short']['together'], 1)}** of the interruptions by "
        "bursts and single nodes find too few.",
        "lasts": table(["each node repaired apart", "pool", f"never short in {p.days} d"], _lasting(p, v)),
        "fleet": f"A fleet of {counted(p.jobs, 'such job')} counts **{whole['one by one']}** interruptions of a job a week by failures one by one, "
        f"**{whole['packed']}** by bursts if each job has its own racks, and **{whole['scattered']}** if all are scattered.",
        "shared": "One pool for all jobs, each on racks of its own, against a pool for each job:\n\n"
        + table(
            ["process", "a job's own", "all of those", "shared", "of the fleet"],
            [
                [n, f"{own}", f"{p.jobs * own}", f"{one}", percent(one / (p.jobs * p.job_nodes), 1)]
                for n, (own, one) in v["shared"].items()
            ],
        ),
        "young": table(
            ["life", *(f"{day:g} d" for day in days)],
            [[name, *(f"{x:.2f} x" for x in row.values())] for name, row in v["young"].items()],
        ),
        "new": f"After the first {p.repair_h:g} h **{v['new_away']:.1f}** nodes of a new job are away, {p.load:.1f} in the long run: "
        f"the pool that it then needs is **{v['new_pool']}**, later {small}.",
        "lemons": f"{percent(p.lemon_share, 0)} of the nodes have {percent(v['by_lemons'], 0)} of the failures, one every {v['lemon_h']:,.0f} h each, "
        f"a good node one every {v['good_h']:,.0f} h. With good nodes in their place the job would run "
        f"{short(p.job_mtbf_h / (1 - v['by_lemons']))} h between failures. Watched for {p.days} d, "
        + (told if v["retire"] else "any node is more likely a lemon than not."),
    }


def curve(p, values, kind):
    """Chance that an interruption finds too few of 0, 1, 2, ... standbys, up to past the largest pool."""
    (events, together), most = values["kinds"][kind], int(1.2 * max(values["pools"].values())) + 10
    return standby.chance_short(*events, p.repair_h, np.arange(most), together)


def _lasting(p, v):
    """Rows: how likely a pool is to last the period, when each node is repaired on its own."""
    (single, _), (grouped, _), pools = v["kinds"]["one by one"], v["kinds"]["apart"], v["pools"]
    asked = [
        ("one by one", single, pools["one by one"]),
        ("bursts, the same pool", grouped, pools["one by one"]),
        ("bursts", grouped, pools["apart"]),
    ]
    chance = standby.chance_pool_lasts
    return [
        [name, f"{k}", percent(chance(*kind, p.repair_h, k, 24 * p.days), 1)]
        for name, kind, k in asked
        if k <= standby.MOST_IN_CHAIN
    ]
