"""One job simulated event by event, plainly: the oracle of the plan's model."""

import heapq


def simulate(
    rng, horizon, *, mtbf, interval, write, shares, on_node, detection, cold, swap, replacement, standbys, repair, waits
):
    """Run a job for at least `horizon` seconds; return the shares of time by what it was spent on, and the nodes that found no standby.

    All times in seconds; `shares`, `on_node` and `detection` are lists by class; repairs are exponential.
    """
    spent = dict.fromkeys(("useful", "writes", "rework", "detection", "restart", "waiting"), 0.0)
    now, back, asked, none = 0.0, [], 0, 0
    attempt = interval + write
    classes = range(len(shares))
    while now < horizon:
        failure = rng.exponential(mtbf)
        if failure >= attempt:
            now += attempt
            spent["useful"] += interval
            spent["writes"] += write
            continue
        now += failure
        spent["rework"] += failure
        while True:  # a recovery, until one gets through
            kind = rng.choice(classes, p=shares)
            noticed, restart = detection[kind], cold
            if on_node[kind]:
                while back and back[0] <= now:
                    heapq.heappop(back)
                asked += 1
                if len(back) < standbys:
                    heapq.heappush(back, now + rng.exponential(repair))
                    restart = swap
                elif waits:
                    none += 1
                    heapq.heappush(back, now + rng.exponential(repair))
                    first = heapq.heappop(back)
                    spent["waiting"] += first - now
                    now = first
                else:
                    none += 1
                    restart = cold + replacement
            failure = rng.exponential(mtbf)
            took = min(failure, noticed + restart)
            spent["detection"] += min(took, noticed)
            spent["restart"] += max(0.0, took - noticed)
            now += took
            if failure >= noticed + restart:
                break
    return {name: seconds / now for name, seconds in spent.items()}, none / max(1, asked)
