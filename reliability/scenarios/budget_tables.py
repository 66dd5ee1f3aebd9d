"""The tables of the page on the budget of time."""

import numpy as np

from reliability import budget
from reliability.scenarios import budget_fleets as fleets
from reliability.scenarios.base import duration
from reliability.scenarios.budget_fleets import LEVERS, THREE
from reliability.text import percent, table

PLUS_MINUS = "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}"  # a cell of a table must not break there


def points(gained, decimals=1):
    """Write an estimated gain in percentage points, with half the length of its interval."""
    return f"{signed(100 * gained.mean, decimals)}{PLUS_MINUS}{100 * gained.half_width:.{decimals}f}"


def signed(number, decimals=1):
    """Write a number with its sign, and never as a negative zero.

    >>> signed(-3.14), signed(-0.04)
    ('-3.1', '+0.0')
    """
    return f"{round(number, decimals) + 0.0:+.{decimals}f}"


def levers(p):
    """Lay out what each lever changes, plain and turned."""
    many, inspected = "for each 100 nodes", (p.inspection_gpu_s, p.inspection_network_s, p.inspection_host_s)
    rows = {
        "failures": (
            "failures of 1,000 nodes in a day",
            p.failures_per_1000_node_days,
            p.fewer_failures_per_1000_node_days,
        ),
        "lemons": ("lemons among the nodes", percent(p.lemon_share, 1), percent(p.lemon_share * p.lemons_left, 1)),
        "detection": (
            "detection of gpu, network, host (s)",
            p.detection_s,
            ", ".join(f"{min(seen, p.detection_s):g}" for seen in inspected),
        ),
        "restart": ("cold restart, as a share of today's", 1, p.restart_factor),
        "swap": ("a node lost, at the measured size", "cold restart", f"swap, {p.swap_s:g} s"),
        "standbys": (f"warm standbys {many}", p.standby_percent, p.more_standby_percent),
        "write": ("a write stops the job (s)", p.write_s, p.short_write_s),
        "stragglers": ("a search after a node turned slow (h)", p.slow_found_h, p.slow_found_soon_h),
        "verification": ("a verification stops the job (s)", p.verification_s, p.cheap_verification_s),
    }
    group = {lever: name for name, levers in THREE.items() for lever in levers}
    shown = [
        [LEVERS[lever], group.get(lever, ""), what, *(v if isinstance(v, str) else f"{v:g}" for v in states)]
        for lever, (what, *states) in rows.items()
    ]
    return table(["lever", "one of the three", "what it changes", "plain", "turned"], shown, align="lllrr")


def sizes(p):
    """Lay out what follows from the size: failures, restart, swap, and the best interval."""
    rows = []
    for size in p.sizes:
        states = [(fleets.mtbf_s(p, size, t), fleets.interval_s(p, size, t)) for t in (fleets.NONE, fleets.ALL)]
        restarts = [fleets.cold_s(p, size), fleets.swap_s(p, size)]
        cells = [states[0][0], states[1][0], *restarts, states[0][1], states[1][1]]
        rows.append([f"{size:,}", *map(duration, cells)])
    header = ["GPUs", "a failure every", "the same, all turned", "cold restart", "swap", "interval", "interval, all turned"]
    return table(header, rows)


def hours(by_size, kept):
    """Lay out the hours by bin and size, and the effective training ratio with its interval."""
    rows = [[name, *(f"{one[name]:.1f}" for one in by_size.values())] for name in budget.BINS]
    shares = (f"{100 * kept[size].mean:.1f}{PLUS_MINUS}{100 * kept[size].half_width:.1f}" for size in by_size)
    return table(["hours, by GPUs", *(f"{size:,}" for size in by_size)], [*rows, ["**useful, %**", *shares]])


def gains(gains, order):
    """Lay out what each lever gains alone, by size, in a given order."""
    rows = [[LEVERS[lever], *(points(gains[size][lever]) for size in gains)] for lever in order]
    return table(["points gained alone, by GPUs", *(f"{size:,}" for size in gains)], rows)


def three(found):
    """Lay out what the three groups gain alone, in sum and together."""
    rows = []
    for size, one in found.items():
        alone = [signed(100 * one.first[name].mean) for name in THREE]
        rows.append(
            [
                f"{size:,}",
                percent(one.plain.mean, 1),
                *alone,
                points(one.summed),
                points(one.together),
                points(one.beyond),
            ]
        )
    header = ["GPUs", "plain", *THREE, "their sum", "together", "together less the sum"]
    return table(header, rows)


def order(found):
    """Lay out what each group gains first, and last."""
    rows = [
        [f"{size:,}", *(f"{signed(100 * one.first[name].mean)}, {points(one.last[name])}" for name in THREE)]
        for size, one in found.items()
    ]
    return table(["points first, last, by GPUs", *THREE], rows)


def factors(found):
    """Lay out the gains as factors of the effective training ratio, where that is not 0, or say that it is 0 everywhere."""
    rows = []
    for size, one in found.items():
        if one.plain.mean > 0:
            alone = [1 + one.first[name].mean / one.plain.mean for name in THREE]
            shown = [*alone, np.prod(alone), 1 + one.together.mean / one.plain.mean]
            rows.append([f"{size:,}", *(f"{factor:,.2f}" for factor in shown)])
    if not rows:
        return "A plain job gets no work done here that lasts, so no gain is a factor of it."
    return table(["factors, by GPUs", *THREE, "their product", "together"], rows)


def taxonomy():
    """Lay out the bins beside the names of Google's goodput library."""
    rows = [[name, budget.MEANING[name], *budget.GOODPUT_TAXONOMY[name]] for name in budget.BINS]
    return table(["bin", "what falls into it", "there", "how close"], rows, align="llll")
