"""Strangers at the enrolment door: whatever they send is denied with a sentence, or ends the line.

This is the one place where the manager listens to a peer that has proven nothing.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st

from manager.identity import certificates
from manager.identity.enrolling import Enrolling
from manager.identity.enrolments import Enrolments
from manager.identity.errors import IdentityError
from manager.identity.folder import IdentityFolder
from manager.identity.store import IdentityStore
from protocol.wire import enrolment
from protocol.wire.errors import ProtocolError
from protocol.wire.framing import frame
from protocol.wire.stream import FrameStream
from sim.time.loop import run_virtual
from tests.fuzz.codec_inputs import GOLDEN
from tests.fuzz.effort import examples
from tests.kit.unit_line import HalfPipe

UNIT = "UF-0001"
KEY = certificates.new_key()
NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, UNIT)])
CSR = x509.CertificateSigningRequestBuilder(NAME).sign(KEY, hashes.SHA256())
GOOD_REQUEST = CSR.public_bytes(Encoding.DER)


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(changed)))
        changed[start : start + draw(st.integers(0, 2))] = draw(st.binary(max_size=2))
    return bytes(changed)


requests = st.builds(
    enrolment.Request,
    unit_id=st.sampled_from([UNIT, "UF-9", "\u00e9", "a b", "*", "-"]),
    code=st.sampled_from(["", "1-ABCD-EFGH", "999999999ABCDEFGH", "\u0661ABCDEFGH"])
    | st.text(st.characters(exclude_categories=["C", "Z"]), max_size=8),
    signing_request=damaged(GOOD_REQUEST) | st.binary(max_size=60),
    seal_key=st.binary(min_size=32, max_size=32),
)
said = st.one_of(
    requests.map(lambda request: frame(request.encode())),
    requests.flatmap(lambda request: damaged(frame(request.encode()))),
    st.sampled_from(GOLDEN).map(frame),
    st.binary(max_size=80),
)


@pytest.fixture(scope="module")
def enrolling(tmp_path_factory: pytest.TempPathFactory) -> Enrolling:
    folder = IdentityFolder(Path(tmp_path_factory.mktemp("enrolment")))
    folder.ensure()
    store = IdentityStore(str(folder.database), lambda: 1_790_000_000_000)
    desk = Enrolments(store, folder, bytes)
    return Enrolling(desk, folder.ca_der(), lambda unit_id: None, lambda: None)


@examples(100)
@given(said)
def test_a_stranger_is_denied_with_a_sentence(enrolling: Enrolling, data: bytes) -> None:
    async def main() -> list[enrolment.Message]:
        up, down = HalfPipe(), HalfPipe()
        serving = asyncio.create_task(enrolling.serve(up.reader, down), name="enrolling")
        up.write(data)
        up.close()
        await serving
        down.close()
        stream, heard = FrameStream(down.reader, up), []
        while (payload := await stream.read()) is not None:
            heard.append(enrolment.decode(payload))
        return heard

    offer, *rest = run_virtual(main())
    assert isinstance(offer, enrolment.Offer)
    if rest or data:
        (denied,) = rest
        assert isinstance(denied, enrolment.Denied)
        assert re.fullmatch(r"\S.*\.", denied.sentence, re.DOTALL)


@examples(400)
@given(damaged(GOOD_REQUEST) | st.binary(max_size=200))
def test_a_damaged_signing_request_is_refused(data: bytes) -> None:
    if data == GOOD_REQUEST:
        return
    with pytest.raises(IdentityError):
        certificates.read_request(data, UNIT)


def test_a_signing_request_of_another_version_is_refused() -> None:
    """The library has an exception of its own for this, which is no ValueError."""
    at = GOOD_REQUEST.index(b"\x02\x01\x00")
    data = GOOD_REQUEST[: at + 2] + b"\x07" + GOOD_REQUEST[at + 3 :]
    with pytest.raises(IdentityError, match="cannot be read"):
        certificates.read_request(data, UNIT)
    certificates.read_request(GOOD_REQUEST, UNIT)


@examples(150)
@given(said)
def test_any_bytes_are_an_enrolment_message_or_a_refusal(data: bytes) -> None:
    try:
        message = enrolment.decode(data[4:])
    except ProtocolError:
        return
    assert type(message) in enrolment.ENROLMENT_TYPES.values()
