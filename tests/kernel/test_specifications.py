"""Goal: kernels of the shipped specifications agree with the reference semantics, too.

Elaborated machines have forms that random ones lack: calls, operations, channels with faults.
"""

from pathlib import Path

import pytest
from agreement import require_agreement

from checker.elaborate import elaborate
from checker.table import read

SPEC = Path(__file__).parents[2] / "spec"
SPECIFICATIONS = sorted(SPEC.glob("examples/*/system.yaml")) + sorted(
    SPEC.glob("systems/*/system.yaml")
)


@pytest.mark.parametrize("path", SPECIFICATIONS, ids=lambda path: path.parent.name)
def test_specification(path: Path) -> None:
    machine = elaborate(read(path), "default", {})
    assert require_agreement(machine, states=30) > 1


def test_there_are_specifications() -> None:
    assert len(SPECIFICATIONS) > 10
