"""Outages of nodes, from Kubernetes' events and conditions."""

from reliability.logs import kubernetes_rules as rules
from reliability.logs.notes import Note, note
from reliability.units import DAY_S

US = 1_000_000
SAME_S = 60.0  # two controllers report one change within it


class Outage:
    """A time in which a node was out of service.

    Attributes
    ----------
    node, cls, why : str
    start_us : int
    end_us : int or None
        None: not over when the record ended, or unknown.
    open : bool
    line : int
    component : str
    planned : bool
        Whether the node was cordoned or shut down before.
    """

    def __init__(self, node, cls, why, start_us, line, component="", end_us=None, is_open=False):
        self.node, self.cls, self.why, self.line, self.component = node, cls, why, line, component
        self.start_us, self.end_us, self.open, self.planned = start_us, end_us, is_open, False


def from_events(found, others, notes):
    """Outages of events on nodes; every other event goes to `others` as (line, time, node, cls, kind, why, event)."""
    outages, turns, planned = [], {}, {}
    for event in found.events:
        at = min(event.times, default=None)
        if event.kind != "Node":
            why = f"of a {event.kind or 'thing without a kind'}: it says nothing about the node's health"
            others.append((event.line, at, None, "other", "event", why, event))
        elif not event.name:
            others.append((event.line, at, None, "other", "review", "of a node that it does not name", event))
        elif event.reason in (rules.DOWN, rules.UP):
            if event.times:
                turns.setdefault(event.name, []).extend((time, event) for time in event.times)
            if event.reason == rules.UP or not event.times:
                why = "the node is ready again" if event.times else "NodeNotReady without a time"
                others.append((event.line, at, event.name, "other", "event" if event.times else "review", why, event))
        else:
            verdict, cls, why = rules.event(event.reason, event.message, event.warning)
            if event.reason in rules.PLANNED:
                planned.setdefault(event.name, []).extend(event.times)
            if verdict == "failure" and event.times:
                start, end = min(event.times), max(event.times)
                # It was reported up to `end`; when the repair ended is not known.
                outages.append(Outage(event.name, cls, why, start, event.line, event.component))
                outages[-1].reported_us = end
            else:
                kind = "review" if verdict == "failure" else verdict
                others.append((event.line, at, event.name, cls, kind, why, event))
    for name, points in turns.items():
        outages += _pairs(name, points)
    downs = [e for e in found.events if e.kind == "Node" and e.reason == rules.DOWN]
    between = sum(max(0, e.count - len(e.times)) for e in downs)
    if between:
        lines = tuple(e.line for e in downs if e.count > len(e.times))
        notes.append(
            Note(
                "unknown",
                "times of outages that Kubernetes only counted: the incidents are a lower bound",
                between,
                lines,
            )
        )
    for outage in outages:
        before = [t for t in planned.get(outage.node, ()) if t <= outage.start_us]
        outage.planned = bool(before) and outage.start_us - max(before) < DAY_S * US
    return outages


def _pairs(name, points):
    """Outages of one node: from each NodeNotReady to the next NodeReady."""
    outages, current = [], None
    # Of equal times, ready comes first: a node that is not ready at last is still not.
    for time, event in sorted(points, key=lambda p: (p[0], p[1].reason == rules.DOWN, p[1].line)):
        if event.reason == rules.UP:
            if current is not None:
                current.end_us, current.open, current = time, False, None
            continue
        if current is not None:
            if event.component != current.component or time - current.start_us <= SAME_S * US:
                continue  # another controller, or the same change again
            current.open = False  # it was ready in between; when is not said
        cls = rules.cause(event.reason, event.message)
        current = Outage(name, cls, "the node is not ready", time, event.line, event.component, is_open=True)
        outages.append(current)
    return outages


def with_conditions(found, outages, others, notes):
    """Outages that nodes' conditions show; they settle whether the events' ones are over."""
    last = {}
    for outage in outages:
        if outage.open and outage.why == "the node is not ready":
            last[outage.node] = outage
    undated = []
    for condition in found.conditions:
        verdict, cls, why = rules.condition(condition.kind, condition.status, condition.reason, condition.message)
        known = last.get(condition.node) if condition.kind == "Ready" else None
        if not verdict:
            if known is not None and condition.since_us is not None and condition.since_us >= known.start_us:
                known.end_us, known.open = condition.since_us, False
            continue
        if known is not None and verdict == "failure":
            known.cls = cls if known.cls == "unknown" else known.cls
            continue
        if verdict == "failure" and condition.since_us is not None:
            outages.append(Outage(condition.node, cls, why, condition.since_us, condition.line, is_open=True))
            outages[-1].planned = found.nodes.get(condition.node, False)
            continue
        if condition.since_us is None and verdict == "failure":
            undated.append(condition.line)
        kind = "review" if verdict == "failure" else verdict
        others.append((condition.line, condition.since_us, condition.node, cls, kind, why, None))
    notes += note("unknown", "start of a condition: no lastTransitionTime", undated)
    return outages


def merged(outages, window_s):
    """Join outages of a node that overlap or lie closer than the window; which lines were joined."""
    merged, found, latest = [], [], {}
    for outage in sorted(outages, key=lambda o: (o.start_us, o.line)):
        known = latest.get(outage.node)
        if known is None or not _touch(known, outage, window_s):
            latest[outage.node] = outage
            found.append(outage)
            continue
        merged.append(outage.line)
        # The more telling class stands; the end is the later one, unknown where either is.
        if known.cls in ("unknown", "other") and outage.cls not in ("unknown", "other"):
            known.cls = outage.cls
        known.why = known.why if outage.why in known.why else f"{known.why}; {outage.why}"
        _extend(known, outage)
    return found, sorted(merged)


def _touch(known, outage, window_s):
    if known.open:
        return True
    if known.end_us is not None and known.end_us > known.start_us:
        return outage.start_us <= known.end_us
    return outage.start_us - getattr(known, "reported_us", known.start_us) < window_s * US and not _is_two_outages(
        known, outage
    )


def _is_two_outages(known, outage):
    # Two NodeNotReady of one node, with a NodeReady in between that is not in the file.
    return known.why == outage.why == "the node is not ready"


def _extend(known, outage):
    if outage.open:
        known.open, known.end_us = True, None
    elif outage.end_us is not None and not known.open:
        known.end_us = max(known.end_us or 0, outage.end_us)
    known.reported_us = max(
        getattr(known, "reported_us", known.start_us), getattr(outage, "reported_us", outage.start_us)
    )
