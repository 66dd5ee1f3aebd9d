"""What is said of the ranks that stand out: since when, in which way, as a node, and at what cost."""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from reliability import rank_courses, rank_kinds

NODE_SHARE = 0.75  # of a node's ranks slow at the same time: the node is slow
COUNTED = 200  # findings whose cost is counted out step by step
GROUP_SHARE = 0.35  # of the ranks in each of two groups: then neither is the normal one


@dataclass(frozen=True)
class Finding:
    """A slow rank, or the ranks of a slow node.

    `since_step` and `until_step` (None: to the end) are steps of the log; `ratio` is to the peers, at the end for a
    drift; `kind` is "persistent", "transient", "drift", "intermittent", "node" or "fast"; `course` says the same of
    a node. `lost_s` is how much longer the job's steps took for it, if every step waits for the last rank. `every` is
    the number of steps from one slow step to the next of an intermittent slowdown that is strictly periodic.
    """

    ranks: tuple
    since_step: object
    until_step: object
    ratio: float
    ratio_mean: float
    kind: str
    course: str
    node: str | None = None
    phase: str | None = None
    lost_s: float | None = None
    episodes: int = 1
    every: int | None = None

    @property
    def rank(self):
        """The rank, where it is one; else None."""
        return self.ranks[0] if len(self.ranks) == 1 else None


def findings(judged, times, seconds, kept, nodes):
    places = np.flatnonzero(kept)
    steps = list(times.steps)
    always_quick = np.flatnonzero(judged.quick.mean(axis=0) > 0.5)
    ever_slow = np.flatnonzero(judged.slow.any(axis=0))
    count = judged.courses.values.shape[1]
    undecided = []
    if always_quick.size and ever_slow.size and min(always_quick.size, ever_slow.size) >= GROUP_SHARE * count:
        undecided.append(_two_groups(judged, times, ever_slow, always_quick))
        return [], [], undecided
    known = {rank: rank_kinds.of_rank(judged, rank) for rank in ever_slow.tolist()}
    again = rank_kinds.intermittent(judged, known | dict.fromkeys(always_quick.tolist()))
    slow = [
        _said(judged, rank, one, times, places, nodes)
        for rank, one in sorted((known | again).items()) if one is not None
    ]  # fmt: skip
    fast = []
    for rank in always_quick:
        ratio = float(np.exp(np.nanmedian(judged.courses.values[judged.quick[:, rank], rank])))
        since = steps[places[np.flatnonzero(judged.quick[:, rank])[0]]]
        fast.append(Finding((times.ranks[rank],), since, None, ratio, ratio, "fast", "fast"))
    slow = _merged(slow, nodes, times)
    return [_with_cost(one, seconds, kept, times, few=len(slow) <= COUNTED) for one in slow], fast, undecided


def _said(judged, rank, one, times, places, nodes):
    """The :class:`Finding` of one rank, in the log's steps."""
    steps, course = times.steps, judged.courses.values[:, rank]
    since = places[one.first]
    if one.kind == "persistent":  # steps that were left out before it may be slow too
        back = judged.everywhere[:since, rank] > np.log(one.ratio) / 2
        left_out = np.ones(since, dtype=bool)
        left_out[places[: one.first]] = False
        ordinary = np.flatnonzero(~(back & left_out))
        since = int(ordinary[-1]) + 1 if ordinary.size else 0
    last = np.flatnonzero(~np.isnan(course))[-1] if one.last is None else one.last
    gone = one.last is not None or last < course.size - rank_courses.SHORTEST  # it recovered, or left the job
    return Finding(
        (times.ranks[rank],), steps[since], steps[places[last]] if gone else None, one.ratio,
        float(np.exp(np.nanmean(course))), one.kind, one.kind, (nodes or {}).get(times.ranks[rank]),
        episodes=one.episodes, every=one.every,
    )  # fmt: skip


def _merged(slow, nodes, times):
    """One finding for a node whose ranks are slow together."""
    if not nodes:
        return slow
    size = Counter(nodes.get(rank) for rank in times.ranks)
    order = {step: i for i, step in enumerate(times.steps)}
    left, merged = list(slow), []
    for node in dict.fromkeys(one.node for one in slow if one.node is not None):
        own = [one for one in left if one.node == node]
        if size[node] < 2 or len(own) < NODE_SHARE * size[node]:
            continue
        since = sorted(order[one.since_step] for one in own)
        middle = since[len(since) // 2]
        together = [one for one in own if abs(order[one.since_step] - middle) <= max(10, 0.1 * len(order))]
        if len(together) < NODE_SHARE * size[node]:
            continue
        course = Counter(one.course for one in together).most_common(1)[0][0]
        until = None if any(one.until_step is None for one in together) else max(
            (one.until_step for one in together), key=order.__getitem__
        )  # fmt: skip
        merged.append(
            Finding(
                tuple(one.rank for one in together), times.steps[middle], until,
                float(np.median([one.ratio for one in together])), float(np.median([one.ratio_mean for one in together])),
                "node", course, node, episodes=max(one.episodes for one in together),
            )
        )  # fmt: skip
        left = [one for one in left if one not in together]
    return merged + left


def _with_cost(finding, seconds, kept, times, few):
    """Seconds by which the job's steps would be shorter without these ranks, as each step ends with the last one."""
    own = np.isin(np.arange(seconds.shape[1]), [place_of(times, rank) for rank in finding.ranks])
    if own.all() or not few:
        return finding
    order = {step: i for i, step in enumerate(times.steps)}
    end = len(order) - 1 if finding.until_step is None else order[finding.until_step]
    during = kept.copy()
    during[: order[finding.since_step]], during[end + 1 :] = False, False
    part = np.where(np.isnan(seconds[during]), -np.inf, seconds[during])
    lost = part.max(axis=1) - part[:, ~own].max(axis=1)
    return replace(finding, lost_s=float(lost[np.isfinite(lost)].sum()))


def place_of(times, rank):
    return list(times.ranks).index(rank)


def _two_groups(judged, times, slow, quick):
    ratio = np.exp(np.nanmedian(judged.courses.values[:, slow]) - np.nanmedian(judged.courses.values[:, quick]))
    names = [
        ", ".join(str(times.ranks[i]) for i in group[:8]) + (", …" if group.size > 8 else "") for group in (slow, quick)
    ]
    return (
        f"ranks {names[0]} take {ratio:.2f} times as long as ranks {names[1]}: with two groups of about the same size "
        "these times cannot tell which one is as it should be"
    )
