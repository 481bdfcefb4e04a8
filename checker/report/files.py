"""`--report DIR`: page, Markdown, JSON, ITF and Graphviz of one run, side by side."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain, count
from pathlib import Path, PurePath

from checker.links import real
from checker.report import markdown
from checker.report.result import Result, Written
from checker.report.run_graph import run_graph
from checker.report.summary import summary, timeless
from checker.report.telling import grouped, in_paths, other_file
from checker.trace.itf import dump
from checker.visible import json_text

PAGE = "README.md"
HTML = "index.html"
OBJECT = "verdict.json"


def trace_files(result: Result, *, committed: bool = False) -> dict[str, str]:
    """Return the name of the ITF file of each property whose trace has a state to record.

    Committed are the runs that show something wrong, each once: a witness is found again in a
    moment.
    """
    groups = grouped(result.failures) if committed else [[trace] for trace in result.traces]
    found: dict[str, str] = {}
    for group in groups:
        file = _untaken(in_paths(group[0].property_name), {*found.values()})
        for trace in group:
            if any(step.state is not None for step in trace.steps):
                found[trace.property_name] = file
    return found


def _untaken(name: str, taken: Container[str]) -> str:
    """Return the name of an ITF file: other properties may be called alike in paths."""
    endings = chain([""], (f".{number}" for number in count(2)))
    called = (f"{name}{ending}.itf.json" for ending in endings)
    return next(file for file in called if file not in taken)


def graph_file(name: str) -> str:
    """Return the name of a run's Graphviz file, beside its ITF file of this name."""
    return name.removesuffix(".itf.json") + ".dot"


def rendered(result: Result, *, committed: bool) -> dict[str, str]:
    """Return the files of a report, name to content; `committed` leaves out all that varies.

    Committed reports are read where Markdown is rendered, and have neither a page of HTML nor what
    Graphviz draws. They do not say what is vacuous: not every run asks for that.
    """
    result = replace(result, looked=()) if committed else result
    files = trace_files(result, committed=committed)
    whole = summary(result, files)
    shown = timeless(whole) if committed else whole
    others = [other_file(trace, number) for number, trace in enumerate(result.others, 1)]
    if others and not committed:
        shown = {**shown, "others": others}
    contents = {
        PAGE: markdown.report(result, files),
        OBJECT: json_text(shown, indent=2) + "\n",
    }
    if not committed:
        # The template library is imported by those who write a page only.
        from checker.report.page import page  # noqa: PLC0415

        contents[HTML] = page(result, files)
        told = [trace for trace in result.traces if trace.property_name in files]
        contents |= {graph_file(files[it.property_name]): run_graph(it) for it in told}
    for name, trace in zip(others, result.others, strict=True):
        contents[name] = dump(trace, result.origin)
    for trace in result.traces:
        file = files.get(trace.property_name)
        if file is not None and file not in contents:
            contents[file] = dump(trace, result.origin)
    return {name: unplaced(text) if committed else text for name, text in contents.items()}


def unplaced(text: str) -> str:
    """Return a text in which places are files alone: a comment more changes no committed page."""
    return re.sub(r"(\.ya?ml)(:\d+)+", r"\1", text)


def written(result: Result, directory: Path) -> Result:
    """Return a result with its report in `directory`.

    What goes wrong there must not cost the result: it is part of it.
    """
    try:
        contents = rendered(result, committed=False)
        before = _traces_of_before(directory)
        put_below(directory, contents)
        for name in sorted(before - contents.keys()):
            if link_to(directory, name) is None:
                (directory / name).unlink(missing_ok=True)
    except OSError as error:
        return replace(result, report=Written(error=error))
    traces = {name: str(directory / file) for name, file in trace_files(result).items()}
    return replace(result, report=Written(traces))


def _traces_of_before(directory: Path) -> set[str]:
    """Return the files of runs that the report which is in a directory says it has.

    They are of another search, and beside this one's page they would be taken for its own. What
    that report does not name is somebody else's.
    """
    try:
        told = json.loads((directory / OBJECT).read_bytes())
        named = [item.get("trace") for item in told["properties"]]
        named = [*filter(None, named), *told.get("others", ())]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return set()
    traces = {
        name
        for name in named
        if isinstance(name, str) and name.endswith(".itf.json") and PurePath(name).name == name
    }
    return {file for name in traces for file in (name, graph_file(name))}


def put_below(directory: Path, contents: Mapping[str, str]) -> None:
    """Write files into a directory that a user named: path below it to content.

    The directory itself may be a link. Raises OSError, before anything is written, where something
    below it is one: whoever filled the directory would choose which file is overwritten.
    """
    for name in contents:
        refuse_link(directory, name)
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        put(directory / name, encoded(content))


def refuse_link(directory: Path, name: str) -> None:
    """Raise OSError where the way from a directory to a name below it is a link."""
    link = link_to(directory, name)
    if link is not None:
        what = "a link, and nothing is written through links here; remove it"
        raise OSError(errno.ELOOP, what, str(link))


def link_to(directory: Path, name: str) -> Path | None:
    """Return the first link on the way from a directory to a name below it; None without one."""
    path = directory
    for part in PurePath(name).parts:
        path /= part
        if path.is_symlink():
            return path
    return None


def put(path: Path, content: bytes) -> None:
    """Write a file, and the folders that it is in; OSError, which names the file.

    One that is cut short, by a full disk or an interrupt, does not stay: it would say what nobody
    said.
    """
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = path.open("wb")
        try:
            with stream:
                stream.write(content)
        except BaseException:
            if path.is_file() and not path.is_symlink():
                with suppress(OSError):
                    path.unlink()
            raise


def put_at_once(path: Path, content: bytes) -> None:
    """Write a file in one step: it is there whole or as it was. OSError, which names it.

    Where `path` is a link, the file that it leads to is written; who may do what with it stays.
    """
    file = real(path)
    beside = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    with naming(path):
        beside.unlink(missing_ok=True)
        try:
            with beside.open("xb") as stream:
                stream.write(content)
            if file.exists():
                shutil.copymode(file, beside)
            beside.replace(file)
        finally:
            beside.unlink(missing_ok=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let an OSError of what is done in here say which file it is about: of a full disk none is."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def encoded(text: str) -> bytes:
    """Return the bytes of a file; what is no UTF-8, such as some names of files, is escaped."""
    return text.encode("utf-8", errors="backslashreplace")
