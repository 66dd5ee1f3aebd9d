"""What could be bettered, and what it makes of a state."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from reliability import job_state
from reliability.job_state import State
from reliability.plan_words import many

HALF = 0.5  # the yardstick where nothing is offered
ROUNDS = 5  # in which standbys and interval follow each other, at most


@dataclass(frozen=True)
class Lever:
    """One thing that could be bettered.

    Attributes
    ----------
    name : str
    what : str
        In words, with numbers.
    offered : bool
        Whether the cluster file says that it can be had, or it is free to choose; else it is a yardstick.
    apply : callable
    """

    name: str
    what: str
    offered: bool
    apply: Callable[[State], State]


def levers(state, offers, drawn):
    """Return the levers of a state.

    Parameters
    ----------
    state : State
        As it is now, its interval set.
    offers : reliability.cluster_fields.Improvements
    drawn : function of (name, Quantity) to array [draws]

    Returns
    -------
    list of Lever
        Those that could change anything.
    """
    found = [_rate(offers), _detection(offers, drawn), _restart(state, offers, drawn), _write(offers, drawn)]
    if np.any(state.drag > 0) or offers.slowdown is not None:
        found.append(_stragglers(offers, drawn))
    if state.swap is not None and (state.load is not None or offers.standby_nodes is not None):
        found.append(_standbys(offers))
    found.append(_interval(offers))  # last: it follows the others
    return found


def _like(state, value):
    """As many draws of a value as a state has: a thinned one has the first of them."""
    return value[: len(state.rate)]


def _rate(offers):
    factor = offers.rate_factor
    share = HALF if factor is None else factor
    what = "failures halved" if factor is None else f"failures times {factor:g}"
    return Lever("rate", what, factor is not None, lambda s: replace(s, rate=s.rate * share))


def _detection(offers, drawn):
    if offers.detection_s is None:
        return Lever("detection", "detection halved", False, lambda s: replace(s, detection=s.detection * HALF))
    value = drawn("improvements.detection_s", offers.detection_s)
    what = f"detection in {offers.detection_s.value:g} s"
    return Lever(
        "detection", what, True, lambda s: replace(s, detection=np.minimum(s.detection, _like(s, value)[:, None]))
    )


def _restart(state, offers, drawn):
    cold, swap = offers.cold_restart_s, offers.standby_restart_s
    if cold is None and swap is None:
        return Lever(
            "restart",
            "restarts halved",
            False,
            lambda s: replace(s, cold=s.cold * HALF, swap=None if s.swap is None else s.swap * HALF),
        )
    changes, words = {}, []
    if cold is not None:
        changes["cold"] = drawn("improvements.cold_restart_s", cold)
        words.append(f"cold restart in {cold.value:g} s")
    if swap is not None:
        changes["swap"] = drawn("improvements.standby_restart_s", swap)
        words.append(f"swap in {swap.value:g} s")
    return Lever(
        "restart",
        " and ".join(words),
        True,
        lambda s: replace(s, **{name: _like(s, value) for name, value in changes.items()}),
    )


def _write(offers, drawn):
    if offers.write_s is None:
        return Lever("write", "writes halved", False, lambda s: replace(s, write=s.write * HALF))
    value = drawn("improvements.write_s", offers.write_s)
    return Lever("write", f"writes of {offers.write_s.value:g} s", True, lambda s: replace(s, write=_like(s, value)))


def _stragglers(offers, drawn):
    if offers.slowdown is None:
        return Lever("stragglers", "no slow ranks", False, lambda s: replace(s, drag=np.zeros_like(s.drag)))
    value = drawn("improvements.slowdown", offers.slowdown)
    return Lever(
        "stragglers",
        f"slow ranks that cost {100 * offers.slowdown.value:g}%",
        True,
        lambda s: replace(s, drag=_like(s, value)),
    )


def _standbys(offers):
    if offers.standby_nodes is not None:
        wanted = offers.standby_nodes
        return Lever("standbys", many(wanted, "standby node"), True, lambda s: replace(s, standbys=wanted))

    def best(state):
        if state.load is None or state.swap is None:
            return state
        # None is taken away: the nodes are there, and a smaller pool only pays where they can be given back.
        return replace(state, standbys=max(state.standbys, job_state.pools(state).best))

    return Lever("standbys", "further standby nodes that pay", True, best)


def _interval(offers):
    if offers.interval_min is not None:
        seconds = 60.0 * offers.interval_min
        return Lever(
            "interval", f"a checkpoint every {offers.interval_min:g} min", True, lambda s: replace(s, interval=seconds)
        )
    return Lever(
        "interval", "the best checkpoint interval", True, lambda s: replace(s, interval=job_state.best_interval(s))
    )


def together(state, chosen):
    """Apply levers one after another."""
    for lever in chosen:
        state = lever.apply(state)
    return state


def settled(state, chosen):
    """Apply levers one after another, and the standbys and the interval again until the pool is the one that pays at that interval.

    Parameters
    ----------
    state : State
    chosen : list of Lever
    """
    state = together(state, chosen)
    by_name = {lever.name: lever for lever in chosen}
    if not {"standbys", "interval"} <= set(by_name):
        return state
    for _ in range(ROUNDS):
        again = by_name["standbys"].apply(state)
        if again.standbys == state.standbys:
            break
        state = by_name["interval"].apply(again)
    return state
