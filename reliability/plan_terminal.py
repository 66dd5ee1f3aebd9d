"""A plan, and the comparison of two, for a terminal of eighty columns."""

import html
import textwrap

from reliability import plan_ettr_text as ettr_text
from reliability import plan_input_text as input_text
from reliability import plan_text as text
from reliability.plan_standby_text import pool, standbys
from reliability.plan_words import amount, chance, literal, points, share
from reliability.text import table

WIDTH = 79
# As `plan_text.BIN_WORDS`, of at most 19 characters, so that two columns of intervals fit beside it.
BIN_WORDS = {
    "useful": "work that lasts",
    "checkpoint": "writing checkpoints",
    "redone": "work undone",
    "detection": "not yet noticed",
    "restart": "restarts",
    "waiting": "waiting for a node",
    "degraded": "slow ranks",
}
POOL = ("standby nodes", "failure finds none", "run out in the run")
COMPARED = {
    "ettr_now": "expected ETTR, now",
    "ettr_planned": "expected ETTR, under the plan",
    "mtbf_h": "hours between interruptions",
    "lost_gpu_hours": "GPU-hours lost, standbys included, now",
    "lost_gpu_hours_planned": "GPU-hours lost, standbys included, plan",
    "lost": "cost of the hours lost, now",
    "lost_planned": "cost of the hours lost, under the plan",
    "interval_min": "checkpoint interval of the plan (min)",
    "standbys": "standby nodes of the plan",
}
NOTHING = points({"value": 0.0, "low": 0.0, "high": 0.0})


def plan(d):
    """Return a plan as text.

    Parameters
    ----------
    d : dict
        What :func:`reliability.plan_document.document` returns.
    """
    classes = [[_cut(row["class"], 19), share(row["share"]), share(row["lost"])] for row in d["failures"]["classes"]]
    hours = [[name, share(row["now"]), share(row["planned"])] for name, row in text.hours(d, BIN_WORDS)]
    inputs = [
        [_cut(what, 36), value if value == "not given" else f"{value} {unit}"]
        for what, _, value, unit in input_text.rows(d)
        if what != input_text.RATE  # below, in other units as well
    ]
    levers = [[_cut(lever["what"], 32), text.kind(lever), points(lever["gain"])] for lever in d["levers"]]
    source = f"The rate comes from {d['failures']['source']}."
    log = d["failures"]["logs"].get("failures", {})
    if log.get("incidents"):
        source += f" The plan draws it for its run: {log['rate_basis']}."
    parts = [
        _wrapped(text.answer(d)),
        _wrapped(input_text.values_note(d)),
        _part("The inputs", table(["input", "value, 95% range"], inputs)),
        _part(
            "Failures",
            _wrapped(source),
            table(["what", "value, 95% interval"], text.rates(d)),
            table(["class", "of the failures", "of all time lost"], classes),
        ),
        *(
            _part("Logs", *(_log(role, found) for role, found in d["failures"]["logs"].items()))
            for _ in range(bool(d["failures"]["logs"]))
        ),
        _part("Where the hours go", table(["", "now", "under the plan"], hours)),
        _part(
            "ETTR",
            table(["", "now", "under the plan"], ettr_text.ratios(d)),
            _wrapped(ettr_text.two_intervals(d)),
            _wrapped(ettr_text.check(d)),
        ),
        _part("Checkpoint interval", _wrapped(text.interval(d))),
        _part(
            "Standby nodes",
            _wrapped(standbys(d)),
            *(
                []
                if d["standbys"] is None
                else [
                    table(
                        ["", "now", "under the plan"],
                        [[name, *row[1:]] for name, row in zip(POOL, pool(d), strict=True)],
                    )
                ]
            ),
        ),
        _part("What each lever adds alone, in percentage points of ETTR", table(["lever", "", "ETTR"], levers, "llr")),
        _part(
            f"Cost over the run{'' if d['job']['currency'] is None else ', GPU-hours and ' + d['job']['currency']}",
            *_costs(d),
        ),
        _part("Target", _wrapped(text.target(d))),
        _part(
            "Not known",
            "\n".join(_item(f"{u['what']}: {u['instead']}. Would tell: {u['tells']}.") for u in d["unknown"]),
        ),
        _wrapped("Next: python -m reliability plan CLUSTER.toml --out DIR leaves this as a report."),
    ]
    return "\n\n".join(parts) + "\n"


def short(d):
    """Return a plan's answer in a few lines."""
    saved = [amount(d["cost"]["saved_gpu_hours"], " GPU-hours")]
    if d["job"]["currency"]:
        saved.append(amount(d["cost"]["saved"], f" {d['job']['currency']}"))
    said = (text.answer(d), f"Saved over the run: {', '.join(saved)}.", input_text.values_note(d))
    return "".join(f"{_wrapped(part)}\n\n" for part in said)


def comparison_short(d):
    """Return what two plans differ in, in a few lines."""
    found = {row["what"]: row["difference"] for row in d["differences"]}
    rows = [("percentage points of expected ETTR", points, "ettr_now", "ettr_planned")]
    rows.append(("GPU-hours lost, standbys included", amount, "lost_gpu_hours", "lost_gpu_hours_planned"))
    if "lost" in found:
        currencies = {d[which]["currency"] for which in ("first", "second")}
        rows.append((f"their cost in {' and '.join(sorted(currencies))}", amount, "lost", "lost_planned"))
    said = [f"{what}: {write(found[now])} now, {write(found[then])} under the plan." for what, write, now, then in rows]
    return _wrapped("Second less first, each with its 95% interval:") + "\n" + "\n".join(map(_item, said)) + "\n\n"


def _part(heading, *parts):
    return "\n\n".join([f"{heading}\n{'-' * len(heading)}", *filter(None, parts)])


def _plainly(markdown):
    return html.unescape(markdown.replace("**", "").replace("`", ""))


def _wrapped(markdown):
    return textwrap.fill(_plainly(markdown), WIDTH, break_long_words=False, break_on_hyphens=False)


def _cut(words, width):
    return words if len(words) <= width else words[: width - 1] + "…"


def _item(line):
    return textwrap.fill(
        line, WIDTH, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _costs(d):
    """One line for each cost: three columns of intervals would not fit."""
    lines = []
    for what, *values in text.costs(d):
        lines.append(f"{what}:\n    " + "\n    ".join(values))
    return ["\n".join(lines)]


def _log(role, found):
    head = textwrap.fill(f"{text.ROLES[role]}, {found['file']}: {found['said']}", WIDTH, break_long_words=False)
    rows = [
        _item("; ".join(f"{name}: {cell}" for name, cell in zip(found["header"], row, strict=True)))
        for row in found.get("rows", ())
    ]
    return "\n".join([head, *rows, *(_item(line) for line in found.get("lines", ()))])


def comparison(d):
    """Return the comparison of two plans as Markdown of eighty columns.

    Parameters
    ----------
    d : dict
        What :func:`reliability.plan_compare.compare` returns.
    """
    first, second = (literal(d[which]["name"] or f"the {which}") for which in ("first", "second"))
    parts = [_wrapped(f"First: {first}, {d['first']['gpus']:,} GPUs. Second: {second}, {d['second']['gpus']:,} GPUs.")]
    for row in d["differences"]:
        ratio = row["what"].startswith("ettr")
        write = share if ratio else amount
        lines = [
            ["first", write(row["first"])],
            ["second", write(row["second"])],
            ["second less first", points(row["difference"]) + " points" if ratio else amount(row["difference"])],
        ]
        if row["chance_second_better"] is not None:
            none = ratio and points(row["difference"]) == NOTHING
            lines.append(["second is better", "no difference" if none else chance(row["chance_second_better"])])
        parts.append(table([COMPARED[row["what"]], ""], lines))
    return "\n\n".join(parts) + "\n\nOn the same random numbers, draw by draw; each with its 95% interval.\n"
