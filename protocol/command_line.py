"""How every command of ours ends when nobody reads its output any more, as after `| head`.

It stops quietly, with the exit code that a shell shows for such an end. A pipe or a connection that
broke elsewhere is no such end and stays an error.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable
from typing import Final, NoReturn

OUTPUT_CUT_OFF: Final = 128 + signal.SIGPIPE
STDOUT: Final = 1


def run_command(main: Callable[[], int]) -> NoReturn:
    """Runs a whole command and leaves the process."""
    try:
        sys.exit(_flushed(main))
    except BrokenPipeError:
        if not _reader_left():
            raise
        # What is still buffered has to go somewhere, or the interpreter complains on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
        sys.exit(OUTPUT_CUT_OFF)


def _flushed(main: Callable[[], int]) -> str | int | None:
    """The command's exit code, once its last line is out."""
    try:
        code: str | int | None = main()
    except SystemExit as end:  # such as after --help
        code = end.code
    print(end="", flush=True)
    return code


def _reader_left() -> bool:
    output = select.poll()
    output.register(STDOUT, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in output.poll(0))
