"""Slow, obvious re-implementations and a few helpers, shared by the unit tests.

Nothing here imports the package: what is compared with it must not be built from it.
"""

import math
import re
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import settings

# The same examples each time, no clock, no database on the disk.
modest = settings(deadline=None, derandomize=True, max_examples=60, database=None)

NAN, INF = math.nan, math.inf

# Values that a parameter of each sort must refuse. The odd numbers are chosen so that an error
# message can only hold them by repeating what was given.
NOT_FINITE = (NAN, INF, -INF)
NOT_NUMBERS = ("seven", None, [])
NOT_POSITIVE = (*NOT_FINITE, -3.25, 0.0, *NOT_NUMBERS)
NEGATIVE = (*NOT_FINITE, -3.25, *NOT_NUMBERS)
NOT_INSIDE_UNIT = (*NOT_FINITE, -3.25, 0.0, 1.0, 1.75, *NOT_NUMBERS)
NOT_COUNT = (*NOT_FINITE, -3, 0, *NOT_NUMBERS)


def refusals(function, good, **bad):
    """One pytest case for each parameter and each value of it that `function` must refuse."""
    return [
        pytest.param(function, good, name, value, id=f"{function.__name__}-{name}-{value}")
        for name, values in bad.items()
        for value in values
    ]


def shown(value):
    """A pattern that matches `value` as an error message would repeat it."""
    if isinstance(value, (list, tuple, np.ndarray)) and len(value) == 0:
        return r"empty|\[\]|\(0,\)|size 0"
    if isinstance(value, (list, tuple, np.ndarray)):
        return "|".join(shown(item) for item in np.asarray(value).ravel().tolist())
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not math.isfinite(value) or value != int(value):
            return rf"(?<![\w.]){re.escape(repr(value))}(?![\w.])"
        return rf"(?<![\w.]){re.escape(str(int(value)))}(\.0*)?(?![\w.]*\d)"
    return re.escape(str(value))


def assert_refused(function, good, name, value, names=None):
    """`function(**good)` works, and with `name=value` says which parameter is wrong and what it was."""
    function(**good)
    with pytest.raises(ValueError) as caught:
        function(**{**good, name: value})
    message = str(caught.value)
    assert re.search(rf"\b({'|'.join(names or [name])})\b", message), f"{name!r} is not named: {message}"
    assert re.search(shown(value), message), f"{value!r} is not repeated: {message}"


@contextmanager
def strict():
    """Any warning, overflow, division by zero or invalid operation is an error."""
    with warnings.catch_warnings(), np.errstate(over="raise", divide="raise", invalid="raise"):
        warnings.simplefilter("error")
        yield


def assert_mean(sample, expected, resolution, errors=4.0):
    """The mean of `sample` is within four standard errors of `expected`.

    The seeds are fixed, so that this passes or fails for ever. `resolution` keeps it from being
    vacuous: the standard error itself must be below that share of the expectation.
    """
    sample = np.asarray(sample, dtype=float)
    error = sample.std(ddof=1) / math.sqrt(sample.size)
    assert error <= resolution * abs(expected), f"the sample resolves only {error / abs(expected):.2%}"
    assert abs(sample.mean() - expected) <= errors * error, (
        f"{sample.mean():.6g} differs from {expected:.6g} by {(sample.mean() - expected) / error:+.1f} standard errors"
    )


def percent(value, decimals=2):
    return f"{100 * value:.{decimals}f}%"


def restarting_until(rng, duration, mtbf):
    """Time until `duration` has passed without a fault, event by event: a fault starts it again."""
    elapsed = 0.0
    while True:
        fault = rng.exponential(mtbf)
        if fault >= duration:
            return elapsed + duration
        elapsed += fault


def checkpointed_segment(rng, interval, write, restart, mtbf):
    """Wall time of one interval of work and its checkpoint, event by event.

    A fault loses what the segment has done; the restart must then end without a fault of its own.
    """
    elapsed = 0.0
    while True:
        fault = rng.exponential(mtbf)
        if fault >= interval + write:
            return elapsed + interval + write
        elapsed += fault + restarting_until(rng, restart, mtbf)


def exact_optimum(write, mtbf):
    """The interval t (in units of the MTBF) at which d/dt log(t / (e^(t+c) - 1)) is zero.

    The condition is -log(1 - t) - t = c. Below u = sqrt(2c) = 0.02 the left side cancels, and the
    inverted series is used; its first neglected term is u^6/17010, 4e-15 there.
    """
    from scipy.optimize import brentq

    c = write / mtbf
    u = math.sqrt(2 * c)
    if u < 0.02:
        return mtbf * (u - u**2 / 3 + u**3 / 36 + u**4 / 270 + u**5 / 4320)
    if c > 30:  # 1 - t is below 1e-13, and float can hardly hold it
        return mtbf * -math.expm1(-1 - c)
    return mtbf * brentq(lambda t: -math.log1p(-t) - t - c, 1e-9, 1 - 1e-15, xtol=1e-15, rtol=1e-14)


def log_renewal(interval, write, mtbf):
    """Logarithm of the renewal model's efficiency without its restart, which overflows nowhere."""
    x = (interval + write) / mtbf
    return math.log(interval / mtbf) - (x + math.log(-math.expm1(-x)))


CASTAGNOLI = 0x82F63B78  # the polynomial of CRC-32C, bits reversed


def crc32c(data):
    """CRC-32C bit by bit, as RFC 3720 defines it."""
    register = 0xFFFFFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = (register >> 1) ^ (CASTAGNOLI if register & 1 else 0)
    return register ^ 0xFFFFFFFF


def crc32c_syndromes(bits):
    """What flipping each single bit of a message of that many bits does to its CRC-32C.

    A CRC is linear: flips change it by the XOR of their syndromes, whatever the message.
    """
    syndromes, register = [0] * bits, CASTAGNOLI
    for position in range(bits - 1, -1, -1):
        syndromes[position] = register
        register = (register >> 1) ^ (CASTAGNOLI if register & 1 else 0)
    return syndromes


def spikes(losses, threshold, window):
    """The rolling-median guard as a plain loop."""
    found = []
    for step, loss in enumerate(losses):
        finite = [x for x in losses[:step] if math.isfinite(x)][-window:]
        if not math.isfinite(loss):
            found.append(step)
        elif step >= window and finite:
            middle = sorted(finite)
            half = len(middle) // 2
            median = middle[half] if len(middle) % 2 else (middle[half - 1] + middle[half]) / 2
            if loss > threshold * median:
                found.append(step)
    return found
