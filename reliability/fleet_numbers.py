"""Random numbers of one replication: a stream for each purpose, drawn by numpy ahead of what the compiled model takes.

A replication's numbers depend on the key and on its own index, on nothing else: not on which others run,
in which process, or which policy they serve. What befalls the nodes is drawn from streams of its own, so
that two policies under one key meet the same failures.
"""

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from reliability import lives
from reliability.fleet_compiled import compiled
from reliability.units import HOUR_S

# The order is part of what a seed means: append, never insert.
GAP, KIND, CLASS, SIZE, AUTOMATIC, MANUAL, FATE, JOIN, STRAGGLER, SILENT, LIFE, NODE = PURPOSES = range(12)
_EXPONENTIAL = {GAP, AUTOMATIC, MANUAL, STRAGGLER, SILENT}  # of unit mean; lives in seconds, the rest uniform
_FEWEST, _MOST = 64, 16_384  # numbers drawn ahead; no result depends on it


class _Words(ISeedSequence):
    """Seed of one generator: words already made by a SeedSequence."""

    def __init__(self, words):
        self.words = words

    def generate_state(self, n_words, dtype=np.uint32):
        return self.words[:n_words]


class Numbers:
    """Buffers of the numbers of one replication after the other.

    Attributes
    ----------
    drawn : array
        The buffers of all purposes, one behind the other.

    Parameters
    ----------
    fleet : Fleet
    state : array [1] of records
        Its `following` and `mark` are kept here, a number for each purpose: the place in `drawn` of the number to take
        next, and the place from which on the buffer runs low.
    """

    def __init__(self, fleet, state):
        self._state, self._life = state, _draw_lives(fleet)
        most = _most_at_once(fleet)
        ahead = int(np.clip(1.05 * _failures_expected(fleet), _FEWEST, _MOST))
        length = [ahead + 2 * number if number else 0 for number in most]
        self._end = np.cumsum(length)
        self._begin = self._end - length
        self._mark = self._end - most
        self.drawn = np.empty(int(self._end[-1]))
        self._used = [purpose for purpose, number in enumerate(most) if number]

    def open(self, key, replication):
        """Begin the streams of a replication."""
        words = np.random.SeedSequence(key, spawn_key=(replication,)).generate_state(4 * len(PURPOSES), np.uint64)
        self._streams = {
            purpose: np.random.Generator(np.random.PCG64DXSM(_Words(words[4 * purpose : 4 * purpose + 4])))
            for purpose in self._used
        }
        self._state["following"], self._state["mark"] = self._end, self._mark

    def first(self, purpose, number):
        """Draw the first numbers of a purpose at once."""
        out = np.empty(number)
        self._draw(purpose, out)
        return out

    def refill(self):
        """Draw what has been taken from the buffers that run low."""
        places = self._state["following"][0]
        for purpose in self._used:
            following, begin, end = places[purpose], self._begin[purpose], self._end[purpose]
            if following < self._mark[purpose]:
                continue
            left = end - following
            self.drawn[begin : begin + left] = self.drawn[following:end]
            self._draw(purpose, self.drawn[begin + left : end])
            places[purpose] = begin

    def _draw(self, purpose, out):
        stream = self._streams[purpose]
        if purpose in _EXPONENTIAL:
            stream.standard_exponential(out=out)
        elif purpose == LIFE:
            out[:] = self._life(stream, len(out))
        else:
            stream.random(out=out)


@compiled
def take(r, purpose):
    """Return the next number of a purpose, and note where few are left."""
    place = r.s.following[purpose]
    r.s.following[purpose] = place + 1
    if place >= r.s.mark[purpose]:
        r.s.low = True
    return r.drawn[np.uint64(place)]  # unsigned: no negative place need be looked for


def _draw_lives(fleet):
    """Return the function that draws random lives of nodes, in seconds."""
    failures = fleet.failures
    mean = 1.0 / failures.event_rate
    if failures.life == "weibull":
        return lambda rng, number: lives.draw_weibull(rng, mean, failures.shape, number)
    return lambda rng, number: lives.draw_lognormal(rng, mean, failures.cv, number)


def _most_at_once(fleet):
    """Return how many numbers of each purpose one event may take at most; 0 where none ever is."""
    nodes = fleet.pool + fleet.spare_nodes
    failures = fleet.failures
    lost = max(size for share, size in zip(failures.burst_shares, failures.burst_sizes, strict=True) if share)  # withdrawn
    most = np.zeros(len(PURPOSES), dtype=np.int64)
    most[[GAP, FATE]] = lost + 2
    most[JOIN] = 1 + (nodes if fleet.elastic else nodes - fleet.job_nodes)
    if fleet.aged:
        most[LIFE] = lost + 2
    else:
        most[KIND] = 1
    if fleet.repair.times == "exponential":
        most[[AUTOMATIC, MANUAL]] = lost
    if fleet.blames:
        most[CLASS] = 1
    if fleet.failures.has_bursts:
        most[SIZE], most[NODE] = 1, lost
    if fleet.straggler:
        most[STRAGGLER] = 2
    if fleet.corruption:
        most[SILENT] = 2
    return most


def _failures_expected(fleet):
    """Return about how many failures a replication meets; only speed depends on it."""
    failures = fleet.failures
    seconds = HOUR_S * fleet.length_h
    systematic = failures.rate * failures.bad_factor * seconds
    return seconds * failures.event_rate * fleet.job_nodes + fleet.bad_nodes * min(systematic, 2.0)  # until cured
