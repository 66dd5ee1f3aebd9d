"""The fleets of a plan: each draw of a state, with what a cluster file says and nothing left out."""

from dataclasses import replace

import numpy as np
import pytest
from oracles import bytes_of
from test_plan import FILE
from test_plan import state_of as drawn

from reliability import cluster, fleet, fleet_config, fleet_parts, plan_fleets
from reliability.cluster import ClusterError

TEXT = FILE.format(name="x", write="30")


def state_of(text=TEXT, draws=20, **changes):
    state, classes = drawn(cluster.parse(text), draws)
    return replace(state, **changes), classes


def fleets(state, classes, hours=720.0):
    return plan_fleets.Builder(classes, len(state.rate)).fleets(state, np.full(len(state.rate), hours))


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("repair_h", 'none_left = "wait"\nrepair_h')])
def test_copies_are_as_good_as_checked_ones(text):
    made = fleets(*state_of(text))
    assert len({one.failures.rate_per_node_day for one in made}) == 20
    for one in made:
        values = {name: value for name, value in one.model_dump().items() if value is not None}
        assert fleet_config.build(values) == one


def test_a_draw_is_what_the_state_says():
    state, classes = state_of(TEXT.replace("repair_h", "replacement_min = 30\nrepair_h"))
    made = fleets(state, classes)[7]
    drag = state.drag[7]
    assert made.failures.rate_per_node_day == pytest.approx(24 * state.rate[7]) and made.failures.clock == "always"
    assert [(f.name, f.share, f.right, f.detection_s) for f in made.faults] == [
        ("gpu", pytest.approx(0.6), 1.0, state.detection[7, 0]),
        ("software", pytest.approx(0.4), 0.0, state.detection[7, 1]),
    ]
    assert made.repair.automatic_s == pytest.approx(3600 * state.repair_h[7])
    assert (made.recovery.restart_s, made.recovery.swap_s, made.recovery.host_selection_s) == (400, 60, 1800)
    assert (made.checkpoint.write_s, made.checkpoint.interval_s) == (30, pytest.approx(3600 / (1 + drag)))
    assert made.straggler.slowdown == drag
    assert (made.job_nodes, made.warm_standbys, made.horizon_h) == (128, 2, 720)
    assert made.pool_nodes >= 130 + 20
    (waits,) = {one.pool_nodes for one in fleets(replace(state, waits=True), classes)}
    assert waits is None


def test_states_share_what_is_the_same():
    state, classes = state_of()
    builder, hours = plan_fleets.Builder(classes, 20), np.full(20, 100.0)
    first, second = builder.fleets(state, hours), builder.fleets(replace(state, rate=state.rate / 2), hours)
    assert first[3].faults is second[3].faults and first[3].recovery is second[3].recovery
    assert second[3].failures.rate_per_node_day == pytest.approx(first[3].failures.rate_per_node_day / 2)
    other = builder.fleets(replace(state, write=state.write * 2), hours)
    assert other[3].checkpoint.write_s == 60 and first[3].checkpoint.write_s == 30


def test_slow_ranks_are_slow_from_the_beginning_to_the_end():
    state, classes = state_of(drag=np.full(20, 0.25))
    slow = fleets(state, classes)[0]
    # The same job at full speed does as much in the same time but for the factor, and so has an interval of as much time.
    interval = slow.checkpoint.model_copy(update={"interval_s": 1.25 * slow.checkpoint.interval_s})
    full = slow.model_copy(update={"straggler": None, "checkpoint": interval})
    a, b = (fleet.simulate_key(one, 5, 10) for one in (slow, full))
    assert a.bins_s["useful"] == pytest.approx(b.bins_s["useful"] / 1.25, rel=1e-5)
    assert a.bins_s["redone"] == pytest.approx(b.bins_s["redone"] / 1.25, rel=1e-4, abs=1.0)
    assert a.bins_s["degraded"] == pytest.approx(0.25 * (a.bins_s["useful"] + a.bins_s["redone"]), rel=1e-5)
    assert (b.bins_s["degraded"] == 0).all() and (a.counts["failures"] == b.counts["failures"]).all()
    assert (a.counts["stragglers_found"] == 0).all()


def test_a_job_placed_anew_waits_once_for_all_its_nodes():
    longer = TEXT.replace("repair_h", "replacement_min = 5\nrepair_h").replace("gpus = 1024", "gpus = 8192")
    made = fleets(*state_of(longer))[0]
    result = fleet.simulate_key(made, 11, 10)
    assert (result.counts["host_selections"] > 3).all() and (result.counts["preemptions"] == 0).all()
    # Each but those that a failure ends.
    most = 300.0 * result.counts["host_selections"]
    assert (result.bins_s["waiting"] <= most + 1e-6).all()
    assert result.bins_s["waiting"].sum() > 0.95 * most.sum()


def test_one_replication_of_each_fleet():
    made = fleets(*state_of(draws=4), hours=200.0)
    found = fleet.simulate_each(made, 3, first=6)
    alone = [fleet.simulate_block(one, 3, 6 + i, 1) for i, one in enumerate(made)]
    for i, one in enumerate(alone):
        assert found.elapsed_s[i] == one.elapsed_s[0]
        assert all(found.bins_s[name][i] == one.bins_s[name][0] for name in one.bins_s)
    assert bytes_of(found) == bytes_of(fleet.simulate_each(made, 3, first=6)) != bytes_of(fleet.simulate_each(made, 4))


def test_medians_are_one_draw():
    state, _ = state_of()
    middle = plan_fleets.at_medians(state)
    assert middle.rate == pytest.approx([np.median(state.rate)])
    assert middle.shares.sum() == pytest.approx(1) and middle.on_node is state.on_node


def test_a_draw_beyond_what_a_fleet_may_have_is_the_most_that_it_may_have():
    # A write worked out from its size was of 5.67e103 s, and a table of pydantic's errors was printed.
    longest = fleet_parts.SECONDS[-1]
    ages = {name: np.full(20, 1e105) for name in ("cold", "swap", "write", "repair_h", "replacement", "drag")}
    state, classes = state_of()
    (made,) = set(fleets(replace(state, interval=1e105, detection=np.full_like(state.detection, 1e105), **ages), classes)[:1])
    assert {part.detection_s for part in made.faults} == {longest}
    assert set(made.recovery.model_dump().values()) == {longest, 0.0}  # of spares there are none
    assert (made.repair.automatic_s, made.checkpoint.write_s, made.straggler.slowdown) == (longest, longest, fleet_parts.MOST)


def test_the_largest_pool_is_the_largest_that_a_fleet_may_have():
    """So many fail in a repair here that more would be wanted, which is refused."""
    made = fleets(*state_of(rate=np.full(20, 1000.0)))
    assert {one.pool_nodes for one in made} == {fleet_config.MOST_NODES}


def test_a_job_that_is_too_large_to_simulate_is_refused():
    with pytest.raises(ClusterError, match="1,250,000 nodes of 8; a plan is simulated for at most 500,000"):
        cluster.parse(TEXT.replace("gpus = 1024", "gpus = 10_000_000"))
