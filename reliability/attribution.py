"""Who is to blame for a slow step, from the times of its operations.

A job has replicas of a pipeline of stages; the workers are [..., replicas, stages]. A communication that
is timed from its launch includes the wait for whoever comes late, so that a slow rank shows in the times
of all the others. Waiting is taken out before anything is compared.
"""

from dataclasses import dataclass

import numpy as np

from reliability import checks


def waiting(start):
    """How long each member of a communication waits for the one that comes last.

    Parameters
    ----------
    start : array [..., members]
        When each member launches it.

    Returns
    -------
    array [..., members], >= 0

    Examples
    --------
    >>> waiting([0.0, 3.0, 1.0]).tolist()
    [3.0, 0.0, 2.0]
    """
    start = _members("start", start)
    return start.max(axis=-1, keepdims=True) - start


def transfer_time(start, end):
    """What a communication itself takes: from the launch of its last member to its end.

    Parameters
    ----------
    start, end : array [..., members]
        When each member launches it, and when it is through.

    Returns
    -------
    float or array [...]
        The members' mean; a clock that is off by less than the transfer does not make it negative, one that
        is off by more gives 0.

    Examples
    --------
    >>> transfer_time([0.0, 3.0, 1.0], [4.0, 4.0, 4.0])
    1.0
    """
    start, end = _members("start", start), _members("end", end)
    if start.shape != end.shape:
        raise ValueError(f"end has shape {end.shape}: must have the shape {start.shape} of start")
    if (end < start).any():
        raise ValueError(f"end = {end[end < start][0]:g}: must not be before start = {start[end < start][0]:g}")
    return checks.plain(np.maximum(0.0, end - start.max(axis=-1, keepdims=True)).mean(axis=-1))


@dataclass(frozen=True)
class Finding:
    """A culprit: its `kind` ("rank", "stage" or "link"), `what` is slow, `where`, and by how much.

    `ratio` is to its peers, `excess` the seconds that it takes longer than they do in a step. `where` is (replica, stage) of a rank, (replica, stage) for the link from that stage to the next, (stage,)
    of a stage.
    """

    kind: str
    what: str
    where: tuple
    ratio: float
    excess: float


def attribute(compute, transfer, threshold, least=0.0):
    """Ranks, links and stages that are slower than their peers by more than a share, the worst first.

    Parameters
    ----------
    compute : array [replicas, stages], > 0
        Seconds that each worker computes in a step.
    transfer : array [replicas, stages - 1], > 0
        Seconds of the transfers between a stage and the next in a step, without the waiting: see
        :func:`transfer_time`.
    threshold : float, > 0
        The share above the median of the peers.
    least : float, >= 0
        Seconds of a step below which an excess is not worth a finding.

    Returns
    -------
    list of Finding
        By their excess; empty where nobody is to blame.

    Notes
    -----
    The peers of a worker are the same stage of all replicas, since stages differ by design; so are
    those of a link. A stage is compared with the other stages by the median of its workers: it is slow in
    every replica, so that no rank of it is to blame, but the way in which the model was cut. The median
    wants at least three replicas, and fewer than half of them slow; of the other stages there may be only one.

    Examples
    --------
    >>> compute = [[2.3, 1.0], [1.0, 1.0], [1.0, 1.0]]
    >>> [culprit] = attribute(compute, [[0.1], [0.1], [0.1]], threshold=0.1)
    >>> culprit.kind, culprit.what, culprit.where, culprit.ratio
    ('rank', 'compute', (0, 0), 2.3)
    """
    compute, transfer = checks.positive("compute", compute), checks.positive("transfer", transfer)
    if compute.ndim != 2 or compute.shape[0] < 3 or compute.shape[1] < 2:
        raise ValueError(f"compute has shape {compute.shape}: must be [replicas, stages] with at least 3 and 2")
    if transfer.shape != (compute.shape[0], compute.shape[1] - 1):
        raise ValueError(f"transfer has shape {transfer.shape}: must be {(compute.shape[0], compute.shape[1] - 1)}")
    threshold = checks.scalar("threshold", checks.positive("threshold", threshold))
    least = checks.scalar("least", checks.non_negative("least", least))
    stages = np.median(compute, axis=0)
    compared = [
        ("rank", "compute", compute, stages),
        ("link", "communication", transfer, np.median(transfer, axis=0)),
        ("stage", "compute", stages, np.array([np.median(np.delete(stages, i)) for i in range(stages.size)])),
    ]
    found = []
    for kind, what, own, peers in compared:
        with np.errstate(over="ignore"):
            ratio, excess = own / peers, own - peers
        for place in np.argwhere((ratio > 1 + threshold) & (excess >= least)):
            where = tuple(int(i) for i in place)
            found.append(Finding(kind, what, where, float(ratio[where]), float(excess[where])))
    return sorted(found, key=lambda finding: -finding.excess)


def pipeline_ends(forward, backward, transfer=0.0):
    """When each stage of a pipeline ends its step, one forward one backward, from the times of its operations.

    Parameters
    ----------
    forward, backward : array [..., stages, micro_batches], > 0
        Seconds of each stage's passes.
    transfer : float or array [..., stages - 1], >= 0
        Seconds of the transfers between a stage and the next, either way. They overlap with computing.

    Returns
    -------
    array [..., stages]
        The step is its maximum; what a stage does not compute of the step, it waits.

    Notes
    -----
    Stage s of P runs P - 1 - s forward passes ahead, then one forward and one backward in turn, then what is
    left. An operation starts when its stage is free and its operand has come. With equal times a step of
    m micro-batches takes (m + P - 1)(f + b) without transfers.

    Examples
    --------
    >>> import numpy as np
    >>> pipeline_ends(np.full((3, 8), 1.0), np.full((3, 8), 2.0)).tolist()
    [30.0, 28.0, 26.0]
    """
    forward, backward = checks.positive("forward", forward), checks.positive("backward", backward)
    if forward.ndim < 2 or forward.shape != backward.shape:
        raise ValueError(
            f"backward has shape {backward.shape}: must be forward's, {forward.shape}, [..., stages, micro_batches]"
        )
    *shape, stages, micro_batches = forward.shape
    transfer = checks.non_negative("transfer", transfer)
    try:
        transfer = np.broadcast_to(transfer, (*shape, stages - 1))
    except ValueError:
        raise ValueError(f"transfer has shape {transfer.shape}: must broadcast to {(*shape, stages - 1)}") from None
    clock = np.zeros((*shape, stages))
    done = {True: np.zeros_like(forward), False: np.zeros_like(backward)}  # when each result leaves its stage
    for stage, ahead, i in _order(stages, micro_batches):
        source = stage - 1 if ahead else stage + 1
        if 0 <= source < stages:
            arrival = done[ahead][..., source, i] + transfer[..., min(source, stage)]
            clock[..., stage] = np.maximum(clock[..., stage], arrival)
        clock[..., stage] += (forward if ahead else backward)[..., stage, i]
        done[ahead][..., stage, i] = clock[..., stage]
    return clock


def _order(stages, micro_batches):
    """Every (stage, is it a forward pass, micro-batch), each after those that it needs."""
    left = []
    for stage in range(stages):
        ahead = min(stages - 1 - stage, micro_batches)
        turns = [(True, i) for i in range(ahead)]
        for i in range(micro_batches):
            turns += [(True, ahead + i)] * (ahead + i < micro_batches) + [(False, i)]
        left.append(turns[::-1])
    done = set()
    while any(left):
        for stage, turns in enumerate(left):
            while turns:
                ahead, i = turns[-1]
                source = stage - 1 if ahead else stage + 1
                if 0 <= source < stages and (source, ahead, i) not in done:
                    break
                done.add((stage, *turns.pop()))
                yield stage, ahead, i


def _members(name, times):
    times = checks.real(name, times)
    if times.ndim == 0:
        raise ValueError(f"{name} = {times}: must be an array with the members along its last axis")
    return times
