"""What a command writes to: outputs that are closed, full, or in an encoding that lacks a character."""

import io
import os
import sys


def prepare():
    """Make stdout and stderr such that nothing a command says there fails for how it is said."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # whoever started this had closed it (``>&-``)
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    if sys.stderr is sys.__stderr__:
        sys.stderr = _forgiving(sys.stderr)
    for output in (sys.stdout, sys.stderr):
        if hasattr(output, "reconfigure"):  # what the terminal's encoding does not have is written as an escape
            output.reconfigure(errors="backslashreplace")


def no_more():
    """Have Python not try once more, at exit, to write to stdout what could not be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Forgiving(io.FileIO):
    """A file whose writes never fail: what is said on stderr is no part of the work, on a full disk as elsewhere."""

    def write(self, data):
        """Write what can be written; take the rest as written."""
        try:
            return super().write(data)
        except OSError:
            return len(data)


def _forgiving(stream):
    """Return an output to the same file, in which nothing fails."""
    raw = _Forgiving(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), stream.encoding, stream.errors, line_buffering=True)
