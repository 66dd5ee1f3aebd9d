"""The five scenarios: each one's parameters, its published figures computed, its text.

A scenario module has a `Parameters` model and a `compute` function; pages and the `demo` command
print the same `sections`.
"""

from importlib import import_module

PAGES = ("availability", "checkpoint", "recovery", "straggler", "sdc")


def scenario(page):
    """Return the module of a page.

    Parameters
    ----------
    page : str
        One of `PAGES`.
    """
    if page not in PAGES:
        raise ValueError(f"page = {page!r}: must be one of {', '.join(PAGES)}")
    return import_module(f"{__name__}.{page}")


def parameters(page):
    """Return the pydantic model of a page's parameters."""
    return scenario(page).Parameters


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

    if number is not None and number not in range(1, len(PAGES) + 1):
        raise ValueError(f"scenario = {number}: must be from 1 to {len(PAGES)}")
    chosen = PAGES if number is None else PAGES[number - 1 : number]
    parts = []
    for page in chosen:
        values = published.inputs(page)
        result = scenario(page).compute(inputs(page, values))
        heading = f"## Scenario {PAGES.index(page) + 1}: {scenario(page).TITLE}"
        parts += [heading, *result.sections.values(), published.card(page, values, result.texts)]
    return "\n\n".join(parts) + "\n"
