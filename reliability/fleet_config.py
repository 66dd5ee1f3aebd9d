"""What a fleet is: the job, its pool, and the parts of :mod:`reliability.fleet_parts`; what is not modelled is refused."""

from typing import Annotated

from pydantic import Field, ValidationError, model_validator

from reliability.errors import BadInput
from reliability.fleet_parts import (
    Checkpoint,
    Corruption,
    Elastic,
    Failures,
    FaultClass,
    Longer,
    Nodes,
    Part,
    Recovery,
    Repair,
    Retirement,
    Straggler,
)


class FleetError(BadInput):
    """A fleet's setting is missing, unknown, impossible, or asks for what the model does not do."""


class Fleet(Part):
    """One job on its fleet."""

    job_nodes: Annotated[int, Field(ge=1, le=10**6)]
    pool_nodes: Nodes | None = None  # working pool; without it the job and its standbys
    warm_standbys: Nodes = 0
    spare_nodes: Nodes = 0  # at other work, preempted one at a time
    work_h: Longer | None = None
    horizon_h: Longer | None = None
    failures: Failures
    faults: Annotated[tuple[FaultClass, ...], Field(strict=False, min_length=1)] = (FaultClass(name="fault"),)
    repair: Repair
    recovery: Recovery
    elastic: Elastic | None = None
    checkpoint: Checkpoint | None = None  # without it no work is ever lost
    straggler: Straggler | None = None
    corruption: Corruption | None = None
    retirement: Retirement | None = None

    @model_validator(mode="after")
    def _together(self):
        if (self.work_h is None) == (self.horizon_h is None):
            raise ValueError("work_h, horizon_h: give one of them, the work to do or the time to run")
        if self.pool < self.job_nodes + self.warm_standbys:
            raise ValueError(
                f"pool_nodes = {self.pool_nodes}: must hold job_nodes + warm_standbys = {self.job_nodes + self.warm_standbys}"
            )
        if abs(sum(fault.share for fault in self.faults) - 1) > 1e-9:
            raise ValueError(
                f"faults: their shares sum to {sum(f.share for f in self.faults):.12g}; they must sum to 1"
            )
        self._refuse_what_is_not_modelled()
        return self

    def _refuse_what_is_not_modelled(self):
        sizes = [b for s, b in zip(self.failures.burst_shares, self.failures.burst_sizes, strict=True) if s > 0]
        for size in sizes:
            if self.job_nodes % size:
                raise ValueError(
                    f"burst_sizes: job_nodes = {self.job_nodes} is no multiple of {size}; the job fills whole domains"
                )
        if self.elastic:
            if self.job_nodes % self.elastic.nodes_per_replica:
                raise ValueError(
                    f"nodes_per_replica = {self.elastic.nodes_per_replica}: must divide job_nodes = {self.job_nodes}"
                )
            if self.warm_standbys != self.pool - self.job_nodes or self.spare_nodes:
                raise ValueError(
                    "elastic: every node outside the job must be a warm standby, and there are no spares to preempt"
                )
        if self.corruption and not self.checkpoint:
            raise ValueError("corruption: needs a checkpoint to go back to")

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


def build(values):
    """Make a :class:`Fleet` of nested mappings, or say in one line what is wrong with each.

    Parameters
    ----------
    values : mapping
        As read from the ``[fleet]`` table of a TOML file.

    Raises
    ------
    FleetError
    """
    try:
        return Fleet(**values)
    except ValidationError as error:
        raise FleetError("; ".join(_fault(fault) for fault in error.errors())) from None


def _fault(fault):
    message = fault["msg"].removeprefix("Value error, ")
    where = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "missing":
        return f"{where}: is missing"
    if fault["type"] == "value_error":  # a rule over several settings names them itself
        return f"{where}: {message}" if where else message
    return f"{where} = {fault['input']!r}: {message[0].lower() + message[1:]}".replace("input should", "must")
