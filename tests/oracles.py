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
modest = settings(deadline=None, derandomize=True, max_examples=25, database=None)

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
    """One pytest case for each parameter of `function`, with all values that it must refuse."""
    return [
        pytest.param(function, good, name, values, id=f"{function.__name__}-{name}") for name, values in bad.items()
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


def assert_refused(function, good, name, values):
    """`function(**good)` works; with each of `values` as `name` it says which parameter is wrong and what it was."""
    function(**good)
    for value in values:
        try:
            answer = function(**{**good, name: value})
        except ValueError as error:
            message = str(error)
        else:
            pytest.fail(f"{name} = {value!r} is taken, and gives {answer!r}")
        assert re.search(rf"\b{name}\b", message), f"{name!r} is not named: {message}"
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


def bisect(function, low, high):
    """Where `function`, negative at `low` and positive at `high`, changes its sign."""
    assert function(low) < 0 < function(high)
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:  # two neighbouring floats
            break
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return (low + high) / 2


def maximise(function, low, high):
    """Where `function`, of one hump, is greatest: a golden-section search.

    It stops where rounding makes a hump flat: a value known to 1e-16 fixes its place to 1e-8 or so.
    """
    ratio = (math.sqrt(5) - 1) / 2
    while high - low > 1e-9 * high:
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (left, high) if function(left) < function(right) else (low, right)
    return (low + high) / 2


def normal_tail(x):
    """Chance that a standard normal exceeds x, accurate in the far tail."""
    return math.erfc(x / math.sqrt(2)) / 2


def poisson_at_most(events, mean):
    """Chance of so many events or fewer, as a sum of its terms."""
    return math.fsum(poisson_exactly(k, mean) for k in range(events + 1))


def poisson_exactly(events, mean):
    return math.exp(events * math.log(mean) - mean - math.lgamma(events + 1))


def kolmogorov(distance, size):
    """Chance of a greater distance between a sample of that size and its distribution (asymptotic)."""
    x = math.sqrt(size) * distance
    return 1.0 if x < 0.3 else 2 * sum((-1) ** (k - 1) * math.exp(-2 * (k * x) ** 2) for k in range(1, 50))


def one_sample_p(sample, distribution):
    """p-value of the Kolmogorov-Smirnov test of a sample against a distribution function."""
    expected = np.array([distribution(x) for x in np.sort(sample).tolist()])
    steps = np.arange(expected.size + 1) / expected.size
    return kolmogorov(max((steps[1:] - expected).max(), (expected - steps[:-1]).max()), expected.size)


def two_sample_p(one, other):
    """p-value of the Kolmogorov-Smirnov test of two samples against each other; ties make it greater."""
    places = np.sort(np.concatenate([one, other]))
    shares = [np.searchsorted(np.sort(sample), places, side="right") / len(sample) for sample in (one, other)]
    return kolmogorov(np.abs(shares[0] - shares[1]).max(), len(one) * len(other) / (len(one) + len(other)))


def chi_square_p(observed, expected, constraints=1):
    """p-value of Pearson's chi-square test."""
    from scipy.special import chdtrc

    observed, expected = np.ravel(observed), np.ravel(expected)
    return float(chdtrc(observed.size - constraints, ((observed - expected) ** 2 / expected).sum()))


def independence_p(table):
    """p-value of the chi-square test of independence of rows and columns."""
    rows, columns = table.shape
    expected = table.sum(1, keepdims=True) * table.sum(0, keepdims=True) / table.sum()
    return chi_square_p(table, expected, constraints=rows + columns - 1)


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
    c = write / mtbf
    u = math.sqrt(2 * c)
    if u < 0.02:
        return mtbf * (u - u**2 / 3 + u**3 / 36 + u**4 / 270 + u**5 / 4320)
    if c > 30:  # 1 - t is below 1e-13, and float can hardly hold it
        return mtbf * -math.expm1(-1 - c)
    return mtbf * bisect(lambda t: -math.log1p(-t) - t - c, 1e-9, 1 - 1e-15)


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


def bytes_of(result):
    """All numbers of all replications of a fleet as bytes: equal where two runs agree to the last bit."""
    arrays = [result.elapsed_s, *result.bins_s.values(), *result.counts.values()]
    return b"".join(np.ascontiguousarray(array, dtype="<f8").tobytes() for array in arrays)
