"""Files of settings in TOML, read; and told apart, so that a file that is meant for another command is met with its name."""

import tomllib

from reliability import cluster_hints as hints
from reliability import toml_values
from reliability.errors import ClusterError
from reliability.text import escaped

LARGEST = 1_000_000  # bytes; a settings file is a page long, and a log given in its place is not
FOR = {
    "grid": "is a grid file; run it with: python -m reliability sweep {source} --out DIR",
    "fleet": "has a [fleet] table, which is for `simulate`, or for `sweep` as the cluster of a grid file",
    "cluster": "is a cluster file, which is for `plan` and `simulate`; a grid file names one, and has a [grid] table",
}


def read(path):
    """Return the tables of a settings file; see :func:`text` and :func:`tables`."""
    return tables(text(path), escaped(path))


def text(path):
    """Return the text of a settings file.

    Parameters
    ----------
    path : pathlib.Path
        Of a file, or of a pipe such as a shell's ``<(…)``.

    Raises
    ------
    ClusterError
        In one line, for a file that is not there, too long, or not in UTF-8.
    """
    source = escaped(path)
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)  # never more: a device has no end
    except FileNotFoundError as error:
        raise ClusterError(f"{source}: cannot be read ({error.strerror}){hints.meant(path)}") from None
    except OSError as error:
        raise ClusterError(f"{source}: cannot be read ({error.strerror or error})") from None
    except ValueError as error:  # no name that a file can have
        raise ClusterError(f"{source}: cannot be read ({error})") from None
    if len(content) > LARGEST:
        raise ClusterError(f"{source}: has more than {LARGEST:,} bytes; a settings file has fewer. Is it a log?")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ClusterError(f"{source}: byte {error.start + 1:,} is not UTF-8; a settings file is TOML, which is") from None


def check_for_report(path):
    """Refuse a file that the notebook of a report could not read again: a pipe, one of a process's own, a name not in UTF-8.

    Parameters
    ----------
    path : pathlib.Path

    Raises
    ------
    ClusterError
        But not for a file that is not there, which its reader reports.
    """
    own = str(path.absolute()).startswith(("/dev/stdin", "/dev/fd/", "/proc/"))
    if path.exists() and (own or not (path.is_file() or path.is_dir())):
        raise ClusterError(f"{escaped(path)}: can be read only once, and a report reads its file again: save it as a file first")
    if any(0xD800 <= ord(letter) <= 0xDFFF for letter in str(path)):  # how Python writes bytes that are no UTF-8
        raise ClusterError(f"{escaped(path)}: has a name that is not UTF-8, and a notebook cannot hold it")


def tables(text, source):
    """Return the tables of a text in TOML.

    Raises
    ------
    ClusterError
        In one line, with the line of the text.
    """
    try:
        found = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # not TOML, or a whole number longer than Python reads
        raise ClusterError(f"{source}: is not TOML: {escaped(error)}{hints.comma(text, str(error))}") from None
    toml_values.check(found, source)
    return found


def check_kind(tables, source, *wanted):
    """Refuse tables that are another kind of file than wanted: a ``cluster``, a ``fleet`` or a ``grid`` file.

    Raises
    ------
    ClusterError
        Which says what the file is for.
    """
    kinds = [name for name in ("grid", "fleet", "cluster") if isinstance(tables.get(name), dict)]
    if kinds and kinds[0] not in wanted:
        raise ClusterError(f"{source}: {FOR[kinds[0]].format(source=source)}")
