"""Goal: a correct file becomes the Document it says, and every place in it is the file's place."""

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from checker.errors import Diagnostic, SpecificationError
from checker.source import Span
from checker.table import Document, read
from checker.table.document import Cell, TypeMap, TypeName, TypeOf, TypeRange

Reading = Callable[[str], Document]
Wrong = Callable[[str], tuple[Diagnostic, ...]]


def shown(span: Span) -> str:
    """Return the text of the file at a span of one line."""
    assert span.line == span.end_line
    return span.source.line(span.line)[span.column - 1 : span.end_column - 1]


def test_a_complete_system_is_read(reading: Reading, complete: str) -> None:
    house = reading(complete)
    assert house.name.text == "house"
    assert house.about == "A house of lamps and people."
    assert house.abstractions[0] == "walls: nobody sees through them"
    assert set(house.tables) == {"lamp"}
    constants = {constant.name.text: constant for constant in house.constants}
    assert constants["Person"].ids_count == 2
    assert constants["Person"].symmetric
    assert [name.text for name in constants["Room"].ids_names or ()] == ["kitchen", "cellar"]
    assert constants["limit"].value == 3
    assert constants["dark"].value is True
    assert constants["slots"].cell is not None
    assert [message.name.text for message in house.messages] == ["Ask", "Answer", "Stop"]
    assert [field.text for field, _ in house.messages[0].fields] == ["who", "count"]
    assert house.messages[0].about == "A question."
    assert house.channels[0].duplicates == "unlimited"
    assert len(house.channels[0].per) == 2
    assert [outcome.late for outcome in house.operations[0].outcomes] == [False, True]
    assert [word.text for word in house.procedures[0].parameters] == ["r", "q"]
    assert house.deadlock is False
    assert house.fairness == "weak"
    assert [entry.kind for entry in house.properties] == [
        "always",
        "step",
        "sometimes",
        "eventually",
        "leads_to",
    ]
    instance = house.instances[0]
    assert [(name.text, value) for name, value, _ in instance.settings] == [
        ("Person", 2),
        ("dark", False),
        ("mood", "bad"),
    ]
    assert instance.expect is not None
    assert instance.expect.length == 4
    assert house.warnings == ()


def test_a_row_holds_its_cells(reading: Reading, complete: str) -> None:
    row = reading(complete).rows[0]
    assert row.on is not None
    assert isinstance(row.on.tree, ast.Call)
    kinds = [type(entry.node).__name__ if entry.node else "Cell" for entry in row.bindings]
    assert kinds == ["TypeName", "Cell", "TypeRange", "TypeOf"]
    assert [[state.text for state in entry.states] for entry in row.inside] == [
        ["On", "Off"],
        ["On"],
    ]
    assert row.do is not None
    assert isinstance(row.do.tree, tuple)
    assert len(row.do.tree) == 5
    assert len(row.send) == 2


def test_types_are_nodes(reading: Reading, complete: str) -> None:
    house = reading(complete)
    waiting = house.variables[2].node
    assert isinstance(waiting, TypeMap)
    assert isinstance(waiting.key, TypeName)
    assert isinstance(waiting.value, TypeOf)
    assert waiting.value.kind == "handle"
    count = house.types[1].node
    assert isinstance(count, TypeRange)
    assert (count.low.text, count.high.text) == ("0", "limit + 1")
    assert shown(count.high.span) == "limit + 1"


def cells_of(value: object) -> list[Cell]:
    """Return every cell below a part of a document."""
    if isinstance(value, Cell):
        return [value]
    if isinstance(value, tuple):
        return [cell for item in value for cell in cells_of(item)]
    names = getattr(type(value), "__dataclass_fields__", {})
    if isinstance(value, Span) or not names:
        return []
    return [cell for name in names for cell in cells_of(getattr(value, name))]


LAYOUTS = {
    "plain": "when: {}",
    "single": "when: '{}'",
    "double": 'when: "{}"',
    "literal": "when: |\n      {}",
    "literal with a header": "when: |2-   # why\n        {}",
    "folded": "when: >-\n\n      {}",
    "below": "when:\n        {}",
    "quoted over lines": 'when: "\n       {}"',
}
TEXT = "a and b[1].c and len(xs, ys=3)"
SPLIT = "a and\n          b[1].c and\n\n        len(xs, ys=3)"


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("text", [TEXT, SPLIT], ids=["one line", "lines"])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_every_name_is_placed_where_it_stands(
    reading: Reading, layout: str, text: str, ending: str
) -> None:
    yaml = "system: s\nabout: a\nrows:\n  - row: r\n    " + layout.format(text) + "\n    do: pass\n"
    cell = reading(yaml.replace("\n", ending)).rows[0].when
    assert cell is not None
    assert isinstance(cell.tree, ast.expr)
    for node in ast.walk(cell.tree):
        if isinstance(node, ast.Name):
            assert shown(cell.place(node)) == node.id
        elif isinstance(node, ast.Attribute):
            assert shown(cell.place(node)) == "b[1].c"
        elif isinstance(node, ast.Constant):
            assert shown(cell.place(node)) == str(node.value)
        elif isinstance(node, ast.keyword):
            assert shown(cell.place(node)) == "ys=3"


def test_columns_count_characters_not_bytes(reading: Reading) -> None:
    cell = reading('system: s\nabout: "ä"\nbounds:\n  - größe + größe <= x\n').bounds[0]
    assert isinstance(cell.tree, ast.Compare)
    assert shown(cell.place(cell.tree.left)) == "größe + größe"
    assert shown(cell.place(cell.tree.comparators[0])) == "x"


def test_statements_are_placed_in_blocks_and_escapes(reading: Reading) -> None:
    rows = """system: s
about: a
rows:
  - row: block
    do: |

      if a:   # ein Übergang
          b = c
  - {row: escaped, do: "b = 1\\nc = 2"}
"""
    block, escaped = reading(rows).rows
    assert block.do is not None
    assert isinstance(block.do.tree, tuple)
    choice = block.do.tree[0]
    assert isinstance(choice, ast.If)
    assert str(block.do.place(choice.body[0])).endswith(":8:11")
    assert escaped.do is not None
    assert isinstance(escaped.do.tree, tuple)
    assert [shown(escaped.do.place(node)) for node in escaped.do.tree] == ["b = 1", "c = 2"]


def test_comprehensions_have_a_place(reading: Reading) -> None:
    cell = reading("system: s\nabout: a\nbounds:\n  - all(p for x in xs if q)\n").bounds[0]
    loops = [node for node in ast.walk(cell.tree) if isinstance(node, ast.comprehension)]  # type: ignore[arg-type]
    assert shown(cell.place(loops[0])) == "x in xs if q"


def test_all_cells_of_the_complete_system_have_their_places(
    reading: Reading, complete: str
) -> None:
    cells = cells_of(tuple(getattr(reading(complete), name) for name in ("rows", "types", "calls")))
    assert len(cells) > 15
    for cell in cells:
        for tree in cell.tree if isinstance(cell.tree, tuple) else (cell.tree,):
            for node in ast.walk(tree):
                if isinstance(node, ast.Name):
                    assert shown(cell.place(node)) == node.id


def test_a_byte_order_mark_and_a_document_start_are_harmless(folder: Path) -> None:
    path = folder / "system.yaml"
    path.write_bytes(b"\xef\xbb\xbf---\nsystem: s\nabout: a\n...\n")
    assert read(path).name.span.line == 2


def test_all_errors_are_reported_in_the_order_of_the_text(wrong: Wrong) -> None:
    found = wrong(
        "system: s\nconstnts: {}\nvariables:\n  a: {type: set off X, initial: 0}\n"
        "rows:\n  - row: r\n    when: a +\n    do: import os\n"
    )
    assert [(error.code, error.span.line) for error in found] == [
        ("T114", 1),
        ("T113", 2),
        ("T130", 4),
        ("T110", 4),
        ("T120", 7),
        ("T126", 8),
    ]
    assert found[1].help == "did you mean `constants`?"
    assert found[3].help == 'quote it: initial: "0"'


def test_syntax_errors_point_at_their_place_inside_blocks(wrong: Wrong) -> None:
    (error,) = wrong(
        "system: s\nabout: a\nrows:\n  - row: r\n    do: |\n      a = 1\n      b == = 2\n"
    )
    assert (error.code, error.span.line, error.span.column) == ("T120", 7, 12)


@pytest.mark.parametrize(
    ("cell", "sign", "advice"),
    [
        ("when: a && b", "&&", "write and"),
        ("when: (a == 1) || b", "||", "write or"),
        ("when: a <> b", "<>", "write != for what differs"),
        ("when: a => b", "=>", "write implies(p, q), or >= to compare"),
        ("do: a++", "++", "write += 1"),
    ],
)
def test_what_other_languages_write_is_answered_with_what_it_is_here(
    wrong: Wrong, cell: str, sign: str, advice: str
) -> None:
    rows = f"rows:\n  - row: r\n    {cell}\n  - row: other\n    do: pass\n"
    found = wrong(f"system: s\nabout: a\n{rows}")
    (error,) = (one for one in found if one.code == "T120")
    assert error.help == advice
    assert error.message == f"the language does not have `{sign}`"


def test_errors_of_tables_are_reported_with_those_of_the_system(folder: Path, wrong: Wrong) -> None:
    (folder / "lamp.yaml").write_text("table: lamp\nabout: a\nsource: s\nstates: {A: {about: x}}\n")
    found = wrong("system: s\nmachines: {l: {table: lamp}}\n")
    assert {error.code for error in found} == {"T114", "T152"}


def test_types_may_name_tables_that_no_machine_uses(reading: Reading) -> None:
    text = 'system: s\nabout: a\nvariables: {v: {type: set of lamp, initial: "empty"}}\n'
    assert set(reading(text).tables) == {"lamp"}


def test_warnings_of_tables_come_with_the_document(folder: Path, reading: Reading) -> None:
    (folder / "lamp.yaml").write_text(
        "table: lamp\nabout: a\nsource: s\n"
        "states: {A: {about: x, initial: true}, B: {about: y, final: true}}\n"
    )
    warnings = reading("system: s\nabout: a\nmachines: {l: {table: lamp}}\n").warnings
    assert [warning.code for warning in warnings] == ["L401", "L402"]
    assert all(warning.severity == "warning" for warning in warnings)


def test_a_missing_file_and_a_folder_are_errors_of_the_specification(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.yaml", tmp_path, tmp_path / "nul\0"):
        with pytest.raises(SpecificationError) as raised:
            read(path)
        assert [error.code for error in raised.value.diagnostics] == ["T100"]
