"""Every command with every bad input: one sentence, the right exit code, never a traceback.

An exception that a command lets through fails its row here. What only a whole process can show
(a full disk behind the output, Ctrl-C, bytes that are no text) is played with processes.
"""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import controller.__main__
import deploy.installer.__main__
import deploy.tech.__main__
import manager.__main__
import protocol.conformance.__main__
import sim.__main__
from kit import command_line
from kit.command_line import REFUSED, STOPPED
from kit.files import private_folder
from manager.app import Manager
from manager.data_folder import LEDGER_NAME
from manager.ledger.engines.sqlite_engine import SqliteEngine
from manager.ledger.errors import StoreError
from protocol.proof import check_seals
from sim.runs.storm.campaign import campaign
from sim.runs.storm.options import StormOptions
from tests.kit.command_process import SECONDS_MAX, process_ended
from tests.kit.places import ROOT, table_path
from tests.kit.serving_manager import serving

TABLE = str(table_path("four-card-touch"))
Main = Callable[[list[str]], int]
MAINS: dict[str, Main] = {
    "manager": manager.__main__.main,
    "controller": controller.__main__.main,
    "sim": sim.__main__.main,
    "check_seals": check_seals.main,
    "conformance": protocol.conformance.__main__.main,
    "installer": deploy.installer.__main__.main,
    "tech": deploy.tech.__main__.main,
}
WHO = "--operator A --second B"
# Each with a data folder that cannot be one, and with a number that no ledger could hold.
WITH_DATA = {
    "manager": [
        "serve --port 0 --web-port 0",
        "audit",
        "explain 1",
        "export --out {tmp}/out",
        "accounting --out {tmp}/out.csv",
        "backup --to {tmp}/backup",
        "adopt-journal UF-1 --operator A --reason B",
        "roll-out 00 --first t --operator A",
        "stop-roll-out --operator A --reason B",
        f"reverse-win 1 --reason wrong-seat {WHO}",
        f"suspend main --reason malfunction {WHO}",
        f"close-jackpot main {WHO}",
        "enrol-code --table four-card-touch",
        "approve",
        "revoke UF-1 --reason lost",
        "retire UF-1",
        "units",
        "verify-seals",
        "export-events --unit UF-1 --out {tmp}/out",
    ],
    "controller": [
        f"enrol --config {TABLE} --manager 127.0.0.1:1 --code 7-K3QX-9M2T --ca-fingerprint "
        + "0" * 64,
    ],
    "sim": ["bench"],
}
ELSEWHERE = {
    "manager": [
        "explain " + "9" * 30,
        "explain " + "9" * 5000,
        "explain -1",
        "explain one",
        "serve --port 65535 --web-port 0 --data {tmp}/new",
        "serve --port 65536 --web-port 0 --data {tmp}/new",
        "serve --port -1 --web-port 0 --data {tmp}/new",
        "serve --port {busy} --web-port 0 --data {tmp}/new",
        "serve --port 0 --web-port 0 --host 192.0.2.1 --data {tmp}/new",
        "serve --port 0 --web-port 0 --tables {tmp}/none --data {tmp}/new",
        "audit-export {tmp}/none",
        "audit-export {tmp}",
        "audit {tmp}/none",
        "audit {bytes}",
        "archive --keep-days 99999999 --data {tmp}/new",
        "export-events --unit UF-1 --out {tmp} --data {tmp}/new",
        "advise {tmp}/none.toml",
        f"advise {TABLE} --paths 0",
        f"advise {TABLE} --wagers " + "9" * 30,
        "check-pack {tmp}/none.toml",
        "train four-card --rounds 0",
        "train four-card --seats " + "9" * 30,
        "advise " + TABLE + " --jurisdiction nowhere",
        "serve --port 0 --web-port 0 --jurisdiction {tmp}/none.toml --data {tmp}/new",
        "accounting --out {tmp}/out.csv --from yesterday --data {tmp}/new",
        "accounting --out {tmp}/out.xls --data {tmp}/new",
        "restore {tmp}/none --to {tmp}/new",
        "restore {tmp} --to {tmp}/new",
        "backup --to {tmp}/none/below --data {tmp}/none",
        "no-such-command",
    ],
    "controller": [
        "verify --seed short",
        "verify --seed 12345678 --folder {tmp}/none",
        "run --config {tmp}/none.toml",
        "run --config {tmp}",
        "traces --data {tmp}/none --round " + "9" * 30,
        "find 0",
        "find " + "9" * 5000,
        f"enrol --config {TABLE} --manager HOST:65536 --code A --ca-fingerprint " + "0" * 64,
        f"enrol --config {TABLE} --manager HOST --code A --ca-fingerprint " + "0" * 64,
    ],
    "sim": [
        "run {tmp}/none.txt --seed " + "9" * 30,
        "storm --tables 0",
        "storm --hours nan",
        "storm --hours inf",
        "storm --campaign --seconds 0",
        "storm --campaign --processes " + "9" * 30,
        "sense --trials 0",
        "sense --register-part nan",
        "evening --rounds 0",
        "replay {tmp}/none",
        "replay {tmp}",
        "bench --table no-such-table --data {tmp}/new",
        "tech",
        "tech --table no-such-table health",
        "tech --faults loose-pad health",
        "tech --faults loose-pad:99Z health",
        "tech --faults gremlins:1 health",
        "tech --noise 101 --serial health",
    ],
    "check_seals": ["{tmp}/none --key " + "0" * 64, "{tmp} --key " + "0" * 64, "{tmp} --key zz"],
    "conformance": [
        "manager 127.0.0.1 --identity {tmp}",
        "manager 127.0.0.1:65536 --identity {tmp}",
        "manager 127.0.0.1:1 --identity {tmp}/none",
        "manager 127.0.0.1:1 --identity {keys}",
        "unit 127.0.0.1:20000 --data {tmp}/new --serial a_b",
        "unit 127.0.0.1:65535 --data {tmp}/new",
        "unit 127.0.0.1:{busy} --data {tmp}/new",
        "unit 127.0.0.1:20000 --data {file}",
    ],
    "installer": ["unit install {tmp}/none.toml --root {tmp}/root", "unit no-such-command"],
    "tech": [
        "no-such-command",
        "decode {tmp}",
        "decode {tmp}/none",
        "decode {file}",
        "decode abc",
        "board check {tmp}/none",
        "board check {file}",
        f"board check {TABLE} --cable-m nan",
        "board solder {file}",
        "health",
        "replay {tmp}/none",
        "replay {tmp}",
        "bundle {file} --unit 10.0.0.7",
        "bundle {tmp}/none/x.zip --unit 10.0.0.7",
        "find --seconds nan",
        "find --seconds 0.01 --interface 192.0.2.1",
        "watch",
        "health --unit ftp://x",
        "health --unit serial:{tmp}/none",
        "health --unit serial:{file}",
        "health --unit http://10.0.0.7",
        "health --unit http://127.0.0.1:1 --name A --pin-file {tmp}/none",
        "traces --out {tmp}/x",
    ],
}
BAD_FOLDERS = {"a file": "{file}", "below a file": "{file}/data"}
ROWS = [(who, command) for who, commands in ELSEWHERE.items() for command in commands] + [
    (who, f"{command} --data {folder}")
    for who, commands in WITH_DATA.items()
    for command in commands
    for folder in BAD_FOLDERS.values()
]
# These say of a bad file that it is a finding, not a refusal.
FINDINGS = ("check-pack", "run {tmp}/none.txt", "replay", "board check {")


def ended(main: Main, words: list[str]) -> int | str | None:
    try:
        return main(words)
    except SystemExit as end:  # argparse's own refusal
        return end.code


@pytest.fixture
def places(tmp_path: Path) -> Iterator[dict[str, str]]:
    file = tmp_path / "file"
    file.write_text("no folder")
    odd = tmp_path / "bytes"
    odd.write_bytes(bytes(range(256)))
    keys = tmp_path / "keys"
    keys.mkdir()
    for name in ("ca.pem", "unit.pem"):
        (keys / name).write_text("no certificate")
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = str(busy.getsockname()[1])
        named = {"tmp": tmp_path, "file": file, "bytes": odd, "keys": keys}
        yield {"busy": port} | {name: str(path) for name, path in named.items()}


@pytest.mark.parametrize(("who", "command"), ROWS, ids=[f"{w} {c}"[:70] for w, c in ROWS])
def test_a_bad_input_gets_one_sentence(
    who: str, command: str, places: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word.format(**places) for word in command.split()]
    code = ended(MAINS[who], words)
    told = capsys.readouterr()
    assert code == REFUSED or (code == 1 and command.startswith(FINDINGS)), told
    # argparse prints how the command is used, and then its sentence.
    lines = [line for line in (told.err or told.out).splitlines() if not line.startswith(" ")]
    sentences = [line for line in lines if not line.startswith("usage:")]
    assert len(sentences) == 1, sentences
    assert len(sentences[0]) < 600


@pytest.mark.parametrize("module", ["sim", "protocol.proof.check_seals"])
def test_a_full_disk_behind_the_output_is_told(module: str) -> None:
    """Catches: a traceback at the last flush, and the interpreter's own complaint, code 120."""
    with Path("/dev/full").open("w") as full:
        end = process_ended(["-m", module, "--help"], full.fileno())
    assert end.returncode == REFUSED
    assert end.stderr == "The output cannot be written: No space left on device.\n"


@pytest.mark.parametrize("how", [[], ["-u"]])
def test_a_full_disk_is_told_once_however_much_was_printed(how: list[str]) -> None:
    """Catches: the sentence twice, where a buffer was full or none is kept (PYTHONUNBUFFERED)."""
    long_report = (
        "from kit.command_line import run_command, told\n"
        "run_command(lambda: told(lambda: print('x' * 100_000) or 0))"
    )
    with Path("/dev/full").open("w") as full:
        end = process_ended([*how, "-c", long_report], full.fileno())
    assert end.returncode == REFUSED
    assert end.stderr == "The output cannot be written: No space left on device.\n"


@pytest.mark.parametrize("how", [[], ["-u"]])
def test_a_refusal_needs_no_output(how: list[str], tmp_path: Path) -> None:
    words = [*how, "-m", "protocol.proof.check_seals", str(tmp_path / "none"), "--key", "0" * 64]
    with Path("/dev/full").open("w") as full:
        end = process_ended(words, full.fileno())
    assert end.returncode == REFUSED
    assert end.stderr == f"{tmp_path / 'none'}: No such file or directory.\n"


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """Catches: half a character in the books, or the traceback on its way there."""
    words = ["-m", "manager", "revoke", "UF-1", "--data", str(tmp_path), "--reason", b"\xff\xfe"]
    end = process_ended(words)
    assert (end.returncode, end.stderr) == (REFUSED, "An argument is not UTF-8 text.\n")


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_typed_bytes_that_are_no_text_are_refused(errors: str) -> None:
    """Catches: a traceback where a password is handed over in another encoding."""
    end = subprocess.run(
        [sys.executable, "-m", "manager", "tech-pin", "--label", "ANNA"],
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": f"utf-8:{errors}"},
        input=b"\xff1234567\n",
        capture_output=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    told = (end.returncode, end.stdout, end.stderr)
    assert told == (REFUSED, b"", b"What was typed is not UTF-8 text.\n")


def test_a_question_that_nobody_answers_ends_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches: a traceback of `train` or `approve` without a terminal."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert manager.__main__.main(["train", "four-card", "--rounds", "1"]) == REFUSED
    assert capsys.readouterr().err == "Nobody answers: the input has ended.\n"


def test_a_command_that_is_stopped_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    def long_command() -> int:
        raise KeyboardInterrupt

    assert command_line.told(long_command, name="sim") == STOPPED
    assert capsys.readouterr().err == "sim: stopped\n"


def test_ctrl_c_ends_a_long_command_without_a_traceback() -> None:
    command = [sys.executable, "-m", "sim", "sense", "--seed", "1", "--trials", "5000"]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Tests that were started in the background hand on that Ctrl-C is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("sense seed 1")
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=SECONDS_MAX)
    assert (process.returncode, complaint) == (STOPPED, "sim: stopped\n")


def test_a_campaigns_storms_end_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches: waiting for the storms under way, which took another 70 seconds."""
    begun: list[subprocess.Popen[str]] = []

    class Storm(subprocess.Popen[str]):
        def __init__(self, words: list[str], **how: object) -> None:
            endless = "print('begun', flush=True); import signal; signal.pause()"
            super().__init__([words[0], "-c", endless], **how)  # type: ignore[call-overload]
            begun.append(self)

    def stopped_after_two() -> Iterator[StormOptions]:
        yield StormOptions.drawn(2, 0.05, 1)
        while not begun:
            pass
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", Storm)
    with pytest.raises(KeyboardInterrupt):
        list(campaign.outcomes(stopped_after_two(), 2))
    assert [process.wait(SECONDS_MAX) for process in begun] == [-signal.SIGKILL]


def test_a_second_bench_on_the_same_data_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches: the traceback of a second `make run`."""
    with serving(tmp_path / "manager"):
        assert sim.__main__.main(["bench", "--data", str(tmp_path)]) == REFUSED
    told = capsys.readouterr().err
    assert told == "sim: the Game Manager did not start; its message stands above\n"


@contextmanager
def somebody_else() -> Iterator[None]:
    """As a user whom the machine can refuse something; root it refuses nothing."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_ledger_in_a_read_only_folder_is_not_called_damaged(tmp_path: Path) -> None:
    place = tmp_path / "data"
    place.mkdir()
    ledger = place / LEDGER_NAME
    Manager(str(ledger), lambda: 1).store.close()
    for file in place.iterdir():
        file.chmod(0o444 if file == ledger else 0o666)  # the lock can still be taken
    place.chmod(0o555)
    made = [each for each in tmp_path.parents if each.name.startswith(("pytest-", "popen-"))]
    for folder in (tmp_path, *made):
        folder.chmod(0o755)
    with somebody_else(), pytest.raises(StoreError) as refused:
        SqliteEngine(str(ledger)).acquire()
    place.chmod(0o755)
    assert "cannot be written" in str(refused.value)
    assert "damaged" not in str(refused.value)


def test_a_data_folder_is_private_however_the_manager_is_started(tmp_path: Path) -> None:
    """Catches: a folder that others may read, because systemd was not there to say otherwise."""
    data, wide = tmp_path / "new" / "data", tmp_path / "wide"
    wide.mkdir(mode=0o755)
    wide.chmod(0o755)
    for folder in (data, wide):
        assert stat.S_IMODE(private_folder(folder).stat().st_mode) == 0o700
    command = [sys.executable, "-m", "manager", "serve", "--data", str(tmp_path / "served")]
    with subprocess.Popen(
        [*command, "--port", "0", "--web-port", "0", "--table", TABLE],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        umask=0o002,
    ) as process:
        assert process.stdout is not None
        json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS_MAX) == 0
    modes = {
        path.name: stat.S_IMODE(path.lstat().st_mode)
        for path in [tmp_path / "served", *(tmp_path / "served").rglob("*")]
    }
    assert modes["served"] == 0o700
    # The CA's certificate is for everybody; the folder around it is not.
    assert {name for name, mode in modes.items() if mode & 0o077} == set()


def test_what_a_machine_says_is_passed_on_with_the_name_of_the_file() -> None:
    error = OSError(errno.EROFS, os.strerror(errno.EROFS), "/data")
    assert command_line.in_words(error) == "/data: Read-only file system."
    assert command_line.in_words(TimeoutError()) == "TimeoutError."
