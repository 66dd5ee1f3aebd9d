"""The fleet model against closed forms that no module of the package holds: one cause at a time, in standard errors or to the digit."""

import math

import numpy as np
import pytest
from oracles import assert_mean
from scipy import linalg

from reliability import fleet, fleet_config

pytestmark = pytest.mark.filterwarnings("error")

DAY = 86400.0
NEVER = 1e-12  # failures of a node and day
INSTANT = {
    "job_nodes": 10,
    "failures": {"rate_per_node_day": 1.0},
    "repair": {"automatic_s": 0.0},
    "recovery": {"restart_s": 0.0},
}


def run(replications, seed=5, **changes):
    return fleet.simulate(
        fleet_config.build({**INSTANT, **changes}), np.random.default_rng(seed), replications, block=replications
    )


# Lives ----------------------------------------------------------------------------------------------------------------


def weibull_renewals(t, shape):
    """Expected renewals by time t of a Weibull life of scale 1: the power series of Smith and Leadbetter (1963)."""
    gamma = [math.gamma(1 + n * shape) / math.factorial(n) for n in range(41)]
    factors = [0.0]
    for n in range(1, 41):
        factors.append(gamma[n] - sum(gamma[j] * factors[n - j] for j in range(1, n)))
    return sum((-1) ** (n - 1) * factors[n] * t ** (n * shape) / math.gamma(1 + n * shape) for n in range(1, 41))


def test_the_series_of_renewals():
    assert weibull_renewals(0.7, 1.0) == pytest.approx(0.7)
    times = np.random.default_rng(1).weibull(0.5, (100_000, 12)).cumsum(axis=1)
    assert_mean((times <= 0.3).sum(axis=1), weibull_renewals(0.3, 0.5), 5e-3)


def test_infant_mortality_of_many_worn_nodes():
    """All lives begin with the job; each place of it is a renewal process, and failures come fast at first."""
    shape, mean = 0.5, 100.0
    scale = mean / math.gamma(1 + 1 / shape)
    lives = {"rate_per_node_day": 1 / mean, "life": "weibull", "shape": shape}
    result = run(200, job_nodes=1000, warm_standbys=1, horizon_h=24.0, failures=lives)
    expected = 1000 * weibull_renewals(1 / scale, shape)
    assert expected > 14 * 1000 / mean
    assert_mean(result.counts["failures"], expected, 1e-2)
    first = run(2000, job_nodes=1000, warm_standbys=1, work_h=24 * scale * 1e-6, failures=lives)
    assert_mean(first.counts["failures"] == 0, math.exp(-1000 * 1e-6**shape), 4e-2)


@pytest.mark.parametrize(
    ("life", "cv2"),
    [
        ({"life": "lognormal", "cv": 0.5}, 0.25),
        ({"life": "weibull", "shape": 2.0}, 4 / math.pi - 1),
        ({"life": "weibull", "shape": 0.7}, math.gamma(1 + 2 / 0.7) / math.gamma(1 + 1 / 0.7) ** 2 - 1),
    ],
)
def test_in_the_long_run_nodes_fail_once_in_a_mean_life(life, cv2):
    """The renewal function is t / mean + (cv^2 - 1) / 2 once the start is forgotten."""
    lives = {"rate_per_node_day": 1.0, **life}
    result = run(150, job_nodes=50, warm_standbys=1, horizon_h=20 * 24.0, failures=lives)
    assert_mean(result.counts["failures"] / 50 - 20, (cv2 - 1) / 2, 0.16)


# Bursts ---------------------------------------------------------------------------------------------------------------


def test_bursts_of_the_whole_job_renew_it():
    """The least of ten Weibull lives is a Weibull life, a tenth as often as single nodes would fail in all."""
    shape = 0.6
    lives = {"rate_per_node_day": 1.0, "life": "weibull", "shape": shape, "burst_shares": [1.0], "burst_sizes": [10]}
    result = run(1000, warm_standbys=10, work_h=24 * 5.0, failures=lives)
    scale = 10.0 / math.gamma(1 + 1 / shape) / 10 ** (1 / shape)  # days
    assert_mean(result.counts["failures"], weibull_renewals(5.0 / scale, shape), 3e-2)
    assert (result.counts["bursts"] == result.counts["failures"]).all()
    assert (result.counts["nodes_repaired"] == 10 * result.counts["failures"]).all()


WORN_BURSTS = {
    "rate_per_node_day": 0.1,
    "life": "weibull",
    "shape": 0.7,
    "burst_shares": [0.6, 0.4],
    "burst_sizes": [1, 4],
}


def test_each_end_of_a_life_draws_its_size():
    """0.6 + 0.1 events for each failure of a node, a seventh of them bursts; all lives longer for it."""
    result = run(400, job_nodes=20, warm_standbys=20, horizon_h=400.0, failures=WORN_BURSTS)
    counts = result.counts
    assert_mean(counts["bursts"], counts["failures"].mean() / 7, 3e-2)
    assert (counts["nodes_repaired"] == counts["failures"] + 3 * counts["bursts"]).all()
    mean = 1 / (0.1 * 0.7)
    early = run(2000, job_nodes=20, warm_standbys=20, work_h=24 * 0.1, failures=WORN_BURSTS)
    survival = math.exp(-20 * (0.1 * math.gamma(1 + 1 / 0.7) / mean) ** 0.7)
    assert_mean(early.counts["failures"] == 0, survival, 4e-2)


def test_nobody_is_blamed_for_a_burst():
    """Retired at its first blamed failure: as many nodes as failed alone; none is taken for another in a burst."""
    faults = [{"name": "any", "right": 0.5, "wrong": 0.5}]
    counts = run(
        80,
        job_nodes=20,
        warm_standbys=40,
        horizon_h=200.0,
        failures=WORN_BURSTS,
        faults=faults,
        retirement={"failures": 1},
    ).counts
    assert counts["bursts"].sum() > 50
    assert (counts["nodes_retired"] == counts["failures"] - counts["bursts"]).all()
    assert_mean(counts["misdiagnosed"], counts["nodes_retired"].mean() / 2, 5e-2)


# Retirement -----------------------------------------------------------------------------------------------------------

ONE = {"job_nodes": 1, "horizon_h": 24 * 400.0}  # a node a day, on 400 days


def failures_until_three(window, stop):
    """Expected failures until three lie in a window, with gaps of an exponential time and a stop, in means of the first.

    h(x), those still to come after a gap of x, is 1 + E h(g) over the gaps g that do not end it, which are longer than
    window - x; beyond window - stop it is a constant.
    """
    cells = 1500
    width = (window - 2 * stop) / cells
    gaps = stop + width * (np.arange(cells) + 0.5)
    chance = np.exp(-(gaps - width / 2 - stop)) - np.exp(-(gaps + width / 2 - stop))
    goes_on = gaps[None, :] > window - gaps[:, None]
    goes_on = goes_on + 0.5 * np.isclose(gaps[None, :], window - gaps[:, None])
    system = np.zeros((cells + 1, cells + 1))
    system[:cells, :cells] = goes_on * chance
    system[cells, :cells] = chance
    system[:, cells] = math.exp(-(window - 2 * stop))  # a gap so long that the next cannot end it
    return 1 + float(np.linalg.solve(np.eye(cells + 1) - system, np.ones(cells + 1))[cells])


def test_the_failures_until_three():
    rng = np.random.default_rng(3)
    found = []
    for _ in range(4000):
        times, now = [], 0.0
        while len(times) < 3 or times[-1] - times[-3] > 1.5:
            now += rng.exponential() + 0.25
            times.append(now)
        found.append(len(times))
    assert_mean(found, failures_until_three(1.5, 0.25), 2e-2)


@pytest.mark.parametrize(("window", "stop"), [(0.5, 0.0), (0.5, 0.1), (2.0, 0.1)])
def test_a_node_is_retired_at_two_failures_within_a_window(window, stop):
    """Each gap is short enough with the same chance; the window runs on through the stops."""
    result = run(1000, **ONE, recovery={"restart_s": stop * DAY}, retirement={"failures": 2, "window_days": window})
    expected = 1 + 1 / -math.expm1(-(window - stop))
    assert_mean(result.counts["failures"], expected, 3e-2)
    assert_mean(result.bins_s["useful"] / DAY, expected, 4e-2)  # Wald
    assert (result.counts["nodes_retired"] == 1).all()
    assert (result.counts["nodes_repaired"] == result.counts["failures"]).all()


@pytest.mark.parametrize(("window", "stop"), [(1.5, 0.0), (2.0, 0.2)])
def test_a_node_is_retired_at_three_failures_within_a_window(window, stop):
    result = run(1000, **ONE, recovery={"restart_s": stop * DAY}, retirement={"failures": 3, "window_days": window})
    expected = failures_until_three(window, stop)
    assert_mean(result.counts["failures"], expected, 3e-2)
    assert_mean(result.bins_s["useful"] / DAY, expected, 4e-2)


def test_only_failures_that_are_blamed_count():
    """A thinned Poisson process, at 0.6 of its rate."""
    faults = [{"name": "any", "right": 0.6}]
    result = run(1000, **ONE, faults=faults, retirement={"failures": 2, "window_days": 0.5})
    expected = 1 + 1 / -math.expm1(-0.5 * 0.6)
    assert_mean(result.counts["nodes_repaired"], expected, 3e-2)
    assert_mean(result.counts["failures"], expected / 0.6, 4e-2)


@pytest.mark.parametrize("most", [1, 4])
def test_without_a_window_all_failures_count(most):
    result = run(500, **ONE, retirement={"failures": most})
    assert (result.counts["failures"] == most).all()
    assert_mean(result.bins_s["useful"] / DAY, most, 6e-2)
    assert_mean((result.bins_s["useful"] / DAY - most) ** 2, most, 0.25)  # a gamma time


# Lemons, cures and blame ----------------------------------------------------------------------------------------------

TWO_STAGES = {"automatic_s": 0.0, "to_manual": 0.8, "automatic_fails": 0.4, "manual_fails": 0.2}
CURED = 0.2 * 0.6 + 0.8 * 0.8
LEMONS = {"rate_per_node_day": 1e-7, "bad_share": 0.5, "bad_factor": 1e7}


def test_each_bad_node_fails_until_a_repair_cures_it():
    """A geometric number of times each, in mean and in variance."""
    systematic = run(500, job_nodes=40, horizon_h=24 * 60.0, failures=LEMONS, repair=TWO_STAGES).counts["systematic"]
    assert_mean(systematic, 20 / CURED, 6e-3)
    assert_mean((systematic - 20 / CURED) ** 2, 20 * (1 - CURED) / CURED**2, 0.1)


def test_bad_nodes_are_cured_in_time():
    """Each fails at its rate until cured, which comes at that rate times the chance of a cure."""
    result = run(500, job_nodes=40, work_h=24 * 0.7, failures=LEMONS, repair=TWO_STAGES)
    assert_mean(result.counts["systematic"], 20 * -math.expm1(-0.7 * CURED) / CURED, 1.5e-2)


def test_a_wrong_node_may_be_a_bad_one_and_be_cured():
    """With b bad nodes among five, a failure cures one at CURED (right + wrong (b - 1) / 4)."""
    faults = [{"name": "any", "right": 0.5, "wrong": 0.3}]
    result = run(
        1500,
        job_nodes=5,
        horizon_h=24 * 100.0,
        failures={**LEMONS, "bad_share": 0.6},
        faults=faults,
        repair=TWO_STAGES,
    )
    expected = sum(1 / (CURED * (0.5 + 0.3 * (b - 1) / 4)) for b in (1, 2, 3))
    assert_mean(result.counts["systematic"], expected, 1.5e-2)
    assert_mean(result.counts["misdiagnosed"], 0.3 * expected, 3e-2)


# Standbys, host selection, spares -------------------------------------------------------------------------------------


def test_host_selections_of_two_states():
    """A standby or none: without one a failure leaves the job a node short until the first repair, then selects hosts.

    In running time the standby is taken at the job's rate L and comes back at the rate M of a repair; a failure without
    one leads back to the same state, since another node is still away.
    """
    t, failing, repaired = 40.0, 1.0, 2.0  # days, and rates a day
    result = run(
        1000,
        warm_standbys=1,
        work_h=24 * t,
        failures={"rate_per_node_day": failing / 10},
        repair={"automatic_s": DAY / repaired},
    )
    both = failing + repaired
    without = failing / both * (t + math.expm1(-both * t) / both)
    assert_mean(result.counts["host_selections"], 1 + failing * without, 1.2e-2)
    waits = failing * without / (2 * repaired)  # for the first of two
    assert_mean(result.bins_s["waiting"] / DAY, waits, 4e-2)


def test_preemptions_of_a_second_spare():
    """The first failure takes a spare; from then on one more node: the second spare goes at a failure while it is away."""
    t, failing, repaired = 5.0, 0.5, 3.0
    result = run(
        2000,
        spare_nodes=2,
        work_h=24 * t,
        failures={"rate_per_node_day": failing / 10},
        repair={"automatic_s": DAY / repaired},
    )
    rates = np.zeros((4, 4))  # all there; one away; none away, one idle; two spares taken
    rates[0, 1] = rates[2, 1] = rates[1, 3] = failing
    rates[1, 2] = repaired
    chances = linalg.expm((rates - np.diag(rates.sum(1))) * t)[0]
    assert_mean(result.counts["preemptions"], 1 - chances[0] + chances[3], 2e-2)


def test_spares_are_preempted_until_the_job_and_its_standbys_are_there():
    """No node comes back. A swap, two spares, a swap, the last spare, and the fifth failure ends it: five failures."""
    result = run(
        500,
        warm_standbys=1,
        spare_nodes=3,
        horizon_h=24 * 100.0,
        repair={"automatic_s": 1e12},
        recovery={"restart_s": 0.0, "host_selection_s": 600.0, "preemption_s": 2000.0},
    )
    for name, count in {"failures": 5, "preemptions": 3, "host_selections": 3, "nodes_repaired": 5}.items():
        assert (result.counts[name] == count).all(), name
    assert_mean(result.bins_s["useful"] / DAY, 5 / 10, 3e-2)


def test_a_swap_takes_its_own_time_and_a_restart_on_the_same_nodes_a_cold_one():
    given = {
        "warm_standbys": 500,
        "faults": [{"name": "any", "right": 0.5, "wrong": 0.2}],
        "recovery": {"restart_s": 900.0, "swap_s": 60.0},
    }
    result = run(20, horizon_h=100.0, **given)
    swaps, all_stops = result.counts["nodes_repaired"], result.counts["failures"]
    ends = 900.0  # the horizon may cut the last stop short
    assert swaps.min() > 5
    assert np.abs(result.bins_s["restart"] - 60 * swaps - 900 * (all_stops - swaps)).max() <= ends
    whole = run(20, work_h=100.0, **given)
    swaps, all_stops = whole.counts["nodes_repaired"], whole.counts["failures"]
    assert whole.bins_s["restart"] == pytest.approx(60 * swaps + 900 * (all_stops - swaps))


def test_a_job_of_all_nodes_waits_for_each_repair_to_the_second():
    """Repair from the fault on, its parts of fixed lengths; the job waits for what the stop leaves of it."""
    result = run(
        20,
        work_h=100.0,
        faults=[{"name": "any", "detection_s": 50.0}],
        repair={"automatic_s": 1000.0, "manual_s": 3000.0, "to_manual": 1.0, "requalify_s": 500.0, "times": "fixed"},
        recovery={"restart_s": 600.0, "host_selection_s": 180.0},
    )
    failures = result.counts["failures"]
    assert failures.min() > 5
    assert result.bins_s["waiting"] == pytest.approx(180 * (1 + failures) + (1000 + 3000 + 500 - 50 - 600) * failures)
    assert result.bins_s["detection"] == pytest.approx(50 * failures)
    assert result.elapsed_s == pytest.approx(100 * 3600 + 180 + (4500 + 180) * failures)


# Checkpoints that nothing interrupts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("drag", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("intervals", [7.5, 7.0, 0.5, 1.0])
def test_writes_uploads_and_verifications_to_the_second(drag, intervals):
    """The work ends the job: what it holds is not written again. An upload costs its drag times its length."""
    writes = math.ceil(intervals) - 1
    checkpoint = {"interval_s": 1000.0, "write_s": 30.0, "upload_s": 400.0, "drag": drag}
    plain = run(2, failures={"rate_per_node_day": NEVER}, work_h=intervals * 1000 / 3600, checkpoint=checkpoint)
    assert plain.bins_s["checkpoint"] == pytest.approx(writes * (30 + drag * 400))
    assert plain.elapsed_s == pytest.approx(intervals * 1000 + writes * (30 + drag * 400))
    verified = run(
        2,
        failures={"rate_per_node_day": NEVER},
        work_h=intervals * 1000 / 3600,
        checkpoint=checkpoint,
        corruption={"rate_per_node_day": NEVER, "verification_s": 20.0, "every": 2},
    )
    assert verified.bins_s["verification"] == pytest.approx(20.0 * (writes // 2))
    assert verified.elapsed_s == pytest.approx(plain.elapsed_s + 20 * (writes // 2))


@pytest.mark.parametrize("every", [1, 3])
def test_corruption_with_uploads_alone(every):
    """A pattern of m intervals T, each with an upload u at a drag d; after a corruption the first of them has none.

    Working time is longer by d u for each upload, and all of it may be struck. A first try finds itself clean with chance
    a, each further one with a0.
    """
    m, interval, write, upload, drag, check, back, rate = every, 1800.0, 60.0, 1000.0, 0.4, 90.0, 300.0, 2e-5
    result = run(
        100,
        failures={"rate_per_node_day": NEVER},
        horizon_h=1000.0 * m,
        checkpoint={"interval_s": interval, "write_s": write, "upload_s": upload, "drag": drag},
        corruption={
            "rate_per_node_day": rate * DAY / 10,
            "verification_s": check,
            "every": m,
            "restart_s": back,
        },
    )
    worked, worked_again = m * (interval + drag * upload), m * interval + (m - 1) * drag * upload
    stood = (m - 1) * write + check
    clean, clean_again = math.exp(-rate * worked), math.exp(-rate * worked_again)
    tries = (1 - clean) / clean_again
    expected = worked + stood + tries * (back + worked_again + stood) + write
    assert_mean(result.effective_training_ratio, m * interval / expected, 1e-3)
    assert_mean(result.bins_s["redone"] / result.elapsed_s, tries * m * interval / expected, 1.5e-2)
    assert_mean(result.counts["corruptions_found"] / result.elapsed_s, tries / expected, 1.5e-2)
