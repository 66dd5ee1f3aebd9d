"""Numbers as text, and tables as Markdown."""

from difflib import get_close_matches


def percent(share, decimals=2):
    """Format a share as a percentage.

    Examples
    --------
    >>> percent(0.88764)
    '88.76%'
    """
    return f"{100 * share:.{decimals}f}%"


def in_thousands(size):
    """Write a size of the cluster in units of 1,024, and one that is no multiple of them as it is.

    Examples
    --------
    >>> in_thousands(512), in_thousands(131072), in_thousands(8000)
    ('512', '128K', '8,000')
    """
    return f"{size / 1024:g}K" if size >= 1024 and size % 1024 == 0 else f"{size:,g}"


def counted(number, noun, several=None):
    """Write a number of things.

    Examples
    --------
    >>> counted(1, "incident"), counted(2478, "incident"), counted(0, "repeat of a row", "repeats of a row")
    ('1 incident', '2,478 incidents', '0 repeats of a row')
    """
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"


def escaped(text):
    """Text with what does not print written as an escape: a terminal must not obey a log.

    Examples
    --------
    >>> escaped("gpu1" + chr(27) + "[2J")
    'gpu1\\\\x1b[2J'
    """
    text = str(text)
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def first_line(error):
    """Return the first line of an error's message, without a full stop; its kind, where it has none.

    Examples
    --------
    >>> first_line(OSError("It is gone.\\nSee below.")), first_line(TimeoutError())
    ('It is gone', 'TimeoutError')
    """
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


def nearest(name, known):
    """Return a hint at the known name that is most like this one, or nothing.

    Examples
    --------
    >>> nearest("seeds", ["seed", "days"])
    'Did you mean seed? '
    """
    close = get_close_matches(str(name), known, n=1, cutoff=0.5)
    return f"Did you mean {close[0]}? " if close else ""


def shortened(items, most=20):
    """Write a list out, or its first items and how many more there are.

    Examples
    --------
    >>> shortened([7]), shortened(range(100), most=3)
    ('[7]', '[0, 1, 2, and 97 more]')
    """
    items = list(items)
    listed = ", ".join(map(str, items[:most]))
    return f"[{listed}, and {len(items) - most} more]" if len(items) > most else f"[{listed}]"


def table(header, rows, align=None):
    """Lay out a Markdown table.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequences of str
    align : str, optional
        A letter a column, "l" or "r"; by default the first to the left and the others, numbers
        mostly, to the right.

    Returns
    -------
    str

    Examples
    --------
    >>> print(table(["size", "MTBF"], [["128", "63.2"]]))
    | size | MTBF |
    |:-----|-----:|
    | 128  | 63.2 |
    """
    rows = [[str(cell) for cell in row] for row in rows]
    align = align or "l" + "r" * (len(header) - 1)
    widths = [max(2, *(len(line[i]) for line in [header, *rows])) for i in range(len(header))]
    columns = list(zip(widths, align, strict=True))

    def laid_out(line):
        cells = (cell.ljust(w) if a == "l" else cell.rjust(w) for cell, (w, a) in zip(line, columns, strict=True))
        return "| " + " | ".join(cells) + " |"

    rule = "|" + "|".join(":" + "-" * (w + 1) if a == "l" else "-" * (w + 1) + ":" for w, a in columns) + "|"
    return "\n".join([laid_out(header), rule, *map(laid_out, rows)])
