"""Who a peer is, read from the certificate that TLS has verified."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from manager.identity.folder import IdentityFolder
from protocol.secrets import tls


class Connection:
    """What an SSL object says of the other end."""

    def __init__(self, certificate: dict[str, Any] | None = None, der: bytes | None = None) -> None:
        self._certificate = certificate
        self._der = der

    def getpeercert(self, binary_form: bool = False) -> object:
        return self._der if binary_form else self._certificate

    def selected_alpn_protocol(self) -> str | None:
        return "known"


def named(*names: str, alternative: tuple[str, ...]) -> dict[str, Any]:
    subject = tuple((("commonName", name),) for name in names)
    return {
        "subject": ((("organizationName", "House"),), *subject),
        "subjectAltName": (("IP Address", "10.0.0.1"), *(("DNS", name) for name in alternative)),
    }


def test_a_certificate_names_exactly_one_unit_twice_alike() -> None:
    good = named("UF-1", alternative=("UF-1",))
    assert tls.peer_name(Connection(good)) == "UF-1"  # type: ignore[arg-type]
    for wrong in (
        None,
        {},
        named(alternative=("UF-1",)),
        named("UF-1", alternative=()),
        named("UF-1", alternative=("UF-2",)),
        named("UF-1", alternative=("UF-1", "UF-2")),
        named("UF-1", "UF-2", alternative=("UF-1", "UF-2")),
    ):
        with pytest.raises(tls.TlsRefused, match="exactly one unit"):
            tls.peer_name(Connection(wrong))  # type: ignore[arg-type]


def test_a_peer_without_a_certificate_has_no_fingerprint() -> None:
    with pytest.raises(tls.TlsRefused, match="no certificate"):
        tls.peer_fingerprint(Connection())  # type: ignore[arg-type]
    shown = Connection(der=b"der")
    assert tls.peer_fingerprint(shown) == tls.fingerprint(b"der")  # type: ignore[arg-type]


def test_only_the_wanted_protocol_is_spoken() -> None:
    tls.check_alpn(Connection(), "known")  # type: ignore[arg-type]
    with pytest.raises(tls.TlsRefused, match="speaks known, not other"):
        tls.check_alpn(Connection(), "other")  # type: ignore[arg-type]


def test_either_end_of_the_link_asks_for_a_certificate_and_keeps_no_session(tmp_path: Path) -> None:
    """Catches: a handshake without one, which today only the question for a name would refuse."""
    floor = IdentityFolder(tmp_path)
    floor.ensure()
    manager = tls.manager_context(floor.manager, floor.manager_key, floor.ca)
    own = floor.path / "both.pem"
    own.write_bytes(floor.manager_key.read_bytes() + floor.manager.read_bytes())
    unit = tls.unit_context(own, own, floor.ca)
    enrolling = tls.enrolling_unit_context(floor.ca_der())
    assert {each.verify_mode for each in (manager, unit, enrolling)} == {ssl.CERT_REQUIRED}
    assert unit.check_hostname
    assert enrolling.check_hostname
    assert manager.num_tickets == 0
    for each in (manager, unit, enrolling):
        assert {each.minimum_version, each.maximum_version} == {ssl.TLSVersion.TLSv1_3}


@pytest.mark.parametrize(("code", "is_time"), [(9, True), (10, True), (18, False), (20, False)])
def test_a_certificate_out_of_time_is_told_from_a_strangers(code: int, is_time: bool) -> None:
    """Catches "another property's manager", said by a unit whose clock stands in 1970."""
    error = ssl.SSLCertVerificationError("certificate verify failed")
    error.verify_code, error.verify_message = code, "as OpenSSL words it"
    refusal = tls._refusal(error)
    assert isinstance(refusal, tls.CertificateRefused)
    assert isinstance(refusal, tls.CertificateOutOfTime) == is_time


def handshake(client: ssl.SSLContext, server: ssl.SSLContext) -> None:
    """Both ends in memory, until each has said all it has to say."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname="manager"),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for end in ends * 2:
        with contextlib.suppress(ssl.SSLWantReadError):
            end.do_handshake()


def test_only_our_own_curve_is_offered(tmp_path: Path) -> None:
    """Catches: whatever OpenSSL would offer by itself, on a floor whose both ends are ours."""
    floor = IdentityFolder(tmp_path)
    floor.ensure()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(str(floor.manager), str(floor.manager_key))
    server.set_ecdh_curve(tls.CURVE)
    handshake(tls.unverified_context(), server)
    server.set_ecdh_curve("secp521r1")
    with pytest.raises(ssl.SSLError):
        handshake(tls.unverified_context(), server)


class Line:
    """A connection whose handshake ends in this way."""

    def __init__(self, error: Exception | None, alpn: str) -> None:
        self._error = error
        self._alpn = alpn
        self.is_closed = False

    async def start_tls(self, *_: Any, **__: Any) -> None:
        if isinstance(self._error, ssl.SSLCertVerificationError):
            self._error.verify_code, self._error.verify_message = 20, "no issuer"
            raise self._error

    def get_extra_info(self, _name: str) -> Any:
        return SimpleNamespace(selected_alpn_protocol=lambda: self._alpn)

    def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize(
    ("error", "alpn"),
    [(ssl.SSLCertVerificationError("No."), tls.ALPN), (None, "another"), (None, tls.ALPN)],
)
def test_whoever_fails_the_handshake_is_hung_up_on(error: Exception | None, alpn: str) -> None:
    """Catches: a stream without proof of who is at its other end."""
    line: Any = Line(error, alpn)
    reader: Any = None
    is_good = error is None and alpn == tls.ALPN
    if is_good:
        asyncio.run(tls.secure_stream(reader, line, ssl.create_default_context()))
    else:
        with pytest.raises(tls.TlsRefused):
            asyncio.run(tls.secure_stream(reader, line, ssl.create_default_context()))
    assert line.is_closed is not is_good


@pytest.mark.parametrize("local_address", ["", "192.0.2.9"])
def test_a_unit_calls_from_its_own_address_and_trusts_one_name(
    monkeypatch: pytest.MonkeyPatch, local_address: str
) -> None:
    """Catches: a call from another address than the one that the manager knows, or to anybody."""
    called: list[dict[str, Any]] = []
    line: Any = Line(None, tls.ALPN)

    async def connected(host: str, port: int, **options: Any) -> Any:
        called.append(options | {"host": host, "port": port})
        return None, line

    monkeypatch.setattr(asyncio, "open_connection", connected)
    context = ssl.create_default_context()
    asyncio.run(tls.open_stream("floor.local", 7411, context, local_address=local_address))
    (options,) = called
    assert (options["host"], options["port"], options["ssl"]) == ("floor.local", 7411, context)
    assert options["local_addr"] == ((local_address, 0) if local_address else None)
    assert options["server_hostname"] == tls.MANAGER_NAME
    assert not line.is_closed
