"""Published results that the fleet model is held against."""

from pathlib import Path

import pytest

from reliability import anchors, fleet_config, fleet_document, job_anchors, policy_anchors, scenarios

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def found():
    return {anchor.name: anchor for anchor in [*policy_anchors.anchors(), *job_anchors.anchors()]}


def test_the_base_case_is_that_of_the_examples():
    example = fleet_document.read(Path(__file__).parents[1] / "examples" / "airesim-base.toml")
    assert fleet_config.build(policy_anchors.airesim_settings()) == example


def test_each_has_the_status_that_its_number_says(found):
    for anchor in found.values():
        anchors.check(anchor)


def test_what_is_emergent(found):
    emergent = {name for name, anchor in found.items() if anchor.status == "emergent"}
    assert {name for name in found if name.startswith("airesim_")} <= emergent
    assert {
        "economics_standbys_8",
        "economics_overlapped_32",
        "economics_elastic",
        "economics_burst_elastic",
    } <= emergent
    assert {"network_ettr", "network_mttf_16384", "network_mttf_131072"} <= emergent
    # Their own inputs are not published, or cannot be told apart here.
    assert {found[name].status for name in ("llama3", "byterobust", "economics_manual")} == {"declined"}


def test_the_pages_show_each_of_them_once(found):
    held = scenarios.anchors()
    parts = [*policy_anchors.anchors(), *job_anchors.anchors()]
    assert [*held["policies"], *held["budget"]] == parts
    assert len(parts) == len(found)
    assert {anchor.source for anchor in held["policies"]} == {"airesim", "reliability_economics"}
    assert {anchor.status for anchor in parts} == set(anchors.STATUSES)
    shown = [anchor for page in held.values() for anchor in page]
    assert len(set(shown)) == len(shown)
