"""What a person reads off a simulated table, in words: the panel, every light, a late chip."""

from __future__ import annotations

from typing import Any

from controller.unit import Unit
from sim.floor.world import World


def title(controller: Unit | None) -> str:
    """What the players' display is headed with."""
    return str(controller.pages.view()["title"]) if controller else "without power"


def sentence(controller: Unit | None) -> str:
    """What the dealer's panel says now."""
    return str(controller.pages.view()["guide"]["sentence"]) if controller else "without power"


def due_cents(controller: Unit | None, seat: int) -> int:
    """What the pay list on the panel still shows to hand to this seat."""
    pay = controller.pages.view()["pay"] if controller else None
    return sum(row["due_cents"] for row in (pay["rows"] if pay else []) if row["seat"] == seat)


def text(world: World) -> str:
    """What the text display shows, read in one go."""
    return " ".join(" ".join(world.text.rows()).split()) or "nothing"


def _deal(controller: Unit | None) -> dict[str, Any]:
    """What the panel shows of the shuffler's news."""
    found = controller.pages.view()["deal"] if controller else None
    return found or {"hand_count": 0, "checks": [], "cover_all": []}


def check(controller: Unit | None, sensor: str) -> str:
    """What the panel says of a claimed hand beside the recognised cards."""
    found = [each for each in _deal(controller)["checks"] if each["sensor"] == sensor]
    return "nothing" if not found else "agrees" if found[-1]["agrees"] else "differs"


def dealt(controller: Unit | None) -> str:
    return str(_deal(controller)["hand_count"])


def cover_all(controller: Unit | None) -> str:
    """For how many hands the Cover All column that is shown counts; 0 without one."""
    deal = _deal(controller)
    return str(deal["hand_count"]) if deal["cover_all"] else "0"


def late(controller: Unit | None, sensor: str) -> str:
    mark = controller.keeper.state.late.get(sensor) if controller else None
    return "nothing" if mark is None else "added" if mark[0] else "removed"


def picture(controller: Unit | None, world: World, sensors: list[str]) -> str:
    lights = ", ".join(f"{sensor} {world.light(sensor)}" for sensor in sensors)
    rows = world.text.rows()
    shown = "".join(f"\n  text |{row}|" for row in rows)
    return f"{_panel_in_words(controller)}\n  lights: {lights}{shown}"


def _panel_in_words(controller: Unit | None) -> str:
    if controller is None:
        return "  table: without power"
    view: dict[str, Any] = controller.pages.view()
    faults = "; ".join(fault["text"] for fault in view["faults"]) or "none"
    message = view["message"]
    return (
        f"  table: {view['state']}, round {view['round']}, {view['wagers']} wagers, "
        f"link {view['link']}, key {view['key'] or 'none'}\n"
        f"  last message ({message['kind']}): {message['text'] or 'none'}\n"
        f"  faults: {faults}"
    )
