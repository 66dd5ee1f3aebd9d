"""Traces drawn of each failure process, and what they show beside the formulas."""

import numpy as np

from reliability import bursts, cascades, lives, standby
from reliability.scenarios.base import Result, short
from reliability.text import percent, table

WEEK_H = 168
SETTLED = 5  # mean repairs, or mean lives of a node, before a drawn trace is looked at


def draw(p, rng):
    """Draw a trace of each process: (times, nodes lost at each, length of the period).

    Every trace has `failures` node failures on average, at the same rate.
    """
    rate, horizon = 1 / p.job_mtbf_h, p.failures * p.job_mtbf_h
    rates, lost = bursts.demands(p.node_mtbf_h, p.job_nodes, p.shares, p.sizes)
    cascade = cascades.draw_cascades(rng, rate, p.branching, p.delay_h, horizon)
    new = SETTLED * p.node_mtbf_h  # the nodes of this one are all new at its start
    aged = lives.draw_renewals(
        lambda n: lives.draw_weibull(rng, p.node_mtbf_h, p.life_shape, n), p.job_nodes, new + horizon
    )
    traces = {
        "one by one": bursts.draw_bursts(rng, [rate], [1], horizon),
        "bursts": bursts.draw_bursts(rng, rates, lost, horizon),
        "cascades": (cascade, np.ones(cascade.size, dtype=int)),
        "Weibull lives": (aged[aged >= new] - new, np.ones(int((aged >= new).sum()), dtype=int)),
    }
    return {name: (*trace, horizon) for name, trace in traces.items()}


def standard_error(values, parts=40):
    """Standard error of the mean of a series whose neighbours are alike, from the means of its parts; None for a short one."""
    if len(values) < 5 * parts:
        return None
    means = [part.mean() for part in np.array_split(np.asarray(values, dtype=float), parts)]
    return float(np.std(means, ddof=1) / np.sqrt(parts))


def simulate_stops(trace, outage_h):
    """Count what interrupts a running job, in interruptions a week: (mean, standard error)."""
    times, _, horizon = trace
    stops = times[np.diff(times, prepend=-np.inf) > outage_h]
    weekly = np.histogram(stops, 400, (0, horizon))[0] * (WEEK_H * 400 / horizon)
    return float(weekly.mean()), standard_error(weekly)


def simulate_pool(trace, repair_h):
    """Standbys that each event of a trace needs: nodes away just before it, and those it takes itself."""
    times, lost, _ = trace
    away = standby.nodes_away(times, lost, np.full(int(lost.sum()), repair_h)) if times.size else np.empty(0, dtype=int)
    return (away + lost)[times >= min(SETTLED * repair_h, trace[2] / 2)]


def observe(p, traces, values):
    """What the traces show beside the formulas: how often a running job is interrupted, and what a pool meets."""
    rate, outage_h = 1 / p.job_mtbf_h, p.outage_min / 60
    events = {"one by one": rate, "bursts": 1 / values["mtbf_h"]["packed"], "cascades": rate, "Weibull lives": rate}
    formula = {
        name: WEEK_H * cascades.interruption_rate(events[name], 0.0, 1.0, outage_h) for name in ("one by one", "bursts")
    }
    formula["cascades"] = WEEK_H * cascades.interruption_rate(rate, p.branching, p.delay_h, outage_h)
    spread = {"one by one": 1.0, "bursts": bursts.dispersion(p.shares, p.sizes)}
    spread["cascades"] = cascades.dispersion(p.branching, p.delay_h, p.repair_h)
    needs = {name: simulate_pool(trace, p.repair_h) for name, trace in traces.items()}
    curves = {name: _beyond(need) for name, need in needs.items()}
    pools = {name: int(np.argmax(curve <= p.target)) for name, curve in curves.items()}
    found = {"interruptions": formula, "dispersion": spread, "curves": curves, "pools": pools}
    stops = {name: simulate_stops(trace, outage_h) for name, trace in traces.items()}
    sections = _processes(traces, events, found, stops) | {"pool": _pool(p, values, needs, pools)}
    return Result({}, sections, found)


def _beyond(need):
    """Share of events that need more than 0, 1, 2, ... standbys."""
    counts = np.bincount(need, minlength=1)
    return np.append(np.cumsum(counts[::-1])[-2::-1], [0, 0]) / max(need.size, 1)


def _counted(text, error):
    return text if error is None else f"{text} ± {error}"


def _processes(traces, events, found, stops):
    grouped, stopped = [], []
    for name, (_, lost, horizon) in traces.items():
        spread, formula = (
            f"{found[key][name]:.2f}" if name in found[key] else "" for key in ("dispersion", "interruptions")
        )
        grouped.append(
            [
                name,
                f"{lost.sum() / horizon * WEEK_H:.1f}",
                f"{WEEK_H * events[name]:.1f}",
                short(1 / events[name]),
                spread,
            ]
        )
        mean, error = stops[name]
        stopped.append([name, formula, _counted(f"{mean:.2f}", None if error is None else f"{error:.2f}")])
    head = ["a week", "nodes, drawn", "events", "MTBF (h)", "dispersion"]
    return {"grouped": table(head, grouped), "stopped": table(["interruptions a week", "formula", "drawn"], stopped)}


def _pool(p, values, needs, pools):
    small, formula = values["pools"]["one by one"], {"one by one": "one by one", "bursts": "together"}
    rows = []
    for name, need in needs.items():
        kind, flags = formula.get(name), need > small
        known = [f"{values['pools'][kind]}", percent(values["short"][kind])] if kind else ["", ""]
        error = standard_error(flags)
        drawn = _counted(percent(flags.mean() if flags.size else 0), None if error is None else percent(error))
        rows.append([name, known[0], f"{pools[name]}", known[1], drawn])
    rows.insert(2, ["bursts, repaired apart", f"{values['pools']['apart']}", "", percent(values["short"]["apart"]), ""])
    head = ["process", "pool", "drawn", f"too few of {small}", "drawn"]
    return f"On average {p.load:.2f} nodes are away in every row.\n\n" + table(head, rows)
