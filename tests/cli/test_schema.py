"""Goal: the schemas that are printed are complete in themselves and accept what is shipped."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from checker.cli.main import run
from checker.library import find

FOLDER = find("classic_group").parent


def printed(capfd: pytest.CaptureFixture[str], *words: str) -> Any:
    assert run(["schema", *words]) == 0
    return json.loads(capfd.readouterr().out)


def parse(path: Path) -> Any:
    return YAML(typ="safe", pure=True).load(path.read_text())


def test_a_schema_alone_judges_files(capfd: pytest.CaptureFixture[str]) -> None:
    system = Draft202012Validator(printed(capfd))
    part = Draft202012Validator(printed(capfd, "part"))
    table = Draft202012Validator(printed(capfd, "table"))
    assert list(system.iter_errors(parse(FOLDER / "system.yaml"))) == []
    assert list(part.iter_errors(parse(FOLDER / "client.yaml"))) == []
    assert list(part.iter_errors(parse(FOLDER / "system.yaml"))) != []
    assert list(part.iter_errors({"rows": [{"row": 3}]})) != []
    assert list(table.iter_errors(parse(FOLDER / "client.yaml"))) != []


def test_other_kinds_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "row"]) == 2
    assert "part" in capfd.readouterr().err
