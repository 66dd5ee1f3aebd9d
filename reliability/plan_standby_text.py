"""The standby nodes of a plan in words."""

from reliability.plan_words import amount, literal, many, share
from reliability.text import percent, table


def pool_named(s):
    """Name the pool of the plan, and the one that pays best where that is another."""
    named = many(s["planned"], "standby node")
    if not s["spare"]:
        return named
    kept = f"the {named} of now" if s["planned"] == s["now"] else named
    return f"{kept} ({s['pays_best'] or 'none'} would pay best)"


def standbys(d):
    """Return what is said of the standby nodes."""
    s = d["standbys"]
    if s is None:
        why = (
            "the time of a repair is not known"
            if d["failures"]["repair_h"] is None
            else "the cluster file has no recovery.standby_restart_s, the time of a swap"
        )
        return f"No number of standbys can be advised: {literal(why)}."
    enough = "no pool that was tried is enough" if s["enough"] is None else f"it takes {many(s['enough'], 'node')}"
    return (
        f"Most work for each GPU that is paid comes with **{many(s['pays_best'], 'standby node')}**; so that at most {percent(s['shortage'], 1)} of the "
        f"failures find none, {enough}. On average {amount(s['load'])} nodes fail in the time of one repair. Formulas choose these numbers; how often a failure finds none is counted in the simulated runs. {_none_left(d)}{_kept(d)}"
    )


def _none_left(d):
    """Say what the job does where no standby is left, on which the best number hangs."""
    if d["job"]["none_left"] == "wait":
        return "Where none is left the job waits for a repair (recovery.none_left is wait): nodes from elsewhere are not to be had."
    return (
        "Where none is left the job is placed anew on nodes from elsewhere, which are taken to be there at any time "
        "(recovery.none_left is requeue); if it has to wait for a repair instead, give wait, and other numbers come out."
    )


def _kept(d):
    """Say which pool the plan has where it is not the one that pays best."""
    s = d["standbys"]
    if not s["spare"]:
        return ""
    which = "that stand by now" if s["planned"] == s["now"] else "of improvements.standby_nodes"
    price, currency = d["job"]["price_per_gpu_hour"], d["job"]["currency"]
    saves, each = s["spare_saves_gpu_hours"], ""
    if price:
        each = ", " + amount({end: price * saves[end] for end in saves}, f" {currency}")
    return (
        f" The plan keeps the {s['planned']:,} {literal(which)}. Giving {s['spare']:,} of them back would save {amount(saves)} GPU-hours over the run{each}, "
        "the work that is then lost taken off."
    )


def pool(d):
    """Return the pool of standbys, as (what, now, under the plan)."""
    s = d["standbys"]
    out = [
        "not known" if s[f"runs_out_{when}"] is None else share(s[f"runs_out_{when}"], 0) for when in ("now", "planned")
    ]
    return [
        ["standby nodes", f"{s['now']:,}", f"{s['planned']:,}"],
        ["a failed node finds none", share(s["none_left_now"]), share(s["none_left_planned"])],
        ["they run out in the run", *out],
    ]


def pool_table(d):
    """Return the table of the pool."""
    return table(["", "now", "under the plan"], pool(d))
