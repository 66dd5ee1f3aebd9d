"""The report of one simulated fleet: its settings, its results, and where its hours go."""

from typing import ClassVar

from pydantic import Field

from reliability import budget, fleet_document, fleet_runs, fleet_text, text
from reliability.errors import BadInput
from reliability.plan_words import literal
from reliability.scenarios.base import PageParameters, Result

TITLE = "one fleet, simulated"
AIM = {"work_h": "until {:,.6g} h of work are done", "horizon_h": "over {:,.6g} h"}


class Parameters(PageParameters):
    """A settings file, and how often it is simulated."""

    SETTINGS_FILE: ClassVar = "fleet_file"

    fleet_file: str = Field(min_length=1, max_length=4096, description="file with a [fleet] table, or a cluster file")
    replications: int = Field(ge=2, le=1_000_000, description="how many times the job is run")
    seed: int = Field(ge=0, le=2**63 - 1, description="seed of the random numbers")

    def model_post_init(self, _):
        """Refuse a file that makes no fleet."""
        try:
            fleet_document.read(self.fleet_file)
        except BadInput as error:
            raise ValueError(f"fleet_file: {error}") from None


def compute(p):
    """Simulate the fleet; `values` holds it, the result, and the document that ``simulate --json`` prints, without its time."""
    config = fleet_document.read(p.fleet_file)
    result = fleet_runs.simulate(config, p.seed, p.replications)
    document = fleet_text.as_json(result, config, p.seed)
    del document["seconds"]  # another one each time
    sections = {
        "answer": _answer(document, config),
        "settings": _settings(config),
        "results": fleet_text.results(result),
        "hours": _hours(result),
    }
    return Result({}, sections, {"fleet": config, "result": result, "document": document})


def _answer(document, config):
    ratio = document["effective_training_ratio"]
    given = "work_h" if config.work_h is not None else "horizon_h"
    aim = AIM[given].format(getattr(config, given))
    return (
        f"**A job of {config.job_nodes:,} nodes, {aim}, turns {text.percent(ratio['mean'])} of its time into work that lasts** "
        f"(95% interval of the mean: {text.percent(ratio['low'])} to {text.percent(ratio['high'])}; {document['replications']:,} replications)."
    )


def _settings(config):
    rows = [[f"`{name}`", literal(text.escaped(value))] for name, value in flat("", config.model_dump(mode="json", exclude_none=True))]
    return text.table(["setting", "value"], rows)


def flat(prefix, tree):
    """Yield each setting of nested tables and lists of tables as (dotted name, value)."""
    parts = tree.items() if isinstance(tree, dict) else enumerate(tree, start=1)
    for name, value in parts:
        nested = isinstance(value, dict) or (isinstance(value, list) and any(isinstance(part, dict) for part in value))
        if nested:
            yield from flat(f"{prefix}{name}.", value)
        else:
            yield f"{prefix}{name}", value


def _hours(result):
    rows = [(*row, budget.MEANING[row[0]]) for row in fleet_text.hours_lost(result)]
    if not rows:
        return fleet_text.NONE_LOST
    header = ["hours lost", "mean", fleet_text.INTERVAL, "sd", "share", "what it is"]
    return text.table(header, rows, align="lrrrrl")


def lost(document):
    """Return the bins that have lost hours, as (name, estimate), the greatest first."""
    found = [(name, hours) for name, hours in document["hours_lost"].items() if hours["mean"] > 0]
    return sorted(found, key=lambda part: -part[1]["mean"])
