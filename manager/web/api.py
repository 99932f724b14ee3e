"""What the operators' pages need of a Game Manager and its reports, and nothing more."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import date
from typing import Any, Protocol

from manager.games import Paytable
from manager.ledger.stamps import Stamp
from manager.ledger.terms import Jackpot
from manager.rollouts.shelf import UpdateShelf
from manager.web.archive.filters import Filters
from manager.web.archive.wins import Found

View = dict[str, Any]


class DaysApi(Protocol):
    property_name: str

    async def day(self, day: date | None = None, patience_s: float = ...) -> View | float:
        """A gaming day in figures, today by default; or how much of it is counted by now."""
        ...


class SetupApi(Protocol):
    def groups(self) -> list[View]: ...

    def paytables(self) -> list[View]: ...

    def paytable(self, name: str) -> Paytable | None: ...

    def running(self) -> Mapping[str, Jackpot]: ...


class ReportsApi(Protocol):
    @property
    def days(self) -> DaysApi: ...

    @property
    def setup(self) -> SetupApi: ...

    def bank(self) -> View: ...

    def games(self) -> View: ...

    async def advice(self, typed: Mapping[str, str]) -> View:
        """What the numbers that somebody typed would mean."""
        ...


class UnitsApi(Protocol):
    def fingerprint(self) -> str: ...

    def waiting(self) -> list[View]: ...

    def certificates(self, unit_id: str) -> list[View]: ...

    def unit_ids(self) -> list[str]: ...

    async def approve(self, unit_id: str, match: str) -> str: ...

    def do(self, command: str, **words: str) -> str: ...


class TablePeopleApi(Protocol):
    def tables(self) -> list[View]: ...

    def cards(self) -> list[View]: ...

    def techs(self) -> list[View]: ...

    async def keys_of(self, typed: str, table_id: str) -> str:
        """What a request carries of a card's number."""
        ...

    async def pin_of(self, typed: str, again: str) -> str: ...


class FloorApi(Protocol):
    async def groups(self) -> list[View]:
        """Every group of jackpots of the property, with its owner, meters and tables."""
        ...

    async def owners(self) -> list[View]:
        """The same without a word about money or tables."""
        ...

    async def move(self, group: str, name: str) -> str:
        """Asks the group's owner to hand over to this manager; says so, or raises LedgerError."""
        ...


class MetersApi(Protocol):
    def page(self, meter_id: str) -> View | None: ...

    async def plot(self, meter_id: str, span: str) -> View:
        """What the meter showed, as a picture."""
        ...


class ArchiveApi(Protocol):
    def choices(self) -> View: ...

    async def find(self, filters: Filters, before: int = 0) -> Found: ...

    def each(self, filters: Filters) -> AsyncIterator[View]: ...


class MachinesApi(Protocol):
    def meters(self) -> list[View]: ...

    def tables(self) -> list[View]: ...

    def claims(self) -> list[View]: ...

    def win(self, number: int) -> View | None: ...

    def wins(self, after: int, limit: int) -> list[View]: ...

    def alarms(self, after: int, limit: int) -> list[View]: ...

    def entries(self, after: int, limit: int) -> list[View]: ...

    def is_well(self) -> bool: ...

    def figures(self) -> View:
        """What a monitor draws and wakes people for."""
        ...


class SpotsApi(Protocol):
    def rows(self) -> list[View]:
        """Every spot of every table, the worst first."""
        ...

    def tables(self) -> list[View]:
        """Every table: its state, and whether its spots are known."""
        ...


class BundlesApi(Protocol):
    def kept(self) -> list[View]:
        """Every bundle that came, the newest first."""
        ...

    def waiting(self) -> list[View]:
        """Every unit that was asked and has not sent all of it."""
        ...

    async def opened(self, number: int) -> View | None: ...

    async def content(self, number: int) -> bytes | None: ...

    def ask(self, table_id: str, asked_by: str) -> str: ...


class UpdatesApi(Protocol):
    @property
    def shelf(self) -> UpdateShelf | None:
        """None where the manager has no folder."""
        ...

    @property
    def now_ms(self) -> int: ...

    def kept(self) -> list[View]: ...

    def rollout(self) -> View | None:
        """The one that is under way, or the last one."""
        ...

    def changes(self, unit_id: str) -> list[View]:
        """The last ten changes of a unit's program, newest first."""
        ...


class ManagerApi(Protocol):
    @property
    def bundles(self) -> BundlesApi | None:
        """None where no unit calls."""
        ...

    @property
    def spots(self) -> SpotsApi: ...

    @property
    def machines(self) -> MachinesApi: ...

    @property
    def reports(self) -> ReportsApi: ...

    @property
    def meters(self) -> MetersApi: ...

    @property
    def archive(self) -> ArchiveApi: ...

    @property
    def table_people(self) -> TablePeopleApi: ...

    @property
    def version(self) -> int: ...

    def view(self) -> View: ...

    async def changed(self, after: int) -> int:
        """Returns the version as soon as it is greater than `after`."""
        ...

    def claims(self) -> list[View]:
        """Every win that waits, in the order in which they are paid."""
        ...

    def table(self, table_id: str) -> View | None: ...

    def void_standing(self, table_id: str, round_number: int) -> str:
        """What has become of the order to void a game."""
        ...

    def win(self, number: int) -> View | None: ...

    def claim(self, table_id: str, number: int) -> View | None:
        """A win that is logged and not paid yet."""
        ...

    def causes(self) -> list[View]: ...

    def acknowledge(self, key: tuple[str, str, str], number: int, by: str, note: str) -> None: ...

    def alarm_history(self, wanted: str) -> list[View]: ...

    def stamp(self, number: int, stamp: Stamp, by: str, note: str) -> None: ...

    async def explain(self, number: int, page: int = 0) -> View | None:
        """How a win's amount came to be, to the micro-cent; with a page of single lines from 1."""
        ...
