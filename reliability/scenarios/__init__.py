"""The pages' models: each one's parameters, what it computes from them, its text.

A scenario module has a `Parameters` model and a `compute` function; the five published scenarios
print the same `sections` on their pages and in the `demo` command. The module of a richer page, or of a plan's, has
`anchors` besides: the published results that it is held against.
"""

import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path

PUBLISHED = ("availability", "checkpoint", "recovery", "straggler", "sdc")
RICHER = ("failure_process", "recovery_timeline", "checkpoint_tiers", "straggler_rounds", "sdc_defences")
PLANS = ("your_cluster", "budget", "policies")
PAGES = PUBLISHED + RICHER + PLANS
TEMPLATES = ("fleet_report",)  # notebooks that are no page of the book


def scenario(page):
    """Return the module of a page.

    Parameters
    ----------
    page : str
        One of `PAGES` or `TEMPLATES`.
    """
    if page not in PAGES + TEMPLATES:
        raise ValueError(f"page = {page!r}: must be one of {', '.join(PAGES)}")
    return import_module(f"{__name__}.{page}")


def parameters(page):
    """Return the pydantic model of a page's parameters."""
    return scenario(page).Parameters


def defaults(page):
    """Return the parameters that a page has in the book: the published ones, or those of ``inputs.toml``.

    Parameters
    ----------
    page : str

    Returns
    -------
    dict of parameter name to value
    """
    from reliability import facts

    return {name: facts.resolve(value) for name, value in raw_inputs(page).items()}


def raw_inputs(page):
    """Return a page's inputs as their file has them: facts by name, other values plain."""
    from reliability import published

    scenario(page)  # refuses an unknown one
    return published.raw_inputs(page) if page in PUBLISHED else dict(_own_inputs()[page])


@cache
def _own_inputs():
    with Path(__file__).with_name("inputs.toml").open("rb") as file:
        return tomllib.load(file)


def changed(page, values):
    """Return the parameters that are not the book's, as name: (value, the book's value)."""
    from reliability import published

    return published.differing(page, values, defaults(page))


def inputs(page, values):
    """Check a page's parameters and return them as its model.

    Parameters
    ----------
    page : str
    values : mapping
        At least the page's parameters; in a notebook, ``globals()``. Other names are left alone.

    Raises
    ------
    ParameterError
        Naming each parameter that is missing, of a wrong type or impossible.
    """
    from reliability.scenarios.base import build

    model = parameters(page)
    return build(model, {name: values[name] for name in model.model_fields if name in values})


def demo(number=None):
    """Return one scenario, 1 to 5, or all five as Markdown, under the published parameters.

    Parameters
    ----------
    number : int, optional
    """
    from reliability import published

    if number is not None and number not in range(1, len(PUBLISHED) + 1):
        raise ValueError(f"scenario = {number}: must be from 1 to {len(PUBLISHED)}")
    chosen = PUBLISHED if number is None else PUBLISHED[number - 1 : number]
    parts = []
    for page in chosen:
        values = published.inputs(page)
        result = scenario(page).compute(inputs(page, values))
        heading = f"## Scenario {PAGES.index(page) + 1}: {scenario(page).TITLE}"
        parts += [heading, *result.sections.values(), published.card(page, values, result.texts)]
    return "\n\n".join(parts) + "\n"


def anchors():
    """Return the published results that the book is held against.

    Returns
    -------
    dict of page to list of reliability.anchors.Anchor
    """
    return {page: scenario(page).anchors() for page in RICHER + PLANS}
