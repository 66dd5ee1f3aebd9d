"""The page on policies: which way back wins where, in time and in money, and when a lemon should be retired."""

from pydantic import Field

from reliability import policy_anchors
from reliability.scenarios import policies_lemons, policies_maps, policies_text
from reliability.scenarios.base import PageParameters, Result
from reliability.scenarios.policies_drawn import (  # noqa: F401  part of the page's module
    KEY,
    cells,
    columns,
    cost_curves,
    document,
    rule_series,
)
from reliability.scenarios.policies_fleets import build, generators, has_bursts, kept, page_case  # noqa: F401
from reliability.scenarios.policies_lemons import rules  # noqa: F401
from reliability.scenarios.policies_maps import compare, own, verdicts  # noqa: F401
from reliability.scenarios.policies_peers import sections as peers  # noqa: F401
from reliability.scenarios.policies_tries import best_rules_said, cheapest_said, longest_stop, stop_said  # noqa: F401

TITLE = "which way back wins where, in time and in money"


def _share(what, **limits):
    return Field(**({"ge": 0, "le": 1} | limits), description=what)


class Parameters(PageParameters):
    """The jobs, their failures and ways back, what nodes cost, and the lemons."""

    gpus: int = Field(ge=1, le=2**20, description="GPUs of the page's own job")
    gpus_per_node: int = Field(ge=1, le=1024, description="GPUs in a node")
    replica_gpus: int = Field(ge=1, le=2**20, description="GPUs of one data-parallel replica")
    sizes: list[int] = Field(min_length=1, max_length=5, description="sizes of the maps (GPUs)")
    failures_per_1000_node_days: float = Field(gt=0, le=1000, description="failures of 1,000 nodes in a day")
    rates: list[float] = Field(
        min_length=1, max_length=5, description="failures of 1,000 nodes in a day, of the first map"
    )
    repair_h: float = Field(gt=0, le=1e4, description="mean repair of a node (h)")
    repairs_h: list[float] = Field(min_length=1, max_length=5, description="mean repairs of the second map (h)")
    detection_s: float = Field(ge=0, le=1e5, description="detection of a failure (s)")
    restart_min: float = Field(ge=0, le=1e4, description="cold restart (min)")
    swap_s: float = Field(ge=0, le=1e5, description="swap to a standby (s)")
    resize_s: float = Field(
        ge=0, le=1e5, description="stop to go on with fewer replicas, and again to take a node in (s)"
    )
    preemption_min: float = Field(ge=0, le=1e4, description="time to take a node from other work (min)")
    write_s: float = Field(gt=0, le=1e4, description="checkpoint write; the interval is Daly's (s)")
    burst_nodes: int = Field(ge=1, le=4096, description="nodes that a burst takes")
    burst_share: float = _share("share of the node failures that come in bursts, where there are any")
    days: int = Field(ge=1, le=3650, description="days of a run")
    price_per_gpu_hour: float = Field(gt=0, le=1e6, description="price of a GPU-hour")
    repair_paid: float = _share("share of its price that is paid for a node in repair")
    preempted_gpu_h: float = Field(
        ge=0, le=1e6, description="GPU-hours of other work that are lost for each node taken from it"
    )
    lemon_share: float = _share("share of lemons among the nodes", gt=0, lt=1)
    lemon_factor: float = Field(gt=1, le=1000, description="how many times as often as a good node a lemon fails")
    cured: float = _share("share of repairs that turn a lemon into a good node")
    wrong: float = _share("share of failures for which a healthy node is blamed", gt=0, lt=1)
    rules: list[int] = Field(
        min_length=1, max_length=8, description="blamed failures at which a node is retired, one rule each"
    )
    window_days: int = Field(ge=1, le=3650, description="days within which the failures of the second kind of rule lie")
    exchange_days: float = Field(ge=0, le=1e4, description="days that a retired node is paid for until its exchange")
    lemon_days: int = Field(ge=1, le=3650, description="days of a run with lemons")
    replications: int = Field(ge=2, le=10**5, description="runs of each fleet")
    seed: int = Field(ge=0, le=2**63 - 1, description="seed of the runs")

    def model_post_init(self, _):
        """Refuse jobs that are not whole replicas of whole nodes, and lists that repeat themselves."""
        if self.replica_gpus % self.gpus_per_node:
            raise ValueError(
                f"replica_gpus = {self.replica_gpus}: must be a multiple of gpus_per_node = {self.gpus_per_node}"
            )
        for name, sizes in (("gpus", [self.gpus]), ("sizes", self.sizes)):
            if any(not 0 < n <= 2**20 or n % self.replica_gpus for n in sizes):
                given = getattr(self, name)
                raise ValueError(
                    f"{name} = {given}: must be a multiple of replica_gpus = {self.replica_gpus}, at most {2**20}"
                )
        if has_bursts(self) and self.gpus // self.gpus_per_node % self.burst_nodes:
            raise ValueError(
                f"burst_nodes = {self.burst_nodes}: must divide the {self.gpus // self.gpus_per_node} nodes of the job"
            )
        for name, low, high in (("rates", 0, 1000), ("repairs_h", 0, 1e4), ("rules", 0, 1000), ("sizes", 0, 2**20)):
            given = getattr(self, name)
            if len(set(given)) < len(given) or any(not low < one <= high for one in given):
                raise ValueError(f"{name} = {given}: must be different, each above {low} and at most {high:g}")

    @property
    def rate(self):
        """Failures of a node in a day."""
        return self.failures_per_1000_node_days / 1000


def compute(p):
    """Compare the ways back and the rules under parameters `p`."""
    compared, maps, tried, lemons = generators(p).values()
    cases = {False: page_case(p)} | ({True: page_case(p, bursts=True)} if has_bursts(p) else {})
    curves = {
        bursts: policies_maps.by_standbys(p, case, policies_maps.curve_numbers(p), tried, ("standby", "elastic"))
        for bursts, case in cases.items()
    }
    found = {
        bursts: policies_maps.verdicts(p, case, compared, curves[bursts]["standby"].best)
        for bursts, case in cases.items()
    }
    known = {cases[False]: found[False]}  # a job has one answer, wherever on the page it is asked for
    values = {
        "own": found,
        "by_rate": policies_maps.grid(p, maps, known, rates=p.rates),
        "by_repair": policies_maps.grid(p, maps, known, repairs_h=p.repairs_h),
        "curves": curves,
        "rules": policies_lemons.rules(p, lemons),
    }
    return Result({}, policies_text.sections(p, values), values)


def anchors():
    """Return the published results that this page is held against: those that compare policies, simulated once."""
    return policy_anchors.anchors()
