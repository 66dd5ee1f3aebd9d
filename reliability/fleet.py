"""The whole job, simulated: failures, lemons, repair, standbys, checkpoints, and where the time goes.

A job of so many nodes runs on a pool. A fault stops it: work since the last committed checkpoint is
lost, the fault is detected, the blamed nodes go to repair, and the job restarts with standbys in their
places, or after a host selection, a preemption of spares or a wait for a repair. Slow nodes drag it,
silent corruption sends it back to the last verified checkpoint. Every second falls into one bin of
:mod:`reliability.budget`.

>>> from reliability import fleet, fleet_config
>>> settings = fleet_config.build(
...     {
...         "job_nodes": 128,
...         "warm_standbys": 4,
...         "horizon_h": 720.0,
...         "failures": {"rate_per_node_day": 0.01},
...         "repair": {"automatic_s": 86400.0},
...         "recovery": {"restart_s": 600.0},
...         "checkpoint": {"interval_s": 3600.0, "write_s": 30.0},
...     }
... )
>>> result = fleet.simulate(settings, np.random.default_rng(7), replications=200)
>>> round(float(result.effective_training_ratio.mean()), 2)
0.95
"""

import time

import numpy as np

from reliability import checks
from reliability.budget import BINS
from reliability.fleet_config import Fleet, FleetError
from reliability.fleet_result import COUNTS, FleetResult, estimate, join

BLOCK = 50  # replications between two looks at the clock; no result depends on it
FEWEST, MOST = 32, 100_000  # replications that "auto" runs
FEWEST_APART = 20  # replications that differ from most: with fewer no spread is estimated


def simulate(config, rng, replications="auto", *, precision=0.005, level=0.95, block=BLOCK, progress=None, partial=False):
    """Simulate a fleet.

    Parameters
    ----------
    config : Fleet
    rng : numpy.random.Generator
        One key is drawn from it. Replication i of a key is the same whatever the others are.
    replications : int, >= 1, or "auto"
        "auto" runs until the interval of the training time, or with a horizon of the effective training
        ratio, is within `precision` of its mean. Where nearly all replications are alike it runs
        :math:`\\log(1 / (1 - \\text{level})) / \\text{precision}`, so that what it has not seen befalls fewer than `precision` of them.
    precision : float, > 0
        Half the length of the interval over the mean.
    level : float, in (0, 1)
        Coverage of the interval.
    block : int, >= 1
        Replications after which `progress` is told, and up to which an interruption keeps what there is; no result depends
        on it.
    progress : function of (done, wanted), optional
        Called after each block. With "auto", `wanted` is the latest estimate.
    partial : bool
        Whether an interruption from the keyboard returns the blocks that are done, marked `partial`, instead of passing on.

    Returns
    -------
    FleetResult
    """
    return simulate_key(
        config, draw_key(rng), replications, precision=precision, level=level, block=block, progress=progress, partial=partial
    )


def compare(configs, rng, replications, **options):
    """Simulate several fleets on common random numbers: replication i meets the same failures in each.

    Parameters
    ----------
    configs : dict of name to Fleet
    rng : numpy.random.Generator
    replications : int, >= 1
    options
        As of :func:`simulate`.

    Returns
    -------
    dict of name to FleetResult
        Differences between them are paired, replication by replication.
    """
    if not isinstance(replications, int):
        raise ValueError(f"replications = {replications!r}: must be a whole number, the same for each fleet")
    key = draw_key(rng)
    return {name: simulate_key(config, key, replications, **options) for name, config in configs.items()}


def draw_key(rng):
    """Draw the key of a simulation: 128 random bits as an int."""
    high, low = checks.generator(rng).integers(0, 2**64, 2, dtype=np.uint64)
    return int(high) << 64 | int(low)


def key_of(seed):
    """Return the key of the simulations under a seed, as the command line takes it."""
    return draw_key(np.random.default_rng(seed))


def simulate_key(config, key, replications="auto", *, precision=0.005, level=0.95, block=BLOCK, progress=None, partial=False):
    """Simulate a fleet under a key; see :func:`simulate`."""
    if not isinstance(config, Fleet):
        raise FleetError(f"config = {config!r}: must be a Fleet, as fleet_config.build returns it")
    block = checks.count("block", block)
    checks.scalar("level", checks.inner_probability("level", level))
    automatic = replications == "auto"
    if automatic:
        precision = checks.scalar("precision", checks.positive("precision", precision))
        aim = FEWEST
    else:
        try:
            aim = checks.count("replications", replications)
        except ValueError as error:
            raise ValueError(f'{error}, or "auto"') from None
    parts, done = [], 0
    try:
        while done < aim:
            parts.append(simulate_block(config, key, done, min(block, aim - done)))
            done += len(parts[-1])
            if automatic and done == aim:
                aim = wanted(join(parts), config, precision, level)
            if progress:
                progress(done, aim)
    except KeyboardInterrupt:
        if not (partial and parts):
            raise
        return join(parts, partial=True)
    return join(parts)


def wanted(result, config, precision=0.005, level=0.95):
    """Return how many replications a precision asks for, as far as those done so far tell.

    Parameters
    ----------
    result : FleetResult
    config : Fleet
    precision, level
        As of :func:`simulate`.

    Returns
    -------
    int
        Those done, where they are enough.
    """
    done = len(result)
    sample = result.effective_training_ratio if config.work_h is None else result.training_time_h
    if np.count_nonzero(sample != np.median(sample)) < FEWEST_APART:
        # Student's interval knows nothing of what happens so seldom. What none of n shows happens in fewer than this share:
        unseen = min(int(np.ceil(-np.log1p(-level) / precision)), MOST)
        if done < unseen:
            return min(4 * done, unseen)
    found = estimate(sample, level)
    if found.half_width <= precision * found.mean or done >= MOST:
        return done
    needed = 1.1 * done * (found.half_width / (precision * found.mean)) ** 2 if found.mean > 0 else 4 * done
    return int(np.clip(np.ceil(needed), done + FEWEST, min(4 * done, MOST)))


def simulate_block(config, key, first, number):
    """Simulate replications `first` to `first + number - 1` of a key; what a worker process does."""
    return simulate_each([config] * number, key, first)


def simulate_each(configs, key, first=0):
    """Simulate one replication of each of many fleets: replication ``first + i`` of a key under ``configs[i]``.

    For what is uncertain: every fleet has other numbers, drawn from what is known of them. The same key gives
    differences between two such lists that are paired.

    Parameters
    ----------
    configs : sequence of Fleet
    key : int
        As :func:`draw_key` returns it.
    first : int, >= 0

    Returns
    -------
    FleetResult
    """
    from reliability import fleet_engine  # numba takes its time to load, and is wanted only here

    if not configs:
        raise FleetError("configs: must hold at least one fleet, and is empty")
    fleet_engine.prepare(configs[0])
    started = time.process_time()
    elapsed, bins, counts = fleet_engine.simulate(configs, key, first)
    return FleetResult(
        elapsed,
        dict(zip(BINS, bins, strict=True)),
        dict(zip(COUNTS, counts, strict=True)),
        time.process_time() - started,
    )
