"""What is wrong with a settings file, in a line: the key as it stands there, what was given and what is allowed."""

import re

from reliability import cluster_hints as hints
from reliability.field_types import OUT_OF_RANGE, TOO_SMALL
from reliability.text import escaped, nearest
from reliability.toml_values import written

ALTERNATIVE = re.compile(r"function-|literal\[|date$|datetime$|str$")  # pydantic's names of what a value could have been


class Kind:
    """A kind of settings file.

    Parameters
    ----------
    name : str
        Such as "a cluster file".
    sections : dict of place to model
        The tables that it may have, the outer ones first: a place is a tuple of names. The first is the model that checks them all.
    arrays : collection of place
        Those that it may have several of: lists of tables.
    """

    def __init__(self, name, sections, arrays=()):
        self.name, self.sections, self.arrays = name, sections, arrays
        self._first = next(iter(sections))

    def documented(self):
        """Return every key as (table, key, field), in the order in which the documentation has them."""
        return [
            (".".join(where), name, field)
            for where, model in self.sections.items()
            for name, field in model.model_fields.items()
            if "allowed" in (field.json_schema_extra or {})
        ]

    def unknown(self, tables, text=""):
        """Say which key is unknown, or nothing; a misspelt one is more often the fault than what is then missing."""
        for where, model in self.sections.items():
            for place, table in self._tables_at(tables, where):
                for key in table:
                    if key not in model.model_fields:
                        return (
                            f"{_line(text, (*place, key))}{_key((*place, key), tables)}: unknown key. "
                            f"{hints.option(where, key, table[key])}{nearest(key, list(model.model_fields))}{hints.other_unit(key, model)}"
                            f"{self._called(where)} may have {', '.join(model.model_fields)}."
                        )
        return ""

    def _tables_at(self, tables, where):
        """Return (place, table) of each table that stands at a place; in a list each has its number."""
        found = [((), tables)]
        for i, name in enumerate(where):
            inner = [((*place, name), table[name]) for place, table in found if name in table]
            if where[: i + 1] in self.arrays:
                inner = [((*place, j), one) for place, value in inner if isinstance(value, list | tuple) for j, one in enumerate(value)]
            found = [(place, value) for place, value in inner if isinstance(value, dict)]
        return found

    def _called(self, where):
        what = f"the table {'.'.join(where)}" if where else self.name
        return what[0].upper() + what[1:]

    def said(self, error, tables, text=""):
        """Say the first fault that a check found, and how many more there are.

        Parameters
        ----------
        error : pydantic.ValidationError
        tables : dict
            Those that were checked.
        text : str
            The file, to name the line of the fault.
        """
        faults = dict.fromkeys(self._fault(fault, tables, text) for fault in error.errors())
        first, more = next(iter(faults)), len(faults) - 1
        return first + (f" (and {more} more to mend)" if more else "")

    def _fault(self, fault, tables, text):
        where = (*self._first, *fault["loc"])
        reason = fault["msg"].removeprefix("Value error, ")
        if self._is_table(where):
            return self._fault_of_table(fault["type"], where, fault["input"], reason, tables, text)
        end = next(i for i in reversed(range(len(where))) if self._is_table(where[:i]))
        field = self.sections[_names(where[:end])].model_fields[where[end]]
        allowed = f"must be {field.json_schema_extra['allowed']}{_about(field)}"
        given = f"{_line(text, where)}{_key(where[: end + 1], tables)}"
        if fault["type"] == "missing":
            return f"{given}: is missing; it {allowed}"
        given += f" = {written(fault['input'])}{_within(where[end + 1 :])}"
        if reason == TOO_SMALL:
            return f"{given}: {reason}{_about(field)}"
        detail = f": {reason}" if fault["type"] == "value_error" and reason != OUT_OF_RANGE else ""
        return f"{given}{detail}: {allowed}"

    def _is_table(self, where):
        names = _names(where)
        return names in self.sections and (names in self.arrays) == isinstance((where or ("",))[-1], int)

    def _fault_of_table(self, kind, where, given, reason, tables, text):
        """Say what is wrong with a table as a whole, or with keys of it that do not go together: the reason may begin with one."""
        key = _key(where, tables)
        named = tuple(re.match(r"[\w.]*", reason)[0].split("."))
        if kind == "missing":
            return f"{_line(text, where)}the table [{key}] is missing"
        if kind != "value_error":
            header = f"[{'.'.join(_names(where))}]"
            return f"{_line(text, where)}{key} = {written(given)}: must be a table, {f'[{header}]' if _names(where) in self.arrays else header}"
        if named[0] in self.sections[_names(where)].model_fields:
            return f"{_line(text, (*where, *named))}{key}{'.' if key else ''}{reason}"
        return f"{_line(text, where)}{key}: {reason}"


def placed(source, said):
    """Put the name of the file before what is wrong with it."""
    return f"{source}{', ' if said.startswith('line ') else ': '}{said}"


def _names(where):
    """Return a place without the numbers of tables in a list."""
    return tuple(part for part in where if isinstance(part, str))


def _key(where, tables):
    """Return a key as it stands in the file; of tables in a list each goes by the name in it, else by its number."""
    shown = []
    for part in where:
        try:
            tables = tables[part]
        except (LookupError, TypeError):  # what is missing
            tables = None
        if isinstance(part, int):
            name = tables.get("name") if isinstance(tables, dict) else None
            part = name[:40] if isinstance(name, str) and name else part + 1
        shown.append(str(part))
    return escaped(".".join(shown))


def _within(rest):
    """Say where in a value the fault is."""
    rest = [part for part in rest if isinstance(part, int) or not ALTERNATIVE.match(part)]
    if not rest:
        return ""
    return f" (number {rest[0] + 1} of the list)" if isinstance(rest[0], int) else f" (at {escaped('.'.join(map(str, rest)))})"


def _about(field):
    unit = field.json_schema_extra.get("unit")
    return f" ({field.description}{f', {unit}' if unit and unit != '1' else ''})"


def _line(text, where):
    """Return 'line N: ' of a key in the text, or of its table; nothing where neither is found.

    A list of tables is where its first one is.
    """
    table, found, depth, counts = (), None, 0, {}
    for number, line in enumerate(text.split("\n"), start=1):
        if header := re.match(r"\s*(\[\[?)([^\[\]]+)\]", line):
            table = tuple(part.strip(" \t\"'") for part in header[2].split("."))
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            begins = table[:-1] == where and table[-1] == 0
            if (begins or where[: len(table)] == table) and len(table) > depth:
                found, depth = number, len(table)
        elif key := re.match(r"\s*([\w.\"'-]+)\s*=", line):
            place = (*table, *(part.strip("\"'") for part in key[1].split(".")))
            if where[: len(place)] == place:
                return f"line {number}: "
    return f"line {found}: " if found else ""
