"""Dates and times of a table, whose order of day and month is settled for the whole table."""

from dataclasses import dataclass

import numpy as np

from reliability.logs.date_forms import EPOCH, GOING_ON, MONTHS, PATTERNS, WORDS, offset_minutes
from reliability.logs.notes import LogError

MISSING = np.iinfo(np.int64).min
EXPECTED = "a date such as 2025-11-03 08:00:00, 03/11/2025 08:00 or seconds since 1970"


@dataclass
class Stamps:
    """Times of one column.

    `us` are microseconds since 1970 (``MISSING`` where there is none): of UTC where `zoned`, else of
    the wall clock. `bad` marks a text that is no date, `going_on` a word that says so.
    """

    us: np.ndarray
    zoned: np.ndarray
    bad: np.ndarray
    going_on: np.ndarray

    @property
    def missing(self):
        return self.us == MISSING


def parse(source, day_first=None, **given):
    """Parse the date columns of a table together: their day and month stand in the same order.

    Parameters
    ----------
    source : str
        File, for messages.
    day_first : bool, optional
        Where the user says it. None: some row must prove it.
    **given : (pyarrow string array, int array)
        Column: its texts, trimmed, and their lines.

    Returns
    -------
    dict of str to Stamps

    Raises
    ------
    LogError
        Where the order of day and month is not proved by any row, or where rows prove both.
    """
    import pyarrow as pa
    import pyarrow.compute as compute

    if day_first not in (None, True, False):
        raise ValueError(f"day_first = {day_first!r}: must be True, False or None")
    stamps, pending = {}, []
    for name, (texts, _) in given.items():
        lower = compute.utf8_lower(texts)
        going_on = compute.is_in(lower, pa.array(GOING_ON)).to_numpy(zero_copy_only=False)
        left = ~compute.is_in(lower, pa.array(WORDS)).to_numpy(zero_copy_only=False) & ~going_on
        found = Stamps(
            np.full(len(texts), MISSING), np.zeros(len(texts), bool), np.zeros(len(texts), bool), going_on.copy()
        )
        stamps[name] = found
        _plain_iso(found, texts, left)
        for kind, pattern in PATTERNS:
            where = np.flatnonzero(left)
            if not len(where):
                break
            chosen = texts if len(where) == len(texts) else texts.take(pa.array(where))
            fields = compute.extract_regex(chosen, pattern)
            hit = fields.is_valid().to_numpy(zero_copy_only=False)
            if not hit.any():
                continue
            rows = where[hit]
            if not hit.all():
                fields = fields.filter(pa.array(hit))
            left[rows] = False
            if kind == "numeric":
                pending.append((name, rows, fields))
            else:
                _fill(found, rows, fields, kind == "month")
        _epochs(found, texts, left)
        found.bad |= left
    if pending:
        order = _order(source, pending, given, day_first)
        for name, rows, fields in pending:
            _fill(stamps[name], rows, fields, False, swapped=not order)
    return stamps


def _plain_iso(stamps, texts, left):
    """Times written as 2025-11-03 08:00:05, most of a machine's tables: their bytes are digits at known places."""
    import pyarrow as pa
    import pyarrow.compute as compute

    left_19 = left & (compute.binary_length(texts).to_numpy(zero_copy_only=False) == 19)
    rows = np.flatnonzero(left_19)
    if not len(rows):
        return
    chosen = texts if len(rows) == len(texts) else texts.take(pa.array(rows))
    offsets = np.frombuffer(chosen.buffers()[1], dtype=np.int32)[chosen.offset : chosen.offset + len(rows) + 1]
    letters = np.frombuffer(chosen.buffers()[2], dtype=np.uint8)[offsets[0] : offsets[-1]].reshape(-1, 19)
    numbers = letters - ord("0")  # wraps round for what is below
    right = (numbers[:, [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18]] <= 9).all(axis=1)
    right &= (letters[:, [4, 7]] == ord("-")).all(axis=1) & (letters[:, [13, 16]] == ord(":")).all(axis=1)
    right &= (letters[:, 10] == ord(" ")) | (letters[:, 10] == ord("T"))
    if not right.all():
        rows, numbers = rows[right], numbers[right]
    year = numbers[:, :4].astype(np.int64) @ [1000, 100, 10, 1]
    month, day, hour, minute, second = (numbers[:, i] * 10 + numbers[:, i + 1] for i in (5, 8, 11, 14, 17))
    _place(stamps, rows, *(x.astype(np.int64) for x in (year, month, day, hour, minute, second)))
    left[rows] = False


def _order(source, pending, given, day_first):
    """Whether the day stands first: told, or proved by a number above 12."""
    two_digits, proofs, unproved = None, {}, None
    for name, rows, fields in pending:
        texts, lines = given[name]
        first, second = _whole(fields.field("a")), _whole(fields.field("b"))
        for key, mask in (
            (True, (first > 12) & (first <= 31) & (second <= 12)),
            (False, (second > 12) & (second <= 31) & (first <= 12)),
            ("either", (first <= 12) & (second <= 12) & (first != second)),
            ("short", _is_short(fields)),
        ):
            if mask.any():
                at = rows[np.flatnonzero(mask)[0]]
                where = (int(lines[at]), texts[int(at)].as_py())
                if key == "short":
                    two_digits = two_digits or where
                elif key == "either":
                    unproved = unproved or where
                else:
                    proofs[key] = min(proofs.get(key, where), where)
    if day_first is not None:
        return bool(day_first)
    if two_digits:
        raise LogError(source, *two_digits, "a year of four digits, or to be told the order: day_first=True or False")
    if len(proofs) == 2:
        line, found = max(proofs.values())
        other = min(proofs.values())
        expected = (
            f"day and month in one order (line {other[0]} has {other[1]!r}), or to be told: day_first=True or False"
        )
        raise LogError(source, line, found, expected)
    if not proofs and unproved:
        raise LogError(source, *unproved, "to be told the order, as no row proves it: day_first=True or False")
    return next(iter(proofs), True)


def _whole(field):
    """Digits as int64; an empty field is 0."""
    import pyarrow as pa
    import pyarrow.compute as compute

    field = compute.if_else(compute.equal(field, ""), "0", field)
    return field.cast(pa.int64()).to_numpy(zero_copy_only=False)


def _is_short(fields):
    """Whether the year has two digits; 0001 is no 2001, but a database's word for no date."""
    import pyarrow.compute as compute

    return compute.binary_length(fields.field("y")).to_numpy(zero_copy_only=False) == 2


def _fill(stamps, rows, fields, named, swapped=False):
    """Work out times of rows whose fields have been taken apart."""
    import pyarrow as pa
    import pyarrow.compute as compute

    year, day = _whole(fields.field("y")), _whole(fields.field("a"))
    if named:
        texts = compute.utf8_lower(fields.field("b"))
        names = pa.array(list(MONTHS))
        index = compute.fill_null(compute.index_in(texts, names), -1).to_numpy(zero_copy_only=False)
        month = np.append(np.array(list(MONTHS.values())), 0)[index]
    else:
        month = _whole(fields.field("b"))
    if swapped:
        day, month = month, day
    year = np.where(_is_short(fields), np.where(year < 69, year + 2000, year + 1900), year)
    hour, minute, second = (_whole(fields.field(name)) for name in "HMS")
    half = compute.utf8_lower(fields.field("p")).to_numpy(zero_copy_only=False)
    noon = np.isin(half, ["a", "p"])
    right = ~noon | ((hour >= 1) & (hour <= 12))
    hour = np.where(noon, hour % 12 + 12 * (half == "p"), hour)
    digits = compute.utf8_slice_codeunits(compute.utf8_rpad(fields.field("f"), 6, "0"), 0, 6)
    us = _whole(digits)
    zones = fields.field("z")
    zoned = compute.not_equal(zones, "").to_numpy(zero_copy_only=False)
    if zoned.any():
        offset, fits = offset_minutes(zones)
        us, right = us - offset * 60_000_000, right & fits
    stamps.zoned[rows] = zoned
    _place(stamps, rows, year, month, day, hour, minute, second, us, right)


def _place(stamps, rows, year, month, day, hour, minute, second, us=0, right=True):
    """Write times into their rows; a day or an hour that does not exist is bad."""
    right = right & (year >= 1970) & (year < 2200) & (month >= 1) & (month <= 12) & (day >= 1)
    # 24:00 is the end of a day, and a leap second the 60th of a minute.
    right &= (minute < 60) & (second <= 60) & ((hour < 24) | ((hour == 24) & (minute == 0) & (second == 0)))
    months = (np.where(right, year - 1970, 0) * 12 + np.where(right, month - 1, 0)).astype("datetime64[M]")
    length = (months + 1).astype("datetime64[D]") - months.astype("datetime64[D]")
    right &= day <= length.astype(int)
    days = months.astype("datetime64[D]").astype(np.int64) + day - 1
    us = ((days * 24 + hour) * 60 + minute) * 60_000_000 + second * 1_000_000 + us
    right = right & (us != 0)  # 1970-01-01 00:00 is what a program writes where it has no time
    stamps.us[rows] = np.where(right, us, MISSING)
    stamps.bad[rows] = ~right


def _epochs(stamps, texts, left):
    """Seconds, milli-, micro- or nanoseconds since 1970, which are UTC; the unit is that of most rows."""
    import pyarrow as pa
    import pyarrow.compute as compute

    where = np.flatnonzero(left)
    if not len(where):
        return
    chosen = texts.take(pa.array(where))
    hit = compute.match_substring_regex(chosen, EPOCH).to_numpy(zero_copy_only=False)
    if not hit.any():
        return
    rows = where[hit]
    parts = compute.extract_regex(chosen.filter(pa.array(hit)), r"^(?P<i>\d+)(?:\.(?P<f>\d+))?$")
    whole = _whole(parts.field("i"))
    fraction = _whole(compute.utf8_slice_codeunits(compute.utf8_rpad(parts.field("f"), 6, "0"), 0, 6))
    digits = compute.utf8_length(parts.field("i")).to_numpy(zero_copy_only=False)
    unit = (digits - 9) // 3  # 0: seconds, 1: milli-, 2: micro-, 3: nanoseconds
    usual = np.bincount(unit).argmax()
    us = np.choose(usual, [whole * 1_000_000 + fraction, whole * 1000 + fraction // 1000, whole, whole // 1000])
    same = unit == usual
    stamps.us[rows[same]] = us[same]
    stamps.zoned[rows] = True
    left[rows[same]] = False
