"""What a unit hears while it waits for its certificate, and what it then does."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from controller.link import enrol
from controller.link.enrol import Denied
from controller.link.identity import IdentityFault, UnitIdentity
from protocol.secrets import tls
from protocol.wire import enrolment
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.messages import Message
from sim.time.loop import run_virtual

CA = b"the floor's CA"
REQUEST = enrolment.Request("UF-1", "CODE", b"signing request", bytes(32))
FIRST, SECOND = enrolment.Waiting(bytes(16)), enrolment.Waiting(bytes([1]) * 16)
OFFER = enrolment.Offer(CA)
PLACE = enrol.ManagerPlace("floor.local", 7412, tls.fingerprint(CA))


class Line:
    """Stands for the stream: says these one after the other, and then nothing more."""

    def __init__(self, *said: Message) -> None:
        self._said = [each.encode() for each in said]

    async def read(self) -> bytes | None:
        return self._said.pop(0) if self._said else None


def heard(*said: Message) -> tuple[bytes, list[str]]:
    """The certificate that came, and which digits were shown meanwhile."""
    shown: list[str] = []
    answer = enrol._await_answer(Line(*said), CA, REQUEST, shown.append)  # type: ignore[arg-type]
    return run_virtual(answer), shown


def test_the_six_digits_are_shown_once_and_are_those_of_this_request() -> None:
    """Catches: digits that change under the eyes of two people who compare them."""
    digits = enrolment.match_number(FIRST.nonce, CA, REQUEST.content())
    granted = enrolment.Granted(b"certificate")
    assert heard(FIRST, SECOND, FIRST, granted) == (b"certificate", [digits])
    assert heard(granted) == (b"certificate", [])


def test_what_does_not_belong_there_is_passed_over() -> None:
    digits = enrolment.match_number(FIRST.nonce, CA, REQUEST.content())
    assert heard(OFFER, FIRST, OFFER, enrolment.Granted(b"yes")) == (b"yes", [digits])


def test_a_manager_that_says_no_is_heard_with_its_sentence() -> None:
    with pytest.raises(Denied, match=r"^This code was used before\.$"):
        heard(FIRST, enrolment.Denied("This code was used before."))


def test_a_connection_that_ends_tells_how_to_go_on() -> None:
    with pytest.raises(ConnectionResetError, match="try again with the same code"):
        heard(FIRST)


def test_a_manager_that_falls_silent_is_not_waited_for_without_end() -> None:
    class Silent(Line):
        async def read(self) -> bytes | None:
            await asyncio.sleep(enrolment.SILENCE_MAX_S + 1)
            return b""

    with pytest.raises(TimeoutError):
        run_virtual(enrol._receive(Silent()))  # type: ignore[arg-type]


class Manager:
    """Stands for the connections to the manager: each says these, and hears what is written."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *lines: Line | Exception) -> None:
        self._lines = list(lines)
        self.heard: list[bytes] = []
        self.closed_count = 0
        monkeypatch.setattr(enrol.tls, "open_stream", self._open)
        monkeypatch.setattr(enrol.tls, "enrolling_unit_context", lambda ca: ("verified", ca))

    async def _open(self, host: str, port: int, context: object, alpn: str) -> Any:
        assert (host, port, alpn) == (PLACE.host, PLACE.port, enrol.tls.ENROL_ALPN)
        line = self._lines.pop(0)
        if isinstance(line, Exception):
            raise line
        line.write = self._write  # type: ignore[attr-defined]
        line.close = self._close  # type: ignore[attr-defined]
        return line

    async def _write(self, payload: bytes) -> None:
        self.heard.append(payload)

    def _close(self) -> None:
        self.closed_count += 1


def enrolled(data: Path, shown: list[str] | None = None) -> None:
    told: list[str] = [] if shown is None else shown
    run_virtual(enrol.enrol(data, "UF-1", PLACE, "CODE", told.append))


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (OSError("no route to host"), "the manager at floor.local:7412: no route to host"),
        (TimeoutError(), "the manager at floor.local:7412: it does not answer in time"),
        (Line(), "it closed the connection; try again with the same code"),
        (Line(FIRST), "the manager does not show its CA's certificate"),
        (Line(enrolment.Offer(b"another CA")), "shows another CA than the one you named"),
        (ProtocolError(ErrorCode.MALFORMED, "Noise."), "does not keep to the protocol: .*Noise"),
    ],
    ids=["no route", "silent", "hangs up", "no offer", "another CA", "noise"],
)
def test_to_no_other_manager_is_the_code_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: Line | Exception, sentence: str
) -> None:
    """Catches: a code that is told to whoever answers, or a unit that goes on with no answer."""
    manager = Manager(monkeypatch, line)
    with pytest.raises(IdentityFault, match=sentence):
        enrolled(tmp_path)
    assert manager.heard == []
    assert manager.closed_count == (0 if isinstance(line, Exception) else 1)


def test_a_request_is_asked_again_with_the_same_key_until_the_manager_says_no(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: a code wasted by a broken line, or a refused request that is asked for ever."""
    denied = enrolment.Denied("This code was used before.")
    lines = [Line(OFFER), Line(OFFER, FIRST), Line(OFFER), Line(OFFER, denied)]
    manager, shown = Manager(monkeypatch, *lines), list[str]()
    with pytest.raises(IdentityFault, match="try again with the same code"):
        enrolled(tmp_path, shown)
    identity = UnitIdentity(tmp_path)
    assert identity.pending.is_file()
    with pytest.raises(IdentityFault, match=r"the manager refuses: This code was used before\."):
        enrolled(tmp_path, shown)
    assert not identity.pending.exists()
    first, again = (enrolment.decode(each) for each in manager.heard)
    assert isinstance(first, enrolment.Request)
    assert first == again
    assert (first.unit_id, first.code) == ("UF-1", "CODE")
    assert first.seal_key == identity.sealer("UF-1").public_key
    assert shown == [enrolment.match_number(FIRST.nonce, CA, first.content())]
    assert manager.closed_count == 4


def test_a_request_of_another_unit_is_not_gone_on_with(tmp_path: Path) -> None:
    """Catches: a cloned disk that asks under its new name with the other unit's key."""
    identity = UnitIdentity(tmp_path)
    identity.ensure_seal_key()
    first, again, other = (
        enrol._pending_request(identity, unit_id, "CODE") for unit_id in ("UF-1", "UF-1", "UF-2")
    )
    assert first == again
    assert other.signing_request != first.signing_request
    request = x509.load_der_x509_csr(other.signing_request)
    assert request.subject.rfc4514_string() == "CN=UF-2"


@pytest.mark.parametrize("digits", ["ab" * 32, "AB:" * 31 + "ab", " ab" * 32])
def test_a_fingerprint_is_read_however_people_write_it(digits: str) -> None:
    place = enrol.ManagerPlace.parse("floor.local:7412", digits)
    assert place == enrol.ManagerPlace("floor.local", 7412, "ab" * 32)


@pytest.mark.parametrize(
    ("address", "digits"),
    [("floor.local", "ab" * 32), ("floor.local:7412", "ab" * 31), ("floor.local:7412", "xy" * 32)],
)
def test_a_place_that_names_no_manager_is_refused(address: str, digits: str) -> None:
    with pytest.raises(IdentityFault):
        enrol.ManagerPlace.parse(address, digits)
