"""Whether a win may be booked on the authority that was given for it.

Judges by the manager's own record of a card, never by the role the unit reports. The authority a
claim needs was fixed when its amount was quoted, so that what the table showed still holds when
other tables' contributions arrive in between. What a card or key at the table is not enough for
waits until two people at the manager have approved it.
"""

from __future__ import annotations

from kit.words.numbers import money
from manager.ledger.claims import LOGGED_BY_UNIT, ClaimRecord
from manager.ledger.errors import BookingRefused
from manager.ledger.rules import ROLE_NAMES, TableRules
from manager.ledger.swipes import SwipedCard
from manager.ledger.wins import Authorisation
from protocol.numbers import METHOD_CARD, METHOD_DEALER, ROLE_DEALER, WORKFLOW_KEYPAD
from protocol.wire.errors import ErrorCode
from protocol.wire.events import Commit


def authorise(
    rules: TableRules,
    claim: ClaimRecord,
    commit: Commit,
    card: SwipedCard | None,
    is_approved: bool,
) -> Authorisation:
    """The authorisation to record, or a refusal that leaves the claim open.

    `card` is the one whose ticket the commit names.
    """
    if commit.method == METHOD_DEALER:
        given = _by_dealer(claim, commit)
    elif commit.method == METHOD_CARD:
        given = _by_card(claim, commit, card)
    else:
        given = _by_key(rules, claim, commit)
    # Asked last: two people at the manager add to what was given at the table. Without a card, the
    # key or the dealer's own limit there is nothing that they could approve.
    if not is_approved:
        _ask_for_approval(rules, claim, given)
    return given


def _ask_for_approval(rules: TableRules, claim: ClaimRecord, given: Authorisation) -> None:
    confirm_from, total = rules.authority.confirm_from_cents, claim.total_cents
    if given.role < claim.role:
        raise BookingRefused(
            f"Claim {claim.number} needs {ROLE_NAMES[claim.role]} authority: two people approve it "
            "at the Game Manager. Please wait.",
            ErrorCode.APPROVAL,
        )
    if confirm_from and total >= confirm_from:
        raise BookingRefused(
            f"Claim {claim.number} of {money(total)} needs a second confirmation: two "
            "people approve it at the Game Manager. Please wait.",
            ErrorCode.APPROVAL,
        )


def _by_dealer(claim: ClaimRecord, commit: Commit) -> Authorisation:
    if claim.role != ROLE_DEALER:
        raise _refused(f"Claim {claim.number} needs {ROLE_NAMES[claim.role]} authority.")
    return Authorisation(commit.method, "Dealer", ROLE_DEALER)


def _by_card(claim: ClaimRecord, commit: Commit, card: SwipedCard | None) -> Authorisation:
    if card is None:
        raise _refused(f"No card was swiped for claim {claim.number}.")
    # The unit was told this card's role with its ticket. One that says another is not believed.
    if card.role != commit.role:
        raise _refused(f"The unit reports another role than {card.label} has.")
    if card.role < claim.role:
        raise _refused(f"Claim {claim.number} needs {ROLE_NAMES[claim.role]} authority.")
    return Authorisation(commit.method, card.label, card.role)


def _by_key(rules: TableRules, claim: ClaimRecord, commit: Commit) -> Authorisation:
    """The key stands for the role that the table's file gives it, where the win was logged."""
    # A key leaves no trace of who turned it, so it counts only where J-POT had frozen the amount
    # before: nothing can be chosen any more while the key is turned.
    if rules.settings.workflow != WORKFLOW_KEYPAD or claim.logged_by != LOGGED_BY_UNIT:
        raise _refused("Only a win logged on a keypad table can be authorised by key.")
    role = rules.authority.key_role
    return Authorisation(commit.method, key_name(rules), role)


def key_name(rules: TableRules) -> str:
    """What the records call the table's key."""
    return f"{ROLE_NAMES[rules.authority.key_role].title()} key"


def _refused(sentence: str) -> BookingRefused:
    return BookingRefused(sentence, ErrorCode.CARD_REFUSED)
