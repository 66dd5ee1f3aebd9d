"""Which browser the tests take, and what they say where there is none."""

import shutil
from pathlib import Path

import browsers
import pytest

NAMED = r"CHROMIUM .* google-chrome-stable .*Google Chrome"


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A machine without a browser; return what puts one on its path."""
    installed = {}
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.delenv("REQUIRE_BROWSER", raising=False)
    monkeypatch.setattr(shutil, "which", installed.get)
    monkeypatch.setattr(browsers, "MAC", tmp_path / "Google Chrome")
    return lambda name: installed.update({name: f"/usr/bin/{name}"})


def test_without_a_browser_a_test_is_skipped_with_the_reason(bare):
    with pytest.raises(pytest.skip.Exception, match=NAMED), browsers.browser():
        pass


def test_where_a_browser_must_be_its_absence_is_a_failure(bare, monkeypatch):
    monkeypatch.setenv("REQUIRE_BROWSER", "1")
    with pytest.raises(pytest.fail.Exception, match=NAMED), browsers.browser():
        pass


def test_the_one_that_is_named_comes_before_what_is_found(bare, monkeypatch):
    browsers.MAC.touch()
    assert browsers.executable() == str(browsers.MAC)
    for name in reversed(browsers.NAMES):
        bare(name)
        assert browsers.executable() == f"/usr/bin/{name}"
    monkeypatch.setenv("CHROMIUM", "/opt/mine")
    assert browsers.executable() == "/opt/mine"


def test_the_bare_machine_looks_for_the_same_names():
    script = (Path(__file__).parents[1] / ".ci/run").read_text(encoding="utf-8")
    assert f"command -v {' '.join(browsers.NAMES)} " in script
