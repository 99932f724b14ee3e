"""A new program is fetched between games, a window at a time, and never handed over unproven."""

from __future__ import annotations

import asyncio
import errno
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from controller.link.program_fetch import TRIES_MAX, WINDOW_BYTES, ProgramFetch
from controller.link.program_spool import NoRoom, Standing
from hal.errors import HardwareFault
from hal.worker import InlineWorker
from protocol.wire.messages import ProgramPart
from protocol.wire.program_steps import DISK, GAME, NO_IMAGE, NO_ROOM, TRANSFER, Step
from protocol.wire.rows import PROGRAM_PART_BYTES, ProgramOffer, ProgramReport
from sim.time.loop import run_virtual

PROGRAM = bytes(range(250)) * 4
OFFER = ProgramOffer(3, len(PROGRAM), hashlib.sha256(PROGRAM).digest(), "2.0")


class Disk:
    """Stands for the spool: what has come, what was handed over, and how it can fail."""

    def __init__(self) -> None:
        self.content = b""
        self.handed_over: list[bytes] = []
        self.thrown_away = 0
        self.withdrawn = 0
        self.begun = 0
        self.written = 0
        self.known: Standing | None = None
        self.fails_with: Exception | None = None
        self.comes_meanwhile: list[ProgramPart] = []
        self.fetch: ProgramFetch | None = None

    def standing(self, offer: ProgramOffer) -> Standing | None:
        return self.known

    def begin(self, offer: ProgramOffer) -> int:
        self.begun += 1
        self._fail()
        return len(self.content)

    def append(self, place: int, content: bytes) -> None:
        self._fail()
        self.written += 1
        self.content = self.content[:place] + content
        for each in self.comes_meanwhile:
            assert self.fetch is not None
            self.fetch.take(each)
        self.comes_meanwhile = []

    def hashing(self) -> Iterator[bytes | None]:
        yield None
        yield hashlib.sha256(self.content).digest()

    def hand_over(self, offer: ProgramOffer) -> None:
        self.handed_over.append(self.content)

    def throw_away(self) -> None:
        self.thrown_away += 1
        self.content = b""

    def withdraw(self) -> None:
        self.withdrawn += 1

    def _fail(self) -> None:
        if self.fails_with is not None:
            raise self.fails_with


class Unit:
    def __init__(self) -> None:
        self.disk, self.fetch = Disk(), ProgramFetch()
        self.disk.fetch = self.fetch
        self.fetch.spool = self.disk  # type: ignore[assignment]
        self.fetch.worker = InlineWorker("program")
        self.is_between_rounds = True
        self.fetch.is_between_rounds = lambda: self.is_between_rounds
        self.panel: list[tuple[str, str]] = []
        self.fetch.tell = lambda code, version: self.panel.append((code, version))

    async def hears(self, *offers: ProgramOffer) -> tuple[ProgramReport, ...]:
        """A heartbeat of the manager, and what ours says after it."""
        self.fetch.offered(offers)
        return await self.settled()

    async def settled(self) -> tuple[ProgramReport, ...]:
        await asyncio.sleep(0.001)
        return self.fetch.report()

    async def said(self, *offers: ProgramOffer) -> tuple[int, int, str]:
        (report,) = await self.hears(*offers)
        assert report.rollout == offers[0].rollout
        return report.step, report.place, report.reason

    def gets(self, place: int, content: bytes, rollout: int = OFFER.rollout) -> None:
        self.fetch.take(ProgramPart(rollout, place, content))

    @contextmanager
    def running(self) -> Iterator[None]:
        task = asyncio.ensure_future(self.fetch.run())
        try:
            yield
            assert not task.done(), "no offer and no fault ends it"
        finally:
            task.cancel()


def test_a_program_is_fetched_and_handed_over_when_its_digest_is_right() -> None:
    async def played(unit: Unit) -> None:
        with unit.running():
            assert await unit.said(OFFER) == (Step.FETCHING, 0, "")
            unit.gets(0, PROGRAM[:600])
            assert unit.disk.content == b"", "it is written when we are asked how far we are"
            assert await unit.said(OFFER) == (Step.FETCHING, 600, "")
            unit.gets(600, PROGRAM[600:])
            (report,) = await unit.settled()
            assert report == ProgramReport(3, Step.HANDED_OVER, OFFER.size, "")
            assert unit.disk.handed_over == [PROGRAM]
            assert (unit.disk.begun, unit.disk.written) == (1, 2)

    run_virtual(played(Unit()))


def test_what_was_not_asked_for_is_passed_over() -> None:
    """Catches: a part of another roll-out, one twice or one after a gap that gets into the file."""

    async def played(unit: Unit) -> None:
        with unit.running():
            unit.gets(0, b"before any offer")
            await unit.hears(OFFER)
            unit.gets(0, b"other", rollout=4)
            unit.gets(1, b"a gap")
            unit.gets(0, PROGRAM[:100])
            unit.gets(0, PROGRAM[:100])
            unit.gets(50, b"overlaps")
            unit.gets(100, PROGRAM[100:200])
            assert await unit.said(OFFER) == (Step.FETCHING, 200, "")
            assert unit.disk.content == PROGRAM[:200]
            unit.gets(200, PROGRAM[200:] + b"more than was offered")
            await unit.settled()
            assert unit.disk.handed_over == [PROGRAM]

    run_virtual(played(Unit()))


def test_no_more_than_a_window_is_held_in_memory() -> None:
    async def played(unit: Unit) -> None:
        offer = OFFER._replace(size=3 * WINDOW_BYTES)
        part = bytes(PROGRAM_PART_BYTES)
        with unit.running():
            await unit.hears(offer)
            for place in range(0, WINDOW_BYTES - PROGRAM_PART_BYTES, PROGRAM_PART_BYTES):
                unit.gets(place, part)
            await unit.settled()
            assert unit.disk.content == b"", "the window is not full yet"
            for place in range(WINDOW_BYTES - PROGRAM_PART_BYTES, 2 * WINDOW_BYTES, len(part)):
                unit.gets(place, part)
            await unit.settled()
            assert len(unit.disk.content) == WINDOW_BYTES

    run_virtual(played(Unit()))


def test_what_comes_while_the_disk_writes_is_kept_for_the_next_turn() -> None:
    async def played(unit: Unit) -> None:
        with unit.running():
            await unit.hears(OFFER)
            unit.gets(0, PROGRAM[:100])
            unit.disk.comes_meanwhile = [ProgramPart(3, 100, PROGRAM[100:150])]
            assert await unit.said(OFFER) == (Step.FETCHING, 100, "")
            assert await unit.said(OFFER) == (Step.FETCHING, 150, "")
            assert unit.disk.content == PROGRAM[:150]

    run_virtual(played(Unit()))


def test_it_goes_on_from_what_the_disk_had_before_a_restart() -> None:
    async def played(unit: Unit) -> None:
        unit.disk.content = PROGRAM[:400]
        with unit.running():
            assert await unit.said(OFFER) == (Step.FETCHING, 400, "")
            unit.gets(400, PROGRAM[400:])
            await unit.settled()
            assert unit.disk.handed_over == [PROGRAM]

    run_virtual(played(Unit()))


def test_a_whole_program_on_the_disk_needs_no_further_part() -> None:
    async def played(unit: Unit) -> None:
        unit.disk.content = PROGRAM
        with unit.running():
            assert await unit.said(OFFER) == (Step.HANDED_OVER, OFFER.size, "")

    run_virtual(played(Unit()))


def test_while_a_game_is_played_the_unit_waits() -> None:
    async def played(unit: Unit) -> None:
        unit.is_between_rounds = False
        with unit.running():
            assert await unit.said(OFFER) == (Step.WAITS, 0, GAME)
            unit.is_between_rounds = True
            assert await unit.said(OFFER) == (Step.FETCHING, 0, "")
            assert unit.disk.written == 0, "nothing came, so the disk is left alone"
            unit.fetch.offered((OFFER,))
            assert unit.fetch.report(), "a repeated offer takes back nothing that we said"

    run_virtual(played(Unit()))


def test_before_it_is_put_together_a_unit_is_never_between_rounds() -> None:
    assert ProgramFetch().is_between_rounds() is False


def test_a_program_that_came_wrong_is_fetched_again_and_then_given_up() -> None:
    """Catches: handing over what is not the offered program, and fetching it for ever."""

    async def played(unit: Unit) -> None:
        with unit.running():
            await unit.hears(OFFER)
            for number in range(1, TRIES_MAX + 1):
                unit.gets(0, bytes(OFFER.size))
                (report,) = await unit.settled()
                assert report == ProgramReport(3, Step.WAITS, 0, TRANSFER)
                assert unit.disk.thrown_away == number
                assert unit.panel[-1] == ("", "2.0")
                if number < TRIES_MAX:
                    assert await unit.said(OFFER) == (Step.FETCHING, 0, "")
            assert await unit.said(OFFER) == (Step.REFUSED, 0, TRANSFER)
            assert await unit.said(OFFER) == (Step.REFUSED, 0, TRANSFER)
            assert unit.panel[-1] == (TRANSFER, "2.0")
            assert unit.disk.handed_over == []
            # The next offer of the house is another one, and is tried anew.
            other = OFFER._replace(version="2.1")
            assert await unit.said(other) == (Step.FETCHING, 0, "")
            assert unit.panel[-1] == ("", "2.1")

    run_virtual(played(Unit()))


def test_another_program_begins_anew_and_the_same_one_in_another_rollout_goes_on() -> None:
    async def played(unit: Unit) -> None:
        with unit.running():
            await unit.hears(OFFER)
            unit.gets(0, PROGRAM[:100])
            again = OFFER._replace(rollout=4)
            assert await unit.said(again) == (Step.FETCHING, 100, "")
            unit.gets(100, PROGRAM[100:120])
            unit.gets(100, PROGRAM[100:200], rollout=4)
            unit.disk.content = b""
            assert await unit.said(again._replace(digest=bytes(32))) == (Step.FETCHING, 0, "")
            assert unit.disk.content == b"", "what came of the first is no part of the second"

    run_virtual(played(Unit()))


def test_what_the_updater_knows_is_told_and_nothing_is_fetched() -> None:
    async def played(unit: Unit) -> None:
        with unit.running():
            await unit.hears(OFFER)
            unit.disk.known = (Step.WRITING, "")
            unit.gets(0, PROGRAM[:100])
            assert await unit.said(OFFER) == (Step.WRITING, 0, "")
            assert unit.disk.content == b""
            assert unit.disk.begun == 1
            unit.disk.known = None  # it was stopped: the bytes are gone, and are fetched again
            assert await unit.said(OFFER) == (Step.FETCHING, 0, "")
            assert unit.disk.begun == 2
            unit.disk.known = (Step.REFUSED, "not_trusted")
            assert await unit.said(OFFER) == (Step.REFUSED, 0, "not_trusted")
            assert unit.panel[-1] == ("", "2.0"), "the updater's own news are on the panel"

    run_virtual(played(Unit()))


def test_a_unit_without_an_image_says_so_and_does_nothing() -> None:
    async def played(unit: Unit) -> None:
        unit.fetch.spool = None
        with unit.running():
            assert await unit.said(OFFER) == (Step.CANNOT, 0, NO_IMAGE)
            assert await unit.hears() == ()

    run_virtual(played(Unit()))


def test_a_withdrawn_offer_is_taken_from_the_disk_once_and_no_longer_reported() -> None:
    async def played(unit: Unit) -> None:
        with unit.running():
            assert await unit.hears() == ()
            await unit.hears()
            assert unit.disk.withdrawn == 1, "what an earlier start has left behind"
            await unit.hears(OFFER)
            unit.gets(0, PROGRAM[:100])
            assert await unit.hears() == ()
            assert unit.disk.withdrawn == 2
            unit.gets(0, PROGRAM)
            await unit.hears()
            assert (unit.disk.withdrawn, unit.disk.content) == (2, b"")
            assert await unit.said(OFFER) == (Step.FETCHING, 0, "")

    run_virtual(played(Unit()))


def test_a_full_disk_refuses_the_program_and_the_panel_says_so() -> None:
    async def played(unit: Unit) -> None:
        unit.disk.fails_with = NoRoom()
        with unit.running():
            assert await unit.said(OFFER) == (Step.REFUSED, 0, NO_ROOM)
            assert unit.panel == [(NO_ROOM, "2.0")]
            unit.gets(0, PROGRAM)
            unit.disk.fails_with = None
            assert await unit.said(OFFER) == (Step.FETCHING, 0, "")

    run_virtual(played(Unit()))


@pytest.mark.parametrize(
    ("error", "step", "reason"),
    [
        (OSError(errno.ENOSPC, "full"), Step.REFUSED, NO_ROOM),
        (OSError(errno.EDQUOT, "full"), Step.REFUSED, NO_ROOM),
        (OSError(errno.EIO, "bad"), Step.WAITS, DISK),
        (HardwareFault("stuck"), Step.WAITS, DISK),
    ],
)
def test_a_disk_that_fails_while_it_writes_ends_this_try_and_not_the_next(
    error: Exception, step: Step, reason: str
) -> None:
    async def played(unit: Unit) -> None:
        with unit.running():
            await unit.hears(OFFER)
            unit.gets(0, PROGRAM[:100])
            unit.disk.fails_with = error
            assert await unit.said(OFFER) == (step, 0, reason)
            unit.disk.fails_with = None
            assert await unit.said(OFFER) == (Step.FETCHING, 0, "")
            unit.gets(0, PROGRAM)
            await unit.settled()
            assert unit.disk.handed_over == [PROGRAM]

    run_virtual(played(Unit()))
