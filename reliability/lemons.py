"""Nodes that fail more often than the others for as long as they stay: lemons.

A share of the nodes fails `factor` times as often as a good one. The mean rate of all nodes is held fixed.
"""

import numpy as np

from reliability import checks

LARGEST = np.finfo(float).max


def lemon_rates(rate, share, factor):
    r"""Rates of a good node and of a lemon, from the mean rate of all nodes.

    .. math:: r_g = \frac{r}{1 - p + p f}, \qquad r_l = f \, r_g

    Parameters
    ----------
    rate : float or array, > 0
        Mean failures per node and time, r.
    share : float or array, in [0, 1]
        Lemons among the nodes, p.
    factor : float or array, >= 1
        How many times as often a lemon fails, f.

    Returns
    -------
    (good, lemon) : floats or arrays

    Examples
    --------
    >>> lemon_rates(1.75, 0.15, 6.0)
    (1.0, 6.0)
    """
    rate, share, factor = (
        checks.positive("rate", rate),
        checks.probability("share", share),
        checks.at_least("factor", factor, 1),
    )
    checks.broadcast(rate=rate, share=share, factor=factor)
    good = rate / (1 - share + share * factor)
    with np.errstate(over="ignore"):
        return checks.plain(good), checks.plain(factor * good)


def failures_by_lemons(share, factor):
    r"""Share of all failures that lemons have: p f / (1 - p + p f).

    By as much a job's interruptions fall when its lemons are replaced by good nodes.

    Parameters
    ----------
    share : float or array, in [0, 1]
    factor : float or array, >= 1

    Examples
    --------
    >>> round(failures_by_lemons(0.15, 6.0), 3)
    0.514
    """
    share, factor = checks.probability("share", share), checks.at_least("factor", factor, 1)
    checks.broadcast(share=share, factor=factor)
    return checks.plain(share * factor / (1 - share + share * factor))


def chance_of_lemon(failures, exposure, rate, share, factor):
    r"""Chance that a node is a lemon, given its failures so far.

    .. math:: \frac{p\, f^k e^{-r_l t}}{p\, f^k e^{-r_l t} + (1 - p)\, e^{-r_g t}}

    Parameters
    ----------
    failures : int or array, >= 0
        k, of this node.
    exposure : float or array, >= 0
        Time that it was watched, t.
    rate, share, factor
        See :func:`lemon_rates`.

    Notes
    -----
    Each node's failures are a Poisson process; a repair changes nothing about the node.

    Examples
    --------
    >>> round(chance_of_lemon(0, 0.0, 1.75, 0.15, 6.0), 2), round(chance_of_lemon(4, 1.0, 1.75, 0.15, 6.0), 2)
    (0.15, 0.61)
    """
    failures, exposure = checks.whole("failures", failures), checks.non_negative("exposure", exposure)
    good, lemon = (np.asarray(r) for r in lemon_rates(rate, share, factor))
    share, factor = np.asarray(share, dtype=float), np.asarray(factor, dtype=float)
    checks.broadcast(failures=failures, exposure=exposure, rate=good)
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        # Finite, however long the exposure: with a share of 0 or 1 no infinity may meet its opposite.
        quiet = np.minimum((np.minimum(lemon, LARGEST) - good) * exposure, LARGEST)
        log_odds = np.log(share) - np.log1p(-share) + (failures * np.log(factor) - quiet)
        return checks.plain(1 / (1 + np.exp(-log_odds)))


def failures_to_retire(level, exposure, rate, share, factor):
    """Failures at which a node is a lemon with at least a given chance: where to retire it.

    Parameters
    ----------
    level : float or array, in (0, 1)
    exposure : float or array, >= 0
    rate : float or array, > 0
    share : float or array, in (0, 1)
    factor : float or array, > 1

    Returns
    -------
    int or array

    Examples
    --------
    >>> failures_to_retire(0.5, 1.0, 1.75, 0.15, 6.0)
    4
    """
    level, exposure = checks.inner_probability("level", level), checks.non_negative("exposure", exposure)
    share, factor = checks.inner_probability("share", share), checks.at_least("factor", factor, 1)
    if factor.min() == 1:
        raise ValueError(f"factor = {checks.plain(factor)}: must be above 1, or nothing tells a lemon from a good node")
    good, lemon = (np.asarray(r) for r in lemon_rates(rate, share, factor))
    checks.broadcast(level=level, exposure=exposure, rate=good)
    with np.errstate(over="ignore"):
        needed = (
            np.log(level)
            - np.log1p(-level)
            - np.log(share)
            + np.log1p(-share)
            + (np.minimum(lemon, LARGEST) - good) * exposure
        )
        failures = np.maximum(np.ceil(needed / np.log(factor) - 1e-9), 0)
    if failures.max() > checks.LARGEST:
        raise ValueError(
            f"exposure = {exposure.max():g}: within it a good node fails more often than the 2^53 times that can be counted"
        )
    return checks.plain(failures.astype(np.int64))
