"""The bench's shuffler: what each button sends, and what a recording keeps of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sim.hardware.shuffler import ShufflerMachine
from sim.runs.bench.shuffler import BUTTONS, BenchShuffler
from sim.runs.scenario.language import parse_scenario


class Told(ShufflerMachine):
    def __init__(self) -> None:
        self.done: list[object] = []
        self.deal_number = 0

    def deals(self, hand_count: int, mode: str = "") -> None:
        self.done.append(hand_count)

    def shows(self, seat: int, cards: Sequence[str], deals_ago: int = 0) -> None:
        self.done.append((seat, len(set(cards))))

    def unplug(self) -> None:
        self.done.append("unplug")


@pytest.fixture
def machine() -> Told:
    return Told()


def test_everybody_who_bets_is_dealt_cards_of_one_deck(machine: Told) -> None:
    lines: list[str] = []
    BenchShuffler(lambda: machine, lambda: [2, 5], lines.append).act("deal")
    assert machine.done == [3, (2, 5), (5, 5)]
    cards = [card for line in lines[1:] for card in line.split()[2:]]
    assert len(set(cards)) == 10


def test_what_was_done_can_be_played_again(machine: Told) -> None:
    lines: list[str] = []
    shuffler = BenchShuffler(lambda: machine, lambda: [2], lines.append)
    for act in ("deal", "wrong", "unplug"):
        shuffler.act(act)
    text = "table crazy-4-multi-link\n" + "\n".join(f"shuffler {line}" for line in lines)
    assert len(parse_scenario(text)) == 5


def test_nothing_is_dealt_to_nobody_and_no_table_without_a_shuffler_has_buttons() -> None:
    with pytest.raises(ValueError, match="nobody has a bet"):
        BenchShuffler(Told, list, print).act("deal")
    without = BenchShuffler(lambda: None, lambda: [2], print)
    assert without.view() == []
    with pytest.raises(ValueError, match="no shuffler"):
        without.act("deal")


def test_every_button_does_something(machine: Told) -> None:
    names = [each["id"] for each in BenchShuffler(lambda: machine, lambda: [2], print).view()]
    assert names == list(BUTTONS)
    with pytest.raises(ValueError, match="cannot do that"):
        BenchShuffler(lambda: machine, lambda: [2], print).act("dance")
