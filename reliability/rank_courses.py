"""The course of one rank's slowness: when it began, and whether it lasted.

A course is the logarithm of a rank's time over its peers' in each step. Blocks of several lengths are
compared by their medians, so that one long step is no slowness and a slow stretch is found at the length it has.
"""

from dataclasses import dataclass

import numpy as np

from reliability.step_periods import median, runs, spread

SHORTEST = 5  # steps of a block; its median forgets two odd ones
BLOCKS = 4  # at least so many blocks of each length
FALSE_ALARM = 0.01  # chance of any false finding among all ranks and blocks, for normal jitter
MEDIAN_LOSS = 1.2533  # deviation of a median over that of a mean, sqrt(pi/2)


@dataclass(frozen=True)
class Episode:
    """Steps `first` to `last` (positions) in which a rank is slow; `level` is the median of its log ratio there."""

    first: int
    last: int
    level: float

    @property
    def count(self):
        """Number of steps."""
        return self.last - self.first + 1


def jitter(courses):
    """Deviation of one ordinary step of a rank about its own median, over all ranks."""
    if courses.shape[0] < SHORTEST:  # too few steps to know a rank's own jitter; across ranks then
        return spread(courses)
    return spread(courses - median(courses, axis=0))


def scales(steps):
    """Lengths of blocks: 5, 11, 23, … as long as at least four fit in, or the whole course where that is shorter."""
    found, length = [], min(SHORTEST, steps)
    while length == min(SHORTEST, steps) or length * BLOCKS <= steps:
        found.append(length)
        length = 2 * length + 1
    return found


def critical(chance):
    """Deviations that a normal variable exceeds with this chance."""
    from scipy.special import ndtri

    return float(-ndtri(chance))


@dataclass(frozen=True)
class Block:
    """Medians [blocks, ranks] of blocks of `length` steps from position `offset` on."""

    length: int
    offset: int
    medians: np.ndarray


@dataclass(frozen=True)
class Courses:
    """The courses of all ranks and what is drawn from them once.

    `values` [steps, ranks] log ratio to the peers, NaN where unknown; `own` its median by rank; `residuals` the
    courses about it, sorted, NaN at the end; `blocks` of each length, begun at 0 and half a block later; `sigma`, the
    deviation of one ordinary step.
    """

    values: np.ndarray
    own: np.ndarray
    residuals: np.ndarray
    blocks: list
    sigma: float


def courses(values):
    """Return the :class:`Courses` of log ratios [steps, ranks]."""
    lengths = scales(values.shape[0])
    blocks = [Block(n, at, _block_medians(values, n, at)) for n in lengths for at in sorted({0, n // 2})]
    own = median(values, axis=0)
    blocks = [block for block in blocks if block.medians.size]
    return Courses(values, own, np.sort(values - own, axis=0), blocks, jitter(values))


def base_levels(courses, sign=1):
    """The level of each rank when it is at its best: the lower quartile over short blocks."""
    length, blocks = courses.blocks[0].length, sign * courses.blocks[0].medians
    low = _quantile(blocks, 0.25)
    # Of normal blocks the quartile lies 0.674 deviations below the level.
    return low + (0.674 * MEDIAN_LOSS * courses.sigma / np.sqrt(length) if len(blocks) > 1 else 0.0)


def slow_steps(courses, least, sign=1):
    """Which steps of which rank lie in a block that is slow.

    Parameters
    ----------
    courses : Courses
    least : float, > 0
        Log ratio below which a slowdown is none.
    sign : 1 or -1
        -1 for blocks that are quick.

    Returns
    -------
    bool array [steps, ranks]

    Notes
    -----
    A block is slow when its median is above `least` and above chance, against the peers and, unless the rank is
    slow at its best too, against its own best level: ranks that do differ always a little are not found anew
    whenever they differ a little more.
    """
    flagged = np.zeros(courses.values.shape, dtype=bool)
    base = base_levels(courses, sign)
    for block in courses.blocks:
        limit = max(least, chance_limit(courses, block.length, sign))
        medians = sign * block.medians
        with np.errstate(invalid="ignore"):
            slow = (medians > limit) & ((base > least) | (medians - np.maximum(base, -limit) > limit))
        for number, rank in np.argwhere(slow):
            start = block.offset + number * block.length
            whole = number == len(medians) - 1 and block.offset == 0  # the last takes what is left over
            flagged[start : len(flagged) if whole else start + block.length, rank] = True
    return flagged


def chance_limit(courses, length, sign=1):
    """Log ratio that a healthy block of this length exceeds by chance one time in a hundred, over all of them.

    Notes
    -----
    The larger of two. A block's median is above x when more than half of its steps are: for steps that are
    independent, the share of steps above x tells how often, whatever the tail of the jitter. The middle rank's share
    is taken, so that odd ranks do not count. And steps are alike to the ones before: hence the deviation of the block
    medians themselves.
    """
    from scipy.special import betaincinv

    medians = next(block.medians for block in courses.blocks if block.length == length)
    chance = FALSE_ALARM / max(1, 2 * medians.size)
    known = np.sum(~np.isnan(courses.residuals), axis=0)
    share = float(betaincinv(length // 2 + 1, length - length // 2, chance))  # of steps above
    place = np.ceil((1 - share) * known) - 1 if sign > 0 else np.floor(share * known)
    place = np.clip(place.astype(int), 0, np.maximum(known - 1, 0))
    tail = _median(sign * np.take_along_axis(courses.residuals, place[None], axis=0)[0])
    # Rarer than one step of a rank: beyond its largest, the tail is drawn on as an exponential one.
    beyond = max(1.0, -np.log(share) / np.log(max(2.0, float(np.median(known)) + 1)))
    above = sign * (medians - courses.own)
    enough = len(medians) >= BLOCKS and medians.size >= 24
    return max(tail * beyond, critical(chance) * spread(above) if enough else 0.0)


def episodes(course, flagged):
    """The slow stretches of one rank, with their edges put where its course changes.

    Parameters
    ----------
    course : array [steps]
    flagged : bool array [steps]
        From :func:`slow_steps`.

    Returns
    -------
    list of Episode
    """
    found = []
    for first, last in runs(flagged, SHORTEST):
        # Blocks reach beyond a slow stretch, by up to as much as it fills of them.
        level = float(np.nanquantile(course[first : last + 1], 0.75))
        outside = course[~flagged]
        healthy = min(_median(outside), level) if np.isfinite(outside).any() else 0.0
        middle, size = (level + healthy) / 2, course.size
        first = 0 if first == 0 and last == size - 1 else _edge(course, first, last, middle, forward=True)
        last = size - 1 if first == 0 and last == size - 1 else _edge(course, first, last, middle, forward=False)
        found.append(Episode(first, last, _median(course[first : last + 1])))
    return found


def _median(values):
    known = values[~np.isnan(values)]
    return float(np.median(known)) if known.size else np.nan


def _quantile(values, q):
    """Quantile along the first axis without NaN."""
    ordered = np.sort(values, axis=0)
    known = np.sum(~np.isnan(values), axis=0)
    place = np.maximum(np.floor(q * (known - 1)).astype(int), 0)
    return np.take_along_axis(ordered, place[None], axis=0)[0]


def _block_medians(courses, length, offset):
    """Medians of blocks; the last takes the steps that are left over when it begins at an offset of 0."""
    usable = courses[offset:]
    count = len(usable) // length
    if count == 0:
        return np.empty((0, courses.shape[1]))
    blocks = median(usable[: count * length].reshape(count, length, -1), axis=1)
    if offset == 0 and len(usable) > count * length:
        blocks[-1] = median(usable[(count - 1) * length :], axis=0)
    return blocks


def _edge(course, first, last, middle, forward):
    """Move an edge to where the course crosses from healthy to slow: the best split around it."""
    reach = max(3 * SHORTEST, (last - first + 1))
    at = first if forward else last + 1
    start, end = max(0, at - reach), min(course.size, at + reach)
    start, end = (start, min(end, last + 1)) if forward else (max(start, first), end)
    part = np.nan_to_num(np.sign(course[start:end] - middle), nan=0.0)
    above = np.concatenate([[0.0], np.cumsum(part)])
    score = above[-1] - 2 * above if forward else 2 * above - above[-1]
    split = int(np.flatnonzero(score == score.max())[0 if forward else -1])
    place = start + split
    return min(place, last) if forward else max(place - 1, first)
