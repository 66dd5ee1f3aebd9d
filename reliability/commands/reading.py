"""The options with which `incidents` and `backtest` read a log, and the reader's messages in terms of them."""

import os
import re
from difflib import get_close_matches
from itertools import islice

from reliability.errors import BadInput
from reliability.logs.notes import quoted

# Option of the command line: option of the readers.
READER_OPTIONS = {
    "--system": "system",
    "--zone": "zone",
    "--observed-from": "observed_from",
    "--observed-to": "observed_to",
    "--columns": "columns",
    "--decimal": "decimal",
    "--duration-unit": "duration_unit",
    "--failures": "failures",
    "--collected-at": "collected_at",
    "--booted-at": "booted_at",
    "--node": "node",
    "--storm-window": "storm_window_s",
    "--merge-window": "merge_window_s",
    "--failure-codes": "failure_codes",
}
OPTION_OF = {name: option for option, name in READER_OPTIONS.items()}
MOST_NAMES = 10_000  # of a folder that are compared with a name that is not in it
ORDER = "day_first=True or False"
# "tell zone='…'", "decimal='.' or decimal=','", "columns={'start': '…'}"
TOLD = re.compile(rf"\b({'|'.join(OPTION_OF)})=(?:'([^']*)'|\{{'(\w+)': '([^']*)'\}})")
REFUSED = re.compile(rf"\b({'|'.join([*OPTION_OF, 'day_first'])}) is not an option of read_(\w+):.*", re.DOTALL)
VALUE = re.compile(rf"\A({'|'.join(OPTION_OF)}) = ")


def add_reading(parser):
    """Add the options of reading a log, which `incidents` and `backtest` share."""
    parser.add_argument("file", metavar="FILE", help="log or table of incidents")
    parser.add_argument(
        "--format", default="auto", metavar="NAME", help="auto, csv, parquet, runs, slurm, lanl, xid, kubernetes"
    )
    parser.add_argument("--nodes", type=int, metavar="N", help="nodes watched; by default as the log says")
    parser.add_argument("--zone", metavar="NAME", help="time zone of stamps without one, such as Europe/Berlin")
    parser.add_argument("--observed-from", metavar="TIME", help="when watching began")
    parser.add_argument("--observed-to", metavar="TIME", help="when watching ended")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    tables = parser.add_argument_group("tables of incidents and of runs")
    tables.add_argument("--system", metavar="NAME", help="one of the systems in the file")
    order = tables.add_mutually_exclusive_group()
    order.add_argument(
        "--day-first", dest="day_first", action="store_true", default=None, help="03/11 is the 3rd of November"
    )
    order.add_argument(
        "--month-first", dest="day_first", action="store_false", default=None, help="03/11 is the 11th of March"
    )
    tables.add_argument(
        "--columns", metavar="PART=NAME,…", help="where names do not tell: start=Beginn,end=Ende,node=Knoten"
    )
    tables.add_argument("--decimal", metavar="SIGN", help="decimal sign, where the numbers do not prove it: . or ,")
    tables.add_argument("--duration-unit", metavar="UNIT", help="of a duration: s, min, h, d or ms")
    jobs = parser.add_argument_group("jobs")
    jobs.add_argument("--failures", metavar="A,B", help="states of jobs that count as failures (NODE_FAIL)")
    kernel = parser.add_argument_group("kernel logs and Kubernetes")
    kernel.add_argument("--collected-at", metavar="TIME", help="when a log without years was collected")
    kernel.add_argument(
        "--booted-at", metavar="TIME", help="when the machine of a log in seconds since boot was started"
    )
    kernel.add_argument("--node", metavar="NAME", help="the host of lines that name none")
    kernel.add_argument(
        "--storm-window", dest="storm_window_s", type=float, metavar="S", help="silence that ends a storm of Xid (600)"
    )
    kernel.add_argument(
        "--failure-codes", metavar="N,N", help="Xid codes that count as failures (see the page on logs)"
    )
    kernel.add_argument(
        "--merge-window",
        dest="merge_window_s",
        type=float,
        metavar="S",
        help="outages of a node so close are one, in Kubernetes' events (600)",
    )


def _words(text):
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _codes(text):
    if not all(word.isascii() and word.isdigit() for word in _words(text)):
        raise BadInput(f"--failure-codes {quoted(text)}: must be codes such as 79,48")
    return tuple(map(int, _words(text)))


def _columns(text):
    if not all("=" in word for word in _words(text)):
        raise BadInput(f"--columns {quoted(text)}: must be PART=NAME, such as start=Beginn,end=Ende")
    return {part.strip(): name.strip() for part, name in (word.split("=", 1) for word in _words(text))}


LISTS = {"failures": _words, "failure_codes": _codes, "columns": _columns}


def read(options):
    """Read the file as the options say."""
    from reliability import incidents

    names = [*READER_OPTIONS.values(), "day_first"]
    given = {name: value for name in names if (value := getattr(options, name, None)) is not None}
    given |= {name: split(given[name]) for name, split in LISTS.items() if name in given}
    try:
        return incidents.read(options.file, options.format, **given)
    except OSError as error:
        raise BadInput(f"{options.file}: {error.strerror or error}{near(options.file)}") from None
    except ValueError as error:
        message = as_options(str(error))
        if message.startswith("--node: ") and str(given.get("node", "")).isdigit():
            message += f"; did you mean --nodes {given['node']}?"
        raise BadInput(message + near(options.file)) from None


def near(path):
    """For a file that is missing, the name in its folder that is most like it, as the end of a message; else nothing."""
    folder, name = os.path.split(os.fspath(path))
    try:
        if os.path.lexists(path):
            return ""
        with os.scandir(folder or ".") as found:
            names = [entry.name for entry in islice(found, MOST_NAMES)]
    except (OSError, ValueError):
        return ""
    likest = get_close_matches(name, names, 1)
    return f"; did you mean {quoted(os.path.join(folder, likest[0]), 200)}?" if likest else ""


def as_options(message):
    """A message of a reader with the options of the command line in place of the functions'.

    Examples
    --------
    >>> as_options("time zone: tell zone='…'")
    'time zone: tell --zone …'
    >>> as_options("zone is not an option of read_kubernetes: nodes, … are")
    '--zone: not for a file of the format kubernetes'
    """
    message = REFUSED.sub(lambda found: f"{_option(found[1])}: not for a file of the format {found[2]}", message)
    message = message.replace(ORDER, "--day-first or --month-first")
    message = TOLD.sub(lambda found: f"{_option(found[1])} {found[2] or f'{found[3]}={found[4]}'}", message)
    return VALUE.sub(lambda found: f"{_option(found[1])} ", message)


def _option(name):
    return OPTION_OF.get(name, "--day-first or --month-first")
