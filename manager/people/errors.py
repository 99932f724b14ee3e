"""Why a person is not let in, or may not do what they ask."""

from __future__ import annotations

from manager.ledger.errors import LedgerError


class NotAllowed(LedgerError):  # noqa: N818
    """Somebody who is known asks for what is not theirs to ask."""


class NotKnown(LedgerError):  # noqa: N818
    """A name, a password or a code that does not fit; the sentence says no more than that."""


class TooSoon(NotKnown):
    """Tried too often; `wait_s` says for how long nothing is listened to."""

    def __init__(self, wait_s: int) -> None:
        super().__init__(f"Too many tries. Wait {wait_s} seconds, then try again.")
        self.wait_s = wait_s
