"""The step of the release that looks at the tag and at CHANGELOG.md, run as GitHub runs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
STEP = "The tag is the version, and the changes are written down"


@pytest.fixture
def release(tmp_path):
    """Return what runs the step for a tag and a text of CHANGELOG.md, the version being 1.2.0."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
    (script,) = [step["run"] for step in workflow["jobs"]["build"]["steps"] if step.get("name") == STEP]
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to(sys.executable)
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.0"\n')

    def run(tag, changes):
        (tmp_path / "CHANGELOG.md").write_text(changes)
        path = os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]])
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=tmp_path,
            env=os.environ | {"GITHUB_REF_NAME": tag, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.parametrize("heading", ["## 1.2.0, 30 November 2026", "## 1.2.0 of 2026-11-30", "## 1.2.0"])
def test_a_dated_version_is_released_with_its_notes(release, tmp_path, heading):
    later, earlier = "## 1.2.01, not yet released\n\n- Later.\n", "## 1.1.0, 1 May 2026\n\n- Earlier.\n"
    done = release("v1.2.0", f"# Changes\n\n{later}\n{heading}\n\n- New.\n\n{earlier}")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    assert (tmp_path / "notes.md").read_text().split() == ["-", "New."]


@pytest.mark.parametrize(
    ("tag", "changes", "said"),
    [
        ("v1.2.1", "## 1.2.0, 30 November 2026\n\n- New.\n", "The tag is v1.2.1, but pyproject.toml says 1.2.0"),
        ("1.2.0", "## 1.2.0, 30 November 2026\n\n- New.\n", "The tag is 1.2.0"),
        ("v1.2.0", "## 1.2.0, not yet released\n\n- New.\n", "1.2.0 is not yet released"),
        ("v1.2.0", "## 1.2.0 (Unreleased)\n\n- New.\n", "1.2.0 is not yet released"),
        ("v1.2.0", "## 1.1.0, 1 May 2026\n\n- Earlier.\n", "CHANGELOG.md has nothing on 1.2.0"),
        ("v1.2.0", "## 1.2.0, 30 November 2026\n\n## 1.1.0, 1 May 2026\n\n- Earlier.\n", "has nothing on 1.2.0"),
    ],
)
def test_a_tag_is_refused(release, tag, changes, said):
    done = release(tag, changes)
    assert done.returncode == 1
    assert done.stdout.startswith("::error::")
    assert said in done.stdout
