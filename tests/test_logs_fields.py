"""Fields of tables: dates, numbers, durations, host expressions, names, column names."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliability.logs import columns, durations, hostlist, names, numbers, table_dates
from reliability.logs.notes import LogError


def dates(*texts, day_first=None):
    found = table_dates.parse("t.csv", day_first, start=(pa.array(texts, pa.string()), np.arange(2, 2 + len(texts))))
    return found["start"]


def shown(stamps):
    return [
        None if us == table_dates.MISSING else str(np.datetime64(int(us), "s" if False else "us"))[:19]
        for us in stamps.us
    ]


@pytest.mark.parametrize(
    "text",
    [
        "2025-11-03 08:00:05",
        "2025-11-03T08:00:05",
        "2025-11-03T08:00:05Z",
        "2025-11-03 08:00:05.000",
        "2025-11-03T10:00:05+02:00",
        "2025-11-03T05:30:05-0230",
        "2025-11-03T09:00:05+01",
        "2025/11/3 8:00:05",
        "20251103T080005Z",
        "20251103080005",
        "3 Nov 2025 08:00:05",
        "03-NOV-2025 8:00:05 AM",
        "November 3, 2025 08:00:05",
        "Nov 3rd 2025, 8:00:05 a.m.",
        "Mon Nov  3 08:00:05 2025",
        "Mon, 03 Nov 2025 09:00:05 +0100",
        "1762156805",
        "1762156805.0",
        "1762156805000",
        "1762156805000000",
        "1762156805000000000",
    ],
)
def test_a_date_in_each_of_its_forms(text):
    assert shown(dates(text)) == ["2025-11-03T08:00:05"]


@pytest.mark.parametrize(
    "text", ["2025-02-30", "2025-13-01", "2025-11-03 25:00", "2025-11-03 08:61", "2025-11-0", "3 Foo 2025", "17", "x",
             "1969-01-01", "2025-11-03T08:00+29:00", "2025-11-03 13:00 PM", "45000.33", "2025-11-03 08:00 CET"]
)  # fmt: skip
def test_what_is_no_date_is_bad(text):
    found = dates(text, "2025-11-03")
    assert found.bad.tolist() == [True, False]
    assert found.missing.tolist() == [True, False]


def test_the_ends_of_a_day_and_words():
    found = dates(
        "2025-11-03 24:00", "2024-02-29", "2025-11-03 12:30 AM", "2025-11-03 12:30 PM", "", "Unknown", "ongoing"
    )
    assert shown(found)[:4] == [
        "2025-11-04T00:00:00",
        "2024-02-29T00:00:00",
        "2025-11-03T00:30:00",
        "2025-11-03T12:30:00",
    ]
    assert found.missing[4:].all()
    assert not found.bad.any()
    assert found.going_on.tolist() == [False] * 6 + [True]


def test_one_row_proves_the_order_of_the_whole_table():
    assert shown(dates("03/11/2025 08:00", "25/11/2025 09:00"))[0] == "2025-11-03T08:00:00"
    assert shown(dates("03/11/2025 08:00", "11/25/2025 09:00"))[0] == "2025-03-11T08:00:00"
    assert shown(dates("03.11.2025", day_first=True))[0] == "2025-11-03T00:00:00"
    assert shown(dates("03-11-2025", day_first=False))[0] == "2025-03-11T00:00:00"
    assert shown(dates("05/05/2025"))[0] == "2025-05-05T00:00:00"
    # Another column's row proves it as well.
    one, two = pa.array(["03/11/2025"]), pa.array(["13/11/2025"])
    found = table_dates.parse("t", start=(one, np.array([2])), end=(two, np.array([2])))
    assert shown(found["start"]) == ["2025-11-03T00:00:00"]


def test_an_order_that_no_row_proves_is_not_guessed():
    with pytest.raises(LogError, match=r"t.csv, line 2: found '03/11/2025', expected to be told the order.*day_first"):
        dates("03/11/2025", "04/11/2025")
    with pytest.raises(LogError, match=r"line 3: found '11/25/2025'.*line 2 has '25/11/2025'.*day_first"):
        dates("25/11/2025", "11/25/2025")
    with pytest.raises(LogError, match="year of four digits"):
        dates("25/11/25")
    found = dates("25/11/2025", "11/25/2025", day_first=True)
    assert found.bad.tolist() == [False, True]
    assert shown(dates("25/11/25", day_first=True)) == ["2025-11-25T00:00:00"]
    with pytest.raises(ValueError, match="day_first = 'yes'"):
        dates("2025-11-03", day_first="yes")


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.lists(st.datetimes(datetime.datetime(1971, 1, 1), datetime.datetime(2100, 1, 1)), min_size=1, max_size=5))
def test_dates_agree_with_the_standard_library(moments):
    for form in (
        "%Y-%m-%d %H:%M:%S",
        "%Y-%m-%dT%H:%M:%S.%f",
        "%d %b %Y %H:%M:%S",
        "%a %b %d %H:%M:%S %Y",
        "%Y%m%dT%H%M%S",
    ):
        texts = [moment.strftime(form) for moment in moments]
        wanted = [datetime.datetime.strptime(text, form) for text in texts]
        found = dates(*texts).us.astype("datetime64[us]").tolist()
        assert found == wanted
    texts = [m.strftime("%d/%m/%Y %H:%M") for m in moments]
    assert dates(*texts, day_first=True).us.tolist() == [
        int(np.datetime64(m.replace(second=0, microsecond=0), "us").astype(int)) for m in moments
    ]


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        (["2,50", "1.000,00", ""], [2.5, 1000.0, np.nan]),
        (["1,000.50", "2"], [1000.5, 2.0]),
        (["1.234.567", "2"], [1234567.0, 2.0]),
        (["0.125", "1.250"], [0.125, 1.25]),
        (["0,125", "1,250"], [0.125, 1.25]),
        (["1e3", "-5", "+7", "none"], [1000.0, -5.0, 7.0, np.nan]),
        (["1 000,5", "2\u00a0000,5", "3'000,5"], [1000.5, 2000.5, 3000.5]),
    ],
)
def test_the_decimal_sign_is_settled_for_the_column(texts, wanted):
    found, bad = numbers.parse(pa.array(texts), ";")
    np.testing.assert_array_equal(found, wanted)
    assert not bad.any()


def test_numbers_that_nothing_settles():
    for texts in (["1.000", "2.500"], ["1,000"], ["1,5", "1.5"]):
        with pytest.raises(numbers.AmbiguousDecimal):
            numbers.parse(pa.array(texts), ";")
    # A file parted by commas has decimal points, and the user may tell.
    assert numbers.parse(pa.array(["1.000", "2.500"]), ",")[0].tolist() == [1.0, 2.5]
    assert numbers.parse(pa.array(["1.000"]), ";", ",")[0].tolist() == [1000.0]
    assert numbers.parse(pa.array(["x", "1..2", "1.2"]), ",")[1].tolist() == [True, True, False]
    with pytest.raises(ValueError, match="decimal = ' '"):
        numbers.parse(pa.array(["1"]), ",", " ")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("00:00:42", 42), ("23:59:59", 86399), ("1-00:00:00", 86400), ("100-00:00:01", 8640001), ("00:02.345", 2.345),
     ("23:45.678", 1425.678), ("90:00", 5400), ("30:00:00", 108000), ("2-12", 216000), ("1-02:03", 86523),
     ("UNLIMITED", None), ("Partition_Limit", None), ("", None), ("INVALID", None)],
)  # fmt: skip
def test_slurms_durations(text, wanted):
    assert durations.slurm_seconds(text) == wanted


@pytest.mark.parametrize(
    "text", ["12", "1:2:3:4", "1-25:00:00", "00:61:00", "-1:00", "1.5", "a", "2025-11-03", "00:00:60"]
)
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ValueError, match="duration = "):
        durations.slurm_seconds(text)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(0, 10**7))
def test_slurms_durations_there_and_back(seconds):
    day, rest = divmod(seconds, 86400)
    text = f"{rest // 3600:02d}:{rest % 3600 // 60:02d}:{rest % 60:02d}"
    assert durations.slurm_seconds(f"{day}-{text}" if day else text) == seconds


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("PT1H30M", 5400), ("P1DT2H", 93600), ("2h 30m", 9000), ("1d2h", 93600), ("90 min", 5400), ("2 days 03:04:05", 183845),
     ("1 day, 0:00:05", 86405), ("1.5 hours", 5400), ("01:30:00", 5400), ("", None)],
)  # fmt: skip
def test_durations_that_say_their_unit(text, wanted):
    assert durations.seconds(text) == wanted


def test_a_bare_number_is_no_duration():
    for text in ("90", "1.5", "P", "PT", "soon"):
        with pytest.raises(ValueError, match="duration = "):
            durations.seconds(text)
    found, bad = durations.column_seconds(["00:10", "x", "", None])
    np.testing.assert_array_equal(found, [10, np.nan, np.nan, np.nan])
    assert bad.tolist() == [False, True, False, False]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("n[1-3,7]", ["n1", "n2", "n3", "n7"]),
        ("n[098-101]", ["n098", "n099", "n100", "n101"]),
        ("n[8-11]", ["n8", "n9", "n10", "n11"]),
        ("r[0-1]n[08-09]x", ["r0n08x", "r0n09x", "r1n08x", "r1n09x"]),
        ("a-7-b,c[2].d, e", ["a-7-b", "c2.d", "e"]),
        ("n[1,1-2]", ["n1", "n2"]),
        ("None assigned", []),
        ("(null)", []),
        ("", []),
    ],
)
def test_host_expressions(text, wanted):
    assert hostlist.expand(text) == wanted


@pytest.mark.parametrize("text", ["n[1-2", "n1-2]", "n[]", "n[[1]]", "a,,b", "a,", "n[a-b]", "n[1-]", "n[1-99999999]",
                                  "a[0-999]b[0-999]c[0-9]", "n[1 ,x]", "two words,b", "n[-3]"])  # fmt: skip
def test_cut_lists_are_refused(text):
    with pytest.raises(ValueError):
        hostlist.expand(text)


def test_a_range_backwards_is_told_apart():
    with pytest.raises(hostlist.ReversedRange, match="04-01 runs backwards"):
        hostlist.expand("n[04-01]")


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text(alphabet="ab01-,[] .\x00é", max_size=20))
def test_no_expression_does_worse_than_a_value_error(text):
    try:
        hosts = hostlist.expand(text)
    except ValueError:
        return
    assert all(host and not set("[], ") & set(host) for host in hosts)
    assert len(set(hosts)) == len(hosts)


def test_names_are_compared_without_case_and_blanks():
    codes, spelt = names.unified(["gpu ", "GPU", "", "GPU", "Node  1", "node 1"])
    assert codes.tolist() == [0, 0, -1, 0, 1, 1]
    assert spelt == ["GPU", "Node 1"]
    assert names.unified([])[1] == []


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("node;start;end;class", "csv"),
        ("Host Name,Start Time,Resolved At", "csv"),
        ("startTime\tendTime\thostname", "csv"),
        ("run,start_h,end_h,ended_by", "runs"),
        ("job_id,state,start,end,nodes", "slurm"),
        ("attempt,begin,finish,exit_reason", "runs"),
        ("JobID|State|Start|End|Elapsed|NNodes|NodeList|", "slurm"),
        ("step,rank,seconds", None),
        ("hello world", None),
        ("time", None),
    ],
)
def test_the_header_tells_the_kind(header, kind):
    assert columns.kind_of_header(header) == kind


def test_columns_by_name_and_by_word():
    header = ["Host Name", "Down since", "Hours lost", "Root Cause", "Comment"]
    assert columns.roles(header) == {
        "node": (0, None),
        "start": (1, None),
        "duration": (2, "h"),
        "cls": (3, None),
        "detail": (4, None),
    }
    assert columns.roles(["a", "b"], told={"start": "b"})["start"] == (1, None)
    with pytest.raises(ValueError, match="'begin' is no part"):
        columns.roles(["a"], told={"begin": "a"})
    with pytest.raises(LogError, match="did you mean 'Start'"):
        columns.roles(["Start"], told={"start": "Strat"})
