"""One played world, and several ways on from a moment of it.

What comes before that moment is the same for all of them, so it is played once. Each way on is a
copy of this process: what it does to its world, no other way sees. Virtual time has one thread and
waits for nothing outside, which is why a copy of it can live. Only a serial line is outside: all
copies share it, one after another, so no byte may be under way where the story parts.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import pickle
import traceback
import warnings
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from sim.hardware.serial_line import SerialLine
from sim.time.loop import run_virtual

_LEFT: list[SerialLine] = []


class WayFailed(AssertionError):  # noqa: N818
    """A way on ended with an exception; this is its traceback."""


class Ways:
    """Where a story parts, and what each way on came to, in the order of their parting."""

    def __init__(self) -> None:
        self.results: list[Any] = []
        self._telling: int | None = None

    async def part(self) -> bool:
        """True for the way on that begins here, False for the story, once that way has ended."""
        reading, writing = os.pipe()
        loop = asyncio.get_running_loop()
        pid = _copied()
        if pid == 0:
            os.close(reading)
            self._telling = writing
            # Python takes away a copied process's loop: usually nobody would turn it.
            asyncio._set_running_loop(loop)  # type: ignore[arg-type]
            SerialLine.close = _left_to_the_story  # type: ignore[method-assign]
            fcntl.flock = _not_needed  # the story has its line locked, but stands still
            return True
        os.close(writing)
        with os.fdopen(reading, "rb") as told:
            said = told.read()
        os.waitpid(pid, 0)  # noqa: ASYNC222 - virtual time stands still meanwhile
        is_well, result = pickle.loads(said) if said else (False, "It ended without a word.")
        if not is_well:
            raise WayFailed(result)
        self.results.append(result)
        return False

    @property
    def is_copy(self) -> bool:
        return self._telling is not None

    def end(self, is_well: bool, result: Any) -> NoReturn:
        assert self._telling is not None
        with os.fdopen(self._telling, "wb") as telling:
            telling.write(pickle.dumps((is_well, result)))
        os._exit(0)  # nothing of the tests' own process may run twice


def _left_to_the_story(line: SerialLine) -> None:
    """A copy's ends of it close with the copy; its name is still needed.

    Python would take the name away where nobody holds the line any more, so it is held.
    """
    _LEFT.append(line)


def _not_needed(_file: object, _operation: int) -> None:
    pass


def _copied() -> int:
    with warnings.catch_warnings():
        # Later Pythons warn where other threads are: a worker has one that waits for its orders.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def every_way_on(story: Callable[[Ways], Coroutine[Any, Any, Any]]) -> list[Any]:
    """Plays the story in virtual time; what each of its ways on came to."""
    ways = Ways()
    try:
        result = run_virtual(story(ways))
    except BaseException:
        if ways.is_copy:
            ways.end(False, traceback.format_exc())
        raise
    if ways.is_copy:
        ways.end(True, result)
    return ways.results
