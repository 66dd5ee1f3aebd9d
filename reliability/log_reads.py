"""What was read from logs, kept while many plans are made of few logs, such as the points of a sweep."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from typing import Any


class Reads:
    """Results of reading and fitting files, each made once for all that it depends on.

    A file is another one once its size or its time of change is; a reading that fails is not kept.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, Any] = {}

    def once(self, key: Hashable, work: Callable[[], Any]) -> Any:
        """Return what `work` gives under this key, working only where it is not there yet.

        Examples
        --------
        >>> reads, done = Reads(), []
        >>> for _ in range(3):
        ...     _ = reads.once(("log", 8), lambda: done.append("read"))
        >>> done
        ['read']
        """
        if key not in self._kept:
            self._kept[key] = work()
        return self._kept[key]


def stamp(path: str | os.PathLike) -> tuple[str, int, int]:
    """Return what tells a file from another, and from itself before a change: its place, its size, when it was changed.

    Raises
    ------
    OSError
        If it is not there.
    """
    about = os.stat(path)
    return os.path.realpath(path), about.st_size, about.st_mtime_ns
