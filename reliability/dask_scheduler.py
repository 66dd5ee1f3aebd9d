"""A cluster that runs already: whether a scheduler answers at an address, and whether its workers would compute the same."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import TYPE_CHECKING
from warnings import catch_warnings, simplefilter

from reliability import __version__
from reliability.errors import BadInput
from reliability.signals import unheard
from reliability.text import first_line

if TYPE_CHECKING:
    from distributed import Client

CONNECT_S = 10.0  # how long a scheduler, and each of its workers, may take to answer
REFUSED_S = 3.0  # how long a connection is refused until nobody is expected there; a scheduler starts in less
AGAIN_S = 0.2  # between two tries
# Packages whose version may change the last digit of a result, as Python's may.
SAME = ("numpy", "scipy", "numba", "training-reliability")


@contextmanager
def cluster(scheduler: str) -> Iterator[Client]:
    """Give a client of a scheduler.

    Raises
    ------
    BadInput
        If no scheduler answers there, one of its workers does not, or has another version of what computes.
    """
    try:
        client = _client(scheduler)
    except TimeoutError:
        raise BadInput(f"--scheduler {scheduler}: no Dask scheduler answers there within {CONNECT_S:g} s") from None
    except Exception as error:  # a name that nobody knows, TLS that is not set up
        raise BadInput(f"--scheduler {scheduler}: no Dask scheduler answers there ({_words(error)})") from None
    try:
        _check_versions(client, scheduler)
        yield client
    finally:
        _close(client)


def _words(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or first_line(error)


def _client(scheduler: str) -> Client:
    """Return a client of a scheduler, once sure that there is one: what never answers would be waited for without end."""
    from distributed import Client
    from distributed.security import Security
    from distributed.utils import LoopRunner
    from distributed.versions import VersionMismatchWarning

    with_what = Security().get_connection_args("client")
    _knock(scheduler)
    found = LoopRunner().run_sync(_kind, scheduler, with_what)
    if found != "Scheduler":
        raise OSError(f"{found} does")
    with catch_warnings():
        simplefilter("ignore", VersionMismatchWarning)  # what matters of the versions is checked next
        return Client(scheduler, timeout=CONNECT_S)


def _knock(scheduler: str) -> None:
    """Wait until somebody takes a connection; Dask would try one that is refused for half a minute."""
    host, port = scheduler.rpartition("://")[2].rsplit(":", 1)
    began = time.monotonic()
    while True:
        try:
            socket.create_connection((host.strip("[]"), int(port)), CONNECT_S).close()
            return
        except ConnectionRefusedError:
            if time.monotonic() - began >= REFUSED_S:
                raise
        time.sleep(AGAIN_S)


async def _kind(scheduler: str, with_what: dict) -> str:
    """Ask what answers at an address, and say what that is."""
    from distributed.comm.core import FatalCommClosedError
    from distributed.core import rpc

    try:
        async with rpc(scheduler, connection_args=with_what) as there:
            found = (await asyncio.wait_for(there.identity(), CONNECT_S))["type"]
            return found if found == "Scheduler" else f"a {found}"
    except (TimeoutError, FatalCommClosedError, TypeError, RuntimeError):  # the last ones where TLS is not set up
        raise
    except Exception:  # what it said makes no sense to Dask, or it hung up
        return "something else"


def _check_versions(client: Client, scheduler: str) -> None:
    from distributed.versions import get_versions

    here = {**get_versions(packages=list(SAME))["packages"], "training-reliability": __version__}
    ask = {"op": "versions", "packages": list(SAME)}
    try:
        found = client.sync(client.scheduler.broadcast, msg=ask, on_error="ignore", callback_timeout=CONNECT_S)
    except TimeoutError:
        said = f"does not answer within {CONNECT_S:g} s; end it or start it anew"
        raise BadInput(f"--scheduler {scheduler}: {_silent(client)} {said}") from None
    if not found:
        raise BadInput(f"--scheduler {scheduler}: it has no workers; start one with: dask worker {scheduler}")
    for address, there in sorted(found.items()):
        for name in ("python", *SAME):
            version = there["packages"].get(name) or "missing"
            if version != here[name]:
                raise BadInput(
                    f"--scheduler {scheduler}: worker {address} has {name} {version}, here it is {here[name]}; "
                    "the same versions are needed for the same numbers"
                )


def _silent(client: Client) -> str:
    """Name the worker that the scheduler has not heard of for the longest, where that tells it from the others."""
    try:
        workers = client.sync(client.scheduler.identity, callback_timeout=CONNECT_S)["workers"]
    except TimeoutError:
        return "the scheduler"
    heard = sorted((worker["last_seen"], address) for address, worker in workers.items())
    if len(heard) == 1 or (heard and heard[-1][0] - heard[0][0] > CONNECT_S / 2):
        return f"worker {heard[0][1]}"
    return f"one of its {len(heard)} workers"


def _close(client: Client) -> None:
    """Close a client; one that lost its scheduler may fail to, which would hide why the work has ended."""
    with unheard():
        try:
            client.close()
        except (RuntimeError, OSError, CancelledError):  # its futures changed while it gave them up, or it waited in vain
            client.status = "closed"  # or it would try again when it is thrown away
