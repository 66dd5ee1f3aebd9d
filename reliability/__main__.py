"""The command line: ``python -m reliability COMMAND``."""

import argparse
import os
import signal
import sys
import threading
from importlib import import_module

from reliability import __version__
from reliability.commands import NAMES, outputs
from reliability.commands.failed import blocked, fail, missing
from reliability.errors import BadInput

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
    outputs.prepare()
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
        outputs.no_more()
        return 0
    except OSError as error:
        outputs.no_more()
        return blocked(error)
    except MemoryError:
        return fail("there is not enough memory for this")
    except ImportError as error:
        if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):  # as a compiled library has it
            return interrupted()
        return missing(error)
    except KeyboardInterrupt:
        return interrupted()


def interrupted():
    """Say so; return 130, as a shell does."""
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


if __name__ == "__main__":
    status = main()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # from here on an interruption ends this without a word
    sys.exit(status)
