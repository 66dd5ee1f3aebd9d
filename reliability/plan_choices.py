"""What a plan says of its two choices, the checkpoint interval and the standby nodes, beside what it takes."""

from dataclasses import replace

import numpy as np

from reliability import checkpoint, job_state
from reliability.intervals import availability_interval
from reliability.quantities import interval
from reliability.standby import chance_pool_lasts

MOST_FOLLOWED = 256  # standbys whose chain is followed; its time grows with their cube


def intervals_compared(plan):
    """Return the checkpoint intervals of the planned state by several models, in minutes, each with its interval.

    Returns
    -------
    dict
        ``best`` maximises the mean ETTR over the draws, by the formula; ``good`` is the range as good within half a percent; the others are the
        formulas' own, draw by draw.
    """
    state = plan.planned.state
    shares, whole = state.recoveries()
    mean_restart = (shares * whole).sum(1)
    low, high = job_state.good_intervals(state)
    return {
        "now": plan.cluster.checkpoint.interval_min,
        "planned": state.interval / 60,
        "best": job_state.best_interval(state) / 60,
        "good": (low / 60, high / 60),
        "exact": interval(checkpoint.optimal_interval(state.write, state.mtbf) / 60),
        "young": interval(checkpoint.young_interval(state.write, state.mtbf) / 60),
        "daly": interval(checkpoint.daly_interval(state.write, state.mtbf) / 60),
        "saxena": interval(availability_interval(state.write, mean_restart, state.mtbf) / 60),
    }


def giving_back(plan):
    """Return how many standbys of the plan do not pay, and the GPU-hours of the run that giving them back would save [draws].

    Returns
    -------
    (spare, saved)
        `saved` is what they would do elsewhere, less the work that the job then loses; (0, None) where all of them pay, or it is not known.
    """
    planned = plan.planned.state
    spare = 0 if plan.pools is None else max(0, planned.standbys - plan.pools.best)
    if not spare:
        return 0, None
    fewer = plan.simulator.measure(replace(planned, standbys=planned.standbys - spare))
    nodes = spare * plan.cluster.cluster.gpus_per_node * plan.horizon_h
    return spare, nodes - plan.gpu_hours * (plan.planned.ettr - fewer.ettr)


def chance_runs_out(plan, state):
    """Chance that at least one failure of the whole run finds no standby, with its interval; None where it is not known.

    Parameters
    ----------
    plan : Plan
    state : State

    Returns
    -------
    dict of value, low and high, or None
    """
    if state.swap is None or state.load is None or state.standbys > MOST_FOLLOWED:
        return None
    number = int(np.clip(150_000 // (state.standbys + 1) ** 2, 8, 64))  # of loads: fewer where the chain is long
    order = np.argsort(state.load)[np.linspace(0, len(state.load) - 1, number).astype(int)]
    rates = state.load / state.repair_h
    lasting = [chance_pool_lasts([rates[i]], [1], state.repair_h[i], state.standbys, plan.horizon_h) for i in order]
    return interval(1 - np.array(lasting))
