"""A service door that answers from a script, for the technician's tool."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from deploy.tech.door import Answer

View = dict[str, Any]


def view(**changed: Any) -> View:
    """What a quiet, open table shows."""
    mode = {"on": False, "tech": "", "work": "", "sentence": ""}
    usual: View = {"name": "Table 7", "round_open": False, "faults": [], "mode": mode}
    return usual | {"selftest": [], "calibration": None, "sensors": []} | changed


def working(work: str, **changed: Any) -> View:
    mode = {"on": True, "tech": "Tech 3", "work": work, "sentence": ""}
    return view(mode=mode, **changed)


class ScriptedDoor:
    """`views` are given one after another, over all streams; an exception among them is raised."""

    def __init__(self, views: list[View | Exception], answers: Mapping[str, Answer] | None = None):
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        self.is_closed = False
        self._views = views
        self._answers = dict(answers or {})

    @property
    def acts(self) -> list[str]:
        return [fields["action"] for _, path, fields in self.asked if path == "/act"]

    @property
    def paths(self) -> list[str]:
        return [path for _, path, _ in self.asked]

    def ask(self, method: str, path: str, fields: Mapping[str, str] | None = None) -> Answer:
        self.asked.append((method, path, dict(fields or {})))
        return self._answers.get(path, good({"accepted": True, "sentence": ""}))

    def stream(self, path: str) -> Iterator[View]:
        while self._views:
            told = self._views.pop(0)
            if isinstance(told, BaseException):
                raise told
            yield told

    def close(self) -> None:
        self.is_closed = True


def good(told: Any) -> Answer:
    return Answer(200, json.dumps(told).encode())


def refused(status: int, sentence: str) -> Answer:
    return Answer(status, json.dumps({"accepted": False, "sentence": sentence}).encode())
