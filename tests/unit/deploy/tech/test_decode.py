"""`decode` on our frames, on damaged ones and on strangers' bytes.

Mutations this catches: a damaged frame shown as whole, frames after the damage shown as if they
could be trusted, noise taken for a message, a trace bomb unpacked without a limit.
"""

from __future__ import annotations

import zlib
from pathlib import Path

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.tech.__main__ import main
from deploy.tech.commands import decode
from kit.command_line import REFUSED
from protocol.wire import serial_frames, shuffler
from protocol.wire.framing import frame
from protocol.wire.messages import Ack
from tests.kit.message_samples import samples

BAD_FINDING = 1


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["decode", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_every_message_is_shown_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    for message in samples().values():
        code, out, _ = shown(capsys, frame(message.encode()).hex())
        assert code == 0
        assert f"({type(message).__name__})" in out


def test_hex_may_be_written_as_people_write_it(capsys: pytest.CaptureFixture[str]) -> None:
    digits = frame(Ack(7, 1000).encode()).hex(" ").upper()
    code, out, _ = shown(capsys, f"0x{digits}")
    assert (code, "1 last_sequence: 7" in out) == (0, True)


def test_a_message_without_its_length(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = shown(capsys, Ack(7, 1000).encode().hex())
    assert (code, "one message" in out) == (0, True)


def test_frames_before_the_damage_are_shown_and_none_after_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    good, damaged = frame(Ack(7, 1000).encode()), bytearray(frame(Ack(8, 1000).encode()))
    damaged[5] ^= 0xFF
    path = tmp_path / "capture"
    path.write_bytes(good + damaged + good)
    code, out, _ = shown(capsys, str(path))
    assert code == BAD_FINDING
    assert "1 last_sequence: 7" in out
    assert f"frame 2, byte {len(good)}: damaged" in out
    assert "frame 3" not in out


def test_a_capture_that_was_cut_off_says_where(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    good = frame(Ack(7, 1000).encode())
    path = tmp_path / "capture"
    path.write_bytes(good + good[:-1])
    code, out, _ = shown(capsys, str(path))
    assert code == BAD_FINDING
    assert f"byte {len(good)}: the last {len(good) - 1} bytes are no whole frame" in out


def test_a_serial_line_goes_on_after_noise(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    packed = serial_frames.pack(shuffler.Dealt(3, 7, "").encode())
    path = tmp_path / "line"
    path.write_bytes(b"\xff\x13noise\x00" + packed)
    code, out, _ = shown(capsys, str(path))
    assert code == BAD_FINDING
    assert "serial frame 1: damaged" in out
    assert "(Dealt)" in out


def test_a_trace_is_told_by_its_figures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    plain = {"round": 11, "table": "T", "accepted": ["1A"], "refused": [], "samples": [[0, "x"]]}
    path = tmp_path / "11.trace"
    path.write_bytes(zlib.compress(cbor2.dumps(plain)))
    code, out, _ = shown(capsys, str(path))
    assert code == 0
    assert "round: 11" in out
    assert "readings: 1" in out


def test_a_trace_that_unpacks_without_end_is_not_unpacked() -> None:
    bomb = zlib.compress(bytes(decode.TRACE_BYTES_MAX + 1_000_000))
    assert decode.trace_in(bomb) is None


@pytest.mark.parametrize("what", ["", "zz", "no-such-file", "abc", "00", "0000"])
def test_nothing_is_refused_with_one_sentence(
    capsys: pytest.CaptureFixture[str], what: str
) -> None:
    code, out, error = shown(capsys, what)
    assert (code, out) == (REFUSED, "")
    assert error.count("\n") == 1


@given(st.binary(max_size=300))
def test_any_bytes_end_in_a_sentence(data: bytes) -> None:
    assert main(["decode", data.hex() or "00"]) in (0, BAD_FINDING, REFUSED)
