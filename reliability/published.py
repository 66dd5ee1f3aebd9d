"""The ledger of the published figures, and the check of a page against it.

``published.toml`` holds each figure as it was printed, with its kind, and the inputs under which
the publication printed it.
"""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reliability import facts, text

KINDS = ("computed", "input", "recorded")


class PublishedMismatch(ValueError):
    """Under the published parameters a figure did not come out as printed."""


@dataclass(frozen=True)
class Figure:
    """A published figure: its `name` on its page, its `kind` and its `text` as printed."""

    page: str
    name: str
    kind: str
    text: str

    @property
    def id(self):
        """Page and name, ``availability.node_mtbf_h``."""
        return f"{self.page}.{self.name}"

    @property
    def anchor(self):
        """The id of its element on the rendered page; it stays for good."""
        return "published-" + self.id.replace(".", "-")


@functools.cache
def _ledger():
    with Path(__file__).with_name("published.toml").open("rb") as file:
        return tomllib.load(file)


def pages():
    """Return the pages that have published figures."""
    return tuple(_ledger())


def _page(page):
    if page not in _ledger():
        raise ValueError(f"page = {page!r}: must be one of {', '.join(pages())}")
    return _ledger()[page]


def figures(page):
    """Return the published figures of a page, in the publication's order.

    Parameters
    ----------
    page : str

    Returns
    -------
    tuple of Figure

    Examples
    --------
    >>> figures("availability")[0].text
    '8089.6'
    """
    return tuple(Figure(page, *row) for row in _page(page)["figures"])


def inputs(page):
    """Return the parameters under which the publication printed a page's figures.

    Parameters
    ----------
    page : str

    Returns
    -------
    dict of parameter name to value

    Examples
    --------
    >>> inputs("checkpoint")["job_mtbf_h"]
    7.9
    """
    return {name: facts.resolve(value) for name, value in raw_inputs(page).items()}


def raw_inputs(page):
    """Return a page's published inputs as the ledger has them: facts by name, other values plain."""
    return dict(_page(page)["inputs"])


def mismatches(page, texts):
    """Compare the texts of a page with the printed ones.

    Parameters
    ----------
    page : str
    texts : mapping of figure name to text
        Every figure of the page, as the page prints it.

    Returns
    -------
    list of (Figure, text)
        The figures that differ, each with the text it has instead, None where it has none.

    Raises
    ------
    ValueError
        Where `texts` has a name that the ledger does not know.
    """
    ledger = figures(page)
    unknown = set(texts) - {figure.name for figure in ledger}
    if unknown:
        raise ValueError(f"texts has {', '.join(sorted(unknown))}: no published figures of page {page}")
    return [(figure, texts.get(figure.name)) for figure in ledger if texts.get(figure.name) != figure.text]


def changed(page, parameters):
    """Return the parameters that are not the published ones, as name: (value, published value)."""
    return differing(page, parameters, inputs(page))


def differing(page, parameters, book):
    """Return the parameters that differ from the `book`'s, as name: (value, the book's value)."""
    if set(parameters) != set(book):
        raise ValueError(f"parameters {sorted(parameters)}: page {page} has {sorted(book)}")
    return {name: (value, book[name]) for name, value in parameters.items() if value != book[name]}


def card(page, parameters, texts):
    """Say how many of a page's published figures were reproduced.

    Parameters
    ----------
    page : str
    parameters : mapping of name to value
        What the page was run under.
    texts : mapping of figure name to text
        What the page printed.

    Returns
    -------
    str
        A Markdown sentence. Under other than the published parameters it says that the published
        case was not run, and what was changed.

    Raises
    ------
    PublishedMismatch
        Under the published parameters, where a figure differs; it names each.
    """
    others = changed(page, parameters)
    if others:
        listed = "; ".join(
            f"`{name}` = {value} (published: {published})" for name, (value, published) in others.items()
        )
        return f"**The published case was not run.** Changed: {listed}. The numbers above follow the parameters."
    wrong = mismatches(page, texts)
    if wrong:
        listed = "; ".join(f"{figure.id}: published {figure.text}, here {found}" for figure, found in wrong)
        raise PublishedMismatch(f"{len(wrong)} of {len(figures(page))} published figures differ: {listed}")
    n = counts(page)
    rest = f"inputs restated: {n['input']}; recorded outcomes replayed: {n['recorded']}"
    return f"**{n['computed']} of {n['computed']} computed figures come out as published**, to the printed digit. Not among them, since they cannot fail: {rest}."


def counts(page):
    """Return the number of a page's figures by kind."""
    kinds = [figure.kind for figure in figures(page)]
    return {kind: kinds.count(kind) for kind in KINDS}


def ledger_table(page, texts: Mapping[str, str]):
    """Lay out each published figure beside the page's own, with an address that stays.

    Parameters
    ----------
    page : str
    texts : mapping of figure name to text

    Returns
    -------
    str
        A Markdown table; a figure's name is the link to its own row.
    """
    rows = [
        [
            f'<a id="{figure.anchor}" href="#{figure.anchor}">{figure.name}</a>',
            figure.text,
            texts.get(figure.name, ""),
            figure.kind,
        ]
        for figure in figures(page)
    ]
    return text.table(["figure", "published", "here", "kind"], rows)
