"""Detection over many rounds: votes, and the chain behind the mean time to any alarm.

A round flags a rank with a chance that depends on whether the rank is slow; rounds are independent.
A rank's alarm is raised when enough of its rounds speak for one.
"""

from functools import cache
from itertools import product

import numpy as np

from reliability import checks
from reliability.units import HOUR_S

MOST_ROUNDS = 8  # of a window: its chain has fewer than 2**7 states


def rounds_allowed(ranks, alarms_h, step):
    r"""Rounds between the false alarms of one rank, when all ranks together have so many an hour.

    .. math:: A = \frac{N}{a \, s}

    Parameters
    ----------
    ranks : int or array, >= 1
        N.
    alarms_h : float or array, > 0
        False alarms an hour in the whole job, a.
    step : float or array, > 0
        Seconds a round, s.

    Returns
    -------
    float or array
        The average run length that a detector must have on a healthy rank. With this in the place of
        `alarms_h` the function gives the false alarms an hour back.

    Notes
    -----
    Where ranks are scored against their median, it is taken to be known. Of few ranks it varies: 8 raise 1.7
    times as many false alarms of one round or of a cumulative sum, 16 1.4 times, 64 and more no more than set.

    Examples
    --------
    >>> rounds_allowed(1024, 1.0, 30.0)
    122880.0
    """
    ranks = checks.whole("ranks", ranks, low=1)
    alarms_h = checks.positive("alarms_h", alarms_h)
    step = checks.positive("step", step)
    checks.broadcast(ranks=ranks, alarms_h=alarms_h, step=step)
    with np.errstate(over="ignore", under="ignore"):
        return checks.plain(ranks * (HOUR_S / step) / alarms_h)


def absorbing_chain(within, alarm, end=0.0):
    r"""Mean rounds until a chain leaves its states, and the chance that it leaves by an alarm.

    Parameters
    ----------
    within : array [..., n, n], >= 0
        Chance to go from one state to another in a round; the diagonal is not read.
    alarm : array [..., n], >= 0
        Chance to alarm from each state. Rows of `within` and `alarm` add up to 1.
    end : float, in [0, 1]
        Chance that what is to be found ends after a round without an alarm.

    Returns
    -------
    (rounds, chance) : arrays [...]
        From the first state. Infinite, and 0, where no alarm can come.

    Notes
    -----
    States are eliminated one by one without a subtraction (Grassmann, Taksar and Heyman 1985), so that
    both results keep their digits when an alarm is as rare as 1e-300.
    """
    within, alarm = np.array(checks.non_negative("within", within)), np.array(checks.non_negative("alarm", alarm))
    end = checks.scalar("end", checks.probability("end", end))
    if not alarm.ndim or within.shape != (*alarm.shape, alarm.shape[-1]):
        raise ValueError(f"within {within.shape}, alarm {alarm.shape}: must be [..., n, n] and [..., n]")
    other = end * (1 - alarm)
    within *= 1 - end
    rounds = np.ones_like(alarm)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        for k in range(alarm.shape[-1] - 1, 0, -1):
            out = alarm[..., k] + other[..., k] + within[..., k, :k].sum(axis=-1)
            share = within[..., :k, k] / out[..., None]
            within[..., :k, :k] += share[..., None] * within[..., None, k, :k]
            for exits in (alarm, other, rounds):
                exits[..., :k] += share * exits[..., k, None]
        out = alarm[..., 0] + other[..., 0]
        return rounds[..., 0] / out, np.where(out > 0, alarm[..., 0] / np.where(out > 0, out, 1.0), 0.0)


def vote_chance(flag, votes, window):
    r"""Chance that at least k of m rounds flag: the tail of a binomial.

    .. math:: \sum_{i=k}^m \binom{m}{i} p^i (1-p)^{m-i}

    Parameters
    ----------
    flag : float or array, in [0, 1]
        Chance that a round flags, p.
    votes : int, >= 1
        k, at most `window`.
    window : int, >= 1
        m.

    Returns
    -------
    float or array

    Examples
    --------
    >>> round(vote_chance(0.5, 3, 5), 3)
    0.5
    """
    from scipy.special import betainc

    flag = checks.probability("flag", flag)
    votes, window = _votes(votes, window, most=2**31)
    return checks.plain(betainc(votes, window - votes + 1, flag))


def rounds_to_votes(flag, votes, window):
    """Mean rounds until k of the last m rounds have flagged.

    Parameters
    ----------
    flag : float or array, in [0, 1]
        Chance that a round flags, p.
    votes : int, >= 1
        k, at most `window`.
    window : int, from 1 to 8
        m.

    Returns
    -------
    float or array
        Infinite where nothing is ever flagged.

    Notes
    -----
    Exact, by the chain of the last m - 1 rounds, which begins without a flag. Windows overlap: one that
    begins anew after m rounds alarms less often, with the chance of :func:`vote_chance`.

    Examples
    --------
    >>> round(rounds_to_votes(0.5, 2, 2), 12)
    6.0
    """
    flag = checks.probability("flag", flag)
    return checks.plain(absorbing_chain(*_vote_chain(flag, *_votes(votes, window)))[0])


def votes_before_end(flag, votes, window, phase):
    """Chance that k of the last m rounds flag before a slow phase ends.

    Parameters
    ----------
    flag : float or array, in [0, 1]
        Chance that a round flags while the phase lasts.
    votes, window : int
        As in :func:`rounds_to_votes`.
    phase : float, >= 1
        Mean rounds of the phase, which ends after any of them with the same chance.

    Returns
    -------
    float or array

    Examples
    --------
    >>> votes_before_end(1.0, 1, 1, 10)
    1.0
    """
    flag = checks.probability("flag", flag)
    phase = checks.scalar("phase", checks.at_least("phase", phase, 1))
    return checks.plain(absorbing_chain(*_vote_chain(flag, *_votes(votes, window)), end=1 / phase)[1])


def flag_for_votes(rounds, votes, window):
    """Chance of a flag at which k of the last m come up after so many rounds: the inverse of :func:`rounds_to_votes`.

    Parameters
    ----------
    rounds : float or array
        Mean rounds, at least `votes`.
    votes, window : int
        As in :func:`rounds_to_votes`.

    Returns
    -------
    float or array

    Examples
    --------
    >>> round(flag_for_votes(6.0, 2, 2), 12)
    0.5
    """
    votes, window = _votes(votes, window)
    rounds = checks.at_least("rounds", rounds, votes)
    low, high = -np.log(rounds), np.zeros_like(rounds)  # the first flag alone takes 1 / p rounds
    for _ in range(60):
        middle = (low + high) / 2
        rare = absorbing_chain(*_vote_chain(np.exp(middle), votes, window))[0] > rounds
        low, high = np.where(rare, middle, low), np.where(rare, high, middle)
    return checks.plain(np.exp((low + high) / 2))


def score_flag(slowdown, ranks, relative_jitter, score=0.75):
    r"""Chance that a round scores a rank below `score`: the best rank's time over its own.

    .. math:: \mathbb{E} \, \Phi\left(\frac{1 + \delta - b / c}{\rho}\right), \quad b = 1 - \rho \max\nolimits_{N-1} z

    Parameters
    ----------
    slowdown : float or array, >= 0
        The rank's share above the mean, delta; 0 for a healthy one.
    ranks : int or array, >= 1
        N.
    relative_jitter : float or array, >= 0
        Standard deviation of a rank's time over its mean, rho.
    score : float or array, in (0, 1)
        c.

    Returns
    -------
    float or array

    Notes
    -----
    Normal times; b is the time of the best of the others, whose normal deviates are z, and the mean is over it.
    A rank alone is its own best, and never flagged. The rule is that of nvidia-resiliency-ext's relative score.

    Examples
    --------
    >>> round(score_flag(0.34, 1024, 0.01), 3)
    1.0
    """
    from scipy.special import log_ndtr, ndtr, ndtri

    slowdown = checks.non_negative("slowdown", slowdown)
    ranks = checks.whole("ranks", ranks, low=1)
    relative_jitter = checks.non_negative("relative_jitter", relative_jitter)
    score = checks.inner_probability("score", score)
    checks.broadcast(slowdown=slowdown, ranks=ranks, relative_jitter=relative_jitter, score=score)
    others, inverse = ranks - 1.0, 1 / score
    with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
        # From where the best of the others hardly ever is, to beyond it, and beyond where it is when a flag is rare.
        low = ndtri(np.exp(-50 / np.maximum(others, 1)))
        gap = np.clip((inverse - 1 - slowdown) / relative_jitter, -1e3, 1e3)
        high = np.maximum(np.sqrt(2 * np.log(np.maximum(others, 1))) + 9, gap * inverse / (1 + inverse**2) + 9)
        chance = np.zeros(np.broadcast_shapes(gap.shape, ranks.shape))
        for node, weight in zip(*_nodes(256), strict=True):
            z = low + (high - low) * (node + 1) / 2
            density = np.exp(np.log(others) + np.maximum(others - 1, 0) * log_ndtr(z) - z * z / 2) / np.sqrt(2 * np.pi)
            above = (1 + slowdown) / relative_jitter - np.maximum(0.0, 1 / relative_jitter - z) * inverse
            chance += weight / 2 * (high - low) * density * ndtr(np.where(np.isnan(above), -np.inf, above))
    certain = np.where((1 + slowdown > inverse) & (ranks > 1), 1.0, 0.0)
    return checks.plain(np.where(relative_jitter > 1e-100, np.clip(chance, 0.0, 1.0), certain))


@cache
def _nodes(number):
    """Gauss-Legendre nodes and weights of (-1, 1)."""
    return np.polynomial.legendre.leggauss(number)


def _votes(votes, window, most=MOST_ROUNDS):
    window = checks.count("window", window)
    if window > most:
        raise ValueError(f"window = {window}: must be from 1 to {most}")
    votes = checks.count("votes", votes)
    if votes > window:
        raise ValueError(f"votes = {votes}: must be at most window = {window}")
    return votes, window


def _vote_chain(flag, votes, window):
    """Transitions between the last m - 1 rounds with fewer than k flags, the empty window first."""
    states = [s for s in product((0, 1), repeat=window - 1) if sum(s) < votes]
    place = {state: i for i, state in enumerate(states)}
    within = np.zeros((*flag.shape, len(states), len(states)))
    alarm = np.zeros((*flag.shape, len(states)))
    for state, i in place.items():
        for new, chance in ((0, 1 - flag), (1, flag)):
            if new and sum(state) == votes - 1:
                alarm[..., i] = chance
            else:
                within[..., i, place[(*state, new)[1:]]] += chance
    return within, alarm
