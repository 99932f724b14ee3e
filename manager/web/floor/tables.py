"""The tables as pages show them: a row of the floor's list, and all there is to know of one.

Reads only. What a live page asks for ten times a second is held in memory; the rest of a table's
page is a few rows by their keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kit.words.numbers import money
from manager.intake.counters import TableCounters
from manager.intake.units import Unit, Units
from manager.ledger.book import Book
from manager.ledger.corrections.voiding import order_standing, ordered_void
from manager.ledger.rules import ROLE_NAMES
from manager.ledger.table_authority import CardKey, TableAuthority
from manager.link.connection import Connection
from manager.money import MICROCENTS_PER_CENT
from manager.setup.table_people import day_text
from manager.web.wins.view import WinsView
from protocol.wire.settings import GameSetting, TableSettings

WINS_SHOWN_MAX = 10
ROUNDS_SHOWN_MAX = 10

View = dict[str, Any]


_LAST = (
    "SELECT w.table_id, w.number, w.commit_ms,"
    " (SELECT sum(l.amount_cents) FROM win_lines l WHERE l.win_number = w.number)"
    " FROM wins w WHERE w.number IN (SELECT max(number) FROM wins GROUP BY table_id)"
)


class LastWins:
    """The newest win of each table. Each win is read once: a live floor asks all the time."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._seen = -1
        self._by_table: dict[str, View] = {}

    def of(self, table_id: str) -> View | None:
        count = self._book.wins.count()
        if self._seen < 0:
            for table, number, time_ms, paid in self._book.store.rows(_LAST):
                self._by_table[table] = _last(number, int(paid), time_ms)
        for number in range(self._seen + 1, count + 1) if self._seen >= 0 else ():
            win = self._book.wins.find(number)
            if win is not None:
                paid = sum(line.amount_cents for line in win.lines)
                self._by_table[win.table_id] = _last(number, paid, win.commit_ms)
        self._seen = count
        return self._by_table.get(table_id)


def _last(number: int, amount_cents: int, time_ms: int) -> View:
    return {"number": number, "amount_cents": amount_cents, "time_ms": time_ms}


class TablesView:
    def __init__(
        self,
        book: Book,
        units: Units,
        connection_of: Callable[[str], Connection | None],
        now_ms: Callable[[], int],
        wins: WinsView,
    ) -> None:
        self._book = book
        self._units = units
        self._connection_of = connection_of
        self._now_ms = now_ms
        self._wins = wins
        self._last_wins = LastWins(book)
        self._counters = TableCounters(book.store)

    def rows(self, causes: list[View]) -> list[View]:
        """Every table; `causes` are the alarms' causes, of which each table has its open ones."""
        open_ones = _open_by_table(causes)
        return [self._row(each, open_ones.get(each, [])) for each in self._book.tables.ids()]

    def page(self, table_id: str, causes: list[View]) -> View | None:
        if table_id not in self._book.tables.ids():
            return None
        rules = self._book.tables.rules(table_id)
        settings, authority = rules.settings, rules.authority
        wins = self._book.wins.newest_of(table_id, WINS_SHOWN_MAX)
        open_ones = _open_by_table(causes).get(table_id, [])
        return {
            **self._row(table_id, open_ones),
            "workflow": settings.workflow,
            "seats": settings.seat_count,
            "stopped": settings.stop_sentence,
            "void_order": self._void_order(table_id),
            "bets": self._bets(table_id),
            "games": [self._game(game) for game in settings.games],
            "counted": self._counted(table_id),
            "rules": rule_rows(settings, authority),
            "cards": [_card(card) for card in authority.cards],
            "techs": [tech.label for tech in settings.techs],
            "claims": [each for each in self._wins.waiting() if each["table"] == table_id],
            "wins": [self._wins.row(win) for win in wins],
            "causes": open_ones,
            "rounds": self._rounds(table_id),
            "time_ms": self._now_ms(),
        }

    # -- inside ------------------------------------------------------------------------------

    def _row(self, table_id: str, open_ones: list[View]) -> View:
        unit = self._units.of_table(table_id)
        connection = self._connection_of(unit.unit_id) if unit else None
        latest = self._book.rounds.latest(table_id)
        is_on = latest is not None and latest.is_on
        known_state = "locked" if is_on else "open"
        grave = [each for each in open_ones if each["severity"] != "notice"]
        return {
            "id": table_id,
            "name": self._book.tables.rules(table_id).settings.name,
            "unit": unit.unit_id if unit else "",
            "software": unit.software if unit else "",
            "link": "up" if connection else "down",
            "locked": unit is not None and unit.locked,
            "lock_sentence": unit.lock_sentence if unit else "",
            "state": (connection.unit_state if connection else "") or known_state,
            "round": latest.number if latest else 0,
            "is_on": is_on,
            "wagers": len(latest.accepted) if latest and is_on else 0,
            "last_event_age_ms": self._age_ms(unit),
            "last_win": self._last_wins.of(table_id),
            "alarms": len(grave),
            "worst": grave[0]["severity"] if grave else "",
        }

    def _age_ms(self, unit: Unit | None) -> int | None:
        if unit is None or not unit.last_event_ms:
            return None
        return max(0, self._now_ms() - unit.last_event_ms)

    def _void_order(self, table_id: str) -> str:
        """How far an order to void the game under way has come, "" without one."""
        order = ordered_void(self._book, table_id)
        return order_standing(self._book, table_id, order.round_number) if order else ""

    def _bets(self, table_id: str) -> list[str]:
        latest = self._book.rounds.latest(table_id)
        return list(latest.accepted) if latest and latest.is_on else []

    def _game(self, game: GameSetting) -> View:
        state = self._book.jackpots.state
        meters = [
            {"id": each.id, "label": each.label, "shown_cents": state(each.id).shown_cents}
            for each in game.meters
        ]
        return {
            "letter": game.letter,
            "title": game.title,
            "paytable": game.paytable,
            "wager_cents": game.wager_cents,
            "meters": meters,
        }

    def _counted(self, table_id: str) -> View:
        counters = self._counters.of(table_id)
        return {
            "wager_count": counters.wager_count,
            "wagered_cents": counters.wagered_microcents // MICROCENTS_PER_CENT,
            "win_count": counters.win_count,
            "paid_cents": counters.paid_cents,
        }

    def _rounds(self, table_id: str) -> list[View]:
        played = self._book.rounds.newest(table_id, ROUNDS_SHOWN_MAX)
        return [
            {
                "number": each.number,
                "bets": list(each.accepted),
                "started_ms": each.started_ms,
                "ended_ms": each.ended_ms,
            }
            for each in played
        ]


def _open_by_table(causes: list[View]) -> dict[str, list[View]]:
    """The causes that nobody has looked into, the worst of each table first."""
    found: dict[str, list[View]] = {}
    for cause in causes:
        if cause["is_open"]:
            found.setdefault(cause["table"], []).append(cause)
    return found


def rule_rows(settings: TableSettings, authority: TableAuthority) -> list[tuple[str, str]]:
    """What the house chose for a table, in the words of who set it up."""
    per_cent = f"{settings.executive_percent_ppm // 10_000} %"
    executive = f"from {per_cent} of a meter or {money(settings.executive_from_cents)} on"
    rows = [
        ("Dealer may pay alone", f"up to {money(settings.dealer_limit_cents)}"),
        ("Executive's card", executive),
        ("Folded hands", "qualify" if settings.folded_hands_qualify else "do not qualify"),
        ("Opened cabinet", "stops the table" if settings.tamper_stops else "is shown"),
    ]
    if settings.workflow == "keypad":
        rows.append(("The key counts as", ROLE_NAMES[authority.key_role].capitalize()))
    if authority.confirm_from_cents:
        rows.append(("Two people at the manager", f"from {money(authority.confirm_from_cents)}"))
    if settings.aggregate_limit_cents:
        per = "player" if settings.aggregate_per_player else "table"
        rows.append(("Aggregate limit", f"{money(settings.aggregate_limit_cents)} per {per}"))
    if settings.wrong_cards_max:
        lockout = f"{settings.wrong_cards_max} within {settings.wrong_cards_within_s} s"
        rows.append(("Wrong cards", f"{lockout} close the reader for {settings.card_lockout_s} s"))
    return rows


def _card(card: CardKey) -> View:
    return {
        "label": card.label,
        "role": ROLE_NAMES[card.role],
        "last_day": day_text(card.last_day),
        "enabled": card.enabled,
    }
