"""What a pass over a kernel log keeps: records, which stand for messages in a row, and what else it found."""

from dataclasses import dataclass, field


class Record:
    """Messages of one kind in a row, with the first of them.

    Attributes
    ----------
    line : Line
        The first line.
    xid : Xid
    boot : int
        Number of the host's boot in the file.
    messages, printed : int
        How many messages at least, and how many lines carried them.
    after_us : int
        From the first message to the last.
    """

    __slots__ = ("line", "xid", "boot", "messages", "printed", "after_us", "fatal")

    def __init__(self, line, xid, boot, fatal):
        self.line, self.xid, self.boot, self.fatal = line, xid, boot, fatal
        self.messages, self.printed, self.after_us = xid.count, 1, 0


@dataclass
class Scan:
    """What a pass over a file found."""

    total: int = 0
    stamped: int = 0
    first: tuple = (1, "")
    records: list = field(default_factory=list)
    switches: object = None
    quotes: object = None
    marks: list = field(default_factory=list)  # lines that tell only how the months run
    uuids: dict = field(default_factory=dict)
    lost: list = field(default_factory=list)  # (line, messages)
    repeated: list = field(default_factory=list)
    cut: list = field(default_factory=list)
    doubled: list = field(default_factory=list)
    boots: dict = field(default_factory=dict)
