"""Draws systems over types of every kind that use another one, or refine a coarser one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from ruamel.yaml import YAML

from .choices import Choices
from .composition import with_words, words_of
from .files import SYSTEM, Files
from .typed_further import TypedFurther
from .typed_lively import Lively

PART = "part.yaml"


@st.composite
def typed_using(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Files:
    """A system that uses another one, whose rows and properties speak of that one's places."""
    drawer = Lively(draw) if Choices(draw).chance() else TypedFurther(draw)
    text = drawer.text()
    part = YAML(typ="safe", pure=True).load(text)
    ids = {"K"} if drawer.chance() else set[str]()
    use = _use(drawer, part)
    words = words_of(part, "it", use, ids)
    rows = drawer.row(8) if drawer.chance() else []
    claims = [line for number in (8, 9) for line in drawer.claim(number)]
    replaced = [
        line.replace(f"  {name}", f"  {instead}", 1)
        for name, instead in use.get("with", {}).items()
        for line in text.split("\n")
        if re.match(rf"  {name}\b", line)
    ]
    sections = {
        "constants:": [line for line in text.split("\n") if ids and line.startswith("  K: ")],
        "variables:": [
            # What a binding or a local of the part may be called, too.
            f'  {drawer.one(("own", "b", "c", "y0", "p0", "x1", "x2"))}: {{type: 0..1, initial: "1", observed: true}}',
            *(line for line in replaced if "initial" in line),
        ],
        "definitions:": [line for line in replaced if "initial" not in line],
        "rows:": rows,
        "properties:": claims,
    }
    lines = [line for head, inside in sections.items() if inside for line in (head, *inside)]
    own = with_words("\n".join(lines), words, part.get("messages") or {})
    head = ["system: whole", "about: Drawn by a test.", "deadlock: false", "uses:", "  it:"]
    said = [f"    {word}: {json.dumps(value)}" for word, value in use.items()]
    texts = {SYSTEM: "\n".join([*head, f"    system: {PART}", *said, own, ""]), PART: text}
    return Files(texts)


def _use(drawer: TypedFurther, part: dict[str, Any]) -> dict[str, Any]:
    use: dict[str, Any] = {}
    variables = [name for name in part["variables"] if name != "clock"]
    definitions = [str(head).split("(")[0] for head in part.get("definitions", {})]
    plain = [name for name in definitions if isinstance(_body(part, name), str)]
    replaced = drawer.one([None, *variables, *plain])
    if replaced:
        use["with"] = {replaced: "instead"}
    if drawer.chance(4):
        use["without"] = [drawer.one([row["row"] for row in part["rows"]])]
    if drawer.chance():
        use["properties"] = "all"
    return use


def _body(part: dict[str, Any], name: str) -> Any:
    return next(said for head, said in part["definitions"].items() if head.startswith(f"{name}("))


@st.composite
def typed_refining(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Files:
    """A system that refines another one: that has other rows, or these without their guards."""
    drawer = TypedFurther(draw)
    fine = drawer.text()
    coarse = fine.replace("system: typed", "system: coarse", 1)
    for row in re.findall(r"^  - row: (?:.*\n(?!  - row|properties))*.*\n", coarse, re.MULTILINE):
        if coarse.count("  - row:") > 1 and drawer.chance(5):
            coarse = coarse.replace(row, "", 1)
        elif drawer.chance(3):
            wide = re.sub(r'(    when: "clock < \d) and .*', r'\1"', row)
            coarse = coarse.replace(row, wide, 1)
    claim = "  as_the_coarse:\n    refines:\n      system: coarse.yaml\n    why: drawn\n"
    mapped = [one for one in drawer.variables if "." not in one and drawer.chance(4)]
    cells = []
    for name in mapped:
        kind, per = drawer.variables[name]
        place = f"{name}[k]" if per else name
        bound = [("k", ("id",))] if per else []
        cell = drawer.expression(kind, [*drawer.places(bound), *bound], 2)
        if cell is not None and drawer.chance():
            cells.append(f"        {json.dumps(place)}: {json.dumps(cell)}\n")
    if cells:
        claim = claim.replace("    why", f"      mapping:\n{''.join(cells)}    why")
    fine = fine.replace("\nproperties:\n", f"\nproperties:\n{claim}", 1)
    return Files({SYSTEM: fine, "coarse.yaml": coarse})
