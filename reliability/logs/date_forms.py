"""How dates are written in tables: words and patterns, in the grammar of RE2."""

import numpy as np

# Words for a date that is not there. The last ones say that an outage goes on.
WORDS = ("", "none", "null", "nan", "nat", "na", "n/a", "unknown", "-", "--", "tbd", "?", "not assigned")
GOING_ON = ("open", "still open", "ongoing", "unresolved", "running", "active", "not yet", "pending")
# English names, short and long; the short ones are their first three letters, and September has two.
LONG_MONTHS = """january february march april may june july august september october november december""".split()  # noqa: SIM905
MONTHS = {short: i + 1 for i, name in enumerate(LONG_MONTHS) for short in (name[:3], name)} | {"sept": 9}
TIME = (
    r"(?:(?:T|,?\s+)(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?:[.,](?P<f>\d{1,9}))?)?"
    r"(?:\s*(?P<p>[AaPp])\.?[Mm]\.?)?(?:\s*(?P<z>[Zz]|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?)?$"
)
YEAR_FIRST = r"^(?P<y>\d{4})[-/.](?P<b>\d{1,2})[-/.](?P<a>\d{1,2})" + TIME
COMPACT = (
    r"^(?P<y>\d{4})(?P<b>\d{2})(?P<a>\d{2})(?:[T ]?(?P<H>\d{2}):?(?P<M>\d{2})(?::?(?P<S>\d{2})(?:[.,](?P<f>\d{1,9}))?)?"
    r"(?P<p>x)?(?:\s*(?P<z>[Zz]|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?)?$"
)
NUMERIC = r"^(?P<a>\d{1,2})[-/.](?P<b>\d{1,2})[-/.](?P<y>\d{4}|\d{2})" + TIME
DAY_NAME = r"^(?:[A-Za-z]{2,9}\.?,?\s+)?"
DAY_MONTH = DAY_NAME + r"(?P<a>\d{1,2})[-/.\s]+(?P<b>[A-Za-z]{3,9})[-/.,\s]+(?P<y>\d{4})" + TIME
MONTH_DAY = DAY_NAME + r"(?P<b>[A-Za-z]{3,9})\.?[-\s]+(?P<a>\d{1,2})(?:st|nd|rd|th)?[-,\s]+(?P<y>\d{4})" + TIME
CTIME = (
    DAY_NAME
    + r"(?P<b>[A-Za-z]{3})\s+(?P<a>\d{1,2})\s+(?P<H>\d{2}):(?P<M>\d{2}):(?P<S>\d{2})(?:\.(?P<f>\d{1,9}))?(?P<p>x)?"
    r"(?:\s+(?P<z>UTC|GMT))?\s+(?P<y>\d{4})$"
)
PATTERNS = (
    ("year", YEAR_FIRST),
    ("numeric", NUMERIC),
    ("month", DAY_MONTH),
    ("month", MONTH_DAY),
    ("month", CTIME),
    ("compact", COMPACT),
)
EPOCH = r"^\d{9,10}(?:\.\d+)?$|^\d{12,13}(?:\.\d+)?$|^\d{15,16}$|^\d{18,19}$"


def offset_minutes(zones):
    """Minutes east of Greenwich, and whether they are possible; each distinct zone is parsed once."""
    import pyarrow.compute as compute

    coded = compute.dictionary_encode(zones)
    values, fits = [], []
    for text in coded.dictionary.to_pylist():
        digits = text[1:].replace(":", "") if text[:1] in "+-" and text else ""
        minutes = int(digits[:2] or 0) * 60 + int(digits[2:] or 0)
        values.append(-minutes if text[:1] == "-" else minutes)
        fits.append(minutes <= 14 * 60 and int(digits[2:] or 0) < 60)
    index = coded.indices.to_numpy(zero_copy_only=False)
    return np.array(values)[index], np.array(fits)[index]
