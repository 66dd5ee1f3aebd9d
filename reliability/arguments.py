"""Parameters of a page as a person gives them: found by name, read by type, checked by the page's model."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from reliability.errors import BadInput
from reliability.scenarios.base import ParameterError, build
from reliability.text import nearest


def check(page: str, model: type[BaseModel], published: Mapping, given: Mapping) -> dict[str, Any]:
    """Return the given parameters as values of the model's types.

    Parameters
    ----------
    page : str
        The page's name, for messages.
    model : pydantic model
        The page's parameters.
    published : mapping of name to value
        What holds for the parameters that are not given.
    given : mapping of name to text or value
        A text is read by the type of its parameter; any other value is taken as it is.

    Raises
    ------
    BadInput
        Naming the parameter, what was given and what is allowed.
    """
    fields = model.model_fields
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in fields:
            raise BadInput(f"{page} has no parameter {name!r}. {nearest(name, [*fields])}It has {', '.join(fields)}.")
        try:
            values[name] = _finite(read(value, fields[name].annotation) if isinstance(value, str) else value)
        except ValueError as error:
            raise BadInput(f"{page}: {name} = {value!r}: must be {error} ({fields[name].description})") from None
    try:
        build(model, {**published, **values})
    except ParameterError as error:
        raise BadInput(f"{page}: {error}") from None
    return values


def read(text: str, kind: Any) -> Any:
    """Return the value that a text stands for, by the type of its parameter.

    >>> read("7.9", float), read("128, 1024", list[int]), read("gpu=13,network=1", dict[str, int])
    (7.9, [128, 1024], {'gpu': 13, 'network': 1})

    Raises
    ------
    ValueError
        Whose message says what it must be.
    """
    origin, members = get_origin(kind), get_args(kind)
    if origin is list:
        return _list(text, members[0])
    if origin is dict:
        return _table(text, members[1])
    if kind is int:
        if not re.fullmatch(r"[+-]?[0-9]{1,300}", text.strip()):
            raise ValueError("a whole number")
        return int(text)
    if kind is float:
        if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text.strip()):
            raise ValueError("a number")
        return float(text)
    if kind is str:
        return text
    raise TypeError(f"no way to read a parameter of type {kind} from text")


def _list(text: str, kind: Any) -> list[Any]:
    inside = text.strip().removeprefix("[").removesuffix("]").strip()
    try:
        return [read(_unquoted(part), kind) for part in inside.split(",")] if inside else []
    except ValueError as error:
        raise ValueError(f"a list, as in 8,16,32 or [8, 16, 32], each {error}") from None


def _table(text: str, kind: Any) -> dict[str, Any]:
    inside = text.strip().removeprefix("{").removesuffix("}").strip()
    table: dict[str, Any] = {}
    for part in inside.split(",") if inside else []:
        name, sign, value = part.replace(":", "=", 1).partition("=")
        name = _unquoted(name)
        try:
            if not sign or name in table:
                raise ValueError("named once" if sign else "with a name")
            table[name] = read(value.strip(), kind)
        except ValueError as error:
            raise ValueError(f'a table, as in gpu=13,network=1 or {{"gpu": 13, "network": 1}}, each {error}') from None
    return table


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _finite(value: Any) -> Any:
    """Return the value, with numpy's arrays and numbers as Python's; refuse NaN and infinities wherever they are."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a finite number")
    return value
