"""How the fleet model is compiled: by numba, when it first runs, and kept on disk until one of its modules changes."""

from contextlib import contextmanager

from numba import njit
from numba.core import event


def compiled(function):
    """Compile a function for those that are compiled with it.

    Nothing is allocated in it, so that no references need be counted (`_nrt`), which else takes most of the time;
    it cannot be called from outside, which saves half of the compiling. A division by zero gives what numpy gives.
    """
    options = {"error_model": "numpy", "nogil": True, "forceinline": True, "_nrt": False}
    return njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(function)


@contextmanager
def when_compiling(tell):
    """Call `tell` once if anything is compiled in this context."""

    class Listener(event.Listener):
        told = False

        def on_start(self, _):
            if not self.told:
                self.told = True
                tell()

        def on_end(self, _):
            """Nothing is to be said then."""

    with event.install_listener("numba:compile", Listener()):
        yield
