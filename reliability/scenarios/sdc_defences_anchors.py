"""Published results that the page on defences against silent corruption is held against."""

import numpy as np

from reliability import coverage, facts, rates, sdc, verification
from reliability.anchors import Anchor, rounding


def anchors():
    """Published results that this page is held against, from their own inputs."""
    llama3, aegis = rates.silent_rates()
    low, high = _clopper_pearson(facts.value("aegis_visible_as_nan"), aegis.events)
    agree = _equal_rates(llama3.events, llama3.gpu_hours, aegis.events, aegis.gpu_hours)
    days = facts.value("llama3_days")
    per_event = 1 / (24 * facts.value("llama3_gpus") * llama3.value)
    gemini, found_by = facts.fact("gemini_silent_interval_d"), facts.value("aegis_found_by")
    return [
        Anchor("llama3_rate", "Llama 3: days to a silent corruption", f"{llama3.events} in {days} days", per_event, days / llama3.events - 1e-9, days / llama3.events + 1e-9,
               "the count divides the days", llama3.source, True, "calibrated", "the page's rate", ".2f"),
        Anchor("aegis_count", f"AEGIS: incidents in {aegis.gpu_hours / 1e6:g} million GPU-hours, at Llama 3's rate", f"{aegis.events}", llama3.value * aegis.gpu_hours, *agree,
               "exact 95 % interval of the ratio of the two counts", aegis.source, True, "emergent", "the two counts do not tell the rates apart", ".1f"),
        Anchor("aegis_nan", "AEGIS: share of incidents that show as NaN, beside single flips of bfloat16", f"{facts.value('aegis_visible_as_nan')} of {aegis.events}", _nan_share(),
               low, high, "exact 95 % interval of the share", aegis.source, False, "off",
               "a single flip makes a NaN in one bit of the exponent only; an incident may be larger, or repeat until one flip does", ".3f"),
        _declined("gpu_fault_nan", "Stuck-at faults in a GPU: share of outcomes that are NaN or infinite", f"{facts.value('gpu_fault_nan_percent')}%", "gpu_sdc_anatomy", True,
                  "faults of gates in micro-benchmarks; this page flips single bits of numbers"),
        _declined("aegis_overhead", "AEGIS: overhead of its checks", f"{facts.value('aegis_overhead_percent')}%", aegis.source, False,
                  "how often it checks is not in what was read; the page's plan costs what its own schedule costs"),
        _declined("aegis_found_by", "AEGIS: found by recomputation, by a checksum", f"{found_by['recomputation']} and {found_by['checksum']}", aegis.source, False,
                  "what finds an incident first hangs on the schedule, which was not read"),
        _declined("gemini_interval", "Gemini 1.0: days to a silent corruption", f"{gemini.low} to {gemini.high} days", gemini.source, False,
                  "the number of chips is not published, so it makes no rate"),
        _daly(),
    ]  # fmt: skip


def _declined(name, what, published, source, primary, reason):
    return Anchor(name, what, published, None, None, None, "", source, primary, "declined", reason)


def _daly():
    """One row of the table of Daly's parameters: the pattern without verification and corruption is the renewal model."""
    mtbf_h, row = facts.value("daly_table_mtbf_h"), 3
    write, restart = facts.value("daly_table_write_min"), facts.value("daly_table_restart_min")
    printed = facts.value("daly_table_exact_min")[row]
    best = verification.optimal_pattern_interval(write, 0, restart, 1e18, 60 * mtbf_h[row])
    what = f"Daly's write of {write} min, MTBF {mtbf_h[row]:g} h: best interval of the exact model"
    why = "without verification and corruption it is the renewal model"
    return Anchor(
        "daly_interval",
        what,
        f"{printed:g} min",
        best,
        *rounding(printed, 2),
        "rounding",
        "daly2006",
        False,
        "emergent",
        why,
        ".2f",
    )


def _nan_share():
    """Share of the single flips of normal bfloat16 numbers that leave a NaN or an infinity, every bit alike."""
    numbers = np.random.default_rng(1).standard_normal(4096).astype(sdc.dtype_of("bfloat16"))
    return coverage.single_flips(numbers, 4.0, exhausted=1)["not_finite"]


def _clopper_pearson(events, trials, level=0.95):
    """Exact interval of a share: events of trials."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = betaincinv(events, trials - events + 1, tail) if events else 0.0
    return float(low), float(betaincinv(events + 1, trials - events, 1 - tail) if events < trials else 1.0)


def _equal_rates(events, exposure, other_events, other_exposure):
    """Counts that the first rate may expect in the other exposure while the two counts agree (95 %)."""
    low, high = _clopper_pearson(events, events + other_events)  # the first count among both
    expected = events / exposure * other_exposure
    odds = [share / (1 - share) * other_exposure / exposure for share in (low, high)]  # ratio of the rates
    ratio = expected / other_events
    return other_events * ratio / odds[1], other_events * ratio / odds[0]
