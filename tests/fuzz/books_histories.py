"""Random histories of two linked tables with levels, policies, limits, corrections and changing
terms: money is conserved to the micro-cent, replaying the entries gives the same meters, nobody is
paid more than the policy states, and a win reversed and recorded again changes nothing else.

The model in `books_model` shares no code with the ledger. `test_books_mutations` breaks the ledger
in the ways listed there and shows that these histories notice each of them.
"""

from __future__ import annotations

import copy
import dataclasses
from collections import defaultdict
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from manager.audit.audit import audit
from manager.ledger.corrections.adjustments import increase, reduce
from manager.ledger.corrections.reasons import Increase, Reduction, ReversalReason, Signed
from manager.ledger.corrections.replacement import record_instead
from manager.ledger.corrections.reversal import reverse_win
from manager.ledger.corrections.term_changes import change_terms
from manager.ledger.errors import LedgerError
from manager.ledger.jackpots import Standing
from protocol.wire.messages import Award, Committed, Error
from tests.fuzz.books_model import (
    CENT,
    ENVY_CENTS,
    FIXED_CENTS,
    HANDS,
    WAGER_CENTS,
    WHOLE,
    Draw,
    Meter,
    Win,
    basis_of,
)
from tests.kit.pretend_books import LEVELS, TERMS, TWO, Books, document, game

TABLES = ("touch-1", "touch-2")
SENSORS = ("1A", "2A", "4A", "6A")
METERS = ("top", "low")
RATES = {"top": (123_457, 41_239), "low": (50_001, 7)}
OPENING_CENTS = {"top": 34_567, "low": 1_234}
SEED_CENTS = {"top": 34_590, "low": 901}
LIMIT_CENTS = {"top": 34_600, "low": 0}
picks = st.dictionaries(
    st.sampled_from(SENSORS), st.sampled_from([*HANDS, *FIXED_CENTS]), min_size=1, max_size=4
)


class BooksHistories(RuleBasedStateMachine):
    policy = "sequential"
    house = False
    freeze_claims = False

    def __init__(self) -> None:
        super().__init__()
        self.books = Books()
        self.meters = {meter_id: self._meter(meter_id) for meter_id in METERS}
        self.rounds = dict.fromkeys(TABLES, 0)
        self.is_on = dict.fromkeys(TABLES, False)
        self.claims = dict.fromkeys(TABLES, 0)
        self.claimed: dict[str, dict[str, int]] = {table_id: {} for table_id in TABLES}
        self.wins: list[Win] = []
        self.players = 0
        self.share = 0
        self.pocket = 0
        self.made_up = 0
        for table_id in TABLES:
            self.books.open(self._document(table_id), table_id)

    def _meter(self, meter_id: str) -> Meter:
        contribution, reserve = (0, 0) if self.house else RATES[meter_id]
        opening = SEED_CENTS[meter_id] if self.house else OPENING_CENTS[meter_id]
        limit = 0 if self.house else LIMIT_CENTS[meter_id]
        return Meter(
            self.policy,
            self.house,
            opening * CENT,
            SEED_CENTS[meter_id] * CENT,
            contribution,
            reserve,
            limit * CENT,
        )

    def _document(self, table_id: str) -> str:
        jackpots = {}
        for meter_id, meter in self.meters.items():
            jackpots[meter_id] = TERMS | {
                "type": "house" if self.house else "progressive",
                "award_policy": self.policy,
                "seed": _money(SEED_CENTS[meter_id]),
                "opening": _money(meter.house // CENT),
                "limit": _money(meter.limit // CENT),
                "contribution_ppm": meter.contribution_ppm,
                "reserve_ppm": meter.reserve_ppm,
                "freeze_claims": self.freeze_claims,
            }
        played = {"A": game(LEVELS.id, mega="top", minor="low")}
        return document(table_id, jackpots, played)

    # -- play --------------------------------------------------------------------------------

    @rule(table_id=st.sampled_from(TABLES))
    def start(self, table_id: str) -> None:
        if self.is_on[table_id]:
            self.books.end(table_id, self.rounds[table_id])
        self._start(table_id)

    def _start(self, table_id: str) -> None:
        self.rounds[table_id] += 1
        self.is_on[table_id] = True
        self.claimed[table_id] = {}
        self.books.start(table_id, self.rounds[table_id], *SENSORS)
        for _ in SENSORS:
            self.players -= WAGER_CENTS * CENT
            taken = sum(meter.wager() for meter in self.meters.values())
            self.share += WAGER_CENTS * CENT - taken

    @rule(table_id=st.sampled_from(TABLES), hands=picks)
    def win(self, table_id: str, hands: dict[str, str]) -> None:
        if not self.is_on[table_id]:
            self._start(table_id)
        round_number = self.rounds[table_id]
        free = {s: h for s, h in hands.items() if not self._is_claimed(table_id, s)}
        if not free:
            return
        self.claims[table_id] += 1
        number = self.claims[table_id]
        named = {f"_{sensor}": hand for sensor, hand in free.items()}
        outcome = self.books.claim(table_id, round_number, number, **named)
        if self._shares_again(table_id, round_number, free):
            assert isinstance(outcome.answers[0], Error)
            return
        self._commit(table_id, round_number, number, free, outcome)

    @rule(table_id=st.sampled_from(TABLES), sensor=st.sampled_from(SENSORS))
    def win_once_more(self, table_id: str, sensor: str) -> None:
        """Another claim of the same round, for all of a meter."""
        if self.is_on[table_id]:
            self.win(table_id, {sensor: "mega"})

    def _commit(
        self, table_id: str, round_number: int, number: int, hands: dict[str, str], outcome: Any
    ) -> None:
        award = self.books.receive_award(table_id, outcome)
        assert isinstance(award, Award)
        win = self._settle(table_id, round_number, hands)
        assert {line.sensor: line.amount_cents for line in award.lines} == win.amounts
        (committed,) = self.books.by_card(table_id, round_number, number).answers
        assert isinstance(committed, Committed)
        assert {line.sensor: line.amount_cents for line in committed.lines} == win.amounts
        assert [line.sensor for line in committed.lines] == sorted(win.amounts, reverse=True)
        win.envy_cents = sum(line.amount_cents for line in committed.envy)
        others = {h: len(SENSORS) - 1 for h in ENVY_CENTS}
        wanted = sum(ENVY_CENTS[h] * others[h] for h in hands.values() if h in ENVY_CENTS)
        assert win.envy_cents == wanted
        self.players += win.envy_cents * CENT
        self.wins.append(win)
        for sensor in hands:
            self.claimed[table_id][sensor] = win.number

    def _settle(self, table_id: str, round_number: int, hands: dict[str, str]) -> Win:
        """The model's own award, applied to the model's meters."""
        ordered = sorted(hands, key=lambda sensor: -int(sensor[:-1]))
        win = Win(len(self.wins) + 1, table_id, round_number, {}, 0, {}, {}, {})
        for sensor in ordered:
            if hands[sensor] in FIXED_CENTS:
                win.amounts[sensor] = FIXED_CENTS[hands[sensor]]
        for meter_id, meter in self.meters.items():
            here = [s for s in ordered if HANDS.get(hands[s], ("", 0))[0] == meter_id]
            if not here:
                continue
            basis, spent = basis_of(self.wins, table_id, round_number, meter_id)
            win.bases[meter_id] = meter.total
            shares = [HANDS[hands[sensor]][1] for sensor in here]
            amounts, draw = meter.pay(shares, basis, spent)
            win.amounts.update(zip(here, amounts, strict=True))
            win.draws[meter_id] = draw
            win.epochs[meter_id] = meter.epoch
            self.pocket += draw.pocket
        self.players += sum(win.amounts.values()) * CENT
        return win

    def _is_claimed(self, table_id: str, sensor: str) -> bool:
        number = self.claimed[table_id].get(sensor)
        return number is not None and not self.wins[number - 1].reversed

    def _shares_again(self, table_id: str, round_number: int, hands: dict[str, str]) -> bool:
        """The winners of a shared award must be claimed together."""
        if self.policy != "equal_share":
            return False
        whole = [HANDS[h][0] for h in hands.values() if h in HANDS and HANDS[h][1] == WHOLE]
        return any(basis_of(self.wins, table_id, round_number, meter)[1] for meter in whole)

    # -- corrections -------------------------------------------------------------------------

    @precondition(lambda self: any(not win.reversed for win in self.wins))
    @rule(index=st.integers(0, 20))
    def reverse(self, index: int) -> None:
        win = self._standing(index)
        with pytest.raises(LedgerError, match="second person"):
            reverse_win(self.books.manager.book, win.number, ReversalReason.NOT_WON, Signed("A"))
        self._reverse(win)
        with pytest.raises(LedgerError, match="reversed already"):
            reverse_win(self.books.manager.book, win.number, ReversalReason.NOT_WON, TWO)

    @precondition(lambda self: any(self._is_clean(win) for win in self.wins))
    @rule(index=st.integers(0, 3))
    def reverse_and_record_again(self, index: int) -> None:
        """Only contributions came since: everything must be as if nothing had been done."""
        book = self.books.manager.book
        clean = [win for win in reversed(self.wins) if self._is_clean(win)]
        win = clean[index % len(clean)]
        balances, standings = self.books.store.balances(), self._standings()
        meters = {meter_id: copy.copy(meter) for meter_id, meter in self.meters.items()}
        players, pocket = self.players, self.pocket
        self._reverse(win)
        number = record_instead(book, win.number, TWO)
        old, new = book.wins.find(win.number), book.wins.find(number)
        assert old is not None
        assert new is not None
        assert (new.lines, new.envy, new.replaces) == (old.lines, old.envy, old.number)
        assert self.books.store.balances() == balances
        assert [each.terms for each in self._standings()] == [each.terms for each in standings]
        assert [each.pending for each in self._standings()] == [each.pending for each in standings]
        self.meters, self.players, self.pocket = meters, players, pocket
        # The win stands again under another number; what it moved is what it had moved.
        self.wins.append(dataclasses.replace(win, number=number, reversed=False))
        if self.rounds[win.table_id] == win.round_number:
            for sensor in win.amounts:
                self.claimed[win.table_id][sensor] = number

    def _standings(self) -> list[Standing]:
        return [self.books.manager.book.jackpots.standing(meter_id) for meter_id in METERS]

    def _is_clean(self, win: Win) -> bool:
        epochs = win.epochs.items()
        return not win.reversed and all(self.meters[m].epoch == epoch for m, epoch in epochs)

    def _standing(self, index: int) -> Win:
        standing = [win for win in self.wins if not win.reversed]
        return standing[index % len(standing)]

    def _reverse(self, win: Win) -> None:
        reverse_win(self.books.manager.book, win.number, ReversalReason.NOT_WON, TWO)
        win.reversed = True
        self.players -= (sum(win.amounts.values()) + win.envy_cents) * CENT
        for meter_id, draw in win.draws.items():
            self._undo(meter_id, draw)

    def _undo(self, meter_id: str, draw: Draw) -> None:
        """What came in since stays; a part that is no longer there is made up, never created."""
        meter = self.meters[meter_id]
        self.pocket -= draw.pocket
        total, reserve = meter.undo(draw)
        found = self.books.meter(meter_id)
        if min(meter.parts) >= 0:
            assert found == meter.parts
        elif total >= 0:
            assert (found[0] + found[1], found[2]) == (total, reserve)
        else:
            assert found == (0, 0, max(0, total + reserve))
            self.made_up += max(0, -(total + reserve))
        meter.player, meter.house, meter.reserve = found

    @precondition(lambda self: not self.house)
    @rule(
        meter_id=st.sampled_from(METERS),
        cents=st.integers(1, 3_000),
        reason=st.sampled_from([*Increase, *Reduction]),
    )
    def adjust(self, meter_id: str, cents: int, reason: Increase | Reduction) -> None:
        meter, book = self.meters[meter_id], self.books.manager.book
        if not cents:
            return
        if isinstance(reason, Increase):
            possible = not meter.limit or meter.total + cents * CENT <= meter.limit
            with _refused_unless(possible):
                increase(book, meter_id, cents, reason, Signed("Ann"))
        else:
            with pytest.raises(LedgerError, match="second person"):
                reduce(book, meter_id, cents, reason, Signed("Ann"))
            possible = cents * CENT <= self._most(meter, reason)
            with _refused_unless(possible):
                reduce(book, meter_id, cents, reason, TWO)
        if possible:
            self._adjusted(meter, cents * CENT, reason)

    @precondition(lambda self: not self.house)
    @rule(meter_id=st.sampled_from(METERS))
    def recover_the_seed(self, meter_id: str) -> None:
        """The house takes back all it has on the meter, as far as whole cents go."""
        self.adjust(meter_id, self.meters[meter_id].house // CENT, Reduction.SEED_RECOVERY)

    def _most(self, meter: Meter, reason: Reduction) -> int:
        above_limit = max(0, meter.total - meter.limit) if meter.limit else 0
        return {
            Reduction.GROSS_RECEIPTS: meter.reserve,
            Reduction.SEED_RECOVERY: meter.house,
            Reduction.OVER_LIMIT: above_limit,
        }.get(reason, meter.total)

    def _adjusted(self, meter: Meter, amount: int, reason: Increase | Reduction) -> None:
        meter.epoch += 1
        player = min(amount, meter.player)
        if reason is Increase.TOP_UP:
            meter.house += amount
        elif reason is Increase.MALFUNCTION:
            meter.player += amount
        elif reason is Reduction.GROSS_RECEIPTS:
            meter.reserve -= amount
            self.share += amount
        elif reason is Reduction.SEED_RECOVERY:
            meter.house -= amount
        else:
            meter.player -= player
            meter.house -= amount - player
            meter.reserve += amount if reason is Reduction.OVER_LIMIT else 0
            self.players += amount if reason is Reduction.AMOUNT_WON else 0

    @precondition(lambda self: not self.house)
    @rule(
        meter_id=st.sampled_from(METERS),
        seed_cents=st.integers(0, 34_600),
        contribution_ppm=st.integers(0, 400_000),
    )
    def change(self, meter_id: str, seed_cents: int, contribution_ppm: int) -> None:
        """Nothing moves now; the next reseed brings it."""
        meter = self.meters[meter_id]
        wanted = {"seed": seed_cents * CENT, "contribution_ppm": contribution_ppm}
        now = meter.pending or {"seed": meter.seed, "contribution_ppm": meter.contribution_ppm}
        changes = {"seed_cents": seed_cents, "contribution_ppm": contribution_ppm}
        with _refused_unless(wanted != now):
            change_terms(self.books.manager.book, meter_id, changes, TWO)
        if wanted != now:
            meter.pending = wanted
            meter.epoch += 1

    # -- what must hold after every step -----------------------------------------------------

    @invariant()
    def the_meters_are_what_the_model_says(self) -> None:
        for meter_id, meter in self.meters.items():
            assert self.books.meter(meter_id) == meter.parts, meter_id

    @invariant()
    def money_is_conserved_to_the_micro_cent(self) -> None:
        balances = self.books.store.balances()
        assert sum(balances.values()) == 0
        assert balances.get("players", 0) == self.players
        assert balances.get("house/share", 0) == self.share
        pocket = "house/prizes" if self.house else "house/shortfall"
        assert balances.get(pocket, 0) == -self.pocket - (0 if self.house else self.made_up)

    @invariant()
    def the_entries_replayed_give_the_same_meters(self) -> None:
        """Told again from the postings alone, without any kept balance."""
        replayed: defaultdict[str, int] = defaultdict(int)
        for recorded, _ in self.books.store.recorded():
            for account, amount in recorded.postings:
                replayed[account] += amount
        for meter_id in METERS:
            names = (f"meter/{meter_id}/player", f"meter/{meter_id}/house", f"reserve/{meter_id}")
            assert tuple(replayed[name] for name in names) == self.books.meter(meter_id)

    def teardown(self) -> None:
        finding = audit(self.books.store)
        assert finding.sound, finding.sentence
        self.books.store.close()


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def _refused_unless(possible: bool) -> AbstractContextManager[object]:
    return nullcontext() if possible else pytest.raises(LedgerError)


class ShareHistories(BooksHistories):
    policy = "equal_share"


class FullHistories(BooksHistories):
    policy = "each_full"


class HouseHistories(BooksHistories):
    policy = "each_full"
    house = True


class LockHistories(BooksHistories):
    """Amounts are fixed at the claim and paid as fixed."""

    policy = "equal_share"
    freeze_claims = True
