"""The link's TLS door with real sockets: who gets in, who does not, and who is cut off."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import replace
from pathlib import Path

import pytest

from controller.link.identity import UnitIdentity
from manager.doors import Doors
from manager.identity import certificates
from manager.identity.errors import IdentityError
from manager.identity.folder import IdentityFolder
from manager.identity.registry import Registry
from protocol.secrets import tls
from protocol.wire import enrolment
from protocol.wire.errors import ErrorCode
from protocol.wire.messages import Error, Welcome
from protocol.wire.version import ALPN
from tests.contract.tls_floor import (
    TABLE,
    UNIT,
    TlsFloor,
    eventually,
    new_key_pem,
    on_floor,
    signing_request,
    until_closed,
)
from tests.kit.pretend_units import PretendUnit


def foreign_identity(folder: Path) -> UnitIdentity:
    """A unit of another floor: everything is in order, but the CA is not ours."""
    other = IdentityFolder(folder / "manager")
    other.ensure()
    ca, ca_key = other.load_issuer()
    key, key_pem = new_key_pem()
    certificate = certificates.issue_unit(ca, ca_key, UNIT, key.public_key())
    identity = UnitIdentity(folder / "unit")
    identity.ensure_seal_key()
    identity.unit.write_bytes(key_pem + certificates.pem(certificate))
    identity.unit.chmod(0o600)
    identity.ca.write_bytes(certificates.pem(ca))
    return identity


async def is_refused(floor: TlsFloor, context: ssl.SSLContext) -> bool:
    """True when the manager hangs up without an answer to a good hello."""
    try:
        stream = await floor.connect(context)
        await stream.write(PretendUnit(UNIT).hello().encode())
    except OSError:
        return True
    return await until_closed(stream) == []


def test_a_unit_with_a_listed_certificate_is_welcome_over_tls_1_3_and_p_256(tmp_path: Path) -> None:
    async def play(floor: TlsFloor) -> None:
        identity = floor.issue(tmp_path / "unit")
        stream, answer = await floor.greet(identity)
        assert isinstance(answer, Welcome)
        connection = stream._writer.get_extra_info("ssl_object")  # type: ignore[attr-defined]
        assert connection.version() == "TLSv1.3"
        assert connection.selected_alpn_protocol() == ALPN
        assert connection.getpeercert()["subjectAltName"] == (("DNS", tls.MANAGER_NAME),)
        stream.close()
        await stream.wait_closed()

    on_floor(tmp_path, play)


def test_no_certificate_or_one_of_another_ca_gets_no_answer(tmp_path: Path) -> None:
    async def play(floor: TlsFloor) -> None:
        ours = floor.issue(tmp_path / "unit")
        without = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        without.load_verify_locations(cafile=str(ours.ca))
        without.set_alpn_protocols([ALPN])
        assert await is_refused(floor, without)
        foreign = foreign_identity(tmp_path / "foreign")
        mixed = tls.unit_context(foreign.unit, foreign.unit, ours.ca)
        assert await is_refused(floor, mixed)
        stream, answer = await floor.greet(ours)  # the same, with the right certificate
        assert isinstance(answer, Welcome)
        stream.close()

    on_floor(tmp_path, play)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2])
def test_an_older_tls_is_refused(tmp_path: Path, version: ssl.TLSVersion) -> None:
    async def play(floor: TlsFloor) -> None:
        identity = floor.issue(tmp_path / "unit")
        context = identity.context()
        context.minimum_version = context.maximum_version = version
        assert await is_refused(floor, context)

    on_floor(tmp_path, play)


def test_another_protocol_name_is_refused(tmp_path: Path) -> None:
    async def play(floor: TlsFloor) -> None:
        context = floor.issue(tmp_path / "unit").context()
        context.set_alpn_protocols(["http/1.1"])
        with pytest.raises(tls.TlsRefused, match="not tbl/1"):
            await floor.connect(context)

    on_floor(tmp_path, play)


def test_a_certificate_that_is_not_on_the_list_is_told_why(tmp_path: Path) -> None:
    async def play(floor: TlsFloor) -> None:
        identity = floor.issue(tmp_path / "unit", listed_as="")
        stream, answer = await floor.greet(identity)
        assert isinstance(answer, Error)
        assert answer.code == ErrorCode.UNKNOWN_UNIT
        assert "not in this manager's list" in answer.sentence
        await until_closed(stream)
        await eventually(lambda: any("not in this manager's list" in a for a in floor.alarms()))

    on_floor(tmp_path, play)


def test_a_hello_under_another_name_than_the_certificate_is_refused_and_alarmed(
    tmp_path: Path,
) -> None:
    async def play(floor: TlsFloor) -> None:
        identity = floor.issue(tmp_path / "thief", name="UF-other")
        stream, answer = await floor.greet(identity, name=UNIT)
        assert isinstance(answer, Error)
        assert "certificate of UF-other says it is UF-touch-1" in answer.sentence
        await until_closed(stream)
        assert floor.manager.server.connection_of(UNIT) is None
        await eventually(lambda: any("says it is UF-touch-1" in a for a in floor.alarms()))

    on_floor(tmp_path, play)


def test_revoking_is_one_row_and_cuts_an_open_connection_at_once(tmp_path: Path) -> None:
    async def play(floor: TlsFloor) -> None:
        identity = floor.issue(tmp_path / "unit")
        stream, answer = await floor.greet(identity)
        assert isinstance(answer, Welcome)
        floor.ask("revoke", unit=UNIT, reason="The unit was stolen.")
        said = await until_closed(stream)
        assert isinstance(said[-1], Error)
        assert "stolen" in said[-1].sentence
        again, refused = await floor.greet(identity)
        assert isinstance(refused, Error)
        assert "stolen" in refused.sentence
        await until_closed(again)
        assert any("stolen" in sentence for sentence in floor.alarms())

    on_floor(tmp_path, play)


def test_a_replaced_unit_never_speaks_again_and_a_code_is_its_heirs_alone(tmp_path: Path) -> None:
    """Catches: the old certificate left good, and a code by which the old unit gets another."""

    async def play(floor: TlsFloor) -> None:
        identity, registry = floor.issue(tmp_path / "unit"), Registry(floor.doors.store)
        stream, answer = await floor.greet(identity)
        assert isinstance(answer, Welcome)
        replaced = {"command": "replace-unit", "unit": "UF-9", "table": TABLE}
        floor.manager.correct(replaced | {"operator": "Pat", "second": "", "reason": "Dead."})
        said = await until_closed(stream)
        assert isinstance(said[-1], Error)
        assert [each.counts for each in registry.of_unit(UNIT)] == [False]
        again, refused = await floor.greet(identity)
        assert isinstance(refused, Error)
        assert "takes its table over" in refused.sentence
        await until_closed(again)
        code = floor.ask("enrol-code", table=TABLE).split()[1]
        key, _ = new_key_pem()
        asked = enrolment.Request(UNIT, code, signing_request(UNIT, key), bytes(32))
        with pytest.raises(IdentityError, match="does not serve"):
            floor.doors.enrolments.receive(asked, floor.manager.units.table_for)
        asked = enrolment.Request("UF-9", code, signing_request("UF-9", key), bytes(32))
        assert floor.doors.enrolments.receive(asked, floor.manager.units.table_for).waits

    on_floor(tmp_path, play)


def test_certificates_of_a_replaced_unit_end_at_the_next_start_at_the_latest(
    tmp_path: Path,
) -> None:
    async def play(floor: TlsFloor) -> None:
        stream, answer = await floor.greet(floor.issue(tmp_path / "unit"))
        assert isinstance(answer, Welcome)
        stream.close()
        floor.issue(tmp_path / "heir", "UF-9")
        registry = Registry(floor.doors.store)
        floor.manager.end_certificates = lambda unit_id, reason: None  # a stop in between
        replaced = {"command": "replace-unit", "unit": "UF-9", "table": TABLE}
        floor.manager.correct(replaced | {"operator": "Pat", "second": "", "reason": "Dead."})
        heir = replace(PretendUnit("UF-9").hello(), journal_id=bytes([9]) * 16)
        assert floor.manager.units.greet(heir).table_id == TABLE
        assert [each.counts for each in registry.of_unit(UNIT)] == [True]
        Doors(floor.manager, floor.data, floor.clock).close()
        assert [each.counts for each in registry.of_unit(UNIT)] == [False]
        assert [each.counts for each in registry.of_unit("UF-9")] == [True]

    on_floor(tmp_path, play)


def test_a_certificate_is_rotated_while_the_old_one_still_serves(tmp_path: Path) -> None:
    async def play(floor: TlsFloor) -> None:
        old = floor.issue(tmp_path / "unit")
        first, welcome = await floor.greet(old)
        assert isinstance(welcome, Welcome)
        registry = Registry(floor.doors.store)
        new = floor.issue(tmp_path / "unit")  # the same files, replaced
        assert [each.counts for each in registry.of_unit(UNIT)] == [True, True]
        second, welcome = await floor.greet(new)
        assert isinstance(welcome, Welcome)
        await until_closed(first)  # the newest connection of a unit is the one that counts
        assert "was retired" in floor.ask("retire", unit=UNIT)
        await second.write(PretendUnit(UNIT).hello().encode())  # still served, so it is answered
        said = await until_closed(second)
        assert "does not send Hello" in str(said[-1])

    on_floor(tmp_path, play)


def test_a_unit_refuses_a_manager_of_another_floor(tmp_path: Path) -> None:
    async def play(floor: TlsFloor) -> None:
        stranger = foreign_identity(tmp_path / "foreign")
        with pytest.raises(tls.CertificateRefused, match="certificate is not accepted"):
            await floor.connect(stranger.context())

    on_floor(tmp_path, play)


def test_a_units_certificate_cannot_pose_as_the_manager(tmp_path: Path) -> None:
    """Someone with a unit's disk sets up a manager of their own with the unit's certificate."""

    async def play(floor: TlsFloor) -> None:
        stolen = floor.issue(tmp_path / "stolen", name="UF-stolen")
        victim = floor.issue(tmp_path / "unit")
        fake = tls.enrolling_manager_context(stolen.unit, stolen.unit)
        fake.set_alpn_protocols([ALPN])
        served = asyncio.Event()

        async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            served.set()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=fake)
        port = server.sockets[0].getsockname()[1]
        try:
            with pytest.raises(tls.TlsRefused, match="not accepted"):
                await tls.open_stream("127.0.0.1", port, victim.context())
        finally:
            server.close()
        assert not served.is_set()

    on_floor(tmp_path, play)
