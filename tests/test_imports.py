"""What each module of the package may import, and what a page says beside another package of the same name."""

import ast
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from reliability import units

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "reliability").rglob("*.py"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

FIGURES = {"figures"}
DOCUMENTS = {"page", "report", "kernel_runs", "plan_report", "sweep_reports", "onefile", "cell_links", "mathml"}
NO_MODELS = {"scenarios", "arguments", "sources", "commands", "__main__"} | FIGURES | DOCUMENTS
# Every other module is a model: it computes, and knows nothing of the pages.
OF_PAGES = [f"reliability.{name}" for name in ("scenarios", "figures", "page", "report", "published")]


# The direction of imports ---------------------------------------------------------------------------------------------


def place(path, root=ROOT):
    """Return a module's name: ``reliability.figures.sdc``."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path, root=ROOT):
    """Return the names that a module imports anywhere, and those of them that it imports as it is loaded."""
    package = path.relative_to(root).parent.parts
    everywhere, at_once = set(), set()

    def look(node, inside):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            source = ".".join([*above, *filter(None, [node.module])])
            names = [source, *(f"{source}.{alias.name}" for alias in node.names)]
        everywhere.update(names)
        at_once.update(names if not inside else [])
        for child in ast.iter_child_nodes(node):
            look(child, inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda))

    look(ast.parse(path.read_text(encoding="utf-8")), inside=False)
    return everywhere, at_once


def uses(imported, *packages):
    """Return the imported names that are one of these packages or inside it."""
    return sorted(name for name in imported if any(name == p or name.startswith(f"{p}.") for p in packages))


def wrong_imports(path, root=ROOT):
    """Return which imports of a module lead the wrong way."""
    _, kind, *_ = [*place(path, root).split("."), ""]
    everywhere, at_once = imports(path, root)
    found = []
    if kind not in FIGURES:
        found += uses(everywhere, "matplotlib", "mpl_toolkits")
    if kind not in ("report", "kernel_runs"):
        found += uses(everywhere, "papermill", "nbconvert")
    if kind not in DOCUMENTS:
        found += uses(everywhere, "IPython", "nbformat", "sphinx", "docutils")
    if kind not in NO_MODELS:
        found += uses(everywhere, *OF_PAGES)
    return found + uses(at_once, "pandas")


@pytest.mark.parametrize("path", MODULES, ids=place)
def test_a_module_imports_nothing_in_the_wrong_direction(path):
    assert wrong_imports(path) == []


@pytest.mark.parametrize(
    ("module", "code", "found"),
    [
        ("sdc", "def f():\n    import matplotlib.pyplot as plt", ["matplotlib.pyplot"]),
        ("page", "from matplotlib import ticker", ["matplotlib", "matplotlib.ticker"]),
        ("figures/sdc", "from matplotlib import ticker", []),
        ("onefile", "from papermill import execute_notebook", ["papermill", "papermill.execute_notebook"]),
        ("scenarios/sdc", "import nbconvert", ["nbconvert"]),
        ("report", "def f():\n    import papermill, nbconvert", []),
        ("figures/sdc", "async def f():\n    import IPython.display", ["IPython.display"]),
        ("facts", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import nbformat", ["nbformat"]),
        ("arguments", "import sphinx.errors", ["sphinx.errors"]),
        ("scenarios", "import docutils", ["docutils"]),
        ("mathml", "import docutils, sphinx", []),
        ("rates", "from reliability import published", ["reliability.published"]),
        ("rates", "from . import checks, figures", ["reliability.figures"]),
        ("rates", "import sys\nfrom .scenarios import base", ["reliability.scenarios", "reliability.scenarios.base"]),
        ("scenarios/rates", "from ..page import show\nfrom . import base", []),
        ("detector", "import reliability.report as r", ["reliability.report"]),
        ("published", "from reliability import facts, text", []),
        ("text", "class T:\n    import pandas as pd", ["pandas"]),
        ("text", "try:\n    import pandas\nexcept ImportError:\n    pass", ["pandas"]),
        ("text", "def f():\n    import pandas", []),
        ("text", "import pandas_like, matplotlib_inline", []),
    ],
)
def test_the_direction_of_an_import_is_told(module, code, found, tmp_path):
    path = tmp_path / "reliability" / f"{module}.py"
    path.parent.mkdir(parents=True)
    path.write_text(code, encoding="utf-8")
    assert wrong_imports(path, tmp_path) == found


def test_importing_the_package_loads_no_numpy():
    code = "import sys, reliability; print(sorted({'numpy', 'scipy'} & {*sys.modules}), reliability.DISTRIBUTION)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[] training-reliability\n"


# Hours, days and weeks in seconds -------------------------------------------------------------------------------------


def test_hours_days_and_weeks_in_seconds_have_one_place():
    """All but the arithmetic of stamps, which is in whole numbers."""
    lengths = {int(length) for length in (units.HOUR_S, units.DAY_S, units.WEEK_S)}
    found = {
        place(path)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and node.value in lengths
    }
    assert found == {"reliability.units", "reliability.logs.stamps"}


# Another package of the same name -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_page_beside_another_reliability_names_the_right_one(path, tmp_path):
    other = tmp_path / "reliability" / "__init__.py"
    other.parent.mkdir()
    other.write_text("class Weibull_Distribution:\n    pass\n", encoding="utf-8")
    first = next(cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")
    (tmp_path / "cell.py").write_text(first.source, encoding="utf-8")
    done = subprocess.run([sys.executable, tmp_path / "cell.py"], capture_output=True, text=True, check=False)
    said = done.stderr.splitlines()[-1]
    assert said.startswith(f"ImportError: {other} ")
    assert "needs training-reliability" in said
    assert "pip uninstall reliability" in said
