"""Worker processes of one's own: how they start, and that nothing of them is left when they end."""

from __future__ import annotations

import asyncio
import logging
import resource
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from reliability.errors import WorkLost
from reliability.signals import unheard
from reliability.text import first_line

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

START_S = 60.0  # how long a worker process may take to start
GRACE_S = 0.5  # how long it has to end by itself
TEMPORARY = ("TMPDIR", "JUPYTER_RUNTIME_DIR")  # where it, and a notebook that it runs, puts what it needs for a while
# Open files that this process has at most, measured: 22 and 11.3 for each worker. With a few less the workers start, and Dask
# waits without end for what they do; that cannot be told from long work.
FILES, FILES_A_WORKER = 32, 12


@contextmanager
def own(workers: int) -> Iterator[Client]:
    """Give a client of worker processes of one thread each, that are started for it.

    Raises
    ------
    WorkLost
        If they cannot be started.
    """
    stack = ExitStack()
    try:
        with _interrupted_here_alone():
            client = _start(workers, stack)
        yield client
    finally:
        with unheard():
            stack.close()


def _start(workers: int, stack: ExitStack) -> Client:
    import dask
    from distributed import Client, LocalCluster

    _allow_files(FILES + FILES_A_WORKER * workers, workers)
    folder = stack.enter_context(TemporaryDirectory(prefix="reliability-", ignore_cleanup_errors=True))
    stack.enter_context(dask.config.set({"temporary-directory": folder}))
    try:
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,  # in the workers too
            death_timeout=START_S,
            env=dict.fromkeys(TEMPORARY, folder),
        )
        stack.callback(_end, cluster)
        client = Client(cluster)
    except Exception as error:  # there are not enough processes for them, or not enough memory
        raise WorkLost(f"the worker processes cannot be started ({_cause(error)})") from None
    stack.callback(client.close)
    return client


def _allow_files(needed: int, workers: int) -> None:
    """Have the system allow as many open files as are needed, as far as it lets itself be told."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise WorkLost(
            f"{workers} worker processes need {needed} open files, and this system allows {hard} (ulimit -n)"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def _cause(error: BaseException) -> str:
    """Say what the system refused, where that is at the bottom of an error."""
    chain = [error]
    while under := chain[-1].__cause__ or chain[-1].__context__:
        chain.append(under)
    refused = (one.strerror for one in chain[::-1] if isinstance(one, OSError) and one.strerror)
    return next(refused, first_line(error))


def _end(cluster: LocalCluster) -> None:
    """End workers in the midst of what they do, since nobody waits for it."""

    async def close() -> None:
        each = (nanny.close(timeout=GRACE_S) for nanny in cluster.workers.values())
        await asyncio.gather(*each, return_exceptions=True)

    cluster.sync(close)
    cluster.close()


@contextmanager
def _interrupted_here_alone() -> Iterator[None]:
    """Keep Ctrl-C, which a terminal sends to all processes, from those that are started meanwhile and from theirs.

    They inherit what is blocked here; one that comes meanwhile is delivered when they have been started.
    """
    resource_tracker.ensure_running()  # by its parent, else, in the midst of it, which unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
