"""Rates of the small cases with their right answers, and of others of the same kinds."""

import json
from pathlib import Path

import pytest

from reliability import calibrate, incidents
from reliability.fitted_rates import rate_of

CASES = Path(__file__).parents[2] / "shared" / "cases"
RUNS = """run,start_h,end_h,ended_by
r1,0,24,TIMEOUT
r2,24,96,COMPLETED
r3,100,200,NODE_FAIL
r4,210,300,NODE_FAIL
r5,300,414,RUNNING
"""


def case(name):
    folder = CASES / name
    if not folder.exists():
        pytest.skip(f"needs ../shared/cases/{name}")
    return folder, json.loads((folder / "expect.json").read_text(encoding="utf-8"))["expected"]


def test_the_end_of_an_allocation_is_no_failure():
    folder, right = case("b01_end_of_allocation_is_not_a_failure")
    fit = calibrate.fit(incidents.read(folder / "input.csv"))
    assert fit.incidents == right["failures"]
    assert fit.mtbf_h == pytest.approx((right["mtbf_h"], *right["mtbf_95ci_h"]), rel=0.01)


def test_no_failure_observed_gives_a_bound():
    folder, right = case("b02_zero_failures_observed")
    given = json.loads((folder / "input.json").read_text(encoding="utf-8"))
    rate = rate_of(given["failures"], given["nodes"] * given["days"] * 24.0)
    assert rate.node_h == right["exposure_node_h"]
    assert rate.node_mtbf_h == (None, pytest.approx(right["mtbf_lower_bound_95_one_sided_node_h"], rel=0.001), None)
    assert rate.job_mtbf_h(60)[1] == pytest.approx(right["job_mtbf_lower_bound_h_60_nodes"], rel=0.001)


def test_runs_of_our_own(tmp_path):
    file = tmp_path / "runs.csv"
    file.write_text(RUNS, encoding="utf-8")
    fit = calibrate.fit(incidents.read(file))
    assert fit.mtbf_h[0] == pytest.approx((24 + 72 + 100 + 90 + 114) / 2)
    file.write_text(RUNS.replace("NODE_FAIL", "TIMEOUT"), encoding="utf-8")
    fit = calibrate.fit(incidents.read(file))
    assert fit.mtbf_h[0] is None
    assert fit.mtbf_h[1] == pytest.approx(400 / 2.9957, rel=1e-3)
