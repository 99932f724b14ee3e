"""What the operators' pages need of a Game Manager, and nothing more."""

from __future__ import annotations

from typing import Any, Protocol

View = dict[str, Any]


class ManagerApi(Protocol):
    @property
    def version(self) -> int: ...

    def view(self) -> View: ...

    async def changed(self, after: int) -> int:
        """Returns the version as soon as it is greater than `after`."""
        ...

    def win(self, number: int) -> View | None: ...

    def explain(self, number: int) -> View | None:
        """How a win's amount came to be, to the micro-cent."""
        ...
