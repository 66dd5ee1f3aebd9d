"""What a key of a cluster file may hold: fields with their meaning, unit and range, and numbers with a range of their own."""

import sys
from typing import Annotated

from annotated_types import Gt
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from reliability.quantities import Quantity
from reliability.toml_values import written

OUT_OF_RANGE = "out of range"
SMALLEST = 1e-100  # of a number that must be above 0: computing with lesser ones ends at 0 or at infinity
TOO_SMALL = f"must be at least {SMALLEST:g}"


def range_text(low, high, above):
    """Say in words which numbers are allowed.

    >>> range_text(0, 100, True), range_text(1, None, False)
    ('above 0 and at most 100', 'at least 1')
    """
    first = f"above {_written(low)}" if above else f"at least {_written(low)}"
    return first if high is None else f"{first} and at most {_written(high)}"


def _written(bound):
    return f"{int(bound):,}" if bound == int(bound) else f"{bound:g}"


class Section(BaseModel):
    """A table of the file: no unknown key, no text for a number, no NaN, no infinity; what is above 0 is not only just above it."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, allow_inf_nan=False, arbitrary_types_allowed=True
    )

    @field_validator("*")
    @classmethod
    def _told_from_0(cls, value, key):
        rules = cls.model_fields[key.field_name].metadata
        if value is not None and Gt(0) in rules and value < SMALLEST:
            raise ValueError(TOO_SMALL)
        return value


def _extra(allowed, unit):
    return {"allowed": allowed, "unit": unit}


def whole(description, low, high, **more):
    """Return the field of a whole number; `high` is None where any will do."""
    extra = _extra(f"a whole number from {low:,}" + ("" if high is None else f" to {high:,}"), "")
    return Field(ge=low, le=high, description=description, json_schema_extra=extra, **more)


def number(description, unit, low, high, above=False, **more):
    """Return the field of a plain number; `high` is None where any will do."""
    bounds = {"gt" if above else "ge": low, "le": high}
    extra = _extra(f"a number {range_text(low, high, above)}", unit)
    return Field(description=description, json_schema_extra=extra, **bounds, **more)


def _as_quantity(value):
    if isinstance(value, Quantity):
        return value
    table = value if isinstance(value, dict) else {"value": value}
    if unknown := [key for key in table if key not in ("value", "low", "high")]:
        raise ValueError(f"has no key {written(unknown[0])}: value, low and high are allowed")
    if "value" not in table or ("low" in table) != ("high" in table):
        raise ValueError("needs value, and either both low and high or neither")
    for key, part in table.items():
        if isinstance(part, bool) or not isinstance(part, int | float) or not abs(part) <= sys.float_info.max:
            raise ValueError(f"{key} = {written(part)} is not a finite number")
    if "low" in table and not table["low"] <= table["value"] <= table["high"]:
        raise ValueError("needs low <= value <= high")
    return Quantity(**{key: float(part) for key, part in table.items()})


def _bounded(low, high, above):
    def check(quantity):
        for part in (quantity.value, quantity.low, quantity.high):
            if part is not None and (part < low or part > high or (above and part <= low)):
                raise ValueError(OUT_OF_RANGE)
            if part is not None and above and low == 0 and part < SMALLEST:
                raise ValueError(TOO_SMALL)
        return quantity

    return check


def quantity(low, high, above=False):
    """Return the type of a quantity within a range; describe it by :func:`described`."""
    return Annotated[Quantity, BeforeValidator(_as_quantity), AfterValidator(_bounded(low, high, above))]


def described(description, unit, low, high, above=False, **more):
    """Return the field of a quantity: what it is, its unit and its range."""
    allowed = f"a number {range_text(low, high, above)}, or a table of value, low and high"
    return Field(description=description, json_schema_extra=_extra(allowed, unit), **more)


def plain(description, allowed, **more):
    """Return the field of a text, a list, a table or a choice."""
    return Field(description=description, json_schema_extra=_extra(allowed, ""), **more)
