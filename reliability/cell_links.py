"""Sphinx extension: every result of a notebook has an address that stays.

A code cell's element gets the id PAGE-CELL, from the id that the cell has in its notebook, and,
where the cell has outputs, a link to itself. Cell ids are names that nobody changes without need;
headings are rewritten more often.
"""

import json
from pathlib import Path

from docutils import nodes

from reliability import __version__


def setup(app):
    """Register the extension."""
    app.connect("doctree-read", name_cells)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}


def name_cells(app, doctree):
    """Give each code cell of a notebook its id and its link."""
    path = Path(app.env.doc2path(app.env.docname))
    if path.suffix != ".ipynb":
        return
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for node in doctree.findall(nodes.container):
        if node.get("nb_element") != "cell_code":
            continue
        address = f"{path.stem}-{cells[node['cell_index']]['id']}"
        node["ids"].append(address)
        if any(child.get("nb_element") == "cell_code_output" for child in node.findall(nodes.container)):
            link = f'<a class="cell-link" href="#{address}" title="Link to this result">#</a>'
            node.append(nodes.raw("", link, format="html"))
