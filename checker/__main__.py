"""The command `checker`, also as `python -m checker`.

Importing what it needs takes a moment, in which somebody may ask it to end already.
"""

import os
import signal
from types import FrameType

from checker.process import ENDING
from checker.verdict.exits import INTERRUPTED


def _end(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


def _end_quietly() -> None:
    """End at once, without a traceback, until a command hears of signals itself."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def main() -> None:
    """Run the command line."""
    from checker.cli.main import main as run  # noqa: PLC0415

    run()


_end_quietly()
if __name__ == "__main__":
    main()
