"""`checker schema`: the JSON Schemas that editors complete and check specifications with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from checker import table

KINDS = ("system", "part", "table", "mapping", "mistakes", "bugs")


@click.command()
@click.argument("kind", type=click.Choice(KINDS), default="system")
def schema(kind: str) -> None:
    """Print the JSON Schema of a KIND of file.

    A system, a part that `files:` lists, a table, a mapping of `conform` and `validate`, mistakes
    of `mutate --declared`, bugs of `mutate --bugs`. An editor with the YAML language server finds
    it by the first line of a file:

        # yaml-language-server: $schema=system.schema.json
    """
    click.echo(json.dumps(schema_of(kind), indent=2, ensure_ascii=False))


def schema_of(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a kind of file, complete in itself."""
    found = _read(kind)
    if kind != "part":
        return found
    system = _read("system")
    begin = f"{system['$id']}#/"
    properties = {
        key: _target(system, value.pop("$ref").removeprefix(begin)) | value
        for key, value in found["properties"].items()
    }
    return {**found, "properties": properties, "$defs": system["$defs"]}


def _target(root: dict[str, Any], path: str) -> dict[str, Any]:
    node: Any = root
    for step in path.split("/"):
        node = node[step]
    return dict(node)


def _read(kind: str) -> dict[str, Any]:
    file = Path(table.__file__).parent / "schema" / f"{kind}.schema.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found
