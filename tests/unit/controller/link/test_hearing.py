"""What the manager said goes to whom it concerns, once and whole."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from controller.link.hearing import Hearing, SentOn, known_code
from protocol.wire import events, messages
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.messages import Event, Message
from protocol.wire.rows import Counters, LabelledMeter
from sim.time.loop import run_virtual

TICKET = bytes(16)


class Told:
    """Stands for everybody who is told something; remembers who was told what."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.hearing = Hearing(self, self, self, self, self.acknowledged)  # type: ignore[arg-type]

    async def acknowledged(self, sequence: int) -> None:
        self.calls.append(("acknowledged", sequence))

    def __getattr__(self, name: str) -> Any:
        def at_once(*told: Any) -> None:
            self.calls.append((name, *told))

        async def awaited(*told: Any) -> None:
            at_once(*told)

        is_at_once = name in (
            "heard",
            "wanted",
            "offered",
            "take",
            "link_fault",
            "meters_arrived",
            "cover_all_arrived",
        )
        return at_once if is_at_once else awaited

    def hears(self, *said: Message) -> list[tuple[Any, ...]]:
        for each in said:
            run_virtual(self.hearing.hear(each))
        return self.calls


AWARD = messages.Award(1, (), (), 0, False)
COMMITTED = messages.Committed(1, 1, (), (), ())
REVERSED = messages.Reversed(1, 1, 1, "It was taken back.")
VOID = messages.Void(1, "misdeal", TICKET)
VERDICT = messages.Verdict(1, 1, 2, "Executive 2", TICKET, False, "")
CHECK = messages.HandCheck(1, ())
PART = messages.ProgramPart(9, 0, b"program")
COLUMN = messages.CoverAll(1, 2, ())


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (messages.Ack(7, 0), ("acknowledged", 7)),
        (
            messages.Meters(1, (LabelledMeter("main", "Main", 5),), 0),
            ("meters_arrived", [("main", "Main", 5)]),
        ),
        (AWARD, ("award_arrived", AWARD)),
        (COMMITTED, ("committed_arrived", COMMITTED)),
        (REVERSED, ("reversed_arrived", REVERSED)),
        (VOID, ("void_arrived", VOID)),
        (VERDICT, ("heard", VERDICT)),
        (CHECK, ("hand_check_arrived", CHECK)),
        (COLUMN, ("cover_all_arrived", COLUMN)),
        (messages.Settings(bytes(32), b"body"), ("settings_arrived", b"body")),
        (PART, ("take", PART)),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Message) else "",
)
def test_each_message_goes_to_the_one_it_concerns(message: Message, told: Any) -> None:
    assert Told().hears(message) == [told]


def test_a_heartbeat_asks_for_a_bundle_and_offers_a_program() -> None:
    beat = messages.Heartbeat(1, "serving")
    assert Told().hears(beat) == [("wanted", ()), ("offered", ())]


def state(event_count: int) -> messages.State:
    counters = Counters(0, 0, 0, 0, 0)
    return messages.State(bytes(16), 1, bytes(32), 1, 0, counters, event_count, ())


EVENT = Event(1, events.ROUND_END, events.RoundEnd(1).to_body(), 0, 0, bytes(32))


def test_a_state_is_told_when_all_of_its_events_have_come() -> None:
    """Catches: a round taken up without the bets that were still on their way."""
    told = Told()
    assert told.hears(state(2), EVENT) == []
    assert told.hears(EVENT) == [("state_arrived", state(2), [EVENT, EVENT])]
    assert Told().hears(state(0)) == [("state_arrived", state(0), [])]


def test_an_event_that_belongs_to_no_state_is_not_the_managers_to_send() -> None:
    for before in ([], [state(1), EVENT]):
        told = Told()
        told.hears(*before)
        with pytest.raises(ProtocolError, match="A manager does not send Event"):
            told.hears(EVENT)


def test_a_new_conversation_waits_for_nothing_of_the_last_one() -> None:
    told = Told()
    told.hears(state(1))
    told.hearing.begin()
    with pytest.raises(ProtocolError, match="A manager does not send Event"):
        told.hears(EVENT)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (messages.Error(ErrorCode.CLAIM_REFUSED, "No.", 3, 1), "claim_refused"),
        (messages.Error(ErrorCode.COUNTERS, "They differ.", 3, 0), "link_fault"),
        (messages.Error(ErrorCode.COUNTERS, "They differ.", 0, 0), "link_fault"),
        (messages.Error(ErrorCode.WAGER, "No such sensor.", 3, 0), "link_fault"),
        (messages.Error(ErrorCode.UNKNOWN_TYPE, "Noted.", 3, 0), ""),
    ],
    ids=lambda each: ErrorCode(each.code).name if isinstance(each, messages.Error) else "",
)
def test_an_error_about_one_thing_does_not_end_the_conversation(
    error: messages.Error, told: str
) -> None:
    """Catches: one refused claim that takes the whole table off the floor."""
    wanted: list[tuple[Any, ...]] = []
    if told == "claim_refused":
        wanted = [(told, error)]
    elif told:
        wanted = [(told, ErrorCode(error.code).name.lower(), error.sentence)]
    assert Told().hears(error) == wanted


def test_any_other_error_ends_it_also_one_of_a_newer_manager() -> None:
    for code, known in ((ErrorCode.LOCKED, ErrorCode.LOCKED), (999, ErrorCode.INTERNAL)):
        assert known_code(code) == known
        with pytest.raises(ProtocolError) as caught:
            Told().hears(messages.Error(int(code), "It is over.", 0, 0))
        assert caught.value.code == known


def test_whoever_is_sent_on_is_told_where() -> None:
    with pytest.raises(SentOn) as caught:
        Told().hears(messages.GoTo("north:7412", "Another one serves this table."))
    assert caught.value.address == "north:7412"


def test_the_managers_time_goes_on_after_it_was_said() -> None:
    async def scenario() -> None:
        told = Told()
        assert told.hearing.manager_now_ms() is None
        await told.hearing.hear(messages.Ack(1, 5_000))
        await asyncio.sleep(2)
        assert told.hearing.manager_now_ms() == 7_000

    run_virtual(scenario())
