"""The command `plan`: tables, JSON, two plans, and what is refused."""

import argparse
import io
import json
import os
import sys

import pytest
from test_plan import keys

from reliability import __main__ as cli
from reliability import plan_document, plan_schema
from reliability.commands import plan as command
from reliability.errors import BadInput

FILE = """\
name = "prod-east"
[cluster]
gpus = 64
gpus_per_node = 8
[failures]
rate_per_1000_node_days = {{ value = {rate}, low = 5, high = 8.5 }}
[checkpoint]
write_s = 30
[recovery]
detection_s = 20
cold_restart_s = 400
[target]
ettr = 0.9
horizon_days = 30
"""


def run(*arguments):
    parser = argparse.ArgumentParser()
    command.add(parser.add_subparsers(required=True))
    return command.main(parser.parse_args(["plan", *map(str, arguments)]))


@pytest.fixture
def files(tmp_path):
    made = []
    for name, rate in (("a.toml", 6.5), ("b.toml", 5.1)):
        (tmp_path / name).write_text(FILE.format(rate=rate), encoding="utf-8")
        made.append(tmp_path / name)
    return made


def test_tables_by_default(files, capsys):
    assert run(files[0], "--draws", 200) == 0
    shown = capsys.readouterr()
    assert shown.err == "" and "Where the hours go" in shown.out and "prod-east" in shown.out
    assert max(map(len, shown.out.split("\n"))) <= 80


def test_json_by_request(files, capsys):
    assert run(files[0], "--json", "--draws", 200, "--seed", 3) == 0
    document = json.loads(capsys.readouterr().out)
    assert keys(document) <= set(plan_schema.SCHEMA)
    assert (document["draws"], document["seed"]) == (200, 3)
    assert document == command.planned(files[0], 200, 3)


def test_two_plans(files, capsys, tmp_path):
    assert run(*files, "--json", "--draws", 200) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "training-reliability/plan-compare"
    (row,) = [row for row in found["differences"] if row["what"] == "ettr_now"]
    assert row["chance_second_better"] > 0.9
    assert run(*files, "--out", tmp_path / "out", "--draws", 200, "--anonymise") == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["compare.json", "compare.md"]
    said = capsys.readouterr().out
    assert "Second less first" in said and "compare.json" in said and "prod-east" not in said
    text = (tmp_path / "out" / "compare.md").read_text(encoding="utf-8")
    assert "prod-east" not in text and "cluster-1" in text


def test_a_report_is_announced_with_its_answer(files, capsys, tmp_path, monkeypatch):
    from reliability import plan_report, report

    def write(path, out, draws, seed, hidden):
        made = tmp_path / "plan.json"
        made.write_text(json.dumps(command.planned(path, draws, seed, hidden)), encoding="utf-8")
        return report.Run((made, tmp_path / "report.html"), ())

    monkeypatch.setattr(plan_report, "write", write)
    assert run(files[0], "--out", tmp_path, "--draws", 200) == 0
    said = capsys.readouterr().out.splitlines()
    assert "prod-east" in said[0] and any("Saved over the run" in line for line in said)
    assert [line.rsplit("/")[-1] for line in said[-2:]] == ["plan.json", "report.html"] and len(said) < 16
    assert run(files[0], "--out", tmp_path, "--draws", 200, "--json") == 0
    assert json.loads(capsys.readouterr().out)["name"] == "prod-east"


def test_a_certain_loss_still_fits_the_terminal():
    from reliability import cluster, plan, plan_terminal

    text = FILE.format(rate=6.5).replace("{ value = 6.5, low = 5, high = 8.5 }", "1e6")
    text = text.replace(
        "cold_restart_s = 400", "cold_restart_s = 400\nstandby_restart_s = 9\nrepair_h = 5\nstandby_nodes = 1"
    )
    shown = plan_terminal.plan(plan_document.document(plan.make(cluster.parse(text), draws=100)))
    assert "100.0% (100.0% to 100.0%)" in shown and max(map(len, shown.split("\n"))) <= 80


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.toml"], ["none.toml", "cannot be read"]),
        (["example:nothing"], ["no such example", "llama3"]),
        (["a", "b", "c"], ["3 cluster files"]),
        (["example:llama3", "--draws", "5"], ["--draws 5", "from 100 to 200000"]),
        (["example:llama3", "--seed", "-1"], ["--seed -1"]),
    ],
)
def test_what_is_refused(arguments, words):
    with pytest.raises(BadInput) as caught:
        run(*arguments)
    assert all(word in str(caught.value) for word in words)
    assert "\n" not in str(caught.value)


def test_with_aliases_an_error_does_not_say_where_the_file_lies(files, tmp_path):
    files[0].write_text(FILE.format(rate=-1), encoding="utf-8")
    for more in ([], ["--out", tmp_path / "out"]):
        with pytest.raises(BadInput) as caught:
            run(files[0], "--anonymise", *more)
        assert str(tmp_path) not in str(caught.value) and "cluster.toml, line 6" in str(caught.value)


def test_a_file_in_the_place_of_the_folder(files, tmp_path):
    with pytest.raises(BadInput, match="not a folder"):
        run(files[0], "--out", files[1])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.toml", "b.toml"]


def test_a_full_disk_is_an_error_in_a_line(files, tmp_path, capsys, monkeypatch):
    from reliability import plan_report

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(plan_report, "write", full)
    assert run(files[0], "--out", tmp_path) == 1
    assert capsys.readouterr().err == f"error: --out {tmp_path}: No space left on device\n"


@pytest.mark.parametrize("command", [["plan"], ["run", "your_cluster", "-p", "cluster_file"]])
def test_a_report_of_a_pipe_is_refused_at_once(files, tmp_path, capsys, command):
    """What stood in it would be gone when the notebook reads it."""
    out, into = os.pipe()
    os.write(into, files[0].read_bytes())
    os.close(into)
    assert cli.main([*command, f"/dev/fd/{out}", "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err == (
        f"error: /dev/fd/{out}: can be read only once, and a report reads its file again: save it as a file first\n"
    )
    assert os.read(out, 1 << 16) == files[0].read_bytes()  # nobody has begun
    os.close(out)
    assert not (tmp_path / "out").exists()


def test_a_plan_of_a_pipe_is_printed(files, capsys):
    out, into = os.pipe()
    os.write(into, files[0].read_bytes())
    os.close(into)
    assert cli.main(["plan", f"/dev/fd/{out}", "--draws", "200"]) == 0
    os.close(out)
    assert "prod-east" in capsys.readouterr().out


def test_a_report_of_a_file_whose_name_is_not_utf_8_is_refused(files, tmp_path, capsys):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/z\xff.toml")
    files[0].rename(name)
    assert cli.main(["plan", name, "--out", str(tmp_path / "out")]) == 2
    assert "z\\udcff.toml: has a name that is not UTF-8" in capsys.readouterr().err
    assert cli.main(["plan", name, "--draws", "200"]) == 0


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "ascii"])
def test_what_the_terminal_cannot_show_is_written_as_an_escape(files, monkeypatch, encoding):
    files[0].write_text(files[0].read_text().replace("prod-east", "Zürich ✓"), encoding="utf-8")
    for options in ([], ["--json"]):
        shown = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, encoding=encoding))
        assert cli.main(["plan", str(files[0]), "--draws", "200", *options]) == 0
        text = shown.getvalue().decode(encoding)
        if options:
            assert json.loads(text)["name"] == "Zürich ✓"
        else:
            assert text.startswith("Zürich ✓, ".encode(encoding, "backslashreplace").decode(encoding))
