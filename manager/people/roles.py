"""What each role may do: who asks for a correction, who may be its second person, who sees what.

It alone knows this. A role is one word in a person's row; whoever has none of a page's roles does
not get the page, whatever else they are.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping


class Role(enum.StrEnum):
    OPERATOR = "operator"
    SUPERVISOR = "supervisor"
    EXECUTIVE = "executive"
    CAGE = "cage"
    SURVEILLANCE = "surveillance"
    AUDITOR = "auditor"
    ADMIN = "admin"


Roles = frozenset[Role]

EVERYBODY: Roles = frozenset(Role)
STAMPERS: Roles = frozenset({Role.CAGE, Role.SUPERVISOR, Role.EXECUTIVE})
ALARM_TAKERS: Roles = frozenset(Role) - {Role.AUDITOR, Role.ADMIN}
PEOPLE_KEEPERS: Roles = frozenset({Role.ADMIN})
UNIT_KEEPERS: Roles = frozenset({Role.ADMIN, Role.OPERATOR, Role.EXECUTIVE})
# A bundle holds a table's journal: it is for who looks after tables.
BUNDLE_TAKERS: Roles = UNIT_KEEPERS | {Role.SUPERVISOR}
_FLOOR = frozenset({Role.SUPERVISOR, Role.EXECUTIVE})
_OFFICE = frozenset({Role.OPERATOR, Role.EXECUTIVE})
_BOTH = _FLOOR | _OFFICE

# Each command: who may ask for it, and who may be the second person.
_MAY: Mapping[str, tuple[Roles, Roles]] = {
    "approve-win": (_BOTH, _FLOOR),
    "refuse-win": (_BOTH, _FLOOR),
    "reverse-win": (_BOTH, _FLOOR),
    "back-out": (_BOTH, _FLOOR),
    "void-game": (_BOTH, _FLOOR),
    "record-win": (_BOTH, _FLOOR),
    "forgotten-win": (_BOTH, _FLOOR),
    "adjust": (_OFFICE, _FLOOR | {Role.CAGE}),
    "change-terms": (_OFFICE, frozenset({Role.EXECUTIVE})),
    "set-limit": (_OFFICE, frozenset({Role.EXECUTIVE})),
    "suspend": (_BOTH | {Role.CAGE}, _FLOOR),
    "resume": (_BOTH, _FLOOR),
    "close-jackpot": (_OFFICE, frozenset({Role.EXECUTIVE})),
    "open-table": (_OFFICE, frozenset({Role.EXECUTIVE})),
    "accept-restore": (_OFFICE, frozenset({Role.EXECUTIVE})),
    "release-unit": (_BOTH | {Role.ADMIN}, _FLOOR | {Role.SURVEILLANCE}),
    "adopt-journal": (_BOTH | {Role.ADMIN}, _FLOOR | {Role.SURVEILLANCE}),
    "replace-unit": (_BOTH | {Role.ADMIN}, _FLOOR | {Role.SURVEILLANCE}),
    "roll-out": (_OFFICE | {Role.ADMIN}, frozenset({Role.EXECUTIVE})),
    "go-on-roll-out": (_OFFICE | {Role.ADMIN}, frozenset({Role.EXECUTIVE})),
    "stop-roll-out": (_BOTH | {Role.ADMIN}, frozenset({Role.EXECUTIVE})),
    "add-update": (_OFFICE | {Role.ADMIN}, frozenset({Role.EXECUTIVE})),
    "remove-update": (_OFFICE | {Role.ADMIN}, frozenset({Role.EXECUTIVE})),
    "add-card": (_OFFICE | {Role.ADMIN}, frozenset({Role.EXECUTIVE})),
    "change-card": (_OFFICE | {Role.ADMIN}, frozenset({Role.EXECUTIVE})),
    "retire-card": (_BOTH | {Role.ADMIN}, frozenset({Role.EXECUTIVE})),
    "add-tech": (_OFFICE | {Role.ADMIN}, frozenset({Role.EXECUTIVE})),
    "change-tech": (_OFFICE | {Role.ADMIN}, frozenset({Role.EXECUTIVE})),
    "retire-tech": (_BOTH | {Role.ADMIN}, frozenset({Role.EXECUTIVE})),
}
COMMANDS = tuple(_MAY)
# One person is enough to stop play or a roll-out, to take a card away and to let a tech in; the
# ledger may still ask for two, as where a locked unit is replaced. Adding the house's own money is
# one more.
_ALONE = frozenset(
    {
        *("suspend", "adopt-journal", "retire-card", "add-tech", "change-tech", "retire-tech"),
        *("add-update", "remove-update", "stop-roll-out", "replace-unit"),
    }
)

ASKERS: Roles = frozenset().union(*(asks for asks, _ in _MAY.values()))
DECIDERS: Roles = frozenset().union(*(decides for _, decides in _MAY.values()))


def may_ask(role: Role, command: str) -> bool:
    return command in _MAY and role in _MAY[command][0]


def may_decide(role: Role, command: str) -> bool:
    return command in _MAY and role in _MAY[command][1]


def deciders(command: str) -> Roles:
    return _MAY[command][1]


def needs_two(request: Mapping[str, str]) -> bool:
    """True when nothing is done before a second person agrees; the ledger asks for it again."""
    command = request.get("command", "")
    return command not in _ALONE and not (command == "adjust" and "add" in request)
