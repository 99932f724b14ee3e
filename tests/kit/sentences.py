"""Finds every sentence that people at a table may read: in the code, the pages and the packs.

A sentence is a text with its holes: `f"Seat {number} has no bet."` is "Seat {} has no bet.". A
piece is a text of several words that is none: glued to others it could not be translated.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

from tests.kit.places import ROOT

# Where people at the table are spoken to. New modules in these places are found by themselves.
SPEAKING = (
    "controller/core/round/*.py",
    "controller/core/felt/reasons.py",
    "controller/core/felt/spot.py",
    "controller/inputs/*.py",
    "controller/text/*.py",
    "controller/web/*.py",
    "controller/command_intake.py",
    "controller/keeper.py",
    "controller/table/settings.py",
    "controller/unenrolled.py",
    "controller/felt/interrupt_line.py",
    "controller/felt/late_changes.py",
    "controller/felt/references.py",
    "controller/felt/table_felt.py",
    "controller/link/backlog.py",
    "controller/link/enrolling.py",
    "controller/link/identity.py",
    "hal/devices/track2.py",
)
# Spoken to programs, or to whoever writes a table's file.
NOT_SPEAKING = ("controller/web/api.py",)
# What the Game Manager sends to a table's panel.
MANAGER = (
    "manager/ledger/*.py",
    "manager/ledger/awards/*.py",
    "manager/ledger/corrections/voiding.py",
    "manager/intake/*.py",
)
MANAGER_CALLS = ("BookingRefused", "_refused")
# What closes a table when the link says so, by the functions that say it.
LASTING = {
    "manager/intake/units.py": (
        "lock_problem",
        "_problem",
        "_stranger_problem",
        "_history_problem",
    ),
    "manager/intake/intake.py": ("_sequence_problem",),
    "manager/intake/round_events.py": ("_wager_sentence",),
    "protocol/proof/tail.py": ("objection",),
    "protocol/wire/version.py": ("agree",),
    "controller/link/link.py": ("_adopt", "_stranger", "_wrong_clock"),
    "controller/service/program_check.py": ("closing_sentence",),
    "controller/service/update_news.py": ("sentence_of",),
}
# Names of buttons and commands, which are not read but pressed.
COMMAND = re.compile(
    r"(SEAT|HAND|TICK|CARD|KEY|CLAIM|JOIN|WRONG) [^a-z]*|[A-Z]+\|.*|;.*|cabinet release"
)
HOLE = "{}"


class Found(NamedTuple):
    text: str
    place: str  # file:line

    @property
    def is_piece(self) -> bool:
        """Neither a sentence nor a reason of its own, such as "GAME OVER again" or " or "."""
        return self.text != self.text.strip() or self.text.endswith("GAME again")


def in_python() -> list[Found]:
    found = []
    for path in _files(SPEAKING):
        if str(path.relative_to(ROOT)) not in NOT_SPEAKING:
            found += _texts(path)
    return found


def from_the_manager() -> list[Found]:
    found = []
    for path in _files(MANAGER):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in MANAGER_CALLS:
                text = _template(call.args[0]) if call.args else None
                if text and " " in text:
                    found.append(Found(text, _place(path, call.lineno)))
    stopped = ROOT / "manager/ledger/jackpots.py"
    found += [each for each in _texts(stopped) if "No game can start." in each.text]
    judged = ROOT / "manager/intake/swipes.py"
    found += [each for each in _texts(judged) if each.text.endswith(".")]
    return found + list(_lasting())


def _lasting() -> Iterator[Found]:
    for name, functions in LASTING.items():
        path = ROOT / name
        tree = ast.parse(path.read_text(encoding="utf-8"))
        known = {
            node.name: node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        for function in functions:
            found = _texts_in(known[function], path)
            sentences = [each for each in found if each.text.endswith((".", HOLE))]
            assert sentences, f"{name}: {function} says nothing any more"
            yield from sentences


def glued(path_patterns: tuple[str, ...] = SPEAKING) -> list[str]:
    """Where words are put together: a word chosen inside a sentence, or a list joined by words."""
    found = []
    for path in _files(path_patterns):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FormattedValue) and _has_words(node.value):
                found.append(f"{_place(path, node.lineno)}: a word is chosen inside a sentence")
            if _joins_with_words(node):
                found.append(f"{_place(path, node.lineno)}: a list is joined with a word")  # type: ignore[attr-defined]
    return found


def in_templates() -> list[Found]:
    found = []
    for path in _files(("controller/web/templates/*.html",)):
        text = path.read_text(encoding="utf-8")
        for said in re.finditer(r"say\(\s*\"((?:[^\"\\]|\\.)*)\"", text):
            found.append(Found(said[1], _place(path, text[: said.start()].count("\n") + 1)))
    return found


def unsaid_in_templates() -> list[str]:
    """Words in a template that are not asked for by `say`."""
    found = []
    for path in _files(("controller/web/templates/*.html",)):
        reader = _Reader()
        text = path.read_text(encoding="utf-8")
        reader.feed(re.sub(r"{#.*?#}|{%.*?%}|{{.*?}}", _blank, text, flags=re.DOTALL))
        found += [f"{_place(path, line)}: {words!r}" for line, words in reader.words]
    return found


def in_scripts() -> list[Found]:
    """Every text of a script that is words, said or kept to be said."""
    found = []
    for path in _files(("controller/web/static/*.js", "kit/web/static/kit/*.js")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            code = line.split("// ")[0]
            for text in re.findall(r"\"((?:[^\"\\]|\\.)*)\"", code):
                if _is_said(text, code):
                    found.append(Found(text, _place(path, number)))
    return found


def glued_in_scripts() -> list[str]:
    """Template literals with words in them."""
    found = []
    for path in _files(("controller/web/static/*.js", "kit/web/static/kit/*.js")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            for text in re.findall(r"`([^`]*)`", line.split("// ")[0]):
                own = re.sub(r"\$\{[^}]*\}", "", text)
                if re.search(r"[A-Za-z]{3,} |^[A-Z][a-z]+", own) and not COMMAND.fullmatch(own):
                    found.append(f"{_place(path, number)}: `{text}`")
    buttons = ("TICK ", "FIND ", "FORGOTTEN ")  # pressed, not read
    found = [each for each in found if not any(f"`{button}" in each for button in buttons)]
    return [each for each in found if "translate" not in each]


def of_the_shipped_games() -> list[Found]:
    """Labels of hands and meters, notes and notices."""
    found = []
    for path in _files(("manager/games/packs/*.toml", "deploy/tables/*.toml")):
        found += list(_labels(tomllib.loads(path.read_text(encoding="utf-8")), path))
    return found


def _labels(node: Any, path: Path, keys: tuple[str, ...] = ()) -> Iterator[Found]:
    if isinstance(node, dict):
        for name, value in node.items():
            yield from _labels(value, path, (*keys, name))
    elif isinstance(node, list):
        for value in node:
            yield from _labels(value, path, keys)
    elif isinstance(node, str):
        is_label = keys[-1] == "label" and {"hands", "jackpots", "pays", "rows"} & set(keys)
        if keys[-1] in ("notes", "notices") or is_label:
            yield Found(node, str(path.relative_to(ROOT)))


def _files(patterns: tuple[str, ...]) -> list[Path]:
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


def _place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def _texts(path: Path) -> list[Found]:
    return _texts_in(ast.parse(path.read_text(encoding="utf-8")), path)


def _texts_in(tree: ast.AST, path: Path) -> list[Found]:
    passed_over = _not_read(tree)
    found = []
    for node in ast.walk(tree):
        if id(node) in passed_over:
            continue
        text = _template(node)
        if text and re.search(r"[A-Za-z]{2}", text) and " " in text and not COMMAND.fullmatch(text):
            found.append(Found(text, _place(path, node.lineno)))  # type: ignore[attr-defined]
    return found


def _template(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.sub(r"{\d}", HOLE, node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else HOLE for part in node.values
        )
    return None


def _not_read(tree: ast.AST) -> set[int]:
    """Docstrings, annotations, what is logged, errors of a programmer, and parts of f-strings."""
    parts: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            parts.append(node)
        elif isinstance(node, ast.JoinedStr):
            parts += node.values
        elif _is_logged_or_raised(node):
            parts.append(node)
        else:
            parts += [
                each
                for name in ("annotation", "returns")
                if isinstance(each := getattr(node, name, None), ast.AST)
            ]
    return {id(each) for part in parts for each in ast.walk(part)}


def _is_logged_or_raised(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return _is_log(node.func)
    return isinstance(node, ast.Raise) and "ValueError" in ast.dump(node)


def _is_log(function: ast.expr) -> bool:
    names = [each.id for each in ast.walk(function) if isinstance(each, ast.Name)]
    return any(name in ("log", "logging", "re") for name in names)


def _has_words(node: ast.AST) -> bool:
    """A choice between words, such as {'a' if one else 'the'}; "-" or "" is no word."""
    return any(
        isinstance(each, ast.Constant)
        and isinstance(each.value, str)
        and re.search(r"[A-Za-z]{2}", each.value)
        for choice in ast.walk(node)
        if isinstance(choice, ast.IfExp)
        for each in ast.walk(choice)
    )


def _joins_with_words(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "join"
        and isinstance(node.func.value, ast.Constant)
        and bool(re.search(r"[A-Za-z]", str(node.func.value.value)))
    )


def _is_said(text: str, code: str) -> bool:
    if f'say("{text}"' in code:
        return True
    words = re.search(r"[A-Za-z]{2,} [A-Za-z]{2,}|^[A-Z][a-z]+$", text)
    not_words = r"import |querySelector|console|matchMedia|headers|all\(\"|postMessage"
    return bool(words) and not re.search(not_words, code)


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


class _Reader(HTMLParser):
    READ = ("aria-label", "title", "placeholder", "alt")

    def __init__(self) -> None:
        super().__init__()
        self.words: list[tuple[int, str]] = []

    def handle_data(self, data: str) -> None:
        self._take(data)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in self.READ:
                self._take(value or "")

    def _take(self, text: str) -> None:
        if re.search(r"[A-Za-z]{2}", text):
            self.words.append((self.getpos()[0], " ".join(text.split())))
