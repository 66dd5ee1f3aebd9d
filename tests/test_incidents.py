"""The front door of the readers: which kind a file is, what is refused, how a result shows itself."""

import subprocess
import sys

import pandas as pd
import pytest

from reliability import incidents
from reliability.logs.notes import LogError

TABLE = "node,start,end,class\na,2025-01-01,2025-01-02,x\n"


def write(tmp_path, text, name="f"):
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (TABLE, "csv"),
        ("# made by hand\n\nsep=;\nnode;start;end\na;2025-01-01;\n", "csv"),
        ("JobID|State|Start|End\n1|NODE_FAIL|2025-01-01T00:00:00|2025-01-01T01:00:00\n", "slurm"),
        ("run,start_h,end_h,ended_by\na,0,1,TIMEOUT\n", "runs"),
        ("System,nodenum,Prob Started,Prob Fixed\n2,1,3/6/1997 6:00,3/6/1997 8:05\n", "lanl"),
    ],
)
def test_the_kind_is_told_from_the_file(tmp_path, text, kind):
    assert incidents.read(write(tmp_path, text)).format == kind


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("[  123.456789] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.", "xid"),
        ("Jan  3 10:00:00 host kernel: something", "xid"),
        ("2025-01-03T10:00:00+01:00 host kernel: something", "xid"),
        ('{"apiVersion": "v1", "kind": "List", "items": []}', "kubernetes"),
        ('{"jobs": []}', "slurm"),
        ('{"__REALTIME_TIMESTAMP": "1", "MESSAGE": "x"}', "xid"),
    ],
)
def test_other_kinds_are_told_as_well(line, kind):
    from reliability.logs import files, kinds

    assert kinds.kind_of(files.text_of(line + "\n")) == kind


@pytest.mark.parametrize(
    "text", ["hello\nworld\n", "a,b,c\n1,2,3\n", "step,rank,seconds\n0,0,1.0\n", "{}", "[1, 2]", "<html></html>\n"]
)
def test_a_file_of_no_known_kind_is_refused(tmp_path, text):
    with pytest.raises(LogError, match="f, line 1: found .*, expected incidents as CSV"):
        incidents.read(write(tmp_path, text))


def test_formats_and_options_that_do_not_exist(tmp_path):
    path = write(tmp_path, TABLE)
    with pytest.raises(ValueError, match="format = 'cvs': must be one of auto, csv"):
        incidents.read(path, format="cvs")
    with pytest.raises(ValueError, match="dayfirst is not an option of read_csv: .*did you mean day_first"):
        incidents.read(path, dayfirst=True)
    with pytest.raises(LogError, match="no such file|No such file"):
        incidents.read(tmp_path / "absent")
    with pytest.raises(LogError, match="a Parquet table"):
        incidents.read(path, format="parquet")


def test_how_it_shows_itself(tmp_path):
    text = 'node,start,end,class,comment\n<b>a,2025-01-01,2025-01-02,"<script>x</script>\x1b[2J",y\n'
    found = incidents.read(write(tmp_path, text))
    assert "\x1b" not in str(found)
    html = found._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "\x1b" not in html
    assert found.classes == ["<script>x</script>\x1b[2J"]
    assert all(len(line) <= 110 for line in str(found).splitlines())


def test_an_empty_table_has_the_columns():
    empty = incidents.empty_table()
    assert tuple(empty.columns) == incidents.COLUMNS
    assert empty["start_s"].dtype == float
    assert pd.api.types.is_datetime64_any_dtype(empty["start"])


def test_the_columns_are_the_same_whatever_the_source(tmp_path):
    for text in (
        TABLE,
        "run,start_h,end_h,ended_by\na,0,1,TIMEOUT\n",
        "JobID|State|Start|End\n1|NODE_FAIL|2025-01-01T00:00:00|2025-01-01T01:00:00\n",
    ):
        table = incidents.read(write(tmp_path, text)).table
        assert tuple(table.columns[: len(incidents.COLUMNS)]) == incidents.COLUMNS


def test_pandas_is_loaded_when_first_needed():
    code = "import sys, reliability.incidents, reliability.logs.slurm, reliability.logs.lanl; sys.exit('pandas' in sys.modules or 'pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
