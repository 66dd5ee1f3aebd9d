"""Published results that the fleet model is held against: each simulated from its own published inputs."""

from functools import cache

import numpy as np

from reliability import facts, fleet, fleet_config
from reliability.anchors import Anchor, rounding
from reliability.checkpoint import daly_interval, young_interval
from reliability.fleet_result import estimate

KEY = 20260307  # of all simulations here
HOUR, MINUTE = 3600.0, 60.0
RUNS = {"airesim": 60, "reliability_economics": 100, "others": 100}


def anchors():
    """Published results that the fleet model is held against; they have inputs of their own, and are simulated once."""
    return list(_anchors())


@cache
def _anchors():
    return (*_airesim(), *_economics(), *_network(), *_llama3(), *_ft_hsdp(), *_byterobust())


def _run(settings, runs="others"):
    return fleet.simulate_key(fleet_config.build(settings), KEY, RUNS[runs])


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
            "automatic_s": MINUTE * times["automatic"],
            "manual_s": MINUTE * times["manual"],
            **facts.value("airesim_chances"),
        },
        "recovery": {
            "restart_s": MINUTE * (times["recovery"] if recovery_min is None else recovery_min),
            "host_selection_s": MINUTE * times["selection"],
            "preemption_s": MINUTE * times["preemption"],
        },
    }


def _airesim():
    result, printed = _run(airesim_settings(), "airesim"), facts.value("airesim_results")
    samples = {
        "training_time": result.training_time_h,
        "restart": result.hours_lost["restart"],
        **{name: result.counts[name] for name in ("failures", "systematic", "host_selections", "preemptions")},
    }
    words = {"training_time": "training time", "restart": "hours of recovery", "host_selections": "host selections"}
    margin = "three standard errors of the difference, with the spread found here"
    found = []
    for name, value in printed.items():
        error = 3 * samples[name].std(ddof=1) * np.sqrt(1 / facts.value("airesim_runs") + 1 / len(result))
        unit = " h" if name in ("training_time", "restart") else ""
        found.append(_anchor(f"airesim_{name}", f"AIReSim, base case: {words.get(name, name)}", f"{value:,}{unit}", samples[name].mean(),
                             value - error, value + error, margin, "airesim", digits=",.1f"))  # fmt: skip
    ratio, quick = facts.fact("airesim_ratio"), facts.value("airesim_quick")
    shorter = _run(airesim_settings(quick["recovery"]), "airesim").effective_training_ratio.mean()
    return [
        *found,
        _anchor("airesim_ratio", "AIReSim, base case: effective training ratio", f"{ratio.value}", result.effective_training_ratio.mean(),
                ratio.low, ratio.high, "the range of its replications", "airesim", digits=".4f"),
        _anchor("airesim_quick", f"the same, recovery in {quick['recovery']} min", f"about {quick['ratio_percent'] / 100}", shorter,
                *rounding(quick["ratio_percent"] / 100, 2), "as it says: about", "airesim", digits=".3f"),
    ]  # fmt: skip


def _economics_settings(standbys=0, detect="detect", saved="interval", burst=False, elastic=False):
    overlapped, hours = facts.value("reliability_economics_hours"), facts.value("reliability_economics_standby_h")
    nodes = facts.value("reliability_economics_nodes")
    checkpoint = overlapped if saved == "overlapped" or elastic else hours
    settings = {
        "job_nodes": nodes["job"],
        "warm_standbys": standbys,
        "horizon_h": overlapped["horizon"],
        "failures": {"rate_per_node_day": facts.value("reliability_economics_rate") / 1000, "clock": "always"},
        "faults": [{"name": "any", "detection_s": 0.0 if elastic else HOUR * hours[detect]}],
        "repair": {
            "automatic_s": HOUR * overlapped["repair"],
            "requalify_s": HOUR * overlapped["requalify"],
            "times": "fixed",
        },
        "recovery": {"restart_s": HOUR * hours["reload"]},
        "checkpoint": {"interval_s": HOUR * checkpoint["interval"], "write_s": HOUR * checkpoint["write"]},
    }
    if burst:
        share, size = facts.value("reliability_economics_burst_share"), facts.value("reliability_economics_burst_nodes")
        settings["failures"] |= {"burst_shares": [1 - share, share], "burst_sizes": [1, size]}
    if elastic:
        settings["elastic"] = {"nodes_per_replica": nodes["replica"], "reshard_s": HOUR * overlapped["reshard"]}
    return settings


def _economics():
    single, burst = facts.value("reliability_economics_ettr"), facts.value("reliability_economics_burst_ettr")
    side_by_side = "Its restart begins when the repair ends, and the node is back without requalification; here the two go on side by side"
    first_back = (
        "With no standby it waits for the failed node's own repair; here the job takes the first node that is back"
    )
    rows = [
        ("manual", single["manual"], {"detect": "operator"}, ""),
        ("restart", single["restart"], {}, side_by_side),
        *((f"standbys_{k}", single[f"standbys_{k}"], {"standbys": k}, first_back if k == 2 else "") for k in (2, 8, 32)),
        *((f"overlapped_{k}", single[f"overlapped_{k}"], {"standbys": k, "saved": "overlapped"}, first_back if k == 2 else "") for k in (2, 8, 32)),
        ("elastic", facts.value("reliability_economics_elastic"), {"elastic": True}, ""),
        ("burst_restart", burst["restart"], {"burst": True}, side_by_side),
        ("burst_overlapped_32", burst["overlapped_32"], {"burst": True, "standbys": 32, "saved": "overlapped"}, ""),
        ("burst_elastic", burst["elastic"], {"burst": True, "elastic": True}, ""),
    ]  # fmt: skip
    found = []
    for name, printed, options, off in rows:
        settings = _economics_settings(**options)
        paid = settings["job_nodes"] / (settings["job_nodes"] + settings["warm_standbys"])  # idle standbys are paid for
        sample = paid * _run(settings, "reliability_economics").effective_training_ratio
        error = 3 * sample.std(ddof=1) / np.sqrt(facts.value("reliability_economics_runs"))
        found.append(_anchor(f"economics_{name}", f"reliability-economics, ETTR: {name.replace('_', ' ')}", f"{printed:.3f}", sample.mean(), printed - error,
                             printed + error, "three standard errors of the mean of its eight runs", "reliability_economics", off))  # fmt: skip
    return found


def _network():
    times, gpus, per_node = facts.value("network_times_s"), facts.value("llama3_gpus"), facts.value("gpus_per_node")
    rate = facts.value("network_rate") / 1000
    nodes = gpus // per_node
    settings = {
        "job_nodes": nodes,
        "warm_standbys": nodes * 3 // 100,
        "horizon_h": 720.0,
        "failures": {"rate_per_node_day": rate},
        "faults": [{"name": "any", "detection_s": float(times["detect"])}],
        "repair": {"automatic_s": float(times["repair"])},
        "recovery": {"restart_s": float(times["restart"])},
        "checkpoint": {
            "interval_s": float(young_interval(times["write"], 86400 / (nodes * rate)) - times["write"]),
            "write_s": float(times["write"]),
        },
    }
    sample = _run(settings).effective_training_ratio
    printed = facts.value("network_ettr")
    found = [
        _anchor(
            "network_ettr",
            f"network-vs-more-gpus, ETTR at {gpus:,} GPUs",
            f"{printed}",
            sample.mean(),
            *_about(printed, sample),
            "network_vs_more_gpus",
        )
    ]
    for gpus, printed in facts.value("kokolis_projected_mttf_h").items():
        settings = {
            "job_nodes": int(gpus) // per_node,
            "horizon_h": 480.0,
            "failures": {"rate_per_node_day": facts.value("kokolis_rsc1_rate") / 1000},
            "repair": {"automatic_s": 0.0},
            "recovery": {"restart_s": 0.0},
        }
        result = _run(settings)
        between = result.training_time_h.sum() / result.counts["failures"].sum()
        decimals = 1 if printed >= 1 else 2
        found.append(_anchor(f"network_mttf_{gpus}", f"Kokolis, also of network-vs-more-gpus: hours between failures at {int(gpus):,} GPUs", f"{printed} h",
                             between, *rounding(printed, decimals), "rounding", "kokolis2025"))  # fmt: skip
    return found


def _llama3():
    days, gpus = facts.value("llama3_days"), facts.value("llama3_gpus")
    nodes = gpus // facts.value("gpus_per_node")
    mtbf, write = 86400 * days / facts.value("llama3_interruptions"), float(facts.value("network_times_s")["write"])
    settings = {
        "job_nodes": nodes,
        "warm_standbys": 64,
        "horizon_h": 24.0 * days,
        "failures": {"rate_per_node_day": 86400 / mtbf / nodes, "clock": "always"},
        "repair": {"automatic_s": 86400.0},
        "recovery": {"restart_s": MINUTE * facts.value("trainmover_restart_min")},
        "checkpoint": {"interval_s": float(daly_interval(write, mtbf)), "write_s": write},
    }
    least = facts.value("llama3_effective_percent") / 100
    why = (
        "with a restart as long as TrainMover's and 20 s writes at their best interval; Llama 3's own are not published"
    )
    share = _run(settings).effective_training_ratio.mean()
    return [_anchor("llama3", f"Llama 3, {days} days on {gpus:,} GPUs: effective training time", f"more than {least:.0%}", share, least, 1.0, "as printed",
                    "llama3", note=why)]  # fmt: skip


def _ft_hsdp():
    stall, mtbf = facts.value("ft_hsdp_stall_min"), facts.value("ft_hsdp_98k_mtbf_min")
    nodes, printed = (
        facts.value("ft_hsdp_98k_gpus") // facts.value("gpus_per_node"),
        facts.value("ft_hsdp_effective_percent"),
    )
    notes = {
        "synchronous": "the time between faults is taken to include the stall",
        "replicas": "the others go on without the replica that recovers, one of an unknown number; here the job stands",
    }
    found = []
    for kind, minutes in stall.items():
        settings = {
            "job_nodes": nodes,
            "horizon_h": 240.0,
            "failures": {"rate_per_node_day": 1440 / (mtbf - minutes) / nodes},
            "repair": {"automatic_s": 0.0},
            "recovery": {"restart_s": MINUTE * minutes},
        }
        sample = _run(settings).effective_training_ratio
        off = notes[kind] if kind == "replicas" else ""
        found.append(_anchor(f"ft_hsdp_{kind}", f"FT-HSDP, a fault every {mtbf} min, stall {minutes} min", f"{printed[kind]}%", sample.mean(),
                             *rounding(printed[kind] / 100, 2), "as printed", "ft_hsdp", off, status="calibrated", note=notes[kind]))  # fmt: skip
    return found


def _byterobust():
    gpus, detection = facts.value("byterobust_gpus"), facts.value("byterobust_detection_s")
    nodes, rate = gpus // facts.value("gpus_per_node"), facts.value("llama3_unexpected")
    overhead = facts.value("byterobust_step_overhead_percent") / 100
    step = float(facts.value("published_step_s"))
    settings = {
        "job_nodes": nodes,
        "warm_standbys": 16,
        "horizon_h": 2160.0,
        "failures": {"rate_per_node_day": rate * facts.value("gpus_per_node") / facts.value("llama3_gpus") / facts.value("llama3_days")},
        "faults": [{"name": name, "share": share, "detection_s": float(detection[name])} for name, share in (("gpu", 0.64), ("network", 0.1), ("other", 0.26))],
        "repair": {"automatic_s": 86400.0},
        "recovery": {"restart_s": MINUTE * facts.value("trainmover_restart_min"), "swap_s": float(facts.value("byterobust_standby_s"))},
        "checkpoint": {"interval_s": step, "write_s": overhead * step},
    }  # fmt: skip
    printed = facts.value("byterobust_ettr_percent")
    off = "failures at Llama 3's rate, a swap for each, a checkpoint each step: what the paper counts besides, code updates and manual restarts, is not in it"
    sample = fleet.simulate_key(fleet_config.build(settings), KEY, 20).effective_training_ratio
    return [_anchor("byterobust", f"ByteRobust, three months on {gpus:,} GPUs: ETTR", f"{printed}%", sample.mean(), *rounding(printed / 100, 2), "as printed",
                    "byterobust", off)]  # fmt: skip


def _about(printed, sample):
    """Agreement with a number printed to three decimals: its rounding and three standard errors of the simulation."""
    low, high = rounding(printed, 3)
    error = 3 * estimate(sample).sd / np.sqrt(len(sample))
    return low - error, high + error, "rounding and three standard errors"


def _anchor(
    name, what, published, computed, low, high, margin, source, off="", *, status="emergent", note="", digits=".3f"
):
    return Anchor(
        name,
        what,
        published,
        float(computed),
        low,
        high,
        margin,
        source,
        True,
        "off" if off else status,
        off or note,
        digits,
    )
