"""Draws specifications of several files: systems that use another one, or refine a coarser one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from ruamel.yaml import YAML

from .composition import with_words, words_of
from .drawing import Drawer, orbits, specifications
from .drawing_further import further
from .files import SYSTEM, Files
from .typed import typed
from .typed_further import typed_alike, typed_further, typed_wide
from .typed_lively import typed_lively
from .typed_several import typed_refining, typed_using

OWN = '  own: {type: 0..2, initial: "0"}'


@st.composite
def using(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Files:
    """A system that uses another one, and perhaps refines it."""
    drawer = Drawer(draw)
    refined = drawer.chance(4)
    text = drawer.text(traffic=not refined, grouped=True)
    part = YAML(typ="safe", pure=True).load(text)
    ids = {"K"} if drawer.chance() else set[str]()
    use = {} if refined else _use(drawer, part)
    words = words_of(part, "it", use, ids)

    def said(lines: list[str]) -> list[str]:
        """Return lines that were drawn with the names of the part, with those they have here."""
        return [with_words(line, words, part.get("messages") or {}) for line in lines]

    drawer.rows = []
    drawer.places["int"].append("own")
    drawer.scope.add("int", "own")
    for on, scope in drawer.triggers[: drawer.number(0, 1)]:
        drawer.row(on, scope)
    for _ in range(drawer.number(1, 2)):
        drawer.row("", drawer.scope.copy())
    rows = [line for row in drawer.rows for line in row]
    claims = [line.replace("  p", "  mine", 1) for line in drawer.properties().split("\n")[1:]]
    refines = _as_the_part(part, ids) if refined else []
    lines = [
        "system: whole", "about: Drawn by a test.",
        *(["constants:", *(line for line in text.split("\n") if line.startswith("  K: "))] if ids else []),
        *_lines_of_use(use),
        "variables:", OWN,
        "definitions:", "  tiny(k): k < 1",
        *(["messages:", '  Alpha: {f: "0..2"}'] if use.get("with", {}).get("A") else []),
        "procedures:", "  total(by): |", "    own = min(own + by, 2)",
        *said(["rows:", *rows]),
        *(["terminal:", "  - terminal_it()"] if part.get("terminal") and drawer.chance() else []),
        *(["deadlock: false"] if drawer.chance() else []),
        *([f"fairness: {drawer.one(['weak', 'strong'])}"] if drawer.chance(3) else []),
        "properties:", *said(claims), *refines,
    ]  # fmt: skip
    return Files({SYSTEM: "\n".join(lines) + "\n", "part.yaml": text})


def _use(drawer: Drawer, part: dict[str, Any]) -> dict[str, Any]:
    """Return what `uses` says but the system: `with`, `without`, `set`, `properties`."""
    use: dict[str, Any] = {}
    instead = {"n": "own", "bump": "total", "small": "tiny", "A": "Alpha"}
    replaced = drawer.one([None, None, "bump", "n", "small", "A"])
    if replaced and (replaced != "A" or "messages" in part):
        use["with"] = {replaced: instead[replaced]}
    if drawer.chance(3):
        use["without"] = [drawer.one([row["row"] for row in part["rows"]])]
    if drawer.chance(3):
        use["set"] = drawer.one([{"level": 1}, {"fixed": False}, {"level": 0, "broken": True}])
    claimed = drawer.one(["all", [], [next(iter(part["properties"]))]])
    if claimed:
        use["properties"] = claimed
    return use


def _lines_of_use(use: dict[str, Any]) -> list[str]:
    lines = ["uses:", "  it:", "    system: part.yaml"]
    return lines + [f"    {word}: {json.dumps(said)}" for word, said in use.items()]


def _as_the_part(part: dict[str, Any], ids: set[str]) -> list[str]:
    """Return the claim that whoever uses a part refines it: each variable of it is the one there."""
    cells = []
    for name, said in part["variables"].items():
        key = "[k]" if "per" in said else ""
        same = f"early if it_{name} == it_Phase.early else late"
        cells.append(f"{name}{key}: {same if said['type'] == 'Phase' else f'it_{name}{key}'}")
    for name, component in part.get("components", {}).items():
        for member in [*component["variables"], *component.get("machines", {})]:
            cells.append(f"{name}[k].{member}: it_{name}[k].{member}")
    cells += [f"{name}: it_{name}" for name in part.get("machines", {})]
    kinds = ", ".join(f"{name}: it_{name}" for name in ("K", "H") if name not in ids)
    return [
        "  as_the_part:", "    refines:", "      system: part.yaml", f"      ids: {{{kinds}}}", "      mapping:",
        *(f"        {json.dumps(cell.split(': ', 1)[0])}: {cell.split(': ', 1)[1]}" for cell in cells),
        "    why: drawn",
    ]  # fmt: skip


@st.composite
def refining(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Files:
    """A system that refines one with other rows, of which some are its own."""
    drawer = Drawer(draw)
    text = drawer.text()
    coarse = text.replace("system: drawn", "system: coarse", 1)
    for number, row in enumerate(drawer.rows):
        whole = "\n".join(row) + "\n"
        if number and drawer.chance(6):
            coarse = coarse.replace(whole, "", 1)
        elif drawer.chance(3):
            plain = [line for line in row if not line.startswith("    when:")]
            coarse = coarse.replace(whole, "\n".join(plain) + "\n", 1)
    drawer.rows = []
    drawer.places["int"].append("own")
    drawer.scope.add("int", "own")
    if drawer.chance(3):
        drawer.row("", drawer.scope.copy())
    fine = text.replace("variables:\n", f"variables:\n{OWN}\n", 1)
    for row in drawer.rows:
        fine = fine.replace("\nrows:\n", "\nrows:\n" + "\n".join(row) + "\n", 1)
    cells = _mapping(drawer)
    claim = ["  as_the_coarse:", "    refines:", "      system: coarse.yaml"]
    claim += ["      mapping:", *cells] if cells else []
    fine = fine.replace(
        "\nproperties:\n", "\n".join(["\nproperties:", *claim, "    why: drawn\n"]), 1
    )
    return Files({SYSTEM: fine, "coarse.yaml": coarse})


def _mapping(drawer: Drawer) -> list[str]:
    """Draw what some variables of the coarse system are: mostly what they are here."""
    cells = []
    for place, kind in (("n", "int"), *((f"v_{k}", k) for k in ("bool", "maybe", "ids", "ints"))):
        if place in drawer.scope.of(kind) and drawer.chance(4):
            drawn = (
                drawer.stored(drawer.scope)
                if kind == "int"
                else drawer.expression(kind, drawer.scope, 1)
            )
            cells.append(f"        {place}: {json.dumps(drawer.rarely(drawn, place))}")
    return cells


KINDS = {
    "one": specifications,
    "uses": using,
    "refines": refining,
    "orbits": orbits,
    "further": further,
    "typed": typed,
    "typed_further": typed_further,
    "typed_wide": typed_wide,
    "typed_alike": typed_alike,
    "typed_lively": typed_lively,
    "typed_using": typed_using,
    "typed_refining": typed_refining,
}
"""What is drawn, by what it shows: a system of one file, a used one, a refined one, infinite runs
of symmetric ids, what these leave out, types of every kind, what is done with them, types of many
values, infinite runs over types of every kind, and systems over these that are used and refined."""
