"""Text files as they come: compressed or not, in several encodings, with a byte-order mark or broken bytes."""

import codecs
import io
import lzma
import os
import re
import stat
import zlib

from reliability.logs import packing
from reliability.logs.notes import LogError, note

BLOCK = 1 << 20
HEAD = 1 << 16
TAIL = 200  # characters kept of a file's end
LONGEST_LINE = 64 << 20  # bytes; a longer one is no log, and memory must stay bounded
LONGEST_DOCUMENT = 1 << 30  # characters that `read` holds at once
BINARY_SHARE = 0.05  # of control bytes in the first block; random bytes have 0.1, text has a few

REFUSED = {
    b"PK\x03\x04": "a zip archive (or a spreadsheet)",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"\x89PNG": "a picture",
    b"%PDF": "a PDF document",
    b"\x7fELF": "a program",
    b"SQLite format 3": "a database",
    b"LPKSHHRH": "a binary journal: export it with journalctl",
    b"PAR1": "a Parquet table",
}
CONTROL = bytes(set(range(32)) - {7, 8, 9, 10, 11, 12, 13, 27})
EXPECTED = "a text file"


class Text:
    """A text file that is read from the start as often as asked, a block at a time.

    Attributes
    ----------
    name : str
        The file's name, without folders.
    encoding : str
        utf-8, utf-16-le or utf-16-be. Lines that are not valid in it are read as Latin-1 and noted.
    """

    def __init__(self, name, opener):
        self.name, self._opener = name, opener
        self._broken = self._nulls = ()
        # Known once the file has been read through.
        self.ends_with_newline, self.tail = None, ""
        head = self._head()
        if not head:
            raise LogError(name, None, "an empty file", "a log or a table")
        for magic, what in REFUSED.items():
            if head.startswith(magic):
                raise LogError(name, None, what, EXPECTED)
        self.encoding, self._skip = packing.encoding_of(head)
        plain = head if self.encoding == "utf-8" else head.decode(self.encoding, "replace").encode("utf-8", "replace")
        plain = re.sub(rb"\0+", b"\0", plain)  # a crash pads a log with many
        if len(plain) - len(plain.translate(None, CONTROL)) > BINARY_SHARE * len(plain):
            raise LogError(name, None, "binary data", EXPECTED)
        if not plain.strip(b"\xef\xbb\xbf \t\r\n\x00"):
            raise LogError(name, None, "an empty file", "a log or a table")

    def lines(self):
        """Yield (number, line) from 1, without the line's end."""
        number = 0
        for block in self._blocks():
            rows = block.split("\n")
            if not rows[-1]:
                rows.pop()
            for number, row in enumerate(rows, number + 1):  # noqa: B020 - goes on from where it was
                yield number, row[:-1] if row.endswith("\r") else row

    def head(self, count=50):
        """Return the first lines that are not blank, as (number, line)."""
        found = []
        for number, line in self.lines():
            if line.strip():
                found.append((number, line))
            if len(found) == count or number > 100 * count:
                break
        if not found:
            raise LogError(self.name, None, "only blank lines", "a log or a table")
        return found

    def read(self):
        """Return the whole text: for JSON, which is one document."""
        parts, size = [], 0
        for block in self._blocks():
            size += len(block)
            if size > LONGEST_DOCUMENT:
                raise LogError(self.name, None, f"more than {LONGEST_DOCUMENT:,} characters", "a smaller document")
            parts.append(block)
        return "".join(parts)

    def stream(self):
        """Return a binary file object of the cleaned text in UTF-8, for a library's parser."""
        return io.BufferedReader(_Encoded(self._blocks()), BLOCK)

    def notes(self):
        """Notes on bytes that were mended, of what has been read so far."""
        return [
            *note("warning", "bytes that are not valid text, read as Latin-1", sorted(self._broken)),
            *note("warning", "NUL bytes, as a crash leaves them", sorted(self._nulls)),
        ]

    def _head(self):
        with self._open() as file:
            return self._take(file, HEAD)

    def _open(self):
        return self._opener()

    def _take(self, file, size):
        try:
            return file.read(size)
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            raise LogError(
                self.name, None, f"compressed data that break off or are damaged ({error})", EXPECTED
            ) from None

    def _blocks(self):
        """Yield text in blocks that end with a line's end, save for the last."""
        self._broken, self._nulls = [], []
        first, rest = 1, b""
        # A line's end takes two bytes in UTF-16, and its two halves may be parts of other characters.
        decoder = None if self.encoding == "utf-8" else codecs.getincrementaldecoder(self.encoding)("replace")
        with self._open() as file:
            self._take(file, self._skip)
            while True:
                raw = self._take(file, BLOCK)
                more = bool(raw)
                if decoder:
                    raw = decoder.decode(raw, final=not more).encode("utf-8", "replace")
                cut = raw.rfind(b"\n") + 1 if more else len(raw)
                if more and not cut:
                    rest += raw
                    if len(rest) > LONGEST_LINE:
                        raise LogError(self.name, first, "a line without end", f"lines below {LONGEST_LINE >> 20} MiB")
                    continue
                block, rest = rest + raw[:cut], raw[cut:]
                if block:
                    decoded = self._decoded(block, first)
                    self.ends_with_newline, self.tail = block.endswith(b"\n"), decoded[-TAIL:]
                    yield decoded
                    first += block.count(b"\n")
                if not more:
                    return

    def _decoded(self, block, first):
        try:
            text = block.decode()
        except UnicodeDecodeError:
            text = "".join(self._line(line, first + i) for i, line in enumerate(_rows(block)))
        if "\0" in text:
            text = self._without_nulls(text, first)
        return text

    def _line(self, line, number):
        try:
            return line.decode()
        except UnicodeDecodeError:
            self._broken.append(number)
            return line.decode("latin-1")

    def _without_nulls(self, text, first):
        rows = text.split("\n")
        for i, row in enumerate(rows):
            if "\0" in row:
                self._nulls.append(first + i)
                # At a line's ends they are a crash's padding; inside, what they replaced is not known.
                rows[i] = row.strip("\0").replace("\0", "\ufffd")
        return "\n".join(rows)


class _Encoded(io.RawIOBase):
    """The blocks of a text as a binary stream."""

    def __init__(self, blocks):
        self._blocks, self._rest = blocks, memoryview(b"")

    def readable(self):
        return True

    def readinto(self, buffer):
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rest = memoryview(block.encode("utf-8", "replace"))
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def open_text(path):
    """Open a text file, compressed by gzip, bzip2 or xz or not at all.

    Parameters
    ----------
    path : str or path
        A regular file, or a pipe such as a shell's ``<(sacct …)``.

    Returns
    -------
    Text

    Raises
    ------
    LogError
        For a file that is missing, unreadable, empty, binary, or damaged in its compression.
    """
    name = os.path.basename(os.fspath(path)) or os.fspath(path)
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISFIFO(mode):
            path = packing.spooled(path)
        elif not stat.S_ISREG(mode):
            raise LogError(name, None, "a folder or a device", "a file")
        with open(path, "rb") as file:
            magic = file.read(8)
    except OSError as error:
        raise LogError(name, None, error.strerror or str(error), "a file that can be read") from None
    except ValueError as error:
        if isinstance(error, LogError):
            raise
        raise LogError(name, None, str(error), "the name of a file") from None
    return Text(name, lambda: packing.opener_of(magic)(path, "rb"))


def text_of(content, name="text"):
    """Return a :class:`Text` of bytes or of a string in memory.

    Examples
    --------
    >>> list(text_of("a\\r\\nb").lines())
    [(1, 'a'), (2, 'b')]
    """
    raw = content.encode() if isinstance(content, str) else bytes(content)
    return Text(name, lambda: packing.opener_of(raw[:8])(io.BytesIO(raw), "rb"))


def _rows(block):
    """Lines of bytes with their ends; unlike splitlines only at the line feed."""
    return [row + b"\n" for row in block.split(b"\n")[:-1]] + [block[block.rfind(b"\n") + 1 :]]
