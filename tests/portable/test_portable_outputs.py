"""The portable core and the asyncio shim say the same on CPython and on real MicroPython.

Each script runs on both and every line of output is compared. Nothing is skipped: without Node or
the MicroPython package these tests fail and say what to do.
"""

from __future__ import annotations

import importlib
import shutil
import subprocess
from pathlib import Path

import pytest

from sim.time.loop import run_virtual

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SCRIPTS = HERE / "scripts"
PACKAGE = HERE / "node_modules" / "@micropython" / "micropython-webassembly-pyscript"
RUN_MAX_S = 120

pytestmark = pytest.mark.portable


def node() -> str:
    found = shutil.which("node")
    if found is None or not PACKAGE.is_dir():
        pytest.fail("Node or the MicroPython package is missing: run `make setup-test`.")
    return found


def run_micropython(module: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [node(), str(HERE / "run_micropython.mjs"), str(ROOT), module],
        capture_output=True,
        text=True,
        timeout=RUN_MAX_S,
        check=False,
    )


def lines_on_micropython(module: str) -> list[str]:
    result = run_micropython(module)
    assert result.returncode == 0, f"{module} failed on MicroPython:\n{result.stderr}"
    assert result.stderr == ""
    return result.stdout.splitlines()


def lines_on_cpython(module: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    run_virtual(importlib.import_module(module).main())
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("module", "line_count_min", "must_say"),
    [
        ("portable_imports", 22, "imported controller.core.round decide.py"),
        ("portable_shim", 30, "flag woke its waiter"),
        ("portable_sensing", 20, "spill True"),
        ("portable_touch_round", 120, "light 5A winner"),
        ("portable_keypad_round", 80, "Turn the key back to RUN"),
        ("portable_codec_vectors", 200, "example f818 1 Not in the CBOR profile"),
    ],
)
def test_both_interpreters_say_the_same(module, line_count_min, must_say, capsys, monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    expected = lines_on_cpython(module, capsys)
    assert len(expected) >= line_count_min
    assert any(must_say in line for line in expected)
    assert lines_on_micropython(module) == expected


@pytest.mark.parametrize("module", ["portable_touch_round", "portable_keypad_round"])
def test_the_journal_rebuilds_the_round(module, capsys, monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    last = lines_on_cpython(module, capsys)[-1]
    assert last == "the journal rebuilds the round: True"


def test_an_exception_on_micropython_is_not_silent():
    result = run_micropython("no_such_script")
    assert result.returncode == 1
    assert "ImportError" in result.stderr
