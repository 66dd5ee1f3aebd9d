"""The plan of a cluster: what it keeps of its time now and could keep, by what, and how sure that is.

What is not known is drawn many times from its range; every number below is computed for each draw, so that its interval is what the
ranges leave. Two plans that are drawn with one seed can be compared draw by draw.
"""

from dataclasses import dataclass, replace

import numpy as np

from reliability import checkpoint, job_state, levers, storage
from reliability.aliases import Names
from reliability.cluster import Cluster
from reliability.cluster import read as read_cluster
from reliability.cluster_fields import NO_NODE
from reliability.evidence import Evidence, gather
from reliability.intervals import availability_interval
from reliability.quantities import Quantity, Streams, interval
from reliability.rates import HOURS_PER_DAY
from reliability.standby import chance_pool_lasts

DRAWS, SEED = 4000, 7
MOST_FOLLOWED = 256  # standbys whose chain is followed; its time grows with their cube
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
    now, planned : reliability.job_state.State
        As the cluster is, and with the best interval, the standbys that pay and the improvements that the file offers.
    levers : list of (reliability.levers.Lever, array [draws])
        What each alone adds to the ETTR.
    pools : reliability.job_state.Pools or None
        Of the planned state.
    streams : reliability.quantities.Streams
    names : reliability.aliases.Names
    """

    cluster: Cluster
    name: str
    evidence: Evidence
    now: job_state.State
    planned: job_state.State
    levers: list
    pools: job_state.Pools | None
    streams: Streams
    names: Names

    def __repr__(self):
        now, planned = (float(np.median(state.ettr())) for state in (self.now, self.planned))
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

    def in_horizon(self, state):
        """ETTR of one run of the horizon's length [draws]: the mean of each draw, and chance on top."""
        chance = self.streams.normal("horizon")
        return np.clip(state.ettr() + chance * state.spread(3600 * self.horizon_h), 0.0, 1.0)

    def ways(self):
        """Return the fewest levers that reach the target: as likely as not, and safely."""
        found, target = [lever for lever, _ in self.levers], self.cluster.target.ettr
        return dict(zip(("likely", "safe"), levers.smallest(self.now, found, target, (LIKELY, SURE)), strict=True))

    def by_interval(self, state, intervals):
        """ETTR of a state at each of these intervals in seconds, as median, low and high [intervals]."""
        rows = [interval(state.ettr(float(seconds))) for seconds in intervals]
        return tuple(np.array([row[key] for row in rows]) for key in ("value", "low", "high"))


def make(cluster, draws=DRAWS, seed=SEED, anonymise=False, names=None):
    """Make the plan of a cluster.

    Parameters
    ----------
    cluster : Cluster, or path of a cluster file
    draws : int, >= 1
    seed : int, >= 0
    anonymise : bool
        Whether hosts, users, jobs, files and the cluster itself are called by aliases.
    names : reliability.aliases.Names, optional
        Those of another plan, so that a name has one alias in both; in place of `anonymise`.

    Returns
    -------
    Plan

    Raises
    ------
    ClusterError, LogError
        For a cluster file or a log that cannot be used.

    Examples
    --------
    >>> plan = make("example:llama3", draws=200)
    >>> plan.now.nodes
    2048
    """
    if not isinstance(cluster, Cluster):
        cluster = read_cluster(cluster)
    streams, names = Streams(seed, draws), names or Names(anonymise)
    evidence = gather(cluster, streams, names)
    now = _now(cluster, evidence, streams)
    found = levers.levers(now, cluster.improvements, streams.quantity)
    planned = levers.settled(now, [lever for lever in found if lever.offered])
    pools = job_state.pools(planned, cluster.target.shortage)
    return Plan(
        cluster, names.cluster(cluster.name), evidence, now, planned, levers.worth(now, found), pools, streams, names
    )


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


def intervals_compared(plan):
    """Return the checkpoint intervals of the planned state by several models, in minutes, each with its interval.

    Returns
    -------
    dict
        ``best`` maximises the mean ETTR over the draws; ``good`` is the range as good within half a percent; the others are the
        formulas' own, draw by draw.
    """
    state = plan.planned
    shares, detection, restart = state.kinds()
    mean_restart = (shares * (detection + restart)).sum(1)
    low, high = job_state.good_intervals(state)
    return {
        "now": None if plan.cluster.checkpoint.interval_min is None else plan.cluster.checkpoint.interval_min,
        "planned": state.interval / 60,
        "best": job_state.best_interval(state) / 60,
        "good": (low / 60, high / 60),
        "exact": interval(checkpoint.optimal_interval(state.write, state.mtbf) / 60),
        "young": interval(checkpoint.young_interval(state.write, state.mtbf) / 60),
        "daly": interval(checkpoint.daly_interval(state.write, state.mtbf) / 60),
        "saxena": interval(availability_interval(state.write, mean_restart, state.mtbf) / 60),
    }


def giving_back(plan):
    """Return how many standbys of the plan do not pay, and the GPU-hours of the run that giving them back would save [draws].

    Returns
    -------
    (spare, saved)
        `saved` is what they would do elsewhere, less the work that the job then loses; (0, None) where all of them pay, or it is not known.
    """
    planned = plan.planned
    spare = 0 if plan.pools is None else max(0, planned.standbys - plan.pools.best)
    if not spare:
        return 0, None
    fewer = replace(planned, standbys=planned.standbys - spare)
    nodes = spare * plan.cluster.cluster.gpus_per_node * plan.horizon_h
    return spare, nodes - plan.gpu_hours * (planned.ettr() - fewer.ettr())


def chance_runs_out(plan, state, standbys):
    """Chance that at least one failure of the whole run finds no standby, with its interval; None where it is not known.

    Parameters
    ----------
    plan : Plan
    state : State
    standbys : int

    Returns
    -------
    dict of value, low and high, or None
    """
    if state.swap is None or state.load is None or standbys > MOST_FOLLOWED:
        return None
    number = int(np.clip(150_000 // (standbys + 1) ** 2, 8, 64))
    order = np.argsort(state.load)[np.linspace(0, len(state.load) - 1, number).astype(int)]
    rates = state.load / state.repair_h
    lasting = [chance_pool_lasts([rates[i]], [1], state.repair_h[i], standbys, plan.horizon_h) for i in order]
    return interval(1 - np.array(lasting))
