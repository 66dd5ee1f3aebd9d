"""A cluster file: one TOML file that says what a plan needs to know, read and checked.

Every key is in :mod:`reliability.cluster_fields`, and on the page of the cluster file.
"""

import re
from pathlib import Path

from pydantic import Field, PrivateAttr, ValidationError, model_validator

from reliability import cluster_fields as fields
from reliability import cluster_hints as hints
from reliability import settings_files
from reliability.errors import ClusterError
from reliability.field_types import OUT_OF_RANGE, Section, plain
from reliability.logs.notes import escaped, quoted


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
            f"{escaped(text)}: no such example. {hints.nearest(name, known)}There are {', '.join(known) or 'none'}."
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
    try:
        cluster = Cluster(**_unknown_first(tables, text, source))
    except ValidationError as error:
        faults = [_fault(fault, text) for fault in error.errors()]
        first = next(iter(dict.fromkeys(faults)))
        more = len(dict.fromkeys(faults)) - 1
        raise ClusterError(f"{source}, {first}" + (f" (and {more} more to mend)" if more else "")) from None
    cluster._folder = Path(folder)
    return cluster


def _unknown_first(tables, text, source):
    """Refuse unknown tables and keys; a misspelt one is more often the fault than what is then missing."""
    for where, model in _sections():
        table = tables
        for part in where:
            table = table.get(part) if isinstance(table, dict) else None
        for key in table if isinstance(table, dict) else ():
            if key not in model.model_fields:
                known = list(model.model_fields)
                place = ".".join((*where, key))
                what = f"the table {'.'.join(where)}" if where else "a cluster file"
                raise ClusterError(
                    f"{source}, {_line(text, (*where, key))}{escaped(place)}: unknown key. {hints.option(where, key, table[key])}{hints.nearest(key, known)}{hints.other_unit(key, model)}{what[0].upper()}{what[1:]} may have {', '.join(known)}."
                )
    return tables


def _sections():
    """Return (place, model) of every table that a cluster file may have."""
    tables = {
        "cluster": fields.Job, "failures": fields.Failures, "checkpoint": fields.Checkpoint, "recovery": fields.Recovery,
        "stragglers": fields.Stragglers, "training": fields.Training, "improvements": fields.Improvements, "target": fields.Target,
    }  # fmt: skip
    return [
        ((), Cluster),
        *(((name,), model) for name, model in tables.items()),
        (("failures", "log"), fields.LogFile),
        (("failures", "classes_log"), fields.LogFile),
    ]


def keys():
    """Return every key as (table, key, field), in the order in which the documentation has them."""
    return [
        (".".join(where), name, field)
        for where, model in _sections()
        for name, field in model.model_fields.items()
        if (field.json_schema_extra or {}).get("allowed")
    ]


def _fault(fault, text):
    """One fault as 'line N: key = value: must be …'."""
    where = tuple(str(part) for part in fault["loc"])
    field, place = None, where
    for table, model in reversed(_sections()):
        if where[: len(table)] == table and len(where) > len(table) and where[len(table)] in model.model_fields:
            field, place = model.model_fields[where[len(table)]], where[: len(table) + 1]
            break
    key = escaped(".".join(place)) or "the file"
    allowed = ((field.json_schema_extra or {}) if field else {}).get("allowed")
    about = f" ({field.description}{_unit(field)})" if field is not None and field.description else ""
    reason = fault["msg"].removeprefix("Value error, ")
    line = _line(text, where)
    if fault["type"] == "missing":
        return (
            f"{line}{key}: is missing; it must be {allowed}{about}"
            if allowed
            else f"{line}the table [{key}] is missing"
        )
    if not where:  # a rule over several tables, which names a key itself
        named = re.search(r"\w+\.\w+", reason)
        return f"{_line(text, tuple(named[0].split('.')) if named else ())}{reason}"
    if not allowed:  # a rule over several keys, or a table that is not one
        needs = "must be a table" if fault["type"].endswith("_type") else reason
        return f"{line}{key}: {needs}"
    detail = f": {reason}" if fault["type"] == "value_error" and reason != OUT_OF_RANGE else ""
    rest = escaped(".".join(where[len(place) :]))
    inner = f" (at {rest})" if rest and not rest.startswith(("function", "literal", "date", "str")) else ""
    return f"{line}{key} = {quoted(fault['input']) if isinstance(fault['input'], str) else escaped(_short(fault['input']))}{inner}{detail}: must be {allowed}{about}"


def _short(value, most=60):
    return hints.cut(repr(value), most)


def _unit(field):
    unit = (field.json_schema_extra or {}).get("unit")
    return f", {unit}" if unit and unit != "1" else ""


def _line(text, where):
    """Return 'line N: ' of a key in the text, or of its table; nothing where neither is found."""
    table, found = (), None
    for number, line in enumerate(text.split("\n"), start=1):
        if header := re.match(r"\s*\[([^\[\]]+)\]", line):
            table = tuple(part.strip(" \t\"'") for part in header[1].split("."))
            if where[: len(table)] == table:
                found = number if found is None or len(table) > 1 else found
        elif key := re.match(r"\s*([\w.\"'-]+)\s*=", line):
            place = (*table, *(part.strip("\"'") for part in key[1].split(".")))
            if where[: len(place)] == place:
                return f"line {number}: "
    return f"line {found}: " if found else ""
