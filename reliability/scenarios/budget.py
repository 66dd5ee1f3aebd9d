"""Where the hours of a job go, cause by cause and by size, and what each lever buys."""

from pydantic import Field

from reliability import job_anchors
from reliability.faults import check_class_counts
from reliability.fleet_config import MOST_EVENTS
from reliability.fleet_parts import MOST_NODES
from reliability.scenarios import budget_fleets as fleets
from reliability.scenarios import budget_runs as runs
from reliability.scenarios import budget_tables as tables
from reliability.scenarios import budget_text as text
from reliability.scenarios.base import PageParameters, Result
from reliability.scenarios.budget_fleets import LEVERS, THREE  # noqa: F401  part of the page's module
from reliability.scenarios.budget_runs import document  # noqa: F401  part of the page's module
from reliability.scenarios.budget_tables import points  # noqa: F401  part of the page's module

TITLE = "where the hours of a job go, and which lever buys most"
# The first must be at most the second: a part and its whole, or the better and the worse state of a lever.
AT_MOST = (
    ("nccl_min", "restart_min"),
    ("standby_percent", "idle_percent"),
    ("standby_percent", "more_standby_percent"),
    ("fewer_failures_per_1000_node_days", "failures_per_1000_node_days"),
    ("short_write_s", "write_s"),
    ("slow_found_soon_h", "slow_found_h"),
    ("cheap_verification_s", "verification_s"),
)


def _share(what):
    return Field(ge=0, le=1, description=what)


def _percent(what):
    return Field(ge=0, le=100, description=what)


def _minutes(what):
    return Field(ge=0, le=1e5, description=f"{what} (min)")


def _seconds(what, **limits):
    return Field(**({"ge": 0, "le": 1e5} | limits), description=f"{what} (s)")


def _rate(what):
    return Field(gt=0, le=1e4, description=f"{what} of 1,000 nodes in a day")


class Parameters(PageParameters):
    """The job as it is, and for each lever what it would be with that turned.

    A lever may be turned to where it already stands; then it gains nothing. It may not be turned the wrong way: "short
    writes" that are longer would be a false name wherever the page has it, and mostly mean that the plain value was
    changed and the turned one forgotten. (Inspection finds no class of faults later than the plain detection does,
    however slow it is.) A gain may still be negative, where a lever costs more than it saves.
    """

    smallest_gpus: int = Field(ge=1, le=10**6, description="GPUs of the smallest job")
    doublings: int = Field(ge=0, le=10, description="how often it is doubled, up to the largest")
    gpus_per_node: int = Field(ge=1, le=1024, description="GPUs in a node")
    failures_per_1000_node_days: float = _rate("failures")
    fewer_failures_per_1000_node_days: float = _rate("the same with fewer failures")
    lemon_share: float = _share("share of the nodes that are lemons")
    lemon_factor: float = Field(ge=1, le=1e4, description="times as many failures of a lemon")
    lemons_left: float = _share("share of the lemons that screening leaves")
    burst_share: float = _share("share of the random node failures that take a whole rack")
    rack_nodes: int = Field(ge=2, le=10**4, description="nodes in a rack")
    class_counts: dict[str, int] = Field(description="failures by class, for their shares")
    wrong_node: float = _share("share of the node faults for which a healthy node is blamed")
    detection_s: float = _seconds("detection of a fault")
    inspection_gpu_s: float = _seconds("by inspection: class gpu")
    inspection_network_s: float = _seconds("by inspection: class network")
    inspection_host_s: float = _seconds("by inspection: class host")
    restart_min: float = _minutes("measured cold restart")
    nccl_min: float = _minutes("of it, set-up of communication")
    measured_gpus: int = Field(ge=1, le=10**8, description="GPUs of the restart that was measured")
    nccl_exponent: float = Field(ge=0, le=3, description="communication set-up grows with this power of the size")
    restart_factor: float = _share("a shorter cold restart, as a share of it")
    swap_s: float = _seconds("swap to a standby, at the measured size")
    swap_exponent: float = Field(ge=0, le=3, description="a swap grows with this power of the size")
    standby_percent: float = _percent("warm standbys for each 100 nodes of the job")
    more_standby_percent: float = _percent("the same with more standbys; those beyond idle_percent enlarge the pool")
    idle_percent: float = _percent("nodes of the pool that are not in the job, for each 100 of it, standbys among them")
    spare_percent: float = _percent("spares at other work for each 100 nodes of the job")
    selection_min: float = _minutes("selection of hosts where no standby is left")
    preemption_min: float = _minutes("wait for a spare from other work")
    automatic_repair_min: float = _minutes("first stage of a repair")
    manual_repair_min: float = _minutes("second stage of a repair")
    to_manual: float = _share("share of the repairs that go on to the second stage")
    automatic_fails: float = _share("share of the first stages that leave a lemon one")
    manual_fails: float = _share("share of the second stages that leave a lemon one")
    write_s: float = _seconds("a checkpoint stops the job", ge=1e-3)
    short_write_s: float = _seconds("the same with short writes", ge=1e-3)
    slow_per_1000_node_days: float = _rate("slow-downs")
    slowdown: float = Field(gt=0, le=100, description="a step is longer by this share while a node is slow")
    slow_found_h: float = Field(ge=0, le=1e4, description="search for slow nodes begins so long after the first (h)")
    slow_found_soon_h: float = Field(ge=0, le=1e4, description="the same, sooner (h)")
    silent_found: int = Field(ge=1, le=10**6, description="silent corruptions that were found")
    silent_gpu_hours: float = Field(gt=0, le=1e12, description="GPU-hours in which they were")
    verification_s: float = _seconds("a verification stops the job")
    cheap_verification_s: float = _seconds("the same, cheap")
    days: int = Field(ge=1, le=366, description="days of the job")
    replications: int = Field(ge=2, le=10**5, description="runs of each job that are simulated")
    seed: int = Field(ge=0, le=2**63 - 1, description="seed of the simulation")

    def model_post_init(self, _):
        """Refuse counts that are none, sizes that are not whole nodes and racks, and what is above its bound in `AT_MOST`."""
        check_class_counts(self.class_counts)
        whole = self.gpus_per_node * (self.rack_nodes if self.burst_share else 1)
        if self.smallest_gpus % whole:
            raise ValueError(
                f"smallest_gpus = {self.smallest_gpus}: must be a multiple of {whole}, "
                "which is gpus_per_node, times rack_nodes where racks fail"
            )
        nodes = self.sizes[-1] // self.gpus_per_node
        pool = nodes + max(fleets.pool_nodes(self, nodes, turned) for turned in (fleets.NONE, fleets.ALL))
        if pool > MOST_NODES:
            raise ValueError(
                f"doublings = {self.doublings}: {self.sizes[-1]:,} GPUs need a pool of {pool:,} nodes, idle ones and standbys "
                f"with them; the model has at most {MOST_NODES:,}"
            )
        self._refuse_what_takes_too_long()
        above = [(a, b) for a, b in AT_MOST if getattr(self, a) > getattr(self, b)]
        if above:
            raise ValueError(
                "; ".join(f"{a} = {getattr(self, a):g}: must be at most {b} = {getattr(self, b):g}" for a, b in above)
            )

    def _refuse_what_takes_too_long(self):
        """Refuse more events of a kind in a run of the largest job than the fleet model does, by the page's own names."""
        gpus = self.sizes[-1]
        # The bounds are rounded, to the safe side, so that what is printed is what is compared.
        most = float(f"{0.99 * 1000 * MOST_EVENTS / (self.days * gpus / self.gpus_per_node):.3g}")
        least = float(f"{1.01 * 24 * self.days * gpus * self.silent_found / MOST_EVENTS:.3g}")
        faults = [
            f"{name} = {getattr(self, name)!r}: must be at most {most:g}"
            for name in ("failures_per_1000_node_days", "slow_per_1000_node_days")
            if getattr(self, name) > most
        ]
        if self.silent_gpu_hours < least:
            faults.append(f"silent_gpu_hours = {self.silent_gpu_hours!r}: must be at least {least:g} for {self.silent_found:,} corruptions")
        if faults:
            raise ValueError(
                f"{'; '.join(faults)}, or a run of {self.days} days on {gpus:,} GPUs has more events than the {MOST_EVENTS:,.0f} "
                "that the model does"
            )

    @property
    def sizes(self):
        """Sizes of the job (GPUs), rising."""
        return [self.smallest_gpus * 2**k for k in range(self.doublings + 1)]


def compute(p):
    """Simulate the job at each size under each set of levers, and lay the results out."""
    results = {size: runs.simulate(p, size, runs.generator(p, size)) for size in p.sizes}
    found = {size: runs.three(one) for size, one in results.items()}
    gains = {size: {lever: runs.gain(results[size], frozenset([lever])) for lever in LEVERS} for size in p.sizes}
    order = sorted(LEVERS, key=lambda lever: -gains[p.sizes[-1]][lever].mean)
    hours = {
        name: {size: runs.hours(one, turned) for size, one in results.items()}
        for name, turned in (("plain", fleets.NONE), ("all", fleets.ALL))
    }
    values = {
        "hours": hours,
        "gains": gains,
        "best": {size: runs.most(some)[0] for size, some in gains.items()},
        "order": order,
        "three": found,
        "holds_from": runs.holds_from(found),
        "imbalance_s": max(map(runs.imbalance_s, results.values())),
    }
    sections = {
        "answer": text.answer(p, hours, gains, found),
        "levers": tables.levers(p),
        "sizes": tables.sizes(p),
        "plain": tables.hours(hours["plain"], {size: one.plain for size, one in found.items()}),
        "all": tables.hours(hours["all"], {size: one.all for size, one in found.items()}),
        "lost": text.lost(p, hours["all"]),
        "gains": tables.gains(gains, order),
        "most": text.most(gains),
        "three": tables.three(found),
        "order": tables.order(found),
        "claim": text.claim(found),
        "later": text.later(found),
        "factors": tables.factors(found),
        "groups": text.groups(found),
        "taxonomy": tables.taxonomy(),
    }
    return Result({}, sections, values)


def anchors():
    """Published results on single jobs that the fleet model is held against, each from its own inputs."""
    return job_anchors.anchors()
