"""The browser of the tests: a Chromium or Chrome that is on this machine; none is fetched."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

# On the path; on a Mac the program is inside its application, which is not.
NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
# Chrome's own calls home are none of a page's. Only our own pages are opened, and a container has no sandbox.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def executable():
    """Return the path of the browser that CHROMIUM names, or else of the first that is found; None without any."""
    candidates = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES), str(MAC) if MAC.exists() else None]
    return next(filter(None, candidates), None)


@contextmanager
def browser():
    """Yield a headless browser; without one skip, or fail where REQUIRE_BROWSER=1 says that there must be one."""
    from playwright.sync_api import sync_playwright

    path = executable()
    if path is None:
        reason = f"no browser: CHROMIUM is not set, none of {', '.join(NAMES)} is on the path, and there is no {MAC}"
        (pytest.fail if os.environ.get("REQUIRE_BROWSER") == "1" else pytest.skip)(reason)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()
