"""The compiled parts of the fleet model: their queues against plain ones, and the whole against itself, not compiled."""

import ast
import heapq
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import config, njit
from numba.core import caching
from oracles import bytes_of
from test_fleet import VARIANTS, variant

from reliability import (
    fleet,
    fleet_compiled,
    fleet_config,
    fleet_engine,
    fleet_heap,
    fleet_sources,
    fleet_state,
    fleet_tree,
)

push = njit(lambda heap, number, time, node: fleet_heap.push(heap, number, time, node))
pop = njit(lambda heap, number: fleet_heap.pop(heap, number))
set_time = njit(lambda tree, i, time: fleet_tree.set_time(tree, i, time))
earliest = njit(lambda tree: fleet_tree.earliest(tree))


def test_the_heap_gives_nodes_in_the_order_of_their_return():
    rng, heap, plain = np.random.default_rng(1), np.zeros(60, fleet_state.RETURN), []
    for node in range(3000):
        if len(plain) < 60 and (not plain or rng.random() < 0.52):
            time = round(rng.exponential(), 2)  # some alike
            push(heap, len(plain), time, node)
            heapq.heappush(plain, (time, node))
            assert heap[0].time == plain[0][0]
        else:
            alike = {node for time, node in plain if time == plain[0][0]}
            taken = pop(heap, len(plain))
            assert taken in alike
            plain = [entry for entry in plain if entry[1] != taken]
            heapq.heapify(plain)


@pytest.mark.parametrize("number", [1, 2, 5, 64, 65])
def test_the_tree_knows_the_earliest(number):
    rng, times = np.random.default_rng(2), np.full(number, np.inf)
    tree = np.full(fleet_tree.leaves(number), np.inf)
    for _ in range(1000):
        i, time = rng.integers(number), rng.choice([np.inf, rng.exponential()])
        times[i] = time
        set_time(tree, i, time)
        assert tree[1] == times.min()
        if np.isfinite(times).any():
            assert earliest(tree) == times.argmin()


RUN = """
import sys
sys.path[:0] = {path!r}
from oracles import bytes_of
from test_fleet import VARIANTS, variant
from reliability import fleet, fleet_config
for name in VARIANTS:
    print(name, bytes_of(fleet.simulate_block(fleet_config.build(variant(name)), 5, 0, 2)).hex())
"""


def test_the_model_does_the_same_when_it_is_not_compiled():
    """Plain Python raises where a place is beyond the end of an array; compiled code does not."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", RUN.format(path=[str(Path(__file__).parent)])]
    plain = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert [line.split()[0] for line in plain.splitlines()] == list(VARIANTS)
    for line in plain.splitlines():
        name, digits = line.split()
        assert bytes_of(fleet.simulate_block(fleet_config.build(variant(name)), 5, 0, 2)).hex() == digits, name


# What is kept on disk -------------------------------------------------------------------------------------------------


def imported(module):
    """The modules of the package that a module imports when it is loaded."""
    for node in ast.parse((fleet_sources.FOLDER / f"{module}.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "reliability":
            names = node.module.split(".")[1:] or [alias.name for alias in node.names]
            yield names[0]
            yield from (alias.name for alias in node.names if not node.module.split(".")[1:])


def reached(first, goes_on):
    """The modules that one leads to, by the imports of those that `goes_on` holds for."""
    found, todo = set(), [first]
    while todo:
        module = todo.pop()
        if module not in found and goes_on(module):
            todo += imported(module)
        found.add(module)
    return found


def test_every_module_that_is_compiled_is_in_the_digest():
    """Those that compiled modules take functions, constants or records from, but for those that Python alone runs."""
    found = reached("fleet_engine", lambda module: "@compiled" in (fleet_sources.FOLDER / f"{module}.py").read_text("utf-8"))
    assert found - {"fleet_config", "fleet_sources", "lives", "units"} == set(fleet_sources.COMPILED)


SAY = {"checks", "errors", "field_types", "fleet_sources", "settings_faults", "text", "toml_values"}  # what is wrong


def test_every_module_that_a_result_depends_on_is_in_the_digest():
    found = reached("fleet", lambda module: module not in SAY) | reached("fleet_engine", lambda module: module not in SAY)
    assert found - SAY == set(fleet_sources.MODEL)


@pytest.mark.parametrize("module", fleet_sources.MODEL)
def test_a_change_of_any_of_them_changes_the_digest(module, tmp_path):
    for name in fleet_sources.MODEL:
        shutil.copy(fleet_sources.FOLDER / f"{name}.py", tmp_path)
    for modules in (fleet_sources.COMPILED, fleet_sources.MODEL):
        shutil.copy(fleet_sources.FOLDER / f"{module}.py", tmp_path)
        before = fleet_sources.sources(modules, tmp_path)
        assert before == fleet_sources.sources(modules)
        with (tmp_path / f"{module}.py").open("a") as file:
            file.write("#")
        assert (fleet_sources.sources(modules, tmp_path) != before) == (module in modules)


def test_compiling_is_told_once():
    told = []
    with fleet_compiled.when_compiling(lambda: told.append(1)):
        assert njit(lambda x: x + 1)(1) == 2
        assert njit(lambda x: x + 2)(1) == 3
    assert told == [1]
    njit(lambda x: x + 3)(1)
    assert told == [1]


def at_once(a, b, c, d, e, f, g, h):
    return True


def kept(folder, monkeypatch):
    """In place of the model, a function that compiles quickly and is kept in a folder."""
    monkeypatch.setattr(config, "CACHE_DIR", str(folder))
    monkeypatch.setattr(fleet_engine, "run", njit(cache=True)(at_once))


def full(*_):
    raise OSError(28, "No space left on device")


def test_a_disk_that_is_full_stops_nothing(tmp_path, monkeypatch):
    kept(tmp_path, monkeypatch)
    monkeypatch.setattr(caching.IndexDataCacheFile, "_open_for_write", full)
    fleet_engine.prepare(fleet_config.build(variant("counted")))
    assert len(fleet_engine.run.signatures) == 1


@pytest.mark.parametrize("found", [b"", b"torn", None])
def test_what_is_kept_and_cannot_be_read_is_compiled_again(found, tmp_path, monkeypatch):
    kept(tmp_path, monkeypatch)
    fleet_engine.prepare(fleet_config.build(variant("counted")))
    (index,) = tmp_path.rglob("*.nbi")
    kept(tmp_path, monkeypatch)
    if found is None:
        monkeypatch.setattr(caching.IndexDataCacheFile, "load", full)
    else:
        index.write_bytes(found)
    fleet_engine.prepare(fleet_config.build(variant("counted")))
    assert len(fleet_engine.run.signatures) == 1
