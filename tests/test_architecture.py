"""Goal: the structure that README and `checker/__init__.py` promise is the structure of the code.

One direction of imports, modules and functions of a readable size, no leftovers.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "checker"
MODULES = sorted(PACKAGE.rglob("*.py"))

RANKS = (
    ("frozen",),
    ("source", "errors", "visible", "digits"),
    ("diagnostics", "library", "cache", "memory", "process"),
    ("table",),
    ("machine",),
    ("semantics",),
    ("elaborate",),
    ("layout",),
    ("passes",),
    ("llvm",),
    ("symmetry",),
    ("kernel",),
    ("search",),
    ("graph",),
    ("runs",),
    ("spark",),
    ("engines",),
    ("verdict",),
    ("trace",),
    ("tables",),
    ("report", "export"),
    ("flow",),
    ("mutation",),
    ("testing", "conformance", "simulation", "sweep", "explore"),
    ("hunting",),
    ("cli", "__main__"),
)
RANK = {name: rank for rank, names in enumerate(RANKS) for name in names}

LINES_OF_A_MODULE = 680
LINES_OF_A_FUNCTION = 90
LINES_OF_A_SPECIFICATION = 500
COLUMNS_OF_A_SPECIFICATION = 120
MARKERS = ("TO" + "DO", "FIX" + "ME", "X" + "XX")


def room(path: Path) -> str:
    """Return the room of a module: its folder in the package, or its own name."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    """Return the rooms of our own package that a module imports, wherever in it."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "checker":
                names = [f"checker.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "checker" and len(parts) > 1:
                rooms.add(parts[1])
    return rooms


def test_the_package_was_found() -> None:
    assert len(MODULES) > 30


def test_imports_point_one_way() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} must not import checker.{other}"
        for path in MODULES
        if room(path) != "__init__"
        for other in sorted(imported_rooms(path))
        if RANK.get(other, -1) > RANK[room(path)]
    ]
    assert not wrong, "\n".join(wrong)


def test_modules_and_functions_have_a_readable_size() -> None:
    long = []
    for path in MODULES:
        text = path.read_text()
        if len(text.splitlines()) > LINES_OF_A_MODULE:
            long.append(f"{path.relative_to(ROOT)} has {len(text.splitlines())} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > LINES_OF_A_FUNCTION:
                    long.append(f"{path.relative_to(ROOT)}: {node.name} has {lines} lines")
    assert not long, "\n".join(long)


def test_modules_say_what_they_are_for() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in MODULES
        if (text := path.read_text())
        and (not ast.get_docstring(ast.parse(text)) or any(mark in text for mark in MARKERS))
    ]
    assert not silent, "a module begins with its purpose, and leaves no marker behind"


def test_nothing_evaluates_text_as_python() -> None:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec", "__import__"}, path


def test_frozen_classes_are_made_in_one_way() -> None:
    """Those with an order are as they are: `frozen` makes none."""
    slow = [
        f"{path.relative_to(ROOT)}:{node.lineno}: @dataclass(frozen=True), use checker.frozen"
        for path in MODULES
        for made in ast.walk(ast.parse(path.read_text()))
        for node in (made.decorator_list if isinstance(made, ast.ClassDef) else ())
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "dataclass"
        if "frozen" in (given := {word.arg for word in node.keywords}) and "order" not in given
    ]
    assert not slow, "\n".join(slow)


def test_files_of_specifications_have_a_readable_size() -> None:
    files = sorted((ROOT / "spec").rglob("*.yaml"))
    assert len(files) > 100
    long = []
    for path in files:
        lines = path.read_text().splitlines()
        if len(lines) > LINES_OF_A_SPECIFICATION:
            long.append(f"{path.relative_to(ROOT)} has {len(lines)} lines")
        long += [
            f"{path.relative_to(ROOT)}:{number} has {len(line)} columns"
            for number, line in enumerate(lines, start=1)
            if len(line) > COLUMNS_OF_A_SPECIFICATION
        ]
    assert not long, "\n".join(long)
