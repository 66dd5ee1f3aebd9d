"""A simulation of a fleet in this process or on workers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from reliability import fleet
from reliability.distribute import WorkLost, results, workers
from reliability.fleet_result import FleetResult, join

if TYPE_CHECKING:
    from distributed import Client

    from reliability.fleet_config import Fleet

BLOCK = 250  # replications of a task, at most; no result depends on it


def simulate(
    config: Fleet,
    seed: int,
    replications: int | str = "auto",
    client: Client | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> FleetResult:
    """Simulate a fleet wherever a client leads; the results are the same to the last bit.

    Parameters
    ----------
    config : Fleet
    seed : int
    replications : int or "auto"
        As of :func:`reliability.fleet.simulate`.
    client : distributed.Client, optional
    progress : function of (done, wanted), optional

    Returns
    -------
    FleetResult
        Interrupted from the keyboard it is partial: the replications from the first on that were done.
    """
    key = fleet.key_of(seed)
    if client is None:
        return fleet.simulate_key(config, key, replications, progress=progress, partial=True)
    # The first replication of each part, and it. The very first is simulated here, so that the model is compiled where that can be
    # said, once for all workers of this machine, and before their time counts.
    parts: dict[int, FleetResult] = {0: fleet.simulate_block(config, key, 0, 1)}
    done, wanted = 1, fleet.FEWEST if replications == "auto" else replications
    try:
        while done < wanted:
            block = _block(wanted - done, client)
            pieces = [(config, key, first, min(block, wanted - first)) for first in range(done, wanted, block)]
            for i, part in results(_simulate, pieces, client):
                parts[pieces[i][2]] = part
                if progress:
                    progress(sum(map(len, parts.values())), wanted)
            done = wanted
            if replications == "auto":
                wanted = fleet.wanted(_from_the_first(parts), config)
    except KeyboardInterrupt:
        return _from_the_first(parts, partial=True)
    except WorkLost as error:
        error.done = _from_the_first(parts, partial=True)
        raise
    return _from_the_first(parts)


def _block(replications: int, client: Client) -> int:
    """Return how many replications a task has: each worker gets four tasks, so that none waits long for the last."""
    return min(BLOCK, math.ceil(replications / (4 * workers(client))))


def _simulate(piece):
    return fleet.simulate_block(*piece)


def _from_the_first(parts: dict[int, FleetResult], partial: bool = False) -> FleetResult:
    """Join the replications from the first on, up to the first block that is not there."""
    joined, first = [], 0
    while first in parts:
        joined.append(parts[first])
        first += len(parts[first])
    return join(joined, partial)
