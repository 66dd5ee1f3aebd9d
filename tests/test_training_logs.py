"""Training logs of each framework, in small samples of our own: steps, NaN, skips, ranks, restarts, checkpoints."""

import gzip
import json
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import modest

from reliability.commands import spikes
from reliability.logs import training_formats as formats
from reliability.logs import training_lines
from reliability.logs.notes import LogError
from reliability.logs.training import read_training, stamp_of


def log_of(folder, text, name="run.log", **options):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_training(path, **options)


def megatron(step, loss="2.5E+00", grad="0.9", skipped=0, ms=6000.0, stamp="2025-03-01 08:00:00", extra="", end="|"):
    loss = "" if loss is None else f" lm loss: {loss} |"
    grad = "" if grad is None else f" grad norm: {grad} |"
    return (
        f" [{stamp}] iteration {step:8d}/    5000 | consumed samples: {step * 64:12d} | elapsed time per iteration (ms): {ms} |"
        f" learning rate: 1.0E-04 | global batch size:    64 |{loss}{extra} loss scale: 1.0 |{grad}"
        f" number of skipped iterations: {skipped:3d} | number of nan iterations:   0 {end}"
    )


# One sample a framework -----------------------------------------------------------------------------------------------

SAMPLES = {
    "megatron": [megatron(1, "3.0E+00", "1.5"), megatron(2, "2.0E+00", "0.5")],
    "megatron, DeepSpeed's fork": [
        "gpu-4: [2025-03-01 08:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] step=1, skipped=0, lr=[1e-4], mom=[(0.9, 0.95)]",
        "gpu-4:  iteration        1/    5000 | consumed samples:   8 | consumed tokens:   16384 | elapsed time per iteration (ms): 4247.9 | "
        "learning rate: 3.0E-04 | global batch size: 8 | lm loss: 3.0E+00 | loss scale: 1.0 | grad norm: 1.500 | actual seqlen:  2048 | "
        "number of skipped iterations:   0 | number of nan iterations:   0 | samples per second: 1.886 | TFLOPs: 78.46 |",
        " iteration        2/    5000 | consumed samples:  16 | elapsed time per iteration (s): 4.2 | learning rate: 3.0E-04 | "
        "lm loss: 2.0E+00 | aux loss: 9.0E-01 | grad norm: 0.500 | number of skipped iterations:   0 | number of nan iterations:   0 |",
    ],
    "torchtitan": [
        "[titan] 2025-09-01 12:00:48,000 - root - INFO - \x1b[31mstep:  1  \x1b[32mloss:  3.00000  \x1b[38;2;180;60;0mgrad_norm:  1.5000  "
        "\x1b[38;2;54;234;195mmemory: 52.40GiB(66.11%)  \x1b[34mtps: 10,210\x1b[39m",
        "[titan] 2025-09-01 12:00:49,000 - root - INFO - step:  2  loss:  2.0000  grad_norm:  0.5000  memory: 1GiB(1%)  tps: 9",
    ],
    "nemo 2": [
        "Training epoch 0, iteration 0/9 | lr: 0.0006 | consumed_samples: 32 | global_batch_size: 32 | global_step: 1 | grad_norm: 1.5 | "
        "reduced_train_loss: 3.0 | train_step_timing in s: 0.0315",
        "Training epoch 0, iteration 1/9 | lr: 0.0006 | consumed_samples: 64 | global_step: 2 | reduced_train_loss: 2.0 | grad_norm: 0.5 | val_loss: 4.1",
    ],
    "nemo 1": [
        "Epoch 0:   1%|1         | 1/772 [9:07:58<878:01:48, 41.36s/it, loss=3.1, v_num=, reduced_train_loss=3.000, global_step=1.000, "
        "consumed_samples=1.63e+6, grad_norm=1.500, train_step_timing in s=41.30]\r"
        "Epoch 0:   2%|1         | 2/772 [9:08:39<878:01:48, 41.36s/it, loss=3.1, v_num=, reduced_train_loss=2.000, global_step=2.000, grad_norm=0.500]",
    ],
    "nemo automodel": [
        "2025-07-26 19:37:11 | INFO | root | step 1 | epoch 0 | loss 3.0000 | grad_norm 1.5000 | lr 1.00e-05 | mem 30.1 GiB | tps 4,000.1",
        "2025-07-26 19:37:12 | INFO | root | step 2 | epoch 0 | loss 2.0000 | grad_norm 0.5000 | lr 1.00e-05",
    ],
    "huggingface": [
        "\r 10%|#         | 1/10 [00:10<01:30, 10.00s/it]",
        "{'loss': 3.0, 'grad_norm': 1.5, 'learning_rate': 1e-05, 'epoch': 0.1}",
        "\r 20%|##        | 2/10 [00:11<00:08,  1.00s/it]\r" + " " * 40 + "\r{'loss': '2', 'grad_norm': '0.5', 'epoch': '0.2'}",
    ],
    "llmc": ["s:1 tel:3.1", "s:1 trl:3.0 lr:0.000001 norm:1.5", "s:2 trl:2.0 lr:0.000002 norm:0.50"],
    "llmc, terminal": [
        "val loss 11.033154",
        "step    1/19560 | loss 3.000000 (+nanz)| norm 1.5000 (+nanz)| lr 8.57e-07 | 2517.44 ms | 39.9% bf16 MFU | 208262 tok/s",
        "step    2/19560 | loss 2.000000 (-1.22z)| norm 0.5000 (+0.31z)| lr 8.57e-07 | 2507.23 ms | 39.9% bf16 MFU | 208262 tok/s",
    ],
    "deepspeed": [
        "[2025-03-01 02:06:58,985] [INFO] [logging.py:69:log_dist] [Rank 0] step=1, skipped=0, lr=[5e-05], mom=[[0.9, 0.999]]",
        "steps: 1 loss: 3.0000 iter time (s): 1.200 samples/sec: 50.100",
        "steps: 2 loss: 2.0000 iter time (s): 1.250 samples/sec: 50.100",
    ],
    "nanogpt": ["step 0: train loss 4.0, val loss 4.1", "iter 1: loss 3.0000, time 234.10ms, mfu 12.00%", "iter 2: loss 2.0000, time 230.10ms, mfu 12.00%"],
    "csv": ["step,loss,grad_norm", "1,3.0,1.5", "2,2.0,0.5"],
    "csv, other names": ["Iteration;Train Loss;Grad Norm", "1;3,0;1,5", "2;2,00;0,50"],
    "json lines": ['{"step": 1, "loss": 3.0, "grad_norm": 1.5}', '{"step": 2, "loss": "2.0", "grad_norm": 0.5, "eval_loss": 4.0}'],
    "json lines of a tracker": [
        '{"train/global_step": 1, "train/loss": 3.0, "train/grad_norm": 1.5, "_runtime": 3}',
        '{"train/global_step": 2, "train/loss": 2.0, "train/grad_norm": 0.5, "eval/loss": 9}',
    ],
    "trainer state": [
        json.dumps({"log_history": [{"step": 1, "loss": 3.0, "grad_norm": 1.5}, {"step": 2, "loss": 2.0, "grad_norm": 0.5},
                                    {"step": 2, "eval_loss": 4.0}, {"step": 2, "train_loss": 2.5, "train_runtime": 9.0}]}, indent=1)
    ],
}  # fmt: skip
FRAMEWORK = {"csv": "table", "json": "table", "trainer": "table", "deepspeed": "deepspeed", "nanogpt": "nanogpt"}
NO_GRADIENT = ("deepspeed", "nanogpt")


@pytest.mark.parametrize("name", SAMPLES)
def test_each_framework_is_told_and_read(name, tmp_path):
    log = log_of(tmp_path, "\n".join(SAMPLES[name]) + "\n")
    first = name.replace(",", " ").split()[0]
    assert log.framework == FRAMEWORK.get(first, first)
    assert log.points.step.tolist() == [1, 2] and log.points.loss.tolist() == [3.0, 2.0]
    if name not in NO_GRADIENT:
        assert log.points.grad_norm.tolist() == [1.5, 0.5]
    assert log.points.status.tolist() == ["ok", "ok"] and len(log.segments) == 1


def test_seconds_of_a_step_come_in_the_logs_own_unit(tmp_path):
    assert log_of(tmp_path, "\n".join(SAMPLES["megatron, DeepSpeed's fork"])).points.seconds.tolist() == [4.2479, 4.2]
    assert log_of(tmp_path, "\n".join(SAMPLES["llmc, terminal"])).points.seconds[0] == pytest.approx(2.51744)
    assert log_of(tmp_path, "\n".join(SAMPLES["nemo 2"])).points.seconds[0] == 0.0315


def test_the_loss_of_a_validation_is_no_loss_of_training(tmp_path):
    for name, step, loss in (
        ("nemo 2", 2, 4.1),
        ("llmc", 1, 3.1),
        ("json lines", 2, 4.0),
        ("trainer state", 2, 4.0),
        ("nanogpt", 0, 4.1),
    ):
        log = log_of(tmp_path, "\n".join(SAMPLES[name]))
        assert log.validation[["step", "loss"]].values.tolist() == [[step, loss]], name
    lines = [
        megatron(10),
        " validation loss at iteration 10 | lm loss value: 3.25E+00 | lm loss PPL: 2.5E+01 |",
        megatron(20),
    ]
    log = log_of(tmp_path, "\n".join(lines))
    assert log.points.loss.tolist() == [2.5, 2.5] and log.validation.loss.tolist() == [3.25]


def test_gzip_mark_and_line_ends(tmp_path):
    text = "\ufeff" + "\r\n".join(SAMPLES["megatron"])
    log = log_of(tmp_path, gzip.compress(text.encode()), "run.log.gz")
    assert log.points.loss.tolist() == [3.0, 2.0]


# NaN, skips, death ----------------------------------------------------------------------------------------------------


def test_a_missing_loss_is_nan_unless_all_steps_were_skipped(tmp_path):
    lines = [
        megatron(10, None, None, 10),
        megatron(20, "3.0E+00", "1.0", 1),
        megatron(30, None, "nan"),
        megatron(40, "nan", "nan"),
    ]
    log = log_of(tmp_path, "\n".join(lines))
    assert log.points.status.tolist() == ["skipped", "ok", "nan", "nan"]
    assert log.points.nan_field.tolist() == ["", "", "loss missing", "loss"]
    assert log.nan_points() == [30, 40] and log.interval == 10


def test_a_loss_of_0_with_all_steps_skipped_is_a_skip_and_otherwise_a_dead_run(tmp_path):
    log = log_of(
        tmp_path, "\n".join([megatron(10, "0.000000E+00", None, 10), megatron(20), megatron(30, "0.000000E+00", "0.0")])
    )
    assert log.points.status.tolist() == ["skipped", "ok", "dead"]


def test_a_line_that_breaks_off_is_no_nan(tmp_path):
    cut = megatron(30)[:140]
    log = log_of(tmp_path, "\n".join([megatron(10), megatron(20), cut]))
    assert log.points.step.tolist() == [10, 20] and log.nan_points() == []
    assert any(n.kind == "dropped" and n.lines == (3,) for n in log.notes)


def test_megatrons_own_counter_is_shown_where_it_counts(tmp_path):
    log = log_of(
        tmp_path, "\n".join([megatron(10), megatron(20).replace("nan iterations:   0", "nan iterations:   2")])
    )
    assert log.nan_points() == [] and [n.lines for n in log.notes if n.kind == "warning"] == [(2,)]


def test_deepspeeds_skipped_steps(tmp_path):
    lines = []
    for step, skipped in ((1, 1), (2, 2), (3, 2), (4, 2)):
        lines += [f"[2025-03-01 02:06:58,985] [INFO] [x] [Rank 0] step={step}, skipped={skipped}, lr=[5e-05]"]
        lines += [f"steps: {step} loss: {'nan' if step == 4 else '2.0'} iter time (s): 1.2 samples/sec: 5"]
    log = log_of(tmp_path, "\n".join(lines))
    assert log.nan_points() == [4]


@pytest.mark.parametrize("value", ["nan", "NaN", "inf", "-inf"])
def test_values_that_are_no_number_in_tables(value, tmp_path):
    log = log_of(tmp_path, f"step,loss,grad_norm\n1,2.0,1.0\n2,{value},\n3,2.0,{value}\n4,,\n")
    assert log.nan_points() == [2, 3]
    assert log.points.nan_field.tolist() == ["", "loss", "grad_norm"]
    assert any(n.reason.startswith("rows without") for n in log.notes)


def test_a_step_without_a_name_is_unknown(tmp_path):
    log = log_of(tmp_path, "{'loss': 3.0, 'epoch': 0.1}\n{'loss': 2.0, 'epoch': 0.2}\n")
    assert log.points.step.tolist() == [1, 2]
    assert [n.count for n in log.notes if n.kind == "unknown"] == [2]


# Ranks and restarts ---------------------------------------------------------------------------------------------------


def titan(rank, step, loss, stamp="12:00:00"):
    return f"[rank{rank}]:[titan] 2025-09-01 {stamp},000 - root - INFO - step: {step}  loss: {loss}  grad_norm: 1.0  memory: 1GiB  tps: 1,000"


def test_copies_of_other_ranks_are_merged_even_when_they_come_late(tmp_path):
    order = [(0, 1), (8, 1), (0, 2), (0, 3), (8, 2), (8, 3), (16, 1), (0, 4), (16, 2), (8, 4)]
    log = log_of(tmp_path, "\n".join(titan(rank, step, 5 - step) for rank, step in order))
    assert log.points.step.tolist() == [1, 2, 3, 4] and log.ranks == [0, 8, 16] and len(log.segments) == 1
    assert [n.count for n in log.notes if n.kind == "merged"] == [6]


def test_nan_on_one_rank_is_nan(tmp_path):
    log = log_of(
        tmp_path,
        "\n".join([titan(0, 1, 3.0), titan(8, 1, 3.0), titan(0, 2, 2.5), titan(8, 2, "nan"), titan(0, 3, 2.0)]),
    )
    assert log.nan_points() == [2]
    assert [n.count for n in log.notes if n.kind == "warning"] == [1]


def test_a_restart_replaces_what_comes_after_its_checkpoint(tmp_path):
    lines = [megatron(s, f"{5 - s / 100:.3E}") for s in range(10, 80, 10)]
    lines += ["loading checkpoint from /ckpt at iteration 40", *(megatron(s, "1.000E+00") for s in (50, 60))]
    log = log_of(tmp_path, "\n".join(lines))
    assert [(s["first"], s["last"], s["resumed_from"]) for s in log.segments] == [(10, 70, None), (50, 60, 40)]
    final = log.final()
    assert final.step.tolist() == [10, 20, 30, 40, 50, 60] and final.loss.tolist()[-2:] == [1.0, 1.0]
    assert int((~log.points.kept).sum()) == 3  # 70 is given up too


def test_a_restart_without_a_word_is_told_by_its_steps(tmp_path):
    log = log_of(tmp_path, "step,loss\n" + "".join(f"{s},2.0\n" for s in [*range(1, 9), *range(5, 12)]))
    assert [(s["first"], s["last"], s["resumed_from"]) for s in log.segments] == [(1, 8, None), (5, 11, None)]
    assert log.final().step.tolist() == list(range(1, 12))


def test_the_same_line_twice_is_one(tmp_path):
    line = megatron(20)
    log = log_of(tmp_path, "\n".join([megatron(10), line, line, megatron(30)]))
    assert len(log.points) == 3 and len(log.segments) == 1 and [n.count for n in log.notes if n.kind == "merged"] == [1]


def test_a_bar_of_an_evaluation_does_not_tell_the_step(tmp_path):
    lines = ["\r 10%|#   | 10/100 [00:10<01:30,  1.00s/it]", "{'loss': 3.0, 'epoch': 0.1}"]
    lines += [
        "\r  3%|   | 1/33 [00:00<00:01, 20.00it/s]\r 99%|### | 32/33 [00:02<00:00, 15.0it/s]",
        "{'eval_loss': 3.5, 'epoch': 0.1}",
    ]
    lines += [
        "\r 20%|##  | 20/100 [00:20<01:20,  1.00s/it]",
        "{'loss': 2.0, 'epoch': 0.2}",
        "{'train_runtime': 9.0, 'train_loss': 2.5, 'epoch': 1.0}",
    ]
    log = log_of(tmp_path, "\n".join(lines))
    assert log.points.step.tolist() == [10, 20] and log.validation.step.tolist() == [10]
    assert log.summary["train_loss"] == 2.5 and log.clock.step.tolist() == [10, 20]


# Checkpoints ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("saved", "verdict"),
    [(20, "good"), (25, "good"), (35, "unknown"), (40, "poisoned"), (50, "poisoned"), (45, "poisoned")],
)
def test_what_a_checkpoint_is_worth(saved, verdict, tmp_path):
    lines = []
    for step in range(10, 60, 10):
        lines.append(megatron(step) if step < 40 else megatron(step, None, "nan"))
    lines.insert(
        -(-saved // 10) if saved % 10 == 0 else saved // 10,
        f"saving checkpoint at iteration {saved:7d} to /ckpt in torch_dist format",
    )
    log = log_of(tmp_path, "\n".join(lines))
    assert log.checkpoints[["step", "verdict"]].values.tolist() == [[saved, verdict]]
    assert log.good_checkpoint() == (saved if verdict == "good" else None)


@pytest.mark.parametrize(
    ("line", "kind", "step"),
    [
        ("saving checkpoint at iteration     100 to /ckpt", "save", 100),
        ("  successfully saved checkpoint from iteration     100 to /ckpt [ t 1/1, p 1/1 ]", "save", 100),
        ("Saving model checkpoint to out/checkpoint-500", "save", 500),
        ("[titan] Saving the checkpoint (or staging if async is enabled).", "save", None),
        ("Writing model to log/model_00019560.bin", "save", 19560),
        ("loading distributed checkpoint from /ckpt at iteration 100", "load", 100),
        (" successfully loaded checkpoint from /ckpt [ t 0, p 0 ] at iteration 700", "load", 700),
        ("Loading the checkpoint from outputs/checkpoint/step-10.", "load", 10),
        ("Resuming training from checkpoint at step 40", "load", 40),
        ("[before the start of training step] datetime: 2025-10-05 08:00:00", "start", None),
    ],
)
def test_words_of_checkpoints_and_restarts(line, kind, step):
    event = training_lines.landmark(line)
    assert (event.kind, event.step) == (kind, step)


# Stamps, refusals, anything -------------------------------------------------------------------------------------------


def test_stamps():
    assert stamp_of("[titan] 2025-09-01 12:00:48,250 - root", None) == pytest.approx(1756728048.25)
    assert stamp_of("2025-09-01T12:00:48.25Z x") == stamp_of("2025-09-01 12:00:48.25")
    assert (
        stamp_of("2025-13-41 12:00:48 x") is None
        and stamp_of("[E1399 12:00:48.1 x", 2025) is None
        and stamp_of("no") is None
    )


@pytest.mark.parametrize(
    "text",
    [
        "node,start,end\na,2025-01-01,2025-01-02\n",
        "step,rank,seconds\n0,0,1.0\n",
        "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n",
        "JobID|State|Start|End|Elapsed\n1|FAILED|2025-01-01T00:00:00|2025-01-01T00:00:00|00:00:00\n",
        "The loss of the war\n",
        '{"kind": "Event", "reason": "NodeNotReady"}\n',
        "step,loss\n",
        "step,loss\nx,1\n",
        "{}\n",
        "[1, 2, 3]\n",
        "",
    ],
)
def test_another_kind_of_file_is_refused_in_one_line(text, tmp_path):
    with pytest.raises(LogError, match=r"run\.log") as error:
        log_of(tmp_path, text)
    assert "\n" not in str(error.value)


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(LogError, match="megatron"):
        log_of(tmp_path, "x", format="caffe")
    with pytest.raises(LogError, match="training log"):
        log_of(tmp_path, "\n".join(SAMPLES["llmc"]), format="megatron")


@modest
@given(
    st.sampled_from(sorted(SAMPLES)), st.binary(max_size=40), st.integers(0, 900), st.integers(0, 900), st.booleans()
)
def test_broken_logs_are_read_or_refused(tmp_path_factory, name, junk, a, b, doubled):
    whole = ("\n".join(SAMPLES[name]) + "\n").encode() * 2
    a, b = sorted((min(a, len(whole)), min(b, len(whole))))
    path = tmp_path_factory.getbasetemp() / f"broken-log-{os.getpid()}"
    path.write_bytes(whole[:a] + junk + whole[b:] + (whole[a:b] if doubled else b""))
    try:
        log, found, account = spikes.analysed(path)
    except LogError as error:
        assert "\n" not in str(error)
    else:
        text = spikes.as_text(log, found, account)
        assert all(c.isprintable() or c == "\n" for c in text)
        json.dumps(spikes.as_json(log, found, account), allow_nan=False)
        assert (log.points.step >= 0).all() and set(log.points.status) <= {"ok", "nan", "skipped", "dead"}


def test_numbers_are_read_and_never_evaluated():
    assert training_lines.number("__import__('os')") is None
    assert training_lines.number("1e400") == np.inf and training_lines.number("-.5") == -0.5
    event = formats.huggingface("{'loss': __import__('os').abort(), 'epoch': 1}")
    assert np.isnan(event.loss)


def test_megatrons_first_lines_have_no_colons(tmp_path):
    old = " iteration {:8d}/  320000 | elapsed time per iteration (ms): 1000.0 | learning rate 1.500E-04 | lm loss {} | loss scale 32768.0 |"
    log = log_of(
        tmp_path, "\n".join(old.format(s, loss) for s, loss in ((100, "7.2E+00"), (200, "nan"), (300, "6.5E+00")))
    )
    assert log.points.loss.tolist() == pytest.approx([7.2, np.nan, 6.5], nan_ok=True)
    assert log.points.status.tolist() == ["ok", "nan", "ok"]


def test_a_loss_that_no_line_names_is_unknown_and_not_a_nan(tmp_path):
    log = log_of(tmp_path, "\n".join(megatron(s, None) for s in range(1, 5)))
    assert set(log.points.status) == {"ok"} and log.points.loss.isna().all()
    _, found, account = spikes.analysed(tmp_path / "run.log")
    assert found.loss.alarms is None and "not judged" in spikes.as_text(log, found, account)


def test_speed_runs_of_nanogpt(tmp_path):
    lines = [f"step:{s}/99 train_loss:{5 - s / 100:.4f} train_time:{s * 250}ms step_avg:250.00ms" for s in range(1, 9)]
    lines.insert(4, "step:4/99 val_loss:5.1000 train_time:1000ms step_avg:250.00ms")
    log = log_of(tmp_path, "\n".join(lines))
    assert log.framework == "nanogpt" and log.points.step.tolist() == list(range(1, 9))
    assert log.validation[["step", "loss"]].values.tolist() == [[4, 5.1]]
