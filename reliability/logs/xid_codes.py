"""NVIDIA's Xid codes: what each means, whether it is a failure, and what follows from what.

The table is ``xid_codes.toml`` beside this module, one row a code of NVIDIA's catalogue.
"""

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path

SWITCH_CLASS = "switch"


@dataclass(frozen=True)
class XidCode:
    """A row of NVIDIA's catalogue of Xid codes.

    Attributes
    ----------
    code : int
    meaning : str
        In our own words.
    kind : str
        What is concerned: memory, bus, nvlink, engine, firmware, …
    cls : str
        The class of this book: gpu, software, network or other.
    action : str
        NVIDIA's immediate action, by the catalogue's name of it.
    failure : bool
        Whether it counts as a failure: the action takes the GPU or its node out of service, or its
        memory is at fault.
    lost : bool
        Whether the GPU is out of service until a reset, a restart or a repair.
    application : bool
        Whether the catalogue lays it to the application.
    severity : bool
        Whether the line itself says if it is fatal; only then it counts.
    review : bool
        Whether the catalogue leaves open what it is.
    locator : str
        The row of the catalogue.
    note : str
    """

    code: int
    meaning: str
    kind: str
    cls: str
    action: str
    failure: bool
    lost: bool
    application: bool
    locator: str
    severity: bool = False
    review: bool = False
    note: str = ""


@dataclass(frozen=True)
class Follower:
    """A rule: codes that are no failure of their own when they come after one.

    Attributes
    ----------
    codes : frozenset or None
        None: every code. ``"SXid"`` stands for fatal events of an NVSwitch.
    after : frozenset, str or None
        Codes of the failure; None: any; ``"lost"``: one by which its GPU is out of service.
    other_gpu : bool
        Whether the failure sits on another GPU of the node, else on the same.
    window_s : float or None
        From the start of the failure; None: as long as the failure's storm lasts.
    why, locator : str
    """

    codes: frozenset | None
    after: frozenset | str | None
    other_gpu: bool
    window_s: float | None
    why: str
    locator: str


@functools.cache
def _tables():
    with Path(__file__).with_name("xid_codes.toml").open("rb") as file:
        return tomllib.load(file)


@functools.cache
def codes():
    """Return the table of codes, {number: XidCode}.

    Examples
    --------
    >>> codes()[79].meaning, codes()[79].lost
    ('the GPU no longer answers on the PCIe bus', True)
    >>> codes()[31].failure
    False
    """
    classes = _tables()["classes"]
    return {int(code): XidCode(int(code), cls=classes[row["kind"]], **row) for code, row in _tables()["xid"].items()}


@functools.cache
def unused():
    """Return the numbers that the catalogue lists and calls unused.

    Examples
    --------
    >>> 1 in unused(), 79 in unused()
    (True, False)
    """
    return frozenset(_tables()["unused"])


@functools.cache
def followers():
    """Return the rules for what follows from what, the first that fits to be taken."""
    named = {"all": None, "any": None, "lost": "lost"}

    def numbers(value):
        return named[value] if isinstance(value, str) else frozenset(value)

    return tuple(
        Follower(
            numbers(row["codes"]),
            numbers(row["after"]),
            row["gpu"] == "other",
            row.get("window_s"),
            row["why"],
            row["locator"],
        )
        for row in _tables()["followers"]
    )


def switch_class():
    """Return the class of a fatal event of an NVSwitch."""
    return _tables()["classes"][SWITCH_CLASS]


def unknown(code):
    """Say why a number is not judged: it is in no list, or called unused; None for a code of the table."""
    if code in codes():
        return None
    return "NVIDIA's catalogue calls it unused" if code in unused() else "it is in no list of NVIDIA's"
