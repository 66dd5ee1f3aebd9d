"""Part II: how soon do many rounds find a slow rank, who is it, and what is worth doing about it?"""

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from reliability import cusum, detector, jitter, mitigation, sequential, straggler
from reliability.scenarios.base import PageParameters, Result, counted, duration
from reliability.scenarios.straggler_rounds_anchors import (  # noqa: F401  part of the page's module
    anchors,
    layout_times,
    traced_step_s,
    traced_worker_times,
)
from reliability.text import percent
from reliability.units import DAY_S

TITLE = "stragglers over many rounds"
LARGEST_REFERENCE = 2.0  # a larger one leaves nothing to add up: the sum becomes a single round
DETECTORS = ("one round", "votes", "cumulative sum")


def _minutes(what):
    return Field(ge=0, le=1e6, description=f"{what} (min)")


class Parameters(PageParameters):
    """The ranks, the slow one among them, the detectors, the answers and what they cost."""

    ranks: int = Field(ge=8, le=10**7, description="ranks of the job")
    step_s: float = Field(gt=0, le=1e5, description="step of a rank without jitter (s)")
    jitter_s: float = Field(gt=0, le=1e4, description="standard deviation of a rank's step (s)")
    slowdown: float = Field(gt=0, le=100, description="how much slower the slow rank is, as a share")
    alarms_h: float = Field(ge=1e-4, le=1e4, description="false alarms an hour that are allowed, in the whole job")
    votes: int = Field(ge=2, le=sequential.MOST_ROUNDS, description="votes: rounds that must flag a rank")
    window: int = Field(ge=2, le=sequential.MOST_ROUNDS, description="votes: out of so many last rounds")
    sizes: list[int] = Field(min_length=1, max_length=12, description="job sizes of the curves (ranks)")
    hiccups_a_day: float = Field(ge=0, le=1e4, description="pauses of one step that a healthy rank has in a day")
    phase_min: float = Field(gt=0, le=1e7, description="how long a slow phase lasts on average (min)")
    replicas: int = Field(ge=2, le=10**6, description="data-parallel replicas that can share work out anew")
    micro_batches: int = Field(ge=1, le=10**6, description="micro-batches of a replica in a step")
    rebalance_min: float = _minutes("time that the job loses to sharing work out anew")
    swap_min: float = _minutes("time that the job loses to a swap of the slow rank")
    write_s: float = Field(ge=0, le=1e6, description="write of a checkpoint (s)")
    checkpoint_interval_h: float = Field(gt=0, le=1e5, description="checkpoint interval (h)")
    seed: int = Field(ge=0, le=2**63 - 1, description="seed of the simulated detectors")

    def model_post_init(self, _):
        """Refuse what the detectors cannot be set to."""
        if self.jitter_s > self.step_s / 8:
            raise ValueError(f"jitter_s = {self.jitter_s:g}: must be at most an eighth of step_s = {self.step_s:g}")
        if self.votes > self.window:
            raise ValueError(f"votes = {self.votes}: must be at most window = {self.window}")
        if self.shift < 0.5:
            least = 0.5 * self.jitter_s / self.step_s
            raise ValueError(f"slowdown = {self.slowdown:g}: must be at least half of the jitter's share, {least:g}")
        if min(self.sizes) < 8 or max(self.sizes) > 10**7 or sorted(set(self.sizes)) != self.sizes:
            raise ValueError(f"sizes = {self.sizes}: must rise, from 8 to 10,000,000")
        fewest = min(self.ranks, *self.sizes)
        if self.rounds_allowed(fewest, self.alarms_h) < 200:
            raise ValueError(
                f"alarms_h = {self.alarms_h:g}: leaves a rank of {fewest:,} fewer than 200 rounds between false alarms"
            )
        if self.hiccup > 0.1:
            raise ValueError(f"hiccups_a_day = {self.hiccups_a_day:g}: must be less than one in ten steps")

    @property
    def shift(self):
        """The slowdown in standard deviations of the jitter."""
        return self.slowdown * self.step_s / self.jitter_s

    @property
    def reference(self):
        """Reference of the cumulative sum, in standard deviations."""
        return min(self.shift / 2, LARGEST_REFERENCE)

    @property
    def hiccup(self):
        """Chance of a hiccup of a rank in a step."""
        return self.hiccups_a_day * self.step_s / DAY_S

    def rounds_allowed(self, ranks, alarms_h):
        """Rounds between the false alarms of a rank."""
        return sequential.rounds_allowed(ranks, alarms_h, straggler.expected_maximum(ranks, self.step_s, self.jitter_s))


@dataclass(frozen=True)
class Settings:
    """Where the detectors stand for a rate of false alarms, in standard deviations: two thresholds and a limit."""

    one: np.ndarray
    vote: np.ndarray
    limit: np.ndarray


def settings(p, ranks, alarms_h):
    """Set the three detectors to so many false alarms an hour in a job of so many ranks; arrays broadcast."""
    from scipy.special import ndtri

    rounds = p.rounds_allowed(ranks, alarms_h)
    flag = sequential.flag_for_votes(rounds, p.votes, p.window)
    return Settings(-ndtri(1 / rounds), -ndtri(flag), cusum.cusum_limit(rounds, p.reference))


def rounds_to_detect(p, at, shift):
    """Mean rounds until each detector alarms on a rank that is `shift` standard deviations slow."""
    from scipy.special import ndtr

    with np.errstate(divide="ignore"):
        one = 1 / ndtr(shift - at.one)
    votes = sequential.rounds_to_votes(ndtr(shift - at.vote), p.votes, p.window)
    return dict(zip(DETECTORS, (one, votes, cusum.cusum_rounds(shift, p.reference, at.limit)), strict=True))


def detect_curve_min(p, ranks, alarms_h):
    """Minutes until each detector finds the page's slow rank, for each rate of false alarms."""
    rounds = rounds_to_detect(p, settings(p, ranks, alarms_h), p.shift)
    return {name: n * slow_step(p, ranks, p.slowdown) / 60 for name, n in rounds.items()}


def slow_step(p, ranks, slowdown):
    """Seconds of a step with a rank slower by a share."""
    return jitter.expected_slow_step(ranks, p.step_s, p.jitter_s, p.step_s * (1 + np.asarray(slowdown)))


def loss(p, ranks, slowdown):
    """Share of the computing time that the slow rank costs."""
    healthy = straggler.expected_maximum(ranks, p.step_s, p.jitter_s)
    return np.maximum(0.0, straggler.loss_if_ignored(healthy, slow_step(p, ranks, slowdown)))


def simulated_rounds(rng, p, at, runs=2000, most=2000):
    """Rounds to an alarm of votes and of the cumulative sum, in simulated runs with the slow rank; [2, runs]."""
    counts = np.zeros((2, runs), dtype=int)
    total, flags = np.zeros(runs), np.zeros((p.window, runs), dtype=bool)
    for n in range(1, most + 1):
        scores = p.shift + rng.standard_normal(runs)
        total = np.maximum(0.0, total + scores - p.reference)
        flags[n % p.window] = scores > at.vote
        for count, alarm in zip(counts, (flags.sum(axis=0) >= p.votes, total > at.limit), strict=True):
            count[(count == 0) & alarm] = n
        if counts.all():
            break
    return np.where(counts == 0, most, counts)


def cut_score(p, at):
    """Where scores are cut, so that no single one adds more than two fifths of the limit, or three deviations."""
    return p.reference + min(0.4 * at.limit, 3.0)  # with a half, two in a row would just fill it


def hiccup_alarms_h(p, at):
    """False alarms an hour of each detector once healthy ranks have hiccups, and of a sum whose scores are cut."""
    from scipy.special import ndtr

    q = p.hiccup
    rounds = {
        "one round": 1 / (q + (1 - q) * ndtr(-at.one)),
        "votes": sequential.rounds_to_votes(q + (1 - q) * ndtr(-at.vote), p.votes, p.window),
        "cumulative sum": cusum.cusum_rounds(0.0, p.reference, at.limit, outliers=q),
        "the same, scores cut": cusum.cusum_rounds(0.0, p.reference, at.limit, cut=cut_score(p, at), outliers=q),
    }
    step = straggler.expected_maximum(p.ranks, p.step_s, p.jitter_s)
    return {name: sequential.rounds_allowed(p.ranks, r, step) for name, r in rounds.items()}


def found_before_end(p, at, phase_min):
    """Chance that each detector finds a slow phase of that mean length before it ends."""
    from scipy.special import ndtr

    phase = max(1.0, phase_min * 60 / slow_step(p, p.ranks, p.slowdown))
    one = sequential.votes_before_end(ndtr(p.shift - at.one), 1, 1, phase)
    votes = sequential.votes_before_end(ndtr(p.shift - at.vote), p.votes, p.window, phase)
    chances = (one, votes, cusum.cusum_before_end(p.shift, p.reference, at.limit, phase))
    return dict(zip(DETECTORS, chances, strict=True))


def answers_min(p, share, drag):
    """What can be done: each answer's cost in minutes at once, and the share that it goes on losing."""
    rollback_min = p.checkpoint_interval_h * 30
    return {
        "ignore": (0.0, share),
        "rebalance": (p.rebalance_min, drag / (1 + drag)),
        "swap at the next checkpoint": (rollback_min * share + p.swap_min, 0.0),
        "swap now": (mitigation.cost_of_swap_now(p.swap_min, rollback_min, p.write_s / 60), 0.0),
    }


def cost_min(p, answer, length_min, share, drag):
    """Minutes that an answer costs, if the slow phase would last so long from now on."""
    if answer == "swap at the next checkpoint":
        return mitigation.cost_at_checkpoint(length_min, share, p.swap_min, p.checkpoint_interval_h * 30)
    once, later = answers_min(p, share, drag)[answer]
    return once + later * np.asarray(length_min)


def expected_min(p, slowdown):
    """Expected minutes that each answer costs, if the length of the slow phase is exponential with the page's mean."""
    share, drag = float(loss(p, p.ranks, slowdown)), mitigation.rebalanced_drag(p.replicas, slowdown, p.micro_batches)
    costs = {name: once + later * p.phase_min for name, (once, later) in answers_min(p, share, drag).items()}
    wait_min = p.checkpoint_interval_h * 30
    costs["swap at the next checkpoint"] = mitigation.expected_cost_at_checkpoint(
        p.phase_min, share, p.swap_min, wait_min
    )
    return costs


def compute(p):
    """Compute the page's numbers from parameters `p`."""
    at = settings(p, p.ranks, p.alarms_h)
    rounds = rounds_to_detect(p, at, p.shift)
    share = float(loss(p, p.ranks, p.slowdown))
    drag = mitigation.rebalanced_drag(p.replicas, p.slowdown, p.micro_batches)
    slow_s = float(slow_step(p, p.ranks, p.slowdown))
    detect_min = {name: float(n) * slow_s / 60 for name, n in rounds.items()}
    pays_min = detector.pays_after(p.swap_min, share)
    quickest = min(detect_min, key=detect_min.get)
    found = {name: duration(60 * minutes) for name, minutes in detect_min.items()}
    sections = {
        "answer": f"In numbers: at {counted(p.alarms_h, 'false alarm')} an hour among {p.ranks:,} ranks, a rank slower by {100 * p.slowdown:.6g}% is "
        f"found after **{found['one round']}** by one round alone, **{found['votes']}** by {p.votes} votes of "
        f"{p.window} and **{found['cumulative sum']}** by the cumulative sum, on average. It costs **{percent(share)}** of "
        f"the time, so that a swap of {p.swap_min:g} min pays "
        + (f"if it would stay for longer than {duration(60 * pays_min)}." if np.isfinite(pays_min) else "never."),
    }
    values = {
        "settings": at,
        "rounds_to_detect": rounds,
        "detect_min": detect_min,
        "loss": share,
        "rebalanced_drag": drag,
        "slow_step_s": slow_s,
        "swap_pays_after_min": pays_min,
        "quickest": quickest,
    }
    return Result({}, sections, values)
