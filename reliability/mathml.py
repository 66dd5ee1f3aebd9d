"""A Sphinx extension that writes math as MathML, with a math font served beside it.

The book and the single-file reports load nothing from elsewhere, so formulas cannot wait for MathJax's
script: docutils turns the TeX into MathML when the page is built, and every current browser shows that by
itself. The font is STIX Two Math from the package ``ziamath``, cut down to the characters that math needs.

In a book's configuration: ``extensions = ["reliability.mathml"]`` and ``html_math_renderer = "mathml"``.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

_FENCES = {"{": "}", "\N{LEFT CEILING}": "\N{RIGHT CEILING}", "\N{LEFT FLOOR}": "\N{RIGHT FLOOR}"}
_BRACES = ("\N{TOP CURLY BRACKET}", "\N{BOTTOM CURLY BRACKET}")
CSS = Path(__file__).with_name("mathml.css")
FONT = "stix-two-math.woff"
# Letters, Greek, punctuation, arrows, operators, fences, braces, and the mathematical alphabets.
CHARACTERS = frozenset(
    code
    for first, last in [
        (0x20, 0x7E), (0xA0, 0xFF), (0x2C6, 0x2DD), (0x391, 0x3F6), (0x2010, 0x206F), (0x2100, 0x214F),
        (0x2190, 0x22FF), (0x2308, 0x230B), (0x23B0, 0x23B1), (0x23D0, 0x23E1), (0x27E6, 0x27EF),
        (0x2A7D, 0x2A7E), (0x1D400, 0x1D7FF),
    ]
    for code in range(first, last + 1)
)  # fmt: skip
# What no text names: the radical sign, and the italic twin that a single letter in <mi> is drawn as.
_UNNAMED = frozenset([0x221A, 0x210E, *range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C)])

logger = logging.getLogger(__name__)

# TeX that docutils does not know, said in TeX that it does.
_REWRITES = [
    (re.compile(r"\\(begin|end)\{equation\*?\}"), ""),
    (re.compile(r"\\(begin|end)\{(?:align\*?|split)\}"), r"\\\1{aligned}"),
    (re.compile(r"\\(?:nonumber|notag)(?![a-zA-Z])"), ""),
    (re.compile(r"\\dots(?![a-zA-Z])"), r"\\ldots"),
    (re.compile(r"(?<=\d)\{,\}(?=\d)"), ","),  # 1{,}024 is one number, not two and a comma
]
# Primes are superscripts; an apostrophe in a text is not a prime.
_PRIMES = re.compile(r"(\\(?:text|textrm|mbox|operatorname)\{[^{}]*\})|('+)")
# Inside \text and \operatorname the converter keeps TeX's own escapes as they were typed.
_ESCAPES = [(re.compile(r"\\([%_&$#{}])"), r"\1"), (re.compile(r"\\[,;: ]|~"), "\N{NARROW NO-BREAK SPACE}")]


def to_mathml(tex: str, display: bool = False) -> str:
    """Return a formula as a ``<math>`` element that carries its TeX as an annotation.

    >>> to_mathml("x")
    '<math><semantics><mi>x</mi><annotation encoding="application/x-tex">x</annotation></semantics></math>'

    Raises ``MathError`` for TeX that cannot be shown, rather than show something else.
    """
    source = tex.strip()
    for pattern, replacement in _REWRITES:
        source = pattern.sub(replacement, source)
    source = _PRIMES.sub(lambda m: m[1] or "^{" + r"\prime" * len(m[2]) + "}", source)
    parts = [part.strip() for part in re.split(r"\n\s*\n", source) if part.strip()]
    source = r" \\ ".join(parts).strip()
    if r"\operatorname*" in source:
        raise MathError(r"\operatorname* is not supported")
    bare = re.sub(r"\\.", "", source)
    if bare.count("{") != bare.count("}"):
        raise MathError("unbalanced braces")
    try:
        markup = tex2mathml(source, as_block=display)
    except MathError:
        raise
    except Exception as error:  # the converter trips over what it did not expect in ways of its own
        raise MathError(f"not understood ({type(error).__name__})") from error
    return _finish(markup, tex.strip())


def _finish(markup: str, tex: str) -> str:
    # A namespace would come back as a prefix, and HTML needs none.
    markup = markup.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
    root = ElementTree.fromstring(markup.replace("&ApplyFunction;", "\N{FUNCTION APPLICATION}"))
    for element in root.iter():
        element.text = (element.text or "").strip(" \n")
        element.tail = None
        if element.tag in ("mtext", "mi"):
            for pattern, replacement in _ESCAPES:
                element.text = pattern.sub(replacement, element.text)
            if "\\" in element.text:
                raise MathError(f"not understood: {element.text}")
        if element.tag in ("msub", "msup") and _is_brace(element[0]):
            element.tag = element[0].tag  # its label belongs under or over the brace, not beside it
        if element.get("class") == "ams-align":
            element.set("displaystyle", "true")
        _keep_low(element)
    formula = ElementTree.Element("math", root.attrib)
    semantics = ElementTree.SubElement(formula, "semantics")
    row = semantics if len(root) == 1 else ElementTree.SubElement(semantics, "mrow")
    row.extend(root)
    ElementTree.SubElement(semantics, "annotation", encoding="application/x-tex").text = tex
    return ElementTree.tostring(formula, encoding="unicode", short_empty_elements=False)


def _keep_low(row: ElementTree.Element) -> None:
    r"""Keep a pair of fences from growing as high as a sum beside it; one that holds its whole row, as \left makes, may."""
    open_ = []
    for place, element in enumerate(row):
        if element.tag == "mo" and element.text in _FENCES:
            open_.append(place)
        elif open_ and element.tag == "mo" and element.text == _FENCES[row[open_[-1]].text]:
            first = open_.pop()
            if (first, place) != (0, len(row) - 1):
                for fence in (row[first], element):
                    fence.set("stretchy", "false")


def _is_brace(element: ElementTree.Element) -> bool:
    return element.tag in ("munder", "mover") and element[1].text in _BRACES


def _convert(node: nodes.Element, display: bool) -> str:
    tex = node.astext()
    try:
        return to_mathml(tex, display)
    except MathError as error:
        logger.warning("formula %r: %s", tex, error, location=node, type="mathml", subtype="tex")
        return f'<code class="mathml-unknown">{html.escape(tex)}</code>'


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    self.body.append(self.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    self.body.append(_convert(node, display=False) + "</span>")
    raise nodes.SkipNode


def visit_displaymath(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on its own line: it scrolls by itself where it is too wide, its number stays."""
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight"))
    self.body.append(f'<div class="mathml-scroll">{_convert(node, display=True)}</div>')
    if node.get("number"):
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, _("Link to this equation"))
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def font(characters: Iterable[int] = CHARACTERS) -> bytes:
    """Return STIX Two Math as WOFF with these code points only, its licence and its MATH table kept."""
    from fontTools import subset

    options = subset.Options(
        flavor="woff",
        hinting=False,
        layout_features=["ccmp", "dtls", "flac", "kern", "mark", "mkmk", "ssty"],
        name_IDs=["*"],
    )
    package = find_spec("ziamath")  # found, not imported: only its font is wanted
    if package is None or package.origin is None:
        raise ModuleNotFoundError("ziamath is not installed", name="ziamath")
    file = Path(package.origin).parent / "fonts" / "STIXTwoMath-Regular.ttf"
    out = BytesIO()
    with subset.load_font(str(file), options) as source:
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=_UNNAMED.union(characters))
        subsetter.subset(source)
        subset.save_font(source, out, options)
    return out.getvalue()


def css() -> str:
    """Return the style sheet that loads the font and sets formulas."""
    return CSS.read_text(encoding="utf-8")


def _write_assets(app: Sphinx) -> None:
    # Before the pages are written, so that the links to the style sheet carry its checksum.
    if app.builder.format != "html" or not app.config.mathml_serve_font:
        return
    static = Path(app.outdir, "_static")
    static.mkdir(parents=True, exist_ok=True)
    static.joinpath(CSS.name).write_text(css(), encoding="utf-8")
    target = static / FONT
    if not target.exists() or target.stat().st_mtime < Path(__file__).stat().st_mtime:
        target.write_bytes(font())
    app.add_css_file(CSS.name)


def setup(app: Sphinx) -> dict[str, object]:
    """Register the renderer with Sphinx."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    app.add_config_value("mathml_serve_font", True, "html", [bool])
    app.connect("builder-inited", _write_assets)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
