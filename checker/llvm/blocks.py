"""Blocks: the control flow of a function being written, and what is known in each of its blocks.

A block knows what its *dominator* knows - the block that every way to it passes: values that have
been computed (they are not computed again), and the flags that the jumps on the way decided. So
much of what a specification says twice is written once.

A flag is a `bool`, the name of an `i1`, or such a name behind `!` for its opposite.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Operand = int | str
Flag = bool | str

HORIZON = 64
"""How many dominators are asked for what is known."""


@dataclass(slots=True, eq=False)
class Block:
    """A block: its dominator, how many dominators it has, and what is known from here on."""

    label: str
    dominator: Block | None
    depth: int
    values: dict[object, Operand | Flag] = field(default_factory=dict)
    flags: dict[str, bool] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)


def common_dominator(one: Block, two: Block) -> Block:
    """Return the deepest block that dominates both."""
    while one is not two:
        if one.depth >= two.depth:
            assert one.dominator is not None
            one = one.dominator
        else:
            assert two.dominator is not None
            two = two.dominator
    return one


def opposite(flag: Flag) -> Flag:
    """Return the negation of a flag."""
    if isinstance(flag, bool):
        return not flag
    return flag[1:] if flag[0] == "!" else f"!{flag}"


class Blocks:
    """The text of a function under construction, block by block.

    `open`: whether the block being written can be reached and has not been ended; while it is not,
    nothing is written.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._count = 0
        self._block = Block("entry", None, 0)
        self._arrivals: dict[str, list[tuple[Block, Flag]]] = {}
        self._parts: dict[str, tuple[str, Flag, Flag]] = {}
        self._equalities: dict[str, tuple[str, int]] = {}
        self._recording = True
        # Everything of which some block knows something: most of what is asked for is new.
        self._met: set[object] = set()
        self.open = True

    def name(self) -> str:
        """Return a new name for an SSA value."""
        self._count += 1
        return f"%v{self._count}"

    def new_label(self) -> str:
        """Return a new block label."""
        self._count += 1
        return f"b{self._count}"

    def emit(self, line: str) -> None:
        """Append one instruction, unless it could not be reached."""
        if self.open:
            self._lines.append(line)

    def value(self, instruction: str) -> str:
        """Append an instruction with a result and return its name."""
        name = self.name()
        if self.open:
            self._lines.append(f"{name} = {instruction}")
        return name

    def pure(self, instruction: str) -> str:
        """Return the result of an instruction that depends on its operands only."""
        if not self.open:
            return self.name()
        if instruction in self._met:  # most are new: they are not to cost a call
            known = self.recalled(instruction)
            if type(known) is str:
                return known
        name = self.value(instruction)
        if self._recording:
            self._block.values[instruction] = name
            self._met.add(instruction)
        return name

    def recalled(self, key: object) -> Operand | Flag | None:
        """Return the value noted under `key` where every way here came by, if there is one."""
        if key not in self._met:
            return None
        block: Block | None = self._block
        for _ in range(HORIZON):
            if block is None:
                break
            known = block.values.get(key)
            if known is not None:
                return known
            block = block.dominator
        return None

    def note(self, key: object, value: Operand | Flag) -> None:
        """Note a value under `key`, for what comes after this place only."""
        if self.open and self._recording:
            self._block.values[key] = value
            self._met.add(key)

    # ----------------------------------------------------------------------------------- jumps

    def jump(self, label: str) -> None:
        """End the block with a jump."""
        if self.open:
            self._lines.append(f"br label %{label}")
            self._arrive(label, flag=True)
            self.open = False

    def fork(self, flag: Flag, yes: str, no: str) -> None:
        """End the block with a jump to `yes` or `no`."""
        flag = self.decided(flag)
        if isinstance(flag, bool) or yes == no:
            self.jump(yes if flag else no)
        elif self.open:
            if flag[0] == "!":
                flag, yes, no = flag[1:], no, yes
            self._lines.append(f"br i1 {flag}, label %{yes}, label %{no}")
            self._arrive(yes, flag)
            self._arrive(no, f"!{flag}")
            self.open = False

    def _arrive(self, label: str, flag: Flag) -> None:
        self._arrivals.setdefault(label, []).append((self._block, flag))

    def label(self, label: str) -> None:
        """Begin block `label`, going on from the block before; dead if nothing leads there.

        Nothing may jump to it afterwards.
        """
        arrivals = self._arrivals.get(label)
        if arrivals is None:
            return  # the block before just goes on, if it is open
        if not self.open and len(arrivals) == 1 and self._lines[-1] == f"br label %{label}":
            self._lines.pop()  # so does it here, without the jump
            self.open = True
            return
        self.jump(label)
        self._begin(label, arrivals)

    def loop_label(self, label: str) -> None:
        """Begin block `label`, to which blocks that come after it will jump back."""
        if self.open:
            self.jump(label)
            self._begin(label, self._arrivals[label])

    def _begin(self, label: str, arrivals: list[tuple[Block, Flag]]) -> None:
        dominator = arrivals[0][0]
        for other, _ in arrivals[1:]:
            dominator = common_dominator(dominator, other)
        self._lines.append(f"{label}:")
        self._block = Block(label, dominator, dominator.depth + 1)
        self.open = True
        if len(arrivals) == 1:
            self._learn(arrivals[0][1])

    @property
    def lines(self) -> int:
        """How many lines were written."""
        return len(self._lines)

    @property
    def block(self) -> str:
        """The label of the block being written."""
        return self._block.label

    def leave_if(self, flag: Flag, target: str) -> None:
        """Jump to `target` if `flag`, else go on."""
        if flag is False:
            return
        stay = self.new_label()
        self.fork(flag, target, stay)
        self.label(stay)

    def leave_unless(self, flag: Flag, target: str) -> None:
        """Go on if `flag`, else jump to `target`."""
        self.leave_if(opposite(flag), target)

    # ------------------------------------------------------------------------------- knowledge

    @property
    def here(self) -> Block:
        """Return the block that is being written."""
        return self._block

    def follows(self, earlier: Block) -> bool:
        """Whether what is written comes to pass wherever an earlier block does: no flag decides."""
        block = self._block
        while block is not earlier and block.dominator is not None and not block.flags:
            block = block.dominator
        return block is earlier

    def _learn(self, flag: Flag) -> None:
        """Note that `flag` is true from here on."""
        if isinstance(flag, bool):
            return
        name, value = (flag[1:], False) if flag[0] == "!" else (flag, True)
        self._block.flags[name] = value
        self._met.add(name)
        if value and name in self._equalities:
            operand, constant = self._equalities[name]
            self._block.constants[operand] = constant
            self._met.add(operand)
        operator, left, right = self._parts.get(name, ("", True, True))
        if operator == "and" and value:
            self._learn(left)
            self._learn(right)
        elif operator == "or" and not value:
            self._learn(opposite(left))
            self._learn(opposite(right))

    def assume(self, flag: Flag) -> None:
        """Note that `flag` is true from here on: the way here said so in other words."""
        if self.open:
            self._learn(flag)

    def decided(self, flag: Flag) -> Flag:
        """Return what a flag is known to be in this block, or the flag."""
        if isinstance(flag, bool):
            return flag
        name = flag[1:] if flag[0] == "!" else flag
        if name not in self._met:
            return flag
        block: Block | None = self._block
        for _ in range(HORIZON):
            if block is None:
                break
            known = block.flags.get(name)
            if known is not None:
                return known if name == flag else not known
            block = block.dominator
        return flag

    def settled(self, operand: Operand) -> Operand:
        """Return the constant that an operand is known to be in this block, or the operand."""
        if isinstance(operand, int) or operand not in self._met:
            return operand
        block: Block | None = self._block
        for _ in range(HORIZON):
            if block is None:
                break
            known = block.constants.get(operand)
            if known is not None:
                return known
            block = block.dominator
        return operand

    def combined(self, operator: str, left: Flag, right: Flag, result: str) -> Flag:
        """Note that flag `result` is `left and right`, or `left or right`."""
        self._parts[result] = (operator, left, right)
        return result

    def equated(self, result: str, operand: str, constant: int) -> Flag:
        """Note that flag `result` says that `operand` is `constant`."""
        self._equalities[result] = (operand, constant)
        return result
