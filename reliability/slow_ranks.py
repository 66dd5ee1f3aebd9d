"""Which ranks of a job are slow, since when, how they became so, and what each costs.

A rank is compared with the median of its peers in the same step, never with the best one: that stays right when a
quarter of the ranks are slow, and two quick ranks make no stragglers of the others.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from reliability import checks, rank_findings, rank_reference
from reliability.rank_findings import Finding
from reliability.rank_reference import FEWEST_PEERS, FLOOR
from reliability.step_periods import median, resolution, slow_periods

WORTH = 0.02  # of a step: a phase that is slower by less is not worth a finding


@dataclass(frozen=True)
class Findings:
    """What :func:`find` found. Positions in `periods` are turned to steps of the log in `job_slow` and `excluded`."""

    slow: list
    fast: list
    job_slow: list  # (first step, last step, ratio): slow on all ranks alike
    excluded: list  # the same, of warm-up and pauses: (first step, last step, ratio, kind)
    normal_step_s: float
    pause_lost_s: float
    jitter: float
    threshold: float
    smallest: float | None
    resolution: float
    undecided: list = field(default_factory=list)
    not_measured: dict = field(default_factory=dict)
    alike: bool = False  # each step is as long on every rank, whatever its length: the times end at a barrier


def find(times, threshold=None, ranks_per_node=None):
    """Find the slow ranks of a job in its step times.

    Parameters
    ----------
    times : StepTimes
        `steps` [n], `ranks` [m], `seconds` [n, m] with NaN where nothing was measured, `nodes` (rank to host) or
        None, `peers` (rank to a group that does the same work, such as a pipeline stage) or None, `phases` (name to
        seconds [n, m]) or None.
    threshold : float, > 0, optional
        Smallest share above the peers that is called slow. By default three deviations of an ordinary step or four
        of what ranks differ by always, whichever is larger, but at least 0.05 and at most 0.10.
    ranks_per_node : int, optional
        Hosts of so many consecutive ranks, where the log does not name them.

    Returns
    -------
    Findings

    Notes
    -----
    Steps that are slow on all ranks alike are left out, and reported. A block of steps is slow when its median lies
    above the threshold and above what chance does among all ranks and blocks once in a hundred logs; chance is
    measured from the blocks themselves. A rank that does not differ from its peers but from its own past is slow
    too. Times that end at a collective are as long on every rank: then the culprit cannot be told, and it is said so.
    """
    if threshold is not None:
        threshold = checks.scalar("threshold", checks.positive("threshold", threshold))
    seconds = np.asarray(times.seconds, dtype=float)
    if seconds.ndim != 2 or not seconds.size or not np.isfinite(seconds).any():
        raise ValueError(f"seconds has shape {seconds.shape}: must be [steps, ranks] with a time in it")
    if (seconds[np.isfinite(seconds)] <= 0).any():
        raise ValueError(f"seconds = {np.nanmin(seconds):g} at its lowest: must be above 0")
    nodes = _nodes(times, ranks_per_node)
    quantum = resolution(seconds)
    reference = median(seconds, axis=1)
    periods, normal = slow_periods(reference, quantum)
    kept = np.isfinite(reference) & ~rank_reference.within([p for p in periods if p.kind != "period"], reference.size)
    if not kept.any():
        kept = np.isfinite(reference)
    whole = rank_reference.judge(seconds, kept, times, threshold, quantum)
    changed = rank_reference.changed(whole, seconds, kept)
    if changed is not None:  # so many are slow that the median is: the others are the reference
        reference = median(seconds[:, ~changed], axis=1)
        periods, normal = slow_periods(reference, quantum)
        kept = np.isfinite(reference) & ~rank_reference.within(
            [p for p in periods if p.kind != "period"], reference.size
        )
        whole = rank_reference.judge(seconds, kept, times, threshold, quantum, changed)
    slow, fast, undecided = rank_findings.findings(whole, times, seconds, kept, nodes)
    by_phase = _slow_phases(times, kept, threshold, nodes, normal, slow)
    slow = [_with_phase(one, times, kept) for one in slow] + by_phase
    steps = list(times.steps)
    pauses = [p for p in periods if p.kind != "period"]
    return Findings(
        slow=sorted(slow, key=lambda one: -(one.lost_s or 0)),
        fast=fast,
        job_slow=[(steps[p.first], steps[p.last], p.ratio) for p in periods if p.kind == "period"],
        excluded=[(steps[p.first], steps[p.last], p.ratio, p.kind) for p in pauses],
        normal_step_s=normal,
        pause_lost_s=_lost(reference, pauses, normal),
        jitter=whole.courses.sigma,
        threshold=float(np.expm1(whole.least)),
        smallest=whole.smallest,
        resolution=quantum,
        undecided=undecided,
        not_measured=_not_measured(times),
        alike=_alike(seconds[kept], quantum),
    )


def _nodes(times, ranks_per_node):
    if ranks_per_node is not None:
        size = checks.count("ranks_per_node", ranks_per_node)
        try:
            return {
                rank: f"ranks {int(rank) // size * size}-{int(rank) // size * size + size - 1}" for rank in times.ranks
            }
        except (TypeError, ValueError):
            raise ValueError(f"ranks_per_node = {size}: needs ranks that are numbers, not {times.ranks[0]!r}") from None
    return getattr(times, "nodes", None)


def _with_phase(finding, times, kept):
    """Name the phase in which a slow rank loses most of its time, where phases were measured."""
    if not getattr(times, "phases", None):
        return finding
    own = [rank_findings.place_of(times, rank) for rank in finding.ranks]
    excess = {}
    for name, values in times.phases.items():
        part = np.asarray(values, dtype=float)[kept]
        reference = rank_reference.references(
            part, rank_reference.groups(times, part.shape[1]), np.isin(np.arange(part.shape[1]), own)
        )
        gap = (part - reference)[:, own]
        known = np.isfinite(gap)
        if known.any() and gap[known].mean() > FLOOR * reference[:, own][known].mean():
            excess[name] = float(gap[known].mean())
    most = max(excess.values(), default=0.0)
    worst = [name for name in sorted(excess, key=lambda name: -excess[name]) if excess[name] > 0.1 * most]
    return replace(finding, phase=", ".join(worst)) if worst else finding


def _slow_phases(times, kept, threshold, nodes, normal, known):
    """Ranks that are slow in a phase of their own work, where all steps are equally long."""
    found = []
    for name, values in (getattr(times, "phases", None) or {}).items():
        part = np.where(np.asarray(values, dtype=float) > 0, values, np.nan)  # a time of 0 has no ratio
        measured = np.isfinite(part).any(axis=0)
        if name in getattr(times, "waiting", ()) or measured.sum() < FEWEST_PEERS:
            continue
        if not np.isfinite(part[kept]).any():
            continue
        judged = rank_reference.judge(part, kept, times, threshold, resolution(part))
        slow, _, _ = rank_findings.findings(judged, times, part, kept, nodes)
        seen = {rank for one in [*known, *found] for rank in one.ranks}
        worth = [
            one for one in slow
            if not seen & set(one.ranks) and (one.ratio - 1) / one.ratio * _mean_of(part, times, one) >= WORTH * normal
        ]  # fmt: skip
        found += [replace(one, phase=name) for one in worth]
    return found


def _mean_of(part, times, finding):
    return float(np.nanmean(part[:, [rank_findings.place_of(times, rank) for rank in finding.ranks]]))


def _alike(part, quantum):
    """Whether each step is equally long on all ranks though steps differ by more than the printing."""
    known = np.sum(np.isfinite(part), axis=1) > 1
    if not known.any():
        return False
    high, low = np.nanmax(part[known], axis=1), np.nanmin(part[known], axis=1)
    return bool((high - low <= 1e-9 * high).all() and high.max() - high.min() > 2 * quantum)


def _lost(reference, pauses, normal):
    """Seconds that warm-up and pauses took beyond ordinary steps."""
    return float(sum(np.nansum(reference[p.first : p.last + 1] - normal) for p in pauses))


def _not_measured(times):
    """Phases that a rank has no time of: unknown, not 0."""
    missing = {}
    for name, values in (getattr(times, "phases", None) or {}).items():
        for place in np.flatnonzero(~np.isfinite(np.asarray(values, dtype=float)).any(axis=0)):
            missing.setdefault(times.ranks[place], []).append(name)
    return missing


__all__ = ["Finding", "Findings", "find"]
