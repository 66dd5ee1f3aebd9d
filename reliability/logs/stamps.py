"""Time stamps of kernel logs: seconds since boot, dates with and without year, with and without zone.

A stamp says what its line says and no more: no year, no zone and no date is made up here.
"""

import functools
import re
from datetime import date
from typing import NamedTuple

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
NUMBER_OF = {name: i for i, name in enumerate(MONTHS, 1)}
DAY_US = 86_400_000_000
EPOCH = date(1970, 1, 1).toordinal()


class Stamp(NamedTuple):
    """What a line says about its time; each part is None where it says nothing.

    Attributes
    ----------
    wall_us : int
        The clock on the wall in microseconds since 1970 began on that clock.
    offset_s : int
        That clock's offset from UTC, where the stamp states it.
    yearless : (int, int, int)
        Month, day and microseconds of the day of a stamp without a year.
    boot_s : float
        Seconds since the machine was started.
    """

    wall_us: int | None = None
    offset_s: int | None = None
    yearless: tuple[int, int, int] | None = None
    boot_s: float | None = None


NONE = Stamp()
_WEEKDAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_MONTH = f"({'|'.join(MONTHS)})"
_CLOCK = r"(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?"
# A name such as CET is no zone: it means different offsets in different places. It is passed over.
_ISO = re.compile(
    rf"(?:{_WEEKDAY},? )?(\d{{4}}-\d\d-\d\d)[Tt ]{_CLOCK} ?(?:([Zz]|UTC|GMT|[+-]\d\d(?::?\d\d)?)(?![\w:]))?"
)
_ABBREVIATION = re.compile(r" ?[A-Z]{3,5}(?= )")
_SYSLOG = re.compile(
    rf"(?:(\d{{4}}) )?{_MONTH} {{1,3}}(\d{{1,2}})(?: (\d{{4}}))? {_CLOCK}(?: (UTC|GMT)(?!\w))?(?: (\d{{4}})(?= \S+ \S+:))?"
)
_CTIME = re.compile(rf"{_WEEKDAY} {{1,2}}{_MONTH} {{1,3}}(\d{{1,2}}) {_CLOCK}(?: ([A-Z]{{3,5}}))? (\d{{4}})(?!\d)")
_BOOT = re.compile(
    r"\[ {0,12}(\d{1,10}\.\d{1,9})(?: +<[ \d.]{1,20}>)?\](?: ?\[ {0,9}[TC]\d{1,10}\])?"
)  # with CONFIG_PRINTK_CALLER, who said it
_RELATIVE = re.compile(r"\[(?:[A-Z][a-z]{2} {0,2}\d{1,2} \d\d:\d\d| *\+ *\d{1,10}\.\d{1,9})\]")
_UNIX = re.compile(r"(\d{9,11})\.(\d{1,9})(?= )")


def take(text):
    """Split a line into its stamp and what follows it.

    Parameters
    ----------
    text : str
        A line, or what is left of it.

    Returns
    -------
    (Stamp or None, str)
        None where the text does not start with a stamp that makes sense.

    Examples
    --------
    >>> take("[   41.772310] nvidia: loaded")
    (Stamp(wall_us=None, offset_s=None, yearless=None, boot_s=41.77231), 'nvidia: loaded')
    >>> take("Dec 30 21:58:02 gpu-1 kernel: …")[0].yearless
    (12, 30, 79082000000)
    >>> take("2025-08-19T03:11:02.118211+02:00 gpu-1 kernel: …")[0].offset_s
    7200
    """
    if text[:1] == "[":
        return _bracketed(text)
    if "0" <= text[:1] <= "9":
        if (found := _ISO.match(text)) is not None:
            return _iso(text, found)
        if (found := _UNIX.match(text)) is not None:
            return Stamp(int(found[1]) * 1_000_000 + _micro(found[2]), 0), text[found.end() :].lstrip()
    elif (found := _CTIME.match(text)) is not None:
        return _ctime(text, found)
    elif (found := _ISO.match(text)) is not None:
        return _iso(text, found)
    if (found := _SYSLOG.match(text)) is not None:
        return _syslog(text, found)
    return None, text


def _bracketed(text):
    if (found := _BOOT.match(text)) is not None:
        return Stamp(boot_s=float(found[1])), text[found.end() :].lstrip()
    if (found := _RELATIVE.match(text)) is not None:
        return NONE, text[found.end() :].lstrip()
    end = text.find("]", 0, 48)
    if end > 0:
        stamp, rest = take(text[1:end].strip()) if text[1:2] != "[" else (None, text)
        if stamp is not None and not rest:
            return stamp, text[end + 1 :].lstrip()
    return None, text


def _iso(text, found):
    wall = _wall(found[1], found[2], found[3], found[4], found[5])
    rest = text[found.end() :]
    if wall is None:
        return None, text
    if found[6] is None and text[:1].isalpha() and (name := _ABBREVIATION.match(rest)) is not None:
        rest = rest[name.end() :]
    return Stamp(wall, offset_of(found[6])), rest.lstrip()


def _syslog(text, found):
    year = found[1] or found[4] or found[10]
    month, day, us = NUMBER_OF[found[2]], int(found[3]), _clock(*found.group(5, 6, 7, 8))
    rest = text[found.end() :].lstrip()
    if us is None or not 1 <= day <= _longest(month):
        return None, text
    if year is None:
        return Stamp(None, offset_of(found[9]), (month, day, us)), rest
    start = day_us(int(year), month, day)
    return (None, text) if start is None else (Stamp(start + us, offset_of(found[9])), rest)


def _ctime(text, found):
    start = day_us(int(found[8]), NUMBER_OF[found[1]], int(found[2]))
    us = _clock(*found.group(3, 4, 5, 6))
    if start is None or us is None:
        return None, text
    return Stamp(start + us, offset_of(found[7]) if found[7] in ("UTC", "GMT") else None), text[found.end() :].lstrip()


def iso_us(day, time, fraction=None):
    """Microseconds since 1970 of ``2025-08-19``, ``03:11:02`` and ``118211``; None where they do not exist."""
    start, us = _date_us(day), _seconds(time)
    return None if start is None or us is None else start + us + _micro(fraction)


def yearless_of(month, day, time):
    """Month, day and microseconds of the day of ``Dec``, ``30`` and ``21:58:02``, or None."""
    month, day, us = NUMBER_OF[month], int(day), _seconds(time)
    return None if us is None or not 1 <= day <= _longest(month) else (month, day, us)


@functools.lru_cache(100_000)
def _seconds(time):
    return _clock(time[:2], time[3:5], time[6:8], None)


def _longest(month):
    return 29 if month == 2 else 30 if month in (4, 6, 9, 11) else 31


@functools.cache
def _date_us(text):
    return day_us(int(text[:4]), int(text[5:7]), int(text[8:]))


def day_us(year, month, day):
    """Return when a day begins, in microseconds since 1970 began; None for a day that does not exist."""
    try:
        return (date(year, month, day).toordinal() - EPOCH) * DAY_US
    except ValueError:
        return None


def _wall(day, hour, minute, second, fraction):
    start, us = _date_us(day), _clock(hour, minute, second, fraction)
    return None if start is None or us is None else start + us


def _clock(hour, minute, second, fraction):
    hour, minute, second = int(hour), int(minute), int(second)
    if hour > 23 or minute > 59 or second > 60:  # 60: a leap second
        return None
    return (hour * 3600 + minute * 60 + second) * 1_000_000 + _micro(fraction)


def _micro(fraction):
    return int(fraction[:6].ljust(6, "0")) if fraction else 0


@functools.cache
def offset_of(text):
    """Seconds east of UTC; None where none is stated, or none that exists."""
    if not text:
        return None
    if text in ("Z", "z", "UTC", "GMT"):
        return 0
    digits = text[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours > 15 or minutes > 59:
        return None
    return (hours * 3600 + minutes * 60) * (-1 if text[0] == "-" else 1)
