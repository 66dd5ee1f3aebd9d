"""Lines in which a program other than the kernel names an Xid: no evidence of a new fault.

Device plugins, health agents and exporters repeat what the kernel said, in their own words and for
hours. Such a line confirms a message of the kernel, or it is shown for review. A line that quotes a
search or a command says nothing at all.
"""

import re

MOST_REMEMBERED = 100_000
AHEAD_US = 60_000_000  # clocks of writers differ by seconds
_CONTEXT = re.compile(r"NVRM|GPU|gpu|[Nn]vidia|NVIDIA|NVML|nvml|DCGM|dcgm|Xid[A-Z]|PCI:")
_FROM_KERNEL = re.compile(r"(?:NVRM: )?Xid \((?:PCI:)?([0-9a-fA-F:.]{5,20})\): (\d{1,6})\b")
_GAUGE = re.compile(r"XID_ERRORS(?:\{[^{}]{0,4000}\})?\s{1,8}(\d{1,6})(?:\.0+)?(?:\s|$)")
_NAMED = re.compile(
    r"\b[Xx][Ii][Dd](?:[ _-]?(?:[Ee]rror|[Cc]ode|[Ee]vent))?s?(?:[ _-]?[Cc]ode)?[\"']?\s{0,3}[:=#]?\s{0,3}[\"']?(\d{1,6})(?![\dxX.:])"
)
_OTHER = re.compile(r"(?:ErrorCode:|err_code=\")(\d{1,6})\b")
_UUID = re.compile(r"GPU-[0-9a-fA-F]{8}[0-9a-fA-F-]{0,32}")
_PCI = re.compile(r"PCI:([0-9a-fA-F:.]{5,20})")
_SPEAKS_OF = re.compile(r"COMMAND=|\b(?:e|f|z)?grep\b|\bawk\b|\bsed -|[Ii]gnor(?:e|ing)\b|[Ss]kip(?:ped|ping)\b")
QUIET = frozenset(("sudo", "su", "bash", "sh", "CRON", "crond", "cron", "audit", "auditd", "sshd", "anacron"))


class Quote:
    """What a program said about a code, once or many times.

    Attributes
    ----------
    line : Line
        The first.
    code : int
    uuid, pci : str or None
    verbatim : bool
        Whether it is the kernel's message word for word, as ``logger`` would write it.
    messages : int
    """

    __slots__ = ("line", "code", "uuid", "pci", "verbatim", "messages", "boot")

    def __init__(self, line, code, uuid, pci, verbatim, boot):
        self.line, self.code, self.uuid, self.pci = line, code, uuid, pci
        self.verbatim, self.messages, self.boot = verbatim, 1, boot

    @property
    def program(self):
        """The program's name without its number."""
        return (self.line.program or "a program").split("[", 1)[0]


class Quotes:
    """Collects quotes while a file is read."""

    def __init__(self):
        self.found, self.passed_over, self.lines = {}, [], 0

    def add(self, line, boot):
        """Take a line of a program; most say nothing about a code."""
        quote = self._read(line, boot)
        if quote is None:
            return
        self.lines += 1
        name = (line.program or "").split("[", 1)[0]
        if not quote.verbatim and (name in QUIET or _SPEAKS_OF.search(line.text) is not None):
            self.passed_over.append(line.number)
            return
        who = line.program if quote.verbatim else name
        key = (line.host, who, quote.code, quote.uuid, quote.pci, quote.verbatim, boot)
        known = self.found.get(key)
        if known is not None:
            known.messages += 1
        elif len(self.found) < MOST_REMEMBERED:
            self.found[key] = quote

    def _read(self, line, boot):
        from reliability.logs.xid_lines import pci

        text = line.text
        if "xid" not in text[:20_000].lower() or _CONTEXT.search(text) is None:
            return None
        text = text[:20_000]
        place, code = None, None
        if (found := _FROM_KERNEL.search(text)) is not None:
            place, code = pci(found[1]), int(found[2])
        else:
            for pattern in (_GAUGE, _NAMED, _OTHER):
                if (found := pattern.search(text)) is not None:
                    code = int(found[1])
                    break
        if not code:  # a gauge at 0 says that there was none
            return None
        if place is None and (found := _PCI.search(text)) is not None:
            place = pci(found[1])
        uuid = found[0] if (found := _UUID.search(text)) is not None else None
        verbatim = text.lstrip().startswith(("NVRM: Xid", "kernel: NVRM: Xid"))
        return Quote(line, code, uuid, place, verbatim, boot)
