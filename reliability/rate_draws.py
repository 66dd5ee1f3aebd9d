"""The failure rate that a plan draws from a record: which level, and over what period it varies."""

from dataclasses import dataclass

import numpy as np

from reliability import dispersion
from reliability.units import DAY_S

CLEAR = 0.01  # p of the trend test, clustering allowed for, below which the record's end is planned with
MATERIAL = 1.25  # factor between the record's mean and the level at its end below which the mean stays
PERIODS = 10  # that a record must hold of one length to tell how the rate of so long a period varies
MOST = 2.0  # variance of a rate over its squared mean: no record varies more from one period to the next
UNEVEN = 0.1  # p of the dispersion of those periods above which their counts show no variation of the rate


@dataclass(frozen=True)
class RateBasis:
    """What draws of a rate rest on.

    Attributes
    ----------
    level : str
        "record", the mean of the whole record, or "recent", the level at its end.
    horizon_days : float or None
        Asked for; None: the mean alone.
    period_days : float or None
        Length of the periods whose variation the draws have; None: they have none.
    capped : bool
        The record is too short to tell how the rate of a whole horizon varies: a shorter period stands for it.
    variation : float
        Coefficient of variation of the rate of such a period; 0 where counts show no more than chance makes.
    level_text, sentence : str
        The level, and all this, in words.
    """

    level: str
    horizon_days: float | None
    period_days: float | None
    capped: bool
    variation: float
    level_text: str
    sentence: str


def draw(fit, rng, n, horizon_s=None, recent=None):
    """Return (draws [n] per node-hour, RateBasis): see :meth:`reliability.fit_result.Fit.sample_rate`."""
    horizon = None if horizon_s is None else horizon_s / DAY_S
    ahead, days = _end_of(fit, horizon, recent)
    if ahead is not None:
        drawn = ahead.draw(rng, n, means_only=True) / (fit.node_hours_a_day * days)
        return drawn, _basis("recent", horizon or days, days, float(drawn.std() / drawn.mean()), fit)
    drawn = fit.total.draw(rng, n)
    if horizon is None:
        return drawn, _basis("record", None, None, 0.0, fit)
    days, excess, free = _excess(fit, horizon)
    if excess > 1e-9:
        # A variance from a few periods is itself uncertain.
        excess = np.minimum(excess * free / rng.chisquare(free, n), MOST)
        drawn = drawn * rng.gamma(1 / excess, excess)
    return drawn, _basis("record", horizon, days, float(np.median(excess) ** 0.5), fit)


def _end_of(fit, horizon, recent):
    """Forecast from the record's end and its length in days; (None, None) where the record's mean is planned with."""
    days = period_days(fit, horizon)
    clear = fit.trend_p is not None and fit.trend_p < CLEAR
    if not days or recent is False or not (recent or clear):
        return None, None
    ahead = fit.forecast(days)
    if ahead is None or not fit.total.value:
        return None, None
    ratio = 1000 * 24 * ahead.mean / (fit.node_hours_a_day * days) / fit.total.value
    return (ahead, days) if recent or max(ratio, 1 / ratio) >= MATERIAL else (None, None)


def period_days(fit, horizon=None):
    """Whole days of the longest period, up to the horizon, that the record holds often enough; 0 where it holds none."""
    most = fit.counts_daily.size // PERIODS
    return most if horizon is None else min(max(int(horizon), 1), most)


def _excess(fit, horizon):
    """Length of a period in days, the variance of its rate over the square of the mean, and from how many free periods."""
    days = period_days(fit, horizon)
    if fit.incidents < 20 or not days:
        return None, 0.0, 1.0
    counts = fit.counts_daily[fit.counts_daily.size % days :].reshape(-1, days).sum(axis=1)
    found = dispersion.dispersion(counts)
    # Half of all steady records spread a little more than a Poisson process: the likelier that is chance, the less it counts.
    if found is None or found.p_value >= UNEVEN:
        return days, 0.0, 1.0
    return days, (1 - found.p_value / UNEVEN) * max(found.index - 1, 0.0) / found.mean, found.periods - 1


def _basis(level, horizon, days, variation, fit):
    capped = horizon is not None and (days is None or days < int(horizon))
    parts = [_level_text(fit, level, days)]
    if horizon and not days:
        parts.append("too few incidents or days to tell how the rate varies from one period to the next")
    elif days and level == "record":
        spread = (
            f"varies by {variation:.0%} (standard deviation)"
            if variation
            else "varies no more than chance makes counts vary"
        )
        parts.append(f"the rate of a period of {_days(days)} {spread}")
    if capped and days:
        parts.append(
            f"the record is too short to tell how {_days(horizon)}, as asked for, vary: it holds fewer than {PERIODS} such "
            f"periods, and periods of {_days(days)} stand for them"
        )
    return RateBasis(level, horizon, days, capped, variation, parts[0], "; ".join(parts))


def _level_text(fit, level, days):
    if level == "recent":
        return f"the level at the record's end, as the next {_days(days)} are forecast"
    text = "the mean of the whole record"
    if fit.trend_p is None or fit.trend_p >= CLEAR:
        return text
    return (
        f"{text}, though its rate moves: the level at its end is within a factor of {MATERIAL:g}, or was not asked for"
    )


def _days(days):
    return f"{days:.3g} day{'' if days == 1 else 's'}"
