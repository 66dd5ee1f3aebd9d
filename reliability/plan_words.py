"""Numbers with their intervals, and somebody's own words, as a plan writes them."""

from reliability.text import counted, percent

MARKUP = {ord(c): f"&#{ord(c)};" for c in "|*_`$<>[]{}\\~&"}
SURELY = 0.99


def literal(text):
    """Write somebody's text so that Markdown shows it as it is, whatever stands in it.

    >>> literal("a|b <c>")
    'a&#124;b &#60;c&#62;'
    """
    return str(text).translate(MARKUP)


def share(found, decimals=1):
    """Write a share with its interval.

    >>> share({"value": 0.931, "low": 0.9, "high": 0.95})
    '93.1% (90.0% to 95.0%)'
    """
    return (
        f"{percent(found['value'], decimals)} ({percent(found['low'], decimals)} to {percent(found['high'], decimals)})"
    )


def points(found):
    """Write a difference of shares in percentage points.

    >>> points({"value": 0.0281, "low": 0.013, "high": 0.048})
    '+2.8 (+1.3 to +4.8)'
    """
    value, low, high = (f"{100 * found[end]:+.1f}".replace("-0.0", "+0.0") for end in ("value", "low", "high"))
    return f"{value} ({low} to {high})"


def short(value):
    """Write a number with three digits, thousands apart, large ones in millions and more.

    >>> short(1234567), short(0.01234), short(98765), short(0)
    ('1.23 million', '0.0123', '98,800', '0')
    """
    for size, name in ((1e9, " billion"), (1e6, " million")):
        if abs(value) >= size:
            return f"{float(f'{value / size:.3g}'):,g}{name}"
    return f"{float(f'{value:.3g}'):,g}" if abs(value) >= 1e-4 or value == 0 else f"{value:.2g}"


def amount(found, unit=""):
    """Write an amount with its interval and unit.

    >>> amount({"value": 3.09, "low": 2.81, "high": 3.4}, " h"), amount(None)
    ('3.09 (2.81 to 3.4) h', 'not known')
    >>> amount({"value": None, "low": 0, "high": 0.0488})
    'below 0.0488'
    """
    if found is None:
        return "not known"
    if found["value"] is None:  # a bound, without a point
        return (
            f"below {short(found['high'])}{unit}" if found["high"] is not None else f"above {short(found['low'])}{unit}"
        )
    if found["low"] == found["high"]:
        return f"{short(found['value'])}{unit}"
    return f"{short(found['value'])} ({short(found['low'])} to {short(found['high'])}){unit}"


def chance(value):
    """Write a chance that was counted in draws: none of them is not never.

    >>> chance(0.0), chance(0.5), chance(1.0)
    ('below 1%', '50%', 'above 99%')
    """
    if value < 1 - SURELY:
        return f"below {percent(1 - SURELY, 0)}"
    return f"above {percent(SURELY, 0)}" if value > SURELY else percent(value, 0)


def many(number, noun):
    """Write a number of things as a sentence has it, none as "no".

    >>> many(1, "standby node"), many(12, "standby node"), many(0, "standby node")
    ('1 standby node', '12 standby nodes', 'no standby nodes')
    """
    return counted(number, noun) if number else f"no {noun}s"


def listed(items):
    """Write items as a sentence lists them.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
