"""AIReSim's base case, from the file of the examples: its published means over 30 replications within their errors."""

from pathlib import Path

import numpy as np
import pytest

from reliability import fleet, fleet_config, fleet_document

pytestmark = pytest.mark.filterwarnings("error")

BASE = fleet_document.read(Path(__file__).parents[1] / "examples" / "airesim-base.toml")
PUBLISHED = 30  # replications

# Published mean, and the standard deviation: published, or of this model where none is.
FIGURES = {
    "training_time_h": (9865.97, 33.6),
    "failures": (11145.6, 100.3),
    "systematic": (688.6, 15.4),
    "restart": (3715.2, 33.8),
    "host_selections": (42.9, 3.4),
    "preemptions": (13.9, 4.5),
}


@pytest.fixture(scope="module")
def result():
    return fleet.simulate(BASE, np.random.default_rng(1), 250)


def test_the_file_is_the_published_case():
    assert (BASE.job_nodes, BASE.pool, BASE.warm_standbys, BASE.spare_nodes, BASE.bad_nodes) == (
        4096,
        4160,
        16,
        200,
        654,
    )
    assert BASE.work_h == 256 * 24


@pytest.mark.parametrize("name", FIGURES)
def test_a_published_mean_is_met_in_standard_errors(result, name):
    samples = {"training_time_h": result.training_time_h, "restart": result.bins_s["restart"] / 3600, **result.counts}
    mean, sd = FIGURES[name]
    error = np.hypot(sd / np.sqrt(PUBLISHED), samples[name].std(ddof=1) / np.sqrt(len(result)))
    assert abs(samples[name].mean() - mean) < 3 * error
    if name in ("training_time_h", "failures"):  # the spread too, to what 30 replications say of it
        assert samples[name].std(ddof=1) == pytest.approx(sd, rel=3 / np.sqrt(2 * PUBLISHED))


def test_the_ratio_lies_in_its_published_interval(result):
    assert 0.6175 < result.effective_training_ratio.mean() < 0.6268
    assert result.effective_training_ratio.mean() == pytest.approx(0.6228, abs=1e-3)
    assert (result.bins_s["useful"] / 3600) == pytest.approx(BASE.work_h)


def test_a_recovery_of_10_minutes_gives_the_claimed_ratio():
    values = BASE.model_dump(exclude_unset=True)
    values["recovery"]["restart_s"] = 600.0
    shorter = fleet.simulate(fleet_config.build(values), np.random.default_rng(1), 40)
    assert shorter.effective_training_ratio.mean() == pytest.approx(0.766, abs=1e-3)  # printed as about 0.765
