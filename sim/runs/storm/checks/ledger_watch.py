"""Watches one manager's ledger: every entry explained by an event, every event taken in once.

After each commit it reads what is new and compares it with books of its own, posting by posting;
after each restart it makes sure that nothing it had seen committed is gone. It reads rows through
the manager's own connection (the file is locked for others) and does its own hashing and adding.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, deque
from collections.abc import Callable
from itertools import groupby
from typing import Any

import cbor2

from manager.ledger.store.ledger import Ledger
from sim.runs.storm import marks
from sim.runs.storm.checks import kinds, operator_acts, restored
from sim.runs.storm.checks.alarm_watch import AlarmWatch, IsCopied
from sim.runs.storm.checks.awards import MICRO
from sim.runs.storm.checks.books import Books
from sim.runs.storm.checks.claims import Expected
from sim.runs.storm.checks.game_acts import GameActs, is_of_people
from sim.runs.storm.checks.operator_acts import Act
from sim.runs.storm.checks.terms import TableTerms
from sim.runs.storm.checks.unit_view import Event, UnitView
from sim.runs.storm.record import Record

_FORM = b"underfelt ledger chain 1"
_ENTRIES = (
    "SELECT t.number, t.kind, t.table_id, t.round_number, t.sensor, t.claim_number, t.sentence,"
    " t.detail, t.commit_ms, t.unit_id, t.event_sequence, t.event_monotonic_ms, t.event_wall_ms,"
    " t.event_digest, t.changes, t.digest, p.account, p.amount_microcents FROM transactions t"
    " LEFT JOIN postings p ON p.transaction_number = t.number WHERE t.number > ?"
    " ORDER BY t.number, p.position"
)
_SUCCESSIONS = "SELECT code FROM alarms WHERE unit_id = ? AND code IN (?, ?) ORDER BY number"
KnowsEvent = Callable[[str, int, bytes], bool]


# The one entry of a storm that no event causes: its people release a unit whose disk was copied.
UNIT_RELEASED = "UNIT_RELEASED"
# People let a unit go on with a new journal, and it does.
PERMITTED, ADOPTED = "NEW_JOURNAL_PERMITTED", "NEW_JOURNAL"


class LedgerWatch:
    def __init__(
        self,
        name: str,
        record: Record,
        knows_event: KnowsEvent,
        is_copied: IsCopied,
        on_event: Callable[[str, Event], None],
    ) -> None:
        self.name = name
        self.units: dict[str, UnitView] = {}
        self.books = Books()
        self.game_acts = GameActs(self.books, record)
        self._record = record
        self._knows_event = knows_event
        self._alarms = AlarmWatch(name, record, self.books, self.game_acts, is_copied)
        self._on_event = on_event
        self._entry_count = 0
        self._digest = b""
        self._digests: list[bytes] = []  # of every entry, from the first on
        self._shown: list[dict[str, int]] = []  # the meters after each of them
        self._win_count = 0
        self._due: deque[Expected] = deque()
        self._releases: dict[str, int] = {}
        self._permits: Counter[str] = Counter()  # how often people let each unit go on
        self._acts: list[Act] = []
        self._cause = b""  # the digest of the event that the books took in last

    def open_table(self, terms: TableTerms) -> None:
        self._due.extend(self.books.open_table(terms))

    def people_release(self, table_id: str) -> None:
        """Two people are about to release this table's unit: one entry of theirs may come."""
        self._releases[table_id] = self._releases.get(table_id, 0) + 1

    def people_permit(self, unit_id: str) -> None:
        """An operator lets this unit go on with a new journal."""
        self._permits[unit_id] += 1

    def people_act(self, act: Act) -> None:
        """Operators are about to ask for this; its entry may come, once."""
        self._acts.append(act)

    def people_gave_up(self, act: Act) -> None:
        """It was refused: nothing may come of it."""
        self._acts.remove(act)

    def last_sequence(self, unit_id: str) -> int:
        return self.units[unit_id].last_sequence if unit_id in self.units else 0

    def open_claims(self) -> int:
        return sum(claim.state in ("open", "owed") for claim in self.books.claims.values())

    # -- looking -----------------------------------------------------------------------------

    def look(self, store: Ledger) -> None:
        """Takes in what was committed since the last look."""
        self._read_units(store)
        for number, rows in groupby(store.rows(_ENTRIES, (self._entry_count,)), lambda r: r[0]):
            self._entry(store, number, list(rows))
        for unit_id, unit in self.units.items():
            while unit.waiting:
                self._next_event(unit_id, unit)
        self._refuse_leftovers()
        self._read_wins(store)
        self._alarms.look(store)
        self._compare_balances(store)

    def restarted(self, store: Ledger) -> bool:
        """Everything seen committed must still be there. True when more is there than was seen."""
        before = (self._entry_count, self._event_count())
        row = store.row("SELECT digest FROM transactions WHERE number = ?", (self._entry_count,))
        if self._entry_count and (row is None or row[0] != self._digest):
            self._violate("durable before acknowledged", f"entry {self._entry_count} is gone")
        for unit_id, unit in self.units.items():
            self._still_there(store, unit_id, unit)
        if not self._record.violations:
            self.look(store)
        self._acts.clear()  # what is not there now went with the process
        self.game_acts.forget()
        return before != (self._entry_count, self._event_count())

    def _still_there(self, store: Ledger, unit_id: str, unit: UnitView) -> None:
        if not unit.digests:
            return
        row = store.row(
            "SELECT digest FROM events WHERE unit_id = ? AND journal_id = ? AND sequence = ?",
            (unit_id, unit.journal_id, unit.last_sequence),
        )
        if row is None or row[0] != unit.digests[-1]:
            self._violate(
                "durable before acknowledged", f"event {unit.last_sequence} of {unit_id} is gone"
            )

    def _event_count(self) -> int:
        return sum(unit.last_sequence for unit in self.units.values())

    # -- events ------------------------------------------------------------------------------

    def _read_units(self, store: Ledger) -> None:
        for unit_id, table_id, journal_id, last, lock in store.rows(
            "SELECT unit_id, table_id, journal_id, last_sequence, lock_sentence FROM units"
            " ORDER BY unit_id"
        ):
            unit = self.units.setdefault(unit_id, UnitView(table_id, journal_id))
            unit.locked = bool(lock)
            if unit.journal_id != journal_id:
                self._read_events(store, unit_id, unit)  # the last of the journal before
                if not self._is_permitted(store, unit_id):
                    self._violate("chains verify", f"{unit_id} was given another journal")
                unit.begins(journal_id)
            if last != unit.last_sequence:
                self._read_events(store, unit_id, unit)
            if last != unit.last_sequence:
                self._violate("no gap", f"{unit_id} is at {last}, its events end elsewhere")

    def _is_permitted(self, store: Ledger, unit_id: str) -> bool:
        """Every new journal of this unit follows a permit of its own, and people gave each of them.

        The order is the ledger's. While commits are slow people permit again what has gone on
        already, and that permit stands for the next journal.
        """
        codes = [code for (code,) in store.rows(_SUCCESSIONS, (unit_id, PERMITTED, ADOPTED))]
        is_each_permitted = all(
            before == PERMITTED
            for before, code in zip(["", *codes], codes, strict=False)
            if code == ADOPTED
        )
        return is_each_permitted and codes.count(PERMITTED) <= self._permits[unit_id]

    def _read_events(self, store: Ledger, unit_id: str, unit: UnitView) -> None:
        for sequence, kind, body, monotonic_ms, wall_ms, digest in store.rows(
            "SELECT sequence, kind, body, monotonic_ms, wall_ms, digest FROM events"
            " WHERE unit_id = ? AND journal_id = ? AND sequence > ? ORDER BY sequence",
            (unit_id, unit.journal_id, unit.last_sequence),
        ):
            previous = unit.digests[-1] if unit.digests else unit.journal_id.ljust(32, b"\0")
            parts = [cbor2.dumps(each) for each in (sequence, kind, monotonic_ms, wall_ms)]
            covered = b"\x85" + parts[0] + parts[1] + body + parts[2] + parts[3]
            if sequence != unit.last_sequence + 1:
                self._violate("no gap", f"event {sequence} of {unit_id} came out of turn")
            if hashlib.sha256(previous + covered).digest() != digest:
                self._violate("chains verify", f"event {sequence} of {unit_id} does not follow")
            if not self._knows_event(unit_id, sequence, digest):
                self._violate("nothing invented", f"nobody recorded event {sequence} of {unit_id}")
            unit.digests.append(digest)
            unit.waiting.append(Event(sequence, kind, cbor2.loads(body), digest))

    def _next_event(self, unit_id: str, unit: UnitView) -> None:
        self._refuse_leftovers()
        event = unit.waiting.popleft()
        self._cause = event.digest
        if self._was_taken(unit_id, unit, event):
            return
        self._on_event(unit_id, event)
        wrong = self.game_acts.taken_in(unit.table_id, event.kind, event.body)
        if wrong:
            self._violate("two people decided it", wrong)
        self._due.extend(self.books.event(unit.table_id, event.kind, event.body))

    def _was_taken(self, unit_id: str, unit: UnitView, event: Event) -> bool:
        """It was recorded anew after a restore, and did before what it does."""
        if event.kind == kinds.RESTORED:
            journal_id, digests = unit.ended[-1] if unit.ended else (b"", [])
            if (bytes(event.body[1]), event.body[2]) != (journal_id, len(digests)):
                self._violate("a restored unit goes on where it was", f"not so {unit_id}")
        was_taken = any(unit.took(place) for place in restored.places_of(event.body))
        if restored.KNOWN_KEY in event.body and not was_taken:
            self._violate("nothing invented", f"{unit_id} was told what never was: {event}")
        if restored.is_anew(event.body) and not was_taken:
            self._record.marks.fire(marks.RESTORED_UNDELIVERED)
        return was_taken

    # -- entries -----------------------------------------------------------------------------

    def _entry(self, store: Ledger, number: int, rows: list[tuple[Any, ...]]) -> None:
        head, digest = rows[0], rows[0][15]
        postings = [(row[16], row[17]) for row in rows if row[16] is not None]
        if number != self._entry_count + 1:
            self._violate("no gap", f"ledger entry {number} follows {self._entry_count}")
        if _digest(self._digest or _genesis(store), head, postings) != digest:
            self._violate("chains verify", f"ledger entry {number} does not match its digest")
        self._entry_count, self._digest = number, digest
        self._record.note("ledger", self.name, number, head[1], digest.hex()[:16])
        if sum(amount for _, amount in postings) != 0:
            self._violate("money conserved", f"ledger entry {number} does not add up to zero")
        self._advance(head[9], head[13])
        if head[1] in ("EVENT", "NOTE"):
            self._moved_nothing(number, postings)
        else:
            self._match(number, head, dict(postings))
        self._digests.append(digest)
        moved = bool(postings) or not self._shown or head[1] == "OPENING"  # of nothing, perhaps
        self._shown.append(shown_cents(self.books) if moved else self._shown[-1])

    def digest_at(self, number: int) -> bytes | None:
        """The digest of this entry; None when it is not committed."""
        return self._digests[number - 1] if 0 < number <= len(self._digests) else None

    def shown_at(self, number: int) -> dict[str, int] | None:
        """What each meter showed after this entry; None when it is not committed."""
        return self._shown[number - 1] if 0 < number <= len(self._shown) else None

    def _moved_nothing(self, number: int, postings: list[tuple[str, int]]) -> None:
        if postings:
            self._violate("money conserved", f"ledger entry {number} moves money and says it not")

    def _advance(self, unit_id: str, digest: bytes) -> None:
        """The books take in what came before an entry, and what caused it."""
        unit = self.units.get(unit_id)
        if unit is not None and any(event.digest == digest for event in unit.waiting):
            while self._cause != digest:
                self._next_event(unit_id, unit)

    def _match(self, number: int, head: tuple[Any, ...], postings: dict[str, int]) -> None:
        found = Expected(head[1], head[2], head[3], head[4], head[5], postings)
        if head[1] == UNIT_RELEASED and self._releases.get(head[2], 0) and not postings:
            self._releases[head[2]] -= 1
            return
        if head[1] in operator_acts.KINDS:
            self._match_act(number, head[1], json.loads(head[7])["meter"], postings)
            return
        if not self._due and is_of_people(found, head[9]):
            self._due.extend(self.game_acts.begin(found))
        if not self._due or (head[9] and self._cause != head[13]):
            by = f"{head[9]} {head[10]}"
            self._violate("counted once", f"entry {number} has no cause: {found} by {by}")
            return
        wanted = self._due.popleft()
        if wanted != found:
            self._violate("money as the rules say", f"wanted {wanted}, found {found}")

    def _match_act(self, number: int, kind: str, meter: str, postings: dict[str, int]) -> None:
        for act in self._acts:
            if (act.kind, act.meter) == (kind, meter):
                wanted = self.books.operator(act)
                if wanted != postings:
                    sentence = f"{act} moves {wanted}, found {postings}"
                    self._violate("money as the rules say", sentence)
                self._acts.remove(act)
                return
        self._violate("counted once", f"entry {number}: nobody asked for {kind} of {meter}")

    def _refuse_leftovers(self) -> None:
        if self._due:
            by = self._cause.hex()[:16]
            self._violate("nothing lost", f"event {by} booked too little: {self._due[0]}")
            self._due.clear()

    # -- wins, balances ----------------------------------------------------------------------

    def _read_wins(self, store: Ledger) -> None:
        for number, table_id, claim_number in store.rows(
            "SELECT number, table_id, claim_number FROM wins WHERE number > ? ORDER BY number",
            (self._win_count,),
        ):
            self._win_count = number
            self._record.win_count += 1
            self._win(store, number, table_id, claim_number)
        if self._win_count != self.books.win_count:
            self._violate("no win lost", f"{self._win_count} wins, {self.books.win_count} commits")

    def _win(self, store: Ledger, number: int, table_id: str, claim_number: int) -> None:
        claim = self.books.claims.get((table_id, claim_number))
        if claim is None or claim.win_number != number:
            self._violate("no win paid twice", f"win {number} of {table_id} has no commit")
            return
        wanted = [
            (line.sensor, line.hand, cents, line.terms.meter)
            for line, cents in zip(claim.lines, claim.amounts_cents, strict=True)
        ]
        found = store.rows(
            "SELECT sensor, hand, amount_cents, meter_id FROM win_lines WHERE win_number = ?"
            " ORDER BY position",
            (number,),
        )
        envy = store.rows(
            "SELECT sensor, amount_cents FROM win_envy WHERE win_number = ? ORDER BY position",
            (number,),
        )
        if (found, envy) != (wanted, claim.envy):
            self._violate("amounts as the rules say", f"win {number}: {wanted}, found {found}")
        for policy in self.books.policies_met(claim):
            self._record.marks.fire(marks.SEVERAL_AWARDS[policy])

    def _compare_balances(self, store: Ledger) -> None:
        kept: dict[str, int] = dict(store.rows("SELECT account, amount_microcents FROM balances"))
        found = {account: amount for account, amount in kept.items() if amount}
        wanted = {name: amount for name, amount in self.books.balances.items() if amount}
        if found != wanted:
            self._violate("money conserved", f"balances {found}, by our own adding {wanted}")
        for name, meter in self.books.meters.items():
            opening = meter.terms.opening_cents * MICRO
            by_people = meter.adjusted + meter.taken_back
            total = opening + meter.contributed - meter.awarded + meter.reseeded + by_people
            shown = kept.get(f"meter/{name}/player", 0) + kept.get(f"meter/{name}/house", 0)
            if shown != total:
                self._violate("meter explained", f"meter {name} is {shown}, its history {total}")
        if sum(kept.values()) != 0:
            self._violate("money conserved", f"all balances add up to {sum(kept.values())}")

    def _violate(self, rule: str, sentence: str) -> None:
        self._record.violate(rule, self.name, sentence)


def shown_cents(books: Books) -> dict[str, int]:
    return {name: meter.total // MICRO for name, meter in books.meters.items()}


def _genesis(store: Ledger) -> bytes:
    row = store.row("SELECT value FROM meta WHERE key = 'ledger_id'")
    assert row is not None
    return hashlib.sha256(_FORM + row[0]).digest()


def _digest(previous: bytes, head: tuple[Any, ...], postings: list[tuple[str, int]]) -> bytes:
    """The chain's form by the documents, not by the ledger's own code."""
    numbers = [
        head[0],
        head[3],
        head[5],
        head[8],
        *head[10:13],
        *(amount for _, amount in postings),
    ]
    texts = [head[1], head[2], head[4], head[6], head[7], head[9], *(name for name, _ in postings)]
    written, event_digest, changes = "\0".join(texts).encode(), head[13], head[14]
    lengths = (len(numbers), len(written), len(event_digest), len(changes))
    form = b"".join(each.to_bytes(4, "big") for each in lengths)
    form += b"".join(each.to_bytes(8, "big", signed=True) for each in numbers)
    return hashlib.sha256(previous + form + written + event_digest + changes).digest()
