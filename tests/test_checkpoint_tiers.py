"""The page of checkpoint tiers: its plans, its anchors, and the two intervals that it adds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import NEGATIVE, NOT_FINITE, NOT_NUMBERS, NOT_POSITIVE, assert_refused, maximise, modest, refusals, strict

from reliability import anchors, facts, intervals, scenarios, tiers
from reliability import checkpoint as cp

pytestmark = pytest.mark.filterwarnings("error")

PAGE = scenarios.scenario("checkpoint_tiers")
BOOK = scenarios.inputs("checkpoint_tiers", scenarios.defaults("checkpoint_tiers"))
times = st.floats(1.0, 1e4)


def changed(**values):
    return scenarios.inputs("checkpoint_tiers", BOOK.model_dump() | values)


# --- a chain of increments as one checkpoint ---------------------------------------------------------

CHAIN = {"write": 240.0, "restart": 388.2, "mtbf": 28440.0, "increments": 11, "factor": 0.3, "load": 93.6}


@modest
@given(times, times, st.floats(0, 1e4), st.floats(100, 1e7), st.integers(0, 30), st.floats(0.01, 1), times)
def test_a_chain_is_one_checkpoint_at_every_interval(interval, write, restart, mtbf, increments, factor, load):
    chain = {"write": write, "restart": restart, "mtbf": mtbf, "increments": increments, "factor": factor, "load": load}
    exact = intervals.chain_efficiency(interval, **chain)
    if exact > 1e-200:
        assert cp.renewal_efficiency(interval, *intervals.chain_as_blocking(**chain), mtbf) == pytest.approx(
            exact, rel=1e-9
        )


def test_the_best_interval_of_a_chain_is_that_of_the_one_checkpoint():
    write, _ = intervals.chain_as_blocking(**CHAIN)
    top = maximise(lambda t: intervals.chain_efficiency(t, **CHAIN), 10.0, 1e5)
    assert cp.optimal_interval(write, CHAIN["mtbf"]) == pytest.approx(top, rel=1e-6)


def test_a_chain_where_failures_are_rare_is_its_mean_and_where_they_are_thick_its_worst():
    n = CHAIN["increments"]
    mean_write, mean_read = 240.0 * (1 + n * 0.3) / (n + 1), 388.2 + 0.3 * 93.6 * n / 2
    with strict():
        assert intervals.chain_as_blocking(**CHAIN | {"mtbf": 1e16}) == pytest.approx(
            (mean_write, mean_read), rel=1e-12
        )
        write, restart = intervals.chain_as_blocking(**CHAIN | {"mtbf": 1e-3})
        assert write == pytest.approx(240.0)
        assert restart == pytest.approx(388.2 + 0.3 * 93.6 * n, rel=1e-4)
    assert intervals.chain_as_blocking(**CHAIN | {"increments": 0}) == pytest.approx((240.0, 388.2))


def test_a_chain_broadcasts():
    write = np.array([[240.0], [60.0]])
    together = intervals.chain_as_blocking(**CHAIN | {"write": write, "mtbf": np.array([900.0, 28440.0])})
    for k, w in enumerate((240.0, 60.0)):
        for m, mtbf in enumerate((900.0, 28440.0)):
            alone = intervals.chain_as_blocking(**CHAIN | {"write": w, "mtbf": mtbf})
            assert tuple(
                part[k, m] if np.ndim(part) == 2 else part[m] for part in np.broadcast_arrays(*together)
            ) == pytest.approx(alone)


# --- Saxena's interval --------------------------------------------------------------------------------


@modest
@given(times, st.floats(0, 1e4), st.floats(1, 1e7))
def test_saxenas_interval_is_the_top_of_that_availability(write, restart, mtbf):
    closed = intervals.availability_interval(write, restart, mtbf)

    def available(work):
        period = work + write
        return work / period / (mtbf + restart + period / 2)

    assert available(closed) >= max(available(closed * 0.99), available(closed * 1.01))
    assert closed >= cp.young_interval(write, mtbf) * (1 - 1e-12)
    assert closed + write == pytest.approx(write + np.sqrt(2 * (mtbf + restart) * write + write**2))


REFUSALS = [
    *refusals(
        intervals.chain_as_blocking,
        CHAIN,
        write=NOT_POSITIVE,
        restart=NEGATIVE,
        mtbf=NOT_POSITIVE,
        increments=(*NOT_FINITE, *NOT_NUMBERS, -3, 2.5),
        factor=(*NOT_FINITE, *NOT_NUMBERS, -3.25, 0.0, 1.75),
        load=NEGATIVE,
    ),
    *refusals(
        intervals.availability_interval,
        {"write": 5.0, "restart": 2.0, "mtbf": 60.0},
        write=NOT_POSITIVE,
        restart=NEGATIVE,
        mtbf=NOT_POSITIVE,
    ),
]


@pytest.mark.parametrize("function, good, name, values", REFUSALS)
def test_bad_input_is_named_and_repeated(function, good, name, values):
    assert_refused(function, good, name, values)


# --- plans --------------------------------------------------------------------------------------------


def test_shares_of_failures_are_a_reading_of_llama_3():
    causes = facts.value("llama3_causes")
    total = sum(causes.values())
    process = causes["software_bug"] + causes["nccl_watchdog"] + causes["dependency"]
    counted = (process, causes["host_maintenance"], causes["network_switch_cable"])
    shares = (BOOK.share_process, BOOK.share_reboot, BOOK.share_domain)
    assert [round(n / total, 2) for n in counted] == list(shares)


def test_restart_and_loading_add_up_to_the_scenarios_restart():
    assert BOOK.restart_min + facts.value("trainmover_phases_min")["load"] == pytest.approx(
        facts.value("trainmover_restart_min")
    )


def test_each_tier_survives_more_and_takes_longer():
    every = PAGE.tiers(BOOK)
    assert [len(tier.survives) for tier in every] == [1, 2, 3, 4]
    assert all(set(a.survives) < set(b.survives) for a, b in zip(every, every[1:], strict=False))
    size = 176e9 * 14
    assert every[-1].load == pytest.approx(size / 10e9)
    assert every[-1].upload == pytest.approx(size / 10e9 / 0.5)
    assert every[0].stall == pytest.approx(size / 1024 / 20e9)
    assert every[1].upload == pytest.approx(8 * size / 1024 / 4e9)
    assert every[2].upload == pytest.approx(size / 1024 / 50e9 / 0.5)


def test_plans_of_the_book():
    plans = PAGE.compute(BOOK).values["plans"]
    order = ["blocking", "background", "memory", "node disk", "peer memory"]
    assert list(plans) == order
    assert sorted(order, key=lambda name: plans[name].efficiency) == order
    assert all(plan.efficiency < PAGE.ceiling(BOOK) for plan in plans.values())


def test_no_interval_is_shorter_than_a_step_or_an_upload():
    slow = changed(job_mtbf_h=0.2, step_s=20.0, disk_gb_s=0.5, quota=0.1)
    every = PAGE.tiers(slow)
    for local in every[:-1]:
        plan = PAGE.tiered_plan(slow, local)
        assert plan.interval >= 20.0
        assert plan.interval >= (1 - local.drag) * local.upload
        assert (plan.count + 1) * plan.interval >= (1 - every[-1].drag) * every[-1].upload * (1 - 1e-12)
    assert PAGE.background_plan(slow).interval >= (1 - every[-1].drag) * every[-1].upload


def test_one_gpu_and_ten_million_have_plans():
    for p in (changed(gpus=1, job_mtbf_h=8000.0), changed(gpus=10**7, job_mtbf_h=0.001)):
        for plan in PAGE.compute(p).values["plans"].values():
            assert 0 <= plan.efficiency < 1


def test_shares_that_leave_nothing_are_refused():
    with pytest.raises(ValueError, match="share_process .* must stay below 1"):
        changed(share_process=0.9)


def uploads_in_two_tiers(rng, snapshots, interval, count, stall, upload, drag, restarts, rates):
    """Wall time a snapshot, event by event; each is in a local tier at once, every (count + 1)th goes to the file system.

    A local failure reads the latest snapshot, and the upload goes on after it. A global one leaves
    the last committed upload alone.
    """
    total = sum(rates)
    now = at = best = committed = 0
    left, pending = interval, None  # pending: the snapshot, and seconds of upload to go
    while best < snapshots:
        fault = rng.exponential(1 / total)
        while True:  # work, copies and uploads until the fault
            speed = 1 - drag if pending else 1.0
            to_copy, to_commit = left / speed, pending[1] if pending else np.inf
            if to_commit < min(to_copy, fault):
                now, fault, left, committed, pending = (
                    now + to_commit,
                    fault - to_commit,
                    left - to_commit * speed,
                    pending[0],
                    None,
                )
            elif fault >= to_copy + stall:
                now, fault, at, left = now + to_copy + stall, fault - to_copy - stall, at + 1, interval
                pending = (pending[0], pending[1] - to_copy - stall) if pending else None
                if at % (count + 1) == 0 and not pending:
                    pending = (at, upload)
                best = max(best, at)
            else:
                now += fault
                break
        local = rng.random() * total < rates[0]
        while True:
            if not local:
                pending, at = None, committed
            needs, fault = restarts[0] if local else restarts[1], rng.exponential(1 / total)
            if fault >= needs:
                now, left = now + needs, interval
                break
            now, local = now + fault, local and rng.random() * total < rates[0]
    return now / best


@pytest.mark.parametrize(
    "stall, upload, drag, restarts, rates, most",
    [
        (1.0, 300.0, 0.1, (60.0, 120.0), (1 / 600, 1 / 4000), 0.08),  # failures thick against the upload
        (0.13, 493.0, 1 / 11, (295.0, 541.0), (0.92 / 28440, 0.08 / 28440), 0.0),  # about the book's job
    ],
)
def test_a_tiered_plan_is_on_the_safe_side(stall, upload, drag, restarts, rates, most):
    writes, longer = [stall, stall + drag * upload], [restarts[0], restarts[1] + (1 - drag) * upload]
    best = tiers.two_level_optimum(writes, longer, rates, escalates=False)
    assert best.interval * (best.count + 1) > (1 - drag) * upload
    rng = np.random.default_rng(4)
    walls = np.array(
        [
            uploads_in_two_tiers(rng, 30_000, best.interval, best.count, stall, upload, drag, restarts, rates)
            for _ in range(12)
        ]
    )
    kept, error = (best.interval / walls).mean(), (best.interval / walls).std(ddof=1) / np.sqrt(walls.size)
    assert error < 0.006 * kept
    assert -4 * error < kept - best.efficiency < most * kept + 4 * error


# --- anchors ------------------------------------------------------------------------------------------


def test_each_anchor_has_the_status_that_it_is_declared_to_have():
    held = {anchors.check(a).name: a.status for a in PAGE.anchors()}
    assert len(held) == len(PAGE.anchors())
    assert {name for name, status in held.items() if status == "off"} == {
        "scr-coastal-interval-two",
        "scr-coastal-local-checkpoints-for-each-global-one-two",
        "bloom-size",
    }
    assert {name.split("-")[0] for name in held} == {"scr", "daly", "saxena", "mlsysim", "bloom", "byterobust"}


def test_every_cell_of_dalys_table_comes_out_as_printed():
    here, there = PAGE.daly_table()
    assert here == there


def test_the_published_plan_of_coastal_prints_the_same_efficiency_as_the_best():
    cost, rate = [15.0, 1835.0], [8.54e-7, 2.01e-7]
    best = tiers.two_level_optimum(cost, cost, rate)
    there = tiers.two_level_efficiency(5600.0, 23, cost, cost, rate)
    assert f"{best.efficiency:.5f}" == f"{there:.5f}" == "0.96776"
    assert (best.count, round(best.interval, -2)) == (22, 5800)


def test_every_third_count_would_give_both_published_plans():
    spans, counts = 100.0 * np.arange(1, 121)[:, None], np.arange(2, 60, 3)
    for cost, rate, plan in (
        ([15.0, 1835.0], [8.54e-7, 2.01e-7], (5600, 23)),
        ([9.0, 438.0], [7.78e-6, 5.19e-7], (1500, 26)),
    ):
        shares = tiers.two_level_efficiency(spans, counts, cost, cost, rate)
        row, column = np.unravel_index(shares.argmax(), shares.shape)
        assert (spans[row, 0], counts[column]) == plan
