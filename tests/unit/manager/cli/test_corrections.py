"""Corrections as an operator types them, with the manager stopped."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path

import pytest

from manager.__main__ import main
from manager.control import SOCKET_NAME, ControlDoor, ask
from manager.ledger.corrections.requests import correct
from manager.ledger.errors import LedgerError
from protocol.wire.messages import Message, Meters, Settings
from protocol.wire.settings import TableSettings
from tests.kit.people import people_of_a_folder, type_passwords
from tests.kit.pretend_books import Books, document
from tests.kit.typed_commands import play_one_win, typed

BOTH = ("--operator", "Ann", "--second", "Bob")
NAMES = {"operator": "Ann", "second": "Bob"}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger with one win, and nobody serving it."""
    play_one_win(str(tmp_path / "ledger.sqlite"))
    people_of_a_folder(tmp_path, Ann="executive", Bob="executive")
    type_passwords(monkeypatch, 40)
    return tmp_path


def test_every_correction_can_be_typed(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = [
        typed(data, capsys, "reverse-win", "1", "--reason", "wrong-hand", *BOTH),
        typed(data, capsys, "record-win", "1", "--hands", "5A=straight-flush", *BOTH),
        typed(data, capsys, "adjust", "main", "--add", "5.00", "--reason", "top-up", *BOTH[:2]),
        typed(data, capsys, "adjust", "main", "--take", "1.00", "--reason", "malfunction", *BOTH),
        typed(data, capsys, "change-terms", "main", "--seed", "300.00", *BOTH),
        typed(data, capsys, "set-limit", "main", "9999.00", *BOTH),
        typed(data, capsys, "suspend", "main", "--reason", "bank-balance", *BOTH[:2]),
        typed(data, capsys, "resume", "main", *BOTH),
    ]
    words = ("forgotten-win", "touch-1", "1", "--hands", "2A=three-of-a-kind")
    said.append(typed(data, capsys, *words, "--reason", "misread", *BOTH))
    assert [code for code, _ in said] == [0] * len(said), said
    assert said[-1][1] == "Win 3 of round 1 at touch-1 is recorded: $9.00 at 2A."
    assert said[0][1] == "Win 1 is reversed by transaction 17."
    assert said[1][1] == "Win 2 is recorded in place of win 1."
    assert said[3][1] == "Jackpot main is adjusted by transaction 22 and shows $1,004.75."
    assert said[4][1].endswith("from its next reseed on.")
    assert main(["audit", "--data", str(data)]) == 0


REFUSED = {
    "nobody's account": (
        ("reverse-win", "1", "--reason", "not-won", "--operator", "A", "--second", "B"),
        "name or the password is wrong",
    ),
    "the same person twice": (
        ("reverse-win", "1", "--reason", "not-won", "--operator", "Ann", "--second", "ann"),
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
    "no late reason": (
        ("forgotten-win", "touch-1", "1", "--hands", "2A=four-aces", "--reason", "mood", *BOTH),
        "allowed for not-entered",
    ),
    "closing while open": (("close-jackpot", "main", *BOTH), "must be suspended"),
}


@pytest.mark.parametrize(("words", "sentence"), REFUSED.values(), ids=list(REFUSED))
def test_a_refusal_is_a_sentence_and_changes_nothing(
    data: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], sentence: str
) -> None:
    code, said = typed(data, capsys, *words)
    assert code == 2
    assert sentence in said
    books = Books(str(data / "ledger.sqlite"))
    assert books.store.tail()[0] == 16
    books.store.close()


def test_without_a_second_person_it_waits_for_one(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("reverse-win", "1", "--reason", "not-won", *BOTH[:2])
    code, said = typed(data, capsys, *words)
    assert (code, said) == (0, "Request 1 waits for a second person, 30 minutes at most.")


def test_a_wrong_password_corrects_nothing(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: a name on a command line that counts as a person."""
    monkeypatch.setattr("sys.stdin", io.StringIO("guess\nguess\n"))
    code, said = typed(data, capsys, "reverse-win", "1", "--reason", "not-won", *BOTH)
    assert (code, said) == (2, "The name or the password is wrong.")
    books = Books(str(data / "ledger.sqlite"))
    win = books.manager.book.wins.find(1)
    assert win is not None
    assert win.reversed_by == 0
    books.store.close()


def test_there_must_be_a_ledger(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    type_passwords(monkeypatch)
    code, said = typed(tmp_path, capsys, "resume", "main", *BOTH)
    assert (code, said) == (2, f"There is no ledger in {tmp_path}; start the manager once first.")


ODD_REQUESTS = [{}, {"command": "explode"}, {"command": "resume"}]


@pytest.mark.parametrize("request_", ODD_REQUESTS, ids=str)
def test_an_odd_request_is_refused(books: Books, request_: dict[str, str]) -> None:
    with pytest.raises(LedgerError):
        correct(books.manager.book, request_)


class _Line:
    """What the manager sends to one unit."""

    def __init__(self, sent: list[Message]) -> None:
        self._sent = sent
        self.settings_digest = b""

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
    told, _ = sent
    assert isinstance(told, Settings)
    assert "suspended" in TableSettings.decode(told.body).stop_sentence


def test_a_stop_that_is_taken_back_at_once_is_told_too(
    books: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches: compared with what the unit confirmed. It has heard of the stop, and would stay."""
    books.open(document())
    sent: list[Message] = []
    lines = {"UF-touch-1": _Line(sent)}
    monkeypatch.setattr(books.manager.server, "connection_of", lines.get)
    stop = {"command": "suspend", "reason": "malfunction"}
    for asked in (stop, {"command": "resume"}):
        books.manager.correct({"jackpot": "main", **asked, **NAMES})
    told = [TableSettings.decode(each.body) for each in sent if isinstance(each, Settings)]
    assert [bool(each.stop_sentence) for each in told] == [True, False]


def test_the_door_survives_whatever_is_said_to_it(tmp_path: Path) -> None:
    async def scene() -> list[object]:
        async def refuse(request: object) -> str:
            raise LedgerError("No.")

        path = tmp_path / SOCKET_NAME
        door = asyncio.create_task(ControlDoor(path, refuse).run())
        answers: list[object] = []
        for line in (
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
    assert sentences[:3] == [
        "No.",
        "A request is a map of texts.",
        "A request is one line of JSON.",
    ]
    assert ask(tmp_path / "elsewhere.sock", {"command": "copy"}) is None
