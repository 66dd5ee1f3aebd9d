"""Published results that the page on checkpoint tiers is held against."""

import numpy as np

from reliability import facts
from reliability.anchors import Anchor, rounding
from reliability.checkpoint import daly_interval, optimal_interval, renewal_efficiency, young_interval
from reliability.intervals import availability_interval
from reliability.tiers import two_level_efficiency
from reliability.units import HOUR_S

BYTES_PER_TIB = 2**40


def anchors():
    """Return the published results that the models are held against."""
    return [*_scr_anchors(), *_table_anchors(), *_size_anchors()]


def _scr_anchors():
    """SCR-model's two machines, on the model's grid of hundreds of seconds, restarts as long as writes."""
    rates, costs = facts.value("scr_rates"), facts.value("scr_costs_s")
    spans, shares, counts = (
        facts.value(name) for name in ("scr_intervals_s", "scr_efficiencies", "scr_local_per_global")
    )
    grid, found = 100.0 * np.arange(1, 1001), []
    for machine in ("atlas", "coastal"):
        cost, rate = ([source[f"{machine}_{tier}"] for tier in ("local", "global")] for source in (costs, rates))
        single = renewal_efficiency(grid, cost[1], cost[1], 1 / sum(rate))
        both = two_level_efficiency(grid[:200, None], np.arange(1, 100), cost, cost, rate)
        row, column = np.unravel_index(int(np.argmax(both)), both.shape)
        count, (alone, pair) = counts[machine], (f"{machine}_global_only", f"{machine}_two_levels")
        there = two_level_efficiency(spans[pair], count, cost, cost, rate)
        status, why = "emergent", ""
        if machine == "coastal":
            status, gap = "off", 1e6 * (both.max() - there)
            why = (
                f"the top is flat: the published plan keeps {gap:.0f} millionths less than the best one here; it would be the best "
                "among every third count from 2 on, where its driver starts unless told otherwise; which counts were tried is not known."
            )
        found += [
            _scr(machine, "interval, file system only", spans[alone], grid[single.argmax()]),
            _scr(machine, "efficiency there", shares[alone], single.max()),
            _scr(machine, "interval, two levels", spans[pair], grid[row], status, why),
            _scr(machine, "local checkpoints for each global one", count, column + 1, status, why),
            _scr(machine, "efficiency of the published two levels", shares[pair], there),
        ]
    return found


def _scr(machine, what, published, computed, status="emergent", why=""):
    """An anchor of SCR-model: a share to its five digits, an interval to the grid, a count exactly."""
    ends, margin, shown, digits = (published, published), "exact", f"{published}", ".0f"
    if published < 1:
        ends, margin, digits = rounding(published, 5), "rounding of the printed number", ".5f"
    elif "interval" in what:
        ends, margin, shown, digits = (
            (published - 50, published + 50),
            "half a step of the grid",
            f"{published:,} s",
            ",.0f",
        )
    levels = "one" if "only" in what or "there" in what else "two"
    name, model = f"scr-{machine}-{what.split(',')[0].replace(' ', '-')}-{levels}", f"{levels}-level model"
    return Anchor(name, f"SCR, {machine}: {what}", shown, float(computed), *ends, margin, "scr_model", True, status, why, digits, model)


def daly_table():
    """Recompute the table of Daly's parameters: its rows as texts, and as printed."""
    mtbf_h = np.array(facts.value("daly_table_mtbf_h"))
    write, restart, mtbf = facts.value("daly_table_write_min"), facts.value("daly_table_restart_min"), 60 * mtbf_h
    best = optimal_interval(write, mtbf)
    here = young_interval(write, mtbf), daly_interval(write, mtbf), best, renewal_efficiency(best, write, restart, mtbf)
    names = "daly_table_young_min", "daly_table_daly_min", "daly_table_exact_min", "daly_table_efficiency"
    there = [facts.value(name) for name in names]
    places = (2, 2, 2, 3)
    return [
        [
            [f"{m:g}", *(f"{x:.{n}f}" for x, n in zip(row, places, strict=True))]
            for m, *row in zip(mtbf_h, *columns, strict=True)
        ]
        for columns in (here, there)
    ]


def _table_anchors():
    """Daly's table, Saxena's closed form, mlsysim's interval."""
    from scipy.optimize import minimize_scalar

    cells = [
        (a, b) for mine, theirs in zip(*daly_table(), strict=True) for a, b in zip(mine[1:], theirs[1:], strict=True)
    ]
    write, restart, mtbf = facts.value("daly_table_write_min"), facts.value("daly_table_restart_min"), 60.0
    closed = availability_interval(write, restart, mtbf) + write

    def unavailable(period):  # Saxena's model, less than none at the period of the write alone
        return -(1 - write / period) * mtbf / (mtbf + restart + period / 2)

    top = minimize_scalar(unavailable, bounds=(write, 10 * mtbf), method="bounded", options={"xatol": 1e-9}).x
    span, waste = facts.value("mlsysim_interval_s"), facts.value("mlsysim_waste_percent")
    cost, job = facts.value("mlsysim_write_s"), HOUR_S * facts.value("mlsysim_mtbf_h")
    young = young_interval(cost, job)
    lost = 100 * (cost / young + young / 2 / job)
    digits, search = "rounding of the printed number", "where the search stops"
    what = "Daly's write and restart, six MTBFs: numbers that come out as printed"
    why = "Young's interval, Daly's, the exact optimum and its efficiency."
    formula, found = f"closed form, {closed:.4f} min", "the top of that availability, by search"
    return [
        Anchor("daly-table", what, f"{len(cells)}", float(sum(a == b for a, b in cells)), len(cells), len(cells), "exact", "daly2006", False, "emergent", why, ".0f"),
        Anchor("saxena-period", "Saxena: best period, same write and restart, MTBF 1 h", formula, float(top), closed - 1e-4, closed + 1e-4, search, "saxena2024", True, "emergent", found, ".4f"),
        Anchor("mlsysim-interval", "mlsysim: interval", f"{span} s", young, *rounding(span, 2), digits, "mlsysim", True, "emergent", "Young's.", ".2f"),
        Anchor("mlsysim-waste", "mlsysim: time lost there", f"{waste}%", lost, *rounding(waste, 2), digits, "mlsysim", True, "emergent", "to first order, no restart", ".2f"),
    ]  # fmt: skip


def _size_anchors():
    """BLOOM's size, and a checkpoint in each step."""
    from reliability import scenarios
    from reliability.scenarios.checkpoint_tiers import tiers

    p = scenarios.inputs("checkpoint_tiers", scenarios.defaults("checkpoint_tiers"))
    size, bound = facts.value("bloom_checkpoint_tb"), facts.value("byterobust_step_overhead_percent")
    overhead = 100 * tiers(p)[0].stall / p.step_s
    binary = "in binary units, in which the source's sizes seem to be; what else is in its files is not said"
    bounded = "only a bound, and another job: this page's, with nothing of the copy hidden behind the step"
    what = f"BLOOM: full checkpoint, at {p.bytes_per_parameter:g} bytes a parameter"
    step = "ByteRobust: overhead of a checkpoint in each step"
    return [
        Anchor("bloom-size", what, f"{size} TB", p.state_bytes / BYTES_PER_TIB, *rounding(size, 1), "rounding of the printed number", "bloom", True, "off", binary, ".2f"),
        Anchor("byterobust-step", step, f"below {bound}%", overhead, 0.0, bound, "the printed bound", "byterobust", False, "emergent", bounded, ".2f"),
    ]  # fmt: skip
