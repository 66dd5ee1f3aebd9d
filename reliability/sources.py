"""Where every number from outside comes from, and where the book uses it."""

import json
import re
from importlib.resources import files
from pathlib import Path

from reliability import facts, scenarios, text


def uses():
    """Return what uses each fact: the pages whose inputs, notebook or scenario name it, and the models that do.

    Returns
    -------
    dict of fact name to list of str
        Pages in the book's order, then modules in backquotes: every page that calls one uses its facts too.
    """
    package = Path(str(files("reliability")))
    pages = {page: _names(_text(package, page)) for page in scenarios.PAGES}
    # The examples of facts.py are no use of a fact.
    models = [path for path in sorted(package.glob("*.py")) if path.stem != "facts"]
    modules = {f"`{path.stem}`": _names(path.read_text(encoding="utf-8")) for path in models}
    found = {}
    for name in facts.names():
        found[name] = [page for page, named in pages.items() if name in named]
        found[name] += [module for module, named in modules.items() if name in named]
    return found


def _text(package, page):
    """All that a page's own files say: the code of its notebook, its scenario's modules, its inputs."""
    notebooks = next(folder for folder in (package / "notebooks", package.parent / "notebooks") if folder.is_dir())
    cells = json.loads((notebooks / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
    parts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    parts += [
        path.read_text(encoding="utf-8") for path in sorted((package / "scenarios").glob("*.py")) if _page(path) == page
    ]
    return "\n".join([*parts, *(f'"{value}"' for value in scenarios.raw_inputs(page).values())])


def _page(path):
    """The page whose scenario a module belongs to: ``straggler_rounds_anchors`` to straggler_rounds, not to straggler."""
    owners = [page for page in scenarios.PAGES if f"{path.stem}_".startswith(f"{page}_")]
    return max(owners, key=len, default=None)


def _names(source):
    """Every whole string of a text that could name a fact, as NAME, ``fact:NAME`` or ``fact:NAME.KEY``."""
    return set(re.findall(r"""["'](?:fact:)?(\w+)(?:\.\w+)?["']""", source))


def table():
    """Lay out all facts as a Markdown table, with citations as MyST roles.

    Returns
    -------
    str
    """
    used = uses()
    rows = []
    for fact in map(facts.fact, facts.names()):
        read = fact.kind if fact.primary else f"{fact.kind}, secondary"
        pages = ", ".join(
            f"[{page}](../notebooks/{page}.ipynb)" if page in scenarios.PAGES else page for page in used[fact.name]
        )
        rows.append(
            [f"`{fact.name}` {_value(fact)}", read, f"{{cite:t}}`{fact.source}`, {_breakable(fact.locator)}", pages]
        )
    return text.table(["fact", "kind", "source", "used by"], rows, align="llll")


def _breakable(locator):
    """A locator whose long words, such as a path, may break in a narrow column."""
    return re.sub(r"\S{20,}", lambda word: re.sub(r"(?<=[/_.-])(?=\w)", "\u200b", word[0]), locator)


def _value(fact):
    """The value with its unit and the source's range, as it is in the ledger."""
    if isinstance(fact.value, dict):
        shown = ", ".join(f"{key.replace('_', ' ')}: {number:g}" for key, number in fact.value.items())
    elif isinstance(fact.value, list):
        shown = ", ".join(f"{number:g}" for number in fact.value)
    else:
        shown = f"{fact.value:g}"
    if fact.low is not None:
        shown += f" ({fact.low:g} to {fact.high:g})"
    return shown if fact.unit in ("1", "count") else f"{shown} {fact.unit}"


def summary():
    """Say how many facts there are of each kind."""
    every = [facts.fact(name) for name in facts.names()]
    kinds = sorted({fact.kind for fact in every})
    listed = ", ".join(f"{sum(f.kind == kind for f in every)} {kind}" for kind in kinds)
    secondary = sum(not fact.primary for fact in every)
    taken = ", ".join(f"`{name}`" for name in secondary_inputs())
    return (
        f"**{len(every)} facts: {listed}.** Not read where they come from: {secondary}. Those are compared with and calibrate no "
        f"model of the book's own. As inputs the pages have only the ones that the publication prints or gives away: {taken}."
    )


def secondary_inputs():
    """Return the facts that were not read in their source and yet are a parameter of a page, in the ledger's order."""
    given = {
        name
        for page in scenarios.PAGES
        for value in scenarios.raw_inputs(page).values()
        for name in _names(f'"{value}"')
    }
    return [name for name in facts.names() if name in given and not facts.fact(name).primary]
