"""Stable aliases for the names of hosts, users, jobs and files: a report goes to people who must not see them."""

import re
from pathlib import Path

from reliability.text import escaped

KINDS = ("node", "user", "job", "file", "cluster")
TOKEN = re.compile(r"[\w.@:+-]+")
SHORTEST = 2  # a name of one letter stands in every text
LETTER = re.compile(r"[^\W\d_]")  # a name without one is a number, and a report has many that are no names


class Names:
    """What hosts, users, jobs and files are called in all that is written.

    Parameters
    ----------
    hidden : bool
        Whether each name is replaced by an alias: node-1, node-2, … in the order of first appearance. A log that grows keeps them,
        and a name has one alias in every file.

    Examples
    --------
    >>> names = Names(hidden=True)
    >>> names.node("gpu-a-17"), names.node("gpu-a-03"), names.node("GPU-A-17"), Names(hidden=False).node("gpu-a-17")
    ('node-1', 'node-2', 'node-1', 'gpu-a-17')
    """

    def __init__(self, hidden):
        self.hidden = hidden
        self._alias = {}
        self._counts = dict.fromkeys(KINDS, 0)

    def _of(self, kind, name):
        if not self.hidden or name is None:
            return None if name is None else escaped(name)
        key = (kind, str(name).strip().lower())
        if key not in self._alias:
            self._counts[kind] += 1
            self._alias[key] = f"{kind}-{self._counts[kind]}"
        return self._alias[key]

    def node(self, name):
        """Return what a host is called."""
        return self._of("node", name)

    def user(self, name):
        """Return what a user is called."""
        return self._of("user", name)

    def job(self, name):
        """Return what a job is called."""
        return self._of("job", name)

    def cluster(self, name):
        """Return what a cluster is called; without a name it has none."""
        return self._of("cluster", name) if name else ""

    def file(self, path):
        """Return what a file is called: its name without its folders, or its alias."""
        path = Path(str(path))
        if self.hidden:
            for part in (str(path), path.name, path.stem):
                self._alias.setdefault(("file", part.strip().lower()), self._of("file", str(path)))
        return self._of("file", str(path)) if self.hidden else escaped(path.name)

    def learn(self, nodes=(), users=(), jobs=()):
        """Give aliases to names that the report may not even show, so that `conceal` finds them."""
        for kind, found in (("node", nodes), ("user", users), ("job", jobs)):
            for name in found:
                self._of(kind, name)

    def conceal(self, text, known=frozenset()):
        """Replace every name that has an alias wherever it stands in a text as a word of its own; numbers stay.

        Parameters
        ----------
        text : str
        known : set of str
            Words of the product's own, in lower case: they say nothing of a cluster, even where one has such a name.
        """
        if not self.hidden or not self._alias:
            return text
        words = {
            name: alias
            for (_, name), alias in self._alias.items()
            if len(name) >= SHORTEST and LETTER.search(name) and name not in known
        }
        long = [name for name in words if not TOKEN.fullmatch(name)]
        for name in sorted(long, key=len, reverse=True):
            text = re.sub(re.escape(name), words[name], text, flags=re.IGNORECASE)
        return TOKEN.sub(lambda found: _replaced(found[0], words), text)


def _replaced(token, words):
    """A token's alias: of the whole, or of the longest beginning that ends at a dot, as a host's in its full name."""
    bare = token.rstrip(".:")
    if (alias := words.get(bare.lower())) is not None:
        return alias + token[len(bare) :]
    parts = bare.split(".")
    for n in range(len(parts) - 1, 0, -1):
        if (alias := words.get(".".join(parts[:n]).lower())) is not None:
            return alias + token[len(bare) :]
    return token
