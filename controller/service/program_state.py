"""Whether the unit's program may be changed now, and whether the one that runs has proven itself.

An update asks it before and after. It changes nothing but for the self-test, which closes the table
for its time as a technician's does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from controller.config import UnitConfig
from controller.evidence.black_box import BlackBox
from controller.journal.outbox import Outbox
from controller.keeper import RoundKeeper
from controller.link.identity import IdentityFault, UnitIdentity
from controller.service.admission import ServiceRefused
from controller.service.idle import BETWEEN_ROUNDS, between_rounds
from controller.service.live.table import LiveTable
from controller.service.own_socket import serve_own
from controller.table.state import TableState
from hal import aio
from kit.own_socket import SELF_TEST, ask_own

ASKED_BY = "update"
ASKED_BYTES_MAX = 32
ANSWER_BYTES_MAX = 65536  # each part of a large table may have failed
PATIENCE_S = 240.0
LOOK_EVERY_MS = 200
PASSED, NOT_PASSED = 0, 1


class ProgramState:
    """`is_resumed` tells that the journal was opened, checked and read."""

    def __init__(
        self,
        is_resumed: Callable[[], bool],
        keeper: RoundKeeper,
        table: TableState,
        outbox: Outbox,
        black_box: BlackBox,
        service: LiveTable,
    ) -> None:
        self._is_resumed = is_resumed
        self._keeper = keeper
        self._table = table
        self._outbox = outbox
        self._black_box = black_box
        self._service = service

    def busy(self) -> str:
        """Why a change of the program has to wait, "" when nothing stands against it."""
        if not self._is_resumed():
            return "The table is starting."
        if self._keeper.live_state.round_open:
            return "A game is being played."
        if self._keeper.training is not None:
            return "A training is under way."
        if self._table.service.is_on:
            return "A technician has the table in service."
        if self._table.is_shut_out():
            return (
                "The Game Manager has locked this unit: it is kept as it is until that is cleared."
            )
        if self._black_box.is_taking:
            return "The evidence of the last game is being kept."
        if self._outbox.backlog:
            return "Events wait for the Game Manager."
        return ""

    def unproven(self) -> str:
        """What the program that runs lacks, "" when it has all that a table needs."""
        if not self._is_resumed():
            return "The journal is not read yet."
        stopping = self._table.faults.stopping()
        if stopping:
            return stopping[0]
        if not self._table.link_up:
            return "The Game Manager has not welcomed it yet."
        return ""

    async def self_test(self) -> str:
        """Every part tried while the table is closed: which failed, "" for none."""
        acts, mode = self._service.acts, self._service.mode
        await acts.enter(ASKED_BY)
        try:
            acts.begin_selftest()
            while mode.is_working:
                mode.seen()
                await aio.sleep_ms(LOOK_EVERY_MS)
            if mode.work_sentence:
                return mode.work_sentence
            verdicts = acts.view()["selftest"]
        finally:
            await mode.leave()
        failed = [f"{each['part']}: {each['sentence']}" for each in verdicts if not each["passed"]]
        return " ".join(failed) if verdicts else "The self-test tried nothing."

    async def answer(self, asked: bytes) -> bytes:
        said: dict[str, Any] = {"busy": self.busy(), "unproven": self.unproven()}
        if asked == SELF_TEST:
            try:
                said["failed"] = await self.self_test()
            except ServiceRefused as refusal:
                said["failed"] = str(refusal)
        return json.dumps(said).encode()


def socket_path(data: Path) -> Path:
    return data / "program.sock"


def serve_program_state(data: Path, state: ProgramState) -> Coroutine[Any, Any, None]:
    return serve_own(socket_path(data), state.answer, ASKED_BYTES_MAX, PATIENCE_S)


def show_program_state(config: UnitConfig, data: Path, self_test: bool) -> int:
    """One line of JSON for the updater. No answer is a refusal and never "all is well"."""
    try:
        UnitIdentity(data).check(config.board.serial)
    except IdentityFault:
        # A table that nobody has set up: only its pages run, and there is nothing to lose.
        if between_rounds(config) != BETWEEN_ROUNDS:
            raise ServiceRefused("A unit without a certificate plays a game.") from None
        print(json.dumps({"enrolled": False, "busy": "", "unproven": ""}))
        return PASSED
    asked = SELF_TEST if self_test else b""
    try:
        answer = ask_own(socket_path(data), asked, ANSWER_BYTES_MAX, PATIENCE_S)
        said = json.loads(answer) if answer else None
    except (OSError, ValueError) as error:
        raise ServiceRefused(f"The table does not answer: {error}.") from error
    if said is None:
        raise ServiceRefused("The table does not answer.")
    failed = said.pop("failed", "")
    print(failed or json.dumps({"enrolled": True, **said}))
    return NOT_PASSED if failed else PASSED
