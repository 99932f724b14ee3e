"""Decides how selected hands become a recorded win: confirm or J-POT, award, authority, receipt.

It alone knows who may authorise what and when. Amounts come from the Game Manager; the unit's own
opinion on the role can only make the authority stricter. Manager messages may be repeated at will.
"""

from controller.core.round import events, late_entry, payout, reopening, voiding
from controller.core.round import state as states
from controller.core.round.entry import NO_GAME
from protocol import numbers

MYPY = False
if MYPY:
    from controller.core.round.rules import Rules
    from controller.core.round.state import Claim, RoundState
    from controller.core.round.types import AwardLine, Decision, EnvyLine, Event

ROLE_NAMES = ("DEALER", "SUPERVISOR", "EXECUTIVE")
_NEEDS_CARD = ("", "This win needs a SUPERVISOR card.", "This win needs an EXECUTIVE card.")

NEEDS_KEY = "A supervisor must turn the key to JPH and press J-POT."
RECORDING = "The win is already authorised and is being recorded."

_WHY_NO_CARD = {
    "": "There is no win to authorise.",
    states.STAGE_PREVIEW: "Confirm the hands first, then swipe the card.",
    states.STAGE_PRICING: "The win is not priced yet. Swipe again when the amount is shown.",
    states.STAGE_RETURN_KEY: "This win is authorised by the key: turn it back to RUN.",
    states.STAGE_RECORDING: RECORDING,
}


def confirm(state: "RoundState", rules: "Rules") -> "Decision":
    obstacle = _why_not_claimed(state, rules)
    if obstacle:
        return [], obstacle
    if rules.is_keypad() and not payout.is_within_dealer_limit(rules, state.hands):
        return [], NEEDS_KEY
    return [_claim(state, False)], ""


def jpot(state: "RoundState", rules: "Rules", key_position: str) -> "Decision":
    if not rules.is_keypad():
        return [], "This table has no J-POT key. Press CONFIRM and swipe a card."
    obstacle = _why_not_claimed(state, rules)
    if obstacle:
        return [], obstacle
    if key_position == numbers.KEY_RUN:
        return [], "Turn the supervisor's key to JPH first, then press J-POT."
    if key_position != numbers.KEY_JPH:
        return [], "The key switch shows no clear position. Call service."
    return [_claim(state, True)], ""


def _why_not_claimed(state: "RoundState", rules: "Rules") -> str:
    if not state.round_open:
        return NO_GAME
    if state.claim is not None:
        return RECORDING if state.claim.authorised else "The hands are already confirmed."
    if state.pending_hand:
        return f"{rules.label_of(state.pending_hand)} waits for its seat. Press the seat first."
    if not state.hands:
        return "No winning hand is selected."
    return ""


def _claim(state: "RoundState", frozen: bool) -> "Event":
    lines = payout.pay_order(state.hands)
    return events.claim(state.round_number, state.last_claim_number + 1, lines, frozen)


def cancel(state: "RoundState", rules: "Rules") -> "Decision":
    claim = state.claim
    if state.waits_for_supervisor() and not rules.is_keypad():
        # Nobody has to swipe: the game goes on as it was, with the seat that was chosen.
        kept = state.selected_seat, state.selected_letter, state.pending_hand
        return [events.entry(*kept)], ""
    if not state.round_open:
        return [], NO_GAME
    if claim is None and rules.is_keypad() and rules.key == numbers.KEY_JPH and not state.hands:
        # A keypad has no key for it.
        return voiding.by_key(state, rules, state.void_asked or numbers.VOID_REASONS[0])
    if claim is None:
        return [], "Nothing is confirmed. Press a hand again to take it back."
    if claim.authorised:
        return [], "The win is already authorised and cannot be cancelled here."
    if claim.frozen:
        return [], "A J-POT win cannot be cancelled here. Call the Game Manager's operator."
    return [events.cancel(state.round_number, claim.number)], ""


def award(
    state: "RoundState",
    rules: "Rules",
    claim_number: int,
    lines: "list[AwardLine]",
    envy: "list[EnvyLine]",
    role: int,
    frozen: bool,
) -> "Decision":
    claim = state.claim
    if claim is None or claim.number != claim_number:
        return [], _why_stray(state, claim_number)
    if claim.authorised or _is_known(claim, lines, envy, role, frozen):
        return [], ""
    if claim.amount_frozen:
        return [], f"The Game Manager changed the fixed amount of claim {claim_number}."
    if not _are_same_hands(claim, lines):
        return [], f"The Game Manager priced other hands than those of claim {claim_number}."
    receipt = events.awarded(claim_number, lines, envy, role, frozen)
    return [receipt] + _automatic_commit(state, rules, claim, rules.key, lines, role), ""


def _why_stray(state: "RoundState", claim_number: int) -> str:
    # A claim that was cancelled or settled meanwhile is no news; one that never was is an error.
    if claim_number <= state.last_claim_number:
        return ""
    return f"The Game Manager spoke of claim {claim_number}, which this table never made."


def _is_known(
    claim: "Claim", lines: "list[AwardLine]", envy: "list[EnvyLine]", role: int, frozen: bool
) -> bool:
    known = [claim.awarded, claim.award_lines, claim.envy, claim.role, claim.amount_frozen]
    return known == [True, lines, envy, role, frozen]


def _are_same_hands(claim: "Claim", lines: "list[AwardLine]") -> bool:
    return sorted([line[:2] for line in lines]) == sorted(claim.lines)


def _automatic_commit(
    state: "RoundState",
    rules: "Rules",
    claim: "Claim",
    key_position: str,
    lines: "list[AwardLine]",
    role: int,
) -> "list[Event]":
    """The commit that needs nobody any more: a small fixed pay, or a key that is back at RUN."""
    if claim.frozen:
        if key_position != numbers.KEY_RUN:
            return []
        return [_commit(state, claim, numbers.METHOD_KEY, b"", numbers.ROLE_SUPERVISOR)]
    if max(role, payout.required_role(rules, lines)) != numbers.ROLE_DEALER:
        return []
    return [_commit(state, claim, numbers.METHOD_DEALER, b"", numbers.ROLE_DEALER)]


def _commit(state: "RoundState", claim: "Claim", method: int, ticket: bytes, role: int) -> "Event":
    return events.commit(state.round_number, claim.number, method, ticket, role)


def key(state: "RoundState", rules: "Rules", position: str) -> "Decision":
    claim = state.claim
    if claim is None or not claim.frozen or not claim.awarded or claim.authorised:
        return [], ""
    return _automatic_commit(state, rules, claim, position, claim.award_lines, claim.role), ""


def resume(state: "RoundState", rules: "Rules") -> "Decision":
    """After a power cut between an award and the commit that follows it by itself."""
    claim = state.claim
    if claim is None or not claim.awarded or claim.authorised:
        return [], ""
    return _automatic_commit(state, rules, claim, rules.key, claim.award_lines, claim.role), ""


def card(state: "RoundState", rules: "Rules", role: int, ticket: bytes) -> "Decision":
    if state.reopen_asked:
        return reopening.card(state, role, ticket)
    if state.void_asked:
        return voiding.card(state, role, ticket)
    if state.late_asked:
        return late_entry.card(state, role, ticket)
    claim = state.claim
    stage = state.stage()
    if claim is None or stage != states.STAGE_AUTHORISE:
        return [], _WHY_NO_CARD[stage]
    if role == numbers.ROLE_DEALER:
        return [], "This card is not known at this table."
    needed = authority_needed(rules, claim)
    if role < needed:
        return [], _NEEDS_CARD[needed]
    return [_commit(state, claim, numbers.METHOD_CARD, ticket, role)], ""


def authority_needed(rules: "Rules", claim: "Claim") -> int:
    """The role that must authorise a priced claim: the manager's or ours, the stricter."""
    return max(claim.role, payout.required_role(rules, claim.award_lines))


def committed(
    state: "RoundState",
    rules: "Rules",
    claim_number: int,
    win_number: int,
    lines: "list[AwardLine]",
    envy: "list[EnvyLine]",
) -> "Decision":
    claim = state.claim
    if claim is None or claim.number != claim_number:
        return [], _why_stray(state, claim_number)
    if not claim.authorised:
        return [], f"The Game Manager recorded claim {claim_number}, which nobody authorised here."
    if not _are_same_hands(claim, lines):
        return [], f"The Game Manager recorded other hands than those of claim {claim_number}."
    return [events.settled(claim_number, win_number, lines, envy)], ""


def reversed_win(state: "RoundState", rules: "Rules", win_number: int) -> "Decision":
    """Notes that a win was taken back: its bets can be entered anew while their round is on."""
    for round_number, wins in state.wins_by_round():
        for win in wins:
            if win.win_number == win_number:
                receipt = events.reversed_win(round_number, win_number)
                return [] if win.is_reversed else [receipt], ""
    return [events.reversed_win(0, win_number)], ""


def authority_refused(state: "RoundState", rules: "Rules", claim_number: int) -> "Decision":
    """Takes the confirmation back, so that the hands can be confirmed and authorised anew.

    Without this the table would wait for ever for a win that nobody is going to record. What J-POT
    logged under the key stands, whatever happens.
    """
    claim = state.claim
    if claim is None or claim.number != claim_number or claim.frozen or not claim.authorised:
        return [], ""
    return [events.cancel(state.round_number, claim_number)], ""


def claim_refused(state: "RoundState", rules: "Rules", claim_number: int) -> "Decision":
    """Takes back a claim that the Game Manager did not take, one of J-POT too: nothing was logged.

    Without this the round could never be ended. A claim that has its price was taken; that one
    stands.
    """
    claim = state.claim
    if claim is None or claim.number != claim_number or claim.awarded:
        return [], ""
    return [events.cancel(state.round_number, claim_number)], ""


def backed_out(state: "RoundState", rules: "Rules", claim_number: int) -> "Decision":
    """Takes back a claim that J-POT logged, before or after the key is back at RUN.

    Only the manager can: it has logged the amount, and says that it will never be booked. The hands
    stay selected, to be claimed anew or turned off.
    """
    claim = state.claim
    if claim is None or claim.number != claim_number:
        return [], ""
    return [events.cancel(state.round_number, claim_number)], ""
