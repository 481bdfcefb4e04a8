"""Whether a step, or a state beside another one, has to be asked: what it looks at has changed."""

from __future__ import annotations

from collections.abc import Mapping

from checker.layout.layout import Layout
from checker.llvm.code import Code, Flag, Operand, Ref

Differences = Mapping[int, Operand]
"""By the words of two packed states: the bits in which they differ; none in words left out."""


def changed(code: Code, differences: Differences, masks: Mapping[int, int]) -> Flag:
    """Write: whether some of the bits in `masks` differ."""
    bits: Operand = 0
    for word, mask in sorted(masks.items()):
        different = differences.get(word, 0)
        bits = code.bits("or", bits, code.bits("and", different, mask))
    return code.compare("ne", bits, 0)


def from_origin(code: Code, layout: Layout, state: Ref, index: str) -> Differences:
    """Write: return in what the packed `state`, number `index`, differs from its origin.

    In everything, where there are no `%origins`.
    """
    found = code.reserve(layout.words)
    known, unknown, end = (code.new_label() for _ in range(3))
    code.fork(code.pure("icmp ne ptr %origins, null"), known, unknown)
    code.label(known)
    place = code.pure(f"getelementptr inbounds i64, ptr %origins, i64 {index}")
    address = code.value(f"load i64, ptr {place}")
    origin = Ref(code.value(f"inttoptr i64 {address} to ptr"))
    for word in range(layout.words):
        pair = code.load(code.shift(state, word)), code.load(code.shift(origin, word))
        code.store(code.bits("xor", *pair), code.shift(found, word))
    code.jump(end)
    code.label(unknown)
    for word in range(layout.words):
        code.store(-1, code.shift(found, word))
    code.jump(end)
    code.label(end)
    return {word: code.load(code.shift(found, word)) for word in range(layout.words)}
