"""What the parameters of every page have in common, and the result of a scenario."""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError


class ParameterError(ValueError):
    """A page's parameter is missing, unknown, of a wrong type or impossible."""


class PageParameters(BaseModel):
    """Strict: no text for a number, no unknown name, no NaN, no infinity."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


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
