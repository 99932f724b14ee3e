"""A record: a frozen dataclass that is a map with unsigned integer keys on the wire.

Messages, event bodies and table settings are records. This module alone knows how missing and
unknown keys are treated; which records exist, and when they may be sent, is not known here.

Keys from 64 up are kept for later minor versions. Such a field has a default and is left out while
it holds it, so that a record without it is, byte for byte, the older one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass
from functools import cache
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
        keys = wire_keys(cls)
        if values.keys() != keys:
            _refuse_unknown_keys(cls.__name__, values, keys)
            left_out = _defaults(cls)
            for each in wire_fields(cls):
                if each.key not in values and each.key not in left_out:
                    raise _bad(f"{cls.__name__}.{each.name} (key {each.key}) is missing.")
        return cls._checked(values)

    @classmethod
    def _checked(cls, values: Mapping[int, Any]) -> Self:
        """The record with every field that is given, made and checked in one turn.

        A frozen dataclass would set each field twice, which costs as much as all checks together,
        for every frame and every event. A default was written by us, and needs no check.
        """
        record = object.__new__(cls)
        made, left_out = record.__dict__, _defaults(cls)
        for name, key, kind, where in wire_fields(cls):
            made[name] = kind.check(values[key], where) if key in values else left_out[key]
        record._check_whole()
        return record


def _defaults_of(record_type: type[Record]) -> Mapping[int, Any]:
    """By key, of the fields that may be missing."""
    made = record_type.__dataclass_fields__
    later = [each for each in wire_fields(record_type) if each.key >= KEY_IGNORED_FROM]
    defaults = {each.key: made[each.name].default for each in later}
    return {key: default for key, default in defaults.items() if default is not MISSING}


# Typed by hand, as `wire_fields` is.
_defaults: Callable[[type], Mapping[int, Any]] = cache(_defaults_of)


def _refuse_unknown_keys(name: str, values: Mapping[int, Any], known: frozenset[int]) -> None:
    unknown = sorted(key for key in values if key < KEY_IGNORED_FROM and key not in known)
    if unknown:
        raise _bad(f"{name} has no field with key {unknown[0]}.")


def _bad(sentence: str) -> ProtocolError:
    return ProtocolError(ErrorCode.BAD_FIELD, sentence)
