"""What is told about a kernel log: what was merged, left out, lost or not known."""

from collections import Counter

from reliability.logs.episodes import SXID
from reliability.logs.notes import Note, note
from reliability.text import counted


def notes(found, episodes, review, window_s):
    """Yield notes on what was read, merged and left out.

    Parameters
    ----------
    found : reliability.logs.kernel_records.Scan
    episodes : list of reliability.logs.episodes.Episode
        Judged.
    review : list of (Quote, str)
    window_s : float
        The silence that ends a storm.
    """
    yield from note("dropped", "an Xid message cut within its code", found.cut)
    yield from note("dropped", "the same line twice", found.doubled)
    printed, failures = sum(r.printed for r in found.records), [e for e in episodes if e.verdict == "failure"]
    said = sum(r.messages for r in found.records)
    storms = sum(e.code != SXID for e in episodes)
    if said > storms:
        text = f"Xid messages that go on a storm, which {window_s:g} s of silence or a boot end; {said:,} in all on {counted(printed, 'line')}"
        yield Note("merged", text, said - storms)
    if found.repeated:
        text = f"messages that syslog only counted as repeated ({_on_lines(found.repeated)})"
        yield Note("warning", text, sum(count for _, count in found.repeated))
    if found.lost:
        text = f"messages lost on their way to the log ({_on_lines(found.lost)}): every count is a lower bound"
        yield Note("warning", text, sum(count for _, count in found.lost))
    together = [e for e in episodes if e.rule is not None and e.rule.other_gpu]
    text = "failures of other parts of the same node within a minute: one incident of the node"
    yield from note("merged", text, [e.line for e in together])
    followers = [e for e in episodes if e.rule is not None and not e.rule.other_gpu]
    yield from note("excluded", "followers of another failure", [e.line for e in followers])
    alone = [e for e in episodes if e.verdict == "event" and e.parent is None]
    for name, rows in _by_name(alone):
        yield from note("excluded", name, [e.line for e in rows])
    doubtful = [e.line for e in episodes if e.verdict == "review"] + [quote.line.number for quote, _ in review]
    yield from note("warning", "cases for review, not counted", sorted(doubtful))
    confirmed = [quote.line.number for e in episodes for quote in e.confirmed_by]
    yield from note("excluded", "reports by other programs of a message counted already", sorted(confirmed))
    yield from note("excluded", "lines that only quote a message or a command", found.quotes.passed_over)
    unnamed = [e.line for e in failures if e.host is None]
    yield from note("unknown", "host: the lines name none; tell node='…'", unnamed)
    yield from note("unknown", "GPU: the line has no address", [e.line for e in failures if e.gpu is None])


def _on_lines(pairs):
    numbers = [str(number) for number, _ in pairs]
    more = ", …" if len(numbers) > 3 else ""
    return f"line{'s' * (len(numbers) > 1)} {', '.join(numbers[:3])}{more}"


def _by_name(episodes):
    switches = [e for e in episodes if e.code == SXID]
    if switches:
        yield "SXid events that the switch calls non-fatal", switches
    rest = [e for e in episodes if e.code != SXID]
    if rest:
        counts = ", ".join(f"{code} ({count}x)" if count > 1 else f"{code}" for code, count in _counts(rest))
        yield f"Xid codes that are no failure of their own: {counts}", rest


def _counts(episodes):
    return sorted(Counter(e.code for e in episodes).items())
