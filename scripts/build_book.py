"""Build the book into _build/html: run its pages, render them, and take every warning for an error.

    python scripts/build_book.py

Does nothing where nothing that the book is made of has changed since the last build. Three things of Jupyter Book are
put right here. Its cache of executed pages knows a page's own code and not the package under it, so the cache goes
when anything else than text has changed. A second build after a failed one passes in silence, since the page that
failed counts as read; so each build renders from nothing. And a failed build leaves no book that looks like a whole one.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("_static", "notebooks", "pages", "reliability")
FILES = ("*.md", "*.yml", "*.bib", "*.cff", "requirements.txt")
# A change in one of these can change what a page says, and not what its code prints: that the cache sees by itself.
TEXT = (".bib", ".cff", ".ipynb", ".md")
COMMAND = ("jupyter-book", "build", ".", "-W", "-n", "--keep-going")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def inputs(root):
    """Two digests: of what the pages run on, and of everything the book is made of."""
    paths = [path for pattern in FILES for path in root.glob(pattern)]
    paths += [path for folder in FOLDERS for path in (root / folder).rglob("*") if path.is_file()]
    runs_on, everything = hashlib.sha256(sys.version.encode()), hashlib.sha256()
    for path in sorted(paths):
        name = path.relative_to(root)
        if any(part == "__pycache__" or part.startswith(".") for part in name.parts):
            continue
        line = f"{name.as_posix()}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode()
        everything.update(line)
        if path.suffix not in TEXT:
            runs_on.update(line)
    return {"runs_on": runs_on.hexdigest(), "everything": runs_on.hexdigest() + everything.hexdigest()}


def build(root, say=print):
    """Bring the book in `root` up to date; the exit status, 0 where there is a whole and current one."""
    folder, index, stamp = root / "_build", root / "_build/html/index.html", root / "_build/made_from.json"
    now = inputs(root)
    try:
        last = json.loads(stamp.read_text())
    except (OSError, ValueError):
        last = {}
    if last == now and index.is_file():
        say("The book is up to date.")
        say(f"Open {index.as_uri()}")
        return 0
    if last.get("runs_on") != now["runs_on"]:
        remove(folder / ".jupyter_cache")
    remove(*(folder / name for name in (".doctrees", "jupyter_execute", "html", "html_of_a_failed_build")))
    folder.mkdir(exist_ok=True)
    # From here on the cache holds runs of this package, but there is no book yet.
    stamp.write_text(json.dumps({"runs_on": now["runs_on"]}))
    started = time.monotonic()
    say("Building the book: the pages are run, then rendered.")
    status, log = run(root, say)
    (folder / "build.log").write_text(log)
    if status or not index.is_file():
        if index.parent.is_dir():
            index.parent.rename(folder / "html_of_a_failed_build")
        found = problems(log, root)
        pages = dict.fromkeys(re.findall(r"^([\w./ -]+\.(?:ipynb|md))(?::\d+)?: [A-Z]+: ", found, re.MULTILINE))
        say(found)
        say(f"The book was not built{': see ' if pages else ''}{', '.join(pages)}. The whole log: _build/build.log")
        return 1
    stamp.write_text(json.dumps(now))
    say(f"Built in {time.monotonic() - started:.0f} s.")
    say(f"Open {index.as_uri()}")
    return 0


def remove(*folders):
    """Remove these folders, wherever they are there."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def run(root, say):
    """Run Jupyter Book; its exit status and what it printed. Of that, only how far it has come is said at once."""
    program = Path(sys.executable).with_name(COMMAND[0])
    process = subprocess.Popen(
        [program, *COMMAND[1:]], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    lines, rendering = [], False
    for raw in process.stdout:
        line = COLOUR.sub("", raw)
        lines.append(line)
        page = re.match(r"(.*\.(?:ipynb|md)): (Executed|Using cached) notebook(?: in ([\d.]+))?", line)
        if page:
            name = Path(page[1]).relative_to(root)
            say(f"  {name}: " + (f"run in {float(page[3]):.1f} s" if page[3] else "not changed"), flush=True)
        elif line.startswith("writing output... [") and not rendering:
            rendering = True
            say("  rendering", flush=True)
    return process.wait(), "".join(lines)


def problems(log, root):
    """The lines of a log that say what is wrong: warnings, errors, and the cell that failed with its message."""
    cell = re.findall(r"An error occurred while executing the following cell:\n.*?(?=\n\n\n|\Z)", log, re.DOTALL)
    lines = [
        line for line in log.splitlines() if re.search(r"(^|: )(WARNING|ERROR|CRITICAL): |Error: A cell timed out", line)
    ]
    found = list(dict.fromkeys(lines)) + cell or log.splitlines()[-20:]
    return "\n".join(found).replace(f"{root}/", "")


if __name__ == "__main__":
    try:
        sys.exit(build(ROOT))
    except KeyboardInterrupt:
        sys.exit("Interrupted: the book is not built.")
