"""The sentences of the page on the budget of time: true of one size as of many, and where nothing is gained."""

from reliability.scenarios import budget_runs as runs
from reliability.scenarios.budget_fleets import LEVERS, THREE
from reliability.scenarios.budget_tables import points
from reliability.text import percent

STRICTLY = "have to be turned together in the strict sense"
LARGEST_PARTS = 4


def answer(p, hours, gains, found):
    """Say what a plain job keeps and one with every lever turned, at the ends of the sizes, and which lever buys most."""
    small, large = p.sizes[0], p.sizes[-1]

    def useful(state, size):
        return f"{_hours(p, hours[state][size]['useful'])} h"

    plain = f"a plain job on {small:,} GPUs turns {useful('plain', small)} into work that lasts"
    turned = f"with every lever turned, {useful('all', small)}"
    if large > small:
        plain += f", one on {large:,} GPUs {useful('plain', large)}"
        turned += f" and {useful('all', large)}"
    there = " there" if large > small else ""
    best, of_all = runs.most(gains[large])
    alone = f"Alone, no lever is shown to buy anything{there}."
    if best:
        which = "most buys" if of_all else "of what is shown most buys"
        alone = f"Alone, {which}{there}: **{LEVERS[best]}**, {points(gains[large][best])} points."
    return f"In numbers: of {24 * p.days:,} h {plain}; {turned}. {alone} {claim(found)}"


def most(gains):
    """Say at which sizes which lever buys most alone, of those that are shown to buy anything."""
    found = {size: runs.most(some) for size, some in gains.items()}
    by_lever = {}
    for size, (lever, _) in found.items():
        by_lever.setdefault(lever, []).append(size)
    none = by_lever.pop(None, None)
    said = [f"none is shown to buy anything at {_gpus(none)}"] if none else []
    if by_lever:
        of_shown = any(lever and not of_all for lever, of_all in found.values())
        best = ", ".join(f"**{LEVERS[lever]}** at {_gpus(sizes)}" for lever, sizes in by_lever.items())
        said.insert(0, f"{'of what is shown ' if of_shown else ''}most buys {best}")
    return f"Alone, {'; '.join(said)}."


def _hours(p, hours):
    """Write hours of the whole run, with a decimal where they are few or the run is short."""
    return f"{hours:.1f}" if hours < 10 or 24 * p.days < 100 else f"{hours:,.0f}"


def lost(p, by_size):
    """Say what stays lost on the largest job, and its largest parts."""
    size = p.sizes[-1]
    parts = {name: hours for name, hours in by_size[size].items() if name != "useful"}
    total, whole = sum(parts.values()), f"{24 * p.days:,} h"
    if round(total, 1) == 0:
        return f"On {size:,} GPUs less than 0.1 of {whole} stays lost."
    large = [name for name in sorted(parts, key=lambda name: -parts[name]) if round(parts[name], 1) > 0][:LARGEST_PARTS]
    shown = ", ".join(f"{name} {parts[name]:,.1f} h" for name in large)
    which = f"; the largest part{'s' * (len(large) > 1)}: {shown}" if shown else ""
    return f"On {size:,} GPUs {_hours(p, total)} of {whole} stay lost{which}."


def claim(found):
    """Say at which sizes the three gain more together than in sum, and from which size on."""
    kinds = {
        "more": "Together the three add **more** than the sum of each alone at {}.",
        "less": "Together the three add **less** than the sum of each alone at {}.",
        "same": "Together the three add **as much as** the sum of each alone, to a tenth of a point, at {}.",
        "open": "Undecided at {}: the interval holds both more and less than the sum of each alone.",
    }
    by_kind = {kind: [size for size, one in found.items() if one.verdict == kind] for kind in kinds}
    parts = [kinds[kind].format(_gpus(sizes)) for kind, sizes in by_kind.items() if sizes]
    kept = {kind: [found[size].plain.mean for size in sizes] for kind, sizes in by_kind.items()}
    if kept["more"] and kept["less"]:
        parts.append(
            f"A plain job keeps at most {percent(max(kept['more']), 1)} of its time where they add more, "
            f"and at least {percent(min(kept['less']), 1)} where they add less."
        )
    return " ".join([*parts, _consequence(found)])


def _consequence(found):
    """Say what follows from that for the claim that the three have to be turned together."""
    start, denied = runs.holds_from(found), found[max(found)].verdict in ("less", "same")
    if len(found) == 1:
        if start:
            return f"So they {STRICTLY}."
        return f"So they do not {STRICTLY}." if denied else f"So it is not shown that they {STRICTLY}."
    if start == max(found):  # which says nothing of larger ones
        return f"So at {start:,} GPUs, the largest here, the three {STRICTLY}."
    if start:
        return f"From {start:,} GPUs on, then, the three {STRICTLY}."
    return f"So {'there is no size here' if denied else 'no size is shown here'} from which on the three {STRICTLY}."


def later(found):
    """Say which group gains more last than first, and at which sizes."""
    sizes = {
        name: [size for size, one in found.items() if runs.shown(one.later[name]) and runs.shown(one.last[name])]
        for name in THREE
    }
    parts = [f"the {name} at {_gpus(some)}" for name, some in sizes.items() if some]
    if parts:
        return f"Worth more when the other two are turned: {'; '.join(parts)}."
    none = "At no size is one of the three" if len(found) > 1 else "Not one of the three is"
    return f"{none} shown to be worth more when the other two are turned."


def groups(found):
    """Say which of the three gives most alone, and which is missed most, at the smallest size and the largest."""
    return "\n\n".join(_groups(size, found[size]) for size in sorted({min(found), max(found)}))


def _groups(size, one):
    first, last = "none of the three alone is shown to give anything", "With the other two turned, none is shown to be missed"
    name, _ = runs.most(one.first)
    if name:
        first = f"the {name} alone gives {points(one.first[name])} points{_part(one, name)}"
    name, of_all = runs.most(one.last)
    if name:
        missed = "The one missed most" if of_all else "Of those that are shown to be missed, the one missed most"
        last = f"{missed} when the other two are turned: the {name}, {points(one.last[name])} points"
    return f"On {size:,} GPUs {first}. {last}."


def _part(one, name):
    """Say which part of what the three give together one gives alone, where they are shown to give anything."""
    if not runs.shown(one.together):
        return ""
    share = one.first[name].mean / one.together.mean
    if share >= 1.005:
        return f", more than the three give together, {points(one.together)}"
    return f", {percent(share, 0)} of what the three give together"


def _gpus(sizes):
    return f"{', '.join(f'{size:,}' for size in sizes)} GPUs"
