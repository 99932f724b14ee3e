"""All rules together, and their findings in order: the surest first."""

from __future__ import annotations

from deploy.tech.causes import buses, computer, felt, link, touched
from deploy.tech.causes.facts import Facts
from deploy.tech.causes.rule import Cause, Rule
from protocol.bundle.archive import Bundle

RULES: tuple[Rule, ...] = (
    *buses.RULES,
    *felt.RULES,
    *computer.RULES,
    *link.RULES,
    *touched.RULES,
)


def causes_of(bundle: Bundle) -> list[Cause]:
    """What is wrong with the unit, best first; empty when nothing is."""
    facts = Facts(bundle)
    found = []
    for rule in RULES:
        finding = rule.look(facts)
        if finding is not None:
            evidence = finding.evidence
            found.append(Cause(rule.name, finding.score, finding.sentence, evidence, rule.todo))
    return sorted(found, key=lambda cause: -cause.score)
