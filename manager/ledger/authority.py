"""Whether a win may be booked on the authority that was given for it.

Judges by the manager's own record of a card, never by the role the unit reports. The authority a
claim needs was fixed when its amount was quoted, so that what the table showed still holds when
other tables' contributions arrive in between.
"""

from __future__ import annotations

from manager.ledger.claims import LOGGED_BY_UNIT, Claim
from manager.ledger.errors import Refused
from manager.ledger.rules import ROLE_NAMES, TableRules
from manager.ledger.wins import Authorisation
from protocol.errors import ErrorCode
from protocol.events import METHOD_CARD, METHOD_DEALER, Commit
from protocol.rows import ROLE_DEALER, ROLE_SUPERVISOR
from protocol.settings import WORKFLOW_KEYPAD


def authorise(rules: TableRules, claim: Claim, commit: Commit) -> Authorisation:
    """The authorisation to record, or a refusal that leaves the claim open."""
    if commit.method == METHOD_DEALER:
        return _by_dealer(claim, commit)
    if commit.method == METHOD_CARD:
        return _by_card(rules, claim, commit)
    return _by_key(rules, claim, commit)


def _by_dealer(claim: Claim, commit: Commit) -> Authorisation:
    if claim.role != ROLE_DEALER:
        raise _refused(f"Claim {claim.number} needs {ROLE_NAMES[claim.role]} authority.")
    return Authorisation(commit.method, "Dealer", ROLE_DEALER)


def _by_card(rules: TableRules, claim: Claim, commit: Commit) -> Authorisation:
    card = rules.card(commit.card_digest)
    if card is None:
        raise _refused("The card is not known at this table.")
    if card.role != commit.role:
        raise _refused(f"The unit reports another role than {card.label} has.")
    if card.role < claim.role:
        raise _refused(f"Claim {claim.number} needs {ROLE_NAMES[claim.role]} authority.")
    return Authorisation(commit.method, card.label, card.role)


def _by_key(rules: TableRules, claim: Claim, commit: Commit) -> Authorisation:
    """The supervisor key stands for every level on a keypad table, where the win was logged."""
    if rules.settings.workflow != WORKFLOW_KEYPAD or claim.logged_by != LOGGED_BY_UNIT:
        raise _refused("Only a win logged on a keypad table can be authorised by key.")
    return Authorisation(commit.method, "Supervisor key", ROLE_SUPERVISOR)


def _refused(sentence: str) -> Refused:
    return Refused(sentence, ErrorCode.CARD_REFUSED)
