"""What the committed notebooks say: their Markdown outputs, for tests that hold one sentence of a page to another."""

from pathlib import Path

import nbformat

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def book_outputs(page):
    """Return the Markdown outputs of a page, in their order."""
    notebook = nbformat.read(NOTEBOOKS / f"{page}.ipynb", as_version=4)
    found = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])]
    return [data["text/markdown"] for data in found if "text/markdown" in data]
