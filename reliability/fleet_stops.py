"""How a job stops and comes back, compiled: faults, restarts, host selection, preemption, waits for a repair."""

import numpy as np

from reliability import fleet_nodes as nodes
from reliability import fleet_work as work
from reliability.budget import DETECTION, RESTART, USEFUL, WAITING
from reliability.fleet_compiled import compiled
from reliability.fleet_numbers import CLASS, GAP, SIZE, take
from reliability.fleet_result import COUNTS

RUNNING, DETECTING, RESTARTING, GROWING, SELECTING, PREEMPTING, LACKING = range(7)  # phases
BINS_OF_PHASES = (USEFUL, DETECTION, RESTART, RESTART, WAITING, WAITING, WAITING)
FAILURES, SYSTEMATIC, BURSTS, MISDIAGNOSED, SELECTIONS, PREEMPTIONS = (
    COUNTS.index(name)
    for name in ("failures", "systematic", "bursts", "misdiagnosed", "host_selections", "preemptions")
)


@compiled
def fault(r):
    """A fault strikes: work since the last commit is lost, blamed nodes go to repair, the stop begins."""
    c, s, counts = r.c, r.s, r.s.counts
    kind, u = _class(r)
    work.roll_back(r)
    seat, systematic = nodes.failing(r)
    size = _radius(r, systematic)
    counts[FAILURES] += 1
    counts[SYSTEMATIC] += systematic
    if size > 1:  # a burst, in which no single node is to blame, were the job down to one
        others = min(size, s.active) - 1
        counts[BURSTS] += 1
        nodes.withdraw(r, seat, False)
        for _ in range(others):
            nodes.withdraw_any(r)
    elif u < r.table[kind].right:
        nodes.withdraw(r, seat, True)
    elif u < r.table[kind].right + r.table[kind].wrong and r.s.active > 1:  # another node than it
        counts[MISDIAGNOSED] += 1
        nodes.withdraw_another(r, seat, (u - r.table[kind].right) / r.table[kind].wrong)
    else:
        nodes.go_on(r, seat)
    if not c.aged:
        s.hazard = take(r, GAP)
    _begin(r, DETECTING, r.table[kind].detection)


@compiled
def _class(r):
    """Return the class of a fault, and a uniform number that tells who is blamed."""
    if not r.c.blames:
        return 0, 0.0
    u, kind = take(r, CLASS), 0
    while kind < r.c.classes - 1 and u >= r.table[kind].share:
        u -= r.table[kind].share
        kind += 1
    return kind, u / r.table[kind].share


@compiled
def _radius(r, systematic):
    """Return the blast radius of a failure: how many nodes it takes, its own included, if the job has them."""
    if not r.c.bursts:
        return 1
    u, i = take(r, SIZE), 0
    while i < r.c.sizes - 1 and u >= r.table[i].burst_share:
        u -= r.table[i].burst_share
        i += 1
    return 1 if systematic else r.table[i].burst_size


@compiled
def begin_pause(r, length):
    """The job stops to restart, with the nodes that it has."""
    _begin(r, RESTARTING, length)


@compiled
def begin_growth(r):
    """Take in the nodes that have come back; where that makes an elastic job wider, it stops for it."""
    s = r.s
    nodes.returned(r)
    after = min(r.c.job, s.active + s.standing)
    if r.table[after].width > r.table[s.active].width:
        _begin(r, GROWING, r.c.grow)
    else:
        nodes.join(r)


@compiled
def begin_selection(r):
    """Hosts are selected, and the job stands for it."""
    r.s.counts[SELECTIONS] += 1
    _begin(r, SELECTING, r.c.selection)


@compiled
def next_phase(r):
    """A phase of a stop has ended."""
    phase = r.s.phase
    nodes.returned(r)
    if phase == DETECTING:
        _begin(r, RESTARTING, _restart(r))
    elif phase == SELECTING:
        _run(r)
    else:
        if phase == PREEMPTING:
            nodes.preempt(r)
            r.s.counts[PREEMPTIONS] += 1
        elif phase != LACKING or r.c.elastic:
            nodes.join(r)
        _fill(r, phase)


@compiled
def _restart(r):
    """Return the length of the restart: a swap where enough stand by for those lost."""
    missing = nodes.missing(r)
    if missing == 0:
        return r.c.restart
    return r.c.swap if r.s.standing >= missing else r.c.short


@compiled
def _fill(r, phase):
    """Run, if the job has its nodes; else select hosts anew, preempt a spare, or wait for a repair."""
    c, s = r.c, r.s
    if c.elastic:
        if r.table[s.active].width > 0:
            _run(r)
        else:
            _begin(r, LACKING, np.inf)
    elif s.active == c.job:
        _run(r)
    else:
        wanted = c.job + c.standbys if phase == PREEMPTING and s.spare > 0 else c.job
        if nodes.available(r) >= wanted:
            nodes.select(r)
            begin_selection(r)
        elif s.spare > 0:
            _begin(r, PREEMPTING, c.preemption)
        else:
            _begin(r, LACKING, np.inf)


@compiled
def _begin(r, phase, length):
    r.s.phase, r.s.left = phase, length


@compiled
def _run(r):
    _begin(r, RUNNING, 0.0)
    set_speed(r)


@compiled
def set_speed(r):
    """Set the share of full speed at which the job computes."""
    speed = r.c.slowed if r.s.slow else 1.0
    r.s.speed = speed * r.table[r.s.active].width if r.c.elastic else speed
