"""Bursts: at radius 1 the published process to the last bit; else against counting and a node-by-node simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import NEGATIVE, NOT_COUNT, NOT_POSITIVE, assert_mean, assert_refused, modest, refusals, strict

from reliability import availability, bursts

pytestmark = pytest.mark.filterwarnings("error")

MIXED = {"shares": [0.5, 0.4, 0.1], "sizes": [1, 16, 64]}


def touched_exactly(nodes, size, fleet):
    """(N/b) (1 - C(N-b, n) / C(N, n)), in whole numbers until the last division."""
    ways = math.comb(fleet, nodes)
    return fleet // size * (ways - math.comb(fleet - size, nodes)) / ways


@modest
@given(mtbf=st.floats(1e-6, 1e12), nodes=st.integers(1, 10**7))
def test_single_failures_are_the_published_process_exactly(mtbf, nodes):
    published = availability.job_mtbf(mtbf, nodes)
    assert bursts.job_mtbf(mtbf, nodes, [1.0], [1]) == published
    assert bursts.job_mtbf(mtbf, nodes, [1.0, 0.0], [1, 16]) == published
    assert bursts.dispersion([1.0], [1]) == 1.0


@pytest.mark.parametrize(
    ("nodes", "size", "fleet"), [(1, 16, 64), (5, 4, 20), (128, 16, 2048), (60, 16, 64), (64, 16, 64), (128, 1, 2048)]
)
def test_domains_of_a_scattered_job_by_counting(nodes, size, fleet):
    assert bursts.domains_touched(nodes, size, fleet) == pytest.approx(touched_exactly(nodes, size, fleet), rel=1e-12)


def test_a_job_on_the_whole_fleet_stands_nowhere_else():
    assert bursts.domains_touched(2048, 16, 2048) == bursts.domains_touched(2048, 16) == 128


def test_scale_and_extremes():
    with strict():
        assert bursts.domains_touched(1, 16, 10**7) == pytest.approx(1, rel=1e-9)  # no cancellation
        assert bursts.domains_touched(10**7, 1000) == 10**4
        one = bursts.job_mtbf(1000.0, [128, 10**7], **MIXED)
        assert bursts.job_mtbf(3000.0, [128, 10**7], **MIXED) == pytest.approx(3 * one, rel=1e-14)
        assert bursts.job_mtbf(1e-300, 1, **MIXED) == 1e-300


@modest
@given(nodes=st.integers(1, 2048), share=st.floats(0, 1))
def test_bursts_never_interrupt_more_often_and_scattering_never_helps(nodes, share):
    split = {"shares": [1 - share, share], "sizes": [1, 16]}
    alone = availability.job_mtbf(1000.0, nodes)
    packed, scattered = bursts.job_mtbf(1000.0, nodes, **split), bursts.job_mtbf(1000.0, nodes, **split, fleet=2048)
    assert alone * (1 - 1e-12) <= scattered
    if nodes % 16 == 0:
        assert scattered <= packed * (1 + 1e-12)
        assert packed == pytest.approx(alone / (1 - share + share / 16), rel=1e-12)


def test_against_a_fleet_drawn_node_by_node():
    """Domains fail by themselves; what hits the job is counted, packed and scattered."""
    rng, fleet, nodes, mtbf = np.random.default_rng(2), 96, 32, 50.0
    split, hits, failed, horizon = {"shares": [0.3, 0.7], "sizes": [1, 8]}, {"packed": [], "scattered": []}, [], 20.0
    for _ in range(400):
        jobs = {"packed": np.arange(nodes), "scattered": rng.permutation(fleet)[:nodes]}
        count, lost = dict.fromkeys(hits, 0), 0
        in_domain = {
            (name, size): np.bincount(job // size, minlength=fleet // size) > 0
            for name, job in jobs.items()
            for size in (1, 8)
        }
        for share, size in zip(split["shares"], split["sizes"], strict=True):
            for domain in range(fleet // size):
                n = rng.poisson(share * horizon / mtbf)
                lost += n * size
                for name in jobs:
                    count[name] += n * bool(in_domain[name, size][domain])
        failed.append(lost)
        for name in hits:
            hits[name].append(count[name])
    assert_mean(failed, fleet * horizon / mtbf, 0.03)  # the rate of node failures is held
    assert_mean(hits["packed"], horizon / bursts.job_mtbf(mtbf, nodes, **split), 0.03)
    assert_mean(hits["scattered"], horizon / bursts.job_mtbf(mtbf, nodes, **split, fleet=fleet), 0.03)
    ratio = np.var(failed, ddof=1) / np.mean(failed)
    assert ratio == pytest.approx(bursts.dispersion(**split), rel=4 * math.sqrt(2 / 400))


@modest
@given(nodes=st.integers(1, 500), sizes=st.lists(st.integers(1, 100), min_size=1, max_size=4))
def test_demands_lose_every_node_at_its_rate_and_interrupt_as_often_as_the_job_says(nodes, sizes):
    shares = np.full(len(sizes), 1 / len(sizes))
    rates, lost = bursts.demands(1000.0, nodes, shares, sizes)
    assert rates @ lost == pytest.approx(nodes / 1000.0, rel=1e-12)
    assert rates.sum() == pytest.approx(1 / bursts.job_mtbf(1000.0, nodes, shares, sizes), rel=1e-12)
    assert lost.max() <= min(nodes, max(sizes)) and (np.diff(lost) > 0).all()


def test_drawn_bursts_have_their_rates_and_come_in_order():
    times, sizes = bursts.draw_bursts(np.random.default_rng(3), [0.5, 0.05], [1, 16], 40_000.0)
    assert (np.diff(times) >= 0).all() and 0 <= times[0] and times[-1] < 40_000
    for size, rate in ((1, 0.5), (16, 0.05)):
        assert_mean(np.histogram(times[sizes == size], 400, (0, 40_000))[0], 100 * rate, 0.03)
    assert bursts.draw_bursts(np.random.default_rng(3), [0.0], [1], 10.0)[0].size == 0


@pytest.mark.parametrize(
    ("function", "good", "name", "values"),
    [
        *refusals(bursts.job_mtbf, {"node_mtbf": 1e3, "nodes": 8, **MIXED}, node_mtbf=NOT_POSITIVE, nodes=NOT_COUNT),
        *refusals(bursts.job_mtbf, {"node_mtbf": 1e3, "nodes": 8, **MIXED}, shares=([0.5, 0.4], [0.5, 0.4, 0.2], [-0.1, 1.0, 0.1])),
        *refusals(bursts.job_mtbf, {"node_mtbf": 1e3, "nodes": 8, **MIXED}, sizes=([1, 16], [0, 16, 64], [1, 1.5, 2])),
        *refusals(bursts.domains_touched, {"nodes": 8, "size": 4, "fleet": 16}, nodes=(0, 17), size=(0, 3, [4, 4]), fleet=(0, 18, 4)),
        *refusals(bursts.demands, {"node_mtbf": 1e3, "nodes": 8, **MIXED}, node_mtbf=NOT_POSITIVE, nodes=NOT_COUNT),
        *refusals(
            bursts.draw_bursts,
            {"rng": np.random.default_rng(1), "rates": [1.0], "sizes": [1], "horizon": 1.0},
            rng=(7,), rates=NEGATIVE, sizes=([0], [1, 2]), horizon=NOT_POSITIVE,
        ),
    ],
)  # fmt: skip
def test_bad_input(function, good, name, values):
    assert_refused(function, good, name, values)
