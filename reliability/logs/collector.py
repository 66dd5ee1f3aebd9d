"""Python's garbage collector, paused while a reader builds its millions of small objects."""

import contextlib
import gc


@contextlib.contextmanager
def paused():
    """Pause the collector: what a reader makes stays to the end, and looking for garbage in it doubles its time.

    Use as a decorator of the reader.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
