"""ETTR of job records: by hand, by a slow loop, and its forecasts on made-up records."""

import numpy as np
import pytest

from reliability.ettr_backtest import ettr_backtest

pytestmark = pytest.mark.filterwarnings("error")
DAY = 86_400.0


def records(rng, days=300, jobs=12, run_days=2.0, wait_h=3.0):
    rows = {"job": [], "start_s": [], "seconds": [], "nodes": []}
    for k in range(jobs):
        t = 0.0
        while t < days * DAY:
            run = rng.exponential(run_days) * DAY
            for name, value in zip(rows, (f"j{k}", t, min(run, days * DAY - t), 8), strict=True):
                rows[name].append(value)
            t += run + rng.exponential(wait_h) * 3600
    return {name: np.array(column) for name, column in rows.items()}


def test_measured_by_hand():
    # Job c begins long after b ended: another job's end is no interruption of it.
    jobs = {
        "job": list("abaac"),
        "start_s": [0, 0, 200, 500, 900],
        "seconds": [100, 50, 100, 100, 50],
        "nodes": [2, 4, 2, 2, 1],
    }
    found = ettr_backtest(jobs)
    assert found.measured == pytest.approx((600 + 200 + 50) / (600 + 200 + 50 + 2 * (100 + 200)))
    assert found.interruptions == 2
    assert [w.scored for w in found.windows] == [0, 0]
    assert found.windows[0].coverage is None


def test_windows_against_a_slow_loop_and_their_coverage():
    jobs, inside, scored = records(np.random.default_rng(1)), 0, 0
    found = ettr_backtest(jobs)
    week = found.windows[0]
    first = 0.7 * 300 * DAY
    for i, seen in enumerate(week.seen):
        a, b, run, lost = first + 7 * i * DAY, first + 7 * (i + 1) * DAY, 0.0, 0.0
        for job in set(jobs["job"]):
            mine = jobs["job"] == job
            starts, ends = jobs["start_s"][mine], (jobs["start_s"] + jobs["seconds"])[mine]
            run += np.clip(np.minimum(ends, b) - np.maximum(starts, a), 0, None).sum()
            lost += np.clip(np.minimum(starts[1:], b) - np.maximum(ends[:-1], a), 0, None).sum()
        assert seen == pytest.approx(run / (run + lost), abs=1e-9)
    for seed in range(2, 6):
        w = ettr_backtest(records(np.random.default_rng(seed))).windows[0]
        inside, scored = inside + w.coverage * w.scored, scored + w.scored
    assert 0.8 < inside / scored <= 1
    assert week.mean_predicted == pytest.approx(week.mean_measured, abs=0.02)
    assert found.measured == pytest.approx(48 / 51, abs=0.02)


def test_unknown_nodes_count_as_one_and_no_attempt_gives_none():
    jobs = {"job": ["a", "a"], "start_s": [0, 200], "seconds": [100, 100], "nodes": [np.nan, 2]}
    found = ettr_backtest(jobs)
    assert found.measured == pytest.approx(2 / 3)
    assert any("one node" in note for note in found.notes)
    assert ettr_backtest({"job": [], "start_s": [], "seconds": [], "nodes": []}).measured is None
    with pytest.raises(ValueError, match="held_out = 1.75"):
        ettr_backtest(jobs, held_out=1.75)
