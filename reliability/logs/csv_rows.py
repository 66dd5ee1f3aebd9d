"""Rows of a separated text, each with its line number; rows of a wrong length are mended or counted."""

from dataclasses import dataclass

import numpy as np

from reliability.logs import columns
from reliability.logs.notes import LogError, note

BLOCK = 8 << 20
MOST_COLUMNS = 2000
SWALLOWED = "a quotation that is closed before the next row"


def objects(texts):
    """A pyarrow array of strings as Python's, equal ones being one object: most columns repeat a few."""
    coded = texts.dictionary_encode()
    found = coded.dictionary.to_numpy(zero_copy_only=False)
    return found[coded.indices.to_numpy(zero_copy_only=False)] if len(found) else found


@dataclass(frozen=True)
class Rows:
    """A table of texts.

    Attributes
    ----------
    table : pyarrow.Table
        A column of strings for each name, called by its number.
    names : list of str
        The header.
    lines : int array
        Line of each row in its file, from 1.
    read : int
        Rows that the file has below its header, blank ones left out.
    notes : list of Note
    header_line : int
    """

    table: object
    names: list
    lines: np.ndarray
    read: int
    notes: list
    header_line: int

    def texts(self, index):
        """One column as a pyarrow array of strings, blanks around them taken off."""
        import pyarrow.compute as compute

        return compute.utf8_trim_whitespace(self.table.column(index)).combine_chunks()


def header_of(text):
    """Return (line number, separator, names) of a text's header.

    Raises
    ------
    LogError
        Where there is none.
    """
    found = columns.find_header(text.head())
    if found is None:
        raise LogError(text.name, None, "only comments", "a table with a header")
    number, line = found
    separator = columns.separator_of(line)
    names = columns.split(line.lstrip("\ufeff"), separator)
    if len(names) > MOST_COLUMNS:
        raise LogError(text.name, number, line, f"a header of at most {MOST_COLUMNS} columns")
    return number, separator, names


def read_rows(text, number, separator, names, quotes=True, mend=None, needed=0):
    """Read the rows below a header.

    Parameters
    ----------
    text : reliability.logs.files.Text
    number : int
        Line of the header.
    separator : str
    names : list of str
    quotes : bool
        False where the format knows no quotes, and a quote is a letter.
    mend : function, optional
        Takes the fields of a row that has too many, returns the right number, or None.
    needed : int
        Fields that a short row must have to be used, the last of them whole.

    Returns
    -------
    Rows
    """
    import pyarrow as pa
    import pyarrow.csv
    from pyarrow.lib import ArrowInvalid

    odd = []

    def keep_odd(row):
        odd.append((row.number, row.text))
        return "skip"

    labels = [str(i) for i in range(len(names))]
    try:
        table = pyarrow.csv.read_csv(
            text.stream(),
            read_options=pyarrow.csv.ReadOptions(
                column_names=labels, skip_rows=number, use_threads=False, block_size=BLOCK, encoding="utf8"
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=separator,
                quote_char='"' if quotes else False,
                newlines_in_values=quotes,
                ignore_empty_lines=False,
                invalid_row_handler=keep_odd,
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(labels, pa.string()), strings_can_be_null=False
            ),
        )
    except ArrowInvalid as error:
        if "skip initial" in str(error) or "Empty CSV" in str(error):
            table = pa.table({label: pa.array([], pa.string()) for label in labels})
        else:
            what = "a quotation that is never closed, or a line without end"
            raise LogError(text.name, None, what, f"rows of {len(names)} fields") from None
    records = _records(number, len(table), [n for n, _ in odd])
    line_of, lines, notes = _lines(text, table, records, odd, separator, len(names), quotes)
    if not len(table) and not odd:
        return Rows(table, names, lines, 0, notes, number)
    filled = _filled(table)
    if not filled.all():
        table, lines = table.filter(pa.array(filled)), lines[filled]
    read = len(table) + len(odd)
    last = odd[-1][0] if odd and text.ends_with_newline is False else None
    last = last if last is not None and (not len(records) or last > records[-1]) else None
    mended, lost = _mended(odd, line_of, last, separator, names, quotes, mend, needed)
    notes += lost
    if mended:
        extra = pa.table(
            {label: pa.array([row[i] for _, row in mended], pa.string()) for i, label in enumerate(labels)}
        )
        table = pa.concat_tables([table, extra])
        lines = np.concatenate([lines, np.array([line for line, _ in mended], dtype=np.int64)])
        order = np.argsort(lines, kind="stable")
        table, lines = table.take(pa.array(order)), lines[order]
    return Rows(table, names, lines, read, notes, number)


def _records(header, good, odd):
    """Number of each good row among all rows, counted from the file's first line."""
    every = np.arange(header + 1, header + 1 + good + len(odd))
    return np.setdiff1d(every, np.array(odd, dtype=np.int64), assume_unique=True)


def _lines(text, table, records, odd, separator, width, quotes):
    """Lines of rows, those before which may take several lines in quotes: a function, those of good rows, notes."""
    import pyarrow.compute as compute

    breaks = np.zeros(len(table), dtype=np.int64)
    for column in table.columns if quotes and len(table) else ():
        if compute.any(compute.match_substring(column, "\n")).as_py():
            breaks += compute.count_substring(column, "\n").to_numpy()
    spread = np.flatnonzero(breaks)
    wide = [(n, row.count("\n")) for n, row in odd if "\n" in row] if quotes else []
    places = np.array([*records[spread], *(n for n, _ in wide)], dtype=np.int64)
    order = np.argsort(places, kind="stable")
    extra = np.cumsum([0, *np.array([*breaks[spread], *(count for _, count in wide)], dtype=np.int64)[order]])

    def line_of(record):
        return record + extra[np.searchsorted(places[order], record, side="left")]

    for n, row in odd if wide else ():
        if _swallows(row, separator, width):
            raise LogError(text.name, int(line_of(n)), row, SWALLOWED)
    for i in spread[:1000]:
        inner = [value for value in table.slice(int(i), 1).to_pylist()[0].values() if "\n" in value]
        unclosed = (
            i == len(table) - 1 and inner[-1].endswith("\n") and not text.tail.rstrip().endswith(('"', separator))
        )
        if unclosed or any(_swallows(value, separator, width) for value in inner):
            raise LogError(text.name, int(line_of(records[i])), inner[0], SWALLOWED)
    lines = line_of(records)
    return line_of, lines, note("warning", "rows over several lines, within quotes", lines[spread].tolist())


def _swallows(text, separator, width):
    """Whether a text over several lines holds what looks like a row of its own."""
    return any(row.count(separator) >= max(1, width - 1) for row in text.split("\n")[1:])


def _filled(table):
    """Which rows have a field that is not empty."""
    import pyarrow.compute as compute

    filled = np.zeros(len(table), dtype=bool)
    for column in table.columns:
        filled |= compute.greater(compute.binary_length(column), 0).to_numpy()
        if filled.all():
            break
    return filled


def _mended(odd, line_of, last, separator, names, quotes, mend, needed):
    """Rows of a wrong length that can be used, as (line, fields), and notes on the others."""
    used, long, short, cut = [], [], [], []
    width = len(names)
    for number, row in odd:
        line = int(line_of(number))
        fields = columns.split(row, separator) if quotes else row.split(separator)
        if len(fields) > width:
            fields = fields[:width] if not any(f.strip() for f in fields[width:]) else mend(fields) if mend else None
            if fields is None:
                long.append(line)
                continue
        elif number == last or len(fields) < needed:
            (cut if number == last else short).append(line)
            continue
        used.append((line, fields + [""] * (width - len(fields))))
    notes = note("dropped", f"more fields than the header's {width}", long)
    notes += note("dropped", f"fewer fields than the header's {width}", short)
    notes += note("dropped", "last line cut short", cut)
    return used, notes
