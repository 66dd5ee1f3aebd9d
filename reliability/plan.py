"""The plan of a cluster: what it keeps of its time now and could keep, by what, and how sure that is.

What is not known is drawn many times from its range. What a state of the cluster keeps is simulated by the fleet model
(:mod:`reliability.plan_runs`); every number below has a value for each draw, so that its interval is what the ranges leave. The
formulas of :class:`reliability.job_state.State` choose the checkpoint interval and the standbys, and stand beside the simulation as
its check. Two plans that are drawn with one seed can be compared draw by draw.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from reliability import job_state, lever_sets, levers, storage
from reliability.aliases import Names
from reliability.cluster import Cluster
from reliability.cluster import read as read_cluster
from reliability.cluster_fields import NO_NODE
from reliability.evidence import Evidence, gather
from reliability.plan_draws import DRAWS, SEED
from reliability.plan_runs import RUNS, Simulated, Simulator
from reliability.quantities import Quantity, Streams, interval
from reliability.rates import HOURS_PER_DAY

LIKELY, SURE = 0.5, 0.95  # chance with which a target counts as reached as likely as not, and safely


@dataclass(frozen=True, repr=False)
class Plan:
    """A plan: its inputs, the two states that it compares, and all draws behind its numbers.

    Attributes
    ----------
    cluster : reliability.cluster.Cluster
    name : str
        What the cluster is called.
    evidence : reliability.evidence.Evidence
    now, planned : reliability.plan_runs.Simulated
        As the cluster is, and with the best interval, the standbys that pay and the improvements that the file offers.
    levers : list of (reliability.levers.Lever, reliability.plan_runs.Simulated)
        Each alone, the greatest median gain first, which is what is shown.
    simulator : reliability.plan_runs.Simulator
    pools : reliability.job_state.Pools or None
        Of the planned state.
    streams : reliability.quantities.Streams
    names : reliability.aliases.Names
    """

    cluster: Cluster
    name: str
    evidence: Evidence
    now: Simulated
    planned: Simulated
    levers: list
    simulator: Simulator
    pools: job_state.Pools | None
    streams: Streams
    names: Names
    _sets: dict = field(default_factory=dict)

    def __repr__(self):
        now, planned = (float(np.median(found.ettr)) for found in (self.now, self.planned))
        return f"Plan(name={self.name!r}, ettr_now={now:.3f}, ettr_planned={planned:.3f}, draws={self.streams.draws})"

    def _repr_markdown_(self):
        from reliability import plan_document, plan_text

        return "\n\n".join(plan_text.sections(plan_document.document(self)).values())

    @property
    def horizon_h(self):
        """Hours of the run."""
        return HOURS_PER_DAY * self.cluster.target.horizon_days

    @property
    def gpu_hours(self):
        """GPU-hours of the job over the run, standbys apart."""
        return self.cluster.cluster.gpus * self.horizon_h

    def money(self, gpu_hours):
        """Return what GPU-hours cost, or None without a price."""
        price = self.cluster.cluster.price_per_gpu_hour
        return None if price is None else price * gpu_hours

    def gain(self, simulated):
        """What a simulated state keeps more than the present one, in shares of all time [draws]."""
        return simulated.ettr - self.now.ettr

    def with_levers(self, chosen):
        """Simulate what levers together make of the present state."""
        names = frozenset(lever.name for lever in chosen)
        if names not in self._sets:
            self._sets[names] = self.simulator.measure(levers.settled(self.now.state, chosen))
        return self._sets[names]

    def ways(self):
        """Return the fewest levers that reach the target: as likely as not, and safely."""
        found, target = [lever for lever, _ in self.levers], self.cluster.target.ettr
        ways = lever_sets.smallest(self.now, found, target, (LIKELY, SURE), self.with_levers)
        return dict(zip(("likely", "safe"), ways, strict=True))

    def by_interval(self, state, intervals):
        """ETTR of a state by the formula at each of these intervals in seconds, as median, low and high [intervals]."""
        rows = [interval(state.ettr(float(seconds))) for seconds in intervals]
        return tuple(np.array([row[key] for row in rows]) for key in ("value", "low", "high"))


def make(cluster, draws=DRAWS, seed=SEED, anonymise=False, names=None, runs=RUNS):
    """Make the plan of a cluster.

    Parameters
    ----------
    cluster : Cluster, or path of a cluster file
    draws : int, >= 2
        Of what is not known exactly.
    seed : int, >= 0
    anonymise : bool
        Whether hosts, users, jobs, files and the cluster itself are called by aliases.
    names : reliability.aliases.Names, optional
        Those of another plan, so that a name has one alias in both; in place of `anonymise`.
    runs : int, >= 2
        Simulated runs of each state, at most one a draw.

    Returns
    -------
    Plan

    Raises
    ------
    ClusterError, LogError
        For a cluster file or a log that cannot be used.

    Examples
    --------
    >>> plan = make("example:slurm_xid", draws=20)
    >>> plan.now.state.nodes
    48
    """
    if not isinstance(cluster, Cluster):
        cluster = read_cluster(cluster)
    streams, names = Streams(seed, draws), names or Names(anonymise)
    evidence, now = current(cluster, streams, names)
    found = levers.levers(now, cluster.improvements, streams.quantity)
    planned = levers.settled(now, [lever for lever in found if lever.offered])
    simulator = Simulator(evidence.classes, HOURS_PER_DAY * cluster.target.horizon_days, streams, now, runs)
    measured = simulator.measure(now)
    alone = [(lever, simulator.measure(lever.apply(now))) for lever in found]
    alone.sort(key=lambda pair: -float(np.median(pair[1].ettr - measured.ettr)))
    offered = frozenset(lever.name for lever in found if lever.offered)
    simulated = {frozenset(): measured, offered: simulator.measure(planned)}
    pools = job_state.pools(planned, cluster.target.shortage)
    return Plan(
        cluster, names.cluster(cluster.name), evidence, measured, simulated[offered], alone, simulator, pools, streams, names,
        simulated,
    )  # fmt: skip


def names_of(cluster):
    """Return the aliases that a plan of a cluster gives to all names in its file and its logs."""
    names = Names(True)
    gather(cluster, Streams(SEED, 2), names)
    names.cluster(cluster.name)
    return names


def current(cluster, streams, names, reads=None):
    """Return what is known of a cluster, and its state as it is now: where a plan starts.

    Parameters
    ----------
    cluster : Cluster
    streams : reliability.quantities.Streams
    names : reliability.aliases.Names
    reads : reliability.log_reads.Reads, optional
        What was read for other states of the same logs.

    Returns
    -------
    (Evidence, State)
    """
    evidence = gather(cluster, streams, names, reads)
    return evidence, _now(cluster, evidence, streams)


def _now(cluster, evidence, streams):
    recovery, draws = cluster.recovery, streams.draws
    detection = streams.quantity("detection", recovery.detection_s)
    by_class = recovery.detection_by_class_s
    columns = [
        streams.quantity(f"detection {c}", by_class[c]) if c in by_class else detection for c in evidence.classes
    ]
    longer = recovery.replacement_min or Quantity(0.0)
    state = job_state.State(
        nodes=cluster.nodes,
        rate=evidence.rate,
        shares=evidence.shares,
        on_node=_on_node(evidence.classes, recovery.standby_classes),
        detection=np.stack(columns, axis=1),
        cold=streams.quantity("cold", recovery.cold_restart_s),
        swap=None if recovery.standby_restart_s is None else streams.quantity("swap", recovery.standby_restart_s),
        replacement=60 * streams.quantity("replacement", longer),
        repair_h=evidence.repair_h,
        standbys=recovery.standby_nodes,
        waits=recovery.none_left == "wait",
        write=_write(cluster.checkpoint, streams),
        drag=evidence.drag,
        interval=1.0,
    )
    assert state.rate.shape == (draws,)
    minutes = cluster.checkpoint.interval_min
    return replace(state, interval=job_state.best_interval(state) if minutes is None else 60.0 * minutes)


def _on_node(classes, given):
    """Whether a node is to blame, for each class; its name may be written in any case."""
    if given is None:
        return np.array([c.lower() not in NO_NODE for c in classes])
    known = {c.lower() for c in given}
    return np.array([c.lower() in known for c in classes])


def _write(given, streams):
    if given.write_s is not None:
        return streams.quantity("write", given.write_s)
    bandwidth = 1e9 * streams.quantity("bandwidth", given.write_gb_s)
    return given.blocking_share * storage.write_time(1e9 * given.parameters_b, given.bytes_per_parameter, bandwidth)
