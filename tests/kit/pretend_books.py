"""Tables with several levels, games and policies, for the tests of the whole ledger."""

from __future__ import annotations

from typing import Any

from manager.games import Hand, Level, Paytable, Percent
from manager.games import load_paytable as load_shipped
from manager.games.model import ForOne
from manager.ledger.corrections.reasons import ReversalReason, Signed
from manager.ledger.corrections.reversal import reverse_win
from manager.setup.open_table import open_table
from protocol.wire.messages import Award, Committed
from sim.floor import figures
from tests.kit.pretend_units import EXECUTIVE_ACCOUNT, SUPERVISOR_ACCOUNT, Desk, PretendUnit

CENT = 1_000_000
TWO = Signed("Ann", "Bob")

TERMS: dict[str, Any] = {
    "label": "Main",
    "seed": "1000.00",
    "opening": "1000.00",
    "contribution_ppm": 250_000,
    "reserve_ppm": 50_000,
    "freeze_claims": False,
    "fixed_pays_from": "tray",
}
HOUSE: dict[str, Any] = TERMS | {"type": "house", "contribution_ppm": 0, "reserve_ppm": 0}

LEVELS = Paytable(
    id="test/progressive/levels",
    title="Levels",
    game="test",
    bet="progressive",
    label="levels",
    evaluator="five-card",
    deck=52,
    cards_considered=5,
    hands=(
        Hand("mega", "Mega", Percent("mega", 1_000_000), 10_000),
        Hand("tenth", "Tenth", Percent("mega", 100_000), 0),
        Hand("minor", "Minor", Percent("minor", 1_000_000), 0),
        Hand("fifty", "Fifty", ForOne(50), 500),
    ),
    levels=(Level("mega", "Mega"), Level("minor", "Minor")),
    envy_scales=True,
    wager_scaling="fixed-pays",
)


def load_paytable(paytable_id: str) -> Paytable:
    return LEVELS if paytable_id == LEVELS.id else load_shipped(paytable_id)


def game(
    paytable: str = "four-card/progressive/Pays-1", wager_cents: int = 100, **levels: str
) -> dict[str, Any]:
    return {
        "paytable": paytable,
        "wager_cents": wager_cents,
        "levels": levels or {"top": "main"},
        "folded_hands_qualify": True,
    }


def document(
    table_id: str = "touch-1",
    jackpots: dict[str, dict[str, Any]] | None = None,
    games: dict[str, dict[str, Any]] | None = None,
    workflow: str = "touch",
    **sections: dict[str, Any],
) -> str:
    """A table file as TOML."""
    parts: dict[str, dict[str, Any]] = {
        "table": {"id": table_id, "name": table_id, "workflow": workflow, "seats": 7},
        "board": {"serial": f"UF-{table_id}"},
        "authority": {
            "dealer_limit": "25.00",
            "executive_percent": 100,
            "executive_from": "5000.00",
            "key": "EXECUTIVE",
        },
        "policy": {"rounds_per_hour_max": 0},
    }
    for name, terms in (jackpots or {"main": TERMS}).items():
        parts[f"jackpots.{name}"] = terms
    for letter, played in (games or {"A": game()}).items():
        parts[f"paytables.{letter}"] = played
    parts |= sections
    text = "\n".join(
        f"[{name}]\n" + "\n".join(f"{key} = {_value(value)}" for key, value in values.items())
        for name, values in parts.items()
    )
    return text + _card("SUPERVISOR", SUPERVISOR_ACCOUNT) + _card("EXECUTIVE", EXECUTIVE_ACCOUNT)


def _card(role: str, account: str) -> str:
    return f'\n[[cards]]\nlabel = "{role}"\nrole = "{role}"\naccount = "{account}"\n'


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + " }"
    return f'"{value}"' if isinstance(value, str) else str(value)


class Books(Desk):
    """A desk whose tables are given as files."""

    def open(self, text: str, table_id: str = "touch-1") -> None:
        open_table(self.manager.book, text, lambda count: bytes(count), load_paytable)
        if table_id not in self.units:
            self.units[table_id] = PretendUnit(f"UF-{table_id}")
            self.manager.units.greet(self.units[table_id].hello())

    def meter(self, meter_id: str = "main") -> tuple[int, int, int]:
        """Players' part, house part and reserve in micro-cents."""
        state = self.manager.book.jackpots.state(meter_id)
        return state.player_microcents, state.house_microcents, state.reserve_microcents

    def shown_on(self, meter_id: str) -> int:
        return figures.meter_shown(self.manager.book, meter_id)

    def paid(self, number: int = 1, round_number: int = 1, **hands: str) -> dict[str, int]:
        """Claims and commits; what each sensor got."""
        committed = self.win("touch-1", round_number, number, **hands)
        return {line.sensor: line.amount_cents for line in committed.lines}

    def quoted(self, number: int = 1, round_number: int = 1, **hands: str) -> Award:
        return self.receive_award("touch-1", self.claim("touch-1", round_number, number, **hands))

    def committed(self, number: int = 1, round_number: int = 1, **hands: str) -> Committed:
        return self.win("touch-1", round_number, number, **hands)

    def reverse(self, number: int = 1) -> int:
        return reverse_win(self.manager.book, number, ReversalReason.WRONG_HAND, TWO)
