"""Drawn evenings of a manager with three tables, told line by line: what happens, what is booked.

Units that know no rules say anything, right and wrong. No sentence is told, only codes, numbers and
amounts: sentences have tests of their own. At the end the books are audited, and reports are told.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from manager.audit.audit import audit
from manager.intake.intake import Outcome
from manager.ledger.engines.relations import RELATIONS
from manager.ledger.errors import LedgerError
from manager.ledger.reports.bank import bank_covers, counts
from manager.ledger.reports.day_reports import day_report
from manager.ledger.reports.gaming_day import GamingDay
from protocol import numbers
from protocol.wire import events
from protocol.wire.errors import ProtocolError
from protocol.wire.messages import Award, Committed, Event, Message
from protocol.wire.rows import ClaimedHand
from tests.kit.pretend_books import LEVELS, TERMS, Books, document, game
from tests.kit.pretend_units import EXECUTIVE_ACCOUNT, SUPERVISOR_ACCOUNT, awarded, settled

TABLES = ("touch-1", "touch-2", "keys-3")
ACTS_AN_EVENING = 100
HOUR_MS = 3_600_000
HANDS = (*("mega", "tenth", "minor", "fifty") * 5, "no-such-hand")
SENSORS = ("1A", "2A", "5A", "7A")
# What is read by people, or follows from what is told anyway.
NOT_TOLD = ("transactions", "postings", "events", "tables", "settings", "swipes")
SENTENCES = ("sentence", "label", "body", "digest", "detail", "card_salt", "ticket")


def told(seed: int) -> list[str]:
    """One evening."""
    evening = Evening(seed)
    for _ in range(ACTS_AN_EVENING):
        evening.go_on()
    return evening.end()


class Evening:
    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.books = Books()
        self.lines = [f"evening {seed}"]
        self.said: dict[str, list[Event]] = {table_id: [] for table_id in TABLES}
        self.awards: dict[str, Award] = {}
        self.committed: dict[str, Committed] = {}
        self.rounds = dict.fromkeys(TABLES, 0)
        self.claims = dict.fromkeys(TABLES, 0)
        self._told = 0
        self._seen: dict[str, str] = {}
        policy = ("sequential", "equal_share", "each_full")[seed % 3]
        for table_id in TABLES:
            self.books.open(self._document(table_id, policy, seed), table_id)
        self._tell()

    def _document(self, table_id: str, policy: str, seed: int) -> str:
        shared = {"award_policy": policy, "freeze_claims": seed % 4 == 1}
        mega = TERMS | shared | {"limit": "1500.00" if seed % 2 else "0.00"}
        minor = TERMS | shared | {"label": "Minor", "seed": "50.00", "opening": "60.00"}
        if seed % 5 == 4:
            mega |= {"fixed_pays_from": "meter"}
        played = {"A": game(LEVELS.id, mega="mega", minor="minor")}
        workflow = "keypad" if table_id == "keys-3" else "touch"
        sections: dict[str, Any] = {}
        if seed % 3 == 1:
            sections["authority"] = {
                "dealer_limit": "25.00",
                "executive_percent": 100,
                "executive_from": "500.00",
                "key": "SUPERVISOR",
                "confirm_from": "900.00",
            }
        return document(table_id, {"mega": mega, "minor": minor}, played, workflow, **sections)

    def go_on(self) -> None:
        table_id = self.chance.choice(TABLES)
        act = self._due(table_id) if self.chance.random() < 0.65 else self.chance.choice(self._acts)
        self.books.clock.ms += self.chance.choice((100, 5_000, 60_000))
        self.lines.append(f" {table_id} {act.__name__.strip('_')}")
        try:
            outcome = act(table_id)
        except (LedgerError, ProtocolError) as refusal:
            self.lines.append(f"   refused: {type(refusal).__name__}")
        else:
            if isinstance(outcome, Outcome):
                self._hear(table_id, outcome)
        self._tell()

    def _due(self, table_id: str) -> Callable[[str], Any]:
        """What sensible people would do next, more or less."""
        if table_id in self.committed:
            return self._settle
        if table_id in self.awards:
            return self._commit
        latest = self.books.manager.book.rounds.latest(table_id)
        if latest is None or not latest.is_on:
            return self._start
        return self.chance.choice((self._claim, self._end))

    def _round(self, table_id: str) -> int:
        """Mostly the one under way."""
        return max(1, self.rounds[table_id] + self.chance.choice((0, 0, 0, 0, 0, 0, 0, 0, 1, -1)))

    def _pick(self, table_id: str) -> tuple[str, str]:
        latest = self.books.manager.book.rounds.latest(table_id)
        accepted = latest.accepted if latest and self.chance.random() < 0.9 else ()
        return self.chance.choice(accepted or SENSORS), self.chance.choice(HANDS)

    # -- what units say ----------------------------------------------------------------------

    def _say(self, table_id: str, body: events.EventBody) -> Outcome:
        event = self.books.units[table_id].make(body)
        self.said[table_id].append(event)
        return self.books.deliver(table_id, event)

    def _start(self, table_id: str) -> Outcome:
        number = self.rounds[table_id] + 1 + self.chance.choice((0, 0, 0, 0, 0, 0, 0, 1, -1))
        sensors = tuple(s for s in SENSORS if self.chance.random() < 0.7) or ("9A",)
        body = self.books.round_start(table_id, max(1, number), *sensors)
        if self.chance.random() < 0.05:
            body = dataclasses.replace(body, wagered_cents=body.wagered_cents + 100)
        if self.chance.random() < 0.3:
            body = dataclasses.replace(body, joined=((1, 2),))
        outcome = self._say(table_id, body)
        latest = self.books.manager.book.rounds.latest(table_id)
        self.rounds[table_id] = latest.number if latest else 0
        return outcome

    def _end(self, table_id: str) -> Outcome:
        return self._say(table_id, events.RoundEnd(self._round(table_id)))

    def _hand(self, table_id: str) -> Outcome:
        return self._say(table_id, events.Hand(self._round(table_id), *self._pick(table_id)))

    def _claim(self, table_id: str) -> Outcome:
        self.claims[table_id] += self.chance.choice((1, 1, 1, 1, 1, 1, 2, 0))
        hands = dict(self._pick(table_id) for _ in range(self.chance.choice((1, 1, 2, 3))))
        claimed = tuple(ClaimedHand(sensor, hand) for sensor, hand in hands.items())
        frozen = table_id == "keys-3" or self.chance.random() < 0.1
        number = max(1, self.claims[table_id])
        return self._say(table_id, events.Claim(self._round(table_id), number, claimed, frozen))

    def _commit(self, table_id: str) -> Outcome:
        award = self.awards.get(table_id)
        number = award.claim_number if award else self.claims[table_id] or 1
        method = numbers.METHOD_KEY if table_id == "keys-3" else numbers.METHOD_CARD
        if self.chance.random() < 0.15:
            method = self.chance.choice((0, 1, 2, 3)) or numbers.METHOD_DEALER
        ticket, role = b"", self.chance.choice((0, 1, 2))
        if method == numbers.METHOD_CARD:
            account, role = self.chance.choice(
                ((EXECUTIVE_ACCOUNT, 2), (EXECUTIVE_ACCOUNT, 2), (SUPERVISOR_ACCOUNT, 1), ("4", 1))
            )
            ticket = self.books.swipe(table_id, number, account).ticket
        if award and self.chance.random() < 0.9:
            self._say(table_id, awarded(award))
        body = events.Commit(self._round(table_id), number, method, ticket, role)
        return self._say(table_id, body)

    def _settle(self, table_id: str) -> Outcome:
        return self._say(table_id, settled(self.committed.pop(table_id)))

    def _cancel(self, table_id: str) -> Outcome:
        self.awards.pop(table_id, None)
        return self._say(
            table_id, events.Cancel(self._round(table_id), max(1, self.claims[table_id]))
        )

    def _paid(self, table_id: str) -> Outcome:
        kind = self.chance.choice((events.Paid, events.TakenBack))
        return self._say(table_id, kind(self._round(table_id), 5, 500, 4_000))

    def _void(self, table_id: str) -> Outcome:
        number, by_key = self._round(table_id), table_id == "keys-3"
        purpose = numbers.SWIPE_VOID
        method = numbers.METHOD_KEY if by_key else numbers.METHOD_CARD
        ticket = b""
        if not by_key:
            ticket = self.books.swipe(table_id, number, SUPERVISOR_ACCOUNT, purpose).ticket
        body = events.Voided(number, method, numbers.ROLE_SUPERVISOR, "misdeal", ticket)
        return self._say(table_id, body)

    def _reopen(self, table_id: str) -> Outcome:
        number = max(1, self.rounds[table_id] - self.chance.choice((0, 0, 0, 1)))
        method, role = self.chance.choice(((1, 0), (3, 1), (1, 1), (2, 1)))
        return self._say(table_id, events.Reopened(number, method, role, b""))

    def _late(self, table_id: str) -> Outcome:
        body = events.LateChange(self._round(table_id), "5A", self.chance.random() < 0.5, 900)
        return self._say(table_id, body)

    def _fault(self, table_id: str) -> Outcome:
        raised = self.chance.random() < 0.5
        return self._say(table_id, events.Fault("bus", "1", raised, "The bus is stuck."))

    def _boot(self, table_id: str) -> Outcome:
        return self._say(table_id, events.Boot(3, "t", ""))

    # -- what the line does ------------------------------------------------------------------

    def _again(self, table_id: str) -> Outcome | None:
        """An event is delivered twice, or one is lost and the next one comes."""
        if not self.said[table_id]:
            return None
        return self.books.deliver(table_id, self.chance.choice(self.said[table_id][-3:]))

    def _greet(self, table_id: str) -> None:
        manager, unit = self.books.manager, self.books.units[table_id]
        hello = unit.hello(acked_sequence=max(0, unit.sequence - self.chance.choice((0, 1))))
        known = manager.units.greet(hello)
        self._answers([*manager.intake.greeted(known, hello)])
        self._answers(manager.intake.pending_answers(table_id))
        self._answers(list(manager.intake.reversals.untold(known)))

    def _restart(self, table_id: str) -> None:
        self.books.clock.ms += self.chance.choice((0, 9 * HOUR_MS))

    # -- what operators do -------------------------------------------------------------------

    def _operator(self, table_id: str) -> None:
        pick, wins = self.chance.choice, self._wins()
        picks = [self._pick(table_id) for _ in range(pick((1, 2)))]
        hands = " ".join(f"{sensor}={hand}" for sensor, hand in picks)
        request = pick(
            (
                {"command": "reverse-win", "win": pick(wins), "reason": "wrong-hand"},
                {"command": "reverse-win", "win": pick(wins), "reason": "not-won"},
                {"command": "record-win", "win": pick(wins), "hands": pick(("", hands))},
                {
                    "command": "forgotten-win",
                    "table": table_id,
                    "round": str(max(0, self.rounds[table_id] - pick((0, 1, 1, 2)))),
                    "hands": hands,
                    "reason": "misread",
                },
                {"command": "adjust", "add": pick(("12.34", "0.00")), "reason": "top-up"},
                {"command": "adjust", "take": pick(("1.00", "500.00", "9999.00"))}
                | {"reason": pick(("over-limit", "amount-won", "seed-recovery", "malfunction"))},
                {"command": "change-terms", "seed": "900.00"},
                {"command": "change-terms", "contribution": "100000"},
                {"command": "set-limit", "limit": pick(("0.00", "1200.00", "1.00"))},
                {"command": "suspend", "reason": "house-decision"},
                {"command": "resume", "jackpot": "mega"},
                {"command": "resume", "jackpot": "minor"},
                {"command": "back-out", "table": table_id, "reason": "not-won"}
                | {"claim": str(self.claims[table_id])},
                {"command": "approve", "table": table_id, "claim": str(self.claims[table_id])},
                {"command": "refuse", "table": table_id, "claim": str(self.claims[table_id])},
                {"command": "close-jackpot", "to": pick(("", "minor"))}
                if self.chance.random() < 0.1
                else {"command": "resume"},
            )
        )
        second = pick((*("Bob",) * 9, "Ann", ""))
        jackpot = pick((*("mega", "minor") * 5, "none"))
        people = {"operator": "Ann", "second": second, "jackpot": jackpot}
        self.lines.append(f"   {people | request}")
        self.books.manager.correct(people | request)

    def _wins(self) -> list[str]:
        newest = self.books.store.newest(RELATIONS["wins"])
        last = int(newest[0]) if newest else 1
        return [str(number) for number in (*range(1, last + 1), last, last + 1)]

    def _day(self, table_id: str) -> None:
        self.books.clock.ms += 24 * HOUR_MS

    @property
    def _acts(self) -> tuple[Callable[[str], Any], ...]:
        return (
            *(self._start, self._end, self._claim, self._hand, self._commit, self._cancel),
            *(self._paid, self._void, self._reopen, self._late, self._fault, self._boot),
            *(self._again, self._again, self._greet, self._greet, self._restart, self._day),
            *(self._operator,) * 16,
        )

    # -- what is told ------------------------------------------------------------------------

    def _hear(self, table_id: str, outcome: Outcome) -> None:
        problem = outcome.problem.code.name if outcome.problem else "-"
        moved = "money" if outcome.money_moved else ""
        self.lines.append(f"   acked {outcome.acked_sequence} problem {problem} {moved}".rstrip())
        self._answers(outcome.answers)
        for answer in outcome.answers:
            if isinstance(answer, Award):
                self.awards[table_id] = answer
            if isinstance(answer, Committed):
                self.awards.pop(table_id, None)
                self.committed[table_id] = answer
        if not outcome.answers:
            self.awards.pop(table_id, None)

    def _answers(self, answers: list[Message]) -> None:
        for answer in answers:
            fields = dataclasses.asdict(answer)  # type: ignore[call-overload]
            kept = {name: value for name, value in fields.items() if name not in SENTENCES}
            self.lines.append(f"   answer {type(answer).__name__} {kept}")

    def _tell(self) -> None:
        """Transactions since the last time, and every row of state that is new."""
        store = self.books.store
        for recorded, _ in store.recorded():
            if recorded.number > self._told:
                self._told = recorded.number
                self.lines.append(f"   {recorded.number} {recorded.kind} {recorded.postings}")
        for name, relation in RELATIONS.items():
            if name in NOT_TOLD:
                continue
            for row in store.find(relation, {}):
                kept = [
                    value
                    for column, value in zip(relation.columns, row, strict=True)
                    if column not in SENTENCES
                    and not isinstance(value, bytes)
                    and not str(value).endswith(".")
                ]
                place = f"{name} {row[: relation.key_count]}"
                if self._seen.get(place) != repr(kept):
                    self._seen[place] = repr(kept)
                    self.lines.append(f"   {name} {kept}")

    def end(self) -> list[str]:
        manager = self.books.manager
        finding = audit(self.books.store)
        self.lines.append(f"sound {finding.sound}")
        self.lines += [str(cover) for cover in bank_covers(manager.book)]
        self.lines += [str(counts(manager.book, meter)) for meter in ("mega", "minor")]
        gaming_day = GamingDay()
        today = gaming_day.of(self.books.store.now_ms)
        for ago in range(3):
            report = day_report(manager.book, today - timedelta(days=ago), gaming_day)
            acts = tuple(act._replace(sentence="") for act in report.acts)
            self.lines.append(f"{report.ties} {dataclasses.replace(report, acts=acts)}")
        self.books.store.close()
        return self.lines
