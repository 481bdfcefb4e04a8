"""Specifications that are drawn as several files."""

from __future__ import annotations

from dataclasses import dataclass

SYSTEM = "system.yaml"


@dataclass(frozen=True)
class Files:
    """Texts by the names of their files; the first is the one that is checked."""

    texts: dict[str, str]

    def __str__(self) -> str:
        return "\n".join(f"# {name}\n{text}" for name, text in self.texts.items())
