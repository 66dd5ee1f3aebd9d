"""The exercises of the page on policies: what is tried, under the failures of the page's own tables, and what is said of it."""

from reliability.scenarios.policies_fleets import generators, page_case
from reliability.scenarios.policies_maps import own_pool, verdicts
from reliability.scenarios.policies_rules_text import gained, signed
from reliability.scenarios.policies_text import NO_WORK, cost, lead, named

SHORTEST_S = 1.0  # stops are halved until they are no longer than this, and then none is tried


def longest_stop(p):
    """Return the longest of ever shorter stops to shrink or grow with which elastic is shown to be the cheapest way back.

    Parameters
    ----------
    p : Parameters

    Returns
    -------
    float or None
        `resize_s`, halved as often as it takes, or 0; None where even that is not enough.
    """
    pool, stops = own_pool(p), [p.resize_s]  # stops that no standby makes leave the pool as it is
    while stops[-1] > 2 * SHORTEST_S:
        stops.append(stops[-1] / 2)
    for stop in dict.fromkeys([*stops, 0.0]):
        shorter = p.model_copy(update={"resize_s": stop})
        verdict = verdicts(shorter, page_case(p), generators(p)["own"], pool)["money"]
        if verdict.best == "elastic" and verdict.shown:
            return stop
    return None


def stop_said(p, stop):
    """Say how short a stop is enough, as :func:`longest_stop` found it."""
    if stop is None:
        return "Elastic is not shown to be the cheapest, however short the stops are."
    if stop == p.resize_s:
        return f"Elastic is shown to be the cheapest already, with stops of {_seconds(stop)}."
    enough = f"{_seconds(stop)} of each stop are" if stop else "only no stop at all is"
    return f"Halved from {_seconds(p.resize_s)} until elastic is shown to be the cheapest: {enough} short enough."


def _seconds(stop):
    return f"{stop:,.0f} s" if stop >= 10 else f"{stop:.2g} s"


def cheapest_said(p, verdict):
    """Say which way back is the cheapest, what it costs, and by how much it leads."""
    if not verdict.value > 0:
        return NO_WORK
    name = named(verdict.best, verdict.standbys)
    return f"{name}: {cost(p, verdict.value)} for a useful GPU-hour, {lead(verdict, 'money')}."


def best_rules_said(tried, before):
    """Say what the best rule gains in ETTR, beside what it gained before.

    Parameters
    ----------
    tried, before : list of Rule
    """
    best, was = (max((r.time for r in rules), key=lambda time: time.mean) for rules in (tried, before))
    shown = [r.time for r in tried if r.time.low > 0 and float(signed(100 * r.time.mean))]
    if not shown:
        return f"Then no rule is shown to gain ETTR: the best {gained(best)} points, and {gained(was)} before."
    best = max(shown, key=lambda time: time.mean)
    return f"The best rule gains {gained(best)} points of ETTR instead of {gained(was)}."
