"""Nodes on their way back from repair, of many replications in lockstep."""

import numpy as np

from reliability.fleet_streams import ALL


class Returns:
    """Times at which nodes come back, and how many have by now.

    All times known at the last sorting are kept sorted. Only the earliest of them can come next: those
    and the times added since are compared with the clock; none is taken out before the next sorting.

    Parameters
    ----------
    number : int
        Replications.
    near, new : int, >= 1
        Rows kept of the earliest known returns, and of those added since. Only speed depends on them.
    """

    def __init__(self, number, near=40, new=48):
        self._most_near, self._end = near, near + new
        self._sorted = np.empty((number, 0))  # [replication, node]
        self._rows = np.full((self._end, number), np.inf)  # the earliest of them, then the new ones
        self._came = np.empty(self._rows.shape, dtype=bool)
        self._near = 0  # rows in use of the earliest ...
        self._used = near  # ... and the end of the new ones
        self._fill = np.full(number, near)  # of each replication, once some have added more than others
        self._even = True
        self._seen = np.zeros(number)  # returned since the last sorting
        self._last = np.full(number, -np.inf)  # time up to which they are counted
        self.empty = True

    def push(self, times, at=ALL):
        """Add one return time for each replication in `at`; inf adds none."""
        if isinstance(at, slice) and self._even:
            if self._used == self._end:
                self._sort()
            self.empty = False
            self._rows[self._used] = times
            self._used += 1
            return
        if isinstance(at, slice):
            at = np.arange(len(self._fill))
        if self._even:
            self._even, self._fill[:] = False, self._used
        if self._fill[at].max(initial=0) == self._end:
            self._sort()
            self._even = False
        self.empty = False
        self._rows[self._fill[at], at] = times
        self._fill[at] += 1
        self._used = max(self._used, int(self._fill[at].max(initial=0)))

    def advance(self, now, at=ALL):
        """Return how many nodes have come back, for each in `at`, by its time `now` since it was last asked."""
        first = self._most_near - self._near
        if isinstance(at, slice):
            came = np.less_equal(self._rows[first : self._used], now, out=self._came[first : self._used])
        else:
            came = self._rows[first : self._used, at] <= now
        returned = np.add.reduce(came.view(np.uint8), axis=0, dtype=np.uint8).astype(float)
        hidden = self._sorted.shape[1] > self._near
        if hidden and (hidden := bool(came[self._near - 1].any())):  # those that are not among the rows may have come
            more = self._sorted[at][:, self._near :] <= now[:, None]
            returned += more.sum(axis=1)
        fresh = returned - self._seen[at]
        self._seen[at] = returned
        self._last[at] = now
        if hidden:
            self._sort()
        return fresh

    def next(self, at):
        """Return when the next node comes back, for each replication in the array `at`; inf where none is away."""
        if self.empty:
            return np.full(len(at), np.inf)
        times = np.concatenate([self._sorted[at], self._rows[self._most_near : self._used, at].T], axis=1)
        times[times <= self._last[at, None]] = np.inf
        return times.min(axis=1, initial=np.inf)

    def _sort(self):
        times = np.concatenate([self._sorted, self._rows[self._most_near : self._used].T], axis=1)
        np.copyto(times, np.inf, where=times <= self._last[:, None])
        times.sort(axis=1)
        away = np.flatnonzero((times < np.inf).any(axis=0))
        self._sorted = times[:, : away[-1] + 1] if away.size else times[:, :0]
        self._near = min(self._sorted.shape[1], self._most_near)
        self._rows[self._most_near - self._near : self._most_near] = self._sorted[:, : self._near].T
        self._rows[self._most_near : self._used] = np.inf
        self._used, self._even, self._fill[:] = self._most_near, True, self._most_near
        self._seen[:] = 0.0
        self.empty = away.size == 0
