"""What never leaves the unit in a bundle: PIN hashes, card secrets, tickets, long numbers in logs.

Whatever a bundle takes from settings, journal or logs passes through here. What is withheld is
named as withheld, so that nobody takes it for missing.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any, Final

from controller.journal.records import JournalRecord
from protocol.wire.settings import TableSettings

WITHHELD: Final = "withheld"
TICKET_BYTES: Final = 16
# As long as a card's number or a key in hexadecimal is, whatever a log line may say by mistake.
_SECRET_LOOKING: Final = re.compile(r"(?<![\w])(?:\d[ -]?){12,19}(?![\w])|\b[0-9a-fA-F]{32,}\b")
_PEM: Final = re.compile(r"-----BEGIN.*?-----END[^-]*-----", re.DOTALL)


def plain_settings(settings: TableSettings) -> dict[str, Any]:
    """The settings by name; salts and hashes are withheld, names of technicians are not."""
    plain = asdict(settings)
    plain["card_salt"] = WITHHELD
    plain["techs"] = [{"label": tech.label, "pin": WITHHELD} for tech in settings.techs]
    return plain


def plain_text(text: str) -> str:
    return _SECRET_LOOKING.sub(WITHHELD, _PEM.sub(WITHHELD, text))


def plain_record(record: JournalRecord) -> list[Any]:
    """A record of the journal, with nothing in the place of a card's ticket."""
    body = {
        key: bytes(TICKET_BYTES) if type(value) is bytes and len(value) == TICKET_BYTES else value
        for key, value in record.body.items()
    }
    return [
        record.sequence,
        record.kind,
        body,
        record.monotonic_ms,
        record.wall_ms,
        record.digest,
    ]
