"""The shared cases of step times and training logs, each with its right answer; skipped where they are absent."""

import json
from pathlib import Path

import numpy as np
import pytest

from reliability import goodput_log, guards, log_guard
from reliability.commands import spikes, stragglers

SHARED = Path(__file__).parents[2] / "shared"


def case(name, file):
    """The input of a case and what is expected."""
    folder = next(iter(sorted((SHARED / "cases").glob(f"{name}_*"))), None)
    if folder is None:
        pytest.skip(f"needs ../shared/cases/{name}_*, which is absent")
    return folder / file, json.loads((folder / "expect.json").read_text())["expected"]


def data(name):
    path = SHARED / "data" / name
    if not path.exists():
        pytest.skip(f"needs ../shared/data/{name}, which is absent")
    return path


def slow(path):
    times, found = stragglers.analysed(path)
    return stragglers.as_json(times, found), stragglers.as_text(times, found)


def spiky(path, **options):
    log, found, account = spikes.analysed(path, **options)
    return log, found, account, spikes.as_json(log, found, account), spikes.as_text(log, found, account)


# Step times -----------------------------------------------------------------------------------------------------------


def test_one_straggler_among_warm_up_and_checkpoints():
    path, right = case("p01", "input.csv")
    told, text = slow(path)
    assert [one["rank"] for one in told["slow"]] == right["stragglers"]
    assert told["slow"][0]["ratio"] == pytest.approx(right["slowdown"]["11"], abs=0.02)
    assert told["slow"][0]["kind"] == "persistent" and told["slow"][0]["since_step"] <= 2
    steps = [s for one in told["excluded"] for s in range(one["since_step"], one["until_step"] + 1)]
    assert steps == right["slow_for_everyone_steps"]
    assert told["smallest_slowdown"] < 0.22 and "seen from" in text


def test_ranks_that_are_equal_cannot_be_told_apart():
    path, right = case("p02", "input.csv")
    told, text = slow(path)
    assert told["slow"] == [] and told["fast"] == []
    [period] = told["job_slow"]
    assert [period["since_step"], period["until_step"]] == right["job_slow_interval"]
    assert period["ratio"] == pytest.approx(right["job_slowdown"], abs=0.02)
    assert told["cannot_tell_which_rank"] and "cannot tell which rank" in " ".join(text.split())


def test_a_slow_node_is_one_finding():
    path, right = case("p04", "input.csv")
    told, text = slow(path)
    [one] = told["slow"]
    assert [one["node"]] == right["slow_nodes"] and one["ranks"] == right["slow_ranks"] and one["kind"] == "node"
    assert one["ratio"] == pytest.approx(right["slowdown"], abs=0.02)
    assert told["fast"] == [] and "node-c" in text


def test_a_drift_begins_when_it_begins():
    path, right = case("p05", "input.csv")
    told, _ = slow(path)
    [one] = told["slow"]
    right = right["drifting"]["6"]
    assert (one["rank"], one["kind"]) == (6, "drift")
    assert abs(one["since_step"] - right["start_step_about"]) <= 12
    assert one["ratio"] == pytest.approx(right["ratio_end"], abs=0.03)
    assert one["ratio_mean"] == pytest.approx(right["ratio_mean_all"], abs=0.03)


def test_two_fast_ranks_make_no_stragglers():
    path, right = case("p07", "input.csv")
    told, text = slow(path)
    assert told["slow"] == [] and [one["rank"] for one in told["fast"]] == right["unusually_fast"]
    assert all(one["ratio"] == pytest.approx(right["ratio_fast_to_median"], abs=0.02) for one in told["fast"])
    assert "not slow for it" in " ".join(text.split())


def test_a_missing_phase_is_unknown():
    path, right = case("b06", "input.csv")
    told, text = slow(path)
    assert told["slow"] == [] and told["fast"] == []
    assert told["not_measured"] == {"2": ["forward"]}
    assert [r for r in range(4) if str(r) not in told["not_measured"]] == right["phases_complete_ranks"]
    assert "not measured" in text


def test_rounded_times_have_a_spread():
    path, right = case("b09", "input.csv")
    told, _ = slow(path)
    assert [one["since_step"] for one in told["excluded"]] == right["anomalous_steps"]
    assert told["normal_step_s"] == pytest.approx(right["normal_step_s"], abs=1e-3)
    assert told["excluded_lost_s"] == pytest.approx(right["time_lost_s"], abs=0.05)


def test_alibaba_job_1_has_one_straggler_for_a_while():
    told, _ = slow(data("alibaba-pai/job_1_norm.csv"))
    [one] = told["slow"]
    assert (one["rank"], one["kind"]) == (6, "transient")
    assert 1790 <= one["since_step"] <= 1850 and 1920 <= one["until_step"] <= 1960
    assert one["lost_s"] is None  # normalised times are no seconds


def test_the_trace_has_one_rank_that_is_slow_in_computing():
    told, text = slow(data("bytedance-ar/trace-AR.parquet"))
    [one] = told["slow"]
    assert one["rank"] == 0 and 2.3 < one["ratio"] < 2.4
    assert one["phase"] == "backward-compute, forward-compute"
    assert told["slow_links"] == [] and told["fast"] == [] and "Slow in communication" in text


# Training logs --------------------------------------------------------------------------------------------------------


def test_megatrons_nan_is_an_absent_field():
    path, right = case("t01", "input.log")
    log, found, account, told, _ = spiky(path)
    assert len(log.points) == right["log_points"] and log.interval == right["log_interval"]
    assert log.points.skipped.sum() == right["skipped_iterations"]
    assert {str(s): n for s, n in zip(log.points.step, log.points.skipped, strict=True) if n} == right["skip_points"]
    assert log.nan_points() == right["nan_points"] == told["loss_alarms"] == told["gradient_alarms"]
    assert told["first_nan"]["began_between"] == right["nan_began_between"]
    assert log.points.step[log.points.status == "ok"].max() == right["last_finite_loss_point"]
    assert told["checkpoints"] == {
        "newest_good": right["newest_checkpoint_known_good"], "poisoned": right["poisoned_checkpoints"]
    }  # fmt: skip
    assert told["lost_if_rolled_back"] == right["iterations_lost_if_rolled_back_at_330"]
    assert 1000 * account.steady_step_s == pytest.approx(right["steady_iteration_ms_median"])


def test_hugging_faces_dictionaries_take_their_step_from_the_bar():
    path, right = case("t02", "input.log")
    log, found, _, told, text = spiky(path)
    for (_, row), point in zip(log.points.iterrows(), right["train_points"], strict=True):
        assert (row.step, row.loss) == (point["step"], point["loss"])
        assert (
            np.isnan(row.grad_norm)
            if point["grad_norm"] is None
            else row.grad_norm == pytest.approx(point["grad_norm"], abs=1e-3)
        )
    assert told["validation"] == [{"step": 30, "loss": pytest.approx(1.9072, abs=1e-4)}]
    assert (told["first_nan"]["step"], told["first_nan"]["field"]) == (40, "grad_norm")
    assert told["dead_steps"] == [50, 60] and "dead run" in text
    assert log.summary["train_loss"] == right["summary_not_a_point"]["train_loss"]
    assert log.clock.elapsed_s[0] == right["first_step_s"]
    assert np.median(np.diff(log.clock.elapsed_s) / np.diff(log.clock.step)) == right["steady_step_s"]


def test_torchtitans_colours_ranks_and_resume():
    path, right = case("t04", "input.log")
    log, found, account, told, _ = spiky(path)
    final = log.final()
    assert len(final) == right["unique_steps"] and log.ranks == right["ranks_seen"]
    assert [(s["first"], s["last"]) for s in log.segments] == [tuple(s["steps"]) for s in right["segments"]]
    assert log.segments[1]["resumed_from"] == 10
    assert {str(s): v for s, v in zip(final.step, final.loss, strict=True) if s > 10} == right[
        "final_loss_by_step_11_to_18"
    ]
    assert told["nan_steps"] == [] and told["abandoned_nan_steps"] == [14, 15] == told["abandoned_loss_alarms"]
    assert told["validation"] == right["validation"]
    assert account.repeated_range == (11, 15) and list(account.first_steps) == right["slow_first_steps"]
    assert account.steady_step_s == pytest.approx(1.6, abs=1e-5)


def test_work_done_again_is_accounted_for():
    path, right = case("t07", "input.log")
    account = spiky(path)[2]
    assert (account.useful_steps, account.executed_steps) == (
        right["useful_iterations"],
        right["executed_iterations_at_least"],
    )
    assert (account.repeated_steps, list(account.repeated_range)) == (
        right["repeated_iterations"],
        right["repeated_range"],
    )
    assert account.interruptions == right["interruptions"]
    parts = {"wall_s": account.wall_s, "useful_s": account.useful_s, "lost_compute_s": account.lost_s}
    parts |= {
        "after_last_log_to_crash_s": account.tail_s,
        "down_s": account.down_s,
        "restart_slow_s": account.slow_start_s,
    }
    assert parts == pytest.approx({name: right[name] for name in parts}, abs=1)
    assert account.goodput == pytest.approx(right["goodput"], abs=0.002) and account.other_s == pytest.approx(
        0, abs=1e-6
    )


def test_the_guard_on_a_run_without_a_corruption():
    log, found, _, told, _ = spiky(data("llmc/main.log"))
    assert log.framework == "llmc" and len(log.points) == 19560
    assert told["loss_alarms"] == [] and told["gradient_alarms"] == [7435, 9025]
    loss = log.final().loss.to_numpy()
    medians = guards.rolling_median(loss, 50)[50:]
    assert (5 * loss[50:] > 4 * medians).all() and found.loss.seen == 1
    assert found.loss.since == 50
    five = log_guard.guard(log, threshold=5).loss
    assert five.alarms == [] and five.seen == pytest.approx(0.4645, abs=1e-3)
    for step in (50, 51, 700, 19559):  # and the guard itself finds it there
        spiked = loss.copy()
        spiked[step] *= 5
        assert guards.spike_guard(spiked[: step + 1], 4)[-1] == step
    assert goodput_log.account(log) is None  # the log has no stamps
