"""What a project says once instead of in every command: `checker.toml`, or `pyproject.toml`.

The nearest one, from the working directory upwards, is read: `[verify]` in checker.toml, or
`[tool.checker.verify]` in pyproject.toml, holds options of `checker verify`; and so on for each
command. Paths in it are relative to the file. The command line comes before it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from checker.errors import UsageError

FILE = "checker.toml"
PROJECT = "pyproject.toml"


def defaults(command: click.Command) -> dict[str, Any]:
    """Return the values of a command's parameters that a file gives, by their names.

    UsageError for a file that is no TOML, and for an option that the command does not have.
    """
    file, tables = _tables()
    if file is None or command.name is None:
        return {}
    table = tables.get(command.name, {})
    if not isinstance(table, Mapping):
        raise UsageError(f"{file}: `{command.name}` is no table of options")
    known = {_name(item): item for item in command.params}
    found: dict[str, Any] = {}
    for key, value in table.items():
        parameter = known.get(key.replace("_", "-"))
        if parameter is None or parameter.name is None:
            from checker.table.problems import nearest  # noqa: PLC0415 (shells wait for completions)

            close = nearest(key, known)
            hint = f"; did you mean {close}?" if close else f"; there are {', '.join(known)}"
            raise UsageError(f"{file}: `checker {command.name}` has no option {key!r}{hint}")
        found[parameter.name] = _value(value, parameter, file.parent)
    return found


def _tables() -> tuple[Path | None, Mapping[str, Any]]:
    """Return the nearest file that says something, and its tables."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        for name in (FILE, PROJECT):
            file = folder / name
            if not file.is_file():
                continue
            try:
                content = tomllib.loads(file.read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
                if name == PROJECT:
                    continue  # somebody else's file: its own tools complain
                raise UsageError(f"{file}: {error}") from error
            tool = content.get("tool")
            own = content if name == FILE else tool.get("checker") if tool else None
            if isinstance(own, Mapping):
                return file, own
    return None, {}


def _name(parameter: click.Parameter) -> str:
    """Return what a parameter is called in a file: its long option without dashes."""
    longest = max(parameter.opts, key=len, default="")
    return longest.lstrip("-").replace("_", "-")


def _value(value: Any, parameter: click.Parameter, folder: Path) -> Any:
    """Return a value as the command line would give it; paths from the folder of the file."""
    if isinstance(value, list):
        return [_value(item, parameter, folder) for item in value]
    wants_path = isinstance(parameter.type, click.Path) or parameter.name in {"spec", "specs"}
    if not (isinstance(value, str) and wants_path):
        return value
    path = folder / value
    if parameter.name in {"spec", "specs"} and not path.exists():
        return value  # the name of a shipped specification
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
