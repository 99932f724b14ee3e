"""Where a journal record comes from when it was recorded before, in a journal that is no more.

A restored unit records anew what its damaged journal still held, and what the manager told it of
the round under way. Each such record names every place it had before, so that the manager
recognises what it has taken in already. The keys are from 64 up: older peers ignore them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, NamedTuple

from protocol.fields import Bool, Bytes, ListOf, Row
from protocol.rows import DIGEST, SEQUENCE

ORIGINS_KEY: Final = 100
KNOWN_KEY: Final = 101  # true when the manager itself told the unit of this record
ORIGINS_MAX: Final = 4


class Origin(NamedTuple):
    """One earlier place of a record."""

    journal_id: Annotated[bytes, Bytes((16,))]
    sequence: Annotated[int, SEQUENCE]
    digest: Annotated[bytes, DIGEST]


_ORIGINS: Final = ListOf(Row(Origin), ORIGINS_MAX)
_KNOWN: Final = Bool()


def origins_of(body: Mapping[int, Any]) -> tuple[Origin, ...]:
    """The earlier places of a record, oldest first; none for one that is recorded once."""
    return _ORIGINS.check(body.get(ORIGINS_KEY, ()), "origins")


def is_known(body: Mapping[int, Any]) -> bool:
    """True for a record that the manager had taken in before it was recorded here."""
    return _KNOWN.check(body.get(KNOWN_KEY, False), "known")


def recorded_anew(body: Mapping[int, Any], origin: Origin, known: bool) -> dict[int, Any]:
    """The body to record in the new journal: as it was, and where it was."""
    origins = (*origins_of(body), origin)[-ORIGINS_MAX:]
    again = dict(body)
    again[ORIGINS_KEY] = _ORIGINS.pack(_ORIGINS.check(origins, "origins"))
    if known or is_known(body):
        again[KNOWN_KEY] = True
    return again
