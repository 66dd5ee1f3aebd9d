"""Run a page under parameters of one's own: an executed notebook, one HTML file, and the results as JSON."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reliability import __version__, arguments, cluster, published, scenarios, settings_files
from reliability.errors import BadInput
from reliability.kernel_runs import RunFailed, execute
from reliability.page import RESULTS_MIME
from reliability.staging import publish, staging
from reliability.text import nearest

if TYPE_CHECKING:
    from nbformat import NotebookNode

SCHEMA = 1
# What stands beside the parameters of a run, and what those are called that are all as they stand there.
STANDARD = {
    "published": {"standard": "Published", "usual": "published"},
    "book": {"standard": "In the book", "usual": "book's"},
    "template": {"standard": "By default", "usual": "default"},
}


@dataclass(frozen=True)
class Run:
    """What a run left: its `files` in the output folder, and `warnings` worth reading."""

    files: tuple[Path, ...]
    warnings: tuple[str, ...]


def run_page(page: str, parameters: Mapping[str, object], out: str | os.PathLike, progress: bool | None = None) -> Run:
    """Execute a page under these parameters and write PAGE.ipynb, PAGE.html and PAGE.json into a folder.

    The three files appear together at the end; whatever goes wrong before leaves none of them.

    Parameters
    ----------
    page : str
        One of `scenarios.PAGES`.
    parameters : mapping of name to text or value
        What differs from the published parameters.
    out : path
        The folder; it is made where it is not there.
    progress : bool, optional
        Whether to show on stderr how far it is; by default if that is a terminal.

    Raises
    ------
    BadInput
        For an unknown page or parameter, a value that is not allowed, a folder that cannot be written to.
    RunFailed
        If a cell fails.
    """
    progress = sys.stderr.isatty() if progress is None else progress
    with staging(Path(out)) as folder:
        _check_page_and_file(page, parameters)
        made = make(page, parameters, progress)
        html = made.html(progress)
        (folder / f"{page}.ipynb").write_text(made.ipynb(), encoding="utf-8")
        (folder / f"{page}.html").write_text(html, encoding="utf-8")
        (folder / f"{page}.json").write_text(as_json(made.results), encoding="utf-8")
        written = publish(folder, Path(out))
    return Run(written, tuple(made.warnings))


@dataclass
class Made:
    """A page that was executed: its notebook, its results, and what to warn of; `html` adds its own warnings."""

    page: str
    notebook: NotebookNode
    results: dict[str, Any]
    warnings: list[str]

    def ipynb(self) -> str:
        """Return the notebook's text."""
        import nbformat

        return nbformat.writes(self.notebook) + "\n"

    def html(self, progress: bool = False, about: Mapping[str, Any] | None = None) -> str:
        """Render the notebook as one file; `about` is what its head says, by default the parameters of the run."""
        from reliability import onefile

        if progress:
            print(f"{self.page}: rendering one HTML file", file=sys.stderr)
        about = about or _about(self.page, self.results["parameters"])
        html, more = onefile.render(self.notebook, self.page, data("references.bib"), about)
        self.warnings += more
        return html

    def bundles(self) -> list[dict]:
        """Return what the notebook emitted for programs."""
        found = (output.get("data", {}) for cell in self.notebook.cells for output in cell.get("outputs", []))
        return [data[RESULTS_MIME] for data in found if RESULTS_MIME in data]

    def without_path(self, parameter: str, shown: str) -> None:
        """Leave no path of this machine in the notebook and its results: the parameter that holds one says what is shown instead."""
        # The line as a whole: how a text is quoted there is another program's affair.
        line = f"{parameter} = {json.dumps(shown, ensure_ascii=False)}"
        for cell in self.notebook.cells:
            if cell.cell_type == "code" and "injected-parameters" in cell.metadata.get("tags", []):
                cell.source = re.sub(rf"^{parameter}\s*=.*$", lambda _: line, cell.source, flags=re.MULTILINE)
        for values in (self.results, *self.bundles()):
            values["parameters"][parameter] = shown


def check() -> None:
    """Import what executes and renders a page, so that a package that is missing is found before anything runs.

    Raises
    ------
    ModuleNotFoundError
    """
    import papermill  # noqa: F401

    from reliability import onefile  # noqa: F401


def make(page: str, parameters: Mapping[str, object], progress: bool = False, without: str = "") -> Made:
    """Check the parameters of a page and execute it; cells with the tag `without` are left out."""
    values = arguments.check(page, scenarios.parameters(page), scenarios.defaults(page), parameters)
    if progress:
        print(f"{page}: executing the notebook", file=sys.stderr)
    check()
    notebook = _load(page)
    notebook.cells = [cell for cell in notebook.cells if not without or without not in cell.metadata.get("tags", [])]
    executed, warnings = execute(page, notebook, values, progress)
    return Made(page, executed, _results(page, executed), warnings)


def _check_page_and_file(page: str, parameters: Mapping[str, object]) -> None:
    known = scenarios.PAGES + scenarios.TEMPLATES
    if page not in known:
        raise BadInput(f"no page {page!r}. {nearest(page, known)}There are {', '.join(known)}.")
    file = scenarios.parameters(page).SETTINGS_FILE
    if file in parameters:
        settings_files.check_for_report(cluster.find(parameters[file]))


def as_json(values: Mapping[str, Any]) -> str:
    """Return values as the text of a JSON file."""
    return json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def data(name: str) -> Path:
    """Return the path of a file that the pages need: inside an installed package, beside it in a clone."""
    package = Path(str(files("reliability")))
    for folder in (package, package.parent):
        if (folder / name).exists():
            return folder / name
    raise RunFailed(f"{name} is not part of this installation of training-reliability")


def _load(page: str) -> NotebookNode:
    """Return the page's notebook, once sure that it has exactly the parameters that its model has."""
    import nbformat
    from papermill import inspect_notebook

    folder = "templates" if page in scenarios.TEMPLATES else "notebooks"
    notebook = nbformat.read(data(f"{folder}/{page}.ipynb"), as_version=4)
    names = [*scenarios.parameters(page).model_fields]
    if [*inspect_notebook(notebook)] != names:
        raise RunFailed(f"{page}: the notebook has the parameters {[*inspect_notebook(notebook)]}, its model {names}")
    return notebook


def _results(page: str, notebook: NotebookNode) -> dict[str, Any]:
    """Return what the page's card emitted for programs, and how it stands to what was published."""
    for cell in reversed(notebook.cells):
        for output in cell.get("outputs", []):
            if RESULTS_MIME in output.get("data", {}):
                emitted = output.data[RESULTS_MIME]
                return {
                    "schema": SCHEMA,
                    "page": page,
                    "version": __version__,
                    **emitted,
                    "published": _standing(page, emitted),
                }
    raise RunFailed(f"{page}: the notebook ended without results")


def _standing(page: str, emitted: Mapping) -> dict[str, Any]:
    """Return what of the run differs from the book, and how many published figures it reproduced."""
    changed = [*scenarios.changed(page, emitted["parameters"])]
    if page not in scenarios.PUBLISHED:
        return {"changed": changed}
    counts = published.counts(page)
    # A card that does not come out as published fails its cell, and the run with it.
    return {"changed": changed, "reproduced": None if changed else counts["computed"], **counts}


def _about(page: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the head of the HTML file says of the run."""
    changed = scenarios.changed(page, values)
    standard = scenarios.inputs(page, scenarios.defaults(page))
    fields = scenarios.parameters(page).model_fields
    table = [
        {
            "name": name,
            "value": json.dumps(value),
            "standard": json.dumps(getattr(standard, name)) if name in changed else "",
            "about": fields[name].description or "",
            "changed": name in changed,
        }
        for name, value in values.items()
    ]
    kind = "published" if page in scenarios.PUBLISHED else "book" if page in scenarios.PAGES else "template"
    return {"version": __version__, "parameters": table, "changed": len(changed), **STANDARD[kind]}
