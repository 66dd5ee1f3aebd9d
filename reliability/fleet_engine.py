"""The fleet model, event by event, compiled; and the loop over replications that feeds it with random numbers."""

import numpy as np
from numba import njit, typeof

from reliability import fleet_nodes as nodes
from reliability import fleet_stops as stops
from reliability import fleet_work as work
from reliability.budget import BINS, USEFUL
from reliability.fleet_compiled import compiled
from reliability.fleet_config import MOST_EVENTS, FleetError
from reliability.fleet_numbers import GAP, SILENT, STRAGGLER, take
from reliability.fleet_result import COUNTS
from reliability.fleet_sources import COMPILED, sources
from reliability.fleet_state import Replication, Workspace
from reliability.fleet_stops import BINS_OF_PHASES, FAILURES, LACKING, RUNNING
from reliability.units import HOUR_S

STRAGGLERS_FOUND = COUNTS.index("stragglers_found")
CORRUPTIONS_FOUND = COUNTS.index("corruptions_found")
EVENTS = [FAILURES, STRAGGLERS_FOUND, CORRUPTIONS_FOUND]  # without an end where the work is never done
AT_A_TIME = 1_000_000  # events, which take less than a second
FAILURE, WORK, SPEED, RETURN, HORIZON = range(5)  # events of a running job
OPTIONS = {"error_model": "numpy", "nogil": True}  # of what numba compiles to be called from outside


def simulate(fleets, key, first):
    """Simulate replication `first + i` of a key under ``fleets[i]``.

    Returns
    -------
    (elapsed, bins, counts) : arrays [n], [len(BINS), n], [len(COUNTS), n]
        Seconds, seconds, and numbers.
    """
    number, ready = len(fleets), None
    elapsed, bins, counts = np.zeros(number), np.zeros((len(BINS), number)), np.zeros((len(COUNTS), number))
    for i, fleet in enumerate(fleets):
        if ready is None or fleet is not fleets[i - 1]:
            ready = Workspace(fleet)
        state = _run_to_the_end(fleet, ready, key, first + i)
        elapsed[i], bins[:, i], counts[:, i] = state["now"], state["bins"], state["counts"]
    return elapsed, bins, counts


def prepare(fleet):
    """Compile the model, or load it, unless that is done: no clock is to count it as simulating."""
    global run
    if getattr(run, "signatures", True):  # without compiling, run is a function as any other
        return
    signature = tuple(map(typeof, Workspace(fleet).arrays))
    try:
        run.compile(signature)
    except Exception:  # it cannot be kept, on a disk that is full, or what is kept cannot be read
        if not run.signatures:
            run = njit(**OPTIONS)(run.py_func)
            run.compile(signature)


def _run_to_the_end(fleet, ready, key, index):
    ready.open(key, index)
    state = ready.state[0]
    while not run(*ready.arrays):
        if fleet.work_h is not None and state["counts"][EVENTS].max() > MOST_EVENTS:
            raise FleetError(
                f"work_h = {fleet.work_h:g}: after {MOST_EVENTS:,.0f} failures or other events {state['bins'][USEFUL] / HOUR_S:,.4g} hours "
                "of it are done; it is lost about as fast as it is done, or stops follow one another: give horizon_h instead"
            )
        ready.refill()
    if state["lost_for_good"]:
        raise FleetError(
            "work_h: the pool has shrunk below job_nodes for good, and the work is never done; give horizon_h instead"
        )
    return state


@compiled
def _begin(r):
    nodes.place_all(r)
    c, s = r.c, r.s
    s.begun, s.speed = True, 1.0
    if not c.aged:
        s.hazard = take(r, GAP)
    if c.corruption:
        s.silent = take(r, SILENT)
    if c.straggler:
        s.slow_left = take(r, STRAGGLER) / c.slow_rate
    stops.begin_selection(r)


@compiled
def _run(r):
    """Run the job to its end, or until random numbers run low or Python is to look for an interruption; returns whether it has ended."""
    if not r.s.begun:
        _begin(r)
    for _ in range(AT_A_TIME):
        if r.s.low:
            break
        if _turn(r) if r.s.phase == RUNNING else _stand(r):
            return True
    return False


@compiled
def _turn(r):
    """Take a running job to its next event, and through it; returns whether it has come to its end."""
    c, s = r.c, r.s
    time, event = nodes.until_failure(r), FAILURE
    if c.straggler and s.slow_left < time:
        time, event = s.slow_left, SPEED
    if c.elastic and s.active < c.job:
        until = nodes.until_return(r)
        if until < time:
            time, event = until, RETURN
    if c.limit - s.now <= time:
        time, event = c.limit - s.now, HORIZON
    if c.checkpoints:
        leapt = work.leap(r, time)
        if leapt > 0:
            _pass(r, leapt)
            return False
    own, following = work.until_next(r)
    if own < time or (own == time and event != HORIZON):
        time, event = own, WORK
    work.advance(r, time)
    _pass(r, time)
    if event == FAILURE:
        stops.fault(r)
    elif event == WORK:
        if following == work.ALL_DONE:
            return True
        if work.go_on(r, following):
            r.s.counts[CORRUPTIONS_FOUND] += 1
            stops.begin_pause(r, c.corrupted)
    elif event == SPEED:
        _change_speed(r)
    elif event == RETURN:
        stops.begin_growth(r)
        stops.set_speed(r)
    return event == HORIZON


@compiled
def _pass(r, time):
    r.s.now += time
    r.s.slow_left -= time
    nodes.age(r, time)


@compiled
def _change_speed(r):
    """A node turns slow, or those that are slow are found."""
    c, s = r.c, r.s
    s.slow = not s.slow
    if s.slow:
        s.slow_left = c.found_after
        stops.set_speed(r)
    else:
        s.slow_left = take(r, STRAGGLER) / c.slow_rate
        r.s.counts[STRAGGLERS_FOUND] += 1
        stops.begin_pause(r, c.pause)


@compiled
def _stand(r):
    """Take a stop to the end of its phase, or to a fault in it; returns whether the job has come to its end."""
    c, s = r.c, r.s
    time, failing = s.left, False
    if s.phase == LACKING:
        time = nodes.until_return(r)
    if c.always:
        until = nodes.until_failure(r)
        if until < time:
            time, failing = until, True
    ending = c.limit - s.now <= time
    if ending:
        time, failing = c.limit - s.now, False
        if time == np.inf:
            s.lost_for_good = True
            return True
    s.now += time
    s.left -= time
    r.s.bins[BINS_OF_PHASES[s.phase]] += time
    if c.always:
        nodes.age(r, time)
    if failing:
        stops.fault(r)
    elif not ending:
        stops.next_phase(r)
    return ending


def _keep():
    """Return :func:`_run`, to be called from outside, and kept on disk as long as no source changes.

    Numba looks at the file of the outermost function alone when it decides whether what it kept is still good; the
    digest among that function's constants makes it look at all of them.
    """
    digest = sources(COMPILED)

    def run(settings, state, nodes, ends, back, blames, table, drawn):
        r = Replication(settings[0], state[0], nodes, ends, back, blames, table, drawn)
        return _run(r) if digest else False

    try:
        return njit(cache=True, **OPTIONS)(run)
    except (RuntimeError, OSError):  # there is no place that could be written to: compiled anew in each process
        return njit(**OPTIONS)(run)


run = _keep()
