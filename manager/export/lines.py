"""The export's form: JSON Lines, one transaction a line, with the digests that chain them.

The first line names the form and the genesis digest, the last the count and the final digest, so a
cut-off file is noticed. Integers and text only; bytes are hexadecimal.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from manager.ledger.engines.relations import RESTORES
from manager.ledger.store.chain import Recorded
from manager.ledger.store.entries import EventSource, Reference
from manager.ledger.store.ledger import Ledger
from protocol.proof.tail import TailSigner, printed, said

FORM = "underfelt ledger export 1"


class ExportError(Exception):
    """The file is not a whole export; the sentence names the line."""


def write_lines(store: Ledger, signer: TailSigner | None = None) -> Iterator[str]:
    """Every line; the last one carries the tail, which is a witness for every later audit."""
    yield json.dumps({"form": FORM, "genesis": store.genesis().hex()})
    count, last = 0, store.genesis()
    for recorded, digest in store.recorded():
        count, last = count + 1, digest
        yield json.dumps(_as_plain(recorded, digest), separators=(",", ":"))
    tail = said(signer, len(store.find(RESTORES, {})), count, last)
    yield json.dumps({"count": count, "digest": last.hex(), "tail": printed(tail)})


def read_lines(lines: Iterable[str]) -> tuple[bytes, list[tuple[Recorded, bytes]]]:
    """The genesis digest and all transactions with theirs; a file that is not whole is refused."""
    documents = [_parse(number, line) for number, line in enumerate(lines, start=1)]
    if len(documents) < 2 or documents[0].get("form") != FORM:
        raise ExportError("Line 1: this is not a ledger export.")
    transactions = [
        _transaction(number, document) for number, document in enumerate(documents[1:-1], start=2)
    ]
    genesis = _bytes(1, documents[0], "genesis")
    last = transactions[-1][1] if transactions else genesis
    ending = documents[-1]
    if ending.get("count") != len(transactions) or ending.get("digest") != last.hex():
        raise ExportError(f"Line {len(documents)}: the export was cut off or its end was changed.")
    return genesis, transactions


def _parse(number: int, line: str) -> dict[str, Any]:
    try:
        document = json.loads(line)
    except ValueError as error:
        raise ExportError(f"Line {number}: is not JSON: {error}.") from error
    if not isinstance(document, dict):
        raise ExportError(f"Line {number}: must be an object.")
    return document


def _as_plain(recorded: Recorded, digest: bytes) -> dict[str, Any]:
    reference, origin = recorded.reference, recorded.origin
    return {
        "number": recorded.number,
        "kind": recorded.kind,
        "reference": [
            reference.table_id,
            reference.round_number,
            reference.sensor,
            reference.claim_number,
        ],
        "sentence": recorded.sentence,
        "detail": recorded.detail_text,
        "commit_ms": recorded.commit_ms,
        "origin": [
            origin.unit_id,
            origin.sequence,
            origin.monotonic_ms,
            origin.wall_ms,
            origin.digest.hex(),
        ],
        "postings": [list(posting) for posting in recorded.postings],
        "changes": recorded.changes.hex(),
        "digest": digest.hex(),
    }


def _transaction(number: int, document: dict[str, Any]) -> tuple[Recorded, bytes]:
    try:
        unit_id, sequence, monotonic_ms, wall_ms, event_digest = document["origin"]
        recorded = Recorded(
            number=document["number"],
            kind=document["kind"],
            reference=Reference(*document["reference"]),
            sentence=document["sentence"],
            detail_text=document["detail"],
            commit_ms=document["commit_ms"],
            origin=EventSource(
                unit_id, sequence, monotonic_ms, wall_ms, bytes.fromhex(event_digest)
            ),
            postings=tuple((account, amount) for account, amount in document["postings"]),
            changes=bytes.fromhex(document["changes"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ExportError(f"Line {number}: is not a transaction: {error!r}.") from error
    return recorded, _bytes(number, document, "digest")


def _bytes(number: int, document: dict[str, Any], key: str) -> bytes:
    try:
        return bytes.fromhex(document[key])
    except (KeyError, TypeError, ValueError) as error:
        raise ExportError(f"Line {number}: has no readable {key}.") from error
