"""Retirement of lemons by a rule: how often the rule takes out a node that is none.

A node is retired at its n-th blamed failure, counted over all its time or within a window of days. Good nodes fail too, and are blamed for failures of others: a rule that counts to few retires them.
"""

import numpy as np

from reliability import checks

DRAWS = 20_000  # of the times of m failures, for each m
LEFT_OUT = 1e-9  # chance of more failures than are looked at


def chance_retired(mean, failures, window=None, away=0.0, rng=None, draws=DRAWS):
    r"""Chance that a node is retired within a horizon, its blamed failures a Poisson process while it is at work.

    .. math:: P(N \ge n) = \frac{\gamma(n, \mu')}{\Gamma(n)}, \qquad
              \sum_{m \ge n} \frac{\mu'^m e^{-\mu'}}{m!} \, P\left( \min_i \left( u_{(i+n-1)} - u_{(i)} \right) \le w' \right)

    without and with a window. The u are m times spread evenly over the horizon, in order. Between n failures a node
    is away n - 1 times, which leaves less for them: mu' = mu (1 - (n - 1) a), w' = (w - (n - 1) a) / (1 - (n - 1) a).

    Parameters
    ----------
    mean : float, >= 0
        Mean number of failures that a node is blamed for over the horizon if it is at work throughout, mu.
    failures : int, >= 1
        The rule, n.
    window : float, in (0, 1], optional
        The window's share of the horizon, w. Without it all failures count.
    away : float, in [0, 1]
        Share of the horizon that a node is away after each failure, in repair and standing by, a.
    rng : numpy.random.Generator
        Draws the chance of a window for each m; needed with a window below 1 and n above 1.
    draws : int, >= 1

    Returns
    -------
    float

    Notes
    -----
    Exact without a window where the time away is fixed. With one, what the m - n further failures take from
    the horizon is left out.

    Examples
    --------
    >>> round(chance_retired(1.0, 2), 4), round(chance_retired(1.0, 2, away=0.1), 4)
    (0.2642, 0.2275)
    >>> round(chance_retired(1.0, 2, window=0.1, rng=np.random.default_rng(1)), 2)
    0.08
    """
    from scipy.special import gammainc

    mean = checks.scalar("mean", checks.non_negative("mean", mean))
    failures = checks.count("failures", failures)
    lost = (failures - 1) * checks.scalar("away", checks.probability("away", away))
    if window is not None:
        window = checks.scalar("window", checks.probability("window", checks.positive("window", window)))
    if lost >= (1.0 if window is None else window):
        return 0.0
    mean *= 1.0 - lost
    if window in (None, 1.0) or failures == 1 or mean == 0:
        return float(gammainc(failures, mean))
    window = (window - lost) / (1.0 - lost)
    return _within(mean, failures, window, checks.generator(rng), checks.count("draws", draws))


def _within(mean, failures, window, rng, draws):
    """Sum over the numbers of failures; beyond a number that surely holds a cluster, each is one."""
    from scipy.special import gammainc, pdtr

    total, m = 0.0, failures
    while True:
        times = np.sort(rng.random((draws, m)), axis=1)
        clustered = (times[:, failures - 1 :] - times[:, : m - failures + 1]).min(axis=1) <= window
        total += (pdtr(m, mean) - pdtr(m - 1, mean)) * clustered.mean()
        m += 1
        beyond = float(gammainc(m, mean))  # chance of m failures or more
        if clustered.all() or beyond < LEFT_OUT:
            return float(total + beyond * clustered.mean())


def blames_of_a_good_node(result, nodes, right, wrong):
    r"""Mean number of failures that a good node is blamed for over a run, if it is at work throughout.

    .. math:: \mu = \frac{r \, F_\text{random} + w \, F}{J}

    Its own failures, where they are told right, and its part of all that are blamed on a healthy node.

    Parameters
    ----------
    result : FleetResult
        Its counts of failures F and of systematic ones, which good nodes do not have.
    nodes : int, >= 1
        Nodes of the job, J.
    right, wrong : float, in [0, 1]
        Shares of the failures that are blamed on the node that failed, and on another.

    Returns
    -------
    float
    """
    failures, systematic = (float(result.counts[name].mean()) for name in ("failures", "systematic"))
    return (right * (failures - systematic) + wrong * failures) / checks.count("nodes", nodes)


def share_away(result, standbys, repair_h):
    r"""Share of a run that a node is away from the job after a failure: in repair, and then standing by.

    .. math:: a = \frac{R + k T / F}{T}

    Of k standbys that take places in no order, one waits for k failures in the mean.

    Parameters
    ----------
    result : FleetResult
    standbys : int, >= 0
        k.
    repair_h : float, >= 0
        Mean repair, R.

    Returns
    -------
    float, in [0, 1]
    """
    horizon_h, failures = float(result.training_time_h.mean()), float(result.counts["failures"].mean())
    waiting_h = checks.count("standbys", standbys, low=0) * horizon_h / max(failures, 1.0)
    return min(1.0, (checks.scalar("repair_h", checks.non_negative("repair_h", repair_h)) + waiting_h) / horizon_h)
