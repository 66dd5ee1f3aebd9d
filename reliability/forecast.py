"""What the next days bring, from the days before: incidents as a count, and hours down.

Failures of a cluster are neither steady nor independent: their rate falls while it is new, rises and
falls with its load, and they come in bursts. How fast it moves and how bursty it is differs between
clusters and is not known beforehand. So a bank of simple models, each with its own memory and its own
spread, predicts side by side, and each is weighted by how likely it held what has come so far.
"""

import numpy as np
from scipy.special import gammaln

from reliability import checks
from reliability.forecast_mixtures import FREEDOM, CountForecast, HoursForecast

HALF_LIVES = (7, 14, 28, 56, 112, 224, 448, 10**6)  # days after which a day counts half; the last forgets nothing
SPREADS = (0.0, 0.03, 0.08, 0.15, 0.3, 0.6, 1.2, 2.4)  # variance of the rate of a period over its square
LOG_SPREADS = (0.15, 0.3, 0.5, 0.8, 1.2, 1.8, 2.6)  # of hours down, in natural logarithms
LOG_SHIFTS = (-0.5, 0.0, 0.5)  # of the mode against the level, in spreads
UPWARD = (0.35, 1.0)  # spread above the mode over that below: quiet weeks stretch a logarithm far down, not up
FORGET = 0.99  # a week old score of a model counts so much
PRIOR_DAYS = 2.0  # days at a rate of the longer past that each model starts from
LEARN_EVERY = 7  # days between the periods that a model is scored on
FIRST_DAYS = 28  # days of record before the first of them
NEGLIGIBLE = 1e-3  # weight below which a model is left out


def count_forecasts(daily, days, origins):
    r"""Forecast of the number of incidents in the `days` after each origin, from the days before it alone.

    A model discounts the past by its half-life: with weights :math:`\lambda^{\text{age}}` it has a =
    sum of weighted counts over b = sum of weights, a gamma-Poisson model whose evidence fades. Its
    forecast is negative binomial,

    .. math:: \operatorname{E} K = n \frac{a}{b}, \qquad
              \operatorname{Var} K = \operatorname{E} K + \left(\kappa + \tfrac{1}{a}\right) (\operatorname{E} K)^2

    with kappa for what the rate of one period differs from the next. The weight of a model is its
    likelihood over the periods that had ended by the origin, older ones counting less.

    Parameters
    ----------
    daily : array [record's days], whole, >= 0
        Incidents of each day.
    days : int, >= 1
        Length of the period, n.
    origins : list of int, ascending, in [1, record's days]
        Days of record before each forecast.

    Returns
    -------
    list of CountForecast

    Notes
    -----
    After Harvey and Fernandes (1989) for the discounted counts and Raftery, Karny and Ettler (2010) for
    the weights that forget.

    Examples
    --------
    >>> (next_week,) = count_forecasts(np.full(200, 3), 7, [200])
    >>> round(next_week.mean, 1), next_week.quantile(0.05), next_week.quantile(0.95)
    (21.0, 14, 29)
    """
    daily = checks.whole("daily", daily)
    days, origins = checks.count("days", days), _origins(origins, daily.size)
    scored, learnt = _learning(daily.size, days, origins)
    at = np.union1d(learnt, origins)
    total = np.concatenate([[0], np.cumsum(daily)])
    faded, weight = _faded(daily.astype(float), at)
    overall = (total[at] + 0.5) / (at + 1.0)
    # Half of the models drift back to the rate of all the past, the others to that of the next longer memory.
    a = np.concatenate([faded + PRIOR_DAYS * overall[:, None], _nested(faded, weight, overall)], axis=1)
    mean = days * a / np.tile(weight + PRIOR_DAYS, 2)
    shape = 1 / (np.array(SPREADS) + (1 / a)[:, :, None])
    mean = np.broadcast_to(mean[:, :, None], shape.shape).reshape(at.size, -1)
    shape = shape.reshape(at.size, -1)
    rows = np.searchsorted(at, learnt)
    seen = (total[learnt + days] - total[learnt])[:, None]
    likely = _log_negative_binomial(seen, mean[rows], shape[rows])
    found = []
    for origin, log_weight in zip(origins, _weights(likely, learnt, scored, days, origins), strict=True):
        row, kept = np.searchsorted(at, origin), log_weight > NEGLIGIBLE
        weights = log_weight[kept] / log_weight[kept].sum()
        found.append(CountForecast(weights, mean[row][kept], shape[row][kept]))
    return found


def hours_forecasts(daily, days, origins):
    """Forecast of the hours down in the `days` after each origin, from the days before it alone.

    Each model has a level, the mean of the past or the mean of its logarithm, faded by a half-life; the
    logarithm of the hours lies around it as Student's t, with a spread and a shift of the model.

    Parameters
    ----------
    daily : array [record's days], >= 0
        Node-hours down in each day.
    days : int, >= 1
    origins : list of int, ascending, in [1, record's days]

    Returns
    -------
    list of HoursForecast
    """
    daily = checks.non_negative("daily", daily)
    days, origins = checks.count("days", days), _origins(origins, daily.size)
    scored, learnt = _learning(daily.size, days, origins)
    at = np.union1d(learnt, origins)
    total = np.concatenate([[0.0], np.cumsum(daily)])
    # What a short period has at least, so that one without any has a logarithm; of the first past alone.
    offset = max(0.05 * days * total[origins[0]] / origins[0], 1e-3)
    faded, weight = _faded(daily, at)
    started = faded + PRIOR_DAYS * (total[at] / at)[:, None]
    level = np.log(days * started / (weight + PRIOR_DAYS) + offset)
    week = total[1:] - total[np.maximum(np.arange(1, daily.size + 1) - LEARN_EVERY, 0)]
    faded, weight = _faded(np.log(week * days / LEARN_EVERY + offset), at)
    centres = np.concatenate([level, faded / np.maximum(weight, 1e-12)], axis=1)
    shift, upward, spread = (g.ravel() for g in np.meshgrid(LOG_SHIFTS, UPWARD, LOG_SPREADS))
    centre = (centres[:, :, None] + shift * spread).reshape(at.size, -1)
    below, above = np.tile(spread, centres.shape[1]), np.tile(spread * upward, centres.shape[1])
    rows = np.searchsorted(at, learnt)
    seen = np.log(np.maximum(total[learnt + days] - total[learnt], 0) + offset)[:, None]
    score = (seen - centre[rows]) / np.where(seen < centre[rows], below, above)
    likely = -np.log(below + above) - (FREEDOM + 1) / 2 * np.log1p(score**2 / FREEDOM)
    found = []
    for origin, weights in zip(origins, _weights(likely, learnt, scored, days, origins), strict=True):
        row, kept = np.searchsorted(at, origin), weights > NEGLIGIBLE
        share = weights[kept] / weights[kept].sum()
        found.append(HoursForecast(share, centre[row][kept], below[kept], above[kept], offset))
    return found


def _origins(origins, size):
    origins = np.atleast_1d(checks.whole("origins", origins, low=1))
    if origins.ndim != 1 or (np.diff(origins) <= 0).any() or origins[-1] > size:
        raise ValueError(f"origins = {origins.tolist()}: must ascend and not pass the record's {size} days")
    return origins


def _learning(size, days, origins):
    """Days that each period counts for, and where the periods that models are scored on begin."""
    step = min(days, LEARN_EVERY)
    starts = np.arange(origins[0] % step, max(size - days, -1) + 1, step)
    learnt = starts[starts >= min(FIRST_DAYS, origins[0])]
    # Periods that overlap tell the same thing several times over: together they count for their days.
    return step / days, learnt[learnt >= 1]


def _faded(series, at):
    """Sums of the days before each of `at`, and of the weights themselves, for each half-life."""
    from scipy.signal import lfilter

    sums, weights = [], []
    for keep in 0.5 ** (1 / np.array(HALF_LIVES)):
        sums.append(np.concatenate([[0.0], lfilter([1.0], [1.0, -keep], series)])[at])
        weights.append((1 - keep**at) / (1 - keep))
    return np.stack(sums, axis=1), np.stack(weights, axis=1)


def _nested(faded, weight, rate):
    """Add to each model's past a few days at the rate of the next longer memory, the longest at that of all the past."""
    started = np.empty_like(faded)
    for i in range(faded.shape[1] - 1, -1, -1):
        started[:, i] = faded[:, i] + PRIOR_DAYS * rate
        rate = started[:, i] / (weight[:, i] + PRIOR_DAYS)
    return started


def _log_negative_binomial(count, mean, shape):
    log_gamma = gammaln(shape + count) - gammaln(shape) - gammaln(count + 1.0)
    return log_gamma - shape * np.log1p(mean / shape) + count * (np.log(mean) - np.log(shape + mean))


def _weights(likely, learnt, scored, days, origins):
    """Weight of each model at each origin: only periods that had ended by then speak."""
    score, ready = np.zeros(likely.shape[1]), 0
    for origin in origins:
        while ready < learnt.size and learnt[ready] + days <= origin:
            step = learnt[ready] - learnt[ready - 1] if ready else 0
            score = score * FORGET ** (step / LEARN_EVERY) + likely[ready] * scored
            ready += 1
        weights = np.exp(score - score.max())
        yield weights / weights.sum()
