"""Longest flush and longest straight flush among seven cards, by combinatorics.

Each suit's set of ranks contributes its size and its runs; four suits are combined by
convolution, so nothing is enumerated beyond the 8,192 sets of one suit. Knows nothing of
pays; the caller names the hands and their bits.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from manager.odds.masks import ALL_MASKS, POPCOUNT, holds_run, longest_run

CARDS = 7
_ACE_HIGH_SIX = 0b1111110000000
_NAMES = {3: "three", 4: "four", 5: "five", 6: "six", 7: "seven"}

# cards held, longest flush, longest straight flush, whether an ace-high run of six is held
State = tuple[int, int, int, bool]


def suited_counts(hands: tuple[str, ...]) -> dict[int, int]:
    """Number of seven-card deals for each set of suited hands they make."""
    counts: Counter[int] = Counter()
    for (_, flush, run, ace_high), count in _seven_card_states().items():
        made = hands_made(flush, run, ace_high)
        counts[sum(1 << bit for bit, hand in enumerate(hands) if hand in made)] += count
    return dict(counts)


def hands_made(flush: int, run: int, ace_high_six: bool) -> set[str]:
    """The suited hands of a longest flush and a longest straight flush."""
    made = {f"{_NAMES[length]}-card-flush" for length in range(4, flush + 1)}
    made |= {f"{_NAMES[length]}-card-straight-flush" for length in range(3, run + 1)}
    if ace_high_six:
        made.add("six-card-straight-flush-ace-high")
    return made


def _seven_card_states() -> dict[State, int]:
    one_suit = _one_suit_states()
    states: Counter[State] = Counter({(0, 0, 0, False): 1})
    for _ in range(4):
        joined: Counter[State] = Counter()
        for (cards, flush, run, ace), count in states.items():
            for (more, own_flush, own_run, own_ace), ways in one_suit.items():
                if cards + more <= CARDS:
                    state = (cards + more, max(flush, own_flush), max(run, own_run), ace or own_ace)
                    joined[state] += count * ways
        states = joined
    return {state: count for state, count in states.items() if state[0] == CARDS}


def _one_suit_states() -> dict[State, int]:
    ace_high = (ALL_MASKS & _ACE_HIGH_SIX) == _ACE_HIGH_SIX
    assert bool(np.all(holds_run(6)[ace_high]))
    rows = zip(POPCOUNT.tolist(), longest_run().tolist(), ace_high.tolist(), strict=True)
    return Counter((size, size, run, ace) for size, run, ace in rows if size <= CARDS)
