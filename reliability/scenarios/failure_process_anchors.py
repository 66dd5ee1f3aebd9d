"""Published results that the page on the failure process is held against."""

from functools import cache

import numpy as np

from reliability import cascades, facts, outages, standby
from reliability.anchor_runs import economics_case
from reliability.anchors import Anchor, rounding


def _peer():
    """The inputs of reliability-economics: hours, nodes, rate of failures, groups of blast radii."""
    hours = facts.value("reliability_economics_hours") | facts.value("reliability_economics_standby_h")
    overlapped = facts.value("reliability_economics_hours")
    nodes = facts.value("reliability_economics_nodes")
    rate = facts.value("reliability_economics_rate") / 24_000 * nodes["job"]
    share, size = facts.value("reliability_economics_burst_share"), facts.value("reliability_economics_burst_nodes")
    groups = {"single": ([1.0], [1]), "burst": ([1 - share, share], [1, size])}
    saving = {
        "blocking": (hours["interval"], hours["write"]),
        "overlapped": (overlapped["interval"], overlapped["write"]),
    }
    return hours, nodes, rate, groups, saving


def _peer_trace(seed, rate, shares, sizes, horizon):
    """The failures of one of its runs: gaps drawn one by one, single failures first, from the run's own seed."""
    rng, events = np.random.default_rng(seed), []
    for share, size in zip(shares, sizes, strict=True):
        time = rng.exponential(size / (share * rate))
        while time < horizon:
            events.append((time, size))
            time += rng.exponential(size / (share * rate))
    events.sort()
    return [time for time, _ in events], [size for _, size in events]


def _peer_runs(group, standbys=0, detect="detect", saved="blocking", elastic=False):
    """ETTR of its runs, with the standbys in the denominator: an array, one entry a seed."""
    hours, nodes, rate, groups, saving = _peer()
    back, found = hours["repair"] + hours["requalify"], []
    for seed in range(facts.value("reliability_economics_runs")):
        trace = *_peer_trace(seed, rate, *groups[group], hours["horizon"]), hours["horizon"]
        if elastic:
            run = outages.shrinking(
                *trace, nodes["job"], nodes["replica"], hours["reshard"], back, *saving["overlapped"]
            )
        else:
            swap = hours[detect] + hours["reload"]
            run = outages.with_standbys(*trace, standbys, swap, swap + hours["repair"], back, *saving[saved])
        found.append(run.kept * nodes["job"] / (nodes["job"] + standbys))
    return np.array(found)


def _peer_formula(group):
    """Long-run ETTR of its restart without standbys: rate of events, share of time up, work kept."""
    hours, _, rate, groups, saving = _peer()
    events = rate / (1 / sum(s / b for s, b in zip(*groups[group], strict=True)))
    outage = hours["detect"] + hours["repair"] + hours["reload"]
    up, stops = cascades.share_up(events, 0.0, 1.0, outage), cascades.interruption_rate(events, 0.0, 1.0, outage)
    return outages.kept_share(up, stops, *saving["blocking"])


def delta_standbys(recovery_h, certain):
    """GPUs of standbys with which Delta's job of a month never runs short, with a given chance."""
    per_node = facts.value("delta_gpus_per_node")
    nodes = facts.value("delta_gpus") // per_node
    down = facts.value("delta_unavailability_percent") / 100
    rate = nodes * down / (1 - down) / facts.value("delta_recovery_h")
    hours, standbys = 24 * facts.value("delta_days"), 0
    while standby.chance_pool_lasts([rate], [1], recovery_h, standbys, hours) < certain:
        standbys += 1
    return standbys * per_node


def anchors():
    """Published results that this page is held against; they have inputs of their own, and are computed once."""
    return list(_anchors())


@cache
def _anchors():
    single, burst = facts.value("reliability_economics_ettr"), facts.value("reliability_economics_burst_ettr")
    cases = [
        ("manual", "single", {"detect": "operator"}),
        ("restart", "single", {}),
        *((f"standbys_{k}", "single", {"standbys": k}) for k in (2, 8, 32)),
        *((f"overlapped_{k}", "single", {"standbys": k, "saved": "overlapped"}) for k in (2, 8, 32)),
        ("restart", "burst", {}),
        ("overlapped_32", "burst", {"standbys": 32, "saved": "overlapped"}),
    ]
    printed = {"single": single, "burst": burst}
    found = [
        _economics(group, name, printed[group][name], _peer_runs(group, **options).mean()) for name, group, options in cases
    ]
    why = "its program forgets nodes that are back before the next failure"
    for group, value in (("single", facts.value("reliability_economics_elastic")), ("burst", burst["elastic"])):
        found.append(_economics(group, "elastic", value, _peer_runs(group, elastic=True).mean(), "off", why))
    for group, table in printed.items():
        error = 3 * _peer_runs(group).std(ddof=1) / np.sqrt(facts.value("reliability_economics_runs"))
        value, margin = table["restart"], "three standard errors of the mean of its eight runs"
        ends = (value - error, value + error)
        found.append(
            Anchor(f"{group}_formula", economics_case("restart", group == "burst"), f"{value:.3f}", _peer_formula(group), *ends, margin,
                   "reliability_economics", True, "emergent", "", ".3f", "formula")
        )  # fmt: skip
    return (*found, *_delta(), *_declined())


def _economics(group, name, value, computed, status="emergent", reason=""):
    case = economics_case(name, group == "burst")
    return Anchor(f"{group}_{name}", case, f"{value:.3f}", float(computed), *rounding(value, 3), "rounding",
                  "reliability_economics", True, status, reason, ".3f", "its runs replayed")  # fmt: skip


def _delta():
    gpus, certain = facts.value("delta_gpus"), facts.value("delta_target_percent") / 100
    slow_h, quick_h = facts.value("delta_recovery_h"), facts.value("delta_quick_recovery_min") / 60
    slow, quick = facts.value("delta_standby_gpus"), facts.value("delta_quick_standby_percent")
    loose = [delta_standbys(hours, 0.99) for hours in (slow_h, quick_h)]
    reason = (
        f"one node too many, if the chance is that the pool lasts the month ({loose[0]} and {loose[1]} GPUs at 99%); "
        "which chance the paper means is not known here"
    )
    per_node = facts.value("delta_gpus_per_node")
    what = f"Delta: standbys for {gpus} GPUs, recovery in"
    low, high = rounding(quick, 0)
    return [
        Anchor(
            "delta_slow", f"{what} {slow_h:g} h", f"{slow} GPUs", delta_standbys(slow_h, certain), slow, slow + per_node - 1,
            "rounding up to whole nodes", "cui2025", False, "off", reason, ".0f",
        ),
        Anchor(
            "delta_quick", f"{what} {quick_h * 60:.0f} min", f"{quick}%", 100 * delta_standbys(quick_h, certain) / gpus, low, high,
            "rounding", "cui2025", False, "off", "as with the longer recovery", ".1f",
        ),
    ]  # fmt: skip


def _declined():
    jobs, hours = facts.value("kokolis_lemon_failed_jobs_percent"), facts.value("superbench_incident_h")
    nodes, defective = facts.value("kokolis_lemon_nodes"), facts.value("superbench_defective_percent")
    return [
        Anchor(
            "kokolis_lemons", f"failed jobs of 512 GPUs and more, {nodes} lemons removed", f"{jobs['before']}% to {jobs['after']}%",
            None, None, None, "", "kokolis2025", False, "declined",
            "how often a lemon fails is not given: any fall fits some factor",
        ),
        Anchor(
            "superbench_incidents", f"time to a node's 1st and 20th incident, {defective:g}% defective",
            f"{hours['first']} h, {hours['twentieth']} h", None, None, None, "", "superbench", False, "declined",
            "two rates of failure fit the two numbers",
        ),
    ]  # fmt: skip
