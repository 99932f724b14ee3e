"""An explanation as JSON-able values, for the command line and the pages."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from manager.explain.statement import Explanation
from manager.explain.words import in_words, text_from_percent


def as_plain(explanation: Explanation) -> dict[str, Any]:
    """The explanation as JSON-able values."""
    return {
        "win": explanation.win.number,
        "table": explanation.win.table_id,
        "round": explanation.win.round_number,
        "agrees": explanation.agrees,
        "afterwards": explanation.afterwards,
        "stories": [
            {
                "sensor": story.paid.sensor,
                "hand": story.paid.hand,
                "meter": story.meter_id,
                "percent_ppm": story.percent_ppm,
                "percent": text_from_percent(story.percent_ppm),
                "policy": story.policy,
                "sharers": story.sharers,
                "fixed_at": story.fixed_at,
                "award": story.award,
                "value_microcents": story.value_microcents,
                "expected_cents": story.expected_cents,
                "paid_cents": story.paid.amount_cents,
                "remainder_microcents": story.remainder_microcents,
                "line_count": story.told.count,
                "summary": [
                    {"sentence": in_words(line), "change_microcents": line.change_microcents}
                    for line in story.summary
                ],
                "lines": [asdict(line) for line in story.lines],
            }
            for story in explanation.stories
        ],
        "fixed": [
            {"sensor": paid.sensor, "hand": paid.hand, "paid_cents": paid.amount_cents}
            for paid in explanation.fixed
        ],
        "dealt": [asdict(hand) for hand in explanation.dealt],
        "envy": [[line.sensor, line.amount_cents] for line in explanation.win.envy],
    }
