"""Both ends of what a manager that stands by hands over, on a real line with real certificates.

Mutations this catches: a password that is sent before the other end has proven to be a manager of
this floor, sent in clear, or sent at all when nobody owns the ledger; a wait without an end.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.applications import Starlette

import manager.owner_line
from kit.web.server import serve
from manager.identity import certificates
from manager.identity.folder import IdentityFolder
from manager.ledger.engines.postgres_lease import KnownManager
from manager.ledger.errors import LedgerError
from manager.owner_line import OwnerLine
from manager.people.handing_over import SIGN_IN, Answer, HandedOver
from manager.people.passwords import KEY_NAME
from manager.serve import pages_tls
from manager.web.app import build
from tests.kit.fake_floor import FakeFloor
from tests.kit.page_house import PageHouse
from tests.kit.people import KEY, PASSWORD

OLGA = HandedOver(SIGN_IN, "south", "Olga", "192.0.2.7", PASSWORD)
SECRET = PASSWORD.encode()


class Ends:
    """North owns and has its folder; south has a copy of the keys, as the documents say."""

    def __init__(self, folder: Path) -> None:
        self.north, self.south = folder / "north", folder / "south"
        for data in (self.north, self.south):
            data.mkdir(mode=0o700)
            (data / KEY_NAME).write_bytes(KEY)
        self.identity = IdentityFolder(self.north)
        self.identity.ensure()
        self.house = PageHouse()
        self.app = build(self.house.manager.view, self.house.access, floor=FakeFloor())
        self.owner: KnownManager | None = None
        self.line = OwnerLine(self.south, self.identity.ca, lambda: self.owner)

    def owner_at(self, listener: socket.socket, scheme: str = "https") -> KnownManager:
        host, port = listener.getsockname()
        return KnownManager("north", "127.0.0.1:7411", f"{scheme}://{host}:{port}", True, True)

    @asynccontextmanager
    async def serving(self, app: Starlette | None = None) -> AsyncIterator[None]:
        listener = socket.create_server(("127.0.0.1", 0))
        self.owner = self.owner_at(listener)
        context = pages_tls(self.north, (), "127.0.0.1")
        task = asyncio.create_task(serve(app or self.app, listener, context), name="pages")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            listener.close()


@pytest.fixture
def ends(tmp_path: Path) -> Ends:
    return Ends(tmp_path)


def asked(ends: Ends, handed: HandedOver = OLGA, app: Starlette | None = None) -> Answer:
    async def scene() -> Answer:
        async with ends.serving(app):
            return await ends.line.ask(handed)

    return asyncio.run(scene())


def test_the_owner_judges_what_south_hands_over(ends: Ends) -> None:
    assert asked(ends) == Answer(True, "Olga")
    assert not asked(ends, replace(OLGA, password="not the password")).done


def test_a_manager_without_the_houses_key_is_told_what_to_copy(ends: Ends) -> None:
    (ends.south / KEY_NAME).write_bytes(bytes([7] * 32))
    with pytest.raises(LedgerError, match=r"Copy people\.key"):
        asked(ends)
    (ends.south / KEY_NAME).unlink()
    with pytest.raises(LedgerError, match="copy it from a manager that has served"):
        asked(ends)
    assert not (ends.south / KEY_NAME).exists()  # one that is made up would stand in the way


def test_one_that_stands_by_itself_by_now_takes_nothing(ends: Ends) -> None:
    with pytest.raises(LedgerError, match="takes nothing in at this moment"):
        asked(ends, app=Starlette())


@pytest.mark.parametrize("who", ["nobody", "itself"])
def test_without_an_owner_nothing_is_sent(ends: Ends, who: str) -> None:
    """South may still be named as the owner of a lease that it has lost."""
    if who == "itself":
        ends.owner = KnownManager("south", "127.0.0.1:7411", "https://127.0.0.1:9", True, True)
    with pytest.raises(LedgerError, match="Nobody owns the ledger"):
        asyncio.run(ends.line.ask(OLGA))


def test_an_owner_that_is_gone_is_a_sentence(ends: Ends) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ends.owner = ends.owner_at(listener)
    with pytest.raises(LedgerError, match=r"north did not answer\. Look again"):
        asyncio.run(ends.line.ask(OLGA))


Conversation = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def ask_another(
    ends: Ends, context: ssl.SSLContext | None, say: Conversation, scheme: str = "https"
) -> Answer:
    """What comes of it when something else answers at the owner's address."""
    listener = socket.create_server(("127.0.0.1", 0))
    ends.owner = ends.owner_at(listener, scheme)
    server = await asyncio.start_server(say, sock=listener, ssl=context)
    async with server:
        return await ends.line.ask(OLGA)


def context_of(folder: Path, issued: object, key: certificates.Key) -> ssl.SSLContext:
    (folder / "some.pem").write_bytes(certificates.pem(issued))  # type: ignore[arg-type]
    (folder / "some.key").write_bytes(certificates.key_pem(key))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "some.pem", folder / "some.key")
    return context


@pytest.mark.parametrize("whose", ["another floor", "a unit", "a unit called so", "the link"])
def test_no_password_goes_to_what_is_no_manager_of_this_floor(
    ends: Ends, tmp_path: Path, whose: str
) -> None:
    """Catches: a certificate that is not checked, or checked after the password was sent."""
    ca, ca_key = ends.identity.load_issuer()
    key, now = certificates.new_key(), datetime.now(UTC)
    if whose == "another floor":
        other_key = certificates.new_key()
        other = certificates.make_ca(other_key)
        issued = certificates.issue_web(other, other_key, key, ["127.0.0.1"], now)
    elif whose == "the link":
        issued = certificates.issue_manager(ca, ca_key, key)
    else:
        name = "UF-1" if whose == "a unit" else certificates.WEB_NAME
        issued = certificates.issue_unit(ca, ca_key, name, key.public_key())
    heard = bytearray()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.read(65536))
        writer.close()

    with pytest.raises(LedgerError, match="is no manager of this floor"):
        asyncio.run(ask_another(ends, context_of(tmp_path, issued, key), listen))
    assert SECRET not in heard


def test_no_password_is_sent_in_clear(ends: Ends) -> None:
    heard = bytearray()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.read(65536))
        writer.close()

    with pytest.raises(LedgerError, match="have no TLS"):
        asyncio.run(ask_another(ends, None, listen, "http"))
    assert heard == b""


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n" + b" " * 99_999,
    ],
    ids=["nothing", "half", "nonsense", "too much"],
)
def test_an_answer_that_is_none_lets_nobody_in(ends: Ends, sent: bytes) -> None:
    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(65536)
        writer.write(sent)
        writer.close()

    context = pages_tls(ends.north, (), "127.0.0.1")
    with pytest.raises(LedgerError, match="north did not answer"):
        asyncio.run(ask_another(ends, context, say))


def test_a_yes_that_cannot_be_read_lets_nobody_in(ends: Ends) -> None:
    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(65536)
        body = b'{"done": 1, "sentence": "Olga", "wait_s": 0}'
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        writer.close()

    context = pages_tls(ends.north, (), "127.0.0.1")
    with pytest.raises(LedgerError, match="cannot be read"):
        asyncio.run(ask_another(ends, context, say))


def silent(ends: Ends, came: asyncio.Event | None = None) -> tuple[ssl.SSLContext, Conversation]:
    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if came is not None:
            came.set()
        await reader.read(-1)
        writer.close()

    return pages_tls(ends.north, (), "127.0.0.1"), say


def test_an_owner_that_is_silent_is_waited_for_only_so_long(
    ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manager.owner_line, "ANSWER_MAX_S", 0.3)
    with pytest.raises(LedgerError, match="north did not answer"):
        asyncio.run(ask_another(ends, *silent(ends)))


def test_who_waits_is_told_at_once_when_this_manager_takes_over(ends: Ends) -> None:
    """Catches: somebody whose browser is cut off without a word, or who holds the takeover up."""

    async def scene() -> str:
        came = asyncio.Event()
        asking = asyncio.create_task(ask_another(ends, *silent(ends, came)), name="asking")
        await came.wait()
        async with asyncio.timeout(5):
            await ends.line.give_way()
            with pytest.raises(LedgerError) as told:
                await asking
        await ends.line.give_way()  # nobody waits
        return str(told.value)

    assert "north did not answer" in asyncio.run(scene())


def test_only_so_many_wait_at_once(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches: a flood at a manager that stands by, which fills the pages of the owner."""
    monkeypatch.setattr(manager.owner_line, "UNDER_WAY_MAX", 1)

    async def scene() -> None:
        came = asyncio.Event()
        asking = asyncio.create_task(ask_another(ends, *silent(ends, came)), name="asking")
        await came.wait()
        with pytest.raises(LedgerError, match="Too many people"):
            await ends.line.ask(OLGA)
        await ends.line.give_way()
        await asyncio.gather(asking, return_exceptions=True)

    asyncio.run(scene())
