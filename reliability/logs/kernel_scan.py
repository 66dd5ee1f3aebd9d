"""One pass over a kernel log: the few lines that matter, and what they stand for.

A storm may be a million lines. Messages of the same code on the same GPU that follow each other within
a minute become one record here already, so that memory holds records, not lines.
"""

import re

from reliability.logs import quotes, sxid, xid_lines
from reliability.logs.kernel_lines import parse
from reliability.logs.kernel_records import Record, Scan
from reliability.logs.stamps import MONTHS, take

BOOT_MARK = re.compile(r"-- (?:Boot [0-9a-f]{1,64}|Reboot) --")
MINUTE_US = 60_000_000
JITTER_S = 60  # a relay may bring lines out of order; a boot lasts longer
MOST_SEEN = 500_000
LEVELS = {"TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "FATAL", "CRITICAL"}
WEEKDAY = re.compile(r"\[?(Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b")
SAMPLE = 200  # lines looked at to tell whether the file is a kernel log at all


def scan(text, node=None, window_s=600.0):
    """Read a file once.

    Parameters
    ----------
    text : reliability.logs.files.Text
    node : str, optional
        The host of lines that name none.
    window_s : float
        The silence that ends a storm.

    Returns
    -------
    Scan
    """
    return _Scanner(node, window_s).run(text)


def _matters(row):
    """Whether a line may say something: found out before any pattern is tried, as most say nothing."""
    return (
        "Xid" in row
        or "xid" in row
        or "XID" in row
        or "Linux version" in row
        or "NVRM: GPU at" in row
        or ("message" in row and ("repeated" in row or "issed" in row or "dropped" in row or "lost" in row))
        or ("suppressed" in row and ("NVRM" in row or "nvidia" in row))
    )


def is_of_a_machine(line, row):
    """Whether a line is one of a kernel or a system's log, as far as its form can tell.

    A date and a text may be any program's log. A system's log names its host, `dmesg` the seconds since boot, the day of
    the week or the offset of the zone.
    """
    if line.text.startswith("NVRM:") or line.boot_s is not None:
        return True
    if line.host is not None:
        return line[5:9] != (None,) * 4 and line.host.upper() not in LEVELS
    return line.offset_s is not None or WEEKDAY.match(row) is not None


class _Scanner:
    def __init__(self, node, window_s):
        self.node, self.join_us = node, min(MINUTE_US, int(window_s * 1e6))
        self.found = Scan(switches=sxid.Assembly(), quotes=quotes.Quotes())
        self.latest = {}  # the record that a message of the same kind would join
        self.boot_s, self.boot_id = {}, {}
        self.pending_boot = False
        self.previous = (0, None)  # number and record of the last Xid line
        self.seen, self.marked, self.names = set(), {}, {}

    def run(self, text):
        month, after_mark, found = "", False, self.found
        for number, row in text.lines():
            found.total = number
            head = row[:3]
            turned = head != month and head in MONTHS
            if turned:
                month = head
            if number <= SAMPLE or turned or after_mark or _matters(row):
                after_mark = False
                self.take(number, row)
            elif row[:3] == "-- ":
                self.take(number, row)
            if row[:3] == "-- " and self.pending_boot:
                after_mark = True
        return found

    def take(self, number, row):
        if row[:3] == "-- ":
            self.pending_boot = self.pending_boot or BOOT_MARK.match(row) is not None
            return
        if not row.strip():
            return
        line = parse(number, row, self.node)
        if line.host is not None:  # spellings of a name differ in case only
            known = self.names.setdefault(line.host.casefold(), line.host)
            line = line if known == line.host else line._replace(host=known)
        if line.kernel and self.is_doubled(line):
            self.found.doubled.append(number)
            return
        if self.found.first[1] == "":
            self.found.first = (number, row)
        if is_of_a_machine(line, row):
            self.found.stamped += 1
        boot = self.boot_of(line)
        if not line.kernel:
            lost = None if "Xid" in line.text else xid_lines.lost(line.text)
            if lost:
                self.found.lost.append((number, lost))
            elif not self.repeat_of_previous(number, line):
                self.found.quotes.add(line, boot)
            self.mark(line)
            return
        self.kernel(number, line, boot)

    def is_doubled(self, line):
        """Whether the driver's line was read before: a log read in again, or two logs of one machine.

        printk's microseconds tell, in whatever boot or at whatever time the copy claims to be.
        """
        if line.boot_s is None or "Xid" not in line.text[:60] or "repeated" in line.text[:20]:
            return False
        key = hash((line.host, line.boot_s, line.text))
        if key in self.seen:
            return True
        if len(self.seen) < MOST_SEEN:
            self.seen.add(key)
        return False

    def kernel(self, number, line, boot):
        count, text = xid_lines.repeated(line.text)
        if count > 1 and text[:1] == "[":
            text = take(text)[1]
        if text.startswith("NVRM: Xid"):
            return self.message(number, line, boot, count, text)
        if "SXid" in text[:40] and (part := xid_lines.sxid(text)) is not None:
            self.found.switches.add(line, part, boot, count)
            self.previous = (0, None)
            return None
        if (name := xid_lines.gpu_name(text)) is not None:
            self.found.uuids[line.host, name[1]] = name[0]
        elif (lost := xid_lines.lost(text)) is not None:
            self.found.lost.append((number, lost))
        elif not self.repeat_of_previous(number, line) and ("Xid" in text or "XID" in text):
            self.found.quotes.add(line, boot)
        return self.mark(line)

    def message(self, number, line, boot, count, text):
        xid = xid_lines.xid(text)
        if xid is None or xid.code is None:
            self.found.cut.append(number)
            return self.mark(line)
        if count > 1:
            xid = xid._replace(count=count)
            self.found.repeated.append((number, count))
        fatal = xid_lines.fatal(xid.text) if xid.code in range(144, 151) else None
        if xid.code == 154:
            fatal = xid_lines.out_of_service(xid.text)
        key = (line.host, xid.gpu, xid.code, fatal)
        record = self.latest.get(key)
        if record is not None and record.boot == boot and self.joins(record, line):
            record.messages += xid.count
            record.printed += xid.count == 1
        else:
            # The message's words are in `xid`: a log may hold a million records.
            record = self.latest[key] = Record(line._replace(text=""), xid, boot, fatal)
            record.printed = 0 if count > 1 else 1
            self.found.records.append(record)
        self.previous = (number, record)
        return None if line.yearless is None else self.marked.update({line.host: line.yearless[0]})

    def joins(self, record, line):
        """Whether a line follows the record within a minute; moves the record's end to it."""
        first = record.line
        if first.wall_us is not None and line.wall_us is not None and first.offset_s == line.offset_s:
            after = line.wall_us - first.wall_us
        elif first.yearless is not None and line.yearless is not None and first.yearless[:2] == line.yearless[:2]:
            after = line.yearless[2] - first.yearless[2]
        elif first[5:8] == line[5:8] == (None, None, None) and first.boot_s is not None and line.boot_s is not None:
            after = round((line.boot_s - first.boot_s) * 1e6)
        else:
            return False
        if not 0 <= after - record.after_us < self.join_us:
            return False
        record.after_us = after
        return True

    def repeat_of_previous(self, number, line):
        count = xid_lines.last_repeated(line.text)
        if count is None:
            return False
        place, record = self.previous
        if record is not None and place == number - 1 and line.host in (None, record.line.host):
            record.messages += count
            self.found.repeated.append((number, count))
        return True

    def boot_of(self, line):
        """The number of the host's boot: a new one where the log says so or its seconds go back."""
        host, found = line.host, self.found
        number, last = found.boots.get(host, 0), self.boot_s.get(host)
        fresh = self.pending_boot or (line.kernel and line.text.startswith("Linux version"))
        if line.boot is not None:
            fresh = fresh or self.boot_id.get(host, line.boot) != line.boot
            self.boot_id[host] = line.boot
        if line.boot_s is not None:
            back = 1 if line.wall_us is None and line.yearless is None else JITTER_S
            fresh = fresh or (last is not None and line.boot_s < last - back)
            self.boot_s[host] = line.boot_s if fresh or last is None else max(last, line.boot_s)
        elif fresh:
            self.boot_s.pop(host, None)
        self.pending_boot = False
        found.boots[host] = number + fresh
        return number + fresh

    def mark(self, line):
        """Keep a line that shows how the months run, where it tells more than the host's last one."""
        month = line.yearless[0] if line.yearless is not None else None if line.wall_us is None else "dated"
        if month is not None and self.marked.get(line.host) != month:
            self.marked[line.host] = month
            self.found.marks.append(line._replace(text=""))
