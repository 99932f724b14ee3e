"""Random histories of linked tables: money is conserved to the micro-cent, and every meter and
every payment is what a small model of its own says.

The model below shares no code with the ledger: it keeps one meter by the storm checkers' arithmetic
and a list of fixed claims. Mutations of the manager that were tried by hand, each caught by this
file:

- a percentage rounded to the nearest cent, or up, instead of down
- an award drawn from the house's part before the players'
- the reserve added at a reseed but not taken from its account (refused: out of balance)
- the reserve left where it is at a reseed
- a reseed after a partial award
- a reseed that sets the meter to its seed and loses contributions made in between
- a fixed claim priced again at its commit
- a quote that ignores the fixed claims before it
- a commit that does not settle the fixed claims before it
- pay order by ascending seat
- the house's share of a wager truncated to whole cents (refused: out of balance)
- a contribution truncated to whole cents
- a repeated event booked again (no look at the last sequence)
- a kept balance that is not added to but replaced
- a bet that may be claimed twice in one round
- a cancelled lock that still counts as fixed
- a cancelled lock whose money stays set aside, or takes the reseed back with it
- an owed win whose money is not handed over at its commit
- a fixed claim applied before one that was fixed earlier
- envy for a hand at one's own seat, and envy that is told but not booked
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from manager.audit.audit import audit
from manager.intake.intake import Outcome
from protocol.numbers import ROLE_SUPERVISOR
from protocol.wire import events
from protocol.wire.messages import Award, Committed, Error, Event
from sim.runs.storm.checks.awards import Meter, Paid, pay
from sim.runs.storm.checks.terms import HandTerms, MeterTerms
from tests.fuzz.effort import examples
from tests.kit.pretend_units import SHARES, Desk, settled

CENT = 1_000_000
CONTRIBUTION_PPM, RESERVE_PPM, WAGER_CENTS = 123_457, 41_239, 100
SEED_CENTS, OPENING_CENTS = 50_000, 34_567
TERMS = MeterTerms(SEED_CENTS, OPENING_CENTS, CONTRIBUTION_PPM, RESERVE_PPM, False)
SHARE_PPM = {"all": 1_000_000, "tenth": 100_000, "third": 333_333}
FIXED_CENTS = {"fifty": 5_000, "nine": 900}
ENVY_CENTS = {"all": 10_000, "fifty": 500}
TABLES = ("touch-1", "keypad-1", "keypad-2")
SENSORS = [f"{seat}A" for seat in range(1, 8)]


@dataclass
class ModelClaim:
    table_id: str
    number: int
    round_number: int
    hands: list[tuple[str, str]]  # in pay order
    fixed: list[int] | None  # cents, when the amount no longer moves
    may_cancel: bool
    award: Award
    left_the_meter: bool = False
    set_aside: tuple[int, int, int] = (0, 0, 0)


@dataclass
class ModelTable:
    table_id: str
    round_number: int = 0
    accepted: list[str] = field(default_factory=list)
    is_on: bool = False
    claim_number: int = 0
    claimed: set[str] = field(default_factory=set)


class Histories(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.desk = Desk()
        self.from_meter = False
        self.meter = Meter(TERMS, house=OPENING_CENTS * CENT)
        self.shortfall = 0
        self.tables = {table_id: ModelTable(table_id) for table_id in TABLES}
        self.open_claims: list[ModelClaim] = []
        self.paid_cents = 0
        self.wagered_cents = 0
        self.said: list[tuple[str, Event]] = []
        for table_id in TABLES:
            self.desk.open_table(
                table_id,
                workflow=table_id.split("-")[0],
                paytable=SHARES.id,
                contribution_ppm=str(CONTRIBUTION_PPM),
                reserve_ppm=str(RESERVE_PPM),
                seed=f'"{SEED_CENTS // 100}.00"',
                opening=f'"{OPENING_CENTS / 100:.2f}"',
                **self.options(),
            )

    def options(self) -> dict[str, str]:
        return {}

    def say(self, table_id: str, body: events.EventBody) -> Outcome:
        event = self.desk.units[table_id].make(body)
        self.said.append((table_id, event))
        return self.desk.deliver(table_id, event)

    def comes_from_meter(self, hand: str) -> bool:
        return hand in SHARE_PPM or self.from_meter

    # -- what can happen -------------------------------------------------------------------------

    @rule(
        table_id=st.sampled_from(TABLES),
        sensors=st.lists(st.sampled_from(SENSORS), unique=True, max_size=5),
    )
    def start(self, table_id: str, sensors: list[str]) -> None:
        if not self.tables[table_id].is_on:
            self._start(self.tables[table_id], sensors)

    def _start(self, table: ModelTable, sensors: list[str]) -> None:
        table.round_number += 1
        table.is_on, table.accepted, table.claimed = True, sensors, set()
        self.say(
            table.table_id,
            events.RoundStart(
                table.round_number, tuple(sensors), (), (), WAGER_CENTS * len(sensors)
            ),
        )
        for _ in sensors:
            self.meter.wager(WAGER_CENTS)
            self.wagered_cents += WAGER_CENTS

    @rule(table_id=st.sampled_from(TABLES))
    def end(self, table_id: str) -> None:
        table = self.tables[table_id]
        if table.is_on and not any(c.table_id == table_id for c in self.open_claims):
            self.say(table_id, events.RoundEnd(table.round_number))
            table.is_on = False

    @rule(
        table_id=st.sampled_from(TABLES),
        picks=st.dictionaries(
            st.integers(0, 6),
            st.sampled_from([*SHARE_PPM, *FIXED_CENTS]),
            min_size=1,
            max_size=2,
        ),
    )
    def claim(self, table_id: str, picks: dict[int, str]) -> None:
        """Starts a round first when none is on, so that several claims wait at the same time."""
        table = self.tables[table_id]
        if not table.is_on:
            self._start(table, SENSORS)
        hands = {table.accepted[i]: h for i, h in picks.items() if i < len(table.accepted)}
        frozen = table_id.startswith("keypad")
        body = events.Claim(
            table.round_number, table.claim_number + 1, tuple(hands.items()), frozen
        )
        (answer,) = self.say(table_id, body).answers
        table.claim_number += 1
        if not hands or table.claimed & hands.keys():
            assert isinstance(answer, Error)
            return
        assert isinstance(answer, Award)
        self._claimed(table, dict(hands), answer)

    def _claimed(self, table: ModelTable, hands: dict[str, str], award: Award) -> None:
        ordered = sorted(hands.items(), key=lambda item: -int(item[0][:-1]))
        quoted = self._settle(ordered, None, self._meter_after_fixed())
        amounts = [each.cents for each in quoted]
        assert [(line.sensor, line.hand) for line in award.lines] == ordered
        assert [line.amount_cents for line in award.lines] == amounts
        assert dict(award.envy) == self._envy(table, ordered)
        self.say(
            table.table_id,
            events.Awarded(award.claim_number, award.lines, award.envy, award.role, award.frozen),
        )
        table.claimed |= hands.keys()
        self.open_claims.append(
            ModelClaim(
                table.table_id,
                table.claim_number,
                table.round_number,
                ordered,
                amounts if award.frozen else None,
                not table.table_id.startswith("keypad"),
                award,
            )
        )

    @precondition(lambda self: self.open_claims)
    @rule(index=st.integers(0, 5))
    def commit(self, index: int) -> None:
        claim = self.open_claims.pop(index % len(self.open_claims))
        if claim.table_id.startswith("keypad"):
            body = events.Commit(claim.round_number, claim.number, 3, b"", ROLE_SUPERVISOR)
        else:
            ticket = self.desk.swipe(claim.table_id, claim.number).ticket
            body = events.Commit(claim.round_number, claim.number, 2, ticket, 2)
        (committed,) = self.say(claim.table_id, body).answers
        assert isinstance(committed, Committed)
        self._apply_earlier(claim)
        if not claim.left_the_meter:
            amounts = [each.cents for each in self._settle_for_good(claim)]
        else:
            amounts = claim.fixed or []
        assert [line.amount_cents for line in committed.lines] == amounts
        self.paid_cents += sum(amounts) + sum(line.amount_cents for line in committed.envy)
        self.say(claim.table_id, settled(committed))

    @precondition(lambda self: any(claim.may_cancel for claim in self.open_claims))
    @rule(index=st.integers(0, 5))
    def cancel(self, index: int) -> None:
        claims = [claim for claim in self.open_claims if claim.may_cancel]
        claim = claims[index % len(claims)]
        outcome = self.say(claim.table_id, events.Cancel(claim.round_number, claim.number))
        assert not outcome.answers
        if claim.left_the_meter:
            # The reseed that followed it stays.
            player, house, shortfall = claim.set_aside
            self.meter.player += player
            self.meter.house += house
            self.shortfall -= shortfall
        self.open_claims.remove(claim)
        self.tables[claim.table_id].claimed -= {sensor for sensor, _ in claim.hands}

    @precondition(lambda self: self.said)
    @rule(index=st.integers(0, 200))
    def repeat(self, index: int) -> None:
        """The unit did not hear the receipt and says it again."""
        table_id, event = self.said[index % len(self.said)]
        before = self.desk.store.tail()
        outcome = self.desk.deliver(table_id, event)
        assert outcome.acked_sequence == self.desk.units[table_id].sequence
        assert self.desk.store.tail() == before

    # -- the model -------------------------------------------------------------------------------

    def _settle(
        self, hands: list[tuple[str, str]], fixed: list[int] | None, meter: Meter
    ) -> list[Paid]:
        """Pays the hands, in pay order, from this meter or this copy of it."""
        lines = [
            HandTerms(
                "main" if self.comes_from_meter(hand) else "",
                SHARE_PPM.get(hand, 0),
                FIXED_CENTS.get(hand, 0),
                ENVY_CENTS.get(hand, 0),
            )
            for _, hand in hands
        ]
        return sorted(pay(lines, {"main": meter}, {}, fixed))

    def _settle_for_good(self, claim: ModelClaim) -> list[Paid]:
        paid = self._settle(claim.hands, claim.fixed, self.meter)
        self.shortfall += sum(each.pocket for each in paid)
        return paid

    def _touches_meter(self, claim: ModelClaim) -> bool:
        return any(self.comes_from_meter(hand) for _, hand in claim.hands)

    def _fixed_waiting(self) -> list[ModelClaim]:
        return [
            claim
            for claim in self.open_claims
            if claim.fixed is not None and not claim.left_the_meter and self._touches_meter(claim)
        ]

    def _meter_after_fixed(self) -> Meter:
        meter = self.meter.copy()
        for claim in self._fixed_waiting():
            self._settle(claim.hands, claim.fixed, meter)
        return meter

    def _apply_earlier(self, committing: ModelClaim) -> None:
        """Claims are kept in the order they were made, so the earlier ones stand before it."""
        if committing.left_the_meter or not self._touches_meter(committing):
            return
        for claim in self._fixed_waiting():
            later = claim.award.claim_number and self._order(claim) > self._order(committing)
            if committing.fixed is not None and later:
                continue
            paid = self._settle_for_good(claim)
            claim.set_aside = (
                sum(each.player for each in paid),
                sum(each.house for each in paid),
                sum(each.pocket for each in paid),
            )
            claim.left_the_meter = True

    def _order(self, claim: ModelClaim) -> int:
        """When the claim was made: the place of its event in everything that was said."""
        for place, (table_id, event) in enumerate(self.said):
            is_claim = event.kind == events.CLAIM and table_id == claim.table_id
            if is_claim and event.body[2] == claim.number:
                return place
        raise AssertionError("the claim was never made")

    def _envy(self, table: ModelTable, hands: list[tuple[str, str]]) -> dict[str, int]:
        sheet: dict[str, int] = {}
        for sensor, hand in hands:
            for other in table.accepted:
                if other != sensor and hand in ENVY_CENTS:
                    sheet[other] = sheet.get(other, 0) + ENVY_CENTS[hand]
        return sheet

    # -- what must hold after every step ---------------------------------------------------------

    @invariant()
    def the_meter_is_what_the_model_says(self) -> None:
        state = self.desk.manager.book.jackpots.state("main")
        assert state.player_microcents == self.meter.player
        assert state.house_microcents == self.meter.house
        assert state.reserve_microcents == self.meter.reserve
        assert self.desk.store.balance("house/shortfall") == -self.shortfall

    @invariant()
    def money_is_conserved(self) -> None:
        balances = self.desk.store.balances()
        assert sum(balances.values()) == 0
        assert balances.get("players", 0) == (self.paid_cents - self.wagered_cents) * CENT
        owed = sum(amount for account, amount in balances.items() if account.startswith("owed/"))
        waiting = [claim for claim in self.open_claims if claim.left_the_meter]
        assert owed == CENT * sum(
            sum(claim.fixed or []) + sum(line.amount_cents for line in claim.award.envy)
            for claim in waiting
        )

    def teardown(self) -> None:
        finding = audit(self.desk.store)
        assert finding.sound, finding.sentence
        self.desk.store.close()


class MeterHistories(Histories):
    """Fixed pays come from the meter too, and it runs dry."""

    def options(self) -> dict[str, str]:
        self.from_meter = True
        return {"fixed_pays_from": '"meter"'}


class LockHistories(Histories):
    """Every claim is fixed when it is made, and a touch claim may still be cancelled."""

    def options(self) -> dict[str, str]:
        return {"freeze_claims": "true"}


_SETTINGS = settings(examples(60), stateful_step_count=40)

TestTrayHistories = Histories.TestCase
TestTrayHistories.settings = _SETTINGS
TestMeterHistories = MeterHistories.TestCase
TestMeterHistories.settings = _SETTINGS
TestLockHistories = LockHistories.TestCase
TestLockHistories.settings = _SETTINGS
