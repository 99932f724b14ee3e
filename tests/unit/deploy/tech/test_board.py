"""`board check`: what the unit would refuse, with its line, and what the wires would do."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.tech.__main__ import main
from tests.kit.places import table_path

BAD_FINDING = 1
TABLE = table_path("four-card-touch")


def checked(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> tuple[int, str]:
    code = main(["board", "check", str(path), *options])
    return code, capsys.readouterr().out


def changed(tmp_path: Path, old: str, new: str) -> Path:
    text = TABLE.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


def test_a_shipped_board_is_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = checked(capsys, TABLE)
    assert code == 0
    assert "GPIO 17: sense-1, interrupt" in out


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("interrupt_gpio = 17", "interrupt_gpio = 24", "both have GPIO 24"),
        ("address = 0x40", "address = 0x5A", "both have address 0x5A"),
        ("frequency_hz = 400000", "frequency_hz = 1000000", "follows 400000 Hz at most"),
        ("electrode = 1\n", "electrode = 0\n", "both have electrode 0"),
    ],
)
def test_a_clash_is_named_before_it_is_soldered(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, old: str, new: str, word: str
) -> None:
    code, out = checked(capsys, changed(tmp_path, old, new))
    assert code == BAD_FINDING
    assert word in out
    assert "mine.toml" in out


def test_too_many_breakouts_on_one_bus_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    path = table_path("face-up-pai-gow-keypad")
    code, out = checked(capsys, path)
    assert (code, "fail to pull the line low" in out) == (BAD_FINDING, True)
    assert checked(capsys, path, "--breakout-ohms", "0")[0] == 0


def test_an_open_channel_is_one_wire_with_its_bus(capsys: pytest.CaptureFixture[str]) -> None:
    """Mutation: a board behind a multiplexer counted as if it were not there."""
    path = table_path("four-card-touch-fdc")
    code, out = checked(capsys, path)
    assert (code, "250 pF" in out) == (0, True)
    code, out = checked(capsys, path, "--cable-m", "1.5")
    assert (code, "at most 1.3 m of such cable" in out) == (BAD_FINDING, True)


def test_a_channel_without_a_pull_up_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    path = table_path("four-card-touch-fdc")
    code, out = checked(capsys, path, "--breakout-ohms", "0")
    assert (code, "channel 1 of mux-1 has no pull-up" in out) == (BAD_FINDING, True)
    own = ("--breakout-ohms", "0", "--pull-up-ohms", "4700")
    assert "has no pull-up" not in checked(capsys, path, *own)[1]


def test_a_slow_rise_names_the_bus_speed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = checked(capsys, TABLE, "--cable-m", "3", "--breakout-ohms", "0")
    assert (code, "at 400000 Hz, and 300 is the most" in out) == (BAD_FINDING, True)
