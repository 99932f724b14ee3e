"""Where in a TOML text each key and value stands, as line and column.

``tomllib`` gives values without positions. This scanner walks text that ``tomllib``
already accepted and only remembers places; it judges nothing and converts nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Position:
    """A place in a text, both counted from 1."""

    line: int
    column: int


@dataclass
class PositionIndex:
    """Positions of keys, of values, and of tables, by path."""

    keys: dict[Path, Position] = field(default_factory=dict)
    values: dict[Path, Position] = field(default_factory=dict)

    def of_key(self, path: Path) -> Position:
        """Where the key stands, or else the nearest table around it."""
        return self.keys.get(path) or self.of_value(path)

    def of_value(self, path: Path) -> Position:
        """Where the value stands, or else the nearest table around it."""
        while path:
            if path in self.values:
                return self.values[path]
            path = path[:-1]
        return Position(1, 1)


def index_positions(text: str) -> PositionIndex:
    """Scan a valid TOML text and return where everything stands."""
    scanner = _Scanner(text)
    scanner.scan_document()
    return scanner.index


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.index = PositionIndex()
        self.array_sizes: dict[Path, int] = {}

    def scan_document(self) -> None:
        table: Path = ()
        while self._skip_blank():
            if self.text[self.at] == "[":
                table = self._scan_header()
            else:
                self._scan_pair(table)

    def _scan_header(self) -> Path:
        start = self.at
        is_array = self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        path = self._resolve(self._scan_key(), is_array)
        self.at = self.text.index("]", self.at) + (2 if is_array else 1)
        self.index.values[path] = self._position(start)
        return path

    def _resolve(self, parts: list[str], is_array: bool) -> Path:
        """Turn header parts into a path; arrays of tables on the way mean their last element."""
        path: Path = ()
        for number, part in enumerate(parts):
            path += (part,)
            is_last = number == len(parts) - 1
            if is_last and is_array:
                self.array_sizes[path] = self.array_sizes.get(path, 0) + 1
            if path in self.array_sizes:
                path += (self.array_sizes[path] - 1,)
        return path

    def _scan_pair(self, table: Path) -> None:
        start = self.at
        path = table + tuple(self._scan_key())
        self.index.keys[path] = self._position(start)
        self.at = self.text.index("=", self.at) + 1
        self._skip_spaces()
        self._scan_value(path)

    def _scan_key(self) -> list[str]:
        parts = []
        while True:
            self._skip_spaces()
            parts.append(self._scan_key_part())
            self._skip_spaces()
            if self.at >= len(self.text) or self.text[self.at] != ".":
                return parts
            self.at += 1

    def _scan_key_part(self) -> str:
        start = self.at
        if self.text[self.at] in "\"'":
            self._skip_string()
            return self.text[start + 1 : self.at - 1]
        while self.at < len(self.text) and (
            self.text[self.at].isalnum() or self.text[self.at] in "-_"
        ):
            self.at += 1
        return self.text[start : self.at]

    def _scan_value(self, path: Path) -> None:
        self.index.values[path] = self._position(self.at)
        opening = self.text[self.at]
        if opening in "\"'":
            self._skip_string()
        elif opening == "[":
            self._scan_array(path)
        elif opening == "{":
            self._scan_inline_table(path)
        else:
            while self.at < len(self.text) and self.text[self.at] not in ",]}\n#":
                self.at += 1

    def _scan_array(self, path: Path) -> None:
        self.at += 1
        element = 0
        while self._skip_blank() and self.text[self.at] != "]":
            self._scan_value((*path, element))
            element += 1
            self._skip_blank()
            if self.text[self.at] == ",":
                self.at += 1
        self.at += 1

    def _scan_inline_table(self, path: Path) -> None:
        self.at += 1
        while self._skip_blank() and self.text[self.at] != "}":
            self._scan_pair(path)
            self._skip_blank()
            if self.text[self.at] == ",":
                self.at += 1
        self.at += 1

    def _skip_string(self) -> None:
        quote = self.text[self.at]
        if self.text.startswith(quote * 3, self.at):
            self._skip_long_string(quote)
            return
        self.at += 1
        while self.text[self.at] != quote:
            self.at += 2 if quote == '"' and self.text[self.at] == "\\" else 1
        self.at += 1

    def _skip_long_string(self, quote: str) -> None:
        self.at += 3
        while not self.text.startswith(quote * 3, self.at):
            self.at += 2 if quote == '"' and self.text[self.at] == "\\" else 1
        self.at += 3
        # Up to two quotes may stand directly before the closing three.
        while self.text.startswith(quote, self.at):
            self.at += 1

    def _skip_spaces(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1

    def _skip_blank(self) -> bool:
        """Skip white space and comments; False at the end of the text."""
        while self.at < len(self.text):
            if self.text[self.at] == "#":
                newline = self.text.find("\n", self.at)
                self.at = len(self.text) if newline < 0 else newline
            elif self.text[self.at] in " \t\r\n":
                self.at += 1
            else:
                return True
        return False

    def _position(self, at: int) -> Position:
        line_start = self.text.rfind("\n", 0, at) + 1
        return Position(self.text.count("\n", 0, at) + 1, at - line_start + 1)
