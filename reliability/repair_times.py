"""How long an outage lasts, from the repairs that ended and from those still open."""

from dataclasses import dataclass

import numpy as np

from reliability import checks
from reliability.gaps import FITTED, thinned
from reliability.units import HOUR_S


@dataclass(frozen=True)
class Repairs:
    """Distribution of the time from an incident's start to its end, in hours.

    Attributes
    ----------
    closed, still_open, unknown : int
        Repairs that ended, that had not when the record did (censored: they lasted at least so long),
        and whose end is unknown (left out).
    zero : int
        Of the closed ones, those of length 0: shorter than the log's step.
    median_h, p90_h : float or None
        From Kaplan and Meier's estimate; None where so much is censored that the record does not say.
    mean_h : float or None
        Area under that estimate.
    mean_is_bound : bool
        The longest repair is an open one, so that the mean is at least this.
    total_h : float
        Hours down in the record, of the open ones until it ends.
    log_mean, log_sigma : float or None
        Of the lognormal distribution that fits best, in logarithms of hours; None for fewer than two
        different repairs.
    log_mean_se, log_sigma_se : float or None
        Their standard errors.
    """

    closed: int
    still_open: int
    unknown: int
    zero: int
    median_h: float | None
    p90_h: float | None
    mean_h: float | None
    mean_is_bound: bool
    total_h: float
    log_mean: float | None
    log_sigma: float | None
    log_mean_se: float | None
    log_sigma_se: float | None

    @property
    def lognormal_median_h(self):
        """Median of the fitted lognormal."""
        return None if self.log_mean is None else float(np.exp(self.log_mean))

    @property
    def lognormal_mean_h(self):
        """Mean of the fitted lognormal; far above the median where the spread is wide."""
        return None if self.log_mean is None else float(np.exp(min(self.log_mean + self.log_sigma**2 / 2, 700.0)))

    @property
    def lognormal_p90_h(self):
        """90th percentile of the fitted lognormal."""
        return (
            None
            if self.log_mean is None
            else float(np.exp(min(self.log_mean + 1.2815515655446004 * self.log_sigma, 700)))
        )

    def draw(self, rng, size):
        """Draw the lognormal's parameters from what the record leaves open about them.

        Returns
        -------
        (log_mean, log_sigma) : arrays [size]
            Normal and, for the spread, lognormal around the fit.
        """
        rng = checks.generator(rng)
        if self.log_mean is None:
            raise ValueError(
                f"{self.closed} repairs ended: two different ones at least are needed to fit a distribution"
            )
        size = checks.count("size", size)
        centre = rng.normal(self.log_mean, self.log_mean_se, size)
        return centre, self.log_sigma * np.exp(rng.normal(0.0, self.log_sigma_se / self.log_sigma, size))


def fit_repairs(lengths_s, still_open=None):
    """Fit the distribution of repair times.

    Parameters
    ----------
    lengths_s : array [incidents], >= 0
        Seconds from start to end; of an open repair, to the end of the record. NaN: unknown, left out.
    still_open : bool array [incidents], optional

    Returns
    -------
    Repairs

    Notes
    -----
    Median, 90th percentile and mean are Kaplan and Meier's; the lognormal is fitted by maximum
    likelihood, an open repair counting as one that lasts longer than it has. Lengths of 0 are shorter
    than the log's step: they count as shorter than the smallest length in it. Takes the censoring as
    independent of how long a repair would last.

    Examples
    --------
    >>> repairs = fit_repairs([600.0, 3600.0, 7200.0, 36000.0], [False, False, False, True])
    >>> repairs.median_h, repairs.still_open, repairs.p90_h is None, repairs.mean_is_bound
    (1.0, 1, True, True)
    """
    from scipy import stats

    hours = np.asarray(lengths_s, dtype=float) / HOUR_S
    still_open = np.zeros(hours.shape, bool) if still_open is None else np.asarray(still_open, dtype=bool)
    if hours.ndim != 1 or still_open.shape != hours.shape:
        raise ValueError(f"lengths_s {hours.shape}, still_open {still_open.shape}: must be two lists of one length")
    known = ~np.isnan(hours)
    unknown, hours, still_open = int((~known).sum()), hours[known], still_open[known]
    if hours.size and (hours.min() < 0 or np.isinf(hours.max())):
        wrong = hours.min() if hours.min() < 0 else hours.max()
        raise ValueError(f"lengths_s = {wrong * HOUR_S:g}: must be at least 0 and finite, or NaN where unknown")
    closed, censored = hours[~still_open], hours[still_open]
    counts = (closed.size, censored.size, unknown, int((closed == 0).sum()))
    if closed.size == 0:
        return Repairs(*counts, None, None, None, True, float(hours.sum()), None, None, None, None)
    survival = stats.ecdf(stats.CensoredData(closed, right=censored)).sf
    times, alive = survival.quantiles, survival.probabilities
    bound = bool(censored.size and censored.max() >= closed.max())
    last = max(closed.max(), censored.max(initial=0.0))
    mean = float(np.diff(np.concatenate([[0.0], times, [last]])) @ np.concatenate([[1.0], alive]))
    median, p90 = (_first_at_most(times, alive, level) for level in (0.5, 0.1))
    fitted = _lognormal(closed, censored[censored > 0])
    return Repairs(*counts, median, p90, mean, bound, float(hours.sum()), *fitted)


def _first_at_most(times, alive, level):
    """The time at which no more than `level` are still alive, or None."""
    reached = np.flatnonzero(alive <= level + 1e-12)
    return float(times[reached[0]]) if reached.size else None


def _lognormal(closed, censored):
    """Mean and deviation of the logarithm, and their standard errors."""
    from scipy import stats

    positive = np.log(closed[closed > 0])
    if positive.size < 2 or np.ptp(positive) == 0:
        return None, None, None, None
    zeros = closed.size - positive.size
    if zeros or censored.size:
        # All three kinds are thinned alike, so that their shares stay; a kind too rare for it keeps one.
        every = -(-positive.size // FITTED)
        shown = thinned(np.sort(positive))
        later = np.log(thinned(np.sort(censored), max(censored.size // every, 1)))
        earlier = np.full(-(-zeros // every), positive.min())
        data = stats.CensoredData(shown, left=earlier, right=later)
        # Started from the observed moments: from scipy's own start a few data are sent off to infinity.
        mean, sigma = stats.norm.fit(data, loc=positive.mean(), scale=positive.std())
    else:
        mean, sigma = stats.norm.fit(positive)
    # Censored repairs tell less than whole ones: the errors count the ended ones alone, which is a little wide.
    return float(mean), float(sigma), float(sigma / np.sqrt(positive.size)), float(sigma / np.sqrt(2 * positive.size))
