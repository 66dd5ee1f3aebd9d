"""Numbers as text, and tables as Markdown."""


def percent(share, decimals=2):
    """Format a share as a percentage.

    Examples
    --------
    >>> percent(0.88764)
    '88.76%'
    """
    return f"{100 * share:.{decimals}f}%"


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


def table(header, rows):
    """Lay out a Markdown table: the first column to the left, the others to the right.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequences of str

    Examples
    --------
    >>> print(table(["size", "MTBF"], [["128", "63.2"]]))
    | size | MTBF |
    |:-----|-----:|
    | 128  | 63.2 |
    """
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(2, *(len(line[i]) for line in [header, *rows])) for i in range(len(header))]
    lines = [
        "| "
        + " | ".join(
            cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        )
        + " |"
        for line in [header, *rows]
    ]
    rule = "|" + "|".join(":" + "-" * (w + 1) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])
