"""Where a journal record comes from when it was recorded before, in a journal that is no more.

A restored unit records anew what its damaged journal still held, and what the manager told it of
the round under way. Each such record names every place it had before, so that the manager
recognises what it has taken in already. The keys are far above those of any body, which they join.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, NamedTuple

from protocol.wire.fields import Bool, Bytes, ListOf, Row
from protocol.wire.rows import DIGEST, SEQUENCE

EARLIER_PLACES_KEY: Final = 100
KNOWN_KEY: Final = 101  # true when the manager itself told the unit of this record
EARLIER_PLACES_MAX: Final = 4


class EarlierPlace(NamedTuple):
    """One earlier place of a record."""

    journal_id: Annotated[bytes, Bytes((16,))]
    sequence: Annotated[int, SEQUENCE]
    digest: Annotated[bytes, DIGEST]


_EARLIER_PLACES: Final = ListOf(Row(EarlierPlace), EARLIER_PLACES_MAX)
_KNOWN: Final = Bool()


def earlier_places(body: Mapping[int, Any]) -> tuple[EarlierPlace, ...]:
    """The earlier places of a record, oldest first; none for one that is recorded once."""
    if EARLIER_PLACES_KEY not in body:
        return ()
    return _EARLIER_PLACES.check(body[EARLIER_PLACES_KEY], "earlier_places")


def is_known(body: Mapping[int, Any]) -> bool:
    """True for a record that the manager had taken in before it was recorded here."""
    return _KNOWN.check(body.get(KNOWN_KEY, False), "known")


def recorded_anew(body: Mapping[int, Any], origin: EarlierPlace, known: bool) -> dict[int, Any]:
    """The body to record in the new journal: as it was, and where it was."""
    origins = (*earlier_places(body), origin)[-EARLIER_PLACES_MAX:]
    again = dict(body)
    again[EARLIER_PLACES_KEY] = _EARLIER_PLACES.pack(
        _EARLIER_PLACES.check(origins, "earlier_places")
    )
    if known or is_known(body):
        again[KNOWN_KEY] = True
    return again
