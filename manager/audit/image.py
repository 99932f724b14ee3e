"""The books as they stood after one transaction, as bytes with a digest: where a proof can resume.

It holds every row that a manager keeps in memory, and of each relation how many rows there were.
History is not in it. The digest of the image of a closed gaming day is an entry of the chain, so an
image that says anything else is found out by that entry.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import cbor2

from manager.ledger.engines.relations import NUMBERS, RELATIONS, Row
from manager.ledger.errors import LedgerError

_FORM = "underfelt ledger image 1"


class Image(NamedTuple):
    number: int  # of the transaction after which the books stood so
    digest: bytes  # of that transaction
    last_ms: int  # when it was committed
    event_count: int
    counts: Mapping[str, int]
    rows: Mapping[str, list[Row]]  # in the order of their keys


def encoded(image: Image) -> bytes:
    head = [_FORM, image.number, image.digest, image.last_ms, image.event_count]
    relations: list[Any] = []
    for name, count in image.counts.items():
        rows = [list(row) for row in image.rows.get(name, ())]
        relations.append([NUMBERS[name], count, rows])
    return cbor2.dumps([*head, relations])


def digest_of(image: Image) -> bytes:
    return hashlib.sha256(encoded(image)).digest()


def decoded(data: bytes) -> Image:
    """Refuses what is no image; whether it is the right one is for its digest to say."""
    names = list(RELATIONS)
    try:
        form, number, digest, last_ms, event_count, relations = cbor2.loads(data)
        if form != _FORM:
            raise ValueError(form)
        counts = {names[each]: int(count) for each, count, _ in relations}
        rows = {names[each]: [tuple(row) for row in found] for each, _, found in relations}
        image = Image(number, digest, last_ms, event_count, counts, rows)
    except (cbor2.CBORError, ValueError, TypeError, IndexError) as error:
        raise LedgerError("This is not an image of a ledger's books, or it is damaged.") from error
    return image
