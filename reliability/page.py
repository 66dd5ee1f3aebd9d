"""What a notebook calls to put its text and its results on the page."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from reliability import published
from reliability.anchors import summary

DIGITS = 6
RESULTS_MIME = "application/vnd.training-reliability+json"


def show(markdown: str) -> None:
    """Display Markdown: tables, sentences and formulas whose numbers the code worked out."""
    from IPython.display import Markdown, display

    display(Markdown(markdown))


def card(page: str, inputs, result, results: Mapping[str, object]) -> None:
    """Display a page's card, and with it the page's results for a program to read.

    One output of two MIME types: the card as Markdown for people, and `RESULTS_MIME`, JSON of the
    parameters, the texts of the published figures and `results`.

    Parameters
    ----------
    page : str
    inputs : the page's parameters, checked
    result : reliability.scenarios.base.Result
    results : mapping
        The page's numbers, by the names under which a program finds them.

    Raises
    ------
    PublishedMismatch
        Under the published parameters, where a figure does not come out as printed.
    """
    from IPython.display import display

    parameters = inputs.model_dump()
    bundle = {"parameters": parameters, "figures": result.texts, "results": results}
    display({"text/markdown": published.card(page, parameters, result.texts), RESULTS_MIME: rounded(bundle)}, raw=True)


def anchor_card(inputs, anchors, results: Mapping[str, object]) -> None:
    """Display the card of a richer page: how it stands to published results, and its own results.

    Parameters
    ----------
    inputs : the page's parameters, checked
    anchors : sequence of reliability.anchors.Anchor
        They have inputs of their own, the published ones, and so do not follow the page's parameters.
    results : mapping
        The page's numbers, by the names under which a program finds them.

    Raises
    ------
    AnchorMoved
        Where an anchor no longer has the status that it is declared to have.
    """
    from IPython.display import display

    found = {a.name: {"published": a.published, "computed": a.computed, "status": a.status} for a in anchors}
    bundle = {"parameters": inputs.model_dump(), "anchors": found, "results": results}
    display({"text/markdown": summary(anchors), RESULTS_MIME: rounded(bundle)}, raw=True)


def emit(inputs, results: Mapping[str, object], said: str) -> None:
    """Display a sentence, and with it the results for a program to read, of a page that no published result belongs to."""
    from IPython.display import display

    bundle = {"parameters": inputs.model_dump(), "results": results}
    display({"text/markdown": said, RESULTS_MIME: rounded(bundle)}, raw=True)


def rounded(value: object) -> object:
    """Return a value as JSON holds it: numpy's types as Python's, floats with six significant digits.

    The seventh digit differs between processors, and committed outputs must not. What JSON cannot say
    (NaN, infinity) becomes ``None``.

    >>> rounded({"mtbf_h": np.float64(1.23456789), "nodes": np.arange(2)})
    {'mtbf_h': 1.23457, 'nodes': [0, 1]}

    Raises
    ------
    TypeError
        For a value that is none of these.
    """
    if isinstance(value, Mapping):
        return {str(key): rounded(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return rounded(value.tolist())
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    if isinstance(value, float):
        if not np.isfinite(value):
            return None
        short = float(f"{value:.{DIGITS}g}")
        # JupyterLab saves 60.0 as 60, and would change the file of who only looked at it.
        return int(short) if short.is_integer() and abs(short) < 2**53 else short
    if value is None or isinstance(value, str | bool | int):
        return value
    raise TypeError(f"results: {type(value).__name__} given; numbers, texts, lists and tables of them are allowed")
