"""What the threads of a search share (the board) and what each has for itself (its desk).

Both are int64 arrays with named places, because compiled code reads and writes them. Places that
several threads write stand on cache lines of their own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checker.kernel.kernel import Kernel
from checker.llvm.meta import ACTION_MASK

# Places of the board that the coordinator sets while no thread works.
WORDS = 0
EXPAND = 1
CHECK = 2
"""Address of the kernel's `check`; 0 where there is nothing to check."""
TABLE = 3
CAPACITY = 4
RESERVED_BITS = 5
QUEUE = 6
ROOM = 7
"""States that the queue may hold before the threads have to stop for more room."""
LEVEL_END = 8
BLOCK_SIZE = 9
CANONICAL = 10
"""Address of the kernel's `canonical`; 0 where states are told apart as they are."""
EXPLORE = 11
"""Address of the kernel's `explore`; 0 where it has none."""
BESIDE = 13
"""What a meta word may hold besides the action and the number of an arrival."""
ARRIVALS = 12
"""Address of the arrivals of the queue's states, an int16 each; 0 where they are not kept."""
INDEXED = 14
"""Not 0: the table is an index into the queue (`indexed.py`), not one of whole states."""
SPLIT = 15
"""Address of the split (`halves.py`); 0 where the queue and the table do not hold roots."""
RECORDING = 16
"""Address of the plan of what is recorded (`recording.py`); 0 where steps are not."""
# Places of the board that the threads change.
CLAIMED = 24
"""First state of the level that no thread has claimed."""
TAIL = 32
"""First place of the queue that no thread has claimed."""
HALT = 40
"""Not 0: return to the coordinator before more states are expanded."""
BOARD_SIZE = 48

# Addresses of a desk's buffers.
OUT = 0
META = 1
ENDS = 2
STATUS = 3
SLOTS = 4
FLAGS = 5
TALLIES = 6
OUT_CAPACITY = 8
# Where a desk is in its work.
BLOCK = 9
BLOCK_END = 10
"""The states of the claimed block that are still to be expanded."""
NEXT = 11
PENDING = 12
"""The successors in OUT that are still to be inserted: from NEXT to PENDING."""
CHUNK = 13
CHUNK_END = 14
"""The piece of the queue that this desk fills."""
# What a desk has counted.
DISTINCT = 16
CUTS = 17
DEADLOCKS = 18
EDGES_SEEN = 19
"""All flags of all successors' meta words, or-ed."""
CHECKS_SEEN = 20
"""All flags of all checked states, or-ed."""
EXPANDED = 21
"""How many states were expanded last: those before BLOCK; 0 when their steps are recorded, or they
are no longer where they were."""
LOOKED_UP = 22
"""How many successors were looked up, or are about to be."""
CUTTER = 23
"""Address of the thread's cutter, where there is a split."""
EDGE = 24
EDGE_END = 25
"""The piece of the recorded steps that this desk fills."""
ORIGINS = 26
"""Address of room for the addresses of the states that CHUNK_SIZE new ones were found from."""
UNKNOWN = 27
"""Address of room for the places in OUT of successors that have to be looked up one by one."""
DESK_SIZE = 32

DEADLOCK = 0
UNCLEAR = 2
"""What `Kernel.expand` says of a state besides 1: it is a deadlock; its terminal conditions could
not be evaluated, which is an evaluation error of the state."""

CHUNK_SIZE = 256
"""States a thread claims of the queue at a time; also the most it checks in one call."""
BLOCK_SIZE_MAX = 256
"""States a thread claims of the level at a time."""

Numbers = NDArray[np.int64]


def new_board(kernel: Kernel) -> Numbers:
    """Return the board of a search on `kernel`."""
    board = np.zeros(BOARD_SIZE, np.int64)
    board[WORDS] = kernel.words
    board[BESIDE] = (1 << kernel.meta_bits) - 1 & ~ACTION_MASK
    set_code(board, kernel)
    return board


def set_code(board: Numbers, kernel: Kernel) -> None:
    """Let the threads call the functions of `kernel`."""
    board[EXPAND] = kernel.expand_address
    board[CHECK] = kernel.check_address if kernel.judges_states else 0
    board[CANONICAL] = kernel.canonical_address
    board[EXPLORE] = kernel.explore_address


class Desk:
    """One thread's buffers: `capacity` successors at a time, and its row of numbers."""

    def __init__(self, kernel: Kernel, capacity: int) -> None:
        self.words = kernel.words
        self.numbers = np.zeros(DESK_SIZE, np.int64)
        self.ends = np.zeros(BLOCK_SIZE_MAX, np.int64)
        self.status = np.zeros(BLOCK_SIZE_MAX, np.int64)
        self.origins = np.zeros(CHUNK_SIZE, np.int64)
        self.tallies = np.zeros(3 * len(kernel.actions), np.int64)
        self.numbers[ENDS] = self.ends.ctypes.data
        self.numbers[STATUS] = self.status.ctypes.data
        self.numbers[ORIGINS] = self.origins.ctypes.data
        self.numbers[TALLIES] = self.tallies.ctypes.data
        self.enlarge(capacity)

    def enlarge(self, capacity: int) -> None:
        """Give room for `capacity` successors at a time; nothing may be pending."""
        assert self.numbers[NEXT] == self.numbers[PENDING]
        self.out = np.empty(capacity * self.words, np.int64)
        self.meta = np.empty(capacity, np.int64)
        self.slots = np.empty(capacity, np.int64)
        self.unknown = np.empty(capacity, np.int64)
        self.flags = np.empty(max(capacity, CHUNK_SIZE), np.int64)
        self.numbers[OUT] = self.out.ctypes.data
        self.numbers[META] = self.meta.ctypes.data
        self.numbers[SLOTS] = self.slots.ctypes.data
        self.numbers[UNKNOWN] = self.unknown.ctypes.data
        self.numbers[FLAGS] = self.flags.ctypes.data
        self.numbers[OUT_CAPACITY] = capacity

    def is_done_with(self, *, records: bool) -> bool:
        """Whether the buffers hold nothing to look up, nor, if the search `records`, to record."""
        pending = self.numbers[NEXT] != self.numbers[PENDING]
        return not (pending or (records and self.numbers[EXPANDED]))

    @property
    def capacity(self) -> int:
        """Successors that fit at a time."""
        return int(self.numbers[OUT_CAPACITY])

    @property
    def bytes(self) -> int:
        """Bytes of the buffers that grow."""
        buffers = self.out, self.meta, self.slots, self.unknown, self.flags
        return sum(buffer.nbytes for buffer in buffers)
