"""What the manager reads of a table's TOML file, checked key by key.

The unit's own parts ([board], [link], [web]) are checked by the unit; only the board's serial is
looked at here, because it names the unit that may speak for the table. Nothing is opened or stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from manager.ledger.terms import Jackpot
from manager.money import PARTS_PER_MILLION
from manager.section import Section, SetupError
from manager.setup_jackpots import Jurisdiction, TypedJackpot, read_jackpot, read_jurisdiction
from manager.setup_people import Card, Policy, Tech, read_card, read_policy, read_tech
from protocol.settings import SEATS_MAX, WORKFLOW_KEYPAD, WORKFLOW_TOUCH

WAGER_CENTS_MAX = 100_000
_PPM_PER_PERCENT = PARTS_PER_MILLION // 100
_WORKFLOWS = {name: name for name in (WORKFLOW_TOUCH, WORKFLOW_KEYPAD)}


@dataclass(frozen=True, slots=True)
class PaytableChoice:
    letter: str
    paytable_id: str
    wager_cents: int
    levels: Mapping[str, str]
    folded_hands_qualify: bool

    @property
    def game(self) -> str:
        """The game played at the table, as the house named it: an alias names another game."""
        return self.paytable_id.split("/")[0].lower()


@dataclass(frozen=True, slots=True)
class SetupFile:
    table_id: str
    name: str
    workflow: str
    seat_count: int
    board_serial: str
    jackpots: Mapping[str, Jackpot]
    scaled_seeds: frozenset[str]  # jackpots whose seed was multiplied by the wager
    jurisdiction: Jurisdiction
    paytables: tuple[PaytableChoice, ...]
    dealer_limit_cents: int
    executive_percent_ppm: int
    executive_from_cents: int
    cards: tuple[Card, ...]
    techs: tuple[Tech, ...]
    policy: Policy


def read_setup(values: Mapping[str, Any]) -> SetupFile:
    """The manager's part of a parsed TOML file."""
    top = Section(values, "")
    table, authority = top.section("table"), top.section("authority")
    jurisdiction = read_jurisdiction(top)
    paytables = tuple(
        _paytable(letter, part) for letter, part in sorted(top.sections("paytables").items())
    )
    jackpots = _jackpots(top.sections("jackpots"), paytables, jurisdiction)
    setup = SetupFile(
        table_id=table.text("id"),
        name=table.text("name"),
        workflow=table.choice("workflow", _WORKFLOWS),
        seat_count=table.whole("seats", 1, SEATS_MAX),
        board_serial=_board_serial(top.leave_to_others("board", "link", "web")),
        jackpots={name: typed.terms for name, typed in jackpots.items()},
        scaled_seeds=frozenset(name for name, typed in jackpots.items() if typed.seed_scales),
        jurisdiction=jurisdiction,
        paytables=paytables,
        dealer_limit_cents=authority.cents("dealer_limit"),
        executive_percent_ppm=authority.whole("executive_percent", 1, 100) * _PPM_PER_PERCENT,
        executive_from_cents=authority.cents("executive_from"),
        cards=tuple(read_card(part) for part in top.list_of_sections("cards")),
        techs=tuple(read_tech(part) for part in top.list_of_sections("techs")),
        policy=read_policy(top),
    )
    for section in (table, authority, top):
        section.done()
    return setup


def _board_serial(others: Mapping[str, Any]) -> str:
    board = others.get("board", {})
    serial = board.get("serial", "") if isinstance(board, Mapping) else ""
    if not isinstance(serial, str):
        raise SetupError("board.serial must be text.")
    return serial


def _jackpots(
    parts: Mapping[str, Section],
    paytables: tuple[PaytableChoice, ...],
    jurisdiction: Jurisdiction,
) -> dict[str, TypedJackpot]:
    wagers = {name: each.wager_cents for each in paytables for name in each.levels.values()}
    return {
        name: read_jackpot(name, part, wagers.get(name, 0), jurisdiction)
        for name, part in parts.items()
    }


def _paytable(letter: str, part: Section) -> PaytableChoice:
    choice = PaytableChoice(
        letter,
        part.text("paytable"),
        part.whole("wager_cents", 1, WAGER_CENTS_MAX),
        part.texts("levels"),
        part.flag("folded_hands_qualify"),
    )
    part.done()
    return choice
