"""Small cases of tables and job records with their right answers, where they lie beside the project."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reliability import incidents, rates
from reliability.logs import durations, hostlist

CASES = Path(__file__).resolve().parents[1].parent / "shared" / "cases"
pytestmark = pytest.mark.skipif(not CASES.exists(), reason="../shared/cases is not here")


def case(name):
    [folder] = CASES.glob(f"{name}_*")
    [source] = folder.glob("input*")
    return source, json.loads((folder / "expect.json").read_text())["expected"]


def lines(found, reason):
    return next((n.lines for n in found.notes if n.reason.startswith(reason)), ())


def test_c01_a_table_with_day_first_dates_and_decimal_commas():
    source, wanted = case("c01")
    found = incidents.read(source)
    # The case writes gpu-05 for gpu[05-06]; by Slurm's rules that is gpu05.
    named = {name.replace("gpu-", "gpu"): value for name, value in wanted["down_hours_union"].items()}
    assert {k.replace("gpu-", "gpu"): v for k, v in found.down_hours().items()} == pytest.approx(named)
    assert found.rows == wanted["rows_read"]
    assert found.rows - lines_count(found, "end before start") - lines_count(found, "no node") == wanted["usable_rows"]
    assert (lines(found, "end before start"), lines(found, "no node")) == ((7,), (10,))
    assert lines_count(found, "exact duplicates") == wanted["exact_duplicates"]
    assert len(found) == wanted["outage_count"]
    outages = {name.replace("gpu-", "gpu"): count for name, count in wanted["outages"].items()}
    assert found.table["node"].str.replace("gpu-", "gpu").value_counts().to_dict() == outages
    assert found.table.loc[found.table["group"] == 0, "node"].tolist() == ["gpu05", "gpu06"]
    assert found.table.loc[found.table["open"], "node"].tolist() == wanted["open"]
    assert sorted(found.classes) == wanted["classes"]
    assert lines(found, "'Hours lost' contradicts") == (8,)


def lines_count(found, reason):
    return sum(n.count for n in found.notes if n.reason.startswith(reason))


def test_s01_states_steps_and_missing_values():
    source, wanted = case("s01")
    found = incidents.read(source)
    jobs = found.jobs.set_index("job")
    assert len(jobs) == wanted["job_rows"]
    assert lines_count(found, "steps of jobs") == wanted["step_rows"]
    assert jobs["started"].sum() == wanted["jobs_started"]
    outcomes = {"infrastructure_other(BOOT_FAIL)": "infrastructure_other", "application(FAILED,OUT_OF_MEMORY)": "application",
                "user_cancel_after_start": "cancelled", "still_running": "running"}  # fmt: skip
    assert jobs["outcome"].value_counts().to_dict() == {outcomes.get(k, k): v for k, v in wanted["by_class"].items()}
    assert jobs["seconds"].to_dict() == wanted["elapsed_s"]
    hours = jobs["seconds"] * jobs["nodes"] / 3600
    assert hours.to_dict() == pytest.approx(wanted["node_hours"], abs=1e-5)
    assert found.node_hours == pytest.approx(wanted["node_hours_started"], abs=1e-4)
    assert len(found) == wanted["node_failures_for_mtbf"]
    assert found.table["node"].tolist() == [None]
    assert lines_count(found, "failed node") == 1
    censored = jobs["started"] & ~jobs["failure"] & (jobs["outcome"] != "infrastructure_other")
    assert sorted(jobs.index[censored]) == wanted["censored_for_a_node_failure_rate"]
    assert jobs.loc["50004", "uid"] == wanted["50004_cancelled_by_uid"]
    assert jobs.loc["50010", "end"] is pd.NaT
    assert jobs.loc["50011", "start"] is pd.NaT
    assert jobs.loc["50012", "start"] is pd.NaT
    assert jobs.loc["50005", "nodelist"] == []


def test_s02_attempts_of_one_job():
    source, wanted = case("s02")
    found = incidents.read(source)
    attempts = found.jobs[found.jobs["job"] == "7100"].sort_values("attempt")
    assert found.jobs["job"].nunique() == wanted["jobs"]
    assert attempts["state"].tolist() == wanted["attempt_states"]
    assert attempts["seconds"].sum() == wanted["run_seconds_7100"]
    assert (attempts["seconds"] * attempts["nodes"]).sum() / 3600 == wanted["node_hours_7100"]
    assert attempts["waiting_s"].sum() == wanted["waiting_seconds_7100"]
    assert (attempts["outcome"] != "completed").sum() == wanted["interruptions_7100"]
    assert found.node_hours == wanted["node_hours_all"]
    assert len(found) == wanted["node_failures"]
    assert lines_count(found, "cause of a requeue") == 1


def test_s04_host_expressions():
    _, wanted = case("s04")
    for expression, hosts in wanted["expanded"].items():
        assert hostlist.expand(expression) == hosts
        assert len(hosts) == wanted["counts"][expression]
    for expression in wanted["must_be_rejected"]:
        with pytest.raises(ValueError) as error:
            hostlist.expand(expression)
        assert not isinstance(error.value, hostlist.ReversedRange)
    for expression in wanted["suspicious"]:
        with pytest.raises(hostlist.ReversedRange):
            hostlist.expand(expression)


def test_s06_durations():
    source, wanted = case("s06")
    frame = pd.read_csv(source, sep="|", dtype=str, keep_default_na=False)
    for column in ("Elapsed", "TotalCPU", "Timelimit", "Suspended"):
        found, bad = durations.column_seconds(frame[column])
        assert [None if np.isnan(x) else x for x in found] == wanted[f"{column.lower()}_s"]
        assert not bad.any()


def test_b01_the_end_of_an_allocation_is_no_failure():
    source, wanted = case("b01")
    found = incidents.read(source)
    assert found.run_hours == wanted["exposure_h"]
    assert len(found) == wanted["failures"]
    assert found.run_hours / len(found) == wanted["mtbf_h"]
    low, high = rates.poisson_rate_interval(len(found), found.run_hours)
    assert [1 / high, 1 / low] == pytest.approx(wanted["mtbf_95ci_h"], rel=0.01)
    mtbf_s = found.run_hours / len(found) * 3600
    interval = np.sqrt(2 * 300 * mtbf_s) / 60
    assert interval == pytest.approx(wanted["young_interval_min_at_checkpoint_cost_5min"], rel=0.01)
    assert found.node_hours is None
