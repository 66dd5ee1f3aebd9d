"""What the committed notebooks hold: their code and Markdown outputs, for tests that hold one part of a page to another."""

from pathlib import Path

import nbformat

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def book_outputs(page):
    """Return the Markdown outputs of a page, in their order."""
    found = [output.get("data", {}) for cell in _cells(page) for output in cell.get("outputs", [])]
    return [data["text/markdown"] for data in found if "text/markdown" in data]


def code_cells(page):
    """Return the sources of a page's code cells, in their order."""
    return [cell.source for cell in _cells(page) if cell.cell_type == "code"]


def _cells(page):
    return nbformat.read(NOTEBOOKS / f"{page}.ipynb", as_version=4).cells
