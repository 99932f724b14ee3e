"""Power and link cut at chosen milliseconds after each step of a round: always the same money.

The scenario files name the interesting moments; here the moments are walked through one by one,
from the finger on the button past the journal, the wire and the manager's answer. The dealer looks
at the table and does the next thing it shows as not done, so each cut is followed as people would.
"""

from __future__ import annotations

import pytest

from hal import aio
from sim.floor.floor import Floor, FloorTable
from tests.kit.ways_on import Ways, every_way_on

PACE_MS = 400
ACTIONS_MAX = 60
# Between them lie: finger down, journal written, event at the manager, answer here, receipt sent.
MOMENTS_MS = (0, 1, 2, 3, 25, 27, 29, 33)
STEP_COUNTS = {"touch": 9, "keypad": 7}


class Dealer:
    """Plays one round to its end: seat 5 has four aces, and an executive stands by."""

    def __init__(self, floor: Floor, table: FloorTable) -> None:
        self._floor = floor
        self._table = table
        self._is_keypad = table.config.workflow == "keypad"

    def next_action(self) -> str:
        """What the table asks for, "" when there is nothing to do but wait."""
        if self._table.unit.controller is None:
            return ""
        view = self._table.unit.controller.pages.view()
        state, stage = view["state"], (view["claim"] or {}).get("stage")
        if state == "open":
            return "" if self._floor.wins() else "START"
        if state == "locked" and view["wins"]:
            dues = [row["seat"] for row in view["pay"]["rows"] if row["due_cents"]]
            return f"TICK {dues[0]}" if dues and not self._is_keypad else "END"
        if state == "locked":
            return self._entry()
        if stage == "preview" and self._is_keypad:
            return "JPOT" if view["key"] == "JPH" else "key JPH"
        return {"preview": "CONFIRM", "authorise": "swipe", "return-key": "key RUN"}.get(stage, "")

    def _entry(self) -> str:
        controller = self._table.unit.controller
        assert controller is not None
        state = controller.keeper.state
        if self._is_keypad:
            return "SEAT 5" if state.pending_hand else "HAND four-aces"
        return "HAND four-aces" if state.selected_seat == 5 else "SEAT 5"

    def act(self, action: str) -> None:
        if action.startswith("key "):
            self._table.turn_key(action.removeprefix("key "))
        elif action == "swipe":
            self._table.swipe("EXECUTIVE")
        elif action:
            self._table.put_finger_on(action)

    def is_done(self) -> bool:
        return self._table.state() == "open" and bool(self._floor.wins())


async def cut(table: FloorTable, what: str) -> None:
    if what in ("link", "both"):
        table.cable.pull()
    if what in ("power", "both"):
        await table.cut_power()
        await aio.sleep_ms(1000)
        await table.restore_power()
    else:
        await aio.sleep_ms(8000)
    table.cable.plug()


async def play_with_cuts(workflow: str, step: int, what: str, ways: Ways) -> str:
    """Plays the round with one cut after the given action, at each of the moments.

    What the money came to. What lies before that action is the same for all, and is played once.
    """
    floor = Floor(seed=1)
    try:
        table = await floor.open_table(f"four-card-{workflow}")
        for sensor in ("2A", "5A", "7A"):
            table.place(sensor)
        await aio.sleep_ms(1000)
        dealer, action_count = Dealer(floor, table), 0
        while not dealer.is_done():
            assert action_count < ACTIONS_MAX, f"the round does not end: {table.picture()}"
            if action_count == step:
                moment_ms = await moment_to_cut_ms(ways)
                if moment_ms is None:
                    return ""
            dealer.act(dealer.next_action())
            if action_count == step:
                await aio.sleep_ms(moment_ms)
                await cut(table, what)
            action_count += 1
            await aio.sleep_ms(PACE_MS)
        assert action_count > step, "the round ended before its cut"
        await aio.sleep_ms(2000)
        assert floor.product_errors() == []
        assert floor.unsound_books() == ""
        assert table.wager_count() == 3
        envy = [table.envy_cents(sensor) for sensor in ("2A", "5A", "7A")]
        return f"{floor.wins()} envy {envy} meter {floor.meter_cents('main')}"
    finally:
        await floor.close()


async def moment_to_cut_ms(ways: Ways) -> int | None:
    """A way on for each of the moments; None for the story itself, when all have ended."""
    for moment_ms in MOMENTS_MS:
        if await ways.part():
            return moment_ms
    return None


@pytest.mark.parametrize("what", ["power", "link", "both"])
@pytest.mark.parametrize(
    ("workflow", "step"),
    [(workflow, step) for workflow, count in STEP_COUNTS.items() for step in range(count)],
)
def test_a_cut_at_any_moment_of_a_step_changes_no_amount(
    workflow: str, step: int, what: str
) -> None:
    money = every_way_on(lambda ways: play_with_cuts(workflow, step, what, ways))
    always = "['1 5 1000075'] envy [10000, 0, 10000] meter 1000015"
    assert dict(zip(MOMENTS_MS, money, strict=True)) == dict.fromkeys(MOMENTS_MS, always)
