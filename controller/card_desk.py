"""Judges a swiped card by the table's settings; too many wrong ones, and none is taken for a while.

It alone knows which card is wrong: one nobody entered, a disabled one, one past its last day.
Whether a right card is enough for the win at hand is the core's business. Wrong cards are journaled
by their salted digest's first digits, so that one card tried often can be told from many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from controller.fault_board import FaultBoard
from hal import aio
from protocol.cards import card_digest
from protocol.settings import CardSetting, TableSettings

DAY_MS = 86_400_000
SHOWN_DIGITS = 8
WRONG_CARD = "WRONG CARD"

UNKNOWN = "This card is not known at this table."
DISABLED = "This card is disabled."
EXPIRED = "This card has expired."


@dataclass(frozen=True)
class Verdict:
    """A right card, or why it is refused and how the refusal is journaled."""

    digest: bytes
    card: CardSetting | None
    refusal: str = ""
    spoken: str = "CARD"


class CardDesk:
    def __init__(self, faults: FaultBoard, now_ms: Callable[[], int]) -> None:
        self._faults = faults
        self._now_ms = now_ms  # the manager's time where it is known
        self._wrong_at: list[int] = []
        self._locked_at: int | None = None
        self._lockout_ms = 0

    def judge(self, settings: TableSettings, account: str) -> Verdict:
        digest = card_digest(settings.card_salt, account)
        self.tick()
        if self._locked_at is not None:
            left_s = (self._lockout_ms - self._age_ms(self._locked_at) + 999) // 1000
            return Verdict(digest, None, f"Too many wrong cards. Wait {left_s} s.")
        card, refusal = self._find(settings, digest)
        if not refusal:
            return Verdict(digest, card)
        self._count(settings, 0)
        return Verdict(digest, None, refusal, f"{WRONG_CARD} {digest.hex()[:SHOWN_DIGITS]}")

    def restore(self, settings: TableSettings, ages_ms: list[int]) -> None:
        """What was counted before a power cut, oldest first: pulling the plug forgives nothing."""
        for age_ms in ages_ms:
            self._count(settings, max(0, age_ms))
        self.tick()

    def tick(self) -> None:
        """Ends a lock-out whose time has passed."""
        if self._locked_at is not None and self._age_ms(self._locked_at) >= self._lockout_ms:
            self._locked_at = None
            self._faults.clear("card-lockout", "card reader")

    def _find(self, settings: TableSettings, digest: bytes) -> tuple[CardSetting | None, str]:
        if digest in settings.disabled_cards:
            return None, DISABLED
        for index, card in enumerate(settings.cards):
            if card.digest == digest:
                return (None, EXPIRED) if self._is_past(settings, index) else (card, "")
        return None, UNKNOWN

    def _is_past(self, settings: TableSettings, index: int) -> bool:
        last_day = settings.card_last_days[index] if settings.card_last_days else 0
        return last_day != 0 and self._now_ms() // DAY_MS > last_day

    def _count(self, settings: TableSettings, age_ms: int) -> None:
        if not settings.wrong_cards_max:
            return
        at = aio.ticks_add(aio.ticks_ms(), -age_ms)
        within_ms = settings.wrong_cards_within_s * 1000
        self._wrong_at = [each for each in self._wrong_at if aio.ticks_diff(at, each) < within_ms]
        self._wrong_at.append(at)
        if len(self._wrong_at) >= settings.wrong_cards_max:
            self._wrong_at = []
            self._locked_at, self._lockout_ms = at, settings.card_lockout_s * 1000
            if self._age_ms(at) < self._lockout_ms:
                sentence = f"Too many wrong cards: none is taken for {settings.card_lockout_s} s."
                self._faults.raise_("card-lockout", "card reader", sentence)

    def _age_ms(self, at: int) -> int:
        return aio.ticks_diff(aio.ticks_ms(), at)
