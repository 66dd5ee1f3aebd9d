"""Commands that run in a process of their own and say when they are at work, so that they are interrupted then."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

ENDS = (130, -signal.SIGINT)  # a shell shows both as 130; the second where code was interrupted that is made as it runs
RUN = """
import runpy, sys
from contextlib import contextmanager
from reliability.commands import progress

@contextmanager
def bar(unit, what=None):
    said = []

    def update(done, wanted):
        if done and not what and not said:
            said.append(print("working", file=sys.stderr, flush=True))

    yield update

progress.bar = bar
{first}
runpy.run_module("reliability", run_name="__main__", alter_sys=True)
"""


@contextmanager
def started(folder, *arguments, first="", temporary=None):
    """Start a command in a folder, in a session of its own, after some code; give its process."""
    with subprocess.Popen(
        [sys.executable, "-c", RUN.format(first=first), *arguments],
        cwd=folder,
        env=os.environ | ({"TMPDIR": str(temporary)} if temporary else {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for_work(process):
    """Wait until something is done; what the command says before is none of it."""
    said = process.stderr.readline()
    assert said == "working\n", said + process.stderr.read()
