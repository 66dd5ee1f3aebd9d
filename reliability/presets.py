"""Published rates of failure, for a cluster that has no log yet: from facts.toml, with what is known of each."""

from dataclasses import dataclass

from reliability import facts
from reliability.faults import CLASSES, LLAMA3_CAUSES, group_causes
from reliability.rates import HOURS_PER_1000_NODE_DAYS, HOURS_PER_DAY, failures_per_1000_node_days

NAMES = ("llama3", "rsc1", "rsc2", "ft_hsdp", "publication")


@dataclass(frozen=True)
class Preset:
    """A published rate of failure per node-hour of `gpus_per_node` GPUs.

    Attributes
    ----------
    name, label : str
    rate_per_node_h : float
    gpus_per_node : int
    events : int or None
        Failures counted in `node_hours`, where the source gives them; else the rate's uncertainty is unknown.
    node_hours : float or None
    shares : dict of class to number
        Counts by class where they were counted, else shares; a class that the source does not split is "hardware".
    counted : bool
        Whether `shares` are counts.
    source : str
        Key of ``references.bib``.
    primary : bool
    """

    name: str
    label: str
    rate_per_node_h: float
    gpus_per_node: int
    events: int | None
    node_hours: float | None
    shares: dict
    counted: bool
    source: str
    primary: bool


def preset(name):
    """Return a published rate.

    Parameters
    ----------
    name : str
        One of `NAMES`.

    Examples
    --------
    >>> llama3 = preset("llama3")
    >>> round(24000 * llama3.rate_per_node_h, 2), llama3.events, sum(llama3.shares.values())
    (3.79, 419, 419)
    """
    if name not in NAMES:
        raise ValueError(f"preset = {name!r}: must be one of {', '.join(NAMES)}")
    return globals()[f"_{name}"]()


def _llama3():
    count, gpus = facts.fact("llama3_unexpected"), facts.value("llama3_gpus")
    each = facts.value("gpus_per_node")
    hours = gpus / each * facts.value("llama3_days") * HOURS_PER_DAY
    causes = group_causes(facts.value("llama3_causes"), LLAMA3_CAUSES)
    label = f"Llama 3: {count.value} unexpected interruptions of {gpus:,} GPUs in {facts.value('llama3_days')} days"
    return Preset("llama3", label, count.value / hours, each, count.value, hours, causes, True, count.source, True)


def _printed(name, label, fact):
    rate = facts.fact(fact)
    per_hour, each = rate.value / HOURS_PER_1000_NODE_DAYS, facts.value("gpus_per_node")
    return Preset(name, label, per_hour, each, None, None, {"hardware": 1.0}, False, rate.source, rate.primary)


def _rsc1():
    return _printed("rsc1", "RSC-1: failures attributed to hardware", "kokolis_rsc1_rate")


def _rsc2():
    return _printed("rsc2", "RSC-2: failures attributed to hardware", "kokolis_rsc2_rate")


def _ft_hsdp():
    every, gpus = facts.fact("ft_hsdp_98k_mtbf_min"), facts.fact("ft_hsdp_98k_gpus")
    each = facts.value("gpus_per_node")
    rate = failures_per_1000_node_days(every.value / 60 * gpus.value, each) / HOURS_PER_1000_NODE_DAYS
    label = f"FT-HSDP: an interruption every {every.value} min on {gpus.value:,} GPUs"
    return Preset("ft_hsdp", label, rate, each, None, None, {"hardware": 1.0}, False, every.source, False)


def _publication():
    every, gpus = facts.fact("kokolis_job_mttf_h"), facts.value("kokolis_job_gpus")
    each, mix = facts.value("gpus_per_node"), facts.value("published_mix")
    label = f"the publication's own: all interruptions of {gpus:,}-GPU jobs, one every {every.value} h"
    shares = {name: mix[name] for name in CLASSES}
    return Preset(
        "publication", label, each / (every.value * gpus), each, None, None, shares, False, every.source, True
    )
