"""A copy of the project as a clone has it, for what must not see this folder's builds and caches."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def own_files(root):
    """Return the files that a clone would have: tracked ones and new ones, nothing built or ignored."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=root, capture_output=True, check=True, text=True).stdout
        return [Path(name) for name in listed.split("\0") if name and (root / name).is_file()]
    except (OSError, subprocess.CalledProcessError):  # an unpacked archive, or no git
        built = {"_build", "build", "dist", "__pycache__", "node_modules"}
        paths = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
        return [p for p in paths if not any(part in built or part.startswith(".") for part in p.parts)]


def copy_files(names, target):
    """Copy some of the project's own files, so that nothing of an earlier build is there; return their bytes."""
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name)
    return {name: (target / name).read_bytes() for name in names}
