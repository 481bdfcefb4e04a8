"""Packed states as code: reading the cells of one, and writing successors out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from checker.frozen import frozen
from checker.layout.layout import Layout, Leaf
from checker.llvm.code import Code, Flag, Operand, Ref
from checker.passes.fixed import Fixed

WORDS_HELD = 8
"""States of up to this many words are kept in registers; longer ones are copied."""

CELLS_LISTED = 48
"""Changed cells that are packed one by one; more are packed in a loop."""


def word_place(code: Code, base: str, index: Operand, words: int, word: int = 0) -> Ref:
    """Return the place of a word of state `index` in an array of packed states."""
    return Ref(base, code.add(code.mul(index, words), word))


def unpack(
    code: Code,
    layout: Layout,
    state: Ref,
    names: Iterable[str],
    arrays: Mapping[str, Ref],
    fixed: Fixed,
) -> dict[int, Operand]:
    """Write: the cells of these variables of the packed state at `state`, into their arrays.

    The cells are known from here on, and now where they are `fixed`. Returns the words that are
    held in registers.
    """
    wanted = set(names)
    code.frozen.update(array.base for array in arrays.values())
    words = words_at(code, layout, state)
    groups: dict[tuple[int, int], Operand] = {}
    for index, name in enumerate(layout.variables):
        if name not in wanted:
            continue
        array = arrays[name]
        constant = fixed.get(name)
        for cell, leaf in enumerate(layout.variable_leaves(index)):
            value = (
                _unpacked(code, state, leaf, words, groups) if constant is None else constant[cell]
            )
            code.store(value, code.shift(array, cell))
            code.known[array.base, cell] = value
    return words


def places_of(code: Code, layout: Layout, cells: Ref) -> dict[str, Ref]:
    """Return the places of all variables of a state whose cells lie at `cells`, one by one."""
    starts = zip(layout.variables, layout.starts, strict=False)
    return {name: Ref(code.address(code.shift(cells, start))) for name, start in starts}


def unpacked_before(code: Code, layout: Layout, arrays: Mapping[str, Ref], fixed: Fixed) -> None:
    """Note that arrays hold what `unpack` wrote into them; cells are loaded where they are used."""
    for name, shape in zip(layout.variables, layout.shapes, strict=True):
        array, constant = arrays[name], fixed.get(name)
        code.frozen.add(array.base)
        for cell in range(shape.cells):
            place = code.shift(array, cell)
            code.known[array.base, cell] = place if constant is None else constant[cell]


def words_at(code: Code, layout: Layout, state: Ref) -> dict[int, Operand]:
    """Write: load the words of the packed state at `state` that are held in registers."""
    if layout.words > WORDS_HELD:
        return {}
    return {word: code.load(code.shift(state, word)) for word in range(layout.words)}


def _unpacked(
    code: Code,
    state: Ref,
    leaf: Leaf,
    words: dict[int, Operand],
    groups: dict[tuple[int, int], Operand],
) -> Operand:
    if not leaf.width:
        return 0
    if leaf.word not in words:
        words[leaf.word] = code.load(code.shift(state, leaf.word))
    key = (leaf.word, leaf.shift)
    if key not in groups:
        groups[key] = bits_at(code, words[leaf.word], leaf.word, leaf.shift, leaf.width)
    digit = code.divide(groups[key], leaf.divisor)
    return digit if leaf.last else code.remainder(digit, leaf.cardinality)


def bits_at(code: Code, held: Operand, word: int, shift: int, width: int) -> Operand:
    """Write: return some bits of what the word number `word` of a packed state holds."""
    bits = code.bits("lshr", held, shift)
    top = shift + width >= (63 if word == 0 else 64)
    return bits if top else code.bits("and", bits, (1 << width) - 1)


@frozen()
class Sink:
    """Where a function puts successors.

    `cursor` counts those written, `full` is where to go when there is no room for one more.
    `source` is the packed state they come from, `held` those of its words that are in registers.
    """

    code: Code
    layout: Layout
    out: str
    meta: str
    capacity: Operand
    cursor: Ref
    full: str
    source: Ref
    held: Mapping[int, Operand]

    def emit(self, words: Mapping[int, Operand], meta: Operand, kept: Operand = 1) -> None:
        """Write one successor: its source with these words changed.

        Where `kept` is 0 the next one takes its place; that costs less than a branch.
        """
        code, count = self.code, self.layout.words
        at = self._room()
        place = word_place(code, self.out, at, count)
        if len(self.held) < count:
            to, origin = code.pointer(place), code.pointer(self.source)
            size = 8 * count
            code.emit(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {origin}, i64 {size}, i1 0)")
        else:
            words = {**self.held, **words}
        for word, value in words.items():
            code.store(value, code.shift(place, word))
        code.store(meta, Ref(self.meta, at))
        code.store(code.add(at, kept), self.cursor)

    def changes(self, words: Mapping[int, Operand]) -> Flag:
        """Write: whether a successor with these words differs from its source."""
        code = self.code
        different: Operand = 0
        for word, value in words.items():
            different = code.bits("or", different, code.bits("xor", value, self.word(word)))
        return code.compare("ne", different, 0)

    def emit_source(self, meta: Operand, kept: Operand = 1) -> None:
        """Write a step that led nowhere: the source itself, marked. It is rare."""
        code = self.code
        at = self._room()
        place = code.pointer(word_place(code, self.out, at, self.layout.words))
        origin, mark = code.pointer(self.source), code.pointer(Ref(self.meta, at))
        code.emit(f"call void @emit_source(ptr {place}, ptr {origin}, ptr {mark}, i64 {meta})")
        code.store(code.add(at, kept), self.cursor)

    def keep_if_new(self, first: Operand, met: str) -> None:
        """Write: keep what was written last, unless one from `first` on is the same; else `met`."""
        code = self.code
        at = code.load(self.cursor)
        given = f"ptr {self.out}, ptr {self.meta}, i64 {first}, i64 {at}"
        known = code.value(f"call i64 @was_written({given})")
        code.leave_if(code.compare("ne", known, 0), met)
        code.store(code.add(at, 1), self.cursor)

    def _room(self) -> Operand:
        at = self.code.load(self.cursor)
        self.code.leave_if(self.code.compare("sge", at, self.capacity), self.full)
        return at

    def packed(
        self,
        before: Mapping[str, Ref],
        after: Mapping[str, Ref],
        changed: Mapping[str, Iterable[int]],
    ) -> dict[int, Operand]:
        """Return the words that change when cells of `after` replace those of `before`.

        `changed` are the cells that may differ, by variable. A word grows by each cell's growth
        times the cell's weight; int64 wraps, which is right.
        """
        words: dict[int, Operand] = {}
        for index, name in enumerate(self.layout.variables):
            if name not in changed:
                continue
            leaves, cells = self.layout.variable_leaves(index), list(changed[name])
            if len(cells) <= CELLS_LISTED:
                for cell in cells:
                    self._grow(words, leaves[cell], (before[name], after[name]), cell)
            else:
                self._grow_in_loops(words, leaves, before[name], after[name])
        return words

    def word(self, word: int) -> Operand:
        """Write: return a word of the source."""
        held = self.held.get(word)
        return self.code.load(self.code.shift(self.source, word)) if held is None else held

    def _word(self, words: dict[int, Operand], word: int) -> Operand:
        if word not in words:
            words[word] = self.word(word)
        return words[word]

    def _grow(
        self, words: dict[int, Operand], leaf: Leaf, arrays: tuple[Ref, Ref], cell: int
    ) -> None:
        if leaf.width:
            code = self.code
            old, new = (code.load(code.shift(array, cell)) for array in arrays)
            growth = code.mul(code.sub(new, old), leaf.weight)
            words[leaf.word] = code.add(self._word(words, leaf.word), growth)

    def _grow_in_loops(
        self, words: dict[int, Operand], leaves: tuple[Leaf, ...], before: Ref, after: Ref
    ) -> None:
        """As `_grow`, a loop for each run of cells in one word whose weights grow by one factor."""
        code = self.code
        for start, stop, factor in _runs(leaves):
            word = leaves[start].word
            sum_, weight = code.scratch(1), code.scratch(1)
            code.store(self._word(words, word), sum_)
            code.store(leaves[start].weight, weight)

            def visit(
                cell: str, sum_: Ref = sum_, weight: Ref = weight, factor: int = factor
            ) -> None:
                old = code.load(code.shift(before, cell))
                growth = code.sub(code.load(code.shift(after, cell)), old)
                now = code.load(weight)
                code.store(code.add(code.load(sum_), code.op("mul", growth, now)), sum_)
                code.store(code.mul(now, factor), weight)

            code.counted(start, stop, visit)
            words[word] = code.load(sum_)


def differs(code: Code, layout: Layout, out: str, index: Operand, source: Ref) -> Operand:
    """Write: 1 where successor `index` is another state than its source, else 0."""
    different: Operand = 0
    for word in range(layout.words):
        here = code.load(word_place(code, out, index, layout.words, word))
        different = code.bits(
            "or", different, code.bits("xor", here, code.load(code.shift(source, word)))
        )
    return code.number(code.compare("ne", different, 0))


DECLARATIONS = """\
declare i64 @llvm.ctpop.i64(i64)
declare i64 @llvm.cttz.i64(i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""
"""What the functions of a kernel call."""


def sink_functions(layout: Layout) -> str:
    """Return the text of the functions behind a `Sink`."""
    return _emit_source(layout) + _was_written(layout)


def _emit_source(layout: Layout) -> str:
    size = 8 * layout.words
    return (
        "define private void @emit_source(ptr %place, ptr %origin, ptr %mark, i64 %meta)"
        " noinline cold nounwind {\n"
        f"call void @llvm.memcpy.p0.p0.i64(ptr %place, ptr %origin, i64 {size}, i1 0)\n"
        "store i64 %meta, ptr %mark\n"
        "ret void\n}\n"
    )


def _was_written(layout: Layout) -> str:
    words = layout.words
    return (
        "define private i64 @was_written(ptr %out, ptr %meta, i64 %first, i64 %at) noinline"
        " nounwind {\n"
        "start:\n"
        "%place = getelementptr i64, ptr %meta, i64 %at\n"
        "%mark = load i64, ptr %place\n"
        f"%wanted = mul i64 %at, {words}\n"
        "br label %next\n"
        "next:\n"
        "%one = phi i64 [%first, %start], [%later, %other]\n"
        "%end = icmp sge i64 %one, %at\n"
        "br i1 %end, label %new, label %look\n"
        "look:\n"
        "%place1 = getelementptr i64, ptr %meta, i64 %one\n"
        "%mark1 = load i64, ptr %place1\n"
        f"%base = mul i64 %one, {words}\n"
        "%same = icmp eq i64 %mark, %mark1\n"
        "br i1 %same, label %compare, label %other\n"
        "compare:\n"
        "%word = phi i64 [0, %look], [%further, %equal]\n"
        f"%all = icmp sge i64 %word, {words}\n"
        "br i1 %all, label %met, label %test\n"
        "test:\n"
        "%left = add i64 %wanted, %word\n"
        "%right = add i64 %base, %word\n"
        "%place2 = getelementptr i64, ptr %out, i64 %left\n"
        "%place3 = getelementptr i64, ptr %out, i64 %right\n"
        "%value2 = load i64, ptr %place2\n"
        "%value3 = load i64, ptr %place3\n"
        "%agree = icmp eq i64 %value2, %value3\n"
        "br i1 %agree, label %equal, label %other\n"
        "equal:\n"
        "%further = add i64 %word, 1\n"
        "br label %compare\n"
        "other:\n"
        "%later = add i64 %one, 1\n"
        "br label %next\n"
        "met:\n"
        "ret i64 1\n"
        "new:\n"
        "ret i64 0\n}\n"
    )


def _runs(leaves: tuple[Leaf, ...]) -> list[tuple[int, int, int]]:
    """Return (start, stop, factor) of runs of cells in one word with geometric weights."""
    runs: list[tuple[int, int, int]] = []
    start = 0
    while start < len(leaves):
        if not leaves[start].width:
            start += 1
            continue
        stop, factor = start + 1, 1
        while stop < len(leaves) and leaves[stop].width:
            one, two = leaves[stop - 1], leaves[stop]
            ratio = _true_weight(two) // _true_weight(one) if one.word == two.word else 0
            if ratio < 1 or _true_weight(one) * ratio != _true_weight(two):
                break
            if stop == start + 1:
                factor = ratio
            elif ratio != factor:
                break
            stop += 1
        runs.append((start, stop, factor))
        start = stop
    return runs


def _true_weight(leaf: Leaf) -> int:
    return leaf.divisor << leaf.shift
