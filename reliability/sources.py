"""Where every number from outside comes from, and where the book uses it."""

import json
import re
from importlib.resources import files
from pathlib import Path

from reliability import facts, scenarios, text


def uses():
    """Return the pages that use each fact: by its name in their inputs, their notebook or their scenario.

    Returns
    -------
    dict of fact name to list of str
        Pages in the book's order. Where no page names a fact, the modules that do.
    """
    package = Path(str(files("reliability")))
    pages = {page: _names(_text(package, page)) for page in scenarios.PAGES}
    modules = {f"`{path.stem}`": _names(path.read_text(encoding="utf-8")) for path in sorted(package.glob("*.py"))}
    found = {}
    for name in facts.names():
        found[name] = [page for page, named in pages.items() if name in named]
        found[name] = found[name] or [module for module, named in modules.items() if name in named]
    return found


def _text(package, page):
    """All that a page's own files say: the code of its notebook, its scenario's modules, its inputs."""
    notebooks = next(folder for folder in (package / "notebooks", package.parent / "notebooks") if folder.is_dir())
    cells = json.loads((notebooks / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
    parts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    parts += [path.read_text(encoding="utf-8") for path in sorted((package / "scenarios").glob(f"{page}*.py"))]
    return "\n".join([*parts, *(f'"{value}"' for value in scenarios.raw_inputs(page).values())])


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
        rows.append([f"`{fact.name}`", _value(fact), read, f"{{cite:t}}`{fact.source}`, {fact.locator}", pages])
    return text.table(["fact", "value", "kind", "source", "used by"], rows, align="lllll")


def _value(fact):
    """The value with its unit and the source's range, as it is in the ledger."""
    if isinstance(fact.value, dict):
        shown = ", ".join(f"{key} {number:g}" for key, number in fact.value.items())
    elif isinstance(fact.value, list):
        shown = ", ".join(f"{number:g}" for number in fact.value)
    else:
        shown = f"{fact.value:g}"
    if fact.low is not None:
        shown += f" ({fact.low:g} to {fact.high:g})"
    return shown if fact.unit == "1" else f"{shown} {fact.unit}"


def summary():
    """Say how many facts there are of each kind."""
    every = [facts.fact(name) for name in facts.names()]
    kinds = sorted({fact.kind for fact in every})
    listed = ", ".join(f"{sum(f.kind == kind for f in every)} {kind}" for kind in kinds)
    secondary = sum(not fact.primary for fact in every)
    return (
        f"**{len(every)} facts: {listed}.** Read in a secondary source only: {secondary}; no model of the book's own is "
        "calibrated by those."
    )
