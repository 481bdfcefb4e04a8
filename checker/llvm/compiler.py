"""A process of its own that compiles: a module's IR on stdin, its object code on stdout.

A thread would not do. LLVM cannot be interrupted, and a process that ends while one of its threads
is inside LLVM may crash.
"""

from __future__ import annotations

import sys

from checker.llvm.native import compile_object


def main() -> None:
    """Compile what is on stdin."""
    sys.stdout.buffer.write(compile_object(sys.stdin.buffer.read().decode()))


if __name__ == "__main__":
    main()
