"""How `incidents` and `backtest` are told to read a log, and what they say of it."""

import argparse
import json

import pytest

from reliability.commands import incidents, reading
from reliability.errors import BadInput
from reliability.logs.notes import LogError

XID = "[  100.5] NVRM: Xid (PCI:0000:3b:00): {code}, pid=1, name=a, x\n"


def run(capsys, *words):
    parser = argparse.ArgumentParser()
    incidents.add(parser.add_subparsers())
    assert incidents.main(parser.parse_args(["incidents", *map(str, words)])) == 0
    return capsys.readouterr().out


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "log"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def found(capsys, *words):
    return json.loads(run(capsys, *words, "--json"))


def test_kernel_logs(written, capsys):
    later = XID.format(code=79).replace("100.5", "190.5")
    log = written(XID.format(code=79) + later)
    assert found(capsys, log)["incidents"] == 1
    assert found(capsys, log, "--storm-window", 60)["incidents"] == 2
    assert found(capsys, log, "--failure-codes", "13, 48")["incidents"] == 0
    told = found(capsys, log, "--node", "gpu-1", "--booted-at", "2025-07-14T09:00:00Z")
    assert not [note for note in told["notes"] if note["reason"].startswith(("host", "calendar"))]
    assert [note for note in found(capsys, log)["notes"] if note["reason"].startswith(("host", "calendar"))]


def test_tables(written, capsys):
    log = written("Knoten;Beginn;Weg\na;2025-01-01 08:00;1.500\n")
    columns = ("--format", "csv", "--columns", "node=Knoten,start=Beginn,duration=Weg")
    with pytest.raises(BadInput, match=r"tell --decimal \. or --decimal ,"):
        run(capsys, log, *columns)
    with pytest.raises(BadInput, match="told: --duration-unit min"):
        run(capsys, log, *columns, "--decimal", ".")
    told = found(capsys, log, *columns, "--decimal", ".", "--duration-unit", "h")
    assert told["repairs"]["median_h"] == 1.5


def test_kubernetes(written, capsys):
    event = {"apiVersion": "v1", "kind": "Event", "involvedObject": {"kind": "Node", "name": "n"}}
    events = [
        event
        | {
            "reason": reason,
            "type": "Warning",
            "metadata": {"uid": reason},
            "firstTimestamp": f"2025-01-01T0{hour}:00:00Z",
        }
        for hour, reason in enumerate(("KernelDeadlock", "XidError", "NodeNotReady"))
    ]
    log = written("\n".join(map(json.dumps, events)))
    apart = found(capsys, log, "--merge-window", 1)["incidents"]
    assert apart > found(capsys, log, "--merge-window", 36_000)["incidents"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--failure-codes", "79;13"), "--failure-codes '79;13': must be codes such as 79,48"),
        (("--failure-codes", "0"), "failure_codes: 0 is no Xid code"),
        (("--columns", "start"), "--columns 'start': must be PART=NAME"),
        (("--storm-window", "-1"), "--storm-window -1.0: must be a number of seconds above 0"),
        (("--booted-at", "noon"), "--booted-at 'noon': must be a date"),
        (("--failures", "NODE_FAIL"), "--failures: not for a file of the format xid"),
        (("--day-first",), "--day-first or --month-first: not for a file of the format xid"),
    ],
)
def test_what_is_told_wrongly_is_named_as_it_was_given(written, words, message):
    parser = argparse.ArgumentParser()
    reading.add_reading(parser)
    with pytest.raises(BadInput) as refused:
        reading.read(parser.parse_args([str(written(XID.format(code=79))), *words]))
    assert message in str(refused.value) and "\n" not in str(refused.value)


def test_each_reader_option_can_be_given():
    import inspect

    from reliability.incidents import READERS, _reader

    parser = argparse.ArgumentParser()
    reading.add_reading(parser)
    known = {action.dest for action in parser._actions}
    for name in READERS:
        assert set(list(inspect.signature(_reader(name)).parameters)[1:]) <= known, name


def test_messages_name_the_options_of_the_command_line():
    assert reading.as_options("tell columns={'start': '…'}") == "tell --columns start=…"
    assert reading.as_options("or to be told: day_first=True or False") == "or to be told: --day-first or --month-first"
    assert reading.as_options("a user's zone='x' stands") == "a user's --zone x stands"
    assert isinstance(LogError("f", 1, "x", "y"), BadInput)


OUTAGES = "".join(
    f"{s},n{i % 5},2025-01-{1 + i:02d}T00:00:00,2025-01-{1 + i:02d}T02:00:00\n" for s in "AB" for i in range(9)
)
TWICE = "A,n0,2025-01-01T00:00:00,2025-01-01T02:00:00\nA,n1,2025-01-02T01:00:00,2025-01-02T03:00:00\n"


def test_overlaps_and_duplicates_of_each_system_are_shown_with_both_means(written, capsys):
    log = written("system,node,start,end\n" + OUTAGES + TWICE)
    told = found(capsys, log)
    assert (told["rows"], told["incidents"], told["overlaps"], told["duplicates"]) == (20, 18, 2, 1)
    first, second = told["systems"]
    assert (first["rows"], first["incidents"], first["overlaps"], first["duplicates"]) == (11, 9, 2, 1)
    assert first["before_merging"] == {"incidents": 11, "mtbf_h": pytest.approx(8 * 24 / 10)}
    assert first["mtbf_h"] == 24
    assert (second["rows"], second["overlaps"], second["before_merging"]) == (9, 0, None)
    text = run(capsys, log)
    assert "| A      |   11 |        2 |          1 |         9 |        19.2 |    24 |" in text
    alone = found(capsys, log, "--system", "A", "--observed-from", "2025-01-01", "--observed-to", "2025-01-11")
    assert alone["before_merging"] == {"incidents": 11, "mtbf_h": pytest.approx(240 / 11, rel=1e-4)}


def test_messages_of_a_storm_are_no_incidents_before_merging(written, capsys):
    log = written(XID.format(code=79) + XID.format(code=79).replace("100.5", "190.5"))
    assert found(capsys, log)["before_merging"] is None
    assert "MTBF before" not in run(capsys, log)


def test_one_is_not_written_as_many(written, capsys):
    text = run(capsys, written("node,start,end\na,2025-01-01,2025-01-02\n"), "--nodes", 1)
    assert "1 row, 1 incident, 0 dropped" in text
    text += run(capsys, written("system,node,start,end\n" + OUTAGES), "--system", "A", "--nodes", 5)
    text += run(capsys, written(XID.format(code=79) + XID.format(code=79).replace("100.5", "101")))
    assert not [
        words
        for words in ("1 incidents", "1 rows", "1 groups", "1 nodes", "1 repairs", "1 lines")
        if f" {words}" in f" {text}"
    ]
