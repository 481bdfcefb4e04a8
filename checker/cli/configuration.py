"""What a project says once instead of in every command: `checker.toml`, or `pyproject.toml`.

The nearest one, from the working directory upwards, is read: `[verify]` in checker.toml, or
`[tool.checker.verify]` in pyproject.toml, holds options of `checker verify`; and so on for each
command. Paths in it are relative to the file. The command line comes before it.

Whoever can write into a folder above could write such a file, and a repository may come with one.
So it may name no program and change no specification, what it lets be written lies below its own
folder, and it counts only where its owner is one whom the user trusts anyway.
"""

from __future__ import annotations

import os
import pwd
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from checker.errors import UsageError, told
from checker.frozen import frozen
from checker.links import real
from checker.source import SIZE_MAX

FILE = "checker.toml"
PROJECT = "pyproject.toml"

_FILES = frozenset({"FILE", "DIR", "PATH"})
_READ = frozenset({"mapping", "graph"})
"""What an option that names a file is given by in a command's help, and those that only read it."""

_PLACE = "checker.place"
"""Where the context of a command has the table that its options are from."""

_PROGRAMS = "decides which programs run"


class SpokenOption(click.Option):
    """An option that only the command line may give, for what it does.

    `does` says that: it names a program or lets code in, or changes what is the user's.
    """

    def __init__(self, *args: Any, does: str = _PROGRAMS, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.does = does


@frozen()
class _Project:
    """A file that says something: its tables, and what comes before their names in it."""

    file: Path
    before: str
    tables: Mapping[str, Any]

    def place(self, name: str) -> str:
        """Return how a person finds a table."""
        return f"{self.file}: [{self.before}{name}]"


def take_defaults(ctx: click.Context, command: click.Command, commands: Collection[str]) -> None:
    """Give a context the values of a command's parameters that a file gives.

    UsageError for a file that is no TOML, too large or of another user, for a table that none of
    `commands` is called, for an option that the command does not have or that only the command
    line may give, for a value that no word of the command line could be, and for a path to write
    to that is not below the folder of the file.
    """
    project = _nearest()
    if project is None or command.name is None:
        return
    _refuse_tables(project, commands)
    place = project.place(command.name)
    known = {_name(item): item for item in command.params}
    found: dict[str, Any] = {}
    for key, value in project.tables.get(command.name, {}).items():
        parameter = known.get(key.replace("_", "-"))
        if parameter is None or parameter.name is None:
            hint = _hint(key, known)
            raise UsageError(f"{place}: `checker {command.name}` has no option {key!r}{hint}")
        if parameter.name in found:
            raise UsageError(f"{place} says {_name(parameter)!r} twice; remove one")
        _refuse_spoken(parameter, command, f"{place} {key}")
        found[parameter.name] = _value(value, parameter, f"{place} {key}", project.file.parent)
    ctx.default_map = {command.name: found}
    ctx.meta[_PLACE] = place


def place_of(error: click.ClickException) -> str | None:
    """Return where the value is that an error is about; None if no file gave it."""
    if not isinstance(error, click.BadParameter) or error.ctx is None or error.param is None:
        return None
    source = error.ctx.get_parameter_source(error.param.name or "")
    given = source is ParameterSource.DEFAULT_MAP
    return f"{error.ctx.meta[_PLACE]} {_name(error.param)}" if given else None


def spoken(name: str) -> bool:
    """Whether the command line itself gives a parameter of the command that runs.

    What a file gives is for all runs of a command, also for those that have no use for it.
    """
    context = click.get_current_context()
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


# ------------------------------------------------------------------------------------------ files


def _nearest() -> _Project | None:
    """Return the nearest file that says something."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if os.path.lexists(folder / FILE):
            return _own(folder / FILE)
        found = _inside(folder / PROJECT) if _is_there(folder / PROJECT) else None
        if found is not None:
            return found
    return None


def _is_there(file: Path) -> bool:
    try:
        return file.is_file()
    except OSError:  # a folder that this user may not look into
        return False


def _own(file: Path) -> _Project:
    """Return what a checker.toml says; UsageError where it cannot be read or taken."""
    try:
        if not file.is_file():
            raise UsageError(
                f"{file} is no file that can be read; remove it, or mend the link that it is"
            )
        data, owners = _read(file)
    except OSError as error:
        raise UsageError(told(error)) from error
    _refuse_others(file, owners)
    return _Project(file, "", _parsed(file, data))


def _inside(file: Path) -> _Project | None:
    """Return what a pyproject.toml says to us.

    It is somebody else's file: what is wrong with it, its own tools say.
    """
    try:
        data, owners = _read(file)
        content = _parsed(file, data) if b"checker" in data else {}
    except (OSError, UsageError):
        return None
    tool = content.get("tool")
    own = tool.get("checker") if isinstance(tool, Mapping) else None
    if not isinstance(own, Mapping):
        return None
    _refuse_others(file, owners)
    return _Project(file, "tool.checker.", own)


def _read(file: Path) -> tuple[bytes, set[int]]:
    """Return the content, of a large one a byte more than SIZE_MAX, and whose file and link are."""
    with file.open("rb") as stream:
        owners = {os.fstat(stream.fileno()).st_uid, file.lstat().st_uid}
        return stream.read(SIZE_MAX + 1), owners


def _refuse_others(file: Path, owners: set[int]) -> None:
    """Raise UsageError for a file of somebody who has no say in what this user runs.

    The owner of the working directory has: containers check out as another user than they run as.
    """
    strangers = owners - {0, os.geteuid(), Path.cwd().stat().st_uid}
    if strangers:
        raise UsageError(
            f"{file} belongs to {_user(min(strangers))}, who is neither you nor the owner of the "
            f"current folder; remove it, or write a {FILE} of your own into a nearer folder (it "
            "may be empty)"
        )


def _user(number: int) -> str:
    try:
        return f"the user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"the user with the number {number}"


def _parsed(file: Path, data: bytes) -> dict[str, Any]:
    """Return a file's content; UsageError where it is no TOML, or none that has an end."""
    if len(data) > SIZE_MAX:
        raise UsageError(f"{file} is larger than {SIZE_MAX:,} bytes; leave only options in it")
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{file} is no TOML: {error}; correct it there") from error
    except RecursionError:
        what = "arrays or tables too deep in each other; an option takes an array of words at most"
    except ValueError:  # what Python says of a number that is too long to be read
        what = f"a number of too many digits; {_INTEGERS}"
    raise UsageError(f"{file} has {what}")


# ----------------------------------------------------------------------------------------- tables


def _refuse_tables(project: _Project, commands: Collection[str]) -> None:
    """Raise UsageError for what is no table of options of a command."""
    for name, table in project.tables.items():
        if name not in commands and isinstance(table, Mapping):
            hint = _hint(name, commands)
            raise UsageError(f"{project.place(name)}: `checker` has no command {name!r}{hint}")
        if not isinstance(table, Mapping):
            example = name if name in commands else "check"
            raise UsageError(
                f"{project.file}: {name!r} is no table of options; options stand in the table of "
                f"their command, such as [{project.before}{example}]"
            )


def _refuse_spoken(parameter: click.Parameter, command: click.Command, place: str) -> None:
    """Raise UsageError for what only the command line may give.

    Of several words without an option those of the command line are taken from the first on: one
    in a file would be none of them.
    """
    words = [
        item.human_readable_name for item in command.params if isinstance(item, click.Argument)
    ]
    if isinstance(parameter, click.Argument) and len(words) > 1:
        raise UsageError(
            f"{place}: only the command line gives {' and '.join(words)}; remove it there"
        )
    if isinstance(parameter, SpokenOption):
        raise UsageError(
            f"{place}: it {parameter.does}, so only the command line may give it; remove it "
            f"there, and write {parameter.opts[0]} after the command"
        )


def _hint(word: str, known: Collection[str]) -> str:
    from checker.table.problems import nearest  # noqa: PLC0415 (only where something is wrong)

    close = nearest(word, known)
    return f"; did you mean {close}?" if close else f"; there are {', '.join(known)}"


def _name(parameter: click.Parameter) -> str:
    """Return what a parameter is called in a file: its long option without dashes."""
    longest = max(parameter.opts, key=len, default="")
    return longest.lstrip("-").replace("_", "-")


# ----------------------------------------------------------------------------------------- values

_INTEGERS = "an integer of TOML has 64 bits"


def _value(value: object, parameter: click.Parameter, place: str, folder: Path) -> Any:
    """Return a value as the command line would give it; paths from the folder of the file."""
    name = _name(parameter)
    if isinstance(parameter, click.Option) and parameter.is_flag:
        if not isinstance(value, bool):
            raise UsageError(
                f"{place} takes true or false, not {_shown(value)}; write `{name} = true`"
            )
        return value
    several = parameter.nargs != 1 or parameter.multiple
    words: list[str] = []
    for item in value if several and isinstance(value, list) else [value]:
        if isinstance(item, bool) or not isinstance(item, str | int | float):
            takes = "a string, a number or one array of them" if several else "one string or number"
            example = '["VALUE"]' if several else '"VALUE"'
            raise UsageError(
                f"{place} takes {takes}, not {_shown(item)}; write `{name} = {example}`"
            )
        word = _word(item, place)
        if writes(parameter):
            _refuse_elsewhere(word, parameter, place, folder)
        words.append(_located(word, parameter, folder))
    return words if several else words[0]


def _shown(value: object) -> str:
    """Return what a value is, in the words of TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "an array"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, str):
        return "a string"
    return "a number" if isinstance(value, int | float) else "a date or a time"


def _word(value: str | float, place: str) -> str:
    """Return a value as a word of the command line; UsageError for what none can be."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise UsageError(f"{place} has too many digits; {_INTEGERS}")
    word = str(value)
    if "\0" in word:
        raise UsageError(f"{place} has a character NUL in it, as no word can; remove it")
    if not word.strip():
        raise UsageError(f"{place} is empty; give a value, or leave the option out")
    return word


def writes(parameter: click.Parameter) -> bool:
    """Whether an option names a file or folder that is written to."""
    if not isinstance(parameter, click.Option) or parameter.metavar not in _FILES:
        return False
    there = isinstance(parameter.type, click.Path) and parameter.type.exists
    return not there and _name(parameter) not in _READ


def _refuse_elsewhere(word: str, parameter: click.Parameter, place: str, folder: Path) -> None:
    """Raise UsageError for what does not lie below a folder, or does so through a link only."""
    inside = real(folder / word).is_relative_to(real(folder))
    if not inside or Path(word).is_absolute() or "://" in word:
        raise UsageError(
            f"{place}: it is written to, so here it is a path below {folder}, relative to it, not "
            f"{word}; write such a path, or give {parameter.opts[0]} after the command"
        )


def _located(word: str, parameter: click.Parameter, folder: Path) -> str:
    """Return a path from the working directory, of a word that is one from the folder."""
    names_specification = parameter.name in {"spec", "specs"}
    if not (isinstance(parameter.type, click.Path) or names_specification or writes(parameter)):
        return word
    path = folder / word
    if names_specification and not path.exists():
        return word  # the name of a shipped specification
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
