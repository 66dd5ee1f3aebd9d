"""Run a page under parameters of one's own: an executed notebook, one HTML file, and the results as JSON."""

from __future__ import annotations

import json
import os
import re
import sys
import sysconfig
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from reliability import __version__, arguments, published, scenarios
from reliability.arguments import BadInput
from reliability.page import RESULTS_MIME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbformat import NotebookNode

SCHEMA = 1


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
    if page not in scenarios.PAGES:
        hint = arguments.nearest(page, scenarios.PAGES)
        raise BadInput(f"no page {page!r}. {hint}There are {', '.join(scenarios.PAGES)}.")
    values = arguments.check(page, scenarios.parameters(page), scenarios.defaults(page), parameters)
    progress = sys.stderr.isatty() if progress is None else progress
    with _staging(Path(out)) as staging:
        if progress:
            print(f"{page}: executing the notebook", file=sys.stderr)
        import nbformat

        from reliability import onefile  # now, since a package that is missing should not be found after the run

        notebook = _load(page)
        executed, warnings = _execute(page, notebook, values, progress)
        results = _results(page, executed)
        if progress:
            print(f"{page}: rendering one HTML file", file=sys.stderr)
        html, more = onefile.render(executed, page, data("references.bib"), _about(page, results["parameters"]))
        (staging / f"{page}.ipynb").write_text(nbformat.writes(executed) + "\n", encoding="utf-8")
        (staging / f"{page}.html").write_text(html, encoding="utf-8")
        text = json.dumps(results, indent=1, ensure_ascii=False, allow_nan=False)
        (staging / f"{page}.json").write_text(text + "\n", encoding="utf-8")
        written = _publish(staging, Path(out))
    return Run(written, tuple(warnings + more))


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

    notebook = nbformat.read(data(f"notebooks/{page}.ipynb"), as_version=4)
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
        try:
            executed = execute_notebook(
                notebook,
                None,
                dict(values),
                kernel_name="python3",
                language="python",
                progress_bar=bar if progress else False,
                record_timing=False,
                kernel_manager_class=_kernel(folder),
                resources={"metadata": {"path": folder}},
            )
        except PapermillExecutionError as error:
            reason = " ".join(f"{error.ename}: {error.evalue}".split())
            raise RunFailed(f"{page}: cell [{error.exec_count}] failed: {reason}") from None
        except DeadKernelError as error:
            raise RunFailed(f"{page}: the kernel died: {error}") from None
    return executed, _clean(executed)


def _kernel(folder: str) -> type:
    """Return a kernel manager whose kernel is this interpreter with this package, whatever kernels are installed."""
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    environment = {
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
    as_published = scenarios.inputs(page, scenarios.defaults(page))
    fields = scenarios.parameters(page).model_fields
    table = [
        {
            "name": name,
            "value": json.dumps(value),
            "published": json.dumps(getattr(as_published, name)) if name in changed else "",
            "about": fields[name].description or "",
            "changed": name in changed,
        }
        for name, value in values.items()
    ]
    return {"version": __version__, "parameters": table, "changed": len(changed)}


@contextmanager
def _staging(out: Path) -> Iterator[Path]:
    """Make a folder for the files on the disk where they will be, and take it away in any case."""
    place = out.absolute()
    while not place.exists():
        place = place.parent
    if not place.is_dir():
        raise BadInput(f"--out {out}: {place} is not a folder")
    try:
        temporary = TemporaryDirectory(prefix=".reliability-", dir=place)
    except OSError as error:
        raise BadInput(f"--out {out}: {place} cannot be written to ({error.strerror})") from None
    with temporary as folder:
        yield Path(folder)


def _publish(staging: Path, out: Path) -> tuple[Path, ...]:
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for file in sorted(staging.iterdir()):
        os.replace(file, out / file.name)
        written.append(out / file.name)
    return tuple(written)
