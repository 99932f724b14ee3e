"""TLS 1.3 between a unit and its manager: both ends' contexts, and who the peer turned out to be.

It alone knows versions, curves, ALPN names and asyncio's TLS buffers. Which certificates exist and
which of them still count is not known here: the manager asks its own list after the handshake.
"""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from asyncio import sslproto
from pathlib import Path
from typing import Any, Final

from protocol.wire.framing import HEADER_BYTES
from protocol.wire.profile import FRAME_MAX_BYTES
from protocol.wire.stream import FrameStream
from protocol.wire.version import ALPN

# The name in the manager's certificate. It stands for the role, not for an address on the network.
MANAGER_NAME: Final = "game-manager.underfelt"
ENROL_ALPN: Final = "tbl-enrol/1"
CURVE: Final = "prime256v1"

HANDSHAKE_MAX_S: Final = 5.0
SHUTDOWN_MAX_S: Final = 1.0
# asyncio keeps one buffer of this size per connection; its own 256 KiB is for bulk transfers.
TLS_BUFFER_BYTES: Final = 16 * 1024
# A reader holds at most about two frames before the peer has to wait.
READER_LIMIT_BYTES: Final = FRAME_MAX_BYTES + HEADER_BYTES
# OpenSSL's X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED.
OUT_OF_TIME: Final = (9, 10)


class TlsRefused(ConnectionError):  # noqa: N818 - a sentence for a person
    """The peer is not who it must be; the sentence says what is wrong."""


class CertificateRefused(TlsRefused):
    """The peer's certificate does not count here."""


class CertificateOutOfTime(CertificateRefused):
    """It does not count yet, or not any more, by this machine's clock."""


def limit_tls_buffers() -> None:
    """Makes asyncio's TLS buffers fit frames of 4 KiB: about 50 KB a connection instead of 300."""
    assert hasattr(sslproto.SSLProtocol, "max_size"), "asyncio names its TLS buffer otherwise now"
    sslproto.SSLProtocol.max_size = TLS_BUFFER_BYTES


def manager_context(certificate: Path, key: Path, ca: Path) -> ssl.SSLContext:
    """The manager's end of the link: no unit without a certificate from the floor CA."""
    context = _context(ssl.PROTOCOL_TLS_SERVER, ALPN)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cafile=str(ca))
    context.load_cert_chain(str(certificate), str(key))
    context.num_tickets = 0  # every connection proves itself anew, so revoking ends it for good
    return context


def unit_context(certificate: Path, key: Path, ca: Path) -> ssl.SSLContext:
    """A unit's end of the link: no manager without a certificate from the floor CA."""
    context = _context(ssl.PROTOCOL_TLS_CLIENT, ALPN)
    context.load_verify_locations(cafile=str(ca))
    context.load_cert_chain(str(certificate), str(key))
    return context


def enrolling_manager_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """Where units that have no certificate yet may ask for one."""
    context = _context(ssl.PROTOCOL_TLS_SERVER, ENROL_ALPN)
    context.load_cert_chain(str(certificate), str(key))
    context.num_tickets = 0
    return context


def enrolling_unit_context(ca_der: bytes) -> ssl.SSLContext:
    """For a unit that knows the floor CA but has no certificate yet."""
    context = _context(ssl.PROTOCOL_TLS_CLIENT, ENROL_ALPN)
    context.load_verify_locations(cadata=ca_der)
    return context


def unverified_context() -> ssl.SSLContext:
    """For the one connection on which a unit fetches the CA's certificate to compare it."""
    context = _context(ssl.PROTOCOL_TLS_CLIENT, ENROL_ALPN)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _context(protocol: int, alpn: str) -> ssl.SSLContext:
    context = ssl.SSLContext(protocol)
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols([alpn])
    context.set_ecdh_curve(CURVE)
    return context


def fingerprint(der: bytes) -> str:
    """What a certificate is pinned by: SHA-256 over all of it, as hexadecimal."""
    return hashlib.sha256(der).hexdigest()


def peer_fingerprint(connection: ssl.SSLObject) -> str:
    der = connection.getpeercert(binary_form=True)
    if not der:
        raise TlsRefused("The peer showed no certificate.")
    return fingerprint(der)


def peer_name(connection: ssl.SSLObject) -> str:
    """The one name a verified peer's certificate was issued for."""
    found: Any = connection.getpeercert() or {}
    common = [
        value for part in found.get("subject", ()) for key, value in part if key == "commonName"
    ]
    alternative = [value for key, value in found.get("subjectAltName", ()) if key == "DNS"]
    if len(common) != 1 or common != alternative:
        raise TlsRefused("The peer's certificate does not name exactly one unit.")
    return str(common[0])


def check_alpn(connection: ssl.SSLObject, wanted: str) -> None:
    spoken = connection.selected_alpn_protocol()
    if spoken != wanted:
        raise TlsRefused(f"The peer speaks {spoken or 'no known protocol'}, not {wanted}.")


async def open_stream(
    host: str, port: int, context: ssl.SSLContext, alpn: str = ALPN, local_address: str = ""
) -> FrameStream:
    """A connection from a unit to its manager, ready for the first frame.

    `local_address` is the unit's own where a machine has several.
    """
    try:
        reader, writer = await asyncio.open_connection(
            host,
            port,
            limit=READER_LIMIT_BYTES,
            ssl=context,
            server_hostname=MANAGER_NAME,
            ssl_handshake_timeout=HANDSHAKE_MAX_S,
            ssl_shutdown_timeout=SHUTDOWN_MAX_S,
            local_addr=(local_address, 0) if local_address else None,
        )
    except ssl.SSLError as error:
        raise _refusal(error) from error
    return _checked(reader, writer, alpn)


async def secure_stream(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, context: ssl.SSLContext
) -> FrameStream:
    """The same over a connection that is open already."""
    try:
        await writer.start_tls(
            context, server_hostname=MANAGER_NAME, ssl_handshake_timeout=HANDSHAKE_MAX_S
        )
    except ssl.SSLError as error:
        writer.close()
        raise _refusal(error) from error
    return _checked(reader, writer, ALPN)


def _checked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, alpn: str) -> FrameStream:
    try:
        check_alpn(writer.get_extra_info("ssl_object"), alpn)
    except TlsRefused:
        writer.close()
        raise
    return FrameStream(reader, writer)


def _refusal(error: ssl.SSLError) -> TlsRefused:
    if not isinstance(error, ssl.SSLCertVerificationError):
        return TlsRefused(in_words(error))
    is_time = error.verify_code in OUT_OF_TIME
    return (CertificateOutOfTime if is_time else CertificateRefused)(in_words(error))


def in_words(error: ssl.SSLError) -> str:
    """What a failed handshake means to a person."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"The peer's certificate is not accepted: {error.verify_message}."
    return f"No TLS 1.3 connection: {(error.reason or str(error)).replace('_', ' ').lower()}."
