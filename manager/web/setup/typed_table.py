"""A table as it is typed into the set-up form, and the table's file that it makes.

It alone knows which field of the form is which key of the file, so that what set-up refuses can be
said beside the field. Whether the numbers make sense, set-up decides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kit.config import Path, Problem
from manager.advice.starting_points import starting_point
from manager.games import Paytable
from manager.ledger.terms import FROM_METER, FROM_TRAY, HOUSE, PROGRESSIVE, Jackpot
from manager.money import PARTS_PER_MILLION

PPM_PER_PERCENT = PARTS_PER_MILLION // 100
_RATE = re.compile(r"([0-9]{1,3})(?:\.([0-9]{1,4}))?")
_AMOUNT = re.compile(r"\$?([0-9][0-9,]*)(?:\.([0-9]{2}))?")
DEFAULTS = {
    "table.id": "",
    "table.name": "",
    "table.workflow": "touch",
    "table.seats": "7",
    "board.serial": "",
    "authority.dealer_limit": "25.00",
    "authority.executive_percent": "100",
    "authority.executive_from": "5000.00",
    "authority.confirm_from": "0.00",
    "authority.key": "SUPERVISOR",
    "folded": "yes",
    "type": PROGRESSIVE,
}
LEVEL_FIELDS = ("link", "id", "label", "seed", "opening", "contribution", "reserve", "limit")

Typed = Mapping[str, str]
Section = dict[str, Any]


@dataclass(slots=True)
class TableText:
    """The file, which field each key of it was typed in, and what is no number at all."""

    text: str
    fields: dict[Path, str]
    problems: dict[str, str] = field(default_factory=dict)

    def by_field(self, problems: Sequence[Problem]) -> dict[str, str]:
        """What set-up refused, by the field in which it was typed; "" for the table as a whole."""
        found: dict[str, str] = {}
        for problem in problems:
            found.setdefault(self._field_of(problem.path), _whole_sentence(problem.sentence))
        return found

    def _field_of(self, path: Path) -> str:
        for length in range(len(path), 0, -1):
            if path[:length] in self.fields:
                return self.fields[path[:length]]
        return ""


def _whole_sentence(text: str) -> str:
    """A file's refusal goes on from its key ("must be ..."); beside a field it stands alone."""
    return f"This {text}" if text.startswith("must ") else text[:1].upper() + text[1:]


def blank(games: Mapping[str, Paytable]) -> dict[str, str]:
    """What the form begins with: the house's usual ways, and a starting point for each meter."""
    typed = dict(DEFAULTS)
    for letter, paytable in games.items():
        typed |= {f"{letter}.wager": "1.00", f"{letter}.fixed": FROM_TRAY}
        for level in paytable.levels:
            name = f"{letter}.{level.id}"
            typed |= {f"{name}.link": "", f"{name}.id": "", f"{name}.limit": ""}
            typed[f"{name}.label"] = "Progressive" if level.id == "top" else level.label
            point = starting_point(paytable, level.id)
            seed = _plain(point.seed_cents) if point else ""
            typed[f"{name}.seed"] = typed[f"{name}.opening"] = seed
            typed[f"{name}.contribution"] = _percent(point.contribution_ppm) if point else ""
            typed[f"{name}.reserve"] = _percent(point.reserve_ppm) if point else ""
    return typed


def text_of(
    typed: Typed, games: Mapping[str, Paytable], running: Mapping[str, Jackpot]
) -> TableText:
    """The table's file; `running` are the jackpots that it may be linked with."""
    made = TableText("", {})
    sections: dict[str, Section] = {
        "table": {
            "id": typed["table.id"],
            "name": typed["table.name"],
            "workflow": typed["table.workflow"],
            "seats": _whole(typed, "table.seats", made),
        },
        "board": {"serial": typed["board.serial"]},
        "authority": {
            "dealer_limit": _dollars(typed["authority.dealer_limit"]),
            "executive_percent": _whole(typed, "authority.executive_percent", made),
            "executive_from": _dollars(typed["authority.executive_from"]),
            "confirm_from": _dollars(typed["authority.confirm_from"]),
            "key": typed["authority.key"],
        },
    }
    for name, section in list(sections.items()):
        made.fields |= {(name, key): f"{name}.{key}" for key in section}
    for letter, paytable in games.items():
        _add_game(sections, made, letter, paytable, typed, running)
    made.text = "\n".join(_written(name, section) for name, section in sections.items())
    return made


def _add_game(
    sections: dict[str, Section],
    made: TableText,
    letter: str,
    paytable: Paytable,
    typed: Typed,
    running: Mapping[str, Jackpot],
) -> None:
    names: dict[str, str] = {}
    for level in paytable.levels:
        prefix = f"{letter}.{level.id}"
        linked = running.get(typed.get(f"{prefix}.link", ""))
        name = linked.id if linked else typed[f"{prefix}.id"]
        names[level.id] = name
        place = f"jackpots.{_key(name)}"
        made.fields[("jackpots", name)] = f"{prefix}.{'link' if linked else 'id'}"
        if linked:
            sections[place] = _terms(linked)
            continue
        if not name:
            made.problems[f"{prefix}.id"] = "The jackpot needs a name, such as main."
        sections[place] = _typed_terms(prefix, level.id, letter, typed, made)
        keys = {"contribution_ppm": "contribution", "reserve_ppm": "reserve"}
        for key in sections[place]:
            made.fields[("jackpots", name, key)] = f"{prefix}.{keys.get(key, key)}"
        made.fields[("jackpots", name, "fixed_pays_from")] = f"{letter}.fixed"
    path = ("paytables", letter)
    sections[f"paytables.{letter}"] = {
        "paytable": paytable.id,
        "wager_cents": _cents(typed, f"{letter}.wager", made),
        "levels": names,
        "folded_hands_qualify": typed["folded"] == "yes",
    }
    first = f"{letter}.{paytable.levels[0].id}"
    made.fields[path] = f"{first}.link" if typed[f"{first}.link"] else f"{letter}.wager"
    made.fields[(*path, "wager_cents")] = made.fields[(*path, "paytable")] = f"{letter}.wager"
    for level_id in names:
        made.fields[(*path, "levels", level_id)] = f"{letter}.{level_id}.id"


def _typed_terms(prefix: str, level_id: str, letter: str, typed: Typed, made: TableText) -> Section:
    is_house = typed["type"] == HOUSE
    terms: Section = {
        "label": typed[f"{prefix}.label"],
        "seed": _dollars(typed[f"{prefix}.seed"]),
        "opening": _dollars(typed[f"{prefix}.seed" if is_house else f"{prefix}.opening"]),
        "contribution_ppm": 0 if is_house else _ppm(typed, f"{prefix}.contribution", made),
        "reserve_ppm": 0 if is_house else _ppm(typed, f"{prefix}.reserve", made),
        "freeze_claims": False,
        "fixed_pays_from": FROM_METER if typed[f"{letter}.fixed"] == level_id else FROM_TRAY,
        "type": typed["type"],
    }
    if typed[f"{prefix}.limit"]:
        terms["limit"] = _dollars(typed[f"{prefix}.limit"])
    return terms


def _terms(jackpot: Jackpot) -> Section:
    """A jackpot that runs, as the file of another of its tables says it."""
    return {
        "label": jackpot.label,
        "seed": _plain(jackpot.seed_cents),
        "opening": _plain(jackpot.opening_cents),
        "contribution_ppm": jackpot.contribution_ppm,
        "reserve_ppm": jackpot.reserve_ppm,
        "freeze_claims": jackpot.freeze_claims,
        "fixed_pays_from": jackpot.fixed_pays_from,
        "type": jackpot.type,
        "award_policy": jackpot.award_policy,
        "limit": _plain(jackpot.limit_cents),
    }


# -- numbers -----------------------------------------------------------------------------------


def _whole(typed: Typed, name: str, made: TableText) -> int:
    text = typed[name]
    if text.isascii() and text.isdigit() and len(text) <= 6:
        return int(text)
    made.problems[name] = "This must be a whole number."
    return 1


def _ppm(typed: Typed, name: str, made: TableText) -> int:
    found = _RATE.fullmatch(typed[name])
    ppm = int(found[1]) * PPM_PER_PERCENT + int((found[2] or "").ljust(4, "0")) if found else -1
    if not 0 <= ppm <= PARTS_PER_MILLION:
        made.problems[name] = "This must be a percentage such as 25 or 2.5; no document prints it."
        return 0
    return ppm


def _cents(typed: Typed, name: str, made: TableText) -> int:
    found = _AMOUNT.fullmatch(typed[name])
    if found is None:
        made.problems[name] = "This must be an amount such as 1.00."
        return 1
    return int(found[1].replace(",", "")) * 100 + int(found[2] or 0)


def _dollars(text: str) -> str:
    """$1,000 as the file has it; what is no amount goes as it is, and set-up says so."""
    found = _AMOUNT.fullmatch(text)
    return f"{found[1].replace(',', '')}.{found[2] or '00'}" if found else text


def _plain(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def _percent(ppm: int) -> str:
    whole, rest = divmod(ppm, PPM_PER_PERCENT)
    return f"{whole}.{rest:04d}".rstrip("0").rstrip(".")


# -- TOML --------------------------------------------------------------------------------------


def _written(name: str, section: Section) -> str:
    lines = [f"{_key(key)} = {_value(value)}" for key, value in section.items()]
    return "\n".join([f"[{name}]", *lines, ""])


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _value(value: object) -> str:
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items()) + " }"
        )
    return json.dumps(value, ensure_ascii=False)
