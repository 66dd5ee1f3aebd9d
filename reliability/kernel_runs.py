"""A notebook executed by this interpreter, in a kernel of its own."""

from __future__ import annotations

import logging
import os
import re
import sys
import sysconfig
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar

from reliability.errors import BadInput

if TYPE_CHECKING:
    from nbformat import NotebookNode

INPUT_ERRORS = ("BadInput", "ClusterError", "FleetError", "LogError")  # of a file that a parameter names


class RunFailed(RuntimeError):
    """A page could not be executed; the message is one line."""


def execute(page: str, notebook: NotebookNode, values: Mapping, progress: bool) -> tuple[NotebookNode, list[str]]:
    """Execute a page's notebook under these parameters; return it without what belongs to this machine, and what it said on stderr.

    Raises
    ------
    BadInput
        For a file that a parameter names.
    RunFailed
        If a cell fails, or the kernel dies.
    """
    from nbclient.exceptions import DeadKernelError
    from papermill import PapermillExecutionError, execute_notebook

    form = "{desc}: {n_fmt} of {total_fmt} cells |{bar}| {elapsed}"
    bar = {"desc": page, "leave": False, "ncols": 78, "bar_format": form}
    logging.getLogger("papermill").setLevel(logging.CRITICAL)  # how a kernel ended is said here
    with TemporaryDirectory(prefix="reliability-") as folder:
        manager = _kernel(folder)
        try:
            executed = execute_notebook(
                notebook,
                None,
                dict(values),
                kernel_name="python3",
                language="python",
                progress_bar=bar if progress else False,
                record_timing=False,
                kernel_manager_class=manager,
                resources={"metadata": {"path": folder}},
            )
        except PapermillExecutionError as error:
            if error.ename in INPUT_ERRORS:
                raise BadInput(" ".join(error.evalue.split())) from None
            reason = " ".join(f"{error.ename}: {error.evalue}".split())
            raise RunFailed(f"{page}: cell [{error.exec_count}] failed: {reason}") from None
        except (KeyboardInterrupt, SystemExit):
            # A kernel that is just starting would miss its folder, and tell at length of what ends with it.
            logging.getLogger("asyncio").setLevel(logging.CRITICAL)
            for process in manager.launched:
                process.kill()
            raise
        except DeadKernelError as error:
            raise RunFailed(f"{page}: the kernel died: {error}") from None
    return executed, _clean(executed)


def _kernel(folder: str) -> type:
    """Return a kernel manager whose kernel is this interpreter with this package, whatever kernels are installed."""
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    environment = {
        "TRAINING_RELIABILITY_FOLDER": os.getcwd(),  # where paths in parameters begin
        "IPYTHONDIR": folder,  # no start-up files of the user's
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    home = str(Path(str(files("reliability"))).parent)
    if home not in sysconfig.get_paths().values():  # run from a clone that is not installed
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=CRITICAL"]

    class ThisPython(AsyncKernelManager):
        kernel_spec = KernelSpec(argv=command, display_name="Python 3", language="python", env=environment)
        launched: ClassVar[list] = []  # the kernels' processes

        def _connection_file_default(self):
            return os.path.join(folder, "connection.json")  # where an interruption leaves none

        async def _async_launch_kernel(self, *args, **options):
            await super()._async_launch_kernel(*args, **options)
            self.launched.append(self.provisioner.process)

    return ThisPython


def _clean(notebook: NotebookNode) -> list[str]:
    """Take out of an executed notebook what belongs to this machine and hour; return what it said on stderr."""
    notebook.metadata.pop("papermill", None)
    notebook.metadata.kernelspec = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    notebook.metadata.language_info = {"name": "python"}
    said = []
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
        tags = cell.metadata.get("tags", [])
        if not tags:
            cell.metadata.pop("tags", None)
        if "injected-parameters" in tags:
            cell.id = "injected-parameters"
        if cell.cell_type == "code":
            stderr = [output for output in cell.outputs if output.get("name") == "stderr"]
            cell.outputs = [output for output in cell.outputs if output not in stderr]
            said += [f"cell [{cell.execution_count}]: {_without_paths(output.text)}" for output in stderr]
    return said


def _without_paths(text: str) -> str:
    return " ".join(re.sub(r"\S*/(?=[^/\s]+)", "", text).split())
