"""Two plans compared draw by draw: what is the same in both cancels, and is not in the intervals of the differences."""

import numpy as np

from reliability.plan_document import lost_gpu_hours
from reliability.quantities import interval
from reliability.units import HOUR_S

SCHEMA_NAME = "training-reliability/plan-compare"
VERSION = 2
BETTER_HIGH = ("ettr_now", "ettr_planned", "mtbf_h")
BETTER_LOW = ("lost_gpu_hours", "lost_gpu_hours_planned", "lost", "lost_planned")


def compare(first, second):
    """Compare two plans that were drawn with one seed.

    Parameters
    ----------
    first, second : reliability.plan.Plan

    Returns
    -------
    dict
        ``schema``, ``version``, ``first`` and ``second`` (``name``, ``gpus``, ``horizon_h``, ``target``, ``currency``), and ``differences``: a list of
        ``what``, ``first``, ``second``, ``difference`` (second less first), each a table of value, low and high,
        ``error``, of an ETTR the standard error of the mean difference because the runs are not more, and
        ``chance_second_better``, null where they do not differ, or neither way is better.

    Raises
    ------
    ValueError
        Where the draws are not common.
    """
    for name in ("seed", "draws"):
        a, b = getattr(first.streams, name), getattr(second.streams, name)
        if a != b:
            raise ValueError(
                f"{name} = {a} and {b}: must be the same in both plans, so that the random numbers are common"
            )
    rows = []
    measured = [_measures(made) for made in (first, second)]
    for what in measured[0]:
        if what in measured[1]:
            a, b = (np.broadcast_to(found[what], (first.streams.draws,)).astype(float) for found in measured)
            rows.append(
                {
                    "what": what,
                    "first": interval(a),
                    "second": interval(b),
                    "difference": interval(b - a),
                    "error": _error(what, first, second),
                    "chance_second_better": _better(what, a, b),
                }
            )
    return {
        "schema": SCHEMA_NAME,
        "version": VERSION,
        "first": _about(first),
        "second": _about(second),
        "differences": rows,
    }


def _error(what, first, second):
    """Standard error of the mean difference of what is simulated, because the runs are not more; None of what is not."""
    state = what.removeprefix("ettr_")
    if state == what:
        return None
    one, other = getattr(first, state), getattr(second, state)
    if len(one.chance) == len(other.chance):
        return other.error(one)
    return float(np.hypot(one.error(), other.error()))  # of clusters so different that they have other numbers of runs


def _better(what, a, b):
    if (a == b).all():
        return None
    if what in BETTER_HIGH:
        return float(np.mean(b > a) + np.mean(b == a) / 2)
    if what in BETTER_LOW:
        return float(np.mean(b < a) + np.mean(b == a) / 2)
    return None


def _about(made):
    return {
        "name": made.name,
        "gpus": made.cluster.cluster.gpus,
        "horizon_h": made.horizon_h,
        "target": made.cluster.target.ettr,
        "currency": None if made.cluster.cluster.price_per_gpu_hour is None else made.cluster.cluster.currency,
    }


def _measures(made):
    lost = [lost_gpu_hours(made, simulated) for simulated in (made.now, made.planned)]
    found = {
        "ettr_now": made.now.ettr,
        "ettr_planned": made.planned.ettr,
        "mtbf_h": made.now.state.mtbf / HOUR_S,
        "lost_gpu_hours": lost[0],
        "lost_gpu_hours_planned": lost[1],
    }
    if made.cluster.cluster.price_per_gpu_hour is not None:
        found |= {"lost": made.money(lost[0]), "lost_planned": made.money(lost[1])}
    return found | {"interval_min": made.planned.state.interval / 60, "standbys": made.planned.state.standbys}
