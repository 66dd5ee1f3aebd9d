"""SXid events of NVSwitches: put together from the lines that each is spread over.

An event has a text, a severity and its data, in any order, and lines of several switches mix.
It concerns the fabric of a node: the address in it is the switch's, and no GPU is to blame.
"""

TOGETHER_S = 5.0  # the lines of one event come within milliseconds
MOST_OPEN = 64


class SxidEvent:
    """An event of an NVSwitch.

    Attributes
    ----------
    line : Line
        The first line of the event.
    switch : str
        ``nvswitch3``.
    pci : str or None
        The switch's address.
    code : int
    link : int or None
    fatal : bool or None
        None where no line of the event says so.
    text : str
    messages : int
        Events that this one stands for.
    lines : int
        Lines it was put together from.
    boot : int
    """

    __slots__ = ("line", "switch", "pci", "code", "link", "fatal", "text", "messages", "lines", "boot", "parts")

    def __init__(self, line, part, boot):
        self.line, self.switch, self.pci, self.code, self.boot = line, part.switch, part.gpu, part.code, boot
        self.link, self.fatal, self.text, self.messages, self.lines = None, None, "", 1, 0
        self.parts = set()

    def fits(self, part):
        """Whether a line can belong to this event: its place is free and its link is the same."""
        same_link = None in (self.link, part.link) or self.link == part.link
        return part.part not in self.parts and same_link

    def add(self, part):
        """Add a line."""
        self.parts.add(part.part)
        self.lines += 1
        self.link = part.link if self.link is None else self.link
        if part.part == "text":
            self.text, self.fatal = part.text, part.fatal


class Assembly:
    """Puts events together while a file is read."""

    def __init__(self):
        self.events, self.lines, self._open = [], 0, {}

    def add(self, line, part, boot, count=1):
        """Take a line; `count` is how often it was repeated."""
        self.lines += 1
        waiting = self._open.setdefault((line.host, part.switch, part.code, boot), [])
        waiting[:] = [event for event in waiting[-MOST_OPEN:] if _near(event.line, line) and len(event.parts) < 3]
        # An event whose link the line names comes before one whose link is not known yet.
        fitting = [event for event in waiting if event.fits(part)]
        fitting.sort(key=lambda event: event.link is None or part.link is None)
        if fitting:
            event = fitting[0]
        else:
            event = SxidEvent(line, part, boot)
            waiting.append(event)
            self.events.append(event)
        event.add(part)
        event.messages = max(event.messages, count)


def _near(a, b):
    if a.wall_us is not None and b.wall_us is not None:
        return abs(a.wall_us - b.wall_us) <= TOGETHER_S * 1e6
    if a.yearless is not None and b.yearless is not None and a.yearless[:2] == b.yearless[:2]:
        return abs(a.yearless[2] - b.yearless[2]) <= TOGETHER_S * 1e6
    if a.boot_s is not None and b.boot_s is not None:
        return abs(a.boot_s - b.boot_s) <= TOGETHER_S
    return True
