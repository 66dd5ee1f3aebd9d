"""What a sweep costs: computed from the measured time of a point and the measured overhead of a task."""

from __future__ import annotations

from dataclasses import dataclass

from reliability.units import HOUR_S


@dataclass(frozen=True)
class Measured:
    """What was measured of a sweep, by ``python benchmarks/sweeps.py``.

    Attributes
    ----------
    task_s : float
        Of empty tasks on two workers, each, in seconds: they go through one scheduler, one after the other.
    prepare_s, keep_s : float
        To make a point's fleet of its settings; to keep its result and put it into the table. Both where the command runs.
    simulate_s : float
        To simulate a point, on a worker.
    held_bytes : float
        What a point, its result and its row of the table hold in memory where the command runs.
    replications : int
        Of a point.
    """

    task_s: float
    prepare_s: float
    simulate_s: float
    keep_s: float
    held_bytes: float
    replications: int


# Of examples/grids/standbys.toml, on two cores. `make bench` measures them again and prints both.
MEASURED = Measured(
    task_s=5.4e-3, prepare_s=3.0e-3, simulate_s=26e-3, keep_s=0.22e-3, held_bytes=18e3, replications=200
)

TASK_WORKERS = 2  # that `task_s` is measured with
SHARE = 0.01  # of a worker's time that tasks may cost
BUSY = 0.5  # share of its time that the scheduler may be kept busy, however many workers there are


def batch_s(workers: int) -> float:
    """Return how long a task should be, so that neither its overhead nor the one scheduler holds the workers up.

    Examples
    --------
    >>> batch_s(2) < batch_s(1000)
    True
    """
    return MEASURED.task_s * max(TASK_WORKERS / SHARE, workers / BUSY)


def batch_size(points: int, seconds: float, workers: int = 1) -> int:
    """Return how many points a task takes, so that the overhead of a task stays small: see :func:`batch_s`.

    Parameters
    ----------
    points : int
        How many there are.
    seconds : float
        What one takes.
    workers : int
        Each gets at least four tasks, where there are so many points, so that none waits long for the last.

    Examples
    --------
    >>> batch_size(100, 0.001, workers=8), batch_size(100, 60.0)
    (4, 1)
    """
    fair = -(-points // (4 * workers))
    return max(1, min(fair, round(batch_s(workers) / max(seconds, 1e-9))))


def hours(points: int, workers: int, measured: Measured = MEASURED) -> dict[str, float]:
    r"""Return what a sweep takes.

    .. math:: t = N (t_\text{prepare} + t_\text{keep}) + \frac{N}{W} \left(t_\text{simulate} + \frac{2 o}{n}\right)

    with `n` points in a task and `o` of an empty one on two workers, so that it costs a worker at most twice that.

    Parameters
    ----------
    points : int, >= 1
    workers : int, >= 1
    measured : Measured

    Returns
    -------
    dict
        ``here`` (prepare and keep), ``workers``, ``overhead`` (of the tasks, a part of ``workers``) and ``all``, in hours.
    """
    size = batch_size(points, measured.simulate_s, workers)
    here = points * (measured.prepare_s + measured.keep_s)
    overhead = points / size * TASK_WORKERS * measured.task_s / workers
    there = points * measured.simulate_s / workers + overhead
    parts = {"here": here, "workers": there, "overhead": overhead, "all": here + there}
    return {name: seconds / HOUR_S for name, seconds in parts.items()}


def text(measured: Measured = MEASURED, points: int = 1_000_000, workers: tuple[int, ...] = (1, 64)) -> str:
    """Return the cost of a sweep of many points in a few sentences."""
    said = [
        f"A point of `examples/grids/standbys.toml`, {measured.replications} replications, takes {1e3 * measured.simulate_s:.3g} ms on a worker; "
        f"to make its settings a fleet and to keep its result takes {1e3 * (measured.prepare_s + measured.keep_s):.2g} ms where the command runs, "
        f"and {measured.held_bytes / 1e3:.2g} kB of memory. The overhead of a task is {1e3 * measured.task_s:.2g} ms.",
    ]
    for number in workers:
        cost = hours(points, number, measured)
        core = "one core" if number == 1 else f"{number} cores"
        said.append(
            f"{points:,} such points take {cost['all']:.2g} h on {core}: {cost['workers']:.2g} h of simulation, of which tasks "
            f"add {100 * cost['overhead'] / cost['workers']:.2g}%, and {cost['here']:.2g} h where the command runs."
        )
    said.append(f"They hold {points * measured.held_bytes / 1e9:.2g} GB of memory there, results and table included.")
    return "\n".join(said)
