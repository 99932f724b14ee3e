"""The numbers of a jackpot bet as a person types them into a form, and as a link carries them.

Amounts are dollars, rates are percent of each wager, both as text and exact. Nothing has a default
that would be a rate or a seed: what is not typed is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from kit.config import ConfigError
from manager.advice.question import Question
from manager.games import Paytable
from manager.ledger.errors import LedgerError
from manager.ledger.terms import FROM_METER, FROM_TRAY, HOUSE, PROGRESSIVE, Jackpot
from manager.money import PARTS_PER_MILLION, MoneyError, cents_from_text, text_from_cents
from manager.setup.table_file import WAGER_CENTS_MAX
from manager.setup.unit_settings import CENTS_PER_DOLLAR, SCALES, check_reserve
from protocol.wire.settings import GameSetting

PPM_PER_PERCENT = PARTS_PER_MILLION // 100
NAMES = {
    "seed": "Seed, $",
    "opening": "Opening amount, $",
    "limit": "Limit, $ (none if empty)",
    "contribution": "Contribution, % of each wager",
    "reserve": "Reserve, % of each wager",
}
_RATE = re.compile(r"([0-9]{1,3})(?:\.([0-9]{1,4}))?")


class _TypedError(Exception):
    """What was typed cannot be used; the sentence names the field."""


def form_of(paytable: Paytable, typed: Mapping[str, str]) -> dict[str, Any]:
    """The form's fields with what was typed into them."""
    levels = [
        {
            "id": level.id,
            "label": level.label,
            "fields": [
                {
                    "name": f"{level.id}.{field}",
                    "label": label,
                    "value": typed.get(f"{level.id}.{field}", ""),
                }
                for field, label in NAMES.items()
            ],
        }
        for level in paytable.levels
    ]
    return {
        "paytable": paytable.id,
        "title": paytable.title,
        "wager": typed.get("wager", ""),
        "type": typed.get("type", PROGRESSIVE),
        "fixed": typed.get("fixed", FROM_TRAY),
        "levels": levels,
        "is_blank": not any(name for name in typed if name != "paytable"),
    }


def question_of(
    paytable: Paytable, typed: Mapping[str, str], packs: tuple[str, ...] = ()
) -> tuple[Question | None, list[str]]:
    """The question that was typed, or every reason why there is none yet."""
    problems: list[str] = []
    jackpots: dict[str, Jackpot] = {}
    wager_cents = 0
    try:
        wager_cents = _wager(typed)
    except _TypedError as error:
        problems.append(str(error))
    for level in paytable.levels:
        try:
            jackpots[level.id] = _jackpot(level.id, level.label, typed)
        except (_TypedError, LedgerError) as error:
            problems.append(str(error))
    taken = sum(each.contribution_ppm + each.reserve_ppm for each in jackpots.values())
    if taken > PARTS_PER_MILLION:
        problems.append("The meters together take more than the whole wager.")
    if not problems:
        problems += _set_up_refuses(paytable, wager_cents, jackpots)
    if problems:
        return None, problems
    return Question.of(paytable.id, wager_cents, jackpots, packs), []


def query_of(
    game: GameSetting, levels: Sequence[str], jackpots: Sequence[Jackpot]
) -> dict[str, str]:
    """A game that is open as what one would type for it."""
    pairs = list(zip(levels, jackpots, strict=True))
    fixed = [level for level, jackpot in pairs if jackpot.fixed_pays_from == FROM_METER]
    query = {
        "paytable": game.paytable,
        "wager": text_from_cents(game.wager_cents),
        "type": jackpots[0].type,
        "fixed": fixed[0] if fixed else FROM_TRAY,
    }
    for level, jackpot in pairs:
        query[f"{level}.seed"] = text_from_cents(jackpot.seed_cents)
        query[f"{level}.opening"] = text_from_cents(jackpot.opening_cents)
        query[f"{level}.limit"] = (
            text_from_cents(jackpot.limit_cents) if jackpot.limit_cents else ""
        )
        query[f"{level}.contribution"] = _percent(jackpot.contribution_ppm)
        query[f"{level}.reserve"] = _percent(jackpot.reserve_ppm)
    return query


# -- inside ------------------------------------------------------------------------------------


def _set_up_refuses(
    paytable: Paytable, wager_cents: int, jackpots: Mapping[str, Jackpot]
) -> list[str]:
    """What no table could be opened with is worth no advice."""
    if paytable.wager_scaling != SCALES and wager_cents != CENTS_PER_DOLLAR:
        return [f"The wager must be $1.00: the pays of {paytable.id} do not scale with it."]
    try:
        check_reserve(paytable, jackpots.values(), ())
    except ConfigError as error:
        return [problem.sentence for problem in error.problems]
    return []


def _wager(typed: Mapping[str, str]) -> int:
    wager_cents = _cents(typed, "wager", "The wager")
    if not 1 <= wager_cents <= WAGER_CENTS_MAX:
        raise _TypedError(f"The wager must be from $0.01 to ${text_from_cents(WAGER_CENTS_MAX)}.")
    return wager_cents


def _jackpot(level: str, label: str, typed: Mapping[str, str]) -> Jackpot:
    kind = typed.get("type", PROGRESSIVE)
    is_house = kind == HOUSE
    seed_cents = _cents(typed, f"{level}.seed", f"{label}: the seed")
    limit = typed.get(f"{level}.limit", "").strip()
    return Jackpot(
        id=level,
        label=label,
        seed_cents=seed_cents,
        opening_cents=(
            seed_cents if is_house else _cents(typed, f"{level}.opening", f"{label}: the opening")
        ),
        contribution_ppm=0 if is_house else _rate(typed, f"{level}.contribution", label),
        reserve_ppm=0 if is_house else _rate(typed, f"{level}.reserve", label),
        freeze_claims=False,
        fixed_pays_from=FROM_METER if typed.get("fixed", FROM_TRAY) == level else FROM_TRAY,
        type=kind,
        award_policy="each_full" if is_house else "sequential",
        limit_cents=_cents(typed, f"{level}.limit", f"{label}: the limit") if limit else 0,
    )


def _cents(typed: Mapping[str, str], name: str, what: str) -> int:
    text = typed.get(name, "").strip().replace(",", "").removeprefix("$")
    if not text:
        raise _TypedError(f"{what} is asked for.")
    try:
        return cents_from_text(text if "." in text else f"{text}.00", what)
    except MoneyError as error:
        raise _TypedError(str(error)) from error


def _rate(typed: Mapping[str, str], name: str, label: str) -> int:
    text, what = typed.get(name, "").strip(), name.rpartition(".")[2]
    if not text:
        raise _TypedError(f"{label}: the {what} is asked for; it is in no document.")
    found = _RATE.fullmatch(text)
    ppm = int(found[1]) * PPM_PER_PERCENT + int((found[2] or "").ljust(4, "0")) if found else -1
    if not 0 <= ppm <= PARTS_PER_MILLION:
        raise _TypedError(f"{label}: the {what} must be a percentage such as 25 or 2.5.")
    return ppm


def _percent(ppm: int) -> str:
    whole, rest = divmod(ppm, PPM_PER_PERCENT)
    return f"{whole}.{rest:04d}".rstrip("0").rstrip(".")
