"""Kept figures and their plots."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from sim.runs.perf.figures import Figure
from sim.runs.perf.history import PLOT_HEIGHT, PLOT_TOP, History, draw

SVG = "{http://www.w3.org/2000/svg}"


def kept_twice(path: Path) -> History:
    history = History(path)
    history.keep("first", "quiet", [Figure("speed <fast>", 10.0, "1/s"), Figure("size", 5, "MB")])
    history.keep("second", "busy", [Figure("speed <fast>", 20.004, "1/s")])
    return History(path)


def test_runs_are_kept_in_order_and_read_again(tmp_path: Path) -> None:
    lines = kept_twice(tmp_path / "history.json").lines()
    assert [(each.run, each.value) for each in lines["speed <fast>"]] == [
        ("first", 10.0),
        ("second", 20.004),
    ]
    assert [each.run for each in lines["size"]] == ["first"]


def test_a_label_is_kept_once(tmp_path: Path) -> None:
    history = kept_twice(tmp_path / "history.json")
    history.keep("second", "again", [Figure("size", 4, "MB")])
    assert [run["label"] for run in history.runs] == ["first", "second"]
    assert [each.value for each in history.lines()["speed <fast>"]] == [10.0, 20.004]
    assert [each.value for each in history.lines()["size"]] == [5.0, 4.0]


def test_the_plot_has_a_dot_for_each_kept_value_from_zero_up(tmp_path: Path) -> None:
    path = tmp_path / "history.svg"
    draw(kept_twice(tmp_path / "history.json"), path)
    picture = ET.parse(path).getroot()
    dots = picture.findall(f"{SVG}circle")
    assert len(dots) == 3
    heights = [float(dot.get("cy", "0")) for dot in dots[:2]]
    assert heights == [PLOT_TOP + PLOT_HEIGHT / 2, PLOT_TOP]
    assert {"speed <fast>", "20"} <= {text.text for text in picture.findall(f"{SVG}text")}


def test_the_shipped_history_can_be_drawn(tmp_path: Path) -> None:
    """Mutation: a figure's value kept as words."""
    history = History(Path("docs/figures/history.json"))
    assert len(history.runs) >= 2
    draw(history, tmp_path / "again.svg")
    shipped = Path("docs/figures/history.svg").read_text(encoding="utf-8")
    assert (tmp_path / "again.svg").read_text(encoding="utf-8") == shipped


def test_two_figures_of_one_indented_name_are_kept_apart(tmp_path: Path) -> None:
    history = History(tmp_path / "history.json")
    rows = [Figure("a", 1, "s"), Figure("  fastest", 2, "s")]
    rows += [Figure("b", 3, "s"), Figure("  fastest", 4, "s")]
    history.keep("first", "quiet", rows)
    values = {name: kept[0].value for name, kept in history.lines().items()}
    assert values == {"a": 1.0, "a: fastest": 2.0, "b": 3.0, "b: fastest": 4.0}
