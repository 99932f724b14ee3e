"""Alarms by webhook and e-mail, to real servers on loopback: retried, and never lost."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

from kit.config import ConfigError
from manager.alerts.delivery import (
    BACKLOG_MAX,
    FAILED,
    PAUSE_MAX_S,
    Delivered,
    Delivery,
)
from manager.alerts.senders import SIGNATURE, signature
from manager.alerts.settings import Destination, Email, Webhook, read_alerts
from manager.identity.folder import IdentityFolder
from manager.ledger.alarms import Alarms
from manager.ledger.store.entries import EventSource
from tests.kit.pretend_books import Books

SECRET = "eight aces and a king"


class Hook:
    """A real HTTP server that answers with the codes it is told, and keeps what came."""

    def __init__(self) -> None:
        self.codes: list[int] = []
        self.got: list[tuple[dict[str, str], bytes]] = []
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                code = hook.codes.pop(0) if hook.codes else 204
                hook.got.append((dict(self.headers), body))
                self.send_response(code)
                self.send_header("location", "/elsewhere")
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def destination(self, **more: Any) -> Webhook:
        port = self.server.server_address[1]
        return Webhook("pager", f"http://127.0.0.1:{port}/in?to=1", SECRET, **more)

    def numbers(self) -> list[list[int]]:
        return [[each["number"] for each in json.loads(body)["alarms"]] for _, body in self.got]

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def hook() -> Iterator[Hook]:
    hook = Hook()
    yield hook
    hook.close()


class Rig:
    """A delivery whose pauses are noted and not waited for."""

    def __init__(self, books: Books, data: Path) -> None:
        self.books = books
        self.data = data
        self.alarms: Alarms = books.manager.book.alarms
        self.pauses: list[float] = []

    def delivery(self, destination: Destination, **more: Any) -> Delivery:
        async def wait(seconds: float) -> None:
            self.pauses.append(seconds)

        return Delivery(
            destination, self.alarms, self.books.store, Delivered(self.data), wait=wait, **more
        )

    def record(self, code: str = "FORK", sentence: str = "Two of them.") -> None:
        self.alarms.record(code, sentence, "touch-1", EventSource("UF-1"))


@pytest.fixture
def rig(books: Books, tmp_path: Path) -> Rig:
    return Rig(books, tmp_path)


def steps(delivery: Delivery, count: int = 1) -> None:
    async def run() -> None:
        for _ in range(count):
            await delivery.step()

    asyncio.run(run())


def test_an_alarm_is_posted_once_and_signed(rig: Rig, hook: Hook) -> None:
    rig.record()
    delivery = rig.delivery(hook.destination())  # who is new is not told of the past
    steps(delivery)
    assert hook.got == []
    rig.record("FORK", "Two of\nthem.")
    rig.record("PEOPLE", "Somebody did what they may.")  # a notice: below this destination
    steps(delivery, 3)
    ((headers, body),) = hook.got
    assert headers[SIGNATURE] == signature(SECRET, body)
    assert headers["Idempotency-Key"] == "2-2"
    (alarm,) = json.loads(body)["alarms"]
    assert (alarm["number"], alarm["severity"], alarm["unit"]) == (2, "critical", "UF-1")
    assert Delivered(rig.data).get("pager") == 3
    assert delivery.waiting == 0


def test_what_is_not_taken_is_sent_again_with_longer_pauses(rig: Rig, hook: Hook) -> None:
    """Catches: an alarm that is given up after a failed try, or a redirect that is followed."""
    delivery = rig.delivery(hook.destination())
    rig.record()
    hook.codes = [500, 302, 404, 503]
    steps(delivery, 5)
    assert hook.numbers() == [[1]] * 5
    assert rig.pauses == [5.0, 10.0, 20.0, 40.0]
    # The page says that nobody is paged; the pager itself is not told of its own trouble.
    assert [each.code for each in rig.alarms.newest(1)] == [FAILED]
    assert "answered with status 404" in rig.alarms.newest(1)[0].sentence
    steps(delivery, 2)
    assert len(hook.got) == 5
    assert delivery.waiting == 0


def test_nothing_is_lost_at_a_restart_and_only_the_unsure_is_repeated(
    rig: Rig, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: a note of what was taken that is written before it was."""
    delivery = rig.delivery(hook.destination())
    rig.record()
    steps(delivery)
    rig.record()

    def power_cut(self: Delivered, name: str, number: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Delivered, "keep", power_cut)
        with pytest.raises(KeyboardInterrupt):
            steps(delivery)
    rig.record()
    again = rig.delivery(hook.destination())
    steps(again, 2)
    assert hook.numbers() == [[1], [2], [2, 3]]
    assert [headers["Idempotency-Key"] for headers, _ in hook.got] == ["1-1", "2-2", "2-3"]


def test_a_long_silence_is_bounded(rig: Rig, hook: Hook) -> None:
    delivery = rig.delivery(hook.destination())
    for _ in range(BACKLOG_MAX + 30):
        rig.record()
    steps(delivery, BACKLOG_MAX // 20)
    sizes = [len(numbers) for numbers in hook.numbers()]
    assert sizes == [20] * (BACKLOG_MAX // 20)
    assert json.loads(hook.got[0][1])["skipped"] == 30
    assert json.loads(hook.got[1][1])["skipped"] == 0
    assert hook.numbers()[-1][-1] == BACKLOG_MAX + 30
    assert max(rig.pauses, default=0) <= PAUSE_MAX_S


def test_nothing_leaves_before_it_is_durable(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches: an alarm that is paged and that a power cut then takes back."""
    said: list[str] = []

    async def until_durable(number: int | None = None) -> None:
        said.append("durable")

    monkeypatch.setattr(rig.books.store.commits, "until_durable", until_durable)
    webhook = Webhook("pager", "http://127.0.0.1:1/", SECRET)
    delivery = rig.delivery(webhook, sender=lambda *_: said.append("sent"))
    rig.record()
    steps(delivery)
    assert said == ["durable", "sent"]


# -- mail --------------------------------------------------------------------------------------


class Mailbox:
    """What aiosmtpd hands over, with what it answers."""

    def __init__(self) -> None:
        self.mails: list[Any] = []
        self.answers: list[str] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        answer = self.answers.pop(0) if self.answers else "250 OK"
        if answer.startswith("250"):
            self.mails.append((envelope, message_from_bytes(envelope.content, policy=default)))
        return answer


def mail_settings(port: int, **more: Any) -> Email:
    to = ("cage@casino.example", "night@casino.example")
    options = {"port": port, "security": "plain"} | more
    return Email("mail", "127.0.0.1", "underfelt@casino.example", to, **options)


def mailed(rig: Rig, mailbox: Mailbox, count: int, smtp: dict[str, Any], **settings: Any) -> None:
    """Delivers to an SMTP server that serves on this loop; smtplib speaks on a thread."""

    async def run() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: SMTP(mailbox, **smtp), "127.0.0.1", 0)
        try:
            port = server.sockets[0].getsockname()[1]
            delivery = rig.delivery(mail_settings(port, **settings), place="Harbour\nCasino")
            rig.record("FORK", "Two of them.\r\nBcc: everybody@example.org")
            rig.record("LATE_CHIP", "A chip came late.")
            for _ in range(count):
                await delivery.step()
        finally:
            server.close()
            await server.wait_closed()

    asyncio.run(run())


def test_a_mail_goes_to_everybody_with_the_worst_first(rig: Rig) -> None:
    mailbox = Mailbox()
    mailed(rig, mailbox, 1, {})
    ((envelope, mail),) = mailbox.mails
    assert envelope.rcpt_tos == ["cage@casino.example", "night@casino.example"]
    assert mail["subject"] == "Harbour Casino: critical: FORK at touch-1 and 1 more"
    assert mail["bcc"] is None  # what a stranger said is no header
    text = mail.get_content().replace("\r\n", "\n")
    assert text.index("FORK") < text.index("LATE_CHIP")
    assert "    Two of them.  Bcc: everybody@example.org\n" in text


def test_a_mail_that_is_not_taken_is_sent_again(rig: Rig) -> None:
    """Catches: a mail server that is busy once, and an alarm that nobody ever reads."""
    mailbox = Mailbox()
    mailbox.answers = ["451 Try later", "554 No"]
    mailed(rig, mailbox, 3, {})
    assert len(mailbox.mails) == 1
    assert rig.pauses == [5.0, 10.0]


def test_a_password_is_sent_under_tls_only(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = IdentityFolder(tmp_path)
    folder.ensure()
    folder.ensure_web({"127.0.0.1"}, datetime.now(UTC))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder.web, folder.web_key)
    asked: list[Any] = []

    def authenticate(server: Any, session: Any, envelope: Any, way: str, data: Any) -> AuthResult:
        asked.append(data)
        return AuthResult(success=data == LoginPassword(b"alarms", SECRET.encode()))

    smtp = {"tls_context": context, "require_starttls": True, "authenticator": authenticate}
    account = {"security": "starttls", "user": "alarms", "password": SECRET}
    mailbox = Mailbox()
    mailed(rig, mailbox, 1, smtp, **account)  # a server of an authority that nobody knows
    assert (mailbox.mails, asked) == ([], [])
    monkeypatch.setenv("SSL_CERT_FILE", str(folder.ca))
    mailed(rig, mailbox, 1, smtp, **account)
    assert len(mailbox.mails) == 1


# -- the file ----------------------------------------------------------------------------------

FILE = f"""
[[webhook]]
name = "pager"
url = "https://pager.example/in"
secret = "{SECRET}"
severity = "urgent"

[[email]]
name = "cage"
host = "mail.casino.example"
sender = "underfelt@casino.example"
to = ["cage@casino.example"]
user = "alarms"
password = "{SECRET}"
"""


def written(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "alerts.toml"
    path.write_text(text)
    path.chmod(mode)
    return folder


def test_the_file_names_the_destinations(tmp_path: Path) -> None:
    assert read_alerts(tmp_path) == ()
    pager, cage = read_alerts(written(tmp_path, FILE))
    assert (pager.name, pager.severity.name) == ("pager", "URGENT")
    assert isinstance(cage, Email)
    assert (cage.port, cage.security) == (587, "starttls")


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("https://pager", "ftp://pager", r"webhook\[1\]\.url: must be an address"),
        ("https://pager", "https://me:secret@pager", r"webhook\[1\]\.url: must be an address"),
        ('"urgent"', '"dire"', r"severity: \"dire\" is not known; known are notice"),
        ('name = "cage"', 'name = "pager"', "Two destinations are called pager"),
        ('["cage@casino.example"]', '["cage"]', r"email\[1\]\.to\[1\]: must be a mail address"),
        ('["cage@casino.example"]', "[]", r"to: must have at least one address"),
        ('user = "alarms"', "", r"password: a user and a password come together"),
        ('user = "alarms"', 'user = "a"\nsecurity = "plain"', "never sent in the plain"),
    ],
)
def test_what_is_wrong_in_the_file_is_told_and_no_secret_with_it(
    tmp_path: Path, before: str, after: str, sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence) as refused:
        read_alerts(written(tmp_path, FILE.replace(before, after)))
    assert SECRET not in str(refused.value)


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can be read by others"):
        read_alerts(written(tmp_path, FILE, 0o640))


def test_a_damaged_note_sends_from_now_on(rig: Rig, hook: Hook) -> None:
    rig.record()
    (rig.data / "alerts-delivered.json").write_text("[]")
    delivery = rig.delivery(hook.destination())
    rig.record()
    steps(delivery)
    assert hook.numbers() == [[2]]
