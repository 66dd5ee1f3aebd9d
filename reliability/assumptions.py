"""What the tests of a fit say, a sentence an assumption, with its numbers."""

from dataclasses import dataclass

from reliability import rate_draws
from reliability.fitted_rates import SIGNIFICANT
from reliability.text import counted
from reliability.units import DAY_S


@dataclass(frozen=True)
class Finding:
    """An assumption of the Poisson process: whether the log bears it out (None: too few incidents), and the sentence."""

    name: str
    holds: bool | None
    sentence: str

    def __post_init__(self):
        object.__setattr__(self, "holds", None if self.holds is None else bool(self.holds))


def p_text(p):
    """A p-value as a sentence holds it.

    Examples
    --------
    >>> p_text(0.0312), p_text(1e-9)
    ('p = 0.031', 'p < 0.0001')
    """
    return f"p = {p:.2g}" if p >= 1e-4 else "p < 0.0001"


def findings(fit):
    """Return the findings of a fit, in the order in which they are read."""
    rows = (_steady, _interval, _counts, _gaps, _weibull, _together, _lemons, _history, _repairs)
    return tuple(row(fit) for row in rows)


def _steady(fit):
    if fit.laplace is None:
        return Finding("steady rate", None, "Too few incidents to test whether the rate is steady.")
    law, holds = fit.power_law, bool(fit.steady)
    way = "steady" if holds else "falling" if fit.laplace.statistic < 0 else "rising"
    sentence = (
        f"The rate is {'compatible with a steady one' if holds else f'not steady but {way}'}: Laplace's statistic is "
        f"{fit.laplace.statistic:+.2f} ({p_text(fit.laplace.p_value)}, {p_text(fit.trend_p)} with the incidents' clustering allowed "
        f"for), the Crow-AMSAA shape {law.shape:.3f} "
        f"({law.low:.3f} to {law.high:.3f}; 1 is steady, {p_text(law.p_value)})."
    )
    if not holds and fit.total and fit.total.value:
        basis = fit.rate_basis(30 * DAY_S)
        sentence += f" A plan of 30 days takes {basis.level_text}"
        if basis.level == "recent" and fit.recent_rate is not None:
            sentence += (
                f" ({fit.recent_rate:.3g} incidents per 1,000 node-days; the record's mean is {fit.total.value:.3g})"
            )
        elif basis.level == "record":
            sentence += f" ({fit.total.value:.3g} incidents per 1,000 node-days): the level at its end is taken only where p is below {rate_draws.CLEAR:g}"
        sentence += "."
    return Finding("steady rate", holds, sentence)


def _interval(fit):
    rate = fit.total
    if rate is None:
        return Finding("interval", None, f"There is no rate per node: {fit.exposure}.")
    if rate.value is None:
        bound = f"No incident was observed: the rate is below {rate.high:.3g} per 1,000 node-days (one-sided 95 %)."
        return Finding("interval", None, bound)
    exact = f"{rate.exact_low:.4g} to {rate.exact_high:.4g}"
    if rate.index == 1:
        return Finding("interval", True, f"The exact Poisson interval is used, {exact}: {rate.why}.")
    return Finding(
        "interval",
        False,
        f"The interval is widened from the exact Poisson {exact} to {rate.low:.4g} to {rate.high:.4g} ({rate.model}): {rate.why}.",
    )


def _counts(fit):
    if fit.weekly is None:
        return Finding("independent counts", None, "Too few incidents to test the spread of their counts.")
    found, holds = fit.weekly, fit.weekly.p_value >= SIGNIFICANT
    day = fit.period_s / DAY_S
    length = "a week" if day == 7 else "a day" if day == 1 else f"{day:.2g} days"
    return Finding(
        "independent counts",
        holds,
        f"Counts of {length} {'spread as those of' if holds else 'spread more than'} a Poisson process: variance over "
        f"mean is {found.index:.2f} over {counted(found.periods, 'period')} of {found.mean:.3g} incidents ({p_text(found.p_value)}).",
    )


def _gaps(fit):
    if fit.gaps is None:
        return Finding("exponential gaps", None, "Too few gaps between incidents to test them.")
    found, holds = fit.gaps, fit.gaps.p_value >= SIGNIFICANT
    p = "p < 0.01" if found.p_value <= 0.01 else "p > 0.15" if found.p_value >= 0.15 else f"p = {found.p_value:.2g}"
    return Finding(
        "exponential gaps",
        holds,
        f"Gaps between incidents {'look' if holds else 'do not look'} exponential: Anderson-Darling's statistic is "
        f"{found.statistic:.3g} with the mean estimated ({p}) over {counted(found.positive, 'positive gap')}; "
        f"{counted(found.zero, 'gap of 0 is', 'gaps of 0 are')} left out; the rank correlation of a gap with the next is "
        f"{found.correlation:+.2f} ({p_text(found.correlation_p)}).",
    )


def _weibull(fit):
    if fit.gaps is None:
        return Finding("constant hazard", None, "Too few gaps between incidents to fit a Weibull distribution.")
    low, high = fit.gaps.shape_low, fit.gaps.shape_high
    what = "a constant hazard" if low <= 1 <= high else "a falling hazard" if high < 1 else "a rising hazard"
    return Finding(
        "constant hazard",
        low <= 1 <= high,
        f"The Weibull shape of the gaps is {fit.gaps.shape:.3f} ({low:.3f} to {high:.3f}): {what}"
        f"{'; right after an incident the next is likelier' if high < 1 else ''}.",
    )


def _together(fit):
    if fit.shared is None:
        return Finding(
            "one node at a time", None, "The log does not say which nodes failed: common causes cannot be seen."
        )
    found = fit.shared
    if found.groups == 0:
        return Finding("one node at a time", True, "No two nodes began an incident at the same moment.")
    return Finding(
        "one node at a time",
        not found.above_chance,
        f"{counted(found.incidents, 'incident')} ({found.incidents / fit.incidents:.1%}) began together with one on another "
        f"node, in {counted(found.groups, 'group')} of up to {counted(found.largest, 'node')}; chance alone would make about "
        f"{found.expected_by_chance:.3g}.",
    )


def _lemons(fit):
    found = fit.node_rates
    if found is None:
        return Finding("nodes alike", None, "Too few nodes or incidents to tell whether some nodes are lemons.")
    nodes = counted(found.nodes, "node") + (
        " (those with an incident: their number is unknown)" if found.assumed else ""
    )
    spread = f"variance over mean of a node's incidents is {found.index:.2f} over {nodes} ({p_text(found.p_value)})"
    if not found.lemons:
        # The good nodes without an incident are missing: what the rest look like among themselves says too little.
        alike = None if found.assumed else found.p_value >= SIGNIFICANT
        return Finding("nodes alike", alike, f"No node has more incidents than chance allows; {spread}.")
    worst = found.lemons[0]
    return Finding(
        "nodes alike",
        False,
        f"{counted(len(found.lemons), 'node has', 'nodes have')} more incidents than chance allows (false discoveries at most 5 %), "
        f"{found.lemon_share:.1%} of all; the worst has {worst.incidents:,} against {worst.expected:.3g} expected; {spread}.",
    )


def _history(fit):
    found, halves = fit.node_rates, fit.halves
    if found is None:
        return Finding(
            "nodes without memory", None, "Too few nodes or incidents to tell what a node's history predicts."
        )
    # A spread of rates is fitted to equal nodes too, half of the time: it must be more than chance makes.
    alike = not found.history_weight or found.p_value >= SIGNIFICANT
    sentence = (
        f"A node's own past weighs {found.history_weight:.0%} in its predicted rate, the mean of all nodes the rest; true rates "
        f"differ by {found.cv:.0%} of their mean (standard deviation)"
        f"{', no more than chance alone may show' if alike else ''}."
        if found.history_weight
        else "A node's own past tells nothing of its future: the mean of all nodes is its predicted rate."
    )
    if found.assumed:
        sentence += " Only nodes with an incident were seen: how the others fare is unknown, and --nodes tells."
    if halves is not None:
        sentence += (
            f" From the record's first half to its second the ranks of the nodes correlate by {halves.correlation:+.2f} "
            f"({p_text(halves.p_value)}), and the {halves.worst:,} worst of the first half have {halves.worst_ratio:.2f} "
            "times the mean in the second."
        )
    return Finding("nodes without memory", None if alike and found.assumed else alike, sentence)


def _repairs(fit):
    found = fit.repairs
    if not found.closed:
        return Finding("repair times", None, "No end of an incident is known: there are no repair times.")
    censored = f", {found.still_open:,} still open and counted as censored" if found.still_open else ""
    unknown = f", {found.unknown:,} of unknown end left out" if found.unknown else ""
    p90 = "beyond the record" if found.p90_h is None else f"{found.p90_h:.3g} h"
    median = "beyond the record" if found.median_h is None else f"{found.median_h:.3g} h"
    sentence = (
        f"Of {counted(found.closed, 'repair')} that ended{censored}{unknown}: median {median}, mean "
        f"{'at least ' if found.mean_is_bound else ''}{found.mean_h:.3g} h, 90th percentile {p90}"
    )
    if found.log_mean is None:
        return Finding("repair times", None, sentence + ".")
    return Finding(
        "repair times",
        None,
        f"{sentence}; the lognormal that fits best has median {found.lognormal_median_h:.3g} h, mean "
        f"{found.lognormal_mean_h:.3g} h, 90th percentile {found.lognormal_p90_h:.3g} h.",
    )
