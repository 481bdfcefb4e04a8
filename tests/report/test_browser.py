"""Goal: what a reader presses in a page does what it says, in a real browser."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from checker import flow, library
from checker.report import files
from checker.report.lookup import lookup
from checker.table import read
from checker.tables import machines_with_every_row, matrices_of

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed")

POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')


def after(page: str, script: str, folder: Path, size: str = "1280,900") -> str:
    """The elements of a page after a script of the test was run in it, as it would be pressed."""
    assert POLICY.search(page)
    open_to_tests = POLICY.sub("", page)
    file = folder / "page.html"
    file.write_text(open_to_tests.replace("</body>", f"<script>{script}</script></body>"))
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=4000", "--dump-dom",
        f"--window-size={size}",
        file.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "</html>" in done.stdout, done.stderr[-2000:]
    return done.stdout


def shown_rows(dom: str) -> list[str]:
    articles = re.findall(r"<article ([^>]*)>", dom)
    return [
        match[1]
        for text in articles
        if "filtered" not in text and (match := re.search(r'data-row="([^"]*)"', text))
    ]


def lookup_page(name: str) -> str:
    document = read(library.find(name))
    machines = machines_with_every_row(document)
    return lookup(document, machines, matrices_of(document, machines))


def test_a_cell_shows_the_rows_behind_it_and_words_narrow_them(tmp_path: Path) -> None:
    page = lookup_page("two_phase")
    cell = re.search(r'data-on="([^"]*)" data-in="([^"]*)" title="([^;"]*)', page)
    assert cell is not None
    press = "document.querySelector('td a[data-on]').click();"
    dom = after(page, press, tmp_path)
    assert cell[3].split("; ")[0] in shown_rows(dom)
    assert 0 < len(shown_rows(dom)) < page.count("data-row=")
    assert len(re.findall(r'class="now"', dom)) >= 1

    every = shown_rows(after(page, "", tmp_path))
    word = every[0]
    typed = (
        f"var box = document.querySelector('.words'); box.value = '{word}';"
        "box.dispatchEvent(new Event('input', {bubbles: true}));"
    )
    narrowed = shown_rows(after(page, typed, tmp_path))
    assert word in narrowed
    assert len(narrowed) < len(every)


def test_a_run_is_walked_by_button_and_by_key(tmp_path: Path) -> None:
    request = flow.Request("two_phase", "commits_early", engine="reference")
    result = flow.check(request, flow.Silent())
    page = files.rendered(result, committed=False)[files.HTML]
    once = after(page, "document.querySelector('.forth').click();", tmp_path)
    assert current(once) == ["1"]
    assert open_folds(once) == ["1"]
    assert open_folds(page) == []
    every = after(page, "document.querySelector('.unfold').click();", tmp_path)
    assert len(open_folds(every)) > 1
    keys = "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'j', bubbles: true}));"
    assert current(after(page, keys * 2, tmp_path)) == ["2"]
    back = "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'k', bubbles: true}));"
    assert current(after(page, keys * 2 + back, tmp_path)) == ["1"]


PRINTING = "window.dispatchEvent(new Event('{}print'));"


def test_what_is_printed_is_unfolded_and_folded_again_afterwards(tmp_path: Path) -> None:
    page = page_of("two_phase", "commits_early")
    folds = set(re.findall(r"<details( class=\"[^\"]*\")?", page))
    assert len(folds) > 2
    looked_at = "document.querySelector('.forth').click();"
    before = after(page, looked_at, tmp_path)
    printed = after(page, looked_at + PRINTING.format("before"), tmp_path)
    closed = [text for text in details(printed) if " open" not in text]
    assert set(closed) == {'<details class="state">'}  # a walk on paper goes nowhere
    assert details(before) != details(printed)
    back = looked_at + PRINTING.format("before") + PRINTING.format("after")
    assert opened(details(after(page, back, tmp_path))) == opened(details(before))


def test_a_step_of_a_folded_run_is_shown_where_it_is_linked_to(tmp_path: Path) -> None:
    page = page_of("two_phase", "commits_early")
    assert '<details class="also">' in page
    dom = after(page, "location.hash = '#story-2-step-1';", tmp_path)
    assert '<details class="also" open="">' in dom
    assert current(dom) == ["1"]


def page_of(name: str, instance: str) -> str:
    result = flow.check(flow.Request(name, instance, workers=1), flow.Silent())
    return files.rendered(result, committed=False)[files.HTML]


def details(dom: str) -> list[str]:
    """The folds of a page, as they are written."""
    return re.findall(r"<details[^>]*>", dom)


def opened(folds: list[str]) -> list[bool]:
    return [" open" in text for text in folds]


END = """
    var ends = Array.from(document.querySelectorAll('.told'))
      .filter(function (item) { return !item.closest('details:not([open])'); })
      .map(function (item) { return Math.ceil(item.getBoundingClientRect().bottom + scrollY); });
    document.body.setAttribute('data-seen', innerWidth + ' ' + document.documentElement.scrollWidth
      + ' ' + Math.max.apply(null, ends));
"""


@pytest.mark.parametrize(
    ("name", "instance"),
    [
        ("share_partition", "candidate_expired_below_start"),  # a shown fold more, and it is over
        ("share_partition", "candidate_o2_metric"),
        ("share_partition", "kafka_20672_for_ever"),  # two runs: one is told, one is behind a fold
        ("coordinator_runtime", "without_answers_of_the_unload"),
    ],
)
def test_a_short_run_is_told_on_two_screens(name: str, instance: str, tmp_path: Path) -> None:
    dom = after(page_of(name, instance), END, tmp_path)
    seen = re.search(r'data-seen="(\d+) (\d+) (-?\d+)"', dom)
    assert seen is not None
    width, wide, end = map(int, seen.groups())
    assert width == 1280
    assert wide <= width
    assert 600 < end <= 2 * 900


def current(dom: str) -> list[str]:
    """The numbers of the steps that are marked as the current ones."""
    return [
        number[1]
        for text in re.findall(r"<li ([^>]*data-step[^>]*)>", dom)
        if re.search(r'class="[^"]*\bon\b', text)
        and (number := re.search(r'data-step="(\d+)"', text))
    ]


def open_folds(dom: str) -> list[str]:
    """The numbers of the steps of which all that they did is shown."""
    items = re.findall(r'<li id="story-1-step-(\d+)"(.*?)(?=<li id=|</ol>)', dom, re.DOTALL)
    return [number for number, text in items if re.search(r"<details[^>]* open", text)]
