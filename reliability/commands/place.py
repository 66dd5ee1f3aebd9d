"""Where a command has its work done, and what it says until that is ready."""

from contextlib import ExitStack, contextmanager

from reliability.commands.progress import saying


@contextmanager
def place(options):
    """Give the Dask client that the options of a command ask for, or None; see :func:`reliability.distribute.place`."""
    from reliability import dask_scheduler, distribute

    with ExitStack() as stack:
        with saying(_waiting_for(options, dask_scheduler.CONNECT_S)):
            client = stack.enter_context(distribute.place(options.workers, options.scheduler))
        yield client


def _waiting_for(options, at_most_s):
    if options.workers is not None:
        return f"starting {options.workers} worker{'s' * (options.workers > 1)} …"
    return options.scheduler and f"asking {options.scheduler}, for up to {at_most_s:g} s …"
