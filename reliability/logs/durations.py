"""Spans of time as logs write them: Slurm's ``D-HH:MM:SS``, ISO 8601's ``PT1H30M``, or ``2h 30m``."""

import re

import numpy as np

from reliability.units import DAY_S, HOUR_S, MINUTE_S, WEEK_S

WORDS = {"", "none", "unknown", "unlimited", "partition_limit", "invalid", "n/a", "na", "nan", "null", "-"}
SLURM = re.compile(r"(?:(?P<d>\d{1,7})-)?(?:(?P<h>\d{1,7}):)?(?P<m>\d{1,7}):(?P<s>\d{1,7}(?:\.\d+)?)")
DAYS_ONLY = re.compile(r"(?P<d>\d{1,7})-(?P<h>\d{1,2})(?::(?P<m>\d{1,2}))?")
TWO_FIELDS = re.compile(r"(\d{1,7}):([0-5]\d)")
ISO = re.compile(
    r"P(?:(?P<w>\d+)W)?(?:(?P<d>\d+)D)?(?:T(?:(?P<h>\d+(?:\.\d+)?)H)?(?:(?P<m>\d+(?:\.\d+)?)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?",
    re.IGNORECASE,
)
LETTERS = re.compile(
    r"(?:(?P<w>\d+(?:\.\d+)?)\s*w(?:eeks?)?)?\s*(?:(?P<d>\d+(?:\.\d+)?)\s*d(?:ays?)?)?[\s,]*"
    r"(?:(?P<h>\d+(?:\.\d+)?)\s*h(?:(?:ou)?rs?)?)?\s*(?:(?P<m>\d+(?:\.\d+)?)\s*m(?:in(?:ute)?s?)?)?\s*"
    r"(?:(?P<s>\d+(?:\.\d+)?)\s*s(?:ec(?:ond)?s?)?)?",
    re.IGNORECASE,
)
# pandas and Python print "2 days 03:04:05" and "2 days, 3:04:05".
WORDED = re.compile(r"(?P<d>\d{1,7}) days?,? \+?(?P<h>\d{1,2}):(?P<m>\d{2}):(?P<s>\d{2}(?:\.\d+)?)", re.IGNORECASE)
DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d{1,2}\s*[A-Za-z])")  # 1,5 h; three digits may be thousands
SECONDS = {"w": WEEK_S, "d": DAY_S, "h": HOUR_S, "m": MINUTE_S, "s": 1.0}


def slurm_seconds(text):
    """Seconds of a duration in Slurm's grammar, ``[[DD-]HH:]MM:SS[.mmm]``.

    Two fields are minutes and seconds, three are hours, minutes and seconds, a hyphen ends the days.

    Parameters
    ----------
    text : str

    Returns
    -------
    float or None
        None for a word that stands for no value (``UNLIMITED``, ``Partition_Limit``, an empty field …).

    Raises
    ------
    ValueError
        For anything else.

    Examples
    --------
    >>> slurm_seconds("2-03:04:05"), slurm_seconds("00:02.345"), slurm_seconds("UNLIMITED")
    (183845.0, 2.345, None)
    """
    text = str(text).strip()
    if text.lower() in WORDS:
        return None
    match = SLURM.fullmatch(text) or DAYS_ONLY.fullmatch(text)
    if match:
        parts = {name: float(value or 0) for name, value in match.groupdict().items()}
        # Under hours, minutes stay below 60; minutes alone may be any number, as in 90:00.
        higher = match.groupdict().get("h") or match.groupdict().get("d")
        if parts.get("s", 0) < 60 and (not higher or parts["m"] < 60) and (not match["d"] or parts["h"] < 24):
            return _seconds(parts)
    raise ValueError(f"duration = {text!r}: must be [[DD-]HH:]MM:SS[.mmm], or a word such as UNLIMITED")


def seconds(text, unit=None):
    """Seconds of a duration that says its units itself: ``1:30:00``, ISO 8601's, ``2h 30m``, ``2 days 03:04:05``.

    Parameters
    ----------
    text : str
    unit : {"h", "min"}, optional
        The unit of the first of two fields: ``1:30`` are hours and minutes in a column of hours, minutes
        and seconds in one of minutes.

    Returns
    -------
    float or None
        None for an empty field or a word for no value.

    Raises
    ------
    ValueError
        For a bare number or two fields, whose unit is not known, and for anything else.

    Examples
    --------
    >>> seconds("PT1H30M"), seconds("2h 30m"), seconds("1 day, 0:00:05"), seconds("1:30", "h")
    (5400.0, 9000.0, 86405.0, 5400.0)
    """
    text = str(text).strip()
    if text.lower() in WORDS:
        return None
    if match := TWO_FIELDS.fullmatch(text):
        if unit not in ("h", "min"):
            raise ValueError(f"duration = {text!r}: may be hours and minutes, or minutes and seconds")
        return (int(match[1]) * 60 + int(match[2])) * (60.0 if unit == "h" else 1.0)
    text = DECIMAL_COMMA.sub(".", text)
    for pattern in (WORDED, ISO, LETTERS):
        match = pattern.fullmatch(text)
        if match and any(match.groupdict().values()):
            return _seconds({name: float(value or 0) for name, value in match.groupdict().items()})
    return slurm_seconds(text)


def _seconds(parts):
    # Rounded, so that 23:45.678 is 1425.678 and not the nearest sum of floats.
    return round(sum(SECONDS[name] * value for name, value in parts.items()), 6)


def column_seconds(values, parse=slurm_seconds):
    """Seconds of many durations; each distinct text is parsed once.

    Parameters
    ----------
    values : sequence of str
    parse : function of a text

    Returns
    -------
    (seconds, bad) : float array, bool array
        NaN where there is no value; `bad` where the text is none.
    """
    import pandas as pd

    codes, distinct = pd.factorize(np.asarray(values, dtype=object), use_na_sentinel=False)
    found, wrong = np.full(len(distinct), np.nan), np.zeros(len(distinct), dtype=bool)
    for i, text in enumerate(distinct):
        try:
            value = parse("" if text is None or text != text else text)
            found[i] = np.nan if value is None else value
        except ValueError:
            wrong[i] = True
    return found[codes], wrong[codes]
