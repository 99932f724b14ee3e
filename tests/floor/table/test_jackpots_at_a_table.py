"""Every jackpot paytable of the documents on a simulated table: chips, buttons, card, books.

The amounts are worked out here from the paytable and the wagers alone. The manager's side of every
single hand is in `tests/unit/manager/ledger/test_books_catalogue.py`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sim.floor.floor
from hal import aio
from manager.games import ForOne, Hand, Paytable, Percent, load_paytable, paytable_ids
from sim.runs.scenario.command import play_text
from sim.time.loop import run_virtual

SHIPPED = sim.floor.floor.table_path("four-card-touch").read_text("utf-8")
JACKPOTS = [name for name in paytable_ids() if load_paytable(name).is_jackpot]
PRINTED = {
    "face-up-pai-gow/jackpot": ("WA01", "WA03", "WA07", "ML02"),
    "i-luv-suits/jackpot": ("1", "2", "3", "ML-1"),
    "crazy-4/progressive": ("Pays-1", "Pays-2", "Pays-3"),
    "crazy-4/multi-game-link": ("01", "ML01", "ML03"),
    "four-card/progressive": ("Pays-1", "Pays-2"),
}
# The linked versions with Fortune Pai Gow, and Four Card Poker on the multi-game link.
LINKED = [
    "fortune-pai-gow/jackpot/WA01",
    "fortune-pai-gow/jackpot/WA03",
    "fortune-pai-gow/jackpot/WA07",
    "fortune-pai-gow/jackpot/ML02",
    "four-card/multi-game-link/ML03",
]
WAGER_CENTS = 200
OPENING_CENTS = 1_000_000
CONTRIBUTION_PPM = 100_000
JACKPOT = """
[jackpots.{name}]
label = "{name}"
type = "{kind}"
seed = "10000.00"
opening = "10000.00"
contribution_ppm = {contribution}
reserve_ppm = {reserve}
freeze_claims = false
fixed_pays_from = "tray"
"""


def table_text(paytable_id: str, kind: str) -> str:
    """The shipped touch table with another paytable and a jackpot for each of its levels."""
    paytable = load_paytable(paytable_id)
    levels = [level.id for level in paytable.levels]
    contribution, reserve = (
        (CONTRIBUTION_PPM, paytable.reserve_ppm) if kind == "progressive" else (0, 0)
    )
    jackpots = "".join(
        JACKPOT.format(name=f"m-{level}", kind=kind, contribution=contribution, reserve=reserve)
        for level in levels
    )
    named = ", ".join(f'{level} = "m-{level}"' for level in levels)
    text = re.sub(r"\[jackpots\.main\].*?(?=\[paytables)", lambda _: jackpots, SHIPPED, flags=re.S)
    text = text.replace("four-card/progressive/Pays-1", paytable_id)
    text = text.replace("wager_cents = 100", f"wager_cents = {WAGER_CENTS}")
    return text.replace('{ top = "main" }', f"{{ {named} }}")


def chosen_hands(paytable: Paytable) -> list[Hand]:
    """The first award of every level, the smallest percentage, and the largest fixed pay."""
    hands: dict[str, Hand] = {}
    percents = [hand for hand in paytable.hands if isinstance(hand.pay, Percent)]
    for hand in percents:
        assert isinstance(hand.pay, Percent)
        hands.setdefault(hand.pay.level, hand)
    fixed = next(hand for hand in paytable.hands if isinstance(hand.pay, ForOne))
    return list(dict.fromkeys([*hands.values(), percents[-1], fixed]))


class Expected:
    """What two bets a round make of the meters and the awards, in whole cents."""

    def __init__(self, paytable: Paytable, kind: str) -> None:
        self.house = kind == "house"
        self.paytable = paytable
        self.meters = {level.id: OPENING_CENTS for level in paytable.levels}
        self.reserve = 0  # printed only where there is one level

    def award(self, hand: Hand) -> int:
        if not self.house:
            for level in self.meters:
                self.meters[level] += 2 * WAGER_CENTS * CONTRIBUTION_PPM // 1_000_000
            self.reserve += 2 * WAGER_CENTS * self.paytable.reserve_ppm // 1_000_000
        if isinstance(hand.pay, ForOne):
            return hand.pay.n * WAGER_CENTS
        assert isinstance(hand.pay, Percent)
        amount = self.meters[hand.pay.level] * hand.pay.ppm // 1_000_000
        if not self.house:
            self.meters[hand.pay.level] -= amount
            if hand.pay.ppm == 1_000_000:
                self.meters[hand.pay.level] += OPENING_CENTS + self.reserve  # the seed
                self.reserve = 0
        return amount

    def envy(self, hand: Hand) -> int:
        return hand.envy_cents * (WAGER_CENTS // 100 if self.paytable.envy_scales else 1)


def dollars(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def scenario(paytable: Paytable, kind: str) -> str:
    expected = Expected(paytable, kind)
    lines = ["table the-table", "place 3", "place 5"]
    for hand in chosen_hands(paytable):
        amount = expected.award(hand)
        lines += ["press START", "expect wagers 2", "press SEAT 5", f"press HAND {hand.id}"]
        lines += ["press CONFIRM", "expect state confirm", "swipe EXECUTIVE"]
        lines += [
            f"expect award 5 {dollars(amount)}",
            f"expect envy 3 {dollars(expected.envy(hand))}",
        ]
        lines += [
            f"expect meter m-{level} {dollars(shown)}" for level, shown in expected.meters.items()
        ]
        lines += ["press TICK 5"] + (["press TICK 3"] if expected.envy(hand) else [])
        lines += ["press END", "expect state open"]
    return "\n".join(lines)


def play(paytable_id: str, kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    table = folder / "the-table.toml"
    table.write_text(table_text(paytable_id, kind), encoding="utf-8")
    monkeypatch.setattr(sim.floor.floor, "table_path", lambda name: folder / f"{name}.toml")
    return list(play_text(scenario(load_paytable(paytable_id), kind)).wins)


def test_the_list_is_the_documents_own() -> None:
    printed = [f"{bet}/{label}" for bet, labels in PRINTED.items() for label in labels]
    assert sorted(JACKPOTS) == sorted(printed)


@pytest.mark.parametrize("name", [*JACKPOTS, *LINKED])
def test_a_progressive_is_played_at_a_table(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wins = play(name, "progressive", tmp_path, monkeypatch)
    assert len(wins) == len(chosen_hands(load_paytable(name)))


def test_the_dealer_can_look_the_house_s_rules_up() -> None:
    """The choice on folded hands and the pack's notes reach the panel's view."""

    async def rules_of(name: str) -> list[dict[str, str]]:
        floor = sim.floor.floor.Floor(seed=1)
        table = await floor.open_table(name)
        await aio.sleep_ms(2_000)
        assert table.unit.controller is not None
        found: list[dict[str, str]] = table.unit.controller.pages.view()["house_rules"]
        await floor.close()
        return found

    rules = run_virtual(rules_of("i-luv-suits-house"))
    assert rules[0] == {"game": "", "text": "Folded hands do not qualify for the jackpot."}
    notes = load_paytable("i-luv-suits/jackpot/ML-1").notes
    assert [rule["text"] for rule in rules[1:]] == list(notes)
    dual = run_virtual(rules_of("face-up-pai-gow-dual"))
    assert dual[0]["text"] == "Folded hands qualify for the jackpot."
    assert {rule["game"] for rule in dual[1:]} == {"A", "B"}


@pytest.mark.parametrize("bet", PRINTED)
def test_a_house_jackpot_is_played_at_a_table(
    bet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: a posted prize that moves (a contribution, or an award drawn from it)."""
    name = f"{bet}/{PRINTED[bet][-1]}"
    wins = play(name, "house", tmp_path, monkeypatch)
    assert len(wins) == len(chosen_hands(load_paytable(name)))
