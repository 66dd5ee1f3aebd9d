"""Make the logs of the examples: invented clusters whose truth is known, drawn with a fixed seed.

    python examples/make_logs.py [FOLDER]

What is drawn, so that a reader can hold the plan against it:

incidents.csv
    136 nodes of eight GPUs, watched for 120 days. Nodes fail independently at RATE a day; two of them are lemons and fail
    LEMON times as often. A repair is lognormal. Repairs that last beyond the last day are still open.
sacct.txt, kernel.log
    64 nodes, watched for 60 days. A 48-node job runs over and over, for at most two days a time; each of the other 16 nodes
    runs jobs of its own. A node fails at RATE a day and takes its job along; two of three failures leave an Xid in the kernel's log,
    among Xids of applications, which are no failures.
steps.csv
    240 steps of 32 ranks. Rank 11 is slower by SLOWDOWN from step 150 on; every 60th step writes a checkpoint.
"""

import sys
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

SEED = 2026
RATE = 0.0065  # failures of a node in a day
LEMON = 6.0
SLOWDOWN = 0.15
BEGIN = datetime(2026, 1, 1)
CLASSES = {"gpu": 0.60, "network": 0.12, "host": 0.12, "software": 0.16}
XIDS = {
    79: "GPU has fallen off the bus.",
    48: "DBE (double bit error) ECC Error, RowRemapper Failure",
    119: "Timeout after 6s of waiting for RPC response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL)",
    94: "Contained: SM (0x1). RST: No, D-RST: No",
}


def stamp(days, form="%Y-%m-%dT%H:%M:%S"):
    """Write a time, given in days from the beginning."""
    return f"{BEGIN + timedelta(seconds=round(86_400 * days)):{form}}"


def incidents(rng, nodes=136, days=120.0):
    """Return the lines of the incident table."""
    rates = np.full(nodes, RATE)
    rates[rng.choice(nodes, 2, replace=False)] *= LEMON
    rows = []
    for node, rate in enumerate(rates):
        for start in rng.uniform(0, days, rng.poisson(rate * days)):
            end = start + rng.lognormal(np.log(6), 1.1) / 24
            kind = rng.choice(list(CLASSES), p=list(CLASSES.values()))
            rows.append((start, f"n{node:03d},{stamp(start)}Z,{stamp(end) + 'Z' if end < days else ''},{kind}"))
    return ["node,start,end,class", *(row for _, row in sorted(rows))]


def accounting(rng, nodes=64, days=60.0, wide=48):
    """Return the lines of sacct, and the (day, node) of each failure of a node."""
    head = "JobID|User|JobName|State|Start|End|Elapsed|NNodes|NodeList|ExitCode"
    rows, failed, number = [], [], 1000
    for first, size, limit, user, name in [
        (0, wide, 2.0, "user1", "pretrain"),
        *((n, 1, 1.0, "user2", "evaluate") for n in range(wide, nodes)),
    ]:
        now = float(rng.uniform(0, 0.05))
        while now < days - 0.01:
            number += 1
            life, fails = rng.exponential(1 / (RATE * size)), False
            length = min(limit, float(rng.exponential(limit)) if size == 1 else limit, days - now)
            state, code = ("TIMEOUT", "0:0") if length >= limit else ("COMPLETED", "0:0")
            if life < length:
                length, state, code, fails = life, "NODE_FAIL", "1:0", True
            if fails:
                failed.append((now + length, first + int(rng.integers(size))))
            elapsed = timedelta(seconds=round(86_400 * length))
            clock = f"{elapsed.days}-{elapsed.seconds // 3600:02d}:{elapsed.seconds // 60 % 60:02d}:{elapsed.seconds % 60:02d}"
            listed = f"h[{first:03d}-{first + size - 1:03d}]" if size > 1 else f"h{first:03d}"
            rows.append(
                (
                    now,
                    f"{number}|{user}|{name}|{state}|{stamp(now)}|{stamp(now + length)}|{clock}|{size}|{listed}|{code}",
                )
            )
            now += length + float(rng.uniform(0.002, 0.02))
    return [head, *(row for _, row in sorted(rows))], sorted(failed)


def kernel(rng, failed, nodes=64, days=60.0):
    """Return the lines of the kernel's log: Xids of two in three failures, and of applications."""
    rows = []
    for day, node in failed:
        if rng.uniform() < 2 / 3:
            rows += _xid(rng, day - 20 / 86_400, node, int(rng.choice(list(XIDS), p=[0.4, 0.25, 0.25, 0.1])))
    for day in rng.uniform(0, days, 12):
        rows += _xid(rng, day, int(rng.integers(nodes)), 31)
    return [row for _, row in sorted(rows)]


def _xid(rng, day, node, code):
    text = XIDS.get(code, "Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS faulted @ 0x7f31_4a200000.")
    bus = int(rng.choice([0x1A, 0x3B, 0x5E, 0x86, 0xAF, 0xD8]))
    pid = int(rng.integers(2000, 90_000))
    line = f"{stamp(day)}+00:00 h{node:03d} kernel: NVRM: Xid (PCI:0000:{bus:02x}:00): {code}, pid={pid}, name=python3, {text}"
    return [(day, line)]


def step_times(rng, steps=240, ranks=32, slow=11, since=150):
    """Return the lines of the step times, a column a rank."""
    seconds = 10 * np.exp(0.01 * rng.standard_normal((steps, ranks)))
    seconds[since:, slow] *= 1 + SLOWDOWN
    seconds[59::60] += 8.0
    head = ",".join(["step", *(f"rank{r}" for r in range(ranks))])
    return [head, *(f"{i + 1}," + ",".join(f"{s:.3f}" for s in row) for i, row in enumerate(seconds))]


def make():
    """Return the text of each log by its file's name."""
    streams = [np.random.default_rng([SEED, i]) for i in range(4)]
    jobs, failed = accounting(streams[1])
    made = {
        "incidents.csv": incidents(streams[0]),
        "sacct.txt": jobs,
        "kernel.log": kernel(streams[2], failed),
        "steps.csv": step_times(streams[3]),
    }
    return {name: "\n".join(lines) + "\n" for name, lines in made.items()}


def main(arguments):
    """Write the logs into a folder."""
    folder = Path(arguments[0]) if arguments else Path(__file__).with_name("logs")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in make().items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
