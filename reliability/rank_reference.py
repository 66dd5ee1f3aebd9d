"""What a rank is compared with: the median of its peers, and from which ratio on it is called slow or quick."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from reliability import rank_courses
from reliability.step_periods import median, spread

FLOOR, CEILING = 0.05, 0.10  # the default threshold lies between, at three deviations of an ordinary step
FEWEST_PEERS = 3
FEWEST_QUICK = 0.2  # of the ranks must have stayed as they were to be the reference of all others


@dataclass(frozen=True)
class Judged:
    """Courses of the ranks over the kept steps, and which of them are slow or quick."""

    courses: rank_courses.Courses
    slow: np.ndarray
    quick: np.ndarray
    least: float
    smallest: float | None
    everywhere: np.ndarray  # courses over all steps


def within(periods, size):
    """Which positions lie in one of the periods."""
    mask = np.zeros(size, dtype=bool)
    for period in periods:
        mask[period.first : period.last + 1] = True
    return mask


def changed(judged, seconds, kept):
    """Ranks that became slower, where they are so many that the median moved with them; else None.

    Those that seem quick took as long before, and the others did not.
    """
    quick = judged.quick.mean(axis=0) > 0.1
    count = quick.size
    if count < 2 or not FEWEST_QUICK * count <= quick.sum() < count:
        return None
    when = np.flatnonzero(judged.quick[:, quick].mean(axis=1) >= 0.5)
    before = np.arange(kept.sum()) < (when[0] if when.size else 0)
    during = np.zeros(before.size, dtype=bool)
    during[when] = True
    if before.sum() < rank_courses.SHORTEST or not during.any():
        return None
    part = np.log(seconds[kept])
    shift = [_level(part[during][:, group]) - _level(part[before][:, group]) for group in (quick, ~quick)]
    return ~quick if abs(shift[0]) < judged.least <= shift[1] else None


def _level(values):
    known = values[np.isfinite(values)]
    return float(np.median(known)) if known.size else np.nan


def judge(seconds, kept, times, threshold, quantum, moved=None):
    """Courses against the peers; the second time without the ranks that stood out in the first."""
    group = groups(times, seconds.shape[1])
    part = seconds[kept]
    left_out = np.zeros(part.shape[1], dtype=bool) if moved is None else moved
    for _ in range(2):
        courses = rank_courses.courses(np.log(part) - np.log(references(part, group, left_out)))
        least = np.log1p(_threshold(courses) if threshold is None else threshold)
        level = float(np.nanmedian(part))
        if quantum / level > 2 * courses.sigma:  # printed so coarsely that one step of printing means nothing
            least = np.log(np.exp(least) + quantum / level)
        if part.shape[1] < 2:
            none = np.zeros(part.shape, dtype=bool)
            return Judged(courses, none, none, least, None, np.log(seconds))
        slow = rank_courses.slow_steps(courses, least)
        quick = rank_courses.slow_steps(courses, least, sign=-1)
        # A rank that is slow for a few steps is a good peer in all others.
        stands_out = (slow | quick).mean(axis=0) > 0.2
        if moved is not None or (stands_out == left_out).all():
            break
        left_out = stands_out
    longest = rank_courses.scales(len(part))[-1]
    smallest = float(np.expm1(max(least, rank_courses.chance_limit(courses, longest))))
    everywhere = np.log(seconds) - np.log(references(seconds, group, left_out))
    return Judged(courses, slow, quick, least, smallest, everywhere)


def _threshold(courses):
    """Three deviations of an ordinary step, and four of what ranks differ by always; between the bounds."""
    own = courses.own[~np.isnan(courses.own)]
    between = spread(own - np.median(own)) if own.size else 0.0
    return min(max(FLOOR, 3 * courses.sigma, 4 * between), CEILING)


def groups(times, count):
    """Index of each rank's group of peers; groups that are too small are compared with all ranks."""
    peers = getattr(times, "peers", None)
    if not peers:
        return np.zeros(count, dtype=int)
    named = [peers.get(rank) for rank in times.ranks]
    size = Counter(named)
    names = {name: i + 1 for i, name in enumerate(n for n in size if size[n] >= FEWEST_PEERS)}
    return np.array([names.get(name, 0) for name in named])


def references(part, group_of, left_out):
    """The peers' median in each step, [steps, ranks]; without those left out where enough others are."""
    reference = np.empty_like(part)
    for group in np.unique(group_of):
        members = np.flatnonzero(group_of == group)
        peers = members if group else np.arange(part.shape[1])
        good = peers[~left_out[peers]]
        good = good if good.size >= min(2, peers.size / 2) and good.size >= peers.size / 4 else peers
        reference[:, members] = median(part[:, good], axis=1)[:, None]
    return reference
