"""What can be wrong with a rendered page: each function takes a parsed page and returns its findings."""

import re
from urllib.parse import unquote, urldefrag, urlparse

from bs4 import BeautifulSoup


def execution_errors(soup):
    """Return what a failed cell, or one that wrote to stderr, leaves on a page."""
    return [
        tag.get_text(" ", strip=True)[:200] for tag in soup.select(".output.traceback, .output.stderr, .system-message")
    ]


def dead_links(path, soup, names):
    """Return the links of a page that lead to no file, or to no element of it, within the site."""
    dead = []
    for tag in soup.find_all("a", href=True):
        href = urlparse(tag["href"])
        if href.scheme or href.netloc:
            continue
        file, fragment = urldefrag(tag["href"])
        target = (path.parent / unquote(file.partition("?")[0])).resolve() if file else path
        if not target.exists():
            dead.append(f"{tag['href']}: no such file")
        elif fragment and target in names and unquote(fragment) not in names[target]:
            dead.append(f"{tag['href']}: no such place on that page")
    return dead


def names_on(soup):
    """Return the ids and the anchors' names of a page."""
    return {tag.get(key) for tag in soup.find_all(True) for key in ("id", "name") if tag.get(key)} | {"top"}


OUTSIDE = re.compile(r"^\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src",
          "audio": "src", "embed": "src", "object": "data", "image": "href", "use": "href"}  # fmt: skip
NOT_LOADED = {"canonical", "next", "prev", "search", "index", "author", "license", "alternate"}
CSS_LOADS = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])((?:[a-z]+:)?//[^'\")\s]+)", re.IGNORECASE)


def outside_loads(soup):
    """Return what a page would load from another place."""
    found = []
    for tag in soup.find_all(list(LOADED)):
        if tag.name == "link" and set(tag.get("rel", [])) <= NOT_LOADED:
            continue
        addresses = [tag.get(LOADED[tag.name], "")]
        addresses += [part.split()[0] for part in tag.get("srcset", "").split(",") if part.strip()]
        found += [f"<{tag.name}> {address}" for address in addresses if OUTSIDE.match(address)]
    for style in [*soup.find_all("style"), *soup.find_all(style=True)]:
        found += CSS_LOADS.findall(style.get("style") or style.get_text())
    found += [str(tag) for tag in soup.find_all("meta", attrs={"http-equiv": re.compile("^refresh$", re.IGNORECASE)})
              if re.search(r"url=\s*(?:[a-z]+:)?//", tag.get("content", ""), re.IGNORECASE)]  # fmt: skip
    return found


RAW = re.compile(
    r":::|```|\{(?:math|cite|eq|ref|numref|term|doc|glossary|note|figure|bibliography)[\w:]*\}"  # directives, roles
    r"|\\(?:frac|sqrt|mathrm|text|left|right|begin|sum|cdot|times|le|ge|approx)\b|\$\$|\$[^$\n]{1,60}\$"  # TeX
    r"|\|\s*:?-{2,}:?\s*\|"  # a table's rule
)


def raw_source(soup):
    """Return directives, roles, TeX and tables that stand on a page as they were typed."""
    article = BeautifulSoup(str(soup.find("article") or soup), "html.parser")
    for tag in article.select("pre, code, script, style, annotation"):
        tag.decompose()
    return RAW.findall(article.get_text("\n"))


def nameless_images(soup):
    """Return the images without a text for who cannot see them; a file's name is none."""
    return [
        tag.get("src", "")
        for tag in (soup.find("article") or soup).find_all("img")
        if len(tag.get("alt", "")) < 20 or re.search(r"\.(?:png|svg|jpe?g)$", tag["alt"])
    ]
