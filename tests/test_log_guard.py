"""The spike guard on a training log, and the account of its time."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from oracles import NOT_COUNT, assert_refused

from reliability import goodput_log, guards
from reliability.log_guard import guard, watch
from reliability.logs.training import read_training


def csv(folder, rows, names="step,loss,grad_norm"):
    path = folder / "run.csv"
    path.write_text(names + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return read_training(path)


def losses(count=200):
    rng = np.random.default_rng(0)
    return 2 + 3 * np.exp(-np.arange(count) / 40) + 0.02 * rng.standard_normal(count)


# Alarms ---------------------------------------------------------------------------------------------------------------


def test_a_spike_of_the_loss_or_of_the_gradient_alarms_where_it_is(tmp_path):
    loss = losses()
    loss[120] *= 5
    grad = np.full(200, 0.3)
    grad[77] = 1.5
    found = guard(csv(tmp_path, zip(range(1000, 1200), loss, grad, strict=True)))
    assert found.loss.alarms == [1120] and found.gradient.alarms == [1077]
    assert found.loss.since == 1050 and found.loss.points == 200


def test_a_threshold_at_the_factor_itself_misses_about_half():
    loss, every = losses(), np.full(200, True)
    steps = np.arange(200)
    four, five = (watch(steps, loss, every, every, threshold=t) for t in (4, 5))
    assert four.seen > 0.95 and 0 < five.seen < 0.7
    medians = guards.rolling_median(loss, 50)[50:]
    found = [guards.spike_guard(np.where(steps == s, 5 * loss, loss), 5.0).size > 0 for s in range(50, 200)]
    assert five.seen == pytest.approx(np.mean(found)) == pytest.approx(np.mean(5 * loss[50:] > 5 * medians))


def test_what_is_no_number_alarms_from_the_first_step(tmp_path):
    rows = [(s, 2.0, "nan" if s == 3 else 0.5) for s in range(10)]
    rows[7] = (7, "inf", 0.5)
    found = guard(csv(tmp_path, rows))
    assert found.loss.alarms == [7] and found.gradient.alarms == [3] and found.nan == [3, 7]
    assert found.loss.since is None and found.loss.highest is None and found.loss.seen is None


def test_skips_and_dead_steps_are_no_alarms_of_the_loss(tmp_path):
    rows = [(s, 2.0, 0.5, 0) for s in range(1, 80)]
    rows[70] = (71, 0, 0.5, 1)
    rows[75:] = [(s, 0, "nan", 0) for s in range(76, 80)]
    found = guard(csv(tmp_path, rows, "step,loss,grad_norm,skipped"))
    assert found.skipped == [71] and found.dead == [76, 77, 78, 79]
    assert found.loss.alarms == [] and found.gradient.alarms == [76, 77, 78, 79]


def test_alarms_that_a_restart_undid_are_apart(tmp_path):
    steps = [*range(1, 101), *range(61, 121)]
    loss = np.full(len(steps), 2.0)
    loss[79] = 11.0  # step 80 of the first run
    loss[125] = 13.0  # step 86 of the second
    found = guard(csv(tmp_path, zip(steps, loss, strict=True), "step,loss"))
    assert found.loss.alarms == [86] and found.loss.abandoned == [80]
    assert found.gradient.alarms is None and "none was printed" in found.gradient.why


def test_values_below_0_are_not_judged(tmp_path):
    found = guard(csv(tmp_path, [(s, -1.0, 0.1) for s in range(60)]))
    assert found.loss.alarms is None and "below 0" in found.loss.why and found.gradient.alarms == []


def test_points_out_of_order_are_judged_in_order():
    steps, every = np.arange(120)[::-1], np.full(120, True)
    values = np.where(steps == 100, 50.0, 2.0)
    assert watch(steps, values, every, every).alarms == [100]


every = np.full(60, True)
GOOD = {"step": np.arange(60), "values": np.full(60, 2.0), "kept": every, "usable": every}


@pytest.mark.parametrize(("name", "values"), [("window", NOT_COUNT), ("threshold", (0.5, 1.0, np.nan, "seven"))])
def test_wrong_parameters_are_refused(name, values):
    assert_refused(watch, {**GOOD, "threshold": 4.0, "window": 50}, name, values)


# The account of the time ----------------------------------------------------------------------------------------------


@dataclass
class Log:
    points: object
    segments: list
    start_s: float | None = 0.0
    extra: dict = field(default_factory=dict)


def test_an_account_by_hand(tmp_path):
    """Ten-second steps; a crash 4 s after step 6, 90 s down, a first interval of 30 s, on from checkpoint 4."""
    lines, clock = [], 0
    for step in range(1, 7):
        clock += 10
        lines.append((clock, step, 10))
    crash, start = clock + 4, clock + 94
    clock = start + 30
    lines += [(clock, 5, 30), (clock + 10, 6, 10), (clock + 20, 7, 10)]

    def stamped(s):
        return f"2025-01-01 {s // 3600:02d}:{s % 3600 // 60:02d}:{s % 60:02d}"

    rows = [
        f"[{stamped(s)}] iteration {step}/ 100 | consumed samples: 1 | elapsed time per iteration (ms): {1000 * took}.0 | lm loss: 2.0 | "
        "number of skipped iterations: 0 | number of nan iterations: 0 |"
        for s, step, took in lines
    ]
    rows[6:6] = [
        f"[{stamped(crash)}] Watchdog caught a timeout",
        f"[{stamped(start)}] loading checkpoint from x at iteration 4",
    ]
    (tmp_path / "run.log").write_text("\n".join(rows), encoding="utf-8")
    told = goodput_log.account(read_training(tmp_path / "run.log"))
    assert (told.useful_steps, told.repeated_steps, told.repeated_range, told.executed_steps) == (7, 2, (5, 6), 9)
    parts = told.useful_s, told.lost_s, told.tail_s, told.down_s, told.slow_start_s, told.other_s
    assert parts == pytest.approx((70, 20, 4, 90, 20, 0), abs=1e-5)
    assert told.wall_s == pytest.approx(sum(parts), abs=1e-5) and told.goodput == pytest.approx(70 / 204, abs=1e-6)
    assert told.interruptions == 1 and told.steady_step_s == 10


def test_without_stamps_there_is_no_account(tmp_path):
    assert goodput_log.account(csv(tmp_path, [(s, 2.0, 0.5) for s in range(9)])) is None
