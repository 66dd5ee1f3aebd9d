"""Who is to blame: waiting is taken out, and a step played back is the longest path through its operations."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import INF, NAN, NOT_POSITIVE, assert_refused, modest, refusals

from reliability import attribution, cusum, straggler

pytestmark = pytest.mark.filterwarnings("error")
DATA = Path(__file__).parents[2] / "shared" / "data"


# --- waiting --------------------------------------------------------------------------------------


@modest
@given(st.lists(st.floats(0, 100), min_size=2, max_size=8), st.floats(0.01, 5))
def test_waiting_and_transfer_share_out_what_was_recorded(starts, takes):
    ends = np.full(len(starts), max(starts) + takes)
    recorded = ends - starts
    assert attribution.waiting(starts) + attribution.transfer_time(starts, ends) == pytest.approx(recorded, abs=1e-9)
    assert attribution.waiting(starts).min() == 0


def test_the_one_who_comes_late_waits_for_nobody_and_the_transfer_is_not_longer_for_it():
    early, late = np.array([0.0, 0.0, 0.0, 0.0]), np.array([0.0, 9.0, 0.0, 0.0])
    assert attribution.waiting(late).tolist() == [9.0, 0.0, 9.0, 9.0]
    assert attribution.transfer_time(late, late.max() + np.full(4, 0.5)) == pytest.approx(0.5)
    assert attribution.transfer_time(early, np.full(4, 0.5)) == pytest.approx(0.5)
    assert attribution.transfer_time([0.0, 3.0], [2.0, 3.5]) == pytest.approx(0.25)  # a clock that is off


# --- blame ----------------------------------------------------------------------------------------


def healthy(replicas=6, stages=4):
    rng = np.random.default_rng(2)
    compute = 10 * (1 + 0.01 * rng.standard_normal((replicas, stages)))
    return compute, 0.1 * (1 + 0.01 * rng.standard_normal((replicas, stages - 1)))


def test_nobody_is_to_blame_among_the_healthy():
    assert attribution.attribute(*healthy(), threshold=0.1) == []


def test_a_slow_rank_a_slow_link_and_a_slow_stage_are_told_apart():
    compute, transfer = healthy()
    compute[4, 2] *= 1.5
    compute[:, 3] *= 1.3
    transfer[1, 0] *= 4
    found = attribution.attribute(compute, transfer, threshold=0.1)
    assert [(f.kind, f.what, f.where) for f in found] == [
        ("rank", "compute", (4, 2)),
        ("stage", "compute", (3,)),
        ("link", "communication", (1, 0)),
    ]
    assert [f.ratio for f in found] == pytest.approx([1.5, 1.3, 4], rel=0.04)
    assert [f.excess for f in found] == pytest.approx([5, 3, 0.3], rel=0.1)
    assert attribution.attribute(compute, transfer, threshold=0.1, least=1.0) == found[:2]


def test_a_stage_that_is_longer_by_design_makes_none_of_its_ranks_slow():
    compute, transfer = healthy()
    compute[:, 3] *= 1.08
    assert attribution.attribute(compute, transfer, threshold=0.1) == []


def test_recorded_communication_blames_a_rank_that_waits():
    forward, backward = np.full((4, 4, 16), 0.2), np.full((4, 4, 16), 0.4)
    forward[2, 1] *= 2
    backward[2, 1] *= 2
    compute = (forward + backward).sum(axis=-1)
    recorded = attribution.pipeline_ends(forward, backward, 0.001).max() - compute
    assert recorded[2, 1] == recorded.min()
    assert [f.where for f in attribution.attribute(compute, np.full((4, 3), 0.001), 0.1)] == [(2, 1)]


# --- the replay -----------------------------------------------------------------------------------


def longest_path(forward, backward, transfer):
    """Ends of the stages by the definition: each operation after the one before it on its stage and after its operand."""
    stages, batches = forward.shape

    def turns(s):
        ahead = min(stages - 1 - s, batches)
        order = ["F"] * ahead + ["F", "B"] * (batches - ahead) + ["B"] * ahead
        counts = {"F": 0, "B": 0}
        for kind in order:
            yield kind, counts[kind]
            counts[kind] += 1

    before = {}
    for s in range(stages):
        order = [(s, *turn) for turn in turns(s)]
        before |= dict(zip(order[1:], order[:-1], strict=True))

    @cache
    def end(s, kind, i):
        starts = [0.0]
        if (s, kind, i) in before:
            starts.append(end(*before[s, kind, i]))
        if kind == "F" and s > 0:
            starts.append(end(s - 1, "F", i) + transfer[s - 1])
        if kind == "B" and s < stages - 1:
            starts.append(end(s + 1, "B", i) + transfer[s])
        return max(starts) + (forward if kind == "F" else backward)[s, i]

    return [end(s, "B", batches - 1) for s in range(stages)]


@modest
@given(st.integers(1, 5), st.integers(1, 9), st.integers(0, 10**6))
def test_a_replay_is_the_longest_path(stages, batches, seed):
    rng = np.random.default_rng(seed)
    forward, backward = rng.uniform(0.1, 2, (2, stages, batches))
    transfer = rng.uniform(0, 0.5, stages - 1)
    ends = attribution.pipeline_ends(forward, backward, transfer if stages > 1 else 0.0)
    assert ends == pytest.approx(longest_path(forward, backward, transfer), rel=1e-12)


@modest
@given(st.integers(1, 8), st.integers(1, 40), st.floats(0.01, 10), st.floats(0.01, 10))
def test_equal_operations_take_the_textbook_step(stages, batches, f, b):
    ends = attribution.pipeline_ends(np.full((stages, batches), f), np.full((stages, batches), b))
    assert ends.max() == pytest.approx((batches + stages - 1) * (f + b), rel=1e-9)


def test_replicas_are_played_side_by_side_and_times_scale():
    rng = np.random.default_rng(3)
    forward, backward = rng.uniform(0.1, 2, (2, 3, 4, 8))
    transfer = rng.uniform(0, 0.1, (3, 3))
    together = attribution.pipeline_ends(forward, backward, transfer)
    alone = [attribution.pipeline_ends(*each) for each in zip(forward, backward, transfer, strict=True)]
    assert together == pytest.approx(np.array(alone), rel=1e-12)
    assert attribution.pipeline_ends(7 * forward, 7 * backward, 7 * transfer) == pytest.approx(7 * together, rel=1e-12)


# --- real traces ----------------------------------------------------------------------------------


def traced():
    """Trace AR by column; a start and an end in place of a start and a duration."""
    folder = DATA / "bytedance-ar"
    if not folder.exists():
        pytest.skip("no ../shared/data/bytedance-ar here")
    table = parquet.read_table(folder / "trace-AR.parquet")
    column = {name: np.asarray(table.column(name).to_pylist()) for name in table.column_names}
    column["end"] = column["start_ts"] + column["duration"]
    order = np.lexsort([column[name] for name in ("seq_id", "stage", "dp_rank", "step")])
    column = {name: values[order] for name, values in column.items()}

    def operations(kind, field, shape):
        return column[field][column["optype"] == kind].reshape(44, *shape)

    published = {name: json.loads((folder / f"{name}-AR.json").read_text()) for name in ("mw", "result")}
    return operations, published


def test_the_traced_job_and_its_culprit():
    operations, published = traced()
    passes = [operations(f"{kind}-compute", "duration", (4, 4, 32)) for kind in ("forward", "backward")]
    pairs = [  # both sides of each transfer between a stage and the next
        [
            [operations(f"{kind}-{side}", field, (4, 3, 32)) for side in ("send", "recv")]
            for field in ("start_ts", "end")
        ]
        for kind in ("forward", "backward")
    ]
    transfers = [attribution.transfer_time(*(np.stack(sides, axis=-1) for sides in pair)) for pair in pairs]
    # Each collective by who takes part: all replicas of a stage, the worker alone, the ends of a replica, everybody.
    groups = {"params-all-gather": (1,), "grads-reduce-scatter": (1,), "optimizer-clip-main-grad": (1, 2)}
    groups |= {"layernorm-grads-all-reduce": (), "embedding-grads-all-reduce": (2,)}
    own = {"optimizer": operations("optimizer", "duration", (4, 4))}
    for kind, axes in groups.items():
        start, end = (operations(kind, field, (4, 2 if kind.startswith("emb") else 4)) for field in ("start_ts", "end"))
        own[kind] = end - (start.max(axis=axes, keepdims=True) if axes else start)
    slowed = attribution.pipeline_ends(*passes, np.median(transfers)).max(axis=(1, 2)) + sum(
        t[:, :, 0].mean() for t in own.values()
    )
    even = [np.broadcast_to(times.mean(), (4, 32)) for times in passes]
    ideal = attribution.pipeline_ends(*even, np.median(transfers)).max() + sum(np.median(t) for t in own.values())
    assert slowed.mean() == pytest.approx(published["mw"]["tori"], rel=1e-3)
    assert slowed == pytest.approx(list(published["result"]["step_t_nodelay"].values()), rel=2e-3)
    assert ideal == pytest.approx(published["mw"]["tideal"], rel=1e-3)
    assert slowed.mean() / ideal == pytest.approx(1.973, abs=1e-3)

    # Rank 0 and nobody else, in computing, 2.3 to 2.4 times its peers. Its own transfers take three times as long as its
    # peers' too, but that is a sixth of a second in a step.
    compute = sum(times.sum(axis=-1) for times in passes).mean(axis=0)
    transfer = np.sum(transfers, axis=(0, 4)).mean(axis=0)
    culprit, link = attribution.attribute(compute, transfer, threshold=0.1)
    assert (culprit.kind, culprit.what, culprit.where) == ("rank", "compute", (0, 0))
    assert 2.3 < culprit.ratio < 2.4
    assert (link.kind, link.where) == ("link", (0, 0)) and link.excess == pytest.approx(0.154, abs=0.005)
    assert attribution.attribute(compute, transfer, threshold=0.1, least=0.01 * slowed.mean()) == [culprit]
    # By communication as recorded the blame falls on its neighbour, which waits for it.
    both = (operations(kind, "duration", (4, 3, 32)) for kind in ("forward-recv", "backward-send"))
    recorded = sum(times.sum(axis=-1).mean(axis=0) for times in both)
    assert np.unravel_index(recorded.argmax(), recorded.shape) == (0, 0)  # the first that receives: stage 1
    # With rank 0 as its peers the step would be shorter than the published ideal, whose mean has it in.
    for times in passes:
        times[:, 0, 0] = np.median(times[:, 1:, 0], axis=1)
    mended = attribution.pipeline_ends(*passes, np.median(transfers)).max(axis=(1, 2)).mean() + 0.848
    assert slowed.mean() / mended == pytest.approx(2.03, abs=0.02)


def batches():
    """Mini-batch times of the ten workers, [time, worker]."""
    file = DATA / "alibaba-pai" / "job_1_norm.csv"
    if not file.exists():
        pytest.skip("no ../shared/data/alibaba-pai here")
    worker, time, took = np.loadtxt(file, delimiter=",", skiprows=1, usecols=(1, 3, 4), unpack=True)
    return took[np.lexsort((worker, time))].reshape(-1, 10)


def test_alibabas_worker_6_and_no_other():
    times = batches()
    ratio = times / np.median(times, axis=1, keepdims=True)
    rolling = np.lib.stride_tricks.sliding_window_view(ratio, 20, axis=0).mean(axis=-1).max(axis=0)
    assert rolling.argmax() == 6
    assert rolling[6] == pytest.approx(1.345, abs=5e-4)
    assert np.delete(rolling, 6).max() == pytest.approx(1.130, abs=5e-4)
    assert np.flatnonzero(1 / rolling < 0.75).tolist() == [6]
    # Three votes of five by the median detector.
    flags = straggler.detect(times, 0.25)
    votes = np.lib.stride_tricks.sliding_window_view(flags, 5, axis=0).sum(axis=-1) >= 3
    assert np.flatnonzero(votes.any(axis=0)).tolist() == [6]
    # A cumulative sum of what is above each worker's own first hundred batches: it alarms in the first slow one.
    first = ratio[:100]
    sums = cusum.statistic((ratio - first.mean(axis=0)) / first.std(axis=0), 3.0)
    assert np.flatnonzero((sums > 10).any(axis=0)).tolist() == [6]
    assert (sums[:, 6] > 10).argmax() == (ratio[:, 6] > 1.5).argmax() == 181
    # A small reference finds the drift of workers that nobody called slow.
    small = cusum.statistic((ratio - first.mean(axis=0)) / first.std(axis=0), 1.0)
    assert (small > 10).any(axis=0).sum() > 1


# --- bad input ------------------------------------------------------------------------------------

PAIR = [1.5, 2.5]
ONES, LINKS = np.ones((3, 2)), np.ones((3, 1))
REFUSALS = [
    *refusals(attribution.waiting, {"start": PAIR}, start=(NAN, INF, "seven", None, [], 1.5)),
    *refusals(
        attribution.transfer_time,
        {"start": PAIR, "end": PAIR},
        start=(NAN, "seven", None, [], 1.5),
        end=(INF, "seven", None, [], 0.5),
    ),
    *refusals(
        attribution.attribute,
        {"compute": ONES, "transfer": LINKS, "threshold": 0.5, "least": 0.25},
        compute=NOT_POSITIVE,
        transfer=NOT_POSITIVE,
        threshold=NOT_POSITIVE,
        least=(NAN, INF, -3.25, "seven", None, []),
    ),
    *refusals(
        attribution.pipeline_ends,
        {"forward": ONES, "backward": ONES, "transfer": 0.5},
        forward=NOT_POSITIVE,
        backward=NOT_POSITIVE,
        transfer=(NAN, INF, -3.25, "seven", None, []),
    ),
]


@pytest.mark.parametrize("function, good, name, values", REFUSALS)
def test_bad_input_is_named_and_repeated(function, good, name, values):
    assert_refused(function, good, name, values)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: attribution.transfer_time([1.0, 2.0], [3.0]), r"end has shape \(1,\)"),
        (lambda: attribution.transfer_time([1.0, 2.5], [3.0, 2.0]), r"end = 2: must not be before start = 2.5"),
        (lambda: attribution.attribute(np.ones((2, 4)), np.ones((2, 3)), 0.1), r"compute has shape \(2, 4\)"),
        (lambda: attribution.attribute(np.ones((3, 4)), np.ones((3, 4)), 0.1), r"transfer has shape \(3, 4\)"),
        (lambda: attribution.pipeline_ends(np.ones((3, 4)), np.ones((3, 5))), r"backward has shape \(3, 5\)"),
        (lambda: attribution.pipeline_ends(np.ones((3, 4)), np.ones((3, 4)), np.ones(3)), r"transfer has shape \(3,\)"),
    ],
)
def test_shapes_that_do_not_go_together_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_of_two_stages_each_is_compared_with_the_other():
    transfer = [[0.1]] * 3
    [found] = attribution.attribute([[1.0, 1.3]] * 3, transfer, threshold=0.2)
    assert (found.kind, found.where, found.ratio, found.excess) == ("stage", (1,), 1.3, pytest.approx(0.3))
    assert attribution.attribute([[1.0, 1.3]] * 3, transfer, threshold=0.31) == []
