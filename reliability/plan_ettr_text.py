"""The ETTRs of a plan in words: expected, of one run, and by the formula that checks them."""

from reliability.plan_words import points, share
from reliability.text import table

CHECKED = (("now", "formula"), ("planned", "formula_planned"))


def ratios(d):
    """Return the ETTRs, as (what, now, under the plan)."""
    e = d["ettr"]
    return [
        ["expected ETTR", share(e["now"]), share(e["planned"])],
        ["of one run so long", share(e["now_in_horizon"]), share(e["planned_in_horizon"])],
        ["renewal formula", share(e["formula"]), share(e["formula_planned"])],
        ["formula, first order", share(e["first_order"]), ""],
    ]


def two_intervals(d):
    """Say what the two intervals of an ETTR hold, and how sure the simulation itself is."""
    error = max(d["simulation"][f"error_{which}"] for which in ("now", "planned"))
    return (
        "The interval of the expected ETTR is what the inputs leave unknown; that of one run has its chance as well, and is a prediction. "
        f"That there are no more than {d['simulation']['runs']:,} runs leaves the expected ones uncertain by {float(f'{100 * error:.1g}'):g} percentage points (standard error)."
    )


def check(d):
    """Say what the renewal formula has in place of the simulation's numbers, and why they differ."""
    e, why = (
        d["ettr"],
        [
            "it is of the long run, while a run begins with all its standbys there and ends before its last work can be lost"
        ],
    )
    if d["standbys"] is not None:
        why.append("it draws for each failure anew whether a standby is left, while in a run a shortage lasts")
    if d["job"]["none_left"] == "wait":
        why.append("in it no node fails while the job waits for one")
    less = [
        f"{100 * (e[which]['value'] - e[formula]['value']):+.2f}".replace("-0.00", "+0.00")
        for which, formula in CHECKED
    ]
    return (
        f"The check: simulation less renewal formula is {less[0]} percentage points now and {less[1]} under the plan. "
        f"The formula differs in this: {'; '.join(why)}."
    )


def section(d):
    """Return what is said of the ETTRs."""
    gain = f"The plan's gain, draw by draw, in percentage points: {points(d['ettr']['gain'])}."
    return "\n\n".join([table(["", "now", "under the plan"], ratios(d)), gain, two_intervals(d), check(d)])
