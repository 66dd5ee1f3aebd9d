"""Repair times: open repairs counted as what they are, against truncated averages and scipy."""

import numpy as np
import pytest
from scipy import stats

from reliability.repair_times import fit_repairs

pytestmark = pytest.mark.filterwarnings("error")
HOUR = 3600.0


def test_repairs_that_all_ended_are_plain_quantiles():
    hours = np.random.default_rng(1).lognormal(0.5, 1.2, 500)
    found = fit_repairs(hours * HOUR)
    ordered = np.sort(hours)
    assert (found.median_h, found.p90_h) == pytest.approx((ordered[249], ordered[449]))
    assert found.mean_h == pytest.approx(hours.mean())
    assert (found.log_mean, found.log_sigma) == pytest.approx((np.log(hours).mean(), np.log(hours).std()))
    assert found.total_h == pytest.approx(hours.sum())
    assert (found.closed, found.still_open, found.unknown, found.zero, found.mean_is_bound) == (500, 0, 0, 0, False)


def test_open_repairs_bias_nothing():
    rng, means, sigmas = np.random.default_rng(2), [], []
    for _ in range(15):
        true, seen = rng.lognormal(1.0, 1.5, 300), rng.exponential(8.0, 300)
        found = fit_repairs(np.minimum(true, seen) * HOUR, true > seen)
        means.append(found.log_mean)
        sigmas.append(found.log_sigma)
        assert found.median_h is not None
    assert np.mean(means) == pytest.approx(1.0, abs=0.1)
    assert np.mean(sigmas) == pytest.approx(1.5, rel=0.05)
    # Left out, the open ones would make repairs look a good deal shorter.
    assert np.log(true[true <= seen]).mean() < 0.8


def test_kaplan_meier_against_a_slow_product():
    lengths, still_open = np.array([1, 2, 2, 3, 5, 5, 8, 9.0]), np.array([0, 0, 1, 0, 1, 0, 0, 1], bool)
    alive, median, mean, last = 1.0, None, 0.0, 0.0
    for t in np.unique(lengths):
        mean += alive * (t - last)
        last = t
        ended = ((lengths == t) & ~still_open).sum()
        alive *= 1 - ended / (lengths >= t).sum()
        if median is None and alive <= 0.5:
            median = t
    found = fit_repairs(lengths * HOUR, still_open)
    assert found.median_h == pytest.approx(median)
    assert found.mean_h == pytest.approx(mean)
    assert found.mean_is_bound
    assert found.p90_h is None


def test_the_lognormal_is_scipys_fit_of_censored_data():
    rng = np.random.default_rng(3)
    true, seen = rng.lognormal(0, 1, 80), rng.uniform(0, 6, 80)
    found = fit_repairs(np.minimum(true, seen) * HOUR, true > seen)
    shape, _, scale = stats.lognorm.fit(stats.CensoredData(true[true <= seen], right=seen[true > seen]), floc=0)
    assert (found.log_sigma, found.lognormal_median_h) == pytest.approx((shape, scale), rel=2e-3)
    assert found.lognormal_p90_h == pytest.approx(stats.lognorm(shape, scale=scale).ppf(0.9), rel=5e-3)
    assert found.lognormal_mean_h == pytest.approx(stats.lognorm(shape, scale=scale).mean(), rel=5e-3)


def test_zeros_are_shorter_than_the_logs_step_and_unknown_ends_are_left_out():
    found = fit_repairs(np.array([0, 0, 60, 120, 600, np.nan]))
    assert (found.closed, found.zero, found.unknown) == (5, 2, 1)
    assert found.log_mean < np.log(np.array([60, 120, 600]) / HOUR).mean()


def test_a_large_log_is_thinned_and_comes_out_the_same():
    rng = np.random.default_rng(4)
    true = rng.lognormal(0, 1.5, 120_000)
    seen = rng.exponential(20.0, true.size)
    found = fit_repairs(np.minimum(true, seen) * HOUR, true > seen)
    assert (found.log_mean, found.log_sigma) == pytest.approx((0, 1.5), abs=0.02)
    assert found.log_mean_se == pytest.approx(1.5 / np.sqrt(found.closed), rel=0.02)


def test_nothing_to_fit():
    assert fit_repairs([]).median_h is None
    none_ended = fit_repairs([600.0], [True])
    assert (none_ended.median_h, none_ended.mean_h, none_ended.still_open) == (None, None, 1)
    assert fit_repairs([600.0, 600.0]).log_mean is None
    with pytest.raises(ValueError, match="two different"):
        none_ended.draw(np.random.default_rng(1), 3)


def test_drawn_parameters_spread_as_the_estimates_do():
    rng, fits = np.random.default_rng(5), []
    for _ in range(200):
        fits.append(fit_repairs(rng.lognormal(0.3, 1.2, 60) * HOUR))
    centre, sigma = fits[0].draw(rng, 4000)
    assert centre.std() == pytest.approx(np.std([f.log_mean for f in fits]), rel=0.25)
    assert sigma.std() == pytest.approx(np.std([f.log_sigma for f in fits]), rel=0.25)
    assert (sigma > 0).all()


@pytest.mark.parametrize("bad", [[-3600.0], [np.inf], [[1.0]]])
def test_bad_lengths_are_refused(bad):
    with pytest.raises(ValueError, match="lengths_s"):
        fit_repairs(bad)
