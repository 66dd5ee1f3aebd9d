"""Steps of a training log put in order: copies of other ranks merged, restarts told apart, NaN and skips named."""

import math

from reliability.logs.notes import note

LARGEST = 2**53  # beyond it a float skips whole numbers


class Collector:
    """Takes the events of a log in the order of its lines.

    Parameters
    ----------
    averages : bool
        Whether a loss that is missing from a point is one that is not a number, as Megatron-LM prints it.
    """

    def __init__(self, averages=False):
        self.averages = averages
        self.points, self.validation, self.saves, self.starts = [], [], [], []
        self.ranks, self.clock, self.summary = set(), {}, {}
        self.start_s = self.end_s = self._last_s = None
        self._segment, self._seen, self._last, self._top = 0, {}, {}, -1
        self._pending = self._loaded = self._loaded_s = None
        self._bar = self._total = None
        self._copies, self._differ, self._numbered, self._doubled = [], [], [], []
        self._beyond, self._counted = [], []
        self._skipped = {}
        self._validated = set()
        self._val_loss = None

    def add(self, event, line, rank=None, stamp=None):
        """Take what a line says; `stamp` is its time in seconds, or None."""
        before = self._last_s
        if stamp is not None:
            self.start_s = stamp if self.start_s is None else self.start_s
            self.end_s = self._last_s = stamp
        if event is None:
            return
        kind = event.kind
        if kind == "point":
            self._point(event, line, rank, stamp, before)
        elif kind == "bar":
            self._total = event.total if self._total is None else self._total
            if event.total == self._total:
                if self._bar is not None and event.step < self._bar:
                    self._pending = True
                self._bar = event.step
                self.clock.setdefault(event.step, event.seconds)
        elif kind == "validation":
            self._validate(event.step, event.loss, line)
        elif kind == "save":
            step = event.step if event.step is not None else self._top if self._top >= 0 else None
            if step is not None:
                self.saves.append((step, self._segment, line))
        elif kind in ("load", "start"):
            if not self._pending or self._loaded_s is None:
                self._loaded_s = (before, stamp)
            self._pending = True
            self._loaded = event.step if event.step is not None else self._loaded
        elif kind == "skip":
            self._skipped[(self._segment, event.step)] = event.skipped
        elif kind == "summary":
            self.summary = {name: value for name, value in event.values.items() if value is not None}

    def take_in_order(self, steps, losses, norms, skipped, seconds, lines, unit):
        """Take the columns of a table whose steps only rise: one segment, nothing to merge."""
        self._begin(steps[0], lines[0], None, None)
        seconds = seconds if unit == 1 else [None if s is None else s * unit for s in seconds]
        none, ones = [None] * len(steps), [1] * len(steps)
        self.points = list(zip(steps, losses, norms, skipped, seconds, ones, none, none, lines, strict=True))
        self._top = steps[-1]

    def _validate(self, step, loss, line):
        step = self._bar if step is None and self._bar is not None else self._top if step is None else step
        if loss is not None and (self._segment, step, loss) not in self._validated:
            self._validated.add((self._segment, step, loss))
            self.validation.append((max(step, 0), loss, max(self._segment, 1), line))

    def _point(self, event, line, rank, stamp, before):
        step = event.step if event.step is not None else self._bar
        if step is None:
            step = len(self.points) + 1
            self._numbered.append(line)
        if step > LARGEST:
            self._beyond.append(line)
            return None
        if rank is not None:
            self.ranks.add(rank)
        if event.values.get("nan"):
            self._counted.append(line)
        if event.values.get("val_loss") is not None and event.values["val_loss"] != self._val_loss:
            self._val_loss = event.values["val_loss"]
            self._validate(step, self._val_loss, line)
        last, known = self._last.get(rank), self._seen.get(step)
        own = (event.loss, event.grad_norm)
        if self._segment == 0:
            self._begin(step, line, before, stamp)
        elif last is None and rank is not None:  # a rank that prints for the first time since the restart
            if self._pending and step <= self._top:
                self._begin(step, line, before, stamp)
            elif known is not None:
                return self._copy(known, own, line)
        elif last is not None and step > last:
            if known is not None:
                return self._copy(known, own, line)
        elif known is not None and not self._pending and step == last and _same(self._values(known), own):
            self._doubled.append(line)
            return None
        elif last is not None or step <= self._top:
            self._begin(step, line, before, stamp)
        self._pending = self._loaded = self._loaded_s = None
        self._last[rank] = step
        self._top = max(self._top, step)
        self._seen[step] = len(self.points)
        self.points.append(
            (step, event.loss, event.grad_norm, event.skipped, event.seconds, self._segment, stamp, before, line)
        )
        return None

    def _values(self, place):
        return self.points[place][1:3]

    def _copy(self, place, own, line):
        """Another rank's print of the same step; where only it is not a number, the step is not."""
        self._copies.append(line)
        loss, grad = self._values(place)
        if not _same((loss, grad), own):
            self._differ.append(line)
            worse = (own[0] if _odd(own[0]) else loss), (own[1] if _odd(own[1]) else grad)
            self.points[place] = (self.points[place][0], *worse, *self.points[place][3:])

    def _begin(self, step, line, before, stamp):
        self._segment += 1
        loaded = self._loaded if self._loaded is not None and self._loaded <= step else None
        crash, restart = self._loaded_s or (before, None)
        self.starts.append(
            {"first": step, "resumed_from": loaded, "line": line, "crash_s": crash, "restart_s": restart}
        )
        self._seen, self._last, self._top = {}, {}, -1

    def notes(self):
        """Notes on what was merged or is not known."""
        found = note("merged", "the same step printed by another rank", self._copies)
        found += note("warning", "ranks that print another loss of the same step: the first counts", self._differ)
        found += note("merged", "the same line again", self._doubled)
        found += note("dropped", "a step beyond 2^53", self._beyond)
        found += note("warning", "points whose own counter names iterations that are not a number", self._counted)
        return found + note("unknown", "the lines name no step: numbered in their order", self._numbered)


def _odd(value):
    return value is not None and not math.isfinite(value)


def _same(a, b):
    return all(
        x == y or (x is not None and y is not None and math.isnan(x) and math.isnan(y))
        for x, y in zip(a, b, strict=True)
    )
