"""A plan from logs: the examples' drawn truth is found, what is missing is unknown, and with aliases no name is left."""

import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from test_plan import keys

from reliability import (
    cluster,
    evidence,
    job_evidence,
    log_evidence,
    log_keys,
    log_reads,
    plan,
    plan_document,
    plan_report,
    plan_schema,
    plan_terminal,
    plan_text,
    report,
)
from reliability.aliases import Names
from reliability.cluster import ClusterError
from reliability.page import rounded
from reliability.plan_words import amount
from reliability.quantities import Quantity, Streams

ROOT = Path(__file__).parents[1]
MAKER = runpy.run_path(str(ROOT / "examples" / "make_logs.py"))
TAIL = """
[cluster]
gpus = 64
gpus_per_node = 8
[checkpoint]
write_s = 30
interval_min = 60
[recovery]
detection_s = 20
cold_restart_s = 400
standby_restart_s = 60
[target]
ettr = 0.9
horizon_days = 30
"""
ROWS = """\
node,start,end,class
web-7,2026-01-02T00:00:00Z,2026-01-02T06:00:00Z,gpu
web-7,2026-01-05T00:00:00Z,2026-01-05T01:00:00Z,GPU
db-2,2026-01-09T00:00:00Z,2026-01-10T00:00:00Z,software
"""


def file(tmp_path, failures, log=ROWS, more=""):
    (tmp_path / "log.csv").write_text(log, encoding="utf-8")
    path = tmp_path / "cluster.toml"
    path.write_text(f'name = "prod-east"\n[failures]\n{failures}\n{TAIL}{more}', encoding="utf-8")
    return path


def test_the_logs_are_what_their_generator_makes():
    for name, text in MAKER["make"]().items():
        assert (ROOT / "examples" / "logs" / name).read_text(encoding="utf-8") == text, name


def test_the_truth_of_the_incident_table_is_inside_the_intervals():
    found = plan_document.document(plan.make("example:incidents", draws=800))["failures"]
    mean = 1000 * MAKER["RATE"] * (134 + 2 * MAKER["LEMON"]) / 136
    rate, repair = found["rate_per_1000_node_days"], found["repair_h"]
    assert rate["low"] < mean < rate["high"]
    assert repair["low"] < 6 * np.exp(1.1**2 / 2) < repair["high"]
    for row in found["classes"]:
        assert row["share"]["low"] < MAKER["CLASSES"][row["class"]] < row["share"]["high"]
        assert row["standby_helps"] == (row["class"] != "software")
    assert found["logs"]["failures"]["incidents"] == len(MAKER["make"]()["incidents.csv"].splitlines()) - 1


def test_the_truth_of_accounting_xids_and_step_times():
    made = plan.make("example:slurm_xid", draws=800)
    found = plan_document.document(made)["failures"]
    accounting, kernel = MAKER["make"]()["sacct.txt"], MAKER["make"]()["kernel.log"]
    assert found["logs"]["failures"]["incidents"] == accounting.count("NODE_FAIL")
    rate = found["rate_per_1000_node_days"]
    assert rate["low"] < 1000 * MAKER["RATE"] < rate["high"]
    assert found["logs"]["classes"]["incidents"] == kernel.count("Xid") - kernel.count("): 31,")
    (slow,) = found["logs"]["step_times"]["slow"]
    assert slow["kind"] == "persistent" and abs(slow["since_step"] - 151) <= 2
    assert slow["ratio"] == pytest.approx(1 + MAKER["SLOWDOWN"], abs=0.01)
    # From step 151 of 240 on, less what the slowest of 32 healthy ranks takes anyway.
    assert 0.02 < np.median(made.evidence.drag) < MAKER["SLOWDOWN"] * 90 / 240


def test_what_a_log_does_not_say_is_unknown(tmp_path):
    made = plan.make(file(tmp_path, 'log = { path = "log.csv" }'), draws=200)
    said = " ".join(f"{u.what}: {u.instead} ({u.tells})" for u in made.evidence.unknown)
    assert "how many nodes the log watches: it is taken to watch the job's 8 (failures.log.nodes)" in said
    assert "when the log was begun and ended" in said
    assert made.evidence.classes == ("gpu", "software")
    assert made.now.state.on_node.tolist() == [True, False]


def test_assumed_nodes_are_said_in_the_answer(tmp_path):
    assumed = plan_document.document(plan.make(file(tmp_path, 'log = { path = "log.csv" }'), draws=200))
    assert "taken to watch the job's 8," in plan_text.answer(assumed)
    assert "the job's 8," in " ".join(plan_terminal.short(assumed).split())
    given = plan_document.document(plan.make(file(tmp_path, 'log = { path = "log.csv", nodes = 40 }'), draws=200))
    assert "taken to watch" not in plan_text.answer(given)


def test_the_records_own_mean_stands_beside_the_rate_that_is_drawn(tmp_path):
    found = plan_document.document(plan.make(file(tmp_path, 'log = { path = "log.csv", nodes = 40 }'), draws=200))
    log, text = found["failures"]["logs"]["failures"], plan_terminal.plan(found)
    assert "the record's own mean of these" in text
    assert (
        amount(log["rate_per_1000_node_days"]) in text and amount(found["failures"]["rate_per_1000_node_days"]) in text
    )
    for said in (text, plan_text.sections(found)["failures"]):
        assert "the mean of the whole record" in " ".join(said.split())


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("tell zone='…'", 'tell failures.log.options = { zone = "…" }'),
        ("as the file's times have none; or tell zone", 'or tell failures.log.options = { zone = "…" }'),
        ("to be told the order: day_first=True or False", "failures.log.options = { day_first = true }, or false"),
        ("tell the columns: columns={'start': '…'}", 'failures.log.options = { columns = { start = "…" } }'),
        ("tell decimal='.' or decimal=','", 'tell failures.log.options = { decimal = "." } or failures.log.options = { decimal = "," }'),
        ("node is not an option of read_csv: a, b are", "failures.log.options.node: not for a file of the format csv"),
        ("end before start", "end before start"),
    ],
)  # fmt: skip
def test_a_readers_message_names_the_keys_of_the_cluster_file(message, expected):
    assert expected in log_keys.as_keys(message, "failures.log")


def test_a_zone_that_a_log_does_not_tell_is_asked_for_in_the_cluster_files_words(tmp_path):
    naive = "node,start,end\n" + "".join(
        f"n{i},2026-01-{i + 10} 03:00:00,2026-01-{i + 10} 05:00:00\n" for i in range(9)
    )
    found = plan.make(file(tmp_path, 'log = { path = "log.csv", nodes = 40 }', naive), draws=200)
    said = str(found.evidence.logs["failures"]["rows"])
    assert 'options = { zone = "…" }' in said and "zone='" not in said
    mixed = naive + "n1,2026-01-21T03:00:00Z,2026-01-21T05:00:00Z\n"
    with pytest.raises(ClusterError, match=re.escape('failures.log.options = { zone = "Europe/Berlin" }')):
        plan.make(file(tmp_path, 'log = { path = "log.csv", nodes = 40 }', mixed), draws=200)


def test_a_log_that_is_not_there(tmp_path):
    with pytest.raises(ClusterError) as caught:
        plan.make(file(tmp_path, 'log = { path = "lgo.csv" }'), draws=200)
    assert str(caught.value).startswith("failures.log: 'lgo.csv': there is no such file in")
    assert f"no such file in {tmp_path}" in str(caught.value) and "did you mean log.csv?" in str(caught.value)
    with pytest.raises(ClusterError, match="there is no folder"):
        plan.make(file(tmp_path, 'log = { path = "logs/log.csv" }'), draws=200)
    with pytest.raises(ClusterError) as caught:
        plan.make(file(tmp_path, 'log = { path = "lgo.csv" }'), draws=200, anonymise=True)
    assert "no such file" in str(caught.value)
    assert "csv" not in str(caught.value) and str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    ("training", "tells"), [(False, "training log's checkpoint lines"), (True, "past checkpoints")]
)
def test_a_training_log_that_is_given_is_not_asked_for(training, tells):
    from types import SimpleNamespace

    read, unknown = cluster.read("example:llama3"), []
    exact = read.checkpoint.model_copy(update={"write_s": Quantity(30.0), "write_gb_s": None})
    evidence._exact_times(
        SimpleNamespace(recovery=read.recovery, checkpoint=exact, cluster=read.cluster, training=training or None),
        unknown,
    )
    assert any(tells in u.tells for u in unknown)


def test_no_failure_is_a_bound_and_no_zero(tmp_path):
    window = 'log = { path = "log.csv", nodes = 8, observed_from = 2026-01-01, observed_to = 2026-02-01 }'
    made = plan.make(file(tmp_path, window, log="node,start,end,class\n"), draws=4000)
    days = 8 * 31 / 1000
    assert np.quantile(24_000 * made.evidence.rate, 0.975) == pytest.approx(2.51 / days, rel=0.1)
    assert (made.evidence.rate > 0).all()
    assert made.evidence.repair_h is None
    found = rounded(plan_document.document(made))
    json.dumps(found, allow_nan=False)
    rate, every = found["failures"]["rate_per_1000_node_days"], found["failures"]["job_mtbf_h"]
    assert (rate["value"], rate["low"]) == (None, 0) and rate["high"] == pytest.approx(-np.log(0.05) / days, rel=1e-4)
    assert (every["value"], every["high"]) == (None, None)
    assert every["low"] == pytest.approx(24 * 31 / -np.log(0.05), rel=1e-4)
    assert "only a bound is known" in plan_text.answer(found)
    assert "below 12.1" in plan_terminal.plan(found) and "above 248 h" in plan_terminal.plan(found)
    about = [u.what for u in made.evidence.unknown]
    assert any("no failure" in what for what in about) and sum("stays away" in what for what in about) == 1


@pytest.mark.parametrize(
    ("failures", "log", "words"),
    [
        ('log = { path = "none.csv" }', ROWS, ["failures.log", "none.csv"]),
        ('log = { path = "log.csv" }', "", ["failures.log", "log.csv", "empty"]),
        ('log = { path = "log.csv", options = { dayfirst = true } }', ROWS, ["failures.log", "dayfirst", "day_first"]),
        ('log = { path = "log.csv", system = "20" }', ROWS, ["failures.log.system", "20"]),
        ('log = { path = "log.csv", nodes = 1 }', ROWS, ["failures.log", "nodes = 1"]),
        ('log = { path = "log.csv", format = "slurm" }', ROWS, ["failures.log", "log.csv"]),
        ('log = { path = "log.csv", nodes = 8 }', ROWS.split("db-2")[0].rsplit("web", 1)[0], ["does not say how often", "observed_from"]),
        ('rate_per_1000_node_days = 5\nclasses_log = { path = "log.csv" }', "node,start,end,class\n", ["failures.classes_log", "no classes"]),
    ],
)  # fmt: skip
def test_a_log_that_cannot_be_used_is_refused_in_a_line(tmp_path, failures, log, words):
    path = file(tmp_path, failures, log)
    for hidden in (False, True):
        with pytest.raises(ClusterError) as caught:
            plan.make(path, draws=100, anonymise=hidden)
        assert "\n" not in str(caught.value)
        if hidden:
            assert not re.search(r"web-7|log\.csv|none\.csv", str(caught.value))
        else:
            assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_second_log_for_the_classes(tmp_path):
    made = plan.make(file(tmp_path, 'rate_per_1000_node_days = 5\nclasses_log = { path = "log.csv" }'), draws=400)
    assert made.evidence.classes == ("gpu", "software")
    assert made.evidence.shares.mean(axis=0) == pytest.approx([2.5 / 4, 1.5 / 4], abs=0.03)


def test_a_training_log_gives_what_the_job_kept(tmp_path):
    lines = [f"s:{i} trl:{4 - i / 100:.4f} lr:0.001 norm:0.3" for i in range(60)]
    (tmp_path / "main.log").write_text("\n".join(lines) + "\n")
    made = plan.make(file(tmp_path, "rate_per_1000_node_days = 5", more='[training]\nlog = "main.log"\n'), draws=100)
    about = made.evidence.logs["training"]
    assert about["goodput"] is None and "no stamps" in about["lines"][0]


def test_slow_ranks_cost_what_the_steps_without_them_save():
    (_, steps), ranks = (0, 200), 4
    seconds = np.full((steps, ranks), 10.0)
    seconds[100:, 2] = 13.0
    from types import SimpleNamespace

    times = SimpleNamespace(steps=list(range(steps)), ranks=list(range(ranks)), seconds=seconds)
    found = SimpleNamespace(slow=[SimpleNamespace(ranks=(2,))], excluded=[])
    drag, at_end = job_evidence._drag(times, found, Streams(1, 4000))
    assert np.median(drag) == pytest.approx(0.15, abs=0.02) and at_end == pytest.approx(0.3)
    assert drag.std() > 0.01
    none, _ = job_evidence._drag(times, SimpleNamespace(slow=[], excluded=[]), Streams(1, 10))
    assert set(none) == {0.0}


DATA = ROOT.parent / "shared" / "data"


@pytest.mark.skipif(not DATA.is_dir(), reason="the public records are not beside the project")
def test_a_real_record_of_two_systems(tmp_path):
    record = DATA / "lanl" / "systems-16-20.csv"
    with pytest.raises(ClusterError, match="choose one by failures.log.system"):
        plan.make(file(tmp_path, f'log = {{ path = "{record}" }}'), draws=100)
    made = plan.make(file(tmp_path, f'log = {{ path = "{record}", system = "20" }}'), draws=1000)
    about = made.evidence.logs["failures"]
    assert 2478 - 20 <= about["incidents"] <= 2478  # duplicates dropped, overlapping outages of one node merged
    rate = about["rate_per_1000_node_days"]
    assert rate["low"] < 3.54 < rate["high"]


CELLS = (
    "imports",
    "parameters",
    "compute",
    "answer",
    "failures",
    "logs",
    "unknown",
    "hours",
    "levers",
    "figure",
    "card",
)


@pytest.mark.parametrize("bound", [False, True])
def test_the_mean_repair_is_the_records_own_unless_that_is_a_bound(bound):
    from types import SimpleNamespace

    repairs = SimpleNamespace(log_mean=1.0, log_sigma=1.2, mean_h=9.0, mean_is_bound=bound)
    rng = np.random.default_rng(2)
    drawn = (rng.normal(1.0, 0.1, 4000), 1.2 * np.exp(rng.normal(0, 0.1, 4000)))
    fit = SimpleNamespace(repairs=repairs, sample_repair=lambda *_: drawn)
    hours = log_evidence._repair(fit, Streams(1, 4000))
    assert np.median(hours) == pytest.approx(np.exp(1 + 1.2**2 / 2) if bound else 9.0, rel=0.02)
    # By the delta method: 0.1 of the mean, and 1.44 times 0.1 of the spread; of a plain mean more.
    wider = 1.0 if bound else np.sqrt(np.expm1(1.44) / (1.44 + 1.44**2 / 2))
    assert np.log(hours).std() == pytest.approx(wider * np.hypot(0.1, 0.144), rel=0.05)


# The report -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """One whole report, with aliases, of a cluster whose names would show."""
    out = tmp_path_factory.mktemp("report")
    lemon = "".join(
        f"web-7,2026-01-{day:02d}T{hour:02d}:00:00Z,2026-01-{day:02d}T{hour + 1:02d}:00:00Z,gpu\n"
        for day in range(10, 25)
        for hour in (3, 9, 15)
    )
    path = file(
        out,
        'log = { path = "log.csv", nodes = 40, observed_from = 2026-01-01, observed_to = 2026-02-01 }',
        ROWS + lemon,
    )
    load = report._load

    def few_cells(page):  # the whole page is run elsewhere
        notebook = load(page)
        notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "markdown" or cell.id in CELLS]
        return notebook

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "_load", few_cells)
        run = plan_report.write(path, out / "out", draws=150, anonymise=True, progress=False)
    return out, run


def test_the_report_is_three_files_that_need_nothing(written):
    from onefile_readers import findings

    out, run = written
    assert run.warnings == ()
    assert [path.name for path in run.files] == ["plan.json", "report.html", "report.ipynb"]
    assert findings((out / "out" / "report.html").read_text(encoding="utf-8")) == []
    document = json.loads((out / "out" / "plan.json").read_text(encoding="utf-8"))
    assert keys(document) <= set(plan_schema.SCHEMA)
    assert document["schema"] == plan_schema.SCHEMA_NAME and document["draws"] == 150


def test_no_name_of_the_cluster_is_left_in_it(written):
    out, run = written
    for path in run.files:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"web-7|db-2|prod-east|log\.csv|/tmp/|" + re.escape(str(out)), text), path.name
    html = (out / "out" / "report.html").read_text(encoding="utf-8")
    assert "cluster-1" in html and "file-1" in html


def test_what_belongs_to_the_book_is_not_in_a_report(written):
    html = (written[0] / "out" / "report.html").read_text(encoding="utf-8")
    assert "Try it" not in html and "Held against published results" not in html
    assert "Where the hours go" in html


def test_a_report_says_of_what_it_is_and_has_no_code(written):
    from bs4 import BeautifulSoup

    page = BeautifulSoup((written[0] / "out" / "report.html").read_text(encoding="utf-8"), "html.parser")
    head = {row.th.get_text(): row.td.get_text() for row in page.select("header table.about tr")}
    assert head["Cluster file"] == "cluster.toml" and head["Draws"] == "150, seed 7"
    assert head["The log of failures"] == "file-1, 2026-01-01 to 2026-02-01"
    assert "Published" not in page.header.get_text() and not page.find_all("details")
    assert "plan.make" not in page.main.get_text() and page.main.get_text().count("report.ipynb") == 1
    assert "The card" not in page.main.get_text()
    notebook = json.loads((written[0] / "out" / "report.ipynb").read_text(encoding="utf-8"))
    assert any("model.compute" in "".join(cell["source"]) for cell in notebook["cells"])


def test_a_report_knows_the_way_from_its_folder_to_the_cluster_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "conf").mkdir()
    for given in ("conf/c.toml", str(tmp_path / "conf/c.toml")):
        assert plan_report._shown(given, tmp_path / "out" / "a", False) == "../../conf/c.toml"
        assert plan_report._shown(given, tmp_path / "out", True) == "cluster.toml"
    assert plan_report._shown("/elsewhere/c.toml", tmp_path, False) == "c.toml"
    assert plan_report._shown("example:llama3", tmp_path, False) == "example:llama3"


def test_the_notebook_of_a_report_says_what_it_needs(written):
    notebook = json.loads((written[0] / "out" / "report.ipynb").read_text(encoding="utf-8"))
    first = "".join(notebook["cells"][0]["source"])
    assert "To run again" in first and "cluster.toml" in first and "put a copy there" in first
    assert "To run again" not in (written[0] / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "quoting", [json.dumps, repr, lambda text: json.dumps(text, ensure_ascii=False).replace("ö", "\\xf6")]
)
def test_no_path_is_left_however_it_was_quoted(quoting):
    from nbformat.v4 import new_code_cell, new_notebook

    given = '/home/o\'brien/ö "q"/c.toml'
    cell = new_code_cell(f"cluster_file = {quoting(given)}\ndraws = 150\n", metadata={"tags": ["injected-parameters"]})
    made = report.Made("your_cluster", new_notebook(cells=[cell]), {"parameters": {"cluster_file": given}}, [])
    made.without_path("cluster_file", plan_report._shown(given, Path("out"), True))
    assert made.notebook.cells[0].source == 'cluster_file = "cluster.toml"\ndraws = 150\n'


def test_the_days_of_a_log_without_a_calendar_are_unknown():
    from types import SimpleNamespace

    log = SimpleNamespace(origin=None)
    assert log_evidence._dates(log, SimpleNamespace(record_s=(0.0, 10.0))) == {"begins": None, "ends": None}


def test_a_report_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    out = tmp_path / "out"
    out.mkdir()
    (out / "plan.json").write_text("old")

    def fails(*_, **__):
        raise report.RunFailed("cell [3] failed")

    monkeypatch.setattr(report, "make", fails)
    with pytest.raises(report.RunFailed):
        plan_report.write("example:llama3", out, draws=100, progress=False)
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "plan.json"]
    assert (out / "plan.json").read_text() == "old"


def test_a_host_named_like_a_word_of_the_report_does_not_spoil_it():
    from nbformat.v4 import new_markdown_cell, new_notebook

    known = plan_report.own_words(new_notebook(cells=[new_markdown_cell("Something whimsical")]))
    assert {"standby", "restart", "whimsical", "checkpoint"} <= known
    names = Names(hidden=True)
    names.learn(nodes=["standby", "web-7"])
    assert names.conceal("a standby on web-7", known) == "a standby on node-2"


def test_every_name_of_a_log_has_an_alias_even_where_it_does_not_show():
    names = Names(hidden=True)
    streams = Streams(1, 100)
    made = cluster.read("example:slurm_xid")
    log_evidence.failures(made, streams, names, log_reads.Reads())
    assert "h003" not in names.conceal("a job ran on h003")
