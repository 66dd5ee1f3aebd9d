"""The traced job and the published results that the page on many rounds is held against."""

import numpy as np

from reliability import attribution, facts, jitter, straggler
from reliability.anchors import Anchor, rounding


def layout_times(slow=True):
    """Forward and backward times [replicas, stages, micro-batches] of the traced job, with or without its slow rank."""
    layout, seconds = facts.value("ar_layout"), facts.value("ar_operation_s")
    shape = (layout["replicas"], layout["stages"], layout["micro_batches"])
    both = []
    for pass_ in ("forward", "backward"):
        times = np.full(shape, seconds[pass_])
        times[:, -1] = seconds[f"last_{pass_}"]
        if slow:
            times[0, 0] = seconds[f"slow_{pass_}"]
        both.append(times)
    return both


def traced_transfers(slow=True):
    """Seconds of one transfer on each link of the traced job; that of its slow rank is slow as well."""
    layout, seconds = facts.value("ar_layout"), facts.value("ar_operation_s")
    transfer = np.full((layout["replicas"], layout["stages"] - 1), seconds["transfer"])
    transfer[0, 0] = seconds["slow_transfer" if slow else "transfer"]
    return transfer


def traced_step_s(forward, backward, collectives, slow=False):
    """Seconds of a step of the traced job: the replay of its slowest replica, and its collectives."""
    ends = attribution.pipeline_ends(forward, backward, traced_transfers(slow))
    return float(ends.max()) + facts.value("ar_collectives_s")[collectives]


def traced_worker_times():
    """Seconds that each worker of the traced job computes in a step, and seconds of the transfers of each link."""
    compute_s = sum(times.sum(axis=-1) for times in layout_times())
    return compute_s, 2 * facts.value("ar_layout")["micro_batches"] * traced_transfers()


def anchors():
    """Published results that the page is held against."""
    return [*_greyhound(), *_traced(), *_rules()]


def _greyhound():
    rate, gain = facts.value("greyhound_iterations"), facts.value("greyhound_gain")
    back = facts.value("greyhound_mitigated_percent")
    jobs, longer = facts.value("greyhound_large_jobs"), facts.value("greyhound_longer_percent")
    share = 100 * (rate["mitigated"] - rate["slowed"]) / (rate["before"] - rate["slowed"])
    run = f"GREYHOUND, injected run, {rate['before']:g}, then {rate['slowed']:g}, then {rate['mitigated']:g} iterations/min"
    why = "a ratio of its printed rates, not of a model"
    return [
        Anchor("greyhound-gain", f"{run}: gain", f"{gain:g}", rate["mitigated"] / rate["slowed"], *rounding(gain, 2), "rounding of the printed gain",
               "greyhound", True, "emergent", why, ".3f"),
        Anchor("greyhound-mitigated", "the same run: share of the slowdown that is mitigated", f"{back:g}%", share, *rounding(back, 1), "rounding of the printed share",
               "greyhound", True, "emergent", why, ".1f"),
        _declined("greyhound-rebalanced", "the same run, by sharing micro-batches out anew", f"{rate['mitigated']:g} iterations/min",
                  "its layout and the mix of its faults were not in what we could read"),
        _declined("greyhound-jobs", f"GREYHOUND, jobs of 512 GPUs and more: {jobs['hit']} of {jobs['watched']} hit", f"{longer:g}% longer",
                  "needs how often slow phases come, and how slow they are"),
    ]  # fmt: skip


def _declined(name, what, published, why):
    return Anchor(name, what, published, None, None, None, "", "greyhound", False, "declined", why)


def _traced():
    step, slowdown = facts.value("ar_step_s"), facts.value("ar_slowdown")
    step_error, error = 3 * facts.value("ar_step_error_s"), 3 * facts.value("ar_slowdown_error")
    worker = facts.value("ar_one_worker_share")
    slow, healthy = layout_times(), layout_times(slow=False)
    even = [np.full_like(times, times.mean()) for times in slow]
    mended = [times.copy() for times in slow]
    for times, mean in zip(mended, even, strict=True):
        times[0, 0] = mean[0, 0]
    found = attribution.attribute(*traced_worker_times(), threshold=0.1, least=step["slowed"] / 100)
    slow_s, ideal_s = traced_step_s(*slow, "first_stage", slow=True), traced_step_s(*even, "ideal")
    mended_s, healthy_s = traced_step_s(*mended, "first_stage"), traced_step_s(*healthy, "first_stage")
    blamed = f"{found[0].what}, {found[0].ratio:.2f} times its peers, above a hundredth of a step"
    errors = "three standard errors of the published mean over 44 steps"
    return [
        _ar("step", "StragglerAnalysis, trace AR: step", f"{step['slowed']:g} s", slow_s, step["slowed"], step_error, errors, "a replay of mean operation times", ".2f"),
        _ar("ideal", "the same: ideal step", f"{step['ideal']:g} s", ideal_s, step["ideal"], step_error, errors, digits=".2f"),
        _ar("slowdown", "the same: slowdown S", f"{slowdown:g}", slow_s / ideal_s, slowdown, error, errors),
        _ar("worker", "the same: share of the slowdown due to rank 0", f"{worker:g}", (slow_s - mended_s) / (slow_s - ideal_s), worker, 0.01,
            "a hundredth: the replay has no variation between operations"),
        _ar("culprit", "the same: ranks, links and stages to blame", "1: rank 0", len(found), 1, 0, "exactly", blamed, "d"),
        _ar("healthy", "the same: what a healthy rank 0 would give back, as S", f"{slowdown:g}", slow_s / healthy_s, slowdown, error, errors,
            "the published ideal is a mean over all workers, the slow one among them", status="off"),
    ]  # fmt: skip


def _ar(name, what, published, computed, value, error, margin, reason="", digits=".3f", status="emergent"):
    """An anchor of the traced job: agreement within an error of the published value."""
    ends = value - error, value + error
    return Anchor(
        f"ar-{name}", what, published, computed, *ends, margin, "straggler_analysis", True, status, reason, digits
    )


def _rules():
    score, peak = facts.value("nvidia_resiliency_score"), facts.value("alibaba_peak_ratio")
    slow, ranks = facts.value("megascale_slow_machines"), facts.value("megascale_gpus")
    relative = facts.value("published_jitter_s") / facts.value("published_step_s")
    healthy = straggler.expected_maximum(ranks, 1.0, relative)
    lost = straggler.loss_if_ignored(healthy, jitter.expected_slow_step(ranks, 1.0, relative, 1 + slow["slower"]))
    flagged = sum(1 / value < score for value in peak.values())
    hair = f"by a hair: it scores {1 / peak['worker_6']:.3f}, the next {1 / peak['other']:.3f}"
    points = 100 * slow["mfu_points"]
    return [
        Anchor("nvrx-score", "nvidia-resiliency-ext: score below which a rank is a straggler", f"{score:g}", score, score, score, "an input",
               "nvidia_resiliency", True, "calibrated"),
        Anchor("alibaba-worker-6", "Alibaba, job 1: workers flagged by that score over 20 batches", "1: worker 6", flagged, 1, 1, "exactly",
               "alibaba_pai", True, "emergent", hair, "d"),
        Anchor("megascale-gain", f"MegaScale: gain without machines {100 * slow['slower']:g}% slower", f"{points:g} points of MFU", 100 * lost, points - 0.05, points + 0.05,
               "rounding of the printed gain", "megascale", False, "off", "here a share of the time, at the jitter of the scenario; theirs is not printed", ".2f"),
    ]  # fmt: skip
