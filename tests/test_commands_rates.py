"""The commands `incidents` and `backtest`: their JSON holds what is documented, and the text fits a terminal."""

import argparse
import json

import numpy as np
import pytest

from reliability.commands import backtest, incidents
from reliability.errors import BadInput

DAY = 86_400


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A log of two systems, one of them on racks, with an open repair and a line that must be dropped."""
    rng, rows = np.random.default_rng(22), ["system,node,start,end,class"]
    for system, n in (("north", 300), ("south", 260)):
        for t in np.sort(rng.uniform(0, 420 * DAY, n)):
            start = np.datetime64("2025-01-01T00:00:00") + np.timedelta64(int(t), "s")
            end = start + np.timedelta64(int(rng.lognormal(8, 1)), "s")
            rows.append(f"{system},n{rng.integers(0, 90):02d},{start},{end},{rng.choice(['gpu', 'net'])}")
    rows.append("south,n03,2026-02-25T00:00:00,2026-02-20T00:00:00,gpu")
    file = tmp_path_factory.mktemp("log") / "two.csv"
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return file


def run(command, capsys, *words):
    parser = argparse.ArgumentParser()
    command.add(parser.add_subparsers())
    name = command.__name__.rpartition(".")[2]
    status = command.main(parser.parse_args([name, *map(str, words)]))
    assert status == 0
    return capsys.readouterr().out


def test_incidents_of_one_system(made, capsys):
    found = json.loads(run(incidents, capsys, made, "--system", "north", "--nodes", 90, "--gpus-per-node", 8, "--json"))
    assert (found["schema"], found["version"]) == ("training-reliability/incidents", 1)
    rate = found["rate_per_1000_node_days"]
    assert rate["low"] < rate["value"] < rate["high"]
    assert rate["low"] <= rate["exact_low"]
    assert found["mtbf_h"] == pytest.approx(found["days"] * 24 / (found["incidents"] - 1), rel=1e-4)
    assert found["gpu_mtbf_h"]["value"] == pytest.approx(8 * found["node_mtbf_h"]["value"], rel=1e-4)
    assert found["weibull_low"] < found["weibull_shape"] < found["weibull_high"]
    assert sum(one["incidents"] for one in found["by_class"].values()) == found["incidents"]
    assert {"gpu", "net"} == {name.lower() for name in found["by_class"]}
    assert len(found["findings"]) == 9


def test_incidents_of_two_systems_are_kept_apart(made, capsys):
    found = json.loads(run(incidents, capsys, made, "--json"))
    assert [one["name"] for one in found["systems"]] == ["north", "south"]
    assert found["incidents"] == sum(one["incidents"] for one in found["systems"])
    assert found["mtbf_h"] is None
    assert found["dropped"] == 1
    assert all(one["rate_per_1000_node_days"]["value"] is None for one in found["systems"])


def test_backtest_as_json(made, capsys):
    found = json.loads(run(backtest, capsys, made, "--json"))
    assert [one["name"] for one in found["systems"]] == ["north", "south"]
    for one in found["systems"]:
        assert [window["days"] for window in one["windows"]] == [7, 30]
        for window in one["windows"]:
            for key in ("coverage90", "poisson_coverage90"):
                assert 0 <= window[key] <= 1
            assert window["scored"] in (17, 18, 4)
            assert min(window["mean_width90"], window["interval_score"], window["poisson_interval_score"]) > 0
            assert window["hours_down"]["interval_score"] > 0


@pytest.mark.parametrize("command", [incidents, backtest])
def test_the_text_fits_a_terminal_and_ends_with_the_next_step(command, made, capsys):
    text = run(command, capsys, made)
    assert max(map(len, text.splitlines())) <= 80
    assert text.rstrip().split("\n\n")[-1].startswith("Next: ")
    assert "1 dropped" in text
    assert "unknown" in text


@pytest.mark.parametrize("command", [incidents, backtest])
def test_what_cannot_be_read_is_one_line(command, made, tmp_path, capsys):
    empty = tmp_path / "empty.csv"
    empty.write_text("", encoding="utf-8")
    for words in (
        (tmp_path / "absent.csv",),
        (empty,),
        (made, "--format", "csvv"),
        (made, "--nodes", -3),
        (made, "--system", "east"),
    ):
        with pytest.raises(BadInput) as refused:
            run(command, capsys, *words)
        assert "\n" not in str(refused.value)


def test_what_cannot_be_scored_has_no_legend(tmp_path, capsys):
    short = tmp_path / "short.csv"
    short.write_text("node,start,end\na,2025-01-01T00:00:00,2025-01-01T01:00:00\n", encoding="utf-8")
    text = run(backtest, capsys, short)
    assert "not scored" in text and "Inside:" not in text and "a longer record" in text
    with pytest.raises(BadInput, match="nodes"):
        run(incidents, capsys, short, "--nodes", 0)


def test_incidents_without_a_comparable_start_are_counted_and_in_no_rate(tmp_path, capsys):
    boot = (
        "[    0.000000] Linux version 6.1\n[   {}.500000] NVRM: Xid (PCI:0000:{}:00): 79, GPU has fallen off the bus.\n"
    )
    path = tmp_path / "dmesg"
    path.write_text(boot.format(20, "3b") + boot.format(10, "5e"))
    found = json.loads(run(incidents, capsys, path, "--json"))
    assert (found["incidents"], found["without_start"], found["mtbf_h"]) == (2, 2, None)
    assert {cls: one["incidents"] for cls, one in found["by_class"].items()} == {"gpu": 2}


def test_an_option_and_a_file_that_are_nearly_right_are_named(made, capsys):
    with pytest.raises(BadInput, match=r"did you mean --nodes 272\?"):
        run(incidents, capsys, made, "--node", 272)
    with pytest.raises(BadInput) as refused:
        run(incidents, capsys, made.with_name("tow.csv"))
    assert "did you mean" in str(refused.value) and "two.csv" in str(refused.value)
    with pytest.raises(BadInput) as refused:
        run(incidents, capsys, made.with_name("quite_another_name.parquet"))
    assert "did you mean" not in str(refused.value)


def test_backtest_says_where_poisson_won_and_does_not_say_that_it_failed(made, tmp_path, capsys):
    text = " ".join(run(backtest, capsys, made).split())
    assert "Our forecast scored worse than Poisson's for" in text
    assert "why a Poisson forecast fails" not in text
    assert "| Poisson inside | score | Poisson score |" in text
    assert "--observed-from and --observed-to tell" in text
    rng, rows = np.random.default_rng(2), ["node,start,end"]
    for week, count in enumerate(rng.poisson(30 * rng.gamma(1.5, 1 / 1.5, 200))):
        for t in np.sort(rng.uniform(0, 7 * DAY, count)):
            start = np.datetime64("2021-01-01T00:00:00") + np.timedelta64(int(t + week * 7 * DAY), "s")
            rows.append(f"n{rng.integers(0, 900)},{start},{start + np.timedelta64(3600, 's')}")
    bursty = tmp_path / "bursty.csv"
    bursty.write_text("\n".join(rows) + "\n", encoding="utf-8")
    text = " ".join(run(backtest, capsys, bursty).split())
    assert "why a Poisson forecast fails" in text and "scored worse" not in text


def test_job_records_give_the_mean_time_to_failure_by_size(tmp_path, capsys):
    path = tmp_path / "sacct.txt"
    path.write_text(
        "JobID|State|Start|End|Elapsed|NNodes|NodeList\n"
        "1|COMPLETED|2025-03-01T00:00:00|2025-03-01T10:00:00|10:00:00|4|n[1-4]\n"
        "2|NODE_FAIL|2025-03-02T00:00:00|2025-03-02T10:00:00|10:00:00|4|n[1-4]\n"
    )
    (row,) = json.loads(run(incidents, capsys, path, "--json"))["mttf_by_size"]
    assert (row["size"], row["runs"], row["failures"], row["run_hours"], row["mttf_h"]) == (4, 2, 1, 20, 20)
    assert row["low_h"] < 20 < row["high_h"]
