"""What of a table's file goes to a unit: its own sections, and nothing else.

The same file holds the house's money, the cards' account numbers and the techs' PINs, and people
write secrets into comments. A thief of the unit's disk must find none of that, so the file is
written anew from the sections that a unit reads. Whether a unit understands them is not known here.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from deploy.installer.errors import InstallRefused

# Those of `protocol.table_file`, said again: the installer runs where no package of ours is yet.
UNIT_SECTIONS: Final = ("table", "board", "link", "web", "lights")
HEADING: Final = """\
# Written by the installer: only what the unit reads. Change the table's own file instead.
"""


def units_part(path: Path) -> bytes:
    """The unit's sections of a table file, as a file of their own."""
    document = _read(path)
    kept: dict[str, Any] = {name: document[name] for name in UNIT_SECTIONS if name in document}
    for name, section in kept.items():
        if not isinstance(section, dict):
            raise InstallRefused(f"{path}: {name}: must be a section.")
    text = HEADING + "".join(f"{line}\n" for line in _section("", kept))
    # This writer knows what table files use, and says so when one uses more.
    if tomllib.loads(text) != kept:
        raise InstallRefused(f"{path}: cannot be written anew; use plain text, numbers and lists.")
    return text.encode()


def holds_more(path: Path) -> bool:
    """True when the file has sections that are not the unit's."""
    return not set(_read(path)) <= set(UNIT_SECTIONS)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InstallRefused(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InstallRefused(f"{path}: is not valid TOML: {error}") from error


def _section(name: str, section: Mapping[str, Any]) -> Iterator[str]:
    below = {key: value for key, value in section.items() if _is_section(value)}
    for key, value in section.items():
        if key not in below:
            yield f"{_text(key)} = {_value(value)}"
    for key, value in below.items():
        path = f"{name}.{_text(key)}" if name else _text(key)
        for each in value if isinstance(value, list) else [value]:
            yield f"\n[[{path}]]" if isinstance(value, list) else f"\n[{path}]"
            yield from _section(path, each)


def _is_section(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(each, dict) for each in value)
    return isinstance(value, dict)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text_value(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        pairs = (f"{_text(key)} = {_value(each)}" for key, each in value.items())
        return f"{{ {', '.join(pairs)} }}"
    return str(value)


def _text(key: str) -> str:
    return key if key.replace("_", "a").isalnum() and key.isascii() else _text_value(key)


def _text_value(text: str) -> str:
    # JSON escapes as TOML does, but for one character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
