"""Text files as they come, and notes on them."""

import bz2
import gzip
import lzma
import os
import threading

import pytest

from reliability.logs import files, notes
from reliability.logs.notes import LogError

PLAIN = "node,start\ngpu1,2025-11-03 08:00\ngpü2,2025-11-04 08:00\n"
LINES = PLAIN.splitlines()


@pytest.mark.parametrize(
    "raw",
    [
        PLAIN.encode(),
        PLAIN.encode("utf-8-sig"),
        PLAIN.encode("utf-16"),
        PLAIN.replace("ü", "u").encode("utf-16-le"),
        PLAIN.replace("ü", "u").encode("utf-16-be"),
        PLAIN.replace("\n", "\r\n").encode(),
        PLAIN.rstrip("\n").encode(),
        gzip.compress(PLAIN.encode()),
        bz2.compress(PLAIN.encode()),
        lzma.compress(PLAIN.encode()),
        PLAIN.encode("latin-1"),
    ],
    ids=["utf8", "mark", "utf16", "utf16le", "utf16be", "crlf", "no-end", "gzip", "bz2", "xz", "latin1"],
)
def test_a_text_is_read_in_each_of_its_forms(tmp_path, raw):
    path = tmp_path / "a.log"
    path.write_bytes(raw)
    text = files.open_text(path)
    found = [line for _, line in text.lines()]
    assert [line.replace("ü", "u") for line in found] == [line.replace("ü", "u") for line in LINES]
    assert [number for number, _ in text.lines()] == [1, 2, 3]
    assert [line.replace("ü", "u") for _, line in text.lines()] == [line.replace("ü", "u") for line in found]
    assert text.stream().read().decode().splitlines() == found


def test_broken_bytes_are_read_as_latin_1_and_noted():
    text = files.text_of(PLAIN.encode("latin-1"))
    assert list(text.lines())[2][1].startswith("gpü2")
    assert [(n.kind, n.count, n.lines) for n in text.notes()] == [("warning", 1, (3,))]


def test_a_crash_leaves_null_bytes_that_join_no_digits():
    text = files.text_of(b"start 1\x002\n" + b"\0" * 500 + b"next line\n" + b"more of it, and more\n" * 20)
    lines = [line for _, line in text.lines()]
    assert lines[0] == "start 1\ufffd2"
    assert lines[1] == "next line"
    assert text.notes()[0].lines == (1, 2)


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (b"", "empty"),
        (b"\n \n\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"\0" * 100, "empty|binary"),
        (bytes(range(256)) * 10, "binary"),
        (b"PK\x03\x04" + b"a" * 50, "zip"),
        (b"\x89PNG\r\n", "picture"),
        (b"PAR1", "Parquet"),
        (gzip.compress(b"abcdefgh" * 999)[:-12], "break off"),
        (gzip.compress(b"abcdefgh" * 999)[:30] + b"x" * 50, "damaged"),
    ],
)
def test_other_files_are_refused(tmp_path, raw, found):
    path = tmp_path / "a.log"
    path.write_bytes(raw)
    with pytest.raises(LogError, match=found) as error:
        list(files.open_text(path).lines())
    assert error.value.file == "a.log"
    assert str(error.value).startswith("a.log: found ")


@pytest.mark.parametrize("name", ["absent.log", ".", "a\0b"])
def test_what_is_no_file_is_refused(tmp_path, name):
    with pytest.raises(LogError):
        files.open_text(os.path.join(tmp_path, name))


def test_a_pipe_is_read_as_often_as_a_file(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(gzip.compress(PLAIN.encode()),))
    writer.start()
    text = files.open_text(path)
    writer.join()
    assert [line for _, line in text.lines()] == [line for _, line in text.lines()] == LINES


def test_lines_over_the_blocks_are_whole(monkeypatch):
    monkeypatch.setattr(files, "BLOCK", 16)
    for encoding in ("utf-8", "utf-16"):
        text = files.text_of((PLAIN * 50).encode(encoding))
        assert [line for _, line in text.lines()] == LINES * 50
        assert text.ends_with_newline is True
    assert list(files.text_of("ab\ncd").lines()) == [(1, "ab"), (2, "cd")]


def test_a_line_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(files, "BLOCK", 16)
    monkeypatch.setattr(files, "LONGEST_LINE", 100)
    with pytest.raises(LogError, match="line 2: found 'a line without end'"):
        list(files.text_of("a\n" + "b" * 300).lines())


def test_an_error_is_one_line_that_a_terminal_does_not_obey():
    error = LogError("a\nb.csv", 7, "\x1b[2J" + "x" * 200, "a date")
    assert str(error).count("\n") == 0
    assert "\x1b" not in str(error)
    assert str(error).startswith("a\\nb.csv, line 7: found '\\x1b[2J")
    assert str(error).endswith("…', expected a date")


def test_notes_count_and_keep_the_first_lines():
    [found] = notes.note("dropped", "no start", list(range(100, 0, -1)))
    assert found.count == 100
    assert found.lines == tuple(range(1, 11))
    assert str(found) == "dropped 100 lines: no start (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …)"
    assert notes.dropped([found, notes.Note("merged", "x", 3)]) == 100
    assert notes.note_table([found])[0][:3] == ["dropped", "100", "no start"]
    with pytest.raises(ValueError, match="kind = 'lost'"):
        notes.Note("lost", "x", 1)
