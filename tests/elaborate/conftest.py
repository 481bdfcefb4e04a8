"""What the tests of elaboration share: a folder with a table, systems from short texts."""

from pathlib import Path

import pytest
from houses import HEAD, LAMP, Elaborating, Refusing

from checker.elaborate import elaborate
from checker.errors import Diagnostic, SpecificationError
from checker.machine.machine import Machine
from checker.table import read


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lamp.yaml").write_text(LAMP)
    return tmp_path


@pytest.fixture
def machine(folder: Path) -> Elaborating:
    """Elaborates a text (without its head) into a machine."""

    def elaborated(
        text: str, instance: str | None = None, **overrides: int | bool | str
    ) -> Machine:
        path = folder / "system.yaml"
        path.write_text(HEAD + text)
        return elaborate(read(path), instance, overrides)

    return elaborated


@pytest.fixture
def wrong(machine: Elaborating) -> Refusing:
    """Elaborates a text that must be wrong; returns what was said about it."""

    def diagnostics(text: str, instance: str | None = None) -> tuple[Diagnostic, ...]:
        with pytest.raises(SpecificationError) as raised:
            machine(text, instance)
        return raised.value.diagnostics

    return diagnostics
