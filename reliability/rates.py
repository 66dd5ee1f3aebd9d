"""Failure rates in the field's unit, and how sure a count of events makes one."""

from dataclasses import dataclass, replace

import numpy as np

from reliability import checks, facts

HOURS_PER_1000_NODE_DAYS = 24_000
HOURS_PER_DAY = 24
DAYS_PER_WEEK = 7


def failures_per_1000_node_days(gpu_mtbf_h, gpus_per_node):
    r"""The field's unit of failure rate, from the MTBF of one GPU.

    .. math:: r = \frac{24\,000 \, g}{M_\text{GPU}}

    Parameters
    ----------
    gpu_mtbf_h : float or array, > 0
        Hours between failures of one GPU's share of the cluster.
    gpus_per_node : int or array, >= 1
        GPUs in what the rate calls a node (eight in all published rates of this book).

    Returns
    -------
    float or array, > 0
        Failures per 1,000 node-days.

    Examples
    --------
    >>> round(failures_per_1000_node_days(8089.6, gpus_per_node=8), 1)
    23.7
    """
    gpu_mtbf_h = checks.positive("gpu_mtbf_h", gpu_mtbf_h)
    gpus_per_node = checks.whole("gpus_per_node", gpus_per_node, low=1)
    checks.broadcast(gpu_mtbf_h=gpu_mtbf_h, gpus_per_node=gpus_per_node)
    return checks.plain(HOURS_PER_1000_NODE_DAYS * gpus_per_node / gpu_mtbf_h)


def gpu_mtbf_h(rate_per_1000_node_days, gpus_per_node):
    """MTBF of one GPU in hours: the inverse of :func:`failures_per_1000_node_days`.

    Parameters
    ----------
    rate_per_1000_node_days : float or array, > 0
    gpus_per_node : int or array, >= 1

    Returns
    -------
    float or array, > 0
        Hours.

    Examples
    --------
    >>> round(gpu_mtbf_h(6.50, gpus_per_node=8) / 16384, 3)
    1.803
    """
    rate = checks.positive("rate_per_1000_node_days", rate_per_1000_node_days)
    gpus_per_node = checks.whole("gpus_per_node", gpus_per_node, low=1)
    checks.broadcast(rate_per_1000_node_days=rate, gpus_per_node=gpus_per_node)
    return checks.plain(HOURS_PER_1000_NODE_DAYS * gpus_per_node / rate)


def poisson_rate_interval(events, exposure, level=0.95):
    r"""Exact two-sided interval for the rate of a Poisson process (Garwood 1936).

    .. math:: \left[ \tfrac{1}{2} \chi^2_{\alpha/2}(2k), \;
              \tfrac{1}{2} \chi^2_{1-\alpha/2}(2k + 2) \right] / E

    Parameters
    ----------
    events : int or array, >= 0
        Events counted, k. With none the lower end is 0 and the upper one is the bound that the
        exposure allows.
    exposure : float or array, > 0
        Time (or node-time) observed, E.
    level : float or array, in (0, 1)
        Coverage that the interval holds at the least.

    Returns
    -------
    (low, high) : floats or arrays
        Events per unit of exposure.

    Notes
    -----
    Assumes a constant rate and independent events; clustered failures need a wider interval.

    Examples
    --------
    >>> low, high = poisson_rate_interval(419, 54 * 24)
    >>> round(1 / high, 2), round(1 / low, 2)
    (2.81, 3.41)
    """
    from scipy.special import gammainccinv, gammaincinv

    events = checks.whole("events", events)
    exposure = checks.positive("exposure", exposure)
    level = checks.inner_probability("level", level)
    checks.broadcast(events=events, exposure=exposure, level=level)
    tail = (1.0 - level) / 2
    # Half a chi-square quantile of 2k degrees of freedom is a gamma quantile of shape k.
    low = np.where(events == 0, 0.0, gammaincinv(np.maximum(events, 1), tail)) / exposure
    return checks.plain(low), checks.plain(gammainccinv(events + 1.0, tail) / exposure)


@dataclass(frozen=True)
class PublishedRate:
    """A published failure rate, in failures per 1,000 node-days.

    `low` and `high` are the exact 95 % interval where the source gives a count, the source's own
    range where it gives one, and None where neither is known. `primary` is False for a rate read
    in a secondary source only.
    """

    label: str
    counts: str
    value: float
    low: float | None
    high: float | None
    source: str
    primary: bool


def published_rates(gpus_per_node):
    """Return the field's published failure rates on one scale, the lowest first.

    Parameters
    ----------
    gpus_per_node : int, >= 1
        The node they are expressed for; the sources' own has eight GPUs.

    Returns
    -------
    list of PublishedRate
    """
    own_node = facts.value("gpus_per_node")
    scale = checks.count("gpus_per_node", gpus_per_node) / own_node
    rows = [
        _printed("RSC-1", "hardware", "kokolis_rsc1_rate"),
        _printed("RSC-2", "hardware", "kokolis_rsc2_rate"),
        _printed("FT-HSDP, 32K GPUs", "interruptions", "ft_hsdp_32k_rate"),
        _job("FT-HSDP, 98K GPUs", "interruptions", "ft_hsdp_98k_mtbf_min", "ft_hsdp_98k_gpus", hours=1 / 60),
        _counted("Llama 3, unexpected", "unexpected interruptions", "llama3_unexpected"),
        _counted("Llama 3, all", "interruptions, planned ones too", "llama3_interruptions"),
        _machines("BLOOM", "GPUs lost", "bloom_gpus_lost_per_week", facts.value("bloom_nodes"), DAYS_PER_WEEK),
        _machines("OPT", "machines lost", "opt_machines_lost_per_day", facts.value("opt_gpus") / own_node, 1),
        _job("RSC-1, 1,024-GPU jobs", "all interruptions of a job", "kokolis_job_mttf_h", "kokolis_job_gpus"),
    ]
    scaled = [
        replace(r, value=r.value * scale, low=r.low and r.low * scale, high=r.high and r.high * scale) for r in rows
    ]
    return sorted(scaled, key=lambda r: r.value)


@dataclass(frozen=True)
class SilentRate:
    """A published count of silent corruptions that were found, per GPU-hour, with its exact 95 % interval."""

    label: str
    events: int
    gpu_hours: float
    value: float
    low: float
    high: float
    source: str


def silent_rates():
    """Return the published rates of silent data corruption per GPU-hour.

    Returns
    -------
    list of SilentRate

    Notes
    -----
    They count what was found: what no defence saw is in none of them.

    Examples
    --------
    >>> [(rate.label, f"{rate.value:.2g}") for rate in silent_rates()]
    [('Llama 3', '2.8e-07'), ('AEGIS', '5.1e-07')]
    """
    llama3 = facts.fact("llama3_causes")
    hours = HOURS_PER_DAY * facts.value("llama3_days") * facts.value("llama3_gpus")
    aegis = facts.fact("aegis_incidents")
    found = [
        ("Llama 3", llama3.value["silent_data_corruption"], hours, llama3.source),
        ("AEGIS", aegis.value, facts.value("aegis_gpu_hours"), aegis.source),
    ]
    return [
        SilentRate(name, n, time, n / time, *poisson_rate_interval(n, time), source) for name, n, time, source in found
    ]


def _printed(label, counts, name):
    """A rate that the source itself gives per 1,000 node-days."""
    fact = facts.fact(name)
    return PublishedRate(label, counts, fact.value, fact.low, fact.high, fact.source, fact.primary)


def _counted(label, counts, name):
    """A count over Llama 3's days and nodes, with its exact interval."""
    fact = facts.fact(name)
    exposure = facts.value("llama3_gpus") / facts.value("gpus_per_node") * facts.value("llama3_days") / 1000
    return PublishedRate(
        label, counts, fact.value / exposure, *poisson_rate_interval(fact.value, exposure), fact.source, fact.primary
    )


def _machines(label, counts, lost, nodes, days):
    """So many machines or GPUs lost in `days` on so many nodes."""
    fact, exposure = facts.fact(lost), nodes * days / 1000
    low, high = (None if end is None else end / exposure for end in (fact.low, fact.high))
    return PublishedRate(label, counts, fact.value / exposure, low, high, fact.source, fact.primary)


def _job(label, counts, mtbf, gpus, hours=1.0):
    """The mean time between failures of a job on so many GPUs, in units of so many hours."""
    every, size = facts.fact(mtbf), facts.fact(gpus)
    value = failures_per_1000_node_days(every.value * hours * size.value, facts.value("gpus_per_node"))
    return PublishedRate(label, counts, value, None, None, every.source, every.primary and size.primary)
