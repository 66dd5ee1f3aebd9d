"""Values of a TOML file: written as they stand there, and held to what any settings file may have."""

from itertools import islice

from reliability.errors import ClusterError
from reliability.text import escaped

WHOLE = range(-(2**63), 2**63)  # TOML's whole numbers; Python reads longer ones, and fails at them later
DEEPEST = 20  # tables within tables; what copies or prints them fails at some hundreds
SHOWN = 60  # letters of a value
SHOWN_DEEP = 3  # lists and tables within each other


def written(value, most=SHOWN):
    """Write a value as it stands in a TOML file, cut after `most` letters.

    Examples
    --------
    >>> print(written(True), written("a"), written([1, 2.5]), written({"low": 1, "high": float("inf")}), sep="\\n")
    true
    'a'
    [1, 2.5]
    { low = 1, high = inf }
    >>> written(10**5000), written("a" * 80, 5)
    ('a whole number of 16,610 bits', "'aaaaa…'")
    """
    if isinstance(value, str):
        return f"'{escaped(value[:most])}{'…' if len(value) > most else ''}'"
    text = escaped(_text(value, most, SHOWN_DEEP))
    return text if len(text) <= most else text[:most] + "…"


def _text(value, most, deep):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and value not in WHOLE:
        return f"a whole number of {value.bit_length():,} bits"
    if not isinstance(value, list | tuple | dict):
        return repr(value) if isinstance(value, str) else str(value)
    if not value or not deep:
        return ("{…}" if value else "{}") if isinstance(value, dict) else ("[…]" if value else "[]")
    first = list(islice(value, most))  # more would not be shown
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_text(value[key], most, deep - 1)}' for key in first)} }}"
    return f"[{', '.join(_text(part, most, deep - 1) for part in first)}]"


def check(tables, source):
    """Refuse tables that are too deep and whole numbers that are too long, wherever they stand.

    Raises
    ------
    ClusterError
        In one line, with the place.
    """
    left = [((), tables)]
    while left:
        place, value = left.pop()
        if isinstance(value, int) and value not in WHOLE:
            raise ClusterError(f"{source}: {'.'.join(place)}: {written(value)}; TOML has those from -2^63 to 2^63 - 1")
        if isinstance(value, list | dict) and len(place) > DEEPEST:
            raise ClusterError(f"{source}: {'.'.join(place[:3])}…: more than {DEEPEST} tables or lists within each other")
        parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        left += [((*place, str(name)), part) for name, part in parts]
