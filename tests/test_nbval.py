"""`pytest --nbval` notices a changed digit: what holds the committed outputs to what the code gives."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "notebooks" / "availability.ipynb"  # the lightest page
CELL = "answer"


def with_another_digit(notebook):
    """Return a copy of a notebook whose output of `CELL` has another last digit, and the number of the cell."""
    changed = json.loads(json.dumps(notebook))
    code = [cell for cell in changed["cells"] if cell["cell_type"] == "code"]
    (number,) = [number for number, cell in enumerate(code) if cell["id"] == CELL]
    (output,) = code[number]["outputs"]
    lines = output["data"]["text/markdown"]
    last = max(line for line in range(len(lines)) if re.search(r"\d", lines[line]))
    lines[last] = re.sub(r"(\d)(\D*)$", lambda m: f"{(int(m[1]) + 1) % 10}{m[2]}", lines[last])
    return changed, number


def test_a_changed_digit_fails_and_its_cell_is_named(tmp_path):
    changed, number = with_another_digit(json.loads(NOTEBOOK.read_text(encoding="utf-8")))
    (tmp_path / NOTEBOOK.name).write_text(json.dumps(changed), encoding="utf-8")
    options = ["--nbval", "-c", ROOT / "pyproject.toml", "--rootdir", tmp_path, "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, tmp_path / NOTEBOOK.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+::Cell \d+)", done.stdout, re.MULTILINE)
    assert done.returncode == 1, done.stdout + done.stderr
    assert failed == [f"{NOTEBOOK.name}::Cell {number}"], done.stdout
    assert "mismatch 'text/markdown'" in done.stdout, done.stdout
