"""What a unit must do, played by a manager. The cases follow one another: one journal, one round.

Where somebody has to press something at the unit, the kit says so and waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from protocol.conformance.line import UNKNOWN_KEY, Line
from protocol.conformance.played_manager import ACT_MAX_S, FIXED, METER, PlayedManager
from protocol.conformance.report import Broken, Case, expect
from protocol.numbers import METHOD_DEALER, ROLE_DEALER, SOURCE_TRAY
from protocol.wire import events, profile
from protocol.wire.address import join_address
from protocol.wire.framing import frame
from protocol.wire.messages import Ack, Award, Committed, Event, GoTo, Heartbeat, Message, Welcome
from protocol.wire.rows import AwardLine, MeterValue
from protocol.wire.version import WINDOW

QUIET_S = 1.5
SENT_ON_MAX_S = 1.0
HANGS_UP_MAX_S = 8.0
GAME_WAGER_CENTS = 100
WIN_NUMBER = 7
BETS = ("1A", "2A")
LINES = (AwardLine("1A", FIXED.id, FIXED.pay_value * GAME_WAGER_CENTS, "", SOURCE_TRAY),)


async def enrolment(manager: PlayedManager) -> None:
    """The unit enrols with the code, a P-256 signing request in its name, and a seal's key."""
    try:
        async with asyncio.timeout(ACT_MAX_S):
            await manager.asked.wait()
    except TimeoutError:
        raise Broken("nobody asked to be enrolled") from None
    expect(not manager.enrolment_problem, manager.enrolment_problem)


async def nothing_before_welcome(manager: PlayedManager) -> None:
    """Hello is the first frame, and nothing follows it before Welcome."""
    async with manager.next_line() as line:
        await manager.hello(line)
        await _quiet(line, QUIET_S)


async def one_event_in_a_window_of_one(manager: PlayedManager) -> None:
    """In a window of one, a second event waits for the first one's Ack."""
    async with manager.welcomed(window=1) as line:
        first = await manager.event(line)
        await _no_event(line, QUIET_S)
        await manager.take(line, first)


async def an_event_without_ack_comes_again(manager: PlayedManager) -> None:
    """An event that was not acknowledged comes again after a reconnect, byte for byte."""
    async with manager.welcomed(window=1) as line:
        before = await manager.event(line)
    async with manager.welcomed(window=1) as line:
        again = await manager.event(line)
        expect(again == before, f"event {again.sequence} came back changed")
        await manager.take(line, again)


async def the_settings_are_adopted(manager: PlayedManager) -> None:
    """The settings are adopted: a SETTINGS event says so, with their digest."""
    async with manager.welcomed() as line:
        digest = manager.settings.digest()
        adopted = [e for e in manager.taken if e.kind == events.SETTINGS and e.body[1] == digest]
        while not adopted:
            event = await manager.take_until(line, events.SETTINGS)
            adopted = [event] if event.body[1] == digest else []
    async with manager.next_line() as line:
        hello = await manager.hello(line)
        expect(hello.settings_digest == digest, "Hello names other settings than the adopted ones")


async def heartbeats(manager: PlayedManager) -> None:
    """A heartbeat comes every second."""
    async with manager.welcomed() as line:
        loop = asyncio.get_running_loop()
        count, end_s = 0, loop.time() + 5
        while count < 3 and (left_s := end_s - loop.time()) > 0.01:
            message = await line.anything(left_s)
            count += isinstance(message, Heartbeat)
            if isinstance(message, Event):
                manager.check(message)
                await manager.take(line, message)
        expect(count >= 3, f"{count} heartbeats came in 5 s")


async def keys_from_64_on(manager: PlayedManager) -> None:
    """An unknown key from 64 on is passed over, and the line stays."""
    async with manager.welcomed() as line:
        newer = {0: 9, 1: 1, 2: "serving", UNKNOWN_KEY: [1, 2]}
        await line.send_raw(frame(profile.encode(newer)))
        await _nothing_of_kind(manager, line, ())


async def unknown_keys_below_64(manager: PlayedManager) -> None:
    """An unknown key below 64 ends the connection, and the unit comes back."""
    async with manager.welcomed() as line:
        await line.send_raw(frame(profile.encode({0: 9, 1: 1, 2: "serving", 40: 1})))
        await line.expect_end(HANGS_UP_MAX_S)


async def garbage(manager: PlayedManager) -> None:
    """A frame that is no item of the profile ends the connection, and the unit comes back."""
    for data in (frame(b"\xff"), b"\x00\x00\x20\x00", frame(profile.encode({0: 99}))):
        async with manager.welcomed() as line:
            await line.send_raw(data)
            await line.expect_end(HANGS_UP_MAX_S)


async def silence(manager: PlayedManager) -> None:
    """After five seconds without a frame the unit hangs up and comes back."""
    async with manager.welcomed(beats=False) as line:
        await line.expect_end(HANGS_UP_MAX_S)


async def another_manager(manager: PlayedManager) -> None:
    """A GoTo in place of Welcome, or later, sends the unit to that address at once."""
    async with manager.next_line() as line:
        await manager.hello(line)
        await line.send(GoTo(_here(line), "That manager serves this table."))
        await line.expect_end(HANGS_UP_MAX_S)
    async with manager.welcomed() as line:
        await line.send(GoTo(_here(line), "That manager serves this table now."))
        await line.expect_end(HANGS_UP_MAX_S)
    asked_s = asyncio.get_running_loop().time()
    async with manager.next_line() as line:
        await manager.hello(line)
        took_s = asyncio.get_running_loop().time() - asked_s
        expect(took_s < SENT_ON_MAX_S, f"it called there only after {took_s:.1f} s")


async def a_manager_that_is_ahead(manager: PlayedManager) -> None:
    """A Welcome that stands above the unit's own journal is refused: no event is sent."""
    async with manager.next_line() as line:
        hello = await manager.hello(line)
        digest = manager.settings.digest()
        ahead = hello.last_sequence + 10
        await line.send(Welcome(0, manager.settings.table_id, ahead, WINDOW, 1, digest))
        await _ends_without_events(line)


async def the_ledgers_tail_is_remembered(manager: PlayedManager) -> None:
    """Hello names the last tail of the ledger that the unit was told."""
    async with manager.welcomed() as line:
        await _nothing_of_kind(manager, line, ())
    async with manager.next_line() as line:
        hello = await manager.hello(line)
        expect(bool(hello.tail), "Hello names no tail")
        expect(hello.tail[0].number == manager.told, f"it names tail {hello.tail[0].number}")
        await manager.welcome(line, hello)


async def a_ledger_that_went_back(manager: PlayedManager) -> None:
    """A ledger that went back, holds something else or has no tail is refused: no event comes."""
    digest, told = manager.settings.digest(), manager.told
    head = (0, manager.settings.table_id, len(manager.taken), WINDOW, 1, digest)
    now, good = manager.tail(), manager.tail(told).digest
    older = manager.tail(told - 1)
    for tails, digest_then in (((older,), good), ((now,), bytes(32)), ((now,), b""), ((), b"")):
        async with manager.next_line() as line:
            await manager.hello(line)
            await line.send(Welcome(*head, tail=tails, digest_then=digest_then))
            await _ends_without_events(line)


async def an_ack_of_what_was_never_sent(manager: PlayedManager) -> None:
    """An Ack of an event that was never sent is refused: the unit hangs up."""
    async with manager.welcomed() as line:
        await line.send(Ack(1_000_000, 1))
        await line.expect_end(HANGS_UP_MAX_S)


async def a_round(manager: PlayedManager) -> None:
    """A round starts with its accepted bets and their cents, durable before it is sent."""
    async with manager.welcomed() as line:
        manager.ask("start")
        event = await manager.take_until(line, events.ROUND_START)
        body = event.parse_body()
        assert isinstance(body, events.RoundStart)
        expect(set(BETS) <= set(body.accepted), f"accepted were {body.accepted}")
        cents = len(body.accepted) * GAME_WAGER_CENTS
        expect(body.wagered_cents == cents, f"{body.wagered_cents} cents were wagered")


async def a_claim_and_its_receipt(manager: PlayedManager) -> None:
    """A claim's Award gets its receipt, with the same amounts; a second one changes nothing."""
    async with manager.welcomed() as line:
        manager.ask("win")
        claim = (await manager.take_until(line, events.CLAIM)).parse_body()
        assert isinstance(claim, events.Claim)
        wanted = [("1A", FIXED.id)]
        expect([tuple(hand) for hand in claim.hands] == wanted, f"claimed was {claim.hands}")
        award = Award(claim.claim_number, LINES, (), ROLE_DEALER, False)
        await line.send(award)
        awarded = (await manager.take_until(line, events.AWARDED)).parse_body()
        assert isinstance(awarded, events.Awarded)
        expect(awarded.lines == LINES, f"the receipt says {awarded.lines}")
        commit = (await manager.take_until(line, events.COMMIT)).parse_body()
        assert isinstance(commit, events.Commit)
        expect(commit.method == METHOD_DEALER, f"it was committed by method {commit.method}")
        await line.send(award)
        await _nothing_of_kind(manager, line, (events.AWARDED, events.COMMIT))
        await _settle(manager, line, claim.claim_number)


async def the_round_ends(manager: PlayedManager) -> None:
    """The round ends with the number it began with."""
    async with manager.welcomed() as line:
        manager.ask("end")
        end = await manager.take_until(line, events.ROUND_END)
        start = next(e for e in reversed(manager.taken) if e.kind == events.ROUND_START)
        expect(end.body[1] == start.body[1], f"round {end.body[1]} ended")


async def a_restart(manager: PlayedManager) -> None:
    """After a power cut the same journal goes on: a BOOT event follows."""
    manager.ask("restart")
    booted = False
    while not booted:
        async with manager.next_line(ACT_MAX_S) as line:
            hello = await manager.hello(line)
            if hello.last_sequence == len(manager.taken):
                continue  # still the unit as it was
            await manager.welcome(line, hello)
            await manager.take_until(line, events.BOOT)
            booted = True


async def claims_are_sealed(manager: PlayedManager) -> None:
    """Each claim was sealed, under the key of the enrolment."""
    claims = [event.sequence for event in manager.taken if event.kind == events.CLAIM]
    sealed = [event.body[1] for event in manager.taken if event.kind == events.SEAL]
    expect(bool(claims), "nothing was claimed")
    for sequence in claims:
        expect(any(each >= sequence for each in sealed), f"claim {sequence} has no seal")


CASES: Sequence[Case[PlayedManager]] = (
    enrolment,
    nothing_before_welcome,
    one_event_in_a_window_of_one,
    an_event_without_ack_comes_again,
    the_settings_are_adopted,
    heartbeats,
    keys_from_64_on,
    unknown_keys_below_64,
    garbage,
    silence,
    another_manager,
    a_manager_that_is_ahead,
    the_ledgers_tail_is_remembered,
    a_ledger_that_went_back,
    an_ack_of_what_was_never_sent,
    a_round,
    a_claim_and_its_receipt,
    the_round_ends,
    a_restart,
    claims_are_sealed,
)


async def _settle(manager: PlayedManager, line: Line, claim_number: int) -> None:
    meters = (MeterValue(METER.id, METER.shown_cents),)
    committed = Committed(claim_number, WIN_NUMBER, LINES, (), meters)
    await line.send(committed)
    settled = (await manager.take_until(line, events.SETTLED)).parse_body()
    assert isinstance(settled, events.Settled)
    expect(settled.win_number == WIN_NUMBER, f"win {settled.win_number} was settled")
    expect(settled.lines == LINES, f"the receipt says {settled.lines}")
    await line.send(committed)
    await _nothing_of_kind(manager, line, (events.SETTLED,))


async def _quiet(line: Line, seconds: float) -> None:
    try:
        payload = await line.payload(seconds)
    except Broken:
        return
    raise Broken("it hung up" if payload is None else "it went on talking")


def _here(line: Line) -> str:
    """Where the unit has reached this manager."""
    host, port = line.writer.get_extra_info("sockname")[:2]
    return join_address(host, port)


async def _told_within(line: Line, seconds: float) -> AsyncIterator[Message]:
    """What the unit says in this time; that it hangs up meanwhile breaks the case."""
    loop = asyncio.get_running_loop()
    end_s = loop.time() + seconds
    while (left_s := end_s - loop.time()) > 0.01:
        try:
            message = await line.anything(left_s)
        except Broken as broken:
            expect("nothing came" in str(broken), str(broken))
            return
        yield message


async def _no_event(line: Line, seconds: float) -> None:
    async for message in _told_within(line, seconds):
        expect(not isinstance(message, Event), "a second event came before the Ack")


async def _nothing_of_kind(manager: PlayedManager, line: Line, kinds: tuple[int, ...]) -> None:
    """Other events are taken in meanwhile, such as a seal."""
    async for message in _told_within(line, QUIET_S):
        if isinstance(message, Event):
            expect(message.kind not in kinds, f"a second event of kind {message.kind} came")
            manager.check(message)
            await manager.take(line, message)


async def _ends_without_events(line: Line) -> None:
    loop = asyncio.get_running_loop()
    end_s = loop.time() + HANGS_UP_MAX_S
    while (left_s := end_s - loop.time()) > 0.01:
        payload = await line.payload(left_s)
        if payload is None:
            return
        expect(profile.decode(payload)[0] != Event.TYPE, "it sent an event all the same")
    raise Broken(f"it did not hang up in {HANGS_UP_MAX_S:g} s")
