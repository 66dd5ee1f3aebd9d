"""The single-file report: everything a page is written in shows, and nothing is asked of another place."""

import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import nbformat
import pytest
import yaml
from browsers import browser
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from onefile_readers import findings

import reliability
from reliability import onefile, scenarios
from reliability import report as page_report
from reliability.errors import BadInput
from reliability.kernel_runs import INPUT_ERRORS
from reliability.page import RESULTS_MIME

ROOT = Path(__file__).parents[1]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="

TEXT = r"""
(top)=
# A question?

The answer is $1/N$, as {cite:t}`young1974` says {cite:p}`daly2006`; see [the next page](checkpoint.ipynb),
[](recovery.ipynb), {doc}`../pages/limits`, {term}`MTBF`, {ref}`elsewhere`, [a label](#elsewhere), {eq}`far`
and [an address](https://example.org/).

```{math}
:label: half
A = \frac{M}{M + D}
```

By {eq}`half` and {numref}`fig-one`, and in two rows:

\begin{align}
a &= \sqrt{2 C M} \\
b &= c
\end{align}

## Boxes

:::{note}
A note with $x < 1$.
:::

```{admonition} Folded
:class: tip dropdown
Inside.
```

:::{dropdown} Solution
It is 3.
:::

Term
: What it means.
"""
BAD = [
    "<p>:::{note}</p>",
    "<p>see {math}</p>",
    "<p>{eq}`half`</p>",
    "<p>{cite:p}`x`</p>",
    "<p>| a | b |</p>",
    "<p>$x$</p>",
    r"<p>\frac{a}{b}</p>",
    r"<math><mtext>\foo</mtext></math>",
    '<script src="x.js"></script>',
    "<script>1</script>",
    '<img src="https://example.org/a.png" alt="a">',
    '<img src="data:image/png;base64,AA==">',
    '<link rel="stylesheet" href="style.css">',
    "<style>a { background: url(https://example.org/a.png) }</style>",
    "<style>@import 'a.css';</style>",
    '<a href="checkpoint.html">there</a>',
    '<a href="#nowhere">there</a>',
]


def sample(text=TEXT):
    """A notebook as it is after a run, with one of each thing that the pages are made of."""
    table = "| n | share |\n|:--|--:|\n| 1 | $50\\,\\%$ |"
    wide = "\n".join(
        ["| many" + 8 * " | 131,072" + " |", "|:-" + 8 * "|-:" + "|", "| useful, %" + 8 * " | 91.7 ± 0.2" + " |"]
    )
    figure = {"image": {"alt": "One dot."}, "figure": {"name": "fig-one", "caption": "A dot, see {eq}`half`."}}
    markdown = {"text/markdown": "**Card**", RESULTS_MIME: {"secret": 1}}
    cells = [
        new_markdown_cell(text),
        new_code_cell("ranks = 4", metadata={"tags": ["parameters"]}),
        new_code_cell("# Parameters\nranks = 8", metadata={"tags": ["injected-parameters"]}),
        new_code_cell("0", outputs=[new_output("display_data", {"text/markdown": wide})]),
        new_code_cell("1", outputs=[new_output("display_data", {"text/markdown": table})]),
        new_code_cell("2", outputs=[new_output("display_data", {"image/png": PIXEL})], metadata={"mystnb": figure}),
        new_code_cell("hidden = 3", outputs=[new_output("stream", text="out\n")], metadata={"tags": ["hide-cell"]}),
        new_code_cell("4", outputs=[new_output("display_data", markdown)], metadata={"tags": ["hide-input"]}),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def about(changed, same=1):
    """What the head says of a run with so many parameters changed, and so many as published."""
    one = {"name": "ranks", "value": "<8>", "standard": "4", "about": "how many", "changed": True}
    other = {"name": "step_s", "value": "30", "standard": "", "about": "a step (s)", "changed": False}
    parameters = changed * [one] + same * [other]
    return {"version": "1", "changed": changed, "parameters": parameters, "standard": "Published", "usual": "published"}


ABOUT = about(1)


@pytest.fixture(scope="module")
def report():
    """The sample rendered once, and what the rendering warned about."""
    return onefile.render(sample(), "availability", ROOT / "references.bib", ABOUT)


@pytest.fixture(scope="module")
def page(report):
    """The rendered sample, parsed; the tests only read it."""
    return BeautifulSoup(report[0], "html.parser")


def test_what_a_file_named_by_a_parameter_lacks_is_no_failed_cell():
    for module in iter_modules(reliability.__path__, "reliability."):
        import_module(module.name)
    assert set(INPUT_ERRORS) == {kind.__name__ for kind in all_kinds(BadInput)}


def all_kinds(kind):
    """Return a class and all that derive from it."""
    return {kind}.union(*map(all_kinds, kind.__subclasses__()))


def test_everything_shows_and_nothing_is_asked_for(report):
    html, warnings = report
    assert findings(html) == []
    assert warnings == []


@pytest.mark.parametrize("bad", BAD)
def test_the_guard_finds(bad):
    assert findings(f"<html><body>{bad}</body></html>") != []


def test_formulas_their_numbers_and_references(page):
    assert len(page.find_all("math")) == 5
    assert page.find(id="equation-half").math.annotation.get_text() == r"A = \frac{M}{M + D}"
    assert [number.get_text() for number in page.find_all("span", class_="eqno")] == ["(1)", "(2)"]
    assert page.find("a", string="(1)")["href"] == "#equation-half"


def test_the_figure_has_its_number_caption_and_alternative_text(page):
    figure = page.find("figure")
    assert figure.img["alt"] == "One dot."
    assert figure.img["src"] == f"data:image/png;base64,{PIXEL}"
    assert " ".join(figure.figcaption.get_text().split()) == "Fig. 1 A dot, see (1)."
    assert page.find("a", string="Fig. 1")["href"] == f"#{figure['id']}"


def test_citations_have_their_list(page):
    listed = [citation["id"] for citation in page.select("div.citation")]
    cited = {link["href"][1:] for link in page.select("main p a.reference") if link["href"][1:] in listed}
    assert len(listed) == 2
    assert cited == set(listed)


def test_tables_scroll_and_boxes_fold_without_a_script(page):
    assert page.find("td", string="1").find_parent("div", class_="table-scroll")["tabindex"] == "0"
    folded = {details.summary.get_text(" ", strip=True) for details in page.find_all("details")}
    assert {"Folded", "Solution"} <= folded
    (hidden,) = [code for code in page.find_all("pre") if "hidden = 3" in code.get_text()]
    assert hidden.find_parent("details") is not None


def test_links_to_other_pages_are_text(page):
    paragraph = " ".join(page.main.find("p").get_text().split())
    assert "see the next page, recovery, limits, MTBF, elsewhere, a label, far and an address" in paragraph
    assert page.find("a", string="an address")["href"] == "https://example.org/"


def parameters_of(place):
    return [
        [" ".join(cell.get_text(" ").split()) for cell in row.find_all(["th", "td"])]
        for row in place.select("tbody tr")
    ]


def test_the_head_says_what_was_changed(page):
    assert parameters_of(page.header) == [["ranks how many", "<8>", "4"]]
    assert page.header.details.summary.get_text() == "Run with 1 of 2 parameters changed"
    assert page.title.get_text().startswith("A question?")


def test_the_parameters_stand_in_a_table_where_their_code_was(page):
    table = page.main.select_one("details.parameters")
    assert parameters_of(table) == [["ranks how many", "<8>", "4"], ["step_s a step (s)", "30", ""]]
    assert not table.has_attr("open")
    assert table.find_previous("div", class_="admonition") and table.find_next("td", string="91.7 ± 0.2")
    assert not re.search(r"ranks = \d", page.get_text())


@pytest.mark.parametrize(("changed", "folds"), [(0, []), (5, [True]), (6, [False])])
def test_a_head_that_would_fill_a_phone_is_folded(changed, folds):
    html, _ = onefile.render(sample("# Page"), "page", ROOT / "references.bib", about(changed))
    page = BeautifulSoup(html, "html.parser")
    assert [details.has_attr("open") for details in page.header.find_all("details")] == folds
    assert ("Run with the published parameters" in page.header.get_text()) == (not changed)
    columns = [cell.get_text() for cell in page.main.select("details.parameters thead th")]
    assert columns == ["Parameter", "This run", "Published"][: 3 if changed else 2]


@pytest.mark.parametrize(
    ("page", "parameter", "standard", "usual"),
    [
        ("availability", "cold_mttr_min", "Published", "published"),
        ("budget", "seed", "In the book", "book's"),
        ("fleet_report", "seed", "By default", "default"),
    ],
)
def test_only_a_published_page_has_published_parameters(page, parameter, standard, usual):
    # The page of a fleet file of the user's own once said "Published: example:airesim-base".
    head = page_report._about(page, scenarios.defaults(page) | {parameter: 12})
    assert (head["standard"], head["usual"]) == (standard, usual)
    assert head["changed"] == 1 and [p["standard"] for p in head["parameters"] if p["changed"]] != [""]


def test_what_programs_read_is_not_in_the_page(report):
    assert "secret" not in report[0]


def test_unknown_tex_is_a_warning_that_names_the_formula():
    html, warnings = onefile.render(sample(r"# Page" + "\n\n$\\nosuch{x}$"), "page", ROOT / "references.bib", ABOUT)
    assert any("nosuch{x}" in warning for warning in warnings)
    assert not any("/" in warning.split(":")[0] for warning in warnings)
    assert "mathml-unknown" in html


def test_a_page_without_citations_has_no_list_of_them():
    html, _ = onefile.render(sample("# Page"), "page", ROOT / "references.bib", ABOUT)
    assert BeautifulSoup(html, "html.parser").find("h2", string="References") is None


def test_it_reads_what_the_book_reads():
    book = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert sorted(book["parse"]["myst_enable_extensions"]) == sorted(onefile.MYST)
    assert book["sphinx"]["config"]["html_math_renderer"] == "mathml"
    assert book["sphinx"]["config"]["nb_render_markdown_format"] == "myst"


def test_a_browser_asks_for_nothing_and_fits_a_phone(report, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(report[0], encoding="utf-8")
    with browser() as chromium:
        for width, scheme in [(1200, "light"), (1200, "dark"), (390, "light"), (390, "dark")]:
            tab = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            asked = []
            tab.on("request", lambda request, asked=asked: asked.append(request.url))
            tab.goto(file.as_uri())
            tab.evaluate("document.fonts.ready.then(() => 0)")
            assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            assert tab.evaluate("[...document.fonts].map(font => font.status)") == ["loaded"]
            ground, ink = tab.evaluate(
                "['backgroundColor', 'color'].map(of => getComputedStyle(document.body)[of].match(/\\d+/g)[0])"
            )
            assert (int(ground) > int(ink)) == (scheme == "light")
            # A radical that is drawn is wider than what stands under it: the font has its measures.
            root = "document.querySelector('msqrt')"
            assert tab.evaluate(f"{root}.getBoundingClientRect().height") > 10
            tab.close()


def test_a_wide_table_fits_a_screen_and_on_a_phone_scrolls_in_its_own_box_and_says_so(report, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(report[0], encoding="utf-8")
    box = "[...document.querySelectorAll('main .table-scroll')].find(box => box.querySelector('th:nth-child(9)'))"
    with browser() as chromium:
        for width, scrolls in [(1200, False), (390, True)]:
            tab = chromium.new_page(viewport={"width": width, "height": 900})
            tab.goto(file.as_uri())
            assert tab.evaluate(f"{box}.scrollWidth > {box}.clientWidth") == scrolls
            assert tab.evaluate(f"getComputedStyle({box}).backgroundAttachment") == "local, local, scroll, scroll"
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            tab.close()


def test_on_paper_the_parameters_are_unfolded(report, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(report[0], encoding="utf-8")
    heights = "['main details.parameters', 'main details.parameters table'].map(of => document.querySelector(of).offsetHeight)"
    with browser() as chromium:
        tab = chromium.new_page()
        tab.goto(file.as_uri())
        for media, shown in [("screen", False), ("print", True)]:
            tab.emulate_media(media=media)
            folded, table = tab.evaluate(heights)
            assert (folded > table > 0) == shown


def test_the_sample_is_a_sound_notebook():
    nbformat.validate(sample())
