"""Lines of kernel logs: stamp, host, who wrote it, and the text.

Read are dmesg (plain, ``-T``, ``--time-format iso``, ``-x``, raw), syslog (RFC 3164, 5424 and 3339
stamps), journalctl (all forms of one line, and ``-o json``), and ``HOST: `` before any of them, as pdsh
and clush write. Only what the kernel itself wrote is evidence of a fault: a line says who wrote it.
"""

import json
import re
from sys import intern
from typing import NamedTuple

from reliability.logs.stamps import MONTHS, NONE, iso_us, offset_of, take, yearless_of

KERNEL = "kernel"


class Line(NamedTuple):
    """A line of a log; what it does not say is None.

    Attributes
    ----------
    number : int
        In the file, from 1.
    host, program : str or None
        ``program`` with its process number, as in ``sudo[4410]``.
    text : str
        The message.
    kernel : bool
        Whether the kernel wrote it, as far as the log can say.
    wall_us, offset_s, yearless, boot_s
        See :class:`reliability.logs.stamps.Stamp`.
    boot : str or None
        The journal's number of the boot.
    """

    number: int
    host: str | None
    program: str | None
    text: str
    kernel: bool
    wall_us: int | None = None
    offset_s: int | None = None
    yearless: tuple | None = None
    boot_s: float | None = None
    boot: str | None = None


# The two commonest forms in one go: a log may be a million lines of them.
_COMMON = re.compile(
    r"(?:(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)"
    rf"|({'|'.join(MONTHS)}) ([ \d]\d) (\d\d:\d\d:\d\d)) ([^\s:]{{1,255}}) kernel: (?:\[ {{0,12}}(\d{{1,10}}\.\d{{1,9}})\] )?(?=[^\[\]\s])(?!kernel:)"
)
_PRIORITY = re.compile(r"<(\d{1,3})>")
_RAW = re.compile(r"(\d{1,4}),\d{1,20},(\d{1,20}),[^;]{0,200};")
_DECODED = re.compile(
    r"(kern|user|mail|daemon|auth|syslog|lpr|news|uucp|cron|authpriv|ftp|local\d) {0,3}:(\w{3,6}) {0,3}: {0,2}"
)
_SYSLOG = re.compile(r"(\S{1,255}) ([^\s:\[\]]{1,128})(?:\[(\d{1,10})\])?:(?=[ \[]|$) ?")
_STREAM = re.compile(r"(?:stdout|stderr) [FP] ")
_DATA = r'(?:-|(?:\[(?:[^\]\\"]|\\.|"(?:[^"\\]|\\.)*")*\])+)'
_RFC5424 = re.compile(rf"(\S{{1,255}}) (\S{{1,128}}) (\S{{1,128}}) (\S{{1,128}}) {_DATA} ?\ufeff?")
_PREFIX = re.compile(r"([\w./-]{1,255}):( {0,4})(?=[\[\d]|[A-Z][a-z]{2} )")
_TAG = re.compile(r"([A-Za-z][\w./-]{1,63})\[(\d{1,10})\]: ")
_DRIVER = ("NVRM: ", "nvidia-nvswitch", "Linux version", "NVRM:")


def parse(number, text, host=None):
    """Read a line.

    Parameters
    ----------
    number : int
    text : str
    host : str, optional
        The host of lines that name none.

    Returns
    -------
    Line

    Examples
    --------
    >>> line = parse(1, "Dec 31 23:59:58 gpu-d01 kernel: [95728.400210] NVRM: Xid (PCI:0000:3b:00): 79, …")
    >>> line.host, line.kernel, line.boot_s, line.text[:8]
    ('gpu-d01', True, 95728.40021, 'NVRM: Xi')
    >>> parse(1, "2025-07-14T09:21:40+0000 gpu-h02 root[4502]: NVRM: Xid …").program
    'root[4502]'
    """
    text = text.strip("\ufeff \t\r\n")
    if (found := _COMMON.match(text)) is not None and (line := _common(number, text, found)) is not None:
        return line
    if text[:1] == "{":
        return _json(number, text, host)
    facility = None
    if (found := _PRIORITY.match(text)) is not None:
        facility, text = int(found[1]) >> 3, text[found.end() :]
    elif (found := _RAW.match(text)) is not None:
        facility = int(found[1]) >> 3
        text = f"[{int(found[2]) // 1_000_000}.{int(found[2]) % 1_000_000:06d}] {text[found.end() :]}"
    elif (found := _DECODED.match(text)) is not None:
        facility, text = 0 if found[1] == "kern" else 1, text[found.end() :]
    version = text.startswith("1 ") and take(text[2:])[0] is not None
    stamp, rest = take(text[2:] if version else text)
    if stamp is None and (found := _PREFIX.match(text)) is not None:
        inner, after = take(text[found.end() :])
        if inner is not None:
            stamp, rest = inner, after
            # "HOST: " is pdsh's or clush's; "FILE:" without a blank is grep's, and names no host.
            host = found[1] if found[2] and found[1] != KERNEL and "/" not in found[1] else host
    line = _written_by(number, stamp or NONE, rest, host, version)
    return (
        line if facility in (0, None) else line._replace(kernel=False, program=line.program or f"facility {facility}")
    )


def _common(number, text, found):
    boot_s = float(found[9]) if found[9] else None
    if found[1]:
        wall = iso_us(found[1], found[2], found[3])
        if wall is None:
            return None
        return Line(
            number, intern(found[8]), KERNEL, text[found.end() :], True, wall, offset_of(found[4]), None, boot_s
        )
    yearless = yearless_of(found[5], found[6], found[7])
    if yearless is None:
        return None
    return Line(number, intern(found[8]), KERNEL, text[found.end() :], True, None, None, yearless, boot_s)


def _written_by(number, stamp, rest, host, version):
    """Who wrote the line: the part between the stamp and the message."""
    times = stamp
    if (found := _STREAM.match(rest)) is not None:
        return Line(number, None, "container", rest[found.end() :], False, *times)
    if version and (found := _RFC5424.match(rest)) is not None:
        name, program, process = found[1], found[2], found[3]
        text, process = rest[found.end() :], None if process == "-" else process
        return _tagged(number, times, None if name == "-" else name, program, process, text)
    if not rest.startswith(_DRIVER) and (found := _SYSLOG.match(rest)) is not None and not found[1].endswith(":"):
        return _tagged(number, times, found[1], found[2], found[3], rest[found.end() :])
    # No host: a line as dmesg prints it, or a bare message. A program may have written it through /dev/kmsg.
    if rest.startswith("kernel: "):
        return _tagged(number, times, host, KERNEL, None, rest[8:])
    program = f"{found[1]}[{found[2]}]" if (found := _TAG.match(rest)) is not None else None
    return Line(number, host, program, rest[found.end() :] if found else rest, program is None, *times)


def _tagged(number, stamp, host, program, process, text):
    program = program.rsplit("/", 1)[-1]
    if program != KERNEL or process not in (None, "0"):
        return Line(number, host, f"{program}[{process}]" if process else program, text, False, *stamp)
    inner, rest = take(text) if text[:1] == "[" else (None, text)
    if inner is not None and inner.boot_s is not None:
        stamp, text = stamp._replace(boot_s=inner.boot_s), rest
    if text.startswith("kernel: "):  # a relay may add the tag once more
        text = text[8:]
    return Line(number, host, KERNEL, text, True, *stamp)


def _json(number, text, host):
    """A line of ``journalctl -o json``, or of a container's or a program's log in JSON."""
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        return Line(number, host, "json", text, False)
    message = entry.get("MESSAGE")
    if isinstance(message, list):  # bytes that are not plain text
        message = bytes(b for b in message if isinstance(b, int) and 0 <= b < 256).decode("utf-8", "replace")
    if not isinstance(message, str):
        log = entry.get("log")
        container = isinstance(log, str)
        return Line(number, host, "container" if container else "json", log if container else text, False)
    name, transport = _text(entry, "SYSLOG_IDENTIFIER") or _text(entry, "_COMM"), _text(entry, "_TRANSPORT")
    kernel = transport == KERNEL or (transport is None and name == KERNEL and _text(entry, "_PID") is None)
    kernel = kernel and _text(entry, "SYSLOG_FACILITY") in (None, "0") and name in (None, KERNEL)
    process = _text(entry, "_PID") or _text(entry, "SYSLOG_PID")
    wall = _number(entry, "_SOURCE_REALTIME_TIMESTAMP") or _number(entry, "__REALTIME_TIMESTAMP")
    boot = _number(entry, "_SOURCE_MONOTONIC_TIMESTAMP")
    return Line(
        number,
        _text(entry, "_HOSTNAME") or host,
        KERNEL if kernel else f"{name}[{process}]" if process else name or "journal",
        message,
        kernel,
        wall,
        None if wall is None else 0,
        None,
        None if boot is None else boot / 1e6,
        _text(entry, "_BOOT_ID"),
    )


def _text(entry, key):
    value = entry.get(key)
    return str(value) if isinstance(value, str | int) else None


def _number(entry, key):
    value = _text(entry, key)
    return int(value) if value is not None and value.isascii() and value.isdigit() and len(value) < 19 else None
