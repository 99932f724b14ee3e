"""A manager with pretend units, for the manager's own tests: no network, no hardware.

A `PretendUnit` only chains events correctly; it knows no rules, so a test can make it say anything.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import TypeVar

from manager.app import Manager
from manager.games import Hand, Level, Paytable, Percent
from manager.games import load_paytable as load_shipped
from manager.games.model import ForOne
from manager.intake.intake import Outcome
from manager.ledger.store.chain import Recorded
from manager.ledger.store.entries import MOVING_NONE
from manager.ledger.store.store import Store
from manager.setup.open_table import open_table
from protocol.numbers import METHOD_CARD, ROLE_EXECUTIVE, ROLE_SUPERVISOR, SWIPE_CLAIM, SWIPE_VOID
from protocol.proof.chain import event_digest, first_digest
from protocol.secrets.cards import card_key, swipe_proof
from protocol.sensor_id import letter_of
from protocol.wire import events
from protocol.wire.errors import ErrorCode
from protocol.wire.messages import Award, Committed, Error, Event, Hello, Message, Swipe, Verdict
from protocol.wire.rows import ClaimedHand
from sim.floor import figures

M = TypeVar("M", bound=Message)

SUPERVISOR_ACCOUNT = "6012345000000017"
EXECUTIVE_ACCOUNT = "6012345000000025"
OPENING_MS = 1_700_000_000_000

stretched = functools.cache(card_key)


def table_toml(
    table_id: str = "touch-1",
    workflow: str = "touch",
    paytable: str = "four-card/progressive/Pays-1",
    **jackpot: str,
) -> str:
    """A table file; keyword arguments replace lines of its jackpot."""
    terms = {
        "label": '"Main"',
        "seed": '"10000.00"',
        "opening": '"10000.00"',
        "contribution_ppm": "250000",
        "reserve_ppm": "50000",
        "freeze_claims": "false",
        "fixed_pays_from": '"tray"',
    } | jackpot
    lines = "\n".join(f"{name} = {value}" for name, value in terms.items())
    return f"""
[table]
id = "{table_id}"
name = "Table {table_id}"
workflow = "{workflow}"
seats = 7
[board]
serial = "UF-{table_id}"
[jackpots.main]
{lines}
[paytables.A]
paytable = "{paytable}"
wager_cents = 100
levels = {{ top = "main" }}
folded_hands_qualify = true
[authority]
dealer_limit = "25.00"
executive_percent = 100
executive_from = "5000.00"
key = "EXECUTIVE"
[policy]
rounds_per_hour_max = 0
[[cards]]
label = "Supervisor 7"
role = "SUPERVISOR"
account = "{SUPERVISOR_ACCOUNT}"
[[cards]]
label = "Executive 2"
role = "EXECUTIVE"
account = "{EXECUTIVE_ACCOUNT}"
"""


# No shipped paytable has two percentages on one meter with awkward shares; this one does.
SHARES = Paytable(
    id="test/progressive/shares",
    title="Shares",
    game="test",
    bet="progressive",
    label="shares",
    evaluator="four-card",
    deck=52,
    cards_considered=5,
    hands=(
        Hand("all", "All", Percent("top", 1_000_000), 10_000),
        Hand("tenth", "Tenth", Percent("top", 100_000), 0),
        Hand("third", "Third", Percent("top", int(Fraction(1_000_000, 3))), 0),
        Hand("fifty", "Fifty", ForOne(50), 500),
        Hand("nine", "Nine", ForOne(9), 0),
    ),
    levels=(Level("top", "Top"),),
)


def load_paytable(paytable_id: str) -> Paytable:
    return SHARES if paytable_id == SHARES.id else load_shipped(paytable_id)


@dataclass
class Clock:
    ms: int = OPENING_MS

    def __call__(self) -> int:
        self.ms += 1
        return self.ms


@dataclass
class PretendUnit:
    unit_id: str
    journal_id: bytes = b"journal-id-16byt"
    sequence: int = 0
    digest: bytes = field(init=False)

    def __post_init__(self) -> None:
        self.digest = first_digest(self.journal_id)

    def make(self, body: events.EventBody) -> Event:
        """The next event of this unit's journal."""
        return self.make_raw(body.KIND, body.to_body())

    def make_raw(self, kind: int, body: dict[int, object]) -> Event:
        self.sequence += 1
        clock = self.sequence * 10
        self.digest = event_digest(self.digest, self.sequence, kind, body, clock, clock)
        return Event(self.sequence, kind, body, clock, clock, self.digest)

    def hello(self, acked_sequence: int = 0, settings_digest: bytes = b"") -> Hello:
        return Hello(
            self.unit_id, 0, 0, self.journal_id, self.sequence, acked_sequence, settings_digest, "t"
        )


class Desk:
    """A manager, its units, and short ways to say what happens at a table."""

    def __init__(
        self,
        path: str = ":memory:",
        vfs: str | None = None,
        clock: Callable[[], int] | None = None,
    ) -> None:
        self.path, self.vfs = path, vfs
        self.clock = Clock()
        self._now_ms = clock or self.clock
        self.units: dict[str, PretendUnit] = {}
        self._random_bytes = Random(1).randbytes
        self.manager = self._open()

    def _open(self) -> Manager:
        return Manager(self.path, self._now_ms, self.vfs, self._random_bytes)

    def restart(self) -> None:
        """The manager's process ends and starts again on the same file."""
        self.manager.store.close()
        self.manager = self._open()

    def open_table(self, table_id: str = "touch-1", **options: str) -> str:
        text = table_toml(table_id, **options)
        open_table(self.manager.book, text, lambda count: bytes(count), load_paytable)
        self.units[table_id] = PretendUnit(f"UF-{table_id}")
        self.manager.units.greet(self.units[table_id].hello())
        return table_id

    @property
    def store(self) -> Store:
        return self.manager.store

    def say(self, table_id: str, body: events.EventBody) -> Outcome:
        return self.deliver(table_id, self.units[table_id].make(body))

    def deliver(self, table_id: str, event: Event) -> Outcome:
        return self.manager.intake.take([(self.units[table_id].unit_id, event)])[0]

    # -- words of the table --------------------------------------------------------------------

    def start(self, table_id: str, round_number: int, *sensors: str) -> Outcome:
        return self.say(table_id, self.round_start(table_id, round_number, *sensors))

    def round_start(self, table_id: str, round_number: int, *sensors: str) -> events.RoundStart:
        """With the cents that the table's own prices make."""
        games = self.manager.book.tables.rules(table_id).settings.games
        prices = {game.letter: game.wager_cents for game in games}
        cents = sum(prices.get(letter_of(sensor), 0) for sensor in sensors)
        return events.RoundStart(round_number, sensors, (), (), cents)

    def end(self, table_id: str, round_number: int) -> Outcome:
        return self.say(table_id, events.RoundEnd(round_number))

    def claim(
        self, table_id: str, round_number: int, number: int, frozen: bool = False, **hands: str
    ) -> Outcome:
        """Hands by sensor, with a letter in front because names cannot start with a digit."""
        claimed = tuple(ClaimedHand(name[1:], hand) for name, hand in hands.items())
        return self.say(table_id, events.Claim(round_number, number, claimed, frozen))

    def receive_award(self, table_id: str, outcome: Outcome) -> Award:
        award = only(outcome, Award)
        self.say(table_id, awarded(award))
        return award

    def by_key(self, table_id: str, round_number: int, number: int) -> Outcome:
        return self.say(table_id, events.Commit(round_number, number, 3, b"", ROLE_SUPERVISOR))

    def by_card(
        self,
        table_id: str,
        round_number: int,
        number: int,
        account: str = EXECUTIVE_ACCOUNT,
        role: int = ROLE_EXECUTIVE,
    ) -> Outcome:
        ticket = self.swipe(table_id, number, account).ticket
        return self.say(table_id, events.Commit(round_number, number, 2, ticket, role))

    def swipe(
        self,
        table_id: str,
        number: int,
        account: str = EXECUTIVE_ACCOUNT,
        purpose: int = SWIPE_CLAIM,
    ) -> Verdict:
        """A card at the table's reader, for this claim as it stands."""
        unit = self.manager.units.get(self.units[table_id].unit_id)
        return self.manager.swipes.judge(unit, self.made_swipe(table_id, number, account, purpose))

    def made_swipe(
        self,
        table_id: str,
        number: int,
        account: str = EXECUTIVE_ACCOUNT,
        purpose: int = SWIPE_CLAIM,
    ) -> Swipe:
        unit_id, book = self.units[table_id].unit_id, self.manager.book
        key = stretched(book.tables.rules(table_id).settings.card_salt, account)
        claim = book.claims.find(table_id, number) if purpose == SWIPE_CLAIM else None
        content: list[object] = []
        if claim is not None:
            content = [[list(line) for line in claim.lines], [list(line) for line in claim.envy]]
        proof = swipe_proof(key, unit_id, purpose, number, content)
        return Swipe(purpose, number, proof)

    def void(self, table_id: str, round_number: int) -> Outcome:
        """A supervisor's card for VOID, and what the unit tells then."""
        ticket = self.swipe(table_id, round_number, SUPERVISOR_ACCOUNT, SWIPE_VOID).ticket
        body = events.Voided(round_number, METHOD_CARD, ROLE_SUPERVISOR, "misdeal", ticket)
        return self.say(table_id, body)

    def win(self, table_id: str, round_number: int, number: int, **hands: str) -> Committed:
        """A claim, its receipt and its authorisation in one go."""
        self.receive_award(table_id, self.claim(table_id, round_number, number, **hands))
        return only(self.by_card(table_id, round_number, number), Committed)

    # -- what the books say --------------------------------------------------------------------

    def shown(self) -> int:
        return figures.meter_shown(self.manager.book, "main")

    def alarm_codes(self) -> list[str]:
        return [alarm.code for alarm in reversed(self.manager.book.alarms.newest(100))]

    def about_money(self) -> list[Recorded]:
        """Every transaction but those that only note what happened."""
        return [each for each, _ in self.store.recorded() if each.kind not in MOVING_NONE]

    def entries(self) -> list[tuple[str, dict[str, int]]]:
        """Every transaction about money as (kind, account -> micro-cents)."""
        return [(recorded.kind, dict(recorded.postings)) for recorded in self.about_money()]


def awarded(award: Award) -> events.Awarded:
    return events.Awarded(award.claim_number, award.lines, award.envy, award.role, award.frozen)


def settled(committed: Committed) -> events.Settled:
    return events.Settled(
        committed.claim_number, committed.win_number, committed.lines, committed.envy
    )


def only(outcome: Outcome, kind: type[M]) -> M:
    """The one answer of this kind."""
    (message,) = outcome.answers
    assert isinstance(message, kind), message
    return message


def refusal(outcome: Outcome, code: ErrorCode = ErrorCode.CLAIM_REFUSED) -> Error:
    """The event was refused with this code, and yet acknowledged."""
    error = only(outcome, Error)
    assert error.code == code, error
    assert outcome.acked_sequence == error.sequence > 0
    assert outcome.problem is None
    return error


def desk_with_a_win(path: str = ":memory:", **options: str) -> Desk:
    """Three bets at 8000.00, four aces at seat 5, as in the issue's figures."""
    desk = Desk(path)
    desk.open_table("touch-1", **options)
    desk.manager.restate_opening("main", 800_000)
    desk.start("touch-1", 1, "2A", "5A", "7A")
    desk.win("touch-1", 1, 1, s5A="four-aces")
    desk.end("touch-1", 1)
    return desk
