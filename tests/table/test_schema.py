"""Goal: the JSON Schemas accept what the reader accepts, and know every key that it knows."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from ruamel.yaml import YAML

import checker.table
from checker.library import shipped
from checker.table.files import PART
from checker.table.keys import KEYS

FOLDER = Path(checker.table.__file__).parent / "schema"
SCHEMAS = {
    name: json.loads((FOLDER / f"{name}.schema.json").read_text())
    for name in ("system", "part", "table", "mapping", "mistakes", "bugs")
}
REGISTRY = Registry().with_resources(
    (schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS.values()
)
NAMES = {
    "heading": "heading",
    "group of rows": "group_of_rows",
    "used system": "used_system",
    "unhandled message": "unhandled",
    "machine of a component": "machine_of_a_component",
    "variable of a component": "variable_of_a_component",
    "type": "named_type",
}


def parse(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def errors(kind: str, text: str) -> list[str]:
    judge = Draft202012Validator(SCHEMAS[kind], registry=REGISTRY)
    return [error.message for error in judge.iter_errors(parse(text))]


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
    elif part == PART:
        found = SCHEMAS["part"]
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
                file, _, reference = value.get("$ref", "").partition("#/")
                target = SCHEMAS[file.partition(".")[0] or schema["$id"].partition(".")[0]]
                for step in filter(None, reference.split("/")):
                    target = target[step]
                assert "description" in value or (reference and "description" in target), name


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
    text = entry.path.read_text()
    assert errors(kind, text) == []
    for name in parse(text).get("files", ()):
        assert errors("part", (entry.path.parent / name).read_text()) == []


def test_every_shipped_file_names_its_schema() -> None:
    """The first line is what editors look for; it leads from the file to the schema."""
    begin = "# yaml-language-server: $schema="
    for entry in shipped():
        kind = "table" if entry.kind == "table" else "system"
        names = parse(entry.path.read_text()).get("files", ())
        files = [(entry.path, kind), *((entry.path.parent / name, "part") for name in names)]
        for path, expected in files:
            first = path.read_text().splitlines()[0]
            assert first.startswith(begin), path
            named = (path.parent / first.removeprefix(begin)).resolve()
            assert named == (FOLDER / f"{expected}.schema.json").resolve(), path


def test_headings_are_valid(complete: str) -> None:
    headed = complete.replace("rows:\n", "rows:\n  - section: What people do\n", 1)
    assert headed != complete
    headed = headed.replace("definitions:\n", "definitions:\n  section Words:\n", 1)
    assert errors("system", headed) == []
    assert errors("system", headed.replace("section Words:", "section Words: [a]")) != []


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
