"""Each fact has a source, a plausible value and a use; and each of these checks can fail."""

import ast
import copy
import dataclasses
import math
import re
import tomllib
from pathlib import Path

import pytest

from reliability import facts

ROOT = Path(__file__).parents[1]
TABLES = tomllib.loads((ROOT / "reliability" / "facts.toml").read_text(encoding="utf-8"))
SOURCES = re.findall(r"^@\w+\{([^,\s]+),", (ROOT / "references.bib").read_text(encoding="utf-8"), re.MULTILINE)

KINDS = {"measured", "derived", "assumed", "recorded", "inferred"}
WHOLE = {"count", "GPU", "node", "rank", "step", "bit"}  # units of which there is no half
RATES = {"per s", "per week", "per day", "per 1,000 node-days", "per min"}
UNITS = WHOLE | RATES | {"1", "%", "s", "min", "h", "d", "GPU-h", "TB", "billion"}
NEEDED = {"value", "unit", "kind", "primary", "source", "locator", "band"}
OPTIONAL = {"low", "high", "note"}


def entries(value, band):
    """Pair each number of a value with its band: one pair for all, or one for each entry."""
    if isinstance(value, dict):
        if not isinstance(band, dict) or list(band) != list(value):
            raise ValueError("band needs the entries of value, in the same order")
        return [(value[key], band[key]) for key in value]
    if isinstance(value, list):
        bands = band if band and isinstance(band[0], list) else [band] * len(value)
        return list(zip(value, bands, strict=True))
    return [(value, band)]


def is_number(x):
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)


def faults(table, sources=SOURCES):
    """Say everything that is wrong with one table of facts.toml."""
    if missing := NEEDED - set(table):
        return [f"lacks {sorted(missing)}"]
    found = [f"has an unknown field {extra!r}" for extra in set(table) - NEEDED - OPTIONAL]
    if table["kind"] not in KINDS:
        found.append(f"kind {table['kind']!r} is none of {sorted(KINDS)}")
    if table["unit"] not in UNITS:
        found.append(f"unit {table['unit']!r} is none of {sorted(UNITS)}")
    if not isinstance(table["primary"], bool):
        found.append(f"primary {table['primary']!r} is neither true nor false")
    if table["source"] not in sources:
        found.append(f"source {table['source']!r} is not in references.bib")
    if not isinstance(table["locator"], str) or not table["locator"].strip():
        found.append("locator is empty")
    try:
        pairs = entries(table["value"], table["band"])
    except ValueError as error:
        return [*found, str(error)]
    if not pairs:
        found.append("value is empty")
    for number, band in pairs:
        if not is_number(number):
            found.append(f"value {number!r} is not a finite number")
        elif table["unit"] in WHOLE and not isinstance(number, int):
            found.append(f"value {number!r} is not a whole number of {table['unit']}")
        elif not (isinstance(band, list) and len(band) == 2 and all(map(is_number, band)) and band[0] < band[1]):
            found.append(f"band {band!r} is not [smallest, largest]")
        elif not band[0] <= number <= band[1]:
            found.append(f"value {number!r} is outside its band {band}")
        elif band[0] <= number * 10 <= band[1] or band[0] <= number / 10 <= band[1]:
            found.append(f"band {band} would not notice {number!r} with its point slipped by one digit")
    low, high = table.get("low"), table.get("high")
    if low is not None or high is not None:
        if len(pairs) != 1 or low is None or high is None:
            found.append("low and high come together, on a single number")
        elif not low <= table["value"] <= high:
            found.append(f"value {table['value']!r} is outside the source's own range {low} to {high}")
        elif not table["band"][0] <= low <= high <= table["band"][1]:
            found.append(f"the source's range {low} to {high} leaves the band {table['band']}")
    return found


def places():
    """Every file in which a use of a fact counts."""
    package = [path for path in (ROOT / "reliability").rglob("*.py") if path.name != "facts.py"]
    inputs = (ROOT / "reliability").glob("scenarios/*.toml")
    return [*package, *inputs, *(ROOT / "reliability").glob("published.toml"), *(ROOT / "notebooks").glob("*.ipynb")]


def uses(name, text):
    """Whether a text has the fact's name as a whole string, "fact:" before it or a key behind it at most.

    The quotes may be escaped, as they are in a notebook's JSON.
    """
    return re.search(rf"""\\?["'](fact:)?{re.escape(name)}(\.\w+)?\\?["']""", text) is not None


@pytest.mark.parametrize("name", TABLES)
def test_each_fact_is_complete_plausible_and_sourced(name):
    assert faults(TABLES[name]) == []


def test_each_fact_is_used():
    text = "\n".join(path.read_text(encoding="utf-8") for path in places())
    unused = [name for name in TABLES if not uses(name, text)]
    assert unused == [], "no page, model or published figure reads these facts: use them or delete them"


def test_sources_have_one_entry_each():
    assert SOURCES, "references.bib has no entry"
    assert len(SOURCES) == len(set(SOURCES))


def test_llama3_counts_add_up():
    assert sum(facts.value("llama3_causes").values()) == facts.value("llama3_unexpected")
    assert facts.value("llama3_unexpected") + facts.value("llama3_planned") == facts.value("llama3_interruptions")


def test_restart_phases_add_up():
    assert sum(facts.value("trainmover_phases_min").values()) == pytest.approx(
        facts.value("trainmover_restart_min"), abs=1e-9
    )


def test_mix_is_a_distribution_over_the_classes_of_the_recorded_week():
    mix, week = facts.value("published_mix"), facts.value("published_recorded_faults")
    assert sum(mix.values()) == pytest.approx(1.0, abs=1e-9)
    assert set(week) == set(mix)


def test_corrupted_ranks_are_distinct_ranks_of_the_job():
    ranks = facts.value("published_corrupted_ranks")
    assert ranks == sorted(set(ranks))
    assert 0 <= ranks[0] and ranks[-1] < facts.value("published_ranks")


def test_a_fact_carries_its_fields():
    fact = facts.fact("kokolis_job_mttf_h")
    assert (fact.name, fact.value, fact.unit, fact.kind, fact.primary) == (
        "kokolis_job_mttf_h",
        7.9,
        "h",
        "measured",
        True,
    )
    assert fact.low is None and fact.high is None
    with pytest.raises(dataclasses.FrozenInstanceError):
        fact.value = 8.0


def test_names_keep_the_order_of_the_file():
    assert facts.names() == tuple(TABLES)


def test_changing_a_returned_value_changes_no_fact():
    facts.value("published_mix")["gpu"] = 0.9
    facts.fact("published_sizes").value.append(1)
    assert facts.value("published_mix") == TABLES["published_mix"]["value"]
    assert facts.value("published_sizes") == TABLES["published_sizes"]["value"]


@pytest.mark.parametrize(
    "wrong, nearest",
    [("kokolis_job_mtbf_h", "kokolis_job_mttf_h"), ("LLAMA3_GPUS", "llama3_gpus"), ("llama3gpus", "llama3_gpus")],
)
def test_an_unknown_name_is_answered_with_the_nearest(wrong, nearest):
    with pytest.raises(KeyError, match=f"no fact '{wrong}'; the nearest is '{nearest}'"):
        facts.value(wrong)


@pytest.mark.parametrize("wrong", ["", None, 3, ["llama3_gpus"]])
def test_what_is_no_name_is_refused_alike(wrong):
    with pytest.raises(KeyError, match="no fact"):
        facts.fact(wrong)


def test_facts_import_only_what_is_quick_to_import():
    tree = ast.parse((ROOT / "reliability" / "facts.py").read_text(encoding="utf-8"))
    imported = {
        name.split(".")[0]
        for node in tree.body
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= {"__future__", "copy", "dataclasses", "functools", "pathlib", "tomllib"}


# --- The checks can fail ----------------------------------------------------------------------------

SLIPS = {
    "missing field": ("llama3_days", lambda t: t.pop("locator"), "lacks"),
    "misspelt field": ("llama3_days", lambda t: t.update(sourec="llama3"), "unknown field"),
    "unknown kind": ("llama3_days", lambda t: t.update(kind="guessed"), "kind 'guessed'"),
    "unknown unit": ("llama3_days", lambda t: t.update(unit="days"), "unit 'days'"),
    "flag as text": ("llama3_days", lambda t: t.update(primary="yes"), "neither true nor false"),
    "source without entry": ("llama3_days", lambda t: t.update(source="llama4"), "not in references.bib"),
    "blank locator": ("llama3_days", lambda t: t.update(locator=" "), "locator is empty"),
    "not a number": ("llama3_days", lambda t: t.update(value=math.nan), "not a finite number"),
    "truth as number": ("llama3_days", lambda t: t.update(value=True), "not a finite number"),
    "half a GPU": ("llama3_gpus", lambda t: t.update(value=16384.5), "not a whole number"),
    "minutes for hours": ("kokolis_job_mttf_h", lambda t: t.update(value=474.0), "outside its band"),
    "slip in a table": ("published_mix", lambda t: t["value"].update(network=0.84), "outside its band"),
    "slip in a list": ("published_corrupted_ranks", lambda t: t["value"].append(95), "outside its band"),
    "vacuous band": ("llama3_days", lambda t: t.update(band=[1, 1000]), "would not notice"),
    "band the wrong way round": ("llama3_days", lambda t: t.update(band=[200, 20]), "not [smallest, largest]"),
    "entry without band": ("published_mix", lambda t: t["value"].update(disk=0.1), "band needs the entries"),
    "empty list": ("published_corrupted_ranks", lambda t: t.update(value=[]), "value is empty"),
    "outside the source's range": ("byterobust_standby_s", lambda t: t.update(value=70), "source's own range"),
    "half a range": ("byterobust_standby_s", lambda t: t.pop("high"), "come together"),
    "range leaves the band": ("byterobust_standby_s", lambda t: t.update(high=650), "leaves the band"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_noticed(slip):
    name, spoil, message = SLIPS[slip]
    table = copy.deepcopy(TABLES[name])
    spoil(table)
    assert any(message in fault for fault in faults(table)), faults(table)


@pytest.mark.parametrize("factor", [10, 0.1])
@pytest.mark.parametrize("name", TABLES)
def test_a_slipped_decimal_point_leaves_the_band(name, factor):
    def slipped(number):
        moved = number * factor
        return int(moved) if isinstance(number, int) and moved == int(moved) else moved

    table = TABLES[name]
    if isinstance(table["value"], dict | list):
        for place in table["value"] if isinstance(table["value"], dict) else range(len(table["value"])):
            wrong = copy.deepcopy(table)
            wrong["value"][place] = slipped(wrong["value"][place])
            assert faults(wrong), f"{name}[{place!r}]"
    else:
        assert faults({**table, "value": slipped(table["value"])})


def test_an_unused_fact_is_noticed():
    assert uses("llama3_gpus", 'facts.value("llama3_gpus")')
    assert uses("llama3_gpus", r'"facts.value(\"llama3_gpus\")"')
    assert uses("published_mix", 'mix_gpu = "fact:published_mix.gpu"')
    assert not uses("published_mix", 'mix_gpu = "fact:published_mixture.gpu"')
    assert not uses("llama3_gpus", "llama3_gpus = 16384")
    assert not uses("llama3_gpu", 'facts.value("llama3_gpus")')
