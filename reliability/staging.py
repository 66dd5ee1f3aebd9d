"""Files that appear together: made in a folder beside where they will be, and moved there at the end, all or none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from reliability.errors import BadInput
from reliability.signals import held


@contextmanager
def whole(file: Path) -> Iterator[Path]:
    """Give the place to write a file at, from where it takes its own when it is whole; else nothing of it is left."""
    half = file.with_name(f".{file.name}")
    try:
        yield half
        os.replace(half, file)
    except BaseException:
        half.unlink(missing_ok=True)
        raise


@contextmanager
def staging(out: Path) -> Iterator[Path]:
    """Make a folder for the files on the disk where they will be, and take it away in any case."""
    place = out.absolute()
    while not place.exists():
        place = place.parent
    if not place.is_dir():
        raise BadInput(f"--out {out}: {place} is not a folder")
    try:
        temporary = TemporaryDirectory(prefix=".reliability-", dir=place)
    except OSError as error:
        raise BadInput(f"--out {out}: {place} cannot be written to ({error.strerror})") from None
    with temporary as folder:
        yield Path(folder)


def publish(folder: Path, out: Path) -> tuple[Path, ...]:
    """Move the files of a staging folder to where they belong; if one cannot be moved, the old ones come back.

    A folder that is not there yet appears at once, with all files in it. Other files in it stay.
    """
    files = sorted(path for path in folder.iterdir() if path.is_file())
    with held():  # an interruption between two files would leave new ones beside old ones
        if not out.exists():
            out.parent.mkdir(parents=True, exist_ok=True)
            new = folder / "new"
            new.mkdir()
            for file in files:
                os.replace(file, new / file.name)
            os.replace(new, out)
        else:
            _replace(files, out, folder)
    return tuple(out / file.name for file in files)


def _replace(files: list[Path], out: Path, folder: Path) -> None:
    kept = folder / "old"
    kept.mkdir()
    for file in files:
        if (out / file.name).is_file():
            _keep(out / file.name, kept / file.name)
    done: list[Path] = []
    try:
        for file in files:
            done.append(out / file.name)
            os.replace(file, out / file.name)
    except BaseException:
        for target in done:
            old = kept / target.name
            if old.exists():
                os.replace(old, target)
            elif target.is_file():
                target.unlink()
        raise


def _keep(file: Path, copy: Path) -> None:
    """Keep a second name of a file; a copy where the disk knows no second names."""
    try:
        os.link(file, copy)
    except OSError:
        shutil.copy2(file, copy)
