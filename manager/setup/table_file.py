"""What the manager reads of a table's TOML file.

The unit's own parts ([link], [web] and all of [board] but the serial, which names the unit that may
speak for the table) are checked by the unit. Nothing is opened or stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from kit.config import Choice, Document, Flag, Named, Rows, Table, Text, Whole, read
from manager.games.rules.aggregate import PER_PLAYER, PER_TABLE, AggregateLimit
from manager.ledger.terms import Jackpot
from manager.money import PARTS_PER_MILLION
from manager.setup.cents import Cents
from manager.setup.display import DisplaySection
from manager.setup.jackpots import JackpotSection, Jurisdiction, terms_of
from manager.setup.people import Card, Policy, Tech
from protocol.numbers import ROLE_EXECUTIVE, ROLE_SUPERVISOR
from protocol.table_file import FILE_ID, FILE_LABEL, SECTIONS, BoardName, TableSection

WAGER_CENTS_MAX = 100_000
_PPM_PER_PERCENT = PARTS_PER_MILLION // 100


@dataclass(frozen=True, slots=True)
class PaytableSection:
    """[paytables.LETTER]"""

    paytable: Annotated[str, Text()]
    wager_cents: Annotated[int, Whole(1, WAGER_CENTS_MAX)]
    levels: Annotated[Mapping[str, str], Named(FILE_ID)]
    folded_hands_qualify: Annotated[bool, Flag()]
    title: Annotated[str, FILE_LABEL] = ""  # what players read; without it, the game's own name


@dataclass(frozen=True, slots=True)
class AuthoritySection:
    """[authority]"""

    dealer_limit: Annotated[int, Cents()]
    executive_percent: Annotated[int, Whole(1, 100)]
    executive_from: Annotated[int, Cents()]
    # What the key of a keypad table stands for; more than that is approved at the manager.
    key: Annotated[int, Choice({"SUPERVISOR": ROLE_SUPERVISOR, "EXECUTIVE": ROLE_EXECUTIVE})] = (
        ROLE_SUPERVISOR
    )
    confirm_from: Annotated[int, Cents()] = 0  # from here on two people at the manager confirm


@dataclass(frozen=True, slots=True)
class AggregateSection:
    """[aggregate_limit]; without it there is none."""

    amount: Annotated[int, Cents()]
    per: Annotated[str, Choice((PER_TABLE, PER_PLAYER))]


@dataclass(frozen=True, slots=True)
class ManagerFile:
    """The manager's part of the file."""

    table: Annotated[TableSection, Table(TableSection)]
    board: Annotated[BoardName, Table(BoardName, is_partial=True)]
    jackpots: Annotated[Mapping[str, JackpotSection], Named(Table(JackpotSection), FILE_ID)]
    paytables: Annotated[Mapping[str, PaytableSection], Named(Table(PaytableSection))]
    authority: Annotated[AuthoritySection, Table(AuthoritySection)]
    aggregate_limit: Annotated[AggregateSection | None, Table(AggregateSection)] = None
    jurisdiction: Annotated[Jurisdiction, Table(Jurisdiction)] = field(default_factory=Jurisdiction)
    policy: Annotated[Policy, Table(Policy)] = field(default_factory=Policy)
    display: Annotated[DisplaySection, Table(DisplaySection)] = field(
        default_factory=DisplaySection
    )
    cards: Annotated[tuple[Card, ...], Rows(Card)] = ()
    techs: Annotated[tuple[Tech, ...], Rows(Tech)] = ()


@dataclass(frozen=True, slots=True)
class PaytableChoice:
    letter: str
    paytable_id: str
    wager_cents: int
    levels: Mapping[str, str]
    folded_hands_qualify: bool
    title: str

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
    authorities: Mapping[str, int]  # the role that a share of each jackpot needs, 0: by percentage
    scaled_seeds: frozenset[str]  # jackpots whose seed was multiplied by the wager
    jurisdiction: Jurisdiction
    paytables: tuple[PaytableChoice, ...]
    dealer_limit_cents: int
    executive_percent_ppm: int
    executive_from_cents: int
    key_role: int
    confirm_from_cents: int
    cards: tuple[Card, ...]
    techs: tuple[Tech, ...]
    policy: Policy
    display: DisplaySection
    aggregate_limit: AggregateLimit | None = None


def read_setup(document: Document) -> SetupFile:
    """The manager's part of a table's file."""
    file = read(document, ManagerFile, SECTIONS)
    paytables = tuple(_choice(letter, each) for letter, each in sorted(file.paytables.items()))
    with document.placing():
        jackpots = _jackpots(file, paytables)
    return SetupFile(
        table_id=file.table.id,
        name=file.table.name,
        workflow=file.table.workflow,
        seat_count=file.table.seats,
        board_serial=file.board.serial,
        jackpots=jackpots,
        authorities={name: each.authority for name, each in file.jackpots.items()},
        scaled_seeds=frozenset(
            name for name, each in file.jackpots.items() if each.seed_scales_with_wager
        ),
        jurisdiction=file.jurisdiction,
        paytables=paytables,
        dealer_limit_cents=file.authority.dealer_limit,
        executive_percent_ppm=file.authority.executive_percent * _PPM_PER_PERCENT,
        executive_from_cents=file.authority.executive_from,
        key_role=file.authority.key,
        confirm_from_cents=file.authority.confirm_from,
        cards=file.cards,
        techs=file.techs,
        policy=file.policy,
        display=file.display,
        aggregate_limit=_aggregate_limit(file.aggregate_limit),
    )


def _aggregate_limit(typed: AggregateSection | None) -> AggregateLimit | None:
    return AggregateLimit(typed.amount, typed.per) if typed else None


def _jackpots(file: ManagerFile, paytables: tuple[PaytableChoice, ...]) -> dict[str, Jackpot]:
    wagers = {name: each.wager_cents for each in paytables for name in each.levels.values()}
    return {
        name: terms_of(name, typed, wagers.get(name, 0), file.jurisdiction)
        for name, typed in file.jackpots.items()
    }


def _choice(letter: str, typed: PaytableSection) -> PaytableChoice:
    return PaytableChoice(
        letter,
        typed.paytable,
        typed.wager_cents,
        typed.levels,
        typed.folded_hands_qualify,
        typed.title,
    )
