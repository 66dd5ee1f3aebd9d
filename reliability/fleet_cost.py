"""What the useful work of a fleet costs: which node-hours are paid for, and by whom.

The job pays for its nodes from start to end, whether they compute, stand still or wait. What it pays
beyond depends on where its reserves come from:

* **Held**: the standbys are the job's own, and idle. They are paid for all the time; a node in repair
  is one of those that are held, paid in full or in part.
* **Borrowed**: a node that fails is replaced by one that does other work, and that node goes back when
  the failed one returns. While it does other work, that work pays for it. The job pays for the node in
  repair, and for the work that the other job loses when its node is taken.

A retired node is paid for until its exchange, while a new one already works in its place.
"""

from dataclasses import dataclass

import numpy as np

from reliability import checks
from reliability.units import HOUR_S


@dataclass(frozen=True)
class Terms:
    """Who pays what.

    Attributes
    ----------
    in_repair : float
        From 0 to 1. Share of its price that is paid for a node in repair: 1 where the hardware is one's own, 0 where
        who lets it bears the repair.
    preempted_h : float
        From 0. Node-hours of other work that are lost, and paid by the job, for each node that it borrows.
    retired_h : float
        From 0. Node-hours paid for a node that is retired, until its exchange.
    """

    in_repair: float = 1.0
    preempted_h: float = 0.0
    retired_h: float = 0.0

    def __post_init__(self):
        checks.scalar("in_repair", checks.probability("in_repair", self.in_repair))
        checks.scalar("preempted_h", checks.non_negative("preempted_h", self.preempted_h))
        checks.scalar("retired_h", checks.non_negative("retired_h", self.retired_h))


def repair_within(mean_h, horizon_h):
    r"""Mean part of an exponential repair that lies inside the horizon, when it begins at any time of it.

    .. math:: m - \frac{m^2}{T} \left( 1 - e^{-T/m} \right)

    Parameters
    ----------
    mean_h : float or array, >= 0
        Mean time of a repair, m.
    horizon_h : float or array, > 0
        T.

    Returns
    -------
    float or array
        From half the horizon, for repairs without end, to `mean_h`, for short ones.

    Examples
    --------
    >>> round(repair_within(24.0, 720.0), 2), round(repair_within(1e9, 720.0), 2)
    (23.2, 360.0)
    """
    mean_h, horizon_h = checks.non_negative("mean_h", mean_h), checks.positive("horizon_h", horizon_h)
    checks.broadcast(mean_h=mean_h, horizon_h=horizon_h)
    with np.errstate(divide="ignore", over="ignore"):
        x = horizon_h / mean_h
    # The difference cancels where the repair is far longer than the horizon; there its series takes over.
    small = x < 1e-4
    safe = np.where(small | np.isinf(x), 1.0, x)
    exact = mean_h * (1 + np.expm1(-safe) / safe)
    inside = np.where(small, horizon_h * (0.5 - x / 6), exact)
    return checks.plain(np.where(np.isinf(x), mean_h, inside))


def hours_in_repair(result, repair_h):
    """Node-hours in repair, of each replication.

    Parameters
    ----------
    result : FleetResult
    repair_h : float, >= 0
        Mean time that a node is away.

    Returns
    -------
    array [n]
        Nodes sent to repair, the retired ones left out, times :func:`repair_within`: the mean, given how
        many they were.

    Notes
    -----
    Assumes that the repairs of a replication begin evenly over its horizon, and take exponential times.
    """
    repaired = result.counts["nodes_repaired"] - result.counts["nodes_retired"]
    return repaired * repair_within(repair_h, result.training_time_h)


def held_hours(result, nodes, repair_h, terms):
    r"""Node-hours paid for where all reserves are the job's own, of each replication.

    .. math:: N T - (1 - q) A + h F

    with `N` nodes for a time `T`, `A` node-hours in repair of which a share `q` is paid, and `h` hours more for each of
    `F` retired nodes.

    Parameters
    ----------
    result : FleetResult
    nodes : int, >= 1
        Nodes of the job and its standbys, those in repair among them.
    repair_h : float, >= 0
    terms : Terms

    Returns
    -------
    array [n]
    """
    nodes = checks.count("nodes", nodes)
    unpaid = (1 - terms.in_repair) * hours_in_repair(result, repair_h)
    return nodes * result.training_time_h - unpaid + terms.retired_h * result.counts["nodes_retired"]


def borrowed_hours(result, nodes, repair_h, terms):
    r"""Node-hours paid for where each failed node is replaced by one that did other work, of each replication.

    .. math:: N T + q A + L f + h F

    with `f` nodes that failed, each at the price of `L` node-hours of other work; the rest as in :func:`held_hours`.

    Parameters
    ----------
    result : FleetResult
    nodes : int, >= 1
        Nodes of the job.
    repair_h : float, >= 0
    terms : Terms

    Returns
    -------
    array [n]
    """
    nodes = checks.count("nodes", nodes)
    away = terms.in_repair * hours_in_repair(result, repair_h)
    taken = terms.preempted_h * result.counts["nodes_repaired"]
    return nodes * result.training_time_h + away + taken + terms.retired_h * result.counts["nodes_retired"]


def useful_share(result, nodes, paid_hours):
    r"""Useful share of the node-hours that are paid for, of each replication.

    .. math:: y = \frac{J \, t_\text{useful}}{\text{paid node-hours}}

    The effective training ratio with idle standbys priced in. An hour of useful work on one node costs
    the price of a node-hour over y.

    Parameters
    ----------
    result : FleetResult
    nodes : int, >= 1
        Nodes of the job, J.
    paid_hours : array [n], > 0
        :func:`held_hours` or :func:`borrowed_hours`.

    Returns
    -------
    array [n], in [0, 1]
    """
    useful_h = result.bins_s["useful"] / HOUR_S
    return checks.count("nodes", nodes) * useful_h / checks.positive("paid_hours", paid_hours)


def cost_of_useful_hour(price, share):
    """Price of a useful hour: the price of an hour over the useful share of what is paid; infinite where that is 0.

    Examples
    --------
    >>> cost_of_useful_hour(2.5, 0.8)
    3.125
    """
    price, share = checks.non_negative("price", price), checks.probability("share", share)
    checks.broadcast(price=price, share=share)
    with np.errstate(divide="ignore", invalid="ignore"):
        return checks.plain(np.where(share > 0, price / share, np.inf))
