"""The command line: ``python -m reliability COMMAND``."""

import signal
import sys

# Until the command begins, and from its end on, an interruption ends this without a word; a shell may have it ignored.
HEARD = signal.getsignal(signal.SIGINT) is signal.default_int_handler
if __name__ == "__main__" and HEARD:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import argparse
import io
import os
import threading
from importlib import import_module

from reliability import __version__
from reliability.commands import NAMES
from reliability.commands.failed import blocked, fail
from reliability.errors import BadInput

NO_THREAD = "can't start new thread"  # as Python says it
EPILOG = """\
examples:
  python -m reliability run availability -p cold_mttr_min 30 --out mine
  python -m reliability demo --scenario 2
  python -m reliability incidents incidents.csv --nodes 128
  python -m reliability plan cluster.toml --out plan
"""


def parser():
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="python -m reliability",
        description="The numbers behind keeping large AI training jobs alive.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"training-reliability {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in NAMES:
        _command(name).add(commands)
    return top


def _command(name):
    return import_module(f"reliability.commands.{name}")


def refuse(message):
    """Say what is wrong with the request; return 2, as argparse does."""
    print(f"error: {message}", file=sys.stderr)
    return 2


def main(arguments=None):
    """Run the command line; return the exit status."""
    _stand_in_for_closed_outputs()
    if sys.stderr is sys.__stderr__:
        sys.stderr = _that_takes_all(sys.stderr)
    for output in (sys.stdout, sys.stderr):
        if hasattr(output, "reconfigure"):  # what the terminal's encoding does not have is written as an escape
            output.reconfigure(errors="backslashreplace")
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _interrupt_again
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that temporary files are cleaned up then, too
    try:
        try:
            options = parser().parse_args(arguments)
            return _command(options.command).main(options)
        except BadInput as error:
            return refuse(str(error))
        finally:
            sys.stdout.flush()  # here, not at exit, where a closed pipe could no longer be caught
    except BrokenPipeError:
        # Whoever read the output has had enough of it; Python would complain once more at exit.
        _no_more_output()
        return 0
    except OSError as error:
        _no_more_output()
        return blocked(error)
    except MemoryError:
        return fail("there is not enough memory for this")
    except ImportError as error:  # a library for which there is not enough memory, or that is broken
        return fail(f"what this needs cannot be loaded: {error}")
    except RuntimeError as error:
        if str(error) != NO_THREAD:
            raise
        return fail("the system lets this start no more threads")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _interrupt_again(ignored):
    """Have an interruption come once more that came where Python drops it: in a weak reference's callback, or in a ``__del__``."""
    if ignored.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(ignored)
        return
    again = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    again.daemon = True
    again.start()


def _stand_in_for_closed_outputs():
    """Open what whoever started this had closed (``>&-``), which Python has as None."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))


class _Forgiving(io.FileIO):
    """A file whose writes never fail: what is said on stderr is no part of the work, on a full disk as elsewhere."""

    def write(self, data):
        """Write what can be written; take the rest as written."""
        try:
            return super().write(data)
        except OSError:
            return len(data)


def _that_takes_all(stream):
    """Return an output to the same file, in which nothing fails."""
    raw = _Forgiving(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), stream.encoding, stream.errors, line_buffering=True)


def _no_more_output():
    """Have Python not try once more, at exit, to write what could not be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    if HEARD:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    status = main()
    if HEARD:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(status)
