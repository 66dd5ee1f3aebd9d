"""Stamps of kernel logs say what they say, and years come only from what is known."""

import datetime
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliability.logs import stamps, years

EPOCH = datetime.datetime(1970, 1, 1)
NINE = datetime.datetime(2025, 7, 14, 9, 12, 3)


def us(moment):
    return (moment - EPOCH) // datetime.timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("text", "fraction", "offset"),
    [
        ("2025-07-14T09:12:03Z x", 0, 0),
        ("2025-07-14t09:12:03z x", 0, 0),
        ("2025-07-14T09:12:03+0000 x", 0, 0),
        ("2025-07-14T09:12:03.118211-07:00 x", 118211, -7 * 3600),
        ("2025-07-14T09:12:03,118211+05:30 x", 118211, 5.5 * 3600),
        ("2025-07-14T09:12:03.123456789Z x", 123456, 0),
        ("2025-07-14 09:12:03 x", 0, None),
        ("2025-07-14 09:12:03.5 +0200 x", 500000, 7200),
        ("Mon 2025-07-14 09:12:03 UTC x", 0, 0),
        ("Mon 2025-07-14 09:12:03 CEST x", 0, None),  # a name is no zone
        ("[Mon Jul 14 09:12:03 2025] x", 0, None),
        ("[2025-07-14T09:12:03.5+00:00] x", 500000, 0),
        ("Jul 14 2025 09:12:03 x", 0, None),
        ("2025 Jul 14 09:12:03 x", 0, None),
        ("1752484323.250000 x", 250000, 0),
    ],
)
def test_stamps_with_a_date(text, fraction, offset):
    stamp, rest = stamps.take(text)
    assert (stamp.wall_us, stamp.offset_s, rest) == (us(NINE) + fraction, offset, "x")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("[   41.772310] x", 41.77231),
        ("[90214.500125][ T1234] x", 90214.500125),
        ("[90214.500125][    C12] x", 90214.500125),
        ("[    1.500000 <    0.100000>] x", 1.5),
        ("[1000000.000001] x", 1000000.000001),
    ],
)
def test_seconds_since_boot_are_no_calendar(text, seconds):
    assert stamps.take(text) == (stamps.Stamp(boot_s=seconds), "x")


def test_a_stamp_without_year_has_none():
    stamp, rest = stamps.take("Dec 31 23:59:58 gpu-1 kernel: x")
    assert (stamp.wall_us, stamp.yearless, rest) == (None, (12, 31, (86400 - 2) * 1_000_000), "gpu-1 kernel: x")


@pytest.mark.parametrize("text", ["[Jul14 09:12] x", "[  +0.000003] x"])
def test_relative_times_tell_none(text):
    assert stamps.take(text) == (stamps.NONE, "x")


@pytest.mark.parametrize(
    "text",
    [
        "2025-13-14T09:12:03Z x",
        "2025-02-29T09:12:03Z x",
        "2025-07-14T24:12:03Z x",
        "2025-07-14T09:60:03Z x",
        "Feb 30 09:12:03 x",
        "Apr 31 09:12:03 x",
        "Xyz 14 09:12:03 x",
        "[x] y",
        "[[[[[[",
        "",
        "-",
    ],
)
def test_what_is_no_time_is_left_alone(text):
    assert stamps.take(text) == (None, text)


def test_a_leap_second_is_a_time():
    assert stamps.take("2016-12-31T23:59:60Z x")[0].wall_us == us(datetime.datetime(2017, 1, 1))


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.text(alphabet="[]<>+-.:, 0123456789TZJanFebMonUTC\n\t\x00", max_size=60))
def test_no_text_breaks_it(text):
    stamp, rest = stamps.take(text)
    assert stamp is not None or rest == text


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.datetimes(datetime.datetime(1970, 1, 2), datetime.datetime(2199, 1, 1)))
def test_isoformat_goes_there_and_back(moment):
    assert stamps.take(moment.isoformat(timespec="microseconds") + "Z x")[0].wall_us == us(moment)


# --- Years -------------------------------------------------------------------------------------------


@dataclass
class At:
    """A line with a host and a stamp; `dated` has a year."""

    host: str | None
    yearless: tuple | None = None
    wall_us: int | None = None


def yearless(host, month, day, hour=0):
    return At(host, (month, day, hour * 3_600_000_000))


def found(lines, collected="2026-01-03"):
    walls, how = years.resolve(
        lines, None if collected is None else us(datetime.datetime.fromisoformat(collected)), True
    )
    return [
        None if w is None else (EPOCH + datetime.timedelta(microseconds=w)).strftime("%Y-%m-%d") for w in walls
    ], how


def test_the_latest_year_that_is_not_after_the_collection():
    lines = [yearless("a", 12, 30), yearless("a", 12, 31), yearless("a", 1, 1), yearless("a", 1, 2)]
    assert found(lines) == (["2025-12-30", "2025-12-31", "2026-01-01", "2026-01-02"], "collected")


def test_a_late_line_is_no_new_year():
    lines = [yearless("a", 12, 31, 23), yearless("b", 1, 1), yearless("c", 12, 31, 22), yearless("b", 1, 2)]
    assert found(lines)[0] == ["2025-12-31", "2026-01-01", "2025-12-31", "2026-01-02"]


def test_years_add_up_over_a_long_log():
    lines = [yearless("a", month, 1) for _ in range(3) for month in (2, 6, 11)]
    assert found(lines)[0] == [f"{y}-{m:02d}-01" for y in (2023, 2024, 2025) for m in (2, 6, 11)]


def test_hosts_one_after_the_other_do_not_push_each_other_back():
    lines = [yearless("a", 3, 1), yearless("a", 12, 1), yearless("b", 2, 1), yearless("b", 11, 1)]
    assert found(lines)[0] == ["2025-03-01", "2025-12-01", "2025-02-01", "2025-11-01"]


def test_the_leap_day_finds_its_year():
    assert found([yearless("a", 2, 29), yearless("a", 3, 1)])[0] == ["2024-02-29", "2025-03-01"]
    assert found([yearless("a", 2, 28), yearless("a", 2, 29)])[0] == ["2024-02-28", "2024-02-29"]


def test_a_clock_may_be_ahead_of_utc_where_the_zone_is_unknown():
    collected = us(datetime.datetime(2026, 1, 3))
    line = yearless("a", 1, 3, 10)
    assert years.resolve([line], collected, False)[0] == [us(datetime.datetime(2026, 1, 3, 10))]
    assert years.resolve([line], collected, True)[0] == [us(datetime.datetime(2025, 1, 3, 10))]


def test_without_a_collection_time_later_lines_with_a_year_tell():
    lines = [yearless("a", 12, 31), At("a", None, us(datetime.datetime(2026, 1, 2)))]
    assert found(lines, None) == (["2025-12-31", "2026-01-02"], "neighbours")


def test_with_nothing_to_tell_only_differences_hold():
    walls, how = years.resolve([yearless("a", 12, 31), yearless("a", 1, 1)])
    assert how == "unknown"
    assert walls[1] - walls[0] == 86_400_000_000


def test_a_year_before_does_not_vouch_for_what_comes_after():
    lines = [At("a", None, us(datetime.datetime(2024, 1, 2))), yearless("a", 6, 1)]
    assert found(lines, None)[1] == "unknown"


def test_no_lines_need_no_years():
    assert years.resolve([]) == ([], "stamps")
