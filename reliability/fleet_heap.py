"""Nodes on their way back from repair, compiled: a binary heap in which the earliest to come stands first."""

from reliability.fleet_compiled import compiled


@compiled
def push(heap, number, time, node):
    """Add a node and the time at which it comes to a heap of so many."""
    place = number
    while place > 0 and heap[(place - 1) // 2].time > time:
        _put(heap, place, heap[(place - 1) // 2].time, heap[(place - 1) // 2].node)
        place = (place - 1) // 2
    _put(heap, place, time, node)


@compiled
def pop(heap, number):
    """Take the earliest node out of a heap of so many, and return it."""
    first, last = heap[0].node, number - 1
    time, node, place = heap[last].time, heap[last].node, 0
    while 2 * place + 1 < last:
        below = 2 * place + 1
        if below + 1 < last and heap[below + 1].time < heap[below].time:
            below += 1
        if heap[below].time >= time:
            break
        _put(heap, place, heap[below].time, heap[below].node)
        place = below
    _put(heap, place, time, node)
    return first


@compiled
def _put(heap, place, time, node):
    heap[place].time, heap[place].node = time, node
