"""The changes themselves: each is one place, keeps the syntax, and is drawn fairly."""

from __future__ import annotations

import ast
import random
from collections import Counter
from pathlib import Path

from tests.kit.places import ROOT
from tests.mutate import equivalents, rooms
from tests.mutate.__main__ import draw
from tests.mutate.changes import KINDS, Change, changes_of

SMALL = '''
class Till:
    def take(self, cents: int) -> int:
        """A docstring is not changed."""
        if cents < 1 and not self.open:
            raise ValueError(f"{cents + 1} is not taken")
        log.info("took %d", cents + 1)
        _log.warning("took %d", cents + 1)
        self.total += cents

        def later() -> int:
            return max(cents, 1)

        return -later()
'''


def small(tmp_path: Path) -> list[Change]:
    (tmp_path / "till.py").write_text(SMALL, encoding="utf-8")
    return changes_of(tmp_path, "till.py")


def test_what_can_be_changed_in_a_small_class(tmp_path: Path) -> None:
    found = {(change.function, change.kind, change.after) for change in small(tmp_path)}
    take, later = "Till.take", "Till.take.<locals>.later"
    assert found == {
        (take, "condition", "False"),
        (take, "condition", "True"),
        (take, "and/or", "(cents < 1 or not self.open)"),
        (take, "comparison", "(cents <= 1)"),
        (take, "number", "2"),
        (take, "not dropped", "(self.open)"),
        (take, "raise dropped", "pass"),
        (take, "assignment dropped", "pass"),
        (take, "sign", "(later())"),
        (later, "extreme", "min(cents, 1)"),
        (later, "number", "2"),
    }


def test_a_change_replaces_its_own_place_and_nothing_else(tmp_path: Path) -> None:
    source = SMALL.encode()
    for change in small(tmp_path):
        changed = change.applied_to(source)
        assert changed[: change.start] == source[: change.start]
        assert changed.endswith(source[change.end :])
        assert changed != source
        assert source.splitlines()[change.line - 1].decode().strip() == change.line_text


def test_every_change_of_every_module_keeps_the_syntax() -> None:
    """One of each kind in each module, and each kind somewhere."""
    kinds = set()
    for module in rooms.modules(ROOT):
        source = (ROOT / module).read_bytes()
        one_of_each = {change.kind: change for change in changes_of(ROOT, module)}
        kinds |= set(one_of_each)
        for change in one_of_each.values():
            ast.parse(change.applied_to(source))
    assert kinds == set(KINDS)


def test_a_seed_draws_the_same_again_and_evenly_over_the_kinds() -> None:
    changes = changes_of(ROOT, "manager/ledger/pricing.py") + changes_of(
        ROOT, "controller/keeper.py"
    )
    drawn = draw(changes, 20, random.Random(5))
    assert drawn == draw(changes, 20, random.Random(5))
    assert drawn != draw(changes, 20, random.Random(6))
    assert len(set(drawn)) == 20
    counts = Counter(change.kind for change in drawn)
    assert max(counts.values()) <= 3
    assert len(counts) == len({change.kind for change in changes})


def test_every_row_of_the_equivalent_ones_still_names_a_change_and_its_reason() -> None:
    changes = [change for module in rooms.modules(ROOT) for change in changes_of(ROOT, module)]
    assert equivalents.outdated(changes) == []
    assert all(len(why) > 20 for why in equivalents.reasons().values())


def test_a_row_is_read_as_it_was_printed(tmp_path: Path) -> None:
    changes = small(tmp_path)
    file = tmp_path / "equivalent.toml"
    rows = [equivalents.row_for(change) for change in changes]
    file.write_text("\n\n".join(rows), encoding="utf-8")
    assert set(equivalents.reasons(file)) == {change.key for change in changes}
    (tmp_path / "till.py").write_text(SMALL.replace("self.total", "self.sum"), encoding="utf-8")
    (gone,) = equivalents.outdated(changes_of(tmp_path, "till.py"), file)
    assert gone[2] == "self.total += cents"


def test_the_same_line_twice_is_told_apart(tmp_path: Path) -> None:
    twice = "def owed(self):\n    if self.a:\n        return\n    if self.b:\n        return\n"
    (tmp_path / "till.py").write_text(twice, encoding="utf-8")
    first, second = (
        change
        for change in changes_of(tmp_path, "till.py")
        if change.kind == "early return dropped"
    )
    file = tmp_path / "equivalent.toml"
    file.write_text(equivalents.row_for(second), encoding="utf-8")
    assert set(equivalents.reasons(file)) == {second.key}
    assert first.name != second.name


def test_what_is_named_exists() -> None:
    for path in rooms.LEFT_OUT:
        assert (ROOT / path).is_file()
    assert set(rooms.WHOLE_TABLES) == set(rooms.ROOMS)
    named = (*rooms.ROOMS.values(), *rooms.WHOLE_TABLES.values())
    places = [place for room in named for place in room]
    for path in (*places, *rooms.TESTS, *rooms.SKIPPED_TESTS):
        assert (ROOT / path).exists()
