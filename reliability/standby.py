"""How many standbys a job needs so that a failure rarely finds too few.

Every failed node goes to repair and comes back as a standby; a standby takes its place. The nodes that
are away, not yet back from repair, are standbys that are missing. `rates` lists how often an event takes
`lost` nodes at once: ``[r], [1]`` for single failures, :func:`reliability.bursts.demands` for bursts.
"""

import numpy as np

from reliability import checks

MOST_AWAY = 10**6
MOST_IN_CHAIN = 1000  # standbys in the Markov chain of chance_pool_lasts
_RESCALE = 1e200


def _events(rates, lost):
    """Rates and sizes of the events as two arrays of one length, no size below 1."""
    rates, lost = np.atleast_1d(checks.non_negative("rates", rates)), np.atleast_1d(checks.whole("lost", lost, low=1))
    if rates.ndim != 1 or rates.shape != lost.shape:
        raise ValueError(f"rates {rates.shape}, lost {lost.shape}: must be two lists of one length")
    return rates, lost


def away_chances(rates, lost, repair, most, together=True):
    r"""Chances that 0, 1, 2, ... nodes are away in the long run.

    .. math:: p_0 = e^{-\sum_j q_j}, \qquad p_n = \frac{1}{n} \sum_j j\, q_j\, p_{n-j}

    A compound Poisson count: q_j is the mean number of groups of j nodes that are away. Where nodes that
    failed together come back together, q_b = r_b R, for any distribution of the repair time with
    mean R. Where each is repaired on its own, in an exponential time, a burst of b leaves
    q_j = r_b R / j groups of j nodes, for j from 1 to b. For single failures both are the Poisson distribution
    of mean r R.

    Parameters
    ----------
    rates, lost : lists
        Events per unit of time, and nodes that each takes.
    repair : float, >= 0
        Mean time of a repair, R.
    most : int, >= 0
        Greatest number of nodes that is asked for; at most 1,000,000.
    together : bool
        Whether the nodes of one event come back together.

    Returns
    -------
    array [most + 1]

    Notes
    -----
    Every repair starts at once (no queue for a crew). Failures come at one rate, whether or not the job
    waits for a node.

    Examples
    --------
    >>> away_chances([0.5], [1], repair=2.0, most=2).round(4).tolist()
    [0.3679, 0.3679, 0.1839]
    """
    rates, lost = _events(rates, lost)
    repair = checks.scalar("repair", checks.non_negative("repair", repair))
    most = checks.count("most", most, low=0)
    if most > MOST_AWAY:
        raise ValueError(f"most = {most}: must be at most {MOST_AWAY}")
    groups = np.zeros(lost.max() + 1)  # mean number of groups of each size that are away
    with np.errstate(over="ignore"):
        for rate, size in zip(rates, lost, strict=True):
            if together:
                groups[size] += rate * repair
            else:
                groups[1 : size + 1] += rate * repair / np.arange(1, size + 1)
    if not groups.sum() < 100 * MOST_AWAY:  # so few as are asked for are never away
        return np.zeros(most + 1)
    sizes = np.flatnonzero(groups)
    weights = sizes * groups[sizes]
    # Relative to p_0, which a float may not hold; scaled down where they outgrow it.
    chances, log_scale, shift = np.zeros(most + 1), np.zeros(most + 1), 0.0
    chances[0] = 1.0
    for n in range(1, most + 1):
        used = sizes <= n
        chances[n] = weights[used] @ chances[n - sizes[used]] / n
        if chances[n] > _RESCALE:
            recent = slice(max(0, n + 1 - groups.size), n)
            chances[recent], chances[n] = chances[recent] / _RESCALE, chances[n] / _RESCALE
            shift += np.log(_RESCALE)
            log_scale[recent] = shift
        log_scale[n] = shift
    with np.errstate(under="ignore", divide="ignore"):
        return np.exp(np.log(chances) + log_scale - groups.sum())


def _pool_inputs(rates, lost, repair):
    rates, lost = _events(rates, lost)
    if not rates.sum() > 0:
        raise ValueError(f"rates = {rates.tolist()}: at least one must be above 0")
    return rates, lost, checks.scalar("repair", checks.non_negative("repair", repair))


def _enough(rates, lost, repair, standbys=0):
    """A number of nodes that practically never are away, with a margin that leaves no doubt."""
    with np.errstate(over="ignore"):
        mean, spread = repair * (rates @ lost), np.sqrt(repair) * np.sqrt(rates @ lost.astype(float) ** 2)
        enough = max(standbys, np.ceil(mean + 15 * spread + 40 * lost.max()))
    if not enough <= MOST_AWAY:
        if standbys > MOST_AWAY:
            raise ValueError(f"standbys = {standbys}: must be at most {MOST_AWAY}")
        raise ValueError(
            f"rates = {rates.tolist()}, lost = {lost.tolist()}, repair = {repair:g}: up to {enough:.3g} nodes may be away; "
            f"at most {MOST_AWAY} are followed"
        )
    return int(enough)


def _short_by_pool(rates, lost, repair, together, standbys=0):
    """Chance that an event finds too few, for each pool from 0 up to far beyond need."""
    most = _enough(rates, lost, repair, standbys)
    chances = away_chances(rates, lost, repair, most, together)
    # beyond[k]: more than k - 1 away; summed from the far end, so that small chances keep their digits
    beyond = np.append(np.cumsum(chances[::-1])[::-1], 0.0)
    short = np.zeros(most + 1)
    for share, size in zip(rates / rates.sum(), lost.tolist(), strict=True):
        short[size:] += share * beyond[1 : most + 2 - size]
        short[:size] += share
    return np.minimum(short, 1.0)


def chance_short(rates, lost, repair, standbys, together=True):
    r"""Chance that a failure, or a burst, finds fewer standbys than it needs.

    .. math:: \sum_i \frac{r_i}{\sum r} \, P(\text{away} > k - b_i)

    Events that come at random find the long-run number of nodes away (PASTA). For single failures it is
    P(away >= k), the tail of a Poisson distribution.

    Parameters
    ----------
    rates, lost : lists
        Not all rates 0.
    repair : float, >= 0
    standbys : int or array, >= 0
        k.
    together : bool
        See :func:`away_chances`.

    Examples
    --------
    >>> chance_short([0.5], [1], 2.0, [0, 1, 2]).round(4).tolist()
    [1.0, 0.6321, 0.2642]
    """
    rates, lost, repair = _pool_inputs(rates, lost, repair)
    standbys = checks.whole("standbys", standbys)
    return checks.plain(_short_by_pool(rates, lost, repair, together, int(standbys.max()))[standbys])


def standbys_needed(target, rates, lost, repair, together=True):
    """Smallest pool in which a failure finds too few with at most the target chance.

    Parameters
    ----------
    target : float, in (0, 1)
    rates, lost : lists
    repair : float, >= 0
    together : bool

    Returns
    -------
    int

    Examples
    --------
    >>> standbys_needed(0.01, [0.5], [1], repair=2.0), standbys_needed(0.01, [0.25, 0.25 / 16], [1, 16], repair=2.0)
    (5, 18)
    """
    target = checks.scalar("target", checks.inner_probability("target", target))
    rates, lost, repair = _pool_inputs(rates, lost, repair)
    return int(np.argmax(_short_by_pool(rates, lost, repair, together) <= target))


def chance_pool_lasts(rates, lost, repair, standbys, horizon):
    """Chance that no event of a whole period finds too few standbys.

    Parameters
    ----------
    rates, lost : lists
    repair : float, > 0
        Mean of an exponential repair; each node is repaired on its own.
    standbys : int, >= 0
        All there at the start; at most 1,000.
    horizon : float, >= 0

    Returns
    -------
    float
        The Markov chain of the nodes away, stopped at the first shortage.

    Examples
    --------
    >>> round(chance_pool_lasts([0.5], [1], 2.0, 0, horizon=1.0), 4)  # no pool: no failure
    0.6065
    """
    from scipy.linalg import expm

    rates, lost = _events(rates, lost)
    repair = checks.scalar("repair", checks.positive("repair", repair))
    horizon = checks.scalar("horizon", checks.non_negative("horizon", horizon))
    standbys = checks.count("standbys", standbys, low=0)
    if standbys > MOST_IN_CHAIN:
        raise ValueError(f"standbys = {standbys}: must be at most {MOST_IN_CHAIN}")
    away = np.arange(standbys + 1)
    flow = np.diag(away[1:] / repair, -1)
    for rate, size in zip(rates, lost.tolist(), strict=True):
        flow += np.diag(np.full(max(0, standbys + 1 - size), rate), size) if size <= standbys else 0.0
    flow -= np.diag(rates.sum() + away / repair)
    with np.errstate(over="ignore", invalid="ignore"):
        flow = flow * horizon
        lasts = expm(flow)[0].sum() if np.isfinite(flow).all() else np.nan
    if np.isnan(lasts):
        shown = f"rates = {rates.tolist()}, repair = {repair:g}, horizon = {horizon:g}"
        raise ValueError(f"{shown}: too many failures or repairs to be followed")
    return float(np.clip(lasts, 0.0, 1.0))


def nodes_away(times, lost, repairs):
    """Nodes away just before each event of a trace.

    Parameters
    ----------
    times : array [events]
        Ascending.
    lost : int array [events], >= 1
        Nodes that each event takes.
    repairs : array [nodes], >= 0
        Repair time of each failed node, in the order of the events.

    Returns
    -------
    int array [events]
        An event finds too few of k standbys where this exceeds k less what it takes.

    Examples
    --------
    >>> nodes_away([0.0, 1.0, 3.0], [1, 2, 1], [2.0, 5.0, 1.5, 1.0]).tolist()
    [0, 1, 1]
    """
    times, lost = checks.non_negative("times", times), checks.whole("lost", lost, low=1)
    repairs = checks.non_negative("repairs", repairs)
    if times.ndim != 1 or times.shape != lost.shape or repairs.shape != (lost.sum(),):
        raise ValueError(
            f"times {times.shape}, lost {lost.shape}, repairs {repairs.shape}: must be lists, with a repair for each node lost"
        )
    if (np.diff(times) < 0).any():
        raise ValueError("times: must ascend")
    back = np.sort(np.repeat(times, lost) + repairs)
    return np.cumsum(lost) - lost - np.searchsorted(back, times, side="right")
