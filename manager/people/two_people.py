"""What takes two people: one asks, another one who is signed in decides, or it expires.

A request is a row of the ledger, so it waits through a restart. When the second person agrees, the
request is marked and carried out in one step, all or nothing. Nobody decides on what they asked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kit.spelling import is_one_person
from manager.ledger.engines.relations import REQUESTS, Row
from manager.ledger.errors import LedgerError, NeedsTwo
from manager.ledger.store.store import Store
from manager.people import roles
from manager.people.errors import NotAllowed
from manager.people.people import People, Person

WAITS_MS = 30 * 60 * 1000
WAITING_MAX = 100
SECOND_TO_COME = "a second person"

Request = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Waiting:
    number: int
    command: str
    words: dict[str, str]
    asked_by: str
    asked_ms: int
    until_ms: int
    state: str
    decided_by: str
    decided_ms: int
    answer: str


class Preview(NamedTuple):
    sentence: str
    meters: tuple[tuple[str, int, int], ...]  # each that would change: its cents before and after


class _OnlyLooking(Exception):  # noqa: N818
    """Takes back what was only tried."""


class TwoPeople:
    """`book` writes a request into the ledger; `tell` lets the tables hear of it afterwards.

    `shown` is what every meter shows, in cents.
    """

    def __init__(
        self,
        store: Store,
        people: People,
        book: Callable[[Request], str],
        tell: Callable[[Request], None],
        shown: Callable[[], Mapping[str, int]] = dict,
    ) -> None:
        self._store = store
        self._people = people
        self._book = book
        self._tell = tell
        self._shown = shown

    def preview(self, by: Person, request: Request) -> Preview:
        """What would be said and shown if it were done now; nothing is."""
        _check_asker(by, request)
        return self._looked_at(by.name, request)

    def look_again(self, waiting: Waiting) -> Preview:
        """What would be done if the second person agreed now; the books have moved since."""
        return self._looked_at(waiting.asked_by, {"command": waiting.command, **waiting.words})

    def _looked_at(self, asked_by: str, request: Request, second: str = SECOND_TO_COME) -> Preview:
        before, after, sentence = self._shown(), self._shown(), ""
        try:
            with self._store.transaction():
                sentence = self._book({**request, "operator": asked_by, "second": second})
                after = self._shown()
                raise _OnlyLooking
        except _OnlyLooking:
            changes = ((name, before.get(name, 0), cents) for name, cents in after.items())
            return Preview(sentence, tuple(each for each in changes if each[1] != each[2]))

    def needs_two(self, by: Person, request: Request) -> bool:
        """Whether it has to wait: by its kind, or because of how things stand in the books."""
        if roles.needs_two(request):
            return True
        try:
            self._looked_at(by.name, request, second="")
        except NeedsTwo:
            return True
        except LedgerError:
            return False  # who looks at it or asks for it is told why
        return False

    def ask(self, by: Person, request: Request) -> str:
        """Done at once where one person is enough; otherwise it waits for another one."""
        _check_asker(by, request)
        if not self.needs_two(by, request):
            return self._done({**request, "operator": by.name, "second": ""})
        self.preview(by, request)  # what cannot be done needs nobody's approval
        number = self._file(by, request)
        minutes = WAITS_MS // 60_000
        return f"Request {number} waits for a second person, {minutes} minutes at most."

    def ask_together(self, by: Person, second: Person, request: Request) -> str:
        """Both are here, and both have proven who they are."""
        _check_asker(by, request)
        _check_decider(by.name, second, request.get("command", ""))
        return self._done({**request, "operator": by.name, "second": second.name})

    def approve(self, second: Person, number: int) -> str:
        waiting = self._decidable(second, number)
        request = {"command": waiting.command, **waiting.words}
        request |= {"operator": waiting.asked_by, "second": second.name}
        with self._store.transaction():
            sentence = self._book(request)
            self._decide(waiting, "approved", second.name, sentence)
        self._tell(request)
        return sentence

    def refuse(self, second: Person, number: int, why: str = "") -> str:
        waiting = self._decidable(second, number)
        self._decide(waiting, "refused", second.name, why)
        return f"Request {number} is refused."

    def withdraw(self, by: Person, number: int) -> str:
        waiting = self.get(number)
        if not is_one_person(waiting.asked_by, by.name):
            raise NotAllowed(f"Request {number} is not yours to take back.")
        self._check_waiting(waiting)
        self._decide(waiting, "withdrawn", by.name, "")
        return f"Request {number} is taken back."

    # -- reading -----------------------------------------------------------------------------

    def get(self, number: int) -> Waiting:
        row = self._store.get(REQUESTS, number)
        if row is None:
            raise LedgerError(f"There is no request {number}.")
        return _waiting(row)

    def waiting(self) -> list[Waiting]:
        """Those that can still be decided, oldest first."""
        rows = [_waiting(row) for row in self._store.live(REQUESTS)]
        now_ms = self._store.now_ms
        return sorted(
            (each for each in rows if each.state == "waiting" and now_ms < each.until_ms),
            key=lambda each: each.number,
        )

    def problem_for(self, person: Person, waiting: Waiting) -> str:
        """Why this person cannot decide on it, "" when they can."""
        return _problem(waiting.asked_by, person, waiting.command)

    def newest(self, count_max: int) -> list[Waiting]:
        return [_waiting(row) for row in self._store.find(REQUESTS, {}, newest=count_max)]

    def expire(self) -> int:
        """Ends what nobody decided in time, and says so in the chain."""
        late = [_waiting(row) for row in self._store.live(REQUESTS)]
        late = [each for each in late if each.until_ms <= self._store.now_ms]
        for each in late:
            self._decide(each, "expired", "", "Nobody decided in time.")
        return len(late)

    # -- inside ------------------------------------------------------------------------------

    def _done(self, request: Request) -> str:
        sentence = self._book(request)
        self._tell(request)
        return sentence

    def _file(self, by: Person, request: Request) -> int:
        if len(self.waiting()) >= WAITING_MAX:
            raise NotAllowed(f"{WAITING_MAX} requests wait already; decide on some first.")
        command = request["command"]
        words = {name: text for name, text in request.items() if name != "command"}
        with self._store.transaction():
            newest = self._store.newest(REQUESTS)
            number = int(newest[0]) + 1 if newest else 1
            now_ms = self._store.now_ms
            kept = json.dumps(words, sort_keys=True, ensure_ascii=False)
            asked = (by.name, now_ms, now_ms + WAITS_MS)
            self._store.put(REQUESTS, (number, command, kept, *asked, "waiting", "", 0, ""))
            sentence = f"{by.name} asked for {command}: request {number}."
            self._people.act(by.name, "asked", sentence, request=str(number))
        return number

    def _decide(self, waiting: Waiting, state: str, by: str, answer: str) -> None:
        with self._store.transaction():
            now_ms = self._store.now_ms
            self._store.update(
                REQUESTS,
                (waiting.number,),
                state=state,
                decided_by=by,
                decided_ms=now_ms,
                answer=answer,
            )
            sentence = f"Request {waiting.number} of {waiting.asked_by} was {state}"
            sentence += f" by {by}." if by else "."
            self._people.act(by, state, sentence, request=str(waiting.number))

    def _check_waiting(self, waiting: Waiting) -> None:
        if waiting.state != "waiting":
            raise NotAllowed(f"Request {waiting.number} is {waiting.state} already.")
        if waiting.until_ms <= self._store.now_ms:
            raise NotAllowed(f"Request {waiting.number} waited too long and has expired.")

    def _decidable(self, second: Person, number: int) -> Waiting:
        waiting = self.get(number)
        self._check_waiting(waiting)
        _check_decider(waiting.asked_by, second, waiting.command)
        return waiting


def _check_asker(by: Person, request: Request) -> None:
    command = request.get("command", "")
    if not roles.may_ask(by.role, command):
        raise NotAllowed(f"{by.name} is {by.role} and may not ask for {command or 'that'}.")


def _check_decider(asked_by: str, second: Person, command: str) -> None:
    problem = _problem(asked_by, second, command)
    if problem:
        raise NotAllowed(problem)


def _problem(asked_by: str, second: Person, command: str) -> str:
    if is_one_person(asked_by, second.name):
        return f"It needs two different people, not {second.name} twice."
    if not roles.may_decide(second.role, command):
        return f"{second.name} is {second.role} and may not decide on {command}."
    return ""


def _waiting(row: Row) -> Waiting:
    number, command, words, *rest = row
    return Waiting(number, command, json.loads(words), *rest)
