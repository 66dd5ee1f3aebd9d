"""Checkpoints of a state that is verified before it is written, or before every so many-th write.

All times in one unit. A failure is noticed at once and goes back to the last checkpoint; a silent
corruption is noticed by the next verification and goes back to the last state that was verified.
"""

import numpy as np

from reliability import checks


def verified_interval(write, verification, silent_mtbf, failure_mtbf, every=1):
    r"""Best checkpoint interval with a verification before each write, to first order (Benoit et al. 2016).

    .. math:: T = \sqrt{\frac{V + C}{1 / M_s + 1 / (2 M_f)}}

    A failure costs half an interval, being noticed at once; a silent corruption costs a whole one,
    being noticed at its end. With a verification before every q-th write only, it costs q of them:

    .. math:: T_q = \sqrt{\frac{V / q + C}{q / M_s + 1 / (2 M_f)}}

    Parameters
    ----------
    write : float or array, > 0
        Time of writing, C.
    verification : float or array, >= 0
        Time of verifying, V.
    silent_mtbf, failure_mtbf : float or array, > 0
        Mean time between silent corruptions and between failures of the job, :math:`M_s` and
        :math:`M_f`, in the unit of the others.
    every : int or array, >= 1
        Writes to a verification, q.

    Returns
    -------
    float or array
        In the same unit.

    Notes
    -----
    Assumes that the verification finds every corruption and that the interval is short against
    both mean times. Without silent corruptions and verification it is Young's interval.

    Examples
    --------
    >>> round(verified_interval(write=240, verification=0, silent_mtbf=9 * 86400, failure_mtbf=3.093 * 3600))
    2279
    """
    write, verification, silent, failure, every = _arguments(write, verification, silent_mtbf, failure_mtbf, every)
    with np.errstate(over="ignore"):
        # Each over the shorter mean time, whose inverse a float may not hold.
        shortest = np.minimum(silent / every, failure)
        faults = shortest / silent * every + shortest / failure / 2
        return checks.plain(np.sqrt(verification / every + write) * np.sqrt(shortest / faults))


def best_every(write, verification, silent_mtbf, failure_mtbf):
    r"""How many writes to a verification are best, to first order.

    .. math:: q^* = \sqrt{\frac{V}{C} \cdot \frac{M_s}{2 M_f}}

    The time lost, :math:`2 \sqrt{(V / q + C)(q / M_s + 1 / (2 M_f))}`, is least there; of the two whole
    numbers beside it the better one is taken.

    Parameters
    ----------
    write : float or array, > 0
    verification : float or array, >= 0
    silent_mtbf, failure_mtbf : float or array, > 0

    Returns
    -------
    int or array
        At least 1, at most 2^53.

    Notes
    -----
    A checkpoint that was not verified may hold a corruption, so the last verified one has to be kept too.

    Examples
    --------
    >>> best_every(write=240, verification=240, silent_mtbf=90 * 3600, failure_mtbf=3 * 3600)
    4
    """
    write, verification, silent, failure, _ = _arguments(write, verification, silent_mtbf, failure_mtbf, 1)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        real = np.sqrt(verification) / np.sqrt(write) * (np.sqrt(silent) / np.sqrt(2 * failure))
        low = np.clip(np.floor(np.minimum(real, 2.0**53)), 1.0, 2.0**53)
        # (V/q + C)(q/Ms + 1/2Mf) at q and q + 1, less what does not depend on q and over C / Ms.
        better = (low + real**2 / low <= low + 1 + real**2 / (low + 1)) | (low == 2.0**53)
    return checks.plain(np.where(better, low, low + 1).astype(np.int64))


def pattern_time(interval, write, verification, restart, silent_mtbf, failure_mtbf, every=1):
    r"""Exact mean time to get through q intervals of work, a write after each, a verification before the last.

    For q = 1, with :math:`f = 1/M_f` and :math:`s = 1/M_s`,

    .. math:: E = \frac{1}{f} \left[ e^{f C + s T} \left(e^{f (T + V)} - 1\right) + e^{f C} - 1
              + \left(e^{f R} - 1\right) \left(e^{f (T + V + C) + s T} - 1\right) \right]

    Parameters
    ----------
    interval : float or array, > 0
        Work between two writes, T.
    write, verification, restart : float or array, >= 0
        C, V, and R: the time back to work after a failure or a corruption.
    silent_mtbf, failure_mtbf : float or array, > 0
        Failures strike at any time, corruptions while the job works.
    every : int or array, >= 1
        q.

    Returns
    -------
    float or array
        Infinite where no float holds it.

    Notes
    -----
    Exponential times. A failed restart starts again. After a failure the job goes back to the last
    write; whether that one holds a corruption shows at the end of the pattern, which then starts anew.

    Examples
    --------
    >>> round(pattern_time(3600, 240, 30, 388.2, silent_mtbf=9 * 86400, failure_mtbf=3.1 * 3600))
    4812
    """
    interval = checks.positive("interval", interval)
    restart = checks.non_negative("restart", restart)
    write, verification, silent, failure, every = _arguments(
        write, verification, silent_mtbf, failure_mtbf, every, write_may_be_0=True
    )
    checks.broadcast(
        interval=interval,
        restart=restart,
        write=write,
        verification=verification,
        silent=silent,
        failure=failure,
        every=every,
    )
    with np.errstate(over="ignore", under="ignore"):
        return checks.plain(np.exp(_log_pattern_time(interval, write, verification, restart, silent, failure, every)))


def pattern_efficiency(interval, write, verification, restart, silent_mtbf, failure_mtbf, every=1):
    """Share of time spent on work that lasts: q T over :func:`pattern_time`.

    Parameters
    ----------
    interval, write, verification, restart, silent_mtbf, failure_mtbf, every
        As for :func:`pattern_time`.

    Returns
    -------
    float or array in [0, 1]

    Examples
    --------
    >>> round(pattern_efficiency(3600, 240, 30, 388.2, silent_mtbf=9 * 86400, failure_mtbf=3.1 * 3600), 4)
    0.7481
    """
    time = np.asarray(pattern_time(interval, write, verification, restart, silent_mtbf, failure_mtbf, every))
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        share = np.asarray(interval, dtype=float) / time * np.asarray(every, dtype=float)
        # Rounding may make the time a hair shorter than the work in it.
        return checks.plain(np.minimum(share, 1.0))


def optimal_pattern_interval(write, verification, restart, silent_mtbf, failure_mtbf, every=1):
    """Interval that maximises :func:`pattern_efficiency`.

    Parameters
    ----------
    write : float or array, > 0
    verification, restart : float or array, >= 0
    silent_mtbf, failure_mtbf : float or array, > 0
    every : int or array, >= 1

    Returns
    -------
    float or array
        To about one part in 10,000, over which the efficiency changes by nothing to speak of.

    Notes
    -----
    A search by golden sections in the logarithm of the interval, from which the time lost is one
    valley, until it is within a millionth. Where first order loses less than a millionth, rounding makes
    the valley flat, and the first-order interval is as near.

    Examples
    --------
    >>> round(optimal_pattern_interval(240, 30, 388.2, silent_mtbf=9 * 86400, failure_mtbf=3.1 * 3600), -1)
    2250.0
    """
    restart = checks.non_negative("restart", restart)
    write, verification, silent, failure, every = _arguments(write, verification, silent_mtbf, failure_mtbf, every)
    checks.broadcast(
        restart=restart, write=write, verification=verification, silent=silent, failure=failure, every=every
    )
    arrays = np.broadcast_arrays(write, verification, restart, silent, failure, every)
    first = np.asarray(verified_interval(arrays[0], arrays[1], arrays[3], arrays[4], arrays[5]))

    def log_lost(log_interval):
        return _log_pattern_time(np.exp(log_interval), *arrays) - log_interval

    # Where failures are frequent the best interval is near the mean time between them, far below first order.
    low = np.maximum(np.log(np.minimum(first, np.minimum(arrays[3] / arrays[5], arrays[4]))) - 7, -744.0)
    high = np.minimum(np.log(first) + 1, 709.0)
    ratio = (np.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    lost_left, lost_right = log_lost(left), log_lost(right)
    while np.max(high - low) > 1e-6:
        nearer = lost_left < lost_right
        low, high = np.where(nearer, low, left), np.where(nearer, right, high)
        # One of the two places inside is one of those before: a single evaluation a step.
        new = np.where(nearer, high - ratio * (high - low), low + ratio * (high - low))
        lost = log_lost(new)
        left, right = np.where(nearer, new, right), np.where(nearer, left, new)
        lost_left, lost_right = np.where(nearer, lost, lost_right), np.where(nearer, lost_left, lost)
    with np.errstate(over="ignore"):
        flat = 2 * (arrays[1] / arrays[5] + arrays[0]) / first < 1e-6
    return checks.plain(np.where(flat, first, np.exp((low + high) / 2)))


def _arguments(write, verification, silent_mtbf, failure_mtbf, every, write_may_be_0=False):
    """Checked arguments, `every` as floats."""
    write = checks.non_negative("write", write) if write_may_be_0 else checks.positive("write", write)
    verification = checks.non_negative("verification", verification)
    silent_mtbf, failure_mtbf = (
        checks.positive("silent_mtbf", silent_mtbf),
        checks.positive("failure_mtbf", failure_mtbf),
    )
    every = checks.whole("every", every, low=1).astype(float)
    checks.broadcast(
        write=write, verification=verification, silent_mtbf=silent_mtbf, failure_mtbf=failure_mtbf, every=every
    )
    return write, verification, silent_mtbf, failure_mtbf, every


def _log_pattern_time(interval, write, verification, restart, silent, failure, every):
    """Logarithm of :func:`pattern_time`, term by term: it is finite where the time itself overflows."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        # Mean time to the end of a stretch in which each failure means a restart and the stretch again.
        segment = (restart + interval + write) / failure + _log_until_failure(interval + write, failure)
        checked = (restart + interval + verification) / failure + _log_until_failure(interval + verification, failure)
        back = restart / failure + _log_until_failure(restart, failure)
        # Only the work that is kept can carry a corruption: one interval of each, whatever was repeated.
        clean, clean_before = -interval / silent, -(every - 1) * (interval / silent)
        wrong, wrong_before = np.log(-np.expm1(clean)), np.log(-np.expm1(clean_before))
        # The last write, before which the state is known to be right: what it takes if it goes well or fails.
        writing = np.logaddexp(_log_until_failure(write, failure), np.log(-np.expm1(-write / failure)) + back)
        # The last interval ends for good by a corruption found, or well; a failed write repeats it.
        over = np.logaddexp(wrong, clean - write / failure)
        last = np.logaddexp(np.logaddexp(checked, wrong + back), clean + writing)
        before = np.logaddexp(np.log(every - 1) + segment, wrong_before + np.logaddexp(checked, back))
        total = np.logaddexp(over + before, clean_before + last) - clean_before - clean + write / failure
        return np.where(np.isnan(total), np.inf, total)


def _log_until_failure(duration, mtbf):
    """Logarithm of the mean time until a stretch ends, by a failure or by itself: M (1 - e^(-d/M))."""
    return np.log(mtbf) + np.log(-np.expm1(-duration / mtbf))
