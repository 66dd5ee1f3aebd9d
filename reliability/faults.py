"""Faults by class: their mix, recorded traces and drawn ones.

Arrays over classes follow the order of `CLASSES`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from reliability import checks

CLASSES = ("gpu", "network", "host", "software", "other")
# The causes of Llama 3's table by the classes of the publication. The table itself files NIC, expansion board and
# system memory under the host.
LLAMA3_CAUSES = {
    "gpu": ("faulty_gpu", "hbm3_memory", "gpu_sram", "gpu_system_processor", "gpu_thermal", "silent_data_corruption"),
    "network": ("network_switch_cable",),
    "host": ("host_maintenance", "ssd", "power_supply", "server_chassis", "cpu"),
    "software": ("software_bug", "nccl_watchdog"),
    "other": ("nic", "io_expansion_board", "dependency", "system_memory"),
}


def by_class(name, values):
    """Turn a mapping over exactly the five classes into an array in their order."""
    if not isinstance(values, Mapping) or set(values) != set(CLASSES):
        raise ValueError(f"{name} = {values!r}: must give a value for each of {', '.join(CLASSES)}, and no other")
    return np.array([values[c] for c in CLASSES])


def fault_mix(mix):
    """Shares of the fault classes as an array that sums to 1.

    Parameters
    ----------
    mix : mapping of class to share, each in [0, 1]
        The shares sum to 1 within 1e-9.

    Returns
    -------
    float array [5]
        In the order of `CLASSES`.
    """
    shares = checks.probability("mix", by_class("mix", mix))
    if abs(shares.sum() - 1.0) > 1e-9:
        raise ValueError(f"mix = {dict(mix)!r}: the shares sum to {shares.sum():.12g}; they must sum to 1")
    return shares


def counts_from(counts):
    """Faults by class as an array, from a mapping of class to count; absent classes are refused.

    Parameters
    ----------
    counts : mapping of class to int, >= 0

    Returns
    -------
    int array [5]
        In the order of `CLASSES`.
    """
    return checks.whole("counts", by_class("counts", counts))


def check_class_counts(counts):
    """Refuse counts of failures that are not those of all `CLASSES`, or are all 0.

    Raises
    ------
    ValueError
    """
    if set(counts) != set(CLASSES) or any(not 0 <= n <= 10**9 for n in counts.values()) or not sum(counts.values()):
        raise ValueError(
            f"class_counts = {counts}: must give a count from 0 for each of {', '.join(CLASSES)}, not all 0"
        )


def group_causes(counts, causes):
    """Add up counts by cause to counts by class.

    Parameters
    ----------
    counts : mapping of cause to int, >= 0
    causes : mapping of class to causes
        Each cause of `counts` stands in exactly one class; a class may have none.

    Returns
    -------
    dict of class to int
    """
    if not isinstance(counts, Mapping) or not counts:
        raise ValueError(f"counts = {counts!r}: must map at least one cause to its count")
    if not isinstance(causes, Mapping) or set(causes) != set(CLASSES):
        raise ValueError(f"causes = {causes!r}: must list causes for each of {', '.join(CLASSES)}, and no other")
    listed = [cause for c in CLASSES for cause in causes[c]]
    wrong = sorted({*counts} ^ {*listed} | {cause for cause in listed if listed.count(cause) > 1})
    if wrong:
        raise ValueError(f"causes has {', '.join(wrong)}: must list each cause of counts once, and no other")
    for cause, n in counts.items():
        checks.count(f"counts[{cause!r}]", n, low=0)
    return {c: sum(int(counts[cause]) for cause in causes[c]) for c in CLASSES}


def mix_from_counts(counts, causes):
    """Shares of the fault classes out of counts by cause.

    Parameters
    ----------
    counts : mapping of cause to int, >= 0
        At least one event in all.
    causes : mapping of class to causes
        As in :func:`group_causes`.

    Returns
    -------
    dict of class to share
        They sum to 1.

    Examples
    --------
    >>> table = {"gpu_lost": 6, "cable": 1, "bug": 1}
    >>> mix = mix_from_counts(table, {"gpu": ["gpu_lost"], "network": ["cable"], "host": [], "software": ["bug"], "other": []})
    >>> mix["gpu"]
    0.75
    """
    grouped = group_causes(counts, causes)
    total = sum(grouped.values())
    if total == 0:
        raise ValueError(f"counts = {dict(counts)!r}: must have at least one event")
    return {c: n / total for c, n in grouped.items()}


def count_faults(trace):
    """Replay a trace: how many faults of each class it has.

    Parameters
    ----------
    trace : sequence of str
        The class of each fault; may be empty, a period without a fault.

    Returns
    -------
    int array [5]
    """
    if isinstance(trace, str):
        raise ValueError(f"trace = {trace!r}: must be a sequence of classes, not one string")
    unknown = sorted({str(c) for c in trace} - set(CLASSES))
    if unknown:
        raise ValueError(f"trace has {', '.join(map(repr, unknown))}: a class must be one of {', '.join(CLASSES)}")
    classes = [str(c) for c in trace]
    return np.array([classes.count(c) for c in CLASSES])


def expected_faults(horizon, mtbf):
    r"""Mean number of failures of a Poisson process.

    .. math:: E[n] = H / M

    Parameters
    ----------
    horizon : float or array, >= 0
        H, time by the clock.
    mtbf : float or array, > 0
        M, in the unit of `horizon`.

    Returns
    -------
    float or array

    Notes
    -----
    Failures strike at any moment of the clock, during a recovery too. Where they only strike while
    the job runs, the time it runs takes the place of `horizon`.

    Examples
    --------
    >>> round(expected_faults(168, 7.9), 1)
    21.3
    """
    horizon = checks.non_negative("horizon", horizon)
    mtbf = checks.positive("mtbf", mtbf)
    checks.broadcast(horizon=horizon, mtbf=mtbf)
    return checks.plain(horizon / mtbf)


@dataclass(frozen=True)
class Trace:
    """Faults of one period: `times` [n], sorted, and their `classes` [n]."""

    times: np.ndarray
    classes: np.ndarray


def draw_trace(rng, horizon, mtbf, mix):
    """Draw the faults of one period: a Poisson process with independent classes.

    Parameters
    ----------
    rng : numpy.random.Generator
    horizon : float, > 0
    mtbf : float, > 0
        In the unit of `horizon`.
    mix : mapping of class to share

    Returns
    -------
    Trace
        Times in the unit of `horizon`.
    """
    checks.generator(rng)
    horizon = checks.scalar("horizon", checks.positive("horizon", horizon))
    shares = fault_mix(mix)
    n = rng.poisson(checks.scalar("mtbf", expected_faults(horizon, mtbf)))
    times = np.sort(rng.uniform(0.0, horizon, n))
    return Trace(times, rng.choice(np.array(CLASSES), size=n, p=shares / shares.sum()))


def draw_fault_counts(rng, weeks, expected, mix):
    """Draw how many faults of each class many periods see.

    Parameters
    ----------
    rng : numpy.random.Generator
    weeks : int, >= 1
        Periods drawn, all at once.
    expected : float, >= 0
        Mean number of faults in one period.
    mix : mapping of class to share

    Returns
    -------
    int array [weeks, 5]

    Notes
    -----
    A Poisson process whose events are sorted into classes is one independent Poisson process a
    class, so that the counts need no drawing of times.
    """
    checks.generator(rng)
    weeks = checks.count("weeks", weeks)
    expected = checks.scalar("expected", checks.non_negative("expected", expected))
    counts = np.empty((len(CLASSES), weeks), dtype=np.int64)
    for row, mean in zip(counts, expected * fault_mix(mix), strict=True):
        row[:] = rng.poisson(mean, weeks)
    return counts.T
