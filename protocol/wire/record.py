"""A record: a frozen dataclass that is a map with unsigned integer keys on the wire.

Messages, event bodies and table settings are records. This module alone knows how missing and
unknown keys are treated; which records exist, and when they may be sent, is not known here.

Keys from 64 up are kept for later minor versions. Such a field has a default and is left out while
it holds it, so that a record without it is, byte for byte, the older one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from typing import Any, Final, Self

from protocol.wire.errors import ErrorCode, ProtocolError
from protocol.wire.fields import WireField, wire_fields, wire_keys

# A newer minor version may add keys from here on; older peers ignore them. Keys below are refused.
KEY_IGNORED_FROM: Final = 64


@dataclass(frozen=True)
class Record:
    """Checks every field when made, so an invalid record never exists."""

    def __post_init__(self) -> None:
        values = self.__dict__
        for name, _, kind, where in wire_fields(type(self)):
            values[name] = kind.check(values[name], where)
        self._check_whole()

    def _check_whole(self) -> None:
        """For a record whose fields must also fit together."""

    def to_map(self) -> dict[int, Any]:
        return {
            each.key: each.kind.pack(getattr(self, each.name))
            for each in wire_fields(type(self))
            if not self._is_left_out(each)
        }

    def _is_left_out(self, field: WireField) -> bool:
        if field.key < KEY_IGNORED_FROM:
            return False
        default: object = type(self).__dataclass_fields__[field.name].default
        return bool(getattr(self, field.name) == default)

    @classmethod
    def from_map(cls, values: Mapping[int, Any]) -> Self:
        fields = wire_fields(cls)
        keys = wire_keys(cls)
        if values.keys() == keys:
            return cls._checked(values)
        _refuse_unknown_keys(cls.__name__, values, keys)
        for each in fields:
            if each.key not in values and not _may_be_missing(cls, each):
                raise _bad(f"{cls.__name__}.{each.name} (key {each.key}) is missing.")
        return cls(**{each.name: values[each.key] for each in fields if each.key in values})

    @classmethod
    def _checked(cls, values: Mapping[int, Any]) -> Self:
        """The record with every field given, made and checked in one turn.

        A frozen dataclass would set each field twice, which costs as much as all checks together,
        for every frame and every event.
        """
        record = object.__new__(cls)
        made = record.__dict__
        for name, key, kind, where in wire_fields(cls):
            made[name] = kind.check(values[key], where)
        record._check_whole()
        return record


def _may_be_missing(record_type: type[Record], field: WireField) -> bool:
    has_default = record_type.__dataclass_fields__[field.name].default is not MISSING
    return has_default and field.key >= KEY_IGNORED_FROM


def _refuse_unknown_keys(name: str, values: Mapping[int, Any], known: frozenset[int]) -> None:
    for key in sorted(values):
        if key < KEY_IGNORED_FROM and key not in known:
            raise _bad(f"{name} has no field with key {key}.")


def _bad(sentence: str) -> ProtocolError:
    return ProtocolError(ErrorCode.BAD_FIELD, sentence)
