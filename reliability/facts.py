"""Every number that comes from outside, with its source.

The facts live in ``facts.toml`` beside this module, one table each.
A number that a formula can work out from other facts is not a fact: the package computes it.
"""

from __future__ import annotations

import copy
import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path

Value = float | list[float] | dict[str, float]


@dataclass(frozen=True)
class Fact:
    """A number from outside, or a list or table of numbers that belong together.

    Attributes
    ----------
    name : str
        The fact's table in ``facts.toml``.
    value : float, list of float or dict of float
        The number or numbers, as the source prints them.
    unit : str
        The unit of every number in `value`, ``low`` and ``high``; ``"1"`` for a ratio.
    kind : str
        ``"measured"`` on a real system, ``"derived"`` from other numbers by whoever published it,
        ``"assumed"`` by whoever published it, ``"recorded"`` (one outcome that was written down) or
        ``"inferred"`` by this book from what is printed.
    primary : bool
        Whether the number was read in the source that it comes from. One that was not is fit for a
        comparison, never for a calibration.
    source : str
        A key of ``references.bib``.
    locator : str
        Where in the source the number stands.
    band : list of float, or a list or dict of such lists
        The smallest and the largest value that would be plausible, so that a slipped digit or a
        wrong unit shows. One pair, or one for each entry of `value`.
    low, high : float or None
        The range that the source itself gives, where it gives one.
    note : str
        What to know before using the number.
    """

    name: str
    value: Value
    unit: str
    kind: str
    primary: bool
    source: str
    locator: str
    band: list | dict
    low: float | None = None
    high: float | None = None
    note: str = ""


@functools.cache
def _tables() -> dict[str, dict]:
    with Path(__file__).with_name("facts.toml").open("rb") as file:
        return tomllib.load(file)


def names() -> tuple[str, ...]:
    """Return the names of all facts, in the order of ``facts.toml``.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> "llama3_gpus" in names()
    True
    """
    return tuple(_tables())


def fact(name: str) -> Fact:
    """Return a fact with its unit, kind and source.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    Fact
        A copy: changing a list or dict in it changes no other.

    Raises
    ------
    KeyError
        When there is no such fact. The message names the nearest one.

    Examples
    --------
    >>> standby = fact("byterobust_standby_s")
    >>> standby.value, standby.low, standby.high, standby.unit
    (55, 46, 65, 's')
    """
    try:
        table = _tables()[name]
    except (KeyError, TypeError):
        raise KeyError(_unknown(name)) from None
    return Fact(name=name, **copy.deepcopy(table))


def value(name: str) -> Value:
    """Return only the number, list or dict of a fact.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    float, list of float or dict of float
        A copy, in the fact's own unit.

    Raises
    ------
    KeyError
        When there is no such fact. The message names the nearest one.

    Examples
    --------
    >>> value("llama3_days"), value("llama3_unexpected")
    (54, 419)
    >>> value("llama3_unexpectd")
    Traceback (most recent call last):
        ...
    KeyError: "no fact 'llama3_unexpectd'; the nearest is 'llama3_unexpected'"
    """
    return fact(name).value


def resolve(text: object) -> object:
    """Return what an input of a page stands for: a fact where it is ``fact:NAME`` or ``fact:NAME.KEY``, else itself.

    Parameters
    ----------
    text : object
        A value of a table of inputs.

    Examples
    --------
    >>> resolve("fact:llama3_days"), resolve("fact:published_mix.gpu"), resolve(7)
    (54, 0.587, 7)
    """
    if not (isinstance(text, str) and text.startswith("fact:")):
        return text
    name, _, key = text.removeprefix("fact:").partition(".")
    return value(name)[key] if key else value(name)


def _unknown(name: object) -> str:
    from difflib import get_close_matches  # only a failure pays for this import

    nearest = get_close_matches(str(name).lower(), names(), n=1, cutoff=0.0)
    return f"no fact {name!r}; the nearest is {nearest[0]!r}"
