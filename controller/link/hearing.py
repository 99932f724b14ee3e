"""What the manager said, passed on to whom it concerns: one message after another.

It alone knows which message goes where, and when a state is complete. It decides nothing about a
round, and it sends nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from controller.link.bundle_parts import BundleParts
from controller.link.owner import LinkOwner
from controller.link.program_fetch import ProgramFetch
from controller.link.verdicts import Verdicts
from hal import aio
from protocol.wire import messages
from protocol.wire.errors import ErrorCode, ProtocolError

log = logging.getLogger("controller.link")


class SentOn(Exception):  # noqa: N818
    """Another manager serves this table now."""

    def __init__(self, message: messages.GoTo) -> None:
        super().__init__(message.sentence)
        self.address = message.address


class Hearing:
    def __init__(
        self,
        owner: LinkOwner,
        verdicts: Verdicts,
        bundles: BundleParts,
        programs: ProgramFetch,
        acknowledge: Callable[[int], Awaitable[None]],
    ) -> None:
        self._owner = owner
        self._verdicts = verdicts
        self._bundles = bundles
        self._programs = programs
        self._acknowledge = acknowledge
        self._manager_time: tuple[int, int] | None = None
        self._state: messages.State | None = None  # waits for the events that belong to it
        self._told: list[messages.Event] = []

    def begin(self) -> None:
        """A new conversation: nothing of the last one is waited for."""
        self._state, self._told = None, []

    def manager_now_ms(self) -> int | None:
        """The manager's time as far as it is known: what it said last, and how long ago."""
        if self._manager_time is None:
            return None
        said_ms, at_ticks = self._manager_time
        return said_ms + aio.ticks_diff(aio.ticks_ms(), at_ticks)

    async def hear(self, message: messages.Message) -> None:
        owner = self._owner
        if isinstance(message, messages.Ack):
            # Made for this moment; the amounts are one frame for all tables, and may be older.
            self._manager_time = message.server_time_ms, aio.ticks_ms()
            await self._acknowledge(message.last_sequence)
        elif isinstance(message, messages.Meters):
            owner.meters_arrived([(m[0], m[1], m[2]) for m in message.meters])
        elif isinstance(message, messages.Award):
            await owner.award_arrived(message)
        elif isinstance(message, messages.Committed):
            await owner.committed_arrived(message)
        elif isinstance(message, messages.Reversed):
            await owner.reversed_arrived(message)
        elif isinstance(message, messages.Void):
            await owner.void_arrived(message)
        elif isinstance(message, messages.Verdict):
            self._verdicts.heard(message)
        elif isinstance(message, messages.HandCheck):
            await owner.hand_check_arrived(message)
        elif isinstance(message, messages.CoverAll):
            owner.cover_all_arrived(message)
        elif isinstance(message, messages.Settings):
            await owner.settings_arrived(message.body)
        elif isinstance(message, messages.Error):
            await self._hear_error(message)
        elif isinstance(message, messages.GoTo):
            raise SentOn(message)
        elif isinstance(message, messages.State):
            self._state, self._told = message, []
            await self._hear_state()
        elif isinstance(message, messages.Event) and self._state is not None:
            self._told.append(message)
            await self._hear_state()
        elif isinstance(message, messages.Heartbeat):
            self._bundles.wanted(message.bundle)
            self._programs.offered(message.offer)
        elif isinstance(message, messages.ProgramPart):
            self._programs.take(message)
        else:
            raise ProtocolError(
                ErrorCode.UNEXPECTED, f"A manager does not send {type(message).__name__}."
            )

    async def _hear_state(self) -> None:
        """Passes a state on when all the events that belong to it have come."""
        state = self._state
        if state is not None and len(self._told) == state.event_count:
            self._state = None
            await self._owner.state_arrived(state, self._told)

    async def _hear_error(self, error: messages.Error) -> None:
        if error.claim_number:
            await self._owner.claim_refused(error)
            return
        if error.code in (ErrorCode.COUNTERS, ErrorCode.WAGER):
            self._owner.link_fault(known_code(error.code).name.lower(), error.sentence)
            return
        if error.sequence:
            # The answer to one event: it was kept and acknowledged, and there is no other to wait
            # for. A person hears of it at the manager.
            log.warning("the Game Manager on event %d: %s", error.sequence, error.sentence)
            return
        raise ProtocolError(known_code(error.code), error.sentence)


def known_code(number: int) -> ErrorCode:
    """A newer manager may know codes that this build does not."""
    try:
        return ErrorCode(number)
    except ValueError:
        return ErrorCode.INTERNAL
