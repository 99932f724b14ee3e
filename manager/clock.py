"""The manager's time: the machine's date, believed only as far as its running clock agrees.

A date that jumps while the manager runs, or that does not fit the last commit at its start, is
told and not followed: time goes on by the running clock, so that gaming days and cards' last days
stay right. A person who knows better starts the manager again, or says so at its start. Who is told
is decided elsewhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

Milliseconds = Callable[[], int]

JUMP_MAX_MS = 5_000  # what network time corrects at once without anybody having to know
HOUR_MS = 3_600_000  # and in how long it may do so again
BACK_MAX_MS = 60_000  # behind the last commit, at a start
CLOSED_MAX_MS = 31 * 86_400_000  # after the last commit, at a start: a house may close for a month

LOOK_EVERY_S = 1.0


class LedgerClock:
    """Called, it is the time to go by. `wall_ms` is the machine's date, `running_ms` its clock."""

    def __init__(self, wall_ms: Milliseconds, running_ms: Milliseconds) -> None:
        self._wall_ms = wall_ms
        self._running_ms = running_ms
        self._time_ms, self._at_ms = wall_ms(), running_ms()  # the last time that was believed
        self._told_off_ms = 0  # by how much the date was off when that was told last
        self._off_ms = 0  # when the date was looked at last
        self._followed_ms = 0.0  # of corrections lately: many small ones are a jump as well
        self._news: list[str] = []

    def __call__(self) -> int:
        running_ms = self._running_ms()
        expected_ms = self._time_ms + running_ms - self._at_ms
        off_ms = self._wall_ms() - expected_ms
        followed_ms = self._followed_lately(running_ms - self._at_ms)
        if max(abs(off_ms), abs(followed_ms + off_ms)) <= JUMP_MAX_MS:
            self._note_agreement()
            self._followed_ms = followed_ms + off_ms
            self._time_ms, self._at_ms = expected_ms + off_ms, running_ms
        elif self._is_news(off_ms):
            self._told_off_ms = off_ms
            self._news.append(
                f"The machine's clock jumped by {_seconds(off_ms)} s. The manager goes on by its"
                " own; if the new time is right, start the manager again."
            )
        self._off_ms = off_ms
        return self._time_ms + running_ms - self._at_ms

    def go_on_from(self, last_commit_ms: int, is_right: bool = False) -> None:
        """At a start: the date must fit the ledger, unless a person says that it is right."""
        now_ms = self._wall_ms()
        if not last_commit_ms or -BACK_MAX_MS <= now_ms - last_commit_ms <= CLOSED_MAX_MS:
            return
        apart_s = _seconds(now_ms - last_commit_ms)
        if is_right and now_ms > last_commit_ms:
            self._news.append(
                f"The machine's clock is {apart_s} s from the last commit; it was said to be right."
            )
            return
        self._time_ms, self._at_ms = last_commit_ms, self._running_ms()
        self._told_off_ms = self._off_ms = now_ms - last_commit_ms
        self._news.append(
            f"The machine's clock is {apart_s} s from the last commit. The manager goes on from"
            " that commit; set the clock, or start it with --clock-is-right."
        )

    def news(self) -> list[str]:
        """What nobody was told yet."""
        news, self._news = self._news, []
        return news

    def _followed_lately(self, elapsed_ms: int) -> float:
        """The corrections that count still; those of an hour ago do not."""
        forgotten_ms = elapsed_ms * JUMP_MAX_MS / HOUR_MS
        if self._followed_ms < 0:
            return min(0.0, self._followed_ms + forgotten_ms)
        return max(0.0, self._followed_ms - forgotten_ms)

    def _is_news(self, off_ms: int) -> bool:
        """A jump always is; a date that goes on creeping, when it is twice as wrong."""
        crept_ms = max(JUMP_MAX_MS, abs(self._told_off_ms))
        jumped = abs(off_ms - self._off_ms) > JUMP_MAX_MS
        return jumped or abs(off_ms - self._told_off_ms) > crept_ms

    def _note_agreement(self) -> None:
        if self._told_off_ms:
            self._told_off_ms = 0
            self._news.append("The machine's clock agrees with the manager's again.")


async def watch(clock: LedgerClock, tell: Callable[[str], None]) -> None:
    """Tells for ever; a jump is known within a second, also while nobody plays."""
    while True:
        clock()
        for sentence in clock.news():
            tell(sentence)
        await asyncio.sleep(LOOK_EVERY_S)


def _seconds(ms: int) -> str:
    return f"{ms // 1000:+d}"
