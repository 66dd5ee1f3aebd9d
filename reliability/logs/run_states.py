"""How a run ended: Slurm's states and common words for them, and which of them are failures."""

import re

import numpy as np

# Slurm's state: what it says about the end of a run.
OUTCOMES = {
    "COMPLETED": "completed",
    "NODE_FAIL": "node_failure",
    "BOOT_FAIL": "infrastructure_other",
    "LAUNCH_FAILED": "infrastructure_other",
    "RECONFIG_FAIL": "infrastructure_other",
    "FAILED": "application",
    "OUT_OF_MEMORY": "application",
    "CANCELLED": "cancelled",
    "PREEMPTED": "preempted",
    "TIMEOUT": "time_limit",
    "DEADLINE": "time_limit",
    "REQUEUED": "requeued",
    "REVOKED": "requeued",
    "SPECIAL_EXIT": "requeued",
    "RUNNING": "running",
    "COMPLETING": "running",
    "CONFIGURING": "running",
    "POWER_UP_NODE": "running",
    "SUSPENDED": "running",
    "STOPPED": "running",
    "SIGNALING": "running",
    "STAGE_OUT": "running",
    "RESIZING": "running",
    "EXPEDITING": "running",
    "UPDATE_DB": "running",
    "PENDING": "never_started",
    "REQUEUE_HOLD": "never_started",
    "REQUEUE_FED": "never_started",
    "RESV_DEL_HOLD": "never_started",
}
# Default: only what Slurm says the node did. BOOT_FAIL is apart: no run time was lost to it.
FAILURES = ("NODE_FAIL",)
SHORT = {
    "BF": "BOOT_FAIL",
    "CA": "CANCELLED",
    "CD": "COMPLETED",
    "CF": "CONFIGURING",
    "CG": "COMPLETING",
    "DL": "DEADLINE",
    "F": "FAILED",
    "NF": "NODE_FAIL",
    "OOM": "OUT_OF_MEMORY",
    "PD": "PENDING",
    "PR": "PREEMPTED",
    "R": "RUNNING",
    "RQ": "REQUEUED",
    "RV": "REVOKED",
    "S": "SUSPENDED",
    "ST": "STOPPED",
    "TO": "TIMEOUT",
}
# Words of other schedulers and of people, in Slurm's.
WORDS = {
    "NODE_FAILURE": "NODE_FAIL",
    "NODE_FAILED": "NODE_FAIL",
    "NODEFAIL": "NODE_FAIL",
    "HARDWARE_FAILURE": "NODE_FAIL",
    "CANCELED": "CANCELLED",
    "CANCELLED_BY_USER": "CANCELLED",
    "USER_CANCEL": "CANCELLED",
    "OOM_KILLED": "OUT_OF_MEMORY",
    "OUT_OF_MEM": "OUT_OF_MEMORY",
    "TIME_LIMIT": "TIMEOUT",
    "TIMELIMIT": "TIMEOUT",
    "TIMED_OUT": "TIMEOUT",
    "TIME_OUT": "TIMEOUT",
    "WALLTIME": "TIMEOUT",
    "WALL_TIME": "TIMEOUT",
    "END_OF_ALLOCATION": "TIMEOUT",
    "ALLOCATION_ENDED": "TIMEOUT",
    "PREEMPT": "PREEMPTED",
    "PREEMPTION": "PREEMPTED",
    "SUCCESS": "COMPLETED",
    "SUCCEEDED": "COMPLETED",
    "COMPLETE": "COMPLETED",
    "FINISHED": "COMPLETED",
    "DONE": "COMPLETED",
    "OK": "COMPLETED",
    "FAIL": "FAILED",
    "FAILURE": "FAILED",
    "ERROR": "FAILED",
    "STILL_RUNNING": "RUNNING",
    "ONGOING": "RUNNING",
    "QUEUED": "PENDING",
}
BY = re.compile(r"\s+by\s+(\d+|\S+)$", re.IGNORECASE)


def split_state(text):
    """Return (state, uid) of a state as Slurm writes it.

    Examples
    --------
    >>> split_state("CANCELLED by 1001"), split_state("CANCELLED+"), split_state("node failure")
    (('CANCELLED', 1001), ('CANCELLED', None), ('NODE_FAIL', None))
    """
    text = str(text).strip()
    match = BY.search(text)
    uid = int(match[1]) if match and match[1].isdigit() and len(match[1]) < 11 else None
    # A plus sign is a word cut to the column's width.
    plain = re.sub(r"[\s-]+", "_", BY.sub("", text).strip().upper())
    cut = plain.endswith("+")
    plain = plain.rstrip("+")
    state = SHORT.get(plain) or WORDS.get(plain) or plain
    if cut and state not in OUTCOMES:
        whole = [name for name in OUTCOMES if name.startswith(state)]
        state = whole[0] if len(whole) == 1 else state
    return state, uid


def states(texts):
    """Return (states, uids) of many texts; each distinct one is split once. A uid is -1 where none is said."""
    import pandas as pd

    codes, distinct = pd.factorize(np.asarray(texts, dtype=object), use_na_sentinel=False)
    pairs = [split_state(text) for text in distinct]
    found = np.array([state for state, _ in pairs], dtype=object)
    uids = np.array([-1 if uid is None else uid for _, uid in pairs], dtype=np.int64)
    return (found[codes], uids[codes]) if len(pairs) else (np.zeros(0, dtype=object), np.zeros(0, dtype=np.int64))


def checked_failures(failures):
    """The states that count as failures, as Slurm writes them; unknown ones are refused."""
    if isinstance(failures, str):
        failures = [word for word in failures.replace(",", " ").split() if word]
    try:
        found = tuple(split_state(word)[0] for word in failures)
    except TypeError:
        raise ValueError(f"failures = {failures!r}: must be a list of states") from None
    for state in found:
        if OUTCOMES.get(state, "running") in ("running", "never_started", "completed"):
            allowed = [s for s, o in OUTCOMES.items() if o not in ("running", "never_started", "completed")]
            raise ValueError(f"failures = {state!r}: must be among {', '.join(allowed)}")
    return found
