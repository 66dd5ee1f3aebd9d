"""What a backtest found: forecasts beside their outcomes, and how good they were."""

from dataclasses import dataclass, field

import numpy as np

from reliability import scoring

LEVEL = 0.9


@dataclass(frozen=True)
class Scores:
    """Forecasts of one quantity over the windows that were scored, and how good they were.

    `low`, `high` and `seen` are arrays [windows]; `naive_low` and `naive_high` the naive Poisson
    forecast's intervals; `places` [windows, 2] where each outcome lies in its forecast.
    """

    low: np.ndarray
    high: np.ndarray
    seen: np.ndarray
    naive_low: np.ndarray
    naive_high: np.ndarray
    places: np.ndarray

    @property
    def coverage(self):
        """Share of the outcomes inside their intervals."""
        return scoring.coverage(self.low, self.high, self.seen)

    @property
    def naive_coverage(self):
        """The same of the naive forecast."""
        return scoring.coverage(self.naive_low, self.naive_high, self.seen)

    @property
    def width(self):
        """Mean width of the intervals."""
        return float((self.high - self.low).mean())

    @property
    def naive_width(self):
        """The same of the naive forecast."""
        return float((self.naive_high - self.naive_low).mean())

    @property
    def score(self):
        """Mean interval score; lower is better."""
        return scoring.interval_score(self.low, self.high, self.seen, LEVEL)

    @property
    def naive_score(self):
        """The same of the naive forecast."""
        return scoring.interval_score(self.naive_low, self.naive_high, self.seen, LEVEL)

    @property
    def pit(self):
        """Share of the outcomes in each tenth of their forecasts."""
        return scoring.pit_histogram(self.places)

    @property
    def inside_band(self):
        """Whether the coverage is within the 95 % binomial band around 90 % for so many windows."""
        low, high = scoring.binomial_band(self.seen.size, LEVEL)
        return low - 1e-12 <= self.coverage <= high + 1e-12


@dataclass(frozen=True)
class Window:
    """Windows of one length: `starts_s` of those scored, scores of `counts` and `hours` (None: none was scored)."""

    days: int
    starts_s: np.ndarray
    counts: Scores | None
    hours: Scores | None
    reason: str = ""

    @property
    def scored(self):
        """Windows scored."""
        return self.starts_s.size


@dataclass(frozen=True)
class Backtest:
    """Scores of one system's record, and what was assumed for them."""

    incidents: int
    record_s: tuple[float, float]
    windows: tuple[Window, ...]
    notes: tuple[str, ...] = field(default=())
