"""The operator's commands, as typed: codes, approval, revoking, units, seals, exports, PINs."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from manager.__main__ import main
from manager.identity.seal_book import SealBook
from manager.places import LEDGER_NAME
from protocol import events
from protocol.check_seals import main as check_seals
from protocol.pins import is_pin
from protocol.seal import Sealer
from tests.unit.identity.identity_desk import TABLE, UNIT, IdentityDesk
from tests.unit.manager.desk import Desk

SEALER = Sealer(UNIT, bytes(range(32)))


def typed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    said = capsys.readouterr()
    return code, said.out, said.err


def test_from_the_code_to_the_certificate_and_its_end(
    office: IdentityDesk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ("--data", str(tmp_path))
    code, out, _ = typed(capsys, "enrol-code", *data, "--table", TABLE)
    found = re.search(r"^code\s+(\S+)$", out, re.MULTILINE)
    assert code == 0
    assert found is not None
    assert office.folder.ca_fingerprint() in out
    # The command's clock is the machine's, the desk's the test's: go to where the code is good.
    (office.now_ms,) = office.store.row("SELECT made_ms FROM codes") or (0,)
    pending = office.desk.receive(office.request(found[1]), office.table_of_unit)
    assert typed(capsys, "approve", *data)[1] == f"{UNIT}  table {TABLE}  match {pending.match}\n"
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
    office: IdentityDesk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request = office.request(office.desk.codes.make(TABLE))
    pending = office.desk.receive(request, office.table_of_unit)
    office.store.execute("UPDATE requests SET received_ms = 9000000000000")
    data = ("--data", str(tmp_path))
    assert typed(capsys, "approve", *data, "--unit", UNIT, "--refuse")[0] == 0
    office.store.execute("UPDATE requests SET received_ms = ?", (office.now_ms,))
    assert office.desk.look(pending.number).denied == "The operator refused the request."


def test_a_folder_without_identities_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["units"], ["enrol-code", "--table", "x"], ["revoke", "x", "--reason", "y"]):
        code, _, err = typed(capsys, *words, "--data", str(tmp_path))
        assert code == 2
        assert "There are no identities" in err
    for words in (["verify-seals"], ["export-events", "--unit", "x", "--out", "y"]):
        code, _, err = typed(capsys, *words, "--data", str(tmp_path))
        assert code == 2
        assert "There is no ledger" in err
    assert list(tmp_path.iterdir()) == []


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
