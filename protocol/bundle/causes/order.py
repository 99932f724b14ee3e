"""All rules together, and their findings in order: the surest first."""

from __future__ import annotations

from protocol.bundle.archive import Bundle, BundleFault
from protocol.bundle.causes import buses, computer, felt, link, touched
from protocol.bundle.causes.facts import Facts
from protocol.bundle.causes.rule import Cause, Rule

RULES: tuple[Rule, ...] = (
    *buses.RULES,
    *felt.RULES,
    *computer.RULES,
    *link.RULES,
    *touched.RULES,
)


def causes_of(bundle: Bundle) -> list[Cause]:
    """What is wrong with the unit, best first; empty when nothing is.

    Raises BundleFault for parts in another shape than our units write: it may be signed all the
    same, by other software or by somebody who has a unit's key.
    """
    facts = Facts(bundle)
    found = []
    for rule in RULES:
        try:
            finding = rule.look(facts)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise BundleFault(
                f"The bundle's parts are not as this tool knows them: {rule.name} cannot be "
                f"looked for ({error!r:.80}). Open it with the release that made it."
            ) from error
        if finding is not None:
            evidence = finding.evidence
            found.append(Cause(rule.name, finding.score, finding.sentence, evidence, rule.todo))
    return sorted(found, key=lambda cause: -cause.score)
