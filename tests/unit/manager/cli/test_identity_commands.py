"""The operator's commands, as typed: codes, approval, revoking, units, seals, exports, PINs."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from manager.__main__ import main
from manager.data_folder import LEDGER_NAME
from manager.intake.seals import SealBook
from protocol.proof.check_seals import main as check_seals
from protocol.proof.seal import Sealer
from protocol.secrets.tech_pin import is_pin
from protocol.wire import events
from tests.kit.identity_store import TABLE, UNIT, PretendIdentities
from tests.kit.pretend_units import Desk

SEALER = Sealer(UNIT, bytes(range(32)))


def typed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    said = capsys.readouterr()
    return code, said.out, said.err


def open_ledger(data: Path) -> None:
    desk = Desk(str(data / LEDGER_NAME))
    desk.open_table(TABLE)
    desk.store.close()


def test_from_the_code_to_the_certificate_and_its_end(
    identities: PretendIdentities, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    open_ledger(tmp_path)
    data = ("--data", str(tmp_path))
    code, _, refused = typed(capsys, "enrol-code", *data, "--table", "nowhere")
    assert (code, "serves no table nowhere; there are touch-1" in refused) == (2, True)
    code, out, _ = typed(capsys, "enrol-code", *data, "--table", TABLE)
    found = re.search(r"^code\s+(\S+)$", out, re.MULTILINE)
    assert code == 0
    assert found is not None
    assert identities.folder.ca_fingerprint() in out
    # The command's clock is the machine's, the desk's the test's: go to where the code is good.
    (identities.now_ms,) = identities.store.row("SELECT made_ms FROM codes") or (0,)
    pending = identities.enrolments.receive(identities.request(found[1]), identities.table_of_unit)
    assert typed(capsys, "approve", *data)[1] == f"{UNIT}  table {TABLE}\n"
    wrong = f"{(int(pending.match) + 1) % 1_000_000:06d}"
    code, _, refused = typed(capsys, "approve", *data, "--unit", UNIT, "--match", wrong)
    assert (code, "not the digits" in refused) == (2, True)
    code, out, _ = typed(capsys, "approve", *data, "--unit", UNIT, "--match", pending.match)
    assert code == 0
    assert "is enrolled with certificate" in out
    assert "not used yet" in typed(capsys, "units", *data)[1]
    assert typed(capsys, "retire", UNIT, *data)[0] == 2
    assert typed(capsys, "revoke", UNIT, *data, "--reason", "Sold.")[0] == 0
    listed = typed(capsys, "units", *data)[1]
    assert "it was revoked: Sold." in listed
    assert f"seal-key {UNIT}={pending.seal_key.hex()}" in listed


def test_a_request_can_be_refused(
    identities: PretendIdentities, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    open_ledger(tmp_path)
    request = identities.request(identities.enrolments.codes.make(TABLE))
    pending = identities.enrolments.receive(request, identities.table_of_unit)
    identities.store.execute("UPDATE requests SET received_ms = 9000000000000")
    data = ("--data", str(tmp_path))
    assert typed(capsys, "approve", *data, "--unit", UNIT, "--refuse")[0] == 0
    identities.store.execute("UPDATE requests SET received_ms = ?", (identities.now_ms,))
    assert identities.enrolments.look(pending.number).denied == "The operator refused the request."


def test_a_folder_without_identities_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    about_identities = (
        ["units"],
        ["enrol-code", "--table", "x"],
        ["revoke", "x", "--reason", "y"],
    )
    for words in (
        *about_identities,
        ["verify-seals"],
        ["export-events", "--unit", "x", "--out", "y"],
    ):
        code, _, err = typed(capsys, *words, "--data", str(tmp_path))
        assert code == 2
        assert "There is no ledger" in err
    assert list(tmp_path.iterdir()) == []
    open_ledger(tmp_path)
    for words in about_identities:
        code, _, err = typed(capsys, *words, "--data", str(tmp_path))
        assert (code, "There are no identities" in err) == (2, True)


def sealed_ledger(data: Path) -> None:
    """A ledger with one table's round, sealed by its unit."""
    desk = Desk(str(data / LEDGER_NAME))
    table = desk.open_table(TABLE)
    SealBook(desk.store).register(UNIT, SEALER.public_key)
    desk.start(table, 1, "1A")
    unit = desk.units[table]
    seal = SEALER.seal(unit.journal_id, unit.sequence, unit.digest, "day")
    outcome = desk.say(table, seal)
    assert outcome.answers == []
    assert "SEAL" not in desk.alarm_codes()
    desk.end(table, 1)
    desk.manager.store.close()


def test_seals_are_verified_from_the_ledger_and_with_an_auditors_own_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sealed_ledger(tmp_path)
    data = ("--data", str(tmp_path))
    code, out, _ = typed(capsys, "verify-seals", *data)
    assert (code, "1 seals genuine" in out) == (0, True)
    key = f"{UNIT}={SEALER.public_key.hex()}"
    assert typed(capsys, "verify-seals", *data, "--key", key)[0] == 0
    code, out, _ = typed(capsys, "verify-seals", *data, "--key", f"{UNIT}={'00' * 32}")
    assert (code, "not made by this unit's key" in out) == (1, True)


def test_a_ledger_whose_keys_were_swapped_still_fails_against_the_auditors_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Someone with the manager's login rewrites the events, seals them anew and swaps the key."""
    sealed_ledger(tmp_path)
    thief = Sealer(UNIT, b"t" * 32)
    forged = Desk(str(tmp_path / "forged.sqlite"))
    table = forged.open_table(TABLE)
    SealBook(forged.store).register(UNIT, thief.public_key)
    forged.start(table, 1, "1A", "2A")
    unit = forged.units[table]
    forged.say(table, thief.seal(unit.journal_id, unit.sequence, unit.digest, "day"))
    forged.manager.store.close()
    (tmp_path / "forged.sqlite").replace(tmp_path / LEDGER_NAME)
    data = ("--data", str(tmp_path))
    assert typed(capsys, "verify-seals", *data)[0] == 0  # it agrees with itself
    key = f"{UNIT}={SEALER.public_key.hex()}"
    assert typed(capsys, "verify-seals", *data, "--key", key)[0] == 1


def test_exported_events_are_checked_without_ledger_or_manager(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sealed_ledger(tmp_path)
    out = tmp_path / "events.frames"
    words = ("export-events", "--data", str(tmp_path), "--unit", UNIT, "--out", str(out))
    assert typed(capsys, *words)[0] == 0
    assert check_seals([str(out), "--key", SEALER.public_key.hex()]) == 0
    code, _, err = typed(capsys, *words[:3], "--unit", "UF-9", "--out", str(out))
    assert (code, "No event of a unit UF-9" in err) == (2, True)


def test_a_forged_seal_is_alarmed_when_it_arrives(tmp_path: Path) -> None:
    desk = Desk()
    table = desk.open_table(TABLE)
    unit = desk.units[table]
    desk.start(table, 1, "1A")
    desk.say(table, SEALER.seal(unit.journal_id, unit.sequence, unit.digest, "day"))
    SealBook(desk.store).register(UNIT, SEALER.public_key)
    desk.say(table, events.Seal(1, "day", bytes(64)))
    desk.say(table, SEALER.seal(unit.journal_id, 99, unit.digest, "day"))
    desk.say(table, SEALER.seal(unit.journal_id, unit.sequence, unit.digest, "day"))
    sentences = [a.sentence for a in desk.manager.book.alarms.newest(10) if a.code == "SEAL"]
    assert len(sentences) == 3
    assert "no key of it was ever registered" in sentences[2]
    assert desk.manager.units.get(UNIT).last_sequence == 5, "all are kept and acknowledged"


def test_a_techs_pin_becomes_lines_for_the_tables_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("246813\n"))
    code, out, _ = typed(capsys, "tech-pin", "--label", "Tech 3")
    found = dict(re.findall(r'^(\w+) = "(.*)"$', out, re.MULTILINE))
    assert code == 0
    assert found["label"] == "Tech 3"
    assert is_pin("246813", bytes.fromhex(found["pin_salt"]), bytes.fromhex(found["pin_hash"]))
    assert "246813" not in out
    monkeypatch.setattr("sys.stdin", io.StringIO("123\n"))
    assert typed(capsys, "tech-pin", "--label", "Tech 3")[0] == 2
