"""What people and units outside of the ledger were told of its tail, held against the chain.

A chain can be cut or made anew by whoever owns the file, and then proves only itself. A witness is
a tail that had left the house before: in a unit's seal, on a printed page, in an export. One that
does not fit is named. Two people may have let the books go on from a backup meanwhile: then what
was told beyond that backup is excused, and the verdict says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from manager.ledger.engines.relations import RESTORES, Key, Row
from manager.ledger.store.ledger import Ledger
from protocol.proof.chain import decode_body
from protocol.wire.errors import ProtocolError
from protocol.wire.events import SEAL, Seal

_TAIL_NUMBER, _OPERATOR = RESTORES.place("tail_number"), RESTORES.place("operator")


class Witness(NamedTuple):
    name: str  # who was told, as a sentence begins
    era: int
    number: int
    digest: bytes


class Witnesses:
    """Fed with every link of the chain; keeps only the digests that somebody was told."""

    def __init__(self, genesis: bytes, witnesses: Iterable[Witness]) -> None:
        self._witnesses = list(witnesses)
        self._wanted = {witness.number for witness in self._witnesses}
        self._digests = {0: genesis}
        self._count = 0

    def take(self, number: int, digest: bytes) -> None:
        self._count = number
        if number in self._wanted:
            self._digests[number] = digest

    def take_stored(self, ledger: Ledger, last: int) -> None:
        """The digests up to this transaction, as they are stored."""
        for number in sorted(each for each in self._wanted if 0 < each <= last):
            query = "SELECT digest FROM transactions WHERE number = ?"
            for (digest,) in ledger.everywhere(query, (number,)):
                self.take(number, bytes(digest))
        self._count = max(self._count, last)

    def problem(self, restores: Mapping[Key, Row]) -> str:
        """The first witness that this chain contradicts; "" when it contradicts none."""
        for witness in self._witnesses:
            if self._digests.get(witness.number) == witness.digest or _excused(witness, restores):
                continue
            if witness.number > self._count:
                return (
                    f"The ledger ends at transaction {self._count}, but {witness.name} was told of"
                    f" transaction {witness.number}."
                )
            return f"{witness.name} was told of another transaction {witness.number}."
        return ""

    def sentence(self, restores: Mapping[Key, Row]) -> str:
        """How many were heard, and each time the books went back."""
        told = [f"{len(self._witnesses)} witnesses agree."] if self._witnesses else []
        for era, row in sorted(restores.items()):
            people = " and ".join(row[_OPERATOR : _OPERATOR + 2])
            told.append(
                f"Restore {era[0]}: {people} let the ledger go on from transaction"
                f" {row[_TAIL_NUMBER]}; what was told beyond it before is excused."
            )
        return " ".join(told)


def _excused(witness: Witness, restores: Mapping[Key, Row]) -> bool:
    later = [row[_TAIL_NUMBER] for (era,), row in restores.items() if era > witness.era]
    return bool(later) and witness.number > min(later)


def sealed_tails(ledger: Ledger) -> list[Witness]:
    """What the units countersigned in the seals that the ledger itself holds.

    Read where the chain keeps them: a view can be made anew so that it shows no seal.
    """
    found: list[Witness] = []
    query = "SELECT unit_id, event_sequence, event_body FROM transactions WHERE event_kind = ?"
    rows = ledger.everywhere(query, (SEAL,))
    for unit_id, sequence, body in rows:
        try:
            seal = Seal.from_body(decode_body(body))
        except ProtocolError:
            continue  # the check of the events names it
        found += [Witness(f"Unit {unit_id}, by its event {sequence},", *tail) for tail in seal.tail]
    return found


def contradiction(ledger: Ledger, witnesses: Iterable[Witness]) -> str:
    """The first witness that the stored digests contradict, without proving the chain."""
    heard = Witnesses(ledger.genesis(), witnesses)
    query = "SELECT number, digest FROM transactions ORDER BY number"
    for number, digest in ledger.everywhere(query):
        heard.take(number, digest)
    return heard.problem({RESTORES.key_of(row): row for row in ledger.find(RESTORES, {})})
