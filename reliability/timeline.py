"""How long each phase of a recovery takes, by the size of the job. Times are in seconds.

Published times by size are interpolated where they were measured, and nowhere else unasked.
"""

from dataclasses import dataclass

import numpy as np

from reliability import checks


def waves_time(nodes, at_once, each):
    r"""Time to start many nodes when only so many are started at once: their waves, one after another.

    .. math:: t = \left\lceil \frac{n}{c} \right\rceil t_1

    Parameters
    ----------
    nodes : int or array, >= 1
        Nodes to start, n.
    at_once : int or array, >= 1
        How many the scheduler starts at once, c.
    each : float or array, >= 0
        Time of one wave.

    Notes
    -----
    Assumes that no wave begins before the one before it has ended.

    Examples
    --------
    >>> waves_time(2048, at_once=1024, each=90.0)
    180.0
    """
    nodes = checks.whole("nodes", nodes, low=1)
    at_once = checks.whole("at_once", at_once, low=1)
    each = checks.non_negative("each", each)
    checks.broadcast(nodes=nodes, at_once=at_once, each=each)
    with np.errstate(over="ignore"):
        return checks.plain(-(-nodes // at_once) * each)


def load_time(size, storage, readers, reader, copies=1):
    r"""Time to read a checkpoint: what is slower of the storage and those who read.

    .. math:: t = k S \, \max\!\left(\frac{1}{B}, \frac{1}{n b}\right)

    Parameters
    ----------
    size : float or array, > 0
        The checkpoint, S, in any unit.
    storage : float or array, > 0
        What the storage gives to all readers together, B, in that unit a second.
    readers : int or array, >= 1
        Nodes that read, n, each its part.
    reader : float or array, > 0
        What one of them takes, b.
    copies : int or array, >= 1
        How often the checkpoint is read, k: once where one replica reads and passes it on, once a
        replica where each reads for itself.

    Examples
    --------
    >>> load_time(6000.0, storage=100.0, readers=128, reader=10.0)
    60.0
    """
    size = checks.positive("size", size)
    storage = checks.positive("storage", storage)
    readers = checks.whole("readers", readers, low=1)
    reader = checks.positive("reader", reader)
    copies = checks.whole("copies", copies, low=1)
    checks.broadcast(size=size, storage=storage, readers=readers, reader=reader, copies=copies)
    with np.errstate(over="ignore", under="ignore"):
        return checks.plain(np.maximum(size / storage * copies, size / reader * copies / readers))


def setup_time(ranks, measured, measured_ranks, exponent=1.0):
    r"""Time to set up communication, carried from the size where it was measured to another.

    .. math:: t(N) = t_0 \left(\frac{N}{N_0}\right)^a

    Parameters
    ----------
    ranks : int or array, >= 1
        N.
    measured : float or array, >= 0
        Time at `measured_ranks`, t0.
    measured_ranks : int or array, >= 1
        N0.
    exponent : float or array
        a: 0 where the time does not depend on the size, 1 where one process greets all others in turn.

    Examples
    --------
    >>> setup_time(16384, measured=65.4, measured_ranks=8192)
    130.8
    """
    ranks = checks.whole("ranks", ranks, low=1)
    measured = checks.non_negative("measured", measured)
    measured_ranks = checks.whole("measured_ranks", measured_ranks, low=1)
    exponent = checks.real("exponent", exponent)
    checks.broadcast(ranks=ranks, measured=measured, measured_ranks=measured_ranks, exponent=exponent)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        times = measured * (ranks / measured_ranks) ** exponent
    return checks.plain(np.where(measured == 0, 0.0, times))


@dataclass(frozen=True)
class PublishedCurve:
    """Times published at some sizes, and between them the power law through each pair of neighbours.

    `sizes` [n], at least two and rising, and `times` [n] are above 0. `rounding` is half of the last
    digit to which the sizes are printed: so far beyond its ends the curve still holds.
    """

    sizes: np.ndarray
    times: np.ndarray
    rounding: float = 0.0

    def __post_init__(self):
        """Check the points."""
        sizes, times = checks.positive("sizes", self.sizes), checks.positive("times", self.times)
        if sizes.ndim != 1 or sizes.shape != times.shape or len(sizes) < 2:
            raise ValueError(f"sizes {sizes.shape}, times {times.shape}: must be two lists of one length, at least 2")
        if np.any(np.diff(sizes) <= 0):
            raise ValueError(f"sizes = {sizes.tolist()}: must rise")
        rounding = checks.scalar("rounding", checks.non_negative("rounding", self.rounding))
        for name, value in (("sizes", sizes), ("times", times), ("rounding", rounding)):
            object.__setattr__(self, name, value)

    def holds(self, size):
        """Say for each size whether it lies where the published ones do.

        Parameters
        ----------
        size : float or array, > 0
        """
        size = checks.positive("size", size)
        return checks.plain((size >= self.sizes[0] - self.rounding) & (size <= self.sizes[-1] + self.rounding))

    def at(self, size, extend=False):
        """Interpolate: the time at a size between the published ones.

        Parameters
        ----------
        size : float or array, > 0
        extend : bool
            Go on beyond the ends with the power law of the last pair. Nothing published says that it holds.

        Raises
        ------
        ValueError
            Where a size lies outside the published ones, unless `extend`.

        Examples
        --------
        >>> curve = PublishedCurve([16000, 64000], [100.0, 200.0])
        >>> round(curve.at(32000), 1)
        141.4
        """
        size = checks.positive("size", size)
        if not (extend or np.all(self.holds(size))):
            outside = size.ravel()[~np.ravel(self.holds(size))][0]
            raise ValueError(
                f"size = {outside:g}: must lie from {self.sizes[0]:g} to {self.sizes[-1]:g}, where times were published; "
                "extend=True goes on beyond"
            )
        piece = np.clip(np.searchsorted(self.sizes, size, side="right") - 1, 0, len(self.sizes) - 2)
        with np.errstate(over="ignore", under="ignore"):
            return checks.plain(self.times[piece] * (size / self.sizes[piece]) ** self.exponents()[piece])

    def exponents(self):
        """Return the exponent of the power law between each pair of neighbours, as array [n - 1]."""
        return np.diff(np.log(self.times)) / np.diff(np.log(self.sizes))

    def held_out(self):
        """Predict each inner point from its two neighbours, the point itself left out: array [n - 2].

        How far that is off says how good an interpolation between so few points is.
        """
        inner = range(1, len(self.sizes) - 1)
        without = (PublishedCurve(np.delete(self.sizes, i), np.delete(self.times, i)) for i in inner)
        return np.array([curve.at(self.sizes[i]) for i, curve in zip(inner, without, strict=True)])
