"""How far the work of many replications has come, and what a failure undoes.

Each class moves the work forward by a running time that begins and ends at any point of the checkpoint
cycle. `speed` is the share of full speed at which the job computes, 1 or an array.
"""

import numpy as np

from reliability.budget import CHECKPOINT, DEGRADED, REDONE, USEFUL, VERIFICATION
from reliability.fleet_streams import ALL

_ROUNDING = 1e-9  # of an interval: work that ends with one needs no write after it


class Kept:
    """Without checkpoints: no work is ever lost."""

    def __init__(self, bins):
        self.bins = bins

    def until(self, work, speed):
        """Running time until so much work is done."""
        return (work - self.bins[USEFUL]) / speed

    def boundary(self, speed):
        """Running time until something happens to the work itself, or None if nothing ever does."""
        return None

    def advance(self, time, speed):
        """Compute for a time."""
        if isinstance(speed, float):
            self.bins[USEFUL] += time
        else:
            self.bins[USEFUL] += time * speed
            self.bins[DEGRADED] += time * (1.0 - speed)

    def rollback(self, at=ALL):
        """Undo what was not committed."""


class Cycles(Kept):
    """Checkpoints at an interval of work, each committed when its upload ends.

    A cycle is an interval of work, slowed while the upload of the one before is open, and the write.
    """

    def __init__(self, bins, checkpoint):
        super().__init__(bins)
        self.interval, self.write = checkpoint.interval_s, checkpoint.write_s
        self.upload, self.kept = checkpoint.upload_s, 1.0 - checkpoint.drag
        number = bins.shape[1]
        self.work = np.zeros(number)  # since the last write began
        self.pending = np.zeros(number)  # work whose upload is open
        self.open = np.zeros(number)  # what is left of that upload
        self.writing = np.zeros(number)  # what is left of a write

    def _computing(self, speed):
        """Running time that the rest of this interval takes, its write not counted."""
        slowed = speed * self.kept * self.open
        return np.where(self.writing > 0, 0.0, self.open + (self.interval - self.work - slowed) / speed)

    def _cycle(self, speed):
        return self.upload + (self.interval - speed * self.kept * self.upload) / speed + self.write

    def _compute(self, work, open_, speed):
        """Time of so much work when an upload is open at its start for `open_`."""
        slowed = speed * self.kept * open_
        inside = work <= slowed
        return np.where(
            inside, work / np.where(inside, speed * max(self.kept, 1e-300), 1.0), open_ + (work - slowed) / speed
        )

    def until(self, work, speed):
        left = work - self.bins[USEFUL]
        here = np.where(self.writing > 0, 0.0, self.interval - self.work)
        finite = np.where(np.isfinite(left), left, 0.0)
        beyond = np.maximum(finite - here, 0.0)
        whole = np.maximum(np.ceil(beyond / self.interval - _ROUNDING) - 1.0, 0.0)
        rest = self._computing(speed) + np.where(self.writing > 0, self.writing, self.write)
        later = rest + whole * self._cycle(speed) + self._compute(beyond - whole * self.interval, self.upload, speed)
        now = self._compute(finite, self.open, speed)
        return np.where(np.isfinite(left), np.where(finite <= here + _ROUNDING * self.interval, now, later), np.inf)

    def advance(self, time, speed):
        computing = self._computing(speed)
        writing = np.where(self.writing > 0, self.writing, self.write)
        after = time - (computing + writing)
        new = after >= 0
        # What is done of the cycle that is under way, as far as the time goes
        self._part(np.minimum(time, computing), speed)
        stall = np.minimum(np.maximum(time - computing, 0.0), writing)
        self.bins[CHECKPOINT] += stall
        started = (time >= computing) & ~new
        self.writing = np.where(started, writing - stall, np.where(self.writing > 0, self.writing, 0.0))
        if not new.any():
            return
        # Whole cycles, and the part of one more
        cycle = self._cycle(speed)
        whole = np.where(new, np.floor(np.maximum(after, 0.0) / cycle), 0.0)
        slowed = speed * self.kept * self.upload
        self.bins[USEFUL] += whole * self.interval
        self.bins[CHECKPOINT] += whole * (self.write + (1.0 - self.kept) * self.upload)
        self.bins[DEGRADED] += whole * (1.0 - speed) * (self.kept * self.upload + (self.interval - slowed) / speed)
        left = np.maximum(after - whole * cycle, 0.0)
        self.work = np.where(new, 0.0, self.work)
        self.pending = np.where(new, self.interval if self.upload > 0 else 0.0, self.pending)
        self.open = np.where(new, self.upload, self.open)
        self.writing = np.where(new, 0.0, self.writing)
        computing = np.where(new, self._computing(speed), 0.0)
        left = np.where(new, left, 0.0)
        self._part(np.minimum(left, computing), speed)
        stall = np.maximum(left - computing, 0.0)
        self.bins[CHECKPOINT] += stall
        started = new & (left >= computing)
        self.writing = np.where(started, self.write - stall, self.writing)

    def _part(self, time, speed):
        """Compute for a time within one interval."""
        slowed = np.minimum(time, self.open)
        free = time - slowed
        done = speed * (self.kept * slowed + free)
        self.bins[USEFUL] += done
        self.bins[CHECKPOINT] += (1.0 - self.kept) * slowed
        if not isinstance(speed, float):
            self.bins[DEGRADED] += (1.0 - speed) * (self.kept * slowed + free)
        self.work = self.work + done
        self.open = self.open - slowed
        self.pending = np.where(self.open > 0, self.pending, 0.0)

    def rollback(self, at=ALL):
        lost = self.work[at] + self.pending[at]
        self.bins[USEFUL][at] -= lost
        self.bins[REDONE][at] += lost
        for state in (self.work, self.pending, self.open, self.writing):
            state[at] = 0.0


COMPUTING, VERIFYING, WRITING = range(3)


class Patterns(Kept):
    """Intervals of work with a write after each, and a verification before every so manieth write.

    A corruption that is found undoes all since the last verified checkpoint; a failure goes back to the
    last one written, which may hold a corruption.
    """

    def __init__(self, bins, checkpoint, corruption, rate, silent):
        super().__init__(bins)
        number = bins.shape[1]
        self.interval, self.every = checkpoint.interval_s, corruption.every
        self._lengths = np.array([checkpoint.interval_s, corruption.verification_s, checkpoint.write_s])
        self._rate, self._silent = rate, silent
        self.stage = np.zeros(number, dtype=np.int64)
        self.left = np.zeros(number)  # of a verification or a write
        self.work = np.zeros(number)  # since the last write
        self.place = np.zeros(number)  # intervals of the pattern behind it
        self.committed, self.verified = np.zeros(number), np.zeros(number)  # useful work behind each checkpoint
        self.corrupt, self.corrupt_committed = np.zeros(number, dtype=bool), np.zeros(number, dtype=bool)
        self.next = silent.take().copy()  # until the next corruption

    def until(self, work, speed):
        return np.where(self.stage == COMPUTING, (work - self.bins[USEFUL]) / speed, np.inf)

    def boundary(self, speed):
        return np.where(self.stage == COMPUTING, (self.interval - self.work) / speed, self.left)

    def advance(self, time, speed):
        computing = self.stage == COMPUTING
        spent = np.where(computing, time, 0.0)
        super().advance(spent, speed)
        self.work += spent * speed
        self.bins[VERIFICATION] += np.where(self.stage == VERIFYING, time, 0.0)
        self.bins[CHECKPOINT] += np.where(self.stage == WRITING, time, 0.0)
        self.left = self.left - time
        self.next -= spent * self._rate
        while (hit := np.flatnonzero(self.next <= 0)).size:
            self.corrupt[hit] = True
            self.next[hit] += self._silent.take(hit)

    def pass_boundary(self, at):
        """Go on to the next stage; returns those of `at` in which a corruption was found."""
        stage, last = self.stage[at], self.place[at] == self.every - 1
        to_verify, found = (stage == COMPUTING) & last, (stage == VERIFYING) & self.corrupt[at]
        to_write = ((stage == COMPUTING) & ~last) | ((stage == VERIFYING) & ~found)
        written = at[stage == WRITING]
        self.stage[at] = np.where(to_verify, VERIFYING, np.where(to_write, WRITING, COMPUTING))
        self.left[at] = self._lengths[self.stage[at]]
        self.work[written] = 0.0
        self.committed[written], self.corrupt_committed[written] = self.bins[USEFUL][written], self.corrupt[written]
        self.place[written] = (self.place[written] + 1) % self.every
        whole = written[self.place[written] == 0]
        self.verified[whole] = self.bins[USEFUL][whole]
        at = at[found]
        self.committed[at], self.corrupt[at], self.place[at] = self.verified[at], False, 0.0
        self.corrupt_committed[at] = False
        self.rollback(at)
        return at

    def rollback(self, at=ALL):
        lost = self.bins[USEFUL][at] - self.committed[at]
        self.bins[USEFUL][at] -= lost
        self.bins[REDONE][at] += lost
        self.corrupt[at] = self.corrupt_committed[at]
        self.stage[at], self.work[at] = COMPUTING, 0.0
