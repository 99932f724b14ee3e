"""A whole Game Manager in one object: ledger, units, link and view, put together and nothing else.

The listener, the web server and the clock are given from outside, so the same object runs in a
process of its own and in the simulator's virtual time.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from kit.web.version_signal import VersionSignal
from manager.booking import Booking, Request
from manager.bundles.requests import BundleRequests
from manager.games import Catalogue, open_catalogue
from manager.intake.approvals import concerns_a_claim
from manager.intake.intake import Intake
from manager.intake.replacing import REPLACE_UNIT
from manager.intake.seals import SealBook
from manager.intake.swipes import SwipeJudge
from manager.intake.units import Units
from manager.ledger.book import Book
from manager.ledger.engines.engine import ALONE, Owner
from manager.ledger.engines.places import engine_at, spoken
from manager.ledger.errors import LedgerError
from manager.ledger.reports.gaming_day import GamingDay
from manager.ledger.store.store import Store
from manager.link.offered import Offered
from manager.link.server import ManagerServer
from manager.rollouts.acts import COMMANDS as ROLLOUT_COMMANDS
from manager.rollouts.acts import RolloutActs
from manager.rollouts.rollouts import Rollouts
from manager.setup.open_table import open_table, open_table_file
from manager.setup.wager_limits import WagerLimits
from manager.web.bundles.view import BundlesView
from manager.web.lookups import ReportsView
from manager.web.updates.view import UpdatesView
from manager.web.view import ManagerView
from manager.web.wins.view import WinsView
from protocol.wire.fields import clipped
from protocol.wire.messages import Settings


class Manager:
    def __init__(
        self,
        place: str,
        now_ms: Callable[[], int],
        vfs: str | None = None,
        random_bytes: Callable[[int], bytes] = secrets.token_bytes,
        packs: Sequence[Path] = (),
        gaming_day: GamingDay | None = None,
        property_name: str = "",
        owner: Owner = ALONE,
    ) -> None:
        """`place` is the ledger's file or database.

        `owner` is for a manager that serves in turn with others.
        `packs` are the operator's own folders of paytables, beside those that ship.
        """
        self._random_bytes = random_bytes
        self._packs = tuple(packs)
        self._gaming_day = gaming_day
        self.property_name = property_name
        self._is_alone = not owner.name
        self._is_closed = False
        # Given by the doors, which know the certificates.
        self.end_certificates: Callable[[str, str], None] = lambda unit_id, reason: None
        engine = engine_at(place, vfs, random_bytes, owner)
        self.store = Store(engine, now_ms, spoken(place))
        with ExitStack() as if_it_fails:
            if_it_fails.callback(self.store.close)
            self._assemble(now_ms)
            if_it_fails.pop_all()

    def _assemble(self, now_ms: Callable[[], int]) -> None:
        self.book = Book(self.store)
        self.units = Units(self.store, self.book.tables, self.book.alarms)
        # A table must not be in two ledgers: who serves in turn with others opens it from its file.
        open_text = self._open_text if self._is_alone else None
        self.rollouts = Rollouts(self.store, self.book.alarms)
        acts = RolloutActs(self.rollouts, self.store, self._tables_with_units)
        self._rollout_acts = acts
        self.booking = Booking(
            self.book,
            self.units,
            lambda name: self._catalogue().find(name),
            open_text,
            acts,
        )
        self.changes = VersionSignal()
        self.intake = Intake(self.book, self.units)
        self.swipes = SwipeJudge(self.book, self._random_bytes)
        self.bundles = BundleRequests(now_ms)
        self.server = ManagerServer(
            self.book,
            self.units,
            self.intake,
            self.swipes,
            Offered(self.bundles, self.rollouts),
            self.changes,
            now_ms,
        )
        folders = tuple(str(folder.absolute()) for folder in self._packs)
        gaming_day = self._gaming_day or GamingDay()
        reports = ReportsView(
            self.book, now_ms, self._catalogue, folders, gaming_day, None, self.property_name
        )
        wins = WinsView(self.book, gaming_day, self.property_name)
        self.view = ManagerView(
            self.book, self.units, self.changes, self.server.connection_of, now_ms, reports, wins
        )
        self.view.bundles = BundlesView(
            self.bundles, SealBook(self.store).keys_of, self.ask_for_bundle
        )
        self.updates = UpdatesView(self.rollouts, self.store, self.book.alarms)

    def open_table(self, text: str) -> str:
        """Opens the table that TOML text describes; the same text again changes nothing."""
        table_id = self._open_text(text)
        self.changes.bump()
        return table_id

    def _open_text(self, text: str) -> str:
        return open_table(self.book, text, self._random_bytes, self._catalogue().load)

    def open_table_file(self, path: Path, limits: WagerLimits | None = None) -> str:
        load_paytable = self._catalogue().load
        table_id = open_table_file(self.book, path, self._random_bytes, load_paytable, limits)
        self.changes.bump()
        return table_id

    def restate_opening(self, meter_id: str, opening_cents: int) -> None:
        """Another opening amount for a meter that has taken no wager yet."""
        self.book.jackpots.restate_opening(meter_id, opening_cents)
        self.changes.bump()

    def correct(self, request: Request) -> str:
        """Carries out an operator's correction and tells the units what it means for them."""
        sentence = self.booking.book(request)
        self.tell_units(request)
        return sentence

    def tell_units(self, request: Request) -> None:
        """What a request that is in the books means for the tables that are connected."""
        if request.get("command") in ROLLOUT_COMMANDS:
            self._rollout_acts.apply(request)  # the next heartbeats tell it
            self.changes.bump()
            return
        if request.get("command") == REPLACE_UNIT:
            self._cut_off(request.get("table", "").strip(), request.get("reason", ""))
        for table_id in self.book.tables.ids():
            unit = self.units.of_table(table_id)
            connection = self.server.connection_of(unit.unit_id) if unit else None
            if unit is None or connection is None:
                continue
            rules = self.book.tables.rules(table_id)
            digest = rules.settings_digest
            if digest != connection.settings_digest:  # what it confirmed may be older
                connection.settings_digest = digest
                connection.send(Settings(digest, rules.settings_bytes))
            if concerns_a_claim(request) and request.get("table") == table_id:
                for answer in self.intake.pending_answers(table_id):
                    connection.send(answer)
            for reversal in self.intake.reversals.untold(unit):
                connection.send(reversal)
            for order in self.intake.ordered_voids(table_id):
                connection.send(order)
            connection.send_meters()
        self.changes.bump()

    def _cut_off(self, table_id: str, reason: str) -> None:
        """The unit of this table is locked: it hears so, and its certificates end."""
        unit = self.units.of_table(table_id)
        if unit is not None:
            self.server.cut_if_locked(unit.unit_id)
            self.end_certificates(unit.unit_id, f"another unit takes its table over. {reason}")

    def _tables_with_units(self) -> list[str]:
        tables = sorted(self.book.tables.ids())
        return [table_id for table_id in tables if self.units.of_table(table_id)]

    def ask_for_bundle(self, table_id: str, asked_by: str) -> str:
        """Asks the unit of this table; it makes its bundle between two rounds."""
        unit = self.units.of_table(table_id)
        connection = self.server.connection_of(unit.unit_id) if unit else None
        if unit is None or connection is None:
            raise LedgerError("That table has no link; ask again when it has.")
        connection.bundle_wishes = self.bundles.ask(unit.unit_id, table_id, asked_by)
        return f"Unit {unit.unit_id} is asked for a bundle. It sends it between two games."

    def shown_cents(self) -> dict[str, int]:
        """What every meter shows."""
        jackpots = self.book.jackpots
        return {each.id: jackpots.state(each.id).shown_cents for each in jackpots.all()}

    def tell_unsound(self, sentence: str) -> None:
        """The long check of the ledger found something that a person must look into."""
        self.book.alarms.record("AUDIT", clipped(sentence))
        self.changes.bump()

    def tell_clock(self, sentence: str) -> None:
        """The machine's clock did something that a person must know of."""
        self.book.alarms.record("CLOCK", sentence)
        self.changes.bump()

    def _catalogue(self) -> Catalogue:
        return open_catalogue(*self._packs)

    async def give_up_ledger(self) -> None:
        """Another manager may have it from now on; the units are still connected here."""
        await self.server.hold()
        self._close_ledger()

    async def close(self) -> None:
        """Lets every unit go, then closes the ledger."""
        await self.server.close()
        self._close_ledger()

    def _close_ledger(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self.store.close()
