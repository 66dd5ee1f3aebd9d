"""Published results on policies and pools, each simulated from its own published inputs: AIReSim, reliability-economics."""

from functools import cache

import numpy as np
from scipy.special import fdtr, fdtri, ndtr

from reliability import facts
from reliability.anchor_runs import MODEL, declined, economics_case, held, run
from reliability.anchors import rounding
from reliability.units import HOUR_S, MINUTE_S

RUNS = 400  # of AIReSim's base case, so many that its own 30 are what leaves a mean open
RARE = 0.05  # a difference that chance makes less often is remarked upon


def anchors():
    """Published results on policies and pools; they have inputs of their own, and are simulated once."""
    return list(_anchors())


@cache
def _anchors():
    return (*_airesim(), *_economics())


def airesim_settings(recovery_min=None):
    """Return AIReSim's base case, as ``examples/airesim-base.toml`` has it.

    Parameters
    ----------
    recovery_min : float, optional
        Another recovery time than the base case's.
    """
    nodes, times = facts.value("airesim_nodes"), facts.value("airesim_times_min")
    return {
        "job_nodes": nodes["job"],
        "pool_nodes": nodes["pool"],
        "warm_standbys": nodes["standbys"],
        "spare_nodes": nodes["spares"],
        "work_h": float(facts.value("airesim_work_h")),
        "failures": {
            "rate_per_node_day": facts.value("airesim_rate") / 1000,
            "bad_share": facts.value("airesim_lemon_share"),
            "bad_factor": facts.value("airesim_lemon_factor") - 1.0,
            "clock": "running",
        },
        "repair": {
            "automatic_s": MINUTE_S * times["automatic"],
            "manual_s": MINUTE_S * times["manual"],
            **facts.value("airesim_chances"),
        },
        "recovery": {
            "restart_s": MINUTE_S * (times["recovery"] if recovery_min is None else recovery_min),
            "host_selection_s": MINUTE_S * times["selection"],
            "preemption_s": MINUTE_S * times["preemption"],
        },
    }


@cache
def airesim_runs(standbys):
    """Simulate AIReSim's base case with a number of warm standbys in its pool, the base case's own or another, on the same failures.

    Parameters
    ----------
    standbys : int

    Returns
    -------
    FleetResult
    """
    return run(airesim_settings() | {"warm_standbys": standbys}, RUNS)


def _airesim():
    result, printed = airesim_runs(facts.value("airesim_nodes")["standbys"]), facts.value("airesim_results")
    samples = {
        "training_time": result.training_time_h,
        "restart": result.hours_lost["restart"],
        **{name: result.counts[name] for name in ("failures", "systematic", "host_selections", "preemptions")},
    }
    samples["random"] = samples["failures"] - samples["systematic"]
    words = {
        "training_time": "training time", "restart": "hours of recovery", "host_selections": "host selections",
        "random": "random failures", "systematic": "systematic failures",
    }  # fmt: skip
    margin = "three standard errors of the difference, with the spread found here"
    margin_of_spread = "as rare as three standard errors, by the F distribution of the ratio of two variances"
    found = []
    runs = facts.value("airesim_runs")
    for name, value in printed.items():
        error = 3 * samples[name].std(ddof=1) * np.sqrt(1 / runs + 1 / len(result))
        unit = " h" if name in ("training_time", "restart") else ""
        found.append(held(f"airesim_{name}", f"AIReSim, base case: {words.get(name, name)}", f"{value:,}{unit}", samples[name].mean(),
                             value - error, value + error, margin, "airesim", digits=",.0f" if value > 1000 else ".1f"))  # fmt: skip
    spreads = facts.value("airesim_spread")
    for name, value in spreads.items():
        spread = samples[name].std(ddof=1)
        low, high = _spread_limits(value, runs, len(result))
        chance = fdtr(len(result) - 1, runs - 1, (spread / value) ** 2)
        note = f"near the edge: by chance so far apart once in {0.5 / min(chance, 1 - chance):,.0f} times; one of {len(spreads)} spreads" if 2 * min(chance, 1 - chance) < RARE else ""
        unit = " h" if name == "training_time" else ""
        found.append(held(f"airesim_spread_{name}", f"AIReSim, base case: {words.get(name, name)}, standard deviation of a run", f"{value}{unit}",
                          spread, low, high, margin_of_spread, "airesim", note=note, digits=".1f"))  # fmt: skip
    ratio, quick = facts.fact("airesim_ratio"), facts.value("airesim_quick")
    shorter = run(airesim_settings(quick["recovery"]), RUNS).effective_training_ratio.mean()
    return [
        *found,
        held("airesim_ratio", "AIReSim, base case: effective training ratio", f"{ratio.value}", result.effective_training_ratio.mean(),
                ratio.low, ratio.high, "the range of its replications", "airesim", digits=".4f"),
        held("airesim_quick", f"the same, recovery in {quick['recovery']} min", f"about {quick['ratio_percent'] / 100}", shorter,
                *rounding(quick["ratio_percent"] / 100, 2), "as it says: about", "airesim", digits=".3f"),
    ]  # fmt: skip


def _spread_limits(printed, runs, ours):
    """Return the standard deviations of so many runs here that agree with one printed of others, were runs normal."""
    return tuple(printed * np.sqrt(fdtri(ours - 1, runs - 1, chance)) for chance in (ndtr(-3.0), ndtr(3.0)))


def economics_settings(standbys=0, saved="interval", burst=False, elastic=False):
    """Return a case of reliability-economics: its policy and checkpoints, for single failures or bursts.

    Parameters
    ----------
    standbys : int
    saved : "interval" or "overlapped"
        Blocking checkpoints, or those that overlap with the training.
    burst, elastic : bool
    """
    overlapped, hours = facts.value("reliability_economics_hours"), facts.value("reliability_economics_standby_h")
    nodes = facts.value("reliability_economics_nodes")
    checkpoint = overlapped if saved == "overlapped" or elastic else hours
    settings = {
        "job_nodes": nodes["job"],
        "warm_standbys": standbys,
        "horizon_h": overlapped["horizon"],
        "failures": {"rate_per_node_day": facts.value("reliability_economics_rate") / 1000, "clock": "always"},
        "faults": [{"name": "any", "detection_s": 0.0 if elastic else HOUR_S * hours["detect"]}],
        "repair": {
            "automatic_s": HOUR_S * overlapped["repair"],
            "requalify_s": HOUR_S * overlapped["requalify"],
            "times": "fixed",
        },
        "recovery": {"restart_s": HOUR_S * hours["reload"]},
        "checkpoint": {"interval_s": HOUR_S * checkpoint["interval"], "write_s": HOUR_S * checkpoint["write"]},
    }
    if burst:
        share, size = facts.value("reliability_economics_burst_share"), facts.value("reliability_economics_burst_nodes")
        settings["failures"] |= {"burst_shares": [1 - share, share], "burst_sizes": [1, size]}
    if elastic:
        settings["elastic"] = {"nodes_per_replica": nodes["replica"], "reshard_s": HOUR_S * overlapped["reshard"]}
    return settings


def _economics():
    single, burst = facts.value("reliability_economics_ettr"), facts.value("reliability_economics_burst_ettr")
    side_by_side = "Its restart begins when the repair ends, and the node is back without requalification; here the two go on side by side"
    first_back = (
        "With no standby it waits for the failed node's own repair; here the job takes the first node that is back"
    )
    rows = [
        ("restart", single["restart"], {}, side_by_side),
        *((f"standbys_{k}", single[f"standbys_{k}"], {"standbys": k}, first_back if k == 2 else "") for k in (2, 8, 32)),
        *((f"overlapped_{k}", single[f"overlapped_{k}"], {"standbys": k, "saved": "overlapped"}, first_back if k == 2 else "") for k in (2, 8, 32)),
        ("elastic", facts.value("reliability_economics_elastic"), {"elastic": True}, ""),
        ("burst_restart", burst["restart"], {"burst": True}, side_by_side),
        ("burst_overlapped_32", burst["overlapped_32"], {"burst": True, "standbys": 32, "saved": "overlapped"}, ""),
        ("burst_elastic", burst["elastic"], {"burst": True, "elastic": True}, ""),
    ]  # fmt: skip
    runs = facts.value("reliability_economics_runs")
    why = "with no standby the repair outlasts the operator here, so it cannot be told from the restart below"
    what = economics_case("manual")
    found = [declined("economics_manual", what, f"{single['manual']:.3f}", "reliability_economics", why, model=MODEL)]
    for name, printed, options, off in rows:
        settings = economics_settings(**options)
        paid = settings["job_nodes"] / (settings["job_nodes"] + settings["warm_standbys"])  # idle standbys are paid for
        sample = paid * run(settings).effective_training_ratio
        error = 3 * sample.std(ddof=1) / np.sqrt(runs)
        found.append(held(f"economics_{name}", economics_case(name.removeprefix("burst_"), "burst" in options), f"{printed:.3f}", sample.mean(), printed - error,
                          printed + error, f"three standard errors of the mean of its {runs} runs", "reliability_economics", off, model=MODEL))  # fmt: skip
    return found
