"""The way back from each class of fault, and what a week of them costs. Times are in seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from reliability import checks
from reliability.faults import CLASSES, by_class, fault_mix
from reliability.units import HOUR_S

# A standby node replaces hardware. A software fault restarts the whole job wherever it runs.
STANDBY_HELPS = ("gpu", "network", "host")


def timeline_total(phases):
    """Length of a recovery whose phases follow one another: their sum.

    Parameters
    ----------
    phases : mapping of phase to seconds, >= 0

    Returns
    -------
    float, >= 0
        Seconds.

    Examples
    --------
    >>> timeline_total({"stop": 30.0, "load": 90.0})
    120.0
    """
    if not isinstance(phases, Mapping) or not phases:
        raise ValueError(f"phases = {phases!r}: must map at least one phase to its seconds")
    return float(
        sum(checks.scalar(name, checks.non_negative(f"phases[{name!r}]", seconds)) for name, seconds in phases.items())
    )


@dataclass(frozen=True)
class RecoveryPath:
    """One way back to work: `detection` [5] and `restart` [5] in seconds, by class."""

    name: str
    detection: np.ndarray
    restart: np.ndarray

    def loss_per_fault(self, rollback):
        """Seconds lost by one fault of each class: detection + rollback + restart.

        Parameters
        ----------
        rollback : float, >= 0
            Work repeated since the last checkpoint, half an interval on average.

        Returns
        -------
        float array [5], >= 0
            Seconds, by class.
        """
        rollback = checks.scalar("rollback", checks.non_negative("rollback", rollback))
        return self.detection + rollback + self.restart


def cold_path(detection, restart):
    """Requeue and restart the whole job, whatever failed.

    Parameters
    ----------
    detection : mapping of class to seconds, >= 0
    restart : float, >= 0
        Seconds of a full restart.

    Returns
    -------
    RecoveryPath
    """
    return standby_path(detection, restart, restart, helps=(), name="cold restart")


def standby_path(detection, restart, standby, helps=STANDBY_HELPS, name="warm standby"):
    """Swap in a waiting node for the classes that it helps, restart cold for the others.

    Parameters
    ----------
    detection : mapping of class to seconds, >= 0
    restart, standby : float, >= 0
        Seconds of a cold restart and of a swap.
    helps : collection of classes
    name : str

    Returns
    -------
    RecoveryPath

    Notes
    -----
    Assumes that a standby is always free; a pool runs out.
    """
    seconds = checks.non_negative("detection", by_class("detection", detection))
    restart = checks.scalar("restart", checks.non_negative("restart", restart))
    standby = checks.scalar("standby", checks.non_negative("standby", standby))
    if isinstance(helps, str) or not set(helps) <= set(CLASSES):
        raise ValueError(f"helps = {helps!r}: must be a collection of classes out of {', '.join(CLASSES)}")
    return RecoveryPath(name, seconds, np.array([standby if c in helps else restart for c in CLASSES]))


def hours_lost_h(counts, path, rollback):
    r"""Hours that faults cost: each its detection, its rollback and its restart.

    .. math:: L = \sum_c n_c \, (d_c + b + r_c)

    Parameters
    ----------
    counts : int array [..., 5], >= 0
        Faults by class; leading axes are weeks, replications or the like.
    path : RecoveryPath
    rollback : float, >= 0
        Seconds of repeated work a fault, b.

    Returns
    -------
    float or array [...]

    Notes
    -----
    No fault strikes while another is being recovered from: see :func:`recovery_with_faults`.
    """
    counts = checks.whole("counts", counts)
    if counts.shape[-1:] != (len(CLASSES),):
        raise ValueError(f"counts has shape {counts.shape}: the last axis must have {len(CLASSES)} classes")
    # Counts are exact in floating point, and a float product calls the fast matrix routine.
    return checks.plain(counts.astype(float) @ (path.loss_per_fault(rollback) / HOUR_S))


def hours_by_part_h(counts, path, rollback):
    """Hours that faults cost, apart: detection, rollback and restart, which sum to :func:`hours_lost_h`.

    Parameters
    ----------
    counts : int array [..., 5], >= 0
    path : RecoveryPath
    rollback : float, >= 0
        Seconds of repeated work a fault.

    Returns
    -------
    dict of part to float or array [...]
    """
    none = np.zeros(len(CLASSES))
    return {
        "rollback": hours_lost_h(counts, replace(path, detection=none, restart=none), rollback),
        "restart": hours_lost_h(counts, replace(path, detection=none), 0.0),
        "detection": hours_lost_h(counts, replace(path, restart=none), 0.0),
    }


def mean_hours_lost_h(expected, mix, path, rollback):
    r"""Mean hours that faults cost when they come by chance.

    .. math:: E[L] = \lambda \sum_c p_c \, (d_c + b + r_c)

    Parameters
    ----------
    expected : float, >= 0
        Mean number of faults in the period, lambda.
    mix : mapping of class to share, p
    path : RecoveryPath
    rollback : float, >= 0
        Seconds of repeated work a fault, b.

    Returns
    -------
    float, >= 0
        Hours.
    """
    expected = checks.scalar("expected", checks.non_negative("expected", expected))
    return float(expected * fault_mix(mix) @ path.loss_per_fault(rollback) / HOUR_S)


def equivalent_interval(interval, saved, faults):
    r"""Checkpoint interval whose shorter rollback saves as much as something else does.

    .. math:: T' = T - \frac{2 S}{n}

    Each of n faults rolls back half an interval, so that T' saves S against T.

    Parameters
    ----------
    interval : float or array, > 0
        T, in any unit of time.
    saved : float or array
        S, in the same unit; where it is negative, T' is longer than T.
    faults : int or array, >= 0
        n; without faults no interval saves anything, and T' is T.

    Returns
    -------
    float or array
        0 where even no rollback at all saves less than S.

    Examples
    --------
    >>> equivalent_interval(60.0, saved=100.0, faults=20)
    50.0
    """
    interval = checks.positive("interval", interval)
    saved = checks.real("saved", saved)
    faults = checks.whole("faults", faults)
    checks.broadcast(interval=interval, saved=saved, faults=faults)
    shorter = np.where(faults > 0, 2.0 * saved / np.maximum(faults, 1), 0.0)
    return checks.plain(np.maximum(0.0, interval - shorter))


def ettr(lost, horizon):
    r"""Effective training time ratio, 1 - lost / horizon.

    Parameters
    ----------
    lost : float or array, >= 0
    horizon : float or array, > 0
        In the unit of `lost`.

    Returns
    -------
    float or array in [0, 1]
        0 where more is lost than there is.

    Examples
    --------
    >>> round(ettr(12.204, 168), 4)
    0.9274
    """
    lost = checks.non_negative("lost", lost)
    horizon = checks.positive("horizon", horizon)
    checks.broadcast(lost=lost, horizon=horizon)
    return checks.plain(np.maximum(0.0, 1.0 - lost / horizon))


@dataclass(frozen=True)
class Position:
    """Where a value lies in a sample: the shares `below`, `equal` and `above` it."""

    below: float
    equal: float
    above: float


def position(value, sample):
    """Where `value` lies among a sample: shares below, equal and above.

    Parameters
    ----------
    value : float
    sample : array, not empty

    Returns
    -------
    Position
        The three shares sum to 1.
    """
    value = checks.scalar("value", checks.real("value", value))
    sample = checks.real("sample", sample)
    below, equal = float(np.mean(sample < value)), float(np.mean(sample == value))
    return Position(below, equal, float(np.mean(sample > value)))


def recovery_with_faults(duration, mtbf):
    r"""Mean length of a recovery that a failure starts over.

    .. math:: M \left(e^{D/M} - 1\right)

    Parameters
    ----------
    duration : float or array, >= 0
        Length D of an undisturbed recovery.
    mtbf : float or array, > 0
        M, in the unit of `duration`; failures strike during recovery as at any time.

    Returns
    -------
    float or array
        Infinite where no recovery can succeed within a float's range.

    Examples
    --------
    >>> round(recovery_with_faults(1.0, 1.0), 3)
    1.718
    """
    duration = checks.non_negative("duration", duration)
    mtbf = checks.positive("mtbf", mtbf)
    checks.broadcast(duration=duration, mtbf=mtbf)
    with np.errstate(over="ignore", under="ignore"):
        return checks.plain(mtbf * np.expm1(duration / mtbf))
