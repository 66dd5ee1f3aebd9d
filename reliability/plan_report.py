"""The report of a plan: the page `your_cluster` run for one cluster file, as report.html, report.ipynb and plan.json."""

from __future__ import annotations

import copy
import os
import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

from reliability import __version__, cluster, report, settings_files
from reliability.aliases import TOKEN, Names
from reliability.plan import names_of
from reliability.plan_draws import DRAWS, SEED
from reliability.plan_text import ROLES
from reliability.staging import publish, staging

PAGE = "your_cluster"
BOOK_ONLY = "book-only"  # cells about the book, not about the cluster
NUMBERS = "plan.json"
FOR_PROGRAMS = ("card-text", "card")  # cells that the file of numbers makes needless in report.html
CODE = (
    "How the numbers were called up is in `report.ipynb`, a notebook that runs again; what works them out is the Python package "
    "`training-reliability`. `{}` has the numbers for other programs."
)
WITHOUT_PATH = "cluster.toml"
TEXTS = ("text/markdown", "text/plain", "text/html")


def write(
    path: str | os.PathLike,
    out: str | os.PathLike,
    draws: int = DRAWS,
    seed: int = SEED,
    anonymise: bool = False,
    progress: bool | None = None,
) -> report.Run:
    """Plan a cluster and write report.html, report.ipynb and plan.json into a folder, all or none.

    Parameters
    ----------
    path : path
        The cluster file, or ``example:NAME``.
    out : path
        The folder; it is made where it is not there.
    draws, seed : int
    anonymise : bool
        Whether hosts, users, jobs, files and the cluster are called by aliases in all that is written.
    progress : bool, optional
        Whether to say on stderr how far it is; by default if that is a terminal.

    Raises
    ------
    BadInput
        For a cluster file or a log that cannot be used, or a folder that cannot be written to.
    """
    progress = sys.stderr.isatty() if progress is None else progress
    settings_files.check_for_report(cluster.find(path))
    read = cluster.read(path)  # refuses what the page would, in the words of the cluster file
    with staging(Path(out)) as folder:
        parameters = {
            "cluster_file": str(path),
            "draws": draws,
            "seed": seed,
            "names": "alias" if anonymise else "shown",
        }
        made = report.make(PAGE, parameters, progress, without=BOOK_ONLY)
        shown = _shown(str(path), Path(out), anonymise)
        made.without_path("cluster_file", shown)
        if anonymise:
            _conceal(made, names_of(read))
        _answer_first(made.notebook)
        plan = made.results["results"]["plan"]
        readable = to_read(made.notebook, NUMBERS)
        _say_how_to_run(made.notebook, shown, Path(out))
        (folder / "report.ipynb").write_text(made.ipynb(), encoding="utf-8")
        made.notebook = readable
        (folder / "report.html").write_text(made.html(progress, _about(plan, shown)), encoding="utf-8")
        (folder / NUMBERS).write_text(report.as_json(plan), encoding="utf-8")
        written = publish(folder, Path(out))
    return report.Run(written, tuple(made.warnings))


def _answer_first(notebook: Any) -> None:
    """Put the answer below the title: who reads a report wants that first."""
    cells = {cell.id: cell for cell in notebook.cells}
    title = cells["question"].source.strip().splitlines()[0]
    cells["question"].source = f"{title}\n\n{''.join(cells['answer'].outputs[0].data['text/markdown'])}"
    notebook.cells = [cell for cell in notebook.cells if cell.id != "answer"]


def to_read(notebook: Any, numbers: str) -> Any:
    """Return a copy without code: who wants it opens report.ipynb; `numbers` is the file for other programs."""
    from nbformat.v4 import new_markdown_cell

    notebook = copy.deepcopy(notebook)
    notebook.cells = [cell for cell in notebook.cells if cell.id not in FOR_PROGRAMS]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.metadata["tags"] = ["remove-input"]
    notebook.cells.append(new_markdown_cell(CODE.format(numbers), id="code"))
    return notebook


def _say_how_to_run(notebook: Any, shown: str, out: Path) -> None:
    """Say in the first cell of report.ipynb what it needs to run again."""
    from reliability.plan_words import literal

    if shown.startswith("example:"):
        needs = f"and the cluster file is {literal(shown)}, which comes with it"
    else:
        needs = f"and reads the cluster file {literal(shown)}, as seen from the notebook's folder, with the logs that it names"
    bare = not shown.startswith("example:") and ("/" not in shown and not (out / shown).exists())
    beside = (
        " It is not there under that name: put a copy there, with paths of the logs that hold from there."
        if bare
        else ""
    )
    notebook.cells[
        0
    ].source += (
        f"\n\nTo run again this notebook needs training-reliability {__version__} with its extra run, {needs}.{beside}"
    )


def _about(plan: dict, shown: str) -> dict[str, Any]:
    """Return what the head of report.html says: of what the report is, from when, and by which version."""
    lines = [("Cluster file", Path(shown).name)]
    for role, found in plan["failures"]["logs"].items():
        lines.append((ROLES[role], ", ".join(filter(None, (found["file"], _dates(found))))))
    if "failures" not in plan["failures"]["logs"]:
        lines.append(("Failure rate", plan["failures"]["source"]))
    lines.append(("Draws", f"{plan['draws']:,}, seed {plan['seed']}"))
    return {"version": __version__, "of": lines}


def _dates(found: dict) -> str:
    """Return from when to when a log runs, as far as it says so."""
    begins, ends = found.get("begins"), found.get("ends")
    return f"{begins} to {ends}" if begins and ends else ""


def _shown(given: str, out: Path, anonymise: bool) -> str:
    """Return what the report calls the cluster file: its path from the report's folder, so that the notebook runs there again.

    With aliases it has a name that says nothing. Where the way would lead through the root of the disk, it is the bare name:
    a report has no path of this machine.
    """
    if given.startswith("example:"):
        return given
    if anonymise:
        return WITHOUT_PATH
    file, folder = cluster.find(given).resolve(), out.resolve()
    try:
        shared = os.path.commonpath([file, folder])
    except ValueError:  # on two drives
        return file.name
    return file.name if shared == os.path.abspath(os.sep) else Path(os.path.relpath(file, folder)).as_posix()


def _conceal(made: report.Made, names: Names) -> None:
    """Replace each name that has an alias in all that was printed: what the page shows goes by aliases already, this is the second lock."""
    known = own_words(made.notebook)
    for cell in made.notebook.cells:
        for output in cell.get("outputs", []):
            for kind in TEXTS:
                if kind in output.get("data", {}):
                    output.data[kind] = names.conceal("".join(output.data[kind]), known)
            if "text" in output:
                output.text = names.conceal("".join(output.text), known)
    for values in (made.results, *made.bundles()):
        values["results"] = _walk(values["results"], lambda text: names.conceal(text, known))
    made.warnings[:] = [names.conceal(warning, known) for warning in made.warnings]


def own_words(notebook: Any) -> frozenset[str]:
    """Return the words that the product itself uses in a report: a host named like one of them is no secret in it."""
    folder = Path(str(files("reliability")))
    sources = [
        *folder.glob("plan*.py"),
        *folder.glob("*evidence*.py"),
        folder / "levers.py",
        folder / "log_keys.py",
        folder / "presets.py",
        folder / "facts.toml",
    ]
    texts = [path.read_text(encoding="utf-8") for path in sources] + [
        cell.source for cell in notebook.cells if "injected-parameters" not in cell.metadata.get("tags", [])
    ]
    words = {word.lower() for text in texts for word in TOKEN.findall(text)}
    return frozenset(words | {part for word in words for part in re.split(r"[.:_-]", word)})


def _walk(value: Any, change: Any) -> Any:
    if isinstance(value, dict):
        return {key: _walk(part, change) for key, part in value.items()}
    if isinstance(value, list):
        return [_walk(part, change) for part in value]
    return change(value) if isinstance(value, str) else value
