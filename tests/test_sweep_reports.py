"""The page of each point of a sweep: what it says, that none is made twice, and what an interruption leaves."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import interruptions
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from onefile_readers import findings
from test_sweep import CLUSTER as FLEET

from reliability import __main__ as cli
from reliability import cluster, cluster_fields, fleet_document, grid, report, sweep, sweep_reports
from reliability.commands.plan import planned
from reliability.page import rounded

FLEET_GRID = """
cluster = "fleet.toml"
replications = 20
seed = 3
[grid]
"fleet.warm_standbys" = [0, 2]
"""
CLUSTER = """
[cluster]
gpus = 128
gpus_per_node = 8
[failures.log]
path = "logs/failures.csv"
nodes = 16
observed_from = 2026-01-01T00:00:00Z
[checkpoint]
write_s = { value = 45, low = 30, high = 90 }
interval_min = 60
[recovery]
detection_s = 60
cold_restart_s = 600
[target]
ettr = 0.9
horizon_days = 10
"""
CLUSTER_GRID = """
cluster = "cluster.toml"
replications = 20
[grid]
"checkpoint.interval_min" = [30]
"""
ROWS = [f"n{i % 5},2026-01-{i + 1:02d}T00:00:00Z,2026-01-{i + 1:02d}T0{i % 7 + 1}:00:00Z,gpu" for i in range(20)]


def put(folder):
    """Write the settings files, the grids and the log."""
    (folder / "logs").mkdir()
    (folder / "logs/failures.csv").write_text("\n".join(["node,start,end,class", *ROWS]))
    for name, text in (
        ("fleet", FLEET),
        ("fleets", FLEET_GRID),
        ("cluster", CLUSTER),
        ("clusters", CLUSTER_GRID),
    ):
        (folder / f"{name}.toml").write_text(text)
    return folder


@pytest.fixture
def folder(tmp_path):
    return put(tmp_path)


def swept(folder, name, *more):
    return cli.main(["sweep", str(folder / f"{name}.toml"), "--out", str(folder / "out"), "--reports", *more])


@pytest.fixture(scope="module")
def fleets(tmp_path_factory):
    """A sweep over a [fleet] table, with its reports."""
    folder = put(tmp_path_factory.mktemp("fleets"))
    assert swept(folder, "fleets") == 0
    return folder


@pytest.fixture(scope="module")
def clusters(tmp_path_factory):
    """A sweep over a cluster file with a log, with its report."""
    folder = put(tmp_path_factory.mktemp("clusters"))
    assert swept(folder, "clusters") == 0
    return folder


def made(folder):
    """Return the folders of reports by the settings that they stand for."""
    table = pd.read_csv(folder / "out/reports.csv", keep_default_na=False)
    assert list(table.columns[-2:]) == ["report", "error"]
    return [(folder / "out" / row["report"]).parent for _, row in table.iterrows()]


def content(report):
    return {path.name: path.read_bytes() for path in report.iterdir()}


@pytest.fixture
def quick(monkeypatch):
    """In place of papermill's pages: one line each, and a list of what was made."""
    pieces = []

    def make(piece):
        pieces.append(piece)
        return {"report.html": piece[1].encode()}

    monkeypatch.setattr(sweep_reports, "make", make)
    return pieces


# What a report says ---------------------------------------------------------------------------------------------------


def test_the_report_of_a_fleet_has_the_numbers_of_the_sweep(fleets):
    rows = pd.read_parquet(fleets / "out/sweep.parquet")
    assert list(rows["fleet.warm_standbys"]) == [0, 2]
    for (_, row), place in zip(rows.iterrows(), made(fleets), strict=True):
        assert sorted(content(place)) == ["fleet.toml", "report.html", "report.ipynb", "simulate.json"]
        found = json.loads((place / "simulate.json").read_text())
        assert found["schema"] == "training-reliability/simulate"
        ratio = found["effective_training_ratio"]
        assert ratio == rounded({part: row[f"effective_training_ratio.{part}"] for part in ratio})
        html = (place / "report.html").read_text()
        assert f"{100 * row['effective_training_ratio.mean']:.2f}%" in html
        assert f"warm_standbys = {row['fleet.warm_standbys']:.0f}" in html
        assert "Traceback (most recent" not in html
        assert html.count("<img") == 1
        config = fleet_document.read(place / "fleet.toml")
        assert found["fleet"] == rounded(config.model_dump(mode="json"))
        assert config.warm_standbys == row["fleet.warm_standbys"]


def test_the_report_of_a_fleet_has_no_code_and_its_results_before_its_settings(fleets):
    place = made(fleets)[0]
    page = BeautifulSoup((place / "report.html").read_text(encoding="utf-8"), "html.parser")
    assert not page.find_all(["pre", "details"])
    assert findings(str(page)) == []
    assert [title.get_text() for title in page.main.find_all("h2")] == [
        "The results",
        "Where the hours go",
        "The settings",
        "Where it holds and where not",
    ]
    last = page.main.find_all("p")[-1].get_text()
    assert "report.ipynb" in last and "simulate.json has the numbers for other programs" in last
    assert "model.compute" in (place / "report.ipynb").read_text(encoding="utf-8")


def test_the_report_of_a_cluster_is_that_of_its_plan(clusters):
    (report,) = made(clusters)
    assert sorted(content(report)) == ["cluster.toml", "plan.json", "report.html", "report.ipynb"]
    found = json.loads((report / "plan.json").read_text())
    assert found == planned(report / "cluster.toml")
    assert found["interval"]["now_min"] == 30
    assert "interval_min = 30" in (report / "report.html").read_text()


def test_the_settings_beside_a_report_make_its_point(clusters):
    (report,) = made(clusters)
    read = cluster.read(report / "cluster.toml")
    assert read.path(read.failures.log.path).samefile(clusters / "logs/failures.csv")
    (point,) = sweep.points(grid.read(clusters / "clusters.toml"))
    assert fleet_document.read(report / "cluster.toml") == point.fleet


def test_no_report_has_a_path_of_this_machine(fleets, clusters):
    for folder in (fleets, clusters):
        for place in made(folder):
            for name, text in content(place).items():
                assert str(folder).encode() not in text, name
                assert b"/tmp/" not in text, name


def test_the_notebook_of_a_report_runs_again_where_it_lies(fleets, monkeypatch):
    report_folder = made(fleets)[1]
    monkeypatch.chdir(report_folder)
    again = report.make("fleet_report", {"fleet_file": "fleet.toml", "replications": 20, "seed": 3})
    assert ".json`" not in again.ipynb()  # it is another file in a sweep than of `run`
    assert again.results["results"]["simulate"] == json.loads((report_folder / "simulate.json").read_text())


def test_workers_make_the_same_bytes(fleets):
    command = ["sweep", "fleets.toml", "--out", "there", "--reports", "--workers", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "reliability", *command], cwd=fleets, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    for place in made(fleets):
        assert content(fleets / "there/reports" / place.name) == content(place)


def test_the_files_of_a_cluster_file_are_those_that_its_fields_call_so():
    keys = cluster.keys()
    named = {(*t.split("."), key) for t, key, field in keys if "relative to the cluster file" in field.description}
    assert named == set(cluster_fields.FILES)


# Nothing twice, nothing half ------------------------------------------------------------------------------------------


def test_a_report_that_is_there_is_not_made_again(folder, quick):
    assert swept(folder, "fleets") == 0
    assert len(quick) == 2
    before = [content(place) for place in made(folder)]
    assert swept(folder, "fleets") == 0
    assert len(quick) == 2
    assert [content(place) for place in made(folder)] == before
    (folder / "fleets.toml").write_text(FLEET_GRID.replace("[0, 2]", "[0, 2, 4]"))
    assert swept(folder, "fleets") == 0
    assert len(quick) == 3
    assert len(made(folder)) == 3


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("logs/failures.csv", "\n".join(["node,start,end,class", *ROWS[:-1]])),
        ("logs/failures.csv", "\n".join(["node,start,end,class", *ROWS]).replace("n1,", "n11,")),  # not in the fleet
        ("cluster.toml", CLUSTER.replace("ettr = 0.9", "ettr = 0.95")),  # not in the fleet
        ("clusters.toml", CLUSTER_GRID.replace("[30]", "[31]")),
    ],
)
def test_what_a_report_depends_on_makes_it_another_one(folder, quick, name, text):
    swept(folder, "clusters")
    before = made(folder)
    (folder / name).write_text(text)
    swept(folder, "clusters")
    assert len(quick) == 2
    assert made(folder) != before


def test_a_report_that_fails_leaves_the_others_alone(folder, monkeypatch, capsys):
    run = report.make

    def fails_once(page, parameters, *more):
        if fleet_document.read(parameters["fleet_file"]).warm_standbys == 0:
            raise ValueError("no\nluck")
        return run(page, parameters, *more)

    monkeypatch.setattr(report, "make", fails_once)
    assert swept(folder, "fleets") == 1
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1
    assert "1 of 2 reports could not be made; reports.csv says why. At warm_standbys = 0: ValueError: no luck" in shown.err
    table = pd.read_csv(folder / "out/reports.csv", keep_default_na=False)
    assert list(table["error"]) == ["ValueError: no luck", ""]
    assert table["report"][0] == ""
    assert [path.parent for path in (folder / "out/reports").glob("*/report.html")] == [made(folder)[1]]
    pieces = []
    monkeypatch.setattr(sweep_reports, "make", lambda piece: pieces.append(piece) or {"report.html": b""})
    assert swept(folder, "fleets") == 0
    assert len(pieces) == 1  # what failed is tried again


def test_a_point_that_could_not_be_simulated_has_no_report_and_its_reason_once(folder, quick, monkeypatch, capsys):
    tables = FLEET.replace("horizon_h = 240.0", "work_h = 9000.0") + "[fleet.retirement]\nfailures = 1000\n"
    (folder / "fleet.toml").write_text(tables)
    axes = '"fleet.retirement.failures" = [1, 900]'
    (folder / "fleets.toml").write_text(FLEET_GRID.replace('"fleet.warm_standbys" = [0, 2]', axes).replace("20", "2"))
    assert swept(folder, "fleets") == 1
    said = capsys.readouterr().err
    assert said.startswith("error: 1 of 2 points could not be simulated; the column error of sweep.csv says why.")
    assert said.count("\n") == said.count("error:") == 1
    assert len(quick) == 1
    table = pd.read_csv(folder / "out/reports.csv", keep_default_na=False)
    assert [reason.startswith("work_h: the pool has shrunk") for reason in table["error"]] == [True, False]
    assert [place != "" for place in table["report"]] == [False, True]
    assert swept(folder, "fleets") == 1  # and is not tried again
    assert capsys.readouterr().err == "2 of 2 points are done already\n" + said
    assert len(quick) == 1
    monkeypatch.setattr(sweep_reports, "make", lambda piece: "no luck")
    for place in (folder / "out/reports").iterdir():
        shutil.rmtree(place)
    assert swept(folder, "fleets") == 1
    both = capsys.readouterr().err.splitlines()[1:]
    assert both == [f"{said.strip()}. 1 of 1 reports could not be made; reports.csv says why. At failures = 900: no luck"]


def test_a_report_that_cannot_be_written_leaves_no_half_of_it(folder, quick, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sweep_reports, "publish", full)
    assert swept(folder, "fleets") == 1
    assert [path.name for path in (folder / "out").iterdir() if "report" in path.name] == []


# The first report is there at once; only the second is made as it is.
FIRST_AT_ONCE = """
from itertools import count
from reliability import sweep_reports
made, number = sweep_reports.make, count()
sweep_reports.make = lambda piece: made(piece) if next(number) else {"report.html": b"first"}
"""


def test_interrupted_the_reports_go_on_where_they_stopped(folder, quick):
    temporary = folder / "temporary"
    temporary.mkdir()
    command = ("sweep", "fleets.toml", "--out", "out", "--reports")
    with interruptions.started(folder, *command, first=FIRST_AT_ONCE, temporary=temporary) as process:
        deadline = time.monotonic() + 120
        while len(list(temporary.glob("reliability-*"))) < 2:  # of the second report and of its kernel
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.05)
        time.sleep(1)  # it starts, or works: either ends alike
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode in interruptions.ENDS
    said = "interrupted: 2 of 2 points and 1 of 2 reports are kept; the same command goes on"
    assert [line for line in err.splitlines() if line != "working"] == [said]
    assert list(temporary.iterdir()) == []
    (first,) = (folder / "out/reports").iterdir()
    assert content(first)["report.html"] == b"first"
    assert swept(folder, "fleets") == 0
    assert len(quick) == 1
    assert content(first)["report.html"] == b"first"
    assert len(made(folder)) == 2
    assert not [path for path in (folder / "out").rglob("*") if path.name.startswith(".")]


def test_the_examples_of_grids_can_be_swept():
    files = sorted((Path(__file__).parents[1] / "examples/grids").glob("*.toml"))
    assert len(files) >= 2
    for file in files:
        read = grid.read(file)
        points = sweep.points(read)
        assert len({member.folder for member in sweep_reports.members(read, points, "out")}) == len(points) == len(read)


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "extra"), [("papermill", "run"), ("tomli_w", "run"), ("dask", "cluster"), ("sphinx", "run")]
)
def test_a_package_that_is_missing_is_named_in_one_line(folder, module, extra):
    code = f"import sys; sys.modules['{module}'] = None; from reliability.__main__ import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "sweep", "fleets.toml", "--out", "out", "--reports"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"error: {module} is not installed, which this needs: pip install 'training-reliability[{extra}]'\n"
    assert not (folder / "out").exists() or module == "dask"


@pytest.mark.parametrize("given", ["a b/../c", "x" * 200, "\x1b[31m", "\N{GREEK SMALL LETTER ALPHA}"])
def test_a_setting_of_any_text_makes_a_folder_and_a_comment(given, folder, quick):
    axes = f'"fleet.faults" = [[{{ name = {json.dumps(given)} }}]]'
    (folder / "fleets.toml").write_text(FLEET_GRID.replace('"fleet.warm_standbys" = [0, 2]', axes))
    read = grid.read(folder / "fleets.toml")
    (member,) = sweep_reports.members(read, sweep.points(read), folder / "out")
    assert sweep_reports.run([member]) == {}
    report = member.folder
    assert report.parent == folder / "out/reports"
    assert len(report.name) <= sweep_reports.MOST_LETTERS + 9
    assert fleet_document.read(report / "fleet.toml").faults[0].name == given
