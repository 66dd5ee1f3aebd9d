"""A formula as control variate: the interval of what is expected has no chance in it, wherever the formula is wrong."""

import numpy as np
import pytest

from reliability import control

RUNS, DRAWS = 800, 4000


def drawn(shape, seed=3, noise=0.05):
    """Features, the true difference at each draw, and the noisy differences of the first draws."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(DRAWS, 2)) * [0.01, 2.0] + [0.9, -3.0]
    z = (features - [0.9, -3.0]) / [0.01, 2.0]
    truth = shape(z)
    return features, truth, truth[:RUNS] + rng.normal(size=RUNS) * noise


SHAPES = {
    "nothing": (lambda z: 0.0 * z[:, 0], 1),
    "a constant": (lambda z: 0.3 + 0.0 * z[:, 0], 1),
    "a slope": (lambda z: 0.3 + 0.02 * z[:, 0], 2),
    "a plane": (lambda z: 0.02 * z[:, 0] + 0.05 * z[:, 1], 3),
    "a bowl": (lambda z: 0.04 * z[:, 1] ** 2, 6),
    "a cubic": (lambda z: 0.04 * z[:, 0] ** 2 * z[:, 1], 10),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_polynomial_is_as_high_as_the_runs_ask_for(name):
    shape, terms = SHAPES[name]
    features, truth, values = drawn(shape)
    found = control.fit(features[:RUNS], values[:, None])
    assert found.terms == terms
    inside = np.all((features >= found.low) & (features <= found.high), axis=1)
    error = (found.at(features)[:, 0] - truth)[inside]
    # The mean squared error of a fit of k terms to n values is k/n of their variance; more at the edges.
    assert np.sqrt(np.mean(error**2)) < 2 * 0.05 * np.sqrt(terms / RUNS)


def test_chance_does_not_widen_what_is_expected():
    features, truth, values = drawn(lambda z: 0.02 * z[:, 0], noise=0.2)
    found = control.fit(features[:RUNS], values[:, None]).at(features)[:, 0]
    tails = [0.025, 0.975]
    assert np.quantile(values, tails) == pytest.approx([-0.39, 0.39], abs=0.05)  # ten times as wide
    assert np.quantile(found, tails) == pytest.approx(np.quantile(truth, tails), abs=4 * 0.2 * np.sqrt(5 / RUNS))


def test_columns_that_add_up_to_nothing_still_do():
    features, _, values = drawn(SHAPES["a cubic"][0])
    others = np.random.default_rng(1).normal(size=RUNS)
    found = control.fit(features[:RUNS], np.stack([values, others - values, -others], axis=1))
    assert found.at(features).sum(axis=1) == pytest.approx(np.zeros(DRAWS), abs=1e-12)


def test_beyond_the_runs_nothing_is_made_up():
    features, _, values = drawn(SHAPES["a cubic"][0])
    found = control.fit(features[:RUNS], values[:, None])
    edge, beyond = np.array([[found.high[0], -3.0]]), np.array([[5.0, -3.0]])
    assert found.at(beyond) == pytest.approx(found.at(edge))


def test_features_that_do_not_vary_and_few_runs_leave_a_constant():
    features, _, values = drawn(SHAPES["a plane"][0])
    same = np.broadcast_to([0.9, -3.0], features.shape)
    found = control.fit(same[:RUNS], values[:, None])
    assert found.terms == 1
    assert found.at(same) == pytest.approx(np.full((DRAWS, 1), values.mean()))
    assert control.fit(features[:15], values[:15, None]).terms == 1
    assert control.fit(np.stack([features[:RUNS, 0], same[:RUNS, 1]], axis=1), values[:, None]).terms <= 4


def test_what_is_left_out_one_by_one_is_left_out():
    rng = np.random.default_rng(2)
    terms, values = np.stack([np.ones(12), rng.normal(size=12)], axis=1), rng.normal(size=12)
    errors = []
    for i in range(12):
        others = np.arange(12) != i
        beta = np.linalg.lstsq(terms[others], values[others], rcond=None)[0]
        errors.append((values[i] - terms[i] @ beta) ** 2)
    assert control._left_out(terms, values) == pytest.approx(np.mean(errors), rel=1e-10)
