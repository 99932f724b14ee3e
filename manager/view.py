"""What pages and checks may see of the manager: meters, tables, wins and alarms, as plain values.

Reads only; every figure comes from the ledger at the moment of asking, nothing is cached here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from manager.changes import Changes
from manager.connection import Connection
from manager.explain.office import ExplainDesk
from manager.ledger.alarms import Alarm
from manager.ledger.book import Book
from manager.ledger.claims import Claim, ClaimState
from manager.ledger.jackpots import Jackpot, Standing
from manager.ledger.rules import ROLE_NAMES, seat_of
from manager.ledger.wins import METHOD_OPERATOR, Win, WinLine
from manager.money import MICROCENTS_PER_CENT
from manager.office import OfficeView
from manager.units import Units
from protocol.events import METHOD_CARD, METHOD_DEALER, METHOD_KEY
from protocol.rows import SOURCE_METER, EnvyLine

WINS_SHOWN_MAX = 25
ALARMS_SHOWN_MAX = 50
METHOD_NAMES = {
    METHOD_DEALER: "dealer",
    METHOD_CARD: "card",
    METHOD_KEY: "key",
    METHOD_OPERATOR: "operator",
}


class ManagerView:
    def __init__(
        self,
        book: Book,
        units: Units,
        changes: Changes,
        connection_of: Callable[[str], Connection | None],
        now_ms: Callable[[], int],
        office: OfficeView,
    ) -> None:
        self.office = office
        self._explainer = ExplainDesk(book.store)
        self._book = book
        self._units = units
        self._changes = changes
        self._connection_of = connection_of
        self._now_ms = now_ms

    @property
    def version(self) -> int:
        return self._changes.version

    async def changed(self, after: int) -> int:
        """Returns the version as soon as it is greater than `after`."""
        return await self._changes.changed(after)

    def view(self) -> dict[str, Any]:
        return {
            "meters": [self._meter(jackpot) for jackpot in self._book.jackpots.all()],
            "tables": [self._table(table_id) for table_id in self._book.tables.ids()],
            "wins": [_win(win) for win in self._book.wins.newest(WINS_SHOWN_MAX)],
            "alarms": [_alarm(alarm) for alarm in self._book.alarms.newest(ALARMS_SHOWN_MAX)],
            "time_ms": self._now_ms(),
        }

    def win(self, number: int) -> dict[str, Any] | None:
        """A win as its page prints it, with what the house chose for its table."""
        win = self._book.wins.find(number)
        if win is None:
            return None
        settings = self._book.tables.rules(win.table_id).settings
        played = self._book.rounds.get(win.table_id, win.round_number)
        claimed_on = self._book.wins.claimed_on(win)
        page = _win(win)
        for line in page["lines"]:
            basis = claimed_on.get(line["sensor"])
            line["claimed_on_cents"] = None if basis is None else basis // MICROCENTS_PER_CENT
        return page | {
            "folded_hands_qualify": settings.folded_hands_qualify,
            "joined": [list(seats) for seats in played.joined],
        }

    async def explain(self, number: int, page: int = 0) -> dict[str, Any] | None:
        """How a win's amount follows from the ledger; a page of its single lines when asked."""
        return await self._explainer.explain(number, page)

    # -- precise questions, for checks ---------------------------------------------------------

    def meter_shown(self, meter_id: str) -> int:
        """The meter in cents as displays show it."""
        return self._book.jackpots.state(meter_id).shown_cents

    def wagers_of(self, table_id: str) -> int:
        """How many wagers the table's latest round has."""
        latest = self._book.rounds.latest(table_id)
        return len(latest.accepted) if latest else 0

    def award_of(self, table_id: str, seat: int) -> int:
        """What the seat won in the latest round: booked, or fixed and logged."""
        return sum(
            line.amount_cents
            for claim in self._won_claims(table_id)
            for line in claim.lines
            if seat_of(line.sensor) == seat
        )

    def envy_of(self, table_id: str, seat: int) -> int:
        """The seat's envy of the latest round in total."""
        return sum(
            line.amount_cents
            for claim in self._won_claims(table_id)
            for line in claim.envy
            if seat_of(line.sensor) == seat
        )

    def _won_claims(self, table_id: str) -> list[Claim]:
        latest = self._book.rounds.latest(table_id)
        claims = self._book.claims.of_round(table_id, latest.number) if latest else []
        taken_back = self._book.wins.reversed_numbers(table_id, latest.number) if latest else set()
        claims = [claim for claim in claims if claim.win_number not in taken_back]
        won = (ClaimState.COMMITTED, ClaimState.OWED)
        logged = [claim for claim in claims if claim.state is ClaimState.OPEN and claim.frozen]
        return [claim for claim in claims if claim.state in won] + logged

    # -- inside ------------------------------------------------------------------------------

    def _meter(self, jackpot: Jackpot) -> dict[str, Any]:
        state = self._book.jackpots.state(jackpot.id)
        standing = self._book.jackpots.standing(jackpot.id)
        return {
            "id": jackpot.id,
            "label": jackpot.label,
            "shown_cents": state.shown_cents,
            "seed_cents": jackpot.seed_cents,
            "reserve_cents": state.reserve_microcents // MICROCENTS_PER_CENT,
            "house_cents": state.house_microcents // MICROCENTS_PER_CENT,
            "player_cents": state.player_microcents // MICROCENTS_PER_CENT,
            "type": jackpot.type,
            "award_policy": jackpot.award_policy,
            "limit_cents": jackpot.limit_cents,
            "stopped": standing.stopped,
            "pending": _pending(standing),
        }

    def _table(self, table_id: str) -> dict[str, Any]:
        unit = self._units.of_table(table_id)
        connection = self._connection_of(unit.unit_id) if unit else None
        latest = self._book.rounds.latest(table_id)
        is_on = latest is not None and latest.is_on
        known_state = "locked" if is_on else "open"
        return {
            "id": table_id,
            "name": self._book.tables.rules(table_id).settings.name,
            "unit": unit.unit_id if unit else "",
            "software": unit.software if unit else "",
            "link": "up" if connection else "down",
            "locked": unit is not None and unit.locked,
            "state": (connection.unit_state if connection else "") or known_state,
            "round": latest.number if latest else 0,
            "wagers": len(latest.accepted) if latest and is_on else 0,
            "last_event_age_ms": (
                max(0, self._now_ms() - unit.last_event_ms) if unit and unit.last_event_ms else None
            ),
        }


def _pending(standing: Standing) -> dict[str, Any]:
    """The terms that the next reseed changes, with their values to come."""
    if standing.pending is None:
        return {}
    now, coming = asdict(standing.terms), asdict(standing.pending)
    return {name: value for name, value in coming.items() if value != now[name]}


def _win(win: Win) -> dict[str, Any]:
    """A win as a row and as a page; seats and hands of several winners stand side by side."""
    first, last = win.lines[0], win.lines[-1]
    return {
        "number": win.number,
        "time_ms": win.commit_ms,
        "table": win.table_id,
        "round": win.round_number,
        "claim": win.claim_number,
        "seat": ", ".join(str(seat_of(line.sensor)) for line in win.lines),
        "hand": ", ".join(line.hand for line in win.lines),
        "amount_cents": sum(line.amount_cents for line in win.lines),
        "envy_total_cents": sum(line.amount_cents for line in win.envy),
        "method": METHOD_NAMES[win.method],
        "authorised_by": win.authorised_by,
        "role": ROLE_NAMES[win.role],
        "fixed_at_claim": win.frozen,
        "meter_before_cents": first.meter_before_cents,
        "meter_after_cents": last.meter_after_cents,
        "policies": [{"meter": meter_id, "policy": policy} for meter_id, policy in win.policies],
        "reversed_by": win.reversed_by,
        "replaces": win.replaces,
        "replaced_by": win.replaced_by,
        "lines": [_win_line(order, line) for order, line in enumerate(win.lines, start=1)],
        "envy": [_envy_line(line) for line in win.envy],
    }


def _win_line(order: int, line: WinLine) -> dict[str, Any]:
    return {
        "order": order,
        "seat": seat_of(line.sensor),
        "sensor": line.sensor,
        "hand": line.hand,
        "label": line.hand_label,
        "amount_cents": line.amount_cents,
        "level": line.level,
        "source": "meter" if line.source == SOURCE_METER else "tray",
        "meter_before_cents": line.meter_before_cents,
        "meter_after_cents": line.meter_after_cents,
    }


def _envy_line(line: EnvyLine) -> dict[str, Any]:
    return {
        "seat": seat_of(line.sensor),
        "sensor": line.sensor,
        "amount_cents": line.amount_cents,
    }


def _alarm(alarm: Alarm) -> dict[str, Any]:
    return {
        "number": alarm.number,
        "time_ms": alarm.commit_ms,
        "table": alarm.table_id,
        "unit": alarm.unit_id,
        "code": alarm.code,
        "text": alarm.sentence,
    }
