"""Extremes in every key of a fleet file and of a cluster file: refused in one line, or simulated to finite numbers."""

import copy
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from oracles import modest
from test_cluster import GOOD
from test_fleet_hostile import EVERY_PART, SMALL, changed

from reliability import cluster, fleet, fleet_config, fleet_document, settings_files
from reliability.errors import BadInput

pytestmark = pytest.mark.filterwarnings("error")

EXAMPLES = 100
MOST_EVENTS = 3000  # of a kind in a replication here; a run with more is cut short
NUMBERS = [
    *(-(2**63), -1, -0.0, 0, 5e-324, 1e-300, 1, 2, 1e300, 1.7e308, 2**63 - 1, 10**30, 10**5000),
    *(math.inf, -math.inf, math.nan),
]
OTHERS = [True, "", "1", "x\n\x1b[2J", [], [1], {}, {"value": 1}, {"value": 1, "low": -(10**400), "high": 1e308}]
LISTS = [[1.0], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0], [1, 2**63 - 1], [1, 10**6], [4, 1], [1, 10**5000], [math.nan], ["1"], [True]]


def ends(allowed):
    """Return the numbers that stand in what a key allows, and those just beyond them on either side."""
    whole = "whole" in allowed
    bounds = [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", allowed)]
    out = []
    for bound in bounds:
        out += [int(bound) + step for step in (0, 1, -1)] if whole else [bound, *np.nextafter(bound, [np.inf, -np.inf]).tolist()]
    return out


def extremes(kind):
    """Return (place, values) of each key of a kind of settings file; first those at the ends of what is allowed."""
    out = []
    for table, key, field in kind.documented():
        where = tuple(table.split(".")) if table else ()
        words = kind.sections[where].model_json_schema()["properties"][key].get("enum", [])
        out.append(((*where, key), words + ends(field.json_schema_extra["allowed"]) + NUMBERS + OTHERS + LISTS))
    return out


def drawn(data, places, base):
    """Return the tables with extremes put in at some keys; half of them at an end of what is allowed."""
    tables = copy.deepcopy(base)
    for _ in range(data.draw(some.integers(1, 3))):  # by number: a failing example is shown shortly
        place, values = places[data.draw(some.integers(0, len(places) - 1))]
        put(tables, place, values[data.draw(some.integers(0, 5) | some.integers(0, len(values) - 1))])
    return tables


def put(tables, place, value):
    for name in place[:-1]:
        tables = tables.setdefault(name, {})
        tables = tables[0] if isinstance(tables, list) else tables
        if not isinstance(tables, dict):
            return
    tables[place[-1]] = value


def shortened(config):
    """Return the length in hours in which few events are expected."""
    failures, parts = config.failures, (config.straggler, config.corruption)
    nodes = config.pool + config.spare_nodes
    rate = nodes * (failures.rate_per_node_day * (1 + failures.bad_factor) + sum(part.rate_per_node_day for part in parts if part)) / 24
    rate += 3600 / config.checkpoint.interval_s if config.checkpoint else 0.0
    return min(config.length_h, MOST_EVENTS / rate)


def simulated(config):
    """Simulate a fleet for a while; returns the results.

    Where work is sure to be done, as nothing undoes it or slows it, to the end of as much of it.
    """
    hours = shortened(config)
    goals = [{"horizon_h": hours, "work_h": None}]
    lasting = config.checkpoint or config.straggler or config.elastic or config.retirement
    if config.failures.clock == "running" and not lasting:
        goals.append({"horizon_h": None, "work_h": hours})
    return [fleet.simulate_key(config.model_copy(update=goal), 7, 2) for goal in goals]


def assert_finite(result):
    for name, estimate in result.summary().items():
        parts = estimate.values() if isinstance(estimate, dict) else [estimate]
        numbers = [number for part in parts for number in (part.values() if isinstance(part, dict) else [part])]
        assert np.isfinite(numbers).all(), (name, estimate)


def assert_refused_or_finite(make):
    try:
        config = make()
    except BadInput as error:
        assert str(error).isprintable()
        assert len(str(error)) < 1500
        assert not [word for word in ("Input", "valid", "tuple", "dict", "True", "None", "Traceback") if word in str(error)], error
        return
    for result in simulated(config):
        assert_finite(result)


FLEET, CLUSTER = extremes(fleet_config.KIND), extremes(cluster.KIND)
BASES = [
    SMALL,
    EVERY_PART | SMALL | {"pool_nodes": 12, "failures": SMALL["failures"] | EVERY_PART["failures"]},
    changed(faults=[{"name": "hang"}], repair={"to_manual": 0.5, "manual_s": 1.0}, recovery={"swap_s": 1.0}),
    changed(elastic={"nodes_per_replica": 2, "reshard_s": 1.0}),
]
WITHIN = {"elastic": BASES[3], "cv": changed(failures={"life": "lognormal", "cv": 1.0})}
WITHIN |= dict.fromkeys(("checkpoint", "straggler", "corruption", "retirement", "shape", "bad_factor"), BASES[1])


@pytest.mark.parametrize(("place", "values"), FLEET, ids=lambda value: ".".join(value) if isinstance(value, tuple) else "")
def test_each_extreme_of_each_key_of_a_fleet_file(place, values):
    base = next((WITHIN[name] for name in reversed(place) if name in WITHIN), BASES[2])
    for value in values:
        tables = {"fleet": copy.deepcopy(base)}
        put(tables, place, value)
        assert_refused_or_finite(lambda tables=tables: fleet_document.fleet_of(tables, "fleet.toml"))


@settings(modest, max_examples=EXAMPLES)
@given(data=some.data())
def test_several_extremes_of_a_fleet_file(data):
    base = {"fleet": data.draw(some.sampled_from(BASES))}
    tables = drawn(data, FLEET, base)
    assert_refused_or_finite(lambda: fleet_document.fleet_of(tables, "fleet.toml"))


@settings(modest, max_examples=EXAMPLES)
@given(data=some.data())
def test_several_extremes_of_a_cluster_file(data):
    tables = drawn(data, CLUSTER, settings_files.tables(GOOD, "good"))
    assert_refused_or_finite(lambda: fleet_document.fleet_of(tables, "cluster.toml", "nowhere"))
