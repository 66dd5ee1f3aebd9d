"""A trace of operations, as ByteDance published them: what each worker did in a step, from when, for how long.

A communication that is timed from its launch holds the wait for whoever comes late. The time of a worker is therefore
what it computes; what its transfers themselves take is set apart, with the waiting taken out.
"""

import re

import numpy as np

from reliability.logs import step_columns
from reliability.logs.columns import plain_name
from reliability.logs.notes import LogError, Note, note

COMPUTE = r"compute|^forward$|^backward$|^fwd$|^bwd$|^forward[_-]pass|^backward[_-]pass"
OPTYPE = ("optype", "op_type", "op", "operation", "op_name", "kind")
START = ("start_ts", "start", "start_time", "ts", "start_s")
DURATION = ("duration", "dur", "duration_s", "seconds", "duration_ms", "dur_us")
PAIRS = {"forward": ("forward-send", "forward-recv", 1), "backward": ("backward-send", "backward-recv", -1)}
EXPECTED = "a trace with columns rank, step, optype, duration and, better, start_ts, dp_rank, stage and seq_id"


def is_trace(names):
    """Whether a header is that of a trace of operations."""
    plain = {plain_name(name) for name in names}
    return bool(plain & set(OPTYPE)) and bool(plain & set(DURATION)) and bool(plain & {"rank", "worker", "dp_rank"})


def step_times(names, texts, numbers, lines, notes, source):
    """Turn a trace into the step times of its workers: see :func:`reliability.logs.step_times.read_steps`.

    `seconds` are those in which a worker computes, `peers` the workers of the same pipeline stage, since stages differ
    by design, and `phases` holds the kinds of computing and, where both sides of the transfers were traced, what they
    take without the waiting.
    """
    from reliability.logs.step_times import StepTimes

    plain = [plain_name(name) for name in names]

    def column(*aliases):
        index = next((plain.index(alias) for alias in aliases if alias in plain), None)
        return (
            None
            if index is None
            else numbers(index)[0] * step_columns.UNITS.get(step_columns.without_unit(names[index])[1], 1.0)
        )

    operation = np.array([str(v).strip().lower() for v in _dictionary(texts, plain, OPTYPE)[0]])
    code = _dictionary(texts, plain, OPTYPE)[1]
    step, duration, start = column("step", "iteration", "iter"), column(*DURATION), column(*START)
    rank = column("rank", "global_rank", "worker", "worker_id")
    replica, stage = column("dp_rank", "replica"), column("stage", "pp_rank")
    if rank is None and replica is not None:
        stages = 1 if stage is None else np.nanmax(stage) + 1
        rank = replica * stages + (0 if stage is None else stage)
    if step is None or rank is None:
        raise LogError(source, None, ", ".join(map(str, names)), EXPECTED)
    good = np.isfinite(step) & np.isfinite(rank) & np.isfinite(duration) & (duration >= 0)
    notes = [
        *notes,
        *note("dropped", "an operation without step or rank, or of a negative time", lines[~good].tolist()),
    ]
    computes = np.array([bool(re.search(COMPUTE, name)) for name in operation], dtype=bool)
    own = good & computes[code]
    if not own.any():
        raise LogError(
            source, None, f"operations {', '.join(operation[:6])}", "one that computes, such as forward-compute"
        )
    steps, step_at = np.unique(step[good], return_inverse=True)
    ranks, rank_at = np.unique(rank[good], return_inverse=True)
    at = np.full(step.size, -1)
    at[good] = step_at * ranks.size + rank_at
    shape = (steps.size, ranks.size)

    def total(mask):
        found = np.bincount(at[mask], weights=duration[mask], minlength=shape[0] * shape[1])
        seen = np.bincount(at[mask], minlength=shape[0] * shape[1])
        return np.where(seen > 0, found, np.nan).reshape(shape)

    names_of = [int(v) if v == int(v) else v for v in ranks.tolist()]
    peers = None
    if stage is not None:
        last = np.zeros(ranks.size)
        last[rank_at] = stage[good]
        peers = dict(zip(names_of, last.tolist(), strict=True))
    seconds = total(own)
    seconds[seconds == 0] = np.nan
    phases = {
        str(name): total(good & (code == i)) for i, name in enumerate(operation) if computes[i] and (code == i).any()
    }
    links = {}
    if start is not None and stage is not None and replica is not None:
        links = _transfers(operation, code, good, step, replica, stage, column("seq_id", "seq"), start, duration)
    if links:
        notes.append(Note("excluded", "seconds of communication that are waiting for a late rank: not compared", 1))
    others = sorted({str(name) for i, name in enumerate(operation) if not computes[i] and (code == i).any()})
    if others:
        notes.append(
            Note("excluded", f"kinds of operation that do not compute: {', '.join(others)}"[:300], len(others))
        )
    return StepTimes(
        steps=[int(s) for s in steps], ranks=names_of, seconds=seconds, peers=peers, phases=phases, rows=int(step.size),
        notes=tuple(notes), source=source, layout="operations", links=links, unit="s",
    )  # fmt: skip


def _dictionary(texts, plain, aliases):
    """The texts of a column and each row's place among them."""
    encoded = texts(next(plain.index(alias) for alias in aliases if alias in plain)).dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False)


def _transfers(operation, code, good, step, replica, stage, order, start, duration):
    """Mean seconds in a step of the transfers of each link (replica, stage it leads from), waiting taken out.

    A transfer takes from the launch of the later side to the end, whichever side was early.
    """
    import pandas as pd

    from reliability.attribution import transfer_time

    order = start if order is None else order
    keys = ["step", "replica", "stage"]
    kinds = {name: i for i, name in enumerate(operation)}
    found = []
    for send, receive, ahead in PAIRS.values():
        if send not in kinds or receive not in kinds:
            continue
        sides = []
        for name, shift in ((send, 0), (receive, -ahead)):
            mask = good & (code == kinds[name]) & np.isfinite(start)
            frame = {
                "step": step,
                "replica": replica,
                "stage": stage + shift,
                "order": order,
                "start": start,
                "end": start + duration,
            }
            frame = pd.DataFrame({part: values[mask] for part, values in frame.items()}).sort_values([*keys, "order"])
            frame["turn"] = frame.groupby(keys).cumcount()  # the n-th that is sent is the n-th that is received
            sides.append(frame)
        both = sides[0].merge(sides[1], on=[*keys, "turn"], suffixes=("", "_2"))
        if len(both):
            both["seconds"] = transfer_time(both[["start", "start_2"]].to_numpy(), both[["end", "end_2"]].to_numpy())
            both["link"] = both["stage"] if ahead > 0 else both["stage"] - 1
            found.append(both)
    if not found:
        return {}
    every = pd.concat(found)
    mean = every.groupby(["replica", "link"])["seconds"].sum() / every["step"].nunique()
    return {(int(a), int(b)): float(v) for (a, b), v in mean.items()}
