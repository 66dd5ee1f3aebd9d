"""The nodes of a job and around it, compiled: who fails, who goes to repair, who comes back, and who takes which place."""

import numpy as np

from reliability.fleet_compiled import compiled
from reliability.fleet_heap import pop, push
from reliability.fleet_numbers import AUTOMATIC, FATE, GAP, JOIN, KIND, LIFE, MANUAL, NODE, take
from reliability.fleet_result import COUNTS
from reliability.fleet_tree import earliest, set_time, time_of

REPAIRED, RETIRED, GOOD_RETIRED = (
    COUNTS.index(name) for name in ("nodes_repaired", "nodes_retired", "good_nodes_retired")
)


@compiled
def place_all(r):
    """Put every node into its first place: all into the job, then spares, standbys and idle ones out of it at random."""
    s, c = r.s, r.c
    r.ends[:] = np.inf
    for node in range(c.nodes):
        r.nodes[node].bad, r.nodes[node].blamed = node < c.bad, 0
        _enter(r, node)
    while s.spare < c.spares:
        r.nodes[s.spare].spare = _leave(r, _any(r, JOIN))
        s.spare += 1
    _keep_job(r)


@compiled
def rate(r):
    """Return the rate of failures of the job as it is, where lives are exponential."""
    return r.c.random * r.s.active + r.c.systematic * r.s.bad


@compiled
def until_failure(r):
    """Return the time to the next failure, as long as the job's clock of failures runs."""
    if r.c.aged:
        return r.ends[1] - r.s.clock
    now = rate(r)
    return r.s.hazard / now if now > 0 else np.inf


@compiled
def age(r, time):
    """Let the nodes of the job run for a time."""
    if r.c.aged:
        r.s.clock += time
    else:
        r.s.hazard -= time * rate(r)


@compiled
def failing(r):
    """Return the seat of the node that fails now, and whether systematically."""
    c, s = r.c, r.s
    if c.aged:
        node = earliest(r.ends)
        return r.nodes[node].seat, r.nodes[node].systematic
    point, random = take(r, KIND) * rate(r), c.random * s.active
    if s.bad and point >= random:
        return min(int((point - random) / c.systematic), s.bad - 1), True
    return min(int(point / c.random), s.active - 1), False


@compiled
def withdraw_another(r, seat, u):
    """Send another node of the job to repair than the one that failed, picked by a uniform number."""
    other = min(int(u * (r.s.active - 1)), r.s.active - 2)
    node = r.nodes[other + (other >= seat)].member
    go_on(r, seat)
    withdraw(r, r.nodes[node].seat, True)


@compiled
def go_on(r, seat):
    """Let a node that failed go on unrepaired, with a new life; its seat may change."""
    if r.c.aged:
        node = _leave(r, seat)
        _renew(r, node)
        _enter(r, node)


@compiled
def withdraw(r, seat, blamed):
    """Send a node of the job to repair, or retire it where it was `blamed` often enough."""
    c, s = r.c, r.s
    node = _leave(r, seat)
    r.s.counts[REPAIRED] += 1
    fate, p = take(r, FATE), c.to_manual
    manual = fate < p
    time = c.automatic + c.manual * manual
    if c.exponential:
        time = c.automatic * take(r, AUTOMATIC)
        if manual:
            time += c.manual * take(r, MANUAL)
    # One number tells which stage ends the repair, and whether that cures.
    cured = fate < p * (1 - c.manual_fails) if manual else fate - p < (1 - p) * (1 - c.automatic_fails)
    if blamed and c.retire and _retires(r, node):
        r.s.counts[RETIRED] += 1
        r.s.counts[GOOD_RETIRED] += not r.nodes[node].bad
        return
    if cured:
        r.nodes[node].bad = False
    if c.aged:
        _renew(r, node)
    push(r.back, s.away, s.now + time + c.requalify, node)
    s.away += 1


@compiled
def withdraw_any(r):
    """Send any node of the job to repair."""
    withdraw(r, _any(r, NODE), False)


@compiled
def _retires(r, node):
    """Count a blamed failure of a node; returns whether it is the last that the rule allows."""
    r.nodes[node].blamed += 1
    enough = r.nodes[node].blamed >= r.c.retire
    if not len(r.blames):
        return enough
    # The oldest of the last so many, after which comes the next
    r.blames[node, (r.nodes[node].blamed - 1) % r.c.retire] = r.s.now
    return enough and r.s.now - r.blames[node, r.nodes[node].blamed % r.c.retire] <= r.c.window


@compiled
def until_return(r):
    """Return the time until the next node comes back from repair; inf where none is there."""
    return max(r.back[0].time - r.s.now, 0.0) if r.s.away else np.inf


@compiled
def returned(r):
    """Take in the nodes that have come back from repair by now: as standbys, up to their number, or idle."""
    s = r.s
    while s.away and r.back[0].time <= s.now:
        node = pop(r.back, s.away)
        s.away -= 1
        _set_aside(r, node)


@compiled
def missing(r):
    """Return how many nodes the job lacks."""
    return r.c.job - r.s.active


@compiled
def available(r):
    """Return the nodes of the working pool that are not in repair."""
    return r.s.active + r.s.standing + r.s.idle


@compiled
def join(r):
    """Let standbys take the places of lost nodes: of all of them or none, in an elastic job of as many as can be."""
    s = r.s
    lacking = missing(r)
    if s.standing < lacking:
        lacking = s.standing if r.c.elastic else 0
    for _ in range(lacking):
        which = min(int(take(r, JOIN) * s.standing), s.standing - 1)
        node = r.nodes[which].standing
        s.standing -= 1
        r.nodes[which].standing = r.nodes[s.standing].standing
        _enter(r, node)


@compiled
def select(r):
    """Host selection: the job and its standbys are drawn anew from what is available."""
    s = r.s
    for i in range(s.standing):
        _enter(r, r.nodes[i].standing)
    for i in range(s.idle):
        _enter(r, r.nodes[i].idling)
    _keep_job(r)


@compiled
def preempt(r):
    """Take one spare into the working pool."""
    r.s.spare -= 1
    r.nodes[r.s.idle].idling = r.nodes[r.s.spare].spare
    r.s.idle += 1


@compiled
def _keep_job(r):
    """Draw those that are too many for the job out of it: standbys first, then idle ones."""
    c, s = r.c, r.s
    s.standing = s.idle = 0
    while s.active > c.job:
        _set_aside(r, _leave(r, _any(r, JOIN)))


@compiled
def _set_aside(r, node):
    """Let a node stand by, up to the number of standbys, or idle; in an elastic job all stand by."""
    s = r.s
    if r.c.elastic or s.standing < r.c.standbys:
        r.nodes[s.standing].standing = node
        s.standing += 1
    else:
        r.nodes[s.idle].idling = node
        s.idle += 1


@compiled
def _any(r, purpose):
    """Return any seat of the job."""
    return min(int(take(r, purpose) * r.s.active), r.s.active - 1)


@compiled
def _enter(r, node):
    """Give a node a seat in the job: bad ones sit before good ones."""
    s, seat = r.s, r.s.active
    s.active += 1
    if r.nodes[node].bad:
        if s.bad < seat:
            _sit(r, r.nodes[s.bad].member, seat)
        seat = s.bad
        s.bad += 1
    _sit(r, node, seat)
    if r.c.aged:
        set_time(r.ends, node, s.clock + r.nodes[node].life)


@compiled
def _leave(r, seat):
    """Take the node in a seat out of the job, and return it."""
    s, node = r.s, r.nodes[seat].member
    if seat < s.bad:
        s.bad -= 1
        _sit(r, r.nodes[s.bad].member, seat)
        seat = s.bad
    s.active -= 1
    if seat < s.active:  # not so where only bad ones are left, and the last has moved already
        _sit(r, r.nodes[s.active].member, seat)
    if r.c.aged:
        r.nodes[node].life = time_of(r.ends, node) - s.clock
        set_time(r.ends, node, np.inf)
    return node


@compiled
def _sit(r, node, seat):
    r.nodes[seat].member, r.nodes[node].seat = node, seat


@compiled
def _renew(r, node):
    """Give a node that is not in the job a new life."""
    r.nodes[node].life, r.nodes[node].systematic = take(r, LIFE), False
    if r.nodes[node].bad and r.c.systematic > 0:
        sooner = take(r, GAP) / r.c.systematic
        if sooner < r.nodes[node].life:
            r.nodes[node].life, r.nodes[node].systematic = sooner, True
