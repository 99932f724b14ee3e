"""What the bench page needs of a bench: one view of the simulated world, and hands to poke it."""

from __future__ import annotations

from typing import Any, Protocol

View = dict[str, Any]


class BenchApi(Protocol):
    @property
    def version(self) -> int: ...

    def view(self) -> View: ...

    async def changed(self, after: int) -> int:
        """Returns the version as soon as it is greater than `after`."""
        ...

    async def act(self, action: str, argument: str) -> str:
        """Does one thing to the world; returns "" or why it could not be done."""
        ...

    def scenario(self) -> str:
        """The last recording as a scenario, "" before there is one."""
        ...
