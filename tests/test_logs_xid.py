"""Xid and SXid lines: what is one failure, what is none, and what is not known."""

import datetime
import gc
import json
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliability import incidents
from reliability.logs import quotes, xid_lines
from reliability.logs.files import text_of
from reliability.logs.kernel_lines import parse
from reliability.logs.notes import LogError
from reliability.logs.xid import messages, read_xid

LOST = "NVRM: Xid (PCI:0000:3b:00): 79, pid=12, name=a, GPU has fallen off the bus."


def message(code, gpu="0000:3b:00", text="some text"):
    return f"NVRM: Xid (PCI:{gpu}): {code}, pid=12, name=python, {text}"


def at(seconds, text, host="gpu-1", program="kernel"):
    moment = datetime.datetime(2025, 7, 14) + datetime.timedelta(seconds=seconds)
    return f"{moment.isoformat(timespec='milliseconds')}Z {host} {program}: {text}"


def log(*lines, **options):
    return read_xid(text_of("\n".join(lines) + "\n", "kern.log"), **options)


def codes(result):
    return result.table["xid"].tolist()


def reasons(result, kind):
    return [note.reason for note in result.notes if note.kind == kind]


# --- Who wrote the line ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "host"),
    [
        ("[   41.772310] X", None),
        ("[   41.772310][ T1234] X", None),
        ("[   41.772310] [  C12] X", None),
        ("[Mon Jul 14 09:12:03 2025] X", None),
        ("2025-07-14T09:12:03,118211+02:00 X", None),
        ("<3>[   41.772310] X", None),
        ("kern  :err   : [   41.772310] X", None),
        ("3,1234,41772310,-;X", None),
        ("Jul 14 09:12:03 gpu-1 kernel: X", "gpu-1"),
        ("Jul  4 09:12:03 gpu-1 kernel: [   41.772310] X", "gpu-1"),
        ("<3>1 2025-07-14T09:12:03.118Z gpu-1 kernel - - - X", "gpu-1"),
        ('<3>1 2025-07-14T09:12:03.118Z gpu-1 kernel - - [m s="1" q="a]b\\" c"] X', "gpu-1"),
        ("2025-07-14T09:12:03.123456-07:00 gpu-1 kernel: [   41.772310] X", "gpu-1"),
        ("2025-07-14 09:12:03 gpu-1 kernel: X", "gpu-1"),
        ("Mon 2025-07-14 09:12:03 CEST gpu-1 kernel: X", "gpu-1"),
        ("[90214.500125] gpu-1 kernel: X", "gpu-1"),
        ("1752484323.123456 gpu-1 kernel: X", "gpu-1"),
        ("gpu-1: [   41.772310] X", "gpu-1"),
        ("gpu-1: [Mon Jul 14 09:12:03 2025] X", "gpu-1"),
        ("/var/log/syslog:Jul 14 09:12:03 gpu-1 kernel: X", "gpu-1"),
        ("Jul 14 09:12:03 2001:db8::1 kernel: X", "2001:db8::1"),
        ("X", None),
    ],
)
def test_lines_of_the_kernel(line, host):
    parsed = parse(1, line.replace("X", LOST, 1))
    assert parsed.kernel and parsed.host == host
    assert xid_lines.xid(parsed.text).code == 79
    assert len(log(line.replace("X", LOST, 1))) == 1


@pytest.mark.parametrize(
    "line",
    [
        "<12>[   41.772310] X",  # written to /dev/kmsg by a program
        "user  :warn  : [   41.772310] X",
        "12,1234,41772310,-;X",
        "Jul 14 09:12:03 gpu-1 kernel[4502]: X",  # logger -t kernel -i
        "<14>1 2025-07-14T09:12:03.118Z gpu-1 kernel - - - X",
        "Jul 14 09:12:03 gpu-1 root: X",
        "2025-07-14T09:12:03.000000001Z stderr F X",
        "[   41.772310] agent[12]: X",
    ],
)
def test_lines_that_others_wrote_are_for_review(line):
    result = log(line.replace("X", LOST))
    assert len(result) == 0
    assert result.events["kind"].tolist() == ["review"]


@pytest.mark.parametrize(("transport", "counted"), [("kernel", 1), ("syslog", 0), ("stdout", 0)])
def test_the_journal_tells_who_wrote(transport, counted):
    entry = {"MESSAGE": LOST, "_HOSTNAME": "gpu-1", "_TRANSPORT": transport, "SYSLOG_IDENTIFIER": "kernel"}
    entry |= {"__REALTIME_TIMESTAMP": "1752484323123456", "_BOOT_ID": "ab"}
    result = log(json.dumps(entry))
    assert len(result) == counted
    entry["MESSAGE"] = list(LOST.encode())
    assert len(log(json.dumps(entry))) == counted
    assert result.zone == "UTC"


# --- The message -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(PCI:0000:3b:00): 31, pid=41277, name=python3.11, Ch 1", ("0000:3b:00", 31, 41277, "python3.11")),
        ("(PCI:0000:3b:00): 13, pid='<unknown>', name=<unknown>, Graphics", ("0000:3b:00", 13, None, None)),
        ("(PCI:0008:01:00): 145, pid=5, name=ray::Worker, RLW", ("0008:01:00", 145, 5, "ray::Worker")),
        ("(PCI:0000:10:1c): 63, pid=2764, Row Remapper", ("0000:10:1c", 63, 2764, None)),
        (
            "(PCI:0000:10:1c): 119, pid=7, name=nvc:[driver], Expected function 76",
            ("0000:10:1c", 119, 7, "nvc:[driver]"),
        ),
        ("(0000:AF:00): 14, Channel 00000001", ("0000:af:00", 14, None, None)),
        ("(PCI:000D:00:00): 79, GPU has fallen off the bus.", ("000d:00:00", 79, None, None)),
        ("(PCI:00000000:1A:00.0): 79, x", ("0000:1a:00", 79, None, None)),
        ("(62): 8, x", (None, 8, None, None)),
    ],
)
def test_forms_of_a_message(text, expected):
    found = xid_lines.xid("NVRM: Xid " + text)
    assert (found.gpu, found.code, found.pid, found.name) == expected


@pytest.mark.parametrize(
    "text",
    [
        "NVRM:      0    76   GSP_RM_CONTROL        0x000000002080a1b2",
        "NVRM: GPU1 RPC history (CPU -> GSP):",
        "nvidia-nvswitch3: SXid (PCI:0000:84:00.0): 22013, Data {0x1}",
        "Xid (PCI:0000:3b:00): 79, x",
    ],
)
def test_what_is_no_xid(text):
    assert xid_lines.xid(text) is None


@pytest.mark.parametrize("cut", ["): 7", "): ", ")", "0:3b", "): 79"])
def test_a_line_cut_in_its_code_is_dropped_and_counted(cut):
    line = at(0, "NVRM: Xid (PCI:0000:3b:00)"[: -4 if cut == "0:3b" else -1] + (cut if cut != "0:3b" else ""))
    result = log(at(0, "Linux version 6.8"), line)
    assert len(result) == 0
    assert result.dropped == 1


def test_pid_and_name_do_not_outlive_a_cut():
    found = xid_lines.xid("NVRM: Xid (PCI:0000:3b:00): 79, pid=412")
    assert (found.code, found.pid) == (79, None)
    assert xid_lines.xid("NVRM: Xid (PCI:0000:3b:00): 79, pid=412, name=pt_ma").name is None


def test_messages_come_one_by_one():
    found = list(messages(text_of("\n".join([at(0, message(13)), at(0, message(13)), at(1, "x", program="Xid")]))))
    assert [(line.number, xid.code) for line, xid in found] == [(1, 13), (2, 13)]


# --- Storms ------------------------------------------------------------------------------------------


def test_a_storm_is_one_failure_whatever_the_process():
    lines = [at(i, message(95).replace("pid=12", f"pid={i}")) for i in range(0, 5000, 7)]
    result = log(*lines)
    assert codes(result) == [95]
    assert result.table["messages"].tolist() == [len(lines)]
    assert sum(n.count for n in result.notes if n.kind == "merged") == len(lines) - 1


@pytest.mark.parametrize(("gap", "incidents"), [(599, 1), (600, 2), (601, 2)])
def test_silence_of_the_window_ends_a_storm(gap, incidents):
    assert len(log(at(0, message(95)), at(gap, message(95)))) == incidents
    assert len(log(at(0, message(95)), at(gap, message(95)), storm_window_s=3600)) == 1


def test_the_window_runs_from_the_last_message():
    assert len(log(*(at(t, message(95)) for t in range(0, 6000, 590)))) == 1


@pytest.mark.parametrize(
    "boot",
    [at(30, "Linux version 6.8.0 (builder@example)"), "-- Boot 0123456789abcdef0123456789abcdef --", "-- Reboot --"],
)
def test_a_boot_ends_a_storm(boot):
    assert len(log(at(0, message(95)), boot, at(60, message(95)))) == 2


def test_a_boot_of_one_host_does_not_end_the_storm_of_another():
    lines = [at(0, message(95)), at(30, "Linux version 6.8.0", "gpu-2"), at(60, message(95))]
    assert len(log(*lines)) == 1


def test_seconds_since_boot_that_go_back_are_a_boot():
    lines = [f"[{t}.000001] {message(95)}" for t in (1000, 1010, 50, 60)]
    result = log(*lines)
    assert len(result) == 2
    assert result.table["boot"].tolist() == [0, 1]
    # Which gap lies between two boots is not known.
    assert np.isnan(result.table["start_s"]).all()
    assert result.table["boot_s"].tolist() == [1000.000001, 50.000001]


def test_counts_are_lower_bounds_where_messages_were_lost():
    result = log(
        at(0, message(95)),
        at(1, f"message repeated 37 times: [ {message(95)}]"),
        at(2, "Missed 214 kernel messages", program="systemd-journald[812]"),
    )
    assert result.table["messages"].tolist() == [38]
    counts = {note.reason.split(" (")[0]: note.count for note in result.notes if note.kind == "warning"}
    assert counts == {
        "messages that syslog only counted as repeated": 37,
        "messages lost on their way to the log": 214,
    }


def test_the_old_way_to_say_repeated_belongs_to_the_line_before():
    again = at(1, "last message repeated 5 times", program="syslogd")
    assert log(at(0, message(95)), again).table["messages"].tolist() == [6]
    assert log(at(0, message(95)), at(1, "usb 1-1: new"), again).table["messages"].tolist() == [1]


def test_a_log_read_in_twice_counts_once():
    line = f"[90214.500125] {message(95)}"
    result = log(at(0, line), at(86_400, line))
    assert len(result) == 1
    assert result.dropped == 1


def test_hosts_gpus_and_domains_stay_apart():
    gpus = ["0000:3b:00", "0001:3b:00", "0000:5e:00"]
    lines = [at(100 * i, message(79, gpu, ""), host) for i, gpu in enumerate(gpus) for host in ("gpu-1", "gpu-2")]
    assert len(log(*lines)) == 6
    assert len(log(at(0, LOST, "GPU-1"), at(1, LOST, "gpu-1"))) == 1


# --- Followers and what is no failure ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("chain", "failures"),
    [
        ([48, 63, 94, 45], [48]),
        ([94, 45, 43], [94]),
        ([95, 63, 45, 45], [95]),
        ([63, 94, 45], [94]),
        ([79, 119, 154, 45], [79]),
        ([119, 120, 154, 45, 43], [119]),
        ([31, 43, 45], []),
        ([13, 13, 43], []),
        ([63], []),
        ([94, 79], [94, 79]),
        ([74, 74, 45], [74]),
    ],
)
def test_what_follows_is_no_failure_of_its_own(chain, failures):
    assert codes(log(*(at(i, message(code)) for i, code in enumerate(chain)))) == failures


def test_followers_keep_a_record_of_what_they_follow():
    result = log(at(0, LOST), at(1, message(45)))
    assert "follows Xid 79 of line 1" in result.events["why"].iloc[0]
    assert "then Xid 45" in result.table["detail"].iloc[0]


def test_a_follower_on_another_gpu_or_long_after_follows_nothing():
    result = log(at(0, LOST), at(1, message(45, "0000:5e:00")), at(5000, message(45)))
    assert not result.events["why"].str.contains("follows").any()


def test_what_follows_keeps_the_failure_going():
    lines = [at(t, message(code)) for t, code in ((0, 79), (500, 119), (1000, 45), (1500, 119))]
    assert codes(log(*lines)) == [79]
    assert codes(log(*lines[:1], *lines[3:])) == [79, 119]


def test_a_recovery_action_counts_only_where_nothing_else_does():
    needed = "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"
    none = "GPU recovery action changed from 0x2 (Node Reboot Required) to 0x0 (None)"
    line = "NVRM: Xid (PCI:0000:3b:00): 154, "
    assert codes(log(at(0, LOST), at(1, line + needed))) == [79]
    assert codes(log(at(0, message(31)), at(1, line + needed))) == [154]
    assert codes(log(at(0, line + none))) == []


@pytest.mark.parametrize(("word", "kind"), [("Fatal", 1), ("Nonfatal", 0), ("Non-fatal", 0), ("", 0)])
def test_the_line_says_whether_an_nvlink_fault_is_fatal(word, kind):
    result = log(at(0, message(149, text=f"NETIR_LINK_EVT {word} XC0 i0 Link 08 (0x0)")))
    assert len(result) == kind
    if not word:
        assert result.events["kind"].tolist() == ["review"]


@pytest.mark.parametrize("code", [999, 1, 173, 167, 142])
def test_codes_that_nobody_explains_are_for_review(code):
    result = log(at(0, message(code)))
    assert len(result) == 0
    assert result.events["kind"].tolist() == ["review"]


def test_gpus_that_fail_together_are_one_incident_of_the_node():
    gpus = [f"0000:{bus:02x}:00" for bus in range(8)]
    result = log(*(at(i, message(79, gpu)) for i, gpu in enumerate(gpus)), at(200, message(119, gpus[5])))
    assert codes(result) == [79]
    assert result.table["gpus"].tolist() == [8]
    assert len(log(at(0, message(79, gpus[0])), at(61, message(79, gpus[1])))) == 2


def test_the_other_end_of_a_link_is_no_failure_of_its_own():
    assert codes(log(at(0, LOST), at(2, message(74, "0000:5e:00")))) == [79]


def test_which_codes_count_can_be_told():
    lines = [at(0, message(31)), at(5000, LOST), at(9000, message(999))]
    assert codes(log(*lines)) == [79]
    assert codes(log(*lines, failure_codes=[31, 999])) == [31, 999]


# --- SXid --------------------------------------------------------------------------------------------


def switch(seconds, number, code, text):
    return f"[{seconds:.6f}] nvidia-nvswitch{number}: SXid (PCI:0000:8{number}:00.0): {code}, {text}"


def test_sxid_events_are_put_together_in_any_order():
    parts = ["Data {0x10}", "Non-fatal, Link 16 x", "Severity 0 Engine instance 16 Sub-engine instance 00"]
    other = ["Non-fatal, Link 9 y", "Severity 0 Engine instance 9 Sub-engine instance 00"]
    mixed = [parts[1], other[0], other[1], parts[2], parts[0]]
    for order in (parts, parts[::-1], mixed):
        result = log(*(switch(29 + i / 1000, 3, 22013, text) for i, text in enumerate(order)))
        assert len(result) == 0
        assert result.events["link"].tolist() == ([16, 9] if order is mixed else [16])
        assert not result.events["fatal"].any() and result.events["xid"].isna().all()


def test_events_of_two_links_of_one_switch_do_not_mix():
    severity = "Severity 0 Engine instance {} Sub-engine instance 00"
    texts = ["Fatal, Link 16 x", severity.format(9), severity.format(16), "Non-fatal, Link 9 y"]
    result = log(*(switch(29 + i / 1000, 3, 22013, text) for i, text in enumerate(texts)))
    assert (result.table["link"].tolist(), result.events["link"].tolist()) == ([16], [9])


def test_fatal_events_of_a_fabric_are_one_incident_and_no_gpus():
    result = log(
        switch(100, 1, 20034, "Fatal, Link 21 LTSSM Fault Up"),
        switch(100.004, 0, 20034, "Fatal, Link 9 LTSSM Fault Up"),
        f"[100.500000] {message(74)}",
        switch(5000, 0, 20034, "Fatal, Link 9 LTSSM Fault Up"),
    )
    assert result.table["sxid"].tolist() == [20034, 20034]
    assert result.table["cls"].tolist() == ["network", "network"]
    assert result.table["gpu"].isna().all()


def test_an_sxid_that_says_nothing_of_its_weight_is_for_review():
    result = log(switch(1, 1, 20034, "Severity 1 Engine instance 21 Sub-engine instance 00"))
    assert (len(result), result.events["kind"].tolist()) == (0, ["review"])


# --- Lines that quote --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "XidCriticalError: Xid=79 on Device=GPU-33333333-aaaa-4bbb-8ccc-000000000003, the device will go unhealthy.",
        '{"level":"INFO","message":"ErrorCode:79 PCI:0000:3b:00 kernel: NVRM: Xid (PCI:0000:3b:00): 79, x"}',
        'DCGM_FI_DEV_XID_ERRORS{gpu="3",UUID="GPU-33333333-aaaa-4bbb-8ccc-000000000003"} 79',
        "GPU 3: XID error 79 seen by NVML",
        '{"gpu": 3, "xid": 79}',
    ],
)
def test_other_programs_confirm_and_do_not_count(text):
    result = log(at(0, LOST), at(1, text, program="agent[7]"), at(7200, text, program="agent[7]"))
    assert len(result) == 1
    assert result.table["confirmed_by"].tolist() == ["agent"]
    assert len(result.events) == 0
    # Without the kernel's line it is for review, once.
    result = log(at(1, text, program="agent[7]"), at(7200, text, program="agent[7]"))
    assert (len(result), result.events["messages"].tolist()) == (0, [2])


@pytest.mark.parametrize(
    "text",
    [
        "admin : TTY=pts/3 ; COMMAND=/usr/bin/grep 'NVRM: Xid (PCI:0000:3b:00): 79' /var/log/syslog",
        "health.go:150] Ignoring event for Xid 43 on GPU 2",
        'DCGM_FI_DEV_XID_ERRORS{gpu="3"} 0',
        "DHCPREQUEST of 10.0.0.7 (xid=0x7b3c)",
        "RPC: xid 12 timed out",
    ],
)
def test_lines_that_say_nothing_about_a_fault(text):
    result = log(at(0, "Linux version 6.8"), at(1, text, program="x[1]"))
    assert (len(result), len(result.events)) == (0, 0)


def test_a_second_device_cannot_share_one_message_of_the_kernel():
    said = "XidCriticalError: Xid=79 on Device=GPU-{0}{0}{0}{0}{0}{0}{0}{0}-aaaa, unhealthy"
    result = log(at(0, LOST), *(at(i, said.format(i), program="plugin[2]") for i in (1, 2)))
    assert (len(result), result.events["line"].tolist()) == (1, [3])


def test_the_kernels_own_words_from_another_writer_confirm_nothing():
    result = log(at(0, LOST), at(1, LOST, program="root[4502]"))
    assert result.table["confirmed_by"].isna().all()
    assert result.events["source"].tolist() == ["root[4502]"]


def test_a_uuid_leads_to_its_address():
    name = at(0, "NVRM: GPU at PCI:0000:5e:00: GPU-11111111-aaaa-4bbb-8ccc-000000000001")
    said = at(9, "XidCriticalError: Xid=79 on Device=GPU-11111111-aaaa-4bbb-8ccc-000000000001", program="plugin[2]")
    result = log(name, at(1, LOST), said)
    assert result.table["confirmed_by"].isna().all()
    assert result.events["kind"].tolist() == ["review"]
    assert log(name, at(1, message(79, "0000:5e:00")), said).table["uuid"].str.startswith("GPU-1111").all()


# --- Time --------------------------------------------------------------------------------------------


def test_seconds_since_boot_stay_so():
    result = log(f"[90214.500125] {LOST}")
    assert (result.origin, result.zone, result.table["start_s"].tolist()) == (None, None, [90214.500125])
    assert result.table["start"].isna().all()
    known = log(f"[90214.500125] {LOST}", booted_at="2025-07-13T00:00:00Z")
    assert str(known.table["start"][0]) == "2025-07-14 01:03:34.500125+00:00"


def test_a_zone_that_is_not_stated_is_unknown_until_told():
    line = f"2025-07-14 09:12:03 gpu-1 kernel: {LOST}"
    assert log(line).zone is None
    assert any("time zone" in reason for reason in reasons(log(line), "unknown"))
    told = log(line, zone="Europe/Berlin")
    assert told.zone == "Europe/Berlin"
    assert told.table["start"][0].tz_convert("UTC").hour == 7
    stated = log(f"2025-07-14T09:12:03+02:00 gpu-1 kernel: {LOST}", zone="Europe/Berlin")
    assert stated.table["start"][0] == told.table["start"][0]


def test_the_hour_that_a_zone_has_twice_is_noted():
    result = log(f"2025-10-26 02:30:00 gpu-1 kernel: {LOST}", zone="Europe/Berlin")
    assert any("twice" in reason for reason in reasons(result, "assumed"))


def test_a_year_is_not_made_up():
    quiet = "Dec 31 23:00:00 gpu-2 systemd[1]: x"
    lines = [quiet, f"Dec 31 23:59:58 gpu-1 kernel: {LOST}", f"Jan  1 00:10:03 gpu-2 kernel: {LOST}"]
    result = log(*lines)
    assert result.origin is None and result.table["start"].isna().all()
    assert result.table["start_s"].diff().tolist()[1:] == [605]
    assert any("no year" in reason for reason in reasons(result, "unknown"))
    told = log(*lines, collected_at="2026-01-03T09:00:00Z")
    assert told.table["start"].dt.year.tolist() == [2025, 2026]
    assert any("years" in reason for reason in reasons(told, "assumed"))


def test_hosts_one_after_the_other_cannot_be_compared_without_years():
    lines = [f"Dec 31 23:59:58 gpu-1 kernel: {LOST}", f"Jan  1 00:10:03 gpu-2 kernel: {LOST}"]
    assert log(*lines).table["start_s"].isna().all()
    # Within a host the times still tell storms apart.
    assert len(log(lines[0], f"Mar  1 00:00:00 gpu-1 kernel: {LOST}", lines[1])) == 3


def test_the_months_of_quiet_lines_tell_years_apart():
    quiet = [f"{month} 15 00:00:00 gpu-1 systemd[1]: x" for month in ("Aug", "Dec", "Mar")]
    result = log(
        f"Mar  1 00:00:00 gpu-1 kernel: {LOST}",
        *["Jul  1 00:00:00 gpu-1 systemd[1]: x"] * 300,
        *quiet,
        f"Apr  1 00:00:00 gpu-1 kernel: {LOST}",
        collected_at="2025-05-01",
    )
    assert result.table["start"].dt.year.tolist() == [2024, 2025]


def test_a_clock_that_was_not_set_yet_gives_no_time():
    result = log(at(0, LOST), "1970-01-01T00:00:05Z gpu-2 kernel: " + LOST)
    assert result.table["start"].isna().tolist() == [False, True]
    assert any("not set" in reason for reason in reasons(result, "unknown"))


def test_a_host_that_is_not_named_is_unknown_until_told():
    line = f"[90214.500125] {LOST}"
    assert log(line).table["node"].tolist() == [None]
    assert log(line, node="gpu-7").table["node"].tolist() == ["gpu-7"]


def test_the_window_of_observation_is_what_the_user_says():
    lines = [at(0, LOST), at(86_400, LOST)]
    assert log(*lines).observed_s is None
    result = log(*lines, observed_from="2025-07-14T12:00Z", observed_to="2025-07-16T00:00Z", nodes=4)
    assert (len(result), result.observed_s, result.nodes) == (1, (0.0, 36 * 3600.0), 4)


def test_no_failure_is_an_empty_table():
    result = log(at(0, "Linux version 6.8"), at(1, "usb 1-1: new device"))
    assert len(result) == 0 and len(result.events) == 0
    assert str(result)


# --- What is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "hello\nworld\n", "<html></html>\n"])
def test_other_files_are_refused(text):
    with pytest.raises(LogError, match=r"kern\.log, line 1: found .* expected lines of a kernel log"):
        log(text)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("storm_window_s", 0),
        ("storm_window_s", float("nan")),
        ("storm_window_s", "600"),
        ("failure_codes", ["79"]),
        ("failure_codes", [-1]),
        ("zone", "Nowhere/Land"),
        ("collected_at", "yesterday-ish"),
        ("collected_at", 7),
        ("booted_at", "?"),
        ("node", ""),
        ("nodes", 0),
        ("nodes", True),
        ("observed_from", "?"),
    ],
)
def test_bad_options_are_named(option, value):
    with pytest.raises(ValueError, match=option.split("_codes")[0]):
        log(at(0, LOST), **{option: value})


def test_one_boot_time_is_not_that_of_several_boots():
    with pytest.raises(ValueError, match="booted_at"):
        log(f"[1000.000001] {LOST}", f"[50.000001] {LOST}", booted_at="2025-07-13")


# --- Anything at all ---------------------------------------------------------------------------------

REAL = [
    at(0, LOST),
    at(1, f"message repeated 3 times: [ {LOST}]"),
    f"[90214.500125] {message(119)}",
    "Feb 29 00:00:00 gpu-1 kernel: " + message(31),
    switch(1, 1, 20034, "Fatal, Link 21 x"),
    at(3, 'DCGM_FI_DEV_XID_ERRORS{gpu="3"} 79', program="exporter"),
    "-- Boot 0123 --",
    json.dumps({"MESSAGE": LOST, "_TRANSPORT": "kernel", "__REALTIME_TIMESTAMP": "1752484323123456"}),
    '<3>1 2025-07-14T09:12:03.118Z gpu-1 kernel - - [a b="c"] ' + LOST,
]


@settings(derandomize=True, max_examples=20, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(REAL), st.integers(0, 150), st.integers(0, 150), st.text(max_size=6)), max_size=8
    ),
    st.sampled_from([None, "2026-01-03T09:00:00Z"]),
)
def test_broken_lines_break_nothing(parts, collected_at):
    lines = [line[:start] + mess + line[end:] for line, start, end, mess in parts]
    try:
        result = log(*lines, collected_at=collected_at)
    except LogError:
        return
    assert len(result) <= sum(line.count("Xid") for line in lines)
    assert (result.table["messages"] >= 1).all()
    assert "\x1b" not in "".join(result.table["detail"])


def test_control_characters_are_shown_escaped():
    result = log(at(0, message(999, text="a\x1b[2Jb\u202ec")))
    assert "\\x1b[2J" in result.events["detail"][0] and result.events["detail"][0].isprintable()


@pytest.mark.parametrize(
    "piece", ["[" * 5000, "message repeated " * 2000, "Xid (" * 5000, "a" * 100_000, '{"a":' * 3000, "9" * 5000]
)
def test_long_lines_take_no_long_time(piece):
    start = time.perf_counter()
    lines = [
        head + piece
        for head in ("", "Xid NVRM: ", at(0, "NVRM: Xid (PCI:0000:3b:00): 79, pid="), at(0, "gpu Xid ", program="x"))
    ]
    log(at(0, LOST), *lines)
    assert time.perf_counter() - start < 2


def test_quotes_remember_a_bounded_number(monkeypatch):
    monkeypatch.setattr(quotes, "MOST_REMEMBERED", 3)
    result = log(at(0, LOST), *(at(i, f"GPU Xid={i}", program="a[1]") for i in range(100, 110)))
    assert len(result.events) == 3


# A file of another kind -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "2024-01-01 10:00:00 status installed foo:amd64 1.2",
        "[2025-10-05 08:01:00.000000] iteration 10/5000 | lm loss: 2.1 |",
        "2025-01-01 00:00:00,123 INFO trainer: step 1",
        "2025-06-24 14:36:25 status triggers-pending libc-bin:amd64 2.36-9",
        "2025-06-24 14:36:25 status libc-bin:amd64 2.36-9",
    ],
)
def test_the_log_of_another_program_is_no_kernel_log_without_failures(line, tmp_path):
    (tmp_path / "log").write_text((line + "\n") * 3)
    for kind in ("auto", "xid"):
        with pytest.raises(LogError, match="line 1"):
            incidents.read(tmp_path / "log", format=kind)


@pytest.mark.parametrize(
    "line",
    [
        "[   41.772310] usb 1-1: new device",
        "[Mon Jul 14 09:12:03 2025] usb 1-1: new device",
        "2025-07-14T09:12:03,123456+00:00 usb 1-1: new device",
        "Jul 14 09:12:03 n1 systemd[1]: Started.",
        "6,339,5140900,-;usb 1-1: new device",
    ],
)
def test_a_healthy_log_is_read_and_has_no_failure(line, tmp_path):
    (tmp_path / "log").write_text(line + "\n")
    assert len(incidents.read(tmp_path / "log")) == 0


def test_two_gpus_that_are_cut_into_instances_are_told_apart():
    result = log(*(at(90 * i, message(48, gpu=f"0000:{bus}:00 GPU-I:0{i}")) for i, bus in enumerate(("3b", "5e"))))
    assert result.table["gpu"].tolist() == ["0000:3b:00", "0000:5e:00"]


def test_the_stamp_is_the_time_as_the_line_says_it():
    lines = ["2025-07-14T09:12:03.5+02:00 gpu-1 kernel: " + LOST, "[   41.5] " + LOST.replace("3b", "5e")]
    result = log(*lines)
    assert result.table["stamp"].tolist() == ["2025-07-14T09:12:03.500000+02:00", None]


def test_the_collector_runs_again_afterwards():
    assert gc.isenabled()
    log(at(0, LOST))
    assert gc.isenabled()
    with pytest.raises(ValueError):
        log(at(0, LOST), storm_window_s=0)
    assert gc.isenabled()
