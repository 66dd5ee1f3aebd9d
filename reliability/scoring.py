"""How good interval forecasts were: coverage, calibration, and the score that rewards both width and hits."""

import numpy as np

from reliability import checks

STEP = 0.03  # how far a hit or a miss moves the level at which the next interval is taken
WIDEST, NARROWEST = 0.02, 0.5  # tails in all that an adapted interval leaves out, at the least and at the most


def coverage(low, high, seen):
    """Share of the outcomes that lie inside their intervals, ends included.

    Examples
    --------
    >>> coverage([0, 0], [2, 2], [2, 3])
    0.5
    """
    low, high, seen = _triple(low, high, seen)
    return float(((low <= seen) & (seen <= high)).mean())


def interval_score(low, high, seen, level=0.9):
    r"""Mean interval score of Winkler (1972); lower is better, and only the true quantiles are best.

    .. math:: (u - l) + \frac{2}{\alpha} (l - y)_+ + \frac{2}{\alpha} (y - u)_+, \qquad \alpha = 1 - \text{level}

    Parameters
    ----------
    low, high, seen : arrays [forecasts]
    level : float, in (0, 1)

    Examples
    --------
    >>> round(interval_score([0, 0], [2, 2], [2, 3], level=0.9), 9)
    12.0
    """
    low, high, seen = _triple(low, high, seen)
    tail = 1 - checks.scalar("level", checks.inner_probability("level", level))
    missed = np.maximum(low - seen, 0) + np.maximum(seen - high, 0)
    return float((high - low + 2 / tail * missed).mean())


def binomial_band(trials, level=0.9, sure=0.95):
    """Shares of hits between which a forecast with true coverage `level` lies with chance `sure`.

    Parameters
    ----------
    trials : int, >= 1
    level, sure : float, in (0, 1)

    Returns
    -------
    (low, high) : floats

    Examples
    --------
    >>> [round(end, 3) for end in binomial_band(88)]
    [0.83, 0.955]
    """
    from scipy.stats import binom

    trials = checks.count("trials", trials)
    level, sure = (checks.inner_probability(n, v) for n, v in (("level", level), ("sure", sure)))
    return tuple(float(binom.ppf(q, trials, level)) / trials for q in ((1 - sure) / 2, (1 + sure) / 2))


def pit_histogram(places, bins=10):
    """Share of the outcomes in each tenth of their forecasts: flat where the forecasts are calibrated.

    An outcome that has a chance of its own, as a count has, is spread over the piece of the forecast
    that it takes (Czado, Gneiting and Held 2009). A hump means forecasts too wide, a bowl too narrow.

    Parameters
    ----------
    places : array [forecasts, 2]
        Chances of less, and of at most as much, under each forecast.
    bins : int, >= 1

    Returns
    -------
    array [bins]
        Sums to 1.

    Examples
    --------
    >>> pit_histogram([[0.0, 0.5], [0.5, 1.0]], bins=2).tolist()
    [0.5, 0.5]
    """
    places = checks.probability("places", places)
    if places.ndim != 2 or places.shape[1] != 2:
        raise ValueError(f"places has shape {places.shape}: must be one row a forecast, with two chances")
    edges = np.linspace(0, 1, checks.count("bins", bins) + 1)
    low, high = places[:, :1], places[:, 1:]
    wide = high > low
    below = np.where(wide, np.clip((edges - low) / np.where(wide, high - low, 1.0), 0, 1), edges >= high)
    below[:, 0], below[:, -1] = 0.0, 1.0
    return np.diff(below.mean(axis=0))


def adaptive_intervals(forecasts, seen, level=0.9, step=STEP):
    r"""Intervals whose nominal level follows how often the earlier ones were missed.

    .. math:: \alpha_{t+1} = \alpha_t + \gamma \left(\alpha - [y_t \notin C_t]\right)

    Parameters
    ----------
    forecasts : list
        With `quantile`; in order of time, each period after the one before.
    seen : list of float
        Outcomes; one fewer than `forecasts` where the last has not come yet.
    level : float, in (0, 1)
        Coverage aimed at, 1 - alpha.
    step : float, >= 0
        gamma; 0 leaves the forecasts as they are.

    Returns
    -------
    array [forecasts, 2]
        Lower and upper ends.

    Notes
    -----
    Adaptive conformal inference (Gibbs and Candes 2021): over many periods the coverage comes out as
    `level` whatever the truth is, since each interval uses the outcomes before it and no later one.
    Widening takes no upper end beyond both the forecast's own at `level` and the highest outcome so far:
    in the far tail of a long-tailed forecast a little more chance is a multiple of its width.

    Examples
    --------
    >>> from reliability.forecast import CountForecast
    >>> one = CountForecast(np.array([1.0]), np.array([10.0]), np.array([1e9]))
    >>> adaptive_intervals([one] * 3, [40, 40]).tolist()
    [[5.0, 15.0], [5.0, 16.0], [4.0, 17.0]]
    """
    aim = 1 - checks.scalar("level", checks.inner_probability("level", level))
    step = checks.scalar("step", checks.non_negative("step", step))
    if len(seen) not in (len(forecasts), len(forecasts) - 1):
        raise ValueError(
            f"seen has {len(seen)} outcomes: must be {len(forecasts)}, or one fewer, for as many forecasts"
        )
    tails, ends, highest = aim, np.empty((len(forecasts), 2)), -np.inf
    for i, forecast in enumerate(forecasts):
        ends[i] = forecast.quantile(tails / 2), forecast.quantile(1 - tails / 2)
        if tails < aim:
            ends[i, 1] = min(ends[i, 1], max(forecast.quantile(1 - aim / 2), highest))
        if i < len(seen):
            highest = max(highest, seen[i])
            missed = not ends[i, 0] <= seen[i] <= ends[i, 1]
            tails = float(np.clip(tails + step * (aim - missed), WIDEST, NARROWEST))
    return ends


def _triple(low, high, seen):
    low, high, seen = checks.real("low", low), checks.real("high", high), checks.real("seen", seen)
    checks.broadcast(low=low, high=high, seen=seen)
    if (high < low).any():
        raise ValueError(f"high = {high[high < low][0]:g}: must not be below low")
    return low, high, seen
