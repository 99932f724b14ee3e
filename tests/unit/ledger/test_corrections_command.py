"""Corrections as an operator types them: with the manager stopped, and while it serves."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from manager.__main__ import main
from manager.control import SOCKET_NAME, ControlDoor, ask
from manager.corrections import correct
from manager.ledger.errors import LedgerError
from protocol.messages import Config, Message, Meters
from protocol.settings import TableSettings
from tests.unit.ledger.books_desk import Books, document
from tests.unit.ledger.serving import serving

BOTH = ("--operator", "Ann", "--second", "Bob")
NAMES = {"operator": "Ann", "second": "Bob"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A ledger with one win, and nobody serving it."""
    books = Books(str(tmp_path / "ledger.sqlite"))
    books.open(document())
    books.start("touch-1", 1, "1A", "2A", "5A")
    books.paid(_5A="four-aces")
    books.end("touch-1", 1)
    books.store.close()
    return tmp_path


def run(data: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main([words[0], "--data", str(data), *words[1:]])
    captured = capsys.readouterr()
    return code, (captured.out + captured.err).strip()


def test_every_correction_can_be_typed(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = [
        run(data, capsys, "reverse-win", "1", "--reason", "wrong-hand", *BOTH),
        run(data, capsys, "record-win", "1", "--hands", "5A=straight-flush", *BOTH),
        run(data, capsys, "adjust", "main", "--add", "5.00", "--reason", "top-up", *BOTH[:2]),
        run(data, capsys, "adjust", "main", "--take", "1.00", "--reason", "malfunction", *BOTH),
        run(data, capsys, "change-terms", "main", "--seed", "300.00", *BOTH),
        run(data, capsys, "set-limit", "main", "9999.00", *BOTH),
        run(data, capsys, "suspend", "main", "--reason", "bank-balance", *BOTH[:2]),
        run(data, capsys, "resume", "main", *BOTH),
    ]
    assert [code for code, _ in said] == [0] * len(said), said
    assert said[0][1] == "Win 1 is reversed by transaction 9."
    assert said[1][1] == "Win 2 is recorded in place of win 1."
    assert said[3][1] == "Jackpot main is adjusted by transaction 14 and shows 1004.75."
    assert said[4][1].endswith("from its next reseed on.")
    assert main(["audit", "--data", str(data)]) == 0


REFUSED = {
    "no second person": (("reverse-win", "1", "--reason", "not-won", "--operator", "A"), "second"),
    "the same person twice": (
        ("reverse-win", "1", "--reason", "not-won", "--operator", "A", "--second", "a"),
        "two different people",
    ),
    "no such reason": (
        ("adjust", "main", "--take", "1.00", "--reason", "mood", *BOTH),
        "allowed for amount-won",
    ),
    "a reason for an increase": (
        ("adjust", "main", "--take", "1.00", "--reason", "top-up", *BOTH),
        "allowed for amount-won",
    ),
    "no amount": (("adjust", "main", "--take", "1", "--reason", "malfunction", *BOTH), "like"),
    "no such jackpot": (("resume", "side", *BOTH), "no meter side"),
    "no such win": (("reverse-win", "x", "--reason", "not-won", *BOTH), "not a whole number"),
    "no hand": (("record-win", "1", "--hands", "5A", *BOTH), "not a winning hand"),
    "closing while open": (("close-jackpot", "main", *BOTH), "must be suspended"),
}


@pytest.mark.parametrize(("words", "sentence"), REFUSED.values(), ids=list(REFUSED))
def test_a_refusal_is_a_sentence_and_changes_nothing(
    data: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], sentence: str
) -> None:
    code, said = run(data, capsys, *words)
    assert code == 2
    assert sentence in said
    books = Books(str(data / "ledger.sqlite"))
    assert books.store.tail()[0] == 8
    books.store.close()


def test_there_must_be_a_ledger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(tmp_path, capsys, "resume", "main", *BOTH)
    assert (code, said) == (2, f"There is no ledger in {tmp_path}.")


ODD_REQUESTS = [{}, {"command": "explode"}, {"command": "resume", "operator": 7}, {1: "x"}]


@pytest.mark.parametrize("request_", ODD_REQUESTS, ids=str)
def test_an_odd_request_is_refused(books: Books, request_: dict[str, str]) -> None:
    with pytest.raises(LedgerError):
        correct(books.manager.book, request_)


# -- while the manager serves ------------------------------------------------------------------


def test_a_serving_manager_takes_corrections_and_nobody_else_may_open_its_door(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(data):
        assert (data / SOCKET_NAME).stat().st_mode & 0o777 == 0o600
        done = run(data, capsys, "suspend", "main", "--reason", "malfunction", *BOTH[:2])
        again = run(data, capsys, "suspend", "main", "--reason", "malfunction", *BOTH[:2])
    assert done == (0, "Jackpot main is suspended: its tables start no game.")
    assert again[0] == 2
    # With the manager gone, its socket leads nowhere and the ledger is opened again.
    assert run(data, capsys, "resume", "main", *BOTH)[0] == 0


class _Line:
    """What the manager sends to one unit."""

    def __init__(self, sent: list[Message]) -> None:
        self._sent = sent

    def send(self, message: Message) -> None:
        self._sent.append(message)

    def send_meters(self) -> None:
        self._sent.append(Meters(1, (), 0))


def test_the_units_are_told_at_once(books: Books, monkeypatch: pytest.MonkeyPatch) -> None:
    books.open(document())
    books.open(document("t2"), "t2")
    sent: list[Message] = []
    lines = {"UF-touch-1": _Line(sent)}
    monkeypatch.setattr(books.manager.server, "connection_of", lines.get)
    books.manager.correct(
        {"command": "suspend", "jackpot": "main", "reason": "malfunction", **NAMES}
    )
    config, _ = sent
    assert isinstance(config, Config)
    assert "suspended" in TableSettings.decode(config.body).stop_sentence


def test_the_door_survives_whatever_is_said_to_it(tmp_path: Path) -> None:
    async def scene() -> list[object]:
        def refuse(request: object) -> str:
            raise LedgerError("No.")

        async def no_copy() -> str:
            raise OSError("No space left on device")

        path = tmp_path / SOCKET_NAME
        door = asyncio.create_task(ControlDoor(path, refuse, no_copy).run())
        answers: list[object] = []
        for line in (
            b'{"command": "copy"}\n',
            b"{}\n",
            b"[]\n",
            b"what?\n",
            b'"' + b"x" * 9_000 + b"\n",
            b"",
        ):
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(line)
            writer.write_eof()
            answers.append(await reader.read())
            writer.close()
        door.cancel()
        await asyncio.gather(door, return_exceptions=True)
        return answers

    answers = asyncio.run(scene())
    sentences = [json.loads(answer)["sentence"] for answer in answers if answer]  # type: ignore[arg-type]
    assert sentences[:4] == [
        "No space left on device",
        "No.",
        "A correction is a map of texts.",
        "A correction is one line of JSON.",
    ]
    assert ask(tmp_path / "elsewhere.sock", {"command": "copy"}) is None
