"""Verified checkpoints drawn event by event: what :mod:`reliability.verification` is compared with."""

import numpy as np

from reliability import checks

MOST_MEAN_TIMES = 15  # e^15 attempts are some millions


def draw_pattern_times(rng, patterns, interval, write, verification, restart, silent_mtbf, failure_mtbf, every=1):
    """Draw how long each of many patterns takes, from failures and corruptions as they come.

    Parameters
    ----------
    rng : numpy.random.Generator
    patterns : int, >= 1
        How many are drawn.
    interval : float, > 0
    write, verification, restart : float, >= 0
    silent_mtbf, failure_mtbf : float, > 0
    every : int, >= 1
        As for :func:`reliability.verification.pattern_time`, whose value is the mean of what is drawn.

    Returns
    -------
    float array [patterns]

    Notes
    -----
    Each round every unfinished pattern tries one interval with what follows it. Where that seldom
    succeeds, it takes long: the rounds are about `every` e^((interval + write) / failure_mtbf). An attempt
    may last 15 times as long as the mean time between failures or corruptions, no longer.

    Examples
    --------
    >>> draw_pattern_times(np.random.default_rng(7), 2, 100.0, 20.0, 5.0, 10.0, 1e9, 1e9, every=3).tolist()
    [365.0, 365.0]
    """
    checks.generator(rng)
    patterns, every = checks.count("patterns", patterns), checks.count("every", every)
    names = {"interval": interval, "silent_mtbf": silent_mtbf, "failure_mtbf": failure_mtbf}
    interval, silent_mtbf, failure_mtbf = (checks.scalar(n, checks.positive(n, v)) for n, v in names.items())
    names = {"write": write, "verification": verification, "restart": restart}
    write, verification, restart = (checks.scalar(n, checks.non_negative(n, v)) for n, v in names.items())
    odds = max(
        (interval + verification + write) / failure_mtbf, restart / failure_mtbf, every * (interval / silent_mtbf)
    )
    if odds > MOST_MEAN_TIMES:
        raise ValueError(
            f"failure_mtbf = {failure_mtbf:g}, silent_mtbf = {silent_mtbf:g}: an attempt lasts {odds:.3g} times as long; "
            f"with more than {MOST_MEAN_TIMES} hardly any succeeds"
        )
    times, written = np.zeros(patterns), np.zeros(patterns, dtype=int)
    spoilt = np.zeros(patterns, dtype=bool)  # whether the last write holds a corruption
    active = np.arange(patterns)
    while active.size:
        last = written[active] == every - 1
        work = interval + verification * last
        failure, corruption = rng.exponential(failure_mtbf, active.size), rng.exponential(silent_mtbf, active.size)
        wrong = spoilt[active] | (corruption < interval)
        found = (failure >= work) & last & wrong
        stretch = np.where(found, work, work + write)
        failed = failure < stretch
        times[active] += np.where(failed, failure, stretch)
        again = active[failed | found]
        times[again] += _restarts(rng, again.size, restart, failure_mtbf)
        start_anew, done = active[found], active[~failed & ~found]
        written[start_anew], spoilt[start_anew] = 0, False
        written[done] += 1
        spoilt[done] = wrong[~failed & ~found]
        active = active[written[active] < every]
    return times


def _restarts(rng, number, restart, failure_mtbf):
    """Draw restarts, each begun again whenever a failure interrupts it."""
    times, active = np.zeros(number), np.arange(number)
    while active.size:
        failure = rng.exponential(failure_mtbf, active.size)
        times[active] += np.minimum(failure, restart)
        active = active[failure < restart]
    return times
