"""Sweeps and simulations from the command line: the same numbers wherever they are computed, nothing done twice."""

import json
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from reliability import __main__ as cli
from reliability import distribute, fleet, fleet_config, fleet_document, fleet_runs, grid, sweep
from reliability.errors import BadInput
from reliability.fleet_result import bytes_of

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
    pd.testing.assert_frame_equal(pd.read_csv(folder / "out/sweep.csv"), table, check_dtype=False, rtol=1e-15)
    for _, row in table.iterrows():  # each point is what the simulation gives for it alone
        tables = grid.read(folder / "grid.toml").document(
            {"fleet.warm_standbys": int(row["fleet.warm_standbys"]), "fleet.checkpoint.interval_s": row.iloc[1]}
        )
        alone = fleet.simulate_key(fleet_config.build(tables["fleet"]), sweep.draw_key(3), 20)
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
    command = [sys.executable, "-m", "reliability", "sweep", "grid.toml", "--out", "out"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    kept, deadline = folder / "out" / sweep.KEPT, time.monotonic() + 60
    while not (kept.exists() and kept.read_bytes()) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "are kept; the same command goes on" in err
    assert "Traceback" not in err
    first = kept.read_bytes()
    assert 1 <= first.count(b"\n") < 6
    assert run_in(folder, "sweep", "grid.toml", "--out", "out").returncode == 0
    assert kept.read_bytes().startswith(first)
    assert kept.read_bytes().count(b"\n") == 6


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


def test_a_folder_that_cannot_be_written_to(folder, capsys):
    (folder / "file").write_text("")
    assert cli.main(["sweep", str(folder / "grid.toml"), "--out", str(folder / "file" / "out")]) == 2
    assert "cannot be written to" in capsys.readouterr().err


# A simulation ---------------------------------------------------------------------------------------------------------


def test_a_simulation_as_json(folder, capsys):
    assert cli.main(["simulate", str(folder / "cluster.toml"), "--replications", "30", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["version"], found["replications"]) == ("training-reliability/simulate", 1, 30)
    for estimate in (found["training_time_h"], found["effective_training_ratio"], found["failures"]):
        assert set(estimate) == {"mean", "sd", "low", "high"}
        assert estimate["low"] <= estimate["mean"] <= estimate["high"]
    lost = sum(estimate["mean"] for estimate in found["hours_lost"].values())
    assert lost == pytest.approx(240 * (1 - found["effective_training_ratio"]["mean"]))
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


def test_interrupted_a_simulation_reports_what_it_has(folder):
    command = [sys.executable, "-m", "reliability", "simulate", "cluster.toml", "--replications", "1000000", "--json"]
    for wait in (4, 12, 36):  # a busy machine may need longer until there is something to report
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "Traceback" not in err
        if out:
            break
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
    ],
)
def test_a_file_that_is_no_cluster_is_refused_in_one_line(folder, capsys, text, said):
    (folder / "cluster.toml").write_text(text)
    assert cli.main(["simulate", str(folder / "cluster.toml")]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "cluster.toml" in error
    assert error.count("\n") == 1
