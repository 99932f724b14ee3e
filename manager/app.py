"""A whole Game Manager in one object: ledger, units, link and view, put together and nothing else.

The listener, the web server and the clock are given from outside, so the same object runs in a
process of its own and in the simulator's virtual time.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from manager.changes import Changes
from manager.corrections import Request, correct
from manager.events import Intake
from manager.games import Catalogue, open_catalogue
from manager.ledger.book import Book
from manager.ledger.database import open_database
from manager.ledger.gaming_day import GamingDay
from manager.ledger.store import Store
from manager.office import OfficeView
from manager.server import ManagerServer
from manager.setup import open_table, open_table_file
from manager.units import Units
from manager.view import ManagerView
from protocol.messages import Config


class Manager:
    def __init__(
        self,
        path: str,
        now_ms: Callable[[], int],
        vfs: str | None = None,
        random_bytes: Callable[[int], bytes] = secrets.token_bytes,
        packs: Sequence[Path] = (),
        gaming_day: GamingDay | None = None,
    ) -> None:
        """`packs` are the operator's own folders of paytables, beside those that ship."""
        self._random_bytes = random_bytes
        self._packs = tuple(packs)
        self._gaming_day = gaming_day
        self.store = Store(open_database(path, vfs, random_bytes), now_ms)
        with ExitStack() as if_it_fails:
            if_it_fails.callback(self.store.close)
            self._assemble(now_ms)
            if_it_fails.pop_all()

    def _assemble(self, now_ms: Callable[[], int]) -> None:
        self.book = Book(self.store)
        self.units = Units(self.store, self.book.tables, self.book.alarms)
        self.changes = Changes()
        self.intake = Intake(self.book, self.units)
        self.server = ManagerServer(self.book, self.units, self.intake, self.changes, now_ms)
        folders = tuple(str(folder.absolute()) for folder in self._packs)
        office = OfficeView(self.book, now_ms, self._catalogue, folders, self._gaming_day)
        self.view = ManagerView(
            self.book, self.units, self.changes, self.server.connection_of, now_ms, office
        )

    def open_table(self, text: str) -> str:
        """Opens the table that TOML text describes; the same text again changes nothing."""
        table_id = open_table(self.book, text, self._random_bytes, self._catalogue().load)
        self.changes.bump()
        return table_id

    def open_table_file(self, path: Path) -> str:
        table_id = open_table_file(self.book, path, self._random_bytes, self._catalogue().load)
        self.changes.bump()
        return table_id

    def restate_opening(self, meter_id: str, opening_cents: int) -> None:
        """Another opening amount for a meter that has taken no wager yet."""
        self.book.jackpots.restate_opening(meter_id, opening_cents)
        self.changes.bump()

    def correct(self, request: Request) -> str:
        """Carries out an operator's correction and tells the units what it means for them."""
        sentence = correct(self.book, request)
        for table_id in self.book.tables.ids():
            unit = self.units.of_table(table_id)
            connection = self.server.connection_of(unit.unit_id) if unit else None
            if unit is None or connection is None:
                continue
            settings = self.book.tables.rules(table_id).settings
            if settings.digest() != unit.config_digest:
                connection.send(Config(settings.digest(), settings.encode()))
            connection.send_meters()
        self.changes.bump()
        return sentence

    def _catalogue(self) -> Catalogue:
        return open_catalogue(*self._packs)

    async def close(self) -> None:
        """Lets every unit go, then closes the ledger."""
        await self.server.close()
        self.store.close()
