"""Proves a ledger from its first entry: numbers, digests, zero sums, and every row beside them.

Works on what is stored and trusts no derived figure: the books are told again from the chain and
compared row by row. It names the first thing that is wrong and changes nothing. What an amount
should have been by the rules of the game is not checked here.
"""

from __future__ import annotations

import gc
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from manager.audit.causes import CauseAudit
from manager.audit.earlier import Earlier, EarlierDays
from manager.audit.fold import Fold, FoldRefused
from manager.audit.image import Image
from manager.audit.image import digest_of as image_digest
from manager.audit.rows import first_difference
from manager.audit.terms import TermsAudit
from manager.audit.voids import VoidAudit
from manager.audit.witnesses import Witness, Witnesses, sealed_tails
from manager.ledger.engines.engine import StorageFailed
from manager.ledger.engines.relations import CLOSED_DAYS, RESTORES, TRANSACTIONS
from manager.ledger.errors import LedgerError
from manager.ledger.store.chain import Recorded, Taken, next_digest
from manager.ledger.store.entries import MOVING_NONE, Kind
from manager.ledger.store.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict: `sentence` names the first bad entry when it is not `sound`."""

    sound: bool
    transaction_count: int
    event_count: int
    sentence: str


# Most of a ledger: they change no terms and take nothing back.
_PLAIN = frozenset({str(Kind.EVENT), str(Kind.NOTE)})


_KINDS = frozenset(Kind.__members__)
# What an export holds need not even be text and numbers.
_NO_FORM = (ValueError, TypeError, AttributeError, struct.error)


class _Bad(Exception):  # noqa: N818
    """The first thing found wrong."""


def audit(ledger: Ledger, witnesses: Iterable[Witness] = (), image: Image | None = None) -> Finding:
    """Reads the whole ledger once, as of one moment; `witnesses` come from outside of it.

    With the image of a closed day it reads what came since. Then it proves that the chain holds
    this very image, that everything since follows from it, that every row which was changed since
    is kept as the chain tells it, and that no row of the days before is missing or too many. What
    those rows say, and the chain up to there, was proven when the day was closed, not now.
    """
    try:
        with ledger.snapshot(), _no_collection():
            return _audited(ledger, witnesses, image)
    except _Bad as bad:
        return Finding(False, 0, 0, str(bad))
    except StorageFailed as failed:
        return Finding(False, 0, 0, f"The ledger cannot be read: {failed}.")


def image_after(ledger: Ledger, number: int, image: Image | None = None) -> Image:
    """The books as they stood after a transaction, told anew and proven up to there."""
    chain = _Chain(ledger.genesis(), Witnesses(ledger.genesis(), ()), image, ledger)
    try:
        with ledger.snapshot(), _no_collection():
            _refuse_other_chain(ledger, image)
            for recorded, taken, digest in ledger.kept(chain.number + 1, number):
                chain.take(recorded, taken, digest)
    except _Bad as bad:
        raise LedgerError(str(bad)) from bad
    if chain.number != number:
        raise LedgerError(f"The ledger ends at transaction {chain.number}.")
    return chain.fold.image(number, chain.digest)


@contextmanager
def _no_collection() -> Iterator[None]:
    """An audit makes millions of rows and no cycles: looking for those would take half its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _audited(ledger: Ledger, witnesses: Iterable[Witness], image: Image | None) -> Finding:
    damage = ledger.damage()
    if damage:
        raise _Bad(f"The ledger is damaged: {damage}.")
    genesis = ledger.genesis()
    heard = Witnesses(genesis, [*sealed_tails(ledger), *witnesses])
    chain = _Chain(genesis, heard, image, ledger)
    if image is not None:
        _refuse_other_chain(ledger, image)
        heard.take_stored(ledger, image.number)
    take = chain.take
    for recorded, taken, digest in ledger.kept(chain.number + 1):
        take(recorded, taken, digest)
    chain.end()
    fold = chain.fold
    problem = first_difference(ledger, fold, image is not None) or chain.terms.problem(ledger)
    if problem:
        raise _Bad(problem)
    count, event_count = chain.number, fold.event_count
    sentence = f"{count} ledger transactions and {event_count} unit events are sound."
    if image is not None:
        day = _closed_by(fold, image)
        count, event_count = count - image.number, event_count - image.event_count
        sentence = (
            f"{count} ledger transactions and {event_count} unit events since day {day} are sound;"
            f" the days up to transaction {image.number} were proven when it was closed."
        )
    return Finding(True, count, event_count, _with_witnesses(sentence, heard, fold))


def _refuse_other_chain(ledger: Ledger, image: Image | None) -> None:
    if image is None:
        return
    row = ledger.get(TRANSACTIONS, image.number)
    if row is None or row[-1] != image.digest:
        raise _Bad(f"The image is of another ledger: its transaction {image.number} is not here.")


def _closed_by(fold: Fold, image: Image) -> str:
    """The day whose entry in the chain holds this image's digest."""
    digest = image_digest(image)
    for day, last_number, said, _ in fold.rows[CLOSED_DAYS.name].values():
        if last_number == image.number and said == digest:
            return str(day)
    raise _Bad(f"No closed day of the chain has the image of transaction {image.number}.")


def audit_transactions(
    genesis: bytes,
    transactions: Iterable[tuple[Recorded, bytes]],
    witnesses: Iterable[Witness] = (),
) -> tuple[Finding, dict[str, int]]:
    """The same proof for transactions from anywhere, such as an export; also their balances."""
    heard = Witnesses(genesis, witnesses)
    try:
        chain = _Chain(genesis, heard)
        for recorded, digest in transactions:
            chain.take(recorded, None, digest)
        chain.end()
    except _Bad as bad:
        return Finding(False, 0, 0, str(bad)), {}
    fold = chain.fold
    sentence = _with_witnesses(f"{chain.number} ledger transactions are sound.", heard, fold)
    return Finding(True, chain.number, 0, sentence), fold.balances


def _with_witnesses(sentence: str, heard: Witnesses, fold: Fold) -> str:
    return f"{sentence} {heard.sentence(fold.rows[RESTORES.name])}".rstrip()


class _Chain:
    """Fed with every transaction in order, from the first or from an image on."""

    def __init__(
        self,
        genesis: bytes,
        heard: Witnesses,
        image: Image | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        earlier = EarlierDays(ledger, image.number) if image and ledger else Earlier()
        self.number, self.digest = (image.number, image.digest) if image else (0, genesis)
        self.fold, self.terms = Fold(image, earlier), TermsAudit(image, earlier)
        self._voids, self._causes = VoidAudit(earlier), CauseAudit(self.fold, earlier)
        self._heard = heard
        days = ledger.find(CLOSED_DAYS, {}) if ledger else ()
        self._closed = {last_number: (day, digest) for day, last_number, digest, _ in days}

    def take(self, recorded: Recorded, taken: Taken | None, digest: bytes) -> None:
        number = self.number + 1
        if recorded.number != number:
            raise _Bad(f"Ledger transaction {number} is missing; {recorded.number} stands next.")
        kind = recorded.kind
        if recorded.postings or kind not in _PLAIN:
            _audit_entry(recorded)
        try:
            wanted = next_digest(self.digest, recorded)
        except _NO_FORM:
            wanted = b""
        if wanted != digest:
            raise _Bad(f"{_name(recorded)} does not match its digest.")
        self.number, self.digest = number, digest
        self._heard.take(number, digest)
        try:
            self.fold.take(recorded, taken)
        except FoldRefused as refused:
            raise _Bad(f"{_name(recorded)} {refused}.") from refused
        problem = self._causes.take(recorded, taken)
        if problem:
            raise _Bad(f"{_name(recorded)} {problem}.")
        if number in self._closed:
            self._check_day(*self._closed[number])
        if kind in _PLAIN:
            return
        problem = "" if kind == "WAGER" else self.terms.take(recorded)
        problem = problem or self._voids.take(recorded)
        if problem:
            raise _Bad(f"{_name(recorded)} {problem}.")

    def end(self) -> None:
        """There are no more."""
        try:
            self.fold.end()
        except FoldRefused as refused:
            raise _Bad(f"The ledger's end {refused}.") from refused
        unrecorded = self._causes.end()
        if unrecorded:
            raise _Bad(f"The ledger's last entry {unrecorded}.")
        contradiction = self._heard.problem(self.fold.rows[RESTORES.name])
        if contradiction:
            raise _Bad(contradiction)

    def _check_day(self, day: str, digest: bytes) -> None:
        if image_digest(self.fold.image(self.number, self.digest)) != digest:
            raise _Bad(f"Day {day} was closed with other books than the chain tells.")


def _audit_entry(recorded: Recorded) -> None:
    if recorded.kind not in _KINDS:
        raise _Bad(f"{_name(recorded)} has no known reason.")
    total = 0
    for _, amount_microcents in recorded.postings:
        total += amount_microcents
    if total != 0:
        raise _Bad(f"{_name(recorded)} is out of balance by {total} micro-cents.")
    if recorded.kind in MOVING_NONE and recorded.postings:
        raise _Bad(f"{_name(recorded)} moves money, which its kind cannot.")


def _name(recorded: Recorded) -> str:
    return f"Ledger transaction {recorded.number} ({recorded.kind})"
