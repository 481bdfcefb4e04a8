"""Which instances are as they were in a git revision: the same machine, the same expectation."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from checker.cli.revisions import commit_of, extract, has_commits, names_in, top_of
from checker.elaborate import elaborate, instances
from checker.errors import CheckerError, SpecificationError, UsageError
from checker.kernel.build import fingerprint
from checker.library import place_of
from checker.table import Document, read

NAME_THEM = "name your specifications, or list them as `specs` in checker.toml"


def untouched(
    documents: Iterable[Document], revision: str, *, named: bool = True
) -> set[tuple[str, str]]:
    """Return path and instance of those that do and declare the same as in `revision`.

    Prose, comments and other instances may have changed; they change nothing. One that is no
    specification does nothing, here or there, and is never the same. UsageError outside
    a git repository, for a revision that it does not have, and where nobody `named` the documents
    and the revision has none of them: what an installation ships is no part of a user's repository.
    """
    documents = list(documents)
    found: set[tuple[str, str]] = set()
    roots = {document.path: _root(Path(document.path)) for document in documents}
    for root in sorted(set(roots.values())):
        with tempfile.TemporaryDirectory(prefix="checker-since-") as folder:
            _extract(root, revision, Path(folder))
            before = {
                document: Path(folder) / place_of(Path(document.path)).relative_to(root)
                for document in documents
                if roots[document.path] == root
            }
            if not named and not any(file.exists() for file in before.values()):
                raise UsageError(f"--since: {revision} has no shipped specification; {NAME_THEM}")
            for document, file in before.items():
                found |= _same(document, file)
    return found


def _same(document: Document, before: Path) -> set[tuple[str, str]]:
    """Return the instances of a specification that are the same in the file `before`."""
    try:
        old = read(before)
    except (CheckerError, OSError):
        return set()
    known = {entry.name.text for entry in instances(old)}
    found = set()
    for entry in instances(document):
        name = entry.name.text
        mine = _identity(document, name)
        if mine is not None and name in known and mine == _identity(old, name):
            found.add((document.path, name))
    return found


def _identity(document: Document, instance: str) -> tuple[object, ...] | None:
    """Return what an instance does and declares; None for one that is no specification."""
    try:
        machine = elaborate(document, instance)
    except SpecificationError:
        return None
    said = machine.expectation
    declared = None
    if said is not None:
        figures = (said.distinct, said.generated, said.depth, said.length, said.rows)
        declared = (said.verdict, said.property, said.also, figures)
    return fingerprint(machine), declared, machine.tier


def _root(path: Path) -> Path:
    """Return the top of the git repository that a file is in."""
    missing = f"--since: {path} is in no git repository; {NAME_THEM}"
    return top_of(place_of(path).parent, missing)


def _extract(root: Path, revision: str, folder: Path) -> None:
    """Write the YAML files of a revision below `folder`: none before the first commit."""
    if has_commits(root, f"--since: the repository {root} cannot be read"):
        missing = f"--since: the repository {root} has no revision {revision!r}"
        commit = commit_of(root, revision, missing)
        names = [name for name in names_in(root, commit) if name.endswith((".yaml", ".yml"))]
        extract(root, commit, folder, names)
