"""Measure the package against the floor of each task, in one run.

    python benchmarks/bench.py [--json FILE] [--quick]

A floor is what the task cannot do without: reading its memory, drawing its random numbers, one
partition. A ratio compares two times of the same run, so that it carries over between machines
better than a time does. Nothing here is a test.
"""

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import fleets
import logs
import numpy as np
import sweeps

from reliability import cascades, commit, facts, mitigation, recovery, sdc, stalls, straggler, tiers, verification
from reliability.faults import draw_fault_counts, fault_mix

MIX = facts.value("published_mix")
DETECTION = dict.fromkeys(MIX, 2.0)


def best(work, repeat):
    """Shortest of `repeat` times in seconds: the others were disturbed."""
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def peak(work):
    """Largest memory that `work` holds beyond what was there, in bytes."""
    tracemalloc.start()
    work()
    bytes_held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return bytes_held


def fingerprint(rows):
    """Fingerprint every shard, against reading the same memory once."""
    shards = np.random.default_rng(0).standard_normal((rows, 4096))
    words = shards.view(np.uint64)
    return shards.nbytes, lambda: sdc.fingerprints(shards), lambda: np.bitwise_xor.reduce(words, axis=None)


def detection(ranks):
    """Find slow ranks in 100 steps, against one partition of the same array."""
    times = straggler.draw_rank_times(np.random.default_rng(0), ranks, 30.0, 0.5, steps=100)
    return times.nbytes, lambda: straggler.detect(times, 0.1), lambda: np.partition(times, ranks // 2, axis=-1)


def weeks(number):
    """Draw weeks of faults and cost them on both paths, against drawing their random numbers."""
    expected = 21.3
    paths = [recovery.cold_path(DETECTION, 388.2), recovery.standby_path(DETECTION, 388.2, 55.0)]
    means = expected * fault_mix(MIX)

    def work():
        counts = draw_fault_counts(np.random.default_rng(0), number, expected, MIX)
        return [recovery.ettr(recovery.hours_lost_h(counts, path, 1800.0), 168.0) for path in paths]

    def floor():
        rng = np.random.default_rng(0)
        return [rng.poisson(mean, number) for mean in means]

    return number * len(MIX) * 8, work, floor


def scenarios(model, exponentials):
    """Evaluate a model over an array of scenarios, against so many exponentials of the same array."""

    def task(number):
        mtbf = np.random.default_rng(0).uniform(1e4, 1e6, number)

        exponents = -1.0 / mtbf  # small, so that none is beyond what a float holds

        def floor():
            for _ in range(exponentials):
                np.exp(exponents)

        return mtbf.nbytes, lambda: model(mtbf), floor

    return task


def asynchronous(mtbf):
    """Checkpoints in the background."""
    return commit.asynchronous_efficiency(1800.0, 1.0, 500.0, 0.1, 388.2, mtbf)


def two_levels(mtbf):
    """Checkpoints on two levels, four in five failures within reach of the near one."""
    return tiers.two_level_efficiency(1800.0, 8, [15.0, 300.0], [15.0, 300.0], [0.8 / mtbf, 0.2 / mtbf])


def cascading(mtbf):
    """The rate of interruptions where failures set off others."""
    return cascades.interruption_rate(1 / mtbf, 0.5, 3600.0, outage=600.0)


def verified(mtbf):
    """Checkpoints verified before they are written, failures and silent corruption together."""
    return verification.pattern_efficiency(1800.0, 240.0, 30.0, 388.2, 100 * mtbf, mtbf)


def rebalanced(mtbf):
    """Work shared out anew around a slow rank."""
    return mitigation.rebalanced_drag(32, mtbf / 1e6, 32)


def drawn_recoveries(number):
    """Recoveries that faults start over, against drawing as many exponentials."""
    rng = np.random.default_rng(0)
    return number * 8, lambda: stalls.draw_recoveries(rng, 400.0, 28440.0, number), lambda: rng.exponential(size=number)


THOUSANDS = (10_000, 100_000, 1_000_000)
TASKS = [
    ("fingerprint of N x 4,096 float64", "a plain read of the same memory", fingerprint, (256, 1024, 4096), 1024),
    (
        "straggler detection, N ranks x 100 steps",
        "one partition of the same array",
        detection,
        (8192, 32768, 131072),
        131072,
    ),
    (
        "N drawn weeks, costed on two paths",
        "drawing their random numbers alone",
        weeks,
        (10_000, 100_000, 1_000_000),
        1_000_000,
    ),
    (
        "background checkpoints, N scenarios",
        "two exponentials of the array",
        scenarios(asynchronous, 2),
        THOUSANDS,
        1_000_000,
    ),
    (
        "two levels of checkpoints, N scenarios",
        "eight exponentials of the array",
        scenarios(two_levels, 8),
        THOUSANDS,
        1_000_000,
    ),
    (
        "cascades, N scenarios",
        "48 exponentials of the array",
        scenarios(cascading, 48),
        (1000, 10_000, 100_000),
        100_000,
    ),
    (
        "verified checkpoints, N scenarios",
        "three exponentials of the array",
        scenarios(verified, 3),
        THOUSANDS,
        1_000_000,
    ),
    (
        "rebalancing of work, N scenarios",
        "one exponential of the array",
        scenarios(rebalanced, 1),
        THOUSANDS,
        1_000_000,
    ),
    ("N recoveries that faults start over", "drawing as many exponentials", drawn_recoveries, THOUSANDS, 1_000_000),
    *logs.TASKS,
    *fleets.TASKS,
]


def measure(task, sizes, repeat):
    """Time work and floor at each size."""
    rows = []
    for size in sizes:
        given, work, floor = task(size)
        work_s, floor_s = best(work, repeat), best(floor, repeat)
        rows.append(
            {
                "size": size,
                "seconds": work_s,
                "floor_seconds": floor_s,
                "ratio": work_s / floor_s,
                "input_bytes": given,
                "peak_bytes": peak(work),
            }
        )
    return rows


def growth(rows):
    """Exponent of time in size, from the smallest to the largest: 1 is linear."""
    first, last = rows[0], rows[-1]
    return math.log(last["seconds"] / first["seconds"]) / math.log(last["size"] / first["size"])


def import_seconds(statement, repeat):
    """Shortest time of a new interpreter that runs `statement`."""
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    return best(lambda: subprocess.run([sys.executable, "-c", statement], check=True, env=environment), repeat)


def imports(repeat):
    """Time imports beyond the start of the interpreter, against importing numpy."""
    start = import_seconds("pass", repeat)
    numpy_s = import_seconds("import numpy", repeat) - start
    modules = "availability, checkpoint, detector, faults, facts, guards, intervals, jitter, published, rates, recovery, sdc, straggler"
    rows = []
    for name, statement in (
        ("import reliability", "import reliability"),
        ("the five pages' models", f"from reliability import {modules}"),
    ):
        seconds = max(0.0, import_seconds(statement, repeat) - start)
        rows.append({"what": name, "seconds": seconds, "floor_seconds": numpy_s, "ratio": seconds / numpy_s})
    return rows


def main(arguments=None):
    """Print the table; write the JSON."""
    parser = argparse.ArgumentParser(description="Measure the package against the floor of each task.")
    parser.add_argument(
        "--json", type=Path, default=Path("_build/bench.json"), help="where to write the numbers (default: %(default)s)"
    )
    parser.add_argument("--quick", action="store_true", help="one repetition instead of five")
    options = parser.parse_args(arguments)
    repeat = 1 if options.quick else 5
    report = {
        "schema": 2,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "tasks": [],
    }
    print(f"Python {report['python']}, numpy {report['numpy']}, {report['machine']}; the best of {repeat}\n")
    for name, floor_name, task, sizes, headline in TASKS:
        rows = measure(task, sizes, repeat)
        report["tasks"].append({"task": name, "floor": floor_name, "rows": rows, "growth": growth(rows)})
        print(f"{name}\n  floor: {floor_name}")
        for row in rows:
            mark = "  <-" if row["size"] == headline else ""
            print(
                f"  N = {row['size']:>9,}  {1e3 * row['seconds']:9.2f} ms  floor {1e3 * row['floor_seconds']:9.2f} ms"
                f"  ratio {row['ratio']:8.3g}  peak {row['peak_bytes'] / 1e6:8.2f} MB{mark}"
            )
        print(f"  time grows as N^{growth(rows):.2f}\n", flush=True)
    report["sweep"] = sweeps.main(options.quick)
    print()
    report["imports"] = imports(repeat)
    print("imports, beyond the start of the interpreter\n  floor: importing numpy")
    for row in report["imports"]:
        print(
            f"  {row['what']:20} {1e3 * row['seconds']:9.2f} ms  floor {1e3 * row['floor_seconds']:9.2f} ms  ratio {row['ratio']:5.2f}"
        )
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(f"\nwritten: {options.json}")


if __name__ == "__main__":
    main()
