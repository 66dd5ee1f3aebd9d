"""What a reader tells about a file: an error that names file and line, and notes that count what it left out."""

from dataclasses import dataclass
from heapq import nsmallest

from reliability.errors import BadInput
from reliability.text import counted, escaped

KINDS = ("dropped", "merged", "unknown", "assumed", "excluded", "warning")
LINES_KEPT = 10  # of each note, so that it stays short for a million bad rows
SHOWN = 60  # characters of a file's text in a message


class LogError(BadInput):
    """A file that cannot be read rightly.

    Its text is one line: ``FILE, line N: found '…', expected …``.

    Parameters
    ----------
    file : str
        Name of the file, or of the option where no file is at fault.
    line : int or None
        From 1; None where the whole file is meant.
    found : str or None
        What stands there. Control characters are shown escaped, and a long text is shortened.
    expected : str
        What is allowed, or what to do.
    """

    def __init__(self, file, line, found, expected):
        super().__init__(file, line, found, expected)
        self.file, self.line, self.found, self.expected = str(file), line, found, expected

    def __str__(self):
        where = escaped(self.file) if self.line is None else f"{escaped(self.file)}, line {self.line}"
        found = "" if self.found is None else f"found {quoted(self.found)}, "
        return f"{where}: {found}expected {self.expected}"


@dataclass(frozen=True)
class Note:
    """So many lines of a file that were dropped, merged, unknown, assumed, excluded or doubtful, and why."""

    kind: str
    reason: str
    count: int
    lines: tuple[int, ...] = ()

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"kind = {self.kind!r}: must be one of {', '.join(KINDS)}")
        object.__setattr__(self, "count", int(self.count))
        object.__setattr__(self, "lines", tuple(int(line) for line in self.lines[:LINES_KEPT]))

    def __str__(self):
        if not self.lines:
            return f"{self.kind} {self.count:,}: {self.reason}"
        where = f"line{'s' * (len(self.lines) > 1)} {self._places()}"
        return f"{self.kind} {counted(self.count, 'line')}: {self.reason} ({where})"

    def _places(self):
        more = ", …" if self.count > len(self.lines) else ""
        return ", ".join(map(str, self.lines)) + more


def note(kind, reason, lines):
    """Return a list with one note on these source lines, or an empty list where there are none.

    Examples
    --------
    >>> [str(n) for n in note("dropped", "end before start", [7, 9])]
    ['dropped 2 lines: end before start (lines 7, 9)']
    >>> note("dropped", "end before start", [])
    []
    """
    return [Note(kind, reason, len(lines), tuple(nsmallest(LINES_KEPT, lines)))] if len(lines) else []


def note_table(notes):
    """Rows of notes for ``reliability.text.table``: kind, count, reason, lines.

    Examples
    --------
    >>> note_table([Note("dropped", "end before start", 1, (7,))])
    [['dropped', '1', 'end before start', '7']]
    """
    return [[n.kind, f"{n.count:,}", escaped(n.reason), n._places() if n.lines else ""] for n in notes]


def dropped(notes):
    """How many lines were dropped, whatever the reason."""
    return sum(n.count for n in notes if n.kind == "dropped")


def quoted(text, most=SHOWN):
    """Text in quotes, escaped, and cut after `most` characters."""
    text = str(text)
    return f"'{escaped(text[:most])}{'…' if len(text) > most else ''}'"
