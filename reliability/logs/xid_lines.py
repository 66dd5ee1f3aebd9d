"""What the NVIDIA driver's lines say: Xid of a GPU, SXid of an NVSwitch, the names of GPUs, lost lines."""

import functools
import re
from sys import intern
from typing import NamedTuple


class Xid(NamedTuple):
    """An Xid message of the kernel.

    Attributes
    ----------
    gpu : str or None
        PCI address ``dddd:bb:dd`` in lower case.
    code : int or None
        None where the line was cut in or right after it.
    pid : int or None
    name : str or None
        Of the process; None where absent or unknown.
    text : str
        What follows.
    count : int
        Messages that the line stands for.
    """

    gpu: str | None
    code: int | None
    pid: int | None
    name: str | None
    text: str
    count: int = 1


class SxidPart(NamedTuple):
    """One of the lines of an SXid event: its text, its severity or its data."""

    switch: str
    gpu: str | None
    code: int
    part: str
    link: int | None
    fatal: bool | None
    text: str


# The driver writes a comma after the code: where it is missing the line was cut, and digits may be too.
_XID = re.compile(r"NVRM: Xid \(([^()]{1,40})\):? ?(?:(\d{1,6})(,?))?")
_PCI = re.compile(r"(?:PCI:)?(?:([0-9a-fA-F]{4,8}):)?([0-9a-fA-F]{2}):([0-9a-fA-F]{2})(?:\.[0-7])?")
_PID = re.compile(r" ?pid=(?:(\d{1,10})|'?<unknown>'?|[^,]{0,40}),")
_NAME = re.compile(r" ?name=([^,]{0,64}),")
_SXID = re.compile(r"nvidia-(nvswitch\d{1,3}): SXid \((?:PCI:)?([0-9a-fA-F:.]{5,20})\): (\d{1,6}), ?")
_LINK = re.compile(r"\bLink (\d{1,3})\b")
_ENGINE = re.compile(r"Severity \d{1,3} Engine instance (\d{1,3})\b")
_FATAL = re.compile(r"\b(?:(non-?fatal)|fatal)\b", re.IGNORECASE)
_REPEATED = re.compile(r"message repeated (\d{1,9}) times: \[ ?(.*?)\]?$", re.DOTALL)
_LAST_REPEATED = re.compile(r"last message repeated (\d{1,9}) times?")
_LOST = (
    re.compile(r"[Mm]issed (\d{1,12}) kernel messages?"),
    re.compile(r"(\d{1,12}) printk messages? dropped"),
    re.compile(r"imjournal: (\d{1,12}) messages? lost"),
    re.compile(r"(?:NVRM|nvidia)\b.{0,80}?(\d{1,12}) (?:messages?|callbacks?) suppressed"),
)
_UUID = re.compile(r"NVRM: GPU at (?:PCI:)?([0-9a-fA-F:.]{5,20}): (GPU-[0-9a-fA-F-]{8,40})")
_RECOVERY = re.compile(r"changed from .{0,60}? to 0x[0-9a-fA-F]{1,8} \(([^)]{0,60})\)")


@functools.lru_cache(10_000)
def pci(text):
    """Write a PCI address as ``dddd:bb:dd`` in lower case; None where it is none.

    Examples
    --------
    >>> pci("PCI:0000:D8:00"), pci("00000008:01:00.0"), pci("62")
    ('0000:d8:00', '0008:01:00', None)
    """
    if (found := _PCI.fullmatch(text.strip())) is None:
        return None
    bus = f"{found[2]}:{found[3]}".lower()
    return f"{int(found[1], 16):04x}:{bus}" if found[1] else bus


@functools.lru_cache(10_000)
def xid(text):
    """Read an Xid message; None where the text is none.

    Examples
    --------
    >>> xid("NVRM: Xid (PCI:0000:10:1c): 63, pid=2764, Row Remapper: …")
    Xid(gpu='0000:10:1c', code=63, pid=2764, name=None, text='Row Remapper: …', count=1)
    >>> xid("NVRM: Xid (PCI:0000:3b:00): 7").code is None
    True
    """
    if (found := _XID.match(text)) is None:
        return None
    code = int(found[2]) if found[2] and found[3] else None
    rest = text[found.end() :]
    pid = name = None
    if (part := _PID.match(rest)) is not None:
        pid, rest = int(part[1]) if part[1] else None, rest[part.end() :]
    if (part := _NAME.match(rest)) is not None:
        name, rest = intern(part[1].strip("'")), rest[part.end() :]
        name = None if name in ("", "<unknown>") else name
    # On a GPU that is cut into instances, " GPU-I:02" follows the address.
    return Xid(pci(found[1].split(" GPU-")[0]), code, pid, name, rest.strip())


def repeated(text):
    """Split 'message repeated N times: [ … ]' into (N, message); (1, text) for any other text."""
    found = _REPEATED.match(text) if text.startswith("message rep") else None
    return (1, text) if found is None else (int(found[1]), found[2])


def last_repeated(text):
    """How often the line before was repeated, or None."""
    found = _LAST_REPEATED.match(text)
    return None if found is None else int(found[1])


def lost(text):
    """How many messages a line says were lost, or None."""
    for pattern in _LOST:
        if (found := pattern.search(text)) is not None:
            return int(found[1])
    return None


def gpu_name(text):
    """Return (PCI address, UUID) of a line that names a GPU, or None."""
    found = _UUID.match(text)
    return None if found is None else (pci(found[1]), found[2])


def fatal(text):
    """Whether a text says fatal (True), non-fatal (False) or neither (None).

    Examples
    --------
    >>> fatal("NETIR_LINK_EVT Fatal XC0 i0 Link 08"), fatal("RLW_RXPIPE Nonfatal XC0"), fatal("")
    (True, False, None)
    """
    found = _FATAL.search(text[:120])
    return None if found is None else found[1] is None


def recovery(text):
    """What an Xid 154 asks for, or None: ``"GPU Reset Required"``, ``"None"``, …"""
    found = _RECOVERY.search(text)
    return None if found is None else found[1]


def out_of_service(text):
    """Whether an Xid 154 asks for a reset or a restart.

    Examples
    --------
    >>> out_of_service("GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)")
    True
    """
    action = (recovery(text) or "").lower()
    return any(word in action for word in ("reset", "reboot", "flr"))


def sxid(text):
    """Read a line of an SXid event; None where the text is none."""
    if (found := _SXID.match(text)) is None:
        return None
    rest = text[found.end() :].strip()
    if rest.startswith("Data"):
        part, link, severe = "data", None, None
    elif (engine := _ENGINE.match(rest)) is not None:
        part, link, severe = "severity", int(engine[1]), None
    else:
        link = int(at[1]) if (at := _LINK.search(rest)) is not None else None
        part, severe = "text", fatal(rest)
    return SxidPart(found[1], pci(found[2]), int(found[3]), part, link, severe, rest)
