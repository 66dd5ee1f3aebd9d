"""Forecasts as mixtures of models: a count of incidents, and hours down."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, stdtr, stdtrit

from reliability import checks

FREEDOM = 5  # of Student's t: hours down have longer tails than the normal


@dataclass(frozen=True)
class CountForecast:
    """A mixture of negative binomials: how many incidents a period brings.

    Attributes
    ----------
    weights, means, shapes : arrays [models]
        The variance of a model is mean + mean^2 / shape.
    """

    weights: np.ndarray
    means: np.ndarray
    shapes: np.ndarray

    @property
    def mean(self):
        """Mean of the count."""
        return float(self.weights @ self.means)

    def cdf(self, counts):
        """Chance of at most so many incidents."""
        counts = np.atleast_1d(np.asarray(counts, dtype=float))
        chance = self.shapes / (self.shapes + self.means)
        each = betainc(self.shapes[:, None], np.floor(np.maximum(counts, 0)) + 1.0, chance[:, None])
        return np.where(counts < 0, 0.0, self.weights @ each)

    def quantile(self, level):
        """The smallest count whose :meth:`cdf` reaches `level`."""
        below, above = -1, max(int(3 * self.mean) + 10, 1)
        while self.cdf(above)[0] < level:
            below, above = above, 2 * above
        while above - below > 1:
            middle = (below + above) // 2
            below, above = (below, middle) if self.cdf(middle)[0] >= level else (middle, above)
        return above

    def place(self, count):
        """Where an outcome lies in the forecast: the chances of fewer, and of at most as many."""
        low, high = self.cdf([count - 1, count])
        return float(low), float(high)

    def draw(self, rng, size, means_only=False):
        """Draw counts, or the mean that a model gives with the variation of the rate alone."""
        model = checks.generator(rng).choice(self.weights.size, size=size, p=self.weights)
        means = self.means[model] * rng.gamma(self.shapes[model]) / self.shapes[model]
        return means if means_only else rng.poisson(means)


@dataclass(frozen=True)
class HoursForecast:
    """A mixture of two-piece Student's t on the logarithm of hours plus `offset`.

    Attributes
    ----------
    weights, centres, below, above : arrays [models]
        Each piece has its own spread, below and above the mode.
    """

    weights: np.ndarray
    centres: np.ndarray
    below: np.ndarray
    above: np.ndarray
    offset: float

    def _at_most(self, log):
        """Chance that the logarithm is at most `log`, one number."""
        distance = log - self.centres
        side = np.where(distance < 0, self.below, self.above)
        # Either piece is a half of Student's t, scaled so that both meet at the mode with the same density.
        return float(self.weights @ ((self.below - side + 2 * side * stdtr(FREEDOM, distance / side)) / self._width))

    @property
    def _width(self):
        return self.below + self.above

    def _quantiles(self, level):
        """The models' own, of the logarithm."""
        here = level * self._width
        down = self.centres + self.below * stdtrit(FREEDOM, np.minimum(here / (2 * self.below), 0.5))
        up = self.centres + self.above * stdtrit(FREEDOM, np.maximum(0.5 + (here - self.below) / (2 * self.above), 0.5))
        return np.where(here < self.below, down, up)

    def cdf(self, hours):
        """Chance of at most so many hours."""
        hours = np.atleast_1d(np.asarray(hours, dtype=float))
        chances = [self._at_most(log) for log in np.log(np.maximum(hours, 0) + self.offset)]
        return np.where(hours < 0, 0.0, chances)

    def quantile(self, level):
        """Hours that are not passed with chance `level`; 0 where already that is likelier."""
        own = self._quantiles(level)
        low, high = float(own.min()), float(own.max())
        # The mixture's lies between the lowest and the highest of them.
        if self._at_most(low) < level < self._at_most(high):
            high = brentq(lambda log: self._at_most(log) - level, low, high, xtol=1e-9)
        return float(max(np.exp(min(high, 700.0)) - self.offset, 0.0))

    def place(self, hours):
        """Where an outcome lies: the chances of less and of at most as much, which differ at 0 hours only."""
        high = float(self.cdf(hours)[0])
        return (0.0 if hours <= 0 else high), high
