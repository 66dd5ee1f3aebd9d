"""Independent pieces of work through Dask: in this process, in worker processes of this machine, or on any cluster.

The result of a piece depends on the piece alone, so it is the same whichever is used.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

from reliability import __version__
from reliability.errors import BadInput

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_S = 10.0  # how long a scheduler may take to answer
# Packages whose version may change the last digit of a result, as Python's may.
SAME = ("numpy", "scipy", "numba", "training-reliability")
WORKERS_A_CPU = 4  # more on one machine would be a slip of the finger, and take up its memory
AHEAD = 1000  # tasks that the scheduler has at once; more would only take up its memory


class WorkLost(RuntimeError):
    """A piece of work could not be finished; the message is one line."""

    done = None  # what was finished until then, of whoever can use a part


def check_target(workers: int | None, scheduler: str | None) -> None:
    """Refuse a place of work that is not one.

    Raises
    ------
    BadInput
        If both are given, or fewer than one worker.
    """
    if workers is not None and scheduler is not None:
        raise BadInput("--workers starts worker processes here, --scheduler uses a cluster that runs: give one of them")
    if scheduler is not None and not re.fullmatch(r"((tcp|tls|ucx|wss?)://)?[^\s/]+:[0-9]+", scheduler):
        raise BadInput(f"--scheduler {scheduler!r}: must be an address such as tcp://10.0.0.1:8786")
    most = WORKERS_A_CPU * (os.cpu_count() or 1)
    if workers is not None and not 1 <= workers <= most:
        raise BadInput(f"--workers {workers}: must be from 1 to {most:,}, {WORKERS_A_CPU} for each CPU of this machine")


@contextmanager
def place(workers: int | None = None, scheduler: str | None = None) -> Iterator[Client | None]:
    """Give the Dask client to work with; None stands for this process.

    Parameters
    ----------
    workers : int, optional
        Start this many worker processes here, of one thread each.
    scheduler : str, optional
        Address of a running scheduler, such as ``tcp://10.0.0.1:8786``.

    Raises
    ------
    BadInput
        If no scheduler answers there, or if its workers have another version of what computes.
    """
    check_target(workers, scheduler)
    if workers is None and scheduler is None:
        yield None
        return
    from distributed import Client, LocalCluster

    # Workers that come and go are reported by Dask at length; what matters of it is said here in one line.
    for name in ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if scheduler is None:
        with _interrupted_here_alone():
            cluster = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,  # in the workers too
            )
        with cluster, Client(cluster) as client:
            yield client
        return
    client = _client(scheduler)
    try:
        _check_versions(client, scheduler)
        yield client
    finally:
        _close(client)


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


def _client(scheduler: str) -> Client:
    """Return a client of a scheduler, once sure that there is one: what never answers would be waited for without end."""
    from distributed import Client
    from distributed.core import rpc
    from distributed.security import Security
    from distributed.utils import LoopRunner
    from distributed.versions import VersionMismatchWarning

    async def kind() -> str:
        async with rpc(scheduler, connection_args=Security().get_connection_args("client")) as there:
            return (await asyncio.wait_for(there.identity(), CONNECT_S))["type"]

    try:
        found = LoopRunner().run_sync(kind)
        if found != "Scheduler":
            raise OSError(f"a {found} does")
        with catch_warnings():
            simplefilter("ignore", VersionMismatchWarning)  # what matters of the versions is checked next
            return Client(scheduler, timeout=CONNECT_S)
    except TimeoutError:
        said = f"within {CONNECT_S:g} s"
    except Exception as error:  # a port out of range, or something else that answers in its own words
        said = f"({_first_line(error)})"
    raise BadInput(f"--scheduler {scheduler}: no Dask scheduler answers there {said}")


def _close(client: Client) -> None:
    """Close a client; one that lost its scheduler may fail to, which would hide why the work has ended."""
    try:
        client.close()
    except (RuntimeError, OSError, CancelledError):  # its futures changed while it gave them up, or it waited in vain
        client.status = "closed"  # or it would try again when it is thrown away


def _check_versions(client: Client, scheduler: str) -> None:
    found = client.get_versions(packages=list(SAME))
    here = {**found["client"]["packages"], "training-reliability": __version__}
    if not found["workers"]:
        raise BadInput(f"--scheduler {scheduler}: it has no workers; start one with: dask worker {scheduler}")
    for address, there in sorted(found["workers"].items()):
        for name in ("python", *SAME):
            version = there["packages"].get(name) or "missing"
            if version != here[name]:
                raise BadInput(
                    f"--scheduler {scheduler}: worker {address} has {name} {version}, here it is {here[name]}; "
                    "the same versions are needed for the same numbers"
                )


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


def results(function: Callable[[Any], Any], pieces: Sequence[Any], client: Client | None = None) -> Iterator[tuple]:
    """Yield (index, function(piece)) of each piece, as they come.

    A worker that dies loses nothing: what it had goes to another, and where none is left it waits until one comes.

    Parameters
    ----------
    function : callable
        Of one piece; it must be importable where the workers are.
    pieces : sequence
    client : distributed.Client, optional
        None computes here, one piece after the other.

    Raises
    ------
    WorkLost
        If a piece took its worker down several times, or the scheduler is gone.
    """
    if client is None:
        import dask

        for index, piece in enumerate(pieces):
            (result,) = dask.compute(dask.delayed(function, pure=False)(piece), scheduler="synchronous")
            yield index, result
        return
    from distributed import as_completed
    from distributed.scheduler import KilledWorker

    waiting, running = enumerate(pieces), as_completed(loop=client.loop)
    index: dict[Future, int] = {}

    def start(most: int) -> None:
        for i, piece in islice(waiting, most):
            future = client.submit(function, piece, pure=False)
            index[future] = i
            running.add(future)

    try:
        start(AHEAD)
        for future in running:
            # The result is fetched here and not by as_completed: should its worker die meanwhile, it is computed anew.
            yield index[future], future.result()
            del index[future]
            start(1)
    except KilledWorker as error:
        raise WorkLost(f"a task took down each worker it was given to ({_first_line(error)})") from None
    except (CancelledError, OSError):
        raise WorkLost("the connection to the scheduler is lost") from None
    finally:
        with suppress(CancelledError, OSError):
            client.cancel([future for future in index if not future.done()], force=True)
