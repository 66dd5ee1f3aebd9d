"""Quantities that are not known exactly, and draws of them on common random numbers."""

import zlib
from dataclasses import dataclass

import numpy as np

from reliability import checks

LEVEL = 0.95  # what `low` and `high` of a quantity, and every interval of a plan, cover
_Z = 1.959963984540054  # the normal quantile of (1 + LEVEL) / 2


@dataclass(frozen=True)
class Quantity:
    """A number, and where it is known the range that holds it with 95 % (`low` and `high`, or neither)."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def exact(self):
        """Whether no range is known."""
        return self.low is None


class Streams:
    """Random numbers by name: the same name gives the same numbers, whatever else is drawn.

    Two plans that are drawn with one seed differ only where their inputs do.

    Parameters
    ----------
    seed : int, >= 0
    draws : int, >= 1

    Examples
    --------
    >>> a, b = Streams(7, 3), Streams(7, 3)
    >>> _ = a.normal("another")
    >>> bool((a.normal("repair") == b.normal("repair")).all())
    True
    """

    def __init__(self, seed, draws):
        self.seed, self.draws = checks.count("seed", seed, low=0), checks.count("draws", draws)

    def generator(self, name):
        """Return the generator of a name, from its beginning."""
        return np.random.default_rng([self.seed, zlib.crc32(name.encode())])

    def normal(self, name):
        """Return standard normal numbers [draws]."""
        return self.generator(name).standard_normal(self.draws)

    def quantity(self, name, quantity):
        r"""Draw a quantity: its value is the median, its range the central 95 %.

        .. math:: v \, (h/v)^{z / 1.96} \; (z > 0), \qquad v \, (v/l)^{z / 1.96} \; (z \le 0)

        Lognormal on each side of the value; normal, cut off at 0, where the range begins at 0.

        Parameters
        ----------
        name : str
            The stream.
        quantity : Quantity

        Returns
        -------
        array [draws]
            Constant where no range is known.
        """
        value, low, high = quantity.value, quantity.low, quantity.high
        if quantity.exact:
            return np.full(self.draws, float(value))
        z = self.normal(name) / _Z
        if low == 0 or value == 0:
            return np.maximum(0.0, np.where(z > 0, value + z * (high - value), value + z * (value - low)))
        return value * np.exp(np.where(z > 0, z * np.log(high / value), z * np.log(value / low)))

    def counted(self, name, events, exposure):
        r"""Draw a rate of which so many events were counted in an exposure.

        .. math:: r \sim \Gamma(k + 1/2) / E

        Jeffreys' posterior of a Poisson rate; its central 95 % lies inside the exact interval of
        :func:`reliability.rates.poisson_rate_interval`.
        """
        from scipy.special import gammaincinv, ndtr

        events, exposure = (
            checks.count("events", events, low=0),
            checks.scalar("exposure", checks.positive("exposure", exposure)),
        )
        return gammaincinv(events + 0.5, ndtr(self.normal(name))) / exposure

    def shares(self, name, counts):
        """Draw shares of classes of which so many were counted (Dirichlet, half an event added to each).

        Parameters
        ----------
        name : str
        counts : array [classes], >= 0

        Returns
        -------
        array [draws, classes]
            Each row sums to 1.
        """
        counts = checks.non_negative("counts", counts)
        weights = self.generator(name).gamma(counts + 0.5, size=(self.draws, counts.size))
        return weights / weights.sum(axis=1, keepdims=True)


def interval(sample, level=LEVEL):
    """Return a sample's median and its central interval as a dict of value, low and high.

    Parameters
    ----------
    sample : array [draws]
        NaN is refused.
    level : float, in (0, 1)

    Examples
    --------
    >>> interval([1.0, 2.0, 3.0], level=0.5)
    {'value': 2.0, 'low': 1.5, 'high': 2.5}
    """
    sample = np.asarray(sample, dtype=float)
    if sample.size == 0 or np.isnan(sample).any():
        raise ValueError("sample: must not be empty, nor hold NaN")
    tail = (1 - checks.scalar("level", checks.inner_probability("level", level))) / 2
    low, value, high = np.quantile(sample, [tail, 0.5, 1 - tail])
    return {"value": float(value), "low": float(low), "high": float(high)}
