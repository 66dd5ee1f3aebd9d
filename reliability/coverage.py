"""Detection coverage: what share of the corruptions that may happen a guard sees.

Built on :mod:`reliability.sdc` and :mod:`reliability.guards`.
"""

import numpy as np

from reliability import checks
from reliability.guards import norm_ratio_after_flip, rolling_median
from reliability.sdc import bits, differs, fingerprint, fingerprints, flip, flipped_values


def fields(float_format):
    """Bits of a float format by what they say, from the highest down.

    Parameters
    ----------
    float_format : str
        "float64", "float32" or "bfloat16".

    Returns
    -------
    dict
        How many bits are "sign", "exponent" and "fraction".

    Examples
    --------
    >>> fields("bfloat16")
    {'sign': 1, 'exponent': 8, 'fraction': 7}
    """
    width = bits(float_format)
    exponent = 11 if width == 64 else 8  # bfloat16 is the upper half of a float32
    return {"sign": 1, "exponent": exponent, "fraction": width - 1 - exponent}


def flips_seen_by_norm(values, threshold):
    r"""Share of single flips that a guard on the Euclidean norm sees, by bit.

    A flip of :math:`x` into :math:`x'` is seen if it leaves no finite number or

    .. math:: \frac{\|g'\|}{\|g\|} = \sqrt{1 + \frac{x'^2 - x^2}{\|g\|^2}} > k

    Parameters
    ----------
    values : float array [dim]
        The gradient :math:`g`; its norm above 0.
    threshold : float, > 0
        k.

    Returns
    -------
    float array [bits]
        From the lowest bit of the fraction to the sign: the share of the elements in which a flip
        of that bit, by itself, is seen.

    Examples
    --------
    >>> seen = flips_seen_by_norm(np.full(100, 0.5, dtype=np.float32), threshold=4)
    >>> np.flatnonzero(seen).tolist(), seen.max().item()
    ([30], 1.0)
    """
    threshold = checks.scalar("threshold", checks.positive("threshold", threshold))
    array = np.ravel(values)
    index = np.arange(array.size)
    # A bit at a time, so that a large gradient needs no more memory than a few copies of it.
    return np.array([(norm_ratio_after_flip(array, index, b) > threshold).mean() for b in range(bits(array.dtype))])


def single_flips(values, threshold, exhausted=8):
    """Share of the single flips of a gradient that each defence sees, over every element and bit alike.

    Parameters
    ----------
    values : float array [dim]
        Its norm above 0.
    threshold : float, > 0
        Of the norm guard, as for :func:`flips_seen_by_norm`.
    exhausted : int, >= 1
        So many elements from the first have every bit flipped in a copy of them, for the
        fingerprint and the dual run.

    Returns
    -------
    dict
        Shares: "not_finite" (the flip leaves a NaN or an infinity), "norm", "fingerprint" (against
        replicas that are sound) and "dual_run".

    Examples
    --------
    >>> single_flips(np.full(100, 0.5, dtype=np.float32), threshold=4)
    {'not_finite': 0.0, 'norm': 0.03125, 'fingerprint': 1.0, 'dual_run': 1.0}
    """
    array, width = np.ravel(values), bits(np.asarray(values).dtype)
    index = np.arange(array.size)
    broken = [(~np.isfinite(flipped_values(array, index, bit))).mean() for bit in range(width)]
    shard = array[: checks.count("exhausted", exhausted)]
    flipped = np.stack([flip(shard, i, bit) for i in range(shard.size) for bit in range(width)])
    return {
        "not_finite": float(np.mean(broken)),
        "norm": float(flips_seen_by_norm(array, threshold).mean()),
        "fingerprint": float((fingerprints(flipped) != fingerprint(shard)).mean()),
        "dual_run": float(differs(flipped, np.broadcast_to(shard, flipped.shape)).mean()),
    }


def spikes_seen(losses, factor, threshold, window=50):
    """Share of the steps at which a loss `factor` times too high would alarm the spike guard.

    Parameters
    ----------
    losses : array [steps]
        A clean curve: positive, finite, longer than `window`.
    factor : float, > 0
        What a corruption multiplies the loss of its step by.
    threshold : float, > 0
    window : int, >= 1
        As for :func:`reliability.guards.spike_guard`.

    Returns
    -------
    float
        Of the steps after the warm-up, each tried by itself.

    Examples
    --------
    >>> spikes_seen([2.0, 2.0, 1.9, 2.1], factor=5, threshold=5, window=2)
    0.5
    """
    factor = checks.scalar("factor", checks.positive("factor", factor))
    threshold = checks.scalar("threshold", checks.positive("threshold", threshold))
    return float((factor * loss_over_median(losses, window) > threshold).mean())


def loss_over_median(losses, window=50):
    """Each loss after the warm-up over its rolling median: how far a clean curve strays by itself.

    Parameters
    ----------
    losses : array [steps]
        Positive, finite, longer than `window`.
    window : int, >= 1

    Returns
    -------
    array [steps - window]

    Examples
    --------
    >>> loss_over_median([2.0, 2.0, 1.0, 3.0], window=2).tolist()
    [0.5, 2.0]
    """
    array = checks.positive("losses", losses)
    medians = rolling_median(array, window)
    if array.size <= window:
        raise ValueError(f"losses has {array.size} steps: must be more than window = {window}, the guard's warm-up")
    return array[window:] / medians[window:]
