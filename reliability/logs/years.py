"""Years for stamps that name none: only from the time at which the log was collected."""

from datetime import date

from reliability.logs.stamps import DAY_US, EPOCH, day_us

LATE_US = 7 * DAY_US  # a line may come later than its neighbours by as much; more is an earlier year
FAR_US = 14 * 3_600_000_000  # no clock on a wall is further ahead of UTC
FIRST_YEAR = 1990


def chains(lines):
    """Split lines into stretches in each of which time runs on: hosts that overlap share one.

    Files of several hosts are often put one after the other; the end of one host's log says nothing
    about the start of the next one's.

    Parameters
    ----------
    lines : sequence
        With ``host``, in the order of the file.

    Returns
    -------
    list of range
        Of places in `lines`, the first to the last.
    """
    last = {line.host: i for i, line in enumerate(lines)}
    found, start, reach = [], 0, -1
    several = len(last) > 1  # a container's line names no host: it joins nothing
    for i, line in enumerate(lines):
        if i > reach and i > start:
            found.append(range(start, i))
            start = i
        reach = max(reach, i if line.host is None and several else last[line.host])
    return [*found, range(start, len(lines))] if lines else []


def resolve(lines, collected_us=None, zone_known=False):
    """Give each line without a year the latest one that fits.

    From the last line of a stretch backwards: the latest year in which the line lies neither after
    `collected_us` nor more than a week after the line that follows it. A jump back of less is a line
    that came late, not a new year.

    Parameters
    ----------
    lines : sequence
        With ``host``, ``wall_us`` and ``yearless``, in the order of the file.
    collected_us : int or None
        When the log was collected, in microseconds since 1970; None: unknown.
    zone_known : bool
        Whether the stamps' zone is that of `collected_us`; else they may be ahead of it by 14 hours.

    Returns
    -------
    (list of (int or None), str)
        Microseconds of the wall's clock for each line, and where the years come from: "stamps" (every
        line has its own), "collected" (`collected_us`), "neighbours" (later lines with a year), or
        "unknown". In the last case the years mean nothing: only differences within a stretch hold.
    """
    if all(line.yearless is None for line in lines):
        return [line.wall_us for line in lines], "stamps"
    stretches = chains(lines)
    if collected_us is not None:
        return _walls(lines, stretches, collected_us + (0 if zone_known else FAR_US)), "collected"
    if all(_ends_with_a_year([lines[i] for i in stretch]) for stretch in stretches):
        return _walls(lines, stretches, None), "neighbours"
    undated = [_Undated(line.yearless or _yearless(line.wall_us)) for line in lines]
    leap = any(line.yearless is not None and line.yearless[:2] == (2, 29) for line in undated)
    return _walls(undated, stretches, day_us(2005 if leap else 2002, 1, 1) - 1), "unknown"


class _Undated:
    """A line whose year is left out of account."""

    wall_us = None

    def __init__(self, yearless):
        self.yearless = yearless


def _yearless(wall_us):
    if wall_us is None:
        return None
    day = date.fromordinal(wall_us // DAY_US + EPOCH)
    return day.month, day.day, wall_us % DAY_US


def _ends_with_a_year(lines):
    for line in reversed(lines):
        if line.yearless is not None:
            return False
        if line.wall_us is not None:
            return True
    return True


def _walls(lines, stretches, end):
    walls = [line.wall_us for line in lines]
    for stretch in stretches:
        limit = end
        for i in reversed(stretch):
            if lines[i].yearless is not None:
                walls[i] = _latest(lines[i].yearless, limit)
            if walls[i] is not None:
                limit = walls[i] + LATE_US if end is None else min(end, walls[i] + LATE_US)
    return walls


def _latest(yearless, limit_us):
    """The latest time with this month, day and clock up to a limit; None where there is none."""
    month, day, us = yearless
    year = 1970 + int(limit_us // (365.2425 * DAY_US)) + 1
    while year >= FIRST_YEAR:
        start = day_us(year, month, day)
        if start is not None and start + us <= limit_us:
            return start + us
        year -= 1
    return None


def crosses_february(walls):
    """Whether times without a year pass from February to March, where a leap year would add a day."""
    known = [wall for wall in walls if wall is not None]
    if not known:
        return False
    years = range(1970 + int(min(known) // (366 * DAY_US)), 1972 + int(max(known) // (365 * DAY_US)))
    return any(min(known) < day_us(year, 3, 1) <= max(known) for year in years)
