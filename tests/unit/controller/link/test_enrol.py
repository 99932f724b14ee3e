"""What a unit hears while it waits for its certificate, and what it then does."""

from __future__ import annotations

import asyncio

import pytest

from controller.link import enrol
from controller.link.enrol import Denied
from protocol.wire import enrolment
from protocol.wire.messages import Message
from sim.time.loop import run_virtual

CA = b"the floor's CA"
REQUEST = enrolment.Request("UF-1", "CODE", b"signing request", bytes(32))
FIRST, SECOND = enrolment.Waiting(bytes(16)), enrolment.Waiting(bytes([1]) * 16)
OFFER = enrolment.Offer(CA)


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
