"""The command line: what it prints, what it refuses, and how it ends."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter

import interruptions
import nbformat
import pytest
from nbformat.v4 import new_code_cell

from reliability import __main__ as cli
from reliability import __version__, kernel_runs, published, report, scenarios
from reliability.arguments import check, read
from reliability.errors import BadInput
from reliability.page import RESULTS_MIME

PROGRAM = [sys.executable, "-m", "reliability"]
LIMIT_S = 180


def reliability(*arguments, cwd=None, **environment):
    """Run the program as a person does."""
    return subprocess.run(
        [*PROGRAM, *arguments],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


# Help and version -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [[], ["run"], ["demo"]])
def test_help_fits_80_columns_and_needs_no_numpy(command):
    code = "import sys; from reliability import __main__ as c\ntry: c.main(sys.argv[1:])\nfinally: print('numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, *command, "--help"],
        env=os.environ | {"COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=True,
    )
    *help_lines, numpy = done.stdout.splitlines()
    assert numpy == "False"
    assert max(map(len, help_lines)) <= 80
    assert "usage" in help_lines[0]


def test_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"training-reliability {__version__}\n"


# Demo -----------------------------------------------------------------------------------------------------------------


def test_demo_prints_every_scenario_and_the_same_each_time():
    first, second = (reliability("demo", PYTHONHASHSEED=seed) for seed in "12")
    assert first.returncode == 0
    assert first.stderr == ""
    assert first.stdout == second.stdout
    assert re.findall(r"^## Scenario (\d)", first.stdout, re.MULTILINE) == list("12345")
    sections = re.split(r"^## Scenario \d: .*$", first.stdout, flags=re.MULTILINE)[1:]
    for page, section in zip(scenarios.PUBLISHED, sections, strict=True):
        said = section.strip().rpartition("\n\n")[0]  # the last paragraph, the card, counts the figures and is none
        wanted = Counter(figure.text for figure in published.figures(page))
        assert {text: n for text, n in wanted.items() if times(text, said) < n} == {}, page


def times(text, said):
    """Count how often a figure stands in a text, not as a part of a longer number or word."""
    return len(re.findall(rf"(?<![\w.,+-]){re.escape(text)}(?![\w%]|[.,-]\d)", said))


def test_a_figure_inside_another_one_is_not_that_figure():
    assert times("0", "0, 10 and 0.5, 1,024, 20%, x0, -0, 0-1; **0**") == 2
    assert times("2.70", "12.70, 2.701, +2.70, 2.70%, 2.70.") == 1
    assert times("16.7%", "16.7%, 116.7% and 16.7 %") == 1
    assert times("[7]", "**[7]**: [7, 9] or [17]") == 1


@pytest.mark.parametrize("number", range(1, 6))
def test_demo_of_one_scenario(capsys, number):
    assert cli.main(["demo", "--scenario", str(number)]) == 0
    assert re.findall(r"^## Scenario (\d)", capsys.readouterr().out, re.MULTILINE) == [str(number)]


@pytest.mark.parametrize("number", ["0", "6", "one", "1.5"])
def test_demo_of_no_scenario(capsys, number):
    with pytest.raises(SystemExit, match="2"):
        cli.main(["demo", "--scenario", number])
    assert number in capsys.readouterr().err


@pytest.mark.parametrize("command", [["demo"], ["--help"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_has_had_enough(command, unbuffered):
    end, start = os.pipe()
    os.close(end)  # nobody reads
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(
        [*PROGRAM, *command], stdout=start, stderr=subprocess.PIPE, env=environment, timeout=LIMIT_S, check=False
    )
    os.close(start)
    assert done.stderr == b""
    assert done.returncode == 0


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_output_that_cannot_be_written(unbuffered):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*PROGRAM, "demo"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            timeout=LIMIT_S,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, b"error: No space left on device\n")


def test_outputs_that_are_closed():
    """As by a shell's `>&-`: nothing is written, least of all into a file that has got the number of the output."""
    shell = 'exec "$@" >&- 2>&-'
    for command, status in (("--scenario", "1"), 0), (("--scenario", "9"), 2), ((), 0):
        done = subprocess.run(["sh", "-c", shell, "sh", *PROGRAM, "demo", *command], timeout=LIMIT_S, check=False)
        assert done.returncode == status


# What is refused ------------------------------------------------------------------------------------------------------

REFUSED = [
    (["nowhere"], ["nowhere", *scenarios.PAGES]),
    (["fleet_rport"], ["Did you mean fleet_report?"]),
    (["fleet_report", "-p", "fleet_file", "example:llama3x"], ["example:llama3x: no such example"]),
    (["availabilty"], ["Did you mean availability?"]),
    (["straggler", "-p", "sead", "1"], ["'sead'", "Did you mean seed?", "slowdown"]),
    (["availability", "-p", "cold_mttr_min", "50h"], ["cold_mttr_min", "'50h'", "a number", "(min)"]),
    (["availability", "-p", "cold_mttr_min", "nan"], ["cold_mttr_min", "'nan'", "a number"]),
    (["availability", "-p", "cold_mttr_min", "inf"], ["cold_mttr_min", "'inf'", "a number"]),
    (["availability", "-p", "cold_mttr_min", "1e400"], ["cold_mttr_min", "'1e400'", "finite"]),
    (["availability", "-p", "cold_mttr_min", "True"], ["cold_mttr_min", "'True'", "a number"]),
    (["availability", "-p", "cold_mttr_min", ""], ["cold_mttr_min", "''", "a number"]),
    (["availability", "-p", "cold_mttr_min", "-5"], ["cold_mttr_min", "-5", "greater than 0"]),
    (["availability", "-p", "gpus_per_node", "8.0"], ["gpus_per_node", "'8.0'", "a whole number"]),
    (["availability", "-p", "gpus_per_node", "1e3"], ["gpus_per_node", "'1e3'", "a whole number"]),
    (["availability", "-p", "gpus_per_node", "0"], ["gpus_per_node", "0", "greater than or equal to 1"]),
    (["availability", "-p", "sizes", "8,sixteen"], ["sizes", "'8,sixteen'", "8,16,32"]),
    (["availability", "-p", "sizes", ""], ["sizes", "[]", "at least 1"]),
    (["recovery", "-p", "recorded_faults", "gpu"], ["recorded_faults", "'gpu'", "gpu=13,network=1"]),
    (["recovery", "-p", "recorded_faults", "gpu=1,gpu=2"], ["recorded_faults", "once"]),
    (["recovery", "-p", "recorded_faults", "gpu=1"], ["recorded_faults", "network"]),
    (["recovery", "-p", "mix_gpu", "0.9"], ["mix_gpu", "must sum to 1"]),
    (["sdc", "-p", "float_format", "float8"], ["float8", "float64", "bfloat16"]),
    (["straggler", "-p", "seed", "1", "-p", "seed", "2"], ["seed", "twice"]),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED, ids=[" ".join(case[0]) for case in REFUSED])
def test_what_is_refused_costs_one_line_and_leaves_nothing(capsys, tmp_path, arguments, words):
    out = tmp_path / "deep" / "out"
    assert cli.main(["run", *arguments, "--out", str(out)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    for word in words:
        assert word in shown.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["run", "availability"], ["plan", "example:llama3"], ["sweep", "grid.toml"]])
def test_a_folder_without_a_name_is_not_where_one_stands(command, capsys):
    with pytest.raises(SystemExit, match="2"):
        cli.main([*command, "--out", ""])
    assert "--out: must be a folder, and is empty" in capsys.readouterr().err


def test_a_folder_that_is_a_file(capsys, tmp_path):
    (tmp_path / "file").write_text("kept")
    assert cli.main(["run", "availability", "--out", str(tmp_path / "file" / "below")]) == 2
    assert "is not a folder" in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "kept"


def test_refusal_as_a_person_sees_it(tmp_path):
    done = reliability("run", "availability", "-p", "sizes", "0", "--out", "out", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: availability: sizes")
    assert list(tmp_path.iterdir()) == []


def test_values_that_are_not_texts_are_checked_as_well():
    published_inputs = published.inputs("availability")
    model = scenarios.parameters("availability")
    for bad in (float("nan"), float("inf"), True, None, -1.0):
        with pytest.raises(BadInput, match="cold_mttr_min"):
            check("availability", model, published_inputs, {"cold_mttr_min": bad})
    with pytest.raises(BadInput, match="gpus_per_node"):
        check("availability", model, published_inputs, {"gpus_per_node": True})
    assert check("availability", model, published_inputs, {"sizes": [8, 9]}) == {"sizes": [8, 9]}


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        (" 4 ", int, 4),
        ("-3", int, -3),
        ("4", float, 4.0),
        (".5e3", float, 500.0),
        ("[1, 2]", list[int], [1, 2]),
        ("1,2", list[int], [1, 2]),
        ('{"gpu": 1, "host": 2}', dict[str, int], {"gpu": 1, "host": 2}),
        ("gpu=1, host=2", dict[str, int], {"gpu": 1, "host": 2}),
        ("as it is ", str, "as it is "),
    ],
)
def test_reading(text, kind, value):
    assert read(text, kind) == value
    assert type(read(text, kind)) is type(value)


# What fails later, and how it ends ------------------------------------------------------------------------------------


def test_without_the_extra_one_line_names_it(tmp_path):
    code = "import sys; sys.modules['papermill'] = None; from reliability.__main__ import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "run", "sdc", "--out", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "papermill" in done.stderr
    assert "pip install 'training-reliability[run]'" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """Let the pages come from a folder of the test's; return what writes one there."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setattr(report, "data", lambda name: folder / name.split("/")[-1])

    def write(*sources, parameters=None):
        parameters = parameters or "".join(f"{name} = 1\n" for name in published.inputs("straggler"))
        cells = [new_code_cell(parameters, metadata={"tags": ["parameters"]}), *map(new_code_cell, sources)]
        metadata = {"kernelspec": {"name": "another", "display_name": "Another", "language": "python"}}
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), folder / "straggler.ipynb")
        return ["run", "straggler", "--out", str(tmp_path / "out")]

    return write


def test_a_cell_that_fails_is_named_and_leaves_nothing(capsys, tmp_path, pages):
    assert cli.main(pages("1 + 1", "raise ValueError('no such thing\\nat all')", "3")) == 1
    shown = capsys.readouterr()
    assert shown.err == "error: straggler: cell [3] failed: ValueError: no such thing at all\n"
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_kernel_that_dies_is_said_once(capsys, caplog, pages):
    """Papermill says it too, as it does of one that an interruption ends."""
    assert cli.main(pages("import os; os._exit(1)")) == 1
    assert capsys.readouterr().err == "error: straggler: the kernel died: Kernel died\n"
    assert caplog.records == []


def test_a_page_without_results(capsys, tmp_path, pages):
    assert cli.main(pages("1 + 1")) == 1
    assert "without results" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_notebook_whose_parameters_are_not_the_models(capsys, pages):
    assert cli.main(pages(parameters="ranks = 1\nrank_count = 2\n")) == 1
    assert "rank_count" in capsys.readouterr().err


def test_interrupted_it_leaves_nothing(tmp_path):
    process = subprocess.Popen(
        [*PROGRAM, "run", "availability", "--out", "out"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:  # until its temporary folder is there
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode in interruptions.ENDS
    assert out == ""
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


STARVED = """
import sys
from reliability import __main__ as cli
from reliability.commands import demo

def work(options):
    raise {error}

demo.main = work
sys.exit(cli.main(["demo"]))
"""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("MemoryError", "there is not enough memory for this"),
        ("ImportError('libm.so: failed to map')", "what this needs cannot be loaded: libm.so: failed to map"),
        ("ModuleNotFoundError('no', name='dask.config')", "dask is not installed, which this needs: pip install 'training-reliability[cluster]'"),
    ],
)
def test_what_the_system_is_too_small_for_is_one_line(error, said):
    code = STARVED.format(error=error)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert (done.returncode, done.stderr) == (1, f"error: {said}\n")


@pytest.mark.parametrize(
    "error",
    ["ImportError('cannot import x', name='reliability.text')", "ModuleNotFoundError('no', name='reliability.none')"],
)
def test_an_import_of_ours_that_fails_is_no_word_on_the_system(error):
    code = STARVED.format(error=error)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback") and "error: " not in done.stderr


def test_an_interruption_that_a_library_took_for_an_error_of_its_own():
    code = STARVED.format(error="ImportError('initialization failed') from KeyboardInterrupt()")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


DROPPED = """
import sys, time
from reliability import __main__ as cli

class Dropping:
    def __del__(self):
        raise KeyboardInterrupt

def work(options):
    Dropping()
    time.sleep(60)

from reliability.commands import demo
demo.main = work
sys.exit(cli.main(["demo"]))
"""


def test_an_interruption_that_python_drops_is_not_lost():
    done = subprocess.run([sys.executable, "-c", DROPPED], capture_output=True, text=True, timeout=50, check=False)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


def test_what_a_cell_says_on_stderr_is_passed_on_without_places():
    said = "/usr/lib/python3/thing.py:3: RuntimeWarning: overflow\n  x / y\n"
    assert kernel_runs._without_paths(said) == "thing.py:3: RuntimeWarning: overflow x / y"


# A whole run ----------------------------------------------------------------------------------------------------------


def test_a_run_from_another_folder(tmp_path):
    done = reliability(
        "run",
        "availability",
        "-p",
        "cold_mttr_min",
        "30",
        "-p",
        "sizes",
        "[64, 4096]",
        "--out",
        "my {out}",
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    files = sorted((tmp_path / "my {out}").iterdir())
    assert [file.name for file in files] == ["availability.html", "availability.ipynb", "availability.json"]
    assert [str(tmp_path / line) for line in done.stdout.splitlines()] == list(map(str, files))
    assert [path.name for path in tmp_path.iterdir()] == ["my {out}"]
    for file in files:
        text = file.read_text(encoding="utf-8")
        for place in (str(tmp_path), os.path.expanduser("~"), sys.prefix, os.path.dirname(report.__file__), "/tmp/"):
            assert place not in text, f"{file.name} names {place}"
    results = json.loads(files[2].read_text(encoding="utf-8"))
    assert {"schema", "page", "version", "parameters", "figures", "results", "published"} == set(results)
    assert results["schema"] == report.SCHEMA
    assert results["parameters"]["sizes"] == [64, 4096]
    assert results["published"]["changed"] == ["cold_mttr_min", "sizes"]
    assert results["published"]["reproduced"] is None
    notebook = nbformat.read(files[1], as_version=4)
    assert not notebook.metadata.get("papermill")
    assert any(RESULTS_MIME in output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", []))
