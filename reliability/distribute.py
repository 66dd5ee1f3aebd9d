"""Independent pieces of work through Dask: in this process, in worker processes of this machine, or on any cluster.

The result of a piece depends on the piece alone, so it is the same whichever is used.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from reliability import dask_scheduler, dask_workers
from reliability.errors import BadInput, WorkLost
from reliability.text import first_line

if TYPE_CHECKING:
    from distributed import Client, Future
    from tornado.ioloop import PeriodicCallback

WORKERS_A_CPU = 4  # more on one machine would be a slip of the finger, and take up its memory
AHEAD = 1000  # tasks that the scheduler has at once; more would only take up its memory
MOST_PORT = 65535
LOOK_S = 5.0  # between two looks whether there are workers

log = logging.getLogger(__name__)


def check_target(workers: int | None, scheduler: str | None) -> None:
    """Refuse a place of work that is not one.

    Raises
    ------
    BadInput
        If both are given, or fewer than one worker.
    """
    if workers is not None and scheduler is not None:
        raise BadInput("--workers starts worker processes here, --scheduler uses a cluster that runs: give one of them")
    address = re.fullmatch(r"((tcp|tls|ucx|wss?)://)?[^\s/]+:([0-9]+)", scheduler or "")
    if scheduler is not None and not (address and int(address[3]) <= MOST_PORT):
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
        If no scheduler answers there, one of its workers does not, or has another version of what computes.
    WorkLost
        If the worker processes cannot be started.
    """
    check_target(workers, scheduler)
    if workers is None and scheduler is None:
        yield None
        return
    import distributed  # noqa: F401  It sets the levels of its logs when it is loaded.

    # Workers that come and go are reported by Dask at length; what matters of it is said here in one line.
    for name in ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    with dask_workers.own(workers) if scheduler is None else dask_scheduler.cluster(scheduler) as client:
        yield client


def workers(client: Client | None) -> int:
    """Return how many workers there are; at least 1, which stands for this process, or for what is lost and will be told so."""
    return max(len(client.scheduler_info().get("workers", ())), 1) if client else 1


def results(function: Callable[[Any], Any], pieces: Sequence[Any], client: Client | None = None) -> Iterator[tuple]:
    """Yield (index, function(piece)) of each piece, as they come.

    A worker that dies loses nothing: what it had goes to another. Where none is left it waits until one comes, and a
    warning in the log of this module says so.

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
    from distributed.client import ClosedClientError
    from distributed.scheduler import KilledWorker

    lost = (CancelledError, OSError, ClosedClientError)
    waiting, running = enumerate(pieces), as_completed(loop=client.loop)
    index: dict[Future, int] = {}

    def start(most: int) -> None:
        for i, piece in islice(waiting, most):
            if client.status != "running":  # what it is given while it looks for its scheduler would wait for ever
                raise CancelledError
            future = client.submit(function, piece, pure=False)
            index[future] = i
            running.add(future)

    look = _looking_for_workers(client)
    try:
        start(AHEAD)
        for future in running:
            # The result is fetched here and not by as_completed: should its worker die meanwhile, it is computed anew.
            yield index[future], future.result()
            del index[future]
            start(1)
    except KilledWorker as error:
        raise WorkLost(f"a task took down each worker it was given to ({first_line(error)})") from None
    except lost:
        raise WorkLost("the connection to the scheduler is lost") from None
    finally:
        client.loop.add_callback(look.stop)
        with suppress(*lost):
            client.cancel([future for future in index if not future.done()], force=True)


def _looking_for_workers(client: Client) -> PeriodicCallback:
    """Look every few seconds whether a cluster has workers, and say so once when it has none."""
    from tornado.ioloop import PeriodicCallback

    lacking = False

    async def look() -> None:
        nonlocal lacking
        with suppress(OSError):  # what a lost scheduler means is said elsewhere
            workers = (await client.scheduler.identity(n_workers=0))["n_workers"]
            if not workers and not lacking:
                log.warning("no worker is left; waiting for one")
            lacking = not workers

    callback = PeriodicCallback(look, 1000 * LOOK_S)
    client.loop.add_callback(callback.start)
    return callback
