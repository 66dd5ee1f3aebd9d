"""Numbers of a column, whose decimal sign is settled for the whole column."""

import numpy as np

from reliability.logs.notes import quoted

WORDS = ("", "none", "null", "nan", "na", "n/a", "unknown", "-")


class AmbiguousDecimal(ValueError):
    """A column such as 1.000, 2.500: thousands to one reader, thousandths to another."""


def parse(values, separator=",", decimal=None):
    """Parse numbers with a decimal point or comma, and with thousands set apart.

    Parameters
    ----------
    values : pyarrow string array
    separator : str
        Of the file: where it is a comma, a point is taken as the decimal sign.
    decimal : {".", ","}, optional
        Where the user says it.

    Returns
    -------
    (numbers, bad) : float array, bool array
        NaN for an empty field; `bad` for one that is no number.

    Raises
    ------
    AmbiguousDecimal
        Where no value of the column tells the decimal sign.

    Examples
    --------
    >>> import pyarrow as pa
    >>> parse(pa.array(["2,50", "1.000,00", ""]))[0].tolist()
    [2.5, 1000.0, nan]
    """
    import pyarrow as pa
    import pyarrow.compute as compute

    if decimal not in (None, ".", ","):
        raise ValueError(f"decimal = {decimal!r}: must be '.' or ','")
    values = compute.replace_substring_regex(values, r"[\s\x{00a0}\x{202f}'’]", "")
    empty = compute.is_in(compute.utf8_lower(values), pa.array(WORDS)).to_numpy(zero_copy_only=False)
    sign = decimal or _decimal_sign(values, separator)
    thousands = "." if sign == "," else ","
    shape = rf"^[+-]?(?:\d{{1,3}}(?:\{thousands}\d{{3}})+|\d+)?(?:\{sign}\d*)?(?:[eE][+-]?\d{{1,3}})?$"
    digits = compute.match_substring_regex(values, r"^[^eE]*\d")  # before an exponent
    good = compute.and_(compute.match_substring_regex(values, shape), digits).to_numpy(zero_copy_only=False)
    plain = compute.replace_substring(compute.replace_substring(values, thousands, ""), sign, ".")
    plain = compute.if_else(pa.array(good & ~empty), plain, "nan")
    numbers = compute.cast(compute.utf8_ltrim(plain, "+"), pa.float64()).to_numpy(zero_copy_only=False)
    return np.where(np.isfinite(numbers), numbers, np.nan), ~good & ~empty


def _decimal_sign(values, separator):
    """The decimal sign that some value proves."""
    import pyarrow.compute as compute

    def some(pattern):
        return compute.any(compute.match_substring_regex(values, pattern)).as_py() or False

    # Three digits behind a lone sign may be thousands; behind a leading zero or beside the other sign they are not.
    comma = some(r"^[+-]?\d*,(?:\d{1,2}|\d{4,})$|\.\d{3},|^[+-]?0,\d|\d\.\d{3}\.\d{3}|^[+-]?\d{4,},\d")
    point = some(r"^[+-]?\d*\.(?:\d{1,2}|\d{4,})(?:[eE].*)?$|,\d{3}\.|^[+-]?0\.\d|\d,\d{3},\d{3}|^[+-]?\d{4,}\.\d")
    if comma != point:
        return "," if comma else "."
    if comma:
        raise AmbiguousDecimal("decimal points and decimal commas in one column")
    unclear = compute.match_substring_regex(values, r"[.,]\d{3}$")
    lone_comma = some(r"^[+-]?\d{1,3},\d{3}$")
    if not some(r"^[+-]?[\d.,]*[.,][\d.,]*$") or (separator == "," and not lone_comma):
        return "."
    found = values.filter(unclear)
    shown = quoted(found[0].as_py()) if len(found) else "such values"
    raise AmbiguousDecimal(f"{shown} may be thousands or thousandths: tell decimal='.' or decimal=','")
