"""The earliest of many times, each of which may change at any moment: a tournament, compiled.

An array of ``2 * 2**k`` numbers: the times are its second half, every other entry is the earlier of the
two at twice its place and next to it, and the earliest of all stands at place 1. To change a time or to
find the earliest takes k steps.
"""

import numpy as np

from reliability.fleet_compiled import compiled


def leaves(number):
    """Return the length of a tree of so many times."""
    return 2 * 2 ** int(np.ceil(np.log2(max(number, 1))))


@compiled
def set_time(tree, i, time):
    """Give the entry i another time; inf where it never comes."""
    place = len(tree) // 2 + i
    tree[place] = time
    while place > 1:
        place //= 2
        left, right = tree[2 * place], tree[2 * place + 1]
        earlier = left if left < right else right
        if tree[place] == earlier:
            return
        tree[place] = earlier


@compiled
def time_of(tree, i):
    """Return the time of the entry i."""
    return tree[len(tree) // 2 + i]


@compiled
def earliest(tree):
    """Return which entry has the earliest time; that time is ``tree[1]``."""
    half, place = len(tree) // 2, 1
    while place < half:
        place *= 2
        if tree[place + 1] < tree[place]:
            place += 1
    return place - half
