"""Hints in the messages about a cluster file: what may be meant, and how it is written."""

import json
import re
from difflib import get_close_matches
from pathlib import Path

from reliability.cluster_fields import READER_OPTIONS
from reliability.text import escaped


def examples():
    """Return the folder of the examples and their names."""
    beside = (Path(__file__).parent / "examples", Path(__file__).parents[1] / "examples")
    folder = next((f for f in beside if f.is_dir()), None)
    return folder, sorted(file.stem for file in folder.glob("*.toml")) if folder else []


def meant(path):
    """Say which cluster file may be meant by one that is not there: an example by its bare name, or one with a name like it."""
    name = path.name.removesuffix(".toml")
    if name in examples()[1]:
        return f"; the example of that name is example:{name}"
    return nearest_file(path)


def nearest_file(path):
    """Return '; did you mean NAME?' for the file of the folder whose name is nearest to one that is not there, or nothing."""
    try:
        names = [file.name for file in path.parent.iterdir() if file.is_file()]
    except OSError:
        return ""
    lower = {name.lower(): name for name in names}
    close = get_close_matches(path.name.lower(), lower, n=1)
    return f"; did you mean {escaped(lower[close[0]])}?" if close else ""


def comma(text, message):
    """Return a hint where the line at which a TOML error stands has a comma inside a number."""
    line = re.search(r"at line (\d+)", message)
    written = line and re.search(r"=\s*[+-]?(\d+(?:,\d+)+)", text.split("\n")[int(line[1]) - 1])
    if not written:
        return ""
    number = written[1]
    if re.fullmatch(r"\d{1,3}(,\d{3})+", number):
        return f". A number has no commas: write {number.replace(',', '')} or {number.replace(',', '_')}"
    return f". A number has no comma: write {number.replace(',', '.')}" if number.count(",") == 1 else ""


def option(where, key, value):
    """Return a hint where a key of a log is an option of its reader."""
    if where[:1] != ("failures",) or len(where) < 2 or key not in READER_OPTIONS:
        return ""
    plainly = isinstance(value, str | int | float)
    written = json.dumps(value, ensure_ascii=False) if plainly else "…"
    return f"It is an option of the reader: write options = {{ {key} = {escaped(cut(written))} }}. "


UNITS = {"_s": "s", "_min": "min", "_h": "h", "_days": "d"}


def other_unit(key, model):
    """Return a hint where a key has the name of a known one but for its unit."""
    ends = {key.removesuffix(end): unit for end, unit in UNITS.items() if key.endswith(end)}
    for name, field in model.model_fields.items():
        unit = (field.json_schema_extra or {}).get("unit")
        for stem, given in ends.items():
            if unit in UNITS.values() and unit != given and name.rsplit("_", 1)[0] == stem:
                return f"{name} is in {unit}, not {given}. "
    return ""


def cut(text, most=60):
    """Shorten a text."""
    return text if len(text) <= most else text[:most] + "…"
