"""The display model against the data sheet: reset, nibbles, busy times, the address ring."""

from __future__ import annotations

from sim.hardware.ics.hd44780 import Hd44780

MS = 1_000_000


class Hand:
    """Strobes with as much time between them as the data sheet asks for, or less."""

    def __init__(self) -> None:
        self.glass = Hd44780()
        self.now_ns = 20 * MS

    def nibble(self, value: int, is_data: bool = False, then_ns: int = 5 * MS) -> None:
        self.glass.strobe(is_data, value, self.now_ns)
        self.now_ns += then_ns

    def byte(self, value: int, is_data: bool = False, then_ns: int = 5 * MS) -> None:
        self.nibble(value >> 4, is_data, 1000)
        self.nibble(value & 15, is_data, then_ns)

    def text(self, text: str) -> None:
        for character in text:
            self.byte(ord(character), is_data=True)

    def read(self, is_data: bool) -> int:
        halves = []
        for _ in range(2):
            halves.append(self.glass.drives(is_data, self.now_ns))
            self.glass.read_strobe(is_data, self.now_ns)
            self.now_ns += 1000
        return halves[0] << 4 | halves[1]


def ready() -> Hand:
    hand = Hand()
    for value in (3, 3, 3, 2):
        hand.nibble(value)
    for value in (0x28, 0x0C, 0x01, 0x06):
        hand.byte(value)
    return hand


def test_after_power_up_it_is_blank_and_takes_whole_bytes_of_four_wires() -> None:
    glass = Hd44780()
    glass.strobe(False, 0x2, 14 * MS)  # still resetting
    assert glass.lost_count == 1
    hand = Hand()
    hand.byte(0x41, is_data=True)
    assert hand.glass.rows() == [" " * 20] * 4


def test_the_rows_of_the_glass_are_two_lines_of_memory() -> None:
    hand = ready()
    for place, text in ((0x80, "one"), (0xC0, "two"), (0x94, "three"), (0xD4, "four")):
        hand.byte(place)
        hand.text(text)
    assert [row.rstrip() for row in hand.glass.rows()] == ["one", "two", "three", "four"]


def test_behind_the_end_of_a_line_comes_the_other_line() -> None:
    hand = ready()
    hand.text("a" * 40 + "b" * 40 + "c")
    assert hand.glass.rows() == ["c" + "a" * 19, "b" * 20, "a" * 20, "b" * 20]


def test_what_comes_while_it_is_busy_is_lost() -> None:
    hand = ready()
    hand.byte(0x41, is_data=True, then_ns=57_000)
    hand.byte(0x42, is_data=True)
    assert hand.glass.lost_count == 1  # its first half; the second waits for a partner
    clear = ready()
    clear.byte(0x01, then_ns=1 * MS)
    clear.nibble(4, is_data=True)
    assert clear.glass.lost_count == 1


def test_a_lost_nibble_is_mended_by_the_wake_up_sequence() -> None:
    hand = ready()
    hand.nibble(4, is_data=True)  # half a character
    for value in (3, 3, 3, 2):
        hand.nibble(value)
    for value in (0x28, 0x0C, 0x01):
        hand.byte(value)
    hand.text("fine")
    assert hand.glass.rows()[0].rstrip() == "fine"


def test_the_busy_flag_the_address_and_the_memory_can_be_read() -> None:
    hand = ready()
    hand.byte(0x80 | 0x45)
    assert hand.read(is_data=False) == 0x45
    hand.byte(0x41, is_data=True, then_ns=1000)
    assert hand.read(is_data=False) & 0x80
    hand.now_ns += MS
    hand.byte(0x80 | 0x45)
    assert hand.read(is_data=True) == 0x41


def test_it_shifts_goes_back_and_is_switched_off() -> None:
    hand = ready()
    hand.text("abc")
    hand.byte(0x18)
    assert hand.glass.rows()[0].rstrip() == "bc"
    hand.byte(0x02)
    assert hand.glass.rows()[0].rstrip() == "abc"
    hand.byte(0x08)
    assert hand.glass.rows()[0].strip() == ""
    hand.byte(0x0C)
    assert hand.glass.rows()[0].rstrip() == "abc"


def test_a_font_of_ones_own_does_not_touch_the_text() -> None:
    hand = ready()
    hand.text("abc")
    hand.byte(0x40)
    hand.text("zzz")
    assert hand.glass.rows()[0].rstrip() == "abc"
