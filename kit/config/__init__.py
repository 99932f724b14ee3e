"""One reader for every TOML file that a person writes: table files and game packs, on both sides.

A file is described by frozen dataclasses whose fields carry a shape (`kit.config.shapes`);
`load` takes the text in, `read` turns it into those dataclasses or refuses it. What a section means
is described by whoever uses it.
"""

from kit.config.document import Document, load, parse
from kit.config.errors import ConfigError, Path, Problem, refusal
from kit.config.reading import Complaint, Named, Rows, Table, Values, read
from kit.config.shapes import Choice, Digits, Flag, Name, Text, Unfit, Value, Whole, shown

__all__ = [
    "Choice",
    "Complaint",
    "ConfigError",
    "Digits",
    "Document",
    "Flag",
    "Name",
    "Named",
    "Path",
    "Problem",
    "Rows",
    "Table",
    "Text",
    "Unfit",
    "Value",
    "Values",
    "Whole",
    "load",
    "parse",
    "read",
    "refusal",
    "shown",
]
