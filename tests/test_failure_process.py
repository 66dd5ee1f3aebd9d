"""The page's scenario: the published process is its special case, its anchors stand, its draws agree with its formulas."""

import numpy as np
import pytest
from oracles import assert_mean
from scipy import stats

from reliability import anchors, scenarios
from reliability.scenarios import base, failure_process, failure_process_traces

pytestmark = pytest.mark.filterwarnings("error")


def inputs(**changes):
    fields = failure_process.Parameters.model_fields
    values = {**scenarios.defaults("failure_process"), **changes}
    return scenarios.inputs(
        "failure_process", {k: float(v) if fields[k].annotation is float else v for k, v in values.items()}
    )


@pytest.fixture(scope="module")
def published():
    return failure_process.anchors()


def test_without_bursts_the_job_and_its_pool_are_the_published_ones_exactly():
    values = failure_process.compute(inputs(rack_share=0.0, power_share=0.0)).values
    assert set(values["mtbf_h"].values()) == {7.9}
    assert set(values["pools"].values()) == {int(stats.poisson.ppf(0.99, 48 / 7.9)) + 1}
    assert len(set(values["short"].values())) == 1


def test_bursts_at_the_pages_inputs():
    values = failure_process.compute(inputs()).values
    assert values["mtbf_h"]["packed"] == pytest.approx(7.9 / (0.5 + 0.4 / 16 + 0.1 / 64), rel=1e-12)
    assert values["mtbf_h"]["one by one"] < values["mtbf_h"]["scattered"] < values["mtbf_h"]["packed"]
    assert values["pools"]["one by one"] < values["pools"]["apart"] < values["pools"]["together"]


def test_each_trace_has_the_same_rate_of_node_failures():
    p = inputs(failures=5000)
    totals = {name: [] for name in ("one by one", "bursts", "cascades", "Weibull lives")}
    for seed in range(12):
        for name, (times, lost, horizon) in failure_process.draw(p, np.random.default_rng(seed)).items():
            assert times[-1] < horizon and (np.diff(times) >= 0).all()
            totals[name].append(lost.sum() / horizon)
    for rates in totals.values():
        assert_mean(rates, 1 / 7.9, 0.03)


def test_what_the_page_counts_on_a_trace_by_hand():
    trace = (np.array([1.0, 1.1, 5.0, 300.0]), np.array([1, 1, 4, 1]), 336.0)
    assert failure_process_traces.simulate_stops(trace, 0.5)[0] == pytest.approx(1.5)
    assert failure_process_traces.simulate_pool(trace, 10.0).tolist() == [1]
    assert failure_process_traces.simulate_pool(trace, 0.1).tolist() == [1, 1, 4, 1]
    assert failure_process_traces._beyond(np.array([1, 1, 4, 2])).tolist() == [1, 0.5, 0.25, 0.25, 0, 0]
    assert failure_process_traces._beyond(np.array([], dtype=int)).tolist() == [0, 0]
    assert failure_process_traces.standard_error(np.ones(199)) is None
    assert failure_process_traces.standard_error(np.tile([0, 1], 200)) == 0.0


def test_every_anchor_has_its_declared_status(published):
    assert [anchor.name for anchor in map(anchors.check, published)] == list({anchor.name: 0 for anchor in published})
    kinds = [anchor.status for anchor in published]
    assert (kinds.count("emergent"), kinds.count("off"), kinds.count("declined")) == (12, 4, 2)


def test_bursts_of_16_move_a_restart_the_published_way_and_as_far(published):
    found = {anchor.name: anchor.computed for anchor in published}
    assert found["burst_restart"] - found["single_restart"] == pytest.approx(0.454 - 0.216, abs=1e-3)
    assert found["burst_overlapped_32"] - found["single_overlapped_32"] == pytest.approx(0.904 - 0.859, abs=1e-3)
    assert found["burst_elastic"] - found["single_elastic"] == pytest.approx(0.883 - 0.801, abs=2e-3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rack_share": 0.7, "power_share": 0.5}, r"rack_share \+ power_share = 1.2"),
        ({"job_nodes": 4096}, "job_nodes = 4096"),
        ({"rack_nodes": 15}, "multiple of rack_nodes = 15"),
        ({"power_nodes": 100}, "multiple of power_nodes = 100"),
        ({"repair_h": 2e3}, "repair_h = 2000"),
        ({"fleet_nodes": 2**23}, "fleet_nodes = 8388608"),
        ({"branching": 1.0}, "branching"),
        ({"life_shape": 0.1}, "life_shape"),
        ({"target": 0.0}, "target"),
        ({"lemon_factor": 1.0}, "lemon_factor"),
    ],
)
def test_impossible_inputs_are_refused(changes, message):
    with pytest.raises(base.ParameterError, match=message):
        inputs(**changes)
