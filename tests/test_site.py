"""The book, built from a clean start with warnings as errors, and the site that comes out.

A failing chapter is only a warning to Jupyter Book, and a site can look whole while a link, an anchor or an image
is not there; so the site itself is read, by a parser and by a browser.
"""

import concurrent.futures
import contextlib
import functools
import http.server
import importlib
import inspect
import io
import os
import pkgutil
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import browsers
import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup
from clones import ROOT, copy_files, own_files
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from site_readers import CSS_LOADS, dead_links, execution_errors, nameless_images, names_on, outside_loads, raw_source
from sphinx_external_toc.parsing import parse_toc_yaml

import reliability
from reliability import __main__, commands, published, scenarios

BUILD = "from jupyter_book.cli.main import main; main()"
BUILD_LIMIT_S = 600
DESK = {"width": 1280, "height": 900}
LIGHT_DESK = ("light", DESK)
DARK_PHONE = ("dark", {"width": 390, "height": 844})


# Building -------------------------------------------------------------------------------------------------------------


def build(folder, say=lambda line: None):
    """Build the book in a folder as a user does; return the exit status and what was printed."""
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-c", BUILD, "build", str(folder), "-W", "-n", "--keep-going"]
    printed = []
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        timer = threading.Timer(BUILD_LIMIT_S, process.kill)
        timer.start()
        for line in process.stdout:
            printed.append(re.sub(r"\x1b\[[\d;]*m", "", line))
            say(printed[-1])
        timer.cancel()
    return process.returncode, "".join(printed)


@pytest.fixture(scope="session")
def announce(request):
    """Return a function that prints a line at once, past pytest's capture."""
    capture = request.config.pluginmanager.getplugin("capturemanager")

    def say(line):
        with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
            print(f"  [site] {line}", flush=True)

    return say


@pytest.fixture(scope="session")
def book(tmp_path_factory, announce, life):
    """Build the whole book once; return its folder, its sources as they were, the exit status and what was printed."""
    folder = tmp_path_factory.mktemp("site") / "book"
    sources = copy_files(own_files(ROOT), folder)
    announce("building the book from a clean start, every notebook executed")
    started = time.monotonic()

    def progress(line):
        if match := re.search(r"(\S+): Executing notebook", line):
            announce(f"executing {Path(match[1]).stem}")

    status, printed = build(folder, progress)
    announce(f"built in {time.monotonic() - started:.0f} s, exit status {status}")
    return folder, sources, status, printed


@pytest.fixture(scope="session")
def html(book):
    """Return the folder of the rendered pages."""
    folder, _, status, printed = book
    if not (folder / "_build/html/index.html").is_file():
        pytest.fail(f"no site was built, exit status {status}:\n{printed[-4000:]}")
    return folder / "_build/html"


@pytest.fixture(scope="session")
def soups(html):
    """Return every rendered page, parsed, by its path."""
    return {path: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser") for path in html.rglob("*.html")}


def pages():
    """Return the pages of the table of contents."""
    return [str(page) for page in parse_toc_yaml(ROOT / "_toc.yml")]


# The build ------------------------------------------------------------------------------------------------------------


def test_build_succeeds_without_a_warning(book):
    _, _, status, printed = book
    complaint = re.compile(r"^(?!\[IPKernelApp\]).*\b(WARNING|ERROR|CRITICAL)\b")  # kernels talk of their own transport
    complaints = [line for line in printed.split("\n") if complaint.search(line)]
    assert not complaints
    assert status == 0, printed[-4000:]


@pytest.mark.parametrize("page", pages())
def test_page_of_the_table_of_contents_is_rendered(page, soups, html):
    assert html / f"{page}.html" in soups
    articles = soups[html / f"{page}.html"].find_all("article")  # the readers below look into the first
    assert [article.h1 is not None for article in articles] == [True]


def test_build_leaves_the_sources_as_they_were(book):
    folder, sources, _, _ = book
    assert [str(name) for name, before in sources.items() if (folder / name).read_bytes() != before] == []
    assert {path.name for path in folder.iterdir()} - {name.parts[0] for name in sources} <= {"_build"}


# Reading the site -----------------------------------------------------------------------------------------------------


def short(path):
    """Return a page's place in the site."""
    return path.as_posix().partition("/_build/html/")[2]


def assert_none(findings):
    assert not findings, "\n" + "\n".join(
        f"{place}: {finding}" for place, found in findings.items() for finding in found
    )


def test_no_execution_error(soups, html):
    assert_none({short(path): found for path, soup in soups.items() if (found := execution_errors(soup))})
    assert not list((html / "reports").rglob("*.err.log"))


def test_no_dead_internal_link(soups):
    names = {path.resolve(): names_on(soup) for path, soup in soups.items()}
    assert_none({short(p): found for p, soup in soups.items() if (found := dead_links(p.resolve(), soup, names))})


@pytest.mark.parametrize("page", published.pages())
def test_every_published_figure_has_its_anchor(page, soups, html):
    soup = soups[html / "notebooks" / f"{page}.html"]
    missing = [figure.anchor for figure in published.figures(page) if len(soup.find_all(id=figure.anchor)) != 1]
    assert not missing


@pytest.mark.parametrize("page", scenarios.PAGES)
def test_every_result_has_its_address(page, soups, html):
    soup = soups[html / "notebooks" / f"{page}.html"]
    notebook = nbformat.read(ROOT / "notebooks" / f"{page}.ipynb", as_version=4)
    printing = [f"{page}-{cell['id']}" for cell in notebook.cells if cell.cell_type == "code" and cell.outputs]
    assert [address for address in printing if len(soup.find_all(id=address)) != 1] == []
    assert [link["href"] for link in soup.find_all("a", class_="cell-link")] == [f"#{address}" for address in printing]


def test_nothing_is_loaded_from_outside(soups, html):
    found = {short(path): found for path, soup in soups.items() if (found := outside_loads(soup))}
    for path in html.rglob("*.css"):
        if loads := CSS_LOADS.findall(path.read_text(encoding="utf-8")):
            found[short(path)] = loads
    assert_none(found)


def test_no_raw_source_in_the_text(soups):
    assert_none({short(path): found for path, soup in soups.items() if (found := raw_source(soup))})


def test_every_image_has_a_text(soups):
    assert_none({short(path): found for path, soup in soups.items() if (found := nameless_images(soup))})


@pytest.mark.parametrize("page", [page for page in pages() if page.startswith("notebooks/")])
def test_a_scenario_page_shows_a_table_a_formula_and_a_figure(page, soups, html):
    article = soups[html / f"{page}.html"].find("article")
    assert article.select("table") and article.select("figure img") and article.select("math")


@pytest.mark.parametrize(
    ("reader", "page", "finding"),
    [
        (execution_errors, '<div class="output traceback">ValueError: planted</div>', "ValueError: planted"),
        (outside_loads, '<script src="https://cdn.example/x.js"></script>', "<script> https://cdn.example/x.js"),
        (outside_loads, '<link rel="stylesheet" href="//fonts.example/a.css">', "<link> //fonts.example/a.css"),
        (outside_loads, '<img src="a.png" srcset="https://img.example/b.png 2x">', "<img> https://img.example/b.png"),
        (outside_loads, "<style>@import 'https://fonts.example/a.css'</style>", "https://fonts.example/a.css"),
        (outside_loads, "<style>a{src:url(//fonts.example/a.woff)}</style>", "//fonts.example/a.woff"),
        (raw_source, r"<article><p>so \frac{1}{2} is</p></article>", r"\frac"),
        (raw_source, r"<p>so \frac{1}{2} is, on a page without an article</p>", r"\frac"),
        (raw_source, "<article><p>see {eq}`eq-a`</p></article>", "{eq}"),
        (raw_source, "<article><p>:::{note}</p></article>", ":::"),
        (raw_source, "<article><p>| a | b |<br>|---|---|</p></article>", "|---|"),
        (nameless_images, '<article><img src="a.png" alt="_images/0f3c9d2e7a5b.png"></article>', "a.png"),
        (nameless_images, '<article><img src="a.png"></article>', "a.png"),
    ],
)
def test_a_reader_of_pages_finds(reader, page, finding):
    assert finding in reader(BeautifulSoup(page, "html.parser"))


def test_the_reader_of_links_finds(tmp_path):
    page, other = tmp_path / "page.html", tmp_path / "other.html"
    text = '<a href="other.html#here">1</a><a href="other.html#there">2</a><a href="none.html">3</a><a href="#no">4</a>'
    page.write_text(text, encoding="utf-8")
    other.write_text('<p id="here">', encoding="utf-8")
    soups = {path: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser") for path in (page, other)}
    found = dead_links(page, soups[page], {path: names_on(soup) for path, soup in soups.items()})
    assert [finding.partition(":")[0] for finding in found] == ["other.html#there", "none.html", "#no"]


# Pages that speak of the package --------------------------------------------------------------------------------------

# Of no use to who computes with the package, or documented elsewhere.
INTERNAL = {"__main__", "arguments", "cell_links", "checks", "commands", "mathml", "onefile", "text"}
INTERNAL |= {f"fleet_{part}" for part in ["compiled", "heap", "nodes", "numbers", "sources", "state", "stops", "tree", "work"]}


def names_in_the_package():
    """Return the modules, constants, functions, classes, their attributes, arguments and page parameters of the package."""
    names = {field for page in scenarios.PAGES for field in scenarios.parameters(page).model_fields}
    for folder, package in ((reliability.__path__, "reliability"), (scenarios.__path__, "reliability.scenarios")):
        for info in pkgutil.iter_modules(folder):
            module = importlib.import_module(f"{package}.{info.name}")
            names |= {name for name in vars(module) if name.isupper()}
            for name, member in inspect.getmembers(module, callable):
                if getattr(member, "__module__", "") == module.__name__:
                    names |= {name, *inspect.signature(member).parameters} if inspect.isfunction(member) else {name}
                    names |= (
                        set(vars(member)) | set(vars(member).get("__annotations__", ()))
                        if inspect.isclass(member)
                        else set()
                    )
    return names


def test_every_name_of_the_notation_is_in_the_package():
    rows = re.findall(r"(?m)^\|.*\|([^|]*)\|$", (ROOT / "pages/notation.md").read_text(encoding="utf-8"))
    written = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert len(written) > 20
    assert written <= names_in_the_package()


def test_every_module_is_on_the_page_of_the_api():
    text = (ROOT / "pages/api.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"automodule:: reliability\.(\w+)", text))
    modules = {info.name for info in pkgutil.iter_modules(reliability.__path__)}
    assert documented | INTERNAL >= modules, "document it in pages/api.md, or name it internal above"
    assert documented.isdisjoint(INTERNAL)


def test_the_command_line_page_has_every_option_and_parameter(soups, html):
    shown = soups[html / "pages/command_line.html"].find("article").get_text()
    options = re.findall(r"--[a-z-]+", __main__.parser().format_help())
    for command in commands.NAMES:
        with contextlib.redirect_stdout(io.StringIO()) as told, pytest.raises(SystemExit):
            __main__.parser().parse_args([command, "--help"])
        options += re.findall(r"--[a-z-]+", told.getvalue())
    parameters = [field for page in scenarios.PAGES for field in scenarios.parameters(page).model_fields]
    assert [name for name in {*options, *parameters} - {"--version"} if name not in shown] == []


# In a browser ---------------------------------------------------------------------------------------------------------


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server of files that writes no log."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def address(html):
    """Serve the site on this machine."""
    handler = functools.partial(Quiet, directory=html)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="session")
def browser():
    """Start the browser once."""
    with browsers.browser() as chromium:
        yield chromium


@dataclass
class Visit:
    """What a page did in a browser: its own requests only, since a headless Chromium makes calls of its own."""

    requests: list = field(default_factory=list)
    wrong: list = field(default_factory=list)
    overflow: int = 0  # pixels that the page is wider than the screen
    theme: str = ""
    text: str = ""


def watch(tab):
    """Write down what a tab requests, and what goes wrong in it."""
    seen = Visit()
    tab.on("request", lambda request: seen.requests.append(request.url))
    tab.on("console", lambda message: seen.wrong.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: seen.wrong.append(str(error)))
    tab.on("requestfailed", lambda request: seen.wrong.append(f"failed: {request.url}"))
    tab.on("response", lambda got: seen.wrong.append(f"{got.status}: {got.url}") if got.status >= 400 else None)
    return seen


def visit(browser, urls, scheme="light", size=DESK):
    """Open pages side by side, wait until none requests anything any more, and return a `Visit` of each."""
    context = browser.new_context(viewport=size, color_scheme=scheme)
    tabs = {url: context.new_page() for url in urls}
    visits = {url: watch(tab) for url, tab in tabs.items()}
    for url, tab in tabs.items():
        tab.goto(url, wait_until="commit")
    for url, tab in tabs.items():
        tab.wait_for_load_state("networkidle")
        visits[url].overflow = tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        visits[url].theme = tab.evaluate("document.documentElement.dataset.theme")
        visits[url].text = tab.inner_text("body")
    context.close()
    return visits


@pytest.fixture(scope="session")
def visits(browser, address, announce):
    """Visit every page, on a light desk and on a dark phone."""
    announce("visiting every page with a browser")
    urls = [f"{address}{page}.html" for page in pages()]
    return [(scheme, size["width"], visit(browser, urls, scheme, size)) for scheme, size in (LIGHT_DESK, DARK_PHONE)]


@pytest.mark.parametrize("page", pages())
def test_page_in_a_browser(page, visits, address):
    for scheme, width, seen in visits:
        this = seen[f"{address}{page}.html"]
        assert this.requests
        assert [url for url in this.requests if not url.startswith((address, "data:", "blob:"))] == []
        assert this.wrong == []
        assert this.overflow <= 0, f"at {width} pixels the page is {this.overflow} wider than the screen"
        assert this.theme == scheme


def test_a_link_to_a_figure_opens_the_card_that_hides_it(browser, address):
    tab = browser.new_page()
    for page in published.pages():
        anchor = published.figures(page)[-1].anchor
        tab.goto(f"{address}notebooks/{page}.html#{anchor}")
        shown = "e => e.checkVisibility() && e.getBoundingClientRect().top < window.innerHeight"
        tab.wait_for_function(f"({shown})(document.getElementById('{anchor}'))", timeout=5000)
    tab.close()


def test_search_works_without_a_network(browser, address):
    (seen,) = visit(browser, [f"{address}search.html?q=checkpoint"]).values()
    assert all(url.startswith(address) for url in seen.requests)
    assert seen.wrong == []
    assert re.search(r"found [1-9]\d* pages?", seen.text), seen.text


def test_the_browser_sees_a_request_to_elsewhere(browser, address, html):
    (html / "planted.html").write_text('<img src="http://localhost:9/planted.png">', encoding="utf-8")
    (seen,) = visit(browser, [f"{address}planted.html"]).values()
    (html / "planted.html").unlink()
    assert "http://localhost:9/planted.png" in seen.requests
    assert seen.wrong


# A book that must not be built ----------------------------------------------------------------------------------------


def one_page_book(folder):
    """Make a book of one chapter, with the book's own configuration and a repository address."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    config["repository"]["url"] = "https://github.com/example/book"
    copy_files([n for n in own_files(ROOT) if n.parts[0] in ("_static", "reliability", "references.bib")], folder)
    (folder / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    (folder / "_toc.yml").write_text("format: jb-book\nroot: chapter\n", encoding="utf-8")
    return folder


def write_chapter(folder, code):
    """Write the one chapter, never executed."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    cells = [new_markdown_cell("# A chapter"), new_code_cell(code)]
    nbformat.write(new_notebook(cells=cells, metadata=kernel), folder / "chapter.ipynb")


def life_of_a_chapter(folder):
    """Build a chapter while it is sound, twice after an error was planted in it, and when it takes too long."""
    one_page_book(folder)
    write_chapter(folder, "print('sound')")
    yield "sound", build(folder), (folder / "_build/html/chapter.html").read_text(encoding="utf-8")
    write_chapter(folder, "raise RuntimeError('planted')")
    yield "planted error", build(folder), "RuntimeError: planted"
    yield "planted error again", build(folder), "RuntimeError: planted"
    write_chapter(folder, "import time\ntime.sleep(3)")
    config = yaml.safe_load((folder / "_config.yml").read_text(encoding="utf-8"))
    config["execute"]["timeout"] = 1
    (folder / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    yield "timeout", build(folder), "timed out"


@pytest.fixture(scope="session")
def life(tmp_path_factory):
    """Start the builds of the one chapter beside those of the book: a second core does them in the meantime."""
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        folder = tmp_path_factory.mktemp("chapter")
        yield executor.submit(lambda: {stage: rest for stage, *rest in life_of_a_chapter(folder)})


@pytest.mark.parametrize("stage", ["planted error", "planted error again", "timeout"])
def test_a_failing_chapter_fails_the_build_every_time(stage, life, announce):
    if not life.done():
        announce("waiting for the builds of a chapter that must fail")
    (status, printed), reason = life.result()[stage]
    assert status != 0
    assert "chapter.ipynb" in printed and reason in printed, printed[-3000:]


def test_a_repository_address_brings_the_launch_buttons(life, soups):
    (status, printed), page = life.result()["sound"]
    assert status == 0, printed[-3000:]
    launches = ["https://mybinder.org/v2/gh/example/book/main", "https://colab.research.google.com/github/example/book"]
    assert all(address in page for address in launches)
    if not yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]:
        assert not any("mybinder.org" in str(soup) or "colab." in str(soup) for soup in soups.values())
