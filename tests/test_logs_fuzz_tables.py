"""Malformed tables and job records: each is read or refused, and nothing else happens."""

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from reliability import incidents
from reliability.logs import files, incident_table, kinds, lanl, run_table, slurm
from reliability.logs.notes import LogError

CSV = "node;start;end;class;hours lost;comment\n" + "".join(
    f"n{i % 4};{i:02d}/03/2025 08:{i:02d};{i:02d}/03/2025 1{i % 10}:00;{'GPU' if i % 2 else 'net'};{i},50;note {i}\n"
    for i in range(1, 25)
)
ISO = "start,node,end\n" + "".join(
    f"2025-03-{i:02d}T08:00:00,m[{i % 3}-3],2025-03-{i:02d}T09:{i:02d}:00\n" for i in range(1, 25)
)
SACCT = "JobID|JobName|State|Start|End|Elapsed|NNodes|NodeList\n" + "".join(
    f"{i}{'.batch' if i % 5 == 0 else ''}|j|{('COMPLETED', 'NODE_FAIL', 'RUNNING')[i % 3]}|2025-03-{i:02d}T08:00:00"
    f"|2025-03-{i:02d}T10:00:00|02:00:00|2|g[1-2]\n"
    for i in range(1, 25)
)
RELEASE = "System,nodes,nodenumz,Prob Started,Prob Fixed,Down Time,Hardware\n" + "".join(
    f"2,49,{i % 5},3/{i}/1997 6:00,3/{i}/1997 8:05,125,CPU\n" for i in range(1, 25)
)
RUNS = "run,start_h,end_h,ended_by\n" + "".join(
    f"r{i},{10 * i},{10 * i + 7},{('TIMEOUT', 'NODE_FAIL')[i % 2]}\n" for i in range(20)
)
SOURCES = {"csv": CSV, "iso": ISO, "slurm": SACCT, "lanl": RELEASE, "runs": RUNS}


def read(raw):
    """What the front door does, of bytes in memory."""
    text = files.text_of(raw, "f")
    reader = {
        "csv": incident_table.read_csv,
        "slurm": slurm.read_slurm,
        "lanl": lanl.read_lanl,
        "runs": run_table.read_runs,
    }.get(kinds.kind_of(text))
    return reader(text) if reader else None


def hold(found, raw):
    """What is true of whatever was read."""
    table = found.table
    start, end = table["start_s"].to_numpy(), table["end_s"].to_numpy()
    assert np.isfinite(start).all()
    assert (np.diff(start) >= 0).all()
    assert (np.isnan(end) | (end >= start)).all()
    assert np.isnan(end[table["open"].to_numpy()]).all()
    assert table["line"].between(1, raw.count(b"\n") + raw.count(b"\r") + 1).all()
    assert tuple(table.columns[: len(incidents.COLUMNS)]) == incidents.COLUMNS
    assert "\x1b" not in str(found)
    found._repr_html_()
    if found.jobs is not None:
        seconds = found.jobs["seconds"].to_numpy()
        assert (np.isnan(seconds) | (seconds >= 0))[found.jobs["started"].to_numpy()].all()
        assert found.run_hours >= 0


def tried(raw):
    try:
        found = read(raw)
    except LogError as error:
        assert str(error).isprintable()
        return None
    if found is not None:
        hold(found, raw)
    return found


def mutated(text, dice):
    """A text cut, doubled, shuffled, with control characters, with other separators or in another encoding."""
    lines = text.split("\n")
    for _ in range(dice.randint(1, 4)):
        i = dice.randrange(len(lines))
        line = lines[i]
        at = dice.randrange(len(line) + 1)
        how = dice.randrange(12)
        if how == 0:
            lines[i] = line[:at]
        elif how == 1:
            lines.insert(i, line)
        elif how == 2:
            head, rest = lines[0], lines[1:]
            dice.shuffle(rest)
            lines = [head, *rest]
        elif how == 3:
            lines[i] = line[:at] + dice.choice("\x00\x1b\x7f\t\r\x0b\x85\u2028\ufeff\"'\\;,|[]\U0001f600") + line[at:]
        elif how == 4:
            lines = lines[: i + 1]
            lines[-1] = line[:at]
        elif how == 5:
            lines[i] = line[:at] + "".join(lines[(i + 1) % len(lines)])
        elif how == 6:
            lines[i] = line.replace(dice.choice(";,|"), dice.choice(";,|\t"))
        elif how == 7:
            lines[i] = line.replace(dice.choice("0123456789"), dice.choice("0123456789x-"), 1)
        elif how == 8:
            lines[i] = ""
        elif how == 9:
            lines = lines[1:] or [""]
        elif how == 10:
            lines[i] = line[::-1]
        else:
            lines[i] = line[:at] + "9" * dice.choice([5, 20, 400]) + line[at:]
    text = "\n".join(lines)
    encoding = dice.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "utf-32"])
    return text.encode(encoding, "replace")


@pytest.mark.parametrize("kind", SOURCES)
def test_mutations_of_real_lines(kind):
    dice = random.Random(f"seven {kind}")
    read_at_all = sum(tried(mutated(SOURCES[kind], dice)) is not None for _ in range(4))
    assert read_at_all > 0


@pytest.mark.parametrize("kind", SOURCES)
def test_rows_that_are_doubled_or_shuffled_change_no_number(kind):
    head, *rows = SOURCES[kind].strip().split("\n")
    dice = random.Random(7)
    wanted = read(SOURCES[kind].encode())
    jumbled = rows + rows[3:9]
    dice.shuffle(jumbled)
    found = read("\n".join([head, *jumbled, ""]).encode())
    assert len(found) == len(wanted)
    assert found.table["start_s"].tolist() == wanted.table["start_s"].tolist()
    assert found.node_hours == wanted.node_hours
    assert found.down_hours() == pytest.approx(wanted.down_hours())


@pytest.mark.parametrize("kind", SOURCES)
def test_a_file_cut_anywhere_gives_no_number_that_the_whole_does_not(kind):
    known = set(_told(read(SOURCES[kind].encode())))
    raw = SOURCES[kind].encode()
    for cut in sorted(random.Random(3).sample(range(len(raw) // 2, len(raw)), 5)):
        try:
            found = read(raw[:cut])
        except LogError:
            continue
        assert set(_told(found)) <= known or any("cut" in n.reason for n in found.notes)


def _told(found):
    """Node, start and end of each incident, as texts."""
    table = found.table if found.origin is not None else found.table.drop(columns=["start", "end"])
    times = ["start", "end"] if found.origin is not None else ["start_s", "end_s"]
    return zip(table["node"], table[times[0]].astype(str), table[times[1]].astype(str), strict=True)


@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=200))
@example(b"\xff\xfe")
@example(b"\x1f\x8b\x08")
@example(b"node,start\n")
@example(b'node,start\n"')
@example(b"JobID|State|Start|End\n")
@example(b"node,start,end\n,,\n")
@example(b"start;end\n;\n")
@example(b"node,start,start,end,end\na,2025-01-01,2025-01-02,2025-01-03,2025-01-04\n")
def test_any_bytes(raw):
    tried(raw)


FIELDS = st.sampled_from(
    ["", "a", "n[1-2]", "n[2-1]", "n[1", "2025-01-01", "2025-01-01 10:00", "2025-01-02T00:00:00Z", "03/04/2025", "25/04/2025", "None",
     "1762156800", "1e400", "-5", "1,5", "1.000", "x" * 300, '"', '""', "00:10:00", "\x1b[31m", "NODE_FAIL", "\u0663", "9" * 30]
)  # fmt: skip
HEADERS = st.sampled_from(
    ["node,start,end,class", "start_h,end_h,node", "host;begin;downtime_min;cause", "node|start|duration", "run,start,end,ended_by",
     "JobID|State|Start|End", "JobID|State|Start|Elapsed|NNodes|NodeList", "system,node,start,end"]
)  # fmt: skip


@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(HEADERS, st.lists(st.lists(FIELDS, min_size=1, max_size=6), max_size=6), st.booleans())
def test_any_fields(header, rows, newline):
    separator = next(c for c in ";|," if c in header)
    text = "\n".join([header, *(separator.join(row) for row in rows)]) + "\n" * newline
    tried(text.encode())
