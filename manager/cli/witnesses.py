"""`--witness FILE` of the audits: what somebody outside of the ledger was told of its tail.

A file is a unit's exported events, whose seals countersign a tail, or any text in which a tail is
printed: a saved win page, a day report, an export. A printed tail must be signed by the manager,
or anybody could accuse a sound ledger; a seal is proven with `protocol.proof.check_seals`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec

from manager.audit.witnesses import Witness
from manager.identity.folder import IdentityFolder
from manager.ledger.errors import LedgerError
from protocol.proof.capture import read_capture
from protocol.proof.tail import is_signed, tails_in
from protocol.wire.errors import ProtocolError
from protocol.wire.events import SEAL, Seal


def add_witness_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--witness",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="what was told before: a unit's exported events, or a page, report or export",
    )
    parser.add_argument(
        "--certificate",
        type=Path,
        metavar="PEM",
        help="the manager's, to check printed tails by; else the folder's own",
    )


def witnesses_of(options: argparse.Namespace) -> list[Witness]:
    """Everything that the named files say; a file that says nothing is refused."""
    found: list[Witness] = []
    for path in options.witness:
        heard = list(_heard(path, options))
        if not heard:
            raise LedgerError(f"{path} holds no ledger tail.")
        found += heard
    return found


def _heard(path: Path, options: argparse.Namespace) -> Iterator[Witness]:
    try:
        with path.open("rb") as file:
            hello, events = read_capture(file)
            for event in events:
                if event.kind == SEAL:
                    name = f"Unit {hello.unit_id}, by event {event.sequence} in {path},"
                    for tail in Seal.from_body(event.body).tail:
                        yield Witness(name, *tail)
        return
    except OSError as error:
        raise LedgerError(f"{path} cannot be read: {error.strerror}.") from error
    except ProtocolError:
        pass  # no events: a text, then
    yield from _printed(path, _public_key(options))


def _printed(path: Path, key: ec.EllipticCurvePublicKey | None) -> Iterator[Witness]:
    for tail in tails_in(path.read_text(encoding="utf-8", errors="replace")):
        if key is not None and not is_signed(key, tail):
            raise LedgerError(f"{path}: tail {tail.number} was not signed by this manager.")
        yield Witness(f"The reader of {path}", tail.era, tail.number, tail.digest)


def _public_key(options: argparse.Namespace) -> ec.EllipticCurvePublicKey | None:
    """The manager's, as named or from the ledger's folder; None where there is neither."""
    path = options.certificate
    if path is None and getattr(options, "data", None) is not None:
        kept = IdentityFolder(options.data).manager
        path = kept if kept.is_file() else None
    if path is None:
        return None
    try:
        key = x509.load_pem_x509_certificate(path.read_bytes()).public_key()
    except OSError as error:
        raise LedgerError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise LedgerError(f"{path} is no certificate.") from error
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise LedgerError(f"{path} has no P-256 key.")
    return key
