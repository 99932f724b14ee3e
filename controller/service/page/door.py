"""The service page's own door: off, on this machine alone, or on the network by TLS.

It alone knows the page's certificate. The unit makes it itself, because the floor's authority signs
units and managers and nobody else; a technician compares its fingerprint once (decision 056).
"""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from controller.config import WebSection
from controller.link.identity import check_private
from controller.service.live.table import LiveTable
from controller.service.page.app import PageOptions, build
from kit.files import write_private
from kit.web.own_pages import own_names
from kit.web.server import Listener, bind, serve
from protocol.secrets.tls import fingerprint

YEARS = 10


@dataclass(frozen=True)
class ServiceDoor:
    listener: Listener
    tls: ssl.SSLContext | None = None
    fingerprint: str = ""

    @property
    def url(self) -> str:
        host, port = self.listener.getsockname()[:2]
        return f"{'http' if self.tls is None else 'https'}://{host}:{port}/"

    async def serve(self, table: LiveTable, options: PageOptions | None = None) -> None:
        """Serves until cancelled; meanwhile the page has what the program logs."""
        options = replace(options or PageOptions(), is_tls=self.tls is not None)
        with table.log.listening():
            await serve(build(table, options), self.listener, self.tls)


def open_service_door(web: WebSection, unit_id: str, data: Path) -> ServiceDoor:
    """For a table whose file opens it, by a port that is not 0."""
    assert web.service_port, "the table's file keeps the service page closed"
    if ipaddress.ip_address(web.service_host).is_loopback:
        return ServiceDoor(_listen(web))
    return open_tls_door(web, unit_id, data)


def open_tls_door(web: WebSection, unit_id: str, data: Path) -> ServiceDoor:
    """By TLS wherever it listens: a unit to practise with is visited as one on the floor is."""
    path = data / "identity" / "service.pem"
    if not path.exists():
        write_private(path, _make(unit_id, own_names(web.names)))
    check_private(path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(path)
    certificate = x509.load_pem_x509_certificate(path.read_bytes())
    return ServiceDoor(_listen(web), context, fingerprint(certificate.public_bytes(Encoding.DER)))


def _listen(web: WebSection) -> Listener:
    return bind(web.service_host, web.service_port, ("web", "service_host"))


def _make(unit_id: str, names: Collection[str]) -> bytes:
    """Key and certificate in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, unit_id)])
    now = datetime.now(UTC)
    known_as = [x509.DNSName(each) for each in sorted({unit_id, *names})]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=365 * YEARS))
        .add_extension(x509.SubjectAlternativeName(known_as), critical=False)
        .sign(key, SHA256())
    )
    encoded = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return encoded + certificate.public_bytes(Encoding.PEM)
