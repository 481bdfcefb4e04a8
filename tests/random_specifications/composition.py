"""What `uses` means, by the manual's words; for these tests alone.

A used system is its text with other words, joined to the text of whoever uses it: nothing here
looks into an expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

NAMED = (
    "constants", "types", "messages", "components", "machines", "variables", "channels", "calls",
    "operations", "timers", "faults", "definitions", "procedures", "fair_groups", "properties",
)  # fmt: skip
"""Sections whose keys are names that get a prefix."""


def names_of(data: Mapping[str, Any]) -> dict[str, bool]:
    """Return what a system declares, and whether it is a message, which may stand behind a dot."""
    found = {
        str(key).split("(")[0]: section == "messages"
        for section in NAMED
        for key in data.get(section) or {}
    }
    return found | {str(row["row"]): False for row in data.get("rows", [])}


def with_words(text: str, words: Mapping[str, str], messages: Iterable[str]) -> str:
    """Return a text with other words; a word behind a dot is a member unless it is a message."""
    if not words:
        return text
    kinds = set(messages)
    either = "|".join(sorted(map(re.escape, words), key=len, reverse=True))

    def other(found: re.Match[str]) -> str:
        before = text[: found.start()]
        member = before.endswith(".") and not before.endswith("..")
        kept = member and not before.endswith("budget.") and found[0] not in kinds
        return found[0] if kept else words[found[0]]

    return re.sub(rf"\b({either})\b", other, text)


def words_of(
    data: Mapping[str, Any], prefix: str, use: Mapping[str, Any], ids: set[str]
) -> dict[str, str]:
    """Return what each name of a used system is called by whoever uses it, who has these ids."""
    replaced = use.get("with", {})
    return {
        name: replaced.get(name, f"{prefix}_{name}") for name in names_of(data) if name not in ids
    }


def texts_of(text: str, folder: Path) -> dict[str, str]:
    """Return what the files of a system say, by their names, which the first of them lists."""
    names = YAML(typ="safe", pure=True).load(text).get("files", [])
    return {"": text, **{name: (folder / name).read_text() for name in names}}


def whole(texts: Iterable[str]) -> dict[str, Any]:
    """Return what a system says in all of its files, without headings."""
    found: dict[str, Any] = {}
    for text in texts:
        for section, said in YAML(typ="safe", pure=True).load(text).items():
            known = found.get(section)
            if isinstance(said, dict):
                kept = {name: one for name, one in said.items() if not _heads(name)}
                found[section] = {**(known or {}), **kept}
            elif isinstance(said, list):
                kept = [one for one in said if not (isinstance(one, dict) and _heads(*one))]
                found[section] = [*(known or []), *kept]
            elif known is None:
                found[section] = said
    return found


def _heads(first: Any = "", *_others: Any) -> bool:
    return re.match(r"section\b", str(first)) is not None


def found_at(folder: Path, name: str) -> Path:
    """Return the file of the system that another one calls so, whose folder is given."""
    near = (folder / name, folder / f"{name}.yaml", folder.parent / name)
    places = [*near, *(SHIPPED / kind / name for kind in ("systems", "examples"))]
    files = [place / "system.yaml" if place.is_dir() else place for place in places]
    return next(file for file in files if file.is_file())


SHIPPED = Path(__file__).parents[2] / "spec"


def joined(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return what a system says together with the systems that it uses."""
    found = dict(data)
    for prefix, use in data.get("uses", {}).items():
        path = found_at(folder, use["system"])
        found = _with_part(found, texts_of(path.read_text(), path.parent), prefix, use)
    return found


def _with_part(
    host: dict[str, Any], texts: dict[str, str], prefix: str, use: dict[str, Any]
) -> dict[str, Any]:
    own, left_out = whole(texts.values()), use.get("without", [])
    kept = [text for name, text in texts.items() if name not in left_out]
    ids = {name for name, said in host.get("constants", {}).items() if "ids" in _dict(said)}
    words = words_of(own, prefix, use, ids)
    # What else is called like a variable of the host is a binding or a local, and is no such.
    words |= {name: f"{prefix}_{name}" for name in host.get("variables", {}) if name not in words}
    part = whole(with_words(text, words, own.get("messages") or {}) for text in kept)
    plains = _entries(whole(kept), "components")
    for said, plain in zip(_entries(part, "components"), plains, strict=True):
        for word in ("variables", "machines"):  # members keep their names
            if word in said:
                said[word] = dict(zip(plain[word], said[word].values(), strict=True))
    gone = ids | set(use.get("with", {}).values())
    gone |= {words[name] for name in left_out if name in words}
    claimed = use.get("properties", [])
    settings = part.get("instances", {}).get("default", {}).get("set", {})
    given = {words.get(name, name): value for name, value in use.get("set", {}).items()}
    _set(part["constants"], {**settings, **given})
    found = dict(host)
    for section in NAMED:
        entries = {
            key: said
            for key, said in (part.get(section) or {}).items()
            if str(key).split("(")[0] not in gone
            and (section != "properties" or claimed == "all" or key in [words[n] for n in claimed])
        }
        if entries or section in found:
            found[section] = {**(found.get(section) or {}), **entries}
    for said in part.get("fair_groups", {}).values():
        if said["rows"] == "all":
            said["rows"] = [
                *(row["row"] for row in part["rows"] if row["row"] not in gone),
                *(f"ignore_{entry['message']}" for entry in part.get("unhandled", [])),
            ]
    usual = part.get("fairness", "none")
    timers = set(part.get("timers", {}))
    for said in part.get("timers", {}).values():
        said.setdefault("fair", usual)
    for row in part.get("rows", []):
        if "fault" not in row and not any(str(row.get("on", "")).startswith(t) for t in timers):
            row.setdefault("fair", usual)
    found["rows"] = [*found.get("rows", []), *(r for r in part["rows"] if r["row"] not in gone)]
    for section in ("bounds", "unhandled"):
        entries = [*found.get(section, []), *part.get(section, [])]
        found.update({section: entries} if entries else {})
    for entry in part.get("unhandled", []):
        entry["fair"] = usual
    ended = " or ".join(f"({cell})" for cell in part.get("terminal", []))
    if ended:
        found["definitions"] = {**found.get("definitions", {}), f"terminal_{prefix}()": ended}
    if "initial" in part:
        found["initial"] = part["initial"]
    return found


def _entries(data: Mapping[str, Any], section: str) -> list[dict[str, Any]]:
    return [*data.get(section, {}).values()]


def _dict(said: Any) -> dict[str, Any]:
    return said if isinstance(said, dict) else {}


def _set(constants: dict[str, Any], settings: Mapping[str, Any]) -> None:
    for name, value in settings.items():
        said = constants[name]
        word = "ids" if "ids" in _dict(said) else "value"
        constants[name] = {**_dict(said), word: value}
