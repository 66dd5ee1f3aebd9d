"""Run a page under parameters of one's own: an executed notebook, one HTML file, and the results as JSON."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

from reliability import __version__, arguments, cluster, published, scenarios, settings_files
from reliability.errors import BadInput
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
INPUT_ERRORS = ("BadInput", "ClusterError", "FleetError", "LogError")  # of a file that a parameter names


class RunFailed(RuntimeError):
    """A page could not be executed; the message is one line."""


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
    known = scenarios.PAGES + scenarios.TEMPLATES
    if page not in known:
        raise BadInput(f"no page {page!r}. {nearest(page, known)}There are {', '.join(known)}.")
    for name, value in parameters.items():
        if name.endswith("_file") and not str(value).startswith("example:"):
            settings_files.check_for_report(cluster.find(value))
    values = arguments.check(page, scenarios.parameters(page), scenarios.defaults(page), parameters)
    if progress:
        print(f"{page}: executing the notebook", file=sys.stderr)
    check()
    notebook = _load(page)
    notebook.cells = [cell for cell in notebook.cells if not without or without not in cell.metadata.get("tags", [])]
    executed, warnings = _execute(page, notebook, values, progress)
    return Made(page, executed, _results(page, executed), warnings)


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


def _execute(page: str, notebook: NotebookNode, values: Mapping, progress: bool) -> tuple[NotebookNode, list[str]]:
    from nbclient.exceptions import DeadKernelError
    from papermill import PapermillExecutionError, execute_notebook

    form = "{desc}: {n_fmt} of {total_fmt} cells |{bar}| {elapsed}"
    bar = {"desc": page, "leave": False, "ncols": 78, "bar_format": form}
    with TemporaryDirectory(prefix="reliability-") as folder:
        manager = _kernel(folder)
        try:
            executed = execute_notebook(
                notebook,
                None,
                dict(values),
                kernel_name="python3",
                language="python",
                progress_bar=bar if progress else False,
                record_timing=False,
                kernel_manager_class=manager,
                resources={"metadata": {"path": folder}},
            )
        except PapermillExecutionError as error:
            if error.ename in INPUT_ERRORS:
                raise BadInput(" ".join(error.evalue.split())) from None
            reason = " ".join(f"{error.ename}: {error.evalue}".split())
            raise RunFailed(f"{page}: cell [{error.exec_count}] failed: {reason}") from None
        except (KeyboardInterrupt, SystemExit):
            # A kernel that is just starting would miss its folder, and both tell at length of what ends with it.
            for name in ("asyncio", "papermill"):
                logging.getLogger(name).setLevel(logging.CRITICAL)
            for process in manager.launched:
                process.kill()
            raise
        except DeadKernelError as error:
            raise RunFailed(f"{page}: the kernel died: {error}") from None
    return executed, _clean(executed)


def _kernel(folder: str) -> type:
    """Return a kernel manager whose kernel is this interpreter with this package, whatever kernels are installed."""
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    environment = {
        "TRAINING_RELIABILITY_FOLDER": os.getcwd(),  # where paths in parameters begin
        "IPYTHONDIR": folder,  # no start-up files of the user's
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    home = str(Path(str(files("reliability"))).parent)
    if home not in sysconfig.get_paths().values():  # run from a clone that is not installed
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=CRITICAL"]

    class ThisPython(AsyncKernelManager):
        kernel_spec = KernelSpec(argv=command, display_name="Python 3", language="python", env=environment)
        launched: ClassVar[list] = []  # the kernels' processes

        async def _async_launch_kernel(self, *args, **options):
            await super()._async_launch_kernel(*args, **options)
            self.launched.append(self.provisioner.process)

    return ThisPython


def _clean(notebook: NotebookNode) -> list[str]:
    """Take out of an executed notebook what belongs to this machine and hour; return what it said on stderr."""
    notebook.metadata.pop("papermill", None)
    notebook.metadata.kernelspec = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    notebook.metadata.language_info = {"name": "python"}
    said = []
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
        tags = cell.metadata.get("tags", [])
        if not tags:
            cell.metadata.pop("tags", None)
        if "injected-parameters" in tags:
            cell.id = "injected-parameters"
        if cell.cell_type == "code":
            stderr = [output for output in cell.outputs if output.get("name") == "stderr"]
            cell.outputs = [output for output in cell.outputs if output not in stderr]
            said += [f"cell [{cell.execution_count}]: {_without_paths(output.text)}" for output in stderr]
    return said


def _without_paths(text: str) -> str:
    return " ".join(re.sub(r"\S*/(?=[^/\s]+)", "", text).split())


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
