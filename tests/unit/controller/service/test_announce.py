"""What a unit says of its service page by multicast DNS, read by somebody else's parser.

Mutations this catches: a wrong length or class in a record, an answer to another unit's answer
(two units would talk for ever), an answer to every question of a flood.
"""

from __future__ import annotations

import asyncio
from unittest.mock import Mock

from hypothesis import given
from hypothesis import strategies as st
from zeroconf import DNSIncoming, DNSOutgoing, DNSQuestion

from controller.service import announce
from controller.service.announce import GROUP, PORT, Announced, answer, is_asked
from sim.time.loop import run_virtual

UNIT = Announced("UF-0001", "four-card-touch", "10.0.0.7", 8082)
SERVICE = "_underfelt-svc._tcp.local."
QUERY, CLASS_IN, KIND_PTR = 0, 1, 12


def question(name: str) -> bytes:
    asked = DNSOutgoing(QUERY)
    asked.add_question(DNSQuestion(name, KIND_PTR, CLASS_IN))
    return asked.packets()[0]


def test_another_parser_reads_what_is_told() -> None:
    told = DNSIncoming(answer(UNIT))
    assert told.valid
    assert told.is_response()
    pointer, service, text, address = told.answers()
    assert (pointer.name, pointer.alias) == (SERVICE, f"UF-0001.{SERVICE}")
    assert (service.name, service.port, service.server) == (pointer.alias, 8082, "uf-0001.local.")
    assert text.text == b"\x0eserial=UF-0001\x15table=four-card-touch"
    assert address.address == bytes([10, 0, 0, 7])


def test_our_question_is_answered_and_no_other() -> None:
    assert is_asked(question(SERVICE))
    assert is_asked(question(SERVICE.upper()))
    assert not is_asked(question("_http._tcp.local."))
    assert not is_asked(answer(UNIT)), "two units would answer each other for ever"


@given(st.binary(max_size=600))
def test_any_packet_is_taken_without_a_fault(packet: bytes) -> None:
    is_asked(packet)


def test_a_flood_of_questions_gets_one_answer_a_second() -> None:
    async def flood() -> int:
        transport = Mock()
        answers = announce._Answers(UNIT)
        answers.connection_made(transport)
        for _ in range(300):
            answers.datagram_received(question(SERVICE), ("10.0.0.9", PORT))
            await asyncio.sleep(0.01)
        assert transport.sendto.call_args.args == (answer(UNIT), (GROUP, PORT))
        return int(transport.sendto.call_count)

    assert run_virtual(flood()) == 3


def test_a_machine_without_such_a_network_goes_on() -> None:
    async def nowhere() -> None:
        await announce.announce(UNIT._replace(address="192.0.2.1"))

    asyncio.run(nowhere())
