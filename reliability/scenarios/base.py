"""What the parameters of every page have in common, and the result of a scenario."""

import math
from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from reliability.units import DAY_S, HOUR_S, MINUTE_S


class ParameterError(ValueError):
    """A page's parameter is missing, unknown, of a wrong type or impossible."""


class PageParameters(BaseModel):
    """Strict: no text for a number, no unknown name, no NaN, no infinity."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)
    SETTINGS_FILE: ClassVar[str] = ""  # the parameter that names one, if any


def build(model, values):
    """Make a model of `values`, or say in one line a fault what is wrong with each."""
    try:
        return model(**values)
    except ValidationError as error:
        raise ParameterError("; ".join(_fault(fault) for fault in error.errors())) from None


def _fault(fault):
    """One fault as 'parameter = value: what is allowed'."""
    message = fault["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:]
    where = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "missing":
        return f"{where}: is missing"
    if not where:  # a rule over several parameters names them itself
        return message
    return f"{where} = {fault['input']!r}: {message.replace('input should', 'must')}"


@dataclass(frozen=True)
class Result:
    """What a scenario computes.

    Attributes
    ----------
    texts : dict
        Each published figure's name and the text it has here.
    sections : dict
        Markdown by name: what the page and the `demo` command print.
    values : dict
        The numbers and arrays behind them, for figures, for further work and for the JSON.
    """

    texts: dict
    sections: dict
    values: dict


def short(number):
    """Write a number to three digits, or whole from a hundred on.

    >>> short(100.04), short(12345.6), short(15.003), short(0.04)
    ('100', '12,346', '15.0', '0.0400')
    """
    return f"{number:,.0f}" if abs(number) >= 99.95 else f"{number:#.3g}"


def counted(number, noun, plural="s"):
    """Write how many there are of something.

    >>> counted(1, "job"), counted(1600, "job"), counted(0.05, "batch", "es")
    ('1 job', '1,600 jobs', '0.05 batches')
    """
    shown = f"{number:,}" if isinstance(number, int) else f"{number:g}"
    return f"{shown} {noun}{plural * (number != 1)}"


def duration(seconds):
    """Write a time in the unit that suits it.

    >>> duration(90), duration(7200), duration(3e6), duration(float("inf")), duration(0)
    ('1.5 min', '2.0 h', '35 d', 'for ever', '0 s')
    """
    if seconds == math.inf:
        return "for ever"
    if seconds < HOUR_S:
        return f"{seconds / MINUTE_S:.1f} min" if seconds >= MINUTE_S else f"{seconds:.2g} s"
    return f"{seconds / HOUR_S:.1f} h" if seconds < 2 * DAY_S else f"{seconds / DAY_S:,.0f} d"
