"""Units and their certificates as the page shows them, and what an operator does about them.

The certificates are the list of identities'; tables and links are the manager's own. A unit is
approved by the digits that it shows, and signed for by a process of its own.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from manager.identity.registry import Certificate
from manager.identity.requests import Identities
from manager.identity.signing_child import sign_beside

View = dict[str, Any]
Request = Mapping[str, str]


class UnitsView:
    """`carry_out` does what is asked about identities, and cuts off who no longer counts."""

    def __init__(
        self, identities: Identities, carry_out: Callable[[Request], str], data: Path
    ) -> None:
        self._identities = identities
        self._carry_out = carry_out
        self._data = data

    def fingerprint(self) -> str:
        return self._identities.folder.ca_fingerprint()

    def waiting(self) -> list[View]:
        return [
            {"unit": each.unit_id, "table": each.table_id, "since_ms": each.received_ms}
            for each in self._identities.enrolments.waiting()
        ]

    def certificates(self, unit_id: str) -> list[View]:
        return [_row(each) for each in self._identities.registry.of_unit(unit_id)]

    def unit_ids(self) -> list[str]:
        return self._identities.registry.unit_ids()

    async def approve(self, unit_id: str, match: str) -> str:
        named = {"unit": unit_id, "match": match}
        asked = self._carry_out({"command": "signing-request", **named})
        signed = await sign_beside(self._data, unit_id, base64.b64decode(asked))
        granted = {"certificate": base64.b64encode(signed).decode()}
        return self._carry_out({"command": "grant", **named, **granted})

    def do(self, command: str, **words: str) -> str:
        return self._carry_out({"command": command, **words})


def _row(certificate: Certificate) -> View:
    return {
        "short": certificate.short,
        "issued_ms": certificate.issued_ms,
        "is_used": bool(certificate.first_used_ms),
        "counts": certificate.counts,
        "ended": certificate.ended,
        "ended_ms": certificate.ended_ms,
    }
