"""Run the notebooks and write them the one way they are committed, or say which would change.

    python scripts/notebooks.py [--check] [NOTEBOOK or PAGE ...]

One way: cells and outputs, execution counts 1 to n, the metadata that the book reads (`tags`, `mystnb`) and nothing
that an editor, a clock or a Python version leaves behind. So a difference in a commit is a difference on a page.
The kernel is the Python that runs this script.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError

ROOT = Path(__file__).resolve().parents[1]
KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
# What the book folds by a tag, JupyterLab folds by metadata of its own.
FOLDED = {
    "hide-input": ["source_hidden"],
    "hide-output": ["outputs_hidden"],
    "hide-cell": ["source_hidden", "outputs_hidden"],
}


def main(arguments=None):
    """Exit status 0: written, or fresh. 1: a notebook would change (--check), or fails."""
    parser = argparse.ArgumentParser(description="Run the notebooks and write them canonically.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a notebook would change")
    parser.add_argument("notebooks", nargs="*", type=notebook, help="files, or names of pages; default: all in notebooks/")
    options = parser.parse_args(arguments)
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # or a kernel that the user installed elsewhere goes first
    bad = 0
    for path in options.notebooks or sorted((ROOT / "notebooks").glob("*.ipynb")):
        print(f"{path.name:24} ", end="", flush=True)
        started, before = time.monotonic(), path.read_text(encoding="utf-8")
        try:
            after = dump(execute(nbformat.v4.reads(before), path.parent))
        except (CellExecutionError, CellTimeoutError) as error:
            print(f"fails\n{error}")
            bad += 1
            continue
        verdict = "fresh" if after == before else f"{'would change' if options.check else 'written'}: "
        print(f"{verdict}{changed(before, after)} ({time.monotonic() - started:.1f} s)")
        bad += options.check and after != before
        if not options.check and after != before:
            path.write_text(after, encoding="utf-8", newline="\n")
    if bad:
        print(f"{bad} to look at" + (": 'make notebooks' writes them." if options.check else "."))
    return bool(bad)


def notebook(text):
    """The file that an argument names, by its place or by the name of its page."""
    places = [Path(text), ROOT / "notebooks" / f"{text}.ipynb"]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text}: neither a file nor a page of the book")
    return found


def execute(notebook, folder):
    """The notebook, run from top to bottom in its own folder, with canonical metadata."""
    notebook.nbformat_minor = max(5, notebook.nbformat_minor)
    for number, cell in enumerate(notebook.cells):
        cell.setdefault("id", f"cell-{number}")  # nbformat would make up a new one each time
    NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=300,
        resources={"metadata": {"path": str(folder)}},
        coalesce_streams=True,
        extra_arguments=["--log-level=40"],  # ipykernel warns of its own transport, on the terminal, each time
    ).execute()
    notebook.metadata = nbformat.from_dict(KERNEL)
    for cell in notebook.cells:
        cell.metadata = {key: cell.metadata[key] for key in ("mystnb", "tags") if key in cell.metadata}
        folded = {name for tag in cell.metadata.get("tags", []) for name in FOLDED.get(tag, ())}
        if folded:
            cell.metadata["jupyter"] = dict.fromkeys(sorted(folded), True)
            if "outputs_hidden" in folded:
                cell.metadata["collapsed"] = True  # JupyterLab writes both
    return notebook


def dump(notebook):
    """The text of the file: keys sorted, indented by one, a newline at the end."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def changed(before, after):
    """What differs between two texts of a notebook, in words."""
    if before == after:
        return ""
    old, new = (without_figures(json.loads(text)) for text in (before, after))
    kinds = [what for what, differs in (("text", old[0] != new[0]), ("figure", old[1] != new[1])) if differs]
    return " and ".join(kinds) or "metadata or layout"


def without_figures(notebook):
    """A notebook's cells and outputs with the figures taken out, and the figures."""
    figures = []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            figures += [data.pop(kind) for kind in sorted(data) if kind.startswith("image/")]
    return notebook["cells"], figures


if __name__ == "__main__":
    sys.exit(main())
