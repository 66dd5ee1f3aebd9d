"""What a fleet is: the job, its pool, and the parts of :mod:`reliability.fleet_parts`; what is not modelled is refused."""

import math

import numpy as np
from pydantic import ValidationError, model_validator

from reliability.errors import BadInput
from reliability.field_types import number, plain, whole
from reliability.fleet_parts import (
    MOST_HOURS,
    MOST_NODES,
    Checkpoint,
    Corruption,
    Elastic,
    Failures,
    FaultClass,
    Part,
    Recovery,
    Repair,
    Retirement,
    Straggler,
)
from reliability.settings_faults import Kind
from reliability.units import DAY_S, HOUR_S

MOST_EVENTS = 1e9  # of a kind in a replication, which then takes minutes


class FleetError(BadInput):
    """A fleet's setting is missing, unknown, impossible, or asks for what the model does not do."""


def _table(name, description, **more):
    return plain(description, f"a table: see fleet.{name}", **more)


class Fleet(Part):
    """One job on its fleet."""

    job_nodes: int = whole("nodes of the job", 1, MOST_NODES)
    pool_nodes: int | None = whole(
        "nodes of the working pool: the job, its standbys, and idle ones; by default the job and its standbys",
        1,
        MOST_NODES,
        default=None,
    )
    warm_standbys: int = whole(
        "nodes of the pool that stand by, ready to take the place of a lost one", 0, MOST_NODES, default=0
    )
    spare_nodes: int = whole(
        "nodes at other work, beside the pool, that are preempted one at a time", 0, MOST_NODES, default=0
    )
    work_h: float | None = number(
        "work to do, in hours of the whole job at full speed; this or horizon_h",
        "h",
        0,
        MOST_HOURS,
        above=True,
        default=None,
    )
    horizon_h: float | None = number("time to run; this or work_h", "h", 0, MOST_HOURS, above=True, default=None)
    failures: Failures = _table("failures", "how nodes fail")
    faults: tuple[FaultClass, ...] = plain(
        "classes of faults; by default one, which is seen at once and blamed on the node that failed",
        "tables, [[fleet.faults]], whose shares sum to 1",
        strict=False,
        default=(FaultClass(name="fault"),),
    )
    repair: Repair = _table("repair", "how long a node is away, and whether it comes back cured")
    recovery: Recovery = _table("recovery", "how the job comes back")
    elastic: Elastic | None = _table("elastic", "going on with fewer replicas", default=None)
    checkpoint: Checkpoint | None = _table("checkpoint", "checkpoints; without it no work is ever lost", default=None)
    straggler: Straggler | None = _table("straggler", "nodes that turn slow", default=None)
    corruption: Corruption | None = _table("corruption", "silent corruption; needs fleet.checkpoint", default=None)
    retirement: Retirement | None = _table("retirement", "taking out nodes that fail again", default=None)

    @model_validator(mode="after")
    def _together(self):
        if (self.work_h is None) == (self.horizon_h is None):
            given = "neither is given" if self.work_h is None else "both are given"
            raise ValueError(f"give one of work_h and horizon_h, the work to do or the time to run: {given}")
        if self.pool < self.job_nodes + self.warm_standbys:
            raise ValueError(
                f"pool_nodes = {self.pool_nodes}: must hold job_nodes + warm_standbys = {self.job_nodes + self.warm_standbys}"
            )
        if abs(sum(fault.share for fault in self.faults) - 1) > 1e-9:
            raise ValueError(
                f"faults: their shares sum to {sum(f.share for f in self.faults):.12g}; they must sum to 1"
            )
        self._refuse_what_is_not_modelled()
        self._refuse_what_never_ends()
        return self

    def _refuse_what_never_ends(self):
        days = self.length_h * HOUR_S / DAY_S
        for name in ("failures", "straggler", "corruption"):
            part = getattr(self, name)
            apart = 1.0 / (part.rate_per_node_day * self.job_nodes) if part else np.inf
            if name == "straggler" and part:  # the next one comes when the last is found
                apart += part.found_after_s / DAY_S
            expected = days / apart
            if expected > MOST_EVENTS:
                raise ValueError(
                    f"{name}.rate_per_node_day = {part.rate_per_node_day!r}: means {_events(expected)} events in a replication; "
                    f"the model does at most {_events(MOST_EVENTS)}"
                )

    def _refuse_what_is_not_modelled(self):
        sizes = [b for s, b in zip(self.failures.burst_shares, self.failures.burst_sizes, strict=True) if s > 0]
        for size in sizes:
            if self.job_nodes % size:
                raise ValueError(
                    f"failures.burst_sizes: job_nodes = {self.job_nodes} is no multiple of {size}; the job fills whole domains"
                )
        if self.elastic:
            if self.job_nodes % self.elastic.nodes_per_replica:
                raise ValueError(
                    f"elastic.nodes_per_replica = {self.elastic.nodes_per_replica}: must divide job_nodes = {self.job_nodes}"
                )
            if self.warm_standbys != self.pool - self.job_nodes or self.spare_nodes:
                raise ValueError(
                    "elastic: every node outside the job must be a warm standby, and there are no spares to preempt"
                )
        if self.corruption and not self.checkpoint:
            raise ValueError("corruption: needs a checkpoint to go back to")

    @property
    def length_h(self):
        """Hours of work to do, or of the horizon."""
        return self.horizon_h if self.work_h is None else self.work_h

    @property
    def pool(self):
        """Nodes of the working pool."""
        return self.job_nodes + self.warm_standbys if self.pool_nodes is None else self.pool_nodes

    @property
    def bad_nodes(self):
        """Bad nodes of the working pool and the spares at the start."""
        return int(self.failures.bad_share * (self.pool + self.spare_nodes) * (1 + 1e-12))

    @property
    def aged(self):
        """Whether nodes fail at an age of their own, and not at any moment alike."""
        return self.failures.life != "exponential"

    @property
    def blames(self):
        """Whether a random number decides what a fault is, or who is blamed for it."""
        return len(self.faults) > 1 or self.faults[0].right < 1


def _events(number):
    """Write a number of events so that one above the limit never looks like the limit."""
    return f"{math.ceil(number):,}" if number < 1e15 else f"{number:.0e}"


TABLES = {
    "failures": Failures, "faults": FaultClass, "repair": Repair, "recovery": Recovery, "elastic": Elastic, "checkpoint": Checkpoint,
    "straggler": Straggler, "corruption": Corruption, "retirement": Retirement,
}  # fmt: skip


KIND = Kind(
    "a fleet file",
    {("fleet",): Fleet} | {("fleet", name): part for name, part in TABLES.items()},
    arrays=[("fleet", "faults")],
)


def keys():
    """Return every key as (table, key, field), in the order in which the documentation has them."""
    return KIND.documented()


def build(values, text=""):
    """Make a :class:`Fleet` of nested mappings, or say in one line what is wrong.

    Parameters
    ----------
    values : mapping
        As read from the ``[fleet]`` table of a TOML file.
    text : str
        The file, to name the line of a fault.

    Raises
    ------
    FleetError
    """
    tables = {"fleet": values}
    if said := KIND.unknown(tables, text):
        raise FleetError(said)
    try:
        return Fleet(**values)
    except ValidationError as error:
        raise FleetError(KIND.said(error, tables, text)) from None
