"""The inputs of a plan, and what its values and intervals mean, in words."""

from reliability.plan_words import amount, literal, short
from reliability.text import percent, table

RATE = "failure rate"


def values_note(d):
    """Say what stands behind a number: once, for a report and a terminal."""
    return (
        f"A value is the median of {d['draws']:,} draws of what is not known exactly, with the interval that holds {percent(d['level'], 0)} of them; "
        f"each row has its own median, so that rows need not add up. What a draw keeps is simulated by the fleet model: {d['simulation']['runs']:,} runs of "
        f"{short(d['job']['horizon_h'] / 24)} days for each state of the cluster, with {short(d['simulation']['failures'])} failures each on average."
    )


def rows(d):
    """Return the values that the plan uses, as (what, key, value with its range, unit)."""
    return [[row["what"], row["key"], _given(row), row["unit"]] for row in d["inputs"]]


def _given(row):
    if row["value"] is None and row["high"] is None and row["low"] is None:
        return "not given"
    if row["low"] is None and row["value"] is not None:
        return f"{row['value']:,g}" if abs(row["value"]) < 1e6 else f"{row['value']:,.0f}"
    return amount(row)


def section(d):
    """Return the table of the inputs."""
    cells = [[literal(cell) for cell in row] for row in rows(d)]
    return table(["input", "from", "value, with its 95% range", "unit"], cells, "llrl")
