"""Step times from files: columns by their names, units, layouts, holes, doubles, and what is refused."""

import gzip
import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import modest

from reliability.commands import stragglers
from reliability.logs import step_columns
from reliability.logs.notes import LogError
from reliability.logs.step_times import read_steps

LONG = "step,rank,seconds\n0,0,1.0\n0,1,1.1\n1,0,1.2\n1,1,1.3\n"


def written(folder, text, name="steps.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def noted(times, kind):
    return {n.reason: n.count for n in times.notes if n.kind == kind}


# Layouts and names ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        LONG,
        "Iteration;Worker;time_ms\n0;0;1000\n0;1;1100\n1;0;1200\n1;1;1300\n",
        "global_step\tdevice\tduration (us)\n0\t0\t1e6\n0\t1\t1.1e6\n1\t0\t1.2e6\n1\t1\t1.3e6\n",
        "iter|global_rank|step_time_s\n1|1|1.3\n1|0|1.2\n0|1|1.1\n0|0|1.0\n",
        "step,rank0,rank1\n0,1.0,1.1\n1,1.2,1.3\n",
        "step,rank_0_ms,rank_1_ms\n0,1000,1100\n1,1200,1300\n",
        "step,0,1\n0,1.0,1.1\n1,1.2,1.3\n",
        "step;worker 1 (s);worker 0 (s)\n0;1,10;1,00\n1;1,30;1,20\n",
        "\ufeffstep,rank,seconds\r\n0,0,1.0\r\n0,1,1.1\r\n\r\n1,0,1.2\r\n1,1,1.3\r\n",
    ],
    ids=["long", "ms", "us", "unsorted", "wide", "wide-ms", "wide-numbers", "wide-comma", "mark-crlf"],
)
def test_the_same_times_in_many_clothes(text, tmp_path):
    times = read_steps(written(tmp_path, text))
    assert times.steps == [0, 1] and times.ranks == [0, 1]
    assert times.seconds == pytest.approx(np.array([[1.0, 1.1], [1.2, 1.3]]))


def test_gzip_and_parquet_say_the_same(tmp_path):
    times = read_steps(written(tmp_path, gzip.compress(LONG.encode()), "steps.csv.gz"))
    pd.DataFrame({"step": [0, 0, 1, 1], "rank": [0, 1, 0, 1], "seconds": [1.0, 1.1, 1.2, 1.3]}).to_parquet(
        tmp_path / "p"
    )
    other = read_steps(tmp_path / "p")
    assert other.steps == times.steps and (other.seconds == times.seconds).all()


def test_alibabas_columns(tmp_path):
    times = read_steps(
        written(tmp_path, ",worker,gpu,time,batch_time_norm\n0,0,25,1,476\n1,1,25,1,509\n2,0,25,11,470\n")
    )
    assert times.steps == [1, 11] and times.ranks == [0, 1] and times.unit == "norm"
    assert times.seconds[0].tolist() == [476, 509] and np.isnan(times.seconds[1, 1])


def test_hosts_stages_and_phases(tmp_path):
    text = "step,rank,node,local_rank,stage,forward_ms,wait_s,step_s\n0,0,gpu-a,0,0,300,0.1,1\n0,1,gpu-b,0,1,,0,1\n"
    times = read_steps(written(tmp_path, text))
    assert times.nodes == {0: "gpu-a", 1: "gpu-b"} and times.peers == {0: 0, 1: 1}
    assert times.phases["forward"][0, 0] == pytest.approx(0.3) and np.isnan(times.phases["forward"][0, 1])
    assert times.phases["wait"][0].tolist() == [0.1, 0.0]  # a measured 0 stays
    assert times.waiting == ("wait",)


def test_names_of_ranks_are_kept_where_they_are_no_numbers(tmp_path):
    assert read_steps(written(tmp_path, "step,rank,seconds\n0,gpu-b,1\n0,gpu-a,2\n")).ranks == ["gpu-a", "gpu-b"]
    assert read_steps(written(tmp_path, "step,rank,seconds\n0,rank10,1\n0,rank2,2\n")).ranks == [2, 10]


def test_one_rank_and_no_unit_are_assumed_and_said(tmp_path):
    times = read_steps(written(tmp_path, "step,time\n0,1.5\n1,1.6\n"))
    assert times.ranks == [0] and times.unit is None
    assert len(noted(times, "assumed")) == 2


@pytest.mark.parametrize(
    ("name", "parted"),
    [
        ("time_ms", ("time", "ms")),
        ("duration [s]", ("duration", "s")),
        ("stepTimeSec", ("step_time", "s")),
        ("ms", ("seconds", "ms")),
    ],
)
def test_units_by_name(name, parted):
    assert step_columns.without_unit(name) == parted


# What is wrong with rows ----------------------------------------------------------------------------------------------


def test_times_that_are_none_are_dropped_and_counted(tmp_path):
    rows = [
        "0,0,1",
        "0,1,-2",
        "0,2,0",
        "0,3,nan",
        "0,4,inf",
        "0,5,abc",
        "x,6,1",
        "1.5,7,1",
        "0,,1",
        "1,0,1",
        "1,1,",
        "1,2",
    ]
    times = read_steps(written(tmp_path, "step,rank,seconds\n" + "\n".join(rows) + "\n"))
    assert times.ranks == [0] and times.steps == [0, 1]
    dropped = noted(times, "dropped")
    assert sum(dropped.values()) == 10, dropped
    assert dropped["a time below 0"] == dropped["a time of 0"] == 1


def test_doubles_are_merged_and_the_last_time_counts(tmp_path):
    times = read_steps(written(tmp_path, LONG + "0,1,1.1\n1,0,9.0\n"))
    assert times.seconds[1, 0] == 9.0
    assert sorted(noted(times, "merged").values()) == [1, 1]


def test_holes_are_unknown(tmp_path):
    times = read_steps(written(tmp_path, "step,rank,seconds\n0,0,1\n0,1,1\n1,0,1\n"))
    assert np.isnan(times.seconds[1, 1]) and sum(noted(times, "unknown").values()) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("node,start,end\na,2025-01-01,2025-01-02\n", "step"),
        ("step,loss,grad_norm\n1,2.0,0.5\n", "seconds"),
        ("rank,seconds\n0,1.0\n", "step"),
        ("step,rank,seconds\n", "without a number"),
        ("step,rank,seconds\nx,0,1\n", "step"),
        ("step,rank,seconds\n0,0,-1\n", "no row"),
        ("hello world\n", "step"),
        ("", "empty"),
        ("step;rank;seconds\n0;0;1.234\n0;1;1.345\n", "decimal"),
        (b"PAR1 not parquet", "Parquet"),
        ("step,rank_0,rank-0\n0,1,1\n", "same rank"),
    ],
)
def test_a_file_of_another_kind_is_refused_in_one_line(text, says, tmp_path):
    with pytest.raises(LogError, match=says) as error:
        read_steps(written(tmp_path, text))
    assert "\n" not in str(error.value) and "steps.csv" in str(error.value)


def test_a_decimal_sign_that_is_open_can_be_told(tmp_path):
    times = read_steps(written(tmp_path, "step;rank;seconds\n0;0;1.234\n0;1;1.345\n"), decimal=".")
    assert times.seconds.tolist() == [[1.234, 1.345]]


def test_a_missing_file_is_named():
    with pytest.raises(LogError, match=r"nowhere\.csv"):
        read_steps("nowhere.csv")


# Anything at all ------------------------------------------------------------------------------------------------------


@modest
@given(
    st.binary(max_size=60), st.integers(0, 200), st.integers(0, 200), st.sampled_from(["utf-8", "utf-16", "latin-1"])
)
def test_broken_files_are_read_or_refused(tmp_path_factory, junk, a, b, encoding):
    whole = (
        "step,rank,node,seconds\n" + "".join(f"{s},{r},h{r},{1 + r / 9:.3f}\n" for s in range(6) for r in range(3))
    ).encode(encoding)
    a, b = sorted((min(a, len(whole)), min(b, len(whole))))
    path = tmp_path_factory.getbasetemp() / f"broken-{os.getpid()}"
    path.write_bytes(whole[:a] + junk + whole[b:] + whole[a:b])
    try:
        times, found = stragglers.analysed(path)
    except LogError as error:
        assert "\n" not in str(error)
    else:
        text = stragglers.as_text(times, found)
        assert all(c.isprintable() or c == "\n" for c in text)
        assert np.nanmin(times.seconds) > 0
