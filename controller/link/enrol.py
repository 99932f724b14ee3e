"""How a unit gets its certificate: a key made here, a one-time code, six digits for two people.

First it looks at the manager's CA certificate and compares its fingerprint with the one the tech
typed; only to a manager with a certificate from that CA does it then say the code. The key never
leaves the unit. A certificate in use keeps working until the new one has arrived.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID

from controller.link.identity import IdentityFault, UnitIdentity
from kit.files import write_private
from protocol.secrets import tls
from protocol.wire import enrolment
from protocol.wire.address import split_address
from protocol.wire.errors import ProtocolError
from protocol.wire.messages import Message
from protocol.wire.stream import FrameStream

CONNECT_MAX_S = 10.0


@dataclass(frozen=True)
class ManagerPlace:
    """Where new units ask, and how this floor's manager is recognised."""

    host: str
    port: int
    ca_fingerprint: str

    @classmethod
    def parse(cls, address: str, fingerprint: str) -> ManagerPlace:
        place = split_address(address)
        if place is None:
            raise IdentityFault(f"{address!r} is no address such as game-manager.local:7412")
        digits = re.sub(r"[\s:]", "", fingerprint).lower()
        if not re.fullmatch(r"[0-9a-f]{64}", digits):
            raise IdentityFault("the CA's fingerprint must be 64 hexadecimal digits")
        return cls(*place, digits)


async def enrol(
    data: Path, unit_id: str, place: ManagerPlace, code: str, show: Callable[[str], None]
) -> None:
    """Asks until there is an answer; `show` gets the six digits for the person at the unit."""
    identity = UnitIdentity(data)
    identity.ensure_seal_key()
    try:
        ca_der = await _fetch_ca(place)
        request = _pending_request(identity, unit_id, code)
        granted = await _ask(place, ca_der, request, show)
    except ProtocolError as error:
        raise IdentityFault(f"the manager does not keep to the protocol: {error}") from error
    except OSError as error:
        reason = str(error) or "it does not answer in time"
        raise IdentityFault(f"the manager at {place.host}:{place.port}: {reason}") from error
    except Denied as refusal:
        identity.pending.unlink(missing_ok=True)
        raise IdentityFault(f"the manager refuses: {refusal}") from refusal
    _install(identity, unit_id, ca_der, granted)


class Denied(Exception):  # noqa: N818 - the manager's sentence
    """The manager said no."""


async def _fetch_ca(place: ManagerPlace) -> bytes:
    """The CA's certificate, when it is the one the tech was told. Nothing is said here."""
    stream = await _open(place, tls.unverified_context())
    try:
        offer = await _receive(stream)
    finally:
        stream.close()
    if not isinstance(offer, enrolment.Offer):
        raise IdentityFault("the manager does not show its CA's certificate")
    if tls.fingerprint(offer.ca_certificate) != place.ca_fingerprint:
        raise IdentityFault(
            f"the manager at {place.host}:{place.port} shows another CA than the one you named;"
            " the code was not sent"
        )
    return offer.ca_certificate


async def _ask(
    place: ManagerPlace, ca_der: bytes, request: enrolment.Request, show: Callable[[str], None]
) -> bytes:
    stream = await _open(place, tls.enrolling_unit_context(ca_der))
    try:
        await _receive(stream)  # the same offer; TLS has proven it this time
        await stream.write(request.encode())
        return await _await_answer(stream, ca_der, request, show)
    finally:
        stream.close()


async def _await_answer(
    stream: FrameStream, ca_der: bytes, request: enrolment.Request, show: Callable[[str], None]
) -> bytes:
    shown = False
    while True:
        answer = await _receive(stream)
        if isinstance(answer, enrolment.Granted):
            return answer.certificate
        if isinstance(answer, enrolment.Denied):
            raise Denied(answer.sentence)
        if isinstance(answer, enrolment.Waiting) and not shown:
            shown = True
            show(enrolment.match_number(answer.nonce, ca_der, request.content()))


async def _open(place: ManagerPlace, context: ssl.SSLContext) -> FrameStream:
    async with asyncio.timeout(CONNECT_MAX_S):
        return await tls.open_stream(place.host, place.port, context, tls.ENROL_ALPN)


async def _receive(stream: FrameStream) -> Message:
    async with asyncio.timeout(enrolment.SILENCE_MAX_S):
        payload = await stream.read()
    if payload is None:
        raise ConnectionResetError("it closed the connection; try again with the same code")
    return enrolment.decode(payload)


def _pending_request(identity: UnitIdentity, unit_id: str, code: str) -> enrolment.Request:
    """The request that is under way, or a new one; a broken connection does not waste the code."""
    stored = _load_pending(identity)
    if stored is None or stored["unit_id"] != unit_id:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, unit_id)])
        signing_request = x509.CertificateSigningRequestBuilder(name).sign(key, hashes.SHA256())
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        stored = {
            "unit_id": unit_id,
            "key": pem.decode(),
            "request": signing_request.public_bytes(Encoding.DER).hex(),
        }
        write_private(identity.pending, json.dumps(stored).encode())
    seal_key = identity.sealer(unit_id).public_key
    return enrolment.Request(unit_id, code, bytes.fromhex(stored["request"]), seal_key)


def _load_pending(identity: UnitIdentity) -> dict[str, str] | None:
    try:
        stored = json.loads(identity.pending.read_text(encoding="utf-8"))
        return {name: str(stored[name]) for name in ("unit_id", "key", "request")}
    except (OSError, ValueError, KeyError, TypeError):
        return None  # nothing under way that could be used


def _install(identity: UnitIdentity, unit_id: str, ca_der: bytes, granted: bytes) -> None:
    stored = _load_pending(identity)
    assert stored is not None
    key = load_pem_private_key(stored["key"].encode(), password=None)
    try:
        ca = x509.load_der_x509_certificate(ca_der)
        certificate = x509.load_der_x509_certificate(granted)
        certificate.verify_directly_issued_by(ca)
    except (ValueError, TypeError, InvalidSignature, x509.InvalidVersion) as error:
        raise IdentityFault("the manager's answer is no certificate of this floor's CA") from error
    names = [each.value for each in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    if certificate.public_key() != key.public_key() or names != [unit_id]:
        raise IdentityFault("the manager issued a certificate for another unit or key")
    pem = certificate.public_bytes(Encoding.PEM)
    write_private(identity.ca, ca.public_bytes(Encoding.PEM))
    write_private(identity.unit, stored["key"].encode() + pem)
    identity.pending.unlink()
