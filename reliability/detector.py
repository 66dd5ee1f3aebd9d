"""What a detector that looks at one round can find, and when finding a slow rank pays.

Rank times are independent between ranks and rounds; a slow rank jitters like the others. A threshold
and a slowdown are shares, of the median and of a rank without jitter; with many ranks the median
lies at the mean. `relative_jitter` is the standard deviation of a rank's time over its mean.
"""

import numpy as np

from reliability import checks


def _deviations(share, relative_jitter):
    """`share` in units of the jitter; without jitter, beyond all (or below all, for what is not above 0)."""
    jitters = relative_jitter > 0
    never = np.where(share > 0, np.inf, -np.inf)
    return np.where(jitters, share / np.where(jitters, relative_jitter, 1.0), never)


def expected_false_alarms(ranks, rounds, relative_jitter, threshold):
    r"""False alarms to expect in so many rounds: the inverse of `straggler.false_alarm_threshold`.

    .. math:: a = N \, n \left(1 - \Phi(\theta \mu / \sigma)\right)

    Parameters
    ----------
    ranks : int or array, >= 1
        N ranks looked at in each round.
    rounds : float or array, > 0
        Rounds n, such as the steps of a week.
    relative_jitter : float or array, >= 0
        sigma / mu.
    threshold : float or array, >= 0
        The share above the median that flags a rank, theta.

    Returns
    -------
    float or array

    Examples
    --------
    >>> round(expected_false_alarms(131072, 20160, 0.5 / 30, 0.1), 2)
    2.61
    """
    from scipy.special import ndtr

    ranks = checks.whole("ranks", ranks, low=1)
    rounds = checks.positive("rounds", rounds)
    relative_jitter = checks.non_negative("relative_jitter", relative_jitter)
    threshold = checks.non_negative("threshold", threshold)
    checks.broadcast(ranks=ranks, rounds=rounds, relative_jitter=relative_jitter, threshold=threshold)
    # Nothing is above the median when nothing jitters, whatever the threshold.
    above = np.where(relative_jitter > 0, ndtr(-_deviations(threshold, relative_jitter)), 0.0)
    return checks.plain(ranks * rounds * above)


def recall_of_one_round(slowdown, threshold, relative_jitter):
    r"""Chance that one round flags a rank that is slower by a share, and jitters like the others.

    .. math:: \Phi\left(\frac{\delta - \theta}{\sigma / \mu}\right)

    Parameters
    ----------
    slowdown : float or array, >= 0
        The share, delta.
    threshold : float or array, >= 0
        theta.
    relative_jitter : float or array, >= 0
        sigma / mu.

    Returns
    -------
    float or array

    Examples
    --------
    >>> recall_of_one_round(0.1, 0.1, 0.02)
    0.5
    """
    from scipy.special import ndtr

    slowdown = checks.non_negative("slowdown", slowdown)
    threshold = checks.non_negative("threshold", threshold)
    relative_jitter = checks.non_negative("relative_jitter", relative_jitter)
    checks.broadcast(slowdown=slowdown, threshold=threshold, relative_jitter=relative_jitter)
    return checks.plain(ndtr(_deviations(slowdown - threshold, relative_jitter)))


def slowdown_found(recall, threshold, relative_jitter):
    r"""Slowdown that one round finds with a given recall: the inverse of `recall_of_one_round`.

    .. math:: \delta = \theta + \frac{\sigma}{\mu} \, \Phi^{-1}(r)

    Parameters
    ----------
    recall : float or array, in (0, 1)
        r.
    threshold : float or array, >= 0
        theta.
    relative_jitter : float or array, >= 0
        sigma / mu.

    Returns
    -------
    float or array

    Examples
    --------
    >>> round(slowdown_found(0.95, 0.0887, 0.5 / 30), 3)
    0.116
    """
    from scipy.special import ndtri

    recall = checks.inner_probability("recall", recall)
    threshold = checks.non_negative("threshold", threshold)
    relative_jitter = checks.non_negative("relative_jitter", relative_jitter)
    checks.broadcast(recall=recall, threshold=threshold, relative_jitter=relative_jitter)
    return checks.plain(threshold + relative_jitter * ndtri(recall))


def exponential_threshold(ranks, rounds, relative_jitter, alarms=1.0):
    r"""`straggler.false_alarm_threshold` for times whose jitter has an exponential tail.

    .. math:: \theta = \frac{(\sigma/\mu) \ln\left(N n / 2a\right)}{1 - (\sigma/\mu) (1 - \ln 2)}

    Parameters
    ----------
    ranks : int or array, >= 1
        N ranks looked at in each round.
    rounds : float or array, > 0
        Rounds n.
    relative_jitter : float or array, in [0, 1]
        sigma / mu.
    alarms : float or array, > 0
        Expected false alarms a; at most half of ``ranks * rounds``, where the threshold is 0.

    Returns
    -------
    float or array

    Examples
    --------
    >>> round(exponential_threshold(1024, 20160, 0.5 / 30), 3)
    0.271
    """
    ranks = checks.whole("ranks", ranks, low=1)
    rounds = checks.positive("rounds", rounds)
    relative_jitter = checks.probability("relative_jitter", relative_jitter)
    alarms = checks.positive("alarms", alarms)
    checks.broadcast(ranks=ranks, rounds=rounds, relative_jitter=relative_jitter, alarms=alarms)
    share = alarms / (ranks * rounds)
    if (share > 0.5).any():
        raise ValueError(f"alarms = {alarms}: must be at most half of ranks x rounds = {ranks * rounds}")
    return checks.plain(-relative_jitter * np.log(2 * share) / (1 - relative_jitter * (1 - np.log(2))))


def pays_after(cost, loss):
    r"""How long a straggler must stay for its replacement to pay: cost / loss.

    Parameters
    ----------
    cost : float or array, >= 0
        Time that the job loses to the replacement.
    loss : float or array, in [0, 1]
        Share of the time that the straggler costs.

    Returns
    -------
    float or array
        In the unit of `cost`; infinite where nothing is lost.

    Notes
    -----
    Whoever cannot know how long it stays, and replaces it after this time, loses at most twice what
    hindsight would have (the ski-rental argument).

    Examples
    --------
    >>> round(pays_after(6.47, 0.119), 1)
    54.4
    """
    cost = checks.non_negative("cost", cost)
    loss = checks.probability("loss", loss)
    checks.broadcast(cost=cost, loss=loss)
    return checks.plain(np.where(loss > 0, cost / np.where(loss > 0, loss, 1.0), np.inf))
