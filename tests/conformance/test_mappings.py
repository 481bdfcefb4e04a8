"""Goal: the mappings that are shipped fit their specifications, in every instance driven."""

from pathlib import Path

import pytest
from run_all import RUNS

from checker.conformance.bind import bind
from checker.conformance.mapping import read_mapping
from checker.elaborate import elaborate
from checker.library import shipped
from checker.table import read

MAPPINGS = {
    entry.name: entry.path
    for entry in shipped()
    if entry.kind == "system" and (entry.path.parent / "conformance.yaml").is_file()
}


def test_there_are_some() -> None:
    assert MAPPINGS


@pytest.mark.parametrize("name", MAPPINGS)
def test_a_mapping_fits_every_instance_that_is_driven(name: str) -> None:
    path: Path = MAPPINGS[name]
    document = read(path)
    mapping = read_mapping(path.parent / "conformance.yaml")
    for instance in {"default", *(instance for instance, _ in RUNS[name])}:
        bound = bind(document, elaborate(document, instance), mapping, {})
        assert len(bound.rows) == len(bound.machine.actions)
