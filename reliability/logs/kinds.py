"""Which kind of log a file is, told from its first lines."""

import os
import re

from reliability.logs import columns
from reliability.logs.notes import LogError

KERNEL = re.compile(
    r"NVRM|\bS?Xid\b"
    r"|^\s*(?:<\d{1,3}>\d?\s*)?\[\s*\d+\.\d+\]"  # seconds since boot
    r"|^(?:<\d{1,3}>)?\[?(?:[A-Z][a-z]{2},? )?(?:[A-Z][a-z]{2} +\d{1,2}|\d{1,2} [A-Z][a-z]{2}) (?:\d{4} )?\d\d:\d\d:\d\d"
    r"|^(?:<\d{1,3}>\d? ?)?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S* +\S+ \S+"
    r"|^-- (?:Boot|Logs begin|Journal begins|Reboot)"
    r"|\"(?:__REALTIME_TIMESTAMP|_BOOT_ID|MESSAGE)\""
)
KUBERNETES = re.compile(r'"(?:apiVersion|involvedObject|kind)"\s*:')
SACCT_JSON = re.compile(r'"(?:jobs|job_id|slurm|meta)"\s*:')
SACCT_ROW = re.compile(r"^\d+(?:[_+]\S*?)?(?:\.\w+)?\|")
SACCT_COLUMNS = re.compile(r"^\s*JobID(?:Raw)?\s+.*\n\s*-{3,}[ -]*$", re.MULTILINE)
KNOWN = "incidents as CSV or Parquet, sacct --parsable2, kernel log lines, Kubernetes JSON or LANL's table"


def is_parquet(path):
    """Whether a file begins as Parquet does; False for one that cannot be opened."""
    try:
        # A pipe is not looked into: what is read from it is gone.
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read(4) == b"PAR1"
    except (OSError, ValueError, TypeError):
        return False


def kind_of(text):
    """Return the format of a text, a key of :data:`reliability.incidents.READERS`.

    Raises
    ------
    LogError
        Where no line tells.
    """
    lines = text.head()
    number, first = lines[0]
    start = "\n".join(line[:2000] for _, line in lines)
    if first.lstrip()[:1] in ("{", "["):
        kind = _of_json(start, text)
        if kind:
            return kind
    header = columns.find_header(lines)
    kind = header and columns.kind_of_header(header[1].lstrip("\ufeff"))
    if kind:
        return kind
    if KERNEL.search(start) or _has_kernel_lines(lines):
        return "xid"
    if SACCT_COLUMNS.search(start):
        raise LogError(text.name, number, first, "output of sacct --parsable2, not its columns of fixed width")
    if SACCT_ROW.match(first):
        raise LogError(text.name, number, first, "a header line: run sacct without --noheader")
    raise LogError(text.name, number, first, KNOWN)


def _has_kernel_lines(lines):
    from reliability.logs import kernel_lines, kernel_scan

    return any(kernel_scan.is_of_a_machine(kernel_lines.parse(number, line), line) for number, line in lines)


def _of_json(start, text):
    if re.search(r'"(?:__REALTIME_TIMESTAMP|_BOOT_ID|SYSLOG_IDENTIFIER)"', start):
        return "xid"
    for pattern, kind in ((KUBERNETES, "kubernetes"), (SACCT_JSON, "slurm")):
        if pattern.search(start):
            return kind
    # One document on one line: its keys may stand far behind.
    if start.lstrip().startswith("{"):
        whole = text.read()
        for pattern, kind in ((KUBERNETES, "kubernetes"), (SACCT_JSON, "slurm")):
            if pattern.search(whole):
                return kind
    return None
