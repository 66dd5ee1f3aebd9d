"""Cluster files: each refused in one line with file, line, key, value and what is allowed; each key documented."""

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliability import cluster, fleet_document, presets
from reliability.errors import BadInput, ClusterError
from reliability.quantities import Quantity

ROOT = Path(__file__).parents[1]
# The others are fleets, which `simulate` reads.
EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*.toml")) if "[fleet]" not in path.read_text()]
GOOD = """\
name = "a cluster"

[cluster]
gpus = 1024
gpus_per_node = 8

[failures]
rate_per_1000_node_days = { value = 6.5, low = 5, high = 8.5 }

[checkpoint]
write_s = 30

[recovery]
detection_s = 20
cold_restart_s = 388.2

[target]
ettr = 0.9
horizon_days = 30
"""


def refused(old, new):
    with pytest.raises(ClusterError) as caught:
        cluster.parse(GOOD.replace(old, new), "c.toml")
    said = str(caught.value)
    assert "\n" not in said and said.startswith("c.toml")
    return said


def test_a_good_file():
    read = cluster.parse(GOOD)
    assert read.nodes == 128
    assert read.failures.rate_per_1000_node_days == Quantity(6.5, 5.0, 8.5)
    assert read.recovery.cold_restart_s == Quantity(388.2)
    assert read.improvements.rate_factor is None
    assert read.path("log.csv") == Path("log.csv")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("gpus = 1024", "gpuz = 1024", ["line 4", "cluster.gpuz", "Did you mean gpus?"]),
        ("[target]", "[tarjet]", ["tarjet", "Did you mean target?"]),
        ("detection_s = 20", "detection_s = { value = 20, lo = 3 }", ["line 14", "'lo'", "value, low and high"]),
        ("gpus = 1024", "gpus = -8", ["line 4", "cluster.gpus = -8", "from 1 to 10,000,000"]),
        ("gpus = 1024", "gpus = 1024.5", ["cluster.gpus = 1024.5", "whole number"]),
        ("gpus = 1024", "gpus = true", ["cluster.gpus = true", "whole number"]),
        ("gpus = 1024", "gpus = '1024'", ["cluster.gpus = '1024'", "whole number"]),
        ("gpus = 1024", "gpus = 1023", ["line 4", "multiple of cluster.gpus_per_node = 8"]),
        ("gpus = 1024\n", "", ["cluster.gpus", "missing"]),
        ("[target]\nettr = 0.9\nhorizon_days = 30\n", "", ["[target]", "missing"]),
        ("write_s = 30", "write_s = nan", ["checkpoint.write_s", "not a finite number", "(time that a checkpoint stops the job, s)"]),
        ("write_s = 30", "write_s = inf", ["not a finite number"]),
        ("write_s = 30", "write_s = 0", ["checkpoint.write_s = 0", "above 0"]),
        ("write_s = 30", "write_s = 30\nparameters_b = 7", ["line 10", "either write_s, or all of"]),
        ("write_s = 30", "parameters_b = 7\nbytes_per_parameter = 14", ["either write_s, or all of"]),
        ("write_s = 30", "write_s = 1e-300", ["checkpoint.write_s = 1e-300: must be at least 1e-100 (time that"]),
        ("low = 5,", "low = 1e-300,", ["failures.rate_per_1000_node_days = ", "must be at least 1e-100"]),
        ("ettr = 0.9", "ettr = 1e-300", ["target.ettr = 1e-300: must be at least 1e-100"]),
        ("gpus = 1024", "gpus = -9223372036854775808", ["line 4", "cluster.gpus = -9223372036854775808", "from 1 to"]),
        ("gpus = 1024", "gpus = -9223372036854775809", ["cluster.gpus: a whole number of 64 bits; TOML has those from -2^63 to 2^63 - 1"]),
        ("low = 5,", "low = 7,", ["low <= value <= high"]),
        (", high = 8.5", "", ["both low and high or neither"]),
        ("ettr = 0.9", "ettr = 1.1", ["target.ettr = 1.1", "above 0 and at most 1"]),
        ("ettr = 0.9", "ettr 0.9", ["not TOML", "line 18"]),
        ("ettr = 0.9", "ettr = 0.9\nettr = 0.8", ["not TOML"]),
        ("gpus = 1024", "gpus = 1,024", ["not TOML", "line 4", "write 1024 or 1_024"]),
        ("write_s = 30", "write_s = 30,5", ["not TOML", "write 30.5"]),
        ("write_s = 30", "write_s = 30\ninterval_s = 600", ["Did you mean interval_min?", "is in min, not s"]),
        ("rate_per_1000_node_days = { value = 6.5, low = 5, high = 8.5 }", "", ["failures", "exactly one of", "not none"]),
        ("[checkpoint]", "preset = 'rsc1'\n[checkpoint]", ["exactly one of", "rate_per_1000_node_days and preset"]),
        ("[checkpoint]", "shares = { gpu = -1 }\n[checkpoint]", ["failures.shares", "number from 0"]),
        ("[checkpoint]", "shares = { gpu = 0 }\n[checkpoint]", ["all 0"]),
        ("cold_restart_s = 388.2", "cold_restart_s = 388.2\nstandby_nodes = 4", ["needs standby_restart_s"]),
        ("cold_restart_s = 388.2", "cold_restart_s = 388.2\nnone_left = 'stop'", ["requeue or wait"]),
        ("cold_restart_s = 388.2", "cold_restart_s = 388.2\nnone_left = 'wait'\nreplacement_min = 3", ["replacement_min goes with"]),
        ("detection_s = 20", "detection_s = 20\ndetection_by_class_s = { gpu = 'x' }", ["detection_by_class_s", "gpu"]),
        ("[target]", "[stragglers]\nstep_times = 'a'\nslowdown = 0.1\n[target]", ["step_times or slowdown"]),
        ("[target]", "[improvements]\nstandby_nodes = 3\n[target]", ["needs recovery.standby_restart_s"]),
    ],
)  # fmt: skip
def test_what_is_refused_names_file_line_key_value_and_what_is_allowed(old, new, words):
    said = refused(old, new)
    for word in words:
        assert word in said


LOG = "rate_per_1000_node_days = { value = 6.5, low = 5, high = 8.5 }"


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("log = { path = 'a.csv', nods = 3 }", ["failures.log.nods", "Did you mean nodes?"]),
        ("log = { path = 'a.csv', format = 'cvs' }", ["failures.log.format = 'cvs'", "csv"]),
        ("log = { path = 'a.csv', nodes = 0 }", ["failures.log.nodes = 0"]),
        ("log = { path = '' }", ["failures.log.path"]),
        ("log = 'a.csv'", ["failures.log = 'a.csv'", "table"]),
        ("log = { path = 'a.csv', observed_from = 3 }", ["observed_from", "a date or a time"]),
        ("log = { path = 'a.csv', zone = 'Europe/Berlin' }", ['write options = { zone = "Europe/Berlin" }']),
        ("log = { path = 'a.csv', day_first = true }", ["write options = { day_first = true }"]),
        ("preset = 'lama3'", ["did you mean llama3?", "rsc1"]),
    ],
)
def test_a_log_that_is_refused(log, words):
    said = refused(LOG, log)
    for word in words:
        assert word in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[fleet]\njob_nodes = 8", "file.toml: has a [fleet] table, which is for `simulate`"),
        ('cluster = "a.toml"\n[grid]\nx = [1]', "file.toml: is a grid file; run it with: python -m reliability sweep"),
    ],
)
def test_a_settings_file_of_another_kind(text, said, tmp_path):
    file = tmp_path / "file.toml"
    file.write_text(text)
    with pytest.raises(ClusterError) as error:
        cluster.read(file)
    assert said in str(error.value)
    if "grid" in text:
        with pytest.raises(ClusterError, match=re.escape(said)):
            fleet_document.read(file)


def test_files_that_cannot_be_read(tmp_path):
    for name, content, word in [
        ("none.toml", None, "No such file"),
        ("binary.toml", b"\xff\xfe\x00", "not UTF-8"),
        ("log.toml", b"x" * 1_000_001, "Is it a log?"),
    ]:
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(ClusterError, match=re.escape(word)):
            cluster.read(tmp_path / name)
    with pytest.raises(ClusterError, match="Is a directory|denied|cannot be read"):
        cluster.read(tmp_path)
    with pytest.raises(ClusterError, match="cannot be read"):
        cluster.read("a\0b")
    with pytest.raises(ClusterError, match="more than 1,000,000 bytes"):  # and has no end
        cluster.read("/dev/zero")
    assert issubclass(ClusterError, BadInput)


def test_a_cluster_file_that_is_not_there_has_a_hint(tmp_path):
    (tmp_path / "cluster.toml").write_text(GOOD)
    for name, hint in [("clutser.toml", "did you mean cluster.toml?"), ("llama3", "example:llama3"), ("llama3.toml", "example:llama3")]:  # fmt: skip
        with pytest.raises(ClusterError, match=re.escape(hint)):
            cluster.read(tmp_path / name)
    with pytest.raises(ClusterError) as caught:
        cluster.read(tmp_path / "elsewhere" / "x.toml")
    assert "did you mean" not in str(caught.value)


def test_options_of_a_log_are_those_of_its_readers():
    import inspect

    from reliability import incidents

    known = set()
    for name in incidents.READERS:
        reader = incidents._reader(name)
        known |= {
            p.name for p in list(inspect.signature(reader).parameters.values())[1:] if p.kind is not p.VAR_KEYWORD
        }
    assert set(cluster.fields.READER_OPTIONS) <= known
    direct = set(cluster.fields.LogFile.model_fields)
    assert known <= direct | set(cluster.fields.READER_OPTIONS)


def test_a_byte_order_mark_and_other_line_ends(tmp_path):
    path = tmp_path / "c.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert cluster.read(path).nodes == 128
    assert cluster.read(path).path("log.csv") == tmp_path / "log.csv"


def test_examples_by_name():
    assert cluster.read("example:llama3").cluster.gpus == 16384
    with pytest.raises(ClusterError, match="Did you mean llama3"):
        cluster.read("example:lama3")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_read(path):
    assert cluster.read(path).nodes > 0


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.data())
def test_a_file_that_was_cut_doubled_or_overwritten_is_read_or_refused_in_a_line(data):
    text = GOOD
    for _ in range(data.draw(st.integers(1, 3))):
        at, end = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
        text = (
            text[:at]
            + data.draw(
                st.sampled_from(["", text[at:end] * 2, "\0", "\x1b[2J", "=", "[", "{", "9" * 400, "é", "\n", '"'])
                | st.text(max_size=5)
            )
            + text[end:]
        )
    try:
        cluster.parse(text, "c.toml")
    except ClusterError as error:
        assert str(error).isprintable()


def test_the_formats_are_the_readers():
    from reliability import cluster_fields, incidents
    from reliability.logs.training_formats import FORMATS

    assert set(cluster_fields.FORMATS) == set(incidents.FORMATS)
    assert set(cluster_fields.TRAINING_FORMATS) == {"auto", "table", *FORMATS}


def test_every_key_has_its_meaning_and_what_is_allowed():
    every = cluster.keys()
    assert len(every) > 45
    for table, key, field in every:
        assert field.description, (table, key)
        assert field.json_schema_extra["allowed"], (table, key)


def test_every_key_is_on_the_page_of_the_cluster_file():
    page = (ROOT / "pages/plan_file.md").read_text(encoding="utf-8")
    assert "cluster.keys()" in page  # printed by the page itself
    blocks = re.findall(r"(?s)```toml\n(.*?)```", page)
    assert blocks
    for block in blocks:
        tomllib.loads(block)


@pytest.mark.parametrize("name", presets.NAMES)
def test_a_preset_has_a_plausible_rate_and_its_classes(name):
    found = presets.preset(name)
    assert 1 < 24_000 * found.rate_per_node_h < 30
    assert (found.events is None) == (found.node_hours is None)
    assert sum(found.shares.values()) > 0
    if found.events is not None:
        assert found.rate_per_node_h == pytest.approx(found.events / found.node_hours)


def test_an_unknown_preset():
    with pytest.raises(ValueError, match="must be one of llama3"):
        presets.preset("lama")
