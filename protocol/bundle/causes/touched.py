"""Rules about what people touch and see: lamps, keys, cards."""

from __future__ import annotations

from protocol.bundle.causes.facts import Facts
from protocol.bundle.causes.rule import Finding, Rule

STUCK_MIN_S = 15
UNREAD_MIN, UNREAD_PART_MIN = 4, 0.4
UNPLUGGED = "reader unplugged"


def dying_lamp(facts: Facts) -> Finding | None:
    dark = {(sensor, colour) for sensor, colour, _ in facts.now.get("lamps_dark", ())}
    answering = {part for part, _ in facts.failed("light ")}
    dead = sorted(lamp for lamp in dark if f"light {lamp[0]}" not in answering)
    if not dead:
        return None
    evidence = [
        f"The {colour} lamp of {sensor} stayed dark while its IC was told to light it."
        for sensor, colour in dead
    ]
    return Finding(90, f"The lamp of spot {dead[0][0]} gives no light.", tuple(evidence))


def stuck_key(facts: Facts) -> Finding | None:
    held: dict[str, int] = {}
    for diary in facts.diaries:
        for key, seconds in diary.get("keys_down_s", {}).items():
            held[key] = max(seconds, held.get(key, 0))
    stuck = {key: seconds for key, seconds in held.items() if seconds >= STUCK_MIN_S}
    evidence = [
        f"{key} was down for {seconds} s without a pause." for key, seconds in stuck.items()
    ]
    evidence += [
        f"Self-test: {sentence}"
        for _, sentence in facts.failed("keypad")
        if "Held down" in sentence
    ]
    if not evidence:
        return None
    return Finding(93, "A key of the keypad is stuck.", tuple(evidence))


def half_read_cards(facts: Facts) -> Finding | None:
    read, unread = 0, 0
    reasons: dict[str, int] = {}
    for diary in facts.diaries:
        swipes = diary.get("swipes") or {}
        read += swipes.get("read", 0)
        for why, count in swipes.get("unread", {}).items():
            if why != UNPLUGGED:
                reasons[why] = reasons.get(why, 0) + count
                unread += count
    if unread < UNREAD_MIN or unread < UNREAD_PART_MIN * (read + unread):
        return None
    evidence = [f"{unread} of {read + unread} swipes could not be read."]
    evidence += [f"{count} times: {why}" for why, count in reasons.items()]
    return Finding(89, "The card reader reads most cards only in part.", tuple(evidence))


RULES = (
    Rule(
        "dying-lamp",
        "A lamp gives no light",
        "One spot stays dark or dim although a chip is accepted there.",
        (
            "Exercise the lamp on the service page and look: its IC is in order.",
            "Change the lamp. If the new one is dark too, its wire is broken.",
        ),
        dying_lamp,
    ),
    Rule(
        "stuck-key",
        "A key is stuck",
        "A key does nothing, or is refused as pressed together with another.",
        (
            "Look whether something lies on the keypad; clean around the key that is named.",
            "Change the keypad.",
        ),
        stuck_key,
    ),
    Rule(
        "half-read-cards",
        "Cards are read in part",
        'Supervisors are told "Please swipe again" at most swipes.',
        (
            "Clean the reader's head with a cleaning card.",
            "Try another card: one bad card is the card. If all are bad, change the reader.",
        ),
        half_read_cards,
    ),
)
