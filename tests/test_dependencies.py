"""What works with the core dependencies alone, and what says in one line which extra it needs."""

import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FLEET = """
[fleet]
job_nodes = 8
horizon_h = 24.0
failures = { rate_per_node_day = 0.1 }
repair = { automatic_s = 3600.0 }
recovery = { restart_s = 600.0 }
"""
# Stands for an installation without the extras.
WITHOUT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
from reliability.__main__ import main
sys.exit(main())
"""


def named(requirements):
    return {canonicalize_name(Requirement(text).name) for text in requirements}


def with_theirs(names):
    """Distributions, and all that they bring with them."""
    found, left = set(), set(names)
    while left:
        name = left.pop()
        found.add(name)
        needs = [need for need in requires(name) or [] if "extra ==" not in need]
        left |= named(need for need in needs if not (r := Requirement(need)).marker or r.marker.evaluate()) - found
    return found


def of_extras():
    """The packages that only extras bring, as they are imported."""
    core = with_theirs(named(PROJECT["dependencies"]))
    extras = named(sum(PROJECT["optional-dependencies"].values(), [])) - core
    found = packages_distributions().items()
    return {name for name, brought in found if {canonicalize_name(one) for one in brought} <= extras}


def without_extras(folder, *command):
    code = WITHOUT.format(blocked=of_extras())
    return subprocess.run(
        [sys.executable, "-c", code, *command], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "fleet.toml").write_text(FLEET)
    (tmp_path / "grid.toml").write_text('cluster = "fleet.toml"\n[grid]\n"fleet.warm_standbys" = [0, 1, 2]\n')
    rows = [f"n{i},2026-01-{i + 1:02d},2026-01-{i + 2:02d},gpu" for i in range(9)]
    (tmp_path / "incidents.csv").write_text("\n".join(["node,start,end,class", *rows]))
    return tmp_path


def test_the_packages_of_the_extras_are_known():
    assert {"dask", "distributed", "papermill", "tomli_w", "sphinx"} <= of_extras()
    assert of_extras().isdisjoint({"numpy", "pandas", "matplotlib", "tqdm"})


@pytest.mark.parametrize(
    "command",
    [
        ["demo", "--scenario", "1"],
        ["simulate", "fleet.toml", "--replications", "5"],
        ["incidents", "incidents.csv", "--nodes", "16"],
        ["plan", "example:llama3", "--draws", "100"],
    ],
    ids=lambda command: command[0],
)
def test_without_the_extras(folder, command):
    done = without_extras(folder, *command)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.parametrize(
    ("command", "package", "extra"),
    [
        (["sweep", "grid.toml", "--out", "out"], "dask", "cluster"),
        (["sweep", "grid.toml", "--out", "out", "--workers", "2"], "distributed", "cluster"),
        (["simulate", "fleet.toml", "--workers", "2"], "distributed", "cluster"),
        (["simulate", "fleet.toml", "--scheduler", "tcp://127.0.0.1:1"], "distributed", "cluster"),
        (["sweep", "grid.toml", "--out", "out", "--reports"], "tomli_w", "run"),
        (["run", "availability", "--out", "out"], "", "run"),
        (["plan", "example:llama3", "--out", "out"], "", "run"),
    ],
)
def test_what_needs_an_extra_says_which(folder, command, package, extra):
    done = without_extras(folder, *command)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{package} is not installed" in done.stderr
    assert f"pip install 'training-reliability[{extra}]'" in done.stderr
    assert done.stderr.count("\n") == 1
