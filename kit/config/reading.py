"""Turns the values of a document into the dataclasses that describe it, or says all that is wrong.

A field's shape stands in its annotation, its key is its name, and its default makes it optional:

    @dataclass(frozen=True)
    class Bus:
        number: Annotated[int, Whole(0, 32)]
        supply_gpio: Annotated[int | None, Whole(0, 27)] = None

First every value is read. Then the `check` of each dataclass whose values were all taken says what
does not fit together. `keys_for` may narrow the keys of a table by what stands in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, TypeVar, get_type_hints

from kit.config.document import Document
from kit.config.errors import ConfigError, Path, Problem
from kit.config.shapes import Text, Unfit, Value, shown

T = TypeVar("T")
# What a `check` yields: the path below its own table, and the sentence.
Complaint = tuple[Path, str]
_BAD = object()


@dataclass(frozen=True)
class Table:
    """A table that a dataclass describes. `keys` are all that it may have, if others read it too;
    `is_partial` says that the rest of it is another reader's."""

    kind: type[Any]
    keys: tuple[str, ...] = ()
    is_partial: bool = False


@dataclass(frozen=True)
class Rows:
    """An array of tables; each is called by its place."""

    kind: type[Any]
    count_min: int = 0


@dataclass(frozen=True)
class Named:
    """A table whose keys are names that the writer of the file chose."""

    inner: Value | Table
    name: Text = field(default_factory=Text)


@dataclass(frozen=True)
class Values:
    """An array of single values, which may be empty."""

    item: Value


Shape = Value | Table | Rows | Named | Values


def read(document: Document, kind: type[T], keys: tuple[str, ...] = (), path: Path = ()) -> T:
    """The document as its dataclass. `keys`: see `Table`; `path`: where in a file it stands."""
    reading = _Reading()
    with document.placing():
        made = reading.table(document.values, path, Table(kind, keys))
        reading.check()
        if reading.problems:
            raise ConfigError(reading.problems)
    assert isinstance(made, kind)
    return made


class _Reading:
    """One pass over one document: the problems found, and what was made."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._made: list[tuple[Path, Any]] = []

    def check(self) -> None:
        for path, made in self._made:
            complaints: Iterable[Complaint] = made.check() if hasattr(made, "check") else ()
            for below, sentence in complaints:
                self._refuse((*path, *below), sentence)

    def value(self, value: object, path: Path, shape: Shape) -> Any:
        if isinstance(shape, Table):
            return self.table(value, path, shape)
        if isinstance(shape, Rows):
            return self._rows(value, path, shape)
        if isinstance(shape, Named):
            return self._named(value, path, shape)
        if isinstance(shape, Values):
            return self._values(value, path, shape)
        try:
            return shape.take(value)
        except Unfit as unfit:
            return self._refuse(path, str(unfit))

    def table(self, value: object, path: Path, shape: Table) -> Any:
        if not isinstance(value, Mapping):
            return self._refuse(path, f"must be a table, not {shown(value)}.")
        shapes, needed = _described(shape.kind)  # type: ignore[arg-type]  # a class is hashable
        known: Collection[str] = shape.keys or tuple(shapes)
        if hasattr(shape.kind, "keys_for"):
            known = shape.kind.keys_for(value)
        if not shape.is_partial:
            self._refuse_unknown(value, path, known)
        found: dict[str, Any] = {}
        for key, inner in shapes.items():
            if key in value:
                found[key] = self.value(value[key], (*path, key), inner)
            elif key in needed:
                found[key] = self._refuse((*path, key), "is missing.")
        if any(each is _BAD for each in found.values()):
            return _BAD
        made = shape.kind(**found)
        self._made.append((path, made))
        return made

    def _rows(self, value: object, path: Path, shape: Rows) -> Any:
        if not isinstance(value, list):
            return self._refuse(path, f"must be an array of tables, not {shown(value)}.")
        if len(value) < shape.count_min:
            return self._refuse(path, "must be one or more tables.")
        rows = [
            self.table(row, (*path, place), Table(shape.kind)) for place, row in enumerate(value)
        ]
        return _BAD if any(row is _BAD for row in rows) else tuple(rows)

    def _values(self, value: object, path: Path, shape: Values) -> Any:
        if not isinstance(value, list):
            return self._refuse(path, f"must be an array, not {shown(value)}.")
        found = [self.value(each, (*path, place), shape.item) for place, each in enumerate(value)]
        return _BAD if any(each is _BAD for each in found) else tuple(found)

    def _named(self, value: object, path: Path, shape: Named) -> Any:
        if not isinstance(value, Mapping):
            return self._refuse(path, f"must be a table, not {shown(value)}.")
        if not value:
            return self._refuse(path, "must have at least one key.")
        found: dict[str, Any] = {}
        for name, inner in value.items():
            try:
                shape.name.take(name)
            except Unfit as unfit:
                found[name] = self._refuse((*path, name), f"its name {unfit}", is_key=True)
                continue
            found[name] = self.value(inner, (*path, name), shape.inner)
        return _BAD if any(each is _BAD for each in found.values()) else found

    def _refuse_unknown(self, value: Mapping[str, Any], path: Path, known: Collection[str]) -> None:
        for key in value:
            if key not in known:
                sentence = f"is not a key this version knows; here it knows {', '.join(known)}."
                self._refuse((*path, key), sentence, is_key=True)

    def _refuse(self, path: Path, sentence: str, is_key: bool = False) -> object:
        self.problems.append(Problem(path, sentence, is_key))
        return _BAD


@cache
def _described(kind: type[Any]) -> tuple[dict[str, Shape], frozenset[str]]:
    """The shape of every key of a table, and the keys it must have."""
    hints = get_type_hints(kind, include_extras=True)
    shapes: dict[str, Shape] = {}
    needed = set()
    for each in fields(kind):
        marks = getattr(hints[each.name], "__metadata__", ())
        shape = next((mark for mark in marks if isinstance(mark, Shape)), None)
        if shape is None:
            raise TypeError(f"{kind.__name__}.{each.name} has no shape.")
        shapes[each.name] = shape
        if each.default is MISSING and each.default_factory is MISSING:
            needed.add(each.name)
    return shapes, frozenset(needed)
