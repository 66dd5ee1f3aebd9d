"""The wheel holds the package, the pages and what they read, byte for byte, and nothing else."""

import subprocess
import sys
import zipfile

import pytest
from clones import ROOT, copy_files, own_files

from reliability import scenarios


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Copy the project; return the folder and the bytes of its files by their names."""
    folder = tmp_path_factory.mktemp("wheel") / "clone"
    return folder, {name.as_posix(): text for name, text in copy_files(own_files(ROOT), folder).items()}


@pytest.fixture(scope="module")
def wheel(sources):
    """Build the wheel without a network, by what the environment has; return the bytes of its files by their names."""
    folder, _ = sources
    offline = ["--no-deps", "--no-build-isolation", "--check-build-dependencies", "--no-index"]
    command = [sys.executable, "-m", "pip", "wheel", *offline, "--wheel-dir", folder.parent, folder]
    done = subprocess.run(command, cwd=folder.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.parent.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def expected(sources):
    """Return the bytes that the wheel must hold, by their names in it."""
    package = {name: text for name, text in sources[1].items() if name.startswith("reliability/")}
    beside = {name: text for name, text in sources[1].items() if name.startswith(("notebooks/", "references.bib", "examples/"))}
    return package | {f"reliability/{name}": text for name, text in beside.items()}


def test_every_file_is_in_it_as_it_is_in_the_clone(wheel, expected):
    assert [name for name, text in expected.items() if wheel.get(name) != text] == []


def test_nothing_else_is_in_it(wheel, expected):
    assert [name for name in wheel.keys() - expected.keys() if ".dist-info/" not in name] == []


@pytest.mark.parametrize(
    "name",
    [
        *(f"notebooks/{page}.ipynb" for page in scenarios.PAGES),
        "templates/fleet_report.ipynb",
        "references.bib",
        "examples/incidents.toml",
        "logs/xid_codes.toml",
        "facts.toml",
        "published.toml",
        "scenarios/inputs.toml",
        "mathml.css",
        "figures/book.mplstyle",
        "report_theme/theme.conf",
        "report_theme/page.html",
        "report_theme/static/report.css",
    ],
)
def test_what_is_no_python_is_in_it(name, wheel):
    assert wheel[f"reliability/{name}"]


def test_both_licences_are_in_it(wheel, sources):
    found = {name.partition("/licenses/")[2]: text for name, text in wheel.items() if ".dist-info/licenses/" in name}
    assert found == {name: sources[1][name] for name in ("LICENSE", "LICENSE-TEXT")}
