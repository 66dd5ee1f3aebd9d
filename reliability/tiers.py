"""Checkpoints in tiers: which failures each survives, how often to write to each, what the job keeps.

A tier is cheap and survives little (a node's own memory), or dear and survives all (a parallel file
system). Tiers go from the cheapest to the one that survives everything. All times in one unit (the
package uses seconds), rates in its inverse.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from reliability import checks


def rates_by_tier(rates, survives):
    r"""Rate of the failures that each tier has to recover: those that it survives and no cheaper one does.

    Parameters
    ----------
    rates : array [classes], >= 0
        Failures of each class per unit of time.
    survives : bool array [tiers, classes]
        Whether a tier's checkpoint outlives a failure of that class. Each tier survives what the
        cheaper ones do, the last one survives every class.

    Returns
    -------
    array [tiers]
        They add up to the sum of `rates`.

    Examples
    --------
    Crashes of a process, loss of a node, loss of a rack; a peer's memory before the file system:

    >>> rates_by_tier([2.0, 5.0, 1.0], [[True, True, False], [True, True, True]]).tolist()
    [7.0, 1.0]
    """
    rates = checks.non_negative("rates", rates)
    if rates.ndim != 1:
        raise ValueError(f"rates has shape {rates.shape}: must be a list, one for each class of failures")
    try:
        survives = np.asarray(survives)
    except ValueError:
        raise ValueError(f"survives = {survives!r}: must be rows of one length") from None
    if survives.dtype != bool or survives.ndim != 2 or survives.shape[1] != rates.size or not len(survives):
        raise ValueError(
            f"survives = {survives.tolist()!r}: must be true or false for each tier and each of the {rates.size} rates"
        )
    if not survives[-1].all() or (survives[:-1] & ~survives[1:]).any():
        raise ValueError(
            f"survives = {survives.tolist()!r}: each tier must survive what the one before it does, the last one everything"
        )
    first = survives.argmax(axis=0)
    return np.array([rates[first == tier].sum() for tier in range(len(survives))])


def pattern(counts):
    """Levels of the checkpoints in one period, as they are written: the last one is of the highest level.

    Parameters
    ----------
    counts : sequence of int, >= 0
        Checkpoints of each level between two of a higher one, the lowest level first.

    Examples
    --------
    >>> pattern([2]).tolist(), pattern([1, 2]).tolist()
    ([0, 0, 1], [0, 1, 0, 1, 0, 2])
    """
    if isinstance(counts, (str, bytes, Mapping)) or not isinstance(counts, Iterable):
        raise ValueError(f"counts = {counts!r}: must be a list, one for each level but the highest")
    levels = np.zeros(1, dtype=int)
    for level, n in enumerate(counts):
        levels = np.tile(levels, checks.count(f"counts[{level}]", n, low=0) + 1)
        levels[-1] = level + 1
    return levels


def multilevel_efficiency(interval, counts, writes, restarts, rates, escalates=True):
    r"""Share of time that checkpoints of several levels keep: the Markov model of SCR (Moody et al. 2010).

    .. math:: \eta = \frac{N T}{\sum_j w_j}, \qquad
              w_j = \frac{e^{\lambda (T + C_j)} - 1}{\lambda}
              \left(1 + \sum_i \lambda_i \left[h_{p} + \sum_{m=p}^{j-1} w_m \right]\right)

    w_j is the mean time to get through interval j of the N in a period. A failure of level i in it
    falls back to p, the latest checkpoint of level i or higher, whose reading takes h_p on average
    with all that interrupts it, and then repeats the intervals since. The sum of the rates is lambda.

    Parameters
    ----------
    interval : float or array, > 0
        Work between two checkpoints of any level, T.
    counts : sequence of int [levels - 1], >= 0
        Checkpoints of each level between two of a higher one.
    writes : sequence [levels] of float or array, >= 0
        Time that a checkpoint of each level blocks the job.
    restarts : sequence [levels] of float or array, >= 0
        Restart from a checkpoint of each level.
    rates : sequence [levels] of float or array, >= 0
        Failures per unit of time that need a checkpoint of that level and of none lower
        (:func:`rates_by_tier`).
    escalates : bool
        Whether a failure of a checkpoint's own level, while it is read, uses it up and falls back to
        the next higher level, as SCR has it; otherwise it is read again.

    Returns
    -------
    float or array in [0, 1]

    Notes
    -----
    Exponential failures, at any moment. A lower level's failure while a checkpoint is read starts the
    reading again. A checkpoint is read from the tier that it was written to. The time grows with N.

    Examples
    --------
    SCR's machine atlas: 26 local checkpoints for each on the parallel file system.

    >>> round(multilevel_efficiency(1500, [26], [9, 438], [9, 438], [7.78e-6, 5.19e-7]), 5)
    0.96695
    """
    interval = checks.positive("interval", interval)
    levels = pattern(counts)
    top = int(levels[-1])
    writes, restarts, rates = (
        _each(name, times, top + 1) for name, times in (("writes", writes), ("restarts", restarts), ("rates", rates))
    )
    checks.broadcast(
        interval=interval,
        **{
            f"{n}[{i}]": x
            for n, xs in (("writes", writes), ("restarts", restarts), ("rates", rates))
            for i, x in enumerate(xs)
        },
    )
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        shares = levels.size * interval / _period(interval, levels, writes, restarts, rates, escalates)
    return checks.plain(np.where(np.isnan(shares), 0.0, shares))  # where the time is infinite


def _each(name, values, n):
    try:
        values = list(values)
    except TypeError:
        values = [values]
    if len(values) != n:
        shown = f"= {values!r}" if np.size(values) <= 10 else f"has {len(values)} entries"
        raise ValueError(f"{name} {shown}: must have {n} entries, one for each level")
    return [checks.non_negative(f"{name}[{level}]", value) for level, value in enumerate(values)]


def _period(interval, levels, writes, restarts, rates, escalates):
    """Mean time of one period."""
    from scipy.special import exprel

    top, total = int(levels[-1]), sum(rates)
    attempt = [(interval + write) * exprel(total * (interval + write)) for write in writes]
    # Of one try at reading: its mean length, and the chance that it is the last.
    tried = [restart * exprel(-total * restart) for restart in restarts]
    done = [np.exp(-total * restart) for restart in restarts]
    latest = [None] * (top + 1)  # by level: (elapsed, reading) of the latest checkpoint of that level or higher
    elapsed = 0.0
    for begins, ends in zip([top, *levels[:-1]], levels, strict=True):
        falls = range(begins + (not escalates), top + 1) if begins < top else ()
        higher = [(rates[level], *latest[max(level, begins + 1)]) for level in falls]
        lost = sum(rate * (reading + elapsed - at) for rate, at, reading in higher)
        left = sum(rate for rate, *_ in higher)
        here = tried[begins] * (1 + lost) / (done[begins] + tried[begins] * left)
        latest[: begins + 1] = [(elapsed, here)] * (begins + 1)
        back = sum(rate * (reading + elapsed - at) for rate, (at, reading) in zip(rates, latest, strict=True))
        elapsed = elapsed + attempt[ends] * (1 + back)
    return elapsed


def two_level_efficiency(interval, count, writes, restarts, rates, escalates=True):
    r"""Share of time that two levels keep: :func:`multilevel_efficiency` in closed form, for any number of checkpoints.

    From one local checkpoint to the next the elapsed time E becomes a E + b, a geometric series.

    Parameters
    ----------
    interval : float or array, > 0
    count : int or array, >= 0
        Local checkpoints between two global ones.
    writes, restarts, rates : two floats or arrays each, >= 0
        The local tier, then the global one.
    escalates : bool
        As in :func:`multilevel_efficiency`.

    Returns
    -------
    float or array in [0, 1]

    Examples
    --------
    >>> round(two_level_efficiency(5600, 23, [15, 1835], [15, 1835], [8.54e-7, 2.01e-7]), 5)
    0.96776
    """
    from scipy.special import exprel

    interval = checks.positive("interval", interval)
    count = checks.whole("count", count, low=0)
    pairs = {
        name: _each(name, pair, 2) for name, pair in (("writes", writes), ("restarts", restarts), ("rates", rates))
    }
    checks.broadcast(
        interval=interval,
        count=count,
        **{f"{name}[{i}]": x for name, pair in pairs.items() for i, x in enumerate(pair)},
    )
    (local, top), total, restart = pairs["rates"], sum(pairs["rates"]), pairs["restarts"]
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        local_try, top_try = ((interval + write) * exprel(total * (interval + write)) for write in pairs["writes"])
        top_read = restart[1] * exprel(total * restart[1])
        tried = restart[0] * exprel(-total * restart[0])
        left = total if escalates else top
        again = tried / (np.exp(-total * restart[0]) + tried * left)
        slope, start = local * again * left + top, 1 + local * again * (1 + left * top_read) + top * top_read
        grows = np.log1p(local_try * slope)
        more = np.maximum(count - 1, 0)
        after = np.exp(more * grows) * local_try * (1 + total * top_read)
        after = after + local_try * start * more * exprel(more * grows) / exprel(grows)
        period = np.where(count > 0, after + top_try * (start + slope * after), top_try * (1 + total * top_read))
        shares = (count + 1) * interval / period
    return checks.plain(np.where(np.isnan(shares), 0.0, shares))


@dataclass(frozen=True)
class TwoLevels:
    """Best plan of two levels: `interval`, local checkpoints `count` between two global ones, `efficiency`."""

    interval: float
    count: int
    efficiency: float


def two_level_optimum(writes, restarts, rates, escalates=True):
    r"""Best interval and number of local checkpoints for each global one.

    Parameters
    ----------
    writes, restarts, rates : two floats each, > 0
        The local tier, then the global one.
    escalates : bool

    Returns
    -------
    TwoLevels

    Notes
    -----
    Searches around first order, where each tier has Young's interval sqrt(2 C / rate) for the
    failures that it alone recovers, or for all of them, and around the mean time between failures, by ever
    finer grids of the interval and of the count.

    Examples
    --------
    >>> best = two_level_optimum([9, 438], [9, 438], [7.78e-6, 5.19e-7])
    >>> best.count, round(best.interval), round(best.efficiency, 5)
    (26, 1491, 0.96695)
    """
    pairs = [
        [checks.scalar(f"{name}[{i}]", checks.positive(f"{name}[{i}]", x)) for i, x in enumerate(_each(name, pair, 2))]
        for name, pair in (("writes", writes), ("restarts", restarts), ("rates", rates))
    ]
    # Logarithms: what they stand for may leave the range of floats.
    writes, rates = (np.log(pairs[i]) for i in (0, 2))
    total = np.logaddexp(*rates)
    young = [*(np.log(2) + writes - rates) / 2, *(np.log(2) + writes - total) / 2, -total]
    middle, spans = (min(young) + max(young)) / 2, (max(young) - min(young)) / 2 + np.log(30.0)
    most = max(1e6, 20 * np.exp(np.clip(young[1] - young[0], 0, np.log(2.0**40))))
    counts = np.unique(np.append(0, np.rint(np.geomspace(1, most, 800)))).astype(np.int64)
    points = int(np.clip(24 * spans, 65, 1000))
    while True:
        grid = np.exp(np.clip(middle + np.linspace(-spans, spans, points), -700, 700))[:, None]
        shares = np.asarray(two_level_efficiency(grid, counts, *pairs, escalates))
        row, column = np.unravel_index(int(np.argmax(shares)), shares.shape)
        found = TwoLevels(float(grid[row, 0]), int(counts[column]), float(shares[row, column]))
        if spans < 1e-6:
            return found
        middle, spans, points = np.log(found.interval), spans / 3, 65
        near = counts[max(column - 20, 0)], counts[min(column + 20, counts.size - 1)]
        counts = np.unique(np.rint(np.linspace(*near, 200))).astype(np.int64)
