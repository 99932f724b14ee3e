"""Seals: made by one key over one history, and worthless over any other."""

from __future__ import annotations

import dataclasses
import hashlib
import io
from pathlib import Path

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from protocol.proof.capture import read_capture, write_capture
from protocol.proof.check_seals import main as check_seals
from protocol.proof.seal import Sealer, check_history, is_genuine, sealed_bytes
from protocol.wire import events
from protocol.wire.errors import ProtocolError
from protocol.wire.framing import frame
from protocol.wire.messages import Ack, Event, Hello
from protocol.wire.rows import ClaimedHand
from tests.kit.pretend_units import PretendUnit

SEALER = Sealer("UF-1", bytes(range(32)))
OTHER = Sealer("UF-1", bytes(32))
KEYS = [SEALER.public_key]


def history(sealer: Sealer = SEALER) -> tuple[PretendUnit, list[Event]]:
    """A boot, a daily seal, a round with a claim, its seal, and a second claim without one."""
    unit = PretendUnit("UF-1")
    made = [unit.make(events.Boot(1, "t", ""))]

    def seal(reason: str) -> None:
        made.append(unit.make(sealer.seal(unit.journal_id, unit.sequence, unit.digest, reason)))

    seal("day")
    made.append(unit.make(events.RoundStart(1, ("1A",), ())))
    made.append(unit.make(events.Claim(1, 1, (ClaimedHand("1A", "four-aces"),), False)))
    seal("claim")
    made.append(unit.make(events.Claim(1, 2, (ClaimedHand("1A", "four-aces"),), False)))
    return unit, made


def test_a_whole_history_is_proven_and_says_what_is_not_sealed_yet() -> None:
    unit, made = history()
    report = check_history("UF-1", unit.journal_id, made, KEYS)
    assert report.sound
    assert (report.event_count, report.seal_count, report.sealed_until) == (6, 2, 4)
    assert report.unsealed_claims == [6]
    assert "1 newer claim(s) wait" in report.sentence


def test_changing_leaving_out_or_swapping_any_event_is_found() -> None:
    unit, made = history()
    for index, event in enumerate(made):
        altered = [
            *made[:index],
            dataclasses.replace(event, wall_ms=event.wall_ms + 1),
            *made[index + 1 :],
        ]
        assert "was altered" in check_history("UF-1", unit.journal_id, altered, KEYS).problem
        if index < len(made) - 1:
            without = [*made[:index], *made[index + 1 :]]
            assert (
                "does not follow" in check_history("UF-1", unit.journal_id, without, KEYS).problem
            )
    doubled = [made[0], *made]
    assert not check_history("UF-1", unit.journal_id, doubled, KEYS).sound


def test_a_rewritten_history_with_a_good_chain_fails_at_its_seal() -> None:
    """Who holds the ledger can make any chain fit, but not the unit's signature."""
    unit, made = history()
    rewritten = PretendUnit("UF-1")
    forged = [
        rewritten.make_raw(event.kind, {**event.body, 2: ["7A"]} if event.kind == 2 else event.body)
        for event in made
    ]
    report = check_history("UF-1", unit.journal_id, forged, KEYS)
    assert "the seal in event 5 was not made by this unit's key" in report.problem


@pytest.mark.parametrize("keys", [[], [OTHER.public_key], [b"\x00" * 32], [b"short"]])
def test_a_seal_by_another_key_proves_nothing(keys: list[bytes]) -> None:
    unit, made = history()
    assert "event 2 was not made" in check_history("UF-1", unit.journal_id, made, keys).problem


def test_an_older_key_stays_good_for_older_seals() -> None:
    unit, made = history()
    assert check_history("UF-1", unit.journal_id, made, [OTHER.public_key, *KEYS]).sound


def test_every_fact_of_the_head_is_under_the_signature() -> None:
    journal_id, digest = bytes(16), bytes(32)
    seal = SEALER.seal(journal_id, 7, digest, "claim")
    assert is_genuine(KEYS, "UF-1", journal_id, digest, seal)
    assert not is_genuine(KEYS, "UF-2", journal_id, digest, seal)
    assert not is_genuine(KEYS, "UF-1", b"1" * 16, digest, seal)
    assert not is_genuine(KEYS, "UF-1", journal_id, b"1" * 32, seal)
    for change in ({"sealed_sequence": 8}, {"reason": "day"}, {"signature": bytes(64)}):
        changed = dataclasses.replace(seal, **change)  # type: ignore[arg-type]
        assert not is_genuine(KEYS, "UF-1", journal_id, digest, changed)


def test_the_signed_bytes_are_coses() -> None:
    """Written out by hand from RFC 9052, so that another tool can check a seal without us."""
    digest = hashlib.sha256(b"head").digest()
    payload = cbor2.dumps(["UF-1", bytes(16), 7, digest, "claim"])
    structure = cbor2.dumps(["Signature1", cbor2.dumps({1: -8}), b"underfelt seal 1", payload])
    assert sealed_bytes("UF-1", bytes(16), 7, digest, "claim") == structure
    seal = SEALER.seal(bytes(16), 7, digest, "claim")
    Ed25519PublicKey.from_public_bytes(SEALER.public_key).verify(seal.signature, structure)


def test_an_exported_history_is_checked_offline_with_the_public_key_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unit, made = history()
    path = tmp_path / "events.frames"
    with path.open("wb") as file:
        write_capture(file, Hello("UF-1", 0, 1, unit.journal_id, 6, 6, b"", "t"), made)
    assert check_seals([str(path), "--key", SEALER.public_key.hex()]) == 0
    assert "2 seals genuine" in capsys.readouterr().out
    assert check_seals([str(path), "--key", OTHER.public_key.hex()]) == 1
    path.write_bytes(path.read_bytes()[:-1])
    assert check_seals([str(path), "--key", SEALER.public_key.hex()]) == 2
    assert "ends inside a frame" in capsys.readouterr().err


def test_a_capture_holds_one_hello_and_events_only(tmp_path: Path) -> None:
    unit, made = history()
    hello = Hello("UF-1", 0, 1, unit.journal_id, 6, 6, b"", "t")
    path = tmp_path / "events.frames"
    with path.open("wb") as file:
        write_capture(file, hello, made)
    with path.open("rb") as file:
        first, rest = read_capture(file)
        assert (first, list(rest)) == (hello, made)
    with path.open("wb") as file:
        write_capture(file, hello, [hello])  # type: ignore[list-item]
    with path.open("rb") as file, pytest.raises(ProtocolError, match="Hello among the events"):
        list(read_capture(file)[1])


@pytest.mark.parametrize("first", [b"", frame(Ack(1, 1).encode())])
def test_a_file_that_does_not_say_whose_it_is_proves_nothing(first: bytes) -> None:
    with pytest.raises(ProtocolError, match="does not begin with a hello"):
        read_capture(io.BytesIO(first))


@pytest.mark.parametrize("kept", [1, 3, 4, 9])
def test_a_file_that_ends_inside_a_frame_is_not_whole(kept: int) -> None:
    """Catches: a history without its end, which proves itself all the same."""
    unit, _made = history()
    hello, cut = frame(unit.hello().encode()), frame(Ack(1, 1).encode())[:kept]
    with pytest.raises(ProtocolError, match="ends inside a frame"):
        list(read_capture(io.BytesIO(hello + cut))[1])
