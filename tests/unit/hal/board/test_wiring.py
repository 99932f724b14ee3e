"""The wires of a board: what its file implies before anything is soldered.

Mutations this catches: a rise time without the cable, resistors added instead of taken in
parallel, the header's own pull-ups forgotten or given to a bus that has none.
"""

from __future__ import annotations

import dataclasses

import pytest

from hal.board.config import BoardConfig, BusConfig, parse_board
from hal.board.wiring import Wires, buses, findings, pins
from kit.config import load
from tests.kit.places import table_path


def board_of(name: str = "four-card-touch") -> BoardConfig:
    return parse_board(load(table_path(name)).values["board"])


def on_bus(board: BoardConfig, **changed: int) -> BoardConfig:
    bus = dataclasses.replace(board.buses[0], **changed)  # type: ignore[arg-type]
    ics = tuple(dataclasses.replace(ic, bus=bus.number) for ic in board.ics)
    return dataclasses.replace(board, buses=(bus,), ics=ics)


def test_the_arithmetic_of_one_bus() -> None:
    found = buses(board_of(), Wires(2.0, 50.0, 10_000.0))[0]
    assert found.load_pf == 130, "100 of cable, 10 each of the Pi and two ICs"
    together = 1 / (1 / 1800 + 2 / 10_000)
    assert found.pull_up_ohms == pytest.approx(together)
    assert found.rise_ns == pytest.approx(0.8473 * together * 0.130)
    assert found.busy_percent == pytest.approx(46 * 9 / 400_000 * 1000 / 10 * 100)


@pytest.mark.parametrize(
    ("wires", "word"),
    [
        (Wires(5.0), "carries 530 pF"),
        (Wires(3.0, breakout_pull_up_ohms=0.0), "at most"),
        (Wires(1.0, breakout_pull_up_ohms=1000.0), "fail to pull the line low"),
    ],
)
def test_bad_wires_are_named(wires: Wires, word: str) -> None:
    assert any(word in sentence for sentence in findings(board_of(), wires))


def test_the_longest_cable_is_just_allowed_and_no_longer_one() -> None:
    board, wires = board_of(), Wires()
    longest = buses(board, wires)[0].cable_m_max
    just = dataclasses.replace(wires, cable_m=longest * 0.999)
    over = dataclasses.replace(wires, cable_m=longest * 1.001)
    assert not list(findings(board, just))
    assert list(findings(board, over))


def test_only_the_headers_own_bus_has_pull_ups_by_itself() -> None:
    bare = Wires(breakout_pull_up_ohms=0.0)
    board = on_bus(board_of(), number=3)
    assert [sentence for sentence in findings(board, bare) if "no pull-up at all" in sentence]
    assert not list(findings(board, dataclasses.replace(bare, own_pull_up_ohms=2200.0)))


def test_a_slow_bus_with_many_sensing_ics_is_busy() -> None:
    board = on_bus(board_of("face-up-pai-gow-dual"), frequency_hz=100_000)
    assert any("busy for 83 %" in sentence for sentence in findings(board, Wires()))


def test_a_pin_that_belongs_to_something_else_is_named() -> None:
    board = board_of()
    ics = tuple(
        dataclasses.replace(ic, interrupt_gpio=14 if ic.interrupt_gpio else None)
        for ic in board.ics
    )
    found = list(findings(dataclasses.replace(board, ics=ics), Wires()))
    assert found == [
        "GPIO 14 (sense-1, interrupt) belongs to the serial console, unless it is switched off."
    ]


def test_every_pin_of_a_keypad_table() -> None:
    used = dict(pins(board_of("four-card-keypad")))
    assert used[22] == "key switch, RUN contact"
    assert used[2] == "bus 1, data (SDA)"
    assert isinstance(board_of().buses[0], BusConfig)
