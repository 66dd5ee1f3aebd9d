"""How a command ends that could not do what it was asked for: one line on stderr, and 1 as its exit status."""

import errno
import os
import sys

CLUSTER = ("dask", "distributed")  # packages of the extra of that name


def fail(message):
    """Say why the request could not be met; return 1."""
    print(f"error: {message}", file=sys.stderr)
    return 1


def missing(error):
    """Say what of another package cannot be imported, an ImportError, and how to install what is not there; return 1.

    One of this package is raised again: it is a fault of ours.
    """
    name = (error.name or str(error)).partition(".")[0]
    if name == "reliability":
        raise error
    if not isinstance(error, ModuleNotFoundError):  # a library for which there is not enough memory, or that is broken
        return fail(f"what this needs cannot be loaded: {error}")
    extra = "cluster" if name in CLUSTER else "run"
    return fail(f"{name} is not installed, which this needs: pip install 'training-reliability[{extra}]'")


def blocked(error, out=None):
    """Say what the system refused, an OSError, and where; return 1.

    Parameters
    ----------
    error : OSError
    out : str, optional
        The folder for results, which it is about unless the error names a file itself.
    """
    where = error.filename or (out and f"--out {out}")
    said = os.strerror(error.errno) if error.errno in errno.errorcode else error  # pyarrow has words of its own
    return fail(f"{f'{where}: ' if where else ''}{said}")
