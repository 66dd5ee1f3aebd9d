"""Work through Dask: the same results wherever it is done, a worker that is killed, a scheduler that is not there."""

import asyncio
import errno
import http.server
import json
import logging
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from types import SimpleNamespace

import dask
import distributed
import interruptions
import pytest
from distributed import Client, LocalCluster
from distributed.client import ClosedClientError
from hypothesis import given
from hypothesis import strategies as st
from test_sweep import CLUSTER

from reliability import dask_scheduler, distribute, sweep_cost
from reliability.errors import BadInput


def square(piece):
    return piece * piece


def slow_square(piece):
    time.sleep(0.05)
    return piece * piece


def wait_until(done, limit_s=60):
    deadline = time.monotonic() + limit_s
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def deadly(piece):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Start a scheduler and two workers on loopback; return the address and the workers' processes."""
    with started(tmp_path_factory.mktemp("dask")) as (address, _, *workers):
        yield address, workers


@contextmanager
def started(folder):
    """Start a scheduler and two workers on loopback; give its address and their processes."""
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
        wait_until(file.exists)
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
        yield address, *processes
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait(timeout=30)


LONG = ("simulate", "cluster.toml", "--replications", "1000000", "--json", "--workers")


@pytest.fixture
def folder(tmp_path):
    """A folder with a cluster file, and an empty one for temporary files."""
    (tmp_path / "cluster.toml").write_text(CLUSTER)
    (tmp_path / "temporary").mkdir()
    return tmp_path


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
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids))


def test_a_scheduler_that_is_lost_leaves_what_was_done(folder):
    with (
        started(folder) as (address, scheduler, *_),
        interruptions.started(folder, *LONG[:-1], "--scheduler", address) as process,
    ):
        interruptions.wait_for_work(process)
        scheduler.kill()
        out, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (1, "error: the connection to the scheduler is lost\n")
    assert json.loads(out)["partial"] is True


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:1", "nonsense", "", "tcp://:", "ftp://127.0.0.1:8786", "tcp://127.0.0.1:99999999"]
)
def test_a_scheduler_that_cannot_be_reached_is_one_line(address, monkeypatch):
    monkeypatch.setattr(dask_scheduler, "REFUSED_S", 0.5)
    with pytest.raises(BadInput, match="--scheduler") as error, distribute.place(scheduler=address):
        pass
    assert "\n" not in str(error.value)


class Silent(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


@pytest.mark.parametrize("server", ["http", "nothing said", "worker"])
def test_what_is_no_scheduler_is_not_waited_for_without_end(server, cluster, monkeypatch):
    monkeypatch.setattr(dask_scheduler, "CONNECT_S", 1.0)
    with ExitStack() as stack:
        said = "no Dask scheduler answers there within 1 s"
        if server == "http":
            there = stack.enter_context(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent))
            stack.callback(there.shutdown)
            threading.Thread(target=there.serve_forever, daemon=True).start()
            address = f"tcp://127.0.0.1:{there.server_address[1]}"
        elif server == "nothing said":
            there = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            address = f"tcp://127.0.0.1:{there.getsockname()[1]}"
        else:
            with Client(cluster[0]) as client:
                address = next(iter(client.scheduler_info()["workers"]))
            said = "no Dask scheduler answers there (a Worker does)"
        started = time.monotonic()
        with pytest.raises(BadInput) as error, distribute.place(scheduler=address):
            pass
        assert str(error.value) == f"--scheduler {address}: {said}"
        assert time.monotonic() - started < 20


@pytest.mark.parametrize(
    ("said", "hangs_up"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", False),  # read as a length, it asks for 3 EiB of memory
        (b"", True),
        (bytes(64), False),
        (struct.pack("<4Q", 24, 1, 8, 0) + 8 * b"\xc1", False),  # a frame of no message
    ],
)
def test_what_speaks_another_language_is_told_in_plain_words(said, hangs_up):
    def answer(there):
        with suppress(OSError):
            while True:
                one, _ = there.accept()
                taken.append(one)
                one.sendall(said)
                if hangs_up:
                    one.close()

    taken = []
    with socket.create_server(("127.0.0.1", 0)) as there:
        threading.Thread(target=answer, args=[there], daemon=True).start()
        address = f"tcp://127.0.0.1:{there.getsockname()[1]}"
        with pytest.raises(BadInput) as error, distribute.place(scheduler=address):
            pass
        for one in taken:
            one.close()
        there.shutdown(socket.SHUT_RDWR)
    assert str(error.value) == f"--scheduler {address}: no Dask scheduler answers there (something else does)"
    assert not logging.getLogger("distributed.protocol.core").isEnabledFor(logging.CRITICAL)  # nor by a traceback


def test_a_refusal_that_lasts_is_not_waited_for_as_long_as_an_answer():
    began = time.monotonic()
    with pytest.raises(BadInput, match="Connection refused"), distribute.place(scheduler="tcp://127.0.0.1:1"):
        pass
    assert dask_scheduler.REFUSED_S <= time.monotonic() - began < dask_scheduler.CONNECT_S / 2


def test_a_scheduler_that_is_just_starting_is_waited_for(cluster, monkeypatch):
    """At first nobody listens; then what is there passes everything on to a scheduler."""
    connect, tried = socket.create_connection, []

    def refused_at_first(*args):
        tried.append(args)
        if len(tried) < 4:
            raise ConnectionRefusedError
        return connect(*args)

    monkeypatch.setattr(dask_scheduler.socket, "create_connection", refused_at_first)
    with distribute.place(scheduler=cluster[0]) as client:
        assert client.submit(square, 3).result() == 9
    assert len(tried) == 4


@pytest.mark.parametrize("when", ["starting", "working"])
def test_ctrl_c_is_for_the_command_alone(when, folder):
    """A terminal sends it to all processes of the command, those that start and those that work."""
    with interruptions.started(folder, *LONG, "2", temporary=folder / "temporary") as process:
        if when == "working":
            interruptions.wait_for_work(process)
        else:
            wait_until(lambda: list((folder / "temporary").iterdir()))  # their folder; they start right after
            time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        out, said = process.communicate(timeout=120)
    assert process.returncode in interruptions.ENDS
    assert said == ("" if out else "interrupted\n")
    assert list((folder / "temporary").iterdir()) == []


def test_an_impatient_second_ctrl_c_is_no_other_word(folder):
    """It neither tears what there is to report, nor leaves folders for temporary files, nor is it said twice."""
    with interruptions.started(folder, *LONG, "1", temporary=folder / "temporary") as process:
        interruptions.wait_for_work(process)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        out, said = process.communicate(timeout=60)
    assert process.returncode in interruptions.ENDS
    assert json.loads(out)["partial"] is True
    assert said == ""
    assert list((folder / "temporary").iterdir()) == []


@pytest.mark.parametrize(
    "arguments", [{"workers": 0}, {"workers": -1}, {"workers": 5000}, {"workers": 2, "scheduler": "tcp://127.0.0.1:1"}]
)
def test_a_place_that_is_none_is_refused(arguments):
    with pytest.raises(BadInput, match="--workers"), distribute.place(**arguments):
        pass


def test_another_version_on_the_workers_is_refused(cluster, monkeypatch):
    monkeypatch.setattr(dask_scheduler, "__version__", "99.0")
    with (
        pytest.raises(BadInput, match="training-reliability .* here it is 99.0"),
        distribute.place(scheduler=cluster[0]),
    ):
        pass


def test_a_worker_that_is_frozen_is_named(cluster, monkeypatch):
    monkeypatch.setattr(dask_scheduler, "CONNECT_S", 2.0)
    with Client(cluster[0]) as client:
        (address, process), *_ = client.run(os.getpid).items()
    os.kill(process, signal.SIGSTOP)
    try:
        with (
            pytest.raises(BadInput, match=f"worker {address} does not answer within 2 s"),
            distribute.place(scheduler=cluster[0]),
        ):
            pass
    finally:
        os.kill(process, signal.SIGCONT)


@pytest.fixture
def threads():
    """A client of one worker that is a thread of this process; it starts and ends at once."""
    with LocalCluster(1, processes=False, threads_per_worker=1, dashboard_address="127.0.0.1:0") as here, Client(here) as client:
        yield client


def test_where_no_worker_is_left_it_is_said_once(threads, monkeypatch):
    said = []

    class Answer(logging.Handler):
        def emit(self, record):
            said.append(record.getMessage())
            threads.cluster.scale(1)

    monkeypatch.setattr(distribute, "LOOK_S", 0.1)
    monkeypatch.setattr(distribute.log, "handlers", [Answer()])
    found = distribute.results(slow_square, range(40), threads)
    assert next(found) == (0, 0)
    threads.cluster.scale(0)
    assert len(list(found)) == 39
    assert said == ["no worker is left; waiting for one"]


def test_workers_for_which_there_are_not_enough_files_are_refused_in_one_line():
    command = [sys.executable, "-m", "reliability", "simulate", "example:airesim-base", "--workers", "2"]
    shell = ["sh", "-c", 'ulimit -n 40; exec "$@"', "sh", *command]
    done = subprocess.run(shell, capture_output=True, text=True, timeout=60, check=False)
    said = "error: 2 worker processes need 56 open files, and this system allows 40 (ulimit -n)\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


def test_files_that_the_system_would_allow_are_asked_for():
    command = [sys.executable, "-c", FILES]
    shell = ["sh", "-c", 'ulimit -S -n 30; exec "$@"', "sh", *command]
    assert subprocess.run(shell, capture_output=True, text=True, timeout=60, check=True).stdout == "(104, True)\n"


FILES = """
import resource
from reliability import dask_workers
before = resource.getrlimit(resource.RLIMIT_NOFILE)
dask_workers._allow_files(104, 6)
after = resource.getrlimit(resource.RLIMIT_NOFILE)
print((after[0], after[1] == before[1]))
"""


def test_workers_that_do_not_start_say_what_the_system_refused(monkeypatch):
    def refused(**_):
        try:
            raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
        except OSError as error:
            raise RuntimeError("Nanny failed to start.") from error

    monkeypatch.setattr(distributed, "LocalCluster", refused)
    said = r"the worker processes cannot be started \(Resource temporarily unavailable\)"
    with pytest.raises(distribute.WorkLost, match=said), distribute.place(workers=1):
        pass


def test_workers_without_a_client_are_ended_before_their_folder_goes(monkeypatch):
    there = []

    class Cluster(SimpleNamespace):
        workers = {}

        def sync(self, work):
            asyncio.run(work())

        def close(self):
            there.append(os.path.isdir(dask.config.get("temporary-directory")))

    def lost(_):
        raise OSError("no way there")

    monkeypatch.setattr(distributed, "LocalCluster", Cluster)
    monkeypatch.setattr(distributed, "Client", lost)
    with pytest.raises(distribute.WorkLost, match="no way there"), distribute.place(workers=1):
        pass
    assert there == [True]


@given(st.integers(1, 10**7), st.floats(1e-9, 1e4), st.integers(1, 1000))
def test_batches_keep_the_overhead_low_and_the_workers_busy(points, seconds, workers):
    size, task_s = sweep_cost.batch_size(points, seconds, workers), sweep_cost.MEASURED.task_s
    assert 1 <= size <= points
    if size < -(-points // (4 * workers)) and seconds <= sweep_cost.batch_s(workers) / 10:  # rounding is small then
        assert sweep_cost.TASK_WORKERS * task_s <= 0.011 * size * seconds
        assert workers * task_s <= 0.55 * size * seconds  # the scheduler keeps up


def test_the_scheduler_is_not_given_all_tasks_at_once(threads, monkeypatch):
    monkeypatch.setattr(distribute, "AHEAD", 3)
    submitted, most = [], 0
    submit = threads.submit
    monkeypatch.setattr(threads, "submit", lambda *args, **more: submitted.append(args) or submit(*args, **more))
    for done, _ in enumerate(distribute.results(square, range(12), threads)):
        most = max(most, len(submitted) - done)
    assert (len(submitted), most) == (12, 3)


# What it costs --------------------------------------------------------------------------------------------------------

EASY = sweep_cost.Measured(task_s=0.001, prepare_s=0.01, simulate_s=0.1, keep_s=0.02, held_bytes=1e3, replications=10)


def test_the_cost_of_a_sweep_is_the_sum_of_its_parts():
    cost = sweep_cost.hours(36_000, 10, EASY)
    assert cost["here"] == pytest.approx(0.3)  # 36,000 times 0.03 s
    tasks = 36_000 / sweep_cost.batch_size(36_000, 0.1, 10)
    assert cost["overhead"] == pytest.approx(tasks * 2 * 0.001 / 10 / 3600)
    assert cost["workers"] == pytest.approx(0.1 + cost["overhead"])
    assert cost["all"] == pytest.approx(cost["here"] + cost["workers"])


@given(st.integers(10**5, 10**7), st.integers(1, 500))
def test_twice_the_points_cost_twice_and_twice_the_workers_half(points, workers):
    one = sweep_cost.hours(points, workers)
    assert sweep_cost.hours(2 * points, workers)["all"] == pytest.approx(2 * one["all"], rel=0.02)
    more = sweep_cost.hours(points, 2 * workers)
    assert more["here"] == one["here"]
    assert more["workers"] == pytest.approx(one["workers"] / 2, rel=0.02)
    assert one["overhead"] <= 0.015 * one["workers"]


def test_the_text_has_the_measured_figures():
    text = sweep_cost.text(EASY, points=36_000, workers=(1, 10))
    assert "takes 100 ms on a worker" in text
    assert "takes 30 ms where the command runs, and 1 kB of memory" in text
    assert "The overhead of a task is 1 ms" in text
    assert f"36,000 such points take {sweep_cost.hours(36_000, 10, EASY)['all']:.2g} h on 10 cores" in text


def test_a_scheduler_that_is_lost_counts_as_one_worker():
    """Whoever is to share out work then goes on to where the loss is told."""
    assert distribute.workers(SimpleNamespace(scheduler_info=dict)) == 1
    assert distribute.workers(SimpleNamespace(scheduler_info=lambda: {"workers": {"a": {}, "b": {}}})) == 2
    assert distribute.workers(None) == 1


def test_work_begun_after_the_scheduler_was_lost_is_told_so(cluster, monkeypatch):
    """A client that has given up its scheduler refuses everything, in words of its own."""

    def closed(*_, **__):
        raise ClosedClientError("Client is closed.")

    with distribute.place(scheduler=cluster[0]) as client:
        monkeypatch.setattr(client, "status", "connecting")  # once more, in vain
        with pytest.raises(distribute.WorkLost, match="^the connection to the scheduler is lost$"):
            list(distribute.results(slow_square, [1, 2], client))
        monkeypatch.undo()
        monkeypatch.setattr(client, "submit", closed)
        monkeypatch.setattr(client, "cancel", closed)
        with pytest.raises(distribute.WorkLost, match="^the connection to the scheduler is lost$"):
            list(distribute.results(square, [1, 2], client))
