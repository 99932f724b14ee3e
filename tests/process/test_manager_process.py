"""`python -m manager` as an operator runs it: a real process, real sockets, a clean stop."""

from __future__ import annotations

import json
import resource
import signal
import socket
import ssl
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from manager.__main__ import main
from manager.data_folder import LEDGER_NAME
from manager.ledger.engines.engine import StorageFailed
from manager.ledger.engines.sqlite_reader import SqliteReader
from manager.link import admission
from manager.link.ladder import LinkLadder
from protocol.wire.framing import frame
from tests.kit.places import ROOT
from tests.kit.pretend_units import Desk, PretendUnit, table_toml
from tests.kit.tampering import tamper

SECONDS_MAX = 30


def start(data: Path, table: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "manager", "serve", "--data", str(data)]
    return subprocess.Popen(
        [*command, "--port", "0", "--web-port", "0", "--table", str(table)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def answer_without_tls(address: str) -> bytes:
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=SECONDS_MAX) as line:
        line.sendall(frame(PretendUnit("UF-touch-1").hello().encode()))
        with line.makefile("rb") as stream:
            return stream.read()


def test_a_process_has_room_for_every_unit_that_it_takes(tmp_path: Path) -> None:
    """Catches: a limit of 2,000 units where the machine gives a process 1,024 files."""
    table = tmp_path / "table.toml"
    table.write_text(table_toml())
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))  # which a child inherits
    try:
        process = start(tmp_path / "data", table)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert process.stdout is not None
    try:
        assert process.stdout.readline()
        allowed, _ = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        assert allowed >= min(admission.CONNECTIONS_MAX + 64, hard)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_and_stops_cleanly_and_finds_its_data_again(
    tmp_path: Path, stop: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "table.toml"
    table.write_text(table_toml())
    process = start(tmp_path / "data", table)
    assert process.stdout is not None
    try:
        addresses = json.loads(process.stdout.readline())
        answer = answer_without_tls(addresses["link"])
        # By the floor's own authority, and to nobody who has not signed in.
        known = ssl.create_default_context(cafile=str(tmp_path / "data" / "identity" / "ca.pem"))
        with urlopen(addresses["web"], timeout=SECONDS_MAX, context=known) as page:
            shown = page.read()
        assert b"The first admin" in shown
        assert b"10,000.00" not in shown
        process.send_signal(stop)
        assert process.wait(SECONDS_MAX) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    # Units with a certificate are greeted in tests/contract; a plain one gets at most a TLS alert.
    assert answer == b"" or answer.startswith(b"\x15\x03")
    assert main(["audit", "--data", str(tmp_path / "data")]) == 0
    assert "1 ledger transactions" in capsys.readouterr().out


def test_an_audit_of_nothing_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--data", str(tmp_path)]) == 2
    assert "There is no ledger" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_an_audit_of_a_forged_ledger_names_the_entry(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Desk(str(tmp_path / LEDGER_NAME))
    desk.open_table()
    desk.start("touch-1", 1, "1A", "2A")
    tamper(desk.store, "DROP TRIGGER transactions_refuse_update")
    tamper(desk.store, "UPDATE transactions SET sentence = 'Nicer.' WHERE number = 2")
    desk.store.close()
    assert main(["audit", "--data", str(tmp_path)]) == 1
    assert "transaction 2" in capsys.readouterr().out


@pytest.mark.parametrize("port", ["99999", "-4", "x", "", "٣"])
def test_what_is_no_port_is_refused(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--port", "--enrol-port", "--web-port"):
        with pytest.raises(SystemExit) as ended:
            main(["serve", "--port", "0", "--web-port", "0", f"{option}={port}"])
        assert ended.value.code == 2
        assert "is not a port from 0 to 65535" in capsys.readouterr().err


def test_a_folder_that_is_a_file_is_refused_with_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "file"
    wrong.write_text("")
    assert main(["serve", "--data", str(wrong), "--port", "0", "--web-port", "0"]) == 2
    assert "cannot be the ledger's folder" in capsys.readouterr().err


def test_a_bad_table_file_or_a_foreign_ledger_stops_the_start_with_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "table.toml"
    table.write_text(table_toml().replace("seats = 7", "seats = 7\nchairs = 7"))
    serve = ["serve", "--data", str(tmp_path / "data"), "--port", "0", "--web-port", "0"]
    assert main([*serve, "--table", str(table)]) == 2
    assert (
        "table.toml:7:1: table.chairs: is not a key this version knows" in capsys.readouterr().err
    )
    (tmp_path / "data" / LEDGER_NAME).write_bytes(b"not a ledger at all" * 100)
    assert main(serve) == 2
    assert "damaged" in capsys.readouterr().err


SERVE = ["serve", "--port", "0", "--web-port", "0", "--web-plain"]


def test_a_ledger_that_goes_away_halts_the_manager_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Catches: a traceback in place of the reason, when no unit's event hears of it first."""

    async def looks_on(_ladder: LinkLadder) -> None:
        raise StorageFailed("nobody answers")

    monkeypatch.setattr(LinkLadder, "run", looks_on)
    assert main([*SERVE, "--data", str(tmp_path)]) == 1
    assert "the manager halts: nobody answers" in caplog.text


def test_a_ledger_that_goes_away_under_a_command_is_told_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Desk(str(tmp_path / LEDGER_NAME)).store.close()

    def gone(*_words: object, **_more: object) -> None:
        raise StorageFailed("nobody answers")

    monkeypatch.setattr(SqliteReader, "rows", gone)
    assert main(["explain", "1", "--data", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "The ledger cannot be read any more: nobody answers.\n"
