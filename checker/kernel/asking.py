"""Which properties a state need not be asked: they look at nothing that differs in its origin."""

from __future__ import annotations

from dataclasses import dataclass, field

from checker.layout.layout import Layout
from checker.llvm.code import Code, Operand, Ref
from checker.llvm.states import masks_of


@dataclass(slots=True)
class StateChanges:
    """Writes what of a state differs from its origin: all of it, where there is none."""

    code: Code
    layout: Layout
    _differences: dict[int, Operand] = field(default_factory=dict)

    def compare(self, state: Ref, index: str) -> None:
        """Write: compare the packed `state`, number `index`, with its origin."""
        code, words = self.code, self.layout.words
        found = code.reserve(words)
        known, unknown, end = (code.new_label() for _ in range(3))
        code.fork(code.pure("icmp ne ptr %origins, null"), known, unknown)
        code.label(known)
        place = code.pure(f"getelementptr inbounds i64, ptr %origins, i64 {index}")
        address = code.value(f"load i64, ptr {place}")
        origin = Ref(code.value(f"inttoptr i64 {address} to ptr"))
        for word in range(words):
            pair = code.load(code.shift(state, word)), code.load(code.shift(origin, word))
            code.store(code.bits("xor", *pair), code.shift(found, word))
        code.jump(end)
        code.label(unknown)
        for word in range(words):
            code.store(-1, code.shift(found, word))
        code.jump(end)
        code.label(end)
        for word in range(words):
            self._differences[word] = code.load(code.shift(found, word))

    def leave_unless_changed(self, variables: frozenset[str], end: str) -> None:
        """Write: go to `end` where nothing of these variables differs.

        What looks at no variable at all is asked of every state.
        """
        code = self.code
        bits: Operand = 0
        masks = masks_of(self.layout, variables)
        for word, mask in sorted(masks.items()):
            bits = code.bits("or", bits, code.bits("and", self._differences[word], mask))
        if masks:
            code.leave_if(code.compare("eq", bits, 0), end)
