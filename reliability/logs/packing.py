"""How a file is packed: its compression and its encoding, told from its first bytes, and pipes."""

import atexit
import bz2
import codecs
import contextlib
import gzip
import lzma
import os
import re
import shutil
import tempfile

COMPRESSED = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def opener_of(magic):
    """Return what opens a file that begins so, unpacked."""
    for start, opener in COMPRESSED.items():
        if magic.startswith(start):
            return opener
    return lambda file, mode: open(file, mode) if isinstance(file, str | bytes | os.PathLike) else file


def spooled(path):
    """A pipe is read once: keep its content in a temporary file, which goes when the program ends."""
    with tempfile.NamedTemporaryFile(prefix="reliability-", delete=False) as copy:
        atexit.register(_remove, copy.name)
        with open(path, "rb") as pipe:
            shutil.copyfileobj(pipe, copy)
    return copy.name


def _remove(name):
    with contextlib.suppress(OSError):
        os.unlink(name)


def encoding_of(head):
    """The encoding and how many bytes its mark takes."""
    for mark, encoding in MARKS.items():
        if head.startswith(mark):
            return encoding, len(mark)
    # UTF-16 without a mark: every other byte of plain ASCII is NUL.
    if len(head) >= 4 and re.fullmatch(rb"(?:[\t\n\r -~]\x00){2,}", head[: min(len(head), 200) // 2 * 2]):
        return "utf-16-le", 0
    if len(head) >= 4 and re.fullmatch(rb"(?:\x00[\t\n\r -~]){2,}", head[: min(len(head), 200) // 2 * 2]):
        return "utf-16-be", 0
    return "utf-8", 0
