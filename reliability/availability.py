"""How failures and repairs scale with the size of a cluster.

Times may be in any one unit, the same throughout a call, unless a name ends in a unit (``_h``).
"""

from dataclasses import dataclass

import numpy as np

from reliability import checks


def job_mtbf(node_mtbf, nodes):
    r"""Mean time between failures of a job that any of its nodes can stop.

    .. math:: M_\text{job} = M_\text{node} / N

    The superposition of N independent Poisson processes of rate 1/M is one of rate N/M.

    Parameters
    ----------
    node_mtbf : float or array, > 0
        Mean time between failures of one node; the job's comes back in the same unit.
    nodes : int or array, >= 1
        Nodes whose failure stops the job. What a node is, one GPU or a host of eight, must be
        the same as for `node_mtbf`.

    Returns
    -------
    float or array
        Broadcast of the two.

    Notes
    -----
    Assumes independent failures at a constant rate, none masked by redundancy.

    Examples
    --------
    >>> round(job_mtbf(8089.6, 1024), 2)
    7.9
    """
    node_mtbf = checks.positive("node_mtbf", node_mtbf)
    nodes = checks.whole("nodes", nodes, low=1)
    checks.broadcast(node_mtbf=node_mtbf, nodes=nodes)
    return checks.plain(node_mtbf / nodes)


def node_mtbf(job_mtbf, nodes):
    r"""Calibrate a node's MTBF from that of a job: the inverse of :func:`job_mtbf`.

    .. math:: M_\text{node} = N \, M_\text{job}

    Parameters
    ----------
    job_mtbf : float or array, > 0
        Mean time to failure of the job, or the mean interval between its interruptions.
    nodes : int or array, >= 1
        Nodes of that job.

    Returns
    -------
    float or array
        In the unit of `job_mtbf`.

    Examples
    --------
    >>> round(node_mtbf(7.9, 1024), 1)
    8089.6
    """
    job_mtbf = checks.positive("job_mtbf", job_mtbf)
    nodes = checks.whole("nodes", nodes, low=1)
    checks.broadcast(job_mtbf=job_mtbf, nodes=nodes)
    return checks.plain(job_mtbf * nodes)


def interruption_interval(elapsed, interruptions):
    """Mean interval between interruptions: elapsed time over their count.

    Parameters
    ----------
    elapsed : float or array, > 0
        Time observed.
    interruptions : int or array, >= 1
        Interruptions counted in it. With none, no interval can be given; use
        :func:`reliability.rates.poisson_rate_interval` for a bound.

    Returns
    -------
    float or array, > 0
        In the unit of `elapsed`.

    Examples
    --------
    >>> round(interruption_interval(54 * 24, 466), 3)
    2.781
    """
    elapsed = checks.positive("elapsed", elapsed)
    interruptions = checks.whole("interruptions", interruptions, low=1)
    checks.broadcast(elapsed=elapsed, interruptions=interruptions)
    return checks.plain(elapsed / interruptions)


def availability(mtbf, mttr):
    r"""Long-run share of time in which the job runs.

    .. math:: A = \frac{M}{M + D}

    Parameters
    ----------
    mtbf : float or array, > 0
        Mean *up* time between failures, M.
    mttr : float or array, >= 0
        Mean time to repair, D, in the same unit.

    Returns
    -------
    float or array in (0, 1]

    Notes
    -----
    An alternating renewal process: holds for any distribution with these means. No failure
    strikes during a repair, and no work is lost: see :func:`expected_ettr`.

    Examples
    --------
    >>> round(availability(7.9, 1.0), 4)
    0.8876
    """
    mtbf = checks.positive("mtbf", mtbf)
    mttr = checks.non_negative("mttr", mttr)
    checks.broadcast(mtbf=mtbf, mttr=mttr)
    # 1 / (1 + D/M) neither overflows nor underflows where M + D would.
    with np.errstate(over="ignore"):
        return checks.plain(1.0 / (1.0 + mttr / mtbf))


def size_at_availability(node_mtbf, mttr, level):
    r"""Number of nodes at which availability has fallen to `level`.

    .. math:: N = \frac{M_\text{node}}{D} \, \frac{1 - a}{a}

    At one half it is simply node MTBF over MTTR.

    Parameters
    ----------
    node_mtbf, mttr : float or array, > 0
        In one unit.
    level : float or array, in (0, 1)
        The availability a.

    Returns
    -------
    float or array
        Not rounded; below it availability is higher.

    Examples
    --------
    >>> round(size_at_availability(8089.6, 1.0, 0.5), 1)
    8089.6
    """
    node_mtbf = checks.positive("node_mtbf", node_mtbf)
    mttr = checks.positive("mttr", mttr)
    level = checks.inner_probability("level", level)
    checks.broadcast(node_mtbf=node_mtbf, mttr=mttr, level=level)
    return checks.plain(node_mtbf / mttr * (1.0 - level) / level)


@dataclass(frozen=True)
class ScaleTable:
    """Availability by size: `nodes` [n], `job_mtbf` [n], `availability` [n, paths]."""

    nodes: np.ndarray
    job_mtbf: np.ndarray
    availability: np.ndarray


def scale_table(node_mtbf, nodes, mttrs):
    """Tabulate job MTBF and availability for each size and each way of repair.

    Parameters
    ----------
    node_mtbf : float, > 0
    nodes : array [n] of int, >= 1
    mttrs : array [paths], >= 0
        In the unit of `node_mtbf`.

    Returns
    -------
    ScaleTable
    """
    nodes = np.atleast_1d(checks.whole("nodes", nodes, low=1))
    mttrs = np.atleast_1d(checks.non_negative("mttrs", mttrs))
    if nodes.ndim != 1 or mttrs.ndim != 1:
        raise ValueError(f"nodes {nodes.shape}, mttrs {mttrs.shape}: each must be a list, not a table")
    mtbf = job_mtbf(checks.scalar("node_mtbf", checks.positive("node_mtbf", node_mtbf)), nodes)
    return ScaleTable(nodes, mtbf, availability(mtbf[:, None], mttrs[None, :]))


def expected_ettr(mtbf, restart, interval, write=0.0):
    r"""Expected effective training time ratio, to first order.

    .. math:: E = \frac{1 - (u_0 + \Delta t / 2) / M}{1 + w / \Delta t}

    Each failure costs the restart and half a checkpoint interval; each interval one write.

    Parameters
    ----------
    mtbf : float or array, > 0
        Mean time between failures of the job, M, in the unit of all other times.
    restart : float or array, >= 0
        Overhead of a restart, u0.
    interval : float or array, > 0
        Work between two checkpoints, dt.
    write : float or array, >= 0
        Stall of a write, w. With 0 this is the simple ETTR.

    Returns
    -------
    float or array in [0, 1]
        0 where a failure costs more than the MTBF: the formula is then outside its range.

    Notes
    -----
    Kokolis et al. (HPCA 2025) state it to be within 5 % of simulation up to 8,000 GPUs. It
    ignores failures during recovery; the exact model is
    :func:`reliability.checkpoint.renewal_efficiency`.

    Examples
    --------
    >>> mtbf_min = 1440 / (2000 * 6.5e-3)  # 2,000 nodes at 6.5 failures per 1,000 node-days
    >>> round(expected_ettr(mtbf_min, restart=5, interval=5), 3)
    0.932
    """
    mtbf = checks.positive("mtbf", mtbf)
    restart = checks.non_negative("restart", restart)
    interval = checks.positive("interval", interval)
    write = checks.non_negative("write", write)
    checks.broadcast(mtbf=mtbf, restart=restart, interval=interval, write=write)
    with np.errstate(over="ignore"):
        kept = np.maximum(0.0, 1.0 - (restart + interval / 2) / mtbf)
        return checks.plain(kept / (1.0 + write / interval))
