"""A Layout in words: what each variable costs, and where each of its parts is."""

from __future__ import annotations

from collections.abc import Iterator

from checker.layout.layout import Layout, Leaf


def describe(layout: Layout) -> str:
    """Return the layout as a page of text: the words, then each variable with its parts."""
    return "\n".join(_lines(layout)) + "\n"


def _lines(layout: Layout) -> Iterator[str]:
    unit = "word" if layout.words == 1 else "words"
    yield (
        f"{layout.machine}: {layout.bits:.1f} bits of state in {layout.words} {unit}"
        f" of 64 bits, {len(layout.leaves)} parts"
    )
    names = [leaf.path for leaf in layout.leaves]
    width = max([len(name) for name in (*names, *layout.variables)], default=0)
    for index, variable in enumerate(layout.variables):
        yield ""
        yield f"{variable:<{width}}  {layout.variable_bits(index):7.2f} bits"
        for leaf in layout.variable_leaves(index):
            yield f"  {leaf.path:<{width}}  {leaf.cardinality:>8} values  {_place(leaf)}"


def _place(leaf: Leaf) -> str:
    if not leaf.width:
        return "no room needed"
    bits = f"word {leaf.word} bits {leaf.shift}..{leaf.shift + leaf.width - 1}"
    if leaf.divisor == 1 and leaf.last:
        return bits
    return f"{bits} / {leaf.divisor} % {leaf.cardinality}"
