"""Training logs: the loss and the gradient norm of each step, over restarts, with what went wrong with them."""

from dataclasses import dataclass
from datetime import datetime

from reliability.logs import training_formats as formats
from reliability.logs import training_lines
from reliability.logs.files import open_text
from reliability.logs.notes import LogError, Note, note
from reliability.logs.segments import Collector

PROBED = 20000  # lines that tell the format
ENOUGH = 20  # points of one format that settle it
LONGEST = 20000  # characters of a line; a longer one holds no step
FRAMEWORKS = ", ".join(dict.fromkeys(formats.NAMES.values()))
EXPECTED = f"a training log ({FRAMEWORKS}) or a table with columns step and loss"


@dataclass(frozen=True)
class TrainingLog:
    """What a training log says.

    Attributes
    ----------
    framework : str
        A name of ``reliability.logs.training_formats.FORMATS``, or "table".
    points : table
        A row a printed step: step, loss, grad_norm (NaN where not printed or not a number), skipped, seconds (of one
        step), segment (from 1), stamp_s, before_s, interval (steps that it averages), status, nan_field, grad_nan, kept, line.
        `status` is "ok", "nan" (loss or gradient is not a number, or the loss is missing because of it), "skipped"
        (the optimizer skipped all of its steps, which is no failure) or "dead" (a loss of exactly 0). `kept` is false
        for steps that a restart made anew.
    validation : table
        step, loss, segment, line.
    checkpoints : table
        step, segment, line, verdict: "good", "poisoned" (written after the NaN), "unknown" or "dropped".
    segments : list of dict
        first, last, resumed_from (None: not said), line.
    interval : int or None
        Steps between points.
    ranks : list of int
        That print the steps; the others' copies are merged.
    clock : table
        step and elapsed_s of a progress bar; empty where there is none.
    summary : dict
        What was printed at the end, such as the mean loss of the run, which is no point.
    start_s, end_s : float or None
        First and last stamp, in seconds since 1970 of the clock on the wall.
    """

    framework: str
    points: object
    validation: object
    checkpoints: object
    segments: list
    interval: int | None
    ranks: list
    clock: object
    summary: dict
    start_s: float | None
    end_s: float | None
    notes: tuple
    source: str
    rows: int

    def final(self):
        """The points that count, a row a step in order: of a step that was run again, the last."""
        return self.points[self.points.kept].sort_values("step", kind="stable").reset_index(drop=True)

    def nan_points(self, kept=None):
        """Steps of points whose loss or gradient is not a number; those kept, those abandoned, or all (None)."""
        table = self.points[self.points.nan_field != ""]
        return (table if kept is None else table[table.kept == kept]).step.tolist()

    def good_checkpoint(self):
        """The newest checkpoint known to be good; None where there is none."""
        good = self.checkpoints[self.checkpoints.verdict == "good"]
        return int(good.step.max()) if len(good) else None

    def __str__(self):
        name = formats.NAMES[self.framework]
        return f"{self.source}: {name}, {len(self.points):,} points in {len(self.segments)} segment(s), {self.rows:,} lines"


def read_training(path, format="auto"):
    """Read a training log.

    Parameters
    ----------
    path : str or path
        A text file, also compressed.
    format : str
        "auto", a name of ``reliability.logs.training_formats.FORMATS``, or "table" for CSV and JSON.

    Returns
    -------
    TrainingLog

    Raises
    ------
    LogError
        For a file in which nobody prints a loss.

    Notes
    -----
    Megatron-LM prints no loss where it is not a number, and counts no such iteration: the missing field and the
    gradient tell. Steps that go back on the same rank are a restart; the same step of another rank is a copy.
    """
    known = ["auto", *formats.FORMATS, "table"]
    if format not in known:
        raise LogError("format", None, format, f"one of {', '.join(known)}")
    text = open_text(path)
    from reliability.logs import training_tables

    if format == "table" or (format == "auto" and training_tables.is_table(text)):
        return _finished("table", *training_tables.collect(text), text)
    framework = _framework(text) if format == "auto" else format
    if framework is None:
        number, line = (text.head(1) or [(1, "")])[0]
        raise LogError(text.name, number, line, EXPECTED)
    return _finished(framework, *_collect(text, framework), text)


def _framework(text):
    """The format that reads the most points; of those that read about as many, the one that reads them better."""
    found = dict.fromkeys(formats.FORMATS, 0)
    count = 0
    for count, (_, _, line) in enumerate(_pieces(text)):
        for name, parse in formats.FORMATS.items():
            event = parse(line)
            found[name] += event is not None and event.kind in ("point", "cut")
        if count > PROBED or max(found.values()) >= ENOUGH:
            break
    best = max(found.values())
    # Rarely printed steps are found only later in a long log.
    if best == 0 and count > PROBED:
        for _, _, line in _pieces(text):
            for name, parse in formats.FORMATS.items():
                if (event := parse(line)) is not None and event.kind == "point":
                    return name
    return next((name for name, hits in found.items() if hits and hits >= 0.5 * best), None)


def _pieces(text):
    """Lines parted at the carriage returns of progress bars: (number, rank, text)."""
    for number, line in text.lines():
        for part in line.split("\r") if "\r" in line else (line,):
            if part and len(part) <= LONGEST:
                rank, rest = training_lines.cleaned(part)
                yield number, rank, rest


def stamp_of(line, year=None):
    """Seconds since 1970 of the clock on the wall, where a line has a stamp near its start; else None.

    Examples
    --------
    >>> stamp_of("[2025-06-02 11:06:52.5] iteration"), stamp_of("[E0602 11:06:52.5 Process", 2025)
    (1748862412.5, 1748862412.5)
    """
    if (found := training_lines.STAMP.search(line, 0, 200)) is not None:
        try:
            stamp = datetime.fromisoformat(found[0].replace(",", ".")).replace(tzinfo=None)
        except ValueError:
            return None
        return (stamp - datetime(1970, 1, 1)).total_seconds()
    if year is not None and (found := training_lines.GLOG.search(line, 0, 80)) is not None:
        month, day, *clock = map(int, found.groups()[:5])
        try:
            stamp = datetime(year, month, day, *clock)
        except ValueError:
            return None
        return (stamp - datetime(1970, 1, 1)).total_seconds() + float(f"0.{found[6] or 0}")
    return None


def _collect(text, framework):
    parse = formats.FORMATS[framework]
    collector, notes, cut, rows = Collector(averages=framework == "megatron"), [], [], 0
    year = None
    for number, rank, line in _pieces(text):
        rows += 1
        stamp = stamp_of(line, year) if ":" in line else None
        if stamp is not None and year is None:
            year = datetime.fromtimestamp(stamp).year
        event = parse(line) or training_lines.landmark(line)
        if event is not None and event.kind == "cut":
            cut.append(number)
            event = None
        collector.add(event, number, rank, stamp)
    notes += note("dropped", "a line that breaks off", cut)
    return collector, notes, rows


def _finished(framework, collector, notes, rows, text):
    from reliability.logs import segment_tables

    if not collector.points:
        raise LogError(text.name, None, None, EXPECTED)
    notes = [*notes, *collector.notes()]
    points = segment_tables.points_table(collector)
    checkpoints = segment_tables.checkpoint_table(collector, points)
    import pandas as pd

    skipped = int((points.status == "skipped").sum())
    if skipped:
        notes.append(Note("excluded", "points whose steps the optimizer skipped: no loss, and no failure", skipped))
    abandoned = int((~points.kept).sum())
    if abandoned:
        notes.append(Note("excluded", "points that a restart made anew: the later ones count", abandoned))
    columns = ["step", "loss", "segment", "line"]
    return TrainingLog(
        framework=framework, points=points,
        validation=pd.DataFrame(collector.validation, columns=columns),
        checkpoints=checkpoints, segments=segment_tables.segment_list(collector),
        interval=segment_tables.usual_interval(points), ranks=sorted(collector.ranks),
        clock=pd.DataFrame(sorted(collector.clock.items()), columns=["step", "elapsed_s"]),
        summary=collector.summary, start_s=collector.start_s, end_s=collector.end_s,
        notes=(*notes, *text.notes()), source=text.name, rows=rows,
    )  # fmt: skip
