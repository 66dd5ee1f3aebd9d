"""Tables of incidents, as CSV and Parquet."""

import gzip
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliability import incidents
from reliability.logs.notes import LogError

US = "node,start,end,class\n"


def read(tmp_path, text, name="t.csv", **options):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return incidents.read(path, **options)


def kinds(found):
    return {
        n.reason.split(":")[0]: n.count
        for n in found.notes
        if n.kind != "unknown" or not n.reason.startswith("time zone")
    }


MESSY = (
    "\ufeffHost;Began;Fixed;Category;Hours down;Remarks\r\n"
    "N[3-4];02/06/2025 10:00;02/06/2025 11:30;Power ;1,50;one feed\r\n"
    "n1;01/06/2025 08:00;01/06/2025 10:00;gpu;2,00;\"a; b\"\r\n"
    "n1;01/06/2025 09:00;01/06/2025 12:00;GPU;3,00;same outage\r\n"
    "n1;01/06/2025 08:00;01/06/2025 10:00;gpu;2,00;\"a; b\"\r\n"
    "n2;13/06/2025 08:00;;GPU;;open\r\n"
    "\r\n"
    "N2;12/06/2025 08:00;12/06/2025 08:00;GPU;0,00;reset\r\n"
    "n5;05/06/2025 08:00;04/06/2025 08:00;GPU;;typed wrong\r\n"
    "n5;31/06/2025 08:00;01/07/2025 08:00;GPU;;no such day\r\n"
    ";05/06/2025 08:00;05/06/2025 09:00;GPU;;nowhere\r\n"
    "n6;06/06/2025 08:00;06/06/2025 09:00;;2.000,00;says 2000 hours\r\n"
)  # fmt: skip


def test_a_messy_table_is_read_rightly(tmp_path):
    found = read(tmp_path, MESSY)
    assert found.format == "csv"
    assert found.rows == 10
    assert found.table["node"].tolist() == ["n1", "N3", "N4", "n6", "n2", "n2"]
    assert found.table["line"].tolist() == [3, 2, 2, 12, 8, 6]
    assert found.down_hours() == {"n1": 4.0, "N3": 1.5, "N4": 1.5, "n2": 0.0, "n6": 1.0}
    assert found.table["open"].tolist() == [False] * 5 + [True]
    assert np.isnan(found.table["end_s"].iloc[-1])
    assert found.table["cls"].tolist() == ["GPU", "Power", "Power", "unknown", "GPU", "GPU"]
    assert found.table["group"].tolist() == [-1, 0, 0, -1, -1, -1]
    assert found.table["detail"].iloc[0] == "a; b"
    notes = {n.reason: n.lines for n in found.notes}
    assert notes["exact duplicates of an earlier row"] == (5,)
    assert notes["overlapping outages of one node, counted as one"] == (4,)
    assert notes["end before start"] == (9,)
    assert notes["start is no date"] == (10,)
    assert notes["no node"] == (11,)
    assert notes["'Hours down' contradicts start and end, which are used"] == (12,)
    assert notes["class"] == (12,)
    assert found.dropped == 4
    assert found.zone is None
    assert found.nodes is None
    assert found.observed_s is None
    assert found.events["why"].tolist() == ["exact duplicate", "overlaps an outage of its node"]


@pytest.mark.parametrize("change", ["gzip", "utf-16", "tab", "bar", "shuffled", "no-end", "latin-1"])
def test_its_dress_does_not_matter(tmp_path, change):
    wanted = read(tmp_path, MESSY).table
    raw = MESSY.encode()
    if change == "gzip":
        raw = gzip.compress(raw)
    elif change == "utf-16":
        raw = MESSY.lstrip("\ufeff").encode("utf-16")
    elif change in ("tab", "bar"):
        raw = MESSY.replace("a; b", "a, b").replace(";", "\t" if change == "tab" else "|").encode()
    elif change == "shuffled":
        head, *rows = MESSY.strip().split("\r\n")
        raw = "\r\n".join([head, *rows[::-1]]).encode()
    elif change == "no-end":
        raw = MESSY.rstrip().encode()
    elif change == "latin-1":
        raw = MESSY.lstrip("\ufeff").replace("reset", "zur\u00fcck").encode("latin-1")
    found = read(tmp_path, raw).table
    for column in ("start", "end", "open"):
        assert found[column].equals(wanted[column])
    # A shuffled file has another first spelling of equals.
    assert found["node"].str.lower().tolist() == wanted["node"].str.lower().tolist()


def test_a_parquet_table_is_read_as_the_csv(tmp_path):
    frame = pd.DataFrame(
        {
            "node": ["a", "b", None, "a"],
            "start": pd.to_datetime(["2025-01-01 00:00", "2025-01-02", "2025-01-03", "2025-01-05"], format="ISO8601"),
            "end": pd.to_datetime(["2025-01-01 02:00", None, "2025-01-04", "2025-01-05 01:00"], format="ISO8601"),
            "class": pd.Categorical(["x", "y", "x", "x"]),
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    one, two = (incidents.read(tmp_path / f"t.{kind}") for kind in ("parquet", "csv"))
    columns = ["start", "end", "start_s", "end_s", "open", "node", "cls"]
    pd.testing.assert_frame_equal(one.table[columns], two.table[columns])
    assert one.format == "parquet"
    assert kinds(one) == kinds(two) == {"no node": 1}
    frame.assign(
        start=frame["start"].dt.tz_localize("Europe/Berlin"), end=frame["end"].dt.tz_localize("Europe/Berlin")
    ).to_parquet(tmp_path / "z.parquet")
    found = incidents.read(tmp_path / "z.parquet")
    assert found.zone == "UTC"
    assert str(found.table["start"].iloc[0]) == "2024-12-31 23:00:00+00:00"
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(LogError, match="broken.parquet: found"):
        incidents.read(tmp_path / "broken.parquet")


@pytest.mark.parametrize(
    ("header", "value", "hours"),
    [("downtime_min", "90", 1.5), ("Duration (h)", "1.5", 1.5), ("seconds lost", "5400", 1.5), ("down_days", "0.0625", 1.5),
     ("duration", "01:30:00", 1.5), ("duration", "PT1H30M", 1.5), ("outage", "1h 30m", 1.5), ("ttr_ms", "5400000", 1.5)],
)  # fmt: skip
def test_a_duration_in_place_of_an_end(tmp_path, header, value, hours):
    found = read(tmp_path, f"node,start,{header}\na,2025-11-03 08:00,{value}\nb,2025-11-04,\n")
    assert found.down_hours() == {"a": hours}
    assert found.table["open"].tolist() == [False, True]


def test_a_duration_without_unit_is_not_guessed(tmp_path):
    text = "node,start,duration\na,2025-11-03 08:00,90\n"
    with pytest.raises(
        LogError, match="line 2: found '90', expected a unit in the name of column duration.*duration_unit"
    ):
        read(tmp_path, text)
    assert read(tmp_path, text, duration_unit="min").down_hours() == {"a": 1.5}
    with pytest.raises(ValueError, match="duration_unit = 'fortnight'"):
        read(tmp_path, text, duration_unit="fortnight")
    # Beside an end it is only compared, and so may stay unknown.
    found = read(tmp_path, "node,start,end,duration\na,2025-11-03 08:00,2025-11-03 09:30,90\n")
    assert kinds(found)["unit of 'duration'"] == 1
    assert read(tmp_path, "node,start,down_min\na,2025-11-03,-5\nb,2025-11-03,5\n").dropped == 1


def test_an_end_that_is_missing_is_open_only_at_the_last(tmp_path):
    found = read(
        tmp_path,
        US
        + "a,2025-01-01,,x\na,2025-01-05,,x\nb,2025-01-02,ongoing,x\nc,2025-01-02,garbage,x\nc,2025-01-03,2025-01-04,x\n",
    )
    assert found.table[["node", "open"]].values.tolist() == [
        ["a", False], ["b", True], ["c", False], ["c", False], ["a", True]
    ]  # fmt: skip
    assert found.table["end_s"].isna().tolist() == [True, True, True, False, True]
    found = read(tmp_path, "node,start\na,2025-01-01\nb,2025-01-02\n")
    assert not found.table["open"].any()
    assert found.table["end"].isna().all()


def test_zones(tmp_path):
    found = read(tmp_path, US + "a,2025-01-01T00:00:00Z,2025-01-01T03:00:00+01:00,x\n")
    assert (found.zone, found.down_hours()) == ("UTC", {"a": 2.0})
    # An outage over the night in which summer time begins is an hour shorter than the clock shows.
    text = US + "a,2025-03-29 23:00,2025-03-30 04:00,x\nb,2025-10-26 02:30,2025-10-26 04:00,x\n"
    found = read(tmp_path, text, zone="Europe/Berlin")
    assert found.down_hours() == {"a": 4.0, "b": 2.5}
    assert kinds(found)["hour that Europe/Berlin has twice, taken as its first"] == 1
    assert read(tmp_path, text).down_hours() == {"a": 5.0, "b": 1.5}
    assert [n.count for n in read(tmp_path, text).notes if n.reason.startswith("time zone")] == [2]
    found = read(tmp_path, US + "a,2025-03-30 02:30,2025-03-30 04:00,x\nb,2025-03-30 05:00,,x\n", zone="Europe/Berlin")
    assert found.table["node"].tolist() == ["b"]
    with pytest.raises(LogError, match="line 3: found 'a time without zone'.*zone="):
        read(tmp_path, US + "a,2025-01-01T00:00:00Z,,x\nb,2025-01-01 00:00:00,,x\n")
    with pytest.raises(ValueError, match="zone = 'Berlin'"):
        read(tmp_path, text, zone="Berlin")


def test_epoch_and_relative_times(tmp_path):
    found = read(tmp_path, "node,start,end\na,1762156800,1762160400\n")
    assert (found.zone, found.down_hours()) == ("UTC", {"a": 1.0})
    found = read(tmp_path, "node,start_h,end_h\na,10,11.5\nb,2,\n")
    assert found.origin is None
    assert found.table["start_s"].tolist() == [7200.0, 36000.0]
    assert found.down_hours() == {"a": 1.5}
    assert found.table["start"].isna().all()
    assert str(found)
    with pytest.raises(LogError, match="line 2: found '10', expected a date"):
        read(tmp_path, "node,start,end\na,10,11.5\nb,2,\n")


def test_what_the_user_says_about_the_watch(tmp_path):
    text = US + "a,2025-01-01,2025-01-02,x\nb,2025-02-01,2025-02-02,x\nb,2025-03-01,2025-03-02,x\n"
    found = read(tmp_path, text, nodes=8, observed_from="2025-01-15", observed_to="2025-02-15")
    assert (len(found), found.nodes) == (1, 8)
    assert found.observed_s == (0.0, 31 * 86400.0)
    assert found.table["start_s"].tolist() == [17 * 86400.0]
    assert kinds(found)["start outside the window of observation"] == 2
    for options in ({"nodes": 0}, {"nodes": 1.5}, {"observed_from": "x"}, {"observed_from": 7}, {"observed_to": "2025-01-01T00:00Z"},
                    {"observed_from": "2025-02-01", "observed_to": "2025-01-01"}):  # fmt: skip
        with pytest.raises(ValueError, match=next(iter(options))):
            read(tmp_path, text, **options)
    found = read(tmp_path, "node,start_h,end_h\na,10,11.5\n", observed_from=0, observed_to=86400)
    assert found.observed_s == (0.0, 86400.0)
    assert found.table["start_s"].tolist() == [36000.0]


def test_several_systems(tmp_path):
    text = "cluster,node,start,end\nx,n1,2025-01-01,2025-01-03\ny,n1,2025-01-02,2025-01-04\ny,n2,2025-01-02,2025-01-02 01:00\n"
    found = read(tmp_path, text)
    assert len(found) == 3
    assert [(name, len(part), part.rows) for name, part in found.by_system()] == [("x", 1, 1), ("y", 2, 2)]
    one = read(tmp_path, text, system="Y")
    assert (len(one), one.rows) == (2, 2)
    with pytest.raises(LogError, match="system 'z' among x, y"):
        read(tmp_path, text, system="z")
    with pytest.raises(LogError, match="a column for the system"):
        read(tmp_path, US + "a,2025-01-01,,x\n", system="z")


def test_columns_that_only_the_user_knows(tmp_path):
    text = "wer,von,bis\na,2025-01-01 00:00,2025-01-01 02:00\n"
    with pytest.raises(LogError, match="line 1: found 'wer,von,bis'"):
        read(tmp_path, text)
    found = read(tmp_path, text, format="csv", columns={"node": "wer", "start": "von", "end": "bis"})
    assert found.down_hours() == {"a": 2.0}


def test_without_nodes_nothing_is_merged(tmp_path):
    found = read(tmp_path, "start,end\n2025-01-01,2025-01-03\n2025-01-02,2025-01-04\n")
    assert found.table["node"].tolist() == [None, None]
    assert kinds(found)["node"] == 2


def test_rows_of_a_wrong_length(tmp_path):
    text = (
        US
        + "a,2025-01-01,2025-01-02,x,,\n"  # trailing separators
        + "b,2025-01-01,2025-01-02\n"  # no class, but whole
        + "c,2025-01-01\n"  # cut: not an open outage
        + "d,2025-01-01,2025-01-02,x,y\n"
        + 'e,2025-01-01,2025-01-02,"x\ny"\n'
        + "f,2025-01-01,2025-01-02,x\n"
        + "g,2025-01-01,2025-0"
    )
    found = read(tmp_path, text)
    assert found.table[["node", "line"]].values.tolist() == [["a", 2], ["b", 3], ["e", 6], ["f", 8]]
    notes = {n.reason: n.lines for n in found.notes}
    assert notes["fewer fields than the header's 4"] == (4,)
    assert notes["more fields than the header's 4"] == (5,)
    assert notes["last line cut short"] == (9,)
    assert notes["rows over several lines, within quotes"] == (6,)
    assert found.rows == 7


def test_a_quotation_that_swallows_rows_is_refused(tmp_path):
    rows = "".join(f"n{i},2025-01-0{i},2025-01-0{i} 01:00,x\n" for i in range(1, 6))
    with pytest.raises(LogError, match="quotation"):
        read(tmp_path, US + rows.replace("n2", '"n2'))
    with pytest.raises(LogError, match="quotation"):
        read(tmp_path, US + rows.replace("n2", '"n2').replace("n5", 'n5"'))


def test_touching_is_not_overlapping_and_equal_starts_are_one(tmp_path):
    found = read(
        tmp_path,
        US + "a,2025-01-01 08:00,2025-01-01 09:00,x\na,2025-01-01 09:00,2025-01-01 10:00,x\n"
        "b,2025-01-01 08:00,2025-01-01 08:00,x\nb,2025-01-01 08:00,2025-01-01 08:30,y\n",
    )
    assert found.table["node"].tolist() == ["a", "b", "a"]
    assert found.down_hours() == {"a": 2.0, "b": 0.5}


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 40), st.integers(0, 10)), min_size=1, max_size=25))
def test_merging_against_the_minutes_themselves(tmp_path_factory, outages):
    """An obvious oracle: a set of minutes for each node."""
    base = pd.Timestamp("2025-01-01")
    rows = [f"n{n},{base + pd.Timedelta(minutes=s)},{base + pd.Timedelta(minutes=s + d)},x" for n, s, d in outages]
    found = read(tmp_path_factory.mktemp("m"), US + "\n".join(rows) + "\n")
    down = {}
    for n, s, d in outages:
        down.setdefault(f"n{n}", set()).update(range(s, s + d))
    assert {k: round(v * 60) for k, v in found.down_hours().items()} == {k: len(v) for k, v in down.items()}
    for _, part in found.table.groupby("node"):
        assert (part["start_s"].to_numpy()[1:] >= part["end_s"].cummax().to_numpy()[:-1]).all()
    merged = sum(n.count for n in found.notes if n.kind == "merged")
    assert len(found) + merged + found.dropped == found.rows == len(outages)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        (US + "a,soon,later,x\nb,now,then,x\n", "line 2: found 'soon', expected a date"),
        ("a,b\n1,2\n", "line 1: found 'a,b'"),
        (US + "a,03/04/2025,,x\n", "line 2: found '03/04/2025', expected to be told the order"),
        ("node;start;hours lost\na;2025-01-01;1.000\n", "column hours lost with one decimal sign"),
        ("node,start_h,end\na,1,2\n", "both in units"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path, text, message):
    with pytest.raises(LogError, match=message) as error:
        read(tmp_path, text)
    assert str(error.value).startswith("t.csv")


def test_a_header_alone_is_no_incident_and_says_so(tmp_path):
    found = read(tmp_path, US, nodes=4, observed_from="2025-01-01", observed_to="2025-01-04")
    assert (len(found), found.rows, found.nodes, found.observed_s) == (0, 0, 4, (0.0, 259200.0))
    assert kinds(found) == {"no row below the header": 1}
    assert "no incident" in str(found)
    assert len(read(tmp_path, US)) == 0


def test_many_rows_take_seconds(tmp_path):
    rng = np.random.default_rng(7)
    start = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.sort(rng.integers(0, 3e7, 20_000)), unit="s")
    frame = pd.DataFrame({"node": [f"n{i}" for i in rng.integers(0, 500, 20_000)], "start": start})
    frame["end"] = frame["start"] + pd.to_timedelta(rng.integers(1, 900, 20_000), unit="s")
    buffer = io.StringIO()
    frame.to_csv(buffer, index=False)
    found = read(tmp_path, buffer.getvalue())
    assert found.rows == 20_000
    assert len(found) + sum(n.count for n in found.notes if n.kind in ("merged", "dropped")) == 20_000


def test_a_title_above_the_header_and_a_total_below(tmp_path):
    text = "Incidents of 2025;;\n;;\nnode;start;end\na;2025-01-01 00:00;2025-01-01 02:00\nTotal;;2\n"
    found = read(tmp_path, text)
    assert found.down_hours() == {"a": 2.0}
    assert found.table["line"].tolist() == [4]
    assert kinds(found) == {"lines above the header": 2, "no start": 1, "end is no date": 1, "class": 1}


def test_date_and_time_in_two_columns(tmp_path):
    text = "Host,Start date,Start time,End date,End time\na,13/01/2025,08:00,13/01/2025,09:30\nb,14/01/2025,08:00,,\n"
    found = read(tmp_path, text)
    assert found.down_hours() == {"a": 1.5}
    assert found.table["open"].tolist() == [False, True]
    found = read(tmp_path, "Date,Time,Host,downtime_min\n2025-01-13,8:05,a,90\n")
    assert str(found.table["start"].iloc[0]) == "2025-01-13 08:05:00"


@pytest.mark.parametrize(
    ("column", "text", "hours"),
    [
        ("duration_h", "1:30", 1.5),
        ("Down Time (min)", "1:30", 0.025),
        ("downtime", "1:30:00", 1.5),
        ("downtime", "00:02.5", 2.5 / 3600),
        ("downtime", "1.5 h", 1.5),
        ("downtime", "1,5 h", 1.5),
        ("duration_min", "90", 1.5),
    ],
)
@pytest.mark.parametrize("separator", [";", "\t"])
def test_how_durations_are_written(tmp_path, column, text, hours, separator):
    found = read(tmp_path, f"node;start;{column}\na;2025-01-01 00:00;{text}\n".replace(";", separator))
    assert found.down_hours() == {"a": pytest.approx(hours)}


def test_two_fields_of_an_unknown_unit_are_not_guessed(tmp_path):
    text = "node,start,downtime\na,2025-01-01 00:00,1:30\n"
    with pytest.raises(LogError, match=r"line 2: found '1:30'.*hours and minutes duration_unit='h'"):
        read(tmp_path, text)
    assert read(tmp_path, text, duration_unit="h").down_hours() == {"a": 1.5}
    assert read(tmp_path, text, duration_unit="min").down_hours() == {"a": 0.025}
    # Beside an end it is not needed, and is not compared with it.
    beside = read(tmp_path, "node,start,end,downtime\na,2025-01-01 00:00,2025-01-01 01:30,1:30\n")
    assert beside.down_hours() == {"a": 1.5} and kinds(beside)["'downtime' is no duration"] == 1


def test_overlaps_and_the_duplicates_among_them_are_counted_inside_the_window(tmp_path):
    rows = [f"a,2025-01-0{day}T08:00Z,2025-01-0{day}T10:00Z,x\n" for day in (1, 1, 3)]
    text = US + "".join(rows) + "a,2025-01-03T09:00Z,2025-01-03T09:30Z,x\nb,2025-01-03T09:00Z,,x\n"
    found = read(tmp_path, text)
    assert (found.rows, len(found), found.overlaps, found.duplicates) == (5, 3, 2, 1)
    inside = read(tmp_path, text, observed_from="2025-01-02T00:00Z", observed_to="2025-01-05T00:00Z")
    assert (len(inside), inside.overlaps, inside.duplicates) == (2, 1, 0)


@pytest.mark.parametrize(
    "nothing", ["1970-01-01 00:00:00", "1970-01-01T00:00:00Z", "0001-01-01", "0001-01-01T00:00:00.000", "0"]
)
def test_what_a_program_writes_for_no_date_is_none(tmp_path, nothing):
    zone = "Z" if nothing.endswith("Z") else ""
    text = f"a,2025-01-01T00:00:00{zone},2025-01-02T00:00:00{zone},x\nb,{nothing},{nothing},x\n"
    found = read(tmp_path, US + text + f"c,2025-01-03T00:00:00{zone},{nothing},x\n")
    assert found.table["node"].tolist() == ["a", "c"] and found.down_hours() == {"a": 24.0}
    assert kinds(found)["start is no date"] == 1 and kinds(found)["end is no date"] == 2
    assert not found.table["open"].any()  # how long it lasted is unknown, and so is whether it still does


@pytest.mark.parametrize("length", ["1e306", "1e12", "-1e306", "x"])
def test_a_duration_that_is_none_leaves_the_end_unknown_and_not_open(tmp_path, length):
    rows = f"a,2025-01-01 00:00:00,{length}\nb,2025-01-02 00:00:00,2\nc,2025-01-03 00:00:00,\n"
    log = read(tmp_path, f"node,start,duration_h\n{rows}")
    assert log.table["open"].tolist() == [False, False, True]
    assert np.isnan(log.table["end_s"]).tolist() == [True, False, True]
    assert [note.lines for note in log.notes if "duration_h" in note.reason] == [(2,)]
