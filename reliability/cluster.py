"""A cluster file: one TOML file that says what a plan needs to know, read and checked.

Every key is in :mod:`reliability.cluster_fields`, and on the page of the cluster file.
"""

from pathlib import Path

from pydantic import Field, PrivateAttr, ValidationError, model_validator

from reliability import cluster_fields as fields
from reliability import cluster_hints as hints
from reliability import settings_files
from reliability.errors import ClusterError
from reliability.field_types import Section, plain
from reliability.settings_faults import Kind, placed
from reliability.text import escaped, nearest


class Cluster(Section):
    """A cluster file. Its attributes are the file's tables."""

    name: str = plain("what the report calls the plan", "a text of at most 100 characters", default="", max_length=100)
    cluster: fields.Job
    failures: fields.Failures
    checkpoint: fields.Checkpoint
    recovery: fields.Recovery
    target: fields.Target
    stragglers: fields.Stragglers | None = Field(default=None)
    training: fields.Training | None = Field(default=None)
    improvements: fields.Improvements = Field(default_factory=fields.Improvements)
    _folder: Path = PrivateAttr(default=Path("."))

    @model_validator(mode="after")
    def _whole_nodes(self):
        job = self.cluster
        if job.gpus % job.gpus_per_node:
            raise ValueError(
                f"cluster.gpus = {job.gpus} must be a multiple of cluster.gpus_per_node = {job.gpus_per_node}"
            )
        if self.nodes > fields.MOST_NODES:
            raise ValueError(
                f"cluster.gpus = {job.gpus} are {self.nodes:,} nodes of {job.gpus_per_node}; a plan is simulated for at most {fields.MOST_NODES:,} nodes"
            )
        if self.improvements.standby_nodes and self.recovery.standby_restart_s is None:
            raise ValueError("improvements.standby_nodes needs recovery.standby_restart_s, the time of a swap")
        return self

    @property
    def nodes(self):
        """Nodes of the job."""
        return self.cluster.gpus // self.cluster.gpus_per_node

    def path(self, file):
        """Return the path of a file that the cluster file names."""
        return self._folder / file


def read(path):
    """Read a cluster file.

    Parameters
    ----------
    path : str or path
        ``example:NAME`` is one of the examples that come with the book.

    Returns
    -------
    Cluster

    Raises
    ------
    ClusterError
        For a file that is not there or not TOML, an unknown key (with the nearest known one), a value of a wrong type or out of
        range, a table or key that is missing.
    """
    path = find(path)
    return parse(settings_files.text(path), str(path), path.parent)


def find(path):
    """Return a cluster file's path; ``example:NAME`` stands for an example, and paths begin where the program was started."""
    import os

    text = str(path)
    if not text.startswith("example:"):
        return Path(os.environ.get("TRAINING_RELIABILITY_FOLDER", ".")) / text
    folder, known = hints.examples()
    name = text.removeprefix("example:")
    if name not in known:
        raise ClusterError(
            f"{escaped(text)}: no such example. {nearest(name, known)}There are {', '.join(known) or 'none'}."
        )
    return folder / f"{name}.toml"


def parse(text, source="cluster file", folder="."):
    """Read the text of a cluster file.

    Parameters
    ----------
    text : str
    source : str
        Its name, for messages.
    folder : path
        Where the paths in it begin.

    Returns
    -------
    Cluster
    """
    source = escaped(source)
    return build(settings_files.tables(text, source), source, folder, text)


def build(tables, source="cluster file", folder=".", text=""):
    """Check the tables of a cluster file.

    Parameters
    ----------
    tables : dict
    source : str
        The file's name, for messages.
    folder : path
        Where the paths in it begin.
    text : str
        The file, to name the line of a fault.

    Returns
    -------
    Cluster
    """
    settings_files.check_kind(tables, source, "cluster")
    if said := KIND.unknown(tables, text):
        raise ClusterError(placed(source, said))
    try:
        cluster = Cluster(**tables)
    except ValidationError as error:
        raise ClusterError(placed(source, KIND.said(error, tables, text))) from None
    cluster._folder = Path(folder)
    return cluster


KIND = Kind(
    "a cluster file",
    {
        (): Cluster, ("cluster",): fields.Job, ("failures",): fields.Failures, ("checkpoint",): fields.Checkpoint,
        ("recovery",): fields.Recovery, ("stragglers",): fields.Stragglers, ("training",): fields.Training,
        ("improvements",): fields.Improvements, ("target",): fields.Target,
        ("failures", "log"): fields.LogFile, ("failures", "classes_log"): fields.LogFile,
    },
)  # fmt: skip


def keys():
    """Return every key as (table, key, field), in the order in which the documentation has them."""
    return KIND.documented()
