"""Work through Dask: the same results wherever it is done, a worker that is killed, a scheduler that is not there."""

import json
import os
import signal
import subprocess
import sys
import time

import dask
import pytest
from distributed import Client
from hypothesis import given
from hypothesis import strategies as st

from reliability import distribute
from reliability.errors import BadInput


def square(piece):
    return piece * piece


def slow_square(piece):
    time.sleep(0.05)
    return piece * piece


def deadly(piece):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Start a scheduler and two workers on loopback; return the address and the workers' processes."""
    folder = tmp_path_factory.mktemp("dask")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}

    def start(*command):
        return subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    file = folder / "scheduler.json"
    scheduler = start(
        "distributed.cli.dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--no-dashboard",
        "--scheduler-file",
        str(file),
    )
    processes = [scheduler]
    try:
        deadline = time.monotonic() + 60
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        workers = [
            start(
                "distributed.cli.dask_worker",
                *("--scheduler-file", str(file), "--host", "127.0.0.1"),
                *("--nthreads", "1", "--no-nanny", "--no-dashboard"),
            )
            for _ in range(2)
        ]
        processes += workers
        address = json.loads(file.read_text())["address"]
        with Client(address, timeout=30) as client:
            client.wait_for_workers(2, timeout=60)
        yield address, workers
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait(timeout=30)


def test_in_this_process_the_results_come_in_order():
    assert list(distribute.results(square, [3, 1, 2])) == [(0, 9), (1, 1), (2, 4)]


def test_a_scheduler_gives_the_same_results_though_a_worker_is_killed(cluster):
    address, workers = cluster
    pieces = range(60)
    with distribute.place(scheduler=address) as client:
        found = {}
        for index, result in distribute.results(slow_square, pieces, client):
            assert index not in found
            found[index] = result
            if len(found) == 5:
                workers[0].send_signal(signal.SIGKILL)
        assert workers[0].wait(timeout=30) == -signal.SIGKILL
        assert found == dict(distribute.results(square, pieces))
        assert len(client.scheduler_info()["workers"]) == 1


def test_worker_processes_of_ones_own_give_the_same_results_and_end():
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}), distribute.place(workers=2) as client:
        pids = client.run(os.getpid).values()
        assert len({*pids, os.getpid()}) == 3
        assert dict(distribute.results(square, range(20), client)) == dict(distribute.results(square, range(20)))
        with pytest.raises(distribute.WorkLost) as error:
            list(distribute.results(deadly, [1], client))
        assert "took down" in str(error.value)
        assert "\n" not in str(error.value)
        pids = [*pids, *client.run(os.getpid).values()]
    for pid in pids:
        deadline = time.monotonic() + 30
        while os.path.exists(f"/proc/{pid}") and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not os.path.exists(f"/proc/{pid}")


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:1", "nonsense", "", "tcp://:", "ftp://127.0.0.1:8786", "tcp://127.0.0.1:99999999"]
)
def test_a_scheduler_that_cannot_be_reached_is_one_line(address, monkeypatch):
    monkeypatch.setattr(distribute, "CONNECT_S", 0.5)
    with pytest.raises(BadInput, match="--scheduler") as error, distribute.place(scheduler=address):
        pass
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "arguments", [{"workers": 0}, {"workers": -1}, {"workers": 2, "scheduler": "tcp://127.0.0.1:1"}]
)
def test_a_place_that_is_none_is_refused(arguments):
    with pytest.raises(BadInput, match="--workers"), distribute.place(**arguments):
        pass


def test_another_version_on_the_workers_is_refused(cluster, monkeypatch):
    monkeypatch.setattr(distribute, "__version__", "99.0")
    with (
        pytest.raises(BadInput, match="training-reliability .* here it is 99.0"),
        distribute.place(scheduler=cluster[0]),
    ):
        pass


@given(st.integers(1, 10**7), st.floats(1e-9, 1e4), st.integers(1, 1000))
def test_batches_keep_the_overhead_low_and_the_workers_busy(points, seconds, workers):
    size = distribute.batch_size(points, seconds, workers)
    assert 1 <= size <= points
    if size < -(-points // (4 * workers)) and seconds <= distribute.BATCH_S / 2:
        assert distribute.TASK_OVERHEAD_S <= 0.01 * size * seconds
