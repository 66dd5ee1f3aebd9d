"""Job records of Slurm, tables of runs, and the mean time to failure by job size."""

import json

import numpy as np
import pytest

from reliability import incidents, rates
from reliability.logs import job_sizes, run_states
from reliability.logs.notes import LogError

HEADER = "JobID|JobName|State|Submit|Start|End|Elapsed|NNodes|NodeList|AllocTRES\n"
T = "2025-03-0{}T{:02d}:00:00".format


def row(job, state, start, end, elapsed, nodes, nodelist, name="train", tres=""):
    return f"{job}|{name}|{state}|{T(1, 0)}|{start}|{end}|{elapsed}|{nodes}|{nodelist}|{tres}\n"


RECORDS = (
    HEADER
    + row(1, "COMPLETED", T(1, 1), T(1, 5), "04:00:00", 2, "n[1-2]", tres="cpu=8,gres/gpu=16")
    + row("1.batch", "COMPLETED", T(1, 1), T(1, 5), "04:00:00", 1, "n1")
    + row("1.extern", "COMPLETED", T(1, 1), T(1, 5), "04:00:00", 2, "n[1-2]")
    + row("2_7", "NODE_FAIL", T(1, 2), T(1, 8), "06:00:00", 1, "n3", tres="gres/gpu:h100=8")
    + row("2_7.0", "FAILED", T(1, 2), T(1, 8), "06:00:00", 1, "n3")
    + row("3+0", "NODE_FAIL", T(1, 3), T(1, 9), "06:00:00", 2, "n[4-5]", tres="gres/gpu=16")
    + row("3+1", "NODE_FAIL", T(1, 3), T(1, 9), "06:00:00", 1, "n6", tres="gres/gpu=8")
    + row(4, "CANCELLED by 77", T(1, 1), T(1, 2), "01:00:00", 1, "n7")
    + row(5, "CANCELLED by 77", "None", T(1, 2), "00:00:00", 1, "None assigned")
    + row(6, "CANCELLED by 0", T(1, 2), T(1, 2), "00:00:00", 1, "None assigned")
    + row(7, "PENDING", T(3, 0), "Unknown", "00:00:00", 4, "None assigned")
    + row(8, "RUNNING", T(1, 0), "Unknown", "1-00:00:00", 4, "n[10-13]")
    + row(9, "TIMEOUT", T(1, 0), T(2, 0), "1-00:00:00", 1, "n[14]")
    + row("9_[3-8%2]", "PENDING", "Unknown", "Unknown", "00:00:00", 1, "None assigned")
    + row(10, "REQUEUED", T(1, 0), T(1, 1), "01:00:00", 1, "n15")
    + row(10, "COMPLETED", T(1, 2), T(1, 4), "02:00:00", 1, "n16")
    + row(11, "BOOT_FAIL", T(1, 0), T(1, 0), "00:00:00", 1, "n17")
)
EXPOSURE = 4 * 2 + 6 + 6 * 2 + 6 + 1 + 24 * 4 + 24 + 1 + 2


def read(tmp_path, text=RECORDS, name="jobs.txt", **options):
    path = tmp_path / name
    path.write_text(text)
    return incidents.read(path, **options)


def counted(found):
    return {n.reason.split(":")[0]: n.count for n in found.notes}


def test_incidents_and_exposure(tmp_path):
    found = read(tmp_path)
    assert found.format == "slurm"
    assert found.node_hours == pytest.approx(EXPOSURE)
    assert found.run_hours == pytest.approx(4 + 6 + 6 + 6 + 1 + 24 + 24 + 1 + 2)
    assert found.table["node"].tolist() == ["n3", None]
    assert found.table["cls"].tolist() == ["NODE_FAIL"] * 2
    assert found.table["end_s"].isna().all()
    assert not found.table["open"].any()
    assert found.table["line"].tolist() == [5, 7]
    notes = counted(found)
    assert notes["steps of jobs"] == 3
    assert notes["runs that never started"] == 4
    assert notes["still running"] == 1
    assert notes["parts of one heterogeneous job, ended by one failure"] == 1
    assert notes["cause of a requeue"] == 1
    assert notes["failed node"] == 1
    jobs = found.jobs.set_index(["job", "attempt"])
    assert jobs.loc[("10", 2), "outcome"] == "completed"
    assert jobs.loc[("4", 1), "uid"] == 77
    assert jobs.loc[("8", 1), "nodelist"] == ["n10", "n11", "n12", "n13"]
    assert np.isnan(jobs.loc[("8", 1), "end_s"])
    assert jobs.loc[("1", 1), "gpus"] == 16
    assert jobs["outcome"].value_counts().to_dict() == {
        "never_started": 4, "completed": 2, "node_failure": 3, "cancelled": 1, "running": 1, "time_limit": 1,
        "requeued": 1, "infrastructure_other": 1,
    }  # fmt: skip


def test_which_states_count_is_the_users_choice(tmp_path):
    assert len(read(tmp_path, failures=("NODE_FAIL", "BOOT_FAIL"))) == 3
    assert len(read(tmp_path, failures="NODE_FAIL,TIMEOUT")) == 3
    assert len(read(tmp_path, failures=())) == 0
    for bad in (("NODEFAILED",), ("RUNNING",), ("COMPLETED",), 7):
        with pytest.raises(ValueError, match="failures = "):
            read(tmp_path, failures=bad)


@pytest.mark.parametrize("dress", ["trailing", "comma", "crlf", "shuffled", "headers"])
def test_its_dress_does_not_matter(tmp_path, dress):
    text = RECORDS
    if dress == "trailing":
        text = "".join(line + "|\n" for line in text.splitlines())
    elif dress == "comma":
        text = text.replace("cpu=8,", "").replace("|", ",")
    elif dress == "crlf":
        text = text.replace("\n", "\r\n")
    elif dress == "shuffled":
        head, *rows = text.splitlines(keepends=True)
        text = head + "".join(rows[::-1])
    elif dress == "headers":
        text = text + text
    found = read(tmp_path, text)
    assert found.node_hours == pytest.approx(EXPOSURE)
    assert len(found) == 2


def test_a_bar_in_a_jobs_name(tmp_path):
    found = read(tmp_path, RECORDS.replace("4|train", "4|a|b|c"))
    assert found.node_hours == pytest.approx(EXPOSURE)
    assert counted(found)["rows with '|' within JobName, read as one field"] == 1
    # A quote is a letter to sacct.
    assert read(tmp_path, RECORDS.replace("4|train", '4|"train')).node_hours == pytest.approx(EXPOSURE)


def test_without_names_a_row_that_is_too_long_is_dropped(tmp_path):
    text = "JobID|State|Start|End|NNodes\n1|COMPLETED|2025-03-01T00:00:00|2025-03-01T01:00:00|2|9\n2|COMPLETED|2025-03-01T00:00:00|2025-03-01T01:00:00|2\n"
    found = read(tmp_path, text)
    assert (found.node_hours, found.dropped) == (2.0, 1)


def test_a_cut_last_line_is_dropped(tmp_path):
    text = RECORDS + "12|train|COMPLETED|2025-03-01T00:00:00|2025-03-01T0"
    found = read(tmp_path, text)
    assert found.node_hours == pytest.approx(EXPOSURE)
    assert counted(found)["last line cut short"] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (RECORDS.split("\n", 1)[1], "line 1: .*run sacct without --noheader"),
        (
            "JobID           JobName      State\n------------ ---------- ----------\n1   train  COMPLETED\n",
            "sacct --parsable2",
        ),
        ("JobID|State|Elapsed\n1|COMPLETED|00:01:00\n", "JobID, State, Start"),
        (
            "JobID|State|Start|End\nabc|COMPLETED|2025-03-01T00:00:00|2025-03-01T00:00:00\n",
            "found 'abc', expected a JobID",
        ),
        ("JobID|State|Start|End\n1|COMPLETED|yesterday|today\n", "line 2: found 'yesterday'"),
    ],
)
def test_other_output_is_refused(tmp_path, text, message):
    with pytest.raises(LogError, match=message):
        read(tmp_path, text)


def test_attempts_are_keyed_by_job_and_start(tmp_path):
    running = row(1, "RUNNING", T(1, 0), "Unknown", "01:00:00", 1, "n1")
    ended = row(1, "NODE_FAIL", T(1, 0), T(1, 3), "03:00:00", 1, "n1")
    found = read(tmp_path, HEADER + ended + running + ended)
    assert (found.node_hours, len(found), len(found.jobs)) == (3.0, 1, 1)
    assert counted(found)["exact duplicates of an attempt"] == 1
    assert counted(found)["older rows of an attempt (same job and start)"] == 1


def test_one_failure_of_a_node_ends_all_its_jobs(tmp_path):
    rows = [row(i, "NODE_FAIL", T(1, 0), f"2025-03-01T03:00:{5 * i:02d}", "03:00:00", 1, "n1") for i in range(1, 4)]
    later = row(9, "NODE_FAIL", T(1, 4), T(1, 5), "01:00:00", 1, "N1")
    found = read(tmp_path, HEADER + "".join(rows) + later)
    assert len(found) == 2
    assert found.jobs["failure"].sum() == 4


def test_run_times_that_are_doubtful(tmp_path):
    text = HEADER + (
        row(1, "COMPLETED", T(1, 5), T(1, 1), "", 1, "n1")
        + row(2, "COMPLETED", T(1, 1), T(1, 5), "02:00:00", 1, "n1")
        + row(3, "RUNNING", T(1, 1), "Unknown", "", 1, "n1")
        + row(4, "COMPLETED", T(1, 1), T(1, 2), "x", 1, "n[1-")
        + row(5, "EXPLODED", T(1, 1), T(1, 2), "01:00:00", 3, "n[1-2]")
        + row(6, "CANCELLED+", T(1, 1), T(1, 2), "01:00:00", "", "n[1-2]")
    )
    found = read(tmp_path, text)
    assert found.node_hours == pytest.approx(2 + 1 + 3 + 2)
    notes = counted(found)
    assert notes["end before start"] == 1
    assert notes["run time differs from end minus start (suspended?); it is used"] == 1
    assert notes["run time"] == 1
    assert notes["Elapsed is no duration"] == 1
    assert notes["node list cut or broken"] == 1
    assert notes["state is not one of Slurm's, and no failure"] == 1
    assert notes["number of nodes differs from the node list; the number is used"] == 1
    found = read(tmp_path, text, observed_from="2025-03-01", observed_to="2025-03-02")
    assert found.node_hours == pytest.approx(2 + 1 + 3 + 2 + 23)


def test_exposure_is_cut_to_the_window(tmp_path):
    found = read(tmp_path, observed_from="2025-03-01 02:00", observed_to="2025-03-01 04:00")
    wanted = 2 * 2 + 2 + 2 * 1 + 1 + 2 * 4 + 2 + 2
    assert found.node_hours == pytest.approx(wanted)
    assert len(found) == 0
    assert counted(found)["start outside the window of observation"] == 2


def test_times_in_seconds_since_1970(tmp_path):
    text = "JobID|State|Start|End|NNodes|NodeList\n1|NODE_FAIL|1762156800|1762160400|1|n1\n"
    found = read(tmp_path, text)
    assert (found.zone, found.node_hours) == ("UTC", 1.0)
    assert str(found.table["start"].iloc[0]) == "2025-11-03 09:00:00+00:00"


def test_the_json_of_sacct(tmp_path):
    def number(n):
        return {"set": True, "infinite": False, "number": n}

    def job(i, state, start, end, **more):
        times = {"submission": 1762150000, "start": start, "end": end, "elapsed": max(0, end - start) if start else 0}
        return {"job_id": i, "state": {"current": [state], "reason": "None"}, "time": times, "allocation_nodes": 2,
                "nodes": "n[1-2]", "steps": [{}, {}], "tres": {"allocated": [{"type": "gres", "name": "gpu", "count": 16}]}} | more  # fmt: skip

    document = {"meta": {}, "jobs": [
        job(1, "COMPLETED", 1762156800, 1762160400),
        job(2, "NODE_FAIL", 1762156800, 1762164000, array={"job_id": 2, "task_id": number(5)}),
        job(3, "PENDING", 0, 0, nodes="None assigned"),
        job(4, "RUNNING", 1762156800, 0, time={"start": 1762156800, "end": 0, "elapsed": 600}),
    ]}  # fmt: skip
    for indent in (None, 1):
        found = read(tmp_path, json.dumps(document, indent=indent), "jobs.json")
        assert found.node_hours == pytest.approx(2 * (1 + 2 + 1 / 6))
        assert found.jobs["job"].tolist() == ["1", "2_5", "4", "3"]
        assert found.jobs["gpus"].tolist() == [16.0] * 4
        assert len(found) == 1
    for broken in ('{"jobs": [', '{"jobs": 7}', '{"jobs": [7]}', '{"jobs": [{"job_id": {"number": []}}]}'):
        with pytest.raises(LogError):
            read(tmp_path, broken, "jobs.json")


RUNS = "run,start_h,end_h,ended_by,nodes\na,0,10,time limit,2\nb,10,30,NODE_FAIL,2\nc,31,41,still running,2\nd,50,40,TIMEOUT,2\ne,60,61,comet,2\n"


def test_a_table_of_runs(tmp_path):
    found = read(tmp_path, RUNS, "runs.csv")
    assert found.format == "runs"
    assert found.run_hours == 41.0
    assert found.node_hours == 82.0
    assert found.jobs["outcome"].tolist() == ["time_limit", "node_failure", "running", "unknown"]
    assert found.table["start_s"].tolist() == [30 * 3600.0]
    assert found.origin is None
    assert found.dropped == 1
    dated = "job;begin;duration_h;end_reason\na;03/11/2025 08:00;1,5;preempted\nb;13/11/2025 08:00;2,5;NODE_FAIL\n"
    found = read(tmp_path, dated, "runs.csv")
    assert (found.run_hours, found.node_hours, len(found)) == (4.0, None, 1)
    assert str(found.table["start"].iloc[0]) == "2025-11-13 10:30:00"
    assert len(read(tmp_path, RUNS, "runs.csv", failures=("TIMEOUT", "NODE_FAIL"))) == 2
    with pytest.raises(LogError, match="a column for run"):
        read(tmp_path, "start,end,class\n2025-01-01,2025-01-02,x\n", format="runs")


def test_mttf_by_size(tmp_path):
    found = job_sizes.mttf_by_size(read(tmp_path))
    assert found["by"].unique().tolist() == ["gpus"]
    assert found["size"].tolist() == [8, 16]
    assert found["run_hours"].tolist() == [12.0, 10.0]
    assert found["failures"].tolist() == [2, 1]
    assert found["mttf_h"].tolist() == [6.0, 10.0]
    low, high = rates.poisson_rate_interval(1, 10.0)
    assert found.loc[1, ["low_h", "high_h"]].tolist() == [1 / high, 1 / low]
    found = job_sizes.mttf_by_size(read(tmp_path), by="nodes")
    assert found["size"].tolist() == [1, 2, 4]
    assert np.isnan(found["mttf_h"].iloc[2])
    assert np.isnan(found["high_h"].iloc[2])
    assert found["low_h"].iloc[2] > 0
    # Sizes between powers of two are rounded up.
    odd = read(tmp_path, HEADER + row(1, "TIMEOUT", T(1, 0), T(1, 3), "03:00:00", 3, "n[1-3]"))
    assert job_sizes.mttf_by_size(odd)[["above", "size"]].values.tolist() == [[2, 4]]
    wide = job_sizes.mttf_by_size(read(tmp_path), gpus_per_node=8)
    assert wide["run_hours"].sum() == read(tmp_path).run_hours


def test_mttf_by_size_refuses_what_it_cannot_use(tmp_path):
    found = read(tmp_path)
    for options in ({"by": "cores"}, {"level": 1.0}, {"gpus_per_node": 0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            job_sizes.mttf_by_size(found, **options)
    table = read(tmp_path, "node,start\na,2025-01-01\n", "t.csv")
    with pytest.raises(LogError, match="records of jobs"):
        job_sizes.mttf_by_size(table)
    bare = read(tmp_path, "run,start_h,end_h,ended_by\na,0,10,TIMEOUT\n", "r.csv")
    with pytest.raises(LogError, match="no job with its number of nodes"):
        job_sizes.mttf_by_size(bare)


def test_every_state_has_an_outcome():
    assert set(run_states.SHORT.values()) | set(run_states.WORDS.values()) <= set(run_states.OUTCOMES)
    assert run_states.split_state("NF") == ("NODE_FAIL", None)
    assert run_states.split_state("OUT_OF_ME+") == ("OUT_OF_MEMORY", None)
    assert run_states.split_state("RE+") == ("RE", None)
    assert run_states.split_state("CANCELLED by root") == ("CANCELLED", None)


def test_a_thousand_nodes_are_counted_as_slurm_counts_them(tmp_path):
    text = HEADER + row(1, "COMPLETED", T(1, 0), T(1, 1), "01:00:00", "1K", "n[0001-1024]")
    found = read(tmp_path, text + row(2, "COMPLETED", T(1, 0), T(1, 1), "01:00:00", "1.5K", ""))
    assert found.node_hours == 1024 + 1536
    assert not any("node list" in note.reason for note in found.notes)


def test_a_job_that_an_older_file_saw_running_is_not_running(tmp_path):
    older = row(1, "RUNNING", T(1, 0), "Unknown", "01:00:00", 4, "n[1-4]")
    newer = row(1, "NODE_FAIL", T(1, 0), T(1, 5), "05:00:00", 4, "n[1-4]")
    found = read(tmp_path, HEADER + older + HEADER + newer)
    assert found.node_hours == 20 and len(found) == 1
    assert "still running" not in counted(found)
    assert counted(read(tmp_path, HEADER + older))["still running"] == 1


def test_jobs_that_shared_nodes_and_failed_together_are_shown(tmp_path):
    def lists(*nodelists):
        rows = [row(i, "NODE_FAIL", T(1, 0), T(1, 5), "05:00:00", 2, text) for i, text in enumerate(nodelists, 1)]
        return counted(read(tmp_path, HEADER + "".join(rows)))

    reason = "failures of jobs that shared nodes and ended within 60 s"
    assert lists("n[1-2]", "n[2-3]")[reason] == 1
    assert reason not in lists("n[1-2]", "n[3-4]")


def test_runs_that_ended_badly_and_do_not_count_are_shown_with_what_counts_them(tmp_path):
    text = RECORDS + row(12, "FAILED", T(1, 0), T(1, 1), "01:00:00", 1, "n18")
    text += row(13, "OUT_OF_MEMORY", T(1, 0), T(1, 1), "01:00:00", 1, "n19")

    def told(**options):
        notes = read(tmp_path, text, **options).notes
        return {n.reason: (n.count, n.lines) for n in notes if n.reason.startswith("runs ") and "counted" in n.reason}

    found = told()
    way = "runs {0}: not counted as failures; failures='NODE_FAIL,{1}' counts them".format
    assert found[way("FAILED, OUT_OF_MEMORY", "FAILED,OUT_OF_MEMORY")] == (2, (19, 20))
    assert (
        found["runs TIMEOUT: their time was over, not counted as failures; failures='NODE_FAIL,TIMEOUT' counts them"][0]
        == 1
    )
    assert found["runs CANCELLED: a planned stop, not counted as failures"][0] == 1
    found = told(failures="NODE_FAIL,FAILED,OUT_OF_MEMORY")
    assert not any("FAILED, OUT" in reason for reason in found)


def test_the_command_names_its_option_for_runs_that_do_not_count():
    from reliability.commands.reading import as_options

    assert "; --failures NODE_FAIL,FAILED counts them" in as_options("x; failures='NODE_FAIL,FAILED' counts them")
