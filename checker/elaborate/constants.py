"""Constants of an instance: ids, integers, variants; what `set:` and `--set` replace."""

from __future__ import annotations

from collections.abc import Mapping

from checker.elaborate import convert
from checker.elaborate.context import Context, expression
from checker.elaborate.folded import computed, constant_truth, evaluate
from checker.elaborate.type_cells import TypeReader
from checker.elaborate.world import World
from checker.elaborate.wrong import Wrong, collecting
from checker.errors import SpecificationError, UsageError
from checker.machine import terms as t
from checker.machine.relations import INTEGER_LIMIT, VALUES_MAX, holds_symmetric, show
from checker.machine.types import Enum, Id, Range, Type
from checker.semantics.values import format_value
from checker.source import Source, Span
from checker.table.document import Cell, Constant, InstanceEntry, TypeNode, Word
from checker.table.expressions import parse_expression
from checker.table.passage import Passage
from checker.table.problems import Problems, nearest
from checker.table.scopes import counted_ids

Setting = int | bool | str
Settings = Mapping[str, tuple[Setting, Span | None]]
"""Of each replaced constant its value, and the place of an instance's `set:` (None: `--set`)."""


def settings_of(
    world: World, instance: InstanceEntry | None, overrides: Mapping[str, Setting]
) -> Settings:
    """Return what replaces constants: the instance's settings, then the overrides."""
    known = [constant.name.text for constant in world.document.constants]
    found: dict[str, tuple[Setting, Span | None]] = {}
    for word, value, span in instance.settings if instance else ():
        if word.text not in known:
            world.problems.add(
                "N209",
                f"no constant is called `{word.text}`",
                word.span,
                help=_close(word.text, known),
            )
        found[word.text] = (value, span)
    for name, value in overrides.items():
        if name not in known:
            there = f"there are {', '.join(known)}" if known else "there are none"
            raise UsageError(f"no constant is called `{name}`; {_close(name, known) or there}")
        found[name] = (value, None)
    return found


def _close(word: str, known: list[str]) -> str | None:
    close = nearest(word, known)
    return f"did you mean `{close}`?" if close else None


def declare_constants(world: World, settings: Settings) -> None:
    """Give every constant its value and every id type its ids; check the assumptions."""
    for constant in world.document.constants:
        with collecting(world.problems):
            _declare(world, constant, settings.get(constant.name.text))
        if constant.name.text not in world.constants.keys() | world.types.keys():
            world.without_value.add(constant.name.text)
    world.problems.raise_any()
    for cell in world.document.assume:
        with collecting(world.problems):
            if not constant_truth(world, cell):
                raise Wrong(
                    "R601",
                    "the constants do not satisfy this assumption",
                    cell.span,
                    expected="true",
                    found=_values(world),
                )
    world.problems.raise_any()


def _values(world: World) -> str:
    return ", ".join(f"{name} = {value}" for name, value in constant_values(world))


def constant_values(world: World) -> tuple[tuple[str, object], ...]:
    """Return each constant with its value; of an id type the number of its ids."""
    values: list[tuple[str, object]] = []
    for constant in world.document.constants:
        name = constant.name.text
        kind = world.types.get(name)
        if isinstance(kind, Id):
            values.append((name, len(kind.members)))
        else:
            value = world.constants[name].value
            plain = isinstance(value, int | str)
            values.append((name, value if plain else format_value(value)))
    return tuple(values)


def _declare(world: World, constant: Constant, setting: tuple[Setting, Span | None] | None) -> None:
    name = constant.name.text
    if constant.ids_names is not None:
        if setting is not None:
            raise _refused(constant, setting, "its ids have names of their own")
        members = tuple(word.text for word in constant.ids_names)
        _declare_ids(world, constant, members)
    elif constant.ids_count is not None:
        number = constant.ids_count
        if setting is not None:
            number = _as_integer(constant, setting)
        if not 1 <= number <= VALUES_MAX:
            place = constant.value_span or constant.name.span
            raise _limit(constant, setting, place, f"1 to {VALUES_MAX} ids", number)
        _declare_ids(world, constant, counted_ids(constant, number))
    else:
        literal = _value(world, constant, setting)
        world.constants[name] = literal
        if isinstance(literal.type, Enum):
            world.declare_values(literal.type)


def _limit(
    constant: Constant,
    setting: tuple[Setting, Span | None] | None,
    place: Span,
    expected: str,
    found: int,
) -> Exception:
    if setting is not None and setting[1] is None:
        return UsageError(f"`{constant.name.text}`: expected {expected}, found {found}")
    span = setting[1] if setting is not None and setting[1] else place
    return Wrong(
        "Y305",
        f"`{constant.name.text}` is out of bounds",
        span,
        expected=expected,
        found=str(found),
    )


def _declare_ids(world: World, constant: Constant, members: tuple[str, ...]) -> None:
    kind = Id(constant.name.text, members, constant.symmetric)
    world.types[constant.name.text] = kind
    if not constant.symmetric:
        world.declare_values(kind)


def _value(
    world: World, constant: Constant, setting: tuple[Setting, Span | None] | None
) -> t.Literal:
    span = constant.value_span or constant.name.span
    if constant.node is not None:
        return _data(world, constant, constant.node, setting)
    if constant.one_of is not None:
        members = tuple(word.text for word in constant.one_of)
        value: object = constant.value
        if isinstance(constant.value, Word):
            value = constant.value.text
        if setting is not None:
            value = setting[0]
        if value not in members or not isinstance(value, str):
            if setting is not None:
                raise _refused(constant, setting, f"it is one of {', '.join(members)}")
            raise Wrong(
                "N201", f"`{value}` is none of the values", span, expected=", ".join(members)
            )
        return t.Literal(value, Enum(constant.name.text, members), span)
    if constant.cell is not None:
        literal = evaluate(world, constant.cell)
    elif isinstance(constant.value, bool):
        literal = convert.truth(constant.value, span)
    else:
        assert isinstance(constant.value, int)
        literal = convert.integer(constant.value, span)
    if setting is None:
        return literal
    if isinstance(literal.type, Range):
        number = _as_integer(constant, setting)
        if abs(number) > INTEGER_LIMIT and setting[1] is None:
            raise _refused(constant, setting, "it is an integer between -2**62 and 2**62")
        return convert.integer(number, setting[1] or span)
    if isinstance(literal.value, bool) and isinstance(setting[0], bool):
        return convert.truth(setting[0], setting[1] or span)
    if isinstance(literal.type, Enum) and setting[0] in literal.type.members:
        return t.Literal(setting[0], literal.type, setting[1] or span)
    wanted = "it is true or false" if isinstance(literal.value, bool) else "its kind is another"
    raise _refused(constant, setting, wanted)


def _data(
    world: World,
    constant: Constant,
    node: TypeNode,
    setting: tuple[Setting, Span | None] | None,
) -> t.Literal:
    """Return a constant of a declared type: the value of its expression, or of what replaces it."""
    kind = TypeReader(world).read(node)
    if holds_symmetric(kind):
        raise Wrong(
            "Y330",
            "a constant cannot tell interchangeable ids apart",
            node.span,
            found=show(kind),
            help="declare the ids without `symmetric: true`",
        )
    assert constant.cell is not None
    if setting is None:
        return _evaluated(world, constant.cell, kind)
    given, place = setting
    text = str(given).lower() if isinstance(given, bool) else str(given)
    try:
        if place is None:
            source, start = Source("<--set>", text), (1, 1)
        else:
            source, start = place.source, (place.line, place.column)
        problems = Problems()
        passage = Passage(source, text, (start,) * (text.count("\n") + 1))
        tree = parse_expression(passage, problems)
        problems.raise_any()
        assert tree is not None
        return _evaluated(world, Cell(text, passage.whole(), tree, passage.starts), kind)
    except (Wrong, SpecificationError) as error:
        if place is not None and isinstance(error, Wrong):
            raise
        reason = error.diagnostics[0].message if isinstance(error, SpecificationError) else error
        raise _refused(constant, setting, f"{reason}; it is a {show(kind)}") from error


def _evaluated(world: World, cell: Cell, kind: Type) -> t.Literal:
    term = convert.coerce(Context(world, cell, constant=True).infer(expression(cell), kind), kind)
    return t.Literal(computed(term), kind, cell.span)


def _as_integer(constant: Constant, setting: tuple[Setting, Span | None]) -> int:
    value = setting[0]
    if not isinstance(value, int) or isinstance(value, bool):
        raise _refused(constant, setting, "it is an integer")
    return value


def _refused(constant: Constant, setting: tuple[Setting, Span | None], reason: str) -> Exception:
    value, span = setting
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    if span is None:
        return UsageError(f"`{constant.name.text}` cannot be {shown}: {reason}")
    return Wrong("Y301", f"`{constant.name.text}` cannot be {shown}: {reason}", span, found=shown)
