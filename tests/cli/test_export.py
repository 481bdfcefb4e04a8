"""Goal: `export` writes whole files or none, and ends soon where it is told to."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_processes import COUNTERS, run_until
from toggling import Command

from checker.export import graphs
from checker.export.module import Module
from checker.graph.labelled import LabelledGraph


def without_an_end(_graph: LabelledGraph) -> Iterator[str]:
    """Yield lines for ever, and be asked to end after the first."""
    yield "first"
    os.kill(os.getpid(), signal.SIGTERM)
    while True:
        yield "another"


def test_ctrl_c_while_a_graph_is_written_leaves_what_was_there(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(graphs.FORMATS, "aut", ("aut", without_an_end))
    Path("out").mkdir()
    Path("out/toggle.aut").write_text("of before")
    ended = command("export", toggle, "--to", "aut", "--out", "out")
    assert (ended.code, ended.out, ended.err) == (130, "", "interrupted: nothing was written\n")
    assert [file.name for file in Path("out").iterdir()] == ["toggle.aut"]
    assert Path("out/toggle.aut").read_text() == "of before"


def test_a_file_is_whole_before_it_has_its_name(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def lines(_graph: LabelledGraph) -> Iterator[str]:
        yield "first"
        seen.extend(file.name for file in Path("out").iterdir())
        yield "last"

    monkeypatch.setitem(graphs.FORMATS, "aut", ("aut", lines))
    assert command("export", toggle, "--to", "aut", "--out", "out").code == 0
    assert seen == [f"toggle.aut.{os.getpid()}.tmp"]
    assert [file.name for file in Path("out").iterdir()] == ["toggle.aut"]
    assert Path("out/toggle.aut").read_text() == "first\nlast\n"


def test_ctrl_c_while_a_graph_is_built(tmp_path: Path) -> None:
    (tmp_path / "counters.yaml").write_text(COUNTERS)
    words = ["export", "counters.yaml", "--to", "dot", "--out", "out", "--progress", "json"]
    code, out, err = run_until(tmp_path, words, '"graph"', signal.SIGTERM)
    assert (code, out) == (130, "")
    assert err.endswith("interrupted: nothing was written\n")
    assert not (tmp_path / "out").exists()


def test_ctrl_c_while_a_module_is_made(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*_: object) -> Module:
        raise KeyboardInterrupt

    monkeypatch.setattr("checker.export.module.module_of", pressed)
    ended = command("export", toggle, "--to", "tla", "--out", "out")
    assert (ended.code, ended.out, ended.err) == (130, "", "interrupted: nothing was written\n")
    assert not Path("out").exists()
