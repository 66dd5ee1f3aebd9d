"""The keys of a cluster file: each with its meaning, unit and range, in one place.

Three kinds of value: plain ones; *quantities*, a number or ``{value = 10, low = 8, high = 13}`` with the range that holds it
with 95 %; and files, whose paths are relative to the cluster file.
"""

from datetime import date, datetime
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from reliability import presets
from reliability.field_types import Section, described, number, plain, quantity, whole

MOST_NODES = 500_000  # of a job, so that it and a pool beside it are a fleet that can be simulated
NO_NODE = ("software", "application", "other")  # classes of failures that a standby does not help
FORMATS = ("auto", "csv", "parquet", "runs", "slurm", "xid", "kubernetes", "lanl")
# What `options` of a log may have, each in some format; a test holds them to the readers.
READER_OPTIONS = (
    "zone",
    "day_first",
    "columns",
    "decimal",
    "duration_unit",
    "failures",
    "collected_at",
    "booted_at",
    "node",
    "storm_window_s",
    "merge_window_s",
    "failure_codes",
)
TRAINING_FORMATS = (
    "auto",
    "megatron",
    "deepspeed",
    "torchtitan",
    "nemo",
    "huggingface",
    "llmc",
    "nanogpt",
    "table",
)
# The keys that name a file; a test holds them to the fields.
FILES = (
    ("failures", "log", "path"),
    ("failures", "classes_log", "path"),
    ("stragglers", "step_times"),
    ("training", "log"),
)
Seconds = quantity(0, 1e7)
SECONDS = ("s", 0, 1e7)
ClassName = Annotated[str, Field(min_length=1, max_length=100)]


class Job(Section):
    """The job and the machine that it runs on."""

    gpus: int = whole("GPUs of the job", 1, 10_000_000)
    gpus_per_node: int = whole("GPUs in a node: what fails, and is replaced, as one", 1, 1024)
    price_per_gpu_hour: float | None = number(
        "price of a GPU-hour; without it costs are in GPU-hours only", "currency", 0, 1e6, default=None
    )
    currency: str = plain("name of the currency", "three capital letters", default="USD", pattern="^[A-Z]{3}$")
    step_s: float | None = number(
        "length of a training step; with it intervals are told in steps, too", "s", 0, 1e6, above=True, default=None
    )


class LogFile(Section):
    """A log of failures."""

    path: str = plain("the file, relative to the cluster file", "a text", min_length=1)
    format: Literal[FORMATS] = plain("how to read it", f"one of {', '.join(FORMATS)}", default="auto")
    nodes: int | None = whole(
        "nodes that the log watches; by default what the log says, else the job's nodes, which is reported as assumed",
        1,
        10_000_000,
        default=None,
    )
    observed_from: datetime | date | str | None = plain(
        "when the watch began; by default what the log says, else its first incident, which is reported as assumed",
        "a date or a time",
        default=None,
    )
    observed_to: datetime | date | str | None = plain(
        "when the watch ended; by default what the log says, else its last incident, which is reported as assumed",
        "a date or a time",
        default=None,
    )
    system: str | None = plain("which system, where the log has several", "a text", default=None)
    options: dict[str, Any] = plain(
        "options of the format's reader, such as day_first, zone, collected_at, storm_window_s, failures",
        "a table",
        default_factory=dict,
    )


class Failures(Section):
    """How often a node fails: from a log, from a rate, or from a published preset. Exactly one of them."""

    log: LogFile | None = plain("a log of this cluster's failures", "a table: see failures.log", default=None)
    rate_per_1000_node_days: quantity(0, 1e6, True) | None = described(
        "failures of 1,000 nodes in a day", "per 1,000 node-days", 0, 1e6, above=True, default=None
    )
    preset: str | None = plain("a published rate", "the name of a preset", default=None)
    classes_log: LogFile | None = plain(
        "a second log that only tells the shares of the classes, such as Xid lines beside Slurm's accounting",
        "a table: see failures.log",
        default=None,
    )
    shares: dict[ClassName, Annotated[float, Field(ge=0, le=1e9)]] | None = plain(
        "shares, or counts, of the classes; by default the log's or the preset's",
        "a table of class = number from 0, not all 0",
        default=None,
    )

    @model_validator(mode="after")
    def _one_source(self):
        given = [name for name in ("log", "rate_per_1000_node_days", "preset") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"must have exactly one of log, rate_per_1000_node_days and preset, not {' and '.join(given) or 'none'}"
            )
        if self.preset is not None and self.preset not in presets.NAMES:
            close = get_close_matches(self.preset, presets.NAMES, n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            raise ValueError(f"preset = {self.preset!r} is none; {hint}there are {', '.join(presets.NAMES)}")
        if self.shares is not None and not sum(self.shares.values()) > 0:
            raise ValueError("shares must not be empty or all 0")
        if self.shares is not None and self.classes_log is not None:
            raise ValueError("must have shares or classes_log, not both")
        return self


class Checkpoint(Section):
    """What a checkpoint costs: given, or from its size."""

    write_s: quantity(0, 1e7, True) | None = described(
        "time that a checkpoint stops the job", *SECONDS, above=True, default=None
    )
    parameters_b: float | None = number(
        "parameters of the model, in place of write_s", "billions", 0, 1e6, above=True, default=None
    )
    bytes_per_parameter: float | None = number(
        "bytes of a checkpoint a parameter: 14 for 16-bit weights with 32-bit master weights and Adam's moments",
        "B",
        0,
        1024,
        above=True,
        default=None,
    )
    write_gb_s: quantity(0, 1e9, True) | None = described(
        "what the storage takes from all writers together", "GB/s", 0, 1e9, above=True, default=None
    )
    blocking_share: float = number(
        "share of a write worked out from the size that stops the job; the rest overlaps with training",
        "1",
        0,
        1,
        above=True,
        default=1.0,
    )
    interval_min: float | None = number("time between two checkpoints now", "min", 0, 1e6, above=True, default=None)

    @model_validator(mode="after")
    def _one_way(self):
        size = [self.parameters_b, self.bytes_per_parameter, self.write_gb_s]
        given = [part is not None for part in size]
        if (self.write_s is not None) == any(given) or any(given) != all(given):
            raise ValueError("must have either write_s, or all of parameters_b, bytes_per_parameter and write_gb_s")
        return self


class Recovery(Section):
    """The way back after a failure."""

    detection_s: Seconds = described("time until a failure is noticed", *SECONDS)
    detection_by_class_s: dict[ClassName, Seconds] = plain(
        "the same for single classes", "a table of class = seconds", default_factory=dict
    )
    cold_restart_s: Seconds = described(
        "a cold restart: from the notice to the first new step, a node from the scheduler included", *SECONDS
    )
    standby_restart_s: Seconds | None = described(
        "the same where a standby node takes the place of the failed one", *SECONDS, default=None
    )
    standby_nodes: int = whole("nodes that stand by now", 0, 100_000, default=0)
    standby_classes: list[ClassName] | None = plain(
        f"classes for which a node is to blame, so that a standby helps and the node goes to repair; by default all but {', '.join(NO_NODE)}",
        "a list of classes",
        default=None,
    )
    none_left: Literal["requeue", "wait"] = plain(
        "what a job does when no standby is left: a cold restart on nodes from elsewhere, which make up its standbys as well (requeue), or one once a node is back from repair (wait)",
        "requeue or wait",
        default="requeue",
    )
    replacement_min: quantity(0, 1e6) | None = described(
        "with requeue: how much longer than the cold restart it takes to get these nodes", "min", 0, 1e6, default=None
    )
    repair_h: quantity(0, 1e5, True) | None = described(
        "mean time until a failed node stands by again; by default the log's", "h", 0, 1e5, above=True, default=None
    )

    @model_validator(mode="after")
    def _standbys(self):
        if self.standby_nodes and self.standby_restart_s is None:
            raise ValueError(f"standby_nodes = {self.standby_nodes} needs standby_restart_s, the time of a swap")
        if self.none_left == "wait" and self.replacement_min is not None:
            raise ValueError('replacement_min goes with none_left = "requeue" only')
        return self


class Stragglers(Section):
    """Slow ranks: how much longer they make every step."""

    step_times: str | None = plain(
        "a log of step times by rank, relative to the cluster file", "a text", default=None, min_length=1
    )
    slowdown: quantity(0, 100) | None = described(
        "share by which slow ranks make the average step longer, in place of a log", "1", 0, 100, default=None
    )

    @model_validator(mode="after")
    def _one(self):
        if self.step_times is not None and self.slowdown is not None:
            raise ValueError("must have step_times or slowdown, not both")
        return self


class Training(Section):
    """The job's own log."""

    log: str = plain("training log, relative to the cluster file", "a text", min_length=1)
    format: Literal[TRAINING_FORMATS] = plain(
        "which program wrote it", f"one of {', '.join(TRAINING_FORMATS)}", default="auto"
    )


class Improvements(Section):
    """What could be had: the plan takes these. What is not given is halved to see what it is worth, and stays as it is in the plan."""

    rate_factor: float | None = number("failure rate over today's", "1", 0, 1, above=True, default=None)
    detection_s: Seconds | None = described("detection", *SECONDS, default=None)
    cold_restart_s: Seconds | None = described("cold restart", *SECONDS, default=None)
    standby_restart_s: Seconds | None = described("swap of a standby", *SECONDS, default=None)
    write_s: quantity(0, 1e7, True) | None = described(
        "time that a checkpoint stops the job", *SECONDS, above=True, default=None
    )
    slowdown: quantity(0, 100) | None = described(
        "share by which slow ranks make the average step longer", "1", 0, 100, default=None
    )
    standby_nodes: int | None = whole(
        "standby nodes, in place of the number that pays best or, where more stand by now, of those",
        0,
        100_000,
        default=None,
    )
    interval_min: float | None = number(
        "time between two checkpoints, in place of the best", "min", 0, 1e6, above=True, default=None
    )


class Target(Section):
    """What is asked of the job, and for how long."""

    ettr: float = number("effective training time ratio that is wanted", "1", 0, 1, above=True)
    horizon_days: float = number("length of the run that is planned", "d", 0, 36_500, above=True)
    shortage: float = number(
        "chance that a failure finds no standby which is small enough", "1", 0, 0.5, above=True, default=0.01
    )
