"""The table of Xid codes is whole, and each row says where it comes from."""

import re
import tomllib
from pathlib import Path

import pytest

from reliability.logs import xid_codes

TABLE = tomllib.loads(Path(xid_codes.__file__).with_name("xid_codes.toml").read_text(encoding="utf-8"))
CLASSES = {"gpu", "network", "host", "software", "other"}
# NVIDIA's immediate actions by which a GPU, its node or its link is out of service.
OUT_OF_SERVICE = {
    "RESET_GPU",
    "RESTART_BM",
    "WORKFLOW_XID_48",
    "WORKFLOW_NVLINK_ERR",
    "WORKFLOW_NVLINK5_ERR",
    "CHECK_MECHANICALS",
}


def faults(code, row):
    """Say everything that is wrong with one row."""
    found = []
    if not row["meaning"].strip() or row["meaning"].endswith("."):
        found.append("meaning is empty or ends with a full stop")
    if row["locator"] != f"XID {code}":
        found.append(f"locator {row['locator']!r} is not the row of its code")
    if row["kind"] not in TABLE["classes"]:
        found.append(f"kind {row['kind']!r} has no class")
    if row["lost"] and not row["failure"]:
        found.append("a GPU that is lost is a failure")
    if row["application"] and row["failure"]:
        found.append("an application's error is no failure")
    if row.get("review") and row["failure"]:
        found.append("what is for review is not counted")
    if row["failure"] != (row["action"] in OUT_OF_SERVICE) and not row.get("note"):
        found.append("differs from the rule without a note")
    return found


def test_each_row_keeps_the_rules():
    assert {code: found for code, row in TABLE["xid"].items() if (found := faults(code, row))} == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"locator": "XID 7"}, "not the row"),
        ({"kind": "plumbing"}, "no class"),
        ({"failure": False, "note": "x"}, "lost is a failure"),
        ({"application": True}, "application's error"),
        ({"review": True}, "not counted"),
        ({"action": "IGNORE"}, "without a note"),
        ({"meaning": "A thing."}, "full stop"),
    ],
)
def test_a_broken_row_is_seen(change, message):
    assert any(message in fault for fault in faults("79", TABLE["xid"]["79"] | change))


def test_the_table_holds_each_number_of_the_catalogue_once():
    used, unused = xid_codes.codes().keys(), xid_codes.unused()
    assert not used & unused
    assert used | unused == set(range(1, 173))
    assert set(TABLE["classes"].values()) <= CLASSES


@pytest.mark.parametrize("code", [48, 62, 64, 74, 79, 95, 119, 120, 140, 143])
def test_codes_that_take_a_gpu_out_of_service(code):
    row = xid_codes.codes()[code]
    assert row.failure and row.lost and row.cls == "gpu"


@pytest.mark.parametrize("code", [13, 31, 43, 45, 68, 63, 14, 92, 154])
def test_codes_that_are_no_failure(code):
    assert not xid_codes.codes()[code].failure


def test_a_contained_memory_error_is_a_failure_that_leaves_the_gpu():
    assert xid_codes.codes()[94].failure and not xid_codes.codes()[94].lost


@pytest.mark.parametrize("code", range(144, 151))
def test_the_line_tells_how_severe_an_nvlink_fault_is(code):
    assert xid_codes.codes()[code].severity


def test_what_is_unknown_says_why():
    assert xid_codes.unknown(79) is None
    assert "unused" in xid_codes.unknown(1)
    assert "no list" in xid_codes.unknown(999)


def test_rules_for_followers_name_codes_of_the_table():
    for rule in xid_codes.followers():
        for codes in (rule.codes, rule.after):
            if isinstance(codes, frozenset):
                assert codes - {"SXid"} <= xid_codes.codes().keys()
        assert rule.why and rule.locator
        assert rule.window_s is None or rule.window_s > 0


def test_the_switch_is_of_the_network():
    assert xid_codes.switch_class() == "network"


def test_the_table_is_in_our_own_words():
    text = " ".join(row["meaning"] for row in TABLE["xid"].values())
    assert not re.search(r"GPU has fallen off the bus|Preemptive cleanup|Contained memory error", text)
