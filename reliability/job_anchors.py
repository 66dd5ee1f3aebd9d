"""Published results on single jobs, each simulated from its own published inputs, and those that the model cannot give."""

from functools import cache

import numpy as np

from reliability import facts
from reliability.anchor_runs import MODEL, declined, held, run
from reliability.anchors import rounding
from reliability.checkpoint import daly_interval, young_interval
from reliability.faults import LLAMA3_CAUSES, group_causes
from reliability.fleet_result import estimate
from reliability.units import DAY_S, MINUTE_S

STANDBYS = 3  # percent of the nodes, where none are published: enough that no job waits for one
REPAIR_S = DAY_S  # where none is published
FAILURES = 800  # of a run at least: that it begins at work, and not with a failure, then counts for less than the printed digits
LONG_RUNS = 20  # a checkpoint in each step makes a run long, and hardly any differs from the next


def anchors():
    """Published results on single jobs; they have inputs of their own, and are simulated once."""
    return list(_anchors())


@cache
def _anchors():
    return (*_network(), *_llama3(), *_ft_hsdp(), *_byterobust(), *_declined())


def _network():
    times, gpus, per_node = facts.value("network_times_s"), facts.value("llama3_gpus"), facts.value("gpus_per_node")
    rate = facts.value("network_rate") / 1000
    nodes = gpus // per_node
    settings = {
        "job_nodes": nodes,
        "warm_standbys": nodes * STANDBYS // 100,
        "horizon_h": 24.0 * facts.value("network_days"),
        "failures": {"rate_per_node_day": rate},
        "faults": [{"name": "any", "detection_s": float(times["detect"])}],
        "repair": {"automatic_s": float(times["repair"])},
        "recovery": {"restart_s": float(times["restart"])},
        "checkpoint": {
            "interval_s": float(young_interval(times["write"], DAY_S / (nodes * rate)) - times["write"]),
            "write_s": float(times["write"]),
        },
    }
    sample = run(settings).effective_training_ratio
    printed = facts.value("network_ettr")
    found = [
        held(
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
            "horizon_h": FAILURES * facts.value("kokolis_projected_mttf_h")["16384"],
            "failures": {"rate_per_node_day": facts.value("kokolis_rsc1_rate") / 1000},
            "repair": {"automatic_s": 0.0},
            "recovery": {"restart_s": 0.0},
        }
        result = run(settings)
        between = result.training_time_h.sum() / result.counts["failures"].sum()
        decimals = 1 if printed >= 1 else 2
        found.append(held(f"network_mttf_{gpus}", f"Kokolis, also of network-vs-more-gpus: hours between failures at {int(gpus):,} GPUs", f"{printed} h",
                             between, *rounding(printed, decimals), "rounding", "kokolis2025"))  # fmt: skip
    return found


def _llama3():
    days, gpus = facts.value("llama3_days"), facts.value("llama3_gpus")
    nodes = gpus // facts.value("gpus_per_node")
    mtbf, write = DAY_S * days / facts.value("llama3_interruptions"), float(facts.value("network_times_s")["write"])
    settings = {
        "job_nodes": nodes,
        "warm_standbys": nodes * STANDBYS // 100,
        "horizon_h": 24.0 * days,
        "failures": {"rate_per_node_day": DAY_S / mtbf / nodes, "clock": "always"},
        "repair": {"automatic_s": REPAIR_S},
        "recovery": {"restart_s": MINUTE_S * facts.value("trainmover_restart_min")},
        "checkpoint": {"interval_s": float(daly_interval(write, mtbf)), "write_s": write},
    }
    share = run(settings).effective_training_ratio.mean()
    why = (
        "neither its checkpoints nor its restarts are published; "
        f"with a restart as long as TrainMover's, {write:g} s writes at their best interval and {STANDBYS} % of standbys it is {share:.1%}"
    )
    least = facts.value("llama3_effective_percent")
    return [declined("llama3", f"Llama 3, {days} days on {gpus:,} GPUs: effective training time", f"more than {least}%", "llama3", why)]


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
            "horizon_h": FAILURES * mtbf / 60,
            "failures": {"rate_per_node_day": 1440 / (mtbf - minutes) / nodes},
            "repair": {"automatic_s": 0.0},
            "recovery": {"restart_s": MINUTE_S * minutes},
        }
        sample = run(settings).effective_training_ratio
        off = notes[kind] if kind == "replicas" else ""
        found.append(held(f"ft_hsdp_{kind}", f"FT-HSDP, {minutes} min stall, a fault every {mtbf} min", f"{printed[kind]}%", sample.mean(),
                             *rounding(printed[kind] / 100, 2), "as printed", "ft_hsdp", off, status="calibrated", note=notes[kind], digits=".1%", model=MODEL))  # fmt: skip
    return found


def _byterobust():
    gpus, detection = facts.value("byterobust_gpus"), facts.value("byterobust_detection_s")
    nodes, rate = gpus // facts.value("gpus_per_node"), facts.value("llama3_unexpected")
    overhead = facts.value("byterobust_step_overhead_percent") / 100
    step = float(facts.value("published_step_s"))
    counts = group_causes(facts.value("llama3_causes"), LLAMA3_CAUSES)
    shares = {name: counts[name] / sum(counts.values()) for name in ("gpu", "network")}
    shares["other"] = 1 - sum(shares.values())
    settings = {
        "job_nodes": nodes,
        "warm_standbys": nodes * STANDBYS // 100,
        "horizon_h": 24.0 * facts.value("byterobust_days"),
        "failures": {"rate_per_node_day": rate * facts.value("gpus_per_node") / facts.value("llama3_gpus") / facts.value("llama3_days")},
        "faults": [{"name": name, "share": share, "detection_s": float(detection[name])} for name, share in shares.items()],
        "repair": {"automatic_s": REPAIR_S},
        "recovery": {"restart_s": MINUTE_S * facts.value("trainmover_restart_min"), "swap_s": float(facts.value("byterobust_standby_s"))},
        "checkpoint": {"interval_s": step, "write_s": overhead * step},
    }  # fmt: skip
    printed = facts.value("byterobust_ettr_percent")
    share = run(settings, LONG_RUNS).effective_training_ratio.mean()
    why = (
        "how often its nodes fail is not published, nor what code updates and manual restarts cost, which it counts; "
        f"with Llama 3's failures, a swap for each and a checkpoint each step it is {share:.1%}"
    )
    return [declined("byterobust", f"ByteRobust, three months on {gpus:,} GPUs: ETTR", f"{printed}%", "byterobust", why)]


def _about(printed, sample):
    """Agreement with a number printed to three decimals: its rounding and three standard errors of the simulation."""
    low, high = rounding(printed, 3)
    error = 3 * estimate(sample).sd / np.sqrt(len(sample))
    return low - error, high + error, "rounding and three standard errors"


def _declined():
    """Published results that need what the model does not have, or what their authors do not give."""
    goodput, two_levels = facts.value("dlrover_goodput_percent"), facts.value("scr_efficiencies")["atlas_two_levels"]
    gpus, capacity = facts.value("llama3_gpus"), facts.value("network_useful_capacity")
    apart = facts.value("network_envelope_percent")
    return [
        declined("network_capacity", f"network-vs-more-gpus: useful capacity at {gpus:,} GPUs", f"{capacity}", "network_vs_more_gpus",
                 "what it has beyond the ETTR is waiting for the network, which is not in the model"),
        declined("network_envelope", "network-vs-more-gpus: its closed form against its simulation, inside and outside its validity envelope",
                 f"{apart['inside']}%, {apart['outside']}%", "network_vs_more_gpus",
                 f"two programs of its own; its authors found a wrong account of detection in the simulation, and mended the two agree within {apart['corrected']}% everywhere"),
        declined("dlrover_goodput", "DLRover: goodput of GLM-65B on thousands of GPUs, without and with it", f"{goodput['before']}% to {goodput['after']}%",
                 "dlrover", "how often its nodes fail, and what a stop costs, is not published in numbers"),
        declined("scr_two_levels", "SCR's model of atlas, two levels", f"{two_levels}", "scr_model",
                 "checkpoints have one level here; the page of checkpoint tiers has two", model=MODEL),
    ]  # fmt: skip
