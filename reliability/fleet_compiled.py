"""How the fleet model is compiled: by numba, when it first runs, and kept on disk until one of its modules changes."""

import hashlib
from contextlib import contextmanager
from pathlib import Path

from numba import njit
from numba.core import event

FOLDER = Path(__file__).parent
# All modules whose code or constants are compiled.
MODULES = (
    "budget", "fleet_compiled", "fleet_engine", "fleet_heap", "fleet_nodes", "fleet_numbers", "fleet_result",
    "fleet_state", "fleet_stops", "fleet_tree", "fleet_work",
)  # fmt: skip


def compiled(function):
    """Compile a function for those that are compiled with it.

    Nothing is allocated in it, so that no references need be counted (`_nrt`), which else takes most of the time;
    it cannot be called from outside, which saves half of the compiling. A division by zero gives what numpy gives.
    """
    options = {"error_model": "numpy", "nogil": True, "forceinline": True, "_nrt": False}
    return njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(function)


def sources(folder=FOLDER):
    """Return a digest of all that is compiled.

    Numba looks at the file of the outermost function alone when it decides whether what it kept is still good; this
    digest among that function's constants makes it look at all of them.
    """
    digest = hashlib.blake2b(digest_size=8)
    for module in MODULES:
        digest.update((folder / f"{module}.py").read_bytes())
    return digest.hexdigest()


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
