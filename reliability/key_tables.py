"""The keys of a settings file as the documentation prints them: one Markdown table for each of its tables."""

from collections import defaultdict

from pydantic import BaseModel

from reliability.plan_words import literal

HEAD = ["| key | what it is | unit | allowed | by default |", "|:--|:--|:--|:--|:--|"]
UNITS = {"1": "share"}  # of what has no other


def tables(keys, arrays=()):
    """Return the keys as Markdown, a text for each table of the file.

    Parameters
    ----------
    keys : list of (table, key, field)
        As of :func:`reliability.cluster.keys` and :func:`reliability.fleet_config.keys`.
    arrays : collection of str
        Tables that the file may have several of, so that their name stands in double brackets.

    Examples
    --------
    >>> from reliability.field_types import number
    >>> print(*tables([("job", "write_s", number("time of a write", "s", 0, None))]), sep="\\n")
    **[job]**
    <BLANKLINE>
    | key | what it is | unit | allowed | by default |
    |:--|:--|:--|:--|:--|
    | `write_s` | time of a write | s | a number at least 0 | needed |
    """
    rows = defaultdict(list)
    for table, key, field in keys:
        rows[table].append(_row(key, field))
    return ["\n".join([_heading(table, table in arrays), "", *HEAD, *its]) for table, its in rows.items()]


def _heading(table, several):
    if not table:
        return "**At the top**"
    return f"**[[{table}]]**" if several else f"**[{table}]**"


def _row(key, field):
    extra = field.json_schema_extra
    unit = UNITS.get(extra["unit"], extra["unit"])
    return f"| `{key}` | {literal(field.description)} | {unit} | {literal(extra['allowed'])} | {literal(_default(field))} |"


def _default(field):
    if field.is_required():
        return "needed"
    value = field.get_default(call_default_factory=True)
    if value is None or value == {} or value == "":
        return ""
    if isinstance(value, list | tuple):  # of tables none can be written in a cell; the description says what holds
        return ", ".join(str(member) for member in value if not isinstance(member, BaseModel))
    return str(value)
