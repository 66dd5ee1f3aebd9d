"""Nodes on their way back from repair, compiled: a binary heap in which the earliest to come stands first."""

from numpy import uint64  # places are unsigned: no negative one need be looked for

from reliability.fleet_compiled import compiled

ONE, TWO = uint64(1), uint64(2)


@compiled
def push(heap, number, time, node):
    """Add a node and the time at which it comes to a heap of so many."""
    place = uint64(number)
    while place > 0:
        above = (place - ONE) // TWO
        if heap[above].time <= time:
            break
        _put(heap, place, heap[above].time, heap[above].node)
        place = above
    _put(heap, place, time, node)


@compiled
def pop(heap, number):
    """Take the earliest node out of a heap of so many, and return it."""
    first, last, place, below = heap[0].node, uint64(number - 1), uint64(0), ONE
    while below < last:  # down to the bottom, which is faster than to look where to stop
        other = below + uint64(below + ONE < last)
        below += uint64(heap[other].time < heap[below].time)
        _put(heap, place, heap[below].time, heap[below].node)
        place, below = below, TWO * below + ONE
    push(heap, place, heap[last].time, heap[last].node)
    return first


@compiled
def _put(heap, place, time, node):
    heap[place].time, heap[place].node = time, node
