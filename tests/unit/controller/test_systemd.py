"""systemd is told in its own words, and only when it listens."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from controller import systemd


def test_nobody_is_told_when_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    assert not systemd.ready("open")


def test_ready_and_watchdog_reach_the_socket(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(path)
        assert systemd.ready("open")
        assert systemd.watchdog("locked")
        assert listener.recv(200) == b"READY=1\nSTATUS=open"
        assert listener.recv(200) == b"WATCHDOG=1\nSTATUS=locked"


def test_an_abstract_address_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind("\0underfelt-test")
        monkeypatch.setenv("NOTIFY_SOCKET", "@underfelt-test")
        assert systemd.stopping()
        assert listener.recv(200) == b"STOPPING=1"
