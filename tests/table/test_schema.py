"""Goal: the JSON Schemas accept what the reader accepts, and know every key that it knows."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

import checker.table
from checker.library import shipped
from checker.table.keys import KEYS

FOLDER = Path(checker.table.__file__).parent / "schema"
SCHEMAS = {
    name: json.loads((FOLDER / f"{name}.schema.json").read_text()) for name in ("system", "table")
}
NAMES = {
    "unhandled message": "unhandled",
    "machine of a component": "machine_of_a_component",
    "variable of a component": "variable_of_a_component",
    "type": "named_type",
}


def parse(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def errors(kind: str, text: str) -> list[str]:
    return [error.message for error in Draft202012Validator(SCHEMAS[kind]).iter_errors(parse(text))]


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every schema below `schema` that lists its properties."""
    if isinstance(schema, dict):
        if schema.get("type") == "object" and "properties" in schema:
            yield schema
        for key, value in schema.items():
            if key != "$defs":
                yield from objects(value)
    elif isinstance(schema, list):
        for item in schema:
            yield from objects(item)


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_schemas_are_schemas(kind: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[kind])


@pytest.mark.parametrize("part", KEYS)
def test_every_key_is_in_the_schema_and_no_other(part: str) -> None:
    if part in SCHEMAS:
        found = SCHEMAS[part]
    elif part == "leads_to":
        found = SCHEMAS["system"]["$defs"]["property"]["properties"]["leads_to"]
    else:
        kind = "table" if part in ("state", "transition", "restore") else "system"
        found = next(objects(SCHEMAS[kind]["$defs"][NAMES.get(part, part)]))
    assert set(found["properties"]) == set(KEYS[part])
    assert found["additionalProperties"] is False


def test_every_property_is_described() -> None:
    for schema in SCHEMAS.values():
        for found in (*objects(schema), *(o for d in schema["$defs"].values() for o in objects(d))):
            for name, value in found["properties"].items():
                target = schema["$defs"].get(value.get("$ref", "").removeprefix("#/$defs/"), {})
                assert "description" in value or "description" in target, name


def test_references_lead_somewhere() -> None:
    for schema in SCHEMAS.values():
        text = json.dumps(schema)
        for piece in text.split('"#/$defs/')[1:]:
            assert piece.split('"')[0] in schema["$defs"]


def test_complete_documents_are_valid(complete: str, lamp: str) -> None:
    assert errors("system", complete) == []
    assert errors("table", lamp) == []


@pytest.mark.parametrize("entry", shipped(), ids=lambda entry: entry.name)
def test_shipped_specifications_are_valid(entry: Any) -> None:
    kind = "table" if entry.kind == "table" else "system"
    assert errors(kind, entry.path.read_text()) == []


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("system", "order: fifo", "order: heap"),
        ("system", 'capacity: "2"', "capacity: 2"),
        ("system", "about: One person.", "abuot: One person."),
        ("system", "ids: 2", "ids: 0"),
        ("system", "why: nobody asks in the dark", "source: nobody"),
        ("system", "row: waits", "name: waits"),
        ("table", "event: switch_off", "evnt: switch_off"),
        ("table", "source: the manual, page 1\n", ""),
    ],
)
def test_wrong_documents_are_not(complete: str, lamp: str, kind: str, old: str, new: str) -> None:
    good = complete if kind == "system" else lamp
    assert old in good
    assert errors(kind, good.replace(old, new)) != []
