"""The operations of the ledger: wagers, claims, awards, the end of a round.

Each method is one step of a round, checked against the round's accepted bets, and leaves the ledger
balanced. Called inside the caller's transaction, so a step and the record that it was taken
commit together. A step that makes no sense raises `BookingRefused` and has written nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kit.words.numbers import money
from manager.ledger.alarms import Alarms
from manager.ledger.awards import posting
from manager.ledger.awards.authority import authorise
from manager.ledger.awards.payments import Payments, reference_of
from manager.ledger.claims import LOGGED_BY_TERMS, LOGGED_BY_UNIT, ClaimRecord, Claims, ClaimState
from manager.ledger.engines.relations import TRANSACTIONS
from manager.ledger.errors import BookingRefused
from manager.ledger.jackpots import Jackpots
from manager.ledger.pricing import MeterState, Movement, Pay, WagerSplit, split_wager
from manager.ledger.rounds import Round, Rounds
from manager.ledger.rules import TableRules, award_line
from manager.ledger.store import accounts
from manager.ledger.store.entries import Entry, EventSource, Kind, Reference
from manager.ledger.store.store import Store
from manager.ledger.swipes import Swipes
from manager.ledger.tables import Tables
from manager.ledger.tails import Tails
from manager.ledger.wins import Wins
from protocol.numbers import SWIPE_CLAIM
from protocol.sensor_id import pay_order
from protocol.wire import events
from protocol.wire.errors import ErrorCode
from protocol.wire.rows import AwardLine, ClaimedHand, EnvyLine
from protocol.wire.settings import GameSetting

_STANDING = (ClaimState.OPEN, ClaimState.OWED, ClaimState.COMMITTED)


@dataclass(frozen=True, slots=True)
class Quote:
    """What a claim would pay now, in pay order, and the authority it needs."""

    lines: tuple[AwardLine, ...]
    envy: tuple[EnvyLine, ...]
    role: int
    measures: Mapping[str, Mapping[str, int]]  # what each percentage was measured on, by sensor


class Book:
    def __init__(self, store: Store) -> None:
        self.store = store
        self.jackpots = Jackpots(store)
        self.tables = Tables(store, self.jackpots)
        self.rounds = Rounds(store)
        self.claims = Claims(store)
        self.wins = Wins(store)
        self.swipes = Swipes(store)
        self.alarms = Alarms(store)
        self.tails = Tails(store)
        self.payments = Payments(store, self.jackpots, self.alarms)

    # -- the round ---------------------------------------------------------------------------

    def start_round(
        self, rules: TableRules, body: events.RoundStart, origin: EventSource
    ) -> dict[str, GameSetting]:
        """Starts a round: one transaction for the accepted wagers of each game.

        Returns the game of each bet that was booked.

        A bet the dealer took is booked even when something else about the round is wrong; what
        is wrong becomes an alarm.
        """
        number, latest = body.round_number, self.rounds.latest(rules.table_id)
        if latest is not None and number <= latest.number:
            raise BookingRefused(f"Round {number} follows round {latest.number}: not in order.")
        if latest is not None and latest.is_on:
            self._alarm("ROUND", f"Round {latest.number} was never ended.", rules, origin)
            self.rounds.end(rules.table_id, latest.number)
        if rules.settings.stop_sentence:
            sentence = f"Round {number} was started before the table heard of the stop."
            self._alarm("STOPPED", sentence, rules, origin)
        games = self._games_of(rules, body.accepted, origin)
        by_letter: dict[str, list[str]] = {}
        for sensor, game in games.items():
            by_letter.setdefault(game.letter, []).append(sensor)
        for sensors in by_letter.values():
            splits = self._splits(rules, games[sensors[0]], len(sensors))
            place = Reference(rules.table_id, number, " ".join(sensors))
            self.store.append(posting.wagers_entry(splits, place, origin))
        self.rounds.start(rules.table_id, number, list(games), body.joined)
        return games

    def _games_of(
        self, rules: TableRules, sensors: Sequence[str], origin: EventSource
    ) -> dict[str, GameSetting]:
        """The game of each bet that can be booked; the others become alarms."""
        known, games = rules.games, dict[str, GameSetting]()
        for sensor in sensors:
            if sensor in known:
                games[sensor] = known[sensor]
                continue
            try:
                games[sensor] = rules.game(sensor)
            except BookingRefused as refused:
                self._alarm("WAGER", f"{refused.sentence} Its wager was not booked.", rules, origin)
        return games

    def _splits(self, rules: TableRules, game: GameSetting, count: int) -> list[WagerSplit]:
        """Where each of the wagers goes; only a meter with a limit has to look at its amount."""
        always = rules.split(game)
        if always is not None:
            return [always] * count
        terms = [rules.jackpots[meter.id] for meter in game.meters]
        shown = {each.id: self.jackpots.state(each.id).total_microcents for each in terms}
        splits: list[WagerSplit] = []
        for _ in range(count):
            rates = [each.rate(shown[each.id]) for each in terms]
            splits.append(split_wager(game.wager_cents, rates))
            for share in splits[-1].shares:
                shown[share.meter_id] += share.contribution_microcents
        return splits

    def check_hand(self, rules: TableRules, round_number: int, sensor: str, hand_id: str) -> None:
        """A hand selected (or turned off, "") at an accepted bet; nothing is booked."""
        self._check_accepted(self.rounds.entered(rules.table_id, round_number), sensor)
        if hand_id:
            rules.hand(sensor, hand_id)

    def end_round(self, rules: TableRules, round_number: int, origin: EventSource) -> None:
        self.rounds.entered(rules.table_id, round_number)
        for claim in self.claims.unsettled():
            if (claim.table_id, claim.round_number) == (rules.table_id, round_number):
                sentence = f"Round {round_number} ended with claim {claim.number} unpaid."
                self._alarm("CLAIM", sentence, rules, origin)
        self.rounds.end(rules.table_id, round_number)

    def reopen_round(self, rules: TableRules, round_number: int, origin: EventSource) -> None:
        """The round that ended last is on again; an older one stays as it is."""
        latest = self.rounds.latest(rules.table_id)
        if latest is None or latest.number != round_number or latest.is_on:
            raise BookingRefused(f"Round {round_number} is not the one that ended last.")
        self.rounds.reopen(rules.table_id, round_number)
        self._alarm("REOPENED", f"Round {round_number} was opened again.", rules, origin)

    # -- the claim ---------------------------------------------------------------------------

    def claim(self, rules: TableRules, body: events.Claim, origin: EventSource) -> ClaimRecord:
        """Quotes a claim, or fixes and logs its amount when the table or a meter asks for that."""
        self.check_claim_number(rules, body.claim_number)
        accepted = self.rounds.on(rules.table_id, body.round_number)
        pays = self.pays(rules, accepted, body.hands)
        self.payments.refuse_second_share(rules.table_id, accepted.number, pays)
        quote = self.quote(rules, accepted, pays)
        claim = ClaimRecord(
            rules.table_id,
            body.claim_number,
            body.round_number,
            ClaimState.OPEN,
            role=quote.role,
            lines=quote.lines,
            envy=quote.envy,
        )
        if body.frozen or rules.freezes_claims(pays):
            logged_by = LOGGED_BY_UNIT if body.frozen else LOGGED_BY_TERMS
            claim = self.log_frozen(claim, logged_by, origin, quote)
        self.claims.save(claim)
        return claim

    def check_claim_number(self, rules: TableRules, number: int) -> None:
        expected = self.claims.last_number(rules.table_id) + 1
        if number != expected:
            raise BookingRefused(f"Claim {number} is out of order; {expected} is next.")

    def quote(self, rules: TableRules, accepted: Round, pays: Sequence[Pay]) -> Quote:
        """Prices on copies of the meters; nothing moves."""
        meters = self._meters_after_frozen({pay.meter_id for pay in pays if pay.meter_id})
        movements, _ = self.payments.settle(rules.table_id, accepted.number, pays, meters)
        amounts = [movement.amount_cents for movement in movements]
        envy = rules.envy(accepted.accepted, pays, accepted.joined)
        measures = {each.pay.sensor: posting.measure(each) for each in movements}
        return Quote(lines_of(movements), envy, rules.role(pays, amounts), measures)

    def log_frozen(
        self, claim: ClaimRecord, logged_by: str, origin: EventSource, quote: Quote
    ) -> ClaimRecord:
        """Puts the fixed amounts into the chain; the meter moves at the commit."""
        place = reference_of(claim)
        entry = posting.claim_logged_entry(quote.lines, quote.envy, quote.measures, place, origin)
        number = self.store.append(entry)
        return replace(claim, frozen=True, logged_by=logged_by, log_number=number)

    def cancel(
        self, rules: TableRules, round_number: int, number: int, origin: EventSource
    ) -> None:
        claim = self.claims.get(rules.table_id, number)
        if claim.round_number != round_number:
            raise BookingRefused(f"Claim {number} belongs to round {claim.round_number}.")
        if claim.state is ClaimState.COMMITTED:
            raise BookingRefused(f"Claim {number} is booked; only a correction can undo it.")
        if claim.state is ClaimState.BACKED_OUT:  # the unit says that it knows
            self.claims.save(replace(claim, state=ClaimState.CANCELLED, refusal=None))
            return
        if claim.logged_by == LOGGED_BY_UNIT:
            raise BookingRefused(f"Claim {number} was logged under the key and stands.")
        if claim.state is ClaimState.OWED:
            self.payments.give_back(claim, origin)
        self.claims.save(replace(claim, state=ClaimState.CANCELLED, refusal=None))

    def commit(self, rules: TableRules, commit: events.Commit, origin: EventSource) -> ClaimRecord:
        """Books an authorised claim. Repeated for a booked claim, it changes nothing."""
        claim = self.claims.get(rules.table_id, commit.claim_number)
        if claim.state is ClaimState.COMMITTED:
            return claim
        self.check_committable(claim, commit)
        # Nothing may be written before this: a refusal leaves the claim open for another card.
        card = self.swipes.card(claim.table_id, SWIPE_CLAIM, claim.number, commit.ticket)
        authorisation = authorise(rules, claim, commit, card, self.is_approved(claim))
        if claim.state is ClaimState.OWED:
            self._hand_over(claim, origin)
        else:
            claim = self._apply(claim, accounts.PLAYERS, origin)
        win_number = self.wins.record(claim, rules, authorisation)
        claim = replace(claim, state=ClaimState.COMMITTED, win_number=win_number, refusal=None)
        self.claims.save(claim)
        return claim

    def approve(self, claim: ClaimRecord, detail: Mapping[str, str], names: str) -> None:
        """Two people at the manager stand for a claim, with the amounts that it has now."""
        total = money(claim.total_cents)
        sentence = f"Claim {claim.number} of {total} approved by {names}."
        lines = [list(line) for line in claim.lines]
        self.store.append(
            Entry(
                Kind.CLAIM_APPROVED,
                reference_of(claim),
                sentence,
                (),
                detail={**detail, "lines": lines},
            )
        )

    # -- inside ------------------------------------------------------------------------------

    def pays(self, rules: TableRules, accepted: Round, hands: Sequence[ClaimedHand]) -> list[Pay]:
        """The claimed hands in pay order, each at an accepted bet that has no claim yet."""
        if not hands:
            raise BookingRefused("A claim needs at least one winning hand.")
        sensors = [hand.sensor for hand in hands]
        if len(set(sensors)) != len(sensors):
            raise BookingRefused("A claim names the same sensor twice.")
        taken = self._claimed_sensors(accepted)
        for sensor in sensors:
            self._check_accepted(accepted, sensor)
            if sensor in taken:
                raise BookingRefused(f"{sensor} has a claim in round {accepted.number} already.")
        ordered = sorted(hands, key=lambda hand: pay_order(hand.sensor))
        return [rules.pay(hand.sensor, hand.hand) for hand in ordered]

    def _claimed_sensors(self, accepted: Round) -> set[str]:
        claims = self.claims.of_round(accepted.table_id, accepted.number)
        reversed_wins = self.wins.reversed_numbers(accepted.table_id, accepted.number)
        standing = [
            claim
            for claim in claims
            if claim.state in _STANDING and claim.win_number not in reversed_wins
        ]
        return {line.sensor for claim in standing for line in claim.lines}

    def _check_accepted(self, accepted: Round, sensor: str) -> None:
        if sensor not in accepted.accepted:
            raise BookingRefused(f"{sensor} has no accepted bet in round {accepted.number}.")

    def is_approved(self, claim: ClaimRecord) -> bool:
        """Looked up only for a claim that was told to wait for it."""
        if claim.refusal is None or claim.refusal.code != ErrorCode.APPROVAL:
            return False
        place = {"table_id": claim.table_id, "round_number": claim.round_number}
        wanted = {"kind": str(Kind.CLAIM_APPROVED), "claim_number": claim.number}
        return bool(self.store.find(TRANSACTIONS, {**place, **wanted}))

    def check_committable(self, claim: ClaimRecord, commit: events.Commit) -> None:
        if claim.state is ClaimState.BACKED_OUT:
            assert claim.refusal is not None
            raise BookingRefused(claim.refusal.sentence, ErrorCode.BACKED_OUT)
        if claim.state not in (ClaimState.OPEN, ClaimState.OWED):
            raise BookingRefused(f"Claim {claim.number} is {claim.state.lower()}.")
        if claim.round_number != commit.round_number:
            raise BookingRefused(f"Claim {claim.number} belongs to round {claim.round_number}.")
        if not claim.awarded:
            raise BookingRefused(
                f"Claim {claim.number} was authorised before its amount was received."
            )

    def _meters_after_frozen(self, meter_ids: set[str]) -> dict[str, MeterState]:
        """Copies of the meters as they will be when every frozen claim has been paid from them."""
        waiting = self.claims.frozen_unapplied(meter_ids)
        concerned = meter_ids.union(*(claim.meter_ids for claim in waiting))
        meters = self.jackpots.states(sorted(concerned))
        for claim in waiting:
            pays, fixed = self._pays_of(claim), _amounts(claim)
            _, meters = self.payments.settle(
                claim.table_id, claim.round_number, pays, meters, fixed
            )
        return meters

    def _apply(self, claim: ClaimRecord, payee: str, origin: EventSource) -> ClaimRecord:
        """Moves the claim's money to `payee`, after every claim fixed before it on its meters."""
        # A claim frozen earlier was promised the meter as it stood then; it must draw on it first.
        self._apply_earlier(claim, origin)
        rules = self.tables.rules(claim.table_id)
        meters = self.jackpots.states(rules.meter_ids)
        fixed = _amounts(claim) if claim.frozen else None
        pays = self._pays_of(claim)
        movements, _ = self.payments.settle(claim.table_id, claim.round_number, pays, meters, fixed)
        self.payments.book(claim, movements, payee, origin)
        return replace(claim, lines=lines_of(movements), shown=shown_of(rules, movements, meters))

    def _apply_earlier(self, claim: ClaimRecord, origin: EventSource) -> None:
        """A fixed amount assumes the ones fixed before it have left the meter.

        They stand as wins, so they leave it now, into an account of what is owed at their tables.
        """
        for earlier in self.claims.frozen_unapplied(claim.meter_ids):
            if earlier.number == claim.number and earlier.table_id == claim.table_id:
                continue
            if claim.frozen and earlier.log_number > claim.log_number:
                continue
            current = self.claims.get(earlier.table_id, earlier.number)
            if current.state is ClaimState.OPEN:
                payee = accounts.owed(current.table_id, current.number)
                moved = self._apply(current, payee, origin)
                self.claims.save(replace(moved, state=ClaimState.OWED))

    def _hand_over(self, claim: ClaimRecord, origin: EventSource) -> None:
        owed = self.store.balance(accounts.owed(claim.table_id, claim.number))
        self.store.append(posting.handed_over_entry(owed, reference_of(claim), origin))

    def _pays_of(self, claim: ClaimRecord) -> list[Pay]:
        rules = self.tables.rules(claim.table_id)
        return [rules.pay(line.sensor, line.hand) for line in claim.lines]

    def _alarm(self, code: str, sentence: str, rules: TableRules, origin: EventSource) -> None:
        self.alarms.record(code, sentence, rules.table_id, origin)


def _amounts(claim: ClaimRecord) -> list[int]:
    return [line.amount_cents for line in claim.lines]


def lines_of(movements: Sequence[Movement]) -> tuple[AwardLine, ...]:
    """The award in pay order, whatever order it is booked in."""
    return tuple(award_line(each.pay, each.amount_cents) for each in in_pay_order(movements))


def in_pay_order(movements: Sequence[Movement]) -> list[Movement]:
    return sorted(movements, key=lambda movement: pay_order(movement.pay.sensor))


def shown_of(
    rules: TableRules, movements: Sequence[Movement], meters: Mapping[str, MeterState]
) -> tuple[tuple[int, int], ...]:
    """Each line's meter as shown before and after it; a tray line has its game's top meter."""
    cents = {meter_id: state.shown_cents for meter_id, state in meters.items()}
    shown: dict[str, tuple[int, int]] = {}
    for movement in movements:
        pay = movement.pay
        meter_id = pay.meter_id or rules.game(pay.sensor).meters[0].id
        before = cents[meter_id]
        if movement.after is not None:
            cents[meter_id] = movement.after.shown_cents
        shown[pay.sensor] = (before, cents[meter_id])
    return tuple(shown[movement.pay.sensor] for movement in in_pay_order(movements))
