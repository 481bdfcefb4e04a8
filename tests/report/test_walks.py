"""Goal: a few lines say how long walks were, and from when on they met nothing new."""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from checker.report.plots import LONGEST, Bar, Bars, as_svg, as_text
from checker.report.walks import BINS, coverage_plot, lengths_plot
from checker.search.simulate import WalkedRow


def row(name: str, first: int | None) -> WalkedRow:
    return WalkedRow(name, 0, 0, 0, first)


def lengths_text(lengths: Sequence[int]) -> list[str]:
    plot = lengths_plot(lengths)
    return [] if plot is None else as_text(plot)


def coverage_text(rows: Sequence[WalkedRow], walks: int) -> list[str]:
    plot = coverage_plot(rows, walks)
    return [] if plot is None else as_text(plot)


def test_lengths_are_counted_in_few_bins() -> None:
    lines = lengths_text([0, 0, 1, 0, 3])
    assert lines == [
        "lengths of walks: 2 to 4 steps, half of them at most 4",
        "  2  " + "#" * round(LONGEST / 3) + " 1",
        "  3   0",
        "  4  " + "#" * LONGEST + " 3",
    ]
    many = lengths_text([1] * 1001)
    assert len(many) - 1 <= BINS
    assert sum(int(line.split()[-1]) for line in many[1:]) == 1001
    assert lengths_text([0, 0]) == []


def test_coverage_doubles_the_walks_until_nothing_new_comes() -> None:
    lines = coverage_text([row("a", 0), row("b", 2), row("c", None)], 1000)
    assert lines[0] == "rows taken, of 3, by the first walks"
    assert [(line.split()[0], line.split()[-1]) for line in lines[1:-1]] == [
        ("1", "1"),
        ("2", "1"),
        ("4", "2"),
        ("1,000", "2"),
    ]
    assert lines[-1] == "the last new row came in walk 2; 997 walks after it had none"
    assert coverage_text([], 5) == []
    assert len(coverage_text([row("a", None)], 4)) == 3


def test_a_plot_fits_a_phone_and_a_long_heading_is_wrapped() -> None:
    heading = "lengths of walks: 56 to 1000 steps, half of them at most 1000"
    image = ET.fromstring(as_svg(Bars(heading, (Bar("911-1000", 2, "2"),))))  # noqa: S314 (ours)
    assert float(image.get("width", "")) <= 358  # of 390, without the margins
    texts = image.iter("{http://www.w3.org/2000/svg}text")
    lines = [text.text or "" for text in texts if text.get("class") == "heading"]
    assert len(lines) > 1
    assert " ".join(lines) == heading


def test_a_plot_is_an_image_that_fits_and_says_in_words_what_it_shows() -> None:
    bars = (Bar("most=1", 9, "9"), Bar("a <name>", 99, "99 and more"), Bar("none", 0, "0"))
    image = ET.fromstring(as_svg(Bars("states & more", bars, logarithmic=True)))  # noqa: S314 (ours)
    space = "{http://www.w3.org/2000/svg}"
    assert image.get("aria-label") == "states & more: most=1: 9; a <name>: 99 and more; none: 0"
    half, whole, nothing = (
        (float(rect.get("x", "")), float(rect.get("width", "")))
        for rect in image.iter(f"{space}rect")
    )
    assert abs(2 * half[1] - whole[1]) < 0.2
    assert nothing[1] == 0
    assert sum(whole) + 7 * len("99 and more") < float(image.get("width", ""))
    assert "prefers-color-scheme: dark" in (image.findtext(f"{space}style") or "")
