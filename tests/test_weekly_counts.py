"""The records by the week: what the file says, and that it is what the published records give."""

from pathlib import Path

import numpy as np
import pytest

from reliability import weekly_counts

ROOT = Path(__file__).parents[1]
LANL = ROOT.parent / "shared" / "data" / "lanl" / "systems-16-20.csv"
WEEK_S = 7 * 86_400


@pytest.mark.parametrize("name", weekly_counts.systems())
def test_a_record_is_whole_and_has_its_source(name):
    record = weekly_counts.weekly(name)
    assert record.incidents.shape == record.hours_down.shape
    assert record.incidents.min() >= 0 and record.hours_down.min() >= 0
    assert record.hours_down.max() <= 168 * record.nodes
    assert f"{{{record.source}," in (ROOT / "references.bib").read_text(encoding="utf-8")
    assert record.locator == "LA-UR-05-7318"


@pytest.mark.skipif(not LANL.exists(), reason="needs ../shared/data/lanl")
@pytest.mark.parametrize("name", weekly_counts.systems())
def test_the_weeks_are_those_of_the_published_records(name):
    import pandas as pd

    from reliability import incidents

    record, log = weekly_counts.weekly(name), incidents.read(LANL, system=name)
    first = (pd.Timestamp(record.first_day) - log.origin).total_seconds()
    start, end = (log.table[column].to_numpy(dtype=float) - first for column in ("start_s", "end_s"))
    assert 0 <= start.min() < 86_400 and log.nodes == record.nodes
    assert start.max() // WEEK_S == record.incidents.size  # the week that is not whole
    for week in range(record.incidents.size):
        a, b = week * WEEK_S, (week + 1) * WEEK_S
        assert record.incidents[week] == ((start >= a) & (start < b)).sum()
        down = np.maximum(0, np.minimum(end, b) - np.maximum(start, a)).sum() / 3600
        assert record.hours_down[week] == pytest.approx(down, abs=0.0501)


def test_another_system_is_refused():
    with pytest.raises(ValueError, match="system = '2'.*'16', '20'"):
        weekly_counts.weekly("2")
