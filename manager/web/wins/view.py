"""A win as its slips tell it: every line with its own sensor, game, wager and meter.

A win that was logged by J-POT has a slip from then on, though its money moves when the key is back
at RUN: it says so, and has no number yet. Reads only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from manager.explain.dealt import dealt_hands
from manager.ledger.book import Book
from manager.ledger.claims import LOGGED_BY_UNIT, ClaimRecord, ClaimState
from manager.ledger.engines.relations import TRANSACTIONS
from manager.ledger.errors import LedgerError
from manager.ledger.reports.gaming_day import GamingDay
from manager.ledger.rules import ROLE_NAMES, TableRules
from manager.ledger.stamps import stamps_of
from manager.ledger.store.entries import Kind
from manager.ledger.wins import METHOD_OPERATOR, Win
from manager.money import MICROCENTS_PER_CENT
from manager.web.wins.amount_words import in_words
from protocol.numbers import METHOD_CARD, METHOD_DEALER, METHOD_KEY, SOURCE_METER
from protocol.proof.tail import printed
from protocol.sensor_id import seat_of
from protocol.wire.rows import EnvyLine

METHOD_NAMES = {
    METHOD_DEALER: "dealer",
    METHOD_CARD: "card",
    METHOD_KEY: "key",
    METHOD_OPERATOR: "operator",
}
LARGE_FROM_CENTS = 50_000  # from here on a slip has the checklist for large wins

View = dict[str, Any]


class WinsView:
    def __init__(self, book: Book, gaming_day: GamingDay, property_name: str = "") -> None:
        self._book = book
        self.gaming_day = gaming_day
        self._property_name = property_name

    def row(self, win: Win) -> View:
        """One line of the list of wins."""
        lines = [self._line(win.table_id, order, each) for order, each in enumerate(win.lines, 1)]
        paid, envy = _sum(win.lines), _sum(win.envy)
        return {
            "number": win.number,
            "time_ms": win.commit_ms,
            "table": win.table_id,
            "name": self._book.tables.rules(win.table_id).settings.name,
            "round": win.round_number,
            "claim": win.claim_number,
            "seat": ", ".join(str(line["seat"]) for line in lines),
            "hand": ", ".join(line["hand"] for line in lines),
            "amount_cents": paid,
            "envy_total_cents": envy,
            "total_cents": paid + envy,
            "method": METHOD_NAMES[win.method],
            "authorised_by": win.authorised_by,
            "role": ROLE_NAMES[win.role],
            "frozen": win.frozen,
            "policies": [{"meter": meter, "policy": policy} for meter, policy in win.policies],
            "reversed_by": win.reversed_by,
            "replaces": win.replaces,
            "replaced_by": win.replaced_by,
            "lines": lines,
            "envy": [_envy_line(line) for line in win.envy],
            "stamps": [asdict(each) for each in stamps_of(self._book.store, win.number)],
        }

    def page(self, number: int) -> View | None:
        """A win as its slips print it, with what the house chose for its table."""
        win = self._book.wins.find(number)
        if win is None:
            return None
        page = self.row(win)
        claimed_on, policies = self._book.wins.claimed_on(win), dict(win.policies)
        for line in page["lines"]:
            basis = claimed_on.get(line["sensor"])
            line["claimed_on_cents"] = None if basis is None else basis // MICROCENTS_PER_CENT
            line["policy"] = policies.get(line["meter"], "")
        dealt = [asdict(hand) for hand in dealt_hands(self._book.store, win)]
        return (
            page
            | self._of_table(win.table_id, win.round_number, win.commit_ms)
            | {
                "dealt": dealt,
                "is_large": page["total_cents"] >= LARGE_FROM_CENTS,
                "total_words": in_words(page["total_cents"]),
            }
        )

    def waiting(self) -> list[View]:
        """Claims of all tables that were not paid yet, in the order in which they are paid.

        Fixed amounts leave the meter as they were logged. The others are priced when they are
        confirmed, so they come after; among them the round that began first.
        """
        claims = self._book.claims.unsettled()
        open_ones = [each for each in claims if each.state in (ClaimState.OPEN, ClaimState.OWED)]
        rows = [(each.log_number, self._claim_row(each)) for each in open_ones]
        rows.sort(key=lambda each: (each[0] == 0, each[0], each[1]["time_ms"], each[1]["table"]))
        return [row for _, row in rows]

    def claim_page(self, table_id: str, number: int) -> View | None:
        """The slips of a win that waits for its key, card or approval, or that was backed out."""
        claim = self._book.claims.find(table_id, number)
        if claim is None:
            return None
        backed_out = self._backed_out(claim)
        if claim.state not in (ClaimState.OPEN, ClaimState.OWED) and not backed_out:
            return None
        page = self._claim_row(claim) | {"backed_out": backed_out}
        for line in page["lines"]:
            line["claimed_on_cents"], line["policy"] = None, ""
        time_ms = page["time_ms"]
        return (
            page
            | self._of_table(table_id, claim.round_number, time_ms)
            | {
                "dealt": [],
                "is_large": page["total_cents"] >= LARGE_FROM_CENTS,
                "total_words": in_words(page["total_cents"]),
                "stamps": [],
            }
        )

    # -- inside ------------------------------------------------------------------------------

    def _claim_row(self, claim: ClaimRecord) -> View:
        shown: Sequence[tuple[int, int] | None] = claim.shown or [None] * len(claim.lines)
        lines = [
            self._line(claim.table_id, order, each) | _meter_of(pair)
            for order, (each, pair) in enumerate(zip(claim.lines, shown, strict=True), 1)
        ]
        paid, envy = _sum(claim.lines), _sum(claim.envy)
        refusal = claim.refusal
        return {
            "number": 0,
            "table": claim.table_id,
            "name": self._book.tables.rules(claim.table_id).settings.name,
            "round": claim.round_number,
            "claim": claim.number,
            "time_ms": self._logged_ms(claim),
            "lines": lines,
            "envy": [_envy_line(line) for line in claim.envy],
            "amount_cents": paid,
            "envy_total_cents": envy,
            "total_cents": paid + envy,
            "frozen": claim.frozen,
            "by_key": claim.logged_by == LOGGED_BY_UNIT,
            "role": ROLE_NAMES.get(claim.role, ""),
            "waits": refusal.sentence if refusal else "",
        }

    def _backed_out(self, claim: ClaimRecord) -> str:
        """Who took a logged claim back, and why; "" while it stands."""
        if not claim.log_number:
            return ""
        place = {"table_id": claim.table_id, "round_number": claim.round_number}
        wanted = {"kind": str(Kind.BACKED_OUT), "claim_number": claim.number}
        found = self._book.store.find(TRANSACTIONS, place | wanted)
        return str(found[0][TRANSACTIONS.place("sentence")]) if found else ""

    def _logged_ms(self, claim: ClaimRecord) -> int:
        if claim.log_number:
            row = self._book.store.get(TRANSACTIONS, claim.log_number)
            if row is not None:
                return int(row[TRANSACTIONS.place("commit_ms")])
        return self._book.rounds.get(claim.table_id, claim.round_number).started_ms

    def _line(self, table_id: str, order: int, line: Any) -> View:
        rules = self._book.tables.rules(table_id)
        return {
            "order": order,
            "seat": seat_of(line.sensor),
            "sensor": line.sensor,
            "hand": line.hand,
            "label": getattr(line, "hand_label", "") or _label(rules, line),
            "amount_cents": line.amount_cents,
            "amount_words": in_words(line.amount_cents),
            "meter": line.meter_id,
            "meter_label": _meter_label(rules, line.meter_id),
            "source": "meter" if line.source == SOURCE_METER else "tray",
            "meter_before_cents": getattr(line, "meter_before_cents", None),
            "meter_after_cents": getattr(line, "meter_after_cents", None),
            **_game_of(rules, line.sensor),
        }

    def _of_table(self, table_id: str, round_number: int, time_ms: int) -> View:
        settings = self._book.tables.rules(table_id).settings
        played = self._book.rounds.get(table_id, round_number)
        local = self.gaming_day.local(time_ms)
        return {
            "property": self._property_name,
            "tail": printed(self._book.tails.now()),
            "local_time": f"{local:%Y-%m-%d %H:%M:%S %Z}",
            "folded_hands_qualify": settings.folded_hands_qualify,
            "joined": [list(seats) for seats in played.joined],
        }


def _game_of(rules: TableRules, sensor: str) -> View:
    try:
        game = rules.game(sensor)
    except LedgerError:  # the table has other sensors today
        return {"game": "", "paytable": "", "wager_cents": None}
    return {"game": game.title, "paytable": game.paytable, "wager_cents": game.wager_cents}


def _label(rules: TableRules, line: Any) -> str:
    return rules.hand(line.sensor, line.hand).label


def _meter_label(rules: TableRules, meter_id: str) -> str:
    jackpot = rules.jackpots.get(meter_id)
    return jackpot.label if jackpot else meter_id


def _meter_of(pair: tuple[int, int] | None) -> View:
    before, after = pair or (None, None)
    return {"meter_before_cents": before, "meter_after_cents": after}


def _envy_line(line: EnvyLine) -> View:
    return {
        "seat": seat_of(line.sensor),
        "sensor": line.sensor,
        "amount_cents": line.amount_cents,
    }


def _sum(lines: Sequence[Any]) -> int:
    return sum(line.amount_cents for line in lines)
