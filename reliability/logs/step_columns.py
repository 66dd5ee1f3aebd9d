"""Column names of tables of step times: what each may be called, and what its unit is."""

import re
from collections import Counter

from reliability.logs.columns import plain_name

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
UNIT_OF_WORD = {"ns": "ns", "nanoseconds": "ns", "us": "us", "usec": "us", "microseconds": "us", "ms": "ms"}
UNIT_OF_WORD |= dict.fromkeys(("msec", "msecs", "millis", "millisecond", "milliseconds"), "ms")
UNIT_OF_WORD |= dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s")
UNIT_OF_WORD |= dict.fromkeys(("min", "mins", "minute", "minutes"), "min")

# Of several columns that could be meant, the name that comes first is taken.
ALIASES = {
    "step": "step iteration iter global_step globalstep step_id step_number stepnum it iter_num iteration_id batch batch_id"
    " minibatch mini_batch batch_idx step_idx steps",
    "rank": "rank global_rank rank_id worker worker_id worker_rank process process_id proc replica replica_id device device_id"
    " gpu_id gpu_rank gpu task task_id trainer trainer_id dp_rank",
    "seconds": "step_time steptime iteration_time iter_time seconds step_seconds step_duration duration elapsed elapsed_time"
    " time_per_step time_per_iteration elapsed_time_per_iteration batch_time minibatch_time mini_batch_time total_time total step"
    " step_latency latency time wall_time walltime dur compute_time compute iteration batch",
    "node": "node host hostname node_name nodename host_name server machine instance pod",
    "peers": "stage pp_rank pipeline_rank pipeline_stage pp_stage",
    "ignored": "local_rank localrank index row timestamp date datetime epoch node_rank world_size",
}
STEP, RANK, SECONDS, NODE, PEERS, IGNORED = (names.split() for names in ALIASES.values())
WAITING = r"wait|comm|reduce|gather|scatter|broadcast|all_to_all|barrier|sync|send|recv|p2p|nccl|idle|bubble"
PHASE = rf"forward|fwd|backward|bwd|optim|data|load|input|compute|fetch|copy|h2d|clip|checkpoint|save|gc|{WAITING}"


def without_unit(name):
    """Split a column's name into what it measures and its unit, None where it says none.

    Examples
    --------
    >>> without_unit("Step time (ms)"), without_unit("forward_s"), without_unit("batch_time_norm")
    (('step_time', 'ms'), ('forward', 's'), ('batch_time', 'norm'))
    """
    words = plain_name(name).split("_")
    if len(words) > 1 and words[-1] in UNIT_OF_WORD:
        rest = words[:-2] if len(words) > 2 and words[-2] == "in" else words[:-1]
        return "_".join(rest), UNIT_OF_WORD[words[-1]]
    if len(words) > 1 and words[-1] in ("norm", "normalised", "normalized"):
        return "_".join(words[:-1]), "norm"
    if words[0] in UNIT_OF_WORD and len(words) == 1 and words[0] not in ("s",):
        return "seconds", UNIT_OF_WORD[words[0]]
    return "_".join(words), None


def layout(names):
    """Find which column plays which part.

    Parameters
    ----------
    names : sequence of str

    Returns
    -------
    dict
        "step", "rank", "seconds", "node", "peers": index of the column or None; "unit": of the times, None where the
        name says none; "phases": {name: (index, unit)}; "wide": {index: rank} where a rank has its own column, and
        "ignored": indices of columns that play no part.
    """
    plain = [plain_name(name) for name in names]
    parted = [without_unit(name) for name in names]
    taken, parts = set(), {"unit": None}

    def first(aliases, timed=False):
        for alias in aliases:
            for i, name in enumerate(plain):
                base, unit = parted[i]
                if i in taken or (name != alias and not (timed and base == alias and (unit or name == alias))):
                    continue
                taken.add(i)
                return i
        return None

    parts["step"] = first(STEP)
    parts["rank"] = first(RANK)
    parts["node"], parts["peers"] = first(NODE), first(PEERS)
    wide = {} if parts["rank"] is not None else _rank_columns(names, taken)
    parts["wide"] = wide
    parts["seconds"] = None
    if not wide:
        if parts["step"] is None and _has_time(parted, plain, taken):
            parts["step"] = next((i for i, name in enumerate(plain) if name == "time"), None)
            taken |= {parts["step"]} - {None}
        parts["seconds"] = first(SECONDS, timed=True)
        if parts["seconds"] is not None:
            parts["unit"] = parted[parts["seconds"]][1]
    taken |= set(wide)
    left = [i for i in range(len(names)) if i not in taken]
    parts["phases"] = {} if wide else {
        plain[i] if parted[i][1] is None else parted[i][0]: (i, parted[i][1] or parts["unit"])
        for i in left if re.search(PHASE, parted[i][0])
    }  # fmt: skip
    parts["ignored"] = [i for i in left if i not in {at for at, _ in parts["phases"].values()} and plain[i]]
    return parts


def _has_time(parted, plain, taken):
    """Whether a column "time" counts steps, since another one holds the times, as in Alibaba's release."""
    return "time" in plain and any(
        i not in taken and base in SECONDS and base != "time" for i, (base, _) in enumerate(parted)
    )


def _rank_columns(names, taken):
    """Columns named by number after a common word: rank_0, rank_1 or 0, 1, 2; with the unit that they share."""
    found = {}
    for i, name in enumerate(names):
        match = re.fullmatch(r"\s*(.*?)[\s_.:#-]*(\d+)[\s_]*(?:[(\[_]?\s*([a-z]+)\s*[)\]]?)?\s*", str(name), re.I)
        if i not in taken and match and (not match[3] or match[3].lower() in UNIT_OF_WORD):
            found[i] = (match[1].lower(), int(match[2]), UNIT_OF_WORD.get((match[3] or "").lower()))
    if not found:
        return {}
    word, count = Counter(word for word, _, _ in found.values()).most_common(1)[0]
    others = [i for i in range(len(names)) if i not in taken and i not in found and plain_name(names[i]) not in IGNORED]
    if count < 2 or any(str(names[i]).strip() for i in others):
        return {}
    return {i: (number, unit) for i, (w, number, unit) in found.items() if w == word}
