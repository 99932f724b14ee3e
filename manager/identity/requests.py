"""What an operator asks about identities, as plain requests: a map of texts in, lines of text out.

The manager that serves carries them out; while none serves, the operator's own process does. A
certificate is signed by that process alone, so that serving tables never opens the CA's key: it
gets the unit's request from here and brings the certificate back.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from manager.identity.enrolments import Enrolments
from manager.identity.errors import IdentityError
from manager.identity.folder import IdentityFolder
from manager.identity.registry import Certificate, Registry

Request = Mapping[str, str]


class Identities(NamedTuple):
    """What a request about identities may need."""

    enrolments: Enrolments
    registry: Registry
    folder: IdentityFolder
    table_ids: Callable[[], Sequence[str]]


def carry_out(identities: Identities, request: Request) -> str:
    """What was done, or what there is; a refusal is an IdentityError with its sentence."""
    return COMMANDS[request["command"]](identities, request)


def _enrol_code(identities: Identities, request: Request) -> str:
    table_id, known = _need(request, "table"), identities.table_ids()
    if table_id not in known:
        there = f"there are {', '.join(sorted(known))}" if known else "there is none yet"
        raise IdentityError(f"This manager serves no table {table_id}; {there}.")
    return (
        f"code            {identities.enrolments.codes.make(table_id)}\n"
        f"ca-fingerprint  {identities.folder.ca_fingerprint()}\n"
        f"for table {table_id}, once, within 15 minutes"
    )


def _waiting(identities: Identities, request: Request) -> str:
    return "\n".join(
        f"{pending.unit_id}  table {pending.table_id}"
        for pending in identities.enrolments.waiting()
    )


def _signing_request(identities: Identities, request: Request) -> str:
    to_sign = identities.enrolments.signing_request(_need(request, "unit"), _need(request, "match"))
    return base64.b64encode(to_sign).decode()


def _grant(identities: Identities, request: Request) -> str:
    unit_id, match = _need(request, "unit"), _need(request, "match")
    try:
        certificate = base64.b64decode(_need(request, "certificate"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise IdentityError("The certificate cannot be read.") from error
    fingerprint = identities.enrolments.grant(unit_id, match, certificate)
    return f"Unit {unit_id} is enrolled with certificate {fingerprint}."


def _refuse(identities: Identities, request: Request) -> str:
    unit_id = _need(request, "unit")
    identities.enrolments.deny(unit_id)
    return f"Unit {unit_id} was refused."


def _revoke(identities: Identities, request: Request) -> str:
    unit_id = _need(request, "unit")
    count = identities.registry.revoke(unit_id, _need(request, "reason"))
    return f"{count} certificate(s) of unit {unit_id} were revoked."


def _retire(identities: Identities, request: Request) -> str:
    unit_id = _need(request, "unit")
    return "\n".join(
        f"The certificate {certificate.short} of unit {unit_id} was retired."
        for certificate in identities.registry.retire(unit_id)
    )


def _units(identities: Identities, request: Request) -> str:
    lines = [f"ca-fingerprint  {identities.folder.ca_fingerprint()}"]
    for unit_id in identities.registry.unit_ids():
        lines.append(unit_id)
        lines += [
            f"  certificate {each.fingerprint}  {_standing(each)}"
            for each in identities.registry.of_unit(unit_id)
        ]
    keys = identities.registry.seal_keys()
    return "\n".join([*lines, *(f"seal-key {unit}={key.hex()}" for unit, key in keys)])


COMMANDS: dict[str, Callable[[Identities, Request], str]] = {
    "enrol-code": _enrol_code,
    "waiting": _waiting,
    "signing-request": _signing_request,
    "grant": _grant,
    "refuse-unit": _refuse,
    "revoke": _revoke,
    "retire": _retire,
    "units": _units,
}


def _need(request: Request, name: str) -> str:
    value = request.get(name, "")
    if not value.strip():
        raise IdentityError(f"The request needs {name}.")
    return value


def _standing(certificate: Certificate) -> str:
    issued = f"issued {_day(certificate.issued_ms)}"
    if not certificate.counts:
        return f"{issued}, ended {_day(certificate.ended_ms)}: {certificate.ended}"
    return f"{issued}, {'in use' if certificate.first_used_ms else 'not used yet'}"


def _day(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M")
