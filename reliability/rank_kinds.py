"""How one rank is slow: throughout, for a while, more and more, or again and again."""

from dataclasses import dataclass

import numpy as np

from reliability import rank_courses, rank_drift
from reliability.step_periods import runs

WORTH_STEPS, WORTH_RUN = 1.0, 0.0005  # ordinary steps that a passing slowdown must cost, and of each step of the run
ODD_STEP = 6.0  # deviations beyond which a single step is an odd one
ODD_SHARE = 0.03  # of the steps must be odd for a rank to be called intermittent
QUIET = 0.25  # of the slowdown: below it a step is as quick as ever
QUIET_SHARE = 0.2  # of the steps of a slow stretch must be quick for it to come and go
CHANCE = 0.001  # of any rank with so many odd steps that is like the others
FEW = 4  # peers whose median is not yet what is usual
OFTEN = 3  # stretches apart from each other that are a slowdown which comes and goes


@dataclass(frozen=True)
class Course:
    """How a rank is slow, in positions of its course; `last` is None where it still is when its times end.

    `every` is the number of steps from one slow step to the next, where that is always the same one.
    """

    first: int
    last: int | None
    ratio: float
    kind: str
    episodes: int
    every: int | None = None


def of_rank(judged, rank):
    """Return the :class:`Course` of a rank with slow blocks; None where it costs less than is worth a finding."""
    course = judged.courses.values[:, rank]
    start, end = _measured(course)
    found = rank_courses.episodes(course[start : end + 1], judged.slow[start : end + 1, rank])
    found = [
        one for one in found
        if one.count > (end + 1 - start) / 2 or np.expm1(one.level) * one.count >= _worth(course)
    ]  # fmt: skip
    if not found:
        return None
    first, last = start + found[0].first, start + found[-1].last
    inside = np.concatenate([course[start + e.first : start + e.last + 1] for e in found])
    ratio, lasts = float(np.exp(np.nanmedian(inside))), last > end - rank_courses.SHORTEST
    covered = sum(e.count for e in found) / (last + 1 - first)
    until = None if lasts else last
    if lasts and covered > 0.6:
        ramp = rank_drift.drift(course[: end + 1], first, last)
        if ramp is not None:
            return Course(ramp[0], until, ramp[1], "drift", len(found))
    if len(found) >= OFTEN and covered <= 0.6:
        return Course(first, until, ratio, "intermittent", len(found))
    quick = _quick_steps(judged, rank, inside)
    if quick is not None:
        return _again_and_again(course, first + np.flatnonzero(course[first : last + 1] > quick))
    return Course(first, until, ratio, "persistent" if lasts and covered > 0.6 else "transient", len(found))


def intermittent(judged, known):
    """Ranks with more odd single steps than the others, which a median over a block forgets.

    Parameters
    ----------
    judged : reliability.rank_reference.Judged
    known : dict of int to Course or None
        What :func:`of_rank` says of ranks with slow blocks, or None. It stands, unless most odd steps lie outside.

    Returns
    -------
    dict of int to Course
    """
    from scipy.special import bdtrc

    courses = judged.courses.values
    limit = max(judged.least, ODD_STEP * judged.courses.sigma)
    with np.errstate(invalid="ignore"):
        odd = courses - np.minimum(judged.courses.own, judged.least) > limit
    count, size = odd.sum(axis=0), (~np.isnan(courses)).sum(axis=0)
    many = np.flatnonzero(count >= np.maximum(rank_courses.SHORTEST, ODD_SHARE * size))
    others = np.setdiff1d(np.arange(count.size), [rank for rank, one in known.items() if one is not None])
    found = {}
    for rank in many.tolist():
        at = np.flatnonzero(odd[:, rank])
        one = known.get(rank)
        if one is not None and one.kind != "intermittent" and _inside(one, at) >= at.size / 2:
            continue
        if np.expm1(courses[at, rank]).sum() < _worth(courses[:, rank]):
            continue
        usual = others[others != rank]
        # The median of many peers, as some may be odd as well; a few say little, and the oddest of them counts.
        level = np.median(count[usual]) if usual.size >= FEW else count[usual].max(initial=0)
        share = (level + 1) / (np.median(size[usual]) + 1) if usual.size else 1.0
        if bdtrc(count[rank] - 1, size[rank], min(1.0, share)) * count.size < CHANCE:
            found[rank] = _again_and_again(courses[:, rank], at)
    return found


def _measured(course):
    """First and last position with a time: a rank may join late and leave early."""
    known = np.flatnonzero(~np.isnan(course))
    return int(known[0]), int(known[-1])


def _worth(course):
    return WORTH_STEPS + WORTH_RUN * np.sum(~np.isnan(course))


def _inside(found, at):
    """How many of the positions lie in what was found."""
    return int(((at >= found.first) & (at <= (at[-1] if found.last is None else found.last))).sum())


def _quick_steps(judged, rank, inside):
    """Log ratio below which a step of a slow stretch is quick, where too many are for jitter; else None."""
    level = float(np.nanquantile(inside, 0.75))
    others = np.delete(judged.courses.residuals, rank, axis=1)
    with np.errstate(invalid="ignore"):
        quick, chance = np.mean(inside < QUIET * level), np.nanmean(others < (QUIET - 1) * level)
    return level / 2 if quick > QUIET_SHARE + 2 * chance else None


def _again_and_again(course, at):
    """A slowdown that comes and goes, of the odd steps at these positions."""
    _, end = _measured(course)
    gaps = np.diff(at)
    every = int(gaps[0]) if gaps.size >= OFTEN and gaps[0] > 1 and (gaps == gaps[0]).all() else None
    stretches = _stretches(at)
    apart = np.median(np.diff([first for first, _ in stretches])) if len(stretches) > 1 else 0
    lasts = end - at[-1] <= max(rank_courses.SHORTEST, 2 * apart)
    ratio = float(np.exp(np.median(course[at])))
    return Course(int(at[0]), None if lasts else int(at[-1]), ratio, "intermittent", len(stretches), every)


def _stretches(at):
    """Stretches of the positions that follow each other."""
    mask = np.zeros(at[-1] + 1, dtype=bool)
    mask[at] = True
    return runs(mask)
