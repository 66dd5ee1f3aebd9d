"""The parts of a fleet's settings: failures, faults, repair, recovery, checkpoints and what drags a job.

Every part is a frozen model that refuses unknown names, NaN and values out of range. Times are in
seconds unless a name ends otherwise. Every field has its meaning, unit and range; the page of the fleet
file prints them.
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from reliability.field_types import Section, number, plain, whole
from reliability.toml_values import written
from reliability.units import DAY_S, HOUR_S

LIVES = ("exponential", "weibull", "lognormal")
CLOCKS = ("running", "always")
TIMES = ("exponential", "fixed")
MOST_NODES = 10**6
MOST = 10**9  # of what has no limit of its own: beyond all sense, and far below what computing with it would spoil
MOST_DAYS = 365_000  # of a run: a thousand years
MOST_HOURS = MOST_DAYS * DAY_S / HOUR_S
SECONDS = ("s", 0, 100 * MOST_DAYS * DAY_S)  # what takes so long on average hardly ever ends within a run
SHARE = ("1", 0, 1)
RATE = ("per node-day", 0, MOST)


class Part(Section):
    """A part of a fleet's settings."""


class Failures(Part):
    """How nodes fail.

    Each node fails at random; the bad ones, besides, systematically at `bad_factor` times the random
    rate, until a repair cures them. Systematic failures are always exponential. The failure clock of a
    node runs while the job runs ("running"), or in its stops as well ("always"); never on a node that
    is outside the job. A burst takes all nodes of one blast radius; the random failures of a node are as many
    whatever the radii, as in :mod:`reliability.bursts`.
    """

    rate_per_node_day: float = number("random failures of a node in a day of its clock", *RATE, above=True)
    bad_share: float = number(
        "share of the nodes, spares included, that are bad (lemons) at the start, rounded down to whole ones",
        *SHARE,
        default=0.0,
    )
    bad_factor: float = number(
        "systematic failures of a bad node, which it has besides its random ones, as a multiple of these",
        "",
        0,
        MOST,
        default=0.0,
    )
    life: Literal[LIVES] = plain(
        "distribution of the time from one random failure of a node to its next; every node begins new",
        f"one of {', '.join(LIVES)}",
        default="exponential",
    )
    shape: float | None = number(
        "shape of a Weibull life, below 1 where failures come early; with life = weibull, and only with it",
        "",
        0.05,
        MOST,
        default=None,
    )
    cv: float | None = number(
        "standard deviation of a lognormal life over its mean; with life = lognormal, and only with it",
        "",
        0,
        MOST,
        above=True,
        default=None,
    )
    clock: Literal[CLOCKS] = plain(
        "when the nodes of the job can fail: only while it runs, or in its stops as well",
        f"one of {', '.join(CLOCKS)}",
        default="running",
    )
    burst_shares: tuple[Annotated[float, Field(ge=0, le=1)], ...] = plain(
        "shares of a node's random failures by how many nodes fail together, one for each of burst_sizes",
        "a list of numbers from 0 to 1 that sum to 1",
        strict=False,
        default=(1.0,),
    )
    burst_sizes: tuple[Annotated[int, Field(ge=1, le=MOST_NODES)], ...] = plain(
        "nodes that fail together: blast radii, such as of a rack or a switch",
        f"a list of different whole numbers from 1 to {MOST_NODES:,}; each with a share above 0 divides job_nodes",
        strict=False,
        default=(1,),
    )

    @model_validator(mode="after")
    def _together(self):
        for life, key in (("weibull", "shape"), ("lognormal", "cv")):
            value = getattr(self, key)
            if self.life == life and value is None:
                raise ValueError(f"{key}: is missing; life = '{life}' needs it")
            if self.life != life and value is not None:
                raise ValueError(f"{key} = {value:g}: goes with life = '{life}' only")
        if len(self.burst_shares) != len(self.burst_sizes) or len(set(self.burst_sizes)) != len(self.burst_sizes):
            raise ValueError(f"burst_sizes = {written(self.burst_sizes)}: must be different sizes, one for each of burst_shares")
        if abs(sum(self.burst_shares) - 1) > 1e-9:
            raise ValueError(f"burst_shares = {written(self.burst_shares)}: must sum to 1")
        return self

    @property
    def rate(self):
        """Random failures of a node per second."""
        return self.rate_per_node_day / DAY_S

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

    name: str = plain("the class's name", "a text")
    share: float = number("share of all faults that are of this class", *SHARE, above=True, default=1.0)
    detection_s: float = number("time from a fault of this class until it is seen", *SECONDS, default=0.0)
    right: float = number(
        "share of these faults for which the node that failed is blamed, and goes to repair", *SHARE, default=1.0
    )
    wrong: float = number(
        "share for which another node of the job is blamed instead; after the rest, none is", *SHARE, default=0.0
    )

    @model_validator(mode="after")
    def _blame(self):
        if self.right + self.wrong > 1 + 1e-12:
            raise ValueError(f"right + wrong = {self.right + self.wrong:g}: must be at most 1")
        return self


class Repair(Part):
    """Two stages: automatic, and for a share of the nodes then manual; after either, requalification.

    A repair that fails returns the node all the same, a bad one still bad.
    """

    automatic_s: float = number("mean length of the automatic stage, which every repair begins with", *SECONDS)
    manual_s: float = number("mean length of the manual stage", *SECONDS, default=0.0)
    to_manual: float = number("share of the repairs that go on to the manual stage", *SHARE, default=0.0)
    automatic_fails: float = number(
        "share of the repairs ended by the automatic stage that do not cure a bad node", *SHARE, default=0.0
    )
    manual_fails: float = number(
        "share of the repairs ended by the manual stage that do not cure a bad node", *SHARE, default=0.0
    )
    requalify_s: float = number(
        "tests after a repair, before the node may work; always of this length", *SECONDS, default=0.0
    )
    times: Literal[TIMES] = plain(
        "distribution of the lengths of the two stages", f"one of {', '.join(TIMES)}", default="exponential"
    )


class Recovery(Part):
    """The way back: a cold restart, a swap to warm standbys, or on with fewer replicas."""

    restart_s: float = number("a cold restart, from the detection until the job computes again", *SECONDS)
    swap_s: float | None = number(
        "a restart with a warm standby for each node lost; by default restart_s", *SECONDS, default=None
    )
    host_selection_s: float = number(
        "selecting the nodes of the job anew: at the start, and where too few stand by", *SECONDS, default=0.0
    )
    preemption_s: float = number("preempting one spare", *SECONDS, default=0.0)


class Elastic(Part):
    """On with fewer data-parallel replicas while nodes are away, at the sizes of :mod:`reliability.elastic`.

    Nodes that are left over at such a size stay in the job, without work, and fail like the others.
    """

    nodes_per_replica: int = whole("nodes of one data-parallel replica; it divides job_nodes", 1, MOST_NODES)
    batch: int | None = whole(
        "sequences of the global batch, which the number of replicas must divide; by default any number will do",
        1,
        MOST,
        default=None,
    )
    reshard_s: float = number("restart on fewer nodes", *SECONDS)
    grow_s: float = number("stop to take nodes in again", *SECONDS, default=0.0)


class Checkpoint(Part):
    """A write after each interval of work; with an upload it counts only when that has ended."""

    interval_s: float = number("work between two writes, as the time that it takes at full speed", *SECONDS, above=True)
    write_s: float = number("time that a write stops the job", *SECONDS, default=0.0)
    upload_s: float = number(
        "upload behind the running job after a write; the checkpoint counts when it has ended", *SECONDS, default=0.0
    )
    drag: float = number("share of its speed that the job loses during an upload", *SHARE, default=0.0)

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

    rate_per_node_day: float = number("how often a node turns slow in a day of running", *RATE, above=True)
    slowdown: float = number(
        "how much longer a step takes with a slow node: 0.2 for 1.2 times as long", "", 0, MOST, above=True
    )
    found_after_s: float = number("running time from the first slow node to the search that finds it", *SECONDS)
    pause_s: float = number("stop to mend what was found", *SECONDS, default=0.0)


class Corruption(Part):
    """Silent corruption while the job works, found by a verification before every n-th write, n being `every`."""

    rate_per_node_day: float = number("silent corruptions of a node in a day of computing", *RATE, above=True)
    verification_s: float = number("time that a verification stops the job", *SECONDS)
    every: int = whole("writes to a verification, which comes before the last of them", 1, MOST, default=1)
    restart_s: float | None = number(
        "restart from the last verified checkpoint; by default recovery.restart_s", *SECONDS, default=None
    )


class Retirement(Part):
    """A node is taken out for good, instead of being repaired, at its n-th blamed failure: in all, or within a window.

    Nobody is blamed for a burst.
    """

    failures: int = whole("blamed failures of a node, at the last of which it is retired", 1, 1000)
    window_days: float | None = number(
        "time within which these failures fall; by default the whole run", "d", 0, MOST_DAYS, above=True, default=None
    )
