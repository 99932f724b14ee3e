"""The pages' templates: strict about names, everything escaped, and how amounts are written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment

from kit.version import SOFTWARE
from kit.web import pages
from manager.people.roles import ASKERS, BUNDLE_TAKERS, EVERYBODY, PEOPLE_KEEPERS
from manager.web import words
from manager.web.day.sections import figure
from manager.web.wins.checklist import CHECKLIST

TEMPLATES = Path(__file__).parent / "templates"
FILTERS: tuple[Callable[..., Any], ...] = (
    figure,
    words.exact,
    words.precise,
    words.percent,
    words.moment,
    words.age,
    words.method,
    words.hand,
    words.kind,
    words.policy,
    words.terms,
    words.dealt,
    words.severity_mark,
    words.slip_title,
    words.stamp_sentence,
    words.place_rows,
    words.line_rows,
    words.paid_from,
    words.meter_line,
)


# Name, address and word of each page in the head of all pages, and whose it is.
PLACES = (
    ("", "/", "Floor", EVERYBODY),
    ("wins", "/wins", "Wins", EVERYBODY),
    ("requests", "/requests", "Requests", EVERYBODY),
    ("corrections", "/corrections", "Corrections", ASKERS),
    ("alarms", "/alarms", "Alarms", EVERYBODY),
    ("days", "/days", "Gaming day", EVERYBODY),
    ("bank", "/bank", "Bank", EVERYBODY),
    ("setup", "/setup", "Set-up", EVERYBODY),
    ("units", "/units", "Units", EVERYBODY),
    ("spots", "/spots", "Spots", EVERYBODY),
    ("bundles", "/bundles", "Bundles", BUNDLE_TAKERS),
    ("updates", "/updates", "Updates", EVERYBODY),
    ("cards", "/cards", "Cards", EVERYBODY),
    ("training", "/training", "Training", EVERYBODY),
    ("people", "/people", "People", PEOPLE_KEEPERS),
    ("tokens", "/tokens", "Tokens", PEOPLE_KEEPERS),
)


def open_templates() -> Environment:
    environment = pages.open_templates(TEMPLATES)
    environment.globals["software"] = SOFTWARE
    environment.globals["places"] = PLACES
    environment.globals["checklist"] = CHECKLIST
    environment.globals["askers"] = ASKERS
    environment.globals["bundle_takers"] = BUNDLE_TAKERS
    for each in FILTERS:
        environment.filters[each.__name__] = each
    return environment
