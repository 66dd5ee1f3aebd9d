"""The numbers of the page on policies as its figures and a program take them."""

import numpy as np

from reliability.fleet_cost import cost_of_useful_hour
from reliability.scenarios.policies_fleets import LETTERS
from reliability.scenarios.policies_maps import CURRENCIES
from reliability.scenarios.policies_rules_text import diagnosis
from reliability.scenarios.policies_text import KINDS, cost, curve_name
from reliability.text import in_thousands, percent

KEY = ", ".join(f"{letter}: {way}" for way, letter in LETTERS.items())


def columns(p):
    """Return the sizes of the maps, in GPUs, as they stand below them."""
    return [in_thousands(size) for size in sorted(p.sizes)]


def cells(p, grid, currency):
    """Return a map's cells, as :func:`reliability.figures.policies.best_ways` takes them.

    Returns
    -------
    list of lists of (letter, lines, whether the lead is shown)
    """
    return [[_cell(p, verdicts[currency], currency) for verdicts in row] for row in grid]


def _cell(p, verdict, currency):
    letter = LETTERS[verdict.best]
    first = f"{letter} {verdict.standbys:,}" if verdict.best == "standby" else letter
    if currency == "time":
        value, ahead = percent(verdict.value, 1), f"+{100 * verdict.gain.mean:.1f}"
    else:
        value, ahead = cost(p, verdict.value), f"−{100 * verdict.cheaper:.1f}%"
    return letter, [first, value, f"{ahead} on {LETTERS[verdict.second]}"], verdict.shown


def cost_curves(p, curves):
    """Return ETTR and cost against the number of standbys, as :func:`reliability.figures.policies.by_standbys` takes them.

    Returns
    -------
    numbers : list of int
    curves : dict of label to (ettr, cost), each (mean, low, high) of arrays
    best : dict of label to (number in time, number in money)
    """
    drawn, best = {}, {}
    for way in ("standby", "elastic"):
        for bursts, ways in curves.items():
            ettr, money = (
                [np.array([getattr(e, part) for e in ways[way].estimates[c]]) for part in ("mean", "low", "high")]
                for c in CURRENCIES
            )
            mean, low, high = (cost_of_useful_hour(p.price_per_gpu_hour, share) for share in money)
            drawn[curve_name(bursts, way)] = ettr, (mean, high, low)  # the greater the share, the lower the cost
            best[curve_name(bursts, way)] = ways[way].best["time"], ways[way].best["money"]
    return curves[False]["standby"].numbers, drawn, best


def rule_series(p, rules):
    """Return the rules' gains in points and percent of cost, as :func:`reliability.figures.policies.by_rule` takes them."""
    series = {}
    for wrong, days in dict.fromkeys((r.wrong, r.window_days) for r in rules):
        mine = [r for r in rules if (r.wrong, r.window_days) == (wrong, days)]
        label = f"diagnosis {diagnosis(wrong)}" + ("" if days is None else f", within {days:g} days")
        time = [tuple(100 * x for x in (r.time.mean, r.time.low, r.time.high)) for r in mine]
        money = [tuple(100 * x for x in r.cost) for r in mine]
        series[label] = time, money
    return [f"{n}" for n in sorted(p.rules)], series


def document(p, values):
    """Return the page's numbers, by the names under which a program finds them."""
    return {
        "own": {KINDS[b]: {c: _plain(v) for c, v in verdicts.items()} for b, verdicts in values["own"].items()},
        **{
            name: [[{c: _plain(v) for c, v in cell.items()} for cell in row] for row in values[name]]
            for name in ("by_rate", "by_repair")
        },
        "standbys": {
            curve_name(b, way): {"numbers": one.numbers, "best": one.best, "as_cheap": one.flat}
            | {c: [vars(e) for e in one.estimates[c]] for c in CURRENCIES}
            for b, ways in values["curves"].items()
            for way, one in ways.items()
        },
        "rules": [vars(r) | {"time": vars(r.time.within(-1, 1)), "money": vars(r.money)} for r in values["rules"]],
    }


def _plain(verdict):
    """One verdict for a program: what the case is, who wins, by how much."""
    return {
        "job_nodes": verdict.case.job_nodes,
        "failures_per_1000_node_days": 1000 * verdict.case.rate,
        "repair_h": verdict.case.repair_h,
        "best": verdict.best,
        "standbys": verdict.standbys,
        "means": verdict.means,
        "second": verdict.second,
        "lead": vars(verdict.gain),
        "shown": bool(verdict.shown),
    }
