"""The words of enrolment: one encoding each, described in CDDL, and nothing else is understood."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.wire import enrolment, messages, profile, schema
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.fields import wire_fields
from protocol.wire.framing import frame

SAMPLES: dict[str, messages.Message] = {
    "enrol-offer": enrolment.Offer(b"\x30" * 300),
    "enrol-request": enrolment.Request("UF-0001", "7-K3QX-9M2T", b"\x30" * 230, bytes(range(32))),
    "enrol-waiting": enrolment.Waiting(bytes(range(16))),
    "enrol-granted": enrolment.Granted(b"\x30" * 400),
    "enrol-denied": enrolment.Denied("The operator refused the request."),
}
GOLDEN = {
    "enrol-waiting": "a20003015000" + bytes(range(1, 16)).hex(),
    "enrol-denied": "a2000501782154686520" + b"operator refused the request.".hex(),
}


@pytest.mark.parametrize("rule", SAMPLES)
def test_each_is_read_back_and_follows_its_rule(rule: str) -> None:
    encoded = SAMPLES[rule].encode()
    assert enrolment.decode(encoded) == SAMPLES[rule]
    schema.check(rule, encoded)
    if rule in GOLDEN:
        assert encoded.hex() == GOLDEN[rule]


@pytest.mark.parametrize("rule", SAMPLES)
def test_the_rule_lists_the_fields_of_the_message(rule: str) -> None:
    text = schema.CDDL_PATH.read_text(encoding="utf-8")
    found = re.search(rf"^{rule} = \{{\n(.*?)^\}}", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    listed = [(int(k), n) for k, n in re.findall(r"^  (\d+): .*?; ([a-z_]+)", found[1], re.M)]
    assert listed == [(each.key, each.name) for each in wire_fields(type(SAMPLES[rule]))]


def test_the_largest_request_fits_one_frame() -> None:
    frame(enrolment.Request("x" * 32, "x" * 32, bytes(2048), bytes(32)).encode())


def test_the_links_messages_are_not_understood_here_nor_these_there() -> None:
    heartbeat = messages.Heartbeat(1, "open").encode()
    with pytest.raises(ProtocolError) as caught:
        enrolment.decode(heartbeat)
    assert caught.value.code == ErrorCode.UNKNOWN_TYPE
    for sample in SAMPLES.values():
        with pytest.raises(ProtocolError):
            messages.decode(sample.encode())


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=80) | st.sampled_from([s.encode() for s in SAMPLES.values()]), st.data())
def test_any_bytes_are_a_message_or_a_protocol_error(data: bytes, draw: st.DataObject) -> None:
    if data:
        at = draw.draw(st.integers(0, len(data) - 1))
        data = data[:at] + draw.draw(st.binary(max_size=2)) + data[at + 1 :]
    try:
        message = enrolment.decode(data)
    except ProtocolError:
        return
    known = {key: item for key, item in profile.decode(data).items() if key < 64}
    assert message.encode() == profile.encode(known)
