"""What a command writes to: outputs that are closed, or in an encoding that lacks a character."""

import os
import sys


def prepare():
    """Make stdout and stderr such that nothing a command says there fails for how it is said."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # whoever started this had closed it (``>&-``)
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    for output in (sys.stdout, sys.stderr):
        if hasattr(output, "reconfigure"):  # what the terminal's encoding does not have is written as an escape
            output.reconfigure(errors="backslashreplace")


def no_more():
    """Have Python not try once more, at exit, to write to stdout what could not be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
