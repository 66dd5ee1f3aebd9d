"""The policies of published studies, simulated from their own inputs: what their comparisons rest on."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from reliability import anchor_runs, facts, policy_anchors
from reliability.fleet_result import estimate
from reliability.text import percent, table
from reliability.units import HOUR_S

RUNS = anchor_runs.RUNS  # which the anchors show, too: the numbers are the same
MANY = 12  # standbys up to which the best number is looked for


@dataclass(frozen=True)
class Priced:
    """A study's pool of standbys: ETTR and the useful share of what is paid, by number of standbys."""

    numbers: list
    time: list
    money: list

    @property
    def best(self):
        """The number of standbys that makes useful work cheapest."""
        return self.numbers[int(np.argmax(self.money))]

    def at(self, number):
        """Return ETTR and useful share of what is paid with so many standbys."""
        place = self.numbers.index(number)
        return self.time[place], self.money[place]


def _priced(job_nodes, numbers, settings):
    time = [_ratio(settings(k)).mean for k in numbers]
    money = [ettr * job_nodes / (job_nodes + k) for k, ettr in zip(numbers, time, strict=True)]
    return Priced(list(numbers), time, money)


def _ratio(settings):
    return estimate(anchor_runs.run(settings, RUNS).effective_training_ratio)


def unpriced(printed, job_nodes, standbys):
    """Return an ETTR that was printed with its standbys in the denominator as one without them."""
    return printed * (job_nodes + standbys) / job_nodes


def economics_printed():
    """Return the ETTR that reliability-economics prints with overlapped checkpoints, by number of standbys."""
    printed = facts.value("reliability_economics_ettr")
    found = {name: int(name.removeprefix("overlapped_")) for name in printed if name.startswith("overlapped_")}
    return {k: printed[name] for name, k in found.items()}


@cache
def economics():
    """Return reliability-economics' pool for single failures and overlapped checkpoints, with its own numbers and those between."""
    return _priced(
        facts.value("reliability_economics_nodes")["job"],
        sorted({*range(2, MANY + 1), *economics_printed()}),
        lambda k: policy_anchors.economics_settings(standbys=k, saved="overlapped"),
    )


@cache
def airesim():
    """Return the runs of AIReSim's base case by number of warm standbys, its pool as it is: none, its own, and all that are idle.

    Returns
    -------
    dict of int to FleetResult
        Its own are the runs of the anchors.
    """
    nodes = facts.value("airesim_nodes")
    own, idle = nodes["standbys"], nodes["pool"] - nodes["job"]
    return {k: policy_anchors.airesim_runs(k) for k in (0, own, idle)}


def delta_standbys():
    """Return the whole nodes that Delta's published standbys are."""
    return -(-facts.value("delta_standby_gpus") // facts.value("delta_gpus_per_node"))


@cache
def delta():
    """Return Delta's job of a month by number of standbys: it waits where none is left, and a swap costs no time."""
    nodes = facts.value("delta_gpus") // facts.value("delta_gpus_per_node")
    down, recovery_h = facts.value("delta_unavailability_percent") / 100, facts.value("delta_recovery_h")

    def settings(k):
        return {
            "job_nodes": nodes,
            "warm_standbys": k,
            "horizon_h": 24.0 * facts.value("delta_days"),
            "failures": {"rate_per_node_day": 24.0 * down / (1 - down) / recovery_h, "clock": "always"},
            "repair": {"automatic_s": HOUR_S * recovery_h},
            "recovery": {"restart_s": 0.0},
        }

    return _priced(nodes, range(MANY + 1), settings)


def sections():
    """Return what the page says of published policies: it follows none of the page's parameters."""
    return {
        "economics": _economics(),
        "economics_said": _economics_said(),
        "airesim": _airesim(),
        "airesim_said": _airesim_said(),
        "delta": _delta(),
    }


def _economics():
    nodes, rows = facts.value("reliability_economics_nodes")["job"], []
    for k, printed in economics_printed().items():
        time, money = economics().at(k)
        free = unpriced(printed, nodes, k)
        rows.append([f"{k}", f"{printed:.3f}", f"{money:.3f}", f"{free:.3f}", f"{time:.3f}"])
    return table(["standbys", "printed", "here", "printed, standbys not priced", "here, not priced"], rows)


def _economics_said():
    pool = economics()
    return (
        f"Between those numbers lies the cheapest pool of its case, {pool.best} standbys: ETTR {pool.at(pool.best)[0]:.3f}, "
        f"with the standbys priced {pool.at(pool.best)[1]:.3f}."
    )


def _airesim():
    rows, ratios = [], {k: result.effective_training_ratio for k, result in airesim().items()}
    base = ratios[facts.value("airesim_nodes")["standbys"]]
    for k, result in airesim().items():
        counts = (result.counts[name].mean() for name in ("host_selections", "preemptions"))
        beside = "" if ratios[k] is base else _within(estimate(ratios[k] - base), 5, "+")
        waiting = f"{result.hours_lost['waiting'].mean():,.1f} h"
        rows.append([f"{k}", _within(estimate(ratios[k]), 4), beside, *(f"{n:,.1f}" for n in counts), waiting])
    header = ["warm standbys", "effective training ratio", "beside its own number", "host selections", "preemptions", "waiting"]
    return table(header, rows)


def _airesim_said():
    nodes, minutes, found = facts.value("airesim_nodes"), facts.value("airesim_times_min"), airesim()
    own, idle = nodes["standbys"], max(found)
    more = {name: found[idle].counts[name].mean() - found[own].counts[name].mean() for name in ("host_selections", "preemptions")}
    fewer, more = -more["host_selections"], more["preemptions"]
    return (
        f"More standbys than its own {own} save host selections, and yet cost time: in its rules a preemption, once begun, goes on "
        f"node by node until the standbys are full again too. With {idle} a run has {fewer:.0f} host selections of "
        f"{minutes['selection']:g} min fewer, {fewer * minutes['selection'] / 60:.1f} h, and {more:.0f} preemptions of "
        f"{minutes['preemption']:g} min more, {more * minutes['preemption'] / 60:.1f} h."
    )


def _within(estimated, digits, sign=""):
    return f"{estimated.mean:{sign}.{digits}f} ± {estimated.half_width:.{digits}f}"


def _delta():
    pool, published = delta(), delta_standbys()
    target = facts.value("delta_target_percent") / 100
    enough = next(k for k, share in zip(pool.numbers, pool.time, strict=True) if share >= target)

    def said(k):
        time, money = pool.at(k)
        return f"{percent(time, 2)} of the time, useful share of what is paid {percent(money, 1)}"

    return (
        f"Delta's {facts.value('delta_standby_gpus')} GPUs * are {published} nodes: {said(published)}. Its target of {percent(target, 1)} * is met "
        f"in the mean of all months by {enough}: {said(enough)}. Useful work is cheapest with {pool.best}: {said(pool.best)}."
    )
