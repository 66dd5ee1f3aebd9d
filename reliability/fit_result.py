"""What a fit of a log found, and the draws that a plan takes from it."""

from dataclasses import dataclass

import numpy as np

from reliability import checks, dispersion, fit_tables, forecast, node_rates, rate_draws, repair_times, trend
from reliability.fitted_rates import Rate
from reliability.gaps import Gaps
from reliability.units import DAY_S

STEADY = 0.05  # p of the trend test below which the rate of the whole record is not the one to plan with
RECENT_DAYS = 30


@dataclass(frozen=True)
class Fit:
    """What :func:`reliability.calibrate.fit` found. Rates are per 1,000 node-days; None is what the log does not say.

    Attributes
    ----------
    incidents : int
    nodes, gpus_per_node : int or None
    record_s : (float, float) or None
        When the record began and ended, in the log's seconds.
    window_known : bool
        False: the record is taken to run from the first incident to the last.
    node_h : float or None
        Exposure in node-hours, `exposure` says in words how it was found.
    total : Rate or None
    by_class : dict of str to (int, Rate or None)
        Incidents and rate of each class, the most frequent first.
    mtbf_h : (value, low, high) or None
        Mean time between incidents of the whole system, with its exact 95 % interval.
    repairs : reliability.repair_times.Repairs
    repairs_by_class : dict
    laplace, power_law, weekly, gaps, shared, node_rates, halves
        The tests of the assumptions; None where there are too few incidents.
    period_s : float
        Length of the periods of `weekly`: a week, a day in a short record.
    counts_daily : array
        Incidents of each whole day, the last one ending with the record.
    findings : tuple of reliability.assumptions.Finding
        Each assumption, whether it holds, and the sentence with its numbers.
    notes : tuple of str
        What was assumed or left out.
    """

    incidents: int
    nodes: int | None
    gpus_per_node: int | None
    record_s: tuple[float, float] | None
    window_known: bool
    node_h: float | None
    exposure: str
    total: Rate | None
    by_class: dict
    mtbf_h: tuple | None
    repairs: repair_times.Repairs
    repairs_by_class: dict
    laplace: trend.Laplace | None
    power_law: trend.PowerLaw | None
    weekly: dispersion.Dispersion | None
    period_s: float
    gaps: Gaps | None
    shared: dispersion.SharedStarts | None
    node_rates: node_rates.NodeRates | None
    halves: node_rates.HalfToHalf | None
    counts_daily: np.ndarray
    findings: tuple
    notes: tuple

    @property
    def trend_p(self):
        """Laplace's p-value with its statistic shrunk by the spread of the counts; None where there are too few incidents.

        Clusters alone make a steady process look as if its rate moved: they count as fewer incidents. The spread is that
        about a line through the counts, for a trend spreads them too and must not hide itself.
        """
        from scipy.stats import norm

        if self.laplace is None:
            return None
        index = max(self._spread_about_trend(), 1.0)
        return float(2 * norm.sf(abs(self.laplace.statistic) / np.sqrt(index)))

    def _spread_about_trend(self):
        """Variance over mean of the counts of `weekly`'s periods, about the line that fits them best."""
        days = max(int(self.period_s // DAY_S), 1)
        counts = self.counts_daily[self.counts_daily.size % days :].reshape(-1, days).sum(axis=1)
        if counts.size < 10 or not counts.any():
            return self.weekly.index if self.weekly else 1.0
        at = np.arange(counts.size) - (counts.size - 1) / 2
        line = counts.mean() + (at @ counts) / (at @ at) * at
        # Near an end where the line passes below 0 a count must not be held against a mean of nothing.
        return float((((counts - line) ** 2) / np.maximum(line, counts.mean() / 10)).sum() / (counts.size - 2))

    @property
    def steady(self):
        """False where the trend test rejects a steady rate; None where there are too few incidents to tell."""
        return None if self.laplace is None else self.trend_p >= STEADY

    def forecast(self, days):
        """Forecast of the incidents in the `days` after the record; None where the record is shorter than two such periods."""
        days = checks.count("days", days)
        if self.counts_daily.size < 2 * days:
            return None
        return forecast.count_forecasts(self.counts_daily, days, [self.counts_daily.size])[0]

    @property
    def recent_rate(self):
        """Incidents per 1,000 node-days that the 30 days ahead are expected to bring; None where that is unknown.

        Of a record that does not hold ten times 30 days: that as many days bring as it holds ten of.
        """
        days = rate_draws.period_days(self, RECENT_DAYS)
        ahead = self.forecast(days) if days else None
        node_days = self.node_hours_a_day * days / 24
        return 1000 * ahead.mean / node_days if ahead and node_days else None

    @property
    def node_hours_a_day(self):
        """Exposure of a day of the record; 0 where it is unknown."""
        if self.node_h is None or self.record_s is None:
            return 0.0
        return self.node_h * DAY_S / (self.record_s[1] - self.record_s[0])

    def sample_rate(self, rng, n, horizon_s=None, recent=None):
        """Draw the failure rate that a plan must reckon with.

        Parameters
        ----------
        rng : numpy.random.Generator
        n : int, >= 1
            Draws.
        horizon_s : float, > 0, optional
            Length of what is planned: the rate of so short a period differs from the mean, as the
            record's own periods of that length did. Without it the draws are of the mean alone.
        recent : bool, optional
            Take the level at the end of the record in place of the record's mean. None: where the trend
            is clear and material.

        Returns
        -------
        dict
            ``total``, array [n] in incidents per node-hour; ``by_class``, the same for each class; and
            ``basis``, a :class:`reliability.rate_draws.RateBasis`, which says what they rest on.

        Notes
        -----
        The mean of the whole record is taken, unless its rate clearly moves: Laplace's test, with the
        incidents' clustering allowed for, has p below 0.01, and the level at the record's end differs
        from the mean by a factor of 1.25 or more. A test at 5 % rejects one steady record in twenty.

        The rate of the period ahead varies about its mean by as much as the record's periods of the
        horizon's length did beyond what chance makes of counts. A record that holds fewer than ten such
        periods cannot tell: then the longest of which it holds ten stand for them, ``basis.capped`` is
        True, and ``basis.sentence`` names both lengths. A longer period would vary less where periods
        are independent, and more where the level wanders.

        Raises
        ------
        ValueError
            Where the exposure in node-hours is unknown.
        """
        rng, n = checks.generator(rng), checks.count("n", n)
        if self.total is None:
            raise ValueError(f"node_h = None: the rate per node is unknown ({self.exposure}); give nodes or observed_s")
        if horizon_s is not None:
            horizon_s = checks.scalar("horizon_s", checks.positive("horizon_s", horizon_s))
        total, basis = rate_draws.draw(self, rng, n, horizon_s, recent)
        counts = [count + 0.5 for count, _ in self.by_class.values()]
        shares = rng.dirichlet(counts, n) if counts else np.ones((n, 0))
        by_class = {cls: total * shares[:, i] for i, cls in enumerate(self.by_class)}
        return {"total": total, "by_class": by_class, "basis": basis}

    def rate_basis(self, horizon_s=None, recent=None):
        """What :meth:`sample_rate` with these options rests on, a :class:`reliability.rate_draws.RateBasis`."""
        return self.sample_rate(np.random.default_rng(0), 1000, horizon_s, recent)["basis"]

    def tables(self):
        """The fit as DataFrames: ``rates``, ``repairs``, ``tests`` and ``lemons``, see :mod:`reliability.fit_tables`."""
        return fit_tables.frames(self)

    def __str__(self):
        return fit_tables.text(self)

    def _repr_html_(self):
        return fit_tables.html(self)

    def sample_repair(self, rng, n):
        """Draw the parameters of the lognormal repair time, of logarithms of hours: (log_mean, log_sigma), arrays [n]."""
        return self.repairs.draw(rng, n)
