"""What the operators' pages need of a Game Manager and its office, and nothing more."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Protocol

View = dict[str, Any]


class OfficeApi(Protocol):
    def bank(self) -> View: ...

    async def day(self, day: date | None = None) -> View:
        """A gaming day in figures, today by default."""
        ...

    def games(self) -> View: ...

    async def advice(self, typed: Mapping[str, str]) -> View:
        """What the numbers that somebody typed would mean."""
        ...


class ManagerApi(Protocol):
    @property
    def office(self) -> OfficeApi: ...

    @property
    def version(self) -> int: ...

    def view(self) -> View: ...

    async def changed(self, after: int) -> int:
        """Returns the version as soon as it is greater than `after`."""
        ...

    def win(self, number: int) -> View | None: ...

    async def explain(self, number: int, page: int = 0) -> View | None:
        """How a win's amount came to be, to the micro-cent; with a page of single lines from 1."""
        ...
