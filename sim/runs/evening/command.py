"""`python -m sim evening`: rounds dealt by the rules of play at a shipped table, then its books.

It alone knows what is printed. A bet's hands are put beside what exact odds let one expect.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from math import sqrt

from kit.command_line import whole
from manager.money import text_from_cents
from sim.floor.floor import Floor, FloorTable, Impossible
from sim.runs.evening.people import Evening, EveningError
from sim.time.loop import run_virtual

ROUNDS = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--table", default="four-card-touch")
    parser.add_argument("--rounds", type=whole(1), default=ROUNDS)
    parser.add_argument("--seed", type=whole(), default=1, help="decides the cards and the bets")


def main(options: argparse.Namespace) -> int:
    """0 when every dealt hand is in the books and the books are sound, else 1."""
    try:
        evening, problem = run_virtual(play(options.table, options.rounds, options.seed))
    except (EveningError, Impossible) as error:
        print(f"FAILED seed {options.seed}: {error}")
        return 1
    print("\n".join(report(evening)))
    print(problem or "Every hand that was dealt is in the books, and the books are sound.")
    return 1 if problem else 0


async def play(table_name: str, rounds: int, seed: int) -> tuple[Evening, str]:
    """The evening, and what is wrong with its books ("" when nothing is)."""
    floor = Floor(seed)
    try:
        table = await floor.open_table(table_name)
        _require_keys(table)
        evening = Evening(floor, table, seed)
        await evening.play(rounds)
        errors = [repr(error) for error in floor.product_errors()]
        return evening, floor.unsound_books() or "; ".join(errors)
    finally:
        await floor.close()


def _require_keys(table: FloorTable) -> None:
    """An evening presses keys; it does not answer the questions of a text display."""
    keypad = table.config.board.keypad
    seats = {f"SEAT {seat}" for seat in range(1, table.config.seat_count + 1)}
    if keypad is not None and not seats <= set(keypad.keys):
        raise Impossible(
            f"the keypad of {table.config.table_id} has no key for each seat; "
            "an evening is played by touch or by seat keys"
        )


def report(evening: Evening) -> Iterator[str]:
    from manager.odds.figures import compute_odds  # NumPy is loaded only when it is asked for

    tally = evening.tally
    bets = ", ".join(f"{count} on {letter}" for letter, count in sorted(tally.bets.items()))
    yield f"{tally.rounds} rounds, bets {bets}, {tally.folds} folded hands"
    if evening.limit:
        limit, over = text_from_cents(evening.limit.cents), text_from_cents(tally.cut_cents)
        yield (
            f"aggregate limit {limit} for each {evening.limit.per}: passed in "
            f"{tally.limited_rounds} rounds, {over} less is due by it"
        )
    for letter, paytable in sorted(evening.dealer.paytables.items()):
        counted = compute_odds(paytable).tally
        yield f"  {letter}: {paytable.title}"
        for hand in paytable.hands:
            chance = counted.counts.get(hand.id, 0) / counted.total
            expected = tally.bets[letter] * chance
            spread = sqrt(expected * (1 - chance))
            seen = tally.hands[letter, hand.id]
            yield f"     {hand.label:<42} {seen:>6} dealt, {expected:9.2f} ± {spread:.2f} expected"
