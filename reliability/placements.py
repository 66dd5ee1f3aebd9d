"""Standbys of a job that is placed anew when none is left: how often that happens."""

from functools import lru_cache

import numpy as np

from reliability import checks
from reliability.repair_queues import erlang_b

LONG = 200  # standbys from which on the chance is below 2 / (k + 1)(k + 2) = 5e-5, which is good enough
MANY = 1e5  # load from which on what is missing to the limit of a great load falls as 1 / a
REACH = 9.0  # standard deviations of the nodes in repair, outside of which the chain is cut off
AT_ONCE = 250  # loads: more make the arrays larger, and not quicker
KEPT = 200  # arrays of loads, with so many standbys, of which the chances are kept


def chance_placed_anew(load, standbys):
    r"""Chance that a failure finds no standby, where such a failure makes all of them up with nodes from elsewhere.

    Parameters
    ----------
    load : float or array, > 0
        Failures in one mean repair time, a.
    standbys : int, >= 0
        k.

    Returns
    -------
    float or array

    Notes
    -----
    Failures come at random at a constant rate, and repairs take exponential times. Every failed node goes to repair.
    When it returns it stands by, if fewer than k do; otherwise it is not needed and idles elsewhere. A failure that
    finds no standby places the job anew with k standbys. The nodes that are in repair then are extra.

    Let n standbys be missing, and n + c nodes be in repair. Only a return while none is missing lowers the number c of
    extra nodes, by one, and only a placement raises it, by k + 1. With the stationary chances w, what crosses a cut
    between states crosses it back:

    .. math::

        a\, w_c(n) = (n + 1 + c)\, w_c(n + 1) + a\, w_c(k), \qquad c\, w_c(0) = a \sum_{j=1}^{k+1} w_{c-j}(k)

    The first gives the shape of each row c, the second its weight. The sum of all w_c(k) is the chance, since failures
    come at random. This is exact up to a load of 100,000. Beyond, what is missing to the limit of a great load,

    .. math:: \frac{2}{(k + 1)(k + 2)}

    is taken to fall as 1 / a, with a relative error below 2e-5. For a small load the chance is Erlang's formula times
    1 - a / k. For more than 200 standbys the smaller of Erlang's formula and that limit is given; the chance is at most
    that, and so below 5e-5.

    Examples
    --------
    >>> round(chance_placed_anew(0.36, 1), 3), round(chance_placed_anew(1e9, 1), 3)
    (0.199, 0.333)
    """
    load, standbys = checks.positive("load", load), checks.count("standbys", standbys, low=0)
    if standbys == 0:
        return checks.plain(np.ones(load.shape))
    limit = 2.0 / ((standbys + 1) * (standbys + 2))
    if standbys > LONG:
        return checks.plain(np.minimum(erlang_b(load, standbys), limit))
    loads, where = np.unique(np.minimum(load, MANY), return_inverse=True)  # draws of a known load are all the same
    found = _kept(loads.tobytes(), standbys)[where].reshape(load.shape)
    return checks.plain(np.where(load > MANY, limit - (limit - found) * (MANY / load), found))


@lru_cache(maxsize=KEPT)
def _kept(raw, standbys):
    """Return the chance at each of some sorted loads, given as bytes: a plan asks for the same draws many times."""
    loads = np.frombuffer(raw)
    # Sorted loads that follow each other need chains of about one length.
    return np.concatenate([_solved(loads[i : i + AT_ONCE], standbys) for i in range(0, len(loads), AT_ONCE)])


def _solved(loads, standbys):
    """Return the chance at each load [loads]."""
    width = REACH * np.sqrt(loads)
    first = np.maximum(np.floor(loads - width) - standbys, 0.0)
    rows = int((loads + width - first).max()) + standbys + 25
    extra = first + np.arange(rows)[:, None]
    # For each number of extra nodes [rows, loads], going on to fewer missing ones: the chance of k missing, and the sum of
    # the chances of as many missing or more, both over the chance of just as many.
    none, states = np.ones(extra.shape), np.ones(extra.shape)
    for missing in range(standbys, 0, -1):
        step = loads / (missing + extra + loads * none)
        none *= step
        states *= step
        states += 1.0
    none /= states  # of all time with so many extra nodes, the share in which no standby is left
    into = loads * states / np.maximum(extra, 1.0)
    weight, placed = np.ones(extra.shape), none.copy()
    for row in range(1, rows):
        weight[row] = into[row] * placed[max(0, row - standbys - 1) : row].sum(axis=0)
        placed[row] = none[row] * weight[row]
    return placed.sum(axis=0) / weight.sum(axis=0)
