"""What can be wrong with the one HTML file of a run: `findings` takes its text."""

import re

from bs4 import BeautifulSoup


def findings(html):
    """Return what is wrong with a file that should show everything and need nothing, a line each."""
    page = BeautifulSoup(html, "html.parser")
    found = []
    names = {element["id"] for element in page.find_all(id=True)}
    for element in page.find_all(["script", "link", "iframe", "object", "embed", "base", "video", "audio"]):
        found.append(f"<{element.name}>")
    for element in page.find_all(True):
        for attribute in ("src", "srcset", "poster", "data", "background"):
            if element.has_attr(attribute) and not element[attribute].startswith("data:"):
                found.append(f"{element.name} {attribute} = {element[attribute]}")
    for link in page.find_all("a", href=True):
        href = link["href"]
        inside = href == "#" or href.startswith("#") and href[1:] in names
        if not inside and not href.startswith(("https://", "http://")):
            found.append(f"dead link {href}")
    for image in page.find_all("img"):
        if not image.get("alt"):
            found.append("an image without alternative text")
    css = " ".join(style.get_text() for style in page.find_all("style"))
    found += [f"css {url}" for url in re.findall(r"url\(\s*(?![\"']?data:)[^)]{1,60}", css)]
    found += ["css @import"] if "@import" in css else []
    for element in page(["style", "annotation", "code", "pre"]):
        element.decompose()
    text = page.get_text(" ")
    raw = r":::|\{[a-z:-]+\}`?|\$|\\[a-zA-Z]+|^\s*\|.*\|\s*$|\*\*|`"
    found += [f"raw {match[0].strip()[:60]!r}" for match in re.finditer(raw, text, re.MULTILINE)]
    return found
