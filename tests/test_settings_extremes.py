"""Extremes in every key of a fleet file and of a cluster file: refused in one line, or simulated to finite numbers.

Both ends of what a number may be are not refused.
"""

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
from reliability.field_types import SMALLEST

pytestmark = pytest.mark.filterwarnings("error")

EXAMPLES = 60
MOST_EVENTS = 3000  # of a kind in a replication here; a run with more is cut short
NUMBERS = [
    *(-(2**63), -1, -0.0, 0, 5e-324, 1e-300, 1, 2, 1e300, 1.7e308, 2**63 - 1, 10**30, 10**5000),
    *(math.inf, -math.inf, math.nan),
]
OTHERS = [True, "", "1", "x\n\x1b[2J", [], [1], {}, {"value": 1}, {"value": 1, "low": -(10**400), "high": 1e308}]
LISTS = [[1.0], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0], [1, 2**63 - 1], [1, 10**6], [4, 1], [1, 10**5000], [math.nan], ["1"], [True]]


def bounds(allowed):
    """Return the numbers that stand in what a key allows."""
    found = [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", allowed)]
    return [int(bound) for bound in found] if "whole" in allowed else found


def ends(allowed):
    """Return the least and the greatest of the numbers that a key allows, or nothing for what is no number."""
    if not allowed.startswith(("a number", "a whole number")):
        return []
    low, high = bounds(allowed)
    return [SMALLEST if allowed.startswith("a number above 0") else low, high]


def beyond(allowed):
    """Return the numbers just beside those that stand in what a key allows."""
    if "whole" in allowed:
        return [bound + step for bound in bounds(allowed) for step in (1, -1)]
    return [beside for bound in bounds(allowed) for beside in np.nextafter(bound, [np.inf, -np.inf]).tolist()]


def extremes(kind, left_out=()):
    """Return (place, ends, others) of each key of a kind of settings file; the ends, or words, are allowed."""
    out = []
    for table, key, field in kind.documented():
        where = tuple(table.split(".")) if table else ()
        if where not in left_out:
            words = kind.sections[where].model_json_schema()["properties"][key].get("enum", [])
            allowed = field.json_schema_extra["allowed"]
            out.append(((*where, key), words + ends(allowed), ([] if ends(allowed) else bounds(allowed)) + beyond(allowed) + NUMBERS + OTHERS + LISTS))
    return out


def drawn(data, places, base):
    """Return the tables with extremes put in at some keys: at the first any, half of them allowed, at the others allowed ones."""
    tables = copy.deepcopy(base)
    for number in range(data.draw(some.integers(1, 3))):  # by number: a failing example is shown shortly
        allowed = [(place, values) for place, values, _ in places if values]
        if number == 0 and data.draw(some.booleans()):
            place, values, others = places[data.draw(some.integers(0, len(places) - 1))]
            values = values + others
        else:
            place, values = allowed[data.draw(some.integers(0, len(allowed) - 1))]
        put(tables, place, values[data.draw(some.integers(0, len(values) - 1))])
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
    """Return whether a file was accepted."""
    try:
        config = make()
    except BadInput as error:
        assert str(error).isprintable()
        assert len(str(error)) < 1500
        assert not [word for word in ("Input", "valid", "tuple", "dict", "True", "None", "Traceback") if word in str(error)], error
        return False
    for result in simulated(config):
        assert_finite(result)
    return True


LOGS = [("failures", "log"), ("failures", "classes_log")]  # logs have tests of their own
FLEET, CLUSTER = extremes(fleet_config.KIND), extremes(cluster.KIND, LOGS)
BASES = [
    SMALL,
    EVERY_PART | SMALL | {"pool_nodes": 12, "failures": SMALL["failures"] | EVERY_PART["failures"]},
    changed(faults=[{"name": "hang"}], repair={"to_manual": 0.5, "manual_s": 1.0}, recovery={"swap_s": 1.0}),
    changed(elastic={"nodes_per_replica": 2, "reshard_s": 1.0}),
    changed(horizon_h=None, work_h=100.0),
]
WITHIN = {"elastic": BASES[3], "cv": changed(failures={"life": "lognormal", "cv": 1.0})}
WITHIN |= dict.fromkeys(("checkpoint", "straggler", "corruption", "retirement", "shape", "bad_factor"), BASES[1])
WITHIN["work_h"] = BASES[4]
SHORT_H = 1e-3
# With what else an end goes that does not go with the usual base.
WITH = {
    ("fleet", "pool_nodes"): {("fleet", "job_nodes"): 1, ("fleet", "warm_standbys"): 0},
    ("fleet", "failures", "rate_per_node_day"): {("fleet", "horizon_h"): SHORT_H},
    ("fleet", "corruption", "rate_per_node_day"): {("fleet", "horizon_h"): SHORT_H},
    ("fleet", "faults", "share"): {("fleet", "faults"): [{"name": "hang"}, {"name": "other"}]},
    ("fleet", "faults", "wrong"): {("fleet", "faults", "right"): 0.0},
    ("fleet", "elastic", "nodes_per_replica"): {("fleet", "job_nodes"): fleet_config.MOST_NODES},
    ("fleet", "checkpoint", "interval_s"): {("fleet", "checkpoint", "upload_s"): 0.0},
    ("fleet", "checkpoint", "upload_s"): {("fleet", "checkpoint", "drag"): 1.0},
    ("cluster", "gpus"): {("cluster", "gpus_per_node"): 1000},
    ("recovery", "standby_nodes"): {("recovery", "standby_restart_s"): 60},
    ("improvements", "standby_nodes"): {("recovery", "standby_restart_s"): 60},
}
BY_SIZE = {"parameters_b": 405, "bytes_per_parameter": 14, "write_gb_s": 100}
CLUSTERS = [settings_files.tables(GOOD, "good")]
CLUSTERS.append(CLUSTERS[0] | {"cluster": {"gpus": 1, "gpus_per_node": 1}, "checkpoint": BY_SIZE})
CLUSTERS.append(CLUSTERS[0] | {"recovery": CLUSTERS[0]["recovery"] | {"standby_restart_s": 60, "standby_nodes": 2}})


def named(value):
    return ".".join(value) if isinstance(value, tuple) else ""


def with_extreme(base, place, value, beside=()):
    tables = copy.deepcopy(base)
    for where, other in dict(beside).items():
        put(tables, where, copy.deepcopy(other))
    put(tables, place, value)
    return tables


def read_fleet(tables):
    return fleet_document.fleet_of(tables, "fleet.toml")


def read_cluster(tables):
    return fleet_document.fleet_of(tables, "cluster.toml", "nowhere")


@pytest.mark.parametrize("kind", [fleet_config.KIND, cluster.KIND], ids=["fleet", "cluster"])
def test_every_number_has_two_ends(kind):
    for _, key, field in kind.documented():
        number = re.match(r"(typing.Optional\[)?(typing.Annotated\[)?(<class .)?(int|float|reliability.quantities.Quantity)\b", str(field.annotation))
        assert len(ends(field.json_schema_extra["allowed"])) == 2 * bool(number), key


@pytest.mark.parametrize(("place", "allowed", "others"), FLEET, ids=named)
def test_each_extreme_of_each_key_of_a_fleet_file(place, allowed, others):
    base = {"fleet": next((WITHIN[name] for name in reversed(place) if name in WITHIN), BASES[2])}
    for value in others + [word for word in allowed if isinstance(word, str)]:
        assert_refused_or_finite(lambda value=value: read_fleet(with_extreme(base, place, value)))
    assert_allowed(place, allowed, [base], read_fleet)


@pytest.mark.parametrize(("place", "allowed", "_"), CLUSTER, ids=named)
def test_each_end_of_what_a_key_of_a_cluster_file_allows(place, allowed, _):
    assert_allowed(place, allowed, CLUSTERS, read_cluster)


def assert_allowed(place, allowed, bases, read):
    """Each end of a number goes with one of these files, or with another key beside it."""
    for value in [value for value in allowed if not isinstance(value, str)]:
        files = [with_extreme(base, place, value, beside) for beside in ((), WITH.get(place, ())) for base in bases]
        assert any(assert_refused_or_finite(lambda tables=tables: read(tables)) for tables in files), value


def assert_several(places, bases, read):
    """Several extremes at once are refused or simulated, and of the files a good part is simulated."""
    accepted = []

    @settings(modest, max_examples=EXAMPLES)
    @given(data=some.data())
    def try_some(data):
        tables = drawn(data, places, data.draw(some.sampled_from(bases)))
        accepted.append(assert_refused_or_finite(lambda: read(tables)))

    try_some()
    assert sum(accepted) > len(accepted) / 5, sum(accepted)


def test_several_extremes_of_a_fleet_file():
    assert_several(FLEET, [{"fleet": base} for base in BASES], read_fleet)


def test_several_extremes_of_a_cluster_file():
    assert_several(CLUSTER, CLUSTERS, read_cluster)
