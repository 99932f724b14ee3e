"""The part of docs/games.md that tells an operator how to add a paytable of the house's own.

The example in it is a whole pack file; a test takes it out of the page and plays with it.
"""

from __future__ import annotations

import textwrap

from manager.games.evaluators import EVALUATORS

EXAMPLE = """\
format = 1
game = "four-card"
title = "Four Card Poker"
source = "House rules of 1 May 2026"

[[bet]]
id = "house-progressive"
title = "Four Card Poker House Progressive"
evaluator = "four-card"
deck = 52
cards_considered = 5
wager_scaling = "fixed-pays"
notes = ["The best four of the player's five cards count."]

[[bet.paytable]]
label = "H1"
hands = [
  { id = "four-aces", label = "Four Aces", pay = "100%", envy = "$100" },
  { id = "four-of-a-kind", label = "Four of a Kind", pay = "5%" },
  { id = "straight-flush", label = "Straight Flush", pay = "150 for 1" },
  { id = "three-of-a-kind", label = "Three of a Kind", pay = "9 for 1" },
]
"""

_TEXT = """## A paytable of your own

No Python is needed. Put a file such as `house.toml` into a folder of your own:

```toml
{example}```

- `pay` is written as printed: `100%`, `100% Mega`, `300 for 1`, `3 to 2` or `Push`; `envy` is an
  amount. Hands stand in the order in which they are looked for: the first one that the cards make
  is paid, and the dealer's buttons have the same order.
- `wager_scaling = "fixed-pays"` lets a table take another wager than $1; `envy_scales = true` lets
  envy grow with it. `links_games = true` lets tables of different games share a meter; without it
  a link is between tables of the same game. `reserve = "5%"` on a paytable is then its reserve,
  and a table with another one is refused.
- `notes` are shown to the dealer. `printed` and `aliases` may be added as in the packs that ship;
  an alias of another game needs that game's title in `other_games`.
- Players read the game's name with the bet's, never the label, unless the table file has a `title`.
- An evaluator tells which hands there are, with its deck and number of cards:

{evaluators}

Then, in this order:

    python -m manager check-pack packs/house.toml
    python -m manager odds --packs packs --paytable four-card/house-progressive/H1
    python -m manager advise TABLE.toml --packs packs
    python -m manager serve --packs packs --table TABLE.toml ...

The first tells every mistake with its line, its column and its key: first those of single values,
then what does not fit together. The table's file names the paytable by its id. An id that ships
cannot be taken. A table that is open keeps the pays it was opened with: a changed file is refused.
"""


def own_paytable() -> str:
    rows = [
        f"`{name}` ({info.deck} cards, {info.cards_considered} looked at): {', '.join(info.hands)}"
        for name, info in EVALUATORS.items()
        if info.hands_at_table == 1
    ]
    listed = "\n".join(wrapped(row, first="  - ", rest="    ") for row in rows)
    return _TEXT.format(example=EXAMPLE, evaluators=listed)


def wrapped(text: str, first: str = "", rest: str = "") -> str:
    """In lines of at most a hundred columns; a hand's id is never broken."""
    return textwrap.fill(
        text, 100, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )
