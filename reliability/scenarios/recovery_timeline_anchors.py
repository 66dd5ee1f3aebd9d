"""The published recoveries that the page of their timeline is held against."""

import math

import numpy as np

from reliability import checkpoint, elastic, facts, stalls, timeline
from reliability.anchor_runs import economics_case
from reliability.anchors import Anchor, rounding
from reliability.availability import expected_ettr
from reliability.rates import gpu_mtbf_h

SIZES_TO = 500.0  # FT-HSDP's sizes are printed in thousands
FORMULA = "formula"  # said where other models are held against the same result
ONE_DIGIT = "half of the printed number's first digit"


def published_curves():
    """Return FT-HSDP's cold recovery and its communication set-up by size, in seconds (secondary)."""
    sizes = np.array(facts.value("ft_hsdp_sizes"), dtype=float)
    rows = {"cold restart": "ft_hsdp_cold_s", "communicator": "ft_hsdp_nccl_s"}
    return {
        name: timeline.PublishedCurve(sizes, np.array(facts.value(fact), dtype=float), SIZES_TO)
        for name, fact in rows.items()
    }


def anchors():
    """Compute every published result that the page is held against, each from its own inputs."""
    return [*_ft_hsdp_stalls(), *_ft_hsdp_sizes(), *_held_out(), *_trainmover(), *_kokolis(), *_elastic()]


def _first_digit(value):
    """What prints as `value` with one significant digit."""
    half = 0.5 * 10.0 ** math.floor(math.log10(value))
    return value - half, value + half


def _ft_hsdp_stalls():
    stall, mtbf = facts.value("ft_hsdp_stall_min"), facts.value("ft_hsdp_98k_mtbf_min")
    printed = facts.value("ft_hsdp_effective_percent")
    before, after = (stalls.serial_share(stall[kind], mtbf) for kind in ("synchronous", "replicas"))
    missing = 1 - printed["replicas"] / 100 / after
    off = f"a loss of {100 * missing:.1f}% of the speed would explain it: the others go on without the replica that recovers, one of an unknown number"
    return [
        Anchor("ft_hsdp_44", f"FT-HSDP, {stall['synchronous']} min stall, a fault every {mtbf} min", f"{printed['synchronous']}%", before, *rounding(printed["synchronous"] / 100, 2), "as printed", "ft_hsdp", True,
               "calibrated", "fixes the convention: the time between faults includes the stall", ".1%", FORMULA),
        Anchor("ft_hsdp_80", f"FT-HSDP, {stall['replicas']} min stall, a fault every {mtbf} min", f"{printed['replicas']}%", after, *rounding(printed["replicas"] / 100, 2), "as printed", "ft_hsdp", True, "off", off, ".1%", FORMULA),
    ]  # fmt: skip


def _ft_hsdp_sizes():
    from reliability.scenarios import defaults, inputs
    from reliability.scenarios.recovery_timeline_ways import phases_s

    curves, p = published_curves(), inputs("recovery_timeline", defaults("recovery_timeline"))
    ours = phases_s(p, curves["cold restart"].sizes.astype(int))
    ours = {"cold restart": sum(ours.values()), "communicator": ours["communicator"]}
    measured = f"{facts.value('trainmover_restart_gpus'):,}"
    why = {
        "cold restart": (
            f"another system: TrainMover's {measured} GPUs already take longer; what FT-HSDP loads is unknown",
            "as at the smaller size",
        ),
        "communicator": (
            f"carried on in proportion from TrainMover's {measured} GPUs: another system",
            "as at the smaller size; and FT-HSDP's grows faster",
        ),
    }
    found = []
    for name, curve in curves.items():
        for i, reason in zip((0, len(curve.sizes) - 1), why[name], strict=True):
            what, printed = f"FT-HSDP, {name} at {curve.sizes[i] / 1000:.0f}K GPUs", curve.times[i]
            found.append(Anchor(f"ft_hsdp_{name.split()[0]}_{i}", what, f"{printed:.0f} s", float(ours[name][i]), *_first_digit(printed), ONE_DIGIT, "ft_hsdp",
                                False, "off", reason, ".0f"))  # fmt: skip
    return found


def _held_out():
    statuses = {"cold restart": ("emergent", "off"), "communicator": ("emergent", "emergent")}
    found = []
    for name, curve in published_curves().items():
        for i, (predicted, status) in enumerate(zip(curve.held_out(), statuses[name], strict=True), start=1):
            printed, gpus = curve.times[i], f"{curve.sizes[i] / 1000:.0f}K"
            reason = "two points and a power law are not enough" if status == "off" else ""
            found.append(Anchor(f"held_out_{name.split()[0]}_{i}", f"FT-HSDP, {name} at {gpus} from its neighbours", f"{printed:.0f} s", float(predicted),
                                *_first_digit(printed), ONE_DIGIT, "ft_hsdp", False, status, reason, ".0f"))  # fmt: skip
    return found


def _trainmover():
    from reliability.scenarios import defaults, inputs
    from reliability.scenarios.recovery_timeline_ways import swap_phases_s

    phases, total = facts.value("trainmover_phases_min"), facts.value("trainmover_restart_min")
    p = inputs("recovery_timeline", defaults("recovery_timeline"))
    swap, kinds = (
        float(sum(swap_phases_s(p, facts.value("trainmover_swap_gpus")).values())),
        facts.value("trainmover_swap_kinds_s"),
    )
    return [
        Anchor("trainmover_restart", f"TrainMover, restart of {facts.value('trainmover_restart_gpus'):,} GPUs from its phases", f"{total:g} min", sum(phases.values()), *rounding(total, 2), "as printed", "trainmover",
               False, "calibrated", "four of the five are inputs of this page, as of the scenario", ".2f"),
        Anchor("trainmover_load", "the same, its load", f"{phases['load']:g} min", None, None, None, "", "trainmover", False, "declined", "neither checkpoint nor storage is published"),
        Anchor("trainmover_swap", f"TrainMover, swap at {facts.value('trainmover_swap_gpus'):,} GPUs", f"{facts.value('trainmover_swap_s'):g} s", swap, kinds["planned"], kinds["unexpected"], "planned to unexpected", "trainmover", True,
               "off", "here all nodes stop and set up all connections; TrainMover's change only those of the new one", ".0f"),
        Anchor("byterobust_speedup", "ByteRobust, standby against a requeue", f"{facts.value('byterobust_standby_speedup'):g} times", None, None, None, "", "byterobust", False, "declined",
               "a requeue waits for machines, and for how long is not published"),
    ]  # fmt: skip


def _kokolis():
    gpus, rate, restart = map(facts.value, ("kokolis_ettr_gpus", "kokolis_ettr_rate", "kokolis_ettr_restart_min"))
    write, printed = facts.value("kokolis_ettr_write_s"), facts.value("kokolis_ettr_published")
    per_node, found = facts.value("gpus_per_node"), {}
    for case in gpus:
        mtbf_min = 60 * gpu_mtbf_h(rate[case], per_node) / gpus[case]
        stall = write.get(case, 0) / 60
        interval = checkpoint.young_interval(stall, mtbf_min) if stall else restart[case]
        found[case] = float(expected_ettr(mtbf_min, restart[case], interval, stall))
    reached = (printed["calm"], 1.0, "at least that")
    cases = {
        "simple": (
            "16,000 GPUs, restart and interval 5 min",
            "0.93",
            *rounding(printed["simple"], 2),
            "as printed",
            "emergent",
            "",
        ),
        "quick_write": ("12,000 GPUs, writes of 10 s", "0.9 reached", *reached, "emergent", ""),
        "calm": (
            "12,000 GPUs, writes of 5 min, 1.0 failures",
            "0.9 reached",
            *reached,
            "off",
            "short by two thousandths; published to one decimal",
        ),
        "slow_write": (
            "12,000 GPUs, writes of 5 min, 6.5 failures",
            "0.9 not reached",
            0.0,
            printed["slow_write"],
            "below that",
            "emergent",
            "",
        ),
        "far": (
            "100,000 GPUs at RSC-2's rate, 2 min",
            "about 0.9",
            *rounding(printed["far"], 1),
            "one decimal",
            "emergent",
            "",
        ),
    }
    rows = [
        Anchor(
            f"kokolis_{case}",
            f"expected ETTR, {what}",
            text,
            found[case],
            low,
            high,
            margin,
            "kokolis2025",
            True,
            status,
            why,
            ".4f",
            "their formula" if case == "simple" else "",
        )
        for case, (what, text, low, high, margin, status, why) in cases.items()
    ]
    most, checked = facts.value("kokolis_ettr_error_percent") / 100, facts.value("kokolis_ettr_checked_gpus")
    mtbf_min = 60 * gpu_mtbf_h(rate["simple"], per_node) / checked
    exact = checkpoint.renewal_efficiency(restart["simple"], 0.0, restart["simple"], mtbf_min)
    error = float(expected_ettr(mtbf_min, restart["simple"], restart["simple"]) / exact - 1)
    what = f"the same formula at {checked:,} GPUs against the exact model"
    return [
        *rows,
        Anchor(
            "kokolis_error",
            what,
            f"within {100 * most:g}%",
            error,
            -most,
            most,
            "as printed",
            "kokolis2025",
            True,
            "emergent",
            "",
            "+.2%",
        ),
    ]


def _elastic():
    hours, nodes = facts.value("reliability_economics_hours"), facts.value("reliability_economics_nodes")
    printed, burst = (
        facts.value("reliability_economics_elastic"),
        facts.value("reliability_economics_burst_ettr")["elastic"],
    )
    mtbf_h = 24_000 / facts.value("reliability_economics_rate") / nodes["job"]
    away = (hours["repair"] + hours["requalify"]) / mtbf_h
    speed = elastic.mean_throughput(away, nodes["replica"], nodes["job"] // nodes["replica"])
    again = hours["interval"] / 2
    kept = (
        stalls.serial_share(hours["reshard"], mtbf_h) * (1 - hours["write"] / hours["interval"]) - again / mtbf_h
    ) * speed
    error = math.sqrt(hours["horizon"] / mtbf_h) * (hours["reshard"] + again) / hours["horizon"]
    error /= math.sqrt(facts.value("reliability_economics_runs"))
    return [
        Anchor("reliability_economics_elastic", economics_case("elastic"), f"{printed:.3f}", float(kept), printed - 3 * error, printed + 3 * error,
               "three standard errors of the mean of its eight runs", "reliability_economics", True, "emergent", "", ".3f", FORMULA),
        Anchor("reliability_economics_bursts", economics_case("elastic", burst=True), f"{burst:.3f}", None, None, None, "", "reliability_economics", True, "declined",
               "faults are independent here; drawn in bursts, it is held against on the page of the failure process", model=FORMULA),
    ]  # fmt: skip
