"""An executed notebook as one HTML file that needs nothing else: a one-page Sphinx build with everything inlined.

The same parser as the book's, so that MyST's directives, equation numbers, references and citations show.
"""

from __future__ import annotations

import base64
import copy
import mimetypes
import re
import shutil
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import nbformat
from bs4 import BeautifulSoup, Tag
from docutils import nodes
from sphinx import addnodes
from sphinx.errors import SphinxError
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import docutils_namespace, patch_docutils

from reliability import mathml
from reliability.page import RESULTS_MIME

if TYPE_CHECKING:
    from sphinx.application import Sphinx

THEME = Path(__file__).with_name("report_theme")
# What the pages are written in; the book's _config.yml says the same, and a test compares the two.
MYST = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
_REFERENCES = "## References\n\n```{bibliography}\n:filter: docname in docnames\n```"


def render(notebook: nbformat.NotebookNode, name: str, bibliography: Path, run: Mapping) -> tuple[str, list[str]]:
    """Return the notebook as one HTML page, and what the build warned about.

    Parameters
    ----------
    notebook : NotebookNode
        Executed; its outputs are shown as they are.
    name : str
        Its name among the pages of the book.
    bibliography : Path
        The BibTeX file with what the page cites.
    run : mapping
        What the page's head says of the run: ``version``, and ``parameters`` and ``changed``, or ``of``, a list of
        (what, text).
    """
    with TemporaryDirectory(prefix="reliability-") as temporary:
        folder = Path(temporary).resolve()
        source, built = folder / "source", folder / "html"
        source.mkdir()
        shutil.copy(bibliography, source / "references.bib")
        nbformat.write(_for_readers(notebook), source / f"{name}.ipynb")
        warnings = _build(source, built, folder / "doctrees", name, run)
        page = _inline(BeautifulSoup((built / f"{name}.html").read_text(encoding="utf-8"), "html.parser"), built)
    return page, [warning.replace(f"{source}/", "") for warning in warnings]


def _for_readers(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return a copy without what only programs read, and with the list of what it cites."""
    notebook = copy.deepcopy(notebook)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(RESULTS_MIME, None)
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    if "{cite" in text and "{bibliography}" not in text:  # in the book it has a page of its own
        notebook.cells.append(nbformat.v4.new_markdown_cell(_REFERENCES, id="references"))
    return notebook


def _build(source: Path, built: Path, doctrees: Path, name: str, run: Mapping[str, Any]) -> list[str]:
    from sphinx.application import Sphinx

    configuration = {
        "extensions": ["myst_nb", "sphinx_design", "sphinxcontrib.bibtex", "reliability.mathml", __name__],
        "project": "Training Reliability",
        "root_doc": name,
        "source_suffix": {".ipynb": "myst-nb"},
        "language": "en",
        "numfig": True,
        "myst_enable_extensions": MYST,
        "myst_heading_anchors": 3,
        "myst_update_mathjax": False,
        "nb_code_prompt_show": "Show {type}",
        "nb_code_prompt_hide": "Hide {type}",
        "nb_execution_mode": "off",
        "nb_merge_streams": True,
        "nb_render_markdown_format": "myst",
        "bibtex_bibfiles": ["references.bib"],
        "bibtex_reference_style": "author_year",
        "html_theme": THEME.name,
        "html_theme_path": [str(THEME.parent)],
        "html_math_renderer": "mathml",
        "mathml_serve_font": False,
        "html_permalinks": False,
        "html_copy_source": False,
        "html_use_index": False,
        "html_domain_indices": False,
        "html_context": {"run": run},
        "suppress_warnings": ["myst.xref_missing"],  # another page's label: _unlink makes plain text of it
    }
    log = StringIO()
    with patch_docutils(), docutils_namespace():
        try:
            app = Sphinx(source, None, built, doctrees, "html", configuration, status=None, warning=log, freshenv=True)
            app.builder.search = False
            app.build(force_all=True)
        except SphinxError as error:
            raise RuntimeError(f"{name}: not rendered: {error}") from error
    return [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in log.getvalue().splitlines() if line.strip()]


class OtherPages(SphinxPostTransform):
    """Put the name of another page where a link to it stood: that page is not in this file."""

    default_priority = 5  # before the resolvers, which would warn

    def run(self, **kwargs: Any) -> None:
        """Replace the links."""
        for node in list(self.document.findall(addnodes.pending_xref)):
            target = node["reftarget"] or ""
            if node["reftype"] == "doc" or re.search(r"\.(ipynb|md)(#.*)?$", target):
                name = Path(target.split("#")[0]).stem.replace("_", " ")
                shown = node[0].deepcopy() if node.get("refexplicit") else nodes.inline("", name)
                node.replace_self(nodes.inline("", "", shown, classes=["other-page"]))


def _leave_as_text(app: Sphinx, env: Any, node: nodes.Element, content: nodes.Element) -> nodes.Element:
    return content


def setup(app: Sphinx) -> dict[str, object]:
    """Make Sphinx leave references to other pages as text."""
    app.add_post_transform(OtherPages)
    app.connect("missing-reference", _leave_as_text, priority=900)
    return {"parallel_read_safe": True}


def _inline(page: BeautifulSoup, built: Path) -> str:
    for element in page.find_all(["script", "link"]):
        element.decompose()
    for image in page.find_all("img"):
        image["src"] = _data_uri(built / unquote(str(image["src"])))
        if image.parent and image.parent.name == "a":  # a link to the full-size file, which is this one
            image.parent.unwrap()
    _parameters_as_table(page)
    for admonition in page.select("div.admonition.dropdown"):
        _fold(admonition)
    for table in page.find_all("table"):
        scroller = {"class": "table-scroll", "tabindex": "0", "role": "region", "aria-label": _caption(table)}
        table.wrap(page.new_tag("div", attrs=scroller))
    _unlink(page)
    style = page.new_tag("style")
    style.string = _css(page, built)
    assert page.head is not None
    page.head.append(style)
    return str(page)


def _parameters_as_table(page: BeautifulSoup) -> None:
    """Put the table of the parameters where the page has their code: a file that is read is not changed there."""
    table, cell = page.select_one("details.parameters:not(.changed)"), page.select_one("div.tag_parameters")
    if table and cell:
        cell.replace_with(table)
        for injected in page.select("div.tag_injected-parameters"):
            injected.decompose()


def _fold(admonition: Tag) -> None:
    """Make an admonition that folds by a script into one that folds by itself."""
    admonition.name = "details"
    title = admonition.find("p", class_="admonition-title")
    if isinstance(title, Tag):
        title.name = "summary"


def _caption(table: Tag) -> str:
    caption = table.find("caption")
    return caption.get_text(" ", strip=True) if caption else "Table"


def _unlink(page: BeautifulSoup) -> None:
    """Leave no link to what is not in this file: links within the page and full addresses stay."""
    names = {str(element["id"]) for element in page.find_all(id=True)}
    for link in page.find_all("a", href=True):
        href = str(link["href"])
        inside = href.startswith("#") and (href == "#" or unquote(href[1:]) in names)
        if not inside and not urlsplit(href).scheme:
            link.unwrap()


def _data_uri(file: Path) -> str:
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(file.read_bytes()).decode('ascii')}"


def _css(page: BeautifulSoup, built: Path) -> str:
    static = built / "_static"
    sheets = [(THEME / "static" / "report.css").read_text(encoding="utf-8")]
    sheets.append((static / "pygments.css").read_text(encoding="utf-8"))
    dark = (static / "pygments_dark.css").read_text(encoding="utf-8")
    sheets.append("@media screen and (prefers-color-scheme: dark) {\n" + dark + "\n}")
    formulas = page.find_all("math")
    if formulas:
        characters = {ord(character) for formula in formulas for character in formula.get_text()}
        font = base64.b64encode(mathml.font(characters)).decode("ascii")
        sheets.append(mathml.css().replace(f'url("{mathml.FONT}")', f'url("data:font/woff;base64,{font}")'))
    return "\n" + "\n".join(sheets)
