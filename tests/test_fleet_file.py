"""The page of the fleet file: every key with its meaning, every key of the JSON, and examples that are simulated."""

import inspect
import re
import tomllib
from pathlib import Path

import pytest

from reliability import (
    budget,
    facts,
    fleet,
    fleet_config,
    fleet_document,
    fleet_parts,
    fleet_result,
    fleet_text,
    key_tables,
    page,
)
from reliability.scenarios import fleet_report

ROOT = Path(__file__).parents[1]
SOURCE = (ROOT / "pages/fleet_file.md").read_text(encoding="utf-8")
EXAMPLE = fleet_document.read("example:fleet")
PARTS = [part for _, part in inspect.getmembers(fleet_parts, inspect.isclass) if issubclass(part, fleet_parts.Part)]
EVERY = fleet_config.keys()


@pytest.fixture(scope="module")
def printed():
    """Run the page's cells; return what they print."""
    told, space = [], {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "show", told.append)
        for cell in re.findall(r"(?s)```\{code-cell\} ipython3\n:tags: \[remove-input\]\n(.*?)```", SOURCE):
            exec(cell, space)
    return "\n\n".join(told)


@pytest.fixture(scope="module")
def result():
    return fleet.simulate_key(EXAMPLE, 7, 20)


# Keys -----------------------------------------------------------------------------------------------------------------


def test_no_part_is_forgotten():
    assert {fleet_config.Fleet, *fleet_config.TABLES.values()} == {fleet_config.Fleet, *PARTS} - {fleet_parts.Part}
    assert len(EVERY) == sum(len(part.model_fields) for part in [fleet_config.Fleet, *fleet_config.TABLES.values()])


@pytest.mark.parametrize(("table", "key", "field"), EVERY, ids=lambda value: value if isinstance(value, str) else "")
def test_a_key_has_its_meaning_and_stands_on_the_page_under_its_table(table, key, field, printed):
    assert field.description
    assert field.json_schema_extra["allowed"]
    heading = f"**[[{table}]]**" if table == "fleet.faults" else f"**[{table}]**"
    under = printed.partition(heading)[2].partition("\n\n**[")[0]
    assert re.search(rf"(?m)^\| `{key}` \| [^|]+ \| [^|]* \| [^|]+ \| [^|]* \|$", under)


def allowed_by(schema):
    """Return the numbers and names that a field's JSON schema bounds it with."""
    (own,) = [s for s in schema.get("anyOf", [schema]) if s.get("type") != "null"]
    bounds = [own[name] for name in ("minimum", "exclusiveMinimum", "maximum") if name in own]
    return [f"{bound:,}" if isinstance(bound, int) or bound % 1 else f"{int(bound):,}" for bound in bounds] + own.get(
        "enum", []
    )


@pytest.mark.parametrize("part", [fleet_config.Fleet, *fleet_config.TABLES.values()], ids=lambda part: part.__name__)
def test_what_is_allowed_is_what_is_checked(part):
    for key, schema in part.model_json_schema()["properties"].items():
        for bound in allowed_by(schema):
            assert re.search(rf"(?<![\d,.]){re.escape(bound)}(?![\d.]|,\d)", schema["allowed"]), (key, bound)


@pytest.mark.parametrize(("table", "key", "field"), EVERY, ids=lambda value: value if isinstance(value, str) else "")
def test_a_unit_is_that_of_the_name(table, key, field):
    endings = {"_s": "s", "_h": "h", "_days": "d", "_day": "per node-day"}
    named = [unit for ending, unit in endings.items() if key.endswith(ending)]
    assert [field.json_schema_extra["unit"]] in ([named] if named else [[""], ["1"]])


def test_the_first_weeks_of_nodes_that_begin_new_have_the_failures_that_the_page_says(printed):
    said = re.search(r"first 30 days of a fleet have ([\d.]+) times .* shape 0.7, .* and ([\d.]+) times .* shape 2,", printed)
    rate = facts.value("kokolis_rsc1_rate") / 1000
    settings = {
        "job_nodes": 200,
        "horizon_h": 720.0,
        "repair": {"automatic_s": 0.0},
        "recovery": {"restart_s": 0.0},
    }
    for shape, words in zip((0.7, 2.0), said.groups(), strict=True):
        failures = {"rate_per_node_day": rate, "life": "weibull", "shape": shape}
        found = fleet.simulate_key(fleet_config.build(settings | {"failures": failures}), 3, 400).counts["failures"] / (200 * 30 * rate)
        assert abs(found.mean() - float(words)) < 0.005 + 4 * found.std() / 20


def test_a_table_that_may_stand_several_times_has_two_brackets():
    (one,) = key_tables.tables([("a", *EVERY[0][1:])])
    (several,) = key_tables.tables([("a", *EVERY[0][1:])], arrays=("a",))
    assert one.startswith("**[a]**\n")
    assert several.startswith("**[[a]]**\n")


# Examples -------------------------------------------------------------------------------------------------------------


def test_the_page_shows_the_example_that_is_simulated_here():
    assert "```{literalinclude} ../examples/fleet.toml" in SOURCE


def test_the_example_has_every_part_but_an_elastic_job():
    tables = tomllib.loads((ROOT / "examples/fleet.toml").read_text(encoding="utf-8"))["fleet"]
    assert set(fleet_config.TABLES) - set(tables) == {"elastic"}
    assert EXAMPLE.job_nodes * 8 == 8000


def test_every_part_of_the_example_has_an_effect(result):
    without = {name for name, count in result.counts.items() if not count.any()}
    assert without <= {"preemptions"}  # as long as the pool is large enough
    assert all(result.bins_s[name].any() for name in budget.BINS)
    assert 0.5 < result.effective_training_ratio.mean() < 1


def test_the_short_file_of_the_page_is_simulated():
    blocks = re.findall(r"(?s)```toml\n(.*?)```", SOURCE)
    assert blocks
    for block in blocks:
        found = fleet.simulate_key(fleet_document.fleet_of(tomllib.loads(block)), 7, 2)
        assert (found.counts["failures"] > 0).all()


# Results --------------------------------------------------------------------------------------------------------------


def test_every_count_has_its_meaning():
    assert tuple(fleet_result.COUNT_MEANING) == fleet_result.COUNTS


def test_every_key_of_the_json_is_on_the_page(result, printed):
    document = fleet_text.as_json(result, EXAMPLE, 1)
    names = [*(set(document) - {"hours_lost"}), *(f"hours_lost.{name}" for name in document["hours_lost"])]
    tables = printed.rpartition("| key | meaning |")[2] + SOURCE.partition("## The JSON")[2]
    first_cells = re.findall(r"(?m)^\| (`.*?) \|", tables)
    assert sorted(names) == sorted(re.findall(r"`([\w.]+)`", " ".join(first_cells)))


def test_nodes_that_are_retired_count_as_repaired():
    settings = {
        "job_nodes": 10,
        "pool_nodes": 40,
        "horizon_h": 2000.0,
        "failures": {"rate_per_node_day": 0.1},
        "repair": {"automatic_s": 3600.0},
        "recovery": {"restart_s": 60.0},
        "retirement": {"failures": 1},
    }
    counts = fleet.simulate_key(fleet_config.build(settings), 7, 3).counts
    assert (counts["nodes_retired"] == 31).all()  # until the job is one short, for good
    assert (counts["nodes_repaired"] == counts["nodes_retired"]).all()
    assert (counts["good_nodes_retired"] == counts["nodes_retired"]).all()
    bad = settings | {"failures": {"rate_per_node_day": 0.1, "bad_share": 1.0, "bad_factor": 1.0}}
    assert not fleet.simulate_key(fleet_config.build(bad), 7, 3).counts["good_nodes_retired"].any()


def test_a_name_in_the_settings_stays_a_name_on_the_report():
    fault = {"name": "<svg onload=x>\n# `|$[a](b)", "detection_s": 1.0}
    settings = {"job_nodes": 8, "horizon_h": 24.0, "failures": {"rate_per_node_day": 0.01}, "faults": [fault]}
    settings |= {"repair": {"automatic_s": 60.0}, "recovery": {"restart_s": 60.0}}
    (row,) = [line for line in fleet_report._settings(fleet_config.build(settings)).split("\n") if "name" in line]
    shown = row.split("|", 2)[2].removesuffix("|")
    assert not set("<>`|$[]") & set(shown)
