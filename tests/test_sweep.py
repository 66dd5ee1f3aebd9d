"""Sweeps and simulations from the command line: the same numbers wherever they are computed, nothing done twice."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

import interruptions
import pandas as pd
import pytest
from oracles import bytes_of

from reliability import __main__ as cli
from reliability import (
    calibrate,
    dask_scheduler,
    distribute,
    fleet,
    fleet_config,
    fleet_document,
    fleet_runs,
    grid,
    incidents,
    log_reads,
    slow_ranks,
    sweep,
)
from reliability.errors import BadInput
from reliability.logs import step_times as steps_log
from reliability.logs import training as training_log

CLUSTER = """
[fleet]
job_nodes = 64
warm_standbys = 2
horizon_h = 240.0
[fleet.failures]
rate_per_node_day = 0.02
[fleet.repair]
automatic_s = 86400.0
[fleet.recovery]
restart_s = 900.0
swap_s = 60.0
[fleet.checkpoint]
interval_s = 3600.0
write_s = 30.0
"""
GRID = """
cluster = "cluster.toml"
replications = 20
seed = 3
[grid]
"fleet.warm_standbys" = [0, 2]
"fleet.checkpoint.interval_s" = [600.0, 1800.0, 7200.0]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "cluster.toml").write_text(CLUSTER)
    (tmp_path / "grid.toml").write_text(GRID)
    return tmp_path


def run_in(folder, *arguments):
    command = [sys.executable, "-m", "reliability", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


# A sweep --------------------------------------------------------------------------------------------------------------


def test_a_sweep_leaves_a_row_a_point_and_a_picture(folder, capsys):
    assert cli.main(["sweep", str(folder / "grid.toml"), "--out", str(folder / "out")]) == 0
    shown = capsys.readouterr()
    assert [line.rsplit("/", 1)[1] for line in shown.out.splitlines()] == ["sweep.parquet", "sweep.csv", "sweep.svg"]
    table = pd.read_parquet(folder / "out/sweep.parquet")
    assert len(table) == 6
    assert list(table["fleet.checkpoint.interval_s"]) == 2 * [600.0, 1800.0, 7200.0]
    assert (table["error"] == "").all()
    as_text = pd.read_csv(folder / "out/sweep.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(as_text, table, check_dtype=False, rtol=1e-15)
    for _, row in table.iterrows():  # each point is what the simulation gives for it alone
        tables = grid.read(folder / "grid.toml").document(
            {"fleet.warm_standbys": int(row["fleet.warm_standbys"]), "fleet.checkpoint.interval_s": row.iloc[1]}
        )
        alone = fleet.simulate_key(fleet_config.build(tables["fleet"]), fleet.key_of(3), 20)
        assert row["effective_training_ratio.mean"] == alone.effective_training_ratio.mean()
    assert (folder / "out/sweep.svg").read_text().startswith("<?xml")


def files_of(folder):
    return {name: (folder / name).read_bytes() for name in ("sweep.parquet", "sweep.csv", "sweep.svg")}


def test_what_is_done_is_not_done_again(folder, monkeypatch, capsys):
    arguments = ["sweep", str(folder / "grid.toml"), "--out", str(folder / "out")]
    cli.main(arguments)
    before = files_of(folder / "out")
    done = []
    simulated = fleet.simulate_key
    monkeypatch.setattr(fleet, "simulate_key", lambda *args: done.append(args) or simulated(*args))
    cli.main(arguments)
    assert done == []
    assert "6 of 6 points are done already" in capsys.readouterr().err
    assert files_of(folder / "out") == before
    (folder / "grid.toml").write_text(GRID.replace("[0, 2]", "[0, 2, 4]"))  # three more points
    cli.main(arguments)
    assert len(done) == 3
    assert len(pd.read_csv(folder / "out/sweep.csv")) == 9


def test_what_another_engine_has_found_is_done_again(folder, monkeypatch, capsys):
    arguments = ["sweep", str(folder / "grid.toml"), "--out", str(folder / "out")]
    cli.main(arguments)
    monkeypatch.setattr(sweep, "_sources", lambda: "other")
    cli.main(arguments)
    assert "done already" not in capsys.readouterr().err
    assert len((folder / "out" / sweep.KEPT).read_text().splitlines()) == 12


@pytest.mark.parametrize("torn", [b'{"key": "abc", "resu', b"\x00\x00\n", b"[]\n", b'{"key": "x"}\n'])
def test_an_unfinished_line_is_cut_off_and_its_point_done_again(folder, torn):
    arguments = ["sweep", str(folder / "grid.toml"), "--out", str(folder / "out")]
    cli.main(arguments)
    before, kept = files_of(folder / "out"), folder / "out" / sweep.KEPT
    whole = kept.read_bytes()
    kept.write_bytes(b"".join(whole.splitlines(keepends=True)[:-2]) + torn)
    cli.main(arguments)
    assert files_of(folder / "out") == before
    assert sorted(kept.read_bytes().splitlines()) == sorted(whole.splitlines())


def test_interrupted_a_sweep_goes_on_where_it_stopped(folder):
    (folder / "grid.toml").write_text(GRID.replace("replications = 20", "replications = 2000"))
    kept = folder / "out" / sweep.KEPT
    with interruptions.started(folder, "sweep", "grid.toml", "--out", "out") as process:
        interruptions.wait_for_work(process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode in interruptions.ENDS
    first = kept.read_bytes()
    done = first.count(b"\n")
    assert (out, err) == ("", f"interrupted: {done} of 6 points are kept; the same command goes on\n")
    assert 1 <= done < 6
    assert run_in(folder, "sweep", "grid.toml", "--out", "out").returncode == 0
    assert kept.read_bytes().startswith(first)
    assert kept.read_bytes().count(b"\n") == 6


LOGGED = """
[cluster]
gpus = 128
gpus_per_node = 8
[failures.log]
path = "failures.csv"
nodes = 16
[failures.classes_log]
path = "classes.csv"
[stragglers]
step_times = "steps.csv"
[training]
log = "training.csv"
[checkpoint]
write_s = 45
interval_min = 60
[recovery]
detection_s = 60
cold_restart_s = 600
standby_restart_s = 90
standby_nodes = 1
[target]
ettr = 0.9
horizon_days = 10
"""


@pytest.fixture
def logged(tmp_path):
    """A cluster file with a log of each kind; gives a function that writes a grid over it and reads it."""
    rows = [f"n{i % 5},2026-01-{i + 1:02d}T00:00:00,2026-01-{i + 1:02d}T0{i % 7 + 1}:00:00,gpu" for i in range(20)]
    for name in ("failures", "classes"):
        (tmp_path / f"{name}.csv").write_text("\n".join(["node,start,end,class", *rows]))
    steps = [f"{step},{rank},{1 + 0.01 * ((7 * step + rank) % 5)}" for step in range(30) for rank in range(8)]
    (tmp_path / "steps.csv").write_text("\n".join(["step,rank,seconds", *steps]))
    lines = [f"{step},{3.0 - 0.01 * step},2026-01-01T00:{step:02d}:00" for step in range(50)]
    (tmp_path / "training.csv").write_text("\n".join(["step,loss,time", *lines]))

    def over(axes, cluster=LOGGED):
        (tmp_path / "cluster.toml").write_text(cluster)
        (tmp_path / "grid.toml").write_text(f'cluster = "cluster.toml"\n[grid]\n{axes}\n')
        return grid.read(tmp_path / "grid.toml")

    return over


@pytest.fixture
def counted(monkeypatch):
    """How often each reader and each fit of logs is called."""
    calls = Counter()
    for module, name in (
        (incidents, "read"),
        (calibrate, "fit"),
        (steps_log, "read_steps"),
        (slow_ranks, "find"),
        (training_log, "read_training"),
    ):
        work = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *args, name=name, work=work, **kw: calls.update([name]) or work(*args, **kw)
        )
    return calls


ONCE = {"read": 2, "fit": 1, "read_steps": 1, "find": 1, "read_training": 1}  # two logs of failures


@pytest.mark.parametrize(
    ("axes", "wanted"),
    [
        ('"recovery.standby_nodes" = [0, 1, 2]\n"checkpoint.interval_min" = [30, 60]', {}),
        ('"cluster.gpus" = [64, 128, 256]\n"target.horizon_days" = [5, 10]', {}),
        ('"failures.log.nodes" = [16, 32]\n"recovery.standby_nodes" = [0, 1, 2]', {"read": 3, "fit": 2}),
        ('"cluster.gpus_per_node" = [4, 8]', {"fit": 2}),
        ('"training.format" = ["auto", "table"]', {"read_training": 2}),
    ],
)
def test_a_log_is_read_and_fitted_once_for_all_points_that_read_it_alike(logged, counted, axes, wanted):
    members = sweep.points(logged(axes))
    assert counted == ONCE | wanted
    for point in members[:: len(members) - 1]:  # as it is alone, where its logs are read for it
        alone = fleet_document.fleet_of(logged(axes).document(point.settings), folder=logged(axes).folder)
        assert alone == point.fleet


def test_a_log_that_does_not_say_its_nodes_is_fitted_for_each_size_of_the_job(logged, counted):
    sweep.points(logged('"cluster.gpus" = [64, 128, 256]', LOGGED.replace("nodes = 16\n", "")))
    assert counted == ONCE | {"fit": 3}


def test_a_log_that_has_changed_is_another_one(logged, counted, tmp_path):
    read, reads = logged('"recovery.standby_nodes" = [0]'), log_reads.Reads()
    before = fleet_document.fleet_of(read.base, folder=tmp_path, reads=reads)
    with (tmp_path / "failures.csv").open("a") as file:
        file.write("\nn1,2026-01-25T00:00:00,2026-01-25T05:00:00,network")
    after = fleet_document.fleet_of(read.base, folder=tmp_path, reads=reads)
    assert counted == ONCE | {"read": 3, "fit": 2}
    assert after.failures.rate_per_node_day != before.failures.rate_per_node_day


def test_two_sweeps_do_not_write_to_one_folder(folder):
    with sweep.store(folder / "out"), pytest.raises(BadInput, match="another sweep"), sweep.store(folder / "out"):
        pass


def test_workers_give_the_same_bytes(folder):
    cli.main(["sweep", str(folder / "grid.toml"), "--out", str(folder / "here")])
    done = run_in(folder, "sweep", "grid.toml", "--out", "there", "--workers", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert files_of(folder / "there") == files_of(folder / "here")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('"fleet.warm_standbys" = [0, 2]', '"fleet.warm_standbys" = [0, -1]'), "fleet.warm_standbys = -1"),
        (("fleet.warm_standbys", "fleet.warm_standby"), "warm_standby"),
        (("fleet.warm_standbys", "fleets.warm"), "[fleets]: unknown table"),
        (("replications = 20", "replications = 0"), "replications = 0"),
        (("cluster.toml", "no.toml"), "no.toml"),
    ],
)
def test_a_grid_that_cannot_be_run_is_refused_before_anything_is_written(folder, capsys, change, said):
    (folder / "grid.toml").write_text(GRID.replace(*change))
    assert cli.main(["sweep", str(folder / "grid.toml"), "--out", str(folder / "out")]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not (folder / "out").exists()


@pytest.mark.parametrize("order", [1, -1])
def test_an_axis_within_another_is_refused(folder, capsys, order):
    lines = ['"fleet.recovery" = [{ restart_s = 5.0 }]', '"fleet.recovery.restart_s" = [1.0, 700.0]'][::order]
    (folder / "grid.toml").write_text('cluster = "cluster.toml"\n[grid]\n' + "\n".join(lines))
    assert cli.main(["sweep", str(folder / "grid.toml"), "--out", str(folder / "out")]) == 2
    assert "grid.fleet.recovery: holds grid.fleet.recovery.restart_s" in capsys.readouterr().err


@pytest.fixture
def shrinking(folder):
    """A grid whose pool runs dry, before the work is done, wherever a node is retired at its first or second failure."""
    cluster = CLUSTER.replace("horizon_h = 240.0", "work_h = 9000.0")
    (folder / "cluster.toml").write_text(cluster + "[fleet.retirement]\nfailures = 1000\n")

    def over(*failures):
        axes = f'"fleet.retirement.failures" = {list(failures)}\n"fleet.recovery.restart_s" = [900.0, 1800.0]\n'
        (folder / "grid.toml").write_text(f'cluster = "cluster.toml"\nreplications = 2\n[grid]\n{axes}')
        return ["sweep", str(folder / "grid.toml"), "--out", str(folder / "out")]

    return over


@pytest.mark.parametrize("values", [[900, 1, 2, 800], [1, 800, 900, 2]])
def test_points_whose_work_is_never_done_leave_the_others_alone(folder, shrinking, capsys, values):
    assert cli.main(shrinking(*values)) == 1
    shown = capsys.readouterr()
    assert shown.err == (
        "error: 4 of 8 points could not be simulated; the column error of sweep.csv says why. At the point "
        "fleet.retirement.failures = 1, fleet.recovery.restart_s = 900.0: work_h: the pool has shrunk below "
        "job_nodes for good, and the work is never done; give horizon_h instead\n"
    )
    assert len(shown.out.splitlines()) == 3
    table = pd.read_parquet(folder / "out/sweep.parquet")
    assert list(table["fleet.retirement.failures"]) == [value for value in values for _ in range(2)]
    failed = table["fleet.retirement.failures"] <= 2
    assert list(table["error"].str.startswith("work_h: ")) == list(failed)
    assert (table["error"][~failed] == "").all()
    assert list(table["replications"]) == [0 if one else 2 for one in failed]
    results = table.drop(columns=["fleet.retirement.failures", "fleet.recovery.restart_s", "replications", "error"])
    assert results[failed].isna().all(axis=None)
    assert results[~failed].notna().all(axis=None)
    alone = fleet.simulate_key(fleet_document.read(folder / "cluster.toml"), fleet.key_of(1), 2)
    assert alone.training_time_h.mean() in list(table["training_time_h.mean"])  # 800, 900 and 1000 are never reached


def test_a_point_that_could_not_be_simulated_is_not_tried_again(folder, shrinking, monkeypatch, capsys):
    arguments = shrinking(1, 900)
    assert cli.main(arguments) == 1
    before, said = files_of(folder / "out"), capsys.readouterr().err
    monkeypatch.setattr(fleet, "simulate_key", None)
    assert cli.main(arguments) == 1
    assert files_of(folder / "out") == before
    assert capsys.readouterr().err == "4 of 4 points are done already\n" + said


def test_a_sweep_of_which_no_point_could_be_simulated_has_the_columns_of_any_other(folder, shrinking):
    cli.main(shrinking(900))
    columns = list(pd.read_csv(folder / "out/sweep.csv"))
    assert cli.main(shrinking(1)) == 1
    assert list(pd.read_csv(folder / "out/sweep.csv")) == columns


def test_a_folder_whose_name_is_not_utf_8(folder, capsys):
    out = os.fsdecode(os.fsencode(folder) + b"/o\xff")
    assert cli.main(["sweep", str(folder / "grid.toml"), "--out", out]) == 0
    assert [line.rsplit("/", 2)[1] for line in capsys.readouterr().out.splitlines()] == 3 * ["o\\udcff"]
    assert len(pd.read_csv(f"{out}/sweep.csv")) == 6


def test_a_folder_that_cannot_be_written_to(folder, capsys):
    (folder / "file").write_text("")
    assert cli.main(["sweep", str(folder / "grid.toml"), "--out", str(folder / "file" / "out")]) == 2
    assert "cannot be written to" in capsys.readouterr().err


def test_a_disk_that_is_full_is_said_in_the_systems_words(folder, monkeypatch, capsys):
    def full(*_, **__):
        raise OSError(28, "Error writing bytes to file. Detail: [errno 28] No space left on device")  # as of pyarrow

    monkeypatch.setattr(pd.DataFrame, "to_parquet", full)
    assert cli.main(["sweep", str(folder / "grid.toml"), "--out", str(folder / "out")]) == 1
    assert capsys.readouterr().err == f"error: --out {folder / 'out'}: No space left on device\n"


def test_a_scheduler_that_is_not_there_is_found_before_the_points_are_checked(folder, monkeypatch, capsys):
    monkeypatch.setattr(dask_scheduler, "REFUSED_S", 0.0)
    monkeypatch.setattr(sweep, "points", lambda *_: pytest.fail("the points are checked"))
    arguments = ["sweep", str(folder / "grid.toml"), "--out", str(folder / "out"), "--scheduler", "tcp://127.0.0.1:1"]
    assert cli.main(arguments) == 2
    assert "no Dask scheduler answers there" in capsys.readouterr().err


# A simulation ---------------------------------------------------------------------------------------------------------


def test_a_simulation_as_json(folder, capsys):
    assert cli.main(["simulate", str(folder / "cluster.toml"), "--replications", "30", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["version"], found["replications"]) == ("training-reliability/simulate", 1, 30)
    for estimate in (found["training_time_h"], found["effective_training_ratio"], found["failures"]):
        assert set(estimate) == {"mean", "sd", "low", "high"}
        assert estimate["low"] <= estimate["mean"] <= estimate["high"]
    lost = sum(estimate["mean"] for estimate in found["hours_lost"].values())
    rounding = 240 * 5e-7 + 1e-3  # of the ratio, and of each bin, to six significant digits
    assert lost == pytest.approx(240 * (1 - found["effective_training_ratio"]["mean"]), abs=rounding)
    assert found["seconds"] > 0
    assert found["partial"] is False


def test_one_replication_has_no_interval(folder, capsys):
    cli.main(["simulate", str(folder / "cluster.toml"), "--replications", "1", "--json"])
    estimate = json.loads(capsys.readouterr().out)["training_time_h"]
    assert [estimate[name] for name in ("sd", "low", "high")] == [None] * 3
    cli.main(["simulate", str(folder / "cluster.toml"), "--replications", "1"])
    assert "unknown" in capsys.readouterr().out


def test_the_tables_fit_a_terminal(folder, capsys):
    cli.main(["simulate", str(folder / "cluster.toml"), "--replications", "20"])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("| restart") for line in lines)


def test_the_same_bytes_from_workers_and_from_here(folder, monkeypatch):
    monkeypatch.setattr(fleet_runs, "BLOCK", 7)
    config = fleet_document.read(folder / "cluster.toml")
    here = fleet_runs.simulate(config, 5, 40)
    with distribute.place(workers=2) as client:
        there = fleet_runs.simulate(config, 5, 40, client)
        automatic = fleet_runs.simulate(config, 5, "auto", client)
    assert bytes_of(there) == bytes_of(here)
    assert bytes_of(automatic) == bytes_of(fleet_runs.simulate(config, 5, "auto"))


@pytest.mark.parametrize(("replications", "block"), [(1, 1), (31, 4), (199, 25), (1_000_000, 250)])
def test_every_worker_has_a_share_of_a_few_replications(replications, block):
    two = SimpleNamespace(scheduler_info=lambda: {"workers": {"one": {}, "other": {}}})
    assert fleet_runs._block(replications, two) == block


def test_interrupted_a_simulation_reports_what_it_has(folder):
    command = ("simulate", "cluster.toml", "--replications", "1000000", "--json")
    with interruptions.started(folder, *command) as process:
        interruptions.wait_for_work(process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode in interruptions.ENDS
    assert err == ""
    found = json.loads(out)
    assert found["partial"] is True
    assert 0 < found["replications"] < 1_000_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--replications", "0"], "--replications"),
        (["--replications", "many"], "auto or a whole number"),
        (["--seed", "-1"], "--seed"),
        (["--workers", "0"], "--workers 0"),
        (["--scheduler", "nowhere"], "--scheduler"),
        (["--workers", "1", "--scheduler", "tcp://127.0.0.1:1"], "not allowed with"),
    ],
)
def test_what_a_simulation_refuses(folder, arguments, said):
    done = run_in(folder, "simulate", "cluster.toml", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1", "x: unknown key"),
        ("", "is empty; it needs a [fleet] table"),
        (CLUSTER.replace("horizon_h = 240.0", "horizon_h = -1.0"), "horizon_h"),
        (CLUSTER.replace("job_nodes", "job_node"), "job_node"),
        ("[fleet", "is not TOML"),
        ("x = 1" + 5000 * "0", "is not TOML"),
        ("fleet = 3", "fleet = 3: must be a table"),
        ("[[fleet]]", "must be a table, [fleet]"),
    ],
)
def test_a_file_that_is_no_cluster_is_refused_in_one_line(folder, capsys, text, said):
    (folder / "cluster.toml").write_text(text)
    assert cli.main(["simulate", str(folder / "cluster.toml")]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "cluster.toml" in error
    assert error.count("\n") == 1
