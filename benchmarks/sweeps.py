"""What a sweep costs: the overhead of a task, and what a point takes here and on a worker, measured in one run.

    python benchmarks/sweeps.py [--quick]

The figures of `reliability/sweep_cost.py` are those of one such run.
"""

import argparse
import dataclasses
import pickle
import time
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory

from reliability import distribute, fleet, grid, sweep, sweep_cost, sweep_table

GRID = Path(__file__).parents[1] / "examples" / "grids" / "standbys.toml"
TASKS, POINTS, WORKERS = 3000, 2000, 2


def best(work):
    """Shortest of three times in seconds: the others were disturbed."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def task_s(tasks):
    """Seconds of an empty task, on two worker processes of this machine, with what they need imported."""
    with distribute.place(workers=WORKERS) as client:
        client.run(__import__, "reliability.sweep")
        return best(lambda: list(distribute.results(abs, range(tasks), client))) / tasks


def many(points):
    """Return the example's grid with so many points: intervals as fine as that needs."""
    read = grid.read(GRID)
    standbys, interval = read.axes
    minutes = tuple(10 + 150 * i / points for i in range(points // len(read.axes[standbys])))
    return dataclasses.replace(read, axes={standbys: read.axes[standbys], interval: minutes})


def point_s(points):
    """Seconds to make a point, to simulate it, to keep its result and lay it out, and bytes that it holds."""
    read, few = many(points), grid.read(GRID)
    sweep.points(few)  # imports, and the logs in the disk's cache
    prepare, made = best(lambda: sweep.points(read)), sweep.points(read)
    key, sample = fleet.key_of(read.seed), sweep.points(few)
    sweep.simulate_points((sample[:1], key, 2))  # compiled
    batch = sample, key, read.replications
    simulate, results = best(lambda: sweep.simulate_points(batch)), sweep.simulate_points(batch)

    def keep():
        with TemporaryDirectory() as folder, sweep.store(folder) as kept:
            for i in range(0, len(made), 10):
                kept.add([(point.key, results[0][1]) for point in made[i : i + 10]])
            sweep_table.write(sweep_table.table(made, kept), folder)

    def held():
        with TemporaryDirectory() as folder, sweep.store(folder) as kept:
            tracemalloc.start()
            few = sweep.points(many(points // 10))
            kept.add([(point.key, pickle.loads(pickle.dumps(results[0][1]))) for point in few])  # each its own
            table = sweep_table.table(few, kept)
            bytes_held = tracemalloc.get_traced_memory()[0] / len(table)
            tracemalloc.stop()
            return bytes_held

    return {
        "prepare_s": prepare / len(made),
        "simulate_s": simulate / len(sample),
        "keep_s": best(keep) / len(made),
        "held_bytes": held(),
    }


def measure(quick=False):
    """Return all figures, by the names that `reliability.sweep_cost.Measured` has."""
    part = 10 if quick else 1
    return {"task_s": task_s(TASKS // part), **point_s(POINTS // part), "replications": grid.read(GRID).replications}


def main(quick=False):
    """Print the figures, and what a million points cost with them; return the figures."""
    found = measure(quick)
    measured = sweep_cost.Measured(**found)
    print("a sweep\n  measured here, and in reliability/sweep_cost.py")
    for name, value in found.items():
        print(f"  {name:14} {value:12.6g}  {getattr(sweep_cost.MEASURED, name):12.6g}")
    print(sweep_cost.text(measured), flush=True)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure what a sweep costs.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the tasks and points")
    main(parser.parse_args().quick)
