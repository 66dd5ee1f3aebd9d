"""The cumulative sum of Page: how long until it alarms, and its limit for a given rate of false alarms.

The statistic of a rank adds up how far its scores are above a reference, and never falls below 0. It
alarms above a limit. Scores, shifts, references and limits are in standard deviations of a rank's jitter.
"""

from functools import cache

import numpy as np

from reliability import checks
from reliability.sequential import absorbing_chain

OVERSHOOT = 1.166  # expected overshoot of a normal walk at both ends (Siegmund 1985)
FARTHEST = 60.0  # limits beyond it are left to an approximation
MOST_LIMIT = 200  # where there is none: the chains grow with the limit
NEVER = 1e-60  # a rarer move is left out: another way is likelier, and such numbers slow a processor down
GRID, MOST_STATES = 257, 1000  # of the grid on which cut scores are followed; more where the limit is far


def statistic(scores, reference):
    r"""The cumulative sum after each round.

    .. math:: S_n = \max(0, S_{n-1} + z_n - \kappa), \quad S_0 = 0

    Parameters
    ----------
    scores : array [rounds] or [rounds, ...]
        z: how far a time is above the median, in standard deviations.
    reference : float, >= 0
        kappa; half of the shift to be found is the quickest choice.

    Returns
    -------
    array
        Of the shape of `scores`.

    Examples
    --------
    >>> statistic([0.0, 2.0, 3.0, -4.0], 1.0).tolist()
    [0.0, 1.0, 3.0, 0.0]
    """
    scores = checks.real("scores", scores)
    if scores.ndim == 0:
        raise ValueError(f"scores = {scores}: must be an array with the rounds along its first axis")
    walk = np.cumsum(scores - checks.scalar("reference", checks.non_negative("reference", reference)), axis=0)
    return walk - np.minimum(0.0, np.minimum.accumulate(walk, axis=0))


def siegmund_rounds(shift, reference, limit):
    r"""Mean rounds to an alarm by Siegmund's approximation.

    .. math:: \frac{e^{-2 \Delta b} + 2 \Delta b - 1}{2 \Delta^2}, \quad \Delta = \mu - \kappa, \quad b = h + 1.166

    Parameters
    ----------
    shift : float or array
        Mean of the scores, mu; 0 for a healthy rank.
    reference, limit : float or array, >= 0
        kappa and h.

    Returns
    -------
    float or array
        b squared where the shift is the reference.

    Notes
    -----
    Made for small drifts; compare with :func:`cusum_rounds`.

    Examples
    --------
    >>> round(siegmund_rounds(0.0, 0.5, 4.0)), round(siegmund_rounds(1.0, 0.5, 4.0), 1)
    (338, 8.3)
    """
    shift = checks.real("shift", shift)
    reference = checks.non_negative("reference", reference)
    limit = checks.non_negative("limit", limit)
    checks.broadcast(shift=shift, reference=reference, limit=limit)
    b, drift = limit + OVERSHOOT, shift - reference
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        x = 2 * drift * b
        # Near 0 the series, or the difference would cancel.
        rounds = np.where(np.abs(x) < 1e-4, b * b * (1 - x / 3), b / drift * (1 + np.expm1(-x) / x))
        return checks.plain(np.where(x < -1400, np.inf, rounds))


def cusum_rounds(shift, reference, limit, cut=None, outliers=0.0):
    r"""Mean rounds to an alarm from a statistic of 0 (the average run length).

    .. math:: L(u) = 1 + L(0) \, \Phi(\kappa - u - \mu) + \int_0^h L(x) \, \varphi(x - u - \mu + \kappa) \, dx

    Parameters
    ----------
    shift : float or array
        Mean of the scores, mu; 0 for a healthy rank.
    reference, limit : float or array, >= 0
        kappa and h.
    cut : float, optional
        Scores above it count as it; above every `reference`.
    outliers : float, in [0, 1]
        Share of the rounds whose score is above any limit, or counts as `cut`.

    Returns
    -------
    float or array

    Notes
    -----
    Normal scores of deviation 1. The integral is taken at Gauss-Legendre nodes, and the chain so made solved
    without a subtraction. Beyond a limit of 60 it is Siegmund's approximation instead, which is within a percent
    there, and for a drift of 1 and more the mean number of rounds that a walk of that drift spends below the
    limit, less those below 0 and after it. Cut scores are followed on a grid, which is good to a percent or so, but
    not where a few scores at the cut just fill the limit; their limit is at most 200.

    Examples
    --------
    >>> round(cusum_rounds(0.0, 0.5, 4.0), 1), round(cusum_rounds(1.0, 0.5, 4.0), 2)
    (335.4, 8.38)
    """
    return _each(shift, reference, limit, cut, outliers, 0.0)[0]


def cusum_before_end(shift, reference, limit, phase, cut=None, outliers=0.0):
    """Chance of an alarm before a slow phase ends.

    Parameters
    ----------
    shift, reference, limit, cut, outliers
        As in :func:`cusum_rounds`, with a limit of at most 200.
    phase : float, >= 1
        Mean rounds of the phase, which ends after any of them with the same chance.

    Returns
    -------
    float or array

    Examples
    --------
    >>> round(cusum_before_end(3.0, 1.5, 6.0, 100.0), 3)
    0.964
    """
    phase = checks.scalar("phase", checks.at_least("phase", phase, 1))
    return _each(shift, reference, limit, cut, outliers, 1 / phase)[1]


def cusum_limit(rounds, reference):
    """Limit at which a healthy rank has so many rounds between false alarms: the inverse of :func:`cusum_rounds`.

    Parameters
    ----------
    rounds : float or array, >= 1
    reference : float or array, > 0

    Returns
    -------
    float or array
        0 where the reference alone makes false alarms rarer than that.

    Examples
    --------
    >>> round(cusum_limit(335.37, 0.5), 3)
    4.0
    """
    from scipy.optimize import brentq

    rounds = checks.at_least("rounds", rounds, 1)
    reference = checks.positive("reference", reference)
    checks.broadcast(rounds=rounds, reference=reference)

    def one(wanted, kappa):
        def excess(limit):
            return np.log(cusum_rounds(0.0, kappa, limit)) - np.log(wanted)

        # No run is shorter on average than exp(2 kappa h) (Lorden 1971), nor than h^2, that of a reference of 0.
        with np.errstate(over="ignore"):
            most = min(np.log(wanted) / (2 * kappa), np.sqrt(wanted))
        return 0.0 if excess(0.0) >= 0 else brentq(excess, 0.0, most, xtol=1e-7, rtol=1e-10)

    pairs = np.broadcast(rounds, reference)
    return checks.plain(np.array([one(*pair) for pair in pairs]).reshape(pairs.shape))


def _each(shift, reference, limit, cut, outliers, end):
    """Rounds and chance of each scenario; they need chains of different sizes."""
    shift = checks.real("shift", shift)
    reference = checks.non_negative("reference", reference)
    limit = checks.non_negative("limit", limit)
    checks.broadcast(shift=shift, reference=reference, limit=limit)
    outliers = checks.scalar("outliers", checks.probability("outliers", outliers))
    if cut is not None:
        cut = checks.scalar("cut", checks.real("cut", cut))
        if cut <= np.max(reference):
            raise ValueError(f"cut = {cut:g}: must be above reference = {np.max(reference):g}, or nothing ever adds up")

    plain = cut is None and end == 0
    if not plain and limit.max() > MOST_LIMIT:
        raise ValueError(
            f"limit = {limit.max():g}: must be at most {MOST_LIMIT} where scores are cut or the phase ends"
        )

    def one(mu, kappa, h):
        if plain and h > FARTHEST:
            alone = siegmund_rounds(mu, kappa, h) if mu - kappa < 1 else _rounds_below(mu - kappa, h)
            return (1 / (1 / alone + outliers) if outliers else alone), np.nan
        chain = _at_nodes(mu - kappa, h, outliers) if cut is None else _on_grid(mu, kappa, h, cut, outliers)
        return absorbing_chain(*chain, end=end)

    triples = np.broadcast(shift, reference, limit)
    results = np.array([one(*triple) for triple in triples]).reshape(*triples.shape, 2)
    return checks.plain(results[..., 0]), checks.plain(results[..., 1])


def _rounds_below(drift, h):
    """Mean rounds to an alarm far away: those of a free walk up to the limit, less what it spends beyond either end."""
    from scipy.special import ndtr

    middle = h / drift  # about so many rounds
    n = np.arange(1, 200)
    with np.errstate(over="ignore", under="ignore"):
        root = drift * np.sqrt(n)
        # Of Spitzer: the mean depth of the walk below its start, and below its end once it is over.
        outside = 2 * ((np.exp(-(root**2) / 2) / np.sqrt(2 * np.pi) - root * ndtr(-root)) / np.sqrt(n)).sum()
        if middle >= 1e6:
            return float(middle + (1 / drift + drift) / (2 * drift) - outside / drift)
        first = max(1, int(middle - 12 * np.sqrt(middle)))
        n = np.arange(first, int(middle + 12 * np.sqrt(middle)) + 12)
        return float(max(1.0, first + ndtr((h - n * drift) / np.sqrt(n)).sum() - outside / drift))


def _at_nodes(drift, h, outliers):
    """The chain on 0 and on Gauss-Legendre nodes of (0, h)."""
    from scipy.special import ndtr

    x, weight = _legendre(24 + 16 * int(h / 4))
    x, weight = np.append(0.0, h * (x + 1) / 2), np.append(0.0, h * weight / 2)
    with np.errstate(under="ignore", over="ignore"):
        within = weight * np.exp(-((x - x[:, None] - drift) ** 2) / 2) / np.sqrt(2 * np.pi)
        within[within < NEVER] = 0.0
        within[:, 0] = ndtr(-x - drift)
        return (1 - outliers) * within, outliers + (1 - outliers) * ndtr(x + drift - h)


@cache
def _legendre(nodes):
    """Gauss-Legendre nodes and weights of (-1, 1); a search asks for the same ones again and again."""
    from scipy.special import roots_legendre

    return roots_legendre(nodes)


def _on_grid(mu, kappa, h, cut, outliers):
    """The chain on a grid of the statistic, where scores above `cut` count as it."""
    from scipy.special import ndtr

    states = int(np.clip(12 * h, GRID, MOST_STATES))
    width = h / (states - 0.5)
    x = width * np.arange(states)
    edges = np.append(-np.inf, x + width / 2)  # of the states; the last edge is h
    z = np.minimum(edges[None, :] - x[:, None] + kappa, cut) - mu  # the scores that lead to the edges
    with np.errstate(under="ignore"):
        high, low = ndtr(z), ndtr(-z)  # the smaller tail keeps its digits
        within = np.where(z[:, :-1] > 0, low[:, :-1] - low[:, 1:], high[:, 1:] - high[:, :-1])
        alarm = np.where(edges[-1] - x + kappa < cut, ndtr(mu - (edges[-1] - x + kappa)) - ndtr(mu - cut), 0.0)
        top = outliers + (1 - outliers) * ndtr(mu - cut)  # counts as the cut itself
    within[within < NEVER] = 0.0
    within, alarm = (1 - outliers) * within, (1 - outliers) * alarm
    landing = x + cut - kappa
    alarm += np.where(landing >= h, top, 0.0)
    place = landing / width if width else np.zeros(states)
    for i in np.flatnonzero(landing < h):
        below = min(int(place[i]), states - 1)
        above, share = min(below + 1, states - 1), place[i] - below
        within[i, below] += top * (1 - share)
        within[i, above] += top * share
    return within, alarm
