"""The card reader on its pseudo-terminal, read by real pyserial."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import xor

import pytest
import serial

from sim.hardware.card_reader import CardMachine, account_of, check_character, track2_of


@pytest.fixture
def machine() -> Iterator[CardMachine]:
    machine = CardMachine()
    yield machine
    machine.close()


@pytest.fixture
def port(machine: CardMachine) -> Iterator[serial.Serial]:
    with serial.Serial(machine.path, timeout=0) as port:
        yield port


def test_the_three_cards_are_fixed_and_no_other_exists() -> None:
    assert account_of("SUPERVISOR") == "6012345000000017"
    assert account_of("EXECUTIVE") == "6012345000000025"
    assert account_of("UNKNOWN") == "6012345000000033"
    with pytest.raises(ValueError, match="no card called JOKER"):
        account_of("JOKER")


def test_track_2_has_sentinels_and_a_check_over_every_data_bit() -> None:
    track = track2_of("6012345000000017")
    assert track.startswith(b";6012345000000017=")
    assert track[-2:-1] == b"?"
    assert len(track) <= 40
    assert reduce(xor, (character & 0x0F for character in track)) == 0
    assert check_character(b";1=2?") == 0x30 | (0xB ^ 1 ^ 0xD ^ 2 ^ 0xF)


def test_a_swipe_is_readable_at_once_every_time(machine: CardMachine, port: serial.Serial) -> None:
    for name in ("SUPERVISOR", "EXECUTIVE", "UNKNOWN") * 20:
        machine.swipe_card(name)
        assert port.read(200) == track2_of(account_of(name))
    assert machine.swipe_count == 60


def test_a_half_swipe_is_the_first_half(machine: CardMachine, port: serial.Serial) -> None:
    machine.half_swipe("SUPERVISOR")
    arrived = port.read(200)
    whole = track2_of(account_of("SUPERVISOR"))
    assert whole.startswith(arrived)
    assert 0 < len(arrived) < len(whole) - 2


def test_garbage_passes_the_terminal_unchanged(machine: CardMachine, port: serial.Serial) -> None:
    machine.garbage(256)
    assert len(set(port.read(512))) == 256


def test_unread_bytes_are_gone_after_a_power_cut(machine: CardMachine, port: serial.Serial) -> None:
    machine.swipe_card("SUPERVISOR")
    machine.lose_power()
    assert port.read(200) == b""


def test_a_swipe_has_a_size(machine: CardMachine) -> None:
    for track in (b"", b"x" * 2049):
        with pytest.raises(ValueError, match="1 to 2048 bytes"):
            machine.swipe(track)
