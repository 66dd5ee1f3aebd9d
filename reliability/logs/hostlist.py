"""Host expressions, as Slurm and people write them: ``rack[0-1]n[08-10],login3``."""

import re
from itertools import product

NONE = {"", "none", "none assigned", "(null)", "null", "n/a", "unknown", "nan", "*"}
MOST = 1_000_000  # hosts of one expression; more is a typing error, or an attack on memory
PIECE = re.compile(r"\[([^\[\]]*)\]|([^\[\],]+)")
RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?")


class ReversedRange(ValueError):
    """A range that runs backwards, such as ``gpu[04-01]``: a typing error, and which one is not known."""


def expand(expression):
    """Hosts of an expression, in its order, each once.

    Commas inside brackets do not part hosts; zeros in front are kept; several brackets multiply; a
    bracket may have a tail.

    Parameters
    ----------
    expression : str

    Returns
    -------
    list of str
        Empty for ``None assigned`` and the like.

    Raises
    ------
    ReversedRange
        For a range that runs backwards.
    ValueError
        For an expression that is cut, empty in its brackets, or otherwise none.

    Examples
    --------
    >>> expand("gpu[098-100],login3")
    ['gpu098', 'gpu099', 'gpu100', 'login3']
    >>> expand("x[9-10]y[1]")
    ['x9y1', 'x10y1']
    """
    expression = str(expression).strip()
    if expression.lower() in NONE:
        return []
    hosts = {}
    for part in _parts(expression):
        for host in _expanded(part, expression):
            hosts[host] = None
            if len(hosts) > MOST:
                raise ValueError(f"{expression[:60]!r}: must have at most {MOST:,} hosts")
    return list(hosts)


def _parts(expression):
    """Split at the commas outside brackets."""
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(expression):
        depth += (letter == "[") - (letter == "]")
        if depth not in (0, 1):
            raise ValueError(f"{expression[:60]!r}: its brackets do not pair")
        if letter == "," and not depth:
            parts.append(expression[start:i])
            start = i + 1
    if depth:
        raise ValueError(f"{expression[:60]!r}: a bracket is not closed; the list may be cut")
    parts.append(expression[start:])
    parts = [part.strip() for part in parts]
    if not all(parts):
        raise ValueError(f"{expression[:60]!r}: a host is empty; the list may be cut")
    return parts


def _expanded(part, expression):
    if any(letter.isspace() or not letter.isprintable() for letter in part):
        raise ValueError(f"{expression[:60]!r}: a host's name has no blanks")
    choices, size = [], 1
    for bracket, plain in (match.groups() for match in PIECE.finditer(part)):
        choices.append([plain] if bracket is None else _numbers(bracket, expression))
        size *= len(choices[-1])
        if size > MOST:
            raise ValueError(f"{expression[:60]!r}: must have at most {MOST:,} hosts")
    return ("".join(pieces) for pieces in product(*choices))


def _numbers(bracket, expression):
    """The texts that a bracket stands for."""
    found = []
    for item in bracket.split(","):
        match = RANGE.fullmatch(item.strip())
        if not match:
            raise ValueError(f"{expression[:60]!r}: [{bracket[:20]}] must hold numbers and ranges")
        first, last = match.groups()
        if last is None:
            found.append(first)
            continue
        if int(last) < int(first):
            raise ReversedRange(f"{expression[:60]!r}: the range {item.strip()} runs backwards")
        if int(last) - int(first) >= MOST:
            raise ValueError(f"{expression[:60]!r}: must have at most {MOST:,} hosts")
        found += [str(n).zfill(len(first)) for n in range(int(first), int(last) + 1)]
    return found
