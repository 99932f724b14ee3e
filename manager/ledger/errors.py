"""The ledger's own exceptions, each with a sentence for the person who has to act on it."""

from __future__ import annotations

from protocol.wire.errors import ErrorCode


class LedgerError(Exception):
    """An entry or an operation the ledger does not allow; nothing was written."""


class NeedsTwo(LedgerError):  # noqa: N818
    """It could be done, by two people."""


class StoreError(LedgerError):
    """The database is damaged, foreign, in use or of another version: no play until mended."""


class LedgerInUse(StoreError):  # noqa: N818
    """Another process has it, or had it until a moment ago."""


class BookingRefused(LedgerError):  # noqa: N818
    """A request from a table that makes no sense: answered and recorded, without effect."""

    def __init__(self, sentence: str, code: ErrorCode = ErrorCode.CLAIM_REFUSED) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.code = code
