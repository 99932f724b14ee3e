"""What a field of a message, event or settings map may hold, and how it looks on the wire.

A kind checks one value and names it in the refusal; it knows nothing of the record it stands in.
Checking also freezes: lists become tuples, so a checked record cannot change afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Final, NamedTuple, Protocol, get_args, get_origin, get_type_hints

from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.profile import INT64_MAX, INT64_MIN, TEXT_MAX_BYTES

_CONTROL_CHARACTERS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


WORDS_REMEMBERED_MAX: Final = 256
LISTS_REMEMBERED_MAX: Final = 1024
_ONLY_TEXT: Final = frozenset({str})


def bad_field(where: str, must: str) -> ProtocolError:
    return ProtocolError(ErrorCode.BAD_FIELD, f"{where} must be {must}.")


class Kind(Protocol):
    """One kind of field value."""

    def check(self, value: object, where: str) -> Any:
        """The value, frozen; or a ProtocolError that names `where`."""

    def pack(self, value: Any) -> object:
        """The checked value in the types of the CBOR profile."""


@dataclass(frozen=True)
class Int:
    minimum: int = INT64_MIN
    maximum: int = INT64_MAX

    def check(self, value: object, where: str) -> int:
        if type(value) is not int and (not isinstance(value, int) or isinstance(value, bool)):
            raise bad_field(where, "an integer")
        if not self.minimum <= value <= self.maximum:
            raise bad_field(where, f"from {self.minimum} to {self.maximum}")
        return int(value)

    def pack(self, value: int) -> object:
        return value


@dataclass(frozen=True)
class Uint(Int):
    minimum: int = 0


@dataclass(frozen=True)
class Text:
    bytes_max: int = TEXT_MAX_BYTES
    bytes_min: int = 0
    pattern: str = ""  # in CDDL's regular expressions and Python's alike
    # Words of a pattern come again and again: the first ones that were right are remembered.
    _right: set[str] = field(default_factory=set, init=False, repr=False, compare=False)

    def check(self, value: object, where: str) -> str:
        if type(value) is not str:
            raise bad_field(where, "text")
        if value in self._right:
            return value
        if not self.bytes_min <= _text_bytes(value, where) <= self.bytes_max:
            raise bad_field(where, f"{self.bytes_min} to {self.bytes_max} bytes of text")
        if _CONTROL_CHARACTERS.search(value):
            raise bad_field(where, "text without control characters")
        if self.pattern and not _compiled(self.pattern).fullmatch(value):
            raise bad_field(where, f"text like {self.pattern}")
        if self.pattern and len(self._right) < WORDS_REMEMBERED_MAX:
            self._right.add(value)
        return value

    def pack(self, value: str) -> object:
        return value


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _text_bytes(value: str, where: str) -> int:
    try:
        return len(value) if value.isascii() else len(value.encode())
    except UnicodeEncodeError as error:
        raise bad_field(where, "text without lone surrogates") from error


def clipped(text: str, bytes_max: int = TEXT_MAX_BYTES) -> str:
    """Any text made fit for a field: for what came from outside and must be logged, not refused."""
    printable = _CONTROL_CHARACTERS.sub("\N{REPLACEMENT CHARACTER}", text)
    return printable.encode(errors="replace")[:bytes_max].decode(errors="ignore")


@dataclass(frozen=True)
class Bytes:
    """A byte string of one of the given lengths."""

    lengths: tuple[int, ...]

    def check(self, value: object, where: str) -> bytes:
        if type(value) is not bytes or len(value) not in self.lengths:
            raise bad_field(where, f"{' or '.join(map(str, self.lengths))} bytes")
        return value

    def pack(self, value: bytes) -> object:
        return value


@dataclass(frozen=True)
class Blob:
    """A byte string of any length up to a limit."""

    bytes_max: int

    def check(self, value: object, where: str) -> bytes:
        if type(value) is not bytes or len(value) > self.bytes_max:
            raise bad_field(where, f"at most {self.bytes_max} bytes")
        return value

    def pack(self, value: bytes) -> object:
        return value


@dataclass(frozen=True)
class Bool:
    def check(self, value: object, where: str) -> bool:
        if type(value) is not bool:
            raise bad_field(where, "true or false")
        return value

    def pack(self, value: bool) -> object:
        return value


@dataclass(frozen=True)
class ListOf:
    item: Kind
    count_max: int
    unique: bool = False
    # Lists of such words come again and again, too: a table's bets.
    _right: set[tuple[str, ...]] = field(default_factory=set, init=False, repr=False, compare=False)

    def check(self, value: object, where: str) -> tuple[Any, ...]:
        if type(value) not in (list, tuple):
            raise bad_field(where, "a list")
        items: Any = value
        if self._right and _ONLY_TEXT.issuperset(map(type, items)):
            known = tuple(items)
            if known in self._right:
                return known
        if len(items) > self.count_max:
            raise bad_field(where, f"at most {self.count_max} long")
        check = self.item.check
        try:
            checked = tuple([check(item, where) for item in items])
        except ProtocolError:  # once more, to say which one
            checked = tuple(check(item, f"{where}[{i}]") for i, item in enumerate(items))
        if self.unique and len(set(checked)) != len(checked):
            raise bad_field(where, "without repeats")
        is_of_words = isinstance(self.item, Text) and self.item.pattern != "" and checked != ()
        if is_of_words and len(self._right) < LISTS_REMEMBERED_MAX:
            self._right.add(checked)
        return checked

    def pack(self, value: tuple[Any, ...]) -> object:
        return [self.item.pack(item) for item in value]


@dataclass(frozen=True)
class Row:
    """A named tuple whose fields are annotated with their kinds; an array on the wire."""

    row_type: Callable[..., Any]
    columns: tuple[tuple[str, Kind], ...] = field(init=False)

    def __post_init__(self) -> None:
        hints = get_type_hints(self.row_type, include_extras=True)
        columns = tuple((name, annotation_of(hint, object)) for name, hint in hints.items())
        object.__setattr__(self, "columns", columns)

    def check(self, value: object, where: str) -> Any:
        if not isinstance(value, (list, tuple)) or len(value) != len(self.columns):
            raise bad_field(where, f"a list of {len(self.columns)}")
        columns = zip(self.columns, value, strict=True)
        return self.row_type(
            *(kind.check(item, f"{where}.{name}") for (name, kind), item in columns)
        )

    def pack(self, value: tuple[Any, ...]) -> object:
        columns = zip(self.columns, value, strict=True)
        return [kind.pack(item) for (_, kind), item in columns]


@dataclass(frozen=True)
class Body:
    """A map whose meaning another field names; only the profile limits what is in it."""

    def check(self, value: object, where: str) -> dict[int, Any]:
        if type(value) is not dict:
            raise bad_field(where, "a map")
        return value

    def pack(self, value: dict[int, Any]) -> object:
        return value


class Wire(NamedTuple):
    """The annotation of a record's field: its key in the map and its kind."""

    key: int
    kind: Kind


class WireField(NamedTuple):
    name: str
    key: int
    kind: Kind
    where: str  # how a refusal names it


def annotation_of(hint: Any, wanted: type) -> Any:
    """The last extra of an `Annotated` type hint that is a `wanted`, or None."""
    if get_origin(hint) is not Annotated:
        return None
    found = [extra for extra in get_args(hint)[1:] if isinstance(extra, wanted)]
    return found[-1] if found else None


def _wire_keys(record_type: type) -> frozenset[int]:
    return frozenset(each.key for each in wire_fields(record_type))


def _wire_fields(record_type: type) -> tuple[WireField, ...]:
    """A record's fields in the order of their keys."""
    hints = get_type_hints(record_type, include_extras=True)
    annotated = [(name, annotation_of(hint, Wire)) for name, hint in hints.items()]
    fields = [
        WireField(name, wire.key, wire.kind, f"{record_type.__name__}.{name}")
        for name, wire in annotated
        if wire is not None
    ]
    keys = [each.key for each in fields]
    assert len(set(keys)) == len(keys), f"{record_type.__name__} uses a key twice"
    return tuple(sorted(fields, key=lambda each: each.key))


# Typed by hand: mypy takes a class for unhashable. Called for every frame, so without a call more.
wire_keys: Callable[[type], frozenset[int]] = cache(_wire_keys)
wire_fields: Callable[[type], tuple[WireField, ...]] = cache(_wire_fields)
