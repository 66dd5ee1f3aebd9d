"""Random numbers of many replications in lockstep: a stream for each replication and purpose.

A replication's numbers depend on the key and on its own index, on nothing else: not on how many
replications run together, in which process, or which policy they serve. What befalls the nodes is drawn
from streams of its own, so that two policies under one key meet the same failures.
"""

import numpy as np
from numpy.random.bit_generator import ISeedSequence

ALL = slice(None)
# The order is part of what a seed means: append, never insert.
PURPOSES = (
    ("gap", "exponential"),  # running time to the next fault
    ("kind", "uniform"),  # good or bad node, random or systematic
    ("class", "uniform"),  # class of the fault, and who is blamed
    ("size", "uniform"),  # blast radius
    ("automatic", "exponential"),  # repair times
    ("manual", "exponential"),
    ("fate", "uniform"),  # to manual repair or not; cured or not
    ("join", "uniform"),  # which idle node takes a place
    ("straggler", "exponential"),
    ("silent", "exponential"),
    ("life", "life"),  # lives of nodes that are told apart
    ("node", "uniform"),
)
_LENGTH = 1024  # numbers drawn at a time; no result depends on it


class _Words(ISeedSequence):
    """Seed of one generator: words already made by a SeedSequence."""

    def __init__(self, words):
        self.words = words

    def generate_state(self, n_words, dtype=np.uint32):
        return self.words[:n_words]


class Streams:
    """The streams of replications `first` to `first + number - 1` under one key.

    Parameters
    ----------
    key : int, >= 0
    first, number : int
    life : function of (Generator, int), optional
        Draws so many lives of nodes, for the purpose "life".
    """

    def __init__(self, key, first, number, life=None):
        count = 4 * len(PURPOSES)
        self._words = [
            np.random.SeedSequence(key, spawn_key=(first + i,)).generate_state(count, np.uint64) for i in range(number)
        ]
        self._number, self._life = number, life

    def generators(self, purpose):
        """Return the generator of each replication for a purpose, to draw from as it will."""
        place = [name for name, _ in PURPOSES].index(purpose)
        seeds = (_Words(words[4 * place : 4 * place + 4]) for words in self._words)
        return [np.random.Generator(np.random.PCG64DXSM(seed)) for seed in seeds]

    def open(self, purpose):
        """Return the stream of a purpose."""
        kind, generators = dict(PURPOSES)[purpose], self.generators(purpose)
        if kind == "life":
            return Stream(generators, lambda g, out: np.copyto(out, self._life(g, len(out))))
        draw = np.random.Generator.standard_exponential if kind == "exponential" else np.random.Generator.random
        return Stream(generators, lambda g, out: draw(g, out=out))


class Stream:
    """One number for each replication at a time, or for some of them."""

    def __init__(self, generators, draw):
        self._generators, self._draw = generators, draw
        self._numbers = np.empty((_LENGTH, len(generators)))
        self._next = _LENGTH  # of all replications, while all have drawn as many
        self._own = None  # of each, once some have drawn more than others
        self._scratch = np.empty((min(len(generators), 64), _LENGTH))

    def take(self, at=ALL):
        """Return the next number of each replication in `at`: `ALL`, or distinct indices."""
        if self._own is None:
            if isinstance(at, slice):
                if self._next == _LENGTH:
                    self._refill_all()
                self._next += 1
                return self._numbers[self._next - 1]
            if self._next == _LENGTH:
                self._refill_all()
            self._own = np.full(len(self._generators), self._next)
        if isinstance(at, slice):
            at = np.arange(len(self._generators))
        places = self._own[at]
        if places.size and places.max() == _LENGTH:
            for r in at[places == _LENGTH]:
                self._draw(self._generators[r], self._scratch[0])
                self._numbers[:, r] = self._scratch[0]
                self._own[r] = 0
            places = self._own[at]
        self._own[at] += 1
        return self._numbers[places, at]

    def _refill_all(self):
        for begin in range(0, len(self._generators), len(self._scratch)):
            some = self._generators[begin : begin + len(self._scratch)]
            for generator, row in zip(some, self._scratch, strict=False):
                self._draw(generator, row)
            self._numbers[:, begin : begin + len(some)] = self._scratch[: len(some)].T
        self._next = 0
