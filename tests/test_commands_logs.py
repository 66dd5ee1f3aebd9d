"""The commands stragglers and spikes: their JSON, their text, and what they refuse."""

import argparse
import json

import numpy as np
import pytest

from reliability import log_guard
from reliability.commands import spikes, stragglers
from reliability.errors import BadInput


def run(module, arguments):
    """The command's exit status, as the command line would call it."""
    parser = argparse.ArgumentParser()
    module.add(parser.add_subparsers())
    return module.main(parser.parse_args([module.__name__.rsplit(".", 1)[-1], *map(str, arguments)]))


@pytest.fixture
def steps(tmp_path):
    times = 1 + 0.01 * np.random.default_rng(0).standard_normal((60, 8))
    times[20:, 3] *= 1.4
    times[0] *= 9
    path = tmp_path / "steps.csv"
    path.write_text(
        "step,rank,node,seconds\n"
        + "".join(f"{s},{r},h{r}\x1b[31m,{times[s, r]:.4f}\n" for s in range(60) for r in range(8))
    )
    return path


@pytest.fixture
def losses(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text(
        "step,loss,grad_norm\n"
        + "".join(f"{s},{11 if s == 70 else 2},{'nan' if s == 80 else 0.5}\n" for s in range(90))
    )
    return path


def test_stragglers_as_json(steps, capsys):
    assert run(stragglers, [steps, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["version"]) == ("training-reliability/stragglers", 1)
    [one] = told["slow"]
    assert (one["rank"], one["kind"], one["until_step"]) == (3, "persistent", None)
    assert abs(one["since_step"] - 20) <= 1 and one["ratio"] == pytest.approx(1.4, abs=0.01) and 10 < one["lost_s"] < 18
    assert [e["why"] for e in told["excluded"]] == ["warm-up"] and told["cannot_tell_which_rank"] is False


def test_spikes_as_json(losses, capsys):
    assert run(spikes, [losses, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["version"], told["framework"]) == ("training-reliability/spikes", 1, "table")
    assert told["loss_alarms"] == [70] and told["gradient_alarms"] == [80]
    assert told["first_nan"] == {"step": 80, "began_between": [80, 80], "field": "grad_norm"}
    assert told["account"] is None and told["guarded_since"] == {"loss": 50, "gradient": 50}
    assert run(spikes, [losses, "--json", "--threshold", 6]) == 0
    assert json.loads(capsys.readouterr().out)["loss_alarms"] == []


@pytest.mark.parametrize("name", ["steps", "losses"])
def test_a_person_reads_80_columns_without_control_characters(name, request, capsys):
    module = {"steps": stragglers, "losses": spikes}[name]
    assert run(module, [request.getfixturevalue(name)]) == 0
    out = capsys.readouterr().out
    assert all(len(line) <= 80 for line in out.splitlines())
    assert all(c.isprintable() or c == "\n" for c in out)
    assert out.rstrip().split("\n\n")[-1].startswith("Next: ")


def test_a_table_that_people_read_names_what_was_found(steps, losses, capsys):
    run(stragglers, [steps])
    out = capsys.readouterr().out
    assert "rank 3" in out and "40%" in out and "warm-up" in out
    run(spikes, [losses])
    out = capsys.readouterr().out
    assert "Alarms of the loss: step 70." in out and "Not a number since step 80" in out


@pytest.mark.parametrize(
    ("module", "arguments", "says"),
    [
        (stragglers, ["nowhere.csv"], "nowhere.csv"),
        (stragglers, ["{losses}"], "seconds"),
        (stragglers, ["{steps}", "--threshold", "-1"], "threshold"),
        (stragglers, ["{steps}", "--ranks-per-node", "0"], "ranks_per_node"),
        (spikes, ["nowhere.log"], "nowhere.log"),
        (spikes, ["{steps}"], "training log"),
        (spikes, ["{losses}", "--threshold", "1"], "threshold"),
        (spikes, ["{losses}", "--window", "0"], "window"),
        (spikes, ["{losses}", "--format", "tensorflow"], "megatron"),
    ],
)
def test_bad_input_is_one_line(module, arguments, says, steps, losses):
    arguments = [a.format(steps=steps, losses=losses) for a in arguments]
    with pytest.raises(BadInput, match=says) as error:
        run(module, arguments)
    assert "\n" not in str(error.value)


def test_the_help_names_the_guards_own_numbers(capsys):
    with pytest.raises(SystemExit):
        run(spikes, ["--help"])
    out = " ".join(capsys.readouterr().out.split())
    assert f"(default {log_guard.THRESHOLD:g})" in out and f"(default {log_guard.WINDOW})" in out


def test_steps_that_end_at_a_barrier_name_nobody(tmp_path, capsys):
    path = tmp_path / "steps.csv"
    path.write_text(
        "step,rank,seconds\n" + "".join(f"{s},{r},{1 + s % 7 / 100}\n" for s in range(60) for r in range(4))
    )
    assert run(stragglers, [path, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["slow"] == [] and told["cannot_tell_which_rank"] is True
    assert run(stragglers, [path]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "cannot tell which rank" in text and "is seen from" not in text and "Next: log the time" in text


def test_a_rank_that_is_slow_at_every_save_is_told_by_its_period(tmp_path, capsys):
    path, jitter = tmp_path / "steps.csv", np.random.default_rng(1).normal(0, 0.01, (100, 4))
    path.write_text(
        "step,rank,seconds\n"
        + "".join(f"{s},{r},{1 + jitter[s, r] + (r == 0 and s % 10 == 9):.4f}\n" for s in range(100) for r in range(4))
    )
    assert run(stragglers, [path, "--json"]) == 0
    assert [(one["rank"], one["kind"], one["every"]) for one in json.loads(capsys.readouterr().out)["slow"]] == [
        (0, "intermittent", 10)
    ]
    assert run(stragglers, [path]) == 0
    assert "Rank 0 is slow in one of every 10 steps" in " ".join(capsys.readouterr().out.split())


def test_the_columns_of_the_guards_are_explained_and_a_rise_below_the_threshold_is_pointed_at(tmp_path, capsys):
    path = tmp_path / "run.csv"
    path.write_text("step,loss\n" + "".join(f"{s},{7 if s == 70 else 2}\n" for s in range(90)))
    assert run(spikes, [path]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Highest quiet: the largest value that was no alarm" in text and "5x seen: share of the points" in text
    assert "the loss rose to 3.50 times its median without an alarm: --threshold 3 shows where" in text
    assert run(spikes, [path, "--threshold", 3]) == 0
    assert "step 70" in capsys.readouterr().out
    with pytest.raises(BadInput, match="did you mean.*run.csv"):
        run(spikes, [tmp_path / "ran.csv"])


@pytest.mark.parametrize("after", [False, True])
def test_a_checkpoint_at_the_logs_end_is_shown_by_no_later_point(tmp_path, capsys, after):
    line = "[2025-03-01 00:{0:02d}:00] iteration {0:8d}/ 100 | elapsed time per iteration (ms): 60000.0 | lm loss: 2.000000E+00 | grad norm: 0.500 |\n"
    text = (
        "".join(line.format(s) for s in range(1, 21))
        + "  successfully saved checkpoint from iteration      20 to /ckpt\n"
    )
    path = tmp_path / "train.log"
    path.write_text(text + (line.format(21) if after else ""))
    assert run(spikes, [path]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "known to be good: 20" in out
    assert ("no later point shows it" in out) is not after
