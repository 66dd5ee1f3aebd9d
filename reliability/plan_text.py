"""A plan in sentences and tables: Markdown, whose every number comes from the plan's document."""

from reliability import plan_ettr_text, plan_input_text
from reliability.plan import LIKELY, SURE
from reliability.plan_standby_text import pool_named, pool_table, standbys
from reliability.plan_words import amount, chance, listed, literal, points, share, short
from reliability.text import percent, table

BIN_WORDS = {
    "useful": "work that lasts",
    "checkpoint": "writing checkpoints",
    "redone": "work that a failure undid",
    "detection": "failures not yet noticed",
    "restart": "restarts",
    "waiting": "waiting for a node",
    "degraded": "waiting for slow ranks",
}
ROLES = {
    "failures": "The log of failures",
    "classes": "The log of classes",
    "step_times": "The step times",
    "training": "The training log",
}


def sections(d):
    """Return the texts of a plan by name.

    Parameters
    ----------
    d : dict
        What :func:`reliability.plan_document.document` returns.
    """
    return {
        "answer": answer(d),
        "values": plan_input_text.values_note(d),
        "inputs": plan_input_text.section(d),
        "failures": _failures(d),
        "logs": logs(d["failures"]["logs"]),
        "hours": _hours(d),
        "ettr": plan_ettr_text.section(d),
        "interval": f"{interval(d)}\n\n{_formulas(d)}",
        "standbys": standbys(d) if d["standbys"] is None else f"{standbys(d)}\n\n{pool_table(d)}",
        "levers": _levers(d),
        "cost": _cost(d),
        "target": target(d),
        "unknown": _unknown(d),
    }


def answer(d):
    """Return the answer in a paragraph."""
    now, planned = d["ettr"]["now"], d["ettr"]["planned"]
    by = [f"a checkpoint every {short(d['interval']['planned_min'])} min"]
    if d["standbys"] is not None:
        by.append(pool_named(d["standbys"]))
    by += [lever["what"] for lever in d["levers"] if lever["offered"] and lever["name"] not in ("interval", "standbys")]
    named = f"**{literal(d['name'])}**" if d["name"] else "The cluster"
    return (
        f"{named}, {d['job']['gpus']:,} GPUs over {short(d['job']['horizon_h'] / 24)} days, turns {share(now)} of its time into work as it is. "
        f"With {listed(by)} it is {share(planned)}. {_verdict(d)}{_without_failures(d)}{_assumed(d)}"
    )


def _assumed(d):
    assumed = d["failures"]["logs"].get("failures", {}).get("nodes_assumed")
    if assumed is None:
        return ""
    which = f"the job's {assumed:,}" if assumed == d["job"]["nodes"] else f"the {assumed:,} that it names"
    return f" **How many nodes the log of failures watches is not known:** it is taken to watch {which}, and the failure rate hangs on that; failures.log.nodes would tell."


def _without_failures(d):
    if d["failures"]["job_mtbf_h"]["value"] is not None:
        return ""
    return f" The log has no failure, so that only a bound is known: the job is interrupted at most once in {short(d['failures']['job_mtbf_h']['low'])} h (95%)."


def _verdict(d):
    wanted = percent(d["target"]["ettr"], 1)
    if d["target"]["chance_now"] >= SURE:
        return f"The target of {wanted} is reached as it is ({chance(d['target']['chance_now'])})."
    if d["target"]["chance_planned"] >= LIKELY:
        return f"The plan reaches the target of {wanted} with a chance of {chance(d['target']['chance_planned'])}."
    if d["target"]["chance_planned"] >= 1 - SURE:
        return f"The plan reaches the target of {wanted} with a chance of only {chance(d['target']['chance_planned'])}."
    return f"The target of {wanted} is out of the plan's reach: its chance is {chance(d['target']['chance_planned'])}."


def rates(d):
    """Return what is known of the failures, as (what, value with its interval)."""
    f = d["failures"]
    return [
        ["failures of 1,000 nodes in a day", amount(f["rate_per_1000_node_days"])],
        *([["the record's own mean of these", amount(_own_mean(d))]] if _own_mean(d) else []),
        ["a node fails once in", amount(f["node_mtbf_h"], " h")],
        ["the job is interrupted once in", amount(f["job_mtbf_h"], " h")],
        ["a failed node is away for", amount(f["repair_h"], " h" if f["repair_h"] else "")],
        ["slow ranks make a step longer by", share(f["slowdown"])],
    ]


def _own_mean(d):
    """The mean rate of a log that has failures; None without one."""
    log = d["failures"]["logs"].get("failures", {})
    return log["rate_per_1000_node_days"] if log.get("incidents") else None


def _failures(d):
    rows = [
        [
            literal(row["class"]),
            share(row["share"]),
            "a standby" if row["standby_helps"] else "a restart",
            share(row["lost"]),
        ]
        for row in d["failures"]["classes"]
    ]
    said = f"The rate comes from {literal(d['failures']['source'])}."
    if d["failures"]["logs"].get("failures", {}).get("incidents"):
        mean = amount(d["failures"]["logs"]["failures"]["rate_per_1000_node_days"])
        basis = d["failures"]["logs"]["failures"]["rate_basis"]
        said += (
            f" The record's own mean is {mean} per 1,000 node-days. The rate below is the one that the plan draws for a run of {short(d['job']['horizon_h'] / 24)} days, "
            f"and every number of the plan follows it. It rests on this: {literal(basis)}."
        )
    by_class = table(["class", "of the failures", "way back", "of all time lost"], rows, "lrlr")
    return f"{said}\n\n{table(['what', 'value, with its 95% interval'], rates(d))}\n\n{by_class}"


def logs(read):
    """Return what was read from each log: a table a log, with what was dropped, merged or assumed."""
    return "\n\n".join(_log(role, found) for role, found in read.items()) or "No log was read."


def _log(role, found):
    parts = [f"**{ROLES[role]}**, {literal(found['file'])}: {literal(found['said'])}"]
    if found.get("rows"):
        rows = [[literal(cell) for cell in row] for row in found["rows"]]
        parts.append(table(found["header"], rows, found["align"]))
    if found.get("lines"):
        parts.append("\n".join(f"- {literal(line)}" for line in found["lines"]))
    return "\n\n".join(parts)


def hours(d, parts):
    """Return where the hours go, as (name, row), without the rows in which none go."""
    return [(parts[row["what"]], row) for row in d["hours"] if row["now"]["high"] > 0 or row["planned"]["high"] > 0]


def _hours(d):
    rows = [
        [name, share(row["now"]), share(row["planned"]), short(row["gpu_hours"]["value"])]
        for name, row in hours(d, BIN_WORDS)
    ]
    return table(["where the hours go", "now", "under the plan", "GPU-hours now"], rows)


def interval(d):
    """Return what is said of the checkpoint interval."""
    i = d["interval"]
    steps = "" if i["planned_steps"] is None else f", {i['planned_steps']:,} steps"
    if i["now_min"] is None:
        now = "How often it does so now is not known."
    else:
        now = f"Now it does so every {short(i['now_min'])} min, which is {_within(i)}."
    return (
        f"The plan writes a checkpoint every **{short(i['planned_min'])} min**{steps}. "
        f"Anything from {short(i['good_low_min'])} to {short(i['good_high_min'])} min is as good within half a percent. {now}"
    )


def _within(i):
    if i["now_min"] < i["good_low_min"]:
        return "too often"
    return "too seldom" if i["now_min"] > i["good_high_min"] else "as good"


def _formulas(d):
    names = {"exact": "exact model, draw by draw", "young": "Young", "daly": "Daly", "saxena": "Saxena et al."}
    rows = [[what, amount(d["interval"][f"{name}_min"])] for name, what in names.items()]
    return table(["best interval under the plan", "minutes"], rows)


def kind(lever):
    """Say whether a lever can be had."""
    return "can be had" if lever["offered"] else "a yardstick"


def _levers(d):
    worth, unit = ("money", d["job"]["currency"]) if d["job"]["currency"] else ("gpu_hours", "GPU-hours")
    rows = [[literal(lever["what"]), kind(lever), points(lever["gain"]), amount(lever[worth])] for lever in d["levers"]]
    return table(["alone, from now", "", "ETTR, points", f"{unit} of the run"], rows, "llrr")


def costs(d):
    """Return what the lost hours cost, as (what, GPU-hours, money); without money where there is no price."""
    c, currency, price = d["cost"], d["job"]["currency"], d["job"]["price_per_gpu_hour"]
    names = {
        "lost_gpu_hours": "lost now, standbys included",
        "lost_gpu_hours_planned": "lost under the plan, standbys included",
        "saved_gpu_hours": "saved by the plan",
    }
    rows = [
        [what, amount(c[hours]), *([amount(c[hours.replace("_gpu_hours", "")])] if currency else [])]
        for hours, what in names.items()
    ]
    for what, hours in (
        ("of the lost, standbys now", c["standby_gpu_hours"]),
        ("of the lost, standbys under the plan", c["standby_gpu_hours_planned"]),
    ):
        rows.append([what, short(hours), *([short(price * hours)] if currency else [])])
    return rows


def _cost(d):
    currency = d["job"]["currency"]
    return table(["over the run", "GPU-hours", *([currency] if currency else [])], costs(d))


def target(d):
    """Return what is said of the target."""
    t, levers = d["target"], {lever["name"]: lever for lever in d["levers"]}

    def named(way):
        return listed(
            [literal(levers[name]["what"]) + ("" if levers[name]["offered"] else " (a yardstick)") for name in way]
        )

    said = [
        f"The target is an ETTR of {percent(t['ettr'], 1)}. As the cluster is, the chance that it is reached is {chance(t['chance_now'])}; "
        f"under the plan {chance(t['chance_planned'])}, and {chance(t['chance_in_horizon'])} for a single run of this length."
    ]
    if t["likely"] is None:
        said.append("Not even all levers together reach it as likely as not.")
    elif t["likely"]:
        said.append(
            f"The fewest levers that reach it as likely as not, with as few yardsticks as possible: {named(t['likely'])}."
        )
    if t["likely"] != t["safe"]:
        said.append(
            f"No levers reach it with a chance of {percent(SURE, 0)}."
            if t["safe"] is None
            else f"With a chance of {percent(SURE, 0)}: {named(t['safe'])}."
        )
    if t["rate_factor"] is None:
        said.append("Under the plan no failure rate would be low enough.")
    elif t["rate_factor"] < 1:
        said.append(
            f"Under the plan the failure rate would have to fall to {percent(t['rate_factor'], 0)} of what it is."
        )
    return " ".join(said)


def _unknown(d):
    rows = [[literal(u[part]) for part in ("what", "instead", "tells")] for u in d["unknown"]]
    if not rows:
        return "Nothing that the plan uses is unknown."
    return table(["not known", "what the plan does", "what would tell"], rows, "lll")
