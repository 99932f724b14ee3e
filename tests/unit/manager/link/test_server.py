"""The units' link in virtual time: greeting, receipts, repeats, silence, slow and broken units."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from manager.ledger.corrections.reasons import ReversalReason, Signed
from manager.ledger.corrections.reversal import reverse_win
from manager.ledger.engines.engine import StorageFailed
from manager.link import admission
from manager.link.connection import QUEUE_MAX
from protocol.numbers import ROLE_EXECUTIVE
from protocol.wire import events
from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.framing import frame
from protocol.wire.messages import (
    Ack,
    Award,
    BundlePart,
    Committed,
    Error,
    Event,
    GoTo,
    Heartbeat,
    Meters,
    Reversed,
    Settings,
    Verdict,
)
from protocol.wire.rows import ClaimedHand
from sim.floor.late_writer import LateWriter
from tests.kit.pretend_units import Desk, PretendUnit, awarded, settled
from tests.kit.unit_line import TABLE, Line, last_error, open_line, play


def test_a_unit_is_welcomed_with_its_settings_and_meters() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        welcome = await line.greet()
        assert (welcome.table_id, welcome.last_sequence, welcome.window) == (TABLE, 0, 32)
        told, meters = await line.next(), await line.next()
        assert isinstance(told, Settings)
        assert told.digest == welcome.settings_digest
        assert isinstance(meters, Meters)
        assert [tuple(meter) for meter in meters.meters] == [("main", "Main", 800_000)]
        assert desk.manager.view.view()["tables"][0]["link"] == "up"
        await line.hang_up()
        assert desk.manager.view.view()["tables"][0]["link"] == "down"

    play(main)


def test_settings_that_the_unit_has_are_not_sent_again() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        digest = desk.manager.book.tables.rules(TABLE).settings.digest()
        await line.greet(digest)
        assert isinstance(await line.next(), Meters)
        await line.hang_up()

    play(main)


def test_a_whole_win_over_the_line() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        await line.greet()
        await line.say(events.RoundStart(1, ("2A", "5A", "7A"), (), (), 300))
        assert (await line.until(Ack)).last_sequence == 1
        assert (await line.until(Meters)).meters[0].shown_cents == 800_075
        await line.say(events.Claim(1, 1, (ClaimedHand("5A", "four-aces"),), False))
        award = await line.until(Award)
        assert award.lines[0].amount_cents == 800_075
        await line.say(awarded(award))
        await line.until_taken()
        await line.send(desk.made_swipe(TABLE, 1))
        ticket = (await line.until(Verdict)).ticket
        await line.say(events.Commit(1, 1, 2, ticket, ROLE_EXECUTIVE))
        committed = await line.until(Committed)
        assert (committed.win_number, committed.meters[0].shown_cents) == (1, 1_000_015)
        assert (await line.until(Meters)).meters[0].shown_cents == 1_000_015
        await line.say(settled(committed))
        await line.say(events.RoundEnd(1))
        assert (await line.until(Ack)).last_sequence == 6
        await line.hang_up()

    play(main)


def test_a_welcome_repeats_what_the_unit_may_have_missed() -> None:
    """Catches: an award, a receipt or a reversal that is lost with the line it was sent on."""

    async def main(desk: Desk) -> None:
        desk.start(TABLE, 1, "2A", "5A")
        desk.claim(TABLE, 1, 1, s5A="four-aces")
        line = open_line(desk)
        await line.greet()
        award = await line.until(Award)
        await line.hang_up()
        desk.say(TABLE, awarded(award))
        desk.by_card(TABLE, 1, 1)
        line = open_line(desk)
        await line.greet()
        committed = await line.until(Committed)
        await line.hang_up()
        desk.say(TABLE, settled(committed))
        reverse_win(desk.manager.book, 1, ReversalReason.NOT_WON, Signed("Ann", "Bob"))
        line = open_line(desk)
        await line.greet()
        assert (await line.until(Reversed)).win_number == 1
        await line.hang_up()

    play(main)


def test_nothing_is_acknowledged_before_it_is_durable() -> None:
    """What a receipt says can be read from the store at the moment it arrives."""

    async def main(desk: Desk) -> None:
        line = open_line(desk)
        await line.greet()
        for number in range(1, 6):
            await line.say(events.RoundStart(number, ("1A",), (), (), 100))
            ack = await line.until(Ack)
            assert desk.manager.units.get("UF-touch-1").last_sequence == ack.last_sequence
        await line.hang_up()

    play(main)


def test_nothing_leaves_while_what_it_rests_on_is_being_committed() -> None:
    """Catches: a receipt, an award, a meter or a welcome made from memory that is ahead."""

    async def main(desk: Desk) -> None:
        loop = asyncio.get_running_loop()
        desk.manager.store.commits.beside(LateWriter(loop, lambda: 500), desk.manager.server.halt)
        line = open_line(desk)
        began_s = loop.time()
        desk.manager.book.alarms.record("TEST", "Something is being committed.")
        await line.greet()
        assert loop.time() - began_s >= 0.5
        await line.until(Meters)
        began_s = loop.time()
        await line.say(events.RoundStart(1, ("5A",), (), (), 100))
        await line.say(events.Claim(1, 1, (ClaimedHand("5A", "four-aces"),), False))
        heard = [await line.until(kind) for kind in (Ack, Award, Meters)]
        assert loop.time() - began_s >= 0.5
        assert heard[2].meters[0].shown_cents == 800_025
        assert desk.manager.store.commits.durable_tail.number == desk.manager.store.tail().number
        await line.hang_up()

    play(main)


def test_amounts_that_moved_while_older_ones_wait_are_shown_right_after_them() -> None:
    """Catches: what was asked for while a frame waits for its transaction is forgotten."""

    async def main(desk: Desk) -> None:
        loop = asyncio.get_running_loop()
        line = open_line(desk)
        await line.greet()
        await line.until(Meters)
        connection = desk.manager.server.connection_of("UF-touch-1")
        assert connection is not None
        desk.manager.store.commits.beside(LateWriter(loop, lambda: 100), desk.manager.server.halt)
        began_s = loop.time()
        await line.say(events.RoundStart(1, ("5A",), (), (), 100))
        await asyncio.sleep(0.05)
        connection.send_meters()
        await line.say(events.RoundStart(2, ("5A",), (), (), 100))
        await asyncio.sleep(0.01)
        connection.send_meters()
        shown = [(await line.until(Meters)).meters[0].shown_cents for _ in range(2)]
        assert shown == [800_025, 800_050]
        assert loop.time() - began_s < 0.3  # long before the next heartbeat brings them
        await line.hang_up()

    play(main)


def test_a_commit_that_fails_on_its_way_halts_and_nothing_leaves() -> None:
    async def main(desk: Desk) -> None:
        loop = asyncio.get_running_loop()
        line = open_line(desk)
        await line.greet()
        await line.until(Meters)
        desk.manager.store.commits.beside(LateWriter(loop, lambda: 300), desk.manager.server.halt)
        desk.manager.store.engine.commit = no_disk  # type: ignore[method-assign]
        await line.say(events.RoundStart(1, ("5A",), (), (), 100))
        await desk.manager.server.halted.wait()
        heard = await line.until_end()
        assert not [each for each in heard if isinstance(each, Ack | Meters)]

    play(main)


def no_disk(batch: object) -> None:
    raise StorageFailed("the disk is gone")


def test_meters_go_out_at_most_five_times_a_second() -> None:
    async def main(desk: Desk) -> None:
        loop = asyncio.get_running_loop()
        line = open_line(desk)
        await line.greet()
        await line.until(Meters)
        began_s, heard, last = loop.time(), 0, 800_000
        for number in range(1, 41):
            await line.say(events.RoundStart(number, ("5A",), (), (), 100))
            await asyncio.sleep(0.025)
        while last < 800_000 + 40 * 25:
            last = (await line.until(Meters)).meters[0].shown_cents
            heard += 1
        assert heard <= 1 + 5 * (loop.time() - began_s) + 2  # two heartbeats bring them, too
        await line.hang_up()

    play(main)


def test_events_that_arrive_together_share_one_transaction() -> None:
    async def main(desk: Desk) -> None:
        desk.open_table("touch-2", opening='"8000.00"')
        lines = [open_line(desk), open_line(desk, "touch-2")]
        for line in lines:
            await line.greet()
        batches: list[int] = []
        take = desk.manager.intake.take

        def counting(batch: Any) -> Any:
            batches.append(len(batch))
            return take(batch)

        desk.manager.intake.take = counting  # type: ignore[method-assign]
        for line in lines:
            for number in (1, 2, 3):
                line.up.write(frame(line.unit.make(events.RoundStart(number, (), ())).encode()))
        for line in lines:
            assert (await line.until(Ack)).last_sequence == 3
            await line.hang_up()
        assert batches == [6]

    play(main)


def test_the_answers_are_sent_again_until_their_receipts_were_seen() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        await line.greet()
        await line.say(events.RoundStart(1, ("5A",), (), (), 100))
        await line.say(events.Claim(1, 1, (ClaimedHand("5A", "four-aces"),), False))
        award = await line.until(Award)
        for _ in range(2):
            await line.hang_up()
            line = open_line(desk)
            assert (await line.greet()).last_sequence == 2
            assert await line.until(Award) == award
        await line.say(awarded(award))
        await line.until_taken()
        await line.send(desk.made_swipe(TABLE, 1))
        ticket = (await line.until(Verdict)).ticket
        await line.say(events.Commit(1, 1, 2, ticket, ROLE_EXECUTIVE))
        committed = await line.until(Committed)
        await line.hang_up()
        line = open_line(desk)
        await line.greet()
        assert await line.until(Committed) == committed
        await line.say(settled(committed))
        await line.until(Ack)
        await line.hang_up()
        line = open_line(desk)
        await line.greet()
        assert isinstance(await line.next(), Settings)
        assert isinstance(await line.next(), Meters)
        await line.hang_up()

    play(main)


def test_every_connected_unit_hears_of_a_moved_meter_at_once() -> None:
    async def main(desk: Desk) -> None:
        desk.open_table("touch-2", opening='"8000.00"')
        one, two = open_line(desk), open_line(desk, "touch-2")
        await one.greet()
        await two.greet()
        assert (await two.until(Meters)).meters[0].shown_cents == 800_000
        started = asyncio.get_running_loop().time()
        await one.say(events.RoundStart(1, ("1A", "2A"), (), (), 200))
        assert (await two.until(Meters)).meters[0].shown_cents == 800_050
        assert asyncio.get_running_loop().time() == started
        await one.hang_up()
        await two.hang_up()

    play(main)


def test_one_bet_among_other_news_is_enough_to_show_the_meters_at_once() -> None:
    """Catches: meters that wait for the next heartbeat, because not all that came moved money."""

    async def main(desk: Desk) -> None:
        desk.open_table("touch-2", opening='"8000.00"')
        one, two = open_line(desk), open_line(desk, "touch-2")
        for line in (one, two):
            await line.greet()
            await line.until(Meters)
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        await asyncio.gather(
            two.say(events.Boot(1, "0.1.0", "")), one.say(desk.round_start(TABLE, 1, "1A", "2A"))
        )
        assert (await two.until(Meters)).meters[0].shown_cents == 800_050
        assert loop.time() - began_s < 0.5
        await one.hang_up()
        await two.hang_up()

    play(main)


def test_whatever_happens_at_the_link_is_news_to_the_pages() -> None:
    """Catches: a page that goes on showing what was before, until something else happens."""

    async def main(desk: Desk) -> None:
        signal = desk.manager.server._changes

        async def news(act: Awaitable[object], is_news: bool = True) -> None:
            before = signal.version
            await act
            await asyncio.sleep(0.01)
            assert (signal.version > before) is is_news, act

        line = open_line(desk)
        await news(line.greet())
        await news(line.send(Heartbeat(1, "open")))
        await news(line.send(Heartbeat(2, "open")), is_news=False)
        await news(line.send(Heartbeat(3, "locked")))
        # Of a bundle that nobody waits for any more: no reason to hang up.
        await news(line.send(BundlePart(1, 0, 5, b"bytes")), is_news=False)
        await news(line.say(desk.round_start(TABLE, 1, "1A")))
        await news(line.send(desk.made_swipe(TABLE, 1)))
        await news(line.send(Error(ErrorCode.INTERNAL, "The disk is slow.", 1, 0)))
        stranger = Line(desk, PretendUnit("UF-9"))
        await news(stranger.send(stranger.unit.hello()))
        await stranger.until_end()
        await news(line.hang_up())

    play(main)


def test_a_heartbeat_and_the_meters_come_every_second_and_silence_ends_the_line() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        await line.greet()
        rest = await line.until_end()
        assert asyncio.get_running_loop().time() == pytest.approx(5, abs=0.01)
        beats = [m.monotonic_ms for m in rest if isinstance(m, Heartbeat)]
        assert beats[:4] == [1000, 2000, 3000, 4000]
        assert len([m for m in rest if isinstance(m, Meters)]) >= 5
        assert desk.manager.view.view()["tables"][0]["link"] == "down"

    play(main)


def test_a_unit_that_beats_stays_and_its_state_is_shown() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        await line.greet()
        for _ in range(20):
            await line.send(Heartbeat(1, "confirm"))
            await asyncio.sleep(1)
        (table,) = desk.manager.view.view()["tables"]
        assert (table["link"], table["state"]) == ("up", "confirm")
        await line.hang_up()

    play(main)


def test_a_unit_that_says_nothing_at_first_is_dropped() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        assert await line.until_end() == []
        assert asyncio.get_running_loop().time() == pytest.approx(5, abs=0.01)

    play(main)


def test_a_unit_that_does_not_read_is_dropped_not_buffered() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        await line.greet()
        line.down.stalled = True
        for number in range(1, 4):
            await line.say(events.RoundStart(number, (), ()))
            await line.send(Heartbeat(1, "open"))
            await asyncio.sleep(1)
        for _ in range(6):  # it still talks, so silence is not what ends it
            if line.served.done():
                break
            await line.send(Heartbeat(1, "open"))
            await asyncio.sleep(1)
        assert line.served.done()
        await line.served

    play(main)


def test_a_full_queue_drops_the_unit() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        await line.greet()
        line.down.stalled = True
        connection = desk.manager.server.connection_of("UF-touch-1")
        assert connection is not None
        for _ in range(QUEUE_MAX + 1):
            connection.send(Heartbeat(1, "x"))
        await line.served

    play(main)


# Catches: judging a hello by when it is heard. It was said before the power went, lay in a slow
# network, and came after the unit had gone on: a sound unit was locked for a journal gone back.
def test_a_hello_of_a_connection_that_was_given_up_locks_nobody() -> None:
    async def main(desk: Desk) -> None:
        unit = desk.units[TABLE]
        given_up = open_line(desk)
        old_hello = unit.hello()
        newer = open_line(desk)
        await newer.greet()
        await newer.say(events.Boot(1, "0.1.0", ""))
        await newer.until(Ack)
        await given_up.send(old_hello)
        (problem,) = await given_up.until_end()
        assert isinstance(problem, Error)
        assert problem.code == ErrorCode.UNEXPECTED
        known = desk.manager.units.get(unit.unit_id)
        assert not known.locked
        await newer.say(events.Boot(2, "0.1.0", ""))
        await newer.until(Ack)
        await newer.hang_up()
        # The same words on the newest connection are believed: a journal that went back.
        again = open_line(desk)
        await again.send(old_hello)
        await again.until_end()
        assert desk.manager.units.get(unit.unit_id).locked

    play(main)


# Catches: only saying so. Our own unit hangs up when it hears it; somebody else's would go on.
def test_a_unit_that_is_locked_meanwhile_is_told_and_hung_up_on() -> None:
    async def main(desk: Desk) -> None:
        unit, copy = desk.units[TABLE], PretendUnit("UF-touch-1")
        line = open_line(desk)
        await line.greet()
        await line.say(events.Boot(1, "0.1.0", ""))
        await line.until(Ack)
        with pytest.raises(ProtocolError):
            desk.manager.units.greet(copy.hello())  # its journal went back in time
        assert desk.manager.units.get(unit.unit_id).locked
        newer = open_line(desk)
        await newer.send(unit.hello())
        await newer.until_end()
        said = await line.until_end()
        assert isinstance(said[-1], Error)
        assert said[-1].code == ErrorCode.LOCKED

    play(main)


def test_a_unit_that_is_not_locked_is_not_cut() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        await line.greet()
        for unit_id in ("UF-touch-1", "UF-9"):
            desk.manager.server.cut_if_locked(unit_id)
        await line.say(events.Boot(1, "0.1.0", ""))
        assert (await line.until(Ack)).last_sequence == 1
        await line.hang_up()

    play(main)


def test_the_newer_connection_of_a_unit_replaces_a_half_open_one() -> None:
    async def main(desk: Desk) -> None:
        old = open_line(desk)
        await old.greet()
        new = open_line(desk)
        await new.greet()
        await old.until_end()
        assert desk.manager.view.view()["tables"][0]["link"] == "up"
        await new.say(events.RoundStart(1, ("1A",), (), (), 100))
        assert (await new.until(Ack)).last_sequence == 1
        await new.hang_up()

    play(main)


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (frame(b"\xff"), ErrorCode.MALFORMED),
        (frame(Heartbeat(1, "open").encode() + b"\x00"), ErrorCode.TRAILING),
        (b"\x00\x01\x00\x00", ErrorCode.OVERSIZED),
        (b"\x00\x00\x00\x00", ErrorCode.MALFORMED),
        (frame(Ack(1, 1).encode()), ErrorCode.UNEXPECTED),
    ],
)
@pytest.mark.parametrize("greeted", [True, False])
def test_broken_frames_are_answered_and_end_the_line(
    raw: bytes, code: ErrorCode, greeted: bool
) -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        if greeted:
            await line.greet()
        line.up.write(raw)
        assert await last_error(line) == code
        assert not desk.manager.server.halted.is_set()

    play(main)


def test_a_line_cut_inside_a_frame_ends_quietly() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        await line.greet()
        line.up.write(b"\x00\x00\x00\x09\x01")
        line.up.close()
        assert await last_error(line) == ErrorCode.CUT_OFF

    play(main)


def test_a_stranger_and_a_wrong_version_are_told_why() -> None:
    async def main(desk: Desk) -> None:
        line = Line(desk, PretendUnit("UF-0000"))
        await line.send(line.unit.hello())
        assert await last_error(line) == ErrorCode.UNKNOWN_UNIT
        line = open_line(desk)
        hello = line.unit.hello()
        await line.send(type(hello)(**{**vars(hello), "version_min": 90, "version_max": 91}))
        assert await last_error(line) == ErrorCode.VERSION

    play(main)


def test_a_gap_and_a_fork_end_the_line_with_their_code() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        await line.greet()
        skipped = line.unit.make(events.RoundStart(1, (), ()))
        later = line.unit.make(events.RoundEnd(1))
        await line.send(later)
        assert await last_error(line) == ErrorCode.GAP
        line = open_line(desk)
        await line.greet()
        await line.send(Event(1, skipped.kind, skipped.body, 1, 1, bytes(32)))
        assert await last_error(line) == ErrorCode.FORK
        line = open_line(desk)
        await line.send(line.unit.hello())
        assert await last_error(line) == ErrorCode.LOCKED

    play(main)


def test_more_events_than_the_window_without_waiting_are_too_many() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        await line.greet()
        many = [line.unit.make(events.RoundStart(n, (), ())) for n in range(1, 34)]
        for event in many:
            line.up.write(frame(event.encode()))
        rest = await line.until_end()
        assert any(isinstance(m, Error) and m.code == ErrorCode.RATE for m in rest)
        assert desk.manager.units.get("UF-touch-1").last_sequence == 32

    play(main)


def test_a_refused_claim_is_answered_and_the_line_stays_up() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        await line.greet()
        await line.say(events.RoundStart(1, ("1A",), (), (), 100))
        await line.say(events.Claim(1, 1, (ClaimedHand("7A", "four-aces"),), False))
        error = await line.until(Error)
        assert (error.code, error.claim_number) == (ErrorCode.CLAIM_REFUSED, 1)
        await line.say(events.RoundEnd(1))
        assert (await line.until(Ack)).last_sequence == 3
        await line.hang_up()

    play(main)


def test_an_error_from_the_unit_is_recorded() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        await line.greet()
        await line.send(Error(ErrorCode.INTERNAL, "The journal is full."))
        await line.hang_up()
        assert "The journal is full." in desk.manager.view.view()["alarms"][0]["text"]

    play(main)


def test_a_disk_that_fails_halts_the_manager_and_nothing_is_acknowledged() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        await line.greet()

        def failing(batch: object) -> list[Any]:
            raise StorageFailed("the disk is gone")

        desk.manager.intake.take = failing  # type: ignore[assignment, method-assign]
        await line.say(events.RoundStart(1, ("1A",), (), (), 100))
        assert not any(isinstance(m, Ack) for m in await line.until_end())
        assert desk.manager.server.halted.is_set()
        again = open_line(desk)
        await again.send(again.unit.hello())
        assert await last_error(again) == ErrorCode.INTERNAL

    play(main)


def test_a_disk_that_cannot_be_read_halts_the_manager_too() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        await line.greet()

        def failing(table_id: str) -> Any:
            raise StorageFailed("the disk is gone")

        desk.manager.book.tables.rules = failing  # type: ignore[method-assign]
        await line.until_end()
        assert desk.manager.server.halted.is_set()
        assert asyncio.get_running_loop().time() == pytest.approx(1, abs=0.01)

    play(main)


def test_a_manager_that_closes_lets_its_units_go() -> None:
    async def main(desk: Desk) -> None:
        line = open_line(desk)
        await line.greet()
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        closing = asyncio.create_task(desk.manager.server.close(), name="close")
        await line.until_end()
        await closing
        assert loop.time() - began_s < 1, "at once, and not when they have been silent for long"

    play(main)


def test_a_ledger_closed_under_a_line_that_is_let_go_is_no_failure() -> None:
    """Catches: a manager that stops as it was asked to, and then calls its disk broken."""

    async def main(desk: Desk) -> None:
        server = desk.manager.server
        await server.close()
        server.halt("The ledger is closed.")
        assert not server.halted.is_set()

    play(main)


def test_what_arrives_while_the_ledger_is_handed_over_is_left_to_the_next_manager() -> None:
    """Catches: an event taken in by a manager that said it takes none any more."""

    async def main(desk: Desk) -> None:
        line = open_line(desk)
        await line.greet()
        await line.until(Meters)
        await desk.manager.server.hold()
        await line.say(events.RoundStart(1, ("5A",), (), (), 100))
        await asyncio.sleep(0.5)
        assert desk.manager.units.get("UF-touch-1").last_sequence == 0
        await line.hang_up()

    play(main)


def test_every_unit_is_sent_on_to_the_manager_that_serves_from_now_on() -> None:
    """Catches: a table that stays with a manager that takes nothing in any more."""

    async def main(desk: Desk) -> None:
        desk.open_table("touch-2", opening='"8000.00"')
        lines = [open_line(desk), open_line(desk, "touch-2")]
        for line in lines:
            await line.greet()
        server = desk.manager.server
        await server.hold()
        server.send_on("192.0.2.7:7443", "South serves.")
        for line in lines:
            said = (await line.until_end())[-1]
            assert said == GoTo("192.0.2.7:7443", "South serves.")

    play(main)


def test_what_comes_while_the_manager_is_held_has_no_receipt() -> None:
    """Catches: an event that is acknowledged here, and that the next manager never gets."""

    async def main(desk: Desk) -> None:
        line = open_line(desk)
        await line.greet()
        await desk.manager.server.hold()
        await line.say(events.RoundStart(1, ("2A",), (), (), 100))
        await asyncio.sleep(1)
        assert desk.manager.units.get(line.unit.unit_id).last_sequence == 0
        desk.manager.server.send_on("192.0.2.7:7443", "South serves.")
        assert not [each for each in await line.until_end() if isinstance(each, Ack)]

    play(main)


def test_one_too_many_hears_why_before_its_line_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main(desk: Desk) -> None:
        monkeypatch.setattr(admission, "CONNECTIONS_MAX", 0)
        line = open_line(desk)
        assert await last_error(line) == ErrorCode.RATE

    play(main)


def test_an_error_that_a_unit_reports_is_told_once_and_halts_where_it_cannot_be_kept() -> None:
    """Catches: a manager that goes on with books of which it knows nothing any more."""

    async def main(desk: Desk) -> None:
        line, server = open_line(desk), desk.manager.server
        await line.greet()
        for _ in range(2):
            await line.send(Error(ErrorCode.INTERNAL, "My disk is slow.", 0))
            await asyncio.sleep(0.1)
        assert desk.alarm_codes() == ["UNIT"]
        alarm = desk.manager.book.alarms.newest(1)[0]
        assert alarm.sentence == "The unit reports: My disk is slow."
        assert not server.halted.is_set()
        desk.manager.book.alarms.record_once = fails  # type: ignore[method-assign]
        await line.send(Error(ErrorCode.INTERNAL, "My disk is slow.", 0))
        await asyncio.sleep(0.1)
        assert server.halted.is_set()
        await line.until_end()

    def fails(*_: Any) -> None:
        raise StorageFailed("the disk is gone")

    play(main)


def test_a_manager_that_halts_or_is_held_leaves_nothing_half_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Catches: units that stay connected to a manager that can book nothing any more."""

    async def main(desk: Desk) -> None:
        line, server, waited = open_line(desk), desk.manager.server, list[str]()
        await line.greet()

        async def all_written() -> None:
            waited.append("all is written")

        monkeypatch.setattr(server._events, "all_written", all_written)
        await server.hold()
        assert waited == ["all is written"]
        server.halt("the disk is gone")
        assert server.halted.is_set()
        await line.until_end()

    play(main)
