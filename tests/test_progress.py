"""What is said while a large file is read: only on a terminal, and wiped away."""

import io
import os
import pty
import termios

import pytest

from reliability.commands import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def large(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "LARGE", 10)
    path = tmp_path / "run\x1b[31m.log"
    path.write_text("x" * 20)
    return path


def test_a_large_file_is_named_on_a_terminal_and_wiped_away(large, monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with pytest.raises(KeyError), progress.reading(large):
        assert screen.getvalue().startswith("reading run") and "\x1b" not in screen.getvalue()
        raise KeyError
    said, wiped = screen.getvalue().split("\r")[:2]
    assert len(said) == len(wiped) < 80 and wiped.strip() == "" and screen.getvalue().endswith("\r")


@pytest.mark.parametrize("columns", [20, 120])
def test_what_is_said_stays_in_one_line_of_the_terminal(columns, monkeypatch):
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    screen = Terminal()
    screen.fileno = lambda: theirs
    monkeypatch.setattr("sys.stderr", screen)
    with progress.saying(200 * "x"):
        pass
    os.close(ours), os.close(theirs)
    said, wiped = screen.getvalue().split("\r")[:2]
    assert len(said) == len(wiped) == columns - 1


@pytest.mark.parametrize("screen", [io.StringIO(), Terminal()])
def test_nothing_is_said_elsewhere_or_of_small_and_absent_files(screen, large, monkeypatch):
    monkeypatch.setattr("sys.stderr", screen)
    small = large.with_name("small")
    small.write_text("x")
    for path in (small, large.with_name("absent"), *([] if screen.isatty() else [large])):
        with progress.reading(path):
            pass
    assert screen.getvalue() == ""


def test_a_bar_counts_only_on_a_terminal(capsys):
    with progress.bar(" points") as update:
        update(3, 10)
    assert capsys.readouterr().err == ""
