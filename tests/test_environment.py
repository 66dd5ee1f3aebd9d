"""The scripts behind `make`, and the files that must agree with each other about versions, Pythons and commands."""

import ast
import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from packaging.requirements import Requirement

import reliability

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def load(name):
    """A script as a module of its own, so that a test can change its constants."""
    spec = importlib.util.spec_from_file_location(f"script_{name}", ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


# scripts/environment.py -----------------------------------------------------------------------------------------------


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """scripts/environment.py in a folder of its own, which has requirements and nothing else."""
    module = load("environment")
    root = tmp_path / "a clone"
    root.mkdir()
    (root / "requirements.txt").write_text("numpy==2.4.6\n")
    (root / "pyproject.toml").write_text("[project]\nname = 'x'\n[build-system]\n")
    monkeypatch.setattr(module, "ROOT", str(root))
    monkeypatch.setattr(module, "VENV", str(root / ".venv"))
    monkeypatch.setattr(module, "PYTHON", str(root / ".venv/bin/python"))
    monkeypatch.setattr(module, "STAMP", str(root / ".venv/made_from.txt"))
    monkeypatch.setattr(module, "make", lambda: "made")
    return module


def pretend_installed(environment):
    """Leave what a finished installation leaves."""
    python = Path(environment.PYTHON)
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    environment.write(environment.wanted())


def other_python(monkeypatch, environment, version, found="python3.12"):
    monkeypatch.setattr(environment, "another", lambda: found)
    monkeypatch.setattr(
        environment, "sys", SimpleNamespace(version_info=version, executable="/usr/bin/python3", stderr=sys.stderr)
    )


def test_any_python_can_read_the_environment_script():
    source = (ROOT / "scripts/environment.py").read_bytes()
    assert source.isascii()  # Python 2 refuses more without a declaration
    tree = ast.parse(source, feature_version=(3, 6))
    newer = (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.Nonlocal, ast.YieldFrom, ast.AsyncFunctionDef, ast.Match)
    assert not [node.lineno for node in ast.walk(tree) if isinstance(node, newer)]
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        arguments = function.args
        assert not (function.returns or arguments.kwonlyargs or [a for a in arguments.args if a.annotation])
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert imported <= {*sys.stdlib_module_names}


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 10, 13), (3, 15, 0)])
@pytest.mark.parametrize("found, hint", [("python3.12", "Choose another"), (None, "Install another")])
def test_an_unsupported_python_gets_one_line(environment, monkeypatch, capsys, version, found, hint):
    other_python(monkeypatch, environment, version, found)
    assert environment.main([]) == 1
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    for part in ("Python {}.{}.{} ".format(*version), "3.11 to 3.14", hint, "make PYTHON=python3.12 book"):
        assert part in message


def test_a_python_without_venv_gets_one_line(environment, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    other_python(monkeypatch, environment, (3, 12, 1))
    assert environment.main([]) == 1
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "lacks the module venv" in message and "apt install python3.12-venv" in message


def test_a_python_chosen_once_stays_chosen(environment, monkeypatch):
    # make PYTHON=python3.12 book, then make test, where python3 is a Python that is not supported
    calls = []
    monkeypatch.setattr(environment.subprocess, "call", lambda command: calls.append(command) or 0)
    pretend_installed(environment)
    other_python(monkeypatch, environment, (3, 10, 13))
    assert environment.main([]) == 1  # but whoever asks for a wrong one is told
    assert environment.main(["--or-existing"]) == 0
    assert calls[0][0] == environment.PYTHON
    another = (3, 12, 0) if sys.version_info[1] != 12 else (3, 13, 0)
    other_python(monkeypatch, environment, another)  # nor is a supported one that nobody asked for
    assert environment.main(["--or-existing"]) == 0 and len(calls) == 2
    other_python(monkeypatch, environment, (3, 10, 13))
    environment.write(environment.UNFINISHED)
    assert environment.main(["--or-existing"]) == 1


def test_nothing_is_installed_twice_and_nothing_half(environment):
    assert environment.main([]) == "made"
    pretend_installed(environment)
    assert environment.main([]) == 0
    environment.write(environment.UNFINISHED)
    assert environment.main([]) == "made"
    assert environment.reason_to_start_again() == "the last attempt was not finished"


def test_what_is_installed_depends_on(environment, monkeypatch):
    pretend_installed(environment)
    stamp = environment.wanted()
    for name, change, outcome in [
        ("requirements.txt", "scipy==1.17.1\n", "made"),
        ("pyproject.toml", "requires = ['hatchling']\n", "made"),
        ("pyproject.toml", "[tool.pytest]\nminversion = '9'\n", 0),
    ]:
        path = Path(environment.ROOT, name)
        before = path.read_text()
        path.write_text(before + change)
        assert environment.main([]) == outcome, change
        path.write_text(before)
        assert environment.main([]) == 0
    Path(environment.PYTHON).unlink()  # its Python was uninstalled
    assert environment.main([]) == "made"
    monkeypatch.setattr(environment, "VENV", "/elsewhere/.venv")  # a clone that was moved or copied
    assert environment.wanted() != stamp


def test_a_venv_of_another_python_or_place_is_made_anew(environment, monkeypatch):
    pretend_installed(environment)
    assert environment.reason_to_start_again() == "the one here is not whole, or was made elsewhere"
    Path(environment.VENV, "pyvenv.cfg").write_text(f"command = python -m venv {environment.VENV}\n")
    assert environment.reason_to_start_again() == ""
    running = "{}.{}".format(*sys.version_info)
    other_python(monkeypatch, environment, (3, 99, 0))
    assert environment.reason_to_start_again() == f"the one here has Python {running}"
    Path(environment.PYTHON).unlink()
    assert environment.reason_to_start_again() == "the one here does not start"
    environment.remove()
    assert not Path(environment.VENV).exists()


# scripts/build_book.py ------------------------------------------------------------------------------------------------


FAILED = """\
/home/someone/book/notebooks/recovery.ipynb: WARNING: Executing notebook failed: CellExecutionError [mystnb.exec]
/home/someone/book/notebooks/recovery.ipynb: WARNING: Executing notebook failed: CellExecutionError [mystnb.exec]
nbclient.exceptions.CellExecutionError: An error occurred while executing the following cell:
------------------
raise RuntimeError("planted")
------------------

RuntimeError: planted


The above exception was the direct cause of the following exception:
/home/someone/book/pages/limits.md:7: WARNING: 'myst' cross-reference target not found: 'nowhere' [myst.xref_missing]
WARNING: autodoc: failed to import module 'model' from module 'reliability'; the following exception was raised:
"""


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A small book, and a stand-in for Jupyter Book that counts its runs and fails when told to."""
    module = load("build_book")
    for name in ("reliability/model.py", "notebooks/page.ipynb", "_config.yml", "intro.md", "references.bib"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    outcome = SimpleNamespace(status=0, interrupt=False, runs=0, cached=None, said=[], root=tmp_path)

    def run(root, say):
        outcome.runs += 1
        cache = root / "_build/.jupyter_cache"
        outcome.cached = cache.is_dir()
        cache.mkdir(exist_ok=True)
        assert not (root / "_build/html").exists() and not (root / "_build/.doctrees").exists()
        (root / "_build/.doctrees").mkdir()
        (root / "_build/html").mkdir()
        (root / "_build/html/index.html").touch()
        if outcome.interrupt:
            raise KeyboardInterrupt
        return outcome.status, FAILED.replace("/home/someone/book", str(root)) if outcome.status else ""

    monkeypatch.setattr(module, "run", run)
    outcome.build = lambda: module.build(tmp_path, lambda line: outcome.said.append(line))
    return outcome


def test_an_unchanged_book_is_not_built_again(book):
    assert book.build() == 0 and book.build() == 0
    assert book.runs == 1
    assert book.said[-2:] == ["The book is up to date.", f"Open {(book.root / '_build/html/index.html').as_uri()}"]
    (book.root / "_build/html/index.html").unlink()
    assert book.build() == 0
    assert book.runs == 2


@pytest.mark.parametrize("name, kept", [("intro.md", True), ("references.bib", True), ("notebooks/page.ipynb", True),
                                        ("reliability/model.py", False), ("reliability/new.toml", False),
                                        ("requirements.txt", False), ("_config.yml", False)])  # fmt: skip
def test_outputs_are_kept_only_where_what_they_come_from_is_unchanged(book, name, kept):
    # Jupyter Book's cache looks at a page's code: after a change in the package it showed the old numbers
    book.build()
    (book.root / name).write_text("changed")
    assert book.build() == 0
    assert book.runs == 2 and book.cached == kept


def test_what_python_and_editors_leave_behind_is_no_change(book):
    book.build()
    for name in ("reliability/__pycache__/model.pyc", "notebooks/.ipynb_checkpoints/page.ipynb"):
        (book.root / name).parent.mkdir()
        (book.root / name).write_text("anything")
    book.build()
    assert book.runs == 1


def test_a_failed_build_fails_again_and_leaves_no_book(book):
    # Jupyter Book takes the page that failed for read, and its second build ends well
    book.status = 1
    for _ in range(2):
        assert book.build() == 1
        assert "notebooks/recovery.ipynb, pages/limits.md" in book.said[-1]
        assert not (book.root / "_build/html").exists()
    assert "RuntimeError: planted" in book.said[-2] and str(book.root) not in book.said[-2]
    assert book.said[-2].count("Executing notebook failed") == 1
    book.status = 0
    assert book.build() == 0
    assert book.runs == 3 and book.cached


def test_an_interrupted_build_does_not_count(book):
    book.build()
    (book.root / "intro.md").write_text("changed")
    book.interrupt = True
    with pytest.raises(KeyboardInterrupt):
        book.build()
    book.interrupt = False
    assert book.build() == 0
    assert book.runs == 3


# scripts/notebooks.py -------------------------------------------------------------------------------------------------


def test_a_notebook_is_run_and_written_in_one_way(tmp_path, capsys):
    notebooks = load("notebooks")
    cells = [new_markdown_cell("# Page"), new_code_cell("1 + 1", metadata={"tags": ["keep"], "collapsed": True})]
    cells += [new_code_cell("print('a')\nprint('b')", execution_count=7)]
    language = {"name": "python", "version": "3.9.1"}
    notebook = new_notebook(cells=cells, metadata={"papermill": {"duration": 1.2}, "language_info": language})
    for cell in notebook.cells:
        del cell["id"]  # as notebooks of format 4.4 come
    path = tmp_path / "page.ipynb"
    path.write_text(json.dumps(notebook | {"nbformat_minor": 4}))
    assert notebooks.main([str(path)]) == 0
    written = path.read_text()
    assert written.endswith("}\n")
    found = nbformat.reads(written, as_version=4)
    assert found.metadata == notebooks.KERNEL
    assert [cell.id for cell in found.cells] == ["cell-0", "cell-1", "cell-2"]
    assert [cell.metadata for cell in found.cells] == [{}, {"tags": ["keep"]}, {}]
    assert [cell.execution_count for cell in found.cells[1:]] == [1, 2]
    assert notebooks.main(["--check", str(path)]) == 0
    path.write_text(written.replace('"2"', '"3"'))
    assert notebooks.main(["--check", str(path)]) == 1
    assert re.search(r"page.ipynb +would change: text ", capsys.readouterr().out)
    assert '"3"' in path.read_text()


def test_a_change_is_named():
    def dumped(said, drawn, count=1):
        data = {"image/png": drawn, "text/plain": said}
        cell = new_code_cell("x", id="x", execution_count=count, outputs=[new_output("display_data", data)])
        return json.dumps(new_notebook(cells=[cell]))

    changed = load("notebooks").changed
    assert changed(dumped("a", "b"), dumped("a", "b")) == ""
    assert changed(dumped("a", "b"), dumped("A", "b")) == "text"
    assert changed(dumped("a", "b"), dumped("a", "B")) == "figure"
    assert changed(dumped("a", "b"), dumped("A", "B")) == "text and figure"
    assert changed(dumped("a", "b"), dumped("a", "b") + "\n") == "metadata or layout"


# Files that must agree ------------------------------------------------------------------------------------------------


def test_the_version_is_one():
    version = PROJECT["version"]
    assert reliability.__version__ == version
    assert str(yaml.safe_load(text("CITATION.cff"))["version"]) == version
    assert re.search(r"^## (\S+?),? ", text("CHANGELOG.md"), re.MULTILINE)[1] == version


def test_the_supported_pythons_are_the_same_everywhere():
    environment = load("environment")
    supported = [f"3.{minor}" for minor in range(environment.OLDEST[1], environment.NEWEST[1] + 1)]
    classified = [line.split(" :: ")[-1] for line in PROJECT["classifiers"] if " :: Python :: 3." in line]
    assert classified == supported
    assert PROJECT["requires-python"] == f">={supported[0]}"
    assert (
        yaml.safe_load(text(".github/workflows/test.yml"))["jobs"]["test"]["strategy"]["matrix"]["python"] == supported
    )
    assert all(version in text("README.md") for version in supported)
    assert text("runtime.txt").strip().removeprefix("python-") in supported
    assert f"{supported[0]} to {supported[-1]}" in text("Makefile")


def test_every_requirement_is_pinned_and_the_package_comes_with_them():
    lines = [line.partition("  #")[0] for line in text("requirements.txt").splitlines() if not line.startswith("#")]
    assert lines.pop() == "-e ."
    pins = [Requirement(line) for line in lines]
    assert all([specifier.operator for specifier in pin.specifier] == ["=="] for pin in pins)
    wanted = map(Requirement, [*PROJECT["dependencies"], *sum(PROJECT["optional-dependencies"].values(), [])])
    for need in wanted:
        versions = [next(iter(pin.specifier)).version for pin in pins if pin.name == need.name]
        assert versions and all(version in need.specifier for version in versions), f"make lock: {need}"


def test_every_make_command_that_is_written_somewhere_exists():
    targets = set(re.findall(r"^([a-z-]+):", text("Makefile"), re.MULTILINE))
    names = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", ".ci/run", "scripts/notebooks.py"]
    for name in names + [path.relative_to(ROOT) for path in (ROOT / ".github/workflows").glob("*.yml")]:
        mentioned = re.findall(r"(?:[`']|^\s*|run: )make (?:PYTHON=\S+ )?([a-z-]+)", text(name), re.MULTILINE)
        assert set(mentioned) <= targets, name


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_file_that_is_named_to_a_reader_is_there(name):
    made = re.compile(r"\.venv|_build|NAME|mine")
    named = re.findall(r"[`(]((?:[\w.-]+/)*[\w-]*(?:/|\.(?:md|txt|toml|yml|bib|py|cff|ipynb)))[`)]", text(name))
    assert len(named) > 5
    workflows = [path.name for path in (ROOT / ".github/workflows").glob("*")]
    assert not [one for one in named if not (ROOT / one).exists() and one not in workflows and not made.search(one)]


@pytest.mark.parametrize("name", [".ci/run", "scripts/lock"])
def test_shell_scripts_can_be_run(name):
    assert (ROOT / name).stat().st_mode & 0o111
    assert subprocess.run(["bash", "-n", ROOT / name]).returncode == 0
