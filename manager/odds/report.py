"""Writes odds as JSON objects, as a text table, and as the catalogue page.

Presentation only: every number comes from ``figures``. Numbers in JSON are floats for
reading beside exact fractions as text for checking.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from manager.odds import highest
from manager.odds.figures import Figure, JudgedFigure, Odds


def as_json(odds: Odds) -> dict[str, Any]:
    """One paytable as a JSON-able object."""
    paytable = odds.paytable
    row: dict[str, Any] = {
        "id": paytable.id,
        "title": paytable.title,
        "evaluator": paytable.evaluator,
        "deck": paytable.deck,
        "cards_considered": paytable.cards_considered,
        "source": paytable.source,
        "method": "exact" if odds.tally.exact else "simulated",
        "total": odds.tally.total,
        "counts": dict(odds.tally.counts),
        "unpaid": odds.tally.unpaid,
    }
    if not odds.tally.exact:
        row["simulation"] = _simulation()
    row |= _figure("hit_frequency", odds.hit_frequency)
    row["push_frequency"] = float(odds.push_frequency)
    row |= _returns(odds)
    row["printed"] = [_printed(judged) for judged in odds.printed]
    row["verdict"] = odds.verdict
    return row


def _simulation() -> dict[str, Any]:
    return {
        "seed": highest.SEED,
        "rounds": highest.ROUNDS,
        "generator": "PCG64",
        "estimator": "counts are simulated rounds; frequencies and edge are exact for up to two "
        "winning hands in a round and simulated beyond that",
    }


def _returns(odds: Odds) -> dict[str, Any]:
    """House edge of a felt bet, or the returns of a jackpot."""
    row: dict[str, Any] = {}
    if odds.house_edge is not None:
        row |= _figure("house_edge", odds.house_edge)
        row["edge_basis"] = odds.edge_basis
    if odds.fixed_return is not None:
        row["fixed_return"] = float(odds.fixed_return)
        row["fixed_return_exact"] = str(odds.fixed_return)
        meters = odds.meter_return_cents
        row["meter_return"] = {level: float(cents / 100) for level, cents in meters.items()}
        row["meter_return_exact"] = {level: str(cents / 100) for level, cents in meters.items()}
    if odds.envy_cents_per_seat:
        row["envy_return_per_other_seat"] = float(odds.envy_cents_per_seat / 100)
    if odds.base_game is not None:
        row["base_game"] = {
            "edge_per_ante": float(odds.base_game.edge_per_ante),
            "wagered_per_ante": float(odds.base_game.wagered_per_ante),
            "edge_per_wagered": float(odds.base_game.edge_per_wagered),
            "hit_frequency": float(odds.base_game.hit_frequency),
            "fold_frequency": float(odds.base_game.fold_frequency),
            "strategy": odds.base_game.strategy,
        }
    return row


def _figure(name: str, figure: Figure) -> dict[str, Any]:
    if figure.standard_error:
        return {name: float(figure.value), f"{name}_standard_error": figure.standard_error}
    return {name: float(figure.value), f"{name}_exact": str(figure.value)}


def _printed(judged: JudgedFigure) -> dict[str, Any]:
    return {
        "figure": judged.printed.figure.replace("-", "_"),
        "value": judged.printed.text,
        "where": judged.printed.where,
        "computed": float(judged.computed),
        "verdict": judged.verdict,
    }


def percent(value: Fraction, decimals: int = 4) -> str:
    """A share as a percentage with a fixed number of decimals."""
    return f"{float(value * 100):.{decimals}f} %"


def figure_text(figure: Figure) -> str:
    """A share, with its standard error where it is an estimate."""
    if not figure.standard_error:
        return percent(figure.value)
    return f"{percent(figure.value, 3)} ± {figure.standard_error * 100:.3f}"


def as_text(rows: Sequence[Odds]) -> str:
    """A plain table, one paytable per line."""
    header = ("paytable", "hit", "house edge", "fixed return", "per $1,000", "print", "verdict")
    lines = [header, *(_text_line(odds) for odds in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _text_line(odds: Odds) -> tuple[str, str, str, str, str, str, str]:
    return (
        odds.paytable.id,
        figure_text(odds.hit_frequency),
        figure_text(odds.house_edge) if odds.house_edge else "-",
        percent(odds.fixed_return) if odds.fixed_return is not None else "-",
        meter_text(odds) or "-",
        ", ".join(judged.printed.text for judged in odds.printed) or "-",
        odds.verdict or "-",
    )


def meter_text(odds: Odds) -> str:
    """What each $1,000 of each level returns per wager."""
    single = len(odds.meter_return_cents) == 1
    return ", ".join(
        f"${float(cents / 100):.4f}" if single else f"{level} ${float(cents / 100):.4f}"
        for level, cents in odds.meter_return_cents.items()
    )
