"""What people are told now: the table's state, one sentence, the next button, the buttons lit.

One function decides all of it together, so that no two can contradict each other. A button is lit
when the round would take it now: `decide` itself is asked. A refusal has an age; every other
sentence stands as long as it is true. How it looks is for the panel, the keypad and the bench.
"""

from controller.core.felt import spot
from controller.core.round import claims, commands, entry, guide_words, paying, payout, voiding
from controller.core.round import state as states
from controller.core.round.decide import decide
from controller.core.round.state import table_state
from protocol import numbers
from protocol.sensor_id import seat_of

MYPY = False
if MYPY:
    from controller.core.round.rules import Rules
    from controller.core.round.state import Claim, RoundState
    from controller.core.round.types import Command

    # A sentence's name and arguments, its kind, and the button that comes next.
    Advice = tuple[str, list[str], str, str]

# So long the last word stands; after that the table says again what comes next. News that nobody
# asked for, such as a win taken back, must not be missed by somebody who is dealing.
SAID_MS = {"refused": 8000, "info": 60_000}

INFO = "info"
REFUSED = "refused"
FAULT = "fault"

# Whatever else is wrong: somebody works at the table, and no button means anything.
_SERVICE: "Advice" = ("service", [], INFO, "")


class Around:
    """What the guide must know beside the round and its rules."""

    __slots__ = (
        "chips",
        "is_felt_dead",
        "is_training_asked",
        "lock_out_ms",
        "question",
        "said",
        "said_age_ms",
        "said_kind",
    )

    def __init__(
        self,
        chips: "list[str]",  # the spots on which a chip lies now
        is_felt_dead: bool = False,  # no spot at all can be read
        said_kind: str = "info",
        said: str = "",  # the table's last word: a refusal, or news that nobody asked for
        said_age_ms: int = 0,
        lock_out_ms: int = 0,  # so long no card is taken any more
        is_training_asked: bool = False,  # TRAIN waits for a supervisor's card
        question: "tuple[str, str]" = ("", ""),  # a keypad's: what is asked, what CONFIRM takes
    ) -> None:
        self.chips = chips
        self.is_felt_dead = is_felt_dead
        self.said_kind = said_kind
        self.said = said
        self.said_age_ms = said_age_ms
        self.lock_out_ms = lock_out_ms
        self.is_training_asked = is_training_asked
        self.question = question


class Guide:
    """`ends_ms` is how long the sentence's countdown still runs, None without one."""

    __slots__ = ("arguments", "ends_ms", "kind", "lit", "name", "next_button", "sentence", "word")

    def __init__(
        self, word: str, advice: "Advice", lit: "list[str]", is_keypad: bool, ends_ms: "int | None"
    ) -> None:
        self.word = word
        self.name, self.arguments, self.kind, wanted = advice
        self.sentence = guide_words.sentence(self.name, self.arguments, is_keypad)
        self.lit = lit
        self.next_button = wanted if wanted in lit else ""
        self.ends_ms = ends_ms


def guide(state: "RoundState", rules: "Rules", around: "Around") -> "Guide":
    if rules.in_service:
        return Guide(states.CLOSED, _SERVICE, [], rules.is_keypad(), None)
    lit = lit_buttons(state, rules, around.chips)
    if around.is_training_asked and commands.CANCEL not in lit:
        lit = lit + [commands.CANCEL]
    is_locked_out = _is_locked_out(state, rules, around)
    if around.question[0] and not is_locked_out:
        # Whatever else comes next, these two keys mean yes and no now.
        lit = lit + [each for each in (commands.CANCEL, commands.CONFIRM) if each not in lit]
    advice = _advice_now(state, rules, around)
    ends_ms = around.lock_out_ms if is_locked_out else None
    return Guide(_word(state, rules, around), advice, lit, rules.is_keypad(), ends_ms)


def said(state: "RoundState", rules: "Rules", around: "Around") -> "tuple[str, str]":
    """The state's word and the sentence of the guide, where nobody asks for the buttons."""
    if rules.in_service:
        word, advice = states.CLOSED, _SERVICE
    else:
        word, advice = _word(state, rules, around), _advice_now(state, rules, around)
    return word, guide_words.sentence(advice[0], advice[1], rules.is_keypad())


def _advice_now(state: "RoundState", rules: "Rules", around: "Around") -> "Advice":
    """What comes next, or what was just said or asked."""
    advice = _advice(state, rules, around)
    if _is_locked_out(state, rules, around):
        seconds = (around.lock_out_ms + 999) // 1000
        advice = ("locked-out", [str(seconds)], REFUSED, "")
    elif around.question[0]:
        advice = ("question", list(around.question), INFO, commands.CONFIRM)
    elif around.said and around.said_age_ms < SAID_MS[around.said_kind]:
        # What comes next stays lit: a refusal changes nothing of it. Whoever is told that a
        # supervisor must swipe was asked, and not refused.
        own = guide_words.sentence(advice[0], advice[1], rules.is_keypad())
        if advice[0] not in guide_words.ASKED or around.said != own:
            advice = ("said", [around.said], around.said_kind, advice[3])
    return advice


def _word(state: "RoundState", rules: "Rules", around: "Around") -> str:
    word = table_state(state.phase(), rules.link_up and bool(rules.games), rules.stopping_faults)
    if word == states.OPEN and around.is_felt_dead:
        return states.FAULT
    return states.CLOSED if word == states.OPEN and rules.stop_sentence else word


def _is_locked_out(state: "RoundState", rules: "Rules", around: "Around") -> bool:
    """True while somebody would want to swipe a card and none is taken."""
    is_asked = state.waits_for_supervisor() or around.is_training_asked
    is_asked = is_asked or state.stage() == states.STAGE_AUTHORISE
    is_asked = is_asked and not rules.is_keypad()
    return around.lock_out_ms > 0 and (is_asked or bool(rules.stopping_faults))


def lit_buttons(state: "RoundState", rules: "Rules", chips: "list[str]") -> "list[str]":
    """The buttons that would be accepted now."""
    tries: "list[tuple[str, Command]]" = [
        (commands.START, commands.start([(sensor, spot.ACCEPT) for sensor in chips])),
        (commands.CANCEL, commands.cancel()),
        (commands.CONFIRM, commands.confirm()),
        (commands.END, commands.end()),
    ]
    if rules.is_keypad():
        tries.append((commands.JPOT, commands.jpot(rules.key)))
    for seat in sorted({seat_of(sensor) for sensor in rules.sensors}):
        tries.append((f"SEAT {seat}", commands.seat(seat)))
        if not rules.is_keypad():
            tries.append((f"TICK {seat}", commands.tick(seat, 0)))
    if state.closed is not None and not rules.is_keypad():
        tries.append((commands.REOPEN, commands.reopen(0)))
    for game in rules.games:
        letter = game.letter if len(rules.games) > 1 else ""
        for hand in game.hands:
            button = f"HAND {hand.hand_id} {letter}" if letter else f"HAND {hand.hand_id}"
            tries.append((button, commands.hand(hand.hand_id, letter)))
    if not rules.is_keypad():
        tries.append((commands.VOID, commands.void()))
    return [button for button, command in tries if not decide(state, rules, command)[1]]


def can_void(state: "RoundState", rules: "Rules") -> bool:
    """Whether a supervisor could void the game from the panel now."""
    return not rules.is_keypad() and not voiding.why_not(state)


def _advice(state: "RoundState", rules: "Rules", around: "Around") -> "Advice":
    if state.void_asked and _could_void_now(rules):
        reason = voiding.REASON_WORDS[state.void_asked]
        is_heard = rules.link_up or rules.is_keypad()  # a key is judged here
        return guide_words.card_asked("void-asked", is_heard), [reason], INFO, ""
    if not state.round_open:
        return _before_the_game(state, rules, around)
    if state.claim is not None:
        return _claim(rules, state.claim)
    if state.pending_hand:
        return "seat-of", [rules.label_of(state.pending_hand)], INFO, ""
    if state.taken_back:
        finish = commands.CONFIRM if state.hands else ""
        return "said", [entry.taken_back(state, rules)], INFO, finish
    if state.hands:
        return _preview(state, rules)
    if state.selected_seat:
        seat = f"{state.selected_seat}{state.selected_letter}"
        return "hand-of", [seat], INFO, ""
    return _in_the_game(state, rules, around)


def _before_the_game(state: "RoundState", rules: "Rules", around: "Around") -> "Advice":
    # Whether a game could start at all is asked with a chip that may not lie there yet.
    chips = around.chips or rules.sensors[:1]
    start = commands.start([(sensor, spot.ACCEPT) for sensor in chips])
    obstacle = decide(state, rules, start)[1]
    if rules.stopping_faults:
        return "said", [obstacle], FAULT, ""
    if state.reopen_asked:
        return guide_words.card_asked("reopen-asked", rules.link_up), [], INFO, ""
    if state.late_asked:
        number = str(state.late_asked[0])
        return guide_words.card_asked("late-asked", rules.link_up), [number], INFO, ""
    if around.is_training_asked:
        return guide_words.card_asked("train-asked", rules.link_up), [], INFO, ""
    if around.is_felt_dead:
        return "dead-felt", [], FAULT, ""
    if state.voided and not state.blinking and not state.join_told:
        # A bet to be given back is told until something newer is: a chip refused since, or seats
        # that the dealer has just joined.
        return _voided(state, rules, "" if obstacle or not around.chips else commands.START)
    if obstacle:
        return "said", [obstacle], INFO, ""
    if not rules.games:
        return "settings", [], INFO, ""
    if state.blinking:
        return "refused", [_named(rules, state.blinking[0])], INFO, ""
    if state.join_told:
        name = "joined" if state.join_told[0] else "parted"
        seats = ", ".join([str(seat) for seat in state.join_told[1]])
        return name, [seats], INFO, commands.START if around.chips else ""
    return ("bets-down", [], INFO, commands.START) if around.chips else ("waiting", [], INFO, "")


def _voided(state: "RoundState", rules: "Rules", next_button: str) -> "Advice":
    # A manager may have recorded words of its own.
    reason = voiding.REASON_WORDS.get(state.void_reason, state.void_reason)
    seats = _seats(state.voided)
    name = "voided-several" if "," in seats else "voided"
    if rules.is_keypad() and rules.key == numbers.KEY_JPH:
        name += "-at-jph"  # where the supervisor's key still is: no game starts with it there
    return name, [str(state.round_number), seats, reason], INFO, next_button


def _could_void_now(rules: "Rules") -> bool:
    """In a game a card voids whatever is wrong: a cabinet is released between two games."""
    return not rules.is_keypad() or rules.key == numbers.KEY_JPH


def _seats(sensors: "list[str]") -> str:
    return ", ".join([str(seat) for seat in sorted({seat_of(sensor) for sensor in sensors})])


def _claim(rules: "Rules", claim: "Claim") -> "Advice":
    stage = claim.stage()
    if stage == states.STAGE_PRICING:
        return "pricing" if rules.link_up else "pricing-offline", [], INFO, ""
    if stage == states.STAGE_RETURN_KEY:
        return "return-key", [], INFO, ""
    if stage == states.STAGE_RECORDING:
        return "recording" if rules.link_up else "recording-offline", [], INFO, ""
    role = claims.ROLE_NAMES[claims.authority_needed(rules, claim)]
    if not rules.link_up:
        return "swipe-offline", [role], INFO, ""
    if payout.passes_limit(rules, claim.award_lines):
        return "swipe-limit", [role, paying.money(rules.aggregate_limit_cents)], INFO, ""
    return "swipe", [role], INFO, ""


def _preview(state: "RoundState", rules: "Rules") -> "Advice":
    """Hands are entered and nothing is confirmed."""
    if rules.is_keypad():
        return _keypad_preview(state, rules)
    seat = state.selected_seat
    if not seat:
        return "confirm", [], INFO, commands.CONFIRM
    if any(seat_of(sensor) == seat for sensor, _hand in state.hands):
        return "confirm-or-again", [], INFO, commands.CONFIRM
    named = f"{seat}{state.selected_letter}"
    return "hand-or-confirm", [named], INFO, commands.CONFIRM


def _keypad_preview(state: "RoundState", rules: "Rules") -> "Advice":
    if payout.is_within_dealer_limit(rules, state.hands):
        return "confirm", [], INFO, commands.CONFIRM
    if rules.key == numbers.KEY_JPH:
        return "press-jpot", [], INFO, commands.JPOT
    if rules.key == numbers.KEY_RUN:
        return "turn-key", [], INFO, ""
    return "key-unclear", [], FAULT, ""


def _in_the_game(state: "RoundState", rules: "Rules", around: "Around") -> "Advice":
    """Nothing is being entered. The money on the pay list comes first: it covers the seats. Then
    what needs a hand on the felt, and at last what is wrong.
    """
    due = [] if rules.is_keypad() else paying.due_by_seat(state)
    if due:
        return "pay-first", [], INFO, f"TICK {due[0][0]}"
    backs = paying.back_by_seat(state)
    if backs:
        done = commands.END if rules.is_keypad() else f"TICK {backs[0][0]}"
        return "take-back", [], INFO, done
    late = _late_chips(state)
    if late:
        return "late", [_named(rules, late[0])], INFO, commands.END
    if state.blinking:
        return "left-out", [_named(rules, state.blinking[0])], INFO, commands.END
    if state.standing_wins():
        # A keypad table need not tick. Where it has ticked everybody, nothing is left to pay.
        is_done = not rules.is_keypad() or not paying.due_by_seat(state)
        return "paid" if is_done else "pay", [], INFO, commands.END
    if rules.stopping_faults:
        return "fault-in-game", [rules.stopping_faults[0]], FAULT, commands.END
    if state.aside is not None:
        # Nobody plays this game: neither felt nor link changes what is to be entered.
        return "late-entry", [str(state.round_number)], INFO, commands.END
    if around.is_felt_dead:
        return "dead-felt-in-game", [], FAULT, commands.END
    if not rules.link_up:
        return "offline-in-game", [], INFO, commands.END
    return "winners", [], INFO, commands.END


def _named(rules: "Rules", sensor: str) -> str:
    """A spot as people call it: its seat, and its letter where a seat has two."""
    return sensor if len(rules.games) > 1 else str(seat_of(sensor))


def _late_chips(state: "RoundState") -> "list[str]":
    """Spots where a chip lies that came after the lock, alone or on top of an accepted one."""
    found = []
    for sensor in sorted(state.late):
        is_there = state.late[sensor][0]
        if is_there and (sensor not in state.accepted or sensor in state.added):
            found.append(sensor)
    return found
