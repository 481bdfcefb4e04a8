"""Takes a Machine and its Layout, makes a Kernel: the machine as native code."""

from checker.kernel.build import build
from checker.kernel.kernel import Kernel

__all__ = ["Kernel", "build"]
