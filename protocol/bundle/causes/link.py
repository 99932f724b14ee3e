"""Rules about the link to the Game Manager."""

from __future__ import annotations

from datetime import UTC, datetime

from protocol.bundle.causes.facts import Facts
from protocol.bundle.causes.rule import Finding, Rule

LOSSES_MIN = 3
CERTIFICATE_WORDS = ("certificate", "TLS", "unknown ca")


def refused_certificate(facts: Facts) -> Finding | None:
    refused = {
        why: count
        for why, count in facts.endings().items()
        if any(word in why for word in CERTIFICATE_WORDS)
    }
    evidence = [f"{count} times: {why}" for why, count in refused.items()]
    made = datetime.fromtimestamp(facts.head.get("wall_ms", 0) / 1000, UTC)
    for each in facts.unit.get("certificates", ()):
        if each["until"] and datetime.fromisoformat(each["until"]) < made:
            evidence.append(f"The certificate {each['name']} ended on {each['until'][:10]}.")
    if not refused:
        return None
    return Finding(
        95, "The manager and the unit do not accept each other's certificate.", tuple(evidence)
    )


def fork(facts: Facts) -> Finding | None:
    evidence = [sentence for _, sentence in facts.faults("fork")]
    evidence += [why for why in facts.endings() if why.startswith("FORK")]
    if not evidence:
        return None
    return Finding(
        97,
        "The manager knows another history of this unit: an older copy, or a cloned disk.",
        tuple(dict.fromkeys(evidence)),
    )


def link_flapping(facts: Facts) -> Finding | None:
    losses = max((diary.get("link", {}).get("losses", 0) for diary in facts.diaries), default=0)
    if losses < LOSSES_MIN:
        return None
    reasons = facts.endings().most_common(3)
    evidence = [f"The link was lost {losses} times since one start."]
    evidence += [f"{count} times: {why}" for why, count in reasons]
    return Finding(80 + min(10, losses), "The link to the manager comes and goes.", tuple(evidence))


RULES = (
    Rule(
        "link-flapping",
        "The link comes and goes",
        "START is refused now and then, and is taken again a moment later.",
        (
            "Press both ends of the network cable home; change the cable.",
            "Put the unit on another port of the switch: if it is well there, the port is bad.",
        ),
        link_flapping,
    ),
    Rule(
        "refused-certificate",
        "A certificate is refused",
        "The link is down for good, with the network in order.",
        (
            "Look at the certificates' dates on the service page, and at the clock.",
            "Enrol the unit again with a code of the operator (docs/technician.md).",
        ),
        refused_certificate,
    ),
    Rule(
        "fork",
        "Two histories of one unit",
        "The manager has locked the unit out; the panel says so.",
        (
            "Do not start the unit again. Find out who copied its disk, and where the copy is.",
            "Follow docs/recovery.md; the operator decides which history stands.",
        ),
        fork,
    ),
)
