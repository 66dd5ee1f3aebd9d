"""What a trace of failures does to one job, event by event: outages, standbys that run out, a narrower job.

Every function takes the same trace, so that ways of recovery can be compared on the same failures. A
checkpoint every `interval` stalls the job for `write`, and an interruption costs half an interval of work.
"""

import heapq
from dataclasses import dataclass

import numpy as np

from reliability import checks


@dataclass(frozen=True)
class Ledger:
    """A job's period: share of it that was kept as work (`kept`), share up (`up`), and interruptions (`stops`)."""

    kept: float
    up: float
    stops: int


def kept_share(up, stops, interval, write):
    r"""Share of time that becomes work: up time less writes and lost work.

    .. math:: P_\text{up} \left(1 - \frac{w}{c}\right) - \nu \, \frac{c}{2}

    Parameters
    ----------
    up : float or array, in [0, 1]
        Share of time in which the job runs.
    stops : float or array, >= 0
        Interruptions per unit of time, nu.
    interval : float or array, > 0
        Checkpoint interval, c.
    write : float or array, >= 0
        Stall of a checkpoint within it, w, at most the interval.

    Returns
    -------
    float or array in [0, 1]
        0 where the interruptions cost more than there is.

    Notes
    -----
    First order in the interval: a stretch that is shorter than half an interval is charged more than it had.

    Examples
    --------
    >>> round(kept_share(0.9125, 0.2953, 0.5, 0.02), 3)
    0.802
    """
    up, stops = checks.probability("up", up), checks.non_negative("stops", stops)
    interval, write = checks.positive("interval", interval), checks.non_negative("write", write)
    checks.broadcast(up=up, stops=stops, interval=interval, write=write)
    if (write > interval).any():
        raise ValueError(f"write = {checks.plain(write)}: must be at most the interval = {checks.plain(interval)}")
    with np.errstate(over="ignore"):
        return checks.plain(np.maximum(0.0, up * (1 - write / interval) - stops * (interval / 2)))


def _trace(times, lost, horizon):
    horizon = checks.scalar("horizon", checks.positive("horizon", horizon))
    if all(isinstance(x, (list, tuple, np.ndarray)) and not len(x) for x in (times, lost)):
        return [], horizon  # nothing strikes
    times, lost = checks.non_negative("times", times), checks.whole("lost", lost, low=1)
    if times.ndim != 1 or times.shape != lost.shape:
        raise ValueError(f"times {times.shape}, lost {lost.shape}: must be two lists of one length")
    if (np.diff(times) < 0).any() or times[-1] >= horizon:
        raise ValueError(f"times: must ascend and end before the horizon = {horizon:g}")
    return list(zip(times.tolist(), lost.tolist(), strict=True)), horizon


def with_standbys(times, lost, horizon, standbys, swap, wait, away, interval, write):
    """Run a job that swaps in standbys, and waits for a repair where too few are left.

    Parameters
    ----------
    times, lost : arrays [events]
        When failures strike, ascending, and how many nodes each takes.
    horizon : float, > 0
    standbys : int, >= 0
        An event that finds enough takes them; one that does not takes none.
    swap, wait : float, >= 0
        Outage with enough standbys, and with too few. Outages that overlap are one.
    away : float, >= 0
        Time after which a node that was replaced is a standby again.
    interval, write : float
        See :func:`kept_share`.

    Returns
    -------
    Ledger
        Shares of the horizon, for the job's own nodes: standbys are to be charged beside it.

    Examples
    --------
    >>> with_standbys([10.0, 11.0], [1, 1], 100.0, standbys=1, swap=0.5, wait=4.0, away=5.0, interval=1.0, write=0.0)
    Ledger(kept=0.945, up=0.955, stops=2)
    """
    events, horizon = _trace(times, lost, horizon)
    free, back = checks.count("standbys", standbys, low=0), []
    swap, wait, away = (
        checks.scalar(n, checks.non_negative(n, v)) for n, v in (("swap", swap), ("wait", wait), ("away", away))
    )
    kept_share(1.0, 0.0, interval, write)  # refuses what cannot be
    working, up, kept, stops, down_until = 1 - write / interval, 0.0, 0.0, 0, 0.0
    for time, nodes in events:
        while back and back[0] <= time:
            heapq.heappop(back)
            free += 1
        enough = free >= nodes
        if enough:
            free -= nodes
            for _ in range(nodes):
                heapq.heappush(back, time + away)
        if time >= down_until:
            up += time - down_until
            kept = max(0.0, kept + (time - down_until) * working - interval / 2)
            stops += 1
        down_until = max(down_until, time + (swap if enough else wait))
    last = max(0.0, horizon - down_until)
    return Ledger((kept + last * working) / horizon, (up + last) / horizon, stops)


def shrinking(times, lost, horizon, nodes, replica, reshard, away, interval, write):
    """Run a job that goes on without the replicas that lost a node, until the nodes are back.

    Parameters
    ----------
    times, lost, horizon
        See :func:`with_standbys`.
    nodes, replica : int, >= 1
        Nodes of the job, and of one replica: it shrinks by whole ones.
    reshard : float, >= 0
        Stop at each failure; one that strikes during it is served after it.
    away : float, >= 0
        Time after which a failed node is back.
    interval, write : float

    Returns
    -------
    Ledger
        `kept` in shares of the full width.

    Examples
    --------
    >>> shrinking([10.0], [1], 100.0, nodes=16, replica=8, reshard=0.5, away=4.0, interval=1.0, write=0.0)
    Ledger(kept=0.9725, up=0.995, stops=1)
    """
    events, horizon = _trace(times, lost, horizon)
    nodes, replica = checks.count("nodes", nodes), checks.count("replica", replica)
    reshard, away = (checks.scalar(n, checks.non_negative(n, v)) for n, v in (("reshard", reshard), ("away", away)))
    kept_share(1.0, 0.0, interval, write)
    working, ready, up, kept, stops, back = 1 - write / interval, 0.0, 0.0, 0.0, 0, []

    def width(at):
        missing = sum(b > at for b in back)
        return max(0, nodes - replica * -(-missing // replica)) / nodes

    def work(start, end):
        marks = [start, *sorted(b for b in back if start < b < end), end]
        return sum((b - a) * width(a) for a, b in zip(marks, marks[1:], strict=False)) * working

    for time, failed in events:
        if ready >= horizon:
            break
        back = [b for b in back if b > ready]
        start = max(ready, time)
        kept, up = kept + work(ready, start), up + start - ready
        kept = max(0.0, kept - interval / 2 * width(time))
        back += [time + away] * failed
        stops += 1
        ready = start + reshard
    if ready < horizon:
        kept, up = kept + work(ready, horizon), up + horizon - ready
    return Ledger(kept / horizon, min(1.0, up / horizon), stops)
