"""What a unit makes of a swipe, and when it takes no card: a power cut forgives nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from controller.inputs.cards import CardLockOut, CardProofs, Waiting
from controller.table.faults import FaultBoard
from hal.worker import InlineWorker
from protocol.numbers import SWIPE_CLAIM
from protocol.secrets.cards import card_key, swipe_proof
from protocol.wire.events import Fault
from protocol.wire.settings import TableSettings
from sim.time.loop import run_virtual
from tests.kit.message_samples import SETTINGS

SALT = bytes(16)
LIMITED = replace(SETTINGS, wrong_cards_max=3, wrong_cards_within_s=60, card_lockout_s=300)
ACCOUNT = "6012345000000099"


class Desk:
    def __init__(self, settings: TableSettings = LIMITED) -> None:
        self.settings = settings
        self.events: list[Fault] = []
        self.faults = FaultBoard(self.events.append)
        self.cards = CardLockOut(self.faults)

    def swipe_wrong(self) -> None:
        self.cards.count(self.settings)


def play(scene: Callable[[Desk], Awaitable[None]], settings: TableSettings = LIMITED) -> None:
    async def run() -> None:
        await scene(Desk(settings))

    run_virtual(run())


def test_a_proof_is_made_for_what_waits_and_by_this_unit() -> None:
    async def scene(desk: Desk) -> None:
        proofs = CardProofs("UF-1", card_key, InlineWorker("w"), bytes(32))
        content = [[["5A", "four-aces", 800, "main", 1]], []]
        swipe = await proofs.swipe(SALT, ACCOUNT, Waiting(SWIPE_CLAIM, 7, content))
        wanted = swipe_proof(card_key(SALT, ACCOUNT), "UF-1", SWIPE_CLAIM, 7, content)
        assert (swipe.purpose, swipe.number, swipe.proof) == (SWIPE_CLAIM, 7, wanted)

    play(scene)


def test_a_wrong_card_s_mark_tells_nothing_about_its_number() -> None:
    """One card tried often can be told from many, until the next start and no longer."""
    marks = [
        CardProofs("UF-1", card_key, InlineWorker("w"), key).mark(account)
        for key in (bytes(32), bytes(31) + b"1")
        for account in (ACCOUNT, ACCOUNT, "6012345000000098")
    ]
    assert marks[0] == marks[1]
    assert len(set(marks)) == 4
    assert all(ACCOUNT[:4] not in mark and len(mark) == 8 for mark in marks)


def test_after_so_many_wrong_cards_none_is_taken_until_the_time_has_passed() -> None:
    async def scene(desk: Desk) -> None:
        for _ in range(3):
            assert desk.cards.refusal() == ""
            desk.swipe_wrong()
        assert desk.cards.refusal() == "Too many wrong cards. Wait 300 s."
        assert [fault.code for fault in desk.faults.all()] == ["card-lockout"]
        await asyncio.sleep(299)
        assert desk.cards.refusal() == "Too many wrong cards. Wait 1 s."
        await asyncio.sleep(1)
        desk.cards.tick()
        assert desk.faults.all() == []
        assert desk.cards.refusal() == ""
        assert [event.raised for event in desk.events] == [True, False]

    play(scene)


def test_wrong_cards_far_apart_do_not_add_up() -> None:
    async def scene(desk: Desk) -> None:
        for _ in range(10):
            desk.swipe_wrong()
            await asyncio.sleep(31)
        assert desk.cards.refusal() == ""

    play(scene)


def test_without_a_limit_there_is_no_lock_out() -> None:
    async def scene(desk: Desk) -> None:
        for _ in range(50):
            desk.swipe_wrong()
        assert desk.cards.refusal() == ""

    play(scene, replace(LIMITED, wrong_cards_max=0))


def test_a_power_cut_forgives_nothing_and_an_old_lock_out_is_over() -> None:
    async def scene(desk: Desk) -> None:
        desk.cards.restore(LIMITED, [5000, 4000])
        desk.swipe_wrong()
        assert "Too many" in desk.cards.refusal()
        locked = Desk()
        locked.cards.restore(LIMITED, [102_000, 101_000, 100_000])
        assert locked.cards.refusal() == "Too many wrong cards. Wait 200 s."
        past = Desk()
        past.cards.restore(LIMITED, [402_000, 401_000, 400_000])
        assert past.cards.refusal() == ""
        assert past.events == []
        set_back = Desk()
        set_back.cards.restore(LIMITED, [-9_000_000] * 3)  # the clock went back: as if just now
        assert "Too many" in set_back.cards.refusal()

    play(scene)
