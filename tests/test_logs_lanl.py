"""LANL's release: the real one where it lies beside, and a small one of its shape."""

from pathlib import Path

import numpy as np
import pytest

from reliability import incidents
from reliability.logs.notes import LogError

REAL = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "lanl" / "systems-16-20.csv"
HEADER = "System,nodes,nodenum,nodenumz,Prob Started,Prob Fixed,Down Time,Facilities,Hardware,Human Error,Network,Undetermined,Software\n"
SMALL = (
    HEADER
    + "2,49,1,0,3/6/1997 6:00,3/6/1997 8:05,125,,CPU,,,,\n"
    + "2,49,1,0,3/6/1997 7:00,3/6/1997 9:00,120,,,,,,OS\n"
    + "2,49,1,0,3/6/1997 6:00,3/6/1997 8:05,125,,CPU,,,,\n"
    + "3,8,1,0,3/7/1997 6:00,,,,,,,,\n"
    + "3,8,2,1,3/8/1997 6:00,3/8/1997 7:00,999,Power Outage,,,,,\n"
)


def test_a_small_release(tmp_path):
    path = tmp_path / "release.csv"
    path.write_text(SMALL)
    found = incidents.read(path)
    assert found.format == "lanl"
    assert found.table[["system", "node", "cls"]].values.tolist() == [
        ["2", "0", "Hardware"], ["3", "0", "unknown"], ["3", "1", "Facilities"]
    ]  # fmt: skip
    assert found.table["detail"].tolist() == ["CPU", "", "Power Outage"]
    assert str(found.table["start"].iloc[0]) == "1997-03-06 06:00:00"
    assert found.table["open"].tolist() == [False, True, False]
    assert found.nodes_by_system == {"2": 49, "3": 8}
    assert [(name, part.nodes, part.rows) for name, part in found.by_system()] == [("2", 49, 3), ("3", 8, 2)]
    one = incidents.read(path, system=3, nodes=9)
    assert (len(one), one.nodes, one.rows) == (2, 9, 2)
    notes = {n.reason: n.lines for n in found.notes}
    assert notes["'Down Time' contradicts start and end, which are used"] == (6,)
    assert notes["overlapping outages of one node, counted as one"] == (3,)
    assert notes["of those merged, a class other than the first row's"] == (3,)


def test_a_release_without_a_column_is_refused(tmp_path):
    path = tmp_path / "release.csv"
    path.write_text(SMALL.replace("Prob Fixed", "Fixed at last"))
    with pytest.raises(LogError, match="LANL's column 'prob_fixed'"):
        incidents.read(path)
    path.write_text(SMALL)
    with pytest.raises(LogError, match="system '9' among 2, 3"):
        incidents.read(path, system=9)


@pytest.mark.skipif(not REAL.exists(), reason="../shared/data/lanl is not here")
def test_system_20_of_the_real_release():
    found = incidents.read(REAL, system=20)
    assert (found.rows, found.nodes) == (2478, 512)
    counts = found.events["why"].value_counts().to_dict()
    assert counts == {"overlaps an outage of its node": 12, "exact duplicate": 2}
    assert (len(found), found.overlaps, found.duplicates) == (2478 - 14, 14, 2)
    starts = np.concatenate([found.table["start_s"], found.events["start_s"]])
    assert np.ptp(starts) / 2477 / 3600 == pytest.approx(13.17, abs=0.005)
    repair_min = (found.table["end_s"] - found.table["start_s"]).to_numpy() / 60
    assert np.isfinite(repair_min).all()
    # The one row that contradicts its minutes down spans the end of summer time, and is of system 16.
    both = dict(incidents.read(REAL, zone="America/Denver").by_system())
    assert len(both["20"]) == len(found)
    assert both["16"].rows == 2680
