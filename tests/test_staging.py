"""Output files: all new or all old, whatever happens in between."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from reliability import staging
from reliability.errors import BadInput

NAMES = ("a.txt", "b.txt", "c.txt")


def put(out, text):
    with staging.staging(out) as folder:
        for name in NAMES:
            (folder / name).write_text(text)
        return staging.publish(folder, out)


def found(out):
    return {path.name: path.read_text() for path in sorted(out.iterdir())}


def test_a_new_folder_an_old_one_and_what_else_is_in_it(tmp_path):
    out = tmp_path / "deep" / "out"
    assert put(out, "1") == tuple(out / name for name in NAMES)
    (out / "mine.txt").write_text("kept")
    put(out, "2")
    assert found(out) == {**dict.fromkeys(NAMES, "2"), "mine.txt": "kept"}
    assert [path.name for path in out.parent.iterdir()] == ["out"]


@pytest.mark.parametrize("bad", range(3))
@pytest.mark.parametrize("old", [True, False])
def test_a_move_that_fails_leaves_the_old_files(tmp_path, monkeypatch, bad, old):
    out = tmp_path / "out"
    out.mkdir()
    if old:
        put(out, "1")
    replace, done = os.replace, []

    def fails(source, target):
        done.append(target)
        if len(done) == bad + 1:
            raise OSError("disk full")
        replace(source, target)

    monkeypatch.setattr(staging.os, "replace", fails)
    with pytest.raises(OSError, match="disk full"):
        put(out, "2")
    assert found(out) == (dict.fromkeys(NAMES, "1") if old else {})


def test_a_disk_without_second_names(tmp_path, monkeypatch):
    def refused(*_):
        raise OSError

    put(tmp_path / "out", "1")
    monkeypatch.setattr(staging.os, "link", refused)
    put(tmp_path / "out", "2")
    assert found(tmp_path / "out") == dict.fromkeys(NAMES, "2")


def test_an_interruption_waits_until_all_files_are_there(tmp_path, monkeypatch):
    put(tmp_path / "out", "1")
    replace = os.replace

    def interrupted(source, target):
        os.kill(os.getpid(), signal.SIGINT)
        replace(source, target)

    monkeypatch.setattr(staging.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        put(tmp_path / "out", "2")
    assert found(tmp_path / "out") == dict.fromkeys(NAMES, "2")


def test_outside_the_main_thread_no_signal_is_touched(tmp_path):
    """Python allows that in the main thread alone."""
    with ThreadPoolExecutor(1) as other:
        other.submit(put, tmp_path / "out", "1").result()
    assert found(tmp_path / "out") == dict.fromkeys(NAMES, "1")


def test_what_goes_wrong_before_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError), staging.staging(tmp_path / "out"):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_none(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="not a folder"), staging.staging(tmp_path / "file" / "out"):
        pass


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_file_that_cannot_be_written_whole_leaves_no_half_of_it(error, tmp_path):
    (tmp_path / "a.csv").write_text("1")
    with pytest.raises(type(error)), staging.whole(tmp_path / "a.csv") as half:
        half.write_text("2")
        raise error
    assert found(tmp_path) == {"a.csv": "1"}


def test_a_file_that_was_never_begun_leaves_the_error_as_it_is(tmp_path):
    with pytest.raises(ZeroDivisionError), staging.whole(tmp_path / "a.csv"):
        raise ZeroDivisionError
