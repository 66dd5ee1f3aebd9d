"""Scenario 5: which silent corruptions does each defence find?"""

import numpy as np
from pydantic import Field

from reliability import guards, sdc
from reliability.scenarios.base import PageParameters, Result
from reliability.text import shortened

TITLE = "silent data corruption"
GRADIENT_LIMIT = 2**27


class Parameters(PageParameters):
    """The replicas, the corrupted ones among them, the loss curve and its guard."""

    ranks: int = Field(ge=3, le=10**6, description="data-parallel replicas, which hold the same gradient")
    dim: int = Field(ge=1, le=10**7, description="numbers in the gradient")
    float_format: str = Field(description="float64, float32 or bfloat16")
    corrupted_ranks: list[int] = Field(description="replicas that are corrupted; fewer than half")
    max_flips: int = Field(ge=1, le=10**4, description="each corrupted replica has from one to so many flipped bits")
    spike_factor: float = Field(gt=1, le=1e12, description="how many times the loss a corruption makes of it")
    spike_step: int = Field(ge=1, le=10**6, description="step of that corruption; the curve has twice as many")
    guard_threshold: float = Field(gt=1, le=1e12, description="the guard alarms above so many rolling medians")
    guard_window: int = Field(ge=1, le=10**4, description="steps that the rolling median is over")
    seed: int = Field(ge=0, le=2**63 - 1, description="seed of gradient, flips and loss curve")

    def model_post_init(self, _):
        """Refuse what does not go together."""
        sdc.dtype_of(self.float_format)
        bad = [rank for rank in self.corrupted_ranks if not 0 <= rank < self.ranks]
        if (
            bad
            or len(set(self.corrupted_ranks)) < len(self.corrupted_ranks)
            or 2 * len(self.corrupted_ranks) >= self.ranks
        ):
            raise ValueError(
                f"corrupted_ranks = {self.corrupted_ranks}: must be different ranks from 0 to {self.ranks - 1}, fewer than half of {self.ranks}"
            )
        bits = self.dim * sdc.bits(self.float_format)
        if self.max_flips > bits:
            raise ValueError(f"max_flips = {self.max_flips}: must be at most the {bits} bits of the gradient")
        if self.ranks * self.dim > GRADIENT_LIMIT:
            raise ValueError(
                f"ranks x dim = {self.ranks * self.dim:,}: must be at most {GRADIENT_LIMIT:,}, about a gibibyte"
            )
        if self.spike_step <= self.guard_window:
            raise ValueError(
                f"spike_step = {self.spike_step}: must be above guard_window = {self.guard_window}, the guard's warm-up"
            )


def loss_curve(rng, steps):
    """Draw a clean loss curve: it falls from 11 towards 2.5, with noise of 2 %.

    Parameters
    ----------
    rng : numpy.random.Generator
    steps : int
    """
    falling = 2.5 + 8.5 * np.exp(-np.arange(steps) / (steps / 6))
    return falling * (1 + 0.02 * rng.standard_normal(steps))


def compute(p):
    """Compute the published figures of scenario 5 from parameters `p`."""
    rng = np.random.default_rng(p.seed)
    gradient = rng.standard_normal(p.dim).astype(sdc.dtype_of(p.float_format))
    replicas = np.tile(gradient, (p.ranks, 1))
    flips = {}
    for rank in p.corrupted_ranks:
        flips[rank] = sdc.draw_flips(rng, p.dim, sdc.bits(gradient.dtype), int(rng.integers(1, p.max_flips + 1)))
        replicas[rank] = sdc.flip(gradient, *flips[rank])
    found = sdc.odd_ones_out(sdc.fingerprints(replicas)).tolist()
    rerun = np.tile(gradient, (max(1, len(p.corrupted_ranks)), 1))
    dual = sdc.differs(replicas[p.corrupted_ranks], rerun).sum() if p.corrupted_ranks else 0
    again = np.random.default_rng(p.seed).standard_normal(p.dim).astype(gradient.dtype)
    clean_alarms = int(sdc.differs(gradient, again))  # a second run of the work, from its beginning
    clean = loss_curve(rng, 2 * p.spike_step)
    spiked = clean.copy()
    spiked[p.spike_step] *= p.spike_factor
    alarms, clean_curve_alarms = (
        guards.spike_guard(curve, p.guard_threshold, p.guard_window).tolist() for curve in (spiked, clean)
    )
    texts = {
        "corrupted_ranks": str(p.corrupted_ranks),
        "fingerprint_ranks": str(found),
        "fingerprint_exact_match": str(found == sorted(p.corrupted_ranks)),
        "dual_run_detected": f"{dual}/{len(p.corrupted_ranks)}",
        "clean_dual_run_false_alarms": str(clean_alarms),
        "spike_steps": str(alarms),
        "clean_curve_false_alarms": str(len(clean_curve_alarms)),
    }
    values = {
        "flips": flips,
        "gradient": gradient,
        "found": found,
        "losses": spiked,
        "clean_losses": clean,
        "alarms": alarms,
    }
    return Result(texts, _sections(p, texts, values), values)


def _sections(p, texts, values):
    corrupted = (
        f"corrupted, by up to {p.max_flips} flipped bits each: {shortened(p.corrupted_ranks)}"
        if p.corrupted_ranks
        else "none is corrupted"
    )
    alarm = (
        f"alarms the guard at step **{shortened(values['alarms'])}**"
        if values["alarms"]
        else "goes unseen (alarms: **[]**)"
    )
    return {
        "injection": f"{p.ranks:,} replicas of a gradient of {p.dim:,} {p.float_format} numbers; {corrupted}.",
        "fingerprint": f"Fingerprints single out **{shortened(values['found'])}** (exact match: {texts['fingerprint_exact_match']}).",
        "dual_run": f"A second run, compared bit by bit, finds **{texts['dual_run_detected']}** of the corrupted replicas; on clean ones its "
        f"false alarms are {texts['clean_dual_run_false_alarms']}.",
        "spike": f"A loss {p.spike_factor:g} times too high at step {p.spike_step} {alarm}, the threshold being {p.guard_threshold:g} rolling "
        f"medians; on the clean curve its false alarms are {texts['clean_curve_false_alarms']}.",
    }
