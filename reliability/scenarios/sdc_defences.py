"""Part II: which defences against silent corruption, how often, at what cost, and what gets through?"""

import numpy as np
from pydantic import Field

from reliability import abft, defences, injection, rates, rounding, sdc, verification
from reliability.pattern_simulation import draw_pattern_times
from reliability.scenarios.base import PageParameters, Result, duration
from reliability.scenarios.sdc_defences_anchors import anchors as anchors  # part of the page's module
from reliability.text import percent, table
from reliability.units import DAY_S, HOUR_S

TITLE = "defences against silent corruption"
HARDWARE = ("HBM", "SRAM", "compute", "network", "host")
LAYERS = ("guards", "digests", "fingerprints", "checksums", "replay")  # the cheap ones first
OFTEN = {
    "guards": "each step",
    "digests": "each batch and load",
    "checksums": "each product",
}  # the others: each verification
MOST_WRITES = 10_000
HYPHENATED = {"checksums": "check-sums", "fingerprints": "finger-prints"}  # so that a narrow table can break them


class Parameters(PageParameters):
    """The job and its rates, the verification, the faults that are injected, the products that are checked."""

    gpus: int = Field(ge=1, le=10**7, description="GPUs of the job")
    sizes: list[int] = Field(
        min_length=1, max_length=20, description="sizes of job in the table of corruptions a week (GPUs)"
    )
    found: int = Field(ge=1, le=10**6, description="silent corruptions that were found")
    stops: int = Field(ge=2, le=10**7, description="unexpected interruptions in the same time, those included")
    observed_days: float = Field(gt=0, le=36500, description="time in which they were counted (days)")
    observed_gpus: int = Field(ge=1, le=10**7, description="GPUs on which they were counted")
    write_s: float = Field(gt=0, le=1e6, description="time a checkpoint blocks the job (s)")
    restart_min: float = Field(ge=0, le=1e6, description="restart after a failure or a corruption (min)")
    fingerprint_s: float = Field(ge=0, le=1e6, description="verification: fingerprints of the state among replicas (s)")
    replay_s: float = Field(ge=0, le=1e6, description="verification: a step replayed on another unit (s)")
    defect_shows: float = Field(gt=0, le=1, description="chance that a defective unit fails one replay")
    risk: float = Field(gt=0, lt=1, description="chance that a checkpoint is trusted though a unit was defective")
    persistent: float = Field(ge=0, le=1, description="share of corruptions that come from a unit that stays defective")
    mix: dict[str, float] = Field(description="share of corruptions by the part that they strike")
    guard_threshold: float = Field(gt=1, le=1e12, description="guards alarm above so many times the clean loss or norm")
    float_format: str = Field(description="format of the operands of products: float32 or bfloat16")
    sums_per_alarm: float = Field(ge=1, le=1e300, description="checked sums for one false alarm, at most")
    matrix: int = Field(ge=2, le=1024, description="side of the products that are checked here")
    layer: int = Field(ge=1, le=10**6, description="side of the products whose cost is counted")
    products: int = Field(ge=1, le=1000, description="clean products that are checked, in each format")
    width: int = Field(ge=2, le=512, description="side of the layers in the step that is struck")
    flips: int = Field(ge=1, le=10**4, description="flips injected at each place")
    patterns: int = Field(ge=100, le=10**6, description="stretches between two verifications that are simulated")
    seed: int = Field(ge=0, le=2**63 - 1, description="seed of everything that is drawn")

    def model_post_init(self, _):
        """Refuse what does not go together."""
        if (
            set(self.mix) != set(HARDWARE)
            or any(not 0 <= share <= 1 for share in self.mix.values())
            or abs(sum(self.mix.values()) - 1) > 1e-9
        ):
            raise ValueError(f"mix = {self.mix}: must give a share for each of {', '.join(HARDWARE)}, and sum to 1")
        if self.float_format not in abft.FORMATS:
            raise ValueError(f"float_format = {self.float_format!r}: must be one of {', '.join(abft.FORMATS)}")
        if any(not 1 <= size <= 10**7 for size in self.sizes):
            raise ValueError(f"sizes = {self.sizes}: must be from 1 to 10000000 GPUs each")
        if self.stops <= self.found:
            raise ValueError(f"stops = {self.stops}: must be more than found = {self.found}, which are among them")
        if self.failure_mtbf_s < 2 * self.write_s:
            raise ValueError(
                f"gpus = {self.gpus}: the job fails every {self.failure_mtbf_s:.3g} s, which must be at least twice write_s = {self.write_s:g}"
            )
        if verification.best_every(self.write_s, self.verify_s, self.silent_mtbf_s, self.failure_mtbf_s) > MOST_WRITES:
            raise ValueError(
                f"fingerprint_s + replay_s = {self.verify_s:g}: is so much that one verification in {MOST_WRITES:,} writes were too many"
            )

    @property
    def rate(self):
        """Silent corruptions per GPU-hour."""
        return self.found / (DAY_S / HOUR_S * self.observed_days * self.observed_gpus)

    @property
    def silent_mtbf_s(self):
        """Mean time between silent corruptions of the job."""
        return HOUR_S / (self.rate * self.gpus)

    @property
    def failure_mtbf_s(self):
        """Mean time between failures of the job, silent corruptions apart."""
        return DAY_S * self.observed_days * self.observed_gpus / (self.stops - self.found) / self.gpus

    @property
    def verify_s(self):
        """Time of one verification."""
        return self.fingerprint_s + self.replay_s


def compute(p):
    """Compute the page from parameters `p`."""
    rng = np.random.default_rng(p.seed)
    factor = rounding.tail_factor(p.sums_per_alarm)
    step = injection.draw_step(rng, p.width, p.width, 4, p.float_format)
    outcomes = {
        place: injection.inject(rng, step, place, p.flips, p.guard_threshold, factor) for place in injection.PLACES
    }
    periods = _periods(p, rng)
    # The last row is the best number of writes to a verification.
    period_s = periods[-1]["every"] * periods[-1]["best_s"]
    values = {
        "factor": factor,
        "outcomes": outcomes,
        "products": [
            _products(p, rng, name, rounded, f)
            for name, rounded in (("float32", False), ("bfloat16", False), ("bfloat16", True))
            for f in (None, factor)
        ],
        "periods": periods,
        "period_s": period_s,
        "plans": _plans(p, outcomes, period_s),
        "weekly": _weekly(p),
        "passes": defences.passes_to_trust(p.defect_shows, p.risk),
    }
    return Result({}, _sections(p, values), values)


def _weekly(p):
    """Corruptions a week by size: mean, low and high, at the given count and at each published rate."""
    low, high = rates.poisson_rate_interval(p.found, 24 * p.observed_days * p.observed_gpus)
    given = {"given": (p.rate, low, high)}
    published = {rate.label: (rate.value, rate.low, rate.high) for rate in rates.silent_rates()}
    return {
        name: defences.per_week(np.array(ends), np.array(p.sizes)[:, None])
        for name, ends in (given | published).items()
    }


def _products(p, rng, float_format, rounded, factor):
    """Clean products checked with one tolerance, then one product with a single flip at a time."""
    kind, n = sdc.dtype_of(float_format), p.matrix
    clean = []
    for _ in range(p.products):
        a, b = (rng.standard_normal((n, n)).astype(kind) for _ in range(2))
        product = abft.multiply(a, b, rounded)
        clean.append(abft.check_product(a, b, product, factor))
    rms = float(np.sqrt((product.astype(float) ** 2).mean()))
    width, counts = sdc.bits(product.dtype), {"found": 0, "mended": 0}
    for index, bit in zip(rng.integers(product.size, size=p.flips), rng.integers(width, size=p.flips), strict=True):
        wrong = sdc.flip(product, index, bit)
        check = abft.check_product(a, b, wrong, factor)
        counts["found"] += check.alarm
        if check.place == divmod(int(index), n):
            mended = abft.correct_product(wrong, check).astype(float)[check.place]
            counts["mended"] += bool(abs(mended - float(product[check.place])) <= clean[-1].visible)
    sums = np.array(
        [np.concatenate([c.row_error / c.row_tolerance, c.column_error / c.column_tolerance]) for c in clean]
    )
    shares = {name: count / p.flips for name, count in counts.items()}
    visible = float(np.mean([c.visible for c in clean])) / rms
    alarms = int((~(np.abs(sums) <= 1)).sum())
    return {
        "format": float_format,
        "rounded": rounded,
        "sure": factor is None,
        "alarms": alarms,
        "sums": sums.size,
        "reach": float(np.abs(sums).max()),
        "visible": visible,
    } | shares


def _periods(p, rng):
    """The best interval with a verification before every write, and with the best number of writes to one."""
    job = (p.write_s, p.verify_s, p.silent_mtbf_s, p.failure_mtbf_s)
    rows = []
    for every in sorted({1, verification.best_every(*job)}):
        first_s = verification.verified_interval(*job, every)
        rest = (p.write_s, p.verify_s, 60 * p.restart_min, p.silent_mtbf_s, p.failure_mtbf_s, every)
        best_s = verification.optimal_pattern_interval(*rest)
        drawn = draw_pattern_times(rng, max(100, min(p.patterns, 2_000_000 // every)), best_s, *rest)
        mean, exact = drawn.mean(), verification.pattern_time(best_s, *rest)
        error = drawn.std(ddof=1) / np.sqrt(drawn.size)  # 0 where no pattern was disturbed
        errors = float((mean - exact) / error) if error > 0 else None
        kept_first, kept = (verification.pattern_efficiency(interval, *rest) for interval in (first_s, best_s))
        row = {
            "every": every,
            "first_s": first_s,
            "best_s": best_s,
            "kept_first": kept_first,
            "kept": kept,
            "rest": rest,
        }
        rows.append(row | {"kept_drawn": float(every * best_s / mean), "errors": errors})
    return rows


def _plans(p, outcomes, period_s):
    """Layers added one by one: what each plan costs, and what gets through it."""
    costs = {
        "fingerprints": p.fingerprint_s / period_s,
        "replay": p.replay_s / period_s,
        "checksums": abft.checksum_cost(p.layer, p.layer, p.layer),
    }
    places_of = {part: [place for place in outcomes if place.startswith(part)] for part in HARDWARE}
    plans, cost = [], 0.0
    for i, layer in enumerate(LAYERS):
        cost += costs.get(layer, 0.0)
        running = dict.fromkeys(LAYERS[: i + 1], 1.0)
        # A replay sees the one step that it repeats; a unit that stays defective comes round again.
        once = running | ({"replay": min(1.0, p.replay_s / period_s)} if "replay" in running else {})
        seen = {
            place: [defences.seen_share(o.seen, o.matters, r) for r in (once, running)] for place, o in outcomes.items()
        }
        missed = {
            place: 1 - (1 - p.persistent) * passing - p.persistent * staying
            for place, (passing, staying) in seen.items()
        }
        by_part = {part: float(np.mean([missed[place] for place in places])) for part, places in places_of.items()}
        through = sum(p.mix[part] * share for part, share in by_part.items())
        plans.append(
            {
                "layer": layer,
                "often": OFTEN.get(layer, f"every {duration(period_s)}"),
                "cost": cost,
                "through": through,
                "by_part": by_part,
            }
        )
    return plans


def _sections(p, values):
    best, plan = values["periods"][-1], values["plans"][-1]
    week = defences.per_week(p.rate, p.gpus)
    return {
        "answer": f"In numbers: on {p.gpus:,} GPUs the number of corruptions expected in a week is **{week:.2g}**. All layers together cost "
        f"**{percent(plan['cost'])}** of its time and let **{percent(plan['through'], 1)}** of them through; guards on the loss alone let "
        f"{percent(values['plans'][0]['through'], 0)} through. Save every **{duration(best['best_s'])}**, and verify "
        + ("before each write." if best["every"] == 1 else f"once in {best['every']} writes."),
        "places": table(
            ["struck", "matters", *(HYPHENATED.get(d, d) for d in injection.DEFENCES)],
            [
                [
                    place,
                    percent(o.matters.mean(), 0),
                    *(percent(o.seen[d][o.matters].mean(), 0) if o.matters.any() else "–" for d in injection.DEFENCES),
                ]
                for place, o in values["outcomes"].items()
            ],
        ),
    }
