"""Logs as a cluster file names them: where they are, and their readers' messages in terms of its keys."""

import re

from reliability.cluster_fields import READER_OPTIONS
from reliability.cluster_hints import nearest_file
from reliability.errors import ClusterError
from reliability.logs.notes import quoted
from reliability.text import escaped

# "tell zone='…'", "decimal='.' or decimal=','", "columns={'start': '…'}"
TOLD = re.compile(rf"\b({'|'.join(READER_OPTIONS)})=(?:'([^']*)'|\{{'(\w+)': '([^']*)'\}})")
REFUSED = re.compile(r"\b(\w+) is not an option of read_(\w+)")
ORDER = "day_first=True or False"


def there(cluster, path, key, names):
    """Return the path of a log; where it is not there, say where it was looked for and which file may be meant."""
    file = cluster.path(path)
    if file.exists():
        return file
    if names.hidden:
        raise ClusterError(f"{key}: {names.file(path)}: there is no such file")
    folder = file.parent
    if not folder.is_dir():
        raise ClusterError(f"{key}: {quoted(path)}: there is no folder {escaped(folder.absolute())}")
    near = nearest_file(file)
    raise ClusterError(f"{key}: {quoted(path)}: there is no such file in {escaped(folder.absolute())}{near}")


def as_keys(message, key):
    """A message of a reader with the cluster file's spelling in place of the functions' options.

    Examples
    --------
    >>> print(as_keys("time zone: tell zone='…'", "failures.log"))
    time zone: tell failures.log.options = { zone = "…" }
    >>> print(as_keys("zone is not an option of read_kubernetes: node, … are", "failures.log"))
    failures.log.options.zone: not for a file of the format kubernetes: node, … are
    """
    message = message.replace(ORDER, f"{key}.options = {{ day_first = true }}, or false")
    message = REFUSED.sub(lambda found: f"{key}.options.{found[1]}: not for a file of the format {found[2]}", message)
    message = re.sub(r"\btell zone\b(?!=)", "tell zone='…'", message)
    return TOLD.sub(lambda found: f"{key}.options = {{ {found[1]} = {_value(*found.groups()[1:])} }}", message)


def _value(text, part, name):
    return f'"{text}"' if part is None else f'{{ {part} = "{name}" }}'
