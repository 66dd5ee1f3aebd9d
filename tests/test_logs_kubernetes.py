"""Kubernetes' events and conditions: outages of nodes, and what is none."""

import json

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliability.logs import kubernetes_rules as rules
from reliability.logs.files import text_of
from reliability.logs.kubernetes import read_kubernetes
from reliability.logs.notes import LogError

DAY = "2025-03-01T"


def event(
    name, reason, first, last=None, count=1, kind="Node", component="node-controller", warning=False, message=None
):
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.{reason}.{first}.{component}", "namespace": "default"},
        "involvedObject": {"kind": kind, "name": name},
        "reason": reason,
        "message": f"Node {name} status is now: {reason}" if message is None else message,
        "type": "Warning" if warning else "Normal",
        "count": count,
        "firstTimestamp": DAY + first + "Z",
        "lastTimestamp": DAY + (last or first) + "Z",
        "source": {"component": component},
    }


def modern(name, reason, when, series=None):
    """An event of events.k8s.io/v1."""
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.{reason}.{when}"},
        "regarding": {"kind": "Node", "name": name},
        "reason": reason,
        "note": "x",
        "type": "Normal",
        "eventTime": DAY + when + ".123456Z",
        "reportingController": "node-controller",
        "series": series,
        "deprecatedFirstTimestamp": None,
    }


def node(name, *conditions, cordoned=False):
    rows = [
        {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": "",
            "lastTransitionTime": since and DAY + since + "Z",
        }
        for kind, status, reason, since in conditions
    ]
    spec = {"unschedulable": True} if cordoned else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "spec": spec,
        "status": {"conditions": rows},
    }


def read(*items, **options):
    return read_kubernetes(text_of(json.dumps({"kind": "List", "items": list(items)}, indent=2), "k.json"), **options)


def spans(result):
    return [
        (row.node, f"{row.start:%H:%M}", None if pd.isna(row.end) else f"{row.end:%H:%M}", row.open)
        for row in result.table.itertuples()
    ]


PAIR = (event("gpu-1", "NodeNotReady", "10:00:00"), event("gpu-1", "NodeReady", "10:30:00"))


def test_an_outage_from_not_ready_to_ready():
    result = read(*PAIR)
    assert spans(result) == [("gpu-1", "10:00", "10:30", False)]
    assert (result.zone, result.table["end_s"][0] - result.table["start_s"][0]) == ("UTC", 1800)
    assert result.table["cls"].tolist() == ["unknown"]


def test_an_outage_that_has_not_ended_is_open():
    assert spans(read(PAIR[0])) == [("gpu-1", "10:00", None, True)]


@pytest.mark.parametrize("form", ["list", "lines", "pretty", "watch", "array"])
def test_forms_of_a_file(form):
    text = {
        "list": json.dumps({"kind": "List", "items": PAIR}),
        "lines": "\n".join(map(json.dumps, PAIR)),
        "pretty": "\n".join(json.dumps(item, indent=4) for item in PAIR),
        "watch": "\n".join(json.dumps({"type": "ADDED", "object": item}) for item in PAIR),
        "array": json.dumps(PAIR, indent=1),
    }[form]
    result = read_kubernetes(text_of(text, "k.json"))
    assert spans(result) == [("gpu-1", "10:00", "10:30", False)]
    assert result.rows == 2


def test_the_line_is_that_of_the_item():
    assert read(*PAIR).table["line"].tolist() == [4]
    text = "\n".join(map(json.dumps, (PAIR[1], PAIR[0])))
    assert read_kubernetes(text_of(text)).table["line"].tolist() == [2]


def test_events_of_the_newer_interface():
    result = read(modern("gpu-1", "NodeNotReady", "10:00:00"), modern("gpu-1", "NodeReady", "10:30:00"))
    assert spans(result) == [("gpu-1", "10:00", "10:30", False)]
    assert result.table["start"][0].microsecond == 123456


def test_two_controllers_report_one_outage():
    twice = event("gpu-1", "NodeNotReady", "10:00:20", component="kubelet")
    late = event("gpu-1", "NodeNotReady", "10:04:00", component="kubelet")
    assert len(read(*PAIR, twice, late)) == 1


def test_a_ready_that_is_missing_leaves_the_end_unknown():
    result = read(*PAIR, event("gpu-1", "NodeNotReady", "09:00:00"))
    assert spans(result) == [("gpu-1", "09:00", None, False), ("gpu-1", "10:00", "10:30", False)]
    assert any(note.reason == "end of an outage" for note in result.notes)


def test_outages_that_were_only_counted_are_said_to_be_missing():
    result = read(
        event("gpu-1", "NodeNotReady", "10:00:00", "14:00:00", 5),
        event("gpu-1", "NodeReady", "10:10:00", "14:05:00", 5),
    )
    assert spans(result) == [("gpu-1", "10:00", "10:10", False), ("gpu-1", "14:00", "14:05", False)]
    assert [note.count for note in result.notes if "lower bound" in note.reason] == [3]


def test_later_versions_of_an_event_are_the_same_event():
    first = event("gpu-1", "NodeNotReady", "10:00:00")
    result = read(first, first | {"count": 2, "lastTimestamp": DAY + "12:00:00Z"}, PAIR[1])
    assert [row[1:3] for row in spans(result)] == [("10:00", "10:30"), ("12:00", None)]
    assert [note.count for note in result.notes if note.reason == "later versions of the same event"] == [1]


@pytest.mark.parametrize(
    ("kind", "reason", "warning"),
    [
        ("Pod", "Evicted", True),
        ("Pod", "Preempted", False),
        ("Pod", "Scheduled", False),
        ("Pod", "FailedScheduling", True),
        ("Pod", "NodeNotReady", True),
        ("Pod", "BackOff", True),
        ("Node", "NodeNotSchedulable", False),
        ("Node", "NodeHasDiskPressure", False),
        ("Node", "Rebooted", True),
        ("Node", "OOMKilling", True),
        ("Node", "SomethingNew", True),
        ("Node", "NodeReady", False),
    ],
)
def test_what_is_no_failure(kind, reason, warning):
    result = read(event("x", reason, "10:00:00", kind=kind, warning=warning))
    assert len(result) == 0
    assert result.events["reason"].tolist() == [reason]
    assert result.events["start_s"].tolist() == [0]


@pytest.mark.parametrize(
    ("message", "count", "kinds"),
    [
        ("NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus", 1, []),
        ("Xid 48 on GPU 3", 1, []),
        ("NVRM: Xid (PCI:0000:3b:00): 31, MMU Fault", 0, ["event"]),
        ("Xid error: 999", 0, ["review"]),
        ("SXid (PCI:0000:84:00.0): 22013, Non-fatal", 0, ["review"]),
        ("GPU 3 is unwell", 0, ["review"]),
        ("GPU 3 has fallen off the bus", 1, []),
    ],
)
def test_an_xid_in_an_event_is_judged_by_the_table(message, count, kinds):
    result = read(event("gpu-1", "GPUProblem", "10:00:00", warning=True, message=message))
    assert (len(result), result.events["kind"].tolist()) == (count, kinds)
    assert (result.table["cls"] == "gpu").all()


def test_a_node_that_goes_down_after_its_gpu_is_one_incident():
    xid = event("gpu-1", "XidError", "09:58:00", warning=True, message="Xid 79")
    result = read(xid, *PAIR)
    assert spans(result) == [("gpu-1", "09:58", "10:30", False)]
    assert result.table["cls"].tolist() == ["gpu"]
    assert len(read(xid, *PAIR, merge_window_s=60)) == 2


def test_a_cordon_before_an_outage_is_told():
    result = read(event("gpu-1", "NodeNotSchedulable", "09:50:00"), *PAIR)
    assert len(result) == 1
    assert any("perhaps planned" in note.reason for note in result.notes)


def test_conditions_show_what_is_down_now():
    result = read(
        node("gpu-1", ("Ready", "True", "KubeletReady", "08:00:00"), ("MemoryPressure", "True", "", "08:00:00")),
        node(
            "gpu-2", ("Ready", "Unknown", "NodeStatusUnknown", "11:00:00"), ("DiskPressure", "Unknown", "", "11:00:00")
        ),
        node("gpu-3", ("Ready", "False", "KubeletNotReady", "12:00:00"), ("KernelDeadlock", "True", "", "12:01:00")),
        node("gpu-4", ("Ready", "True", "", "08:00:00"), ("NVLinkStatusInactive", "True", "", "13:00:00")),
        node("gpu-5", ("Ready", "True", "", "08:00:00"), ("AcceleratedHardwareReady", "False", "", "14:00:00")),
        node("gpu-6", ("Ready", "True", "", "08:00:00"), ("Mystery", "True", "", "14:00:00")),
    )
    assert [row[0] for row in spans(result)] == ["gpu-2", "gpu-3", "gpu-4", "gpu-5"]
    assert result.table["open"].all() and result.nodes == 6
    assert result.table["cls"].tolist() == ["unknown", "host", "gpu", "gpu"]
    assert (result.events["kind"] == "review").sum() == 1


def test_a_condition_ends_an_outage_of_the_events():
    result = read(PAIR[0], node("gpu-1", ("Ready", "True", "KubeletReady", "10:45:00")))
    assert spans(result) == [("gpu-1", "10:00", "10:45", False)]
    still = read(PAIR[0], node("gpu-1", ("Ready", "Unknown", "NodeStatusUnknown", "10:00:01")))
    assert spans(still) == [("gpu-1", "10:00", None, True)]


def test_how_many_nodes_there_are_is_known_only_from_a_full_list():
    assert read(*PAIR).nodes is None
    assert read(*PAIR, node("gpu-2")).nodes is None
    assert read(*PAIR, nodes=16).nodes == 16


def test_a_condition_without_a_time_is_for_review():
    result = read(node("gpu-1", ("Ready", "False", "x", None)))
    assert (len(result), result.events["kind"].tolist()) == (0, ["review"])


@pytest.mark.parametrize(
    ("kind", "status", "verdict"),
    [
        ("Ready", "False", "failure"),
        ("Ready", "True", ""),
        ("NetworkUnavailable", "True", "failure"),
        ("NetworkUnavailable", "False", ""),
        ("PIDPressure", "True", "event"),
        ("FrequentKubeletRestart", "True", "event"),
        ("GpuThermalWatch", "True", "review"),
        ("GpuMemWatch", "True", "failure"),
        ("StorageReady", "True", ""),
        ("StorageReady", "False", "review"),
    ],
)
def test_conditions(kind, status, verdict):
    assert rules.condition(kind, status, "", "")[0] == verdict


def test_a_cut_last_line_is_dropped_and_counted():
    lines = [json.dumps(item) for item in (*PAIR, PAIR[0])]
    result = read_kubernetes(text_of("\n".join(lines)[:-20]))
    assert (len(result), result.dropped) == (1, 1)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (json.dumps({"kind": "List", "items": PAIR}, indent=2)[:-300], None),
        ('{"kind": "Event"', 1),
        ("hello", 1),
        ('{"a": 1}', 1),
        ("[1, 2]", 1),
        ('{"kind": "PodList", "items": [{"kind": "Pod", "metadata": {}}]}', 1),
        ("[" * 100_000, 1),
    ],
)
def test_other_files_are_refused(text, line):
    with pytest.raises(LogError, match=r"k\.json, line \d+: found .*expected JSON of kubectl") as caught:
        read_kubernetes(text_of(text, "k.json"))
    assert line is None or caught.value.line == line


def test_an_empty_list_has_no_failures():
    assert len(read()) == 0


@pytest.mark.parametrize(
    ("option", "value"), [("merge_window_s", 0), ("merge_window_s", "1"), ("nodes", 0), ("observed_from", "?")]
)
def test_bad_options_are_named(option, value):
    with pytest.raises(ValueError, match=option):
        read(*PAIR, **{option: value})


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from([DAY + "10:00:00Z", "Node", "gpu-1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*PAIR[0], "status", "spec", "conditions", "name", "series"]), inner, max_size=5
        )
    ),
    max_leaves=12,
)


@settings(derandomize=True, max_examples=25, deadline=None)
@given(st.lists(JSON, max_size=3), st.dictionaries(st.sampled_from(list(PAIR[0])), JSON, max_size=3))
def test_odd_objects_break_nothing(items, changes):
    try:
        result = read(*items, PAIR[0] | changes)
    except LogError:
        return
    assert len(result) <= 2


def test_what_is_shown_is_escaped():
    result = read(event("gpu-1", "Odd", "10:00:00", message="a\x1b[2J<b>"))
    assert result.events["detail"][0] == "Odd: a\\x1b[2J<b>"


def test_an_event_of_a_node_without_a_name_is_no_nodes_outage():
    nameless = event("x", "NodeNotReady", "09:00:00") | {"involvedObject": {"kind": "Node"}}
    result = read(nameless, *PAIR)
    assert len(result) == 1 and result.table["node"].tolist() == ["gpu-1"]
    assert result.events.loc[result.events["kind"] == "review", "why"].tolist() == ["of a node that it does not name"]
