"""Goal: `run_all.py --resume` makes again what is old, missing or was interrupted, nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import run_all
from run_all import RUNS, is_done, make_page

SYSTEM = "share_state"
RELEASE = "4.3.1"
RUN = next(run for run in RUNS[SYSTEM] if RELEASE in run.releases)
LIMITS = ["--limit-steps", "100"]


def ended(monkeypatch: pytest.MonkeyPatch, stopped_by: str | None) -> None:
    """Let runs end so: this is about what is kept of them."""

    def drive(
        _name: str, _release: str, _run: run_all.Run, more: list[str]
    ) -> tuple[int, dict[str, Any]]:
        Path(more[-1]).write_text("# A page\n", encoding="utf-8")
        found = {
            "adapter": {"name": "Shard", "version": RELEASE},
            "verdict": "agrees",
            "cover": "rows",
            "pairs": 2,
            "pairs_taken": 2,
            "steps": 9,
            "rows": [],
            "differences": [],
            "stopped_by": stopped_by,
        }
        return 0, found

    monkeypatch.setattr(run_all, "drive", drive)


@pytest.mark.parametrize(
    ("stopped_by", "done", "done_without_limits"),
    [
        (None, True, True),
        ("the limit of 100 steps", True, False),
        ("the adapter failed", False, False),
        ("an interrupt", False, False),
    ],
)
def test_a_page_is_done_as_far_as_its_run_went(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    stopped_by: str | None,
    done: bool,
    done_without_limits: bool,
) -> None:
    page = tmp_path / "page.md"
    assert not is_done(page, SYSTEM, RELEASE, RUN, LIMITS)
    ended(monkeypatch, stopped_by)
    make_page(page, SYSTEM, RELEASE, RUN, LIMITS)
    assert page.read_text().startswith("# A page\n")
    assert is_done(page, SYSTEM, RELEASE, RUN, LIMITS) == done
    assert is_done(page, SYSTEM, RELEASE, RUN, []) == done_without_limits


def test_a_page_of_another_model_mapping_or_adapter_is_old(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    ended(monkeypatch, None)
    make_page(page, SYSTEM, RELEASE, RUN, [])
    other = run_all.Run(RUN.instance, RUN.releases, (*RUN.options, "--set", "state_epochs=2"))
    assert not is_done(page, SYSTEM, RELEASE, other, [])
    assert not is_done(page, SYSTEM, "4.4.0", RUN, [])
    source = tmp_path / "Subject.java"
    source.write_text("class Subject {}", encoding="utf-8")
    with monkeypatch.context() as patched:
        patched.setattr(run_all, "sources", lambda _: [source])
        assert not is_done(page, SYSTEM, RELEASE, RUN, [])
    assert is_done(page, SYSTEM, RELEASE, RUN, [])
