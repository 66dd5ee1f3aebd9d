"""The shared cases of kernel logs: the right answer, and none of the wrong ones."""

import json
from pathlib import Path

import pandas as pd
import pytest

from reliability import incidents
from reliability.logs.files import open_text
from reliability.logs.xid import messages

CASES = Path(__file__).parents[2] / "shared" / "cases"


@pytest.fixture
def case(request):
    """Folder and expectation of a case."""
    found = sorted(CASES.glob(f"{request.param}_*"))
    if not CASES.is_dir():
        pytest.skip("no ../shared/cases here")
    return found[0], json.loads((found[0] / "expect.json").read_text(encoding="utf-8"))["expected"]


def reasons(result, kind):
    return {note.reason: note.count for note in result.notes if note.kind == kind}


@pytest.mark.parametrize("case", ["x01"], indirect=True)
def test_forms_of_pid_and_name(case):
    folder, expected = case
    text = open_text(folder / "input.log")
    found = [
        {"t_boot_s": line.boot_s, "pci": xid.gpu, "xid": xid.code, "pid": xid.pid, "name": xid.name}
        for line, xid in messages(text)
    ]
    assert found == expected["events"]
    result = incidents.read(folder / "input.log")
    assert result.rows == expected["xid_lines"]
    assert result.origin is None and result.table["start"].isna().all()
    rows = pd.concat([result.table, result.events])
    assert rows["gpu"].nunique() == expected["distinct_gpus"]
    # The two Xid 13 within 8 us are one.
    assert len(rows) == expected["xid_lines"] - 1
    named = rows.dropna(subset=["uuid"]).set_index("gpu")["uuid"].to_dict()
    assert named == expected["gpu_uuid_by_pci"]
    assert result.table["xid"].tolist() == [119, 74, 79]
    # The lines' own seconds are kept, to the microsecond.
    assert result.table["start_s"].tolist() == [150777.902214, 181111.5005, 1000000.000001]


@pytest.mark.parametrize("case", ["x03"], indirect=True)
def test_a_storm(case):
    folder, expected = case
    result = incidents.read(folder / "input.log")
    assert len(result) == expected["episodes"] <= expected["failures_for_mtbf_max"]
    assert result.rows == expected["printed_xid_lines"]
    assert result.table["messages"].sum() == expected["lines_with_repeats_expanded"]
    starts = [pd.Timestamp(text) for text in expected["episode_starts_utc"]]
    assert result.table["start"].tolist() == starts
    gpus = result.table[["node", "gpu"]].drop_duplicates().to_dict("records")
    assert gpus == [{"node": g["host"], "gpu": g["pci"]} for g in expected["gpus"]]
    lost = {reason: count for reason, count in reasons(result, "warning").items() if "lower bound" in reason}
    assert list(lost.values()) == [expected["lost_messages_at_least"]]


@pytest.mark.parametrize("case", ["x06"], indirect=True)
def test_sxid_is_not_xid(case):
    folder, expected = case
    result = incidents.read(folder / "input.log")
    rows = pd.concat([result.table, result.events]).sort_values("line")
    assert rows["xid"].notna().sum() == expected["xid_events"]
    assert result.rows == expected["sxid_lines"]
    found = [
        {"switch": f"nvidia-{row.switch}", "sxid": row.sxid, "link": row.link, "fatal": row.fatal}
        for row in rows.itertuples()
    ]
    assert found == expected["sxid_events"]
    assert len(result) == expected["fatal_node_incidents"]
    assert (result.table["cls"] == "gpu").sum() == expected["gpu_failures"]


@pytest.mark.parametrize("case", ["x07"], indirect=True)
def test_years_over_new_year(case):
    folder, expected = case
    meta = json.loads((folder / "input.meta.json").read_text(encoding="utf-8"))
    result = incidents.read(folder / "input.log", collected_at=meta["collected_at"], zone=meta["source_timezone"])
    rows = pd.concat([result.table, result.events]).sort_values("line")
    assert rows["stamp"].tolist() == expected["times_local"]
    hours = (rows["start_s"].iloc[5] - rows["start_s"].iloc[0]) / 3600
    assert round(hours, 2) == expected["hours_from_line1_to_line6_same_zone"]
    assert rows["start_s"].iloc[3] - rows["start_s"].iloc[2] == expected["gpu-d02 94->45 gap_s"]
    assert not any("after collected_at" in reason and n for reason, n in reasons(result, "warning").items())
    assert result.zone is None and any("time zone" in reason for reason in reasons(result, "unknown"))
    assert result.table["xid"].tolist() == [79, 94, 119]
    without = incidents.read(folder / "input.log")
    assert any("year" in reason for reason in reasons(without, "assumed") | reasons(without, "unknown"))


@pytest.mark.parametrize("case", ["x10"], indirect=True)
def test_other_programs_that_quote(case):
    folder, expected = case
    result = incidents.read(folder / "input.log")
    assert result.rows == expected["kernel_xid_events"]
    assert len(result) == expected["failures"]
    failure, row = expected["failure"], result.table.iloc[0]
    assert (row["node"], row["gpu"], row["xid"]) == (failure["host"], failure["pci"], failure["xid"])
    assert row["start"] == pd.Timestamp(failure["t"])
    assert row["confirmed_by"].split(", ") == failure["confirmed_by"]
    review = result.events[result.events["kind"] == "review"]
    found = {(row.source, row.xid) for row in review.itertuples()}
    assert found == {(row["source"], row["xid"]) for row in expected["needs_review"]}
    assert len(review) == len(expected["needs_review"])
