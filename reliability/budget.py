"""Where the time of a job goes: the bins that every second falls into, exactly one each."""

BINS = ("useful", "checkpoint", "redone", "detection", "restart", "waiting", "degraded", "verification")
USEFUL, CHECKPOINT, REDONE, DETECTION, RESTART, WAITING, DEGRADED, VERIFICATION = range(len(BINS))

MEANING = {
    "useful": "work that lasts, at full speed",
    "checkpoint": "the job stands for a write, or is slowed by an upload",
    "redone": "work that a failure or a corruption undid, at full speed",
    "detection": "from a fault until it is seen",
    "restart": "from there until the job computes again: reload, set up, swap, reshard",
    "waiting": "no node is free: host selection, preemption, repair",
    "degraded": "what a smaller job or a straggler computes less than the whole job would",
    "verification": "looking for silent corruption",
}

# Google's ml-goodput-measurement: its name for the same time, and how closely it fits.
GOODPUT_TAXONOMY = {
    "useful": ("goodput", "the same"),
    "checkpoint": ("checkpoint save", "the same; it has no slowdown by an upload"),
    "redone": ("wasted progress from disruption", "the same"),
    "detection": (
        "infrastructure recovery from disruption",
        "a part of it: the job has stopped, nothing has been replaced",
    ),
    "restart": (
        "initialisation, training preparation, program startup, checkpoint restore, elastic slice down, scale up and reinitialisation",
        "these together",
    ),
    "waiting": ("infrastructure recovery from disruption", "the other part of it"),
    "degraded": ("goodput", "none of its own: a job on fewer slices counts as productive there, and so does a slow one"),
    "verification": ("custom events", "an SDC check is one of its examples"),
}
# Its bins that have no counterpart here: the model has no input pipeline, and nothing is left over.
WITHOUT_COUNTERPART = ("data loading", "other")
