"""A unit that nobody has enrolled, as a real process: it stays up, says why, and goes on by itself.

Real sockets and a real systemd's datagrams, because a process that ends is the subject. Nothing
here sleeps: each step waits for what the process says, and every wait has an end.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.link.identity import UnitIdentity
from controller.unenrolled import NOT_ENROLLED
from kit.files import write_private
from manager.identity import certificates
from tests.kit.places import ROOT, table_path

SERIAL = "UF-0001"
SECONDS_MAX = 30
COMMAND = "sudo underfelt enrol --manager HOST:PORT --ca-fingerprint HEX --code CODE"
CA_KEY = certificates.new_key()
CA = certificates.make_ca(CA_KEY)


class Process:
    """`python -m controller run` under a systemd that this test plays."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.data.mkdir()
        table = folder / "table.toml"
        # Any free port: the shipped one may be taken on the machine that runs the tests.
        shipped = table_path("four-card-touch").read_text()
        table.write_text(re.sub(r"(?m)^((?:display_)?port = )80\d\d$", r"\g<1>0", shipped))
        self.systemd = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.systemd.settimeout(SECONDS_MAX)
        self.systemd.bind(str(folder / "notify"))
        self.popen = subprocess.Popen(
            [
                *(sys.executable, "-m", "controller", "run"),
                *("--config", str(table), "--data", str(self.data)),
            ],
            cwd=ROOT,
            env=os.environ | {"NOTIFY_SOCKET": str(folder / "notify")},
            stderr=subprocess.PIPE,
            text=True,
        )
        self.log: list[str] = []

    def address(self) -> str:
        return self.logged(r"at (http://\S+)/")

    def logged(self, pattern: str) -> str:
        """Reads the log until it says this."""
        assert self.popen.stderr is not None
        for line in self.popen.stderr:
            self.log.append(line)
            if found := re.search(pattern, line):
                return found[1] if found.groups() else found[0]
        raise AssertionError(f"it ended without a word about {pattern}: {''.join(self.log)}")

    def told(self) -> str:
        return self.systemd.recv(1000).decode()

    def end(self) -> int:
        """Its exit code, with the rest of its log read."""
        assert self.popen.stderr is not None
        self.log.extend(self.popen.stderr)
        return self.popen.wait(SECONDS_MAX)


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    running = Process(tmp_path)
    yield running
    running.popen.kill()
    running.popen.wait()
    assert running.popen.stderr is not None
    running.popen.stderr.close()
    running.systemd.close()


def fetch(url: str, body: object = None) -> str:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=SECONDS_MAX) as answer:
        return str(answer.read().decode())


def enrol(data: Path) -> None:
    """What `enrol` leaves behind: the certificate last."""
    identity = UnitIdentity(data)
    identity.ensure_seal_key()
    key = certificates.new_key()
    certificate = certificates.issue_unit(CA, CA_KEY, SERIAL, key.public_key())
    write_private(identity.ca, certificates.pem(CA))
    write_private(identity.unit, certificates.key_pem(key) + certificates.pem(certificate))


def test_it_says_on_its_pages_what_is_missing_and_the_command(process: Process) -> None:
    """Catches: ending, which systemd answers with another start, for ever and without a page."""
    address = process.address()
    panel = fetch(f"{address}/")
    assert 'data-state="fault"' in panel
    assert f"this unit has no certificate yet; enrol this unit ({COMMAND}" in panel
    assert 'data-light="fault"' in panel, "nobody has looked whether a chip lies there"
    assert 'data-light="off"' not in panel
    assert "Opening soon" in fetch(process.logged(r"display is at (http://\S+/)"))
    answer = json.loads(fetch(f"{address}/press", {"button": "START"}))
    assert (answer["accepted"], answer["sentence"]) == (False, NOT_ENROLLED)


def test_systemd_hears_ready_and_then_of_progress_and_the_log_says_it_once(
    process: Process,
) -> None:
    """Catches: a start that systemd gives up after 30 s, or a log that fills."""
    assert process.told() == "READY=1\nSTATUS=not enrolled"
    for _ in range(3):
        assert process.told() == "WATCHDOG=1\nSTATUS=not enrolled"
    process.popen.send_signal(signal.SIGTERM)
    assert process.end() == 0
    assert sum(COMMAND in line for line in process.log) == 1


def test_it_goes_on_by_itself_when_it_has_been_enrolled(process: Process) -> None:
    """Without a Pi's bus the next step ends with a sentence of its own, which proves that step."""
    process.address()
    enrol(process.data)
    process.logged("this unit is enrolled now and opens its table")
    process.logged("I2C bus 1 could not be opened|the dealer's panel is at")


def test_a_certificate_of_another_board_is_told_in_place_of_the_first_sentence(
    process: Process,
) -> None:
    """Catches: a page that goes on saying what has stopped being true."""
    address = process.address()
    identity = UnitIdentity(process.data)
    identity.ensure_seal_key()
    key = certificates.new_key()
    foreign = certificates.issue_unit(CA, CA_KEY, "UF-9999", key.public_key())
    write_private(identity.unit, certificates.key_pem(key) + certificates.pem(foreign))
    process.logged("the certificate is for UF-9999, but this board is UF-0001")
    page = fetch(f"{address}/")
    assert "the certificate is for UF-9999" in page
    assert "no certificate yet" not in page
