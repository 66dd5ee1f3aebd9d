"""One job simulated event by event, plainly: the oracle of the plan's model."""

import heapq


def simulate(
    rng, horizon, *, mtbf, interval, write, shares, on_node, detection, cold, swap, replacement, standbys, repair, waits
):
    """Run a job for at least `horizon` seconds; return the shares of time by what it was spent on, and the nodes that found no standby.

    All times in seconds; `shares`, `on_node` and `detection` are lists by class; repairs are exponential.
    """
    spent = dict.fromkeys(("useful", "checkpoint", "redone", "detection", "restart", "waiting"), 0.0)
    now, back, stand, asked, none = 0.0, [], standbys, 0, 0
    attempt = interval + write
    classes = range(len(shares))
    while now < horizon:
        failure = rng.exponential(mtbf)
        if failure >= attempt:
            now += attempt
            spent["useful"] += interval
            spent["checkpoint"] += write
            continue
        now += failure
        spent["redone"] += min(failure, interval)
        spent["checkpoint"] += max(0.0, failure - interval)
        while True:  # a recovery, until one gets through
            kind = rng.choice(classes, p=shares)
            stages = [("detection", detection[kind]), ("restart", cold)]
            if on_node[kind]:
                while back and back[0] <= now:
                    heapq.heappop(back)
                    stand = min(stand + 1, standbys)
                asked += 1
                heapq.heappush(back, now + rng.exponential(repair))
                if stand:
                    stand -= 1
                    stages[1] = ("restart", swap)
                elif waits:
                    none += 1
                    first = heapq.heappop(back)
                    spent["waiting"] += first - now
                    now = first
                else:  # placed anew, the standbys too
                    none += 1
                    stand = standbys
                    stages.append(("waiting", replacement))
            failure = rng.exponential(mtbf)
            for stage, length in stages:
                took = min(failure, length)
                spent[stage] += took
                now += took
                failure -= took
                if failure <= 0:
                    break
            else:
                break
    return {name: seconds / now for name, seconds in spent.items()}, none / max(1, asked)
