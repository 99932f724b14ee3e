"""Known units: asked once, remembered, and refused when the certificate changed.

Mutations this catches: an unknown certificate taken without a person, a changed one taken at all,
anything sent to a stranger before its certificate was compared.
"""

from __future__ import annotations

import errno
import http.client
import os
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.service.page.door import _make
from deploy.tech.door import UnitGone
from deploy.tech.https_door import HttpsDoor, split_url
from deploy.tech.trust import KnownUnits
from kit.command_line import CommandRefused

ADDRESS, ONE, OTHER = "10.0.0.7:8082", "a" * 64, "b" * 64


def never(_: str) -> bool:
    raise AssertionError("nobody is to be asked")


def test_a_person_is_asked_once(tmp_path: Path) -> None:
    known = KnownUnits(tmp_path / "new")
    asked: list[str] = []
    known.check(ADDRESS, ONE, "", lambda shown: not asked.append(shown))
    known.check(ADDRESS, ONE, "", never)
    assert asked == [ONE]


def test_an_unknown_certificate_needs_a_person(tmp_path: Path) -> None:
    known = KnownUnits(tmp_path)
    with pytest.raises(CommandRefused, match="nobody has compared"):
        known.check(ADDRESS, ONE, "", lambda _: False)
    assert known.read() == {}


def test_a_changed_certificate_is_refused_and_not_asked_for(tmp_path: Path) -> None:
    known = KnownUnits(tmp_path)
    known.check(ADDRESS, ONE, ONE, never)
    with pytest.raises(CommandRefused, match="another certificate than before"):
        known.check(ADDRESS, OTHER, "", never)
    known.check(ADDRESS, OTHER, "BB:" * 31 + "BB", never)
    assert known.read() == {ADDRESS: OTHER}


def test_a_given_fingerprint_that_differs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandRefused, match="not the one you gave"):
        KnownUnits(tmp_path).check(ADDRESS, ONE, OTHER, never)


@pytest.mark.parametrize("text", ["", "[]", '{"a": 1}', "\x00"])
def test_a_damaged_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "known-units.json").write_text(text)
    with pytest.raises(CommandRefused, match="is damaged"):
        KnownUnits(tmp_path).check(ADDRESS, ONE, "", never)


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[tuple[int, list[bytes]]]:
    """A TLS server that answers nothing and keeps what it hears."""
    path = tmp_path / "stranger.pem"
    path.write_bytes(_make("stranger", ["localhost"]))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            try:
                connection, _ = listener.accept()
                with context.wrap_socket(connection, server_side=True) as secured:
                    heard.append(secured.recv(4096))
            except OSError:
                return

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1], heard
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_a_stranger_never_hears_a_pin(stranger: tuple[int, list[bytes]]) -> None:
    port, heard = stranger

    def refuse(shown: str) -> None:
        raise CommandRefused(f"not {shown}")

    with pytest.raises(CommandRefused, match="not "):
        HttpsDoor("127.0.0.1", port, refuse).ask("POST", "/sign-in", {"name": "A", "pin": "1"})
    assert b"".join(heard) == b""


def test_a_stranger_that_is_taken_hears_it(stranger: tuple[int, list[bytes]]) -> None:
    """That the server above would notice."""
    port, heard = stranger
    with pytest.raises(UnitGone, match="does not answer"):
        HttpsDoor("127.0.0.1", port, lambda _: None).ask("POST", "/sign-in", {"pin": "1"})
    assert b"POST /sign-in" in b"".join(heard)


def test_nobody_there_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(UnitGone, match=f"127.0.0.1:{port} does not answer"):
        HttpsDoor("127.0.0.1", port, None).ask("GET", "/unit")


def test_plain_http_is_for_this_machine_alone() -> None:
    with pytest.raises(CommandRefused, match="PIN could be read"):
        HttpsDoor("10.0.0.7", 8082, None)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("10.0.0.7", (True, "10.0.0.7", 8082)),
        ("table-7.local:9000", (True, "table-7.local", 9000)),
        ("http://127.0.0.1:8082/", (False, "127.0.0.1", 8082)),
    ],
)
def test_addresses_as_people_write_them(text: str, parts: tuple[bool, str, int]) -> None:
    assert split_url(text) == parts


@pytest.mark.parametrize("text", ["", "ftp://x", "host:port", "host:99999", "https://"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(CommandRefused, match="no address"):
        split_url(text)


def test_a_broken_handshake_is_not_called_a_missing_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenSSL may raise what errno held before: "No such file or directory" helps nobody."""

    def broken(self: http.client.HTTPSConnection) -> None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    monkeypatch.setattr(http.client.HTTPSConnection, "connect", broken)
    with pytest.raises(UnitGone) as told:
        HttpsDoor("127.0.0.1", 8082, lambda _: None).ask("GET", "/unit")
    assert "broke the connection off" in str(told.value)
    assert "file" not in str(told.value)
