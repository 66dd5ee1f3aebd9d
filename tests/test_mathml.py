"""Formulas as MathML: what TeX becomes, what is refused, and a small site built with the extension."""

import io
import re

import pytest
from bs4 import BeautifulSoup
from docutils.utils.math import MathError
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from reliability import mathml


def soup(tex, display=True):
    return BeautifulSoup(mathml.to_mathml(tex, display), "html.parser")


def shown(tex):
    """What a reader sees of a formula, without the TeX that it carries."""
    formula = soup(tex)
    formula.annotation.decompose()
    return formula.get_text()


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\frac{M}{N}", "MN"),
        (r"\sqrt{2 C M}", "2CM"),
        (r"1{,}024", "1,024"),
        (r"\dots", "…"),
        (r"\text{50\% of } x", "50% of\N{NO-BREAK SPACE}x"),
        (r"\operatorname{arg\,max}", "arg\N{NARROW NO-BREAK SPACE}max"),
        (r"x < 1", "x<1"),
        (r"\tilde{x}", "x~"),
        (r"S'/S''_i \text{Young's}", "S′/Si′′Young's"),
        (r"\Phi^{-1}(1 - p) \nonumber", "Φ−1(1−p)"),
    ],
)
def test_what_a_formula_shows(tex, text):
    assert shown(tex) == text


@pytest.mark.parametrize(
    ("tex", "stretchy"),
    [
        (r"\sum_k \Delta(\{k\})", ["false", "false"]),
        (r"\{j\} \sum_k \lceil k \rceil \{k\}", 6 * ["false"]),
        (r"\sum_j \left\{ \sum_k \lfloor k \rfloor \right\}", [None, "false", "false", None]),
        (r"x = \begin{cases} 1 \\ 2 \end{cases}", [None]),
    ],
)
def test_fences_grow_with_what_they_hold_and_not_with_what_stands_beside_them(tex, stretchy):
    assert [fence.get("stretchy") for fence in soup(tex)("mo") if fence.get_text() in "{}⌈⌉⌊⌋"] == stretchy


def test_the_tex_comes_along_as_an_annotation():
    formula = soup(r" \frac{a}{b < c} ")
    assert formula.math["display"] == "block"
    assert formula.annotation["encoding"] == "application/x-tex"
    assert formula.annotation.get_text() == r"\frac{a}{b < c}"
    assert not soup("x", display=False).math.has_attr("display")


@pytest.mark.parametrize(
    "tex",
    [
        r"\begin{align} a &= b \\ c &= \frac{d}{e} \end{align}",
        r"\begin{align*} a &= b \\ c &= d \end{align*}",
        r"\begin{split} a &= b \\ c &= d \end{split}",
        "a = b\n\nc = d",
        r"a = b \\ c = d",
    ],
)
def test_rows_of_an_alignment(tex):
    table = soup(tex).mtable
    assert len(table.find_all("mtr")) == 2
    assert "ams-align" in table["class"]
    assert table["displaystyle"] == "true"


def test_the_label_of_a_brace_stands_under_it():
    assert soup(r"\underbrace{a + b}_{\text{lost}}").math.semantics.find(recursive=False).name == "munder"


@pytest.mark.parametrize(
    "tex",
    [
        r"\nosuchcommand{x}",
        r"\frac{a}",
        "x_",
        "^2",
        "{a",
        "a & b",
        r"\text{\nosuch}",
        r"\operatorname*{max}_x",
        "a % b",
    ],
)
def test_tex_that_is_not_known_is_refused(tex):
    with pytest.raises(MathError):
        mathml.to_mathml(tex, display=True)


def test_the_font_has_the_characters_its_licence_and_its_measures():
    from fontTools.ttLib import TTFont

    font = TTFont(io.BytesIO(mathml.font({ord("A"), ord("∑")})))
    names = {record.nameID: record.toUnicode() for record in font["name"].names}
    assert "Open Font License" in names[13]
    assert "MATH" in font
    # The radical sign and italic letters are drawn without standing in the text.
    assert {ord("A"), ord("∑"), ord("√"), 0x1D465} <= set(font.getBestCmap())
    assert ord("B") not in font.getBestCmap()
    assert mathml.font({ord("A")}) == mathml.font({ord("A")})


INDEX = r"""
# Page

A formula $N/M$ in a line, one with a number, {eq}`half`, and one of several rows:

```{math}
:label: half
A = \frac{1}{2}
```

\begin{align}
a &= b \\
c &= d
\end{align}
"""


def build(folder, text):
    """Build a site of one page as the book would; return its folder and its warnings."""
    source = folder / "source"
    source.mkdir()
    (source / "index.md").write_text(text, encoding="utf-8")
    configuration = {
        "extensions": ["myst_parser", "reliability.mathml"],
        "source_suffix": {".md": "markdown"},  # or what another test's build left in Sphinx's default
        "html_math_renderer": "mathml",
        "html_theme": "basic",
        "myst_enable_extensions": ["amsmath", "dollarmath"],
    }
    warnings = io.StringIO()
    with patch_docutils(), docutils_namespace():
        app = Sphinx(
            source, None, folder / "html", folder / "trees", "html", configuration, status=None, warning=warnings
        )
        app.build()
    return folder / "html", warnings.getvalue()


def test_a_site_has_formulas_numbers_and_a_font_of_its_own(tmp_path):
    html, warnings = build(tmp_path, INDEX)
    assert not warnings
    text = (html / "index.html").read_text(encoding="utf-8")
    page = BeautifulSoup(text, "html.parser")
    assert "cdn" not in text.lower()
    assert not page.find("script", src=re.compile("mathjax", re.IGNORECASE))
    assert len(page.find_all("math")) == 3
    assert [number.get_text()[:3] for number in page.find_all("span", class_="eqno")] == ["(1)", "(2)"]
    link = page.find("a", string="(1)")
    assert page.find(id=link["href"][1:]).math is not None
    assert page.find("a", class_="headerlink", href=link["href"]) is not None
    sheet = page.find("link", href=re.compile("mathml.css"))["href"].split("?")[0]
    css = (html / sheet).read_text(encoding="utf-8")
    (font,) = re.findall(r'url\("([^"]+)"\)', css)
    assert ((html / sheet).parent / font).read_bytes().startswith(b"wOFF")


def test_an_unknown_formula_is_a_warning_that_names_it(tmp_path):
    html, warnings = build(tmp_path, "# Page\n\n$\\nosuchcommand{x}$\n")
    assert "index.md:3" in warnings
    assert "nosuchcommand{x}" in warnings
    assert "Unknown LaTeX command" in warnings
    page = BeautifulSoup((html / "index.html").read_text(encoding="utf-8"), "html.parser")
    assert page.find("code", class_="mathml-unknown").get_text() == r"\nosuchcommand{x}"
