"""The page on policies: its fleets, its verdicts, its rules, and what it prints; with few runs, since each is a page's own."""

from types import SimpleNamespace

import numpy as np
import pytest

from reliability import anchor_runs, facts, fleet_config, policy_anchors, scenarios
from reliability.fleet_result import estimate
from reliability.scenarios import policies, policies_lemons, policies_maps, policies_peers, policies_text
from reliability.scenarios.base import ParameterError
from reliability.scenarios.policies_fleets import (
    Case,
    build,
    has_bursts,
    kept,
    lemon_settings,
    page_case,
    settings,
    standbys_to_try,
)

pytestmark = pytest.mark.filterwarnings("error")


def inputs(**changes):
    return scenarios.inputs("policies", scenarios.defaults("policies") | {"replications": 4} | changes)


SMALL = inputs(gpus=1024, sizes=[1024], rates=[6.5], repairs_h=[24.0], days=10, lemon_days=30, rules=[2])
CASE = page_case(SMALL)


# The fleets -----------------------------------------------------------------------------------------------------------


def test_the_fleets_differ_in_the_way_back_and_in_nothing_else():
    ways = {way: settings(SMALL, CASE, way) for way in ("wait", "cold", "standby", "elastic")}
    own = {"wait": set(), "cold": {"spare_nodes", "recovery"}, "standby": set(), "elastic": {"elastic"}}
    for way, given in ways.items():
        assert {key for key in given if given[key] != ways["wait"].get(key)} == own[way]
    cold = ways["cold"]["recovery"]
    assert cold == {"restart_s": pytest.approx(60 * (SMALL.restart_min + SMALL.preemption_min))}
    assert ways["elastic"]["elastic"]["nodes_per_replica"] == SMALL.replica_gpus // SMALL.gpus_per_node


def test_a_cold_restart_costs_its_time_at_each_failure_and_never_waits_for_a_repair():
    (result,) = policies_maps.compare(SMALL, {"cold": build(SMALL, CASE, "cold")}, np.random.default_rng(1)).values()
    restart_h = (SMALL.restart_min + SMALL.preemption_min) / 60
    assert result.hours_lost["restart"] == pytest.approx(restart_h * result.counts["failures"], abs=restart_h)
    assert result.hours_lost["waiting"].max() == 0


def test_bursts_keep_the_rate_of_a_node():
    single, bursts = (build(SMALL, page_case(SMALL, bursts=b), "standby", 200) for b in (False, True))
    found = policies_maps.compare(SMALL, {"single": single, "bursts": bursts}, np.random.default_rng(1))
    nodes = {name: result.counts["nodes_repaired"].sum() for name, result in found.items()}
    assert abs(nodes["single"] - nodes["bursts"]) < 4 * np.sqrt(nodes["single"] * (1 + 0.5 * SMALL.burst_nodes))
    assert found["bursts"].counts["failures"].sum() < 0.75 * found["single"].counts["failures"].sum()


def test_the_standbys_tried_begin_at_none_and_grow_with_repair_and_bursts():
    short, longer = (standbys_to_try(SMALL, page_case(SMALL, repair_h=h)) for h in (1.0, 100.0))
    bursts = standbys_to_try(SMALL, page_case(SMALL, repair_h=1.0, bursts=True))
    assert short[0] == longer[0] == 0
    assert short == sorted(short) and short[-1] < longer[-1] and short[-1] < bursts[-1] >= SMALL.burst_nodes


def test_lemons_keep_the_mean_rate_and_without_a_rule_none_is_retired():
    given = lemon_settings(SMALL, 0.25, 3)
    rate, factor, share = given["failures"]["rate_per_node_day"], SMALL.lemon_factor, SMALL.lemon_share
    assert rate * (1 - share + share * factor) == pytest.approx(SMALL.rate)
    assert rate * (1 + given["failures"]["bad_factor"]) == pytest.approx(rate * factor)
    assert given["faults"][0]["right"] + given["faults"][0]["wrong"] == 1
    assert fleet_config.build(given).retirement is None


# The verdicts ---------------------------------------------------------------------------------------------------------


def test_the_money_of_each_way_is_the_node_hours_that_it_pays():
    fleets = {("standby", 2): build(SMALL, CASE, "standby", 2), ("cold", 0): build(SMALL, CASE, "cold")}
    found = policies_maps.compare(SMALL, fleets, np.random.default_rng(1))
    held = kept(SMALL, CASE, "standby", 2, found["standby", 2])
    assert held["money"] == pytest.approx(held["time"] * CASE.job_nodes / (CASE.job_nodes + 2))
    cold, result = kept(SMALL, CASE, "cold", 0, found["cold", 0]), found["cold", 0]
    beyond = CASE.job_nodes * (cold["time"] / cold["money"] - 1)  # nodes paid beyond the job's
    loss = result.counts["nodes_repaired"] * SMALL.preempted_gpu_h / SMALL.gpus_per_node / (24 * SMALL.days)
    assert (beyond > loss).all() and (beyond < loss + result.counts["nodes_repaired"] * SMALL.repair_h / 240).all()


def test_free_failures_show_no_difference_between_any_ways():
    p = inputs(gpus=1024, failures_per_1000_node_days=1e-6, days=1)
    found = policies_maps.verdicts(p, page_case(p), np.random.default_rng(1))
    assert not found["time"].shown and found["time"].standbys == 0 and "standby" not in found["time"].means
    assert "no difference" in policies_text.lead(found["time"], "time")


def test_a_verdict_ranks_by_the_currency_and_its_lead_is_paired():
    rise = np.array([-0.1, 0.0, 0.1])  # shared by all ways, so that it cancels in a difference
    found = {
        ("wait", 0): {"time": 0.2 + rise, "money": 0.2 + rise},
        ("cold", 0): {"time": 0.6 + rise, "money": 0.5 + rise},
        ("standby", 3): {"time": 0.5 + rise, "money": 0.45 + rise},
        ("standby", 9): {"time": 0.7 + rise, "money": 0.3 + rise},
    }
    time, money = (policies_maps._verdict(CASE, c, found, k) for c, k in (("time", 9), ("money", 3)))
    assert time.ranked == ["standby", "cold", "wait"] and money.ranked == ["cold", "standby", "wait"]
    assert (time.value, money.value) == pytest.approx((0.7, 0.5))
    assert (time.gain.mean, money.gain.mean) == pytest.approx((0.1, 0.05))
    assert time.shown and max(time.gain.sd, money.gain.sd) < 1e-12
    assert money.cheaper == pytest.approx(0.1)
    assert money.both["standby", 9] == pytest.approx({"time": 0.7, "money": 0.3})


def test_the_fewest_standbys_that_are_as_good_are_taken():
    assert policies_maps.fewest_as_good([0, 2, 5, 9], [0.1, 0.8, 0.9, 0.9 + policies_maps.SLACK / 2]) == 5
    assert policies_maps.fewest_as_good([0, 2, 5, 9], [0.1, 0.8, 0.9, 0.9 + policies_maps.SLACK * 2]) == 9
    nearly = [0.1, 0.8, 0.9, 0.9 + policies_maps.SLACK / 2]
    assert [policies_maps.fewest_as_good([0, 2, 5, 9], nearly, k) for k in (2, 5, 9)] == [5, 5, 9]


def test_a_job_has_the_same_pool_wherever_the_page_asks_for_it():
    p = inputs(gpus=1024, sizes=[1024, 2048], rates=[6.5, 20.0], repairs_h=[24.0, 4.0], days=10, lemon_days=5, rules=[2])
    result = policies.compute(p)
    own, curves = result.values["own"], result.values["curves"]
    assert {b: {c: one[c].standbys for c in one} for b, one in own.items()} == {b: one["standby"].best for b, one in curves.items()}
    for name, place in (("by_rate", 0), ("by_repair", 1)):  # 6.5 failures and 24 h of repair
        assert result.values[name][place][0] is own[False]
    assert result.values["by_rate"][0][1] is result.values["by_repair"][1][1]
    assert " of 6, both leads shown." in result.sections["answer"]
    numbers = curves[False]["standby"].numbers
    assert f"Tried are {len(numbers)} numbers of standbys up to {max(numbers)}; for another job of the maps at most 8." in result.sections["numbers"]
    assert max(len(standbys_to_try(p, page_case(p, job_nodes=n))) for n in (16, 128, 2**14)) <= 8


def test_fewer_standbys_than_the_cheapest_are_not_the_best_in_time():
    loss = policies_maps.SLACK / 2
    samples = {"time": [np.full(3, x) for x in (0.5, 0.9, 0.9 + loss)], "money": [np.full(3, x) for x in (0.5, 0.8, 0.81)]}
    assert policies_maps._curves([0, 4, 8], samples).best == {"time": 8, "money": 8}


def test_an_empty_pool_waits_or_shrinks_and_a_large_one_knows_no_difference():
    numbers = [0, 12]
    found = policies_maps.by_standbys(SMALL, CASE, numbers, np.random.default_rng(3), ("standby", "elastic"))
    none, many = ([found[way].estimates["time"][i].mean for way in ("standby", "elastic")] for i in (0, 1))
    assert none[0] < 0.9 * none[1]
    assert many[0] == pytest.approx(many[1], rel=1e-9)
    assert found["standby"].best["money"] == 12 and found["standby"].flat == (12, 12)


# Lemons ---------------------------------------------------------------------------------------------------------------


def test_a_rule_pays_up_to_its_break_even_and_no_further():
    rng = np.random.default_rng
    p = SMALL.model_copy(update={"lemon_days": 120, "lemon_factor": 30.0, "cured": 0.0, "swap_s": 1200.0})
    (first, *_) = policies_lemons.rules(p, rng(4))
    assert first.retired > 0 and first.break_even_days > 0
    for days, sign in ((0.8, 1), (1.25, -1)):
        (again, *_) = policies_lemons.rules(
            p.model_copy(update={"exchange_days": days * first.break_even_days}), rng(4)
        )
        assert np.sign(again.money.mean) == sign
        assert again.time == first.time


def test_rules_are_tried_under_both_diagnoses_with_and_without_a_window():
    found = policies_lemons.rules(SMALL, np.random.default_rng(5))
    assert [(r.failures, r.window_days, r.wrong) for r in found] == [
        (2, days, wrong) for wrong in (0.0, SMALL.wrong) for days in (None, 30.0)
    ]


def test_a_rule_has_the_numbers_of_its_own_fleet_beside_the_one_without():
    k, fleets = policies_lemons.standbys(SMALL), {"none": None, "rule": {"failures": 2}}
    built = {name: fleet_config.build(lemon_settings(SMALL, SMALL.wrong, k, rule)) for name, rule in fleets.items()}
    results = policies_maps.compare(SMALL, built, np.random.default_rng(5))
    (rule,) = [
        r for r in policies_lemons.rules(SMALL, np.random.default_rng(5)) if r.wrong and r.window_days is None
    ]
    counts = results["rule"].counts
    assert rule.retired == counts["nodes_retired"].mean() > rule.good == counts["good_nodes_retired"].mean() > 0
    ettr = {name: result.effective_training_ratio for name, result in results.items()}
    assert rule.time == estimate(ettr["rule"] - ettr["none"])



# The peers ------------------------------------------------------------------------------------------------------------


def test_reliability_economics_pools_differ_by_their_price_alone(monkeypatch):
    monkeypatch.setattr(policies_peers, "RUNS", 10)
    pool, nodes = policies_peers.economics.__wrapped__(), facts.value("reliability_economics_nodes")["job"]
    printed = policies_peers.economics_printed()
    assert list(printed) == [2, 8, 32]
    assert pool.at(8)[0] == pytest.approx(pool.at(32)[0], abs=1e-4)
    free = [policies_peers.unpriced(printed[k], nodes, k) for k in (8, 32)]
    assert abs(free[0] - free[1]) < 0.0011 < printed[8] - printed[32]  # rounding of the printed digits
    assert 2 < pool.best < 8 and pool.at(pool.best)[1] > max(pool.at(8)[1], pool.at(32)[1])


@pytest.fixture
def few_runs_of_airesim(monkeypatch):
    cached = (policy_anchors.airesim_runs, policies_peers.airesim)
    monkeypatch.setattr(policy_anchors, "RUNS", 20)
    for one in cached:
        one.cache_clear()
    yield
    for one in cached:
        one.cache_clear()


@pytest.mark.usefixtures("few_runs_of_airesim")
def test_the_pools_of_the_peers_are_simulated_by_the_runs_of_their_anchors():
    own = facts.value("airesim_nodes")["standbys"]
    assert policies_peers.airesim()[own] is policy_anchors.airesim_runs(own)
    settings = policy_anchors.economics_settings(standbys=8, saved="overlapped")
    assert policies_peers._ratio(settings) == estimate(anchor_runs.run(settings).effective_training_ratio)


@pytest.mark.usefixtures("few_runs_of_airesim")
def test_more_standbys_than_airesim_has_wait_longer_by_the_preemptions_that_fill_them_up():
    none, own, idle = policies_peers.airesim().values()
    longer = estimate(idle.hours_lost["waiting"] - own.hours_lost["waiting"])
    counts = {name: idle.counts[name] - own.counts[name] for name in ("host_selections", "preemptions")}
    minutes = facts.value("airesim_times_min")
    explained = sum(counts[f"{name}s"].mean() * minutes[name.split("_")[-1]] / 60 for name in ("host_selection", "preemption"))
    assert longer.low > 0 and longer.mean == pytest.approx(explained, abs=0.1)
    assert estimate(own.effective_training_ratio - idle.effective_training_ratio).low > 0
    assert none.hours_lost["waiting"].mean() > idle.hours_lost["waiting"].mean()


def test_delta_pool_that_seldom_runs_empty_is_neither_the_least_nor_the_cheapest(monkeypatch):
    ratio, estimates = policies_peers._ratio, {}

    def kept(settings):
        estimates[settings["warm_standbys"]] = ratio(settings)
        return estimates[settings["warm_standbys"]]

    monkeypatch.setattr(policies_peers, "RUNS", 10)
    monkeypatch.setattr(policies_peers, "_ratio", kept)
    pool, published = policies_peers.delta.__wrapped__(), policies_peers.delta_standbys()
    assert 0 <= published * facts.value("delta_gpus_per_node") - facts.value("delta_standby_gpus") < 4
    assert pool.best < published and pool.at(published)[0] > 0.999
    # With k standbys j nodes are away with a chance that goes as load^j / j!, less once fewer than the job's can fail;
    # the job runs while at most k are away. Whatever the law of the repairs is: only their mean counts.
    down = facts.value("delta_unavailability_percent") / 100
    nodes = facts.value("delta_gpus") // facts.value("delta_gpus_per_node")
    for k in range(5):
        present = np.minimum(nodes, nodes + k - np.arange(40))
        weight = np.cumprod(np.concatenate([[1.0], present * down / (1 - down) / np.arange(1, 41)]))
        error = estimates[k].sd / np.sqrt(10)
        assert abs(estimates[k].mean - weight[: k + 1].sum() / weight.sum()) < 4 * error


# What it prints -------------------------------------------------------------------------------------------------------


def test_the_page_s_texts_follow_from_its_numbers():
    result = policies.compute(SMALL)
    assert has_bursts(SMALL) and set(result.values["own"]) == {False, True}
    own = result.values["own"][False]["money"]
    assert policies_text.cost(SMALL, own.value) in result.sections["answer"]
    cells = policies.cells(SMALL, result.values["by_rate"], "time")
    verdict = result.values["by_rate"][0][0]["time"]
    ((letter, lines, shown),) = cells[0]
    assert letter == verdict.best[0].upper() and lines[0].startswith(letter) and shown == verdict.shown
    assert lines[2] == f"+{100 * verdict.gain.mean:.1f} on {verdict.second[0].upper()}"
    numbers, curves, best = policies.cost_curves(SMALL, result.values["curves"])
    assert list(curves) == list(best) == ["single", "bursts", "single, shrinks", "bursts, shrinks"]
    (mean, low, high), at = curves["single"][1], numbers.index(best["single"][1])
    assert mean[at] == min(mean) and (low <= mean).all() and (mean <= high).all()
    names, series = policies.rule_series(SMALL, result.values["rules"])
    assert names == ["2"] and len(series) == 4
    document = policies.document(SMALL, result.values)
    assert document["by_rate"][0][0]["time"]["best"] == verdict.best
    again = policies.compute(SMALL)
    assert again.sections == result.sections


def test_leads_are_worded_as_what_they_are():
    verdict = policies_maps.Verdict(
        Case(8, 0.1, 1.0), {"a": 0.8, "b": 0.6}, 0, ["a", "b"], estimate(np.full(3, 0.2)), {}
    )
    assert policies_text.lead(verdict, "time") == "20.0 points ahead of b"
    assert policies_text.lead(verdict, "money") == "25.0% cheaper than b"  # 1/0.8 against 1/0.6
    assert policies_text.cost(SimpleNamespace(price_per_gpu_hour=2.0), 0.0) == "no work is done"


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"replica_gpus": 20}, "replica_gpus"),
        ({"gpus": 100}, "gpus"),
        ({"sizes": [1024, 1000]}, "sizes"),
        ({"burst_nodes": 48}, "burst_nodes"),
        ({"rates": [0.0]}, "rates"),
        ({"repairs_h": [4.0, 4.0]}, "repairs_h"),
        ({"rules": [0]}, "rules"),
        ({"wrong": 1.0}, "wrong"),
        ({"lemon_factor": 1.0}, "lemon_factor"),
    ],
)
def test_impossible_parameters_are_named(change, name):
    with pytest.raises(ParameterError, match=name):
        inputs(**change)


def test_without_bursts_their_nodes_need_not_fill_the_job():
    odd = {"gpus": 1000, "replica_gpus": 8, "sizes": [1000]}
    assert not has_bursts(inputs(**odd, burst_share=0.0))
    with pytest.raises(ParameterError, match="burst_nodes = 16"):
        inputs(**odd)
