"""The position index finds keys and values in every form a TOML text may have."""

from __future__ import annotations

from kit.config.positions import Position, index_positions

TEXT = '''\
# a comment with [brackets] and = signs
top = "a # b"   # trailing
"quoted key" = 'it''s'
[table.inner]
long = """
line ] with
brackets"""
array = [
  1, # one
  { a = "x", b = [2, 3] },
]
[[rows]]
name = "first"
[[rows]]
name = "second"
[[rows.cells]]
value = 1.5
'''.replace("'it''s'", "'its'")


def test_keys_and_values() -> None:
    index = index_positions(TEXT)
    assert index.of_value(("top",)) == Position(2, 7)
    assert index.of_key(("quoted key",)) == Position(3, 1)
    assert index.of_key(("table", "inner", "array")) == Position(8, 1)
    assert index.of_value(("table", "inner", "array", 1, "b", 1)) == Position(10, 22)


def test_arrays_of_tables_count_their_elements() -> None:
    index = index_positions(TEXT)
    assert index.of_value(("rows", 0, "name")) == Position(13, 8)
    assert index.of_value(("rows", 1)) == Position(14, 1)
    assert index.of_value(("rows", 1, "cells", 0, "value")) == Position(17, 9)


def test_what_is_missing_is_sought_in_the_table_around() -> None:
    index = index_positions(TEXT)
    assert index.of_value(("rows", 1, "cells", 0, "absent")) == Position(16, 1)
    assert index.of_key(("absent",)) == Position(1, 1)
