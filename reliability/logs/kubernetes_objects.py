"""Kubernetes' JSON taken apart: events and conditions of nodes, with the lines where they stand."""

import json
import re
from dataclasses import dataclass, field

from reliability.logs.notes import LogError
from reliability.logs.stamps import take

EXPECTED = "JSON of kubectl get events or kubectl get nodes (-o json)"
US = 1_000_000
_BLANK = re.compile(r"[ \t\r\n,\ufeff\x1e]*")
_ITEMS = re.compile(r'"items"\s{0,100}:\s{0,100}\[')


@dataclass
class NodeEvent:
    """An event, of core/v1 or events.k8s.io/v1.

    Attributes
    ----------
    kind, name : str
        Of the object that it is about.
    reason, message, component : str
    warning : bool
    times : set of int
        Microseconds since 1970 (UTC) of the first and last times, of all versions read.
    count : int
    line : int
    """

    kind: str
    name: str
    reason: str
    message: str
    component: str
    warning: bool
    times: set = field(default_factory=set)
    count: int = 1
    line: int = 0


@dataclass
class Condition:
    """A condition of a node."""

    node: str
    kind: str
    status: str
    reason: str
    message: str
    since_us: int | None
    line: int


@dataclass
class Objects:
    """What a file holds."""

    events: list = field(default_factory=list)
    conditions: list = field(default_factory=list)
    nodes: dict = field(default_factory=dict)  # name -> whether it is cordoned
    rows: int = 0
    updates: list = field(default_factory=list)
    others: list = field(default_factory=list)
    cut: list = field(default_factory=list)
    undated: list = field(default_factory=list)


def read(text):
    """Take a file apart.

    Parameters
    ----------
    text : reliability.logs.files.Text

    Returns
    -------
    Objects

    Raises
    ------
    LogError
        Where it is no JSON, or none of Kubernetes.
    """
    found, known, first = Objects(), {}, None
    for line, item in _documents(text, found):
        found.rows += 1
        first = first or (line, json.dumps(item)[:80])
        if not isinstance(item, dict):
            found.others.append(line)
        elif _is_node(item):
            _node(item, line, found)
        elif (event := _event(item, line)) is not None:
            _keep(event, item, known, found)
        else:
            found.others.append(line)
    if not found.events and not found.nodes and found.rows and len(found.others) == found.rows:
        raise LogError(text.name, *first, EXPECTED)
    return found


def _documents(text, found):
    """Yield (line, object): items of lists, or objects one after the other."""
    whole, decoder, place, line, seen = text.read(), json.JSONDecoder(), 0, 1, 0
    place = _BLANK.match(whole).end()
    while place < len(whole):
        line += whole.count("\n", seen, place)
        seen = place
        try:
            item, end = decoder.raw_decode(whole, place)
        except (ValueError, RecursionError) as error:
            at = getattr(error, "pos", place)
            rest = whole[place : place + 200].split("\n")[0]
            if found.rows and "\n" not in whole[place:].strip("\n"):  # the last line of many was cut
                found.cut.append(line)
                return
            raise LogError(text.name, line + whole.count("\n", place, at), rest, EXPECTED) from None
        if (
            isinstance(item, dict)
            and item.get("type") in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK")
            and "object" in item
        ):
            item = item["object"]
        if isinstance(item, dict) and isinstance(item.get("items"), list):
            yield from _items(item["items"], whole, place, end, line, decoder)
        elif isinstance(item, list):
            yield from _items(item, whole, place, end, line, decoder)
        else:
            yield line, item
        place = _BLANK.match(whole, end).end()


def _items(items, whole, start, end, line, decoder):
    """Items of a list with their lines; with the list's line where they cannot be told."""
    opening = _ITEMS.search(whole, start, end) if whole[start] == "{" else re.compile(r"\[").match(whole, start)
    at, seen = (opening.end(), start) if opening else (None, start)
    for item in items:
        if at is not None:
            at = _BLANK.match(whole, at).end()
            try:
                again, after = decoder.raw_decode(whole, at)
            except (ValueError, RecursionError):
                again, after = None, at
            if again == item:
                line += whole.count("\n", seen, at)
                seen, at = at, after
            else:
                at = None
        yield line, item


def _is_node(item):
    return item.get("kind") == "Node" or (
        "kind" not in item
        and isinstance(_table(item, "status").get("conditions"), list)
        and "nodeInfo" in item["status"]
    )


def _node(item, line, found):
    name = _text(_table(item, "metadata"), "name")
    if not name:
        found.others.append(line)
        return
    found.nodes[name] = _table(item, "spec").get("unschedulable") is True
    conditions = _table(item, "status").get("conditions")
    for row in conditions if isinstance(conditions, list) else ():
        if isinstance(row, dict) and _text(row, "type"):
            texts = (_text(row, key) or "" for key in ("type", "status", "reason", "message"))
            found.conditions.append(Condition(name, *texts, _time(row.get("lastTransitionTime")), line))


def _event(item, line):
    about = _table(item, "involvedObject") or _table(item, "regarding")
    if not about or "reason" not in item:
        return None
    series = _table(item, "series")
    counts = [item.get("count"), item.get("deprecatedCount"), series.get("count")]
    times = [
        item.get("firstTimestamp"),
        item.get("lastTimestamp"),
        item.get("deprecatedFirstTimestamp"),
        item.get("deprecatedLastTimestamp"),
        item.get("eventTime"),
        series.get("lastObservedTime"),
    ]
    # First and last are mostly one text: it is read once.
    texts = {text for text in times if isinstance(text, str)}
    known = {time for time in map(_time, texts) if time is not None}
    if not known and (made := _time(_table(item, "metadata").get("creationTimestamp"))) is not None:
        known = {made}
    source = _table(item, "source") or _table(item, "deprecatedSource")
    component = (
        _text(source, "component") or _text(item, "reportingComponent") or _text(item, "reportingController") or ""
    )
    return NodeEvent(
        _text(about, "kind") or "",
        _text(about, "name") or "",
        _text(item, "reason") or "",
        _text(item, "message") or _text(item, "note") or "",
        component,
        item.get("type") == "Warning",
        known,
        max([c for c in counts if isinstance(c, int) and not isinstance(c, bool) and 0 < c < 2**31], default=1),
        line,
    )


def _keep(event, item, known, found):
    """Add an event, or bring the one up to date that it is a later version of."""
    about = _table(item, "metadata")
    key = _text(about, "uid") or (_text(about, "namespace"), _text(about, "name"))
    earlier = known.get(key) if key and key != (None, None) else None
    if earlier is not None and (earlier.name, earlier.reason) == (event.name, event.reason):
        earlier.times |= event.times
        earlier.count = max(earlier.count, event.count)
        found.updates.append(event.line)
        return
    known[key] = event
    found.events.append(event)
    if not event.times:
        found.undated.append(event.line)


def _table(item, key):
    value = item.get(key)
    return value if isinstance(value, dict) else {}


def _text(item, key):
    value = item.get(key)
    return value if isinstance(value, str) else None


def _time(value):
    """Microseconds of a time in RFC 3339; None where there is none, or none with a zone."""
    if not isinstance(value, str):
        return None
    stamp, rest = take(value.strip())
    if stamp is None or rest or stamp.wall_us is None or stamp.offset_s is None or stamp.wall_us <= 0:
        return None
    return stamp.wall_us - stamp.offset_s * US
