"""Which cards are wrong, when none is taken any more, and what a power cut does not forgive."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from controller.card_desk import DAY_MS, DISABLED, EXPIRED, UNKNOWN, CardDesk
from controller.fault_board import FaultBoard
from protocol.cards import card_digest
from protocol.events import Fault
from protocol.settings import CardSetting, TableSettings
from sim.loop import run_virtual
from tests.golden.samples import SETTINGS

SALT = bytes(16)
TODAY = 20_000


def digest(account: str) -> bytes:
    return card_digest(SALT, account)


CARDS = replace(
    SETTINGS,
    card_salt=SALT,
    cards=(CardSetting(digest("1"), 1, "Ever"), CardSetting(digest("2"), 2, "Until today")),
    card_last_days=(0, TODAY),
    disabled_cards=(digest("3"),),
    wrong_cards_max=3,
    wrong_cards_within_s=60,
    card_lockout_s=300,
)


class Desk:
    def __init__(self, settings: TableSettings = CARDS) -> None:
        self.settings = settings
        self.now_ms = TODAY * DAY_MS
        self.events: list[Fault] = []
        self.faults = FaultBoard(self.events.append)
        self.cards = CardDesk(self.faults, lambda: self.now_ms)

    def swipe(self, account: str) -> str:
        verdict = self.cards.judge(self.settings, account)
        return verdict.refusal or (verdict.card.label if verdict.card else "?")


def play(scene: Callable[[Desk], Awaitable[None]], settings: TableSettings = CARDS) -> None:
    async def run() -> None:
        await scene(Desk(settings))

    run_virtual(run())


def test_right_unknown_disabled_and_expired_cards() -> None:
    async def scene(desk: Desk) -> None:
        assert desk.swipe("1") == "Ever"
        assert desk.swipe("2") == "Until today"
        assert desk.swipe("3") == DISABLED
        assert desk.swipe("4") == UNKNOWN
        desk.now_ms += DAY_MS - 1  # the last moment of its last day
        assert desk.swipe("2") == "Until today"
        desk.now_ms += 1
        assert desk.swipe("2") == EXPIRED
        assert desk.swipe("1") != "Ever", "that was the third wrong card"

    play(scene)


def test_a_wrong_card_is_journaled_by_its_digest_never_by_its_number() -> None:
    async def scene(desk: Desk) -> None:
        verdict = desk.cards.judge(desk.settings, "6012345000000099")
        assert verdict.spoken == f"WRONG CARD {digest('6012345000000099').hex()[:8]}"
        assert "6012345" not in verdict.spoken + verdict.refusal

    play(scene)


def test_after_so_many_wrong_cards_none_is_taken_until_the_time_has_passed() -> None:
    async def scene(desk: Desk) -> None:
        for _ in range(3):
            assert desk.swipe("4") == UNKNOWN
        assert desk.swipe("1") == "Too many wrong cards. Wait 300 s."
        assert [fault.code for fault in desk.faults.all()] == ["card-lockout"]
        await asyncio.sleep(299)
        assert desk.swipe("1") == "Too many wrong cards. Wait 1 s."
        await asyncio.sleep(1)
        desk.cards.tick()
        assert desk.faults.all() == []
        assert desk.swipe("1") == "Ever"
        assert [event.raised for event in desk.events] == [True, False]

    play(scene)


def test_wrong_cards_far_apart_do_not_add_up() -> None:
    async def scene(desk: Desk) -> None:
        for _ in range(10):
            assert desk.swipe("4") == UNKNOWN
            await asyncio.sleep(31)
        assert desk.swipe("1") == "Ever"

    play(scene)


def test_a_right_card_in_between_forgives_nothing() -> None:
    async def scene(desk: Desk) -> None:
        for _ in range(3):
            desk.swipe("4")
            refused = desk.swipe("1")
        assert "Too many" in refused

    play(scene)


def test_without_a_limit_there_is_no_lock_out() -> None:
    async def scene(desk: Desk) -> None:
        for _ in range(50):
            assert desk.swipe("4") == UNKNOWN
        assert desk.swipe("1") == "Ever"

    play(scene, replace(CARDS, wrong_cards_max=0))


def test_a_power_cut_forgives_nothing_and_an_old_lock_out_is_over() -> None:
    async def scene(desk: Desk) -> None:
        desk.cards.restore(CARDS, [5000, 4000])
        desk.swipe("4")
        assert "Too many" in desk.swipe("1")
        locked = Desk()
        locked.cards.restore(CARDS, [102_000, 101_000, 100_000])
        assert locked.swipe("1") == "Too many wrong cards. Wait 200 s."
        past = Desk()
        past.cards.restore(CARDS, [402_000, 401_000, 400_000])
        assert past.swipe("1") == "Ever"
        assert past.events == []
        set_back = Desk()
        set_back.cards.restore(CARDS, [-9_000_000] * 3)  # the clock went back: as if just now
        assert "Too many" in set_back.swipe("1")

    play(scene)
