"""The conformance kit against our own ends, and against a unit in another language.

Real processes and sockets, because others will use it so. Nothing here sleeps: each step waits for
what a process says, and every wait has an end.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from manager.intake.intake import Intake
from protocol.conformance import manager_cases, unit_cases
from protocol.conformance.floor_ca import FloorCa
from protocol.conformance.played_manager import PlayedManager, table_settings
from protocol.conformance.played_unit import PlayedUnit
from protocol.conformance.report import Broken, Report, title_of
from protocol.wire import events
from tests.contract.tls_floor import TlsFloor, new_key_pem, on_floor, signing_request
from tests.kit.places import ROOT, TESTS

SERIAL = "UF-0001"
SECOND_UNIT = TESTS / "kit" / "second_unit"
LINES_MAX = 600


def test_our_manager_keeps_every_case(tmp_path: Path) -> None:
    said: list[str] = []

    async def play(floor: TlsFloor) -> list[str]:
        identity = floor.issue(tmp_path / "unit")
        report = Report(said.append)
        unit = PlayedUnit("127.0.0.1", floor.port, identity.ca.parent)
        await report.play(manager_cases.CASES, unit)
        return report.broken

    assert on_floor(tmp_path, play, patience_s=120) == [], "\n".join(said)


def test_a_manager_that_forgets_its_answers_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kit itself can fail: a manager that repeats nothing after Welcome breaks two cases."""
    monkeypatch.setattr(Intake, "pending_answers", lambda self, table_id: [])
    played = manager_cases.CASES
    first = played.index(manager_cases.welcome_and_settings)
    last = played.index(manager_cases.a_win_is_booked_once)

    async def play(floor: TlsFloor) -> list[str]:
        identity = floor.issue(tmp_path / "unit")
        report = Report(lambda sentence: None)
        unit = PlayedUnit("127.0.0.1", floor.port, identity.ca.parent)
        await report.play(played[first : last + 1], unit)
        return report.broken

    broken = on_floor(tmp_path, play, patience_s=120)
    assert broken == ["an_award_is_repeated", "a_win_is_booked_once"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"digest": bytes(32)}, "the digest of event 1 does not follow"),
        ({"sequence": 2}, "event 2 came where 1 is next"),
        ({"wall_ms": 5}, "the digest of event 1 does not follow"),
    ],
)
def test_an_event_that_does_not_follow_is_found_out(
    change: dict[str, object], sentence: str, tmp_path: Path
) -> None:
    unit = PlayedUnit("127.0.0.1", 1, tmp_path)
    event = unit.record(events.Boot(1, "a unit", ""))
    manager = PlayedManager(FloorCa(tmp_path), SERIAL, table_settings("t"), print)
    manager.journal_id = unit.journal_id
    manager.check(event)
    with pytest.raises(Broken, match=sentence):
        manager.check(replace(event, **change))  # type: ignore[arg-type]


def test_a_signing_request_for_another_name_is_found_out(tmp_path: Path) -> None:
    ca = FloorCa(tmp_path / "ca")
    ca.ensure()
    key, _ = new_key_pem()
    assert ca.certify(signing_request(SERIAL, key), SERIAL)
    with pytest.raises(Broken, match="not for UF-0001"):
        ca.certify(signing_request("UF-0002", key), SERIAL)
    with pytest.raises(Broken, match="cannot be read"):
        ca.certify(b"no request", SERIAL)


class Unit:
    """A unit's process; its dealer gets the kit's ACT lines."""

    def __init__(self, command: list[str], restarts_itself: bool, log: Path) -> None:
        self._command = command
        self._restarts_itself = restarts_itself
        self._log = log.open("w")
        self._process = self._started()

    def _started(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self._command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=self._log,
            text=True,
        )

    def act(self, line: str) -> None:
        if line == "ACT restart" and not self._restarts_itself:
            self._process.kill()  # as a power cut would
            self._process.communicate()
            self._process = self._started()
            return
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._log.close()


def two_free_ports() -> int:
    """The first of two ports that follow each other; other workers look elsewhere first."""
    for port in range(20_000 + os.getpid() % 10_000 * 2, 60_000, 2):
        try:
            with socket.create_server(("127.0.0.1", port)):
                socket.create_server(("127.0.0.1", port + 1)).close()
        except OSError:
            continue
        return port
    raise AssertionError("no two ports are free")


@contextmanager
def kit(data: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [
            *(sys.executable, "-m", "protocol.conformance", "unit", f"127.0.0.1:{port}"),
            *("--data", str(data), "--serial", SERIAL),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def play(tmp_path: Path, words: list[str], restarts_itself: bool) -> tuple[int, list[str]]:
    """The kit's exit code and what it said."""
    port = two_free_ports()
    said: list[str] = []
    with kit(tmp_path / "kit", port) as process:
        assert process.stdout is not None
        told = dict(process.stdout.readline().split() for _ in range(4))
        place = [SERIAL, "127.0.0.1", str(port), told["fingerprint"], told["code"]]
        unit = Unit([*words, str(tmp_path / "unit"), *place], restarts_itself, tmp_path / "log")
        try:
            for line in process.stdout:
                said.append(line.rstrip())
                assert len(said) < LINES_MAX
                if line.startswith("ACT "):
                    unit.act(line.rstrip())
        finally:
            unit.end()
        return process.wait(), said


UNITS = {
    "ours": ([sys.executable, "-m", "tests.kit.conforming_unit"], True),
    "second": (["node", str(SECOND_UNIT / "unit.mjs")], False),
}


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_keeps_every_case(name: str, tmp_path: Path) -> None:
    words, restarts_itself = UNITS[name]
    if words[0] == "node" and shutil.which("node") is None:
        pytest.fail("Node is missing: run `make setup-test`.")
    code, said = play(tmp_path, words, restarts_itself)
    log = (tmp_path / "log").read_text()
    assert code == 0, "\n".join([*said, log[-3000:]])
    digits = next(line.split()[-1] for line in said if line.startswith("the unit must show "))
    assert digits in log, "the six digits that a person compares"
    assert said[-1] == f"{len(unit_cases.CASES)} cases kept, 0 broken"


def test_the_second_unit_stays_small_and_needs_nothing() -> None:
    files = sorted(SECOND_UNIT.glob("*.mjs"))
    assert sum(len(file.read_text().splitlines()) for file in files) < 600
    imported = {
        line.split(" from ")[1]
        for file in files
        for line in file.read_text().splitlines()
        if line.startswith("import ")
    }
    assert all(name.startswith(('"node:', '"./')) for name in imported), imported


def test_every_case_says_what_it_asks_for() -> None:
    titles = [title_of(case) for case in (*manager_cases.CASES, *unit_cases.CASES)]
    assert len(set(titles)) == len(titles)
    assert all(len(title) > 20 for title in titles)
