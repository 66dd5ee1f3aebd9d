"""Scenario 4: what does one slow rank cost, and what finds it?"""

import numpy as np
from pydantic import Field

from reliability import straggler
from reliability.scenarios.base import PageParameters, Result
from reliability.text import percent, shortened

TITLE = "stragglers"


class Parameters(PageParameters):
    """The ranks, the slow one among them, the detector."""

    ranks: int = Field(ge=2, le=10**7, description="ranks of the job")
    step_s: float = Field(gt=0, le=1e5, description="step of a rank without jitter (s)")
    jitter_s: float = Field(ge=0, le=1e4, description="standard deviation of a healthy rank's step (s)")
    slow_rank: int = Field(ge=0, description="the slow rank, counted from 0")
    slowdown: float = Field(gt=0, le=1000, description="how much slower it is, as a share")
    threshold: float = Field(gt=0, le=1000, description="detector: share above the median that flags a rank")
    seed: int = Field(ge=0, le=2**63 - 1, description="seed of the jitter")

    def model_post_init(self, _):
        """Refuse a rank that does not exist, and jitter that would make times negative."""
        if self.slow_rank >= self.ranks:
            raise ValueError(f"slow_rank = {self.slow_rank}: must be from 0 to ranks - 1 = {self.ranks - 1}")
        if self.jitter_s > self.step_s / 8:
            raise ValueError(f"jitter_s = {self.jitter_s:g}: must be at most an eighth of step_s = {self.step_s:g}")


def compute(p):
    """Compute the published figures of scenario 4 from parameters `p`."""
    healthy = straggler.draw_rank_times(np.random.default_rng(p.seed), p.ranks, p.step_s, p.jitter_s)
    slow_s = p.step_s * (1 + p.slowdown)
    times = straggler.inject(healthy, p.slow_rank, slow_s)
    flagged = straggler.detect(times, p.threshold)
    detected = np.flatnonzero(flagged).tolist()
    precision, recall = straggler.precision_recall(detected, [p.slow_rank])
    mended = straggler.replace(times, flagged, healthy)
    with_s, after_s, control_s = (straggler.step_time(t) for t in (times, mended, healthy))
    false_alarms = int(straggler.detect(healthy, p.threshold).sum())
    texts = {
        "step_with_straggler_s": f"{with_s:.2f}",
        "drag": f"{100 * straggler.drag(p.step_s, with_s):+.0f}%",
        "detected_ranks": str(detected),
        "precision": f"{precision:.2f}",
        "recall": f"{recall:.2f}",
        "step_after_replacement_s": f"{after_s:.2f}",
        "control_step_s": f"{control_s:.2f}",
        "control_false_alarms": str(false_alarms),
        "weekly_loss_if_ignored": percent(straggler.loss_if_ignored(p.step_s, with_s), 1),
    }
    sections = {
        "step": f"{p.ranks:,} ranks of {p.step_s:g} s with a jitter of {p.jitter_s:g} s, rank {p.slow_rank} slower by {p.slowdown * 100:g}%: "
        f"the step takes its slowest rank's **{texts['step_with_straggler_s']} s**, {texts['drag']} on {p.step_s:g} s, "
        f"which is {texts['weekly_loss_if_ignored']} of the computing time.",
        "detection": f"The median detector flags **{shortened(detected)}**: precision {texts['precision']}, recall {texts['recall']}. "
        f"With what it flags replaced the step takes **{texts['step_after_replacement_s']} s**.",
        "control": f"Without a slow rank the same jitter gives {texts['control_step_s']} s and {texts['control_false_alarms']} false alarm{'' if false_alarms == 1 else 's'}.",
    }
    values = {
        "healthy_times_s": healthy,
        "times_s": times,
        "detected": detected,
        "step_with_straggler_s": with_s,
        "step_after_replacement_s": after_s,
        "control_step_s": control_s,
        "false_alarms": false_alarms,
    }
    return Result(texts, sections, values)
