"""Make .venv with everything that requirements.txt pins, or do nothing where that is done already.

    python3 scripts/environment.py

Only the standard library, and only syntax that Python 2.7 can read too: whoever starts this with the wrong Python
shall get a sentence, not a SyntaxError.
"""

from __future__ import print_function

import hashlib
import os
import subprocess
import sys
import time

OLDEST, NEWEST = (3, 11), (3, 14)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
# What .venv was made from, written last; "unfinished" from before the first package to after the last one.
STAMP = os.path.join(VENV, "made_from.txt")
UNFINISHED = "unfinished\n"


def main(arguments):
    """Exit status 0: .venv is ready. Else it is not, and a line on stderr says why."""
    stamp, mine = read(STAMP), "{0}.{1} ".format(*sys.version_info)
    # Whoever chose a Python once (make PYTHON=... book) need not repeat it as long as that .venv is there.
    made = stamp not in ("", UNFINISHED) and os.path.exists(PYTHON)
    if "--or-existing" in arguments and made and not stamp.startswith(mine):
        return subprocess.call([PYTHON, os.path.abspath(__file__)])
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        return refuse("is not supported, 3.{0} to 3.{1} are.".format(OLDEST[1], NEWEST[1]))
    if read(STAMP) == wanted() and os.path.exists(PYTHON):
        return 0
    try:
        import ensurepip  # noqa: F401  (Debian splits it off, and venv fails halfway without it)
        import venv  # noqa: F401
    except ImportError:
        package = "python{0}.{1}-venv".format(*sys.version_info)
        return refuse("lacks the module venv (Debian, Ubuntu: apt install {0}).".format(package))
    try:
        return make()
    except KeyboardInterrupt:
        print("\nInterrupted; the next run starts .venv again.", file=sys.stderr)
        return 130


def wanted():
    """What the stamp of an up-to-date .venv says. The folder counts: a copied .venv would run the other clone's package."""
    import tomllib  # here, since older Pythons have none

    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        project = tomllib.load(file)
    # The settings of pytest and ruff stand there too, and change nothing in .venv.
    relevant = [project["project"], project["build-system"], project.get("tool", {}).get("hatch")]
    parts = VENV, read(os.path.join(ROOT, "requirements.txt")), repr(relevant)
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape"))
    return "{0}.{1} {2}\n".format(sys.version_info[0], sys.version_info[1], digest.hexdigest())


def read(path):
    """The text of a file, or nothing where there is no file."""
    try:
        with open(path) as file:
            return file.read()
    except (IOError, OSError):
        return ""


def write(text):
    """Write the stamp."""
    with open(STAMP, "w") as file:
        file.write(text)


def make():
    """Install into .venv, which is made anew where it is not a whole one, of this Python, made in this place."""
    started = time.time()
    version = "{0}.{1}.{2}".format(*sys.version_info)
    number = sum(line[:1].isalnum() for line in read(os.path.join(ROOT, "requirements.txt")).splitlines())
    why = reason_to_start_again() if os.path.lexists(VENV) else "there is none"
    if why:
        print("Making .venv with Python {0} ({1}): {2} packages, 1.4 GB, some minutes.".format(version, why, number))
        sys.stdout.flush()
        remove()
        os.mkdir(VENV)
        write(UNFINISHED)
        if subprocess.call([sys.executable, "-m", "venv", "--prompt", "training-reliability", VENV]):
            return 1
    else:
        print("Updating .venv (Python {0}): its requirements have changed.".format(version))
        write(UNFINISHED)
    status = install(started, number)
    if status == 0:
        write(wanted())
        print("  {0:3.0f} s  .venv is ready".format(time.time() - started))
    return status


def reason_to_start_again():
    """Why the .venv that is there cannot be brought up to date; nothing where it can."""
    if read(STAMP) == UNFINISHED:
        return "the last attempt was not finished"
    if not read(os.path.join(VENV, "pyvenv.cfg")).rstrip().endswith(VENV):
        return "the one here is not whole, or was made elsewhere"
    try:
        found = subprocess.check_output([PYTHON, "-c", "import pip, sys; print('%d.%d' % sys.version_info[:2])"])
    except (OSError, subprocess.CalledProcessError):
        return "the one here does not start"
    version = "{0}.{1}".format(*sys.version_info)
    return "" if found.decode().strip() == version else "the one here has Python " + found.decode().strip()


def remove():
    """Remove .venv, be it a folder, a link to one or nothing."""
    import shutil

    if os.path.islink(VENV):
        os.remove(VENV)
    elif os.path.isdir(VENV):
        # First what makes it a .venv: one that is half removed shall not pass for one that only wants an update.
        if os.path.exists(os.path.join(VENV, "pyvenv.cfg")):
            os.remove(os.path.join(VENV, "pyvenv.cfg"))
        shutil.rmtree(VENV)


def install(started, number):
    """Run pip, with a sign of life every ten seconds, and its last lines where it fails."""
    # A pip that is configured to install for the user refuses to work in a virtual environment.
    environment = dict(os.environ, PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1")
    command = [PYTHON, "-m", "pip", "install", "--no-input", "--progress-bar", "off", "-r", "requirements.txt"]
    pip = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True
    )
    lines, seen, said = [], 0, time.time()
    for line in pip.stdout:
        lines.append(line)
        seen += line.startswith(("Collecting ", "Processing ", "Ignoring ", "Requirement already satisfied"))
        if line.startswith("Installing collected packages"):
            print("  {0:3.0f} s  all fetched, installing".format(time.time() - started))
        elif time.time() > said + 10 and seen < number:
            said = time.time()
            print("  {0:3.0f} s  {1} of {2} packages".format(said - started, seen, number))
        sys.stdout.flush()
    if pip.wait():
        sys.stderr.writelines(lines[-15:])
        print("pip could not install requirements.txt: see the lines above.", file=sys.stderr)
        return 1
    # Where matplotlib takes long to list the machine's fonts, on its first import, it says so on stderr: let that be
    # here and not in the output of a page.
    with open(os.devnull, "w") as nowhere:
        return subprocess.call([PYTHON, "-c", "import matplotlib.font_manager"], stderr=nowhere)


def refuse(why):
    """Say in one line what is wrong with this Python, and which would do."""
    version = "{0}.{1}.{2}".format(*sys.version_info)
    name = another()
    hint = "Choose another" if name else "Install another and choose it"
    print(
        "Python {0} ({1}) {2} {3}: make PYTHON={4} book".format(
            version, sys.executable, why, hint, name or "python3.12"
        ),
        file=sys.stderr,
    )
    return 1


def another():
    """The name of a supported Python with venv on this machine, if there is one."""
    with open(os.devnull, "w") as nowhere:
        for minor in (13, 12, 11, 14):
            name = "python3.{0}".format(minor)
            try:
                if subprocess.call([name, "-c", "import ensurepip, venv"], stdout=nowhere, stderr=nowhere) == 0:
                    return name
            except OSError:
                pass
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
