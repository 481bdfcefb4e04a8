"""Goal: the mappings that are shipped fit their specifications, in every instance driven."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML
from run_all import RUNS

from checker.cli.schema import schema, schema_of
from checker.conformance.bind import bind
from checker.conformance.mapping import KEYS, read_mapping
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
    for instance in {"default", *(run.instance for run in RUNS[name])}:
        bound = bind(document, elaborate(document, instance), mapping, {})
        assert len(bound.rows) == len(bound.machine.actions)


@pytest.mark.parametrize("name", MAPPINGS)
def test_the_schema_accepts_what_is_shipped_and_nothing_misspelt(name: str) -> None:
    text = (MAPPINGS[name].parent / "conformance.yaml").read_text(encoding="utf-8")
    judge = Draft202012Validator(schema_of("mapping"))
    yaml = YAML(typ="safe", pure=True)
    assert not list(judge.iter_errors(yaml.load(text)))
    assert (
        list(judge.iter_errors(yaml.load(text.replace("silent:", "silence:"))))
        or "silent" not in text
    )
    assert list(judge.iter_errors(yaml.load(text.replace("observe:", "observes:"))))


def test_the_schema_accepts_the_mappings_of_recorded_runs() -> None:
    found = [entry.path.parent / "recorded.yaml" for entry in shipped() if entry.kind == "system"]
    judge = Draft202012Validator(schema_of("mapping"))
    yaml = YAML(typ="safe", pure=True)
    texts = [path.read_text(encoding="utf-8") for path in found if path.is_file()]
    assert texts
    for text in texts:
        assert not list(judge.iter_errors(yaml.load(text)))
        assert list(judge.iter_errors(yaml.load(text.replace("timers:", "timer:"))))


def test_the_schema_knows_every_key_of_a_mapping() -> None:
    found = schema_of("mapping")
    parts = {
        "conformance": found,
        "row of a mapping": found["$defs"]["row"],
        "refusal": found["$defs"]["refusal"],
        "known difference": found["$defs"]["known"],
        "clock": found["$defs"]["clock"],
        "timer": found["$defs"]["timer"],
        "window": found["$defs"]["window"],
        "form of lines": found["$defs"]["lines"],
        "each": found["$defs"]["lines"]["properties"]["each"]["additionalProperties"],
        "rows that go together": found["properties"]["together"]["additionalProperties"],
        "fact": found["$defs"]["fact"],
        "change of a fact": found["$defs"]["fact"]["properties"]["changes"]["additionalProperties"],
        "what is not answered": found["$defs"]["fact"]["properties"]["unanswered"],
        "turns": found["$defs"]["lines"]["properties"]["turns"],
        "line": found["$defs"]["line"],
    }
    assert {name: set(part["properties"]) for name, part in parts.items()} == {
        name: set(keys) for name, keys in KEYS.items()
    }


def test_the_schema_of_mappings_is_printed() -> None:
    outcome = CliRunner().invoke(schema, ["mapping"])
    assert json.loads(outcome.stdout)["$id"] == "mapping.schema.json"
