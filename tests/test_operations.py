"""Traces of operations: computing is summed, waiting is taken out, and stages are compared with their like."""

import numpy as np
import pandas as pd
import pytest

from reliability.commands import stragglers
from reliability.logs.notes import LogError
from reliability.logs.step_times import read_steps


def trace(slow_rank=None, slow_link=None, replicas=4, stages=3, steps=8, batches=4):
    """A pipeline's trace by column; a stage computes as long as its number says, and every step waits for the last."""
    rng = np.random.default_rng(5)
    rows = []
    for step in range(steps):
        for replica in range(replicas):
            for stage in range(stages):
                rank, begin = 10 * replica + stage, 100.0 * step
                for _batch in range(batches):
                    for kind in ("forward", "backward"):
                        takes = (
                            (1 + 0.5 * stage)
                            * (1 + 0.005 * rng.standard_normal())
                            * (1.8 if rank == slow_rank else 1.0)
                        )
                        rows.append((replica, stage, rank, step, f"{kind}-compute", begin, takes, len(rows)))
                    late = 5.0 if rank == slow_rank else 0.0  # its neighbours wait for it
                    link = 3.0 if slow_link == (replica, stage) else 0.1
                    if stage < stages - 1:
                        rows.append((replica, stage, rank, step, "forward-send", begin + late, link, len(rows)))
                        wait = late + link
                        rows.append(
                            (replica, stage + 1, 10 * replica + stage + 1, step, "forward-recv", begin, wait, len(rows))
                        )
    names = ["dp_rank", "stage", "rank", "step", "optype", "start_ts", "duration", "seq_id"]
    return names, rows


def table(tmp_path, **options):
    names, rows = trace(**options)
    path = tmp_path / "trace.csv"
    path.write_text(",".join(names) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return path


def told(path):
    times, found = stragglers.analysed(path)
    return times, stragglers.as_json(times, found)


def test_stages_that_differ_by_design_are_no_stragglers(tmp_path):
    times, found = told(table(tmp_path))
    assert found["slow"] == found["fast"] == found["slow_links"] == []
    assert times.layout == "operations" and times.peers[21] == 1


def test_a_rank_that_computes_slowly_is_named_and_not_those_that_wait_for_it(tmp_path):
    _, found = told(table(tmp_path, slow_rank=11))
    [one] = found["slow"]
    assert one["rank"] == 11 and one["ratio"] == pytest.approx(1.8, abs=0.02)
    assert "forward-compute" in one["phase"] and found["slow_links"] == []


def test_a_slow_link_is_communication_and_nobodys_computing(tmp_path):
    _, found = told(table(tmp_path, slow_link=(2, 1)))
    assert found["slow"] == []
    [link] = found["slow_links"]
    assert (link["replica"], link["stage"]) == (2, 1) and link["ratio"] == pytest.approx(30, rel=0.01)


def test_transfers_are_counted_by_hand(tmp_path):
    times, _ = told(table(tmp_path))
    assert times.links[(0, 0)] == pytest.approx(4 * 0.1)  # four micro-batches of 0.1 s a step


def test_parquet_with_narrow_types_reads_the_same(tmp_path):
    names, rows = trace(slow_rank=0)
    frame = pd.DataFrame(rows, columns=names)
    frame = frame.astype({"dp_rank": "int8", "duration": "float32", "optype": "category", "rank": "int16"})
    frame.to_parquet(tmp_path / "trace.parquet")
    times, found = told(tmp_path / "trace.parquet")
    assert [one["rank"] for one in found["slow"]] == [0] and times.rows == len(rows)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rank,optype,duration\n0,forward-compute,1\n", "step"),
        ("rank,step,optype,duration\n0,0,all-reduce,1\n", "computes"),
        ("rank,step,optype,duration\n0,0,forward-compute,-1\n", "computes"),
    ],
)
def test_a_trace_that_cannot_be_used_is_refused(text, says, tmp_path):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    with pytest.raises(LogError, match=says):
        read_steps(tmp_path / "t.csv")
