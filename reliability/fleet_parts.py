"""The parts of a fleet's settings: failures, faults, repair, recovery, checkpoints and what drags a job.

Every part is a frozen model that refuses unknown names, NaN and values out of range. Times are in
seconds unless a name ends otherwise.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Time = Annotated[float, Field(ge=0)]
Longer = Annotated[float, Field(gt=0)]
Chance = Annotated[float, Field(ge=0, le=1)]
Nodes = Annotated[int, Field(ge=0, le=10**6)]


class Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Failures(Part):
    """How nodes fail.

    Each node fails at random; the bad ones, besides, systematically at `bad_factor` times the random
    rate, until a repair cures them. Systematic failures are always exponential. The failure clock of a
    node runs while the job runs ("running"), or in its stops as well ("always"); never on a node that
    is idle. A burst takes all nodes of one blast radius; the random failures of a node are as many
    whatever the radii, as in :mod:`reliability.bursts`.
    """

    rate_per_node_day: Longer
    bad_share: Chance = 0.0
    bad_factor: Time = 0.0
    life: Literal["exponential", "weibull", "lognormal"] = "exponential"
    shape: Annotated[float, Field(ge=0.05)] | None = None  # of a Weibull life
    cv: Longer | None = None  # of a lognormal life
    clock: Literal["running", "always"] = "running"
    burst_shares: Annotated[tuple[Chance, ...], Field(strict=False, min_length=1)] = (1.0,)
    burst_sizes: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(strict=False, min_length=1)] = (1,)

    @model_validator(mode="after")
    def _together(self):
        if (self.life == "weibull") != (self.shape is not None):
            raise ValueError(f"shape = {self.shape}: belongs to life = 'weibull', and only to it")
        if (self.life == "lognormal") != (self.cv is not None):
            raise ValueError(f"cv = {self.cv}: belongs to life = 'lognormal', and only to it")
        if len(self.burst_shares) != len(self.burst_sizes) or len(set(self.burst_sizes)) != len(self.burst_sizes):
            raise ValueError(f"burst_sizes = {self.burst_sizes}: must be different sizes, one for each of burst_shares")
        if abs(sum(self.burst_shares) - 1) > 1e-9:
            raise ValueError(f"burst_shares = {self.burst_shares}: must sum to 1")
        return self

    @property
    def rate(self):
        """Random failures of a node per second."""
        return self.rate_per_node_day / 86400.0

    @property
    def event_rate(self):
        """Random failures of a node per second that begin with it, and not as a part of another one's burst."""
        return self.rate * sum(share / size for share, size in zip(self.burst_shares, self.burst_sizes, strict=True))

    @property
    def has_bursts(self):
        """Whether any failure takes more than one node."""
        return any(size > 1 and share > 0 for share, size in zip(self.burst_shares, self.burst_sizes, strict=True))


class FaultClass(Part):
    """A class of faults: how long it takes to be seen, and which node is blamed.

    `right` of these faults send the node that failed to repair, `wrong` of them a healthy one of the job
    instead; after the rest none is blamed and the job restarts on the nodes it has.
    """

    name: str
    share: Annotated[float, Field(gt=0, le=1)] = 1.0
    detection_s: Time = 0.0
    right: Chance = 1.0
    wrong: Chance = 0.0

    @model_validator(mode="after")
    def _blame(self):
        if self.right + self.wrong > 1 + 1e-12:
            raise ValueError(f"right + wrong = {self.right + self.wrong:g}: must be at most 1")
        return self


class Repair(Part):
    """Two stages: automatic, and for a share of the nodes then manual; after either, requalification.

    A repair that fails returns the node all the same, a bad one still bad.
    """

    automatic_s: Time
    manual_s: Time = 0.0
    to_manual: Chance = 0.0
    automatic_fails: Chance = 0.0
    manual_fails: Chance = 0.0
    requalify_s: Time = 0.0
    times: Literal["exponential", "fixed"] = "exponential"  # of the two stages; requalification is fixed


class Recovery(Part):
    """The way back: a cold restart, a swap to warm standbys, or on with fewer replicas."""

    restart_s: Time
    swap_s: Time | None = None  # restart with a standby for each node lost; without it as long as a cold one
    host_selection_s: Time = 0.0
    preemption_s: Time = 0.0


class Elastic(Part):
    """On with fewer data-parallel replicas while nodes are away, at the sizes of :mod:`reliability.elastic`."""

    nodes_per_replica: Annotated[int, Field(ge=1)]
    batch: Annotated[int, Field(ge=1)] | None = None
    reshard_s: Time  # restart on fewer nodes
    grow_s: Time = 0.0  # stop to take nodes in again


class Checkpoint(Part):
    """A write after each interval of work; with an upload it counts only when that has ended."""

    interval_s: Longer
    write_s: Time = 0.0
    upload_s: Time = 0.0
    drag: Chance = 0.0  # share of its speed that the job loses during the upload

    @model_validator(mode="after")
    def _fits(self):
        if self.interval_s < (1 - self.drag) * self.upload_s:
            raise ValueError(
                f"interval_s = {self.interval_s:g}: must be at least (1 - drag) upload_s = {(1 - self.drag) * self.upload_s:g}, "
                "or the next upload begins before one ends"
            )
        return self


class Straggler(Part):
    """Nodes that turn slow, and the job with them, until a search finds all that are slow."""

    rate_per_node_day: Longer
    slowdown: Longer  # 0.2: a step takes 1.2 times as long
    found_after_s: Time  # running time from the first slow node to the search that finds it
    pause_s: Time = 0.0  # stop to replace what was found


class Corruption(Part):
    """Silent corruption while the job works, found by a verification before every so manieth write."""

    rate_per_node_day: Longer
    verification_s: Time
    every: Annotated[int, Field(ge=1)] = 1
    restart_s: Time | None = None  # back to the last verified checkpoint; without it a cold restart


class Retirement(Part):
    """A node is taken out for good at its so manieth blamed failure, in all or within a time, instead of being repaired.

    Nobody is blamed for a burst.
    """

    failures: Annotated[int, Field(ge=1, le=1000)]
    window_days: Longer | None = None
