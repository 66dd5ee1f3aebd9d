"""Which extra of the distribution brings a package that is not installed."""

from reliability.commands.run import fail

CLUSTER = ("dask", "distributed")


def missing(error):
    """Say in a line how to install what a ModuleNotFoundError misses; return 1, the exit status."""
    name = (error.name or str(error)).partition(".")[0]
    extra = "cluster" if name in CLUSTER else "run"
    return fail(f"{name} is not installed, which this needs: pip install 'training-reliability[{extra}]'")
