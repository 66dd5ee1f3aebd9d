"""How far long work is: on stderr, and only where that is a terminal."""

import logging
import os
import sys
from contextlib import contextmanager

LARGE = 4 << 20  # bytes; a smaller file is read in about a second
USUAL = 80  # columns of a terminal that does not say


@contextmanager
def bar(unit, what=None):
    """Give the function of (done, wanted) that long work calls.

    Parameters
    ----------
    unit : str
        What is counted: ``" points"``.
    what : str, optional
        What is done to them: ``"checking"``.
    """
    from tqdm import tqdm
    from tqdm.contrib.logging import logging_redirect_tqdm

    with (
        tqdm(desc=what, unit=unit, disable=None, dynamic_ncols=True, leave=False) as shown,
        logging_redirect_tqdm([logging.getLogger("reliability")]),  # what is said meanwhile stands above the bar
    ):

        def update(done, wanted):
            shown.total = wanted
            shown.update(done - shown.n)

        yield update


@contextmanager
def compiling():
    """Say so when the fleet model is compiled, as it is when it first runs on a machine."""
    from tqdm import tqdm

    from reliability.fleet_compiled import when_compiling

    def tell():
        if sys.stderr.isatty():  # by tqdm, which moves its bar out of the way
            tqdm.write("compiling the model, this once (about 10 s) …", file=sys.stderr)

    with when_compiling(tell):
        yield


@contextmanager
def reading(path):
    """Say that a large file is being read, and wipe that away when it is."""
    try:
        size = os.path.getsize(path)
    except OSError:  # the reader says what is wrong
        size = 0
    with saying(size >= LARGE and f"reading {os.path.basename(os.fspath(path))} ({size / 1e6:,.0f} MB) …"):
        yield


@contextmanager
def saying(text):
    """Say what is waited for, and wipe that away when it has come; nothing where there is no text."""
    from reliability.text import escaped

    if not text or not sys.stderr.isatty():
        yield
        return
    said = escaped(text)[: _columns() - 1]  # what goes on in the next line could not be wiped away
    print(said, end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        print("\r" + " " * len(said) + "\r", end="", file=sys.stderr, flush=True)


def _columns():
    """Return the width of the terminal that stderr is."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or USUAL
    except OSError:
        return USUAL
