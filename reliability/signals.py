"""What interrupts: unheard, held back, or put back as it was, while something is done that must not be torn."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def kept(*kinds: int) -> Iterator[bool]:
    """Put back at the end what answers signals; say whether this may change it, which only the main thread may."""
    if threading.current_thread() is not threading.main_thread():
        yield False
        return
    before = {kind: signal.getsignal(kind) for kind in kinds}
    try:
        yield True
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler if handler is not None else signal.SIG_DFL)


@contextmanager
def unheard() -> Iterator[None]:
    """Let Ctrl-C pass unheard, where what is under way ends soon, and would leave a mess if it did not."""
    with kept(signal.SIGINT) as here:
        if here:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        yield


@contextmanager
def held() -> Iterator[None]:
    """Hold back what would interrupt, and let it happen right after."""
    came: list[int] = []
    try:
        with kept(*ENDING) as here:
            for kind in ENDING if here else ():
                signal.signal(kind, lambda number, _: came.append(number))
            yield
    finally:
        for number in came[:1]:
            signal.raise_signal(number)
