"""Goal: GitHub takes the action and the workflows of the manual, and its steps do their work.

No runner of GitHub is here. Its schemas judge the files, and `Composite` does with the steps that
are scripts what a runner does; the steps that are other actions it leaves out.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
EXPRESSION = re.compile(r"\$\{\{ *(.*?) *\}\}")


def read(text: str) -> dict[str, Any]:
    found = YAML(typ="safe").load(text)
    assert isinstance(found, dict)
    return found


def wrong(schema: str, value: dict[str, Any]) -> list[str]:
    """Return what GitHub's schema of a name finds wrong."""
    jsonschema = pytest.importorskip("jsonschema")
    pytest.importorskip("check_jsonschema", reason="it carries GitHub's schemas")
    folder = resources.files("check_jsonschema") / "builtin_schemas" / "vendor"
    rules = json.loads((folder / f"{schema}.json").read_text())
    return [error.message for error in jsonschema.Draft7Validator(rules).iter_errors(value)]


def workflows() -> list[str]:
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "ci.md").read_text(), re.DOTALL)
    return [text for text in blocks if re.search(r"^jobs:", text, re.MULTILINE)]


def test_the_action_satisfies_the_schema_of_github() -> None:
    action = read((ROOT / "action.yml").read_text())
    assert wrong("github-actions", action) == []
    del action["runs"]["steps"][-1]["shell"]
    assert wrong("github-actions", action), "the schema can say no"


def test_the_workflows_of_the_manual_satisfy_the_schema_of_github() -> None:
    assert len(workflows()) == 2
    inputs = read((ROOT / "action.yml").read_text())["inputs"]
    for text in workflows():
        workflow = {"on": "push"} | read(text)
        assert wrong("github-workflows", workflow) == []
        steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
        ours = [step for step in steps if step.get("uses") == "./.checker"]
        assert ours
        assert all(set(step["with"]) <= set(inputs) for step in ours)


class Composite:
    """A composite action with the values of its inputs, run as a runner runs its scripts."""

    def __init__(self, **given: str) -> None:
        self.action = read((ROOT / "action.yml").read_text())
        declared = {name: item["default"] for name, item in self.action["inputs"].items()}
        assert set(given) <= set(declared)
        self.inputs = declared | given

    def filled(self, text: str) -> str:
        def value(found: re.Match[str]) -> str:
            context, _, name = found[1].partition(".")
            assert context == "inputs", found[0]
            return self.inputs[name]

        return EXPRESSION.sub(value, text)

    def run(self, name: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
        """Run the step of a name with its own environment, as `shell: bash` is defined."""
        (step,) = (item for item in self.action["runs"]["steps"] if item.get("name") == name)
        assert step["shell"] == "bash"
        script = folder / "step.sh"
        script.write_text(self.filled(step["run"]))
        environment = {key: self.filled(text) for key, text in step.get("env", {}).items()}
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=folder / self.filled(step.get("working-directory", ".")),
            env=os.environ | {"GITHUB_ACTIONS": "true"} | environment | more,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    def outputs(self, folder: Path) -> dict[str, Path]:
        found = self.action["outputs"].items()
        return {name: folder / self.filled(item["value"]) for name, item in found}


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A search path on which `checker` is the checker of this checkout."""
    shim = tmp_path / "bin" / "checker"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m checker "$@"\n')
    shim.chmod(0o755)
    return f"{shim.parent}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.parametrize(("more", "code"), [("--instance default", 0), ("--instance nowhere", 2)])
def test_its_steps_verify_and_leave_what_it_promises(
    toggle: str, tmp_path: Path, path: str, more: str, code: int
) -> None:
    place = Path(toggle).resolve()
    action = Composite(specs=place.name, arguments=more, **{"working-directory": str(place.parent)})
    done = action.run("Verify", tmp_path, PATH=path, PYTHONPATH=str(ROOT))
    assert done.returncode == code, done.stdout + done.stderr
    assert [file.is_file() for file in action.outputs(tmp_path).values()] == [code == 0] * 2


def test_what_inputs_say_is_never_run(tmp_path: Path, path: str) -> None:
    action = Composite(specs="$(touch ran) `touch ran`", arguments='; touch ran "')
    done = action.run("Verify", tmp_path, PATH=path, PYTHONPATH=str(ROOT))
    assert done.returncode != 0
    assert not (tmp_path / "ran").exists()
