"""Slow ranks: what one costs a synchronous job, and what finds it.

`rank_times` are the times of one step (or of many, along leading axes) with the ranks along the
last axis, in seconds.
"""

import numpy as np

from reliability import checks


def _rank_times(rank_times):
    array = checks.positive("rank_times", rank_times)
    if array.ndim == 0:
        raise ValueError(f"rank_times = {array}: must be an array with the ranks along its last axis")
    return array


def step_time(rank_times):
    """Time of a synchronous step: its slowest rank's.

    Parameters
    ----------
    rank_times : array [..., ranks], > 0

    Returns
    -------
    float or array [...]

    Notes
    -----
    Assumes that every step ends in a collective that waits for all.

    Examples
    --------
    >>> step_time([30.0, 36.0, 29.5])
    36.0
    """
    return checks.plain(_rank_times(rank_times).max(axis=-1))


def draw_rank_times(rng, ranks, step, jitter, steps=None):
    """Draw the times of healthy ranks: normal about `step`, independent.

    Parameters
    ----------
    rng : numpy.random.Generator
    ranks : int, >= 1
    step : float, > 0
    jitter : float, >= 0
        Standard deviation, at most an eighth of `step`: beyond it a normal time may be negative.
    steps : int, >= 1, optional
        Draw so many steps instead of one.

    Returns
    -------
    array [ranks] or [steps, ranks]
    """
    checks.generator(rng)
    shape = (checks.count("ranks", ranks),)
    if steps is not None:
        shape = (checks.count("steps", steps), *shape)
    step = checks.scalar("step", checks.positive("step", step))
    jitter = checks.scalar("jitter", checks.non_negative("jitter", jitter))
    if jitter > step / 8:
        raise ValueError(
            f"jitter = {jitter:g}: must be at most an eighth of step = {step:g}, or normal times turn negative"
        )
    return step + jitter * rng.standard_normal(shape)


def inject(rank_times, rank, seconds):
    """Make one rank take `seconds` in every step; a copy.

    Parameters
    ----------
    rank_times : array [..., ranks], > 0
    rank : int
        From 0 to ranks - 1.
    seconds : float or array [...], > 0

    Returns
    -------
    array [..., ranks]
    """
    times = _rank_times(rank_times).copy()
    rank = checks.count("rank", rank, low=0)
    if rank >= times.shape[-1]:
        raise ValueError(f"rank = {rank}: must be from 0 to {times.shape[-1] - 1}")
    seconds = checks.positive("seconds", seconds)
    if seconds.shape not in ((), times.shape[:-1]):
        raise ValueError(
            f"seconds has shape {seconds.shape}: must be one number or have the shape {times.shape[:-1]} of the steps"
        )
    times[..., rank] = seconds
    return times


def detect(rank_times, threshold):
    r"""Flag the ranks whose time is above the median by more than a share `threshold`.

    .. math:: t_i > (1 + \theta)\, \operatorname{median}_j t_j

    Parameters
    ----------
    rank_times : array [..., ranks], > 0
    threshold : float, >= 0
        The share, theta.

    Returns
    -------
    bool array [..., ranks]

    Notes
    -----
    The median stands while fewer than half of the ranks are slow. It needs times that each rank
    measured before the collective: behind a barrier all ranks show the same time.

    Examples
    --------
    >>> np.flatnonzero(detect([30.0, 36.0, 29.5], 0.1)).tolist()
    [1]
    """
    times = _rank_times(rank_times)
    threshold = checks.scalar("threshold", checks.non_negative("threshold", threshold))
    return times > (1.0 + threshold) * _median(times)[..., None]


def _median(times):
    """Median over the last axis by one partition; `numpy.median` makes three and takes four times as long."""
    middle = times.shape[-1] // 2
    parted = np.partition(times, middle, axis=-1)
    upper = parted[..., middle]
    return upper if times.shape[-1] % 2 else (parted[..., :middle].max(axis=-1) + upper) / 2


def precision_recall(detected_ranks, actual_ranks):
    """Share of the flagged that are slow, and share of the slow that are flagged.

    Parameters
    ----------
    detected_ranks, actual_ranks : collections of int, >= 0; may be empty

    Returns
    -------
    (precision, recall) : floats in [0, 1]
        Precision is 1 when none is flagged, recall is 1 when none is slow: nothing was wrong.
    """
    sets = []
    for name, ranks in (("detected_ranks", detected_ranks), ("actual_ranks", actual_ranks)):
        sets.append(set(np.atleast_1d(checks.whole(name, ranks)).tolist()) if np.size(ranks) else set())
    detected, actual = sets
    hits = len(detected & actual)
    return (hits / len(detected) if detected else 1.0, hits / len(actual) if actual else 1.0)


def replace(rank_times, mask, healthy_times):
    """Swap the flagged ranks for healthy ones; a copy.

    Parameters
    ----------
    rank_times : array [..., ranks], > 0
    mask : bool array, broadcast with `rank_times`
        The ranks to replace.
    healthy_times : array, broadcast with `rank_times`, > 0
        What the replacement takes.

    Returns
    -------
    array [..., ranks]
    """
    times = _rank_times(rank_times)
    healthy = checks.positive("healthy_times", healthy_times)
    mask = np.asarray(mask)
    if mask.dtype != bool:
        raise ValueError(f"mask has dtype {mask.dtype}: must be boolean")
    checks.broadcast(rank_times=times, mask=mask, healthy_times=healthy)
    return np.where(mask, healthy, times)


def drag(healthy_step, slow_step):
    """How much longer a step is than a healthy one: slow / healthy - 1.

    Parameters
    ----------
    healthy_step, slow_step : float or array, > 0

    Returns
    -------
    float or array, > -1
        0.2 is a fifth longer.

    Examples
    --------
    >>> round(drag(30.0, 36.0), 2)
    0.2
    """
    healthy = checks.positive("healthy_step", healthy_step)
    slow = checks.positive("slow_step", slow_step)
    checks.broadcast(healthy_step=healthy, slow_step=slow)
    return checks.plain(slow / healthy - 1.0)


def loss_if_ignored(healthy_step, slow_step):
    """Share of the computing time that waits for the slow rank: 1 - healthy / slow.

    Parameters
    ----------
    healthy_step, slow_step : float or array, > 0

    Returns
    -------
    float or array, < 1
        0.2 is a fifth of the time; below 0 where the slow step is the shorter one.

    Examples
    --------
    >>> round(loss_if_ignored(30.0, 36.0), 3)
    0.167
    """
    healthy = checks.positive("healthy_step", healthy_step)
    slow = checks.positive("slow_step", slow_step)
    checks.broadcast(healthy_step=healthy, slow_step=slow)
    return checks.plain(1.0 - healthy / slow)


def expected_maximum(ranks, mean, sigma):
    r"""Expected time of a fault-free step: the mean of the largest of N normal times.

    .. math:: \mathbb{E}\left[\max\right] = \mu + \sigma \left[ \int_0^\infty
              \left(1 - \Phi(x)^N\right) dx - \int_{-\infty}^0 \Phi(x)^N dx \right]

    Parameters
    ----------
    ranks : int or array, >= 1
        N.
    mean : float or array
        Of one rank's time.
    sigma : float or array, >= 0
        Its standard deviation.

    Returns
    -------
    float or array

    Notes
    -----
    Assumes independent normal times. The integrand is smooth, so that the trapezoidal rule is
    exact to about 12 digits.

    Examples
    --------
    >>> round(expected_maximum(1024, 30.0, 0.5), 2)
    31.62
    """
    from scipy.special import log_ndtr

    ranks = checks.whole("ranks", ranks, low=1)
    mean = checks.real("mean", mean)
    sigma = checks.non_negative("sigma", sigma)
    checks.broadcast(ranks=ranks, mean=mean, sigma=sigma)
    # The maximum of 2**62 normals is below 10, and one normal is above -13 but for 1e-38.
    step = 1 / 128
    x = np.arange(-13, 13, step)
    with np.errstate(under="ignore"):
        below = np.exp(ranks[..., None] * log_ndtr(x))
    # The integral from the lower end a of 1 - F is the mean above a.
    standard = x[0] + step * (1 - below).sum(axis=-1)
    # The rectangle rule is the trapezoidal one but for half of the first ordinate, 1.
    return checks.plain(mean + sigma * (standard - step / 2))


def false_alarm_threshold(ranks, rounds, relative_jitter, alarms=1.0):
    r"""Threshold of a single round that gives so many false alarms in so many rounds.

    .. math:: \theta = \frac{\sigma}{\mu} \, \Phi^{-1}\!\left(1 - \frac{a}{N\,n}\right)

    Parameters
    ----------
    ranks : int or array, >= 1
        N ranks looked at in each round.
    rounds : float or array, > 0
        Rounds n, such as the steps of a week.
    relative_jitter : float or array, >= 0
        Standard deviation of a rank's time over its mean.
    alarms : float or array, > 0
        Expected false alarms a; below ``ranks * rounds``.

    Returns
    -------
    float or array
        For :func:`detect`.

    Notes
    -----
    Independent normal times, and a median at the mean; exact as N grows.

    Examples
    --------
    >>> round(false_alarm_threshold(1024, 20160, 0.5 / 30), 4)
    0.0889
    """
    from scipy.special import ndtri

    ranks = checks.whole("ranks", ranks, low=1)
    rounds = checks.positive("rounds", rounds)
    relative_jitter = checks.non_negative("relative_jitter", relative_jitter)
    alarms = checks.positive("alarms", alarms)
    checks.broadcast(ranks=ranks, rounds=rounds, relative_jitter=relative_jitter, alarms=alarms)
    share = alarms / (ranks * rounds)
    if (share >= 1).any():
        raise ValueError(f"alarms = {alarms}: must be below ranks x rounds = {ranks * rounds}")
    return checks.plain(-relative_jitter * ndtri(share))
